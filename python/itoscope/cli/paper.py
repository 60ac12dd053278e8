"""``itoscope paper``: the studies of the paper, done again."""

from __future__ import annotations

import argparse
from typing import Any

from itoscope.cli.arguments import add_settings
from itoscope.common.progress import Reporter

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "paper",
        help="do the studies of the paper again, and put theirs and ours side by side",
        description="Simulate the systems of Tripura & Chakraborty, discover their equations as the paper printed "
        "it and as it promised it, and write a table and figures beside the paper's own.",
        epilog="Example: itoscope paper --quick --study black-scholes --form printed --out paper",
        allow_abbrev=False,
    )
    add_settings(parser)
    parser.add_argument(
        "--quick",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="fewer recordings, a shorter forecast",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", default="paper", help="for paper.md and figures (default: paper)"
    )
    parser.add_argument("--study", action="append", metavar="NAME", help="one of them; may be repeated")
    parser.add_argument(
        "--form", action="append", metavar="NAME", help="printed, pooled, promised or seen; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="how many seeds (default: 1)")
    parser.add_argument("--recordings", type=int, metavar="N", help="most paths of a noisy recording")
    parser.add_argument("--quiet", action=argparse.BooleanOptionalAction, default=False, help="no progress")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the studies, print the table, say what was written."""
    from itoscope.paper.report import run as run_studies

    with Reporter(not arguments.quiet).stage("studies", 1000, "‰") as show:
        report = run_studies(
            quick=arguments.quick,
            folder=arguments.out,
            progress=None if show is None else lambda done, total: show(round(1000 * done / total)),
            studies=arguments.study,
            forms=arguments.form,
            seed=arguments.seed,
            seeds=arguments.seeds,
            recordings=arguments.recordings,
        )
    print(report)
    print(f"{report.seconds:.0f} s; written: {', '.join(map(str, report.files))}")
