"""`Input`, `Course`, `Driving`: what drives a motion as it is asked for, along one recording, and along all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError, DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.types import Array

__all__ = ["Between", "Course", "Driving", "Input", "asked_of", "check_known", "per_path", "usual"]

MOSTLY = 0.5
"""Share of the steps in which a column must stay exactly what it is to be taken as held between samples."""

Between = Literal["linear", "held"]
BETWEEN = ("linear", "held")


@dataclass(frozen=True)
class Input:
    """An input that drives a motion: where it comes from, and how it goes from one sample to the next.

    Parameters
    ----------
    source : callable, array_like or list of array_like, optional
        A function of the time since the start of the recording that takes and returns an array; or samples at the
        times `t`, one array for all recordings or a list with one each. By default the column of the recording with the
        name of the input.
    t : array_like or list of array_like, optional
        Times of the samples on the clock of the recording; without it, `source` has a value for every sample of it.
    between : {"linear", "held"}, optional
        Straight from sample to sample, or constant up to the next one. By default held where most steps do not change
        the samples at all, and straight otherwise; a function counts as straight.

    Examples
    --------
    >>> Input(np.cos)
    Input(cos)
    """

    source: Callable[[Array], Any] | Any = None
    t: Any = None
    between: Between | None = None

    def __post_init__(self) -> None:
        checks.choice("between", self.between, (None, *BETWEEN))
        if self.t is not None and (self.source is None or callable(self.source)):
            raise ArgumentError("t of an Input: only beside samples, source=[...]")

    def __repr__(self) -> str:
        what = "column" if self.source is None else getattr(self.source, "__name__", "samples")
        return f"Input({what}{'' if self.between is None else f', between={self.between!r}'})"


@dataclass(frozen=True)
class Course:
    """One input along one recording: a function of the time since its start, or samples with their times since then."""

    between: Between
    values: Array
    times: Array
    function: Callable[[Array], Any] | None = None

    def at(self, times: Array) -> Array:
        """Values `(n,)` at times since the start of the recording."""
        if self.function is not None:
            found = checks.reals("what the function of an input returned", self.function(times), missing=True)
            if found.shape not in ((), times.shape):
                allowed = f"{times.shape}, one value for each time"
                raise ArgumentError(
                    f"what the function of an input returned has shape {found.shape}: {allowed}"
                )
            return np.array(np.broadcast_to(found, times.shape))
        if self.between == "linear":
            return np.interp(times, self.times, self.values)
        # a time that is that of a sample up to rounding is that of the sample
        slack = 1e-9 * max(float(np.max(np.abs(self.times))), 1e-300)
        place = np.searchsorted(self.times, times + slack, side="right") - 1
        held: Array = self.values[np.clip(place, 0, len(self.values) - 1)]
        return held


def asked_of(name: str, what: Any) -> Input:
    """What was said of one input."""
    if what is None or isinstance(what, Input):
        return what or Input()
    if isinstance(what, str):
        checks.choice(f"inputs[{name!r}]", what, BETWEEN)
        return Input(between=what)  # type: ignore[arg-type]
    if isinstance(what, tuple) and len(what) == 2:
        return Input(what[1], t=what[0])
    return Input(what)


def per_path(name: str, given: Any, n_paths: int) -> list[Array]:
    """One array for each path."""
    several = isinstance(given, list | tuple) and len(given) > 0 and np.ndim(given[0]) == 1
    arrays = [checks.reals(f"inputs[{name!r}]", one, missing=True) for one in (given if several else [given])]
    if any(one.ndim != 1 or not len(one) for one in arrays) or len(arrays) not in (1, n_paths):
        allowed = f"one array of values, or a list of {n_paths}, one for each path"
        raise argument_error(f"inputs[{name!r}]", f"{len(arrays)} arrays", allowed)
    return arrays * n_paths if len(arrays) == 1 else arrays


def check_known(name: str, path: int, values: Array, stamps: Array) -> None:
    """Raise `DataError` for an input that is not known at a sample, saying where."""
    gaps = np.flatnonzero(~np.isfinite(values))
    if len(gaps):
        first = int(gaps[0])
        raise DataError(
            f"input {name!r} of path {path}: {values[first]} at sample {first} (time {stamps[first]:.6g})"
            f"{f' and {len(gaps) - 1} more' if len(gaps) > 1 else ''}; an input must be known at every sample: fill "
            "the gap, or end the path there"
        )


def usual(samples: Sequence[tuple[Array, Array]]) -> Between:
    """How samples go from one to the next, by their looks."""
    same = sum(int(np.count_nonzero(np.diff(values) == 0)) for _, values in samples)
    steps = sum(len(values) - 1 for _, values in samples)
    varies = any(np.ptp(values) > 0 for _, values in samples)
    return "held" if varies and same > MOSTLY * steps else "linear"


@dataclass(frozen=True)
class Driving:
    """The inputs of recordings, path by path.

    Attributes
    ----------
    names : tuple of str
        Of the inputs; the time is not among them.
    courses : tuple of tuples of Course
        Of each path, one for each name.
    starts : tuple of float
        Where the clock of each recording starts.
    """

    names: tuple[str, ...]
    courses: tuple[tuple[Course, ...], ...]
    starts: tuple[float, ...]

    def kept(self, paths: Sequence[int]) -> Driving:
        """The same for some of the paths."""
        return replace(
            self,
            courses=tuple(self.courses[i] for i in paths),
            starts=tuple(self.starts[i] for i in paths),
        )

    def of_path(self, path: int) -> dict[str, Course]:
        """The inputs of one path by name."""
        return dict(zip(self.names, self.courses[path]))

    @property
    def modes(self) -> dict[str, Between]:
        """How each input goes between samples."""
        return {name: course.between for name, course in zip(self.names, self.courses[0])}
