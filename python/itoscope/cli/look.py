"""``itoscope look``: what a file holds, as it will be understood, and the call to make."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from itoscope.cli.arguments import add_data_options, add_settings, data_of
from itoscope.cli.spelled import options_of
from itoscope.data.glance import glance

if TYPE_CHECKING:
    import argparse

__all__ = ["add"]

NAMED = ("dt", "time", "time_unit", "id", "fps", "per_year", "wide", "columns", "names")
"""Options that say what the file holds and go into the call as they were given."""


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "look",
        help="say what a file holds and which call finds its equation",
        description="Say how a file is understood (time, recordings, states, units, gaps), of which order its motion "
        "is, and the call that finds its equation.",
        epilog="Example: itoscope look run.csv --dt 0.001",
        allow_abbrev=False,
    )
    add_settings(parser)
    add_data_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, look, say."""
    seen = glance(data_of(arguments))
    for line in seen.lines():
        print(line)
    said = {name: getattr(arguments, name) for name in NAMED if getattr(arguments, name) is not None}
    chosen = {
        name: value for name, value in said.items() if name != "columns" or "select" not in seen.recording
    }
    words = [f"--{name.replace('_', '-')} {shlex.quote(f'{value:g}' if isinstance(value, float) else value)}"
             for name, value in chosen.items()]  # fmt: skip
    words += options_of(seen.recording | seen.settings, seen.whole)
    print(f"\nitoscope discover {' '.join([shlex.quote(arguments.file), *words])}")
    listed = [f"{name}={_python(name, value)}" for name, value in said.items()]
    print(f"data = itoscope.read({', '.join([repr(arguments.file), *listed])}); {seen.call}")


def _python(name: str, value: Any) -> str:
    """An option as an argument of Python."""
    if name in ("columns", "names") or (name == "id" and "," in value):
        return repr([word.strip() for word in value.split(",")])
    return f"{value:g}" if isinstance(value, float) else repr(value)
