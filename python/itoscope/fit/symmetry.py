"""Coefficients that are equal, or mirrored: what a symmetry or named ties make of the terms of all rows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from itoscope.common import checks
from itoscope.common.types import Symmetry
from itoscope.errors import ArgumentError, argument_error, naming

if TYPE_CHECKING:
    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array
    from itoscope.library.bound import BoundLibrary
    from itoscope.posterior.equation import Equation
    from itoscope.result.diagnostics import Orbit

__all__ = [
    "Orbits",
    "against",
    "check_symmetry",
    "check_ties",
    "even_terms",
    "orbits_listed",
    "orbits_of_diffusion",
    "orbits_of_drift",
]

Key = tuple[int, ...]
POINTS, NEAR = 5, 1e-8
"""Points for each term at which terms are compared, and how near numbers are that count as equal."""
WANTED = "rows and what shares a coefficient in them, as [{'v1': 'x2 - x1', 'v2': 'x1 - x2'}]"


@dataclass(frozen=True)
class Orbits:
    """P coefficients of which those of all rows are made: ``theta[row] = maps[row].T @ phi``.

    Attributes
    ----------
    labels : tuple of P str
        What each multiplies, in all rows.
    maps : mapping of rows `(i,)`, or of entries of Gamma `(i, j)`, to (P, K) arrays
    """

    labels: tuple[str, ...]
    maps: Mapping[Key, Array]

    def without(self, excluded: Mapping[Key, Sequence[int]]) -> Orbits:
        """Those without a term that is excluded in its row."""
        kept = [
            p
            for p in range(len(self.labels))
            if not any(self.maps[key][p, list(terms)].any() for key, terms in excluded.items())
        ]
        return Orbits(tuple(self.labels[p] for p in kept), {key: m[kept] for key, m in self.maps.items()})


def against(log_evidence: float) -> list[str]:
    """A sentence where the data speak against what rows were to have in common."""
    if not log_evidence < 0.0:
        return []
    return [
        f"the data speak against what rows were to have in common (log evidence {log_evidence:+.3g}): leave out "
        "symmetry or ties"
    ]


def orbits_listed(equation: Equation, what: str) -> list[Orbit]:
    """The coefficients that rows of `what` have in common, ready for JSON."""
    ends = equation.interval(0.95)
    return [
        {
            "of": what,
            "terms": label,
            "selected": bool(equation.selected[p]),
            "pip": float(equation.pip[p]),
            "mean": float(equation.mean[p]),
            "sd": float(equation.sd[p]),
            "low": float(ends[p, 0]),
            "high": float(ends[p, 1]),
        }
        for p, label in enumerate(equation.terms)
    ]


def check_ties(ties: Any) -> None:
    """Raise `ArgumentError` unless ties are given as `[{"v1": "x2 - x1", "v2": "x1 - x2"}]`."""
    if ties is None:
        return
    if not checks.is_list(ties):
        raise argument_error("ties", ties, WANTED)
    for number, tie in enumerate(ties):
        named = isinstance(tie, Mapping) and len(tie) > 1
        if not named or not all(isinstance(word, str) for pair in tie.items() for word in pair):
            raise argument_error(f"ties[{number}]", tie, WANTED)


class _Terms:
    """The terms of a library at some points, and at images of these."""

    def __init__(self, library: BoundLibrary, backend: Backend) -> None:
        if library.customs:
            raise ArgumentError(
                "symmetry and ties: terms that are written out, for functions of Python have no images"
            )
        self.library, self.backend = library, backend
        self.program = backend.compile(library.expressions, library.inputs)
        rng = np.random.default_rng(20)
        self.points = rng.uniform(0.5, 1.5, size=(POINTS * len(library.names) + 20, len(library.inputs)))
        self.points *= rng.choice([-1.0, 1.0], size=self.points.shape)
        self.values = self.at(self.points)

    def at(self, points: Array) -> Array:
        return self.program.evaluate(np.ascontiguousarray(points))

    def combination(self, text: str, argument: str) -> Array:
        """Coefficients `(K,)` of the terms in an expression that is a sum of them."""
        with naming(argument):
            wanted = self.backend.compile([text], self.library.inputs).evaluate(self.points)[:, 0]
        found = np.linalg.lstsq(self.values, wanted, rcond=None)[0]
        found[np.abs(found) < NEAR] = 0.0
        if np.max(np.abs(self.values @ found - wanted)) > NEAR * max(float(np.max(np.abs(wanted))), 1.0):
            raise argument_error(
                argument, text, f"a sum of terms of the library: {', '.join(self.library.names)}"
            )
        return np.round(found, 10)

    def images(self, points: Array) -> list[int]:
        """For each term the one that is at these points what it is at its own; -1 for none."""
        moved, out = self.at(points), []
        for column in self.values.T:
            same = np.max(np.abs(moved - column[:, None]), axis=0) < NEAR * max(
                float(np.max(np.abs(column))), 1.0
            )
            out.append(int(np.argmax(same)) if same.any() else -1)
        return out

    def degrees(self) -> list[int]:
        """Degrees of the terms that are homogeneous polynomials in the states; -1 of others."""
        twice = self.points.copy()
        twice[:, : len(self.library.states)] *= 2.0
        ratio = self.at(twice) / np.where(self.values == 0.0, np.nan, self.values)
        out = []
        for column in ratio.T:
            power = np.log2(np.abs(column[0])) if np.isfinite(column[0]) and column[0] != 0.0 else -1.0
            whole = np.allclose(column, 2.0 ** round(float(power)), rtol=NEAR)
            out.append(round(float(power)) if whole else -1)
        return out


def even_terms(library: BoundLibrary, backend: Backend) -> list[str]:
    """Terms that do not change their sign with all states: those that an odd drift may not have."""
    terms = _Terms(library, backend)
    turned = terms.points.copy()
    turned[:, : len(library.states)] *= -1.0
    moved = terms.at(turned)
    return [
        name
        for name, one, two in zip(library.names, terms.values.T, moved.T)
        if not np.allclose(one, -two, rtol=NEAR)
    ]


def orbits_of_drift(
    symmetry: Symmetry | None,
    ties: Sequence[Mapping[str, str]] | None,
    library: BoundLibrary,
    rows: Sequence[int],
    backend: Backend,
) -> Orbits | None:
    """The coefficients of all rows that are sought; None where each row has its own."""
    if symmetry in (None, "odd") and not ties:
        return None
    terms = _Terms(library, backend)
    keys: list[Key] = [(row,) for row in rows]
    if symmetry == "rotation":
        _check_planar(library, rows)
        one, two = library.states[rows[0]], library.states[rows[1]]
        square = " + ".join(f"{library.states[row]}^2" for row in rows)
        found = []
        for power in range(_degree(terms) // 2 + 1):
            scale = "" if power == 0 else f"({square})*" if power == 1 else f"({square})^{power}*"
            if 2 * power + 1 <= _degree(terms):
                shown = "" if power == 0 else f"({square})" + (f"^{power} " if power > 1 else " ")
                found.append((f"{shown}({one}, {two})", {rows[0]: f"{scale}{one}", rows[1]: f"{scale}{two}"}))
                found.append(
                    (f"{shown}(-{two}, {one})", {rows[0]: f"-{scale}{two}", rows[1]: f"{scale}{one}"})
                )
        texts = [({(row,): text for row, text in made.items()}, label) for label, made in found]
        return _of_texts(texts, keys, terms, "symmetry")
    if symmetry == "exchange":
        return _of_group(_exchanges(library, rows), keys, terms)
    return _tied(ties or [], keys, terms)


def orbits_of_diffusion(
    symmetry: Symmetry | None,
    library: BoundLibrary,
    rows: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    backend: Backend,
) -> Orbits | None:
    """The coefficients of all entries of Gamma that are sought; None where each has its own."""
    if symmetry not in ("rotation", "exchange") or not pairs:
        return None
    terms, keys = _Terms(library, backend), list(pairs)
    if symmetry == "exchange":
        return _of_group(_exchanges(library, rows), keys, terms)
    square = " + ".join(f"{library.states[row]}^2" for row in rows)
    powers = ["1", f"({square})", *(f"({square})^{power}" for power in range(2, _degree(terms) // 2 + 1))]
    texts = [({(row, row): text for row in rows}, text) for text in powers[: _degree(terms) // 2 + 1]]
    return _of_texts(texts, keys, terms, "symmetry")


def _degree(terms: _Terms) -> int:
    return max(terms.degrees())


def _check_planar(library: BoundLibrary, rows: Sequence[int]) -> None:
    """A planar motion has two states, whose rows are sought."""
    if len(library.states) != 2 or len(rows) != 2:
        raise argument_error(
            "symmetry",
            "rotation",
            f"two states of which both rows are sought; there are {', '.join(library.states)}",
        )


def _exchanges(library: BoundLibrary, rows: Sequence[int]) -> list[list[int]]:
    """Permutations of the states that put one of the rows in the place of the next: each with what leads to it."""
    states, count = list(library.states), len(rows)
    if count < 2 or len(states) % count:
        raise argument_error(
            "symmetry",
            "exchange",
            f"two or more rows of as many states each; sought are {count} of {len(states)}",
        )
    groups = [states[k : k + count] for k in range(0, len(states), count)]
    if not any([states[row] for row in rows] == group for group in groups):
        raise argument_error(
            "symmetry", "exchange", "states in groups of one kind, of which one is sought, as x1, x2, v1, v2"
        )
    found = []
    for k in range(count - 1):
        order = list(range(len(states)))
        for start in range(0, len(states), count):
            order[start + k], order[start + k + 1] = start + k + 1, start + k
        found.append(order)
    return found


def _of_group(permutations: Sequence[Sequence[int]], keys: Sequence[Key], terms: _Terms) -> Orbits:
    """Orbits of (row, term) under permutations of the states."""
    members = [(key, k) for key in keys for k in range(len(terms.library.names))]
    parent = {member: member for member in members}

    def root(member: tuple[Key, int]) -> tuple[Key, int]:
        while parent[member] != member:
            member = parent[member]
        return member

    for order in permutations:
        points = terms.points.copy()
        points[:, : len(order)] = terms.points[:, np.argsort(order)]
        images = terms.images(points)
        if -1 in images:
            lost = terms.library.names[images.index(-1)]
            raise argument_error("library", lost, "with every term the terms of exchanged states")
        for key, k in members:
            moved = tuple(sorted(order[i] for i in key)), images[k]
            if moved in parent:
                one, two = root((key, k)), root(moved)
                parent[max(one, two, key=members.index)] = min(one, two, key=members.index)
    orbits: dict[tuple[Key, int], list[tuple[Key, int]]] = {}
    for member in members:
        orbits.setdefault(root(member), []).append(member)
    maps = {key: np.zeros((len(orbits), len(terms.library.names))) for key in keys}
    labels = []
    for p, found in enumerate(orbits.values()):
        for key, k in found:
            maps[key][p, k] = 1.0
        labels.append(_label(found, keys, terms))
    return Orbits(tuple(labels), maps)


def _label(members: Sequence[tuple[Key, int]], keys: Sequence[Key], terms: _Terms) -> str:
    names, states = terms.library.names, terms.library.states
    parts = []
    for key in keys:
        inside = " + ".join(names[k] for one, k in members if one == key)
        if inside:
            parts.append(f"{','.join(states[i] for i in key)}: {inside}")
    return ", ".join(parts)


def _of_texts(
    texts: Sequence[tuple[Mapping[Any, str], str]], keys: Sequence[Key], terms: _Terms, argument: str
) -> Orbits:
    maps = {key: np.zeros((len(texts), len(terms.library.names))) for key in keys}
    for p, (made, _) in enumerate(texts):
        for key, text in made.items():
            maps[key][p] = terms.combination(text, argument)
    return Orbits(tuple(label for _, label in texts), maps)


def _tied(ties: Sequence[Mapping[str, str]], keys: Sequence[Key], terms: _Terms) -> Orbits:
    """Named ties, and every other term of a row by itself; what stands in a tie has no other coefficient there."""
    states, names = list(terms.library.states), terms.library.names
    sought = [states[key[0]] for key in keys]
    texts, taken = [], {key: np.zeros(len(names), dtype=bool) for key in keys}
    for number, tie in enumerate(ties):
        made: dict[Key, str] = {}
        for row, text in tie.items():
            if row not in sought:
                raise argument_error(f"ties[{number}]", row, f"a row that is sought: {', '.join(sought)}")
            key: Key = (states.index(row),)
            made[key] = text
            taken[key] |= terms.combination(text, f"ties[{number}][{row!r}]") != 0.0
        texts.append((made, ", ".join(f"{row}: {text}" for row, text in tie.items())))
    tied = _of_texts(texts, keys, terms, "ties")
    free = [(key, k) for key, k in itertools.product(keys, range(len(names))) if not taken[key][k]]
    maps = {key: np.vstack([tied.maps[key], np.zeros((len(free), len(names)))]) for key in keys}
    for place, (key, k) in enumerate(free, len(texts)):
        maps[key][place, k] = 1.0
    return Orbits((*tied.labels, *(f"{states[key[0]]}: {names[k]}" for key, k in free)), maps)


def check_symmetry(symmetry: Any) -> None:
    """Raise `ArgumentError` for another word."""
    checks.choice("symmetry", symmetry, (None, *get_args(Symmetry)))
