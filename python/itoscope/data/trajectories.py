"""`Trajectories`: recorded or simulated motion, checked once, read by everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itoscope.common import checks
from itoscope.data import samples
from itoscope.data.asked import Asked
from itoscope.data.clock import clock
from itoscope.data.conversions import Conversions
from itoscope.data.intake import parts_of, parts_of_own
from itoscope.drawing import over_time
from itoscope.errors import ArgumentError, argument_error
from itoscope.stats.marks import wrap_period

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.inputs import Driving
    from itoscope.data.parts import Parts
    from itoscope.data.precision import SampleErrors

__all__ = ["Trajectories", "as_trajectories"]


class Trajectories(Conversions):
    """Paths of the same states, sampled at even or uneven times.

    Parameters
    ----------
    data : array_like, list of arrays, data frame, DataArray or Trajectories
        ``(n_times,)``, ``(n_times, n_states)``, ``(n_paths, n_times, n_states)``; a list of arrays
        ``(n_i, n_states)`` or ``(n_i,)``, one per path; a frame or series of pandas, polars, pyarrow or another library
        that narwhals knows, a list or dict of frames, one per recording, a dict of columns; a DataArray or Dataset of
        xarray. NaN marks a missing sample. float64 arrays in C order are not copied.
    dt : float, optional
        Time between two samples. Give either `dt` or `t`. A sample that is missing from the index of a table, or from a
        column of times or frames, becomes NaN; times that contradict `dt` are an error.
    t : array_like, optional
        Time stamps, strictly increasing: one array for all paths, or a list with one array per path.
    names : list of str, optional
        One name per state; by default the headings, or ``x1 .. xm``.
    columns : list of str or int, optional
        Columns of a table that are the states; by default all that are no time, no count and no label.
    id : str, int or list of them, optional
        Column of a table that tells recordings apart (a dimension, of xarray); found by itself where heading and values
        say so.
    time : str or int, optional
        Column of the times, found by itself likewise; ``"index"`` is the index, ``"-age"`` a column that runs back.
    time_unit : str, optional
        Unit in which time is to be measured, ns to Ma; times with a unit are converted, dates are seconds otherwise.
    fps : float, optional
        Samples a second; a column of frames is divided by it.
    per_year : float, optional
        Samples a year, 252 for trading days: rows follow each other, whatever their dates.
    wide : {"states", "repeats"}, optional
        What columns with numbered headings are, `run1`, `run2`, ...: states, or recordings of one.
    units : list of str or mapping of str to str, optional
        Units of the states, as labels; by default those of the headings, ``disp [mm]``.
    position_names : list of str, optional
        The states that are positions of a second-order system; see `positions`.
    diverged : iterable of int, optional
        Paths that were cut where a simulation left the finite range.
    seed : int, optional
        Seed of the random step that made the data, kept for the record.

    Attributes
    ----------
    paths : list of (n_i, n_states) float64 arrays
        Samples, C-contiguous and read-only.
    times : list of (n_i,) float64 arrays
        Time stamps; paths with the same stamps share one array.
    dt : float or None
        The step that all paths have, or None.
    units, labels : tuple of str
        Of each state its unit, empty where nobody said, and its heading as it was written.
    time_unit : str
        Unit of the times, empty where nobody said.
    time_source : str
        What carried the times, empty where `dt` or `t` told them.
    ids : tuple or None
        What told the paths apart, one each.
    names, position_names, diverged, seed
        As given.
    driving : Driving or None
        The inputs that drive the states, once they were told from these.
    errors : SampleErrors or None
        How noisy single samples are, once that was told.

    Raises
    ------
    DataError
        When the samples or times break a rule; the message names path, index, value and what is allowed.
    ArgumentError
        When `dt`, `t` or `names` cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> Trajectories(np.zeros((5, 100, 2)), dt=0.01)
    Trajectories: 5 paths of 100 samples, dt = 0.01, states x1, x2
    """

    driving: Driving | None = None
    errors: SampleErrors | None = None

    def __init__(
        self,
        data: Any,
        *,
        dt: float | None = None,
        t: Any = None,
        names: Sequence[str] | None = None,
        columns: Sequence[str | int] | None = None,
        id: Any = None,
        time: str | int | None = None,
        time_unit: str | None = None,
        fps: float | None = None,
        per_year: float | None = None,
        wide: str | None = None,
        units: Sequence[str] | Mapping[str, str] | None = None,
        position_names: Sequence[str] | None = None,
        diverged: Iterable[int] = (),
        seed: int | None = None,
    ) -> None:
        asked = Asked(time, id, columns, dt, fps, per_year, time_unit, wide, t is not None, names is not None)
        parts = parts_of_own(data, asked) if isinstance(data, Trajectories) else parts_of(data, asked)
        self.paths = samples.as_paths(parts.paths)
        self.names = samples.as_names(parts.names if names is None else names, self.paths[0].shape[1])
        if not samples.all_finite(parts.paths):
            samples.check_samples(self.paths, self.names)
        self.times, self._steps = clock(parts, [len(path) for path in self.paths], dt, t)
        self.labels, self.units = self._described(parts, names is not None, units)
        self.time_unit = parts.time_unit or asked.unit or ""
        self.time_source = parts.where
        self.ids = None if parts.ids is None or len(parts.ids) != len(self.paths) else tuple(parts.ids)
        self.position_names = self._subset_of_names(
            parts.position_names if position_names is None else position_names
        )
        if not checks.is_list(diverged):
            raise argument_error("diverged", diverged, "positions of paths")
        left = [checks.count("diverged", i, 0, most=self.n_paths - 1) for i in (*diverged, *parts.diverged)]
        self.diverged = tuple(sorted(left))
        self.seed = parts.seed if seed is None else seed

    def _described(
        self, parts: Parts, renamed: bool, units: Sequence[str] | Mapping[str, str] | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Label and unit of every state."""
        labels = self.names if renamed or not parts.labels else tuple(map(str, parts.labels))
        found = list(parts.units) if parts.units else [""] * len(self.names)
        if isinstance(units, Mapping):
            for name, unit in units.items():
                if name not in self.names:
                    raise argument_error("units", name, f"states of these data: {', '.join(self.names)}")
                found[self.names.index(name)] = unit
        elif units is not None:
            found = list(units) if checks.is_list(units) else []
        if len(found) != len(self.names) or not all(isinstance(unit, str) for unit in found):
            raise argument_error(
                "units", units, f"{len(self.names)} texts, one per state, or a mapping of states to texts"
            )
        return labels, tuple(found)

    def _subset_of_names(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        if not checks.is_list(names):
            raise argument_error("position_names", names, "a list of states of these data")
        names = tuple(names)
        for name in names:
            if not isinstance(name, str) or name not in self.names:
                raise argument_error("position_names", name, f"states of these data: {', '.join(self.names)}")
        return names

    # -- size and time -------------------------------------------------------------------------------------
    @property
    def n_paths(self) -> int:
        """Number of paths."""
        return len(self.paths)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.names)

    @property
    def n_steps(self) -> int:
        """Number of steps of all paths together, those with a missing end included."""
        return sum(len(path) - 1 for path in self.paths)

    @property
    def missing(self) -> float:
        """Share of the samples that are NaN."""
        count = sum(int(np.isnan(path).sum()) for path in self.paths)
        return count / sum(path.size for path in self.paths)

    @property
    def dt(self) -> float | None:
        """The step length that all paths have, or None when times are uneven or paths differ."""
        first = self._steps[0]
        if first is None or any(step is None or abs(step - first) > 1e-9 * first for step in self._steps):
            return None
        return first

    def steps(self) -> list[float | Array]:
        """Return what stages take as `times`: the step of an even path, the stamps of an uneven one.

        A path counts as even when no stamp strays from an even grid by more than 1e-3 of a step.
        """
        common = self.dt
        if common is not None:
            return [common] * self.n_paths
        return [stamps if step is None else step for step, stamps in zip(self._steps, self.times)]

    def mean(self) -> Array:
        """Return the mean of each state over all samples that are there, ``(n_states,)``."""
        return self._sums()[0]

    def sd(self) -> Array:
        """Return the standard deviation of each state over all samples that are there, ``(n_states,)``."""
        return self._sums()[1]

    def _sums(self) -> tuple[Array, Array]:
        count = np.sum([(~np.isnan(path)).sum(axis=0) for path in self.paths], axis=0)
        mean = np.sum([np.nansum(path, axis=0) for path in self.paths], axis=0) / count
        square = np.sum([np.nansum((path - mean) ** 2, axis=0) for path in self.paths], axis=0) / count
        return mean, np.sqrt(square)

    # -- new data from these -------------------------------------------------------------------------------
    def _remade(
        self,
        paths: list[Array],
        *,
        keep: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        times: list[Array] | None = None,
        stride: int = 1,
        seed: int | None = None,
    ) -> Trajectories:
        """Return a copy with other samples: paths `keep`, states `names`, each `stride`-th of the times."""
        kept = range(self.n_paths) if keep is None else keep
        names = self.names if names is None else names
        made = Trajectories(
            paths,
            t=[self.times[i] for i in kept] if times is None else times,
            names=names,
            position_names=[name for name in self.position_names or () if name in names] or None,
            diverged=[new for new, old in enumerate(kept) if old in self.diverged],
            seed=self.seed if seed is None else seed,
        )
        places = [self.names.index(name) for name in names]
        made.labels, made.units = tuple(self.labels[k] for k in places), tuple(self.units[k] for k in places)
        made.time_source = self.time_source
        made.driving = None if self.driving is None else self.driving.kept(kept)
        made.errors = None if self.errors is None else self.errors.kept(kept)
        made.time_unit, made.ids = (
            self.time_unit,
            None if self.ids is None else tuple(self.ids[i] for i in kept),
        )
        steps = [self._steps[i] for i in kept]
        # An even path stays even, by the step that was given and not by one found from shortened stamps.
        made._steps = [found if step is None else stride * step for step, found in zip(steps, made._steps)]
        return made

    def __getitem__(self, index: int | slice | Sequence[int] | Sequence[bool]) -> Trajectories:
        """Return the chosen paths: ``data[3]``, ``data[3:10]``, ``data[[0, 5]]`` or a mask."""
        try:
            chosen = np.arange(self.n_paths)[index]
        except IndexError:
            raise IndexError(
                f"path {index!r}: there are {self.n_paths} paths, 0 to {self.n_paths - 1}"
            ) from None
        if np.ndim(chosen) > 1:
            raise IndexError(f"paths {index!r}: a number, a slice, or a list of numbers or truth values")
        keep = [int(i) for i in np.atleast_1d(chosen)]
        if not keep:
            raise IndexError(f"paths {index!r}: none of the {self.n_paths} paths is chosen")
        return self._remade([self.paths[i] for i in keep], keep=keep)

    def __iter__(self) -> Iterator[Trajectories]:
        return (self[i] for i in range(self.n_paths))

    def __len__(self) -> int:
        return self.n_paths

    def select(self, names: str | Sequence[str]) -> Trajectories:
        """Return the states `names` alone, in that order."""
        wanted = list(checks.names([names] if isinstance(names, str) else names))
        for name in wanted:
            if name not in self.names:
                raise argument_error("names", name, f"states of these data: {', '.join(self.names)}")
        columns = [self.names.index(name) for name in wanted]
        return self._remade([path[:, columns] for path in self.paths], names=wanted)

    def thin(self, k: int) -> Trajectories:
        """Return every `k`-th sample of each path, the first included."""
        k = checks.count("k", k)
        paths, times = [path[::k] for path in self.paths], [stamps[::k] for stamps in self.times]
        return self._remade(paths, times=times, stride=int(k))

    def split(
        self, fraction: float, *, by: Literal["auto", "paths", "time"] = "auto"
    ) -> tuple[Trajectories, Trajectories]:
        """Split into a first part and the rest, to fit one and judge on the other.

        Parameters
        ----------
        fraction : float
            Share of the first part, between 0 and 1.
        by : {"auto", "paths", "time"}
            ``"paths"`` gives the first part whole paths, ``"time"`` the start of every path;
            ``"auto"`` is ``"paths"`` when there are two or more.
        """
        fraction = checks.share("fraction", fraction)
        checks.choice("by", by, ("auto", "paths", "time"))
        if by == "paths" or (by == "auto" and self.n_paths > 1):
            if self.n_paths < 2:
                raise argument_error("by", by, "'time', since there is one path only")
            n_first = min(max(round(fraction * self.n_paths), 1), self.n_paths - 1)
            return self[:n_first], self[n_first:]
        cuts = [round(fraction * len(path)) for path in self.paths]
        first = self._remade(
            [path[:cut] for path, cut in zip(self.paths, cuts)],
            times=[stamps[:cut] for stamps, cut in zip(self.times, cuts)],
        )
        rest = self._remade(
            [path[cut:] for path, cut in zip(self.paths, cuts)],
            times=[stamps[cut:] for stamps, cut in zip(self.times, cuts)],
        )
        return first, rest

    def add_noise(self, fraction: float = 0.0, *, sd: Any = None, seed: int | None = None) -> Trajectories:
        """Return the data with independent Gaussian measurement noise added to every sample.

        Parameters
        ----------
        fraction : float
            Standard deviation of the noise as a share of each state's standard deviation over all samples.
        sd : float or (n_states,) array, optional
            The standard deviation itself, in the unit of the states, instead of `fraction`.
        seed : int, optional
            None draws one, which the result keeps as `seed`.
        """
        name, value = ("fraction", fraction) if sd is None else ("sd", sd)
        try:
            level = checks.reals(name, value) * (self.sd() if sd is None else np.ones(self.n_states))
        except ValueError:
            level = np.array([np.nan])
        if level.shape != (self.n_states,) or not (np.isfinite(level) & (level >= 0)).all():
            raise argument_error(
                name, value, f"a number not below 0, or {self.n_states} of them, one per state"
            )
        seed = checks.seed(seed)
        # Streams of simulated paths have keys (seed, path); this one is none of them, whatever the seed.
        rng = np.random.Generator(np.random.Philox(key=np.array([seed, 2**64 - 1], dtype=np.uint64)))
        noisy = [path + level * rng.standard_normal(path.shape) for path in self.paths]
        return self._remade(noisy, seed=seed)

    def positions(
        self, noise: float = 0.0, seed: int | None = None, *, names: Sequence[str] | None = None
    ) -> Trajectories:
        """Return what a displacement sensor sees of a second-order system: its positions, with noise.

        The positions are `names`, else `position_names` (simulated benchmark problems carry them), else the
        first half of the states, as in ``(x1, x2, v1, v2)``; a single state is its own position.

        Parameters
        ----------
        noise : float
            Standard deviation of the measurement noise as a share of each position's standard deviation.
        seed : int, optional
            Of the noise.
        names : list of str, optional
            The states that are positions.
        """
        chosen = names if names is not None else self.position_names
        if chosen is None:
            if self.n_states > 1 and self.n_states % 2:
                raise argument_error(
                    "names", names, f"the positions among the states {', '.join(self.names)}"
                )
            chosen = self.names[: max(self.n_states // 2, 1)]
        noise = checks.not_negative("noise", noise)
        seen = self.select(chosen)
        return seen.add_noise(noise, seed=seed) if noise != 0 else seen

    # -- what a person sees --------------------------------------------------------------------------------
    def plot(self, names: str | Sequence[str] | None = None, *, n_paths: int = 20, ax: Any = None) -> Any:
        """Draw the states over time, one panel each, and return the axes. Needs the extra ``plot``.

        Columns that wrap, by 2 pi or 360, have no line where they come in at the other end.

        Parameters
        ----------
        names : str or list of str, optional
            States to draw; all by default.
        n_paths : int
            So many paths at most, spread over the list.
        ax : Axes or sequence of Axes, optional
            One per state.
        """
        checks.count("n_paths", n_paths)
        chosen = self if names is None else self.select(names)
        units, time_unit = chosen.units, chosen.time_unit
        shown = chosen.times, chosen.paths, chosen.names
        periods = [wrap_period([path[:, c] for path in chosen.paths])[0] for c in range(chosen.n_states)]
        return over_time.paths(
            *shown, n_paths=n_paths, ax=ax, units=units, time_unit=time_unit, periods=periods
        )

    def __repr__(self) -> str:
        lengths = [len(path) for path in self.paths]
        low, high = min(lengths), max(lengths)
        paths = "1 path" if self.n_paths == 1 else f"{self.n_paths} paths"
        size = f"{low}" if low == high else f"{low} to {high}"
        unit = f" {self.time_unit}" if self.time_unit else ""
        uneven = f"uneven times in {self.time_unit}" if self.time_unit else "uneven times"
        parts = [f"{paths} of {size} samples", uneven if self.dt is None else f"dt = {self.dt:g}{unit}"]
        if self.dt is None and all(step is not None for step in self._steps):
            steps = [step for step in self._steps if step is not None]
            parts[-1] = f"dt = {min(steps):g} to {max(steps):g}{unit}"
        parts.append(
            f"state{'s' if self.n_states > 1 else ''} {', '.join(map(self._with_unit, self.names, self.units))}"
        )
        if self.missing:
            parts.append(f"{100 * self.missing:.2g} % missing")
        if self.diverged:
            parts.append(f"{len(self.diverged)} cut where they left the finite range")
        return "Trajectories: " + ", ".join(parts)

    @staticmethod
    def _with_unit(name: str, unit: str) -> str:
        return f"{name} [{unit}]" if unit else name


def as_trajectories(
    data: Any, *, dt: float | None = None, t: Any = None, names: Sequence[str] | None = None
) -> Trajectories:
    """Return `data` itself if it is `Trajectories`, else build them; a `dt` that contradicts is an error."""
    if not isinstance(data, Trajectories):
        return Trajectories(data, dt=dt, t=t, names=names)
    if dt is not None and (data.dt is None or abs(samples.as_dt(dt) - data.dt) > samples.EVEN * dt):
        raise argument_error("dt", dt, f"nothing, since the trajectories have their times (dt = {data.dt})")
    if t is not None or names is not None:
        raise ArgumentError("t and names belong to Trajectories(...): these trajectories have theirs already")
    return data
