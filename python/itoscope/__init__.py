"""itoscope: the stochastic differential equation behind recorded motion whose input was never measured."""

from itoscope import errors
from itoscope._core import __version__
from itoscope.backends import use_backend
from itoscope.library import Library
from itoscope.trajectories import Trajectories

__all__ = ["Library", "Trajectories", "__version__", "errors", "use_backend"]
