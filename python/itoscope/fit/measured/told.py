"""What a fit of measured states says of the laws of its steps, ready for JSON: their shapes, and the jumps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.result.jumps import Jump, variance_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.fit.measured.kicks import Kicks
    from itoscope.fit.measured.regressions import Pair
    from itoscope.fit.question import Question
    from itoscope.posterior.equation import Equation
    from itoscope.result.diagnostics import StepLaw
    from itoscope.stats.jumps import Likeliest

__all__ = ["said_of_shared", "told_of_steps"]


def told_of_steps(kicks: Kicks, question: Question) -> tuple[dict[str, StepLaw], list[dict[str, Any]]]:
    """The laws by row, and the jumps where the steps are more probable with jumps than without."""
    states, data = question.states, question.data
    lengths = [np.diff(t) for t in data.times]
    step, count = float(np.median(np.concatenate(lengths))), sum(map(len, lengths))
    laws: dict[str, StepLaw] = {}
    listed: list[dict[str, Any]] = []
    for group, found in kicks.laws().items():
        names = [states[row] for row in group.rows]
        factor = found.gain - 0.5 * len(found.law) * math.log(max(count, 2))
        law: StepLaw = {
            "law": group.kind,
            "rows": names,
            "shape": _shape(found),
            "variance": variance_of(found.law),
            "step": step,
            "log_bayes_factor": factor,
        }
        laws |= dict.fromkeys(names, law)
    for group, path, n, far, sizes, probability in kicks.jumps():
        if laws[states[group.rows[0]]]["log_bayes_factor"] > 0.0:
            time = float(data.times[path][n + 1])
            listed += [
                Jump(states[row], path, n + 1, time, float(size), far, probability)._asdict()
                for row, size in zip(group.rows, sizes.tolist())
            ]
    return laws, sorted(listed, key=lambda one: (one["path"], one["time"]))


def said_of_shared(kicks: Kicks, question: Question, diffusion: Mapping[Pair, Equation]) -> list[str]:
    """A sentence where rows that jump together have noise that depends on the state, whose steps are skewed."""
    out = []
    for group in kicks.laws():
        own = [diffusion[pair] for pair in question.pairs if pair in diffusion and pair[0] in group.rows]
        terms = {term for found in own for term, inside in zip(found.terms, found.selected) if inside}
        if len(group.rows) > 1 and not terms <= {"1"}:
            names = ", ".join(question.states[row] for row in group.rows)
            out.append(
                f"the noise of {names}, which jump together, depends on the state: large steps are skewed by that, and "
                "weighed down they lead the drift off; diffusion='diagonal' takes it into account"
            )
    return out


def _shape(found: Likeliest) -> dict[str, list[float]]:
    """Value, low and high end of what shapes a law."""
    if len(found.law) == 1:
        low, high = found.intervals[0]
        return {"degrees": [1.0 / found.law[0], 1.0 / high, 1.0 / low if low > 0.0 else math.inf]}
    return {key: [value, *ends] for key, value, ends in zip(("share", "width"), found.law, found.intervals)}
