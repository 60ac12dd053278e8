"""One study for each constant of a fit: what it trades, or that no answer hangs on it. Run by constants.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import itoscope as ito
import numpy as np
from constant_cases import Case, filtered, friction, linear, measured, oscillator, rayleigh, terms

Patch = Callable[[Any], Any]
"""A context in which the constant has another value."""


@dataclass(frozen=True)
class Study:
    """`run(values, patch)` says what the values of a constant do; they are its own times `factors`, or `values`."""

    run: Callable[[Sequence[Any], Patch], str]
    factors: Sequence[float] = (1 / 3, 1, 3)
    values: Sequence[Any] | None = None

    def tried(self, value: Any) -> list[Any]:
        """The values of the constant that are compared."""
        if self.values is not None:
            return list(self.values)
        kind = int if isinstance(value, int) else float
        return [
            kind(max(1, round(value * f)) if kind is int else float(f"{value * f:.2g}")) for f in self.factors
        ]


def row(values: Sequence[Any]) -> str:
    """Values beside each other."""
    return " · ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in values)


# -- answers: does anything move? ----------------------------------------------------------------------------------
def _answers(cases: Sequence[Case], patch: Any) -> tuple[list[dict[str, tuple[float, float]]], float]:
    began = time.process_time()
    with patch:
        found = [terms(case.discover()) for case in cases]
    return found, time.process_time() - began


def _held(found: Sequence[dict[str, tuple[float, float]]], cases: Sequence[Case]) -> str:
    inside = [
        abs(f[name][0] - value) < 1.96 * f[name][1]
        for f, case in zip(found, cases)
        for name, value in case.truth.items()
        if name in f
    ]
    return f"{sum(inside)}/{len(inside)}"


def answers(cases: Callable[[], Sequence[Case]]) -> Callable[[Sequence[Any], Patch], str]:
    """Recordings with exactly the true terms, intervals that hold, how far coefficients move, and the CPU time."""

    def run(values: Sequence[Any], patch: Patch) -> str:
        here = list(cases())
        own, _ = _answers(here, patch(None))
        exact, held, other, moved, seconds = [], [], [], [], []
        for value in values:
            found, spent = _answers(here, patch(value))
            exact.append(sum(set(f) == set(case.truth) for f, case in zip(found, here)))
            held.append(_held(found, here))
            other.append(sum(set(f) != set(o) for f, o in zip(found, own)))
            shifts = [
                abs(f[name][0] - o[name][0]) / max(o[name][1], 1e-300)
                for f, o in zip(found, own)
                if set(f) == set(o)
                for name in f
            ]
            moved.append(max(shifts, default=0.0))
            seconds.append(round(spent, 1))
        return (
            f"exact terms {row(exact)} of {len(here)}; 95 % intervals that hold {row(held)}; other terms than with the "
            f"value chosen {row(other)}; largest move {row([float(f'{m:.2g}') for m in moved])} standard errors; "
            f"{row(seconds)} s"
        )

    return run


def doubts(values: Sequence[Any], patch: Patch) -> str:
    """How often other sets of terms are named, where the terms shown are the true ones and where they are not."""
    here, told = _doubtful(), []
    for value in values:
        with patch(value):
            found = [case.discover() for case in here]
        doubted = [any("nearly as well" in sentence for sentence in f.warnings) for f in found]
        right = [set(terms(f)) == set(case.truth) for f, case in zip(found, here)]
        both = [sum(d for d, r in zip(doubted, right) if r == kind) for kind in (True, False)]
        told.append(f"{both[0]} and {both[1]}")
    return (
        f"doubt is told on {row(told)} of the {sum(right)} right and {len(right) - sum(right)} wrong answers"
    )


# -- alarms: false ones against those that are due -----------------------------------------------------------------
def _fired(cases: Sequence[Case], check: str) -> int:
    count = 0
    for case in cases:
        checks = case.discover().diagnostics["checks"]
        count += any(c["fired"] for c in checks if c["name"] == check)
    return count


def alarms(
    check: str, right: Callable[[], Sequence[Case]], wrong: Callable[[], Sequence[Case]]
) -> Callable[[Sequence[Any], Patch], str]:
    """How often a check fires on fits that are right, and on fits that are wrong in its own way."""

    def run(values: Sequence[Any], patch: Patch) -> str:
        good, bad = list(right()), list(wrong())
        false, due = [], []
        for value in values:
            with patch(value):
                false.append(_fired(good, check))
                due.append(_fired(bad, check))
        return (
            f"fires on {row(false)} of {len(good)} fits that are right, {row(due)} of {len(bad)} that are not"
        )

    return run


def _ou(
    seed: int, n: int, *, rate: float = 1.0, dt: float = 0.02, drift: str | None = None, noise: str = "0.5"
) -> Case:
    sde = ito.SDE([drift or f"-{rate} x1"], [[noise]], ["x1"])
    data = sde.simulate([0.2], dt=dt, n_steps=n, substeps=10, seed=seed)
    return Case("OU", data, ito.Library.polynomials(1), {"x1: x1": -rate, "x1,x1: 1": 0.25})


@lru_cache
def clean(n: int = 2000, count: int = 20) -> tuple[Case, ...]:
    """Fits that are right."""
    return tuple(_ou(seed, n) for seed in range(count))


@lru_cache
def clean_lengths() -> tuple[Case, ...]:
    """The same, short and long."""
    return clean(500, 15) + clean(20_000, 10)


def _added(case: Case, extra: Callable[[np.random.Generator, int], np.ndarray], seed: int) -> Case:
    rng = np.random.default_rng(seed)
    paths = [path + extra(rng, len(path))[:, None] for path in case.data.paths]
    return replace(
        case, data=ito.Trajectories(paths, dt=float(case.data.times[0][1] - case.data.times[0][0]))
    )


@lru_cache
def jumping(size: float = 0.35, count: int = 10) -> tuple[Case, ...]:
    """Paths that jump, some ten times."""
    return tuple(
        _added(_ou(s, 2000), lambda rng, n: np.cumsum((rng.random(n) < 0.005) * rng.normal(0, size, n)), s)
        for s in range(count)
    )


@lru_cache
def coloured(strength: float = 0.7, count: int = 10) -> tuple[Case, ...]:
    """One state seen of two: the force on it has a memory."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["-x1 + u", "-8 u"], [["0.5", "0"], ["0", str(8 * strength)]], ["x1", "u"])
        data = sde.simulate([0.0, 0.0], dt=0.02, n_steps=2000, substeps=10, seed=seed).select(["x1"])
        cases.append(replace(_ou(seed, 10), data=data))
    return tuple(cases)


@lru_cache
def bent_gamma(count: int = 10) -> tuple[Case, ...]:
    """A covariance far from all that its library holds, on paths that end where it is not typical."""
    cases = []
    for seed in range(count):
        case = _ou(seed, 3000, noise="0.1*exp(1.5*x1)", drift="0.5 - x1")
        cases.append(replace(case, asked={"diffusion": "constant"}))
    return tuple(cases)


@lru_cache
def coarse(rate_times_step: float, count: int = 10) -> tuple[Case, ...]:
    """Sampled too slowly for the trapezoid."""
    return tuple(_ou(seed, 2000, rate=rate_times_step / 0.1, dt=0.1) for seed in range(count))


@lru_cache
def vanishing(count: int = 10) -> tuple[Case, ...]:
    """A covariance that is next to zero on a large part of the path."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["-x1"], [["x1^2", "0.02"]], ["x1"])
        data = sde.simulate([1.0], dt=0.01, n_steps=4000, substeps=10, seed=seed)
        cases.append(Case("quartic", data, ito.Library.polynomials(4), {}))
    return tuple(cases)


@lru_cache
def given(factor: float, count: int = 10) -> tuple[Case, ...]:
    """A row that is given, right if the factor is one."""
    cases = []
    for seed in range(count):
        sde = ito.SDE([f"{factor} x2", "-4 x1 - x2"], [["0"], ["1"]], ["x1", "x2"])
        data = sde.simulate([0.5, 0.0], dt=0.01, n_steps=2000, substeps=10, seed=seed)
        cases.append(Case("given", data, ito.Library.polynomials(1), {}, {"known_drift": {"x1": "x2"}}))
    return tuple(cases)


@lru_cache
def sampled(step: float, count: int = 6) -> tuple[Case, ...]:
    """Noisy positions of an oscillator of 3 radians a second."""
    return tuple(oscillator(seed, 600, step) for seed in range(count))


@lru_cache
def forced(count: int = 6) -> tuple[Case, ...]:
    """Noisy positions of an oscillator under a force with a memory."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["x2", "-9 x1 - 0.6 x2 + 3 u", "-4 u"], [["0"], ["0"], ["4"]], ["x1", "x2", "u"])
        full = sde.simulate([0.3, 0, 0], dt=0.05, n_steps=3000, substeps=10, seed=seed)
        seen = full.select(["x1"]).add_noise(sd=0.02 * float(full.sd()[0]), seed=seed)
        cases.append(replace(oscillator(seed, 10), data=seen))
    return tuple(cases)


# -- posteriors of plain regressions ---------------------------------------------------------------------------------
def _regression(seed: int, near: float) -> ito.Moments:
    """Four columns, two of which differ by `near` of their size."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2000, 4))
    x[:, 3] = x[:, 2] + near * rng.normal(size=2000)
    y = x[:, 0] + 0.05 * x[:, 1] + x[:, 2] + rng.normal(size=2000)
    return ito.Moments(x.T @ x, x.T @ y, float(y @ y), 2000.0, ["a", "b", "c", "d"])


def collinear(words: str) -> Callable[[Sequence[Any], Patch], str]:
    """For columns ever closer: is their likeness told, by which words?"""
    gaps = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

    def run(values: Sequence[Any], patch: Patch) -> str:
        told = []
        for value in values:
            with patch(value):
                found = [_regression(1, gap).sample(seed=1, n_samples=300, n_burn=100) for gap in gaps]
            seen = [
                bool(e.aliases) if words == "alias" else any(words in w for w in e.warnings) for e in found
            ]
            told.append("".join("x" if s else "-" for s in seen))
        return f"columns that differ by 1e-3, 1e-4 ... 1e-8 of their size: told {row(told)}"

    return run


def monte_carlo(values: Sequence[Any], patch: Patch) -> str:
    """Error of the probability of a doubtful term by sweeps, over eight runs, and the time."""
    errors, seconds, said = [], [], []
    exact = _regression(1, 1.0).sample(sampler="exact", seed=1).pip
    for value in values:
        began, worst, warned = time.process_time(), 0.0, 0
        with patch(value):
            for seed in range(8):
                found = _regression(1, 1.0).sample(seed=seed, n_samples="auto")
                worst = max(worst, float(np.abs(found.pip - exact).max()))
                warned += bool(found.warnings)
        errors.append(worst)
        said.append(warned)
        seconds.append(round(time.process_time() - began, 2))
    return (
        f"largest error of a probability {row(errors)}; warnings in {row(said)} of 8 runs; {row(seconds)} s"
    )


# -- the list --------------------------------------------------------------------------------------------------------
def fits(*factors: float) -> Study:
    """A constant of the filter's fit, times these factors."""
    return Study(answers(filtered), factors or (1 / 3, 1, 3))


def _doubtful() -> list[Case]:
    return [make(seed, n) for n in (600, 4000) for seed in (1, 2, 3) for make in (oscillator, friction)]


def _intermediate() -> list[Case]:
    return [make(seed, 600) for seed in (1, 2, 3) for make in (rayleigh, oscillator)] + [linear(1, 400)]


STUDIES: dict[str, Study] = {
    "checks.check.RATE": Study(alarms("slow scales", clean_lengths, coloured), (1e-4, 1e-2, 1, 10)),
    "checks.check.AUTOCORRELATION": Study(alarms("whiteness", clean_lengths, coloured), (0.1, 1, 3, 10)),
    "checks.check.KURTOSIS": Study(alarms("jumps", clean_lengths, jumping), values=(3.1, 3.5, 4.0, 6.0)),
    "checks.check.KURTOSIS_ERRORS": Study(alarms("jumps", clean_lengths, jumping), (0.1, 0.4, 1, 4)),
    "checks.check.VARIANCE": Study(alarms("innovation variance", filtered, forced), (0.03, 0.3, 1, 3)),
    "checks.measured.STEP_CHANGE": Study(
        alarms("time step", lambda: coarse(0.05), lambda: coarse(0.8)), (0.1, 1, 1.5, 4)
    ),
    "checks.measured.STEP_ERRORS": Study(
        alarms("time step", lambda: [*coarse(0.05), *clean(300, 10)], lambda: coarse(0.8)), (0.1, 1, 2, 5)
    ),
    "checks.measured.BELOW_FLOOR": Study(alarms("variance floor", clean, vanishing), (0.1, 0.5, 1, 4)),
    "checks.measured.GIVEN_RESIDUAL": Study(
        alarms("given", lambda: given(1.0), lambda: given(1.3)), (0.001, 0.1, 1, 4)
    ),
    "checks.filtered.COARSE": Study(
        alarms("time step", lambda: sampled(0.05), lambda: sampled(0.3)), (0.2, 0.5, 1, 2)
    ),
    "checks.filtered.FAST": Study(
        alarms("time step", lambda: sampled(0.05), lambda: sampled(0.3)), values=(0.5, 0.95, 0.999)
    ),
    "checks.filtered.RATES": Study(
        alarms("time step", lambda: sampled(0.05), lambda: sampled(0.3)), (0.1, 1, 10)
    ),
    "checks.filtered.LAGS": Study(alarms("whiteness", lambda: sampled(0.05), forced), values=(2, 10, 50)),
    "checks.filtered.MOST_PATHS": Study(
        alarms("whiteness", lambda: sampled(0.05), forced), (0.02, 0.1, 1, 4)
    ),
    "fit.filtered.state.KINK": Study(answers(_doubtful), values=(0.0, 1.0, 2.0, 4.0)),
    "fit.filtered.doubt.NEAR": Study(doubts, values=(0.5, 1.0, 3.0, 6.0)),
    "fit.filtered.doubt.NEGLIGIBLE": Study(answers(_doubtful), values=(0.0, 3.0, 12.0, 24.0)),
    "fit.filtered.state.SHORT": Study(answers(filtered), values=(0, 2000, 20_000)),
    "fit.filtered.search.PART": Study(answers(filtered), values=(500, 5000, 50_000)),
    "fit.filtered.start.MAX_SUBSET": Study(answers(filtered), values=(300, 2000, 20_000)),
    "fit.filtered.neighbours.MOVES": Study(answers(_intermediate), values=(1, 3, 6, 12)),
    "fit.filtered.neighbours.BREADTH": Study(answers(_intermediate), values=(2, 4, 8, 16)),
    "fit.filtered.start.NOISE_CUTS": Study(answers(filtered), values=((2,), (0, 2, 4), (0, 1, 2, 3, 4))),
    "fit.filtered.start.GAMMA_CUTS": Study(answers(filtered), values=((5,), range(10), range(14))),
    "fit.filtered.selection.CLEAR_MASS": Study(answers(filtered), values=(0.5, 0.9, 0.99)),
    "fit.measured.rounds.STABLE_SHIFT": Study(answers(measured)),
    "fit.measured.rounds.FLOOR_QUANTILE": Study(answers(measured), values=(0.0, 0.1, 0.2, 0.4)),
    "fit.measured.rounds.QUANTILE_SAMPLES": Study(answers(measured), values=(200, 2000, 20_000)),
    "posterior.columns.ALIAS": Study(collinear("alias"), values=(1 - 1e-5, 1 - 1e-9, 1 - 1e-13)),
    "posterior.columns.CONDITION": Study(collinear("condition"), values=(1e8, 1e12, 1e15)),
    "posterior.sampling.AUTO_ERROR": Study(monte_carlo),
    "posterior.sampling.AUTO_START": Study(monte_carlo, (0.1, 1, 5)),
    "posterior.sampling.AUTO_END": Study(monte_carlo, (0.02, 0.1, 1)),
    "posterior.sampling.DISAGREEMENT": Study(monte_carlo, (0.1, 1, 5)),
}
