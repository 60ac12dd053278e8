"""`Kept`: what was summed over a stream so far, in a folder: an interrupted call goes on where it was."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common.archives import read_archive
from itoscope.common.writing import replacing
from itoscope.errors import DataError
from itoscope.stats.exact import Exact

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["Kept", "fingerprint"]

PAUSE = 30.0
"""Seconds between two notes of a sum that is being made."""


def fingerprint(*parts: str | Array | None) -> str:
    """A name for what a sum is of: another one for other words, numbers or samples.

    Examples
    --------
    >>> fingerprint("a", "bc") == fingerprint("ab", "c")
    False
    """
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else b"-" if part is None else part.tobytes()
        found.update(f"{len(data)}:".encode())
        found.update(data)
    return found.hexdigest()


class Kept:
    """One sum over the blocks of a stream, in a file of a folder.

    Parameters
    ----------
    folder : path
        Made where it is not there.
    name : str
        Of what is summed, and over what: see `fingerprint`.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._path = os.path.join(folder, f"{name}.npz")
        self._noted = time.monotonic()

    def read(self) -> tuple[int, bool, Exact | None]:
        """Blocks that are summed already, whether they are all, and their sum; none where no note can be read."""
        try:
            file = read_archive(self._path)
            return int(file["blocks"]), bool(file["whole"]), Exact.from_bytes(file["units"])
        except (DataError, OSError, KeyError):
            return 0, False, None

    def note(self, blocks: int, total: Exact, *, whole: bool = False) -> None:
        """Keep the sum of the first `blocks` blocks, if that is the whole, or the last note is `PAUSE` seconds old."""
        if not whole and time.monotonic() - self._noted < PAUSE:
            return
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with replacing(self._path) as beside, open(beside, "wb") as handle:
            np.savez(handle, blocks=np.array(blocks), whole=np.array(whole), units=total.to_bytes())
        self._noted = time.monotonic()
