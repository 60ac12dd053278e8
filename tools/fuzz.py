"""Damage files at random until the time is over; any exception but those of itoscope is printed with its seed.

python tools/fuzz.py SECONDS [FIRST_SEED]
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import itoscope as ito
import numpy as np
from itoscope.errors import ItoscopeError

if TYPE_CHECKING:
    from collections.abc import Callable

LOADERS: dict[str, Callable[[Path], object]] = {
    "data.npz": ito.Trajectories.from_npz,
    "data.csv": ito.Trajectories.from_csv,
    "found.npz": lambda path: ito.Discovery.load(path).equations(),
    "model.json": ito.SDE.load,
}


def originals(folder: Path) -> dict[str, bytes]:
    """One whole file of each kind."""
    data = ito.problems.duffing_van_der_pol().simulate(duration=0.3, dt=0.01, n_paths=2, seed=1)
    found = ito.discover(
        data, ito.Library.polynomials(2), known_drift={"x1": "x2"}, seed=1, n_samples=20, n_burn=5, n_chains=2
    )
    data.to_npz(folder / "data.npz")
    data.to_csv(folder / "data.csv")
    found.save(folder / "found.npz")
    found.model().save(folder / "model.json")
    return {name: (folder / name).read_bytes() for name in LOADERS}


def damaged(raw: bytes, rng: np.random.Generator) -> bytes:
    """Bits flipped, cut, doubled; in an archive, or in a member of it that stays readable."""
    if raw[:2] == b"PK" and rng.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        a, b = rng.choice(list(members), 2, replace=False)
        action = rng.integers(3)
        if action == 0:
            members[a] = _bytes(members[a], rng)
        elif action == 1:
            members[a], members[b] = members[b], members[a]
        else:
            del members[a]
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return out.getvalue()
    return _bytes(raw, rng)


def _bytes(raw: bytes, rng: np.random.Generator) -> bytes:
    hurt = bytearray(raw)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(hurt)))
        action = rng.integers(3)
        if action == 0:
            hurt[at] ^= 1 << int(rng.integers(8))
        elif action == 1 and at:
            del hurt[at:]
        else:
            hurt[at:at] = hurt[at : at + int(rng.integers(1, 40))]
    return bytes(hurt)


def main() -> int:
    """Fuzz; the exit code is 1 if something was found."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**9
    warnings.simplefilter("ignore")
    counts = {"read": 0, "refused": 0, "foreign": 0}
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        whole = originals(folder)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            seed += 1
            rng = np.random.default_rng(seed)
            name = str(rng.choice(list(LOADERS)))
            (folder / name).write_bytes(damaged(whole[name], rng))
            try:
                LOADERS[name](folder / name)
                counts["read"] += 1
            except (ItoscopeError, OSError):
                counts["refused"] += 1
            except Exception:
                counts["foreign"] += 1
                print(f"seed {seed}, {name}:\n{traceback.format_exc(limit=-3)}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["foreign"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
