"""One study for each constant of a fit: what it trades, or that no answer hangs on it. Run by constants.py."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from constant_cases import Case, friction, oscillator, terms
from itoscope.errors import ItoscopeError

if TYPE_CHECKING:
    from itoscope import Discovery

Patch = Callable[[Any], Any]
"""A context in which the constant has another value; it tells whether that is its own."""


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
        if isinstance(value, (tuple, range)):
            return [tuple(value)[::2], value]
        kind = int if isinstance(value, int) else float
        return [
            kind(max(1, round(value * f)) if kind is int else float(f"{value * f:.2g}")) for f in self.factors
        ]


def row(values: Sequence[Any]) -> str:
    """Values beside each other; one alone where all are alike."""
    shown = [_shown(value) for value in values]
    return shown[0] if len(set(shown)) == 1 else " · ".join(shown)


def _shown(value: Any) -> str:
    if isinstance(value, float) and 0.0 < 1.0 - value < 1e-3:
        return f"1 - {1.0 - value:.0e}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# -- answers: does anything move? ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Answer:
    """What one fit found: terms, rounds, the log evidence of its model, and errors of drift, Gamma and noise.

    Errors are shares of the true root mean square along the path; of the noise, of its standard deviation.
    """

    terms: dict[str, tuple[float, float]]
    rounds: int = 0
    evidence: float = math.nan
    drift: float = math.nan
    gamma: float = math.nan
    noise: float = math.nan


def _answer(case: Case) -> Answer:
    try:
        found = case.discover()
    except ItoscopeError:  # a value that no fit survives
        return Answer({})
    models = found.diagnostics.get("models") or [{}]
    return Answer(
        terms(found),
        len(found.diagnostics.get("rounds", ())),
        models[0].get("log_evidence", math.nan),
        *_errors(case, found),
    )


def _errors(case: Case, found: Discovery) -> tuple[float, float, float]:
    """How far drift, Gamma and noise are from the true ones."""
    if case.sde is None:
        return math.nan, math.nan, math.nan
    x = np.concatenate((case.states or case.data).paths)[::10]
    model = found.model()
    pairs = ((model.drift(x), case.sde.drift(x)), (model.gamma(x), case.sde.gamma(x)))
    drift, gamma = (float(np.sqrt(np.mean((one - true) ** 2) / np.mean(true**2))) for one, true in pairs)
    level = np.ravel(np.asarray(found.measurement_noise, dtype=float)) if case.noise else np.zeros(0)
    noise = float(np.mean(np.abs(level / case.noise - 1.0))) if case.noise else math.nan
    return drift, gamma, noise


def _answers(cases: Sequence[Case]) -> tuple[list[Answer], float]:
    began = time.process_time()
    return [_answer(case) for case in cases], time.process_time() - began


@cache
def _usual(cases: Callable[[], Sequence[Case]]) -> tuple[list[Answer], float]:
    """The answers with every constant at its value."""
    return _answers(cases())


def _held(found: Sequence[Answer], cases: Sequence[Case]) -> str:
    inside = [
        abs(f.terms[name][0] - value) < 1.96 * f.terms[name][1]
        for f, case in zip(found, cases)
        for name, value in case.truth.items()
        if name in f.terms
    ]
    return f"{sum(inside)}/{len(inside)}"


def _moved(found: Sequence[Answer], own: Sequence[Answer]) -> float:
    """The largest move of a coefficient in standard errors, where the terms are the same."""
    shifts = [
        abs(f.terms[name][0] - o.terms[name][0]) / max(o.terms[name][1], 1e-300)
        for f, o in zip(found, own)
        if set(f.terms) == set(o.terms)
        for name in f.terms
    ]
    return max(shifts, default=0.0)


def _mean(values: Sequence[float]) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan


def answers(cases: Callable[[], Sequence[Case]]) -> Callable[[Sequence[Any], Patch], str]:
    """Right answers, intervals that hold, evidence, errors, how far coefficients move, rounds, and the CPU time."""

    def run(values: Sequence[Any], patch: Patch) -> str:
        here, (own, usual) = list(cases()), _usual(cases)
        found, seconds = [], []
        for value in values:
            with patch(value) as same:
                these, spent = (own, usual) if same else _answers(here)
            found.append(these)
            seconds.append(round(spent, 1))
        failed = [sum(not f.terms for f in these) for these in found]
        gained = [
            float(f"{np.nansum([f.evidence - o.evidence for f, o in zip(these, own)]):+.2g}")
            for these in found
        ]
        parts = [
            f"exact terms {row([sum(set(f.terms) == set(c.truth) for f, c in zip(these, here)) for these in found])} "
            f"of {len(here)}",
            f"95 % intervals that hold {row([_held(these, here) for these in found])}",
            f"other terms than with the value chosen {row([_others(these, own) for these in found])}",
            f"largest move {row([float(f'{_moved(these, own):.2g}') for these in found])} standard errors",
        ]
        if any(failed):
            parts.insert(0, f"no answer on {row(failed)}")
        if np.isfinite([o.evidence for o in own]).any():
            parts.append(f"log evidence {row(gained)}")
        for words, name in (("drift", "drift"), ("Gamma", "gamma"), ("noise", "noise")):
            errors = [_mean([getattr(f, name) for f in these]) for these in found]
            if np.isfinite(errors).all():
                parts.append(f"error of the {words} {row([float(f'{e:.3g}') for e in errors])}")
        parts.append(f"{row([sum(f.rounds for f in these) for these in found])} rounds")
        return "; ".join([*parts, f"{row(seconds)} s"])

    return run


def _others(found: Sequence[Answer], own: Sequence[Answer]) -> int:
    return sum(set(f.terms) != set(o.terms) for f, o in zip(found, own))


def doubts(values: Sequence[Any], patch: Patch) -> str:
    """How often other sets of terms are named, where the terms shown are the true ones and where they are not."""
    here, told = doubtful(), []
    for value in values:
        with patch(value):
            found = [case.discover() for case in here]
        doubted = [any("most of the probability" in sentence for sentence in f.warnings) for f in found]
        right = [set(terms(f)) == set(case.truth) for f, case in zip(found, here)]
        both = [sum(d for d, r in zip(doubted, right) if r == kind) for kind in (True, False)]
        told.append(f"{both[0]} and {both[1]}")
    return (
        f"doubt is told on {row(told)} of the {sum(right)} right and {len(right) - sum(right)} wrong answers"
    )


# -- alarms: false ones against those that are due -----------------------------------------------------------------
ANY = "any"
ELSE = ("time step", "rounds", "diffusion found", "variance floor", "positive covariance", "given row")
"""Checks that do not look at residuals."""


def alarms(
    check: str, right: Callable[[], Sequence[Case]], wrong: Callable[[], Sequence[Case]]
) -> Callable[[Sequence[Any], Patch], str]:
    """How often a check, or `ANY` of those of residuals, fires on fits that are right, and on fits that are wrong."""

    return _told(right, wrong, lambda cases: [_checks(case.discover()) for case in cases], check)


def replayed(
    check: str, right: Callable[[], Sequence[Case]], wrong: Callable[[], Sequence[Case]]
) -> Callable[[Sequence[Any], Patch], str]:
    """The same of the checks that `Discovery.check` adds; the fits are those of the value chosen."""
    kept: dict[int, Discovery] = {}

    def looks(cases: Sequence[Case]) -> list[list[Any]]:
        return [kept.setdefault(id(case), kept.get(id(case)) or case.discover()).check() for case in cases]

    return _told(right, wrong, looks, check)


def _checks(found: Discovery) -> list[Any]:
    return list(found.diagnostics["checks"])


def _told(
    right: Callable[[], Sequence[Case]],
    wrong: Callable[[], Sequence[Case]],
    looks: Callable[[Sequence[Case]], list[list[Any]]],
    check: str,
) -> Callable[[Sequence[Any], Patch], str]:
    def fired(cases: Sequence[Case]) -> int:
        return sum(any(c["fired"] and _meant(c["name"], check) for c in one) for one in looks(cases))

    def run(values: Sequence[Any], patch: Patch) -> str:
        good, bad = list(right()), list(wrong())
        false, due, seconds = [], [], []
        for value in values:
            began = time.process_time()
            with patch(value):
                false.append(fired(good))
                due.append(fired(bad))
            seconds.append(round(time.process_time() - began, 1))
        return (
            f"fires on {row(false)} of {len(good)} fits that are right, {row(due)} of {len(bad)} that are not; "
            f"{row(seconds)} s"
        )

    return run


def _meant(name: str, check: str) -> bool:
    return name in check.split(" or ") or (check == ANY and name not in ELSE)


def weak(values: Sequence[Any], patch: Patch) -> str:
    """How often noise is said not to be told from zero, where there is next to none and where there is some."""
    none, some = ([oscillator(seed, 400, noise=noise) for seed in range(1, 9)] for noise in (1e-4, 0.03))
    told = []
    for value in values:
        with patch(value):
            counts = [
                sum(any("told from zero" in w for w in case.discover().warnings) for case in cases)
                for cases in (none, some)
            ]
        told.append(f"{counts[0]} and {counts[1]}")
    return f"noise is said not to be told from zero in {row(told)} of 8 recordings without and 8 with it"


def widest(values: Sequence[Any], patch: Patch) -> str:
    """Standard deviation of the logarithm of drawn variances where forty samples hardly tell them."""
    case, spread, far = oscillator(1, 40), [], []
    for value in values:
        with patch(value):
            drawn = case.discover().diffusion["v1", "v1"].samples
        logs = np.log(np.ravel(drawn[..., 0]))
        spread.append(float(f"{logs.std():.3g}"))
        far.append(float(f"{np.exp(np.quantile(logs, 0.975)):.3g}"))
    return f"of 40 samples, draws of a variance of 1 vary by {row(spread)} in their logarithm, and reach {row(far)}"


def doubtful() -> list[Case]:
    """Recordings, some too short, between smooth and kinked candidates."""
    return [make(seed, n) for n in (200, 800) for seed in (1, 2) for make in (oscillator, friction)]
