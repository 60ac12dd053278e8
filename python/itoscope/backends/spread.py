"""`Spread`: a backend whose filter stages go over parts of a recording, wherever somebody has these lie."""

from __future__ import annotations

from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.backends.records import Parameter, StateSpace
    from itoscope.common.types import Array, Times

__all__ = ["Part", "Pass", "Places", "Spread"]


class Part:
    """Paths that follow each other in a recording, whole batches of them, with their times.

    Parameters
    ----------
    paths : list of (n_i, q + g) arrays
    times : list of float or (n_i,) arrays
    batch : int
        Paths that are summed together.
    """

    def __init__(self, paths: Sequence[Array], times: Sequence[Times], batch: int) -> None:
        self.paths, self.times, self.batch = list(paths), list(times), batch

    @property
    def batches(self) -> list[tuple[list[Array], list[Times]]]:
        """Paths and times of each batch."""
        starts = range(0, len(self.paths), self.batch)
        return [(self.paths[k : k + self.batch], self.times[k : k + self.batch]) for k in starts]


class Pass:
    """A stage of the filter under a model, to be made on parts.

    Parameters
    ----------
    backend : str
        Module of the backend.
    stage : str
    model : StateSpace
    arguments : tuple
        Of the stage beyond paths and times.
    summed : bool
        Whether the stage adds up paths.
    """

    def __init__(
        self, backend: str, stage: str, model: StateSpace, arguments: tuple[Any, ...], summed: bool
    ) -> None:
        self.backend, self.stage, self.model = backend, stage, model
        self.arguments, self.summed = arguments, summed

    def __call__(self, part: Part) -> list[Any]:
        """What each batch of the part gives, or of a stage that adds nothing up all of it at once."""
        stage = getattr(import_module(self.backend), self.stage)
        if not self.summed:
            return [stage(self.model, part.paths, part.times, *self.arguments)]
        return [
            stage(self.model, paths, times, *self.arguments, batch=len(paths))
            for paths, times in part.batches
        ]


class Places(Protocol):
    """Where parts of recordings lie, and where passes over them are made."""

    def put(self, parts: Sequence[Part]) -> Sequence[Any]:
        """Lay parts down; what is returned stands for them."""

    def each(self, work: Callable[[Part], list[Any]], laid: Sequence[Any]) -> list[list[Any]]:
        """What the work gives on parts that lie somewhere, in their order."""
        ...


class Spread:
    """The stages of a backend; those of the filter are made on parts of the paths, with the bits of the whole.

    The sums of a batch of paths are those that the backend makes and adds up itself, and they are added here, in the
    order of the paths; how many parts there are, and where each lies, moves no bit. Recordings that were laid down are
    known again by the identity of their arrays, or by their numbers.

    Parameters
    ----------
    stages : Backend
        A backend module.
    places : Places
    block : int
        Samples from which on batches are a part. A recording of no more than that is not spread.
    """

    def __init__(self, stages: Backend, places: Places, block: int) -> None:
        self._stages, self._block = stages, block
        self._module = str(vars(stages)["__name__"])
        self._places: Places | None = places
        self._laid: dict[Hashable, tuple[Any, Sequence[Any]]] = {}

    def __getattr__(self, name: str) -> Any:
        """A stage that is not spread."""
        return getattr(self._stages, name)

    def end(self) -> None:
        """From now on all is done here, and nothing is held elsewhere."""
        self._places = None
        self._laid.clear()

    # -- filter ----------------------------------------------------------------------------------------------
    def filter_loglik(self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> Array:
        """As the backend has it."""
        return np.concatenate(self._passed("filter_loglik", model, paths, times))

    def filter_drift_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        columns: Sequence[tuple[int, int]],
    ) -> tuple[Quadratic, Array]:
        """As the backend has it."""
        return _added(self._passed("filter_drift_moments", model, paths, times, list(columns), summed=True))

    def filter_noise_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        columns: Sequence[tuple[int, int]],
    ) -> tuple[Quadratic, Array]:
        """As the backend has it."""
        return _added(self._passed("filter_noise_moments", model, paths, times, list(columns), summed=True))

    def filter_information(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        parameters: Sequence[Parameter],
        steps: Sequence[float],
    ) -> tuple[Quadratic, Array]:
        """As the backend has it."""
        asked = list(parameters), list(steps)
        return _added(self._passed("filter_information", model, paths, times, *asked, summed=True))

    def filter_innovations(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
    ) -> list[Array]:
        """As the backend has it."""
        return _joined(self._passed("filter_innovations", model, paths, times))

    def filter_densities(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
    ) -> list[Array]:
        """As the backend has it."""
        return _joined(self._passed("filter_densities", model, paths, times))

    def filter_smooth(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
    ) -> tuple[list[Array], list[Array]]:
        """As the backend has it."""
        found = self._passed("filter_smooth", model, paths, times)
        return _joined([means for means, _ in found]), _joined([covs for _, covs in found])

    def _passed(
        self,
        stage: str,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        *arguments: Any,
        summed: bool = False,
    ) -> list[Any]:
        """What the parts give, one after the other."""
        if self._places is None or sum(map(len, paths)) <= self._block:
            return [getattr(self._stages, stage)(model, paths, times, *arguments)]
        work = Pass(self._module, stage, model, arguments, summed)
        found = self._places.each(work, self._where(self._places, paths, times))
        return [one for part in found for one in part]

    def _where(self, places: Places, paths: Sequence[Array], times: Sequence[Times]) -> Sequence[Any]:
        """What stands for the parts of a recording, which is laid down when it is first seen."""
        key = tuple(map(id, paths)), tuple(t if isinstance(t, float) else id(t) for t in times)
        if key in self._laid:
            return self._laid[key][1]
        alike = _numbers(paths), _numbers(times)
        if alike not in self._laid:
            parts = parts_of(paths, times, self._stages.filter_batch(len(paths)), self._block)
            self._laid[alike] = (None, places.put(parts))
            # arrays that are held keep their identity
            self._laid[key] = ((list(paths), list(times)), self._laid[alike][1])
        return self._laid[alike][1]


def parts_of(paths: Sequence[Array], times: Sequence[Times], batch: int, block: int) -> list[Part]:
    """Paths as parts of whole batches, as few of these as have `block` samples."""
    parts, held, samples = [], 0, 0
    for start in range(0, len(paths), batch):
        samples += sum(len(path) for path in paths[start : start + batch])
        if samples >= block or start + batch >= len(paths):
            stop = min(start + batch, len(paths))
            parts.append(Part(paths[held:stop], times[held:stop], batch))
            held, samples = stop, 0
    return parts


def _numbers(arrays: Sequence[Any]) -> Hashable:
    """A key that arrays of the same numbers have."""
    found = blake2b(digest_size=16)
    for one in arrays:
        array = np.ascontiguousarray(one, dtype=np.float64)
        found.update(repr(array.shape).encode())
        found.update(array.tobytes())
    return found.digest()


def _added(parts: Sequence[tuple[Quadratic, Array]]) -> tuple[Quadratic, Array]:
    """Sums and log-likelihoods of batches, added in their order."""
    if len(parts) == 1:
        return parts[0]
    c = len(parts[0][0].moment)
    total = Quadratic(np.zeros((c, c)), np.zeros(c), 0.0, 0.0)
    for sums, _ in parts:
        total = total + sums
    return total, np.concatenate([loglik for _, loglik in parts])


def _joined(parts: Sequence[Sequence[Array]]) -> list[Array]:
    return [one for part in parts for one in part]
