"""The part of `Trajectories` that reads and writes: readers give `Parts`, writers take a `Recording`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from itoscope.common.types import Array

__all__ = ["Conversions"]

Made = TypeVar("Made", bound="Conversions")


class Conversions:
    """How trajectories come from files and tables, and go there.

    The modules that read and write are imported when they are needed.
    """

    paths: list[Array]
    times: list[Array]
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]
    time_unit: str
    position_names: tuple[str, ...] | None
    diverged: tuple[int, ...]
    seed: int | None

    def __init__(
        self, data: Any, *, dt: float | None = None, names: Sequence[str] | None = None, **said: Any
    ) -> None:
        raise NotImplementedError

    @classmethod
    def from_file(
        cls: type[Made],
        path: str | PathLike[str],
        *,
        dt: float | None = None,
        names: Sequence[str] | None = None,
        path_column: Any = None,
        **said: Any,
    ) -> Made:
        """Read a file of any kind, told by its suffix.

        Parameters
        ----------
        path : path-like
            CSV, TSV and other text, NPZ and NPY; Parquet, Feather, HDF5, Zarr, NetCDF, MATLAB and Excel with the extra
            ``data``.
        dt, names
            As in `Trajectories`.
        path_column
            `id` by its former name.
        **said
            `time`, `id`, `columns`, `time_unit`, `fps`, `per_year`, `wide` as in `Trajectories`; in files of named
            arrays columns are the arrays.

        Raises
        ------
        DataError
            For a suffix that is not known, a damaged file, and a cell that is no number, with its line and column.
        """
        from itoscope.data.asked import Asked
        from itoscope.data.formats import read

        if path_column is not None:
            said["id"] = path_column
        parts = read(path, Asked(dt=dt, named=names is not None, **said))
        return cls(parts, dt=dt, names=names)

    @classmethod
    def from_csv(cls: type[Made], path: str | PathLike[str], **said: Any) -> Made:
        """Read a text table: one row per sample, columns split by comma, semicolon, tab, bar or blanks.

        Encoding (UTF-8, UTF-16, Windows), lines before the table, the header, a line of units, decimal commas and
        comments are recognised, and so are empty cells, ``NA`` and its like as missing samples, and ``.gz`` files.
        Arguments as in `from_file`.

        Raises
        ------
        DataError
            Naming line and column of a cell that is not a number.
        """
        from itoscope.common.reading import reading
        from itoscope.data.asked import Asked
        from itoscope.data.meaning import parts_of_table
        from itoscope.data.text import read_csv

        dt, names = said.pop("dt", None), said.pop("names", None)
        identity = said.pop("path_column", None)
        if identity is not None:
            said["id"] = identity
        asked = Asked(dt=dt, **said)
        with reading(path, "CSV"):
            return cls(parts_of_table(read_csv(path, asked), asked), dt=dt, names=names)

    @classmethod
    def from_dataframe(cls: type[Made], frame: Any, *, path_column: Any = None, **said: Any) -> Made:
        """Take a data frame with one row per sample, of pandas, polars, pyarrow or another that narwhals knows.

        The same as ``Trajectories(frame, ...)``; `path_column` is `id` by its former name.
        """
        return cls(frame, **({"id": path_column} if path_column is not None else {}), **said)

    @classmethod
    def from_parquet(cls: type[Made], path: str | PathLike[str], **said: Any) -> Made:
        """Read a Parquet file; arguments as in `from_file`. Needs the extra ``data``."""
        return cls.from_file(path, **said)

    @classmethod
    def from_xarray(cls: type[Made], array: Any, **said: Any) -> Made:
        """Take an array or data set of xarray with a dimension of time, and perhaps of recordings and states.

        The same as ``Trajectories(array, ...)``.
        """
        return cls(array, **said)

    @classmethod
    def from_npz(cls: type[Made], path: str | PathLike[str], **said: Any) -> Made:
        """Read what `to_npz` wrote, or any NPZ file with one array of samples and ``t`` or ``dt`` beside."""
        from itoscope.common.reading import reading
        from itoscope.data.asked import Asked
        from itoscope.data.npz import read_npz

        asked = Asked(**said)
        with reading(path, "NPZ"):
            return cls(read_npz(path, asked))

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
        from itoscope.data.exports import to_frame

        return to_frame(self)

    def to_xarray(self) -> Any:
        """Return an xarray DataArray; see `from_xarray`. Needs the extra ``data``.

        Dimensions are ``path, time, state`` when all paths have the same times, else ``path, sample, state``
        with NaN after the end of shorter paths and a coordinate ``time`` over path and sample.
        """
        from itoscope.data.exports import to_array

        return to_array(self)
