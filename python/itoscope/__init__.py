"""itoscope: the stochastic differential equation behind recorded motion whose input was never measured."""

from typing import TYPE_CHECKING, Any

from itoscope import errors, problems
from itoscope._core import __version__, set_threads
from itoscope.backends import use_backend
from itoscope.discover import discover
from itoscope.discovery import Discovery
from itoscope.library import Library
from itoscope.model import SDE
from itoscope.moments import Moments
from itoscope.order import classify_order
from itoscope.posterior import Equation
from itoscope.priors import Prior
from itoscope.regression import moments
from itoscope.trajectories import Trajectories

if TYPE_CHECKING:
    from itoscope import paper
    from itoscope.estimator import SDEDiscovery
    from itoscope.peers import from_pysindy

__all__ = [
    "SDE",
    "Discovery",
    "Equation",
    "Library",
    "Moments",
    "Prior",
    "SDEDiscovery",
    "Trajectories",
    "__version__",
    "classify_order",
    "discover",
    "errors",
    "from_pysindy",
    "moments",
    "paper",
    "problems",
    "set_threads",
    "use_backend",
]


def __getattr__(name: str) -> Any:
    """Import what few programs need when it is first used, so that `import itoscope` stays quick."""
    import importlib

    if name == "paper":
        return importlib.import_module("itoscope.paper")
    if name == "from_pysindy":
        return importlib.import_module("itoscope.peers").from_pysindy
    if name == "SDEDiscovery":  # imports scikit-learn
        return importlib.import_module("itoscope.estimator").SDEDiscovery
    raise AttributeError(f"module 'itoscope' has no attribute {name!r}")
