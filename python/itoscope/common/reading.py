"""The border between files and the rest: what a damaged file makes a reader raise is an error of data with its path."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from itoscope.errors import DataError, ItoscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

__all__ = ["reading"]


@contextmanager
def reading(path: str | PathLike[str], what: str) -> Iterator[None]:
    """A block that reads a file: lists of what readers may raise were never complete, so all of it is told alike.

    Parameters
    ----------
    path : path-like
    what : str
        What the file is read as, for messages.

    Raises
    ------
    DataError
        For anything but the errors of this package, a file that the system does not give (missing, a folder, not
        allowed), and memory that it does not have; these pass as they are.
    """
    try:
        yield
    except (ItoscopeError, MemoryError):
        raise
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise
        told = str(problem) or type(problem).__name__
        raise DataError(f"{path} cannot be read as {what}: {told}") from problem
