"""`.ito` on tables and arrays of other packages: `df.ito.discover(fps=25)`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from itoscope.data.glance import advise
from itoscope.data.trajectories import Trajectories
from itoscope.discovery.discover import discover

if TYPE_CHECKING:
    from itoscope.data.glance import Glance
    from itoscope.discovery.result import Discovery
    from itoscope.library.library import Library

__all__ = ["Accessor"]

#: What belongs to a discovery though `Trajectories` has an argument of this name too.
ASKED = ("data", "seed", "diverged")
INTAKE = tuple(name for name in inspect.signature(Trajectories).parameters if name not in ASKED)


class Accessor:
    """A table or an array as a recording.

    Arguments of `Trajectories` (`time`, `id`, `columns`, `dt`, `fps`, `names`, ...) say how it is read, all others are
    those of `discover`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, itoscope.pandas
    >>> walk = np.cumsum(np.random.default_rng(1).normal(size=2000))
    >>> pd.DataFrame({"time [s]": 0.01 * np.arange(2000), "x [mm]": walk}).ito.trajectories()
    Trajectories: 1 path of 2000 samples, dt = 0.01 s, state x [mm]
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def trajectories(self, **settings: Any) -> Trajectories:
        """The recording.

        Parameters
        ----------
        **settings
            Those of `Trajectories`.
        """
        return Trajectories(self._table, **settings)

    def advise(self, **settings: Any) -> Glance:
        """What is seen of the recording, and the call that finds its equation.

        Parameters
        ----------
        **settings
            Those of `Trajectories`.
        """
        return advise(self.trajectories(**settings))

    def discover(self, library: Library | None = None, **settings: Any) -> Discovery:
        """The equation behind the recording.

        Parameters
        ----------
        library : Library, optional
        **settings
            Those of `Trajectories` and those of `discover`.
        """
        intake = {name: settings.pop(name) for name in INTAKE if name in settings}
        return discover(self.trajectories(**intake), library, **settings)

    def plot(self, **settings: Any) -> Any:
        """Draw the recording.

        Parameters
        ----------
        **settings
            Those of `Trajectories`; `ax` and `n_paths` are those of `Trajectories.plot`.
        """
        intake = {name: settings.pop(name) for name in INTAKE if name in settings}
        return self.trajectories(**intake).plot(**settings)
