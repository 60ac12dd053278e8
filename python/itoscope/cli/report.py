"""``itoscope report``: a saved result as one HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from itoscope.cli.arguments import add_data_options, add_positional, add_settings, data_of, result_of
from itoscope.common.writing import try_outputs

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "report",
        help="write a saved result as an HTML page",
        description="Write one HTML page that needs no network: equations, checks, terms, pictures, settings. With "
        "the recording of the fit beside it, also the pictures that compare the two.",
        epilog="Example: itoscope report found.npz --data run.csv --out found.html",
        allow_abbrev=False,
    )
    add_positional(parser, "result", "what discover --save wrote")
    add_settings(parser)
    parser.add_argument("--out", metavar="FILE", help="the page (default: the name of the result with .html)")
    parser.add_argument("--title", help="heading of the page")
    parser.add_argument(
        "--interactive",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="add a section with zoom, values under the pointer and switches of terms (extra interactive)",
    )
    add_data_options(parser, "data", "the recording of the fit, which a saved result does not hold")
    parser.add_argument(
        "--quiet", action=argparse.BooleanOptionalAction, default=False, help="do not say what was written"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, write the page, say where it is."""
    target = Path(arguments.result).with_suffix(".html") if arguments.out is None else Path(arguments.out)
    try_outputs(
        {"--out": target},
        {"RESULT": arguments.result, "--data": arguments.file, "--settings": arguments.settings},
    )
    result = result_of(arguments.result)
    if arguments.file is not None:
        result = result.with_data(data_of(arguments, dt=result.data_summary.get("dt")))
    result.report(target, title=arguments.title, interactive=arguments.interactive)
    if not arguments.quiet:
        print(f"written: {target}")
