"""itoscope: the stochastic differential equation behind recorded motion whose input was never measured."""

from itoscope import errors, problems
from itoscope._core import __version__
from itoscope.backends import use_backend
from itoscope.library import Library
from itoscope.model import SDE
from itoscope.moments import Moments
from itoscope.posterior import Equation
from itoscope.priors import Prior
from itoscope.trajectories import Trajectories

__all__ = [
    "SDE",
    "Equation",
    "Library",
    "Moments",
    "Prior",
    "Trajectories",
    "__version__",
    "errors",
    "problems",
    "use_backend",
]
