"""itoscope: the stochastic differential equation behind recorded motion whose input was never measured."""

from typing import TYPE_CHECKING, Any

from itoscope import errors
from itoscope._core import __version__
from itoscope.backends import use_backend
from itoscope.common import former
from itoscope.common.prior import Prior
from itoscope.data.inputs import Input
from itoscope.data.trajectories import Trajectories
from itoscope.discovery.discover import discover
from itoscope.discovery.result import Discovery
from itoscope.library.library import Library
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments
from itoscope.posterior.regression import moments
from itoscope.sde.sde import SDE

if TYPE_CHECKING:
    from itoscope import dask, paper, problems
    from itoscope.backends.rust import set_threads
    from itoscope.data.glance import advise
    from itoscope.data.order import classify_order
    from itoscope.data.reading import read
    from itoscope.data.streams import stream
    from itoscope.discovery.estimator import SDEDiscovery
    from itoscope.discovery.many import discover_many
    from itoscope.fit.sensors.kinds import Average
    from itoscope.library.pysindy import from_pysindy

__all__ = [
    "SDE",
    "Average",
    "Discovery",
    "Equation",
    "Input",
    "Library",
    "Moments",
    "Prior",
    "SDEDiscovery",
    "Trajectories",
    "__version__",
    "advise",
    "classify_order",
    "dask",
    "discover",
    "discover_many",
    "errors",
    "from_pysindy",
    "moments",
    "paper",
    "problems",
    "read",
    "set_threads",
    "stream",
    "use_backend",
]

former.serve(__name__)


#: Where the names are that few programs need; the estimator imports scikit-learn.
LATER = {
    "Average": "itoscope.fit.sensors.kinds",
    "SDEDiscovery": "itoscope.discovery.estimator",
    "advise": "itoscope.data.glance",
    "classify_order": "itoscope.data.order",
    "discover_many": "itoscope.discovery.many",
    "from_pysindy": "itoscope.library.pysindy",
    "read": "itoscope.data.reading",
    "set_threads": "itoscope.backends.rust",
    "stream": "itoscope.data.streams",
}


def __getattr__(name: str) -> Any:
    """Import what few programs need when it is first used, so that `import itoscope` stays quick."""
    import importlib

    if name in ("dask", "paper", "problems"):
        return importlib.import_module(f"itoscope.{name}")
    if name in LATER:
        return getattr(importlib.import_module(LATER[name]), name)
    raise AttributeError(f"module 'itoscope' has no attribute {name!r}")
