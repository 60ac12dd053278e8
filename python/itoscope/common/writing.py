"""Files that are written whole or not at all, and outputs that are tried before a long run."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

__all__ = ["path_of", "replacing", "try_outputs"]


def path_of(path: object, name: str = "path") -> str:
    """The path of a file as text.

    Raises
    ------
    ArgumentError
        For what is no path, or a text that no system takes for one.
    """
    allowed = "the name of a file"
    if not isinstance(path, (str, os.PathLike)):
        raise argument_error(name, path, allowed)
    found = os.fspath(path)
    try:
        if not isinstance(found, str) or "\0" in found:
            raise argument_error(name, path, allowed)
        os.fsencode(found)
    except UnicodeEncodeError:
        raise argument_error(name, ascii(found), allowed) from None
    return found


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[str]:
    """The name of a new, empty file beside `path` with the same suffix; it takes the place of `path` in one step.

    Whatever stops the block (an error, a full disk, a signal), `path` is the old file or the whole new one. A link is
    followed, the mode of the old file kept; pipes and devices are written as they are.

    Raises
    ------
    OSError
        Names `path`, never the file beside it.
    """
    target = os.path.realpath(path_of(path))
    if os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target):
        yield target
        return
    beside = ""
    try:
        beside = _beside(target)
        yield beside
        _sync(beside)
        os.replace(beside, target)
    except BaseException as problem:
        if beside:
            with suppress(OSError):
                os.unlink(beside)
        if isinstance(problem, OSError) and problem.filename in (None, beside, target):
            problem.filename, problem.filename2 = os.fspath(path), None
        raise
    with suppress(OSError):  # not every system lets a folder be opened
        _sync(os.path.dirname(target))


def try_outputs(
    outputs: Mapping[str, str | PathLike[str] | None], inputs: Mapping[str, str | PathLike[str] | None]
) -> None:
    """Refuse outputs that cannot be written, that would overwrite an input, or that are one file.

    Parameters
    ----------
    outputs, inputs : {option: path or None}
        As the caller calls them, for the message.

    Raises
    ------
    ArgumentError
        Names both options.
    OSError
        If the folder is missing or cannot be written, or the file may not be.
    """
    known = {_identity(path): option for option, path in inputs.items() if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        if other := known.get(_identity(path)):
            raise argument_error(option, os.fspath(path), f"another file than that of {other}")
        target = os.path.realpath(path)
        if os.path.isfile(target) or os.path.isdir(target) or not os.path.exists(target):
            known[_identity(path)] = option
            try:
                os.unlink(_beside(target))
            except OSError as problem:
                problem.filename = os.fspath(path)
                raise


def _beside(target: str) -> str:
    """Create an empty file in the folder of `target` with the end of its name."""
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    old = os.stat(target) if os.path.exists(target) else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{os.urandom(8).hex()}-{name[-100:]}")
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as problem:
        problem.filename = target
        raise
    if old is not None:
        os.chmod(beside, old.st_mode & 0o777)
    return beside


def _sync(path: str) -> None:
    """Have the system put a file, or the names of a folder, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _identity(path: str | PathLike[str]) -> object:
    """What is the same for two names of one file, hard links too."""
    target = os.path.realpath(path)
    with suppress(OSError):
        found = os.stat(target)
        return found.st_dev, found.st_ino
    return target
