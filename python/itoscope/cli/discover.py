"""``itoscope discover``: the equation behind a recording."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import TYPE_CHECKING, Any

import itoscope
from itoscope.cli.arguments import (
    LIBRARY_HELP,
    add_data_options,
    add_settings,
    assignments,
    data_of,
    library_of,
    noise_of,
)

if TYPE_CHECKING:
    from itoscope.discovery.result import Discovery
    from itoscope.posterior.equation import Equation

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "discover",
        help="find the equation behind a recording",
        description="Find the stochastic differential equation behind a recording and print it with error bars.",
        epilog="Example: itoscope discover run.csv --dt 0.001 --known-drift x1=x2 --library poly:3+sign",
        allow_abbrev=False,
    )
    add_settings(parser)
    add_data_options(parser)
    model = parser.add_argument_group("what is sought")
    model.add_argument(
        "--order", type=int, default=1, help="1: the columns are the states; 2: they are positions"
    )
    model.add_argument("--noise", default="0", metavar="SD", help="measurement noise: its sd, or estimate")
    model.add_argument(
        "--known-drift",
        action="append",
        default=[],
        metavar="X=EXPR",
        help="a known row, as x1=x2; may be repeated",
    )
    model.add_argument("--library", metavar="TERMS", help=LIBRARY_HELP)
    model.add_argument("--diffusion-library", metavar="TERMS", help="the same for the diffusion")
    model.add_argument("--diffusion", default="full", help="full, diagonal, constant or none (default: full)")
    fit = parser.add_argument_group("how it is sought")
    fit.add_argument("--scheme", default="trapezoid", help="trapezoid or euler (default: trapezoid)")
    fit.add_argument("--weights", choices=("auto", "none"), default="auto", help="weigh steps by their noise")
    fit.add_argument("--ensemble", default="pool", help="pool or mean (default: pool)")
    fit.add_argument("--sampler", default="gibbs", help="gibbs or exact (default: gibbs)")
    fit.add_argument(
        "--samples", type=int, default=2000, metavar="N", help="draws kept of each chain (default: 2000)"
    )
    fit.add_argument(
        "--burn", type=int, default=1000, metavar="N", help="draws thrown away before (default: 1000)"
    )
    fit.add_argument("--chains", type=int, default=4, metavar="N", help="chains (default: 4)")
    fit.add_argument(
        "--threshold", type=float, default=0.5, help="probability from which a term is in (default: 0.5)"
    )
    fit.add_argument("--seed", type=int, help="default: drawn, and kept in the result")
    fit.add_argument("--backend", choices=("rust", "reference"))
    fit.add_argument("--threads", type=int, default=0, metavar="N", help="threads (default: one per core)")
    out = parser.add_argument_group("what comes out")
    out.add_argument(
        "--json", action=argparse.BooleanOptionalAction, default=False, help="print JSON instead of text"
    )
    out.add_argument("--save", metavar="FILE", help="save the result; Discovery.load reads it")
    out.add_argument(
        "--report", metavar="FILE", help="write an HTML page with equations, checks and pictures"
    )
    out.add_argument("--quiet", action=argparse.BooleanOptionalAction, default=False, help="no progress")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, discover, print."""
    known = assignments("--known-drift", arguments.known_drift)
    library = library_of("--library", arguments.library)
    diffusion_library = library_of("--diffusion-library", arguments.diffusion_library)
    noise = noise_of(arguments.noise)
    data = data_of(arguments)
    if not arguments.json and not arguments.quiet:
        print(f"{data!r}\n")
        sys.stdout.flush()
    itoscope.set_threads(arguments.threads)
    result = itoscope.discover(
        data,
        library,
        order=arguments.order,
        measurement_noise=noise,
        diffusion_library=diffusion_library,
        diffusion=arguments.diffusion,
        known_drift=known or None,
        scheme=arguments.scheme,
        weights=None if arguments.weights == "none" else arguments.weights,
        ensemble=arguments.ensemble,
        sampler=arguments.sampler,
        n_chains=arguments.chains,
        n_samples=arguments.samples,
        n_burn=arguments.burn,
        threshold=arguments.threshold,
        seed=arguments.seed,
        backend=arguments.backend,
        progress=not arguments.quiet,
    )
    print(json.dumps(as_json(result), indent=2, allow_nan=False) if arguments.json else result)
    written = []
    if arguments.save is not None:
        written.append(result.save(arguments.save))
    if arguments.report is not None:
        result.report(arguments.report)
        written.append(arguments.report)
    if written and not (arguments.json or arguments.quiet):
        print(f"\nwritten: {', '.join(map(str, written))}")


def as_json(result: Discovery) -> dict[str, Any]:
    """Return what a program wants to know of a result: plain numbers, None where one is not finite."""
    return {
        "version": itoscope.__version__,
        "states": list(result.states),
        "equations": result.equations(),
        "drift": {row: _terms(equation) for row, equation in result.drift.items()},
        "known_drift": dict(result.known_drift),
        "diffusion": {f"{i},{j}": _terms(equation) for (i, j), equation in result.diffusion.items()},
        "measurement_noise": _plain(result.measurement_noise),
        "noise_levels": _plain(result.diagnostics.get("measurement_noise", {})),
        "warnings": list(result.warnings),
        "checks": _plain(result.diagnostics.get("checks", [])),
        "settings": _plain(result.settings),
        "data": _plain(result.data_summary),
    }


def _terms(equation: Equation) -> list[dict[str, Any]]:
    interval = equation.interval(0.95)
    return [
        {
            "term": term,
            "selected": bool(equation.selected[k]),
            "pip": _plain(equation.pip[k]),
            "mean": _plain(equation.mean[k]),
            "sd": _plain(equation.sd[k]),
            "interval": [_plain(end) for end in interval[k]],
        }
        for k, term in enumerate(equation.terms)
    ]


def _plain(value: Any) -> Any:
    """Return NumPy values as what JSON knows."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, int | float | str | bool | None) else str(value)
