"""Time as it is written: units from nanoseconds to millions of years, dates of many forms, clocks, as numbers."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.errors import DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.types import Array

__all__ = [
    "SECONDS",
    "as_dates",
    "as_numbers",
    "as_unit",
    "checked_unit",
    "factor",
    "is_dated",
    "of_bytes",
    "of_text",
    "refused",
]

_DAY = 86400.0
SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": _DAY,
    "week": 7 * _DAY,
    "month": 365.25 * _DAY / 12,
    "y": 365.25 * _DAY,
    "ka": 365.25e3 * _DAY,
    "Ma": 365.25e6 * _DAY,
}
"""Units of time in seconds; a year is 365.25 days."""

_WORDS = {
    "ns": "nanosecond nanoseconds nsec",
    "us": "µs μs microsecond microseconds usec",
    "ms": "millisecond milliseconds msec millis millisekunden",
    "s": "sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi с сек 秒",
    "min": "mins minute minutes minuten minuto minutos minuti мин 分",
    "h": "hr hrs hour hours stunde stunden std heure heures hora horas ora ore ч час 小时 時間",
    "d": "day days tag tage jour jours día dias días giorno giorni день дни 天 日",
    "week": "w wk wks weeks woche wochen semaine semaines semana semanas",
    "month": "mon months monat monate mois mes meses mese mesi",
    "y": "a yr yrs year years jahr jahre an ans année années año años anno anni год годы 年",
    "ka": "kyr kiloyear kiloyears kabp",
    "Ma": "myr",
}
_UNITS = {word: unit for unit, words in _WORDS.items() for word in [unit.lower(), *words.split()]}
_EPOCH = {"ns": (9e17, 5e18), "us": (9e14, 5e15), "ms": (9e11, 5e12)}
"""Numbers in these ranges are dates after 1970 in that unit, 1998 to 2128."""


def as_unit(text: str) -> str | None:
    """Return the unit of time that a word is, in any language that is known; None for other words.

    Examples
    --------
    >>> as_unit("Sekunden"), as_unit("ka BP"), as_unit("mm")
    ('s', 'ka', None)
    """
    word = text.strip().rstrip(".")
    for end in ("bp", "b2k", "ago", "ce", "ad"):
        if word.lower().endswith(f" {end}"):
            word = word[: -len(end)].strip()
    return "Ma" if word == "Ma" else _UNITS.get(word.lower())


def checked_unit(unit: str) -> str:
    """Return `time_unit` by its short name.

    Raises
    ------
    ArgumentError
        For a word that is no unit of time.
    """
    found = as_unit(unit) if isinstance(unit, str) else None
    if found is None:
        raise argument_error("time_unit", unit, f"one of {', '.join(map(repr, SECONDS))}")
    return found


def factor(unit: str, to: str) -> float:
    """How many of the unit `to` one `unit` is."""
    return SECONDS[unit] / SECONDS[to]


def is_dated(values: np.ndarray[Any, Any]) -> bool:
    """Whether these are dates or time spans by their type; objects of cftime and datetime count."""
    if values.dtype.kind in "mM":
        return True
    first = next((value for value in values if value is not None), None) if values.dtype == object else None
    return first is not None and (hasattr(first, "year") or hasattr(first, "total_seconds"))


def as_dates(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return numbers that are dates by their size as dates: 20240301, and milliseconds or less since 1970."""
    if values.dtype.kind not in "iuf" or not len(values) or not np.isfinite(values).all():
        return values
    low, high = values.min(), values.max()
    for unit, (first, last) in _EPOCH.items():
        if first < low and high < last:
            return np.asarray(values.astype(np.int64).astype(f"datetime64[{unit}]"))
    whole = values.astype(np.int64) if low > 18000101 and high < 22000101 else None
    if whole is None or (whole != values).any():
        return values
    year, month, day = whole // 10000, whole // 100 % 100, whole % 100
    if ((month < 1) | (month > 12) | (day < 1) | (day > 31)).any():
        return values
    months = (year - 1970).astype("M8[Y]").astype("M8[M]") + (month - 1)
    return np.asarray(months + (day - 1).astype("m8[D]"))


def as_numbers(values: np.ndarray[Any, Any], unit: str) -> Array:
    """Return dates and time spans as multiples of `unit`, dates after the first."""
    if values.dtype == object:
        seconds = _seconds_of_objects(values)
    else:
        if values.dtype.kind == "M":
            # Years and months differ in length: days do not.
            long = np.datetime_data(values.dtype)[0] in ("Y", "M")
            values = values.astype("datetime64[D]") if long else values
            values = values - values[0]
        nanoseconds = values.astype("timedelta64[ns]")
        seconds = np.asarray(nanoseconds.view(np.int64) * 1e-9)
        seconds[np.isnat(nanoseconds)] = np.nan
    return np.asarray(seconds / SECONDS[unit])


def _seconds_of_objects(values: np.ndarray[Any, Any]) -> Array:
    """Objects that differ by time spans: those of cftime, with its calendars, and of datetime."""
    first = values[0]
    try:
        spans = [value if hasattr(value, "total_seconds") else value - first for value in values]
        return np.array([span.total_seconds() for span in spans], dtype=np.float64)
    except (TypeError, AttributeError):
        raise DataError(
            f"the times hold {first!r} and what it cannot be compared with: allowed are numbers and dates"
        ) from None


# -- text --------------------------------------------------------------------------------------------------
def of_text(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Return words as dates or time spans; None where they are not all one or the other.

    Understood are ISO dates, with a zone or without, `31.12.2024`, `12/31/2024` and `31/12/2024` where the numbers tell
    day from month, `31-Dec-2024`, each with or without a clock time, and clock times alone, also after midnight.
    """
    head = words[0] if len(words) else ""
    if not any(sign.isdigit() for sign in head):
        return None
    for attempt in (_iso, _clock, _numbered, _worded):
        found = attempt(words)
        if found is not None:
            return found
    return None


def of_bytes(cells: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return the cells of a file as dates, those of ISO without a zone at once; see `of_text`."""
    head = cells[0].decode(errors="replace") if len(cells) else ""
    if len(head) in (10, *range(16, 28)) and head[4] == "-" and head[:4].isdigit() and _plain(head[10:]):
        try:
            return cells.astype(f"datetime64[{'ns' if cells.dtype.itemsize > 26 else 'us'}]")
        except ValueError:
            return None
    return of_text([cell.decode(errors="replace") for cell in cells.tolist()])


def _plain(clock: str) -> bool:
    """Whether a clock time behind a date has no zone."""
    return not any(sign in clock for sign in "zZ+-U")


def refused(words: Sequence[str], what: str) -> DataError:
    """The error for words that are no dates, which names the first that is none where others are."""
    bad = next((k for k, word in enumerate(words) if of_text([word]) is None), 0)
    return DataError(
        f"{what}, row {bad + 1} of the data, {words[bad]!r}: allowed are numbers and dates as in 2024-03-01 or "
        "2024-03-01T12:00:00"
    )


def _iso(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    head = words[0].strip()
    if len(head) < 7 or not head[:4].isdigit() or head[4] not in "-/":
        return None
    if head[4] == "/":
        words = [word.replace("/", "-") for word in words]
    if len(head) > 10 and (head[-1] in "zZ" or "+" in head[10:] or "-" in head[10:] or head.endswith("UTC")):
        return _zoned(words)
    return _dates(words)


def _dates(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    resolution = "ns" if max(len(word) for word in words[:100]) > 26 else "us"
    try:
        return np.array([word or "NaT" for word in words], dtype=f"datetime64[{resolution}]")
    except ValueError:
        return None


def _zoned(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Stamps with offsets, at Greenwich."""
    plain: list[str] = []
    minutes: list[int] = []
    for word in words:
        stamp = word.strip().removesuffix("UTC").rstrip("zZ ")
        at = max(stamp.rfind("+"), stamp.rfind("-"))
        offset = stamp[at + 1 :].replace(":", "") if at > 10 else ""
        if offset and not (offset.isdigit() and len(offset) in (2, 4)):
            return None
        span = int(offset[:2]) * 60 + int(offset[2:] or 0) if offset else 0
        plain.append(stamp[:at].strip() if offset else stamp)
        minutes.append(-span if offset and stamp[at] == "-" else span)
    dates = _dates(plain)
    return None if dates is None else np.asarray(dates - np.array(minutes, dtype="timedelta64[m]"))


def _clock(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Times of day, or spans as `100:30:00`; a step back of more than half a day is midnight."""
    try:
        parts = [[float(part) for part in word.replace(",", ".").split(":")] for word in words]
    except ValueError:
        return None
    if len({len(part) for part in parts}) != 1 or len(parts[0]) not in (2, 3):
        return None
    cells = np.array(parts)
    if (cells[:, 1:] >= 60).any() or (cells < 0).any():
        return None
    seconds = cells @ np.array([3600.0, 60.0, 1.0])[: cells.shape[1]]
    if (seconds < _DAY).all():
        seconds += _DAY * np.concatenate([[0.0], np.cumsum(np.diff(seconds) < -_DAY / 2)])
    return np.asarray(np.round(seconds * 1e9).astype(np.int64).astype("timedelta64[ns]"))


def _numbered(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Dates with the year last."""
    sign = next((sign for sign in "./-" if words[0].count(sign) >= 2), None)
    if sign is None:
        return None
    days: list[list[int]] = []
    rest: list[str] = []
    try:
        for word in words:
            date, _, clock = word.strip().replace("T", " ").partition(" ")
            days.append([int(number) for number in date.split(sign)])
            rest.append(clock.strip())
        numbers = np.array(days)
    except ValueError:
        return None
    if numbers.ndim != 2 or numbers.shape[1] != 3 or (numbers[:, 2] < 1000).any():
        return None
    after = _clocks_beside(rest)
    if after is None:
        return None
    found = []
    for first, second in ((0, 1), (1, 0)):
        day, month = numbers[:, first], numbers[:, second]
        if (month <= 12).all() and (day <= 31).all() and (day >= 1).all() and (month >= 1).all():
            months = (numbers[:, 2] - 1970).astype("M8[Y]").astype("M8[M]") + (month - 1)
            found.append((months + (day - 1).astype("m8[D]")).astype("M8[us]") + after)
    if sign == "." or len(found) < 2:
        return np.asarray(found[0]) if found else None
    rising = [dates for dates in found if (np.diff(dates) > np.timedelta64(0)).all()]
    if len(rising) == 1 or (len(rising) == 2 and (rising[0] == rising[1]).all()):
        return np.asarray(rising[0])
    raise DataError(
        f"the dates {words[0]!r}, {words[-1]!r} can be read with the day first or the month first: "
        "write them as 2024-12-31"
    )


def _clocks_beside(rest: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Clock times behind dates, with AM and PM; midnight where there is none."""
    if not any(rest):
        return np.zeros(len(rest), dtype="timedelta64[us]")
    halves = [word[-2:].upper() if word[-2:].upper() in ("AM", "PM") else "" for word in rest]
    clock = _clock([word[:-2].strip() if half else word for word, half in zip(rest, halves)])
    if clock is None:
        return None
    hours = np.asarray(clock.astype("timedelta64[us]").astype(np.int64) % (86400 * 10**6))
    half = 12 * 3600 * 10**6
    hours = np.where(np.array(halves) == "", hours, hours % half + half * (np.array(halves) == "PM"))
    return np.asarray(hours.astype("timedelta64[us]"))


_FORMS = ("%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y")


def _worded(words: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Dates with the name of a month, in English."""
    for form in (
        f"{date}{clock}" for date in _FORMS for clock in ("", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f")
    ):
        read = _reader(form)
        if read(words[0]) is None:
            continue
        dates = [read(word) for word in words]
        return None if None in dates else np.array(dates, dtype="datetime64[us]")
    return None


def _reader(form: str) -> Callable[[str], datetime | None]:
    def read(word: str) -> datetime | None:
        try:
            return datetime.strptime(word.strip(), form)
        except ValueError:
            return None

    return read
