"""An advice tried: the recording mended, the question asked again, both evidences side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.discovery.asking import asked_again, library_of
from itoscope.errors import ArgumentError, argument_error
from itoscope.fit.solve import solve
from itoscope.fit.standard import DEGREE
from itoscope.library.library import Library
from itoscope.result.jumps import numbers_of
from itoscope.stats.jumps import log_density

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.types import Array
    from itoscope.data.advice import Advice
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["Tried", "log_evidence", "tried"]

OF_ROWS = ("exclude", "include", "bounds", "vary")
"""Options that name terms by row."""
TINY = 1e-9
"""Share of its mean that an eigenvalue of Gamma has at least, so that its logarithm is finite."""


class Tried(NamedTuple):
    """What an advice leads to.

    Attributes
    ----------
    result : Discovery
    before, after : float
        Log evidence of the old and the new result: the log likelihood at their coefficients, less half the logarithm of
        the number of steps for each of them.
    comparable : bool
        Whether they are of the same samples; where the recording was mended they are not.
    """

    result: Any
    before: float
    after: float
    comparable: bool


def tried(
    result: Findings,
    advice: Sequence[Advice],
    k: int,
    seed: int | None,
    progress: bool | Callable[[int], Any] | None,
) -> tuple[Findings, float, float, bool]:
    """See `Discovery.try_advice`."""
    if not advice:
        raise ArgumentError("try_advice: there is no advice on this result")
    if not isinstance(k, int) or not 0 <= k < len(advice):
        raise argument_error("k", k, f"the number of an advice, 0 to {len(advice) - 1}")
    asked = advice[k]
    if not asked.can_be_tried:
        raise ArgumentError(f"try_advice: no call does what is advised: {asked.sentence}")
    if result.data is None:
        raise ArgumentError(
            "try_advice: a saved result holds no recording: result.with_data(data).try_advice(k)"
        )
    data = asked.mend(result.data)
    changed = _options(result, asked, data)
    known = checks.seed(result.settings.get("seed") if seed is None else seed)
    new = solve(asked_again(result, data, known, progress, changed))
    same = not asked.recording and dict(new.known_drift) == dict(result.known_drift)
    same &= new.circles == result.circles  # turns that are added make other samples
    return new, log_evidence(result, result.data), log_evidence(new, data), same


def _options(result: Findings, advice: Advice, data: Trajectories) -> dict[str, Any]:
    """The options that an advice changes, as `discover` takes them."""
    changed = dict(advice.arguments)
    more = _observed(result, changed["observed"], data) if "observed" in changed else {}
    for option in ("library", "diffusion_library"):
        if option in changed:
            own = library_of(result, option) or library_of(result, "library") or Library.polynomials(0)
            asked = changed[option]
            changed[option] = own.about_mean() if asked == "about_mean" else own + Library.expressions(*asked)
            if asked == "about_mean":
                changed |= dict.fromkeys(OF_ROWS)
    if (
        "library" in changed
        and changed["library"].about_mean() is changed["library"]
        and result.diffusion_library
    ):
        changed["diffusion_library"] = result.diffusion_library.about_mean()
    if "order" in changed:
        changed = (
            dict.fromkeys(
                ("measurement_noise", "states", "observed", "known_drift", "known_diffusion", *OF_ROWS)
            )
            | changed
        )
    elif "select" in advice.recording:
        known = result.settings.get("known_drift") or {}
        changed["known_drift"] = {row: text for row, text in known.items() if row in data.names}
        for option in OF_ROWS:
            named = result.settings.get(option) or {}
            changed[option] = {row: terms for row, terms in named.items() if row in data.names}
    return changed | more


def _observed(result: Findings, asked: Mapping[str, str], data: Trajectories) -> dict[str, Any]:
    """What columns show, those that an advice names among them; harmonics where angles have a library of powers."""
    before = result.settings.get("observed") or ()
    found: dict[str, Any] = {"observed": {**dict(zip(data.names, before)), **asked}}
    if any(text.startswith("angle(") for text in asked.values()):
        own = library_of(result, "library")
        if own in [Library.polynomials(degree) for degree in range(1, DEGREE + 1)]:
            found |= {"library": None} | dict.fromkeys(OF_ROWS)
    return found


def log_evidence(result: Findings, data: Trajectories) -> float:
    """Schwarz' approximation of the log evidence: log likelihood less half log n for each coefficient."""
    count = sum(int((equation.selected & ~equation.given).sum()) for _, equation in result.labelled())
    count += len(result.parameters)
    steps = sum(int(np.count_nonzero(np.isfinite(path).any(axis=1))) - 1 for path in data.paths)
    if result.observer is not None:
        asked = result.settings.get("measurement_noise")
        told = asked if isinstance(asked, Mapping) else {}
        levels = [told.get(name, asked if not told else "estimate") for name in data.names]
        count += sum(isinstance(level, str) for level in levels)
        count += sum(len(law) for law in result.observer.tails) + len(result.observer.kicks)
        return float(result.diagnostics["loglik"]) - 0.5 * count * math.log(steps)
    laws = {
        tuple(law["rows"]): len(law["shape"]) for law in result.diagnostics.get("diffusion_law", {}).values()
    }
    count += sum(laws.values())
    paths, cost, spreads = _own(result, result.rows(data))
    return float(_likelihood(result, data, paths)) - cost - 0.5 * (count + spreads) * math.log(steps)


def _own(result: Findings, paths: list[Array]) -> tuple[list[Array], float, int]:
    """Paths with the most probable values of what differs by recording, what these cost, and the number of spreads.

    The integral over a value is the likelihood at its best times its law there and ``(2 pi)^1/2`` times its error.
    """
    paths, cost, count = [path.copy() for path in paths], 0.0, 0
    for row, terms in result.varying.items():
        equation = result.drift[row]
        for term, one in terms.items():
            column, count = result.variables.index(one.input), count + 1
            for path, value in zip(paths, one.values - equation.mean[equation.terms.index(term)]):
                path[:, column] = value
            size = max(one.spread, TINY)
            away = (one.values - one.values.mean()) / size
            cost += float(np.sum(np.log(size / np.clip(one.errors, TINY * size, size)) + 0.5 * away**2))
    return paths, cost, count


def _likelihood(result: Findings, data: Trajectories, paths: list[Array]) -> float:
    """Log likelihood of the steps of measured states, normal with drift and Gamma at their start.

    The mean of drifts at both ends would need its Jacobian.
    """
    rows = [state for state in result.drift if (state, state) in result.diffusion]
    numbers = [result.states.index(state) for state in rows]
    backend = result.settings.get("backend")
    stages = get_backend(None if backend == "default" else backend)

    def value(equation: Any, x: Array) -> Array:
        chosen = np.flatnonzero(equation.selected)
        if not len(chosen):
            return np.zeros(len(x))
        program = stages.compile([equation.terms[k] for k in chosen], list(result.variables))
        return np.asarray(program.evaluate(np.ascontiguousarray(x)) @ equation.mean[chosen])

    total = 0.0
    for path, stamps in zip(paths, data.times):
        dt = np.diff(stamps)
        f = np.stack([value(result.drift[state], path[:-1]) for state in rows], axis=1)
        left = np.diff(path[:, numbers], axis=0) - dt[:, None] * f
        gamma = np.zeros((len(dt), len(rows), len(rows)))
        for (a, b), equation in result.diffusion.items():
            i, j = rows.index(a), rows.index(b)
            gamma[:, i, j] = gamma[:, j, i] = value(equation, path[:-1])
        good = np.isfinite(left).all(axis=1) & np.isfinite(gamma).all(axis=(1, 2))
        gamma, left = gamma[good] * dt[good, None, None], left[good]
        for law, own in _laws(result, rows):
            values, vectors = np.linalg.eigh(gamma[:, own][:, :, own])
            values = np.maximum(values, max(TINY * float(np.mean(values)), 1e-300))
            turned = np.einsum("nij,ni->nj", vectors, left[:, own])
            if law:
                density = log_density(law, (turned**2 / values).sum(axis=1), len(own))
                total += float(np.sum(density) - 0.5 * np.sum(np.log(values)))
            else:
                total -= 0.5 * float(np.sum(turned**2 / values + np.log(2.0 * np.pi * values)))
    return total


def _laws(result: Findings, rows: Sequence[str]) -> list[tuple[tuple[float, ...], list[int]]]:
    """The laws of the steps, each with the numbers of its rows among some; a normal one of what has none."""
    found = result.diagnostics.get("diffusion_law", {})
    groups = {tuple(law["rows"]): numbers_of(law) for law in found.values()}
    laws = [(law, [rows.index(row) for row in names]) for names, law in groups.items()]
    rest = [k for k, row in enumerate(rows) if row not in found]
    return [*laws, ((), rest)] if rest else laws
