"""Every problem with a fully measured state, over many seeds: one table of terms found, errors and coverage.

    python benches/accuracy/measured.py [--quick] [--seeds 20] [--case NAME ...] [--out table.txt]

Data come from the strong Taylor 1.5 scheme with substeps, never from the estimator's own step.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itoscope as ito
from score import Score

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Case:
    """A problem, how it is recorded, and with which library it is discovered."""

    problem: Callable[[], Any]
    recording: dict[str, Any]
    library: ito.Library | None = None
    settings: dict[str, Any] = field(default_factory=dict)


poly = ito.Library.polynomials
CASES = {
    "black-scholes": Case(
        ito.problems.black_scholes, {"duration": 1.0, "dt": 1e-3, "n_paths": 500, "substeps": 10}, poly(6)
    ),
    "black-scholes with |x|": Case(
        ito.problems.black_scholes,
        {"duration": 1.0, "dt": 1e-3, "n_paths": 500, "substeps": 10},
        poly(6) + ito.Library.absolute() + ito.Library.abs_products(),
    ),
    "duffing-van der pol": Case(
        ito.problems.duffing_van_der_pol, {"duration": 1.0, "dt": 1e-3, "n_paths": 200, "substeps": 50}
    ),
    "two-storey building": Case(
        ito.problems.two_storey_building, {"duration": 1.0, "dt": 1e-3, "n_paths": 200, "substeps": 50}
    ),
    "linear, correlated noise": Case(
        ito.problems.ornstein_uhlenbeck_2d, {"duration": 20.0, "dt": 1e-2, "n_paths": 50, "substeps": 20}, poly(3)
    ),
    "double well": Case(
        ito.problems.double_well, {"duration": 100.0, "dt": 1e-2, "n_paths": 10, "substeps": 20}, poly(5)
    ),
    "lorenz 63": Case(
        ito.problems.lorenz63, {"duration": 10.0, "dt": 2e-3, "n_paths": 10, "substeps": 20}, poly(3)
    ),
    "ornstein-uhlenbeck": Case(
        ito.problems.ornstein_uhlenbeck, {"duration": 100.0, "dt": 1e-2, "n_paths": 10, "substeps": 20}, poly(5)
    ),
    "van der pol": Case(
        ito.problems.van_der_pol, {"duration": 20.0, "dt": 5e-3, "n_paths": 20, "substeps": 20}
    ),
}  # fmt: skip


def run(case: Case, seeds: range, backend: str | None = None) -> Score:
    """Score a case over seeds."""
    problem, score = case.problem(), Score()
    for seed in seeds:
        data = problem.simulate(**case.recording, seed=seed, scheme="taylor15")
        start = time.perf_counter()
        result = ito.discover(
            data, case.library, known_drift=problem.known_drift, seed=seed, backend=backend, **case.settings
        )
        score.add(result, problem, data, time.perf_counter() - start)
    return score


def main() -> None:
    """Parse the command line, run, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three seeds of each case")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--case", nargs="*", default=list(CASES))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    n = 3 if options.quick else options.seeds
    lines: list[str] = []
    for name in options.case:
        score = run(CASES[name], range(options.first, options.first + n))
        lines += [score.summary(name), *score.rows()]
        for kind in ("missed", "false"):
            tally = getattr(score, kind)
            if tally:
                lines.append(f"    {kind}: " + ", ".join(f"{k[0]}: {k[1]} x{v}" for k, v in tally.items()))
        for warning in sorted(set(score.warnings))[:3]:
            lines.append(f"    warned: {warning}")
        print("\n".join(lines[lines.index(score.summary(name)) :]), flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
