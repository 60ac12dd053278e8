"""itoscope: the stochastic differential equation behind recorded motion whose input was never measured."""

from typing import TYPE_CHECKING, Any

from itoscope import errors
from itoscope._core import __version__
from itoscope.backends import use_backend
from itoscope.common import former
from itoscope.common.prior import Prior

if TYPE_CHECKING:
    from itoscope import dask, paper, problems
    from itoscope.backends.rust import set_threads
    from itoscope.data.glance import advise
    from itoscope.data.inputs import Input
    from itoscope.data.order import classify_order
    from itoscope.data.reading import read
    from itoscope.data.streams import stream
    from itoscope.data.trajectories import Trajectories
    from itoscope.discovery.discover import discover
    from itoscope.discovery.estimator import SDEDiscovery
    from itoscope.discovery.many import discover_many
    from itoscope.discovery.result import Discovery
    from itoscope.fit.sensors.angles import Angle
    from itoscope.fit.sensors.kinds import Acceleration, Average
    from itoscope.library.library import Library
    from itoscope.library.pysindy import from_pysindy
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.moments import Moments
    from itoscope.posterior.regression import moments
    from itoscope.sde.sde import SDE

__all__ = [
    "SDE",
    "Acceleration",
    "Angle",
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


#: Where the names are; what nobody uses is not imported, and the estimator brings scikit-learn along.
LATER = {
    "SDE": "itoscope.sde.sde",
    "Acceleration": "itoscope.fit.sensors.kinds",
    "Angle": "itoscope.fit.sensors.angles",
    "Average": "itoscope.fit.sensors.kinds",
    "Discovery": "itoscope.discovery.result",
    "Equation": "itoscope.posterior.equation",
    "Input": "itoscope.data.inputs",
    "Library": "itoscope.library.library",
    "Moments": "itoscope.posterior.moments",
    "SDEDiscovery": "itoscope.discovery.estimator",
    "Trajectories": "itoscope.data.trajectories",
    "advise": "itoscope.data.glance",
    "classify_order": "itoscope.data.order",
    "discover": "itoscope.discovery.discover",
    "discover_many": "itoscope.discovery.many",
    "from_pysindy": "itoscope.library.pysindy",
    "moments": "itoscope.posterior.regression",
    "read": "itoscope.data.reading",
    "set_threads": "itoscope.backends.rust",
    "stream": "itoscope.data.streams",
}


def __getattr__(name: str) -> Any:
    """Import what is used for the first time, so that `import itoscope` is quick."""
    import importlib

    if name in ("dask", "paper", "problems"):
        return importlib.import_module(f"itoscope.{name}")
    if name in LATER:
        found = globals()[name] = getattr(importlib.import_module(LATER[name]), name)
        return found
    raise AttributeError(f"module 'itoscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, whether they have been used or not."""
    return sorted({*globals(), *__all__})
