"""What a fit found of forces with a memory: their times and sizes, and the evidence for them against white ones."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.fit.filtered.noise import maximise_noise

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.memory import Memory
    from itoscope.fit.question import Question
    from itoscope.fit.shapers import Shaper
    from itoscope.result.diagnostics import Force, Kernel

__all__ = ["forces_of", "kernels_of", "log_bayes_factor"]

GRID, AROUND = 16, (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
"""Correlation times over their whole range at which a likelihood is taken, and those about the top in its errors."""
WIDE = 1.0
"""Standard error of the logarithm of a time from which the likelihood is not normal in it."""


def log_bayes_factor(question: Question, fit: FilteredFit, white: FilteredFit) -> float:
    """Log evidence of the forces against white ones: rates have flat priors in their logarithms within their bounds."""
    total = fit.log_evidence - white.log_evidence
    for shaper in question.shapers:
        total += _share(question, fit, shaper)
    for memory in question.memories:
        total += _share_of_kernel(question, fit, memory)
    return total


def kernels_of(question: Question, fit: FilteredFit, factor: float) -> dict[str, Kernel]:
    """Amplitudes and times of each friction with a memory, the shortest first, and its temperature, by row."""
    found: dict[str, Kernel] = {}
    value = dict(zip(question.numbers.names, fit.model.numbers.tolist()))
    for memory in question.memories:
        pairs = sorted((value[tau], value[c]) for c, tau in zip(memory.amplitudes, memory.times))
        found[memory.row] = {
            "amplitudes": [c for _, c in pairs],
            "times": [tau for tau, _ in pairs],
            "temperature": value[memory.temperature],
            "parameters": list(memory.names),
            "log_bayes_factor": float(factor),
        }
    return found


def _share_of_kernel(question: Question, fit: FilteredFit, memory: Memory) -> float:
    """Log of the part of its prior that a kernel has left, flat in the logarithms of amplitudes and times."""
    numbers = question.numbers
    at = [numbers.names.index(name) for name in (*memory.amplitudes, *memory.times)]
    own = [Parameter("number", a) for a in at]
    values = fit.model.numbers[at]
    cov = _given_the_others(fit, own) / np.outer(values, values)
    sd = np.sqrt(np.maximum(np.diag(cov), 0.0))
    log_det = float(np.linalg.slogdet(cov)[1]) if np.all(np.isfinite(cov)) and np.all(sd < WIDE) else np.inf
    widths = np.log(numbers.high[at] / numbers.low[at])
    same = math.lgamma(len(memory.states) + 1.0)  # the exponentials in any order
    total = len(own) * 0.5 * math.log(2.0 * math.pi) + 0.5 * log_det - float(np.sum(np.log(widths)))
    return min(total + same, 0.0)


def forces_of(question: Question, fit: FilteredFit, factor: float) -> dict[str, Force]:
    """Correlation time, standard deviation and frequency of each force, by its row."""
    found: dict[str, Force] = {}
    for shaper in question.shapers:
        row = question.states.index(shaper.driven)
        equation, noise = fit.drift[row], fit.diffusion[row, row]
        at = [equation.terms.index(name) for name in shaper.states]
        interval = equation.interval(0.95)[at]
        gamma = float(noise.mean[noise.selected][0])
        theta = equation.mean[at]
        if shaper.rate is None:
            time, ends = -1.0 / theta[0], -1.0 / interval[0]
            sd, frequency = math.sqrt(gamma * time / 2.0), None
        else:
            time, ends = -2.0 / theta[1], -2.0 / interval[1]
            sd = math.sqrt(gamma / (2.0 * theta[0] * theta[1]))
            frequency = math.sqrt(-theta[0]) / (2.0 * math.pi)
        found[shaper.row] = {
            "kind": shaper.kind,
            "state": shaper.force,
            "correlation_time": float(time),
            "low": float(ends[0]),
            "high": float(ends[1]),
            "sd": float(sd),
            "frequency": frequency,
            "log_bayes_factor": float(factor),
        }
    return found


def _share(question: Question, fit: FilteredFit, shaper: Shaper) -> float:
    """Log of the part of its prior that the rates of a force have left, at most nothing."""
    among = fit.recording.candidates
    row = question.states.index(shaper.driven)
    terms = [among.drift_terms[question.library.names.index(name)] for name in shaper.states]
    own = [Parameter("drift", row, term) for term in terms]
    theta = np.array([one.of(fit.model) for one in own])
    widths = [math.log(low / high) for low, high in question.said[shaper.driven].bounds.values()]
    cov = _given_the_others(fit, own) / np.outer(theta, theta)
    sd = np.sqrt(np.maximum(np.diag(cov), 0.0))
    if len(own) == 1:
        return min(_integral(question, fit, shaper, own[0], float(sd[0])) - math.log(widths[0]), 0.0)
    log_det = float(np.linalg.slogdet(cov)[1]) if np.all(np.isfinite(cov)) and np.all(sd < WIDE) else np.inf
    return min(len(own) * 0.5 * math.log(2.0 * math.pi) + 0.5 * log_det - sum(map(math.log, widths)), 0.0)


def _given_the_others(fit: FilteredFit, own: list[Parameter]) -> Array:
    """Covariance of some coefficients of the drift, or numbers, given the others, whatever variances are."""
    drift = [one for one in fit.maximum.parameters if one.kind == "drift" or one in own]
    index = [fit.maximum.parameters.index(one) for one in drift]
    cov = fit.maximum.cov[np.ix_(index, index)]
    at = [drift.index(one) for one in own]
    if not np.all(np.isfinite(cov)):
        return np.full((len(own), len(own)), np.inf)
    scale = np.sqrt(np.maximum(np.diag(cov), np.finfo(float).tiny))
    precision = np.linalg.pinv(cov / np.outer(scale, scale))
    found: Array = np.linalg.pinv(precision[np.ix_(at, at)]) * np.outer(scale[at], scale[at])
    return found


def _integral(question: Question, fit: FilteredFit, shaper: Shaper, rate: Parameter, sd: float) -> float:
    """Log of the integral of the likelihood, over its top, in the logarithm of the correlation time."""
    low, high = question.said[shaper.driven].bounds[shaper.force]
    top = min(max(-rate.of(fit.model), -high), -low)
    near = top * np.exp(np.array(AROUND) * min(sd, WIDE)) if np.isfinite(sd) else np.array([top])
    rates = np.unique(np.clip(np.concatenate([np.geomspace(-high, -low, GRID), near]), -high, -low))
    heights = np.array([_height(fit, rate, float(value)) for value in rates]) - fit.maximum.loglik
    heights = np.exp(np.minimum(np.nan_to_num(heights, nan=-np.inf, neginf=-np.inf), 50.0))
    x = np.log(rates)
    return math.log(max(float(np.sum(0.5 * (heights[1:] + heights[:-1]) * np.diff(x))), 1e-300))


def _height(fit: FilteredFit, rate: Parameter, value: float) -> float:
    """Log-likelihood at another rate, the spectrum at low frequencies held, then noise and Gamma at their best."""
    among = fit.recording.candidates
    pair = among.pairs.index((rate.at, rate.at))
    drift, gamma = fit.model.drift.copy(), fit.model.gamma.copy()
    gamma[pair] *= (value / rate.of(fit.model)) ** 2
    drift[rate.at, rate.term] = -value
    return maximise_noise(fit.recording, replace(fit.model, drift=drift, gamma=gamma), 3)[1]
