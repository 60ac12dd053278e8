"""`discover_many`: each of many recordings by itself, in parallel, and one table of what was found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itoscope.common import checks
from itoscope.data.trajectories import Trajectories
from itoscope.discovery.discover import discover
from itoscope.errors import ItoscopeError, argument_error
from itoscope.show.text import records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itoscope.discovery.result import Discovery
    from itoscope.library.library import Library

__all__ = ["Discoveries", "discover_many"]


@dataclass(frozen=True, repr=False)
class Discoveries(Mapping[Any, "Discovery"]):
    """What was found in each of many recordings: a mapping of their names to discoveries.

    Attributes
    ----------
    found : dict of name to Discovery
    errors : dict of name to ItoscopeError
        Of the recordings that could not be fitted, why.
    """

    found: dict[Any, Discovery]
    errors: dict[Any, ItoscopeError]

    def __getitem__(self, name: Any) -> Discovery:
        """The discovery of one recording; its error is raised where there is none."""
        if name in self.errors:
            raise self.errors[name]
        return self.found[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def table(self, *, all_terms: bool = False) -> Any:
        """One row per recording and term.

        Parameters
        ----------
        all_terms : bool
            Terms that were not selected as well.

        Returns
        -------
        pandas.DataFrame
            The columns of `Discovery.table` after `recording`; or a list of dicts when pandas is not installed.
        """
        rows = [
            {"recording": name, **row}
            for name, result in self.found.items()
            for row in records(result)
            if all_terms or row["selected"]
        ]
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} with an error" if self.errors else ""
        return f"Discoveries: {len(self.found)} recordings{failed}"


def discover_many(
    recordings: Any,
    library: Library | None = None,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int], Any] | None = None,
    **options: Any,
) -> Discoveries:
    """Discover the equation of each recording by itself.

    Parameters
    ----------
    recordings : Trajectories, list or mapping
        Each path of trajectories, or each item of a list or mapping, whatever `discover` takes.
    library : Library, optional
    seed : int
        The k-th recording, from 0, is that of ``discover(..., seed=seed + k)``, whatever the number of workers.
    workers : int, optional
        Recordings that are fitted at once, by threads; one for each core unless given.
    progress : callable, optional
        Receives the number of recordings done.
    **options
        Of `discover`, the same for all.

    Returns
    -------
    Discoveries

    Raises
    ------
    ArgumentError
        For recordings of another kind, and options that `discover` does not have.

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=3, substeps=2, seed=1)
    >>> discover_many(data, ito.Library.polynomials(1), n_samples=200)
    Discoveries: 3 recordings
    """
    named = _named(recordings)
    seed = checks.seed(seed)
    threads = min(len(named), os.cpu_count() or 1 if workers is None else checks.count("workers", workers))
    if progress is not None and not callable(progress):
        raise argument_error("progress", progress, "a function of the number of recordings done")
    allowed = discover.__kwdefaults__ or {}
    for name in options:
        if name not in allowed:
            raise argument_error("options", name, f"one of {', '.join(allowed)}")

    def one(number: int, recording: Any) -> Discovery | ItoscopeError:
        try:
            return discover(recording, library, seed=(seed + number) % 2**63, **options)
        except ItoscopeError as problem:
            return problem

    found: dict[Any, Discovery] = {}
    errors: dict[Any, ItoscopeError] = {}
    with ThreadPoolExecutor(threads) as pool:
        answers = pool.map(one, range(len(named)), named.values())
        for done, (name, answer) in enumerate(zip(named, answers), 1):
            if isinstance(answer, ItoscopeError):
                errors[name] = answer
            else:
                found[name] = answer
            if progress is not None:
                progress(done)
    return Discoveries(found, errors)


def _named(recordings: Any) -> dict[Any, Any]:
    """The recordings by name: that of a mapping, the label of a path, or the place."""
    if isinstance(recordings, Trajectories):
        names = range(recordings.n_paths) if recordings.ids is None else recordings.ids
        found = {name: recordings[k] for k, name in enumerate(names)}
    elif isinstance(recordings, Mapping):
        found = dict(recordings)
    elif checks.is_list(recordings):
        found = dict(enumerate(recordings))
    else:
        raise argument_error("recordings", recordings, "trajectories, or a list or mapping of recordings")
    if not found:
        raise argument_error("recordings", recordings, "at least one")
    return found
