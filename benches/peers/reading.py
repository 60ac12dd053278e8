"""Reading a text table beside pandas, in turn: `python benches/peers/reading.py`, core seconds, the fewest of 15."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import itoscope
import numpy as np
import pandas as pd

ROWS, ROUNDS = 500_000, 15


def written(folder: Path) -> tuple[Path, Path]:
    """A table of three columns of numbers, and one with dates in place of times."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((ROWS, 2))
    numbers, dates = folder / "numbers.csv", folder / "dates.csv"
    np.savetxt(
        numbers, np.column_stack([np.arange(ROWS) * 1e-3, samples]), fmt=["%.3f", "%.17g", "%.17g"], delimiter=",",
        header="t,x,v", comments="",
    )  # fmt: skip
    stamps = pd.date_range("2024-01-01", periods=ROWS, freq="s").strftime("%Y-%m-%dT%H:%M:%S")
    pd.DataFrame({"time": stamps, "x": samples[:, 0], "v": samples[:, 1]}).to_csv(dates, index=False)
    return numbers, dates


def seconds(call: Callable[[], Any]) -> float:
    """Core seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def compared(title: str, file: Path, **settings: Any) -> str:
    """One line of the answer."""
    calls = {
        "pandas": lambda: pd.read_csv(file, **settings),
        "pandas and Trajectories": lambda: itoscope.Trajectories(pd.read_csv(file, **settings)),
        "itoscope.read": lambda: itoscope.read(file),
    }
    best = {key: np.inf for key in calls}
    for _ in range(ROUNDS):
        for key, call in calls.items():
            best[key] = min(best[key], seconds(call))
    shown = ", ".join(f"{key} {value:.3f} s" for key, value in best.items())
    return f"{ROWS} x 3, {title}: {shown}; ratio to pandas {best['itoscope.read'] / best['pandas']:.2f}"


with tempfile.TemporaryDirectory() as name:
    numbers, dates = written(Path(name))
    print(compared("numbers", numbers))
    print(compared("dates", dates, parse_dates=["time"]))
