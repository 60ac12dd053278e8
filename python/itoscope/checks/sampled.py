"""Advice on how a row was sampled, as its residuals show it: a step too coarse, samples that are means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.numbers import number
from itoscope.data.advice import Advice
from itoscope.stats.whiteness import autocorrelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.checks.steps import Steps
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["averaged", "coarse"]

MEANS, AROUND = 0.25, 0.08
"""Autocorrelation at one step of steps between means that white noise drives, and how far off it may be."""
BEYOND, ERRORS = 0.15, 2.0
"""Share of it that is left at two steps, where a mean leaves nothing, and standard errors beside that."""


def coarse(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    """A step that moves the coefficients of a regression, whatever the samples themselves show."""
    if result.settings.get("scheme") == "filter" or result.observer is not None:
        return None
    if not {"time step", "step size"} & {*fired}:
        return None
    return Advice(
        "coarse step", steps.name,
        f"the coefficients of {steps.name} hang on the step between samples, which is too coarse for a regression on "
        'steps; sample faster, or let the filter bridge the step, discover(data, scheme="filter")',
        {"p_value": 0.0}, {"scheme": "filter"},
    )  # fmt: skip


def averaged(
    result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float], rows: Sequence[Steps] = ()
) -> Advice | None:
    r"""Residuals with an autocorrelation of a quarter at one step and of nothing at two: samples are means.

    The step from one mean over :math:`\Delta t` to the next weighs the noise between by a triangle, whose correlation
    with its neighbour is :math:`(1/6) / (2/3)`. What is asked is asked of all `rows` that look so.
    """
    names, asked = list(data.names), result.settings.get("observed")
    if "whiteness" not in fired or steps.name not in names or result.settings.get("order") == 2:
        return None
    seen: dict[str, Any] = {name: name for name in names}
    if asked:
        seen |= dict(asked) if hasattr(asked, "keys") else dict(zip(names, asked))
    if seen[steps.name] != steps.name:
        return None
    if not _of_means(steps):
        return None
    means = [row.name for row in rows or [steps] if seen.get(row.name) == row.name and _of_means(row)]
    seen |= {name: f"average({name})" for name in means}
    arguments = {"states": names, "observed": seen, "measurement_noise": 0.0}
    one = float(autocorrelation(steps.z, steps.piece, 1)[0])
    words = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return Advice(
        "averaged samples", steps.name,
        f"what is left of {' and '.join(means)} goes with its neighbours at one step (autocorrelation "
        f"{number(one, 2)}) and not at two, as where samples are means over their step: discover(data, {words})",
        {"autocorrelation": one, "p_value": fired["whiteness"]}, arguments,
    )  # fmt: skip


def _of_means(steps: Steps) -> bool:
    one, two = (float(rho) for rho in autocorrelation(steps.z, steps.piece, 2))
    error = 1.0 / math.sqrt(max(int(np.count_nonzero(np.isfinite(steps.z))), 1))
    return abs(one - MEANS) < AROUND and abs(two) < BEYOND * one + ERRORS * error
