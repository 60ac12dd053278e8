"""What a fit will take, before it starts: terms or memory that are not there are refused, a long time is said."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.common.machine import free_memory, size_text
from itoscope.errors import argument_error
from itoscope.fit.carried import degree_within, most_carried
from itoscope.library.bound import TIME

if TYPE_CHECKING:
    from itoscope.fit.question import Question

__all__ = ["Size", "check_carried", "check_size", "size_of"]

SHARE = 0.5
"""Of the free memory, what a fit may take."""
LONG = 60.0
"""Seconds of one core beyond which it is said how long a fit will take."""
ROUNDS = 2
"""Weight rounds that are usual."""
SUMS, SWEEP, FACTOR = 1e-10, 3e-8, 4e-9
"""Seconds of one core: of the sums, by step and pair of terms; of a sweep, by term; of the decompositions of one
sampling, by the cube of the terms. Measured at 36 to 200 terms on a processor with AVX-512."""
BYTES, HELD, JOB, STEPS_OF_JOB, MOST_JOBS = 8, 4, 4, 8192, 32
"""Of a number; squares of the terms that the moments of an equation hold; those of a job of the sums, its steps, and
jobs that are held at once."""


class Size(NamedTuple):
    """Memory in bytes beside the recording, and seconds of one core."""

    memory: float
    seconds: float


def size_of(terms: int, equations: int, steps: int, sweeps: int) -> Size:
    """What the regressions of measured states take.

    Parameters
    ----------
    terms : int
        Candidates of an equation, K.
    equations : int
        Rows of the drift and entries of Gamma.
    steps : int
        Of the recording.
    sweeps : int
        Of all chains of an equation.
    """
    jobs = min(MOST_JOBS, 1 + steps // STEPS_OF_JOB) + 2
    memory = BYTES * terms**2 * (HELD * equations + JOB * jobs)
    each = ROUNDS * SUMS * steps * terms**2 + SWEEP * sweeps * terms + (ROUNDS + 1) * FACTOR * terms**3
    return Size(memory, equations * each)


def check_carried(question: Question) -> None:
    """Refuse more candidates than the recording can carry.

    Raises
    ------
    ArgumentError
        Names the largest number that it can, and the degree of the polynomials of so many.
    """
    rows = len(question.rows)
    if question.stream is not None:
        most = question.stream.n_steps - 1
    else:
        most = most_carried(
            question.data, rows, filtered=not question.measured, ensemble=question.options.ensemble
        )
    names = question.own.names
    left = [sum(name not in said.excluded for name in names) for said in question.said.values()]
    variables = len(question.own.states) + len(set(question.inputs) - {TIME})
    asked = {"library": max(left, default=len(names))}
    if question.pairs:
        asked["diffusion_library"] = len(question.diffusion_library.names)
    what = "steps" if question.measured else "readings for each row"
    for name, terms in asked.items():
        if terms > most:
            degree = degree_within(variables, most)
            raise argument_error(
                name,
                f"{terms} terms",
                f"at most {most}: as many as the recording has {what}, {most + 1}, fit whatever it shows; the largest "
                f"polynomials that it can carry are Library.polynomials({degree}), with "
                f"{math.comb(variables + degree, degree)}",
            )


def check_size(question: Question) -> None:
    """Refuse what does not fit into memory, and say what takes long.

    Raises
    ------
    ArgumentError
        For a library whose sums would take more than half of the free memory; the message names the largest that would
        not.
    MemoryError
        Where the system does not give what was estimated.
    """
    terms = max(len(question.library.names), len(question.diffusion_library.names))
    equations = len(question.rows) + len(question.pairs)
    steps = question.data.n_steps if question.stream is None else question.stream.n_steps
    if not question.measured:  # all rows of the drift are one regression, and so are the entries of Gamma
        terms, equations, steps = terms * max(len(question.rows), len(question.pairs)), 2, 0
    sampling = question.sampling
    sweeps = int(sampling.n_chains) * (sampling.draws + int(sampling.n_burn))
    size = size_of(terms, equations, steps, sweeps)
    free = free_memory()
    if size.memory > SHARE * free:
        most = math.isqrt(int(terms**2 * SHARE * free / size.memory)) * len(question.library.names) // terms
        raise argument_error(
            "library",
            f"{len(question.library.names)} terms",
            f"{len(question.states)} states and {equations} equations with so many candidates take "
            f"{size_text(size.memory)}, more than half of the {size_text(free)} that are free; about {most} terms fit: "
            "a library of a lower degree, diffusion='diagonal' or 'constant', fewer states",
        )
    np.empty(int(min(size.memory, 2.0**62)), dtype=np.uint8)  # asks the system, and takes nothing
    if size.seconds > LONG:
        warnings.warn(
            f"about {size.seconds / 60:.0f} minutes of one core: {equations} equations with {terms} candidates over "
            f"{steps} steps; fewer terms, diffusion='diagonal' or 'constant', and fewer states are quicker",
            stacklevel=2,
        )
