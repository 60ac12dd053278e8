"""NPZ files: all that trajectories hold, without loss and without pickle; and those that others wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.archives import read_archive
from itoscope.common.writing import replacing
from itoscope.data.arrays import parts_of_arrays
from itoscope.data.parts import Parts
from itoscope.errors import DataError, ItoscopeError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from itoscope.data.asked import Asked
    from itoscope.data.recording import Recording

__all__ = ["read_npz", "write_npz"]

VERSION = 1
"""Of the layout; a file of a newer one is refused, older ones are read."""

OWN = "itoscope_trajectories"
"""The array that marks a file of `write_npz`; it holds the version."""


def write_npz(data: Recording, path: str | PathLike[str]) -> None:
    """Write everything that `Trajectories` holds; shared time stamps are written once."""
    distinct = list({id(stamps): stamps for stamps in data.times}.values())
    which = [next(k for k, stamps in enumerate(distinct) if stamps is mine) for mine in data.times]
    arrays: dict[str, Any] = {
        OWN: VERSION,
        "names": np.array(data.names),
        "lengths": np.array([len(path) for path in data.paths]),
        "samples": np.concatenate(data.paths),
        "times": np.concatenate(distinct),
        "times_lengths": np.array([len(stamps) for stamps in distinct]),
        "times_of_path": np.array(which),
        "diverged": np.array(data.diverged, dtype=np.int64),
    }
    for name in ("units", "labels"):
        if any(getattr(data, name, None) or ()):
            arrays[name] = np.array(getattr(data, name))
    if time_unit := getattr(data, "time_unit", ""):
        arrays["time_unit"] = np.array(time_unit)
    if data.position_names is not None:
        arrays["position_names"] = np.array(data.position_names)
    if data.seed is not None:
        arrays["seed"] = np.uint64(data.seed)
    with replacing(path) as beside, open(beside, "wb") as handle:
        np.savez_compressed(handle, **arrays)


def read_npz(path: str | PathLike[str], asked: Asked) -> Parts:
    """Read what `write_npz` wrote, or a plain NPZ file, of which `time` and `columns` choose arrays by name."""
    arrays = read_archive(path)
    if OWN not in arrays:
        return parts_of_arrays(path, arrays, asked)
    try:
        if arrays[OWN] > VERSION:
            raise DataError(f"{path} was written by a newer version of itoscope: update to read it")
        _check(arrays)
        return _own(arrays, asked.columns)
    except (ItoscopeError, MemoryError):
        raise
    except Exception as problem:
        raise DataError(f"{path}: a damaged file of trajectories ({problem!r})") from problem


def _check(arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    """Raise unless kinds and sizes of the arrays of `write_npz` agree with each other."""
    for name in ("lengths", "times_lengths", "times_of_path", "diverged"):
        if arrays[name].dtype.kind not in "iu" or arrays[name].ndim != 1 or (arrays[name] < 0).any():
            raise ValueError(f"{name}: counts from zero are wanted")
    for name, lengths, axes in (("samples", "lengths", 2), ("times", "times_lengths", 1)):
        if (
            arrays[name].dtype.kind != "f"
            or arrays[name].ndim != axes
            or len(arrays[name]) != arrays[lengths].sum()
        ):
            raise ValueError(f"{name} and {lengths} do not agree")
    if arrays["samples"].shape[1:] != arrays["names"].shape or arrays["names"].dtype.kind != "U":
        raise ValueError("samples and names do not agree")
    if len(arrays["times_of_path"]) != len(arrays["lengths"]):
        raise ValueError("times_of_path and lengths do not agree")


def _own(arrays: dict[str, np.ndarray[Any, Any]], columns: Sequence[str | int] | None) -> Parts:
    """What the arrays of `write_npz` say, of the states `columns` or of all."""
    names = arrays["names"].tolist()
    chosen = names if columns is None else [str(column) for column in columns]
    for name in chosen:
        if name not in names:
            raise argument_error("columns", name, f"one of the states {', '.join(names)}")
    samples = arrays["samples"][:, [names.index(name) for name in chosen]]
    distinct = np.split(arrays["times"], np.cumsum(arrays["times_lengths"])[:-1])
    places = [names.index(name) for name in chosen]
    units, labels = (
        [arrays[key].tolist()[k] for k in places] if key in arrays else None for key in ("units", "labels")
    )
    positions = arrays["position_names"].tolist() if "position_names" in arrays else []
    return Parts(
        paths=np.split(samples, np.cumsum(arrays["lengths"])[:-1]),
        times=[distinct[k] for k in arrays["times_of_path"]],
        names=chosen,
        where="the file",
        units=units,
        labels=labels,
        time_unit=str(arrays.get("time_unit", "")),
        position_names=[name for name in positions if name in chosen] or None,
        diverged=arrays["diverged"].tolist(),
        seed=int(arrays["seed"]) if "seed" in arrays else None,
    )
