"""Mutants: the package with one thing wrong, each of which a quick test must notice.

    python tools/mutants.py             # all in Python
    python tools/mutants.py doubt PIP   # those whose name holds one of these words
    python tools/mutants.py --rust      # those of the Rust core, compiled in a copy

A mutant is a copy of the package in a temporary folder with one text replaced by another; the tests that are named for
it run against the copy and have to fail. The same tests have to pass on a copy without any change.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 600
EXACT = "tests/statistics/test_exact_filter.py"
COVARIANCE = "cov[a, b] = maximum.cov_of("
CHECK = """    sentence: str
    reason: str
"""


@dataclass(frozen=True)
class Mutant:
    """What is wrong: in `file` of the package, or of the Rust core, `old` becomes `new`; `tests` notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def silent(check: str, *tests: str) -> Mutant:
    """The check of this name never fires."""
    never = f"""
    def __post_init__(self) -> None:
        if self.name == {check!r}:
            object.__setattr__(self, "fired", False)
"""
    return Mutant(f"silent: {check}", "checks/check.py", CHECK, CHECK + never, tests)


SCORES, CHECKS = "tests/checks/test_scores.py", "tests/checks/test_check.py"
MEASURED, AGAIN = "tests/checks/test_measured.py", "tests/checks/test_again.py"
STRENGTHS, SIMULATED = "tests/checks/test_strengths.py", "tests/checks/test_simulated.py"
BEYOND, STILL = "tests/checks/test_beyond.py", "tests/checks/test_still.py"

MUTANTS = (
    Mutant(
        "noisy sd times 3",
        "fit/filtered/equations.py",
        COVARIANCE,
        "cov[a, b] = 9.0 * maximum.cov_of(",
        (EXACT,),
    ),
    Mutant(
        "noisy sd halved",
        "fit/filtered/equations.py",
        COVARIANCE,
        "cov[a, b] = 0.25 * maximum.cov_of(",
        (EXACT,),
    ),
    Mutant(
        "noisy PIPs inverted",
        "fit/filtered/equations.py",
        'models.probabilities("drift", len(among.all_drift)),',
        '1.0 - models.probabilities("drift", len(among.all_drift)),',
        (EXACT,),
    ),
    Mutant(
        "self_check always consistent",
        "discovery/selfcheck.py",
        '"consistent": worst < FAR and not any(look.fired for look in looks),',
        '"consistent": True,',
        ("tests/discovery/test_self_check.py",),
    ),
    Mutant(
        "doubt left out, noisy",
        "fit/filtered/doubt.py",
        "    if mass[0] > SURE:",
        "    if mass[0] >= 0:",
        ("tests/fit/filtered/test_doubt.py",),
    ),
    Mutant(
        "doubt left out, measured",
        "posterior/equation.py",
        "        return bool(self._masses(1)[1][0] < DOUBT)",
        "        return False",
        ("tests/posterior/test_doubt.py",),
    ),
    Mutant(
        "Gamma's weights without their floor",
        "fit/measured/rounds.py",
        "        if row in measured.noisy:\n            coef[place]",
        "        if row in ():\n            coef[place]",
        ("tests/fit/measured/test_rounds.py",),
    ),
    Mutant(
        "weight floor 0",
        "fit/measured/rounds.py",
        "measured.floor * means.get((row, row), 0.0)",
        "0.0 * means.get((row, row), 0.0)",
        ("tests/fit/measured/test_rounds.py",),
    ),
    Mutant(
        "cross terms of Milstein halved",
        "backends/reference/expansion.py",
        "lambda h, dw, dz: dw[i] * dw[j]",
        "lambda h, dw, dz: dw[i] * dw[j] / 2",
        ("tests/statistics/test_orders.py",),
    ),
    silent("given row", MEASURED),
    silent("time step", MEASURED),
    silent("rounds", MEASURED),
    silent("diffusion found", MEASURED),
    silent("residual mean", MEASURED),
    silent("positive covariance", MEASURED),
    silent("variance floor", MEASURED),
    silent("innovation mean", CHECKS),
    silent("innovation variance", CHECKS),
    silent("jumps", CHECKS),
    silent("whiteness", CHECKS),
    silent("slow scales", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("drift terms", f"{SCORES}::test_a_term_that_was_left_out_is_named"),
    silent("drift shape", f"{SCORES}::test_a_double_well_fitted_by_a_line_is_seen"),
    silent("trend", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("memory", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("drift of halves", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("drift of paths", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("noise terms", f"{SCORES}::test_a_term_that_was_left_out_is_named"),
    silent("noise shape", f"{SCORES}::test_a_state_dependent_noise_fitted_as_constant_is_seen"),
    silent("noise of halves", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("noise of paths", f"{SCORES}::test_what_is_wrong_on_slow_scales_is_seen"),
    silent("drift form", STRENGTHS),
    silent("strength of halves", STRENGTHS),
    silent("strength of paths", STRENGTHS),
    silent("strength before", STRENGTHS),
    silent("same drift", AGAIN),
    silent("same noise", AGAIN),
    silent("explosions", SIMULATED),
    silent("spread", SIMULATED),
    silent("extremes", SIMULATED),
    silent("spectrum", SIMULATED),
    silent("row noise", MEASURED, "tests/fit/measured/test_still.py"),
    silent("slight terms", "tests/fit/measured/test_still.py", "tests/fit/test_deterministic_rows.py"),
    silent("row residual", STILL),
    silent("step bias", STILL),
    silent("kinks", "tests/checks/test_kinks.py"),
    silent("stationary law", BEYOND),
    silent("outward drift", BEYOND),
)

RUST = (
    Mutant(
        "cross terms of Milstein halved in the core",
        "simulate/milstein.rs",
        "                if i == j {\n                    let excess = c.graph.subtract(integral, h);",
        "                if i != j {\n                    integral = c.graph.multiply(half, integral);\n"
        "                } else {\n                    let excess = c.graph.subtract(integral, h);",
        ("integrators",),
    ),
)


def changed(folder: Path, mutant: Mutant | None) -> None:
    """Make the change in a copy; a text that is not there once is an error of this file."""
    if mutant is None:
        return
    path = folder / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(
            f"{mutant.name}: {mutant.file} has the text to replace {text.count(mutant.old)} times"
        )
    path.write_text(text.replace(mutant.old, mutant.new))


def in_python(mutant: Mutant | None, tests: tuple[str, ...]) -> int:
    """Exit code of pytest on a copy of the package."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, "itoscope")
        shutil.copytree(ROOT / "python" / "itoscope", copy, ignore=shutil.ignore_patterns("__pycache__"))
        changed(copy, mutant)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1"}
        return _run(command, environment)


def in_rust(mutant: Mutant | None, tests: tuple[str, ...]) -> int:
    """Exit code of a test of the core in a copy of the workspace."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("rust", "benches", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, Path(place, name))
            elif source.exists():
                shutil.copy(source, place)
        changed(Path(place, "rust", "core", "src"), mutant)
        target = os.environ.get("CARGO_TARGET_DIR", str(Path(place, "target")))
        chosen = [word for test in tests for word in ("--test", test)]
        command = ["cargo", "test", "--quiet", "--manifest-path", str(Path(place, "Cargo.toml")), *chosen]
        return _run(command, os.environ | {"CARGO_TARGET_DIR": target})


def _run(command: list[str], environment: dict[str, str]) -> int:
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS)
    return done.returncode


def main() -> int:
    """Run the mutants that were asked for; the number of those that live is the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rust", action="store_true")
    asked = parser.parse_args()
    every, run = (RUST, in_rust) if asked.rust else (MUTANTS, in_python)
    chosen = [m for m in every if not asked.words or any(word in m.name for word in asked.words)]
    tests = tuple(dict.fromkeys(test for mutant in chosen for test in mutant.tests))
    if not chosen or run(None, tests) != 0:
        print("without any change the tests fail, or there is no such mutant")
        return 1
    alive = 0
    for mutant in chosen:
        dead = run(mutant, mutant.tests) == 1 if run is in_python else run(mutant, mutant.tests) != 0
        alive += not dead
        print(f"{'dead' if dead else 'ALIVE'}  {mutant.name}", flush=True)
    return alive


if __name__ == "__main__":
    raise SystemExit(main())
