"""One reader for all kinds of files: the suffix says which, and every kind takes the same settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from itoscope.common.extras import require
from itoscope.data.table import TIME_COLUMNS, clean_names, find_column
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.errors import DataError, argument_error

__all__ = ["SUFFIXES", "WRITTEN", "from_arrays", "read", "write"]

TEXT = (".csv", ".txt", ".dat", ".tsv")
SUFFIXES = (*TEXT, ".csv.gz", ".npz", ".npy", ".parquet", ".nc", ".mat")
WRITTEN = (".npz", ".csv", ".csv.gz", ".parquet", ".nc")


def read(
    path: str | PathLike[str],
    *,
    time: str | int | None = None,
    path_column: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
    time_unit: str = "s",
) -> Trajectories:
    """Read trajectories from a file of any kind that `SUFFIXES` lists.

    Parameters
    ----------
    path : path-like
        Text tables, NPZ and NPY need NumPy alone; Parquet, NetCDF (``.nc``) and MATLAB (``.mat``) the extra ``data``.
    time, path_column, columns, dt, names, time_unit
        As in `Trajectories.from_csv`; in NPZ, NetCDF and MATLAB files columns are the arrays by name.

    Raises
    ------
    DataError
        For a suffix that is not listed and for data that break a rule of `Trajectories`.
    """
    kind = Path(path).suffix.lower()
    if kind == ".gz":
        kind = Path(Path(path).stem).suffix.lower()
    choice: dict[str, Any] = {"columns": columns, "dt": dt, "names": names}
    if kind in TEXT or kind == ".parquet":
        reader = Trajectories.from_csv if kind in TEXT else Trajectories.from_parquet
        return reader(path, time=time, path_column=path_column, time_unit=time_unit, **choice)
    if kind in (".npz", ".npy"):
        arrays = _numpy_arrays(path, kind)
        if "itoscope_trajectories" in arrays:
            whole = as_trajectories(Trajectories.from_npz(path), dt=dt)
            return whole if columns is None else whole.select([str(column) for column in columns])
        return from_arrays(path, arrays, time=time, **choice)
    if kind == ".mat":
        return from_arrays(path, _matlab_arrays(path), time=time, **choice)
    if kind == ".nc":
        return _from_netcdf(path, time_unit=time_unit, **choice)
    raise DataError(f"{path}: the kind of a file is told by its suffix, one of {', '.join(SUFFIXES)}")


def write(data: Trajectories, path: str | PathLike[str], *, digits: int = 17) -> None:
    """Write trajectories to a file of a kind that `WRITTEN` lists; Parquet and NetCDF need the extra ``data``."""
    name = str(path).lower()
    if name.endswith(".npz"):
        data.to_npz(path)
    elif name.endswith((".csv", ".csv.gz")):
        data.to_csv(path, digits=digits)
    elif name.endswith(".parquet"):
        require("pyarrow", "data", "Writing Parquet")
        data.to_dataframe().to_parquet(path, index=False)
    elif name.endswith(".nc"):
        require("netCDF4", "data", "Writing NetCDF")
        data.to_xarray().to_dataset(name="x").to_netcdf(path, engine="netcdf4")
    else:
        raise argument_error("path", str(path), f"a name that ends in {', '.join(WRITTEN)}")


def _numpy_arrays(path: str | PathLike[str], kind: str) -> dict[str, Any]:
    from itoscope.data.text import load_npz

    if kind == ".npz":
        return load_npz(path)
    try:
        return {"data": np.load(path, allow_pickle=False)}
    except (ValueError, EOFError) as problem:
        raise DataError(f"{path} cannot be read as NPY: {problem}") from problem


def _matlab_arrays(path: str | PathLike[str]) -> dict[str, Any]:
    scipy_io = require("scipy.io", "data", "Reading MATLAB files")
    with open(path, "rb") as handle:
        try:
            arrays = scipy_io.loadmat(handle, squeeze_me=True)
        except NotImplementedError:
            raise DataError(f"{path} is a MATLAB 7.3 file: save it with -v7 to read it here") from None
        except Exception as problem:
            raise DataError(f"{path} cannot be read as a MATLAB file: {problem}") from problem
    return {key: np.asarray(value) for key, value in arrays.items() if not key.startswith("__")}


def from_arrays(
    path: str | PathLike[str],
    arrays: Mapping[str, Any],
    *,
    time: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
) -> Trajectories:
    """Put named arrays together: one array of samples, or one per state, and times beside them."""
    for argument, key in (("time", time), *(("columns", column) for column in columns or ())):
        if key is not None and key not in arrays:
            raise argument_error(argument, key, f"one of the arrays {', '.join(arrays)}")
    stamps = find_column(list(arrays), TIME_COLUMNS) if time is None else str(time)
    beside = {stamps, "dt", "names"}
    found = [str(c) for c in columns] if columns is not None else [
        key for key, value in arrays.items() if key not in beside and value.dtype.kind in "iufc" and value.ndim > 0
    ]  # fmt: skip
    if not found:
        raise DataError(f"{path} holds the arrays {', '.join(arrays) or 'none'}: none of them holds samples")
    if len(found) == 1:
        data = arrays[found[0]]
        names = arrays["names"].tolist() if names is None and "names" in arrays else names
    else:
        shapes = {arrays[key].shape for key in found}
        if len(shapes) > 1 or any(arrays[key].ndim != 1 for key in found):
            listed = ", ".join(f"{key} {arrays[key].shape}" for key in found)
            raise DataError(
                f"{path} holds {listed}: one array of samples is needed, or one (n_times,) array per state; "
                "columns=[...] chooses among them"
            )
        data = np.column_stack([arrays[key] for key in found])
        names = clean_names(found) if names is None else names
    if stamps is not None:
        return as_trajectories(Trajectories(data, t=arrays[stamps], names=names), dt=dt)
    if dt is None and "dt" in arrays and arrays["dt"].ndim == 0:
        dt = arrays["dt"].item()
    return Trajectories(data, dt=dt, names=names)


def _from_netcdf(
    path: str | PathLike[str],
    *,
    columns: Sequence[str | int] | None,
    dt: float | None,
    names: Sequence[str] | None,
    time_unit: str,
) -> Trajectories:
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
    if len(chosen) == 1:
        array = dataset[chosen[0]]
    else:
        array = dataset[chosen].to_dataarray(dim="state")
    return Trajectories.from_xarray(array, dt=dt, names=names, time_unit=time_unit)
