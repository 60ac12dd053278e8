"""`Trajectories` from and to files and tables; the reading itself is in `files`, `formats` and `tables`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories

__all__ = ["Exchange"]


class Exchange:
    """The part of `Trajectories` that reads and writes."""

    @classmethod
    def from_file(cls: type[Any], path: str | PathLike[str], **settings: Any) -> Trajectories:
        """Read a CSV, NPZ, NPY, Parquet, NetCDF or MATLAB file, told by its suffix; `settings` as in `from_csv`."""
        from itoscope.data import formats

        return formats.read(path, **settings)

    @classmethod
    def from_csv(
        cls: type[Any],
        path: str | PathLike[str],
        *,
        time: str | int | None = None,
        path_column: str | int | None = None,
        columns: Sequence[str | int] | None = None,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        time_unit: str = "s",
    ) -> Trajectories:
        """Read a text table: one row per sample, columns split by comma, semicolon, tab or blanks.

        A header is recognised, and so are lines that start with ``#``, empty cells (missing samples), decimal
        commas in files split by semicolons, and ``.gz`` files.

        Parameters
        ----------
        path : path-like
        time : str or int, optional
            Column of the time stamps, by name or position; a column named ``t`` or ``time`` is found by
            itself. Dates, as in ``2024-03-01`` or ``2024-03-01T12:00:00``, become multiples of `time_unit`.
        path_column : str or int, optional
            Column that tells which path a row belongs to; ``path`` or ``trajectory`` is found by itself.
        columns : list of str or int, optional
            Columns of the states; by default all others.
        dt : float, optional
            Step length of a file without times.
        names : list of str, optional
            Names of the states; by default the header's, with ``_`` for what an equation cannot contain.
        time_unit : {"s", "min", "h", "d", "y"}
            Unit of time for dates; a year is 365.25 days.

        Raises
        ------
        DataError
            Naming line and column of a cell that is not a number.
        """
        from itoscope.data import table as tables
        from itoscope.data import text as files

        table = files.read_csv(path, time=time, path_column=path_column, columns=columns)
        return cls(tables.parts_of(table, time_unit), dt=dt, names=names)

    @classmethod
    def from_dataframe(
        cls: type[Any],
        frame: Any,
        *,
        time: str | None = None,
        path_column: str | None = None,
        columns: Sequence[str] | None = None,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        time_unit: str = "s",
    ) -> Trajectories:
        """Take a pandas DataFrame with one row per sample; parameters as in `from_csv`.

        Times may also be the index: one that is named ``t`` or ``time``, or that holds dates; a path may be a
        level of it.
        """
        from itoscope.data import table as tables

        parts = tables.parts_of_frame(
            frame, time=time, path_column=path_column, columns=columns, time_unit=time_unit
        )
        return cls(parts, dt=dt, names=names)

    @classmethod
    def from_parquet(cls: type[Any], path: str | PathLike[str], **settings: Any) -> Trajectories:
        """Read a Parquet file; `settings` as in `from_dataframe`. Needs the extra ``data``."""
        from itoscope.data import table as tables

        return cls.from_dataframe(tables.read_parquet(path), **settings)

    @classmethod
    def from_xarray(
        cls: type[Any],
        array: Any,
        *,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        time_unit: str = "s",
    ) -> Trajectories:
        """Take an xarray DataArray with the dimension ``time``, and perhaps ``path`` and ``state``."""
        from itoscope.data import table as tables

        return cls(tables.parts_of_array(array, time_unit=time_unit), dt=dt, names=names)

    @classmethod
    def from_npz(cls: type[Any], path: str | PathLike[str]) -> Trajectories:
        """Read what `to_npz` wrote, or any NPZ file with one array of samples and ``t`` or ``dt`` beside."""
        from itoscope.data import text as files

        return files.read_npz(path)

    def to_npz(self: Any, path: str | PathLike[str]) -> None:
        """Write everything to one compressed NPZ file, without pickle; `from_npz` loses no bit."""
        from itoscope.data import text as files

        files.write_npz(self, path)

    def to_csv(self: Any, path: str | PathLike[str], *, digits: int = 17) -> None:
        """Write a text table with columns ``path``, ``t`` and the states; 17 digits lose nothing."""
        from itoscope.data import text as files

        files.write_csv(self, path, digits=digits)

    def to_dataframe(self: Any) -> Any:
        """Return a pandas DataFrame with columns ``path``, ``t`` and the states. Needs the extra ``data``."""
        from itoscope.data import table as tables

        return tables.to_frame(self)

    def to_xarray(self: Any) -> Any:
        """Return an xarray DataArray; see `from_xarray`. Needs the extra ``data``.

        Dimensions are ``path, time, state`` when all paths have the same times, else ``path, sample, state``
        with NaN after the end of shorter paths and a coordinate ``time`` over path and sample.
        """
        from itoscope.data import table as tables

        return tables.to_array(self)
