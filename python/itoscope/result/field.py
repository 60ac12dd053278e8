"""Drift and noise of models over the same terms, at states: values, slopes, zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.sde.family import Draws

__all__ = ["Field"]

STEPS, HALVINGS = 60, 12
"""Newton steps, and times that one is halved until the drift gets smaller."""
CONVERGED = 1e-9
"""Share of the typical drift that counts as none."""


class Field:
    """Drift and variance of models over the same terms."""

    def __init__(self, models: Draws) -> None:
        states = list(models.states)
        sums = {i: models.drift[state] for i, state in enumerate(states) if state not in models.given}
        rows = {i: models.given[state] for i, state in enumerate(states) if state in models.given}
        terms = list(dict.fromkeys(term for found in sums.values() for term in found.terms))
        self._program = get_backend(None).compile([*terms, *rows.values()], states)
        self.table = np.zeros((len(models), len(states), len(terms) + len(rows)))
        for i, found in sums.items():
            self.table[:, i, [terms.index(term) for term in found.terms]] = found.values
        for place, i in enumerate(rows, len(terms)):
            self.table[:, i, place] = 1.0
        places = {(states.index(a), states.index(b)): entry for (a, b), entry in models.gamma.items()}
        self._gamma = {
            place: (get_backend(None).compile(list(entry.terms), states), entry.values)
            for place, entry in places.items()
        }

    def __len__(self) -> int:
        """The number of models."""
        return len(self.table)

    def drift(self, x: Array) -> Array:
        """`(n_models, n, m)` at states `(n, m)`."""
        rates: Array = np.einsum("pk,nik->npi", self._program.evaluate(np.ascontiguousarray(x)), self.table)
        return rates

    def variance(self, x: Array, state: int = 0) -> Array:
        """That of one state at states `(n, m)`, `(n_models, n)`; zero where the state has no noise."""
        return self.covariance(x, state, state)

    def covariance(self, x: Array, a: int, b: int) -> Array:
        """One entry of Gamma at states `(n, m)`, `(n_models, n)`."""
        if (found := self._gamma.get((a, b), self._gamma.get((b, a)))) is None:
            return np.zeros((len(self), len(x)))
        program, values = found
        entry: Array = values @ program.evaluate(np.ascontiguousarray(x)).T
        return entry

    def slope(self, model: int, x: Array) -> Array:
        """The derivatives of the drift of one model at a state `(m, m)`."""
        slope: Array = self.table[model] @ self._program.gradient(np.ascontiguousarray(x[None]))[0]
        return slope

    def of(self, model: int, x: Array) -> Array:
        """The drift of one model at a state `(m,)`."""
        rate: Array = self.table[model] @ self._program.evaluate(np.ascontiguousarray(x[None]))[0]
        return rate

    def zero(self, model: int, x: Array, scale: Array) -> Array | None:
        """A zero of the drift of one model near a state; None where Newton's steps do not come to one."""
        f = self.of(model, x)
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                slope = self.slope(model, x)
                if not (np.isfinite(f).all() and np.isfinite(slope).all()):
                    return None
                typical = np.abs(slope) @ scale
                if (np.abs(f) <= CONVERGED * typical).all():
                    return np.where(np.abs(x) < CONVERGED * scale, 0.0, x)
                step = -np.linalg.lstsq(slope * scale, f, rcond=None)[0] * scale
                size, weight = np.inf, np.where(typical > 0.0, typical, 1.0)
                for _ in range(HALVINGS):
                    size = float(np.linalg.norm(self.of(model, x + step) / weight))
                    if size < np.linalg.norm(f / weight):
                        break
                    step = step / 2.0
                x = x + step
                f = self.of(model, x)
        return None
