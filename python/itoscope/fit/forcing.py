"""Which elements of Gamma are sought, and of which terms: one word for all rows of the drift, or one by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Diffusion

__all__ = ["constant_pairs", "noisy_rows", "pairs_of", "words_by_row"]

Pair = tuple[int, int]


def words_by_row(
    diffusion: Diffusion | Mapping[str, Diffusion], states: Sequence[str], rows: Sequence[int]
) -> dict[int, Diffusion]:
    """The word of each unknown row; rows that a mapping does not name are `"full"`.

    Raises
    ------
    ArgumentError
        For a name that no unknown row has.
    """
    if not isinstance(diffusion, Mapping):
        return dict.fromkeys(rows, diffusion)
    sought = [states[row] for row in rows]
    for state in diffusion:
        if state not in sought:
            allowed = f"a state whose drift is sought: {', '.join(sought)}"
            raise argument_error("diffusion", state, allowed)
    return {row: diffusion.get(states[row], "full") for row in rows}


def pairs_of(words: Mapping[int, Diffusion]) -> tuple[Pair, ...]:
    """The elements that are sought, the diagonal first: none of a row without noise, of a `"diagonal"` one its own."""
    noisy = [row for row, word in words.items() if word != "none"]
    joint = [row for row in noisy if words[row] != "diagonal"]
    return (*((i, i) for i in noisy), *((i, j) for i in joint for j in joint if i < j))


def constant_pairs(words: Mapping[int, Diffusion]) -> frozenset[Pair]:
    """Those of them that are constants, whatever the library is: of a `"constant"` row."""
    return frozenset((i, j) for i, j in pairs_of(words) if "constant" in (words[i], words[j]))


def noisy_rows(
    words: Mapping[int, Diffusion], known: Mapping[tuple[str, str], str], states: Sequence[str]
) -> set[int]:
    """The rows that white noise drives: entries of Gamma are sought in them, or `known` to be other than zero."""
    told = {name for pair, text in known.items() if text.strip("0. ") for name in pair}
    return {i for pair in pairs_of(words) for i in pair} | {states.index(name) for name in told}
