"""What the columns of a regression are to each other: which coincide, which are tried, and a sound Gram matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.stats.quadratic import RANK_TOLERANCE, Quadratic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["ALIAS", "alias_notes", "find_aliases", "notes_of", "sound"]

#: Columns whose correlation exceeds this in size coincide on the data.
ALIAS = 1 - 1e-9
#: A column of which a smaller share is left beside those before it is beyond numerical rank.
DEPENDENT = 1e-12
#: Condition number of the scaled Gram matrix above which the answer may hang on rounding: its square root
#: is what the data lose in accuracy, here half of the sixteen digits.
CONDITION = 1e12


def sound(quadratic: Quadratic) -> Quadratic:
    """The same regression with a Gram matrix that has a Cholesky factor, whatever columns are chosen.

    On columns scaled to unit length, directions whose eigenvalue is a smaller share of the largest than rounding leaves
    (`RANK_TOLERANCE`) get this share and no part of the moment: a model pays for them and gains nothing. Where no
    direction is that small, the regression itself.
    """
    size = np.sqrt(np.maximum(np.diag(quadratic.gram), 0.0))
    used = np.flatnonzero(size > 0)
    scale = np.where(size > 0, size, 1.0)
    if not used.size:
        return quadratic
    cosine = (quadratic.gram / np.outer(scale, scale))[np.ix_(used, used)]
    values, vectors = np.linalg.eigh(0.5 * (cosine + cosine.T))
    floor = max(RANK_TOLERANCE, 4 * used.size * np.finfo(float).eps) * values[-1]
    if values[0] >= floor:
        return quadratic
    along = vectors.T @ (quadratic.moment / scale)[used]
    along[values < floor] = 0.0
    gram, moment = quadratic.gram.copy(), quadratic.moment.copy()
    square = (vectors * np.maximum(values, floor)) @ vectors.T
    gram[np.ix_(used, used)] = 0.5 * (square + square.T) * np.outer(scale[used], scale[used])
    moment[used] = (vectors @ along) * scale[used]
    return replace(quadratic, gram=gram, moment=moment)


def find_aliases(quadratic: Quadratic, terms: Sequence[str]) -> tuple[list[int], dict[str, list[str]]]:
    """Return the columns to keep, and for each that stands for others the names of those.

    Columns coincide if their correlation exceeds `ALIAS` in size. The first of a group is kept: libraries
    put simple terms first. Of the columns that are left, one that is to rounding a combination of those before it
    (`DEPENDENT`) goes as well, to the one that it is closest to.
    """
    cosine = quadratic.correlation()
    same = np.abs(cosine) > ALIAS
    aliases: dict[str, list[str]] = {}
    gone = np.zeros(len(terms), dtype=bool)
    keep: list[int] = []
    for k in range(len(terms)):
        if gone[k]:
            continue
        others = [int(j) for j in np.flatnonzero(same[k]) if j > k and not gone[j]]
        gone[others] = True
        keep.append(k)
        if others:
            aliases[terms[k]] = [terms[j] for j in others]
    for k in _dependent(cosine, keep):
        keep.remove(k)
        nearest = keep[int(np.argmax(np.abs(cosine[k, keep])))]
        aliases.setdefault(terms[nearest], []).extend([terms[k], *aliases.pop(terms[k], [])])
    return keep, aliases


def _dependent(cosine: Array, columns: Sequence[int]) -> list[int]:
    """Columns of which nothing but rounding is left once those before them are taken out."""
    rest = cosine[np.ix_(columns, columns)]
    left_out = []
    for k, column in enumerate(columns):
        pivot = rest[k, k]
        if pivot >= DEPENDENT:
            rest = rest - np.outer(rest[:, k], rest[k] / pivot)
        elif cosine[column, column] > 0:
            left_out.append(column)
    return left_out


def alias_notes(aliases: dict[str, list[str]]) -> list[str]:
    """A sentence that names the columns that coincide, if there are any."""
    if not aliases:
        return []
    groups = "; ".join(" = ".join((kept, *others)) for kept, others in aliases.items())
    return [f"on these data some terms cannot be told apart, and only the first of each was tried: {groups}"]


def notes_of(quadratic: Quadratic, names: Sequence[str], aliases: dict[str, list[str]]) -> list[str]:
    """What a reader should know about the columns before trusting the answer."""
    notes = alias_notes(aliases)
    zero = [name for name, square in zip(names, np.diag(quadratic.gram)) if square == 0]
    if zero:
        notes.append(f"zero everywhere on these data and never selected: {', '.join(zero)}")
    cosine = quadratic.correlation()
    used = np.diag(cosine) > 0
    if used.any():
        eigenvalues = np.linalg.eigvalsh(cosine[np.ix_(used, used)])
        condition = eigenvalues[-1] / max(eigenvalues[0], 1e-300)
        if condition > CONDITION:
            notes.append(
                f"the terms are nearly dependent on these data (condition number {min(condition, 1e16):.0e} "
                f"of their scaled Gram matrix, over {CONDITION:.0e}): other sets of terms may fit as well"
            )
    return notes
