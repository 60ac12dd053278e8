"""``itoscope simulate``: recordings of a benchmark problem, or of a model that was saved."""

from __future__ import annotations

import argparse
import inspect
import sys
from typing import TYPE_CHECKING, Any

from itoscope.cli.arguments import add_positional, add_settings, assignments, number, numbers
from itoscope.common.writing import try_outputs
from itoscope.data.formats import WRITTEN, write
from itoscope.data.text import write_csv
from itoscope.errors import ArgumentError, argument_error
from itoscope.problems import PROBLEMS, Problem
from itoscope.result.ensemble import best_scheme
from itoscope.sde.sde import SDE

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    names = ", ".join(PROBLEMS)
    parser = subparsers.add_parser(
        "simulate",
        help="simulate recordings of a system whose equation is known",
        description=f"Simulate recordings of a benchmark problem ({names}), or of a model that SDE.save wrote.",
        epilog="Example: itoscope simulate duffing --paths 20 --positions --noise 0.05 --out sensor.csv",
        allow_abbrev=False,
    )
    add_positional(parser, "problem", "one of the names above, or a .json file of a model")
    add_settings(parser)
    parser.add_argument("--paths", type=int, default=1, metavar="N", help="number of paths (default: 1)")
    parser.add_argument("--duration", type=number, default=1.0, help="of each path (default: 1)")
    parser.add_argument("--dt", type=number, default=1e-3, help="step between samples (default: 0.001)")
    parser.add_argument(
        "--substeps", type=int, default=10, metavar="N", help="steps of the scheme in dt (default: 10)"
    )
    parser.add_argument("--scheme", help="euler-maruyama, milstein or taylor15 (default: taylor15)")
    parser.add_argument("--seed", type=int, help="default: drawn, and printed")
    parser.add_argument("--x0", metavar="A,B,...", help="start of the paths (default: the problem's)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the problem; may be repeated",
    )
    parser.add_argument(
        "--positions",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="write positions alone, as a sensor sees them",
    )
    parser.add_argument(
        "--noise",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="measurement noise, as a share of the spread",
    )
    parser.add_argument(
        "--out", metavar="FILE", help=f"{', '.join(WRITTEN)} (default: CSV to standard output)"
    )
    parser.add_argument("--digits", type=int, default=17, help="significant digits in CSV (default: 17)")
    parser.add_argument("--backend", choices=("rust", "reference"))
    parser.add_argument(
        "--quiet", action=argparse.BooleanOptionalAction, default=False, help="no progress, no summary"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Simulate and write."""
    model = arguments.problem if arguments.problem.endswith(".json") else None
    try_outputs({"--out": arguments.out}, {"PROBLEM": model, "--settings": arguments.settings})
    settings: dict[str, Any] = {} if arguments.scheme is None else {"scheme": arguments.scheme}
    if arguments.x0 is not None:
        settings["x0"] = numbers("--x0", arguments.x0)
    for name in ("dt", "substeps", "seed", "backend"):
        settings[name] = getattr(arguments, name)
    settings |= {"n_paths": arguments.paths, "progress": not arguments.quiet}
    if arguments.problem.endswith(".json"):
        data = _of_model(arguments, settings)
    else:
        problem = problem_of(arguments.problem, arguments.set)
        data = problem.simulate(duration=arguments.duration, **settings)
    seed = data.seed
    if arguments.positions:
        data = data.positions(arguments.noise, seed)
    elif arguments.noise:
        data = data.add_noise(arguments.noise, seed=seed)
    if arguments.out is None:
        write_csv(data, sys.stdout, digits=arguments.digits)
    else:
        write(data, arguments.out, digits=arguments.digits)
    if not arguments.quiet:
        print(f"{data!r}, seed {seed}", file=sys.stderr if arguments.out is None else sys.stdout)


def _of_model(arguments: argparse.Namespace, settings: dict[str, Any]) -> Trajectories:
    """Simulate a model from its file."""
    sde = SDE.load(arguments.problem)
    if "x0" not in settings:
        raise ArgumentError(
            f"--x0: give where the paths start, one number for each of {', '.join(sde.states)}"
        )
    if arguments.set:
        raise argument_error("--set", arguments.set[0], "nothing: a model from a file has no parameters")
    settings.setdefault("scheme", best_scheme(sde))
    steps = round(arguments.duration / arguments.dt) if arguments.dt > 0 else 1
    return sde.simulate(settings.pop("x0"), n_steps=steps, **settings)


def problem_of(name: str, settings: list[str]) -> Problem:
    """Return the benchmark problem `name` with parameters ``NAME=VALUE``."""
    if name not in PROBLEMS:
        raise argument_error("PROBLEM", name, f"one of {', '.join(PROBLEMS)}")
    make = PROBLEMS[name]
    allowed = inspect.signature(make).parameters
    chosen: dict[str, Any] = {}
    for key, text in assignments("--set", settings).items():
        if key not in allowed:
            raise argument_error("--set", key, f"a parameter of {name}: {', '.join(allowed)}")
        values = numbers(f"--set {key}", text)
        whole = isinstance(allowed[key].default, int) and len(values) == 1 and values[0].is_integer()
        chosen[key] = values if len(values) > 1 else int(values[0]) if whole else values[0]
    return make(**chosen)
