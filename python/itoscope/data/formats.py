"""One reader and one writer for all kinds of files: the suffix says which."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itoscope.common.extras import require
from itoscope.common.reading import reading
from itoscope.common.writing import replacing
from itoscope.data import containers
from itoscope.data.arrays import parts_of_arrays
from itoscope.data.asked import Asked
from itoscope.data.exports import to_array, to_frame
from itoscope.data.frames import parts_of_frame
from itoscope.data.gridded import open_gridded, parts_of_gridded
from itoscope.data.meaning import parts_of_table
from itoscope.data.npz import read_npz, write_npz
from itoscope.data.sheets import read_sheet
from itoscope.data.text import read_csv, write_csv
from itoscope.errors import DataError, argument_error

if TYPE_CHECKING:
    from itoscope.data.parts import Parts
    from itoscope.data.recording import Recording

__all__ = ["SUFFIXES", "WRITTEN", "read", "write"]

TEXT = (".csv", ".txt", ".dat", ".tsv", ".asc")
COLUMNAR = (".parquet", ".feather", ".arrow", ".ipc")
HDF5 = (".h5", ".hdf5", ".hdf")
SHEETS = (".xlsx", ".xlsm")
GRIDDED = (".nc", ".nc4", ".zarr")
SUFFIXES = (*TEXT, ".csv.gz", ".npz", ".npy", *COLUMNAR, *HDF5, *GRIDDED, ".mat", *SHEETS)
WRITTEN = (".npz", ".csv", ".csv.gz", ".parquet", ".nc")


def read(path: str | PathLike[str], asked: Asked | None = None) -> Parts:
    """Read a file of any kind that `SUFFIXES` lists.

    Parameters
    ----------
    path : path-like
        Text tables, NPZ and NPY need NumPy alone; the others the extra ``data``.
    asked : Asked, optional
        What the caller says; in NPZ, HDF5, Zarr, NetCDF and MATLAB files columns are the arrays by name.

    Raises
    ------
    DataError
        For a suffix that is not listed, and for a file that is damaged.
    """
    with reading(path, "a recording"):
        return _read(path, asked or Asked())


def _read(path: str | PathLike[str], asked: Asked) -> Parts:
    kind = Path(path).suffix.lower()
    if kind == ".gz":
        kind = Path(Path(path).stem).suffix.lower()
    if kind in TEXT:
        return parts_of_table(read_csv(path, asked), asked)
    if kind == ".npz":
        return read_npz(path, asked)
    if kind in COLUMNAR:
        return parts_of_frame(_columnar(path, kind), asked)
    if kind in SHEETS:
        return parts_of_table(read_sheet(path), asked)
    if kind in HDF5 and containers.is_pandas_store(path):
        return parts_of_frame(_of_store(path), asked)
    if kind == ".zarr" and not _is_gridded_store(path):
        return parts_of_arrays(path, *_named(containers.arrays_of_zarr(path), asked))
    if kind in GRIDDED:
        return parts_of_gridded(open_gridded(path, "zarr" if kind == ".zarr" else None), asked)
    readers = dict.fromkeys(HDF5, containers.arrays_of_hdf5)
    readers |= {".npy": containers.arrays_of_npy, ".mat": containers.arrays_of_matlab}
    if kind in readers:
        return parts_of_arrays(path, *_named(readers[kind](path), asked))
    raise DataError(f"{path}: the kind of a file is told by its suffix, one of {', '.join(SUFFIXES)}")


def _named(found: containers.Named, asked: Asked) -> tuple[Any, Asked, Any]:
    arrays, units = found
    return arrays, asked, units


def _columnar(path: str | PathLike[str], kind: str) -> Any:
    """A Parquet, Feather or Arrow file as a frame of pandas, with its index, or a table of pyarrow without pandas."""
    what = "Reading Parquet" if kind == ".parquet" else "Reading Feather"
    module = require("pyarrow.parquet" if kind == ".parquet" else "pyarrow.feather", "data", what)
    with open(path, "rb"):
        pass
    try:
        table = module.read_table(path)
    except (ValueError, OSError) as problem:
        raise DataError(f"{path} cannot be read as {kind[1:].capitalize()}: {problem}") from problem
    if not (table.schema.metadata or {}).get(b"pandas"):
        return table
    require("pandas", "data", f"{what} with an index")
    return table.to_pandas()


def _of_store(path: str | PathLike[str]) -> Any:
    """The one table that `DataFrame.to_hdf` wrote."""
    require("tables", "data", "Reading a store of pandas")
    try:
        return require("pandas", "data", "Reading a store of pandas").read_hdf(path)
    except (ValueError, OSError, KeyError) as problem:
        raise DataError(f"{path} cannot be read as a store of pandas: {problem}") from problem


def _is_gridded_store(path: str | PathLike[str]) -> bool:
    """Whether the arrays of a Zarr store have named dimensions, as those of xarray have."""
    zarr = require("zarr", "data", "Reading Zarr")
    os.stat(path)
    try:
        root = zarr.open(str(path), mode="r")
    except Exception:
        return False
    members = [item for _, item in root.members()] if hasattr(root, "members") else []
    arrays = [item for item in members if hasattr(item, "shape")]
    return bool(arrays) and all(
        "_ARRAY_DIMENSIONS" in item.attrs or getattr(item.metadata, "dimension_names", None)
        for item in arrays
    )


def write(data: Recording, path: str | PathLike[str], *, digits: int = 17) -> None:
    """Write trajectories to a file of a kind that `WRITTEN` lists; Parquet and NetCDF need the extra ``data``."""
    name = str(path).lower()
    if name.endswith(".npz"):
        write_npz(data, path)
    elif name.endswith((".csv", ".csv.gz")):
        write_csv(data, path, digits=digits)
    elif name.endswith(".parquet"):
        require("pyarrow", "data", "Writing Parquet")
        with replacing(path) as beside:
            to_frame(data).to_parquet(beside, index=False)
    elif name.endswith(".nc"):
        require("netCDF4", "data", "Writing NetCDF")
        with replacing(path) as beside:
            to_array(data).to_dataset(name="x").to_netcdf(beside, engine="netcdf4")
    else:
        raise argument_error("path", str(path), f"a name that ends in {', '.join(WRITTEN)}")
