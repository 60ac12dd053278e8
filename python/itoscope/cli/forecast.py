"""``itoscope forecast``: an ensemble of a saved result, summed up in bands."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from itoscope.cli.arguments import (
    add_data_options,
    add_positional,
    add_settings,
    data_of,
    number,
    numbers,
    result_of,
)
from itoscope.common.extras import require
from itoscope.common.writing import replacing, try_outputs
from itoscope.data.formats import WRITTEN, write
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.forecast import WRITTEN as BANDS_WRITTEN
from itoscope.result.start import last_state, started

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "forecast",
        help="simulate a saved result forward, with bands",
        description="Simulate an ensemble of a saved result, each path with its own draw of terms and coefficients, "
        "and write mean, standard deviation and bands at each time.",
        epilog="Example: itoscope forecast found.npz --x0 0.05,0 --duration 10 --out bands.csv --plot bands.png",
        allow_abbrev=False,
    )
    add_positional(parser, "result", "what discover --save wrote")
    add_settings(parser)
    start = parser.add_argument_group("from where, how long")
    start.add_argument("--x0", metavar="A,B,...", help="start of the paths, one number per state")
    start.add_argument("--duration", type=number, help="in the unit of time of the data")
    start.add_argument("--steps", type=int, metavar="N", help="the same as a number of steps")
    start.add_argument("--dt", type=number, help="time step (default: that of the data of the fit)")
    run_ = parser.add_argument_group("ensemble")
    run_.add_argument("--paths", type=int, default=200, metavar="N", help="paths (default: 200)")
    run_.add_argument(
        "--levels", default="0.5,0.9", metavar="P,...", help="probabilities of the bands (default: 0.5,0.9)"
    )
    run_.add_argument(
        "--mean-model",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="all paths with the mean coefficients, not each with a draw of its own",
    )
    run_.add_argument("--scheme", help="euler-maruyama, milstein or taylor15 (default: the best that fits)")
    run_.add_argument("--substeps", type=int, metavar="N", help="steps of the scheme in dt")
    run_.add_argument("--seed", type=int, help="default: drawn, and printed")
    run_.add_argument("--backend", choices=("rust", "reference"))
    add_data_options(parser, "data", "a recording to compare with, which gives the start and the duration")
    parser.add_argument(
        "--path", type=int, default=0, metavar="K", help="number of its path, from 0 (default: 0)"
    )
    parser.add_argument(
        "--from-end",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="start where that path ends, and carry it on",
    )
    out = parser.add_argument_group("what comes out")
    out.add_argument(
        "--out",
        metavar="FILE",
        help=f"bands: {', '.join(BANDS_WRITTEN)} (default: CSV to standard output)",
    )
    out.add_argument("--ensemble", metavar="FILE", help=f"the paths: {', '.join(WRITTEN)}")
    out.add_argument("--plot", metavar="FILE", help="a picture: .png, .svg or .pdf")
    out.add_argument("--digits", type=int, default=10, help="significant digits in CSV (default: 10)")
    out.add_argument(
        "--quiet", action=argparse.BooleanOptionalAction, default=False, help="no progress, no summary"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, simulate, write."""
    levels = numbers("--levels", arguments.levels)
    for name, allowed in (("out", BANDS_WRITTEN), ("ensemble", WRITTEN), ("plot", (".png", ".svg", ".pdf"))):
        target = getattr(arguments, name)
        if target is not None and not target.lower().endswith(allowed):
            raise argument_error(f"--{name}", target, f"a name that ends in {', '.join(allowed)}")
    try_outputs(
        {"--out": arguments.out, "--ensemble": arguments.ensemble, "--plot": arguments.plot},
        {"RESULT": arguments.result, "--data": arguments.file, "--settings": arguments.settings},
    )
    result = result_of(arguments.result)
    held = None if arguments.file is None else data_of(arguments, dt=result.data_summary.get("dt"))
    settings: dict[str, Any] = {
        "x0": None if arguments.x0 is None else numbers("--x0", arguments.x0),
        "duration": arguments.duration,
        "n_steps": arguments.steps,
        "dt": arguments.dt,
    }
    if held is None and settings["x0"] is None:
        raise ArgumentError(
            f"--x0: give the start, {','.join(result.states)}, or with --data a recording that starts there"
        )
    first = 0
    if held is not None and arguments.from_end:
        settings["x0"] = last_state(result, held, arguments.path)
        settings["start"] = float(np.ptp(held.times[arguments.path]))
        held = None
    else:
        settings, first = started(result, held, arguments.path, settings)
    if settings.get("duration") is None and settings.get("n_steps") is None:
        raise ArgumentError("--duration: give how long, or --steps")
    for name in ("scheme", "substeps", "seed", "backend"):
        settings[name] = getattr(arguments, name)
    found = result.forecast(
        n_paths=arguments.paths,
        levels=levels,
        posterior=not arguments.mean_model,
        progress=not arguments.quiet,
        **settings,
    )
    if arguments.out is not None:
        found.save(arguments.out, digits=arguments.digits)
    elif arguments.ensemble is None and arguments.plot is None:
        found.write(sys.stdout, digits=arguments.digits)
    if arguments.ensemble is not None:
        write(found.paths, arguments.ensemble, digits=arguments.digits)
    if arguments.plot is not None:
        matplotlib = require("matplotlib", "plot", "A picture")
        matplotlib.use("Agg")
        axes = found.plot(held, path=arguments.path, first=first)
        with replacing(arguments.plot) as beside:
            (axes if hasattr(axes, "figure") else axes.flat[0]).figure.savefig(beside, dpi=150)
    if not arguments.quiet:
        printed = arguments.out is None and arguments.ensemble is None and arguments.plot is None
        print(f"{found!r}, seed {found.paths.seed}", file=sys.stderr if printed else sys.stdout)
