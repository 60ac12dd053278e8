"""``itoscope check``: whether a recording still has the equation that was found."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from itoscope.cli.arguments import add_data_options, add_positional, add_settings, data_of, result_of
from itoscope.cli.values import plain
from itoscope.common.numbers import number
from itoscope.errors import ArgumentError
from itoscope.posterior.words import columns, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.result.diagnostics import Check

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "check",
        help="say whether a recording still has the equation that was found",
        description="Look at a recording with a saved result: does it have the drift and the noise that were found, "
        "and nothing beside them? The exit code is 0 if so, 1 if not.",
        epilog="Example: itoscope check found.npz run.csv --dt 0.001",
        allow_abbrev=False,
    )
    add_positional(parser, "result", "what discover --save wrote")
    add_settings(parser)
    add_data_options(parser)
    parser.set_defaults(positional="result")
    parser.add_argument(
        "--json", action=argparse.BooleanOptionalAction, default=False, help="print JSON instead of text"
    )
    parser.add_argument("--quiet", action=argparse.BooleanOptionalAction, default=False, help="say nothing")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, look, say; returns the exit code."""
    if arguments.file is None:
        raise ArgumentError("FILE: name the recording, itoscope check found.npz run.csv")
    result = result_of(arguments.result)
    found = result.check(data_of(arguments, dt=result.data_summary.get("dt")))
    same = not any(check["fired"] for check in found)
    if arguments.json:
        print(json.dumps({"same": same, "checks": plain(found)}, indent=2, allow_nan=False))
    elif not arguments.quiet:
        print("\n".join(_lines(found, same)))
    return 0 if same else 1


def _lines(found: list[Check], same: bool) -> Iterator[str]:
    """What a person reads."""
    rows = [
        [check["name"], check["about"], number(check["value"]), number(check["threshold"]),
         "fired" if check["fired"] else ""]
        for check in found
    ]  # fmt: skip
    yield from columns([["check", "of", "value", "bound", ""], *rows], 2)
    for check in found:
        if check["fired"]:
            yield ""
            yield from wrap(check["sentence"])
    yield ""
    yield (
        "the recording has the equation that was found"
        if same
        else ("the recording does not have the equation that was found")
    )
