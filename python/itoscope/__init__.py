"""itoscope: the stochastic differential equation behind recorded motion whose input was never measured."""

from itoscope import errors, paper, problems
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

__all__ = [
    "SDE",
    "Discovery",
    "Equation",
    "Library",
    "Moments",
    "Prior",
    "Trajectories",
    "__version__",
    "classify_order",
    "discover",
    "errors",
    "moments",
    "paper",
    "problems",
    "set_threads",
    "use_backend",
]
