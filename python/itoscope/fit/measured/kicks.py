r"""Steps of measured states whose noise is not normal: the law of their sizes, and what they tell of drift and Gamma.

Given its size a step is normal. How much it is believed, :math:`w(q)`, follows from its squared distance
:math:`q = e^T \Gamma^{-1} e / dt`, e what the fitted drift leaves of it. The score of the likelihood is then that of a
normal law with :math:`w e` in the place of e, and of :math:`w e e^T` in that of its square; a regression on

.. math::  f + w e / (c\,dt), \qquad
    \Gamma + \bigl[w e e^T / dt - \Gamma + b (w q - d) \Gamma / s\bigr] / a

in the place of the increments and of their products is a step of Fisher's scoring, whose errors are those of the
likelihood: with :math:`b = -\overline{w' q^2} / d(d + 2)`, :math:`a = \overline{w q} / d - 2 b`, :math:`s = a - b d`
and :math:`c = \overline{w + 2 w' q / d}`, of Student's law one over :math:`\nu + d + 2` times 1, :math:`\nu + d`,
:math:`\nu` and :math:`\nu + d`. (Lange, Little and Taylor, "Robust statistical modeling using the t distribution",
1989.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Fitted, Target
from itoscope.checks.steps import compact
from itoscope.fit.streams import Stream
from itoscope.stats.jumps import believed, jumping, likeliest, spread_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.backends.records import Program
    from itoscope.common.types import Array
    from itoscope.fit.jumps import SharedSteps
    from itoscope.fit.measured.regressions import Measured, Pair
    from itoscope.posterior.equation import Equation
    from itoscope.stats.jumps import Likeliest

__all__ = ["Kicks", "kicked", "widened_by_law"]

LEAST_SLOPE = 0.05
"""Means that are divided by are held above this share of what they are of normal steps."""
CLOSEST = 0.98
"""A correlation that a fitted covariance may have."""
RATHER = 0.5
"""Probability from which a step is listed."""
CENTRAL = 1.4826
"""Standard deviation of a normal law over the median of its absolute values."""


@dataclass(frozen=True)
class _Told:
    """What the steps of a group tell under its likeliest law.

    Attributes
    ----------
    group : SharedSteps
    found : Likeliest
    left : (N, d) array
        What the drift leaves of the increments.
    drift : (N, d) array
        The fitted drift over each step.
    gamma : (N, d, d) array
        The fitted covariance at its start, in the scale of the law.
    q : (N,) array
        Squared distances.
    dt : (N,) array
    slope : (N,) array
        Of one row, the slope of its variance in its own state, in the scale of the law; else zero.
    """

    group: SharedSteps
    found: Likeliest
    left: Array
    drift: Array
    gamma: Array
    q: Array
    dt: Array
    slope: Array

    def _weights(self) -> tuple[Array, float, float, float]:
        """How much each step is believed; the slopes c, a, and b over s."""
        d = len(self.group.rows)
        weight, slope = believed(self.found.law, self.q, d)
        there = np.isfinite(self.q)
        w, down, q = weight[there], slope[there], self.q[there]
        b = -float(np.mean(down * q**2)) / (d * (d + 2.0))
        a = max(float(np.mean(w * q)) / d - 2.0 * b, LEAST_SLOPE)
        c = max(float(np.mean(w + 2.0 * down * q / d)), LEAST_SLOPE)
        return weight, c, a, b / max(a - b * d, LEAST_SLOPE)

    def increments(self, row: int) -> Array:
        """What stands for the increments of a row over the step `(N,)`."""
        k = self.group.rows.index(row)
        weight, c, _, _ = self._weights()
        return np.asarray(self.drift[:, k] + weight * self.left[:, k] / (c * self.dt) - self._skewed() / c)

    def _skewed(self) -> Array:
        r"""What belief makes of steps that are skewed because the noise changes over them `(N,)`.

        Such a step has :math:`\tfrac14 v\,\Gamma'(\xi^2 - 1)\,dt` beside its noise, of mean zero; believed less where
        it is large it has the mean :math:`\tfrac14 \Gamma'\,\overline{\psi'(z) (z^2 - E[v \mid z])}`, none of normal
        steps.
        """
        if not self.slope.any():
            return self.slope
        there = np.isfinite(self.q)
        q = self.q[there]
        weight, down = believed(self.found.law, q, 1)
        mean = float(np.mean((weight + 2.0 * down * q) * (q - spread_known(self.found.law, q, 1))))
        return np.asarray(0.25 * mean * self.slope)

    def products(self, i: int, j: int) -> Array:
        """What stands for the products of the residual increments of two rows over the step `(N,)`."""
        a, b = self.group.rows.index(i), self.group.rows.index(j)
        weight, _, slope, more = self._weights()
        gamma = self.gamma[:, a, b]
        seen = weight * self.left[:, a] * self.left[:, b] / self.dt - gamma
        return np.asarray(gamma + (seen + more * (weight * self.q - len(self.group.rows)) * gamma) / slope)


@dataclass(frozen=True)
class Kicks:
    """What the steps of all rows with a law tell.

    Attributes
    ----------
    told : tuple
        Of each group.
    lengths : tuple of int
        Steps of each path.
    """

    told: tuple[_Told, ...]
    lengths: tuple[int, ...]

    def _of(self, row: int) -> _Told | None:
        return next((one for one in self.told if row in one.group.rows), None)

    def drift(self, row: int) -> Target:
        """What is regressed for the drift of a row."""
        one = self._of(row)
        return Target((row, row), given=None if one is None else self._by_path(one.increments(row)))

    def product(self, usual: Target) -> Target:
        """What is regressed for an entry of Gamma; of rows without a law what is usual."""
        one = self._of(usual.pair[0])
        if one is None:
            return usual
        return replace(usual, drift=None, given=self._by_path(one.products(*usual.pair)))

    def _by_path(self, values: Array) -> list[Array]:
        ends = np.cumsum(self.lengths)
        return [np.ascontiguousarray(part) for part in np.split(values, ends[:-1])]

    def laws(self) -> dict[SharedSteps, Likeliest]:
        """The law of each group."""
        return {one.group: one.found for one in self.told}

    def law_of(self, row: int) -> tuple[float, ...]:
        """What shapes the law of a row, nothing of a normal one."""
        one = self._of(row)
        return () if one is None else one.found.law

    def jumps(self) -> list[tuple[SharedSteps, int, int, float, Array, float]]:
        """The rows, path, step, distance, increments beyond the drift `(d,)`, probability of steps that are jumps."""
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        found = []
        for one in self.told:
            known = jumping(one.found.law, one.q, len(one.group.rows))
            for n in np.flatnonzero(known > RATHER).tolist():
                path = int(np.searchsorted(starts, n, side="right")) - 1
                far = float(np.sqrt(one.q[n]))
                found.append((one.group, path, int(n - starts[path]), far, one.left[n], float(known[n])))
        return found


def kicked(
    measured: Measured,
    drift: Mapping[int, Equation],
    diffusion: Mapping[Pair, Equation] | None,
    floors: Array,
) -> Kicks:
    """What the steps tell of a drift and a Gamma, the scale of the latter made the likeliest.

    Parameters
    ----------
    measured : Measured
    drift : mapping of int to Equation
        Of all rows.
    diffusion : mapping of (int, int) to Equation, or None
        Before there is any, the covariance is diagonal, of the central part of each row.
    floors : (r,) array
        Lower bounds of the variances of the rows.
    """
    paths, times = measured.summed
    dt = np.concatenate(
        [np.full(len(x) - 1, float(t)) if np.ndim(t) == 0 else np.diff(t) for x, t in zip(paths, times)]
    )
    told = []
    for group in measured.groups:
        rows = list(group.rows)
        f = _over_steps(measured, measured.drift_program, np.array([drift[row].averaged for row in rows]))
        moved = np.concatenate([np.diff(x[:, rows], axis=0) for x in paths])
        left = moved - dt[:, None] * f
        gamma = _covariance(measured, group, diffusion, floors, left / np.sqrt(dt)[:, None])
        q = _distances(left, gamma) / dt
        found = likeliest(group.kind, q, len(rows))
        slope = found.scale * _slope(measured, group, diffusion)
        told.append(_Told(group, found, left, f, gamma * found.scale, q / found.scale, dt, slope))
    return Kicks(tuple(told), tuple(len(x) - 1 for x in paths))


def _over_steps(measured: Measured, program: Program, coef: Array) -> Array:
    """A fitted drift over every step `(N, d)`: the mean of its ends, or at its start."""
    fitted = compact(measured.backend, Fitted(program, coef))
    parts = []
    for x in measured.summed[0]:
        f = fitted.program.evaluate(x) @ fitted.coef.T
        parts.append(0.5 * (f[1:] + f[:-1]) if measured.scheme == "trapezoid" else f[:-1])
    return np.concatenate(parts)


def _covariance(
    measured: Measured,
    group: SharedSteps,
    diffusion: Mapping[Pair, Equation] | None,
    floors: Array,
    left: Array,
) -> Array:
    """The covariance of a group at the start of every step `(N, d, d)`, held above its floors."""
    rows, d = group.rows, len(group.rows)
    if diffusion is None:
        central = (CENTRAL * np.nanmedian(np.abs(left), axis=0)) ** 2
        central = np.where(central > 0.0, central, np.nanmean(left**2, axis=0))
        return np.broadcast_to(np.diag(central), (len(left), d, d))
    own = [(i, j) for i, j in measured.pairs if i in rows and j in rows]
    coef = np.array([measured.gamma(diffusion[pair]) for pair in own])
    fitted = compact(measured.backend, Fitted(measured.diffusion_program, coef))
    paths = measured.summed[0]
    values = (
        np.concatenate([fitted.program.evaluate(np.ascontiguousarray(x[:-1])) for x in paths]) @ fitted.coef.T
    )
    gamma = np.zeros((len(left), d, d))
    for (i, j), value in zip(own, values.T):
        a, b = rows.index(i), rows.index(j)
        gamma[:, a, b] = gamma[:, b, a] = value
    for a, row in enumerate(rows):
        gamma[:, a, a] = np.maximum(
            gamma[:, a, a], max(floors[measured.rows.index(row)], np.finfo(float).tiny)
        )
    sizes = np.sqrt(np.einsum("naa->na", gamma))
    if d == 1:
        return gamma
    shape = gamma / (sizes[:, :, None] * sizes[:, None, :])
    there = np.isfinite(shape).all(axis=(1, 2))
    shape[there] = _definite(shape[there])
    return np.asarray(shape * sizes[:, :, None] * sizes[:, None, :])


def _slope(measured: Measured, group: SharedSteps, diffusion: Mapping[Pair, Equation] | None) -> Array:
    """How the variance of the one row of a group changes with its state, at the start of every step `(N,)`."""
    paths = measured.summed[0]
    row = group.rows[0]
    none = np.zeros(sum(len(x) - 1 for x in paths))
    if diffusion is None or len(group.rows) > 1:
        return none
    coef = measured.gamma(diffusion[row, row])
    fitted = compact(measured.backend, Fitted(measured.diffusion_program, coef[None]))
    if set(fitted.program.expressions) <= {"1"}:
        return none
    slopes = [
        fitted.program.gradient(np.ascontiguousarray(x[:-1]))[:, :, row] @ fitted.coef[0] for x in paths
    ]
    return np.concatenate(slopes)


def _definite(shape: Array) -> Array:
    """Correlations `(N, d, d)`, shrunk where they are no correlations."""
    shape = np.clip(shape, -CLOSEST, CLOSEST)
    d = shape.shape[1]
    shape[:, np.arange(d), np.arange(d)] = 1.0
    if d == 2:
        return shape
    least = np.linalg.eigvalsh(shape)[:, 0]
    share = np.where(least < 1.0 - CLOSEST, CLOSEST / np.maximum(1.0 - least, 1e-300), 1.0)
    shape *= share[:, None, None]
    shape[:, np.arange(d), np.arange(d)] = 1.0
    return shape


def _distances(left: Array, gamma: Array) -> Array:
    """Squared distances ``e^T Gamma^-1 e`` of every step `(N,)`."""
    if left.shape[1] == 1:
        return np.asarray(left[:, 0] ** 2 / gamma[:, 0, 0])
    out = np.full(len(left), np.nan)
    there = np.isfinite(left).all(axis=1) & np.isfinite(gamma).all(axis=(1, 2))
    solved = np.linalg.solve(gamma[there], left[there][:, :, None])[:, :, 0]
    out[there] = np.einsum("nd,nd->n", left[there], solved)
    return out


def widened_by_law(equation: Equation, spread: float, number: int) -> Equation:
    """The equation of an entry of Gamma, whose scale is known the less as the law is not known.

    Parameters
    ----------
    equation : Equation
    spread : float
        Variance of the logarithm of the scale.
    number : int
        Of the entry, for its stream.
    """
    rng = np.random.default_rng(Stream.law(number).seed(equation.seed))
    factor = np.exp(np.sqrt(spread) * rng.standard_normal((*equation.samples.shape[:2], 1)))
    return replace(
        equation,
        cov=equation.cov + spread * np.outer(equation.mean, equation.mean),
        samples=equation.samples * factor,
    )
