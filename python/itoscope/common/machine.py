"""What the machine has to give: memory that is free."""

from __future__ import annotations

import os

__all__ = ["free_memory", "size_text"]

MEMINFO = "/proc/meminfo"


def free_memory() -> float:
    """Bytes that can be taken without swapping; infinite where the system does not say."""
    try:
        with open(MEMINFO, encoding="ascii") as handle:
            for line in handle:
                name, _, rest = line.partition(":")
                if name == "MemAvailable":
                    return 1024.0 * float(rest.split()[0])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def size_text(n_bytes: float) -> str:
    """Bytes in a unit that people read.

    Examples
    --------
    >>> size_text(3.2e9), size_text(5e5)
    ('3.2 GB', '0.5 MB')
    """
    unit, power = next((one for one in (("TB", 1e12), ("GB", 1e9)) if n_bytes >= one[1]), ("MB", 1e6))
    return f"{n_bytes / power:.3g} {unit}"
