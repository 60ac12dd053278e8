"""The exact posterior over all models of a few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.reference.evidence import Regression
from itoscope.backends.reference.slab import slab_posterior
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Progress
    from itoscope.stats.quadratic import Quadratic

__all__ = ["MAX_COLUMNS", "enumerate_models", "members_of"]

MAX_COLUMNS = 20


def members_of(model: int) -> list[int]:
    """Return the usable columns whose bits are set in the index of a model."""
    return [j for j in range(model.bit_length()) if model >> j & 1]


def enumerate_models(quadratic: Quadratic, prior: Prior, *, progress: Progress) -> Array:
    """Return the log joint mass of the data and each model ``(2^k,)``."""
    regression = Regression(quadratic, prior)
    k = regression.n_usable
    if k > MAX_COLUMNS:
        allowed = f'at most {MAX_COLUMNS} for exact enumeration; use the sampler "gibbs"'
        raise argument_error("number of columns", k, allowed)
    out = np.empty(2**k)
    for model in range(2**k):
        members = members_of(model)
        out[model] = regression.log_model(len(members)) + slab_posterior(regression, members).log_integral
        if progress is not None and model % 1024 == 1023:
            progress(model + 1)
    return out
