"""Words of the command line as values: names and numbers, libraries, and the options that choose data."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itoscope.common.prior import Prior
from itoscope.data.formats import SUFFIXES
from itoscope.data.trajectories import Trajectories
from itoscope.discovery.result import Discovery
from itoscope.errors import ArgumentError, argument_error
from itoscope.library.library import Library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.common.types import Level

__all__ = [
    "LIBRARY_HELP",
    "add_data_options",
    "add_positional",
    "add_settings",
    "assignments",
    "by_row",
    "data_of",
    "inputs_of",
    "library_of",
    "names_of",
    "noise_of",
    "number",
    "numbers",
    "outer_words",
    "parameters_of",
    "prior_of",
    "result_of",
    "terms_of",
]

LIBRARY_HELP = (
    "candidate terms, joined by +: paper[:DEGREE], poly:DEGREE (poly:DEGREE@mean around the mean), sign, abs, absprod, "
    "exp, trig:FREQUENCY,..., fourier:PERIOD[,HARMONICS], and last expr:TERM,... "
)


def add_positional(parser: argparse.ArgumentParser, name: str, help: str) -> None:
    """Declare the one positional argument of a command; a settings file may give it instead."""
    parser.add_argument(name, metavar=name.upper(), nargs="?", help=help)
    parser.set_defaults(positional=name)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Declare the settings file."""
    parser.add_argument(
        "--settings",
        metavar="FILE",
        help="TOML or YAML file of these options by their long names; those of the command line win",
    )


def add_data_options(
    parser: argparse.ArgumentParser, option: str | None = None, about: str = "recording"
) -> None:
    """Declare FILE, or the `option` that names it, and the options that say what its columns mean.

    With `option`, the step of a file without times is `--dt` if the command has one, else that of the fit.
    """
    about += f"; its suffix is one of {', '.join(SUFFIXES)}"
    if option is None:
        add_positional(parser, "file", about)
    group = parser.add_argument_group("what the file holds" if option is None else "a recording beside it")
    if option is None:
        group.add_argument(
            "--dt", type=number, help="step of samples, as 0.001 or 1/252, when the file has no times"
        )
    else:
        group.add_argument(f"--{option}", dest="file", metavar="FILE", help=about)
    group.add_argument(
        "--time",
        metavar="COLUMN",
        help="column of the times, -COLUMN if they run back, index (default: found)",
    )
    group.add_argument(
        "--time-unit",
        metavar="UNIT",
        help="in which time is measured: ns, us, ms, s, min, h, d, week, month, y, ...",
    )
    group.add_argument(
        "--id", "--path-column", metavar="COLUMN", help="column that tells recordings apart (default: found)"
    )
    rate = group.add_mutually_exclusive_group()
    rate.add_argument("--fps", type=number, help="frames a second, when the file counts frames")
    rate.add_argument(
        "--per-year", type=number, metavar="N", help="rows a year, 252 for trading days, whatever their dates"
    )
    group.add_argument(
        "--wide",
        choices=("states", "repeats"),
        help="what numbered columns are: states, or recordings of one",
    )
    group.add_argument("--columns", metavar="A,B,...", help="columns of the states (default: all others)")
    group.add_argument(
        "--names", metavar="A,B,...", help="names of the states (default: those of the columns)"
    )
    group.add_argument("--thin", type=int, default=1, metavar="K", help="use every K-th sample")


def result_of(path: str) -> Discovery:
    """Read what `discover --save` wrote; the suffix may be left out, as there."""
    return Discovery.load(path if Path(path).suffix or Path(path).exists() else f"{path}.npz")


def data_of(arguments: argparse.Namespace, dt: float | None = None) -> Trajectories:
    """Read the file that the data options describe; `dt` is the step where neither it nor an option tells one."""
    step = getattr(arguments, "dt", None)
    names = None if arguments.names is None else [word.strip() for word in arguments.names.split(",")]
    settings: dict[str, Any] = dict(
        time=_column(arguments.time),
        id=None if arguments.id is None else [_column(word.strip()) for word in arguments.id.split(",")],
        fps=arguments.fps,
        per_year=arguments.per_year,
        wide=arguments.wide,
        columns=None
        if arguments.columns is None
        else [_column(word.strip()) for word in arguments.columns.split(",")],
        names=names,
        time_unit=arguments.time_unit,
    )
    with _file_of(arguments.file) as file:
        try:
            data = Trajectories.from_file(file, dt=step, **settings)
        except ArgumentError as problem:
            if step is not None or dt is None or "dt and t are both missing" not in str(problem):
                raise
            data = Trajectories.from_file(file, dt=dt, **settings)
    return data if arguments.thin == 1 else data.thin(arguments.thin)


@contextmanager
def _file_of(name: str) -> Iterator[str]:
    """The file of this name; for `-` what comes from standard input, as a file of text."""
    if name != "-":
        yield name
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "standard-input.csv")
        file.write_bytes(sys.stdin.buffer.read())
        yield str(file)


def _column(word: str | None) -> Any:
    """A whole number is the position of a column, anything else its name."""
    return int(word) if word is not None and word.isdecimal() else word


def assignments(option: str, words: list[str]) -> dict[str, str]:
    """Return ``name=value`` words as a dictionary."""
    found = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise argument_error(option, word, "NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def terms_of(option: str, words: list[str]) -> dict[str, list[str]] | None:
    """Return ``v1=1,x1^2`` words as lists of terms by row; a row that is repeated has all of its words."""
    found: dict[str, list[str]] = {}
    for word in words:
        for row, terms in assignments(option, [word]).items():
            found.setdefault(row, []).extend(term.strip() for term in terms.split(","))
    return found or None


def bounds_of(
    option: str, words: list[str]
) -> dict[str, dict[str, tuple[float | None, float | None]]] | None:
    """Return ``v1=x1<0,-3<v1<0`` words as bounds of terms by row.

    Examples
    --------
    >>> bounds_of("--bounds", ["v1=x1<0,-3<v1<0", "v1=1>2"])
    {'v1': {'x1': (None, 0.0), 'v1': (-3.0, 0.0), '1': (2.0, None)}}
    """
    found: dict[str, dict[str, tuple[float | None, float | None]]] = {}
    for row, terms in (terms_of(option, words) or {}).items():
        for text in terms:
            pieces = [piece.strip() for piece in text.split("<")]
            above = [piece.strip() for piece in text.split(">")]
            if len(above) == 2 and len(pieces) == 1:
                (term, low), high = above, ""
            elif len(pieces) in (2, 3) and len(above) == 1:
                low, term, high = pieces if len(pieces) == 3 else ("", *pieces)
            else:
                raise argument_error(option, text, "TERM<NUMBER, TERM>NUMBER or NUMBER<TERM<NUMBER")
            found.setdefault(row, {})[term] = (_end(option, text, low), _end(option, text, high))
    return found or None


def _end(option: str, text: str, word: str) -> float | None:
    """A bound, or none."""
    try:
        return float(word) if word else None
    except ValueError:
        raise argument_error(option, text, "TERM<NUMBER, TERM>NUMBER or NUMBER<TERM<NUMBER") from None


def parameters_of(
    option: str, words: list[str]
) -> dict[str, float | tuple[float | None, float, float | None]] | None:
    """Return ``a=1`` and ``tau=0.01,0.1,10`` words as starts, or low, start and high, of numbers by name.

    Examples
    --------
    >>> parameters_of("--parameter", ["a=1", "tau=0.01,0.1,"])
    {'a': 1.0, 'tau': (0.01, 0.1, None)}
    """
    found: dict[str, float | tuple[float | None, float, float | None]] = {}
    for name, text in assignments(option, words).items():
        pieces = [piece.strip() for piece in text.split(",")]
        try:
            low, start, high = ["", *pieces, ""] if len(pieces) == 1 else pieces
            both = float(low) if low else None, float(start), float(high) if high else None
        except ValueError:
            raise argument_error(option, f"{name}={text}", "NAME=START or NAME=LOW,START,HIGH") from None
        found[name] = both if len(pieces) == 3 else both[1]
    return found or None


def inputs_of(words: list[str]) -> dict[str, str | None] | None:
    """Return ``name`` and ``name=held`` words as what `discover` takes."""
    found: dict[str, str | None] = {}
    for word in words:
        name, sign, between = word.partition("=")
        if not name.strip() or (sign and not between.strip()):
            raise argument_error("--input", word, "COLUMN, COLUMN=linear or COLUMN=held")
        found[name.strip()] = between.strip() or None
    return found or None


def names_of(text: str | None) -> list[str] | None:
    """Return ``x1,x2`` as names; None for None."""
    return None if text is None else [word.strip() for word in text.split(",")]


def prior_of(words: list[str]) -> Prior | None:
    """Return ``a_p=1`` words as the hyperparameters that they change; None without words."""
    if not words:
        return None
    given: dict[str, Any] = {}
    for name, text in assignments("--prior", words).items():
        kinds = {field.name: field.default for field in fields(Prior)}
        if name not in kinds:
            raise argument_error("--prior", name, f"one of {', '.join(kinds)}")
        if isinstance(kinds[name], bool):
            given[name] = {"true": True, "false": False}.get(text.lower(), text)
        else:
            given[name] = text if isinstance(kinds[name], str) else numbers(f"--prior {name}", text)[0]
    return Prior(**given)


def by_row(option: str, text: str) -> Any:
    """Return ``x1=none,x2=full`` as a dictionary, and a word without ``=`` as it is."""
    return assignments(option, text.split(",")) if "=" in text else text


def number(text: str) -> float:
    """Return ``0.5`` or ``1/2`` as a number."""
    top, _, bottom = text.partition("/")
    try:
        return float(top) / float(bottom or 1)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r}: a number is wanted, as 0.5 or 1/2") from None


def numbers(option: str, text: str) -> list[float]:
    """Return ``1,2.5`` as numbers."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise argument_error(option, text, "numbers with commas between them") from None


def noise_of(texts: list[str]) -> Level | dict[str, float | str] | None:
    """Return a standard deviation or the word estimate, one of each column by name, or None where nothing was said.

    Of a column another word names the column that has the errors of its samples.

    Examples
    --------
    >>> noise_of(["laser=0.002", "camera=estimate"])
    {'laser': 0.002, 'camera': 'estimate'}
    """
    if any("=" in text for text in texts):
        return {name: _number_or_word(text) for name, text in assignments("--noise", texts).items()}
    return _level(texts[-1]) if texts else None


def groups_of(option: str, words: list[str]) -> dict[str, Level] | None:
    """Return ``x,y`` and ``x,y=0.5`` words as correlations by group, None where there is none.

    Examples
    --------
    >>> groups_of("--noise-group", ["x,y", "a,b=0.5"])
    {'x,y': 'estimate', 'a,b': 0.5}
    """
    found: dict[str, Level] = {}
    for word in words:
        group, sign, value = word.partition("=")
        known = sign and value.strip() != "estimate"
        found[group.strip()] = numbers(option, value)[0] if known else "estimate"
    return found or None


def steps_of(option: str, words: list[str]) -> dict[str, float] | None:
    """Return ``x=0.01`` words as numbers by name, None where there is none."""
    return {name: numbers(option, step)[0] for name, step in assignments(option, words).items()} or None


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _level(text: str) -> Level:
    if text == "estimate":
        return "estimate"
    try:
        return float(text)
    except ValueError:
        raise argument_error("--noise", text, "a standard deviation, or estimate") from None


def library_of(option: str, text: str | None) -> Library | None:
    """Return the library that a word such as ``poly:3+sign`` describes; None for None.

    Examples
    --------
    >>> library_of("--library", "poly:1+expr:x1*sin(x2), exp(-x1^2)").names(["x1", "x2"])
    ['1', 'x1', 'x2', 'x1*sin(x2)', 'exp(-x1^2)']
    """
    if text is None:
        return None
    head, sign, terms = text.partition("expr:")
    words = [word.strip() for word in head.strip().removesuffix("+").split("+")] if head.strip() else []
    parts = [_part(option, word) for word in words]
    if sign:
        parts.append(Library.expressions(*outer_words(terms)))
    if not parts:
        raise argument_error(option, text, LIBRARY_HELP.strip())
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


def _part(option: str, word: str) -> Library:
    kind, _, setting = word.partition(":")
    try:
        if kind == "paper":
            return Library.paper(int(setting)) if setting else Library.paper()
        if kind == "poly" and setting:
            degree, _, origin = setting.partition("@")
            if not origin:
                return Library.polynomials(int(degree))
            values: Any = origin if origin == "mean" else numbers(option, origin)
            return Library.polynomials(int(degree), origin=values)
        if kind == "trig" and setting:
            return Library.trig(numbers(option, setting))
        if kind == "fourier" and setting:
            period, _, harmonics = setting.partition(",")
            return Library.fourier(number(period), int(harmonics or 1))
        plain = {"sign": Library.sign, "abs": Library.absolute, "absprod": Library.abs_products}
        plain["exp"] = Library.exponential
        if kind in plain and not setting:
            return plain[kind]()
    except ValueError as problem:
        if type(problem) is not ValueError:
            raise
    raise argument_error(option, word, LIBRARY_HELP.strip())


def outer_words(terms: str) -> list[str]:
    """Split at commas outside parentheses."""
    found, depth = [""], 0
    for sign in terms:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return [term.strip() for term in found]
