"""One reader and one writer for all kinds of files: the suffix says which."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from itoscope.common.extras import require
from itoscope.data.npz import read_npz, write_npz
from itoscope.data.parts import Parts
from itoscope.data.recording import Recording
from itoscope.data.table import (
    parts_of_array,
    parts_of_arrays,
    parts_of_frame,
    parts_of_table,
    read_parquet,
    to_array,
    to_frame,
)
from itoscope.data.text import read_csv, write_csv
from itoscope.errors import DataError, argument_error

__all__ = ["SUFFIXES", "WRITTEN", "read", "write"]

TEXT = (".csv", ".txt", ".dat", ".tsv")
SUFFIXES = (*TEXT, ".csv.gz", ".npz", ".npy", ".parquet", ".nc", ".mat")
WRITTEN = (".npz", ".csv", ".csv.gz", ".parquet", ".nc")


def read(
    path: str | PathLike[str],
    *,
    time: Any = None,
    path_column: Any = None,
    columns: Sequence[Any] | None = None,
    time_unit: str = "s",
) -> Parts:
    """Read a file of any kind that `SUFFIXES` lists.

    Parameters
    ----------
    path : path-like
        Text tables, NPZ and NPY need NumPy alone; Parquet, NetCDF (``.nc``) and MATLAB (``.mat``) the extra ``data``.
    time, path_column, columns, time_unit
        As in `Trajectories.from_csv`; in NPZ, NetCDF and MATLAB files columns are the arrays by name.

    Raises
    ------
    DataError
        For a suffix that is not listed, and for a file that is damaged.
    """
    kind = Path(path).suffix.lower()
    if kind == ".gz":
        kind = Path(Path(path).stem).suffix.lower()
    rows = {"time": time, "path_column": path_column, "columns": columns}
    if kind in TEXT:
        return parts_of_table(read_csv(path, **rows), time_unit)
    if kind == ".parquet":
        return parts_of_frame(read_parquet(path), **rows, time_unit=time_unit)
    if kind == ".npz":
        return read_npz(path, time=time, columns=columns)
    if kind in (".npy", ".mat"):
        arrays = _of_npy(path) if kind == ".npy" else _of_matlab(path)
        return parts_of_arrays(path, arrays, time=time, columns=columns)
    if kind == ".nc":
        return _of_netcdf(path, columns, time_unit)
    raise DataError(f"{path}: the kind of a file is told by its suffix, one of {', '.join(SUFFIXES)}")


def write(data: Recording, path: str | PathLike[str], *, digits: int = 17) -> None:
    """Write trajectories to a file of a kind that `WRITTEN` lists; Parquet and NetCDF need the extra ``data``."""
    name = str(path).lower()
    if name.endswith(".npz"):
        write_npz(data, path)
    elif name.endswith((".csv", ".csv.gz")):
        write_csv(data, path, digits=digits)
    elif name.endswith(".parquet"):
        require("pyarrow", "data", "Writing Parquet")
        to_frame(data).to_parquet(path, index=False)
    elif name.endswith(".nc"):
        require("netCDF4", "data", "Writing NetCDF")
        to_array(data).to_dataset(name="x").to_netcdf(path, engine="netcdf4")
    else:
        raise argument_error("path", str(path), f"a name that ends in {', '.join(WRITTEN)}")


def _of_npy(path: str | PathLike[str]) -> dict[str, Any]:
    try:
        return {"data": np.load(path, allow_pickle=False)}
    except (ValueError, EOFError) as problem:
        raise DataError(f"{path} cannot be read as NPY: {problem}") from problem


def _of_matlab(path: str | PathLike[str]) -> dict[str, Any]:
    scipy_io = require("scipy.io", "data", "Reading MATLAB files")
    with open(path, "rb") as handle:
        try:
            arrays = scipy_io.loadmat(handle, squeeze_me=True)
        except NotImplementedError:
            raise DataError(f"{path} is a MATLAB 7.3 file: save it with -v7 to read it here") from None
        except Exception as problem:
            raise DataError(f"{path} cannot be read as a MATLAB file: {problem}") from problem
    return {key: np.asarray(value) for key, value in arrays.items() if not key.startswith("__")}


def _of_netcdf(path: str | PathLike[str], columns: Sequence[Any] | None, time_unit: str) -> Parts:
    """Read one variable with dimensions ``time``, ``path`` and ``state``, or one variable per state."""
    xarray = require("xarray", "data", "Reading NetCDF")
    with open(path, "rb"):
        pass
    try:
        dataset = xarray.load_dataset(path)
    except (ValueError, OSError) as problem:
        raise DataError(f"{path} cannot be read as NetCDF: {problem}") from problem
    variables = list(dataset.data_vars)
    chosen = variables if columns is None else list(columns)
    for name in chosen:
        if name not in variables:
            raise argument_error("columns", name, f"one of the variables {', '.join(map(str, variables))}")
    whole = dataset[chosen[0]] if len(chosen) == 1 else dataset[chosen].to_dataarray(dim="state")
    return parts_of_array(whole, time_unit=time_unit)
