"""What is regressed: the target of each step and its weight.

A drift target is the increment over the step, `(X_i[n+1] - X_i[n]) / dt`, whose noise has variance `Gamma_ii / dt`.
A diffusion target is the product of two residual increments, `e_i e_j / dt`, whose noise has variance
`Gamma_ii Gamma_jj + Gamma_ij^2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Target, Variance, Weights

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["floored_variance", "step_targets", "step_weights"]


def step_targets(
    x: Array, dt: Array, drift_values: tuple[Array, Array] | None, target: Target, scheme: str
) -> Array:
    """Targets `(n,)` of the n steps between the n + 1 rows of `x`.

    Parameters
    ----------
    x : (n + 1, n_inputs) array
    dt : (n,) array
    drift_values : pair of (n + 1,) arrays or None
        Fitted drift of the two rows of a diffusion target at the samples; None leaves the increments raw.
    target : Target
    scheme : {"euler", "trapezoid"}
        Where the fitted drift is taken: at the start of a step, or the mean of its two ends.
    """
    i, j = target.pair
    if not target.is_diffusion:
        return np.diff(x[:, i]) / dt
    e_i, e_j = np.diff(x[:, i]), np.diff(x[:, j])
    if drift_values is not None:
        f_i, f_j = drift_values
        if scheme == "trapezoid":
            e_i = e_i - dt * (f_i[:-1] + f_i[1:]) / 2
            e_j = e_j - dt * (f_j[:-1] + f_j[1:]) / 2
        else:
            e_i, e_j = e_i - dt * f_i[:-1], e_j - dt * f_j[:-1]
    return e_i * e_j / dt


def floored_variance(gamma: Array, floors: Array) -> Array:
    """Noise variance of a target from predicted covariances, each variance held above its floor.

    Parameters
    ----------
    gamma : (1, n) or (3, n) array
        `Gamma_ii` for a drift target; `Gamma_ii, Gamma_jj, Gamma_ij` for a diffusion target.
    floors : (1,) or (2,) array
        Lower bounds of the variances.

    Returns
    -------
    (n,) array
        `Gamma_ii`, or `Gamma_ii Gamma_jj + Gamma_ij^2`. A predicted covariance larger than the two variances allow is
        cut to what they allow.
    """
    g_ii: Array = np.maximum(gamma[0], floors[0])
    if len(gamma) == 1:
        return g_ii
    product: Array = g_ii * np.maximum(gamma[1], floors[1])
    both: Array = product + np.minimum(gamma[2] ** 2, product)
    return both


def step_weights(
    x_start: Array, dt: Array, dt_mean: float, path: int, start: int, target: Target, weights: Weights
) -> Array:
    """Weights `(n,)` of n steps that leave the rows of `x_start`; they depend on nothing after a step's start.

    Parameters
    ----------
    x_start : (n, n_inputs) array
    dt : (n,) array
    dt_mean : float
        Mean step of the data; a drift target over a longer step is less noisy in proportion.
    path, start : int
        Which path, and which of its steps comes first here.
    target : Target
    weights : None, sequence of arrays, or Variance
    """
    if weights is None:
        w = np.ones(len(x_start))
    elif isinstance(weights, Variance):
        gamma = weights.coef @ weights.program.evaluate(x_start).T
        w = 1.0 / floored_variance(gamma, weights.floors)
    else:
        w = weights[path][start : start + len(x_start)]
    return w if target.is_diffusion else w * (dt / dt_mean)
