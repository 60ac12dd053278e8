"""Files that hold named arrays: NPY, MATLAB, HDF5, Zarr; through the readers that are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.common.reading import reading
from itoscope.errors import DataError

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["arrays_of_hdf5", "arrays_of_matlab", "arrays_of_npy", "arrays_of_zarr", "is_pandas_store"]

Named = tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]
"""Arrays by name, and the units of those that have one."""


def arrays_of_npy(path: str | PathLike[str]) -> Named:
    """The array of an NPY file; the fields of one with fields."""
    with open(path, "rb") as handle, reading(path, "NPY"):
        array = np.load(handle, allow_pickle=False)
    return _fields("data", array), {}


def _fields(name: str, array: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """An array under its name, or the fields of one that has fields under theirs."""
    if array.dtype.names:
        return {field: np.ascontiguousarray(array[field]) for field in array.dtype.names}
    return {name: array}


def arrays_of_matlab(path: str | PathLike[str]) -> Named:
    """The variables of a MATLAB file, and the fields of a structure by their own names."""
    scipy_io = require("scipy.io", "data", "Reading MATLAB files")
    with open(path, "rb") as handle:
        try:
            found = scipy_io.loadmat(handle, squeeze_me=True)
        except NotImplementedError:
            return arrays_of_hdf5(path)  # version 7.3
        except Exception as problem:
            raise DataError(f"{path} cannot be read as a MATLAB file: {problem}") from problem
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for key, value in found.items():
        if key.startswith("__"):
            continue
        array = np.asarray(value)
        if array.dtype.names and array.ndim == 0:
            inner = {name: np.asarray(array[name].item()) for name in array.dtype.names}
            arrays.update(
                {name if name not in found else f"{key}/{name}": item for name, item in inner.items()}
            )
        else:
            arrays[key] = array
    return arrays, {}


def is_pandas_store(path: str | PathLike[str]) -> bool:
    """Whether an HDF5 file was written by `DataFrame.to_hdf`."""
    h5py = require("h5py", "data", "Reading HDF5")
    with _hdf5(h5py, path) as file:
        return any("pandas_type" in group.attrs for group in file.values())


def _hdf5(h5py: Any, path: str | PathLike[str]) -> Any:
    with open(path, "rb"):
        pass
    try:
        return h5py.File(path, "r")
    except OSError as problem:
        raise DataError(f"{path} cannot be read as HDF5: {problem}") from problem


def arrays_of_hdf5(path: str | PathLike[str]) -> Named:
    """The data sets of an HDF5 file in all its groups, with their attribute ``units``."""
    h5py = require("h5py", "data", "Reading HDF5")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    units: dict[str, str] = {}

    def take(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.dtype.hasobject or "#refs#" in name:
            return
        value = np.asarray(item[()])
        if b"MATLAB" in bytes(str(dict(item.attrs)), "utf-8"):
            value = np.squeeze(value.T)  # MATLAB counts the first axis fastest
        arrays.update(_fields(name, value))
        unit = _unit(item.attrs)
        if unit:
            units[name] = unit

    with _hdf5(h5py, path) as file:
        file.visititems(take)
    return arrays, units


def _unit(attributes: Any) -> str:
    for key in ("units", "unit", "Units", "Unit"):
        if key in attributes:
            unit = attributes[key]
            return unit.decode() if isinstance(unit, bytes) else str(unit)
    return ""


def arrays_of_zarr(path: str | PathLike[str]) -> Named:
    """The arrays of a Zarr store in all its groups, with their attribute ``units``."""
    zarr = require("zarr", "data", "Reading Zarr")
    try:
        root = zarr.open(str(path), mode="r")
    except Exception as problem:
        raise DataError(f"{path} cannot be read as Zarr: {problem}") from problem
    if not hasattr(root, "members"):
        return {"data": np.asarray(root[...])}, {}
    members = [(name, item) for name, item in root.members(max_depth=None) if hasattr(item, "shape")]
    return {name: np.asarray(item[...]) for name, item in members}, {
        n: _unit(item.attrs) for n, item in members
    }
