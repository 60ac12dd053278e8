"""The studies of the paper, done again: as printed, and as the paper promises; one table, figures, a page.

Source: Tripura & Chakraborty, "Learning governing physics from output only measurements". *As printed* is the paper's
own recipe: data from Euler-Maruyama at 1 kHz, all states measured without noise, target and library averaged over the
paths, unweighted regression of the forward differences. *As promised* is what its abstract says: motion simulated
finely, displacements alone, with noise of 5 % of their standard deviation.
"""

from __future__ import annotations

from typing import Any

__all__ = ["run"]


def run(*args: Any, **settings: Any) -> Any:
    """Do the studies again; see `itoscope.paper.report.run`, whose arguments these are.

    Examples
    --------
    >>> import itoscope as ito
    >>> report = ito.paper.run(quick=True, studies=["black-scholes"], forms=["printed"], figures=False)
    >>> report.found("black-scholes", "printed", "dx1")
    ['x1']
    """
    from itoscope.paper.report import run as run_studies

    return run_studies(*args, **settings)
