"""Whether residuals are independent: their autocorrelation."""

from __future__ import annotations

import numpy as np

from itoscope.common.types import Array, Integers

__all__ = ["autocorrelation"]


def autocorrelation(z: Array, piece: Integers, lags: int) -> Array:
    r"""Autocorrelation within pieces, :math:`\rho_l = \overline{(z_n - \bar z)(z_{n+l} - \bar z)} / s_z^2`.

    Parameters
    ----------
    z : (n,) array
        Residuals, NaN where one is missing.
    piece : (n,) array of int
        Number of the stretch without gaps that each belongs to.
    lags : int

    Returns
    -------
    (lags,) array
        At lags 1 to `lags`; 0 where no two residuals are so far apart.
    """
    there = ~np.isnan(z)
    known = np.where(there, z - np.nanmean(z), 0.0)
    variance = np.nanvar(z)
    rho = np.zeros(lags)
    for lag in range(1, lags + 1):
        both = (piece[lag:] == piece[:-lag]) & there[lag:] & there[:-lag]
        if both.any():
            rho[lag - 1] = (known[lag:] * known[:-lag])[both].mean() / variance
    return rho
