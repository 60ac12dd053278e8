"""The hyperparameters of the spike-and-slab prior."""

from __future__ import annotations

from dataclasses import dataclass

from itoscope.common import checks

__all__ = ["Prior"]

_POSITIVE = ("a_p", "b_p", "a_v", "b_v", "a_s", "b_s", "slab_start")


@dataclass(frozen=True)
class Prior:
    """Hyperparameters of the hierarchy, and where a chain starts.

    ``theta_k = 0`` where ``Z_k = 0``; else ``theta_r ~ N(0, s2 v I)``, with ``v ~ IG(a_v, b_v)``,
    ``Z_k ~ Bernoulli(p0)``, ``p0 ~ Beta(a_p, b_p)``, ``s2 ~ IG(a_s, b_s)``.

    Parameters
    ----------
    a_p, b_p : float
        Shapes of the beta prior of the inclusion rate `p0`. The defaults favour small models: the empty one
        has prior probability 2/3 among 36 columns, 1/2 among 1000.
    a_v, b_v : float
        Shape and scale of the inverse gamma prior of the slab variance `v`.
    a_s, b_s : float
        Shape and scale of the inverse gamma prior of the noise variance `s2`; 1e-4 says nearly nothing.
    slab_start, p0_start : float
        Values of `v` and `p0` at the start of a chain; they have no influence on the answer.
    standardize : bool
        Scale each column and the target to unit root mean square before the prior is applied, so that a
        change of units changes nothing but the units.

    Raises
    ------
    ArgumentError
        If a shape or scale is not positive and finite, or `p0_start` is not strictly between 0 and 1.

    Notes
    -----
    Source: Tripura and Chakraborty, section 2.2. The paper prints ``a_s = b_s = 1e4``, its code uses 1e-4.
    """

    a_p: float = 0.1
    b_p: float = 1.0
    a_v: float = 0.5
    b_v: float = 0.5
    a_s: float = 1e-4
    b_s: float = 1e-4
    slab_start: float = 10.0
    p0_start: float = 0.1
    standardize: bool = True

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            object.__setattr__(self, name, checks.positive(name, getattr(self, name)))
        checks.share("p0_start", self.p0_start)
        checks.choice("standardize", self.standardize, (True, False))
