"""itoscope beside PySINDy, StochasticForceInference and kramersmoyal on the same data: one table.

    python benches/peers/discovery.py [--quick] [--seeds 3] [--case NAME ...] [--method WORD ...] [--out table.md]

The peers are installed from PyPI into an environment of their own (`--env`, by default target/peers), once. Each
method runs in a process of its own, in its own package's way; the runners beside this file say with which settings.
What is compared: terms found, error of found coefficients over their Cramer-Rao limit (over the truth where samples
are noisy), coverage of 95 % intervals, the drift as a curve, CPU seconds (imports left out, compilation not), memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import itoscope as ito
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "accuracy"))
from score import cramer_rao  # noqa: E402

PEERS = ["pysindy[sbr]==2.1.0", "stochasticforceinference==2.0.4", "kramersmoyal==0.4.1"]
METHODS = {
    "itoscope": ("run_itoscope.py", "itoscope"),
    "PySINDy STLSQ, threshold chosen knowing the truth": ("run_pysindy.py", "stlsq"),
    "PySINDy ensemble, the same threshold grid": ("run_pysindy.py", "ensemble"),
    "PySINDy SBR": ("run_pysindy.py", "sbr"),
    "SFI linear, PASTIS": ("run_sfi.py", "linear"),
    "SFI parametric, PASTIS": ("run_sfi.py", "parametric"),
    "kramersmoyal": ("run_kramersmoyal.py", "kramersmoyal"),
}
CPU_LIMIT = 120


@dataclass
class Setting:
    """A system, how it is recorded, and how much noise the sensor adds, as a share of the spread."""

    problem: Any
    recording: dict[str, Any]
    degree: int
    noise: float = 0.0
    order: int = 1


def cases() -> dict[str, Setting]:
    """The cases of the table."""
    well = ito.problems.double_well()
    long = {"duration": 500.0, "dt": 0.01, "n_paths": 1, "substeps": 10}
    return {
        "double well, exact samples": Setting(well, long, 5),
        "double well, 5 % noise": Setting(well, long, 5, 0.05),
        "two states, correlated noise": Setting(
            ito.problems.ornstein_uhlenbeck_2d(), {"duration": 20.0, "dt": 0.01, "n_paths": 25, "substeps": 10}, 3
        ),
        "Duffing-Van der Pol, displacement alone, 5 % noise": Setting(
            ito.problems.duffing_van_der_pol(), {"duration": 1.0, "dt": 1e-3, "n_paths": 50, "substeps": 50}, 3, 0.05, 2
        ),
    }  # fmt: skip


@dataclass
class Tally:
    """What one method in one case adds up over the seeds."""

    runs: int = 0
    failed: list[str] = field(default_factory=list)
    exact: dict[str, int] = field(default_factory=lambda: {"drift": 0, "diffusion": 0})
    missed: int = 0
    false: int = 0
    relative: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    curve: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    terms: bool = True


def environment(folder: Path) -> Path:
    """The peers' Python, installed if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def write(setting: Setting, seed: int, file: Path) -> tuple[Any, dict[str, Any]]:
    """Simulate, add noise, write the case for the runners; return the exact data and the case's truth."""
    problem = setting.problem
    exact = problem.simulate(**setting.recording, seed=seed)
    seen = exact if setting.order == 1 else exact.positions()
    if setting.noise:
        seen = seen.add_noise(setting.noise, seed=seed)
    names = list(exact.names)
    # The order of the states that second-order inference uses: positions, then velocities.
    positions = list(problem.known_drift)
    states = positions + [problem.known_drift[p] for p in positions] if setting.order == 2 else names
    rows = [s for s in states if s not in problem.known_drift]
    truth = {
        "drift": {s: {t: c for t, c in problem.truth["drift"][s].items() if c} for s in rows},
        "diffusion": {",".join(k): dict(v) for k, v in problem.truth["diffusion"].items()},
    }
    every = np.concatenate(exact.paths)
    points = every[:: max(1, len(every) // 500)][:, [names.index(s) for s in states]]
    np.savez(
        file, paths=np.stack(seen.paths), dt=exact.dt, order=setting.order, degree=setting.degree, states=states,
        rows=rows, noise=setting.noise > 0, truth=json.dumps(truth), points=points,
    )  # fmt: skip
    return exact, {
        "truth": truth,
        "states": states,
        "rows": rows,
        "points": points,
        "noisy": setting.noise > 0,
    }


def judge(tally: Tally, answer: dict[str, Any], case: dict[str, Any], limits: dict[Any, float]) -> None:
    """Add one answer to the tally."""
    tally.runs += 1
    tally.seconds.append(answer["seconds"])
    tally.megabytes.append(answer["megabytes"])
    tally.curve.append(_curve(answer, case))
    if "drift at points" in answer:
        tally.terms = False
        return
    # itoscope calls velocities v1, ...: back to the names of the case.
    names = dict(zip(answer.get("states", case["states"]), case["states"]))
    for kind in ("drift", "diffusion"):
        found = {
            _renamed(k, names): {_renamed(t, names): v for t, v in e.items()} for k, e in answer[kind].items()
        }
        answer[kind] = found
        exact = True
        for row in {*case["truth"][kind], *found}:
            true, mine = case["truth"][kind].get(row, {}), found.get(row, {})
            exact &= set(true) == set(mine)
            tally.missed += len(set(true) - set(mine))
            tally.false += len(set(mine) - set(true))
            for term in set(true) & set(mine):
                value, sd = mine[term]
                key = row if kind == "drift" else tuple(row.split(","))
                # With noise on the samples the limit of exact ones says little: the truth itself is the yardstick.
                limit = abs(true[term]) if case["noisy"] else limits.get((kind, key, term))
                if limit:
                    tally.relative.append((value - true[term]) / limit)
                if sd:
                    tally.covered.append(abs(value - true[term]) <= 1.96 * sd)
        tally.exact[kind] += exact


def _renamed(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def _curve(answer: dict[str, Any], case: dict[str, Any]) -> float:
    """Root mean square error of the drift over the data, as a share of its root mean square."""
    truth = case["truth"]["drift"]
    error = size = 0.0
    for row in case["rows"]:
        exact = _values(truth[row], case)
        if "drift at points" in answer:
            mine = np.asarray(answer["drift at points"])
        else:
            names = dict(zip(answer.get("states", case["states"]), case["states"]))
            found = {_renamed(k, names): e for k, e in answer["drift"].items()}[row]
            mine = _values({_renamed(t, names): v[0] for t, v in found.items()}, case)
        error += float(np.nansum((mine - exact) ** 2))
        size += float(np.sum(exact**2))
    return float(np.sqrt(error / size))


def _values(terms: dict[str, float], case: dict[str, Any]) -> np.ndarray:
    if not terms:
        return np.zeros(len(case["points"]))
    u = ito.Library.expressions(*terms).evaluate(case["points"], case["states"])
    return u @ np.array(list(terms.values()))


def row(method: str, tally: Tally) -> list[str]:
    """Cells of one line of the table."""
    if not tally.runs:
        return [method, "-", "-", "-", "-", "-", "-", "-", "-", "; ".join(sorted(set(tally.failed)))]
    share = "-" if not tally.covered else f"{np.mean(tally.covered):.2f} of {len(tally.covered)}"
    terms = (
        [
            f"{tally.exact['drift']}/{tally.runs}",
            f"{tally.exact['diffusion']}/{tally.runs}",
            f"{tally.missed}",
            f"{tally.false}",
            f"{np.sqrt(np.mean(np.square(tally.relative))):.3g}" if tally.relative else "-",
            share,
        ]
        if tally.terms
        else ["no terms", "", "", "", "", ""]
    )
    return [
        method, *terms, f"{100 * np.mean(tally.curve):.1f} %", f"{np.median(tally.seconds):.1f}",
        f"{np.median(tally.megabytes):.0f}" + (f" ({len(tally.failed)} failed)" if tally.failed else ""),
    ]  # fmt: skip


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 5))


HEAD = [
    "method", "drift exact", "diffusion exact", "missed", "false", "error / CR, or / truth", "95 % covers",
    "drift curve", "CPU s", "MB",
]  # fmt: skip


def compare(name: str, setting: Setting, seeds: range, python: Path, methods: list[str]) -> list[str]:
    """Some methods on one case, as lines of Markdown."""
    tallies = {
        method: Tally()
        for method in methods
        if method != "kramersmoyal" or len(setting.problem.sde.states) == 1
    }
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            source, target = Path(folder) / "case.npz", Path(folder) / "answer.json"
            exact, case = write(setting, seed, source)
            limits = cramer_rao(setting.problem, exact)
            for method, tally in tallies.items():
                script, word = METHODS[method]
                runner = sys.executable if script == "run_itoscope.py" else str(python)
                command = [runner, str(HERE / script), word, str(source), str(target)]
                target.unlink(missing_ok=True)
                try:
                    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=_limited)
                    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                        raise RuntimeError(f"over {CPU_LIMIT} s of CPU")
                    if done.returncode or not target.exists():
                        raise RuntimeError((done.stderr.strip().splitlines() or ["no answer"])[-1][:120])
                    judge(tally, json.loads(target.read_text()), case, limits)
                except RuntimeError as problem:
                    tally.failed.append(str(problem))
                print(f"{name}, seed {seed}: {' | '.join(row(method, tally))}", file=sys.stderr, flush=True)
    lines = [f"### {name}", "", "| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    lines += ["| " + " | ".join(row(method, tally)) + " |" for method, tally in tallies.items()]
    return [*lines, ""]


def main() -> None:
    """Parse the command line, run, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--case", nargs="*", default=list(cases()))
    parser.add_argument("--method", nargs="*", default=[""], help="those whose name holds one of these words")
    parser.add_argument("--env", type=Path, default=HERE.parents[1] / "target" / "peers")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    python = environment(options.env)
    n = 1 if options.quick else options.seeds
    lines = []
    for name in options.case:
        methods = [method for method in METHODS if any(word in method for word in options.method)]
        lines += compare(name, cases()[name], range(options.first, options.first + n), python, methods)
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
