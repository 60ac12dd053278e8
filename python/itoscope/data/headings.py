"""Headings of columns: their label, their unit, a name for equations, and whether they speak of time or of a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itoscope.common import units
from itoscope.data.calendars import as_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Heading", "clean_names", "heading", "is_blank"]


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TIMES = _words_of(
    "t time times timestamp timestamps datetime clock elapsed unixtime epoch posix utc gmt zeit zeiten "
    "zeitstempel uhrzeit messzeit laufzeit temps heure horodatage tiempo hora tempo ora orario czas tid tijd "
    "tijdstip aika zaman čas vreme время момент χρόνος 时间 時間 時刻 时刻 시간 "
    "date dates datum fecha 日期 日付 日時 дата tarih runtime walltime simtime xvalue"
)
"""Words that mean time in some language."""

_COUNTS = _words_of(
    "frame frames framenumber frameno frameidx frameindex framenum sample samples samplenumber sampleno scan "
    "step steps index idx tick ticks row rownumber record recordnumber point pointnumber bild bildnummer image "
    "imagenumber slice messpunkt zeile nr no n num number lfd img fotograma cuadro trame 帧 フレーム кадр obs "
    "observation"
)
"""Words that count samples."""

_AGES = _words_of("age ages alter âge edad età idade leeftijd возраст 年龄 年代 bp b2k")

_PATHS = _words_of(
    "path paths trajectory trajectories traj track tracks trackid trk particle particles particleid pid id ids "
    "uid run runs runid trial trials rep reps replicate replicates replica repeat experiment exp subject subj "
    "participant patient individual animal fish mouse rat bird fly worm cell cellid object obj objectid "
    "specimen series seriesid symbol ticker asset stock station site member members ensemble ensemblemember "
    "realization realisation number batch group chain draw seed spur teilchen versuch messung messreihe lauf "
    "probe tier zelle bahn trajektorie wiederholung particule trajectoire essai piste individu sujet cellule "
    "répétition partícula particula trayectoria ensayo sujeto célula particella traiettoria prova cella "
    "trajetória deeltje proef частица траектория опыт номер 粒子 轨迹 軌跡 編号 编号 试验 試行 個体 "
    "sensor channel device "
    "label tracklet spot"
)
"""Words that tell one recording from another."""


_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")


@dataclass(frozen=True)
class Heading:
    """What stands above a column.

    Attributes
    ----------
    text, label, unit : str
        As it was written, without its unit, and the unit; empty where none is written.
    words : tuple of str
        The words of the label in small letters, parted at signs, underscores and inner capitals.
    """

    text: str
    label: str
    unit: str
    words: tuple[str, ...]

    @property
    def joined(self) -> str:
        """The words as one."""
        return "".join(self.words)

    @property
    def names_time(self) -> bool:
        """Whether the heading is a word for time, and nothing else."""
        plain = self.joined in _TIMES or (bool(self.words) and all(w in _TIMES for w in self.words))
        # A bare `T` is a temperature as often as a time; its unit decides, and without one the values.
        return plain and not (self.label == "T" and self.unit and as_unit(self.unit) is None)

    @property
    def speaks_of_time(self) -> bool:
        """Whether it holds a word for time among others, or is a unit of time."""
        if self.unit and as_unit(self.unit) is None and not self.counts:
            return False
        unit_alone = len(self.words) == 1 and len(self.joined) > 1 and as_unit(self.joined) is not None
        return self.names_time or unit_alone or any(word in _TIMES for word in self.words)

    @property
    def counts(self) -> bool:
        """Whether it counts samples."""
        whole = self.joined in _COUNTS or self.label.strip() == "#"
        return whole or (len(self.words) > 1 and all(word in _COUNTS | {"id"} for word in self.words))

    @property
    def is_age(self) -> bool:
        """Whether it is an age, of which nobody knows in which direction time runs."""
        return bool(self.words) and self.words[0] in _AGES

    @property
    def before_present(self) -> bool:
        """Whether it is an age that is counted backwards, as `Age [ka BP]`."""
        told = f"{self.label} {self.unit}".lower().replace(".", "").split()
        return bool({"bp", "b2k", "ago", "ka", "kyr", "ma", "myr", "cal"} & set(told))

    @property
    def names_path(self) -> bool:
        """Whether it tells recordings apart; a quantity with a unit does not."""
        if self.unit:
            return False
        whole = self.joined in _PATHS
        ends = ("id", "no", "nr", "number", "num", "index", "name", "label")
        return whole or (len(self.words) > 1 and self.words[0] in _PATHS and self.words[-1] in ends)

    @property
    def numbered(self) -> str | None:
        """The stem of a heading that ends in a number, as `run` of `run3`; empty for a bare number."""
        text = self.label.strip()
        stem = text.rstrip("0123456789")
        return None if stem == text else stem.rstrip(" _-.#").lower()

    @property
    def repeats(self) -> bool:
        """Whether it is numbered as recordings are, `run3` or `3`, and not as states are."""
        stem = self.numbered
        return stem is not None and (stem == "" or stem in _PATHS)


def heading(text: Any, unit: str = "") -> Heading:
    """Read a heading; `unit` is one that stands elsewhere, in a row of units or an attribute.

    Examples
    --------
    >>> found = heading("disp [mm]")
    >>> found.label, found.unit, heading("elapsed_s").unit, heading("x (filtered)").unit
    ('disp', 'mm', 's', '')
    """
    written = str(text).strip()
    label, own = _parted(written)
    words = _words(label)
    if not own and len(words) > 1 and (of_time := as_unit(words[-1])) is not None:
        rest = words[:-1]
        if all(word in _TIMES for word in rest):
            return Heading(written, label, unit or of_time, tuple(rest))
    return Heading(written, label, unit.strip() or own, tuple(words))


def _parted(text: str) -> tuple[str, str]:
    """Part a heading from the unit in its brackets, or behind a slash, a comma or `in`."""
    for left, right, sure in (("[", "]", True), ("(", ")", False), ("<", ">", False)):
        at = text.rfind(left)
        if at > 0 and text.endswith(right):
            inside = text[at + 1 : -1].strip()
            if inside and (sure or units.is_unit(inside) or as_unit(inside) is not None):
                return text[:at].strip(" _/,"), inside
    for sign in (" / ", ", ", " in ", "/"):
        front, found, back = text.rpartition(sign)
        if found and front.strip() and (units.is_unit(back.strip()) or as_unit(back.strip()) is not None):
            return front.strip(), back.strip()
    return text, ""


def _words(label: str) -> list[str]:
    """The words of a label: signs part them, and so does a capital after a small letter."""
    parted, before = "", ""
    for character in label:
        if not character.isalnum():
            parted += " "
        elif character.isupper() and before.islower():
            parted += f" {character}"
        else:
            parted += character
        before = character
    return parted.lower().split()


def is_blank(text: Any) -> bool:
    """Whether a column has no heading: the row numbers that a table was written with."""
    written = str(text).strip()
    return written == "" or written.startswith("Unnamed: ")


def clean_names(labels: Iterable[Any]) -> list[str]:
    """Return labels as names that an equation can contain; letters of every alphabet stay.

    Examples
    --------
    >>> clean_names(["x1", "Displacement, filtered", "2nd", "Δx", "位移"])
    ['x1', 'Displacement_filtered', 'x2nd', 'Δx', '位移']
    """
    return [_name(str(label)) for label in labels]


def _name(label: str) -> str:
    label = label.translate(_LOWERED)
    signs = "".join(sign if sign.isidentifier() or f"a{sign}".isidentifier() else " " for sign in label)
    word = "_".join(signs.split()).strip("_") or "x"
    return word if word.isidentifier() else f"x{word}"
