"""Whether residuals are independent: their autocorrelation, and the Ljung-Box test of all lags together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array, Integers

__all__ = ["autocorrelation", "lagged_products", "ljung_box"]


def lagged_products(z: Array, piece: Integers, lags: int) -> tuple[Array, Array]:
    """Sums of `z[n] z[n + l]` within pieces, and the numbers of such products.

    Parameters
    ----------
    z : (n,) array
        NaN where one is missing.
    piece : (n,) array of int
        Number of the stretch without gaps that each belongs to.
    lags : int

    Returns
    -------
    sums, pairs : (lags,) arrays
        At lags 1 to `lags`.
    """
    there = ~np.isnan(z)
    known = np.where(there, z, 0.0)
    sums, pairs = np.zeros(lags), np.zeros(lags)
    for lag in range(1, lags + 1):
        both = (piece[lag:] == piece[:-lag]) & there[lag:] & there[:-lag]
        sums[lag - 1] = (known[lag:] * known[:-lag])[both].sum()
        pairs[lag - 1] = np.count_nonzero(both)
    return sums, pairs


def autocorrelation(z: Array, piece: Integers, lags: int) -> Array:
    r"""Autocorrelation within pieces, :math:`\rho_l = \overline{(z_n - \bar z)(z_{n+l} - \bar z)} / s_z^2`.

    Parameters
    ----------
    z, piece, lags
        See `lagged_products`.

    Returns
    -------
    (lags,) array
        At lags 1 to `lags`; 0 where no two residuals are so far apart.
    """
    sums, pairs = lagged_products(z - np.nanmean(z), piece, lags)
    rho: Array = sums / np.maximum(pairs, 1.0) / np.nanvar(z)
    return rho


def ljung_box(rho: Array, pairs: Array, n: int) -> tuple[float, float]:
    r"""Ljung-Box statistic :math:`n (n + 2) \sum_l \rho_l^2 / (n - l)` and its p-value.

    Parameters
    ----------
    rho : (L,) array
        Autocorrelations at lags 1..L; L must be even, for which the tail of the chi-square law is a finite sum.
    pairs : (L,) array
        Number of products behind each, in the place of `n - l` when there are gaps and many paths.
    n : int
        Number of residuals.

    Returns
    -------
    statistic, p_value : float
    """
    statistic = float((n + 2) * np.sum(rho**2 * pairs / n))
    half = statistic / 2
    terms = range(len(rho) // 2)
    log_sum = -half + np.logaddexp.reduce(
        [i * math.log(max(half, 1e-300)) - math.lgamma(i + 1) for i in terms]
    )
    return statistic, float(math.exp(min(log_sum, 0.0)))
