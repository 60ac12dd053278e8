"""Whether a drift that was sought among smooth terms has a kink: dry friction, drag by the square of the speed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Target
from itoscope.checks.check import Check
from itoscope.checks.rows import fitted_row, noisy_rows
from itoscope.common.numbers import number
from itoscope.data.advice import Advice
from itoscope.data.looked import looked_at
from itoscope.errors import ItoscopeError
from itoscope.posterior.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.data.trajectories import Trajectories
    from itoscope.result.diagnostics import Diagnostics
    from itoscope.result.findings import Findings

__all__ = ["kink_advice", "kinks_of", "looked_for_kinks"]

KINKS = ("sgn({x})", "{x}|{x}|")
"""What is tried of each state: friction, and drag."""
KINKED = 0.99
"""Probability that a row has a kink, from which it is said."""
NAMED = 0.9
"""Probability of a kink beside the likeliest that is named too."""
MOST_STATES = 10
"""States beyond which none is sought."""
DRAWS, BURN, SEED = 1000, 500, 0
"""Of each chain, of which a share is read to a hundredth; that of a look is always the same."""
OTHERWISE = ("symmetry", "ties", "vary", "forcing", "include", "exclude", "bounds", "custom_terms")
"""Settings with which terms are not free to come and go by themselves."""


def kinks_of(states: Sequence[str]) -> list[str]:
    """The kinks of these states, as a library would have them."""
    return [text.format(x=name) for text in KINKS for name in states]


def looked_for_kinks(result: Findings) -> Findings:
    r"""The result with a look at each noisy row of the drift, and what fired.

    The posterior of the row is sampled once more with :math:`\operatorname{sgn}(x_i)` and :math:`x_i |x_i|` among the
    candidates: smooth terms follow a kink too well for residuals to show it, so that models with one are held against
    models without, over all that the other terms can do. Of a noisy recording the regression is that of the innovations
    on the coefficients, about the fit.
    """
    data, settings = result.data, result.settings
    asked = any(settings.get(word) for word in OTHERWISE) or settings.get("ensemble") == "mean"
    if data is None or asked or len(result.states) > MOST_STATES:
        return result
    kinks = kinks_of(result.states)
    found: dict[str, dict[str, float]] = {}
    checks = []
    try:
        for row, moments in _rows(result, data, kinks):
            equation = moments.sample(result.drift[row].prior, n_samples=DRAWS, n_burn=BURN, seed=SEED)
            inside = np.asarray(equation.included)[..., -len(kinks) :].reshape(-1, len(kinks))
            pip = dict(zip(kinks, equation.pip[-len(kinks) :].tolist()))
            checks.append(_check(row, float(inside.any(axis=1).mean()), pip))
            if checks[-1].fired:
                found[row] = {term: p for term, p in pip.items() if p >= min(NAMED, max(pip.values()))}
    except ItoscopeError:  # terms that leave the finite range, or whose regression has no row
        return result
    diagnostics: Diagnostics = {
        **result.diagnostics,
        "checks": [*result.diagnostics.get("checks", []), *(check.as_dict() for check in checks)],
    }
    if found:
        diagnostics["kinks"] = found
    said = [check.sentence for check in checks if check.fired]
    return replace(result, diagnostics=diagnostics, warnings=[*result.warnings, *said])


def kink_advice(result: Findings, spoken: set[str]) -> list[Advice]:
    """What to do about kinks, of rows about which nothing else is known."""
    found = []
    for row, pip in result.diagnostics.get("kinks", {}).items():
        terms = sorted(pip, key=lambda term: -pip[term])
        shown = " and ".join(f"{term} (probability {number(pip[term], 2)})" for term in terms)
        added = ", ".join(f'"{term}"' for term in terms)
        sentence = (
            f"the drift of {row} has a kink, most like {shown}, as of dry friction or drag: "
            f"library={result.library!r} + Library.expressions({added}), or Library.paper(), which has all kinks"
        )
        if row not in spoken:
            found.append(
                Advice("library of the drift too small", row, sentence, dict(pip), {"library": terms})
            )
    return found


def _check(row: str, probability: float, pip: dict[str, float]) -> Check:
    best = max(pip, key=lambda term: pip[term])
    return Check(
        "kinks", row, probability, KINKED, probability >= KINKED,
        f"the drift of {row} has a kink, most likely {best} (probability {number(pip[best], 2)} beside smooth terms)",
        "fewer than one in a hundred of such probabilities are wrong",
    )  # fmt: skip


def _rows(result: Findings, data: Trajectories, kinks: list[str]) -> Iterator[tuple[str, Moments]]:
    """The regression of each noisy row on its candidates and the kinks."""
    if result.observer is not None:
        yield from _behind(result, data, kinks)
        return
    scheme = "euler" if result.settings.get("scheme") == "euler" else "trapezoid"
    data = data if result.inputs else looked_at(data)
    for row in noisy_rows(result):
        fit, equation = fitted_row(result, data, row), result.drift[row]
        terms = [*equation.terms, *kinks]
        sums = fit.stages.regression_sums(
            fit.paths, data.steps(), fit.stages.compile(terms, list(result.variables)), Target((fit.row, fit.row)),
            scheme=scheme, weights=fit.variance, ensemble="pool", progress=None,
        )  # fmt: skip
        yield row, Moments.from_sums(sums, terms, fit.stages, slab_scale=_scale(result, row))


def _behind(result: Findings, data: Trajectories, kinks: list[str]) -> Iterator[tuple[str, Moments]]:
    """The same of the rows behind a filter: the innovations on coefficients, those of the fit added."""
    observer = result.observer
    assert observer is not None
    paths, steps = observer.columns(data), data.steps()
    for i, j in observer.pairs:
        row = observer.states[i]
        if i != j or row not in result.drift:
            continue
        places = np.flatnonzero(observer.drift[i])
        own, fitted = [observer.expressions[k] for k in places], observer.drift[i, places]
        equation = result.drift[row]
        left = [term for term, inside in zip(equation.terms, equation.selected) if not inside]
        terms = [*own, *left, *kinks]
        with np.errstate(all="ignore"):
            about = observer.drift_scores(paths, steps, [(i, term) for term in terms])
        theta = np.concatenate([fitted, np.zeros(len(terms) - len(own))])
        moment, yy = about.moment + about.gram @ theta, about.yy + 2 * about.moment @ theta
        yy += theta @ about.gram @ theta
        yield row, Moments(about.gram, moment, float(yy), about.n, terms, slab_scale=_scale(result, row))


def _scale(result: Findings, row: str) -> float:
    return float(result.settings.get("slab_scale", {}).get(row, 1.0))
