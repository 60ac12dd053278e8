"""`read`: a file of any kind as trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itoscope.data.trajectories import Trajectories

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["read"]


def read(path: str | PathLike[str], **said: Any) -> Trajectories:
    """Read a recording from a file; the suffix says of what kind it is.

    Parameters
    ----------
    path : path-like
        CSV, TSV and other text, NPZ, NPY; with the extra ``data`` Parquet, Feather, HDF5, Zarr, NetCDF, MATLAB, Excel.
    **said
        `dt`, `names`, `columns`, `id`, `time`, `time_unit`, `fps`, `per_year`, `wide` as in `Trajectories`; in files of
        named arrays columns are the arrays.

    Returns
    -------
    Trajectories

    Raises
    ------
    DataError
        For a suffix that is not known, for a damaged file, and for a column that nobody named and that looks like a
        clock or a label of recordings; the message names it and what to say.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "run.csv")
    ...     _ = file.write_text("Time (s),disp [mm]\\n0,1.5\\n0.1,NA\\n0.2,1.25\\n")
    ...     read(file)
    Trajectories: 1 path of 3 samples, dt = 0.1 s, state disp [mm], 33 % missing
    """
    return Trajectories.from_file(path, **said)
