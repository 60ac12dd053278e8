"""Models that differ in their coefficients alone: arrays of these, and one compiled system per form of equations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from itoscope.common.numbers import exact
from itoscope.expressions.ito import Operators
from itoscope.expressions.sums import expression_of, sum_of
from itoscope.sde.roots import constant_of, is_positive, modulus_of
from itoscope.stats.covariance import nearest_covariance, negative_part, root_of_covariance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from itoscope.common.types import Array, Bools, Integers

__all__ = ["Draws", "Family", "Sum", "families", "repaired"]


class Sum(NamedTuple):
    """One expression per model, `sum_k values[i, k] terms[k]`: a term whose coefficient is zero is left out."""

    terms: Sequence[str]
    values: Array
    """`(n_models, K)`"""

    def of(self, model: int) -> str:
        """That of one model."""
        return expression_of(dict(zip(self.terms, self.values[model].tolist())))


@dataclass(frozen=True)
class Draws:
    """Models over the same terms, drawn together.

    Attributes
    ----------
    states : tuple of m str
    given : mapping of str to str
        Rows of the drift that all models share.
    drift : mapping of str to Sum
        The other rows.
    gamma : mapping of (str, str) to Sum
        Entries of the covariance; those not named are zero.
    inputs : tuple of str
        Names of what drives the states.
    """

    states: tuple[str, ...]
    given: Mapping[str, str]
    drift: Mapping[str, Sum]
    gamma: Mapping[tuple[str, str], Sum]
    inputs: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All that the expressions may contain."""
        return (*self.states, *self.inputs)

    def __len__(self) -> int:
        return len(next(iter(self.drift.values())).values)

    def drift_of(self, model: int) -> list[str]:
        """The rows of the drift of one model."""
        return [self.given.get(state) or self.drift[state].of(model) for state in self.states]

    def gamma_of(self, model: int) -> list[list[str]]:
        """The covariance of one model, `(m, m)`."""
        return [["0" if entry is None else entry.of(model) for entry in row] for row in self.covariance()]

    def covariance(self) -> list[list[Sum | None]]:
        """The entries of Gamma, `(m, m)`; None where there is none."""
        rows: list[list[Sum | None]] = [[None] * len(self.states) for _ in self.states]
        for (a, b), entry in self.gamma.items():
            i, j = self.states.index(a), self.states.index(b)
            rows[i][j] = rows[j][i] = entry
        return rows


@dataclass(frozen=True)
class Family:
    """Equations of one form.

    Attributes
    ----------
    states, inputs : lists of str
    drift_expressions, diffusion_expressions, gamma_expressions
        As of an `SDE`, with names where the members have different numbers.
    noise_structure : str
    members : (n_members,) array of int
        Which of the models are of this form.
    parameters : list of str
        The names.
    values : (n_members, n_parameters) array
        What they stand for in each member.
    """

    states: list[str]
    inputs: list[str]
    drift_expressions: list[str]
    diffusion_expressions: list[list[str]] | None
    gamma_expressions: list[list[str]] | None
    noise_structure: str
    members: Integers
    parameters: list[str]
    values: Array

    @property
    def n_noise(self) -> int:
        """Number of Brownian motions."""
        return len(self.states) if self.diffusion_expressions is None else len(self.diffusion_expressions[0])


class Blank(NamedTuple):
    """An expression with a `{}` for each number that models of one form may have different, and these numbers."""

    text: str
    values: Array
    """`(n_members, n_blanks)`, none negative: the signs are part of the form."""


class System(NamedTuple):
    """Models whose coefficients have the same signs, as blanks: drift, then the rows of g, or of Gamma."""

    members: Integers
    drift: list[Blank]
    rows: list[list[Blank]]
    rooted: bool
    """Whether the rows are those of g."""

    def form(self) -> object:
        """What these models share with others that run together with them."""
        return [blank.text for blank in self.drift], [[b.text for b in row] for row in self.rows], self.rooted

    def numbers(self) -> Array:
        """All blanks filled, `(n_members, n_blanks)`."""
        blanks = [*self.drift, *(blank for row in self.rows for blank in row)]
        return np.hstack([blank.values for blank in blanks])


def families(draws: Draws) -> list[Family]:
    """The models grouped by their form, in the order in which the forms first come.

    Of one form are models with the same terms, each of the same sign, and a root of Gamma of the same form.

    Examples
    --------
    >>> rows = {"x": Sum(["x^3"], np.array([[-1.5], [-2.0]]))}
    >>> (family,) = families(Draws(("x",), {}, rows, {("x", "x"): Sum(["1"], np.array([[0.25], [0.25]]))}))
    >>> family.drift_expressions, family.diffusion_expressions, family.values.tolist()
    (['-c_1 x^3'], [['0.5']], [[1.5], [2.0]])
    """
    forms: dict[str, list[System]] = {}
    for members, factors in _alike(draws):
        drift = [_row(draws, state, members) for state in draws.states]
        roots = _roots(draws, members) if factors is None else _constant_roots(factors)
        rows = _covariance(draws, members) if roots is None else roots
        system = System(members, drift, rows, roots is not None)
        forms.setdefault(repr(system.form()), []).append(system)
    found = [_family(draws, systems) for systems in forms.values()]
    return sorted(found, key=lambda family: int(family.members[0]))


def _family(draws: Draws, systems: list[System]) -> Family:
    """One family of systems of one form; numbers that all members share stay numbers."""
    members = np.concatenate([system.members for system in systems])
    order = np.argsort(members)
    values = np.concatenate([system.numbers() for system in systems])[order]
    differ = (values != values[0]).any(axis=0)
    prefix = "c_"
    while any(name.startswith(prefix) for name in draws.names):
        prefix += "_"
    names = [f"{prefix}{i + 1}" for i in range(int(differ.sum()))]
    waiting = iter(names)
    fillings = iter([next(waiting) if free else exact(value) for free, value in zip(differ, values[0])])

    def filled(blank: Blank) -> str:
        return blank.text.format(*(next(fillings) for _ in range(blank.values.shape[1])))

    first = systems[0]
    symbols = [*names, *draws.inputs]
    drift = [filled(blank) for blank in first.drift]
    rows = [[filled(blank) for blank in row] for row in first.rows]
    return Family(
        states=list(draws.states),
        inputs=list(draws.inputs),
        drift_expressions=drift,
        diffusion_expressions=rows if first.rooted else None,
        gamma_expressions=None if first.rooted else rows,
        noise_structure=Operators([], rows, draws.states, symbols).structure() if first.rooted else "general",
        members=members[order],
        parameters=names,
        values=np.ascontiguousarray(values[:, differ]),
    )


def _alike(draws: Draws) -> Iterator[tuple[Integers, Array | None]]:
    """Numbers of models of equal signs throughout, and `(n_members, m, m)` factors of Gamma where it is constant."""
    sums = [*draws.drift.values(), *draws.gamma.values()]
    constant, factors = _factors(draws)
    signs = np.hstack([*(s.values for s in sums), constant[:, None], factors.reshape(len(draws), -1)])
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(np.sign(signs) + 0.0):  # no negative zero
        groups.setdefault(row.tobytes(), []).append(number)
    for members in groups.values():
        yield np.array(members), factors[members] if constant[members[0]] else None


def repaired(draws: Draws) -> Draws:
    """The models with the nearest covariance in place of a constant Gamma that is none; says so in one warning."""
    gamma = _constants(draws)[1]
    worst = negative_part(gamma)
    bad = np.flatnonzero(worst)
    if not len(bad):
        return draws
    warnings.warn(
        f"the constant Gamma of {len(bad)} of {len(draws)} models has a negative eigenvalue, the worst "
        f"{worst.min():.6g}: these eigenvalues are taken as zero",
        RuntimeWarning,
        stacklevel=2,
    )
    nearest = nearest_covariance(gamma[bad])
    entries = {}
    for (a, b), (terms, values) in draws.gamma.items():
        sizes = [constant_of(term, draws.names) for term in terms]
        place = next(((k, size) for k, size in enumerate(sizes) if size), None)
        if place is not None:
            constant, size = place
            values = values.copy()
            values[bad] = 0.0
            values[bad, constant] = nearest[:, draws.states.index(a), draws.states.index(b)] / size
        entries[a, b] = Sum(terms, values)
    return replace(draws, gamma=entries)


def _factors(draws: Draws) -> tuple[Bools, Array]:
    """Which models have a constant Gamma `(n,)`, and its root `(n, m, m)`, zero for the others."""
    constant, gamma = _constants(draws)
    return constant, root_of_covariance(gamma)


def _constants(draws: Draws) -> tuple[Bools, Array]:
    """Which models have a constant Gamma `(n,)`, and that Gamma `(n, m, m)`, zero for the others."""
    m = len(draws.states)
    constant = np.ones(len(draws), dtype=bool)
    gamma = np.zeros((len(draws), m, m))
    for (a, b), (terms, values) in draws.gamma.items():
        sizes = [constant_of(term, draws.names) for term in terms]
        known = np.array([size is not None for size in sizes], dtype=bool)
        constant &= ~(values[:, ~known] != 0).any(axis=1)
        i, j = draws.states.index(a), draws.states.index(b)
        total = values[:, known] @ np.array([size for size in sizes if size is not None], dtype=float)
        gamma[:, i, j] = gamma[:, j, i] = total
    return constant, np.where(constant[:, None, None], gamma, 0.0)


def _row(draws: Draws, state: str, members: Integers) -> Blank:
    """A row of the drift."""
    if state in draws.given:
        return Blank(draws.given[state], np.zeros((len(members), 0)))
    return _blank(draws.drift[state], members)


def _blank(total: Sum | None, members: Integers) -> Blank:
    """A sum of models of equal signs; a number is of one form with zero."""
    if total is None:
        return Blank("{}", np.zeros((len(members), 1)))
    values = total.values[members]
    inside: list[int] = np.flatnonzero(values[0]).tolist()
    if all(total.terms[k] == "1" for k in inside):
        size = values[:, inside].sum(axis=1, keepdims=True)
        return Blank("-{}" if size[0, 0] < 0 else "{}", np.abs(size))
    text = sum_of([(bool(values[0, k] < 0), "{}", total.terms[k]) for k in inside])
    return Blank(text, np.abs(values[:, inside]))


def _constant_roots(factors: Array) -> list[list[Blank]]:
    """The rows of g for constant covariances of equal signs, given their Cholesky factors `(n_members, m, m)`."""
    columns = np.flatnonzero(factors[0].any(axis=0))
    return [
        [Blank("-{}" if factors[0, i, j] < 0 else "{}", np.abs(factors[:, i, j])[:, None]) for j in columns]
        for i in range(factors.shape[1])
    ]


def _roots(draws: Draws, members: Integers) -> list[list[Blank]] | None:
    """The rows of g for a diagonal Gamma whose entries have evident roots, else None; see `roots_of_covariance`."""
    m = len(draws.states)
    gamma = draws.covariance()
    there = [[entry is not None and bool(entry.values[members[0]].any()) for entry in row] for row in gamma]
    if any(there[i][j] for i in range(m) for j in range(m) if i != j):
        return None
    noisy = [i for i in range(m) if there[i][i]]
    roots = {i: _root(gamma[i][i], members, draws.names) for i in noisy}
    nothing = _blank(None, members)
    rows = [[roots[i] if i == j else nothing for j in noisy] for i in range(m)]
    return None if None in roots.values() else cast("list[list[Blank]]", rows)


def _root(entry: Sum | None, members: Integers, states: Sequence[str]) -> Blank | None:
    """The square root of a covariance entry, where one is evident."""
    inside = _blank(entry, members)
    if entry is None or inside.text.startswith("-"):
        return None
    if inside.text == "{}":
        return Blank("{}", np.sqrt(inside.values))
    there = [term for term, value in zip(entry.terms, entry.values[members[0]]) if value != 0]
    modulus = modulus_of(there[0], states) if len(there) == 1 else None
    if modulus is not None:
        return Blank(f"{{}} {modulus}", np.sqrt(inside.values))
    positive = is_positive(entry.of(int(members[0])), states)
    return Blank(f"sqrt({inside.text})", inside.values) if positive else None


def _covariance(draws: Draws, members: Integers) -> list[list[Blank]]:
    """The rows of Gamma."""
    return [[_blank(entry, members) for entry in row] for row in draws.covariance()]
