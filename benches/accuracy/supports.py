"""Are the terms of the benchmark systems found, and where they are not, could anybody have found them?

    python benches/accuracy/supports.py [--case building ...] [--seeds 20] [--first 1]

For every recording whose terms are not exactly the true ones: the log evidence of what is shown over that of the truth,
in each equation that differs, and the mass that the truth had. Where it is above zero the data themselves speak for the
other set of terms. "Expected" is how many equations are to be lost by the masses of what was shown, if these are right.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.posterior.columns import sound

poly = ito.Library.polynomials
SHORT = {"duration": 1.0, "dt": 1e-3, "n_paths": 200}
CASES: dict[str, tuple[Any, dict[str, Any], ito.Library | None]] = {
    "black-scholes": (ito.problems.black_scholes, SHORT | {"n_paths": 500, "substeps": 10}, poly(6)),
    "duffing": (ito.problems.duffing_van_der_pol, SHORT | {"substeps": 50}, None),
    "building": (ito.problems.two_storey_building, SHORT | {"substeps": 20}, None),
    "linear": (
        ito.problems.ornstein_uhlenbeck_2d,
        {"duration": 20.0, "dt": 0.01, "n_paths": 50, "substeps": 20},
        poly(3),
    ),
    "double well": (
        ito.problems.double_well,
        {"duration": 100.0, "dt": 0.01, "n_paths": 10, "substeps": 20},
        poly(5),
    ),
    "lorenz": (ito.problems.lorenz63, {"duration": 10.0, "dt": 2e-3, "n_paths": 10, "substeps": 20}, poly(3)),
}


class Lost(NamedTuple):
    """An equation whose terms are not the true ones: what is shown in place of what, by how much more evidence."""

    label: str
    more: tuple[str, ...]
    less: tuple[str, ...]
    above: float
    mass: float


class Found(NamedTuple):
    """What one recording gave: equations that are lost, and how many are to be by the masses of what is shown."""

    seed: int
    lost: list[Lost]
    expected: float


def true_terms(problem: Any, label: str) -> set[str]:
    """The terms of an equation, `dx1` or `Gamma[x1, x2]`, that are not zero."""
    if label.startswith("Gamma"):
        a, b = label[6:-1].split(", ")
        table = problem.truth["diffusion"]
        found = table.get((a, b), table.get((b, a), {}))
    else:
        found = problem.truth["drift"][label[1:]]
    return {term for term, value in found.items() if value}


def one(task: tuple[str, int]) -> Found:
    """What is found of a recording."""
    name, seed = task
    warnings.simplefilter("ignore")
    make, recording, library = CASES[name]
    problem = make()
    data = problem.simulate(seed=seed, scheme="taylor15", **recording)
    result = ito.discover(data, library, known_drift=problem.known_drift, seed=seed)
    lost, expected = [], 0.0
    for label, equation in result.labelled():
        shown = {t for t, s in zip(equation.terms, equation.selected) if s}
        truth = true_terms(problem, label)
        masses = {frozenset(terms): mass for terms, mass in equation.leading(200)}
        expected += 1 - masses.get(frozenset(shown), 0.0)
        if shown != truth:
            assert equation.moments is not None
            assert equation.prior is not None
            moments = sound(equation.moments)
            heights = [
                get_backend().model_posterior(
                    moments, equation.prior, np.array([t in s for t in equation.terms])
                )[0]
                for s in (shown, truth)
            ]
            more, less = tuple(sorted(shown - truth)), tuple(sorted(truth - shown))
            lost.append(Lost(label, more, less, heights[0] - heights[1], masses.get(frozenset(truth), 0.0)))
    return Found(seed, lost, expected)


def told(found: list[Found]) -> str:
    """How many recordings are lost, how many equations were to be, and each that is."""
    lost = [one for one in found if one.lost]
    lines = [
        f"all terms exact in {len(found) - len(lost)} of {len(found)}; expected to be lost by the masses "
        f"{sum(one.expected for one in found):.2f} equations"
    ]
    for one_ in lost:
        for each in one_.lost:
            lines.append(
                f"    seed {one_.seed}, {each.label}: {', '.join(each.more) or 'nothing'} for "
                f"{', '.join(each.less) or 'nothing'}; log evidence above the truth's by {each.above:.2f}, whose "
                f"mass is {each.mass:.2f}"
            )
    return "\n".join(lines)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    ito.set_threads(1)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    with ProcessPoolExecutor(arguments.workers) as pool:
        for name in arguments.case:
            print(f"{name}: {told(list(pool.map(one, [(name, seed) for seed in seeds])))}", flush=True)


if __name__ == "__main__":
    main()
