"""How far a long call is: a bar on a terminal, counts for a callable, silence elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from itoscope.errors import argument_error

__all__ = ["Reporter"]

Count = Callable[[int], Any]


class Reporter:
    """What `progress=` of a long call stands for.

    Parameters
    ----------
    progress : bool, callable or None
        True: a bar on the standard error with rate and remaining time, by rich if it is installed, and nothing where
        that is no terminal. A callable: receives the units of work done since the start of the call, over all of its
        stages, as one number that never falls.

    Raises
    ------
    ArgumentError
        For anything else.
    """

    def __init__(self, progress: bool | Count | None = None) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise argument_error("progress", progress, "True, False, None or a function of the work done")
        self._call: Count | None = progress if callable(progress) else None
        self._bar = progress is True and sys.stderr.isatty()
        self._before = 0

    @contextmanager
    def stage(self, label: str, total: int | None = None, unit: str = "steps") -> Iterator[Count | None]:
        """Give the function that a stage is to call with its units done, or None when nobody listens."""
        if self._bar:
            show = _rich(label, total, unit) or _plain(label, total, unit)
            with show as draw:
                yield draw
            return
        if self._call is None:
            yield None
            return
        call, before, last = self._call, self._before, 0

        def count(done: int) -> None:
            nonlocal last
            last = max(last, int(done))
            call(before + last)

        yield count
        self._before = before + max(last, total or 0)


def _rich(label: str, total: int | None, unit: str) -> Any:
    """A bar of rich, or None if that is not installed."""
    try:
        progress = importlib.import_module("rich.progress")
        console = importlib.import_module("rich.console").Console(stderr=True)
    except ModuleNotFoundError:
        return None

    @contextmanager
    def show() -> Iterator[Count]:
        columns = [
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(elapsed_when_finished=True),
        ]
        with progress.Progress(*columns, console=console, transient=True) as bar:
            task, start = bar.add_task(label, total=total, rate=""), time.monotonic()

            def count(done: int) -> None:
                spent = max(time.monotonic() - start, 1e-9)
                bar.update(task, completed=done, rate=f"{done / spent:.3g} {unit}/s")

            yield count

    return show()


@contextmanager
def _plain(label: str, total: int | None, unit: str) -> Iterator[Count]:
    """One line that is written over: share, rate, time left."""
    start = time.monotonic()

    def show(done: int) -> None:
        spent = max(time.monotonic() - start, 1e-9)
        share = min(done / total, 1.0) if total else None
        amount = f"{100 * share:3.0f} %" if share is not None else f"{done}"
        left = f", {spent / share - spent:.0f} s left" if share else ""
        sys.stderr.write(f"\r{label}: {amount}, {done / spent:.3g} {unit}/s{left}\033[K")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
