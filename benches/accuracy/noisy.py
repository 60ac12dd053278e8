"""Noisy and partly seen recordings over many seeds: terms found, errors, coverage, noise level, time.

    python benches/accuracy/noisy.py [--quick] [--seeds 10] [--first 1] [--case NAME ...] [--out table.txt]

True paths come from fine steps of a strong scheme; noise, gaps and uneven steps are put on afterwards.
"""

from __future__ import annotations

import argparse
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Case:
    """A problem, how it is recorded, and how it is discovered."""

    problem: Callable[[], Any]
    recording: dict[str, Any]
    noise: float
    order: int = 2
    library: ito.Library | None = None
    missing: float = 0.0
    uneven: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


duffing = ito.problems.duffing_van_der_pol
records = {"duration": 1.0, "dt": 1e-3, "n_paths": 200, "substeps": 50}
poly = ito.Library.polynomials
CASES = {
    "duffing, no noise": Case(duffing, records, 0.0),
    "duffing, 1 %": Case(duffing, records, 0.01),
    "duffing, 5 %": Case(duffing, records, 0.05),
    "duffing, 5 %, 30 % missing": Case(duffing, records, 0.05, missing=0.3),
    "duffing, 5 %, uneven": Case(duffing, records, 0.05, uneven=True),
    "duffing, 5 %, one record": Case(duffing, records | {"n_paths": 1}, 0.05),
    "building, 5 %": Case(
        ito.problems.two_storey_building, records, 0.05, library=poly(1) + ito.Library.sign()
    ),
    "building, 5 %, K = 59": Case(ito.problems.two_storey_building, records, 0.05),
    "ornstein-uhlenbeck, 10 %": Case(
        ito.problems.ornstein_uhlenbeck, {"duration": 100.0, "dt": 1e-2, "n_paths": 10, "substeps": 20}, 0.1, 1, poly(3)
    ),
    "double well, 10 %": Case(
        ito.problems.double_well, {"duration": 100.0, "dt": 1e-2, "n_paths": 20, "substeps": 20}, 0.1, 1, poly(5)
    ),
}  # fmt: skip
QUICK = ["duffing, 5 %, one record", "ornstein-uhlenbeck, 10 %", "double well, 10 %"]


def record(case: Case, problem: Any, seed: int) -> tuple[ito.Trajectories, list[float]]:
    """What the sensor sees, and the standard deviation of its noise in each channel."""
    rng = np.random.default_rng(seed)
    data = problem.simulate(**case.recording, seed=seed, scheme="taylor15")
    if case.order == 2:
        data = data.positions()
    paths, times = [np.array(x) for x in data.paths], [np.array(t) for t in data.times]
    if case.uneven:
        keep = [np.sort(rng.choice(len(t), int(0.7 * len(t)), replace=False)) for t in times]
        paths, times = [x[k] for x, k in zip(paths, keep)], [t[k] for t, k in zip(times, keep)]
    levels = case.noise * np.concatenate(paths).std(axis=0)
    paths = [x + levels * rng.standard_normal(x.shape) for x in paths]
    for x in paths:
        x[rng.random(x.shape) < case.missing] = np.nan
    return ito.Trajectories(paths, t=times, names=list(data.names)), levels.tolist()


def truth(problem: Any, order: int) -> dict[tuple[str, str], float]:
    """True coefficients by equation and term, velocities renamed as `discover` names them."""
    rename = {}
    if order == 2:
        rename = {v: f"v{i + 1}" for i, v in enumerate(problem.known_drift.values())}

    def named(text: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda m: rename.get(m[0], m[0]), text)

    out = {}
    for state, terms in problem.truth["drift"].items():
        if state not in problem.known_drift:
            out |= {(f"d{named(state)}", named(term)): value for term, value in terms.items() if value}
    for (a, b), terms in problem.truth["diffusion"].items():
        if not {a, b} & set(problem.known_drift):
            key = f"Gamma[{named(a)}, {named(b)}]"
            out |= {(key, named(term)): value for term, value in terms.items() if value}
    return out


def run(name: str, case: Case, seeds: range) -> list[str]:
    """Run a case over seeds and describe what came out."""
    problem = case.problem()
    true = truth(problem, case.order)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in true}
    false: dict[tuple[str, str], int] = {}
    exact, seconds, cpu, levels, inside, converged = 0, [], [], [], [], 0
    for seed in seeds:
        data, noise = record(case, problem, seed)
        start, work = time.perf_counter(), time.process_time()
        result = ito.discover(
            data, case.library, order=case.order, measurement_noise="estimate", seed=seed, **case.settings
        )
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - work)
        equations = {f"d{state}": equation for state, equation in result.drift.items()}
        equations |= {f"Gamma[{a}, {b}]": equation for (a, b), equation in result.diffusion.items()}
        right = True
        for label, equation in equations.items():
            for k in np.flatnonzero(equation.selected):
                key = (label, equation.terms[k])
                if key in true:
                    found[key].append((float(equation.mean[k]), float(equation.sd[k])))
                else:
                    false[key] = false.get(key, 0) + 1
                    right = False
        right = right and all(
            equations[label].selected[equations[label].terms.index(term)] for label, term in true
        )
        exact += right
        converged += result.diagnostics["converged"]
        for level, entry in zip(noise, result.diagnostics["measurement_noise"].values()):
            levels.append(entry["sd"] / level - 1 if level else entry["sd"])
            inside.append(entry["low"] <= level <= entry["high"])
        print(f"  {name} seed {seed}: exact {right}, {seconds[-1]:.1f} s, cpu {cpu[-1]:.1f} s", flush=True)
    hits = [abs(m - true[key]) < 1.96 * sd for key, values in found.items() for m, sd in values]
    lines = [
        f"{name:<28} exact {exact}/{len(seeds)}  converged {converged}/{len(seeds)}  95 % intervals hold "
        f"{np.mean(hits):.2f} of {len(hits)}  noise level off by {np.max(np.abs(levels)):.2g} at most, held "
        f"{np.mean(inside):.2f}  {np.median(seconds):.1f} s (cpu {np.median(cpu):.1f} s)"
    ]
    for (label, term), values in found.items():
        if values:
            mean, sd = np.array(values).T
            z = (mean - true[label, term]) / sd
            worst = np.max(np.abs(mean / true[label, term] - 1))
            lines.append(
                f"    {label:>14} {term:<8} true {true[label, term]:<9.6g} found {len(values)}/{len(seeds)}  mean "
                f"{mean.mean():.6g}  sd {sd.mean():.2g}  worst {100 * worst:.1f} %  z {z.mean():+.2f} sd {z.std():.2f}"
            )
        else:
            lines.append(f"    {label:>14} {term:<8} true {true[label, term]:<9.6g} found 0/{len(seeds)}")
    lines += [f"    false: {label} {term} x{count}" for (label, term), count in false.items()]
    return lines


def main() -> None:
    """Parse the command line, run, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two seeds of the small cases")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--case", nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cases = options.case or (QUICK if options.quick else list(CASES))
    count = 2 if options.quick else options.seeds
    table: list[str] = []
    for name in cases:
        lines = run(name, CASES[name], range(options.first, options.first + count))
        print("\n".join(lines), flush=True)
        table += lines
        if options.out:
            options.out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
