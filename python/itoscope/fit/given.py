"""What is given of the equations: whole rows of the drift, known parts of others, noise of given rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from itoscope.common import checks
from itoscope.errors import ArgumentError, argument_error, naming
from itoscope.library.bound import TIME, names_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from itoscope.backends.protocol import Backend

__all__ = ["Given"]

REST = "..."
"""What stands in a row for unknown terms of the library."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class Given:
    """Given rows and noise, by the names of states, in the order of the states.

    Attributes
    ----------
    drift : dict of str to str
        Whole rows.
    parts : dict of str to str
        Known parts of rows that have unknown terms beside them.
    noise : dict of (str, str) to str
        Entries of Gamma.
    asked : dict of str to str
        Rows as they were written, `"... "` and all.
    """

    drift: dict[str, str]
    parts: dict[str, str]
    noise: dict[Pair, str]
    asked: dict[str, str]

    @classmethod
    def of(cls, drift: Mapping[str, Any], noise: Mapping[Any, Any] | None, states: Sequence[str]) -> Given:
        """Check that rows and pairs are of the states, and take the known parts apart.

        Raises
        ------
        ArgumentError
            For a name that no state has, what is no text, all rows given, and noise of rows that are sought.
        """
        whole, parts = {}, {}
        for state, text in drift.items():
            if state not in states:
                raise argument_error("known_drift", state, f"a state: {', '.join(states)}")
            if not isinstance(text, str):
                raise argument_error(f"known_drift[{state!r}]", text, "an expression, such as 'x2'")
            if REST in text:
                if known := _known_part(state, text):
                    parts[state] = known
            else:
                whole[state] = text
        if len(whole) == len(states):
            raise ArgumentError(f"known_drift gives all of {', '.join(states)}: leave a row to discover")

        def ordered(rows: Mapping[str, str]) -> dict[str, str]:
            return {state: rows[state] for state in states if state in rows}

        asked = ordered({state: str(text) for state, text in drift.items()})
        return cls(ordered(whole), ordered(parts), _noise(noise, whole, states), asked)

    @property
    def texts(self) -> list[str]:
        """All expressions."""
        return [*self.drift.values(), *self.parts.values(), *self.noise.values()]

    @property
    def timed(self) -> bool:
        """Whether an expression contains the time."""
        return any(TIME in names_in(text) for text in self.texts)

    def written(self, write: Callable[[str], str]) -> Given:
        """The same with every expression written in another way."""
        drift, parts = ({row: write(text) for row, text in rows.items()} for rows in (self.drift, self.parts))
        noise = {pair: write(text) for pair, text in self.noise.items()}
        return replace(self, drift=drift, parts=parts, noise=noise)

    def compiled(self, names: Sequence[str], backend: Backend) -> None:
        """Raise `ArgumentError` for an expression that does not compile over these names."""
        for option, found in (("known_drift", {**self.drift, **self.parts}), ("known_diffusion", self.noise)):
            for key, text in found.items():
                with naming(f"{option}[{key!r}]"):
                    backend.compile([text], list(names))

    def settings(self) -> dict[str, Any]:
        """As it is saved with a result."""
        found: dict[str, Any] = {"known_drift": dict(self.asked)}
        if self.noise:
            found["known_diffusion"] = {
                ",".join(dict.fromkeys(pair)): text for pair, text in self.noise.items()
            }
        return found


def _known_part(state: str, text: str) -> str:
    """What stands beside the unknown terms, empty for nothing: `"-9.81 + ..."` is `"-9.81"`."""
    wanted = f"{REST} as one summand, such as '-9.81 + {REST}'"
    before, _, after = (piece.strip() for piece in text.partition(REST))
    if REST in after or (before and not before.endswith("+")) or (after and after[0] not in "+-"):
        raise argument_error(f"known_drift[{state!r}]", text, wanted)
    before = before.removesuffix("+").rstrip()
    if not before:
        after = after.removeprefix("+").lstrip()
    return f"{before} {after}".strip()


def _noise(
    noise: Mapping[Any, Any] | None, rows: Mapping[str, str], states: Sequence[str]
) -> dict[Pair, str]:
    """The given entries of Gamma, each pair in the order of the states."""
    found: dict[Pair, str] = {}
    for key, text in (noise or {}).items():
        names = [name.strip() for name in key.split(",")] if isinstance(key, str) else key
        pair = tuple(names) if checks.is_list(names) else ()
        pair = pair * 2 if len(pair) == 1 else pair
        if len(pair) != 2 or not all(name in states for name in pair):
            allowed = f"a state or a pair of states: {', '.join(states)}"
            raise argument_error("known_diffusion", key, allowed)
        if not any(name in rows for name in pair):
            raise argument_error(
                "known_diffusion",
                key,
                f"a given row, for the noise of others is found: {', '.join(rows) or 'none'}",
            )
        value = repr(float(text)) if isinstance(text, int | float) and not isinstance(text, bool) else text
        if not isinstance(value, str):
            raise argument_error(
                f"known_diffusion[{key!r}]", text, "an expression or a number, such as '0.04'"
            )
        first, second = sorted(pair, key=list(states).index)
        found[first, second] = value
    return found
