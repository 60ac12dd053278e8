"""The candidate terms of a recording: one list of expressions, and which of them drift and Gamma may use where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.expressions.affine import affine
from itoscope.expressions.grammar import named
from itoscope.expressions.kinks import Kink, closed_kinks, distinct
from itoscope.fit.filtered.named import Named, Part
from itoscope.library.bound import names_in

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Columns
    from itoscope.fit.numbers import Numbers
    from itoscope.library.bound import BoundLibrary
    from itoscope.posterior.said import Said

__all__ = ["Candidates"]


@dataclass(frozen=True)
class Candidates:
    """K terms that a model may hold, each once, then what is given of the drift and of Gamma.

    Attributes
    ----------
    states : tuple of m str
    expressions : tuple of str
        The K terms, then one expression for each given row, known part of a row and given element of Gamma.
    drift_terms, gamma_terms : tuples of int
        Numbers of the terms that are candidates of the drift and of Gamma.
    constant : int
        Number of the term 1, which is always there: Gamma starts with it.
    rows : tuple of int
        Rows of the drift that are unknown.
    pairs : tuple of (i, j)
        Elements of Gamma that are sought; the others are zero.
    starts : tuple of dict of (row, term) to float
        Coefficients of the drift from which the search is started, beside none at all.
    spare : bool
        Whether the elements of Gamma are there for the filter alone, which needs some, and not in the answer.
    constants_of_one : tuple of int
        States that stand still, standard normal at the start of each recording.
    constant_pairs : frozenset of int
        Numbers of the pairs whose one candidate is the constant.
    given : (m, n_given) array
        The drift's coefficients on the given expressions.
    given_pairs : tuple of (i, j)
        Elements of Gamma that are given, beside those that are sought.
    given_gamma : (n_given_pairs, n_given) array
        Their coefficients on the given expressions.
    excluded, included, held : frozensets of (row, term)
        Terms that a row of the drift may not have, those that it has in every model, and among what is given those that
        are known parts of a row that is sought.
    bounds : mapping of (row, term) to (low, high)
        Between which coefficients are.
    echoes : mapping of (row, term) to tuple of (row, term)
        Where else the coefficient of a column of the drift stands.
    named : Named
        The numbers in given expressions, whose slopes stand after these.
    """

    states: tuple[str, ...]
    expressions: tuple[str, ...]
    drift_terms: tuple[int, ...]
    gamma_terms: tuple[int, ...]
    constant: int
    rows: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    given: Array
    given_pairs: tuple[tuple[int, int], ...] = ()
    given_gamma: Array = field(default_factory=lambda: np.zeros((0, 0)))
    starts: tuple[dict[tuple[int, int], float], ...] = ()
    spare: bool = False
    constants_of_one: tuple[int, ...] = ()
    constant_pairs: frozenset[int] = frozenset()
    excluded: frozenset[tuple[int, int]] = frozenset()
    included: frozenset[tuple[int, int]] = frozenset()
    held: frozenset[tuple[int, int]] = frozenset()
    bounds: Mapping[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    echoes: Mapping[tuple[int, int], tuple[tuple[int, int], ...]] = field(default_factory=dict)
    named: Named = field(default_factory=Named)

    @classmethod
    def of(
        cls,
        library: BoundLibrary,
        diffusion_library: BoundLibrary | None = None,
        known: Mapping[int, str] | None = None,
        pairs: Sequence[tuple[int, int]] | None = None,
        constant_pairs: Collection[tuple[int, int]] = (),
        carried: Mapping[str, str] | None = None,
        said: Mapping[int, Said] | None = None,
        noise: Mapping[tuple[int, int], str] | None = None,
    ) -> Candidates:
        """Those of two libraries; by default Gamma has that of the drift, and all elements of the unknown rows.

        Parameters
        ----------
        library, diffusion_library : BoundLibrary
        known : mapping from row to expression
            Rows of the drift that are given and carry no noise.
        pairs : sequence of (i, j), optional
        constant_pairs : collection of (i, j)
            Those of them that are constants.
        carried : mapping of str to str, optional
            States after those of the library that are known at every sample, each with its drift.
        said : mapping of int to Said, optional
            What is known of the terms of a row of the drift, as `library` shows them.
        noise : mapping of (i, j) to expression, optional
            Elements of Gamma that are given.
        """
        gamma_library, own = diffusion_library or library, len(library.states)
        states = (*library.states, *(carried or {}))
        known = {**(known or {}), **dict(enumerate((carried or {}).values(), own))}
        m = len(states)
        drift_terms, gamma_terms = library.expressions, gamma_library.expressions
        texts, where = distinct([*drift_terms, *gamma_terms, "1"], states)
        held = sorted(_columns(said, "held", library, where))
        noise = noise or {}
        given_texts = [*known.values(), *(texts[k] for _, k in held), *noise.values()]
        given = np.zeros((m, len(given_texts)))
        for column, row in enumerate([*known, *(row for row, _ in held)]):
            given[row, column] = 1.0
        given_gamma = np.eye(len(given_texts))[len(given_texts) - len(noise) :]
        rows = tuple(i for i in range(m) if i not in known)

        if pairs is None:
            pairs = [(i, j) for i in rows for j in rows if j >= i]
        return cls(
            states=states,
            expressions=(*texts, *given_texts),
            drift_terms=tuple(where[: len(drift_terms)]),
            gamma_terms=tuple(where[len(drift_terms) : -1]),
            constant=where[-1],
            rows=rows,
            pairs=tuple(pairs),
            given=given,
            given_pairs=tuple(noise),
            given_gamma=given_gamma,
            constant_pairs=frozenset(p for p, pair in enumerate(pairs) if pair in constant_pairs),
            excluded=_columns(said, "excluded", library, where) | frozenset(held),
            included=_columns(said, "included", library, where),
            held=frozenset(held),
            bounds={
                (row, where[k]): one.bounds[name]
                for row, one in (said or {}).items()
                for k, name in enumerate(library.names)
                if name in one.bounds
            },
        )

    def with_numbers(
        self, numbers: Numbers, drift: Mapping[int, str], noise: Mapping[tuple[int, int], str]
    ) -> Candidates:
        """The same with numbers that the given expressions of `drift` rows and elements of `noise` name."""
        first = self.n_terms
        columns = {row: column for row, column in np.argwhere(self.given != 0.0).tolist()}
        given: list[tuple[Part, int, int, str]] = [
            ("drift", row, first + columns[row], text) for row, text in drift.items()
        ]
        places = np.argmax(self.given_gamma, axis=1).tolist() if self.given_pairs else []
        given += [
            ("gamma", self.given_pairs.index(pair), first + places[self.given_pairs.index(pair)], text)
            for pair, text in noise.items()
        ]
        used = [one for one in given if any(number in names_in(one[3]) for number in numbers.names)]
        named = Named.of(numbers, self.states, used, len(self.expressions))
        more = len(named.slopes)
        expressions = [*self.expressions, *[""] * more]
        for number in named.templates:
            expressions[number] = named.text(number, numbers.generic)
        return replace(
            self,
            expressions=tuple(expressions),
            given=np.pad(self.given, ((0, 0), (0, more))),
            given_gamma=np.pad(self.given_gamma, ((0, 0), (0, more))),
            named=named,
        )

    def text(self, term: int, numbers: Array) -> str:
        """An expression where the named numbers have some values."""
        return self.named.text(term, numbers) if term in self.named.templates else self.expressions[term]

    @property
    def n_terms(self) -> int:
        """How many terms there are, K, the given rows not among them."""
        return len(self.expressions) - int(self.given.shape[1])

    @property
    def known(self) -> dict[int, str]:
        """The given rows of the drift, and what is known of others."""
        found: dict[int, str] = {}
        for row, column in np.argwhere(self.given != 0.0).tolist():
            found.setdefault(row, self.expressions[self.n_terms + column])
        return found

    @cached_property
    def affine(self) -> frozenset[int]:
        """Numbers of the terms of constant slope, given rows among them."""
        return affine(self.expressions, self.states)

    @cached_property
    def constants(self) -> frozenset[int]:
        """Numbers of the terms that no state is in: the constant, and given ones of the kind."""
        return frozenset(k for k in self.affine if not named(self.expressions[k], self.states))

    @cached_property
    def kinks(self) -> dict[int, Kink]:
        """The terms whose Gaussian expectation is known in closed form."""
        return {kink.term: kink for kink in closed_kinks(self.expressions, self.states)}

    @property
    def all_drift(self) -> Columns:
        """Every candidate (row, term) of the drift."""
        every = [(i, k) for i in self.rows for k in self.drift_terms]
        return [column for column in every if column not in self.excluded]

    def limits(self, columns: Columns) -> Array | None:
        """Bounds `(n, 2)` of the coefficients of columns of the drift, infinite of most; None without any."""
        if not self.bounds:
            return None
        return np.array([self.bounds.get(column, (-np.inf, np.inf)) for column in columns])

    def within(self, drift: Array) -> Array:
        """Coefficients of the drift, those that bounds keep from zero brought between them where they are there."""
        out: Array = drift.copy()
        for column, (low, high) in self.bounds.items():
            if out[column] != 0.0 and (low > 0.0 or high < 0.0):
                out[column] = min(max(float(out[column]), low), high)
        return out

    def terms_of(self, p: int) -> tuple[int, ...]:
        """Numbers of the terms that are candidates of one pair."""
        return (self.constant,) if p in self.constant_pairs else self.gamma_terms

    @property
    def all_gamma(self) -> Columns:
        """Every candidate (pair, term) of Gamma."""
        return [(p, k) for p in range(len(self.pairs)) for k in self.terms_of(p)]

    @property
    def variances(self) -> tuple[int, ...]:
        """Numbers of the pairs that are variances."""
        return tuple(p for p, (i, j) in enumerate(self.pairs) if i == j)

    @property
    def silent(self) -> tuple[int, ...]:
        """Unknown rows that carry no noise."""
        return tuple(i for i in self.rows if (i, i) not in self.pairs)

    def loosened(self) -> Candidates:
        """The same with a constant noise in the `silent` rows, after the other pairs."""
        pairs = (*self.pairs, *((i, i) for i in self.silent))
        return replace(
            self, pairs=pairs, constant_pairs=self.constant_pairs | set(range(len(self.pairs), len(pairs)))
        )

    @property
    def pair_names(self) -> list[str]:
        """How the elements of Gamma are named: `x1,x2`."""
        return [f"{self.states[i]},{self.states[j]}" for i, j in self.pairs]


def _columns(
    said: Mapping[int, Said] | None, what: str, library: BoundLibrary, where: Sequence[int]
) -> frozenset[tuple[int, int]]:
    """The (row, term) of which something is said."""
    return frozenset(
        (row, where[k])
        for row, one in (said or {}).items()
        for k, name in enumerate(library.names)
        if name in getattr(one, what)
    )
