"""Archives of arrays (NPZ), read so that nothing in one is run, believed or unpacked without bound."""

from __future__ import annotations

import math
import os
import zipfile
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from itoscope.errors import DataError

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["read_archive"]

#: Bytes that any archive may unpack to, and how many times its own size a larger one may.
UNPACKED, RATIO = 2**30, 100


def read_archive(path: str | PathLike[str], what: str = "NPZ") -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of an NPZ file by name, each of the size that its header and the directory agree on.

    Parameters
    ----------
    path : path-like
    what : str
        What the file is read as, for messages.

    Raises
    ------
    DataError
        For a file that is damaged, holds pickled objects, or unpacks to more than `UNPACKED` bytes and `RATIO` times
        its own size; the message names the file.
    """
    with open(path, "rb") as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                members = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
                total = sum(entry.file_size for entry in members)
                if total > max(UNPACKED, RATIO * os.fstat(handle.fileno()).st_size):
                    raise ValueError(f"it unpacks to {total} bytes, over {RATIO} times its own size")
                return {entry.filename[: -len(".npy")]: _array(archive, entry) for entry in members}
        except MemoryError:
            raise
        except Exception as problem:
            raise DataError(f"{path} cannot be read as {what}: {problem}") from problem


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    """One array, whose memory is taken only after its header and the directory have agreed."""
    with archive.open(entry) as member:
        version = np.lib.format.read_magic(member)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{entry.filename}: version {version} of the format of arrays")
        shape, by_columns, dtype = read(member)
        if dtype.hasobject:
            raise ValueError(f"{entry.filename} holds pickled objects, which are not loaded")
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size != entry.file_size - member.tell():
            raise ValueError(f"{entry.filename}: shape {shape} of {dtype} is not what the archive holds")
        raw = bytearray(size)
        filled, view = 0, memoryview(raw)
        while filled < size:
            got = cast("zipfile.ZipExtFile", member).readinto(view[filled:])
            if not got:
                raise ValueError(f"{entry.filename} ends after {filled} of {size} bytes")
            filled += got
        if member.read(1):
            raise ValueError(f"{entry.filename} holds more than its shape says")
    flat = np.frombuffer(raw, dtype, count=math.prod(shape)) if size else np.empty(math.prod(shape), dtype)
    return flat.reshape(shape, order="F" if by_columns else "C")
