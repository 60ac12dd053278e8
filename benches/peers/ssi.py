"""Covariance-driven stochastic subspace identification of one recorded displacement: frequency and damping.

What engineers use on ambient vibration: the covariances of the recording in a block Hankel matrix, its singular value
decomposition, and the poles of the state matrix that the shift of the observability matrix gives (Peeters and De Roeck
1999). It has no law of the noise and no intervals; sensor noise that is white leaves all covariances but that at lag
zero alone, which is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["modes"]


def modes(
    y: NDArray[np.float64], dt: float, *, order: int = 2, blocks: int = 20
) -> list[tuple[float, float]]:
    """Angular frequency and damping ratio of each pair of poles, the slowest first.

    Parameters
    ----------
    y : (n,) array
        Displacement, evenly sampled.
    dt : float
    order : int
        Number of poles that are kept: two for one oscillator.
    blocks : int
        Lags of the Hankel matrix.
    """
    y = np.asarray(y, dtype=float) - np.mean(y)
    n = len(y)
    lags = np.array([y[lag:] @ y[: n - lag] / (n - lag) for lag in range(2 * blocks + 1)])
    hankel = lags[1 + np.add.outer(np.arange(blocks), np.arange(blocks))]
    u, s, _ = np.linalg.svd(hankel)
    observability = u[:, :order] * np.sqrt(s[:order])
    shift = np.linalg.lstsq(observability[:-1], observability[1:], rcond=None)[0]
    poles = np.log(np.linalg.eigvals(shift).astype(complex)) / dt
    found = {(round(float(abs(p)), 12), round(float(-p.real / abs(p)), 12)) for p in poles if p.imag >= 0}
    return sorted(found)
