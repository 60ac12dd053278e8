"""`Parameters`: what was found of the numbers that given expressions name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.expressions.grammar import renamed
from itoscope.expressions.slopes import slope
from itoscope.library.bound import names_in
from itoscope.stats.positive import positive_interval
from itoscope.stats.student import student_quantile

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["Estimate", "Parameters", "Term"]

Term = tuple[str, str]
"""Label of an equation, and a term of it."""


@dataclass(frozen=True)
class Estimate:
    """One parameter.

    Attributes
    ----------
    mean, sd : float
        The most likely value and its standard error.
    low, high : float
        Bounds that were given, infinite without.
    degrees : float
        Degrees of freedom of its distribution.
    """

    mean: float
    sd: float
    low: float
    high: float
    degrees: float

    def interval(self, probability: float = 0.95) -> tuple[float, float]:
        """Its interval, which ends at its bounds; of one that cannot be negative on the scale of the logarithm."""
        share = checks.share("probability", probability)
        central = student_quantile(0.5 + share / 2.0, self.degrees)
        if self.low >= 0.0 and self.mean > 0.0:
            upper = student_quantile(share, self.degrees)
            low, high = positive_interval(self.mean, self.sd, central, upper)
        else:
            low, high = self.mean - central * self.sd, self.mean + central * self.sd
        return max(float(low), self.low), min(float(high), self.high)


@dataclass(frozen=True, eq=False)
class Parameters(Mapping[str, Estimate]):
    """Parameters by name.

    Attributes
    ----------
    estimates : dict of str to Estimate
    beside : sequence of (label, term)
        The selected terms of all equations.
    cov : (P + T, P + T) array
        Covariance of the parameters, then of these terms.
    written : dict
        The given expressions with names: `drift` and `parts` by row, `noise` by pair.
    """

    estimates: Mapping[str, Estimate]
    beside: Sequence[Term]
    cov: Array
    written: Mapping[str, Mapping[str, str]]

    @classmethod
    def none(cls) -> Parameters:
        """Those of a question without any."""
        return cls({}, (), np.zeros((0, 0)), {})

    def __getitem__(self, name: str) -> Estimate:
        try:
            return self.estimates[name]
        except KeyError:
            raise KeyError(f"no parameter {name!r}; there are {', '.join(self) or 'none'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(f'{name}={one.mean:.6g}' for name, one in self.items())})"

    @property
    def correlations(self) -> dict[str, dict[str, float]]:
        """Of each parameter with the others, and with the selected terms as `"dx1: x1^2"`."""
        sd = np.sqrt(np.maximum(np.diag(self.cov), np.finfo(float).tiny))
        found = self.cov / np.outer(sd, sd)
        names = [*self, *(f"{label}: {term}" for label, term in self.beside)]
        return {
            name: {other: float(found[a, b]) for b, other in enumerate(names) if b != a}
            for a, name in enumerate(self)
        }

    def drawn(self, coefficients: Array, rng: np.random.Generator) -> Array:
        """Draws of the parameters `(n, P)` beside those of the coefficients of the terms `(n, T)`.

        Normal given the coefficients, where these are about those that were found; within bounds.
        """
        p = len(self)
        own, cross, terms = self.cov[:p, :p], self.cov[:p, p:], self.cov[p:, p:]
        sd = np.sqrt(np.maximum(np.diag(terms), np.finfo(float).tiny))
        slope = (cross / sd) @ np.linalg.pinv(terms / np.outer(sd, sd)) / sd
        values, vectors = np.linalg.eigh(own - slope @ cross.T)
        noise = rng.standard_normal((len(coefficients), p)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        out: Array = self.means + coefficients @ slope.T + noise
        low, high = [one.low for one in self.values()], [one.high for one in self.values()]
        found: Array = np.clip(out, low, high)
        return found

    @property
    def means(self) -> Array:
        """Their values `(P,)`."""
        return np.array([one.mean for one in self.values()])

    def filled(self, text: str, values: Array) -> str:
        """An expression with numbers for the names."""
        return renamed(text, {name: f"({exact(value)})" for name, value in zip(self, values)})

    def slopes(self, text: str) -> dict[int, str]:
        """How an expression changes with each parameter that it names, at their values: by number of the parameter."""
        names, found = sorted(names_in(text)), {}
        for a, name in enumerate(self):
            if name in names:
                found[a] = self.filled(slope(text, names, name), self.means)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        names = ("mean", "sd", "low", "high", "degrees")
        finite = {name: {key: _plain(getattr(one, key)) for key in names} for name, one in self.items()}
        return {
            "estimates": finite,
            "beside": [list(term) for term in self.beside],
            "cov": self.cov.tolist(),
            "written": {what: dict(texts) for what, texts in self.written.items()},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Parameters:
        """What `as_dict` made."""
        ends = {"low": -np.inf, "high": np.inf, "sd": np.inf}
        estimates = {
            name: Estimate(**{key: ends[key] if value is None else value for key, value in one.items()})
            for name, one in document["estimates"].items()
        }
        size = len(estimates) + len(document["beside"])
        cov = np.array(document["cov"], dtype=float).reshape(size, size)
        return cls(estimates, [(a, b) for a, b in document["beside"]], cov, document["written"])


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
