"""``itoscope discover``: the equation behind a recording."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from typing import TYPE_CHECKING, Any

import itoscope
from itoscope.cli.arguments import (
    LIBRARY_HELP,
    add_data_options,
    add_settings,
    assignments,
    bounds_of,
    by_row,
    data_of,
    groups_of,
    inputs_of,
    library_of,
    names_of,
    noise_of,
    outer_words,
    parameters_of,
    prior_of,
    steps_of,
    terms_of,
)
from itoscope.cli.spelled import advised, options_of
from itoscope.cli.values import plain
from itoscope.common import checks
from itoscope.common.writing import try_outputs
from itoscope.data.bystanders import bystanders, said_of
from itoscope.fit.options import Options
from itoscope.show.storage import target_of

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories
    from itoscope.discovery.result import Discovery
    from itoscope.posterior.equation import Equation
    from itoscope.result.parameters import Estimate

__all__ = ["add"]

TOLD = ("states", "observed", "inputs", "known_drift", "known_diffusion")
"""Options with which somebody has said what the columns are."""

MOST_THREADS = 1024
"""More than any machine of one memory has cores."""


#: The options of `discover` as words of the shell: the word, the option, what the parser is told beside its default.
Word = tuple[str, str, dict[str, Any]]
SOUGHT: tuple[Word, ...] = (
    ("--order", "order", {"type": int, "help": "1: the columns are the states; 2: they are positions"}),
    (
        "--noise",
        "measurement_noise",
        {
            "action": "append",
            "metavar": "[COLUMN=]SD",
            "help": "measurement noise: its sd, or estimate; by column as laser=0.002, or gps=error where the column "
            "error has that of each sample; may be repeated",
        },
    ),
    (
        "--noise-law",
        "noise_law",
        {
            "metavar": "LAW",
            "help": "law of the noise: normal, student, or outliers, some readings far off; by column as gps=outliers",
        },
    ),
    (
        "--diffusion-law",
        "diffusion_law",
        {
            "metavar": "LAW",
            "help": "law of the noise of a step: normal, student, or jumps, some steps many times as wide; by row as "
            "v=student",
        },
    ),
    (
        "--noise-group",
        "noise_groups",
        {
            "action": "append",
            "metavar": "A,B[=R]",
            "help": "columns whose noises are correlated at one sample, as x,y; with their correlation, where it is "
            "known, as x,y=0.5; may be repeated",
        },
    ),
    (
        "--resolution",
        "resolution",
        {
            "action": "append",
            "metavar": "COLUMN=STEP",
            "help": "the step to whose multiples a column is rounded, as x=0.01; may be repeated",
        },
    ),
    (
        "--offset",
        "offset",
        {
            "action": "append",
            "metavar": "COLUMN=KIND",
            "help": "a column whose zero is not known: estimate, a constant, drift, or slow, as gauge=drift; may be "
            "repeated",
        },
    ),
    (
        "--states",
        "states",
        {
            "metavar": "A,B,...",
            "help": "all states, when some were not recorded; the columns bear names of others",
        },
    ),
    (
        "--sensor",
        "observed",
        {
            "action": "append",
            "metavar": "COLUMN=EXPR",
            "help": "what a column shows of the states, as gauge=x2-x1, cam=average(x1, 0.033), acc=acceleration(x1), "
            "phi=angle(x2); may be repeated",
        },
    ),
    (
        "--known-drift",
        "known_drift",
        {
            "action": "append",
            "metavar": "X=EXPR",
            "help": "a known row, as x1=x2, or a known part of one, as v1=-9.81+...; may be repeated",
        },
    ),
    (
        "--known-diffusion",
        "known_diffusion",
        {
            "action": "append",
            "metavar": "X=EXPR",
            "help": "noise of a known row, as u=0.04, or of a pair, as v1,u=0.1; may be repeated",
        },
    ),
    (
        "--input",
        "inputs",
        {
            "action": "append",
            "metavar": "COLUMN[=held]",
            "help": "a column that drives the motion and has no equation; straight between samples, or held; may be "
            "repeated",
        },
    ),
    (
        "--exclude",
        "exclude",
        {
            "action": "append",
            "metavar": "X=TERM,...",
            "help": "terms that a row may not have, as v1=1,x1^2; may be repeated",
        },
    ),
    (
        "--include",
        "include",
        {
            "action": "append",
            "metavar": "X=TERM,...",
            "help": "terms that a row has in every model, as v1=x1,v1; may be repeated",
        },
    ),
    (
        "--bounds",
        "bounds",
        {
            "action": "append",
            "metavar": "X=TERM<B,...",
            "help": "bounds of coefficients, as 'v1=x1<0,-3<v1<0'; may be repeated",
        },
    ),
    (
        "--vary",
        "vary",
        {
            "action": "append",
            "metavar": "X=TERM,...",
            "help": "terms whose coefficients differ by recording, as x1=1, or x1=1,trend; may be repeated",
        },
    ),
    (
        "--parameter",
        "parameters",
        {
            "action": "append",
            "metavar": "NAME=START",
            "help": "a number that known rows name, with its start, as a=1, or bounds too, as tau=0.01,0.1,10; may be "
            "repeated",
        },
    ),
    (
        "--symmetry",
        "symmetry",
        {
            "choices": ("rotation", "exchange", "odd"),
            "help": "rows with coefficients in common, or an odd drift",
        },
    ),
    (
        "--tie",
        "ties",
        {
            "action": "append",
            "metavar": "X=EXPR,...",
            "help": "one coefficient in several rows, as v1=x2-2*x1,v2=x1-x2; may be repeated",
        },
    ),
    ("--library", "library", {"metavar": "TERMS", "help": LIBRARY_HELP}),
    ("--diffusion-library", "diffusion_library", {"metavar": "TERMS", "help": "the same for the diffusion"}),
    (
        "--forcing",
        "forcing",
        {
            "metavar": "KIND",
            "help": "white, coloured (a force with a correlation time), peaked (one with a frequency) or memory[:N] "
            "(friction with a memory of N times); by row as v1=coloured",
        },
    ),
    (
        "--diffusion",
        "diffusion",
        {"metavar": "KIND", "help": "full, diagonal, constant or none; by row as x1=none,x2=constant"},
    ),
)
HOW: tuple[Word, ...] = (
    ("--scheme", "scheme", {"help": "auto, trapezoid, euler or filter"}),
    ("--weights", "weights", {"choices": ("auto", "none"), "help": "weigh steps by their noise"}),
    ("--ensemble", "ensemble", {"help": "pool or mean"}),
    ("--sampler", "sampler", {"help": "auto, gibbs or exact"}),
    ("--samples", "n_samples", {"type": int, "metavar": "N", "help": "draws kept of each chain"}),
    ("--burn", "n_burn", {"type": int, "metavar": "N", "help": "draws thrown away before"}),
    ("--chains", "n_chains", {"type": int, "metavar": "N", "help": "chains"}),
    ("--threshold", "threshold", {"type": float, "help": "probability from which a term is in"}),
    ("--max-rounds", "max_rounds", {"type": int, "metavar": "N", "help": "weight rounds at most"}),
    (
        "--weight-floor",
        "weight_floor",
        {"type": float, "help": "least share of the mean of a variance in a weight"},
    ),
    (
        "--prior",
        "prior",
        {"action": "append", "metavar": "NAME=NUMBER", "help": "a hyperparameter, as a_p=1; may be repeated"},
    ),
    ("--seed", "seed", {"type": int, "help": "default: drawn, and kept in the result"}),
    ("--backend", "backend", {"choices": ("rust", "reference")}),
)


def _told(option: str, told: dict[str, Any]) -> dict[str, Any]:
    """What the parser is told of an option: its default too, which is said where there is one."""
    default = [] if told.get("action") == "append" else getattr(Options, option)
    said = "" if default is None or default == [] else " (default: %(default)s)"
    return {**told, "dest": option, "default": default, "help": told.get("help", "") + said}


def flags(flag: str, option: str) -> list[str]:
    """The words of an option: that of the shell, and its name in Python."""
    return list(dict.fromkeys([flag, f"--{option.replace('_', '-')}"]))


def asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """The words of the shell as options of `discover`."""
    given = {option: getattr(arguments, option) for _, option, _ in (*SOUGHT, *HOW)}
    return {
        **given,
        "states": names_of(arguments.states),
        "observed": assignments("--observed", arguments.observed) or None,
        "prior": prior_of(arguments.prior),
        "known_drift": assignments("--known-drift", arguments.known_drift) or None,
        "known_diffusion": assignments("--known-diffusion", arguments.known_diffusion) or None,
        "inputs": inputs_of(arguments.inputs),
        "exclude": terms_of("--exclude", arguments.exclude),
        "include": terms_of("--include", arguments.include),
        "bounds": bounds_of("--bounds", arguments.bounds),
        "vary": terms_of("--vary", arguments.vary),
        "ties": [assignments("--tie", outer_words(word)) for word in arguments.ties] or None,
        "parameters": parameters_of("--parameter", arguments.parameters),
        "library": library_of("--library", arguments.library),
        "diffusion_library": library_of("--diffusion-library", arguments.diffusion_library),
        "diffusion": by_row("--diffusion", arguments.diffusion),
        "forcing": by_row("--forcing", arguments.forcing),
        "noise_law": by_row("--noise-law", arguments.noise_law),
        "diffusion_law": by_row("--diffusion-law", arguments.diffusion_law),
        "noise_groups": groups_of("--noise-group", arguments.noise_groups),
        "resolution": steps_of("--resolution", arguments.resolution),
        "offset": assignments("--offset", arguments.offset) or None,
        "measurement_noise": noise_of(arguments.measurement_noise),
        "weights": None if arguments.weights == "none" else arguments.weights,
        "progress": not arguments.quiet,
    }


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
    for title, words in (("what is sought", SOUGHT), ("how it is sought", HOW)):
        group = parser.add_argument_group(title)
        for flag, option, told in words:
            group.add_argument(*flags(flag, option), **_told(option, told))
    group.add_argument("--threads", type=int, default=0, metavar="N", help="threads (default: one per core)")
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
    options = asked(arguments)
    save = None if arguments.save is None else target_of(arguments.save)
    try_outputs(
        {"--save": save, "--report": arguments.report},
        {"FILE": arguments.file, "--settings": arguments.settings},
    )
    data = data_of(arguments)
    if not arguments.json and not arguments.quiet:
        print(f"{data!r}\n")
        sys.stdout.flush()
    itoscope.set_threads(checks.count("--threads", arguments.threads, 0, most=MOST_THREADS))
    if not any(options[name] for name in TOLD):
        _say_what_is_no_state(data, options["measurement_noise"])
    result = itoscope.discover(data, **options)
    print(json.dumps(as_json(result), indent=2, allow_nan=False) if arguments.json else result)
    if (mending := advised(result.advice, data)) and not arguments.json:
        print(f"\n  the advice as options: {'; '.join(mending)}")
    written = []
    if save is not None:
        written.append(result.save(save))
    if arguments.report is not None:
        result.report(arguments.report)
        written.append(arguments.report)
    if written and not (arguments.json or arguments.quiet):
        print(f"\nwritten: {', '.join(map(str, written))}")


def _say_what_is_no_state(data: Trajectories, noise: Any) -> None:
    """A warning on columns that are no states of the motion, before a search that takes them for some."""
    errors = set(noise.values()) if isinstance(noise, dict) else set()
    if beside := [one for one in bystanders(data) if one.name not in errors]:
        names = [name for name in data.names if name not in dict(beside)]
        (option,) = options_of({"select": names}, data)
        warnings.warn(f"{'; '.join(said_of(beside))}: {option} leaves out what is no state", stacklevel=2)


def as_json(result: Discovery) -> dict[str, Any]:
    """Return what a program wants to know of a result: plain numbers, None where one is not finite."""
    return {
        "version": itoscope.__version__,
        "states": list(result.states),
        "equations": result.equations(),
        "inputs": list(result.inputs),
        "drift": {row: _terms(equation) for row, equation in result.drift.items()},
        "known_drift": dict(result.known_drift),
        "parameters": {name: _parameter(one) for name, one in result.parameters.items()},
        "diffusion": {f"{i},{j}": _terms(equation) for (i, j), equation in result.diffusion.items()},
        "measurement_noise": plain(result.measurement_noise),
        "noise_levels": plain(result.diagnostics.get("measurement_noise", {})),
        "noise_correlation": plain(result.diagnostics.get("noise_correlation", [])),
        "symmetry": plain(result.diagnostics.get("symmetry", {})),
        "varying": plain(result.diagnostics.get("varying", {})),
        "outliers": [plain(outlier._asdict()) for outlier in result.outliers],
        "diffusion_law": plain(result.diagnostics.get("diffusion_law", {})),
        "jumps": [plain(jump._asdict()) for jump in result.jumps],
        "warnings": list(result.warnings),
        "advice": [plain(advice.as_dict()) for advice in result.advice],
        "checks": plain(result.diagnostics.get("checks", [])),
        "settings": plain(result.settings),
        "data": plain(result.data_summary),
    }


def _parameter(found: Estimate) -> dict[str, Any]:
    return {
        "mean": plain(found.mean),
        "sd": plain(found.sd),
        "interval": [plain(end) for end in found.interval(0.95)],
    }


def _terms(equation: Equation) -> list[dict[str, Any]]:
    interval = equation.interval(0.95)
    return [
        {
            "term": term,
            "selected": bool(equation.selected[k]),
            "pip": plain(equation.pip[k]),
            "mean": plain(equation.mean[k]),
            "sd": plain(equation.sd[k]),
            "interval": [plain(end) for end in interval[k]],
        }
        for k, term in enumerate(equation.terms)
    ]
