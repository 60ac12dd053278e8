"""What a fit found of the law of steps of unknown size, and the steps that are jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.fit.filtered.kicks import SWEEPS
from itoscope.fit.filtered.likelihood import maximise
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.tails import gain_over
from itoscope.result.jumps import Jump, variance_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.question import Question
    from itoscope.result.diagnostics import StepLaw

__all__ = ["jumps_found", "steps_found"]

RATHER = 0.5
"""Probability from which a step is listed."""
WIDENED = 100.0
"""Most by which Gamma is widened where normal steps begin to be held against others."""


def over_normal_steps(fit: FilteredFit) -> float:
    """The log Bayes factor of the law of steps against normal ones, by Schwarz' approximation."""
    normal, model = replace(fit.recording, kicks=()), fit.model
    wider = min(variance_of(model.kicks), WIDENED)
    model = replace(model, kicks=(), gamma=wider * model.gamma)
    model, _ = maximise_noise(normal, model, 3 * SWEEPS)
    return gain_over(fit.recording, fit.maximum, maximise(normal, model, final=False), [fit.model.kicks])


def steps_found(question: Question, fit: FilteredFit) -> dict[str, StepLaw]:
    """What was found of the law of steps, by row."""
    names = [question.states[row] for row in sorted(question.step_laws)]
    kind, law = question.step_laws[min(question.step_laws)], fit.model.kicks
    ends = [fit.law_interval(Parameter("kicks", 0, k)) for k in range(len(law))]
    if kind == "student":
        low, high = ends[0]
        shape = {"degrees": [1.0 / law[0], 1.0 / high, 1.0 / low if low > 0.0 else np.inf]}
    else:
        shape = {key: [value, *end] for key, value, end in zip(("share", "width"), law, ends)}
    step = float(np.median(np.concatenate([np.diff(t) for t in question.data.times])))
    found: StepLaw = {
        "law": str(kind),
        "rows": names,
        "shape": shape,
        "variance": variance_of(law),
        "step": step,
        "log_bayes_factor": over_normal_steps(fit),
    }
    return dict.fromkeys(names, found)


def jumps_found(question: Question, fit: FilteredFit, means: Sequence[Array]) -> list[dict[str, Any]]:
    """The steps that are rather jumps than not.

    Parameters
    ----------
    question : Question
    fit : FilteredFit
    means : sequence of (n_i, m) arrays
        The smoothed states.
    """
    rows, states, space = sorted(question.step_laws), question.states, fit.recording.space(fit.model)[0]
    gamma = _constant(fit, rows)
    listed = []
    for path, (known, mean) in enumerate(zip(fit.recording.kicked(fit.model), means)):
        times = question.data.times[path]
        moved = (space.program.evaluate(np.ascontiguousarray(mean)) @ space.drift.T)[:, rows]
        for n in np.flatnonzero(known[1:, 1] > RATHER).tolist():
            dt = float(times[n + 1] - times[n])
            left = (mean[n + 1] - mean[n])[rows] - 0.5 * dt * (moved[n] + moved[n + 1])
            far = float(np.sqrt(left @ np.linalg.solve(gamma, left) / dt))
            listed += [
                Jump(states[row], path, n + 1, float(times[n + 1]), float(size), far, float(known[n + 1, 1]))
                for row, size in zip(rows, left)
            ]
    return [one._asdict() for one in sorted(listed, key=lambda one: (one.path, one.time))]


def _constant(fit: FilteredFit, rows: Sequence[int]) -> Array:
    """The covariance of some rows `(d, d)`, whose Gamma is constant."""
    among = fit.recording.candidates
    out = np.zeros((len(rows), len(rows)))
    for p, (i, j) in enumerate(among.pairs):
        if i in rows and j in rows:
            a, b = rows.index(i), rows.index(j)
            out[a, b] = out[b, a] = fit.model.gamma[p, among.constant]
    return out
