"""A line that tells how far a long run is: on a terminal only, with rich if it is installed."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["bar", "wanted"]


def wanted(quiet: bool) -> bool:
    """Tell whether progress is to be shown: not in a pipe, and not when asked for silence."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def bar(label: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[int], Any] | None]:
    """Give a function that takes the units of work done so far, or None when nothing is to be shown."""
    if not wanted(quiet):
        yield None
        return
    try:
        rich = importlib.import_module("rich.progress")
        console = importlib.import_module("rich.console").Console(stderr=True)
    except ModuleNotFoundError:
        yield from _plain(label, total)
        return
    with rich.Progress(console=console, transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)


def _plain(label: str, total: int) -> Iterator[Callable[[int], Any]]:
    start = time.monotonic()

    def show(done: int) -> None:
        share = min(done / max(total, 1), 1.0)
        spent = time.monotonic() - start
        rest = f", {spent / share - spent:.0f} s left" if share > 0.01 else ""
        sys.stderr.write(f"\r{label} {100 * share:3.0f} %{rest}\033[K")
        sys.stderr.flush()

    yield show
    sys.stderr.write("\r\033[K")
