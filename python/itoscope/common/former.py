"""Where classes of the first version live now, so that its pickles load: old module names, served when asked for."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__all__ = ["FORMER", "serve"]

#: Old module -> new one. Where an old module has become a package of the same name, that exports the class.
FORMER = {
    "backends.statespace": "expressions.kinks",
    "bands": "result.forecast",
    "convergence": "stats.convergence",
    "estimator": "discovery.estimator",
    "model": "sde.sde",
    "moments": "posterior.moments",
    "observer": "result.observer",
    "order": "data.order",
    "priors": "common.prior",
    "problem": "sde.problem",
    "smoothed": "result.states",
    "terms": "library.parts",
    "trajectories": "data.trajectories",
}


class _Former(ModuleType):
    """A module that fetches what it once held from where that is now."""

    def __init__(self, name: str, now: str) -> None:
        super().__init__(name, "A name of the first version.")
        self._now = now

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._now), name)


def serve(package: str) -> None:
    """Let pickles find the old modules of `package`; none of the new ones is imported for that."""
    for old, new in FORMER.items():
        sys.modules.setdefault(f"{package}.{old}", _Former(f"{package}.{old}", f"{package}.{new}"))
