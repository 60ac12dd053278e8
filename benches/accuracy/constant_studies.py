"""One study for each constant of a fit: what it trades, or that no answer hangs on it. Run by constants.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from constant_cases import Case, friction, oscillator, terms
from itoscope.errors import ItoscopeError

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
    """Values beside each other."""
    return " · ".join(map(_shown, values))


def _shown(value: Any) -> str:
    if isinstance(value, float) and 0.0 < 1.0 - value < 1e-3:
        return f"1 - {1.0 - value:.0e}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# -- answers: does anything move? ----------------------------------------------------------------------------------
Answer = dict[str, tuple[float, float]]


def _answers(cases: Sequence[Case]) -> tuple[list[Answer], float]:
    began, found = time.process_time(), []
    for case in cases:
        try:
            found.append(terms(case.discover()))
        except ItoscopeError:  # a value that no fit survives
            found.append({})
    return found, time.process_time() - began


@cache
def _usual(cases: Callable[[], Sequence[Case]]) -> tuple[list[Answer], float]:
    """The answers with every constant at its value."""
    return _answers(cases())


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
        here, (own, usual) = list(cases()), _usual(cases)
        exact, held, other, moved, seconds = [], [], [], [], []
        for value in values:
            with patch(value) as same:
                found, spent = (own, usual) if same else _answers(here)
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
    here, told = doubtful(), []
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


def doubtful() -> list[Case]:
    """Recordings, some too short, between smooth and kinked candidates."""
    return [make(seed, n) for n in (600, 2000) for seed in (1, 2) for make in (oscillator, friction)]
