"""Estimates under the names of statisticians: `params`, `bse`, `conf_int`, log-likelihood, information criteria."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itoscope.common import checks
from itoscope.result.findings import Findings
from itoscope.result.likelihood import likelihood
from itoscope.result.written import rows_shown

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories

__all__ = ["Criteria", "Estimates"]


@dataclass(frozen=True)
class Criteria:
    """What a recording says for a model.

    Attributes
    ----------
    samples : int
        Samples that count, those after the first of each path.
    loglik : float
        Predictive log-likelihood of the mean model.
    parameters : int
        Selected coefficients, levels of measurement noise that were estimated, and named parameters.
    """

    samples: int
    loglik: float
    parameters: int

    @property
    def aic(self) -> float:
        """Akaike's criterion, `2 k - 2 log L`; the smaller the better."""
        return 2.0 * self.parameters - 2.0 * self.loglik

    @property
    def bic(self) -> float:
        """Schwarz's criterion, `k log n - 2 log L`."""
        return self.parameters * math.log(self.samples) - 2.0 * self.loglik


class Estimates(Findings):
    """Findings with the numbers that regressions report, of the selected terms of all equations."""

    @property
    def params(self) -> Any:
        """Coefficients of the selected terms.

        Returns
        -------
        pandas.Series
            By equation and term; or a dict of `(equation, term)` when pandas is not installed.
        """
        return _labelled(self._selected("mean"), "Series")

    @property
    def bse(self) -> Any:
        """Their standard errors, as `params`."""
        return _labelled(self._selected("sd"), "Series")

    def conf_int(self, alpha: float = 0.05) -> Any:
        """Their intervals of probability `1 - alpha`, those of `Equation.interval`.

        Parameters
        ----------
        alpha : float
            Between 0 and 1, both excluded.

        Returns
        -------
        pandas.DataFrame
            Columns 0 and 1 by equation and term; or a dict of pairs when pandas is not installed.
        """
        alpha = checks.share("alpha", alpha)
        ends = {
            (label, equation.terms[k]): interval
            for label, equation in rows_shown(self)
            for k, interval in enumerate(equation.interval(1.0 - alpha).tolist())
            if equation.selected[k]
        }
        return _labelled(ends, "DataFrame")

    def loglik(self, data: Trajectories | None = None) -> float:
        """The log-likelihood of a recording under the mean model, each sample given those before it.

        By the filter, with or without measurement noise, so that all settings compare; the first sample of each path is
        not counted.

        Parameters
        ----------
        data : Trajectories, optional
            By default the recording of the fit.

        Raises
        ------
        ArgumentError
            For a model without any noise, and where there is no recording: a saved result holds none.
        """
        return likelihood(self, data).total

    def criteria(self, data: Trajectories | None = None) -> Criteria:
        """Log-likelihood, number of samples and of parameters, `aic` and `bic`.

        Parameters
        ----------
        data : Trajectories, optional
            By default the recording of the fit.
        """
        found = likelihood(self, data)
        levels = self.diagnostics.get("measurement_noise") or {}
        free = sum(level["high"] > level["low"] for level in levels.values())
        terms = sum(int(equation.selected.sum()) for _, equation in self.labelled())
        free += sum(len(law["shape"]) for law in self.diagnostics.get("noise_law", {}).values())
        laws = {
            tuple(law["rows"]): len(law["shape"])
            for law in self.diagnostics.get("diffusion_law", {}).values()
        }
        free += sum(laws.values())
        free += sum(one["high"] > one["low"] for one in self.diagnostics.get("noise_correlation", ()))
        return Criteria(found.samples, found.total, terms + free + len(self.parameters))

    def _selected(self, what: str) -> dict[tuple[str, str], float]:
        """One quantity of the selected coefficients, by equation and term."""
        return {
            (label, equation.terms[k]): float(getattr(equation, what)[k])
            for label, equation in rows_shown(self)
            for k in np.flatnonzero(equation.selected)
        }


def _labelled(values: dict[tuple[str, str], Any], kind: Literal["Series", "DataFrame"]) -> Any:
    """A table of pandas by equation and term, or the dict without pandas."""
    try:
        import pandas as pd
    except ImportError:
        return values
    if not values:
        return getattr(pd, kind)(dtype=float)
    index = pd.MultiIndex.from_tuples(list(values), names=["equation", "term"])
    return getattr(pd, kind)(list(values.values()), index=index)
