"""The part of `Trajectories` that reads and writes: readers give `Parts`, writers take a `Recording`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeVar

from itoscope.common.types import Array
from itoscope.data.parts import Parts

__all__ = ["Conversions", "parts_of"]

Made = TypeVar("Made", bound="Conversions")


class Conversions:
    """How trajectories come from files and tables, and go there.

    The modules that read and write are imported when they are needed.
    """

    paths: list[Array]
    times: list[Array]
    names: tuple[str, ...]
    position_names: tuple[str, ...] | None
    diverged: tuple[int, ...]
    seed: int | None

    def __init__(self, data: Any, *, dt: float | None = None, names: Sequence[str] | None = None) -> None:
        raise NotImplementedError

    @classmethod
    def from_file(
        cls: type[Made],
        path: str | PathLike[str],
        *,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        **settings: Any,
    ) -> Made:
        """Read a CSV, NPZ, NPY, Parquet, NetCDF or MATLAB file, told by its suffix; `settings` as in `from_csv`."""
        from itoscope.data.formats import read

        return cls(read(path, **settings), dt=dt, names=names)

    @classmethod
    def from_csv(
        cls: type[Made],
        path: str | PathLike[str],
        *,
        time: str | int | None = None,
        path_column: str | int | None = None,
        columns: Sequence[str | int] | None = None,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        time_unit: str = "s",
    ) -> Made:
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
        from itoscope.data.table import parts_of_table
        from itoscope.data.text import read_csv

        table = read_csv(path, time=time, path_column=path_column, columns=columns)
        return cls(parts_of_table(table, time_unit), dt=dt, names=names)

    @classmethod
    def from_dataframe(
        cls: type[Made],
        frame: Any,
        *,
        time: str | None = None,
        path_column: str | None = None,
        columns: Sequence[str] | None = None,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        time_unit: str = "s",
    ) -> Made:
        """Take a pandas DataFrame with one row per sample; parameters as in `from_csv`.

        Times may also be the index: one that is named ``t`` or ``time``, or that holds dates; a path may be a
        level of it.
        """
        from itoscope.data.table import parts_of_frame

        parts = parts_of_frame(
            frame, time=time, path_column=path_column, columns=columns, time_unit=time_unit
        )
        return cls(parts, dt=dt, names=names)

    @classmethod
    def from_parquet(cls: type[Made], path: str | PathLike[str], **settings: Any) -> Made:
        """Read a Parquet file; `settings` as in `from_dataframe`. Needs the extra ``data``."""
        from itoscope.data.table import read_parquet

        return cls.from_dataframe(read_parquet(path), **settings)

    @classmethod
    def from_xarray(
        cls: type[Made],
        array: Any,
        *,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        time_unit: str = "s",
    ) -> Made:
        """Take an xarray DataArray with the dimension ``time``, and perhaps ``path`` and ``state``."""
        from itoscope.data.table import parts_of_array

        return cls(parts_of_array(array, time_unit=time_unit), dt=dt, names=names)

    @classmethod
    def from_npz(cls: type[Made], path: str | PathLike[str]) -> Made:
        """Read what `to_npz` wrote, or any NPZ file with one array of samples and ``t`` or ``dt`` beside."""
        from itoscope.data.npz import read_npz

        return cls(read_npz(path))

    def to_npz(self, path: str | PathLike[str]) -> None:
        """Write everything to one compressed NPZ file, without pickle; `from_npz` loses no bit."""
        from itoscope.data.npz import write_npz

        write_npz(self, path)

    def to_csv(self, path: str | PathLike[str], *, digits: int = 17) -> None:
        """Write a text table with columns ``path``, ``t`` and the states; 17 digits lose nothing."""
        from itoscope.data.text import write_csv

        write_csv(self, path, digits=digits)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with columns ``path``, ``t`` and the states. Needs the extra ``data``."""
        from itoscope.data.table import to_frame

        return to_frame(self)

    def to_xarray(self) -> Any:
        """Return an xarray DataArray; see `from_xarray`. Needs the extra ``data``.

        Dimensions are ``path, time, state`` when all paths have the same times, else ``path, sample, state``
        with NaN after the end of shorter paths and a coordinate ``time`` over path and sample.
        """
        from itoscope.data.table import to_array

        return to_array(self)


def parts_of(data: Any) -> Parts:
    """Return anything that holds samples as `Parts`.

    A DataFrame and a DataArray are told by the names of their classes, since neither package is imported for others.
    """
    if isinstance(data, Parts):
        return data
    kinds = {(c.__module__.split(".")[0], c.__name__) for c in type(data).__mro__}
    if ("pandas", "DataFrame") in kinds:
        from itoscope.data.table import parts_of_frame

        return parts_of_frame(data)
    if ("xarray", "DataArray") in kinds:
        from itoscope.data.table import parts_of_array

        return parts_of_array(data)
    return Parts(data)
