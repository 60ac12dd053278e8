"""The hyperparameters of the spike-and-slab prior."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from itoscope.common import checks
from itoscope.errors import argument_error

__all__ = ["Prior"]

_SHAPES = ("a_p", "b_p", "a_v", "a_s")
_SCALES = ("b_v", "b_s", "slab_start")

#: What a double can count with: beyond, draws of a shape are all 0 or infinite, and squares of a scale overflow.
SHAPES, SCALES = (1e-12, 1e12), (1e-100, 1e100)
#: Prior probability that the drift of a state is none at all.
NO_DRIFT = 1 / 3


@dataclass(frozen=True)
class Prior:
    """Hyperparameters of the hierarchy, and where a chain starts.

    ``theta_k = 0`` where ``Z_k = 0``; else ``theta_r ~ N(0, s2 v c I)``, with ``v ~ IG(a_v, b_v)``,
    ``Z_k ~ Bernoulli(p0)``, ``p0 ~ Beta(a_p, b_p)``, ``s2 ~ IG(a_s, b_s)``. The scale c of the slab is 1 for the
    diffusion, where a sample is a natural unit. For the drift of a state it is ``dt / tau``, with the step dt and
    the correlation time ``tau = min(2 Var(x) / Gamma, T)``, or the e-folding time of the autocorrelation where that
    is shorter: the noise of a step is ``s2 = Gamma / dt``, so that the slab is ``N(0, v Gamma / tau)`` however finely
    the path is sampled.

    Parameters
    ----------
    a_p, b_p : float
        Shapes of the beta prior of the inclusion rate `p0`. The defaults favour small models: without
        `empty` that of no terms has probability 2/3 among 36 columns, 1/2 among 1000.
    a_v, b_v : float
        Shape and scale of the inverse gamma prior of the slab variance `v`.
    a_s, b_s : float
        Shape and scale of the inverse gamma prior of the noise variance `s2`; 1e-4 says nearly nothing.
    slab_start, p0_start : float
        Values of `v` and `p0` at the start of a chain; they have no influence on the answer.
    slab_unit : {"time", "sample"}
        "sample" has ``c = 1`` in the drift too, the slab of the paper: it grows wider the finer a path is sampled,
        and inclusion probabilities fall.
    empty : float, optional
        Prior probability that an equation has no terms; all other sets of terms keep their proportions. None: one third
        for the drift of a state, unless `a_p`, `b_p` or `slab_unit` say otherwise, and what `p0` says for all else.
    standardize : bool
        Scale each column and the target to unit root mean square before the prior is applied, so that a
        change of units changes nothing but the units.

    Raises
    ------
    ArgumentError
        If a shape is not from 1e-12 to 1e12, a scale or `slab_start` not from 1e-100 to 1e100, or `p0_start` is not
        strictly between 0 and 1.

    Notes
    -----
    Source: Tripura and Chakraborty, section 2.2. The paper prints ``a_s = b_s = 1e4``, its code uses 1e-4.

    Examples
    --------
    The slab of the paper, which is in units of a sample:

    >>> import itoscope as ito
    >>> prior = ito.Prior(slab_unit="sample")
    >>> prior.a_p, prior.slab_unit
    (0.1, 'sample')
    >>> ito.Prior(a_p=-1.0)
    Traceback (most recent call last):
    itoscope.errors.ArgumentError: a_p = -1.0: a positive, finite number from 1e-12 to 1e+12
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
    slab_unit: Literal["time", "sample"] = "time"
    empty: float | None = None

    def __post_init__(self) -> None:
        for names, (low, high) in ((_SHAPES, SHAPES), (_SCALES, SCALES)):
            for name in names:
                allowed = f"a positive, finite number from {low:g} to {high:g}"
                value = checks.positive(name, getattr(self, name), allowed)
                if not low <= value <= high:
                    raise argument_error(name, value, allowed)
                object.__setattr__(self, name, value)
        checks.share("p0_start", self.p0_start)
        checks.choice("standardize", self.standardize, (True, False))
        checks.choice("slab_unit", self.slab_unit, ("time", "sample"))
        if self.empty is not None:
            checks.share("empty", self.empty)

    def scaled(self, slab_scale: float) -> Prior:
        """The same prior where a sample is the unit: ``v c ~ IG(a_v, b_v c)``, for the scale c of the slab."""
        if self.slab_unit == "sample":
            return self
        prior = self.of_drift() if slab_scale != 1.0 else self
        b_v, start = (min(max(v * slab_scale, SCALES[0]), SCALES[1]) for v in (self.b_v, self.slab_start))
        return replace(prior, b_v=b_v, slab_start=start, slab_unit="sample")

    def of_drift(self) -> Prior:
        """The same prior for the drift of a state: with a probability that there is none, unless one was given."""
        said = self.empty is not None or (self.a_p, self.b_p) != (Prior.a_p, Prior.b_p)
        return self if said or self.slab_unit == "sample" else replace(self, empty=NO_DRIFT)

    def log_none(self, n_columns: int) -> float:
        """Log probability that none of so many columns is in an equation, by the inclusion rate alone."""
        return -sum(math.log1p(self.a_p / (self.b_p + j)) for j in range(n_columns))
