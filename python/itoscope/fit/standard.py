"""The libraries of a question, and the one where none is given: monomials to the degree that keeps them few."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from itoscope.fit.carried import degree_within
from itoscope.fit.forcing import words_by_row
from itoscope.fit.sensors.angles import harmonics
from itoscope.library.bound import TIME
from itoscope.library.library import Library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Diffusion
    from itoscope.data.angles import Circle
    from itoscope.fit.memory import Memory
    from itoscope.fit.options import Options
    from itoscope.fit.shapers import Shaper

__all__ = ["libraries", "said_of_short", "standard_library"]

DEGREE, MOST = 3, 70
"""Degree of the library that is taken unless one is given, and the most terms, for which the degree is lowered."""


def standard_library(count: int, most: int = MOST) -> Library:
    r"""Monomials of `count` variables to the largest degree p <= 3 with :math:`\binom{n + p}{p} \le 70` terms.

    Cubes of up to five variables (56 terms), squares and products of up to ten (66), straight lines beyond; of a short
    recording no more than it can carry.

    Parameters
    ----------
    count : int
        States and inputs, n; the time is none of them.
    most : int
        Terms that the recording can carry.
    """
    degree = DEGREE
    while degree > 1 and comb(count + degree, degree) > MOST:
        degree -= 1
    while degree > 0 and comb(count + degree, degree) > most:
        degree -= 1
    return Library.polynomials(degree)


def said_of_short(
    options: Options, motion: Sequence[str], inputs: Sequence[str], most: int
) -> tuple[str, ...]:
    """What is said where a recording is too short for the library that is taken unless one is given."""
    count = len(motion) + len(set(inputs) - {TIME})
    short = standard_library(count, most)
    if options.library is not None or short == standard_library(count):
        return ()
    return (
        f"so short a recording carries no more than {most} candidates: they end at degree {degree_within(count, most)}",
    )


def libraries(
    options: Options,
    motion: Sequence[str],
    inputs: Sequence[str],
    sought: Sequence[str],
    forced: Sequence[Shaper | Memory],
    angles: Mapping[str, Circle],
    most: int,
) -> tuple[Library, Library, dict[int, Diffusion]]:
    """Candidates of the drift and of Gamma, and what was asked of the noise of each row: none where a force has it.

    The candidates that are taken unless some are given are no more than `most`.
    """
    count = len(motion) + len(set(inputs) - {TIME})
    recipe = _usual(count, motion, angles, most) if options.library is None else options.library
    words = words_by_row(options.diffusion, motion, [motion.index(x) for x in sought])
    words |= {motion.index(one.row): "none" for one in forced}
    for_diffusion = options.diffusion_library or recipe
    if "constant" in words.values() or (forced and set(words.values()) == {"none"}):
        varying = not {"constant", "none"}.issuperset(words.values())
        for_diffusion = Library.polynomials(0) + for_diffusion if varying else Library.polynomials(0)
    return recipe, for_diffusion, words


def _usual(count: int, motion: Sequence[str], angles: Mapping[str, Circle], most: int) -> Library:
    """The library of a recording of which nothing was said."""
    if not angles:
        return standard_library(count, most)
    found = [harmonics(motion, angles, degree) for degree in range(DEGREE, 0, -1)]
    return next((one for one in found if len(one.names(motion)) <= most), Library.polynomials(0))
