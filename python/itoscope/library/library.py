"""`Library`: a recipe of candidate terms, which becomes a list of expressions once the states have names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError, argument_error
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.library.bound import TIME, BoundLibrary, names_in, readable_means
from itoscope.library.parts import (
    AbsProducts,
    Custom,
    Expressions,
    Fourier,
    Function,
    Part,
    PerState,
    Polynomials,
    Trig,
    checked_origin,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from itoscope.common.types import Array

__all__ = ["Library", "bind_together"]


# -- the recipe ----------------------------------------------------------------------------------------------
@dataclass(frozen=True, repr=False)
class Library:
    """Candidate functions `u_1 ... u_K` of the state, as a recipe that fits any number and naming of states.

    Libraries are made by the static methods and joined with `+`. The columns come in the order of the
    recipe. A library is a set of terms: a term that comes twice is kept once, at its first place. Two terms
    are the same when one is another spelling of the other (`x1 x2` and `x2*x1`, `x1 x1` and `x1^2`, `x1|x1|` and
    `abs(x1)*x1`), not when brackets would have to be multiplied out (`2(x1 + 1)` and `2 x1 + 2`).

    Examples
    --------
    >>> library = Library.polynomials(2) + Library.sign()
    >>> library.names(["x", "v"])
    ['1', 'x', 'v', 'x^2', 'x v', 'v^2', 'sgn(x)', 'sgn(v)']
    """

    parts: tuple[Part, ...] = ()

    # .. made from ..
    @staticmethod
    def paper(degree: int = 6) -> Library:
        """The library of Tripura & Chakraborty: polynomials to `degree`, sgn(x_i), |x_i| and x_i|x_j|.

        One state and degree 6 give K = 10 terms, two states 36; four states and degree 3 give 59.
        """
        return Library.polynomials(degree) + Library.sign() + Library.absolute() + Library.abs_products()

    @staticmethod
    def polynomials(degree: int, origin: Literal["mean"] | float | Sequence[float] | None = None) -> Library:
        """The constant and all monomials up to a total degree.

        Parameters
        ----------
        degree : int
            At least 0 (the constant alone).
        origin : None, "mean", float or sequence of float
            Where the monomials are centred: `(x1 - 100)^3` for 100. A sequence has one number per state.
            "mean" takes the mean of the data that the library is used on. Data far from zero make plain
            monomials nearly collinear, and which terms vanish depends on the origin.
        """
        return Library((Polynomials(checks.count("degree", degree, 0), checked_origin(origin)),))

    @staticmethod
    def sign() -> Library:
        """The signs sgn(x_i), with sgn(0) = 0."""
        return Library((PerState("sign", "sgn({x})"),))

    @staticmethod
    def absolute() -> Library:
        """The magnitudes |x_i|."""
        return Library((PerState("absolute", "|{x}|"),))

    @staticmethod
    def abs_products() -> Library:
        """The products x_i |x_j| for all i and j, j running faster."""
        return Library((AbsProducts(),))

    @staticmethod
    def trig(frequencies: float | Sequence[float]) -> Library:
        """For each frequency w, sin(w x_i) and then cos(w x_i).

        Parameters
        ----------
        frequencies : float or sequence of float
            Positive, in radians per unit of the state.
        """
        values = np.atleast_1d(checks.reals("frequencies", frequencies))
        if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values) & (values > 0)):
            raise argument_error("frequencies", frequencies, "one or more positive, finite numbers")
        return Library((Trig(tuple(values.tolist())),))

    @staticmethod
    def exponential() -> Library:
        """The exponentials exp(x_i)."""
        return Library((PerState("exponential", "exp({x})"),))

    @staticmethod
    def tanh() -> Library:
        """The hyperbolic tangents tanh(x_i)."""
        return Library((PerState("tanh", "tanh({x})"),))

    @staticmethod
    def fourier(period: float, harmonics: int = 1) -> Library:
        """For n = 1 .. `harmonics`, sin(2 n pi t / period) and then cos, of the time t since the start of a recording.

        Parameters
        ----------
        period : float
            Positive, in the unit of time of the recording.
        harmonics : int

        Examples
        --------
        >>> Library.fourier(24, 2).names(["x"])
        ['sin(2 pi t/24)', 'cos(2 pi t/24)', 'sin(4 pi t/24)', 'cos(4 pi t/24)']
        """
        return Library((Fourier(checks.positive("period", period), checks.count("harmonics", harmonics)),))

    @staticmethod
    def expressions(*texts: str) -> Library:
        """Terms written out, such as "x1*sin(x2)"; the text is also the name of the term.

        `t` is the time since the start of a recording, unless a state has this name.

        The grammar is that of `itoscope.expressions.grammar`: + - * / ^, products by juxtaposition,
        |x|, and the functions abs, cos, cosh, exp, log, sgn, sin, sinh, sqrt, tan, tanh.
        """
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise argument_error(f"texts[{i}]", text, "an expression as a string")
        if not texts:
            raise argument_error("texts", texts, "at least one expression")
        return Library((Expressions(tuple(" ".join(text.split()) for text in texts)),))

    @staticmethod
    def custom(func: Function, name: str) -> Library:
        """A term computed by a Python function.

        Parameters
        ----------
        func : callable
            Takes the states `(n, m)` and returns the values `(n,)`, float64 and finite.
        name : str
            How the term is shown.
        """
        if not callable(func):
            raise argument_error("func", func, "a function of the states (n, m) that returns (n,) values")
        if not isinstance(name, str) or not name.strip() or "\n" in name:
            raise argument_error("name", name, "a text of one line, not empty")
        return Library((Custom(func, name.strip()),))

    def about_mean(self) -> Library:
        """The same with its monomials about the mean of the data, or this library where none of them are about zero."""
        if not any(isinstance(part, Polynomials) and part.origin is None for part in self.parts):
            return self
        parts = (
            replace(part, origin="mean") if isinstance(part, Polynomials) and part.origin is None else part
            for part in self.parts
        )
        return Library(tuple(parts))

    def __add__(self, other: Library) -> Library:
        return Library(self.parts + other.parts) if isinstance(other, Library) else NotImplemented

    def __repr__(self) -> str:
        return " + ".join(f"Library.{part!r}" for part in self.parts) or "Library()"

    # .. used on ..
    def bind(
        self, states: Sequence[str], means: ArrayLike | None = None, inputs: Sequence[str] = ()
    ) -> BoundLibrary:
        """The terms for states of these names.

        Parameters
        ----------
        states : sequence of str
            Names of the m states.
        means : (m,) array of float, optional
            Means of the data, for `origin="mean"`.
        inputs : sequence of str
            Names of what drives the states, see `bind_together`.

        Raises
        ------
        ArgumentError
            For names that no expression could use, a library without terms, an origin that does not fit.
        ExpressionError
            For an expression in other names than those of the states.
        """
        return bind_together([self], states, means, inputs)[0]

    def _bound(
        self, states: list[str], driven: list[str], values: list[float] | None, customs: list[Custom]
    ) -> BoundLibrary:
        """The terms over states, what drives them, and the columns of `customs`, which hold those of this library."""
        known = states + driven
        inputs = known + [f"custom{i + 1}" for i in range(len(customs))]
        for name in inputs[len(known) :]:
            if name in known:
                raise argument_error(
                    "states", name, "a name that the column of a custom function does not need"
                )
        graph = Graph(inputs)
        terms: dict[
            int, tuple[str, str]
        ] = {}  # shown name and expression of each node, so each node comes once
        for part in self.parts:
            if isinstance(part, Custom):
                pairs = [(part.name, f"custom{customs.index(part) + 1}")]
            else:
                variables = [name for name in known if name != TIME or name in states]
                pairs = [(text, text) for text in part.terms(variables, values)]
            for pair in pairs:
                terms.setdefault(parse(pair[1], graph), pair)
        names = [name for name, _ in terms.values()]
        if not names:
            raise ArgumentError(f"library = {self!r}: at least one term")
        for name in names:
            if names.count(name) > 1:
                raise argument_error("name", name, "a name that no other term of the library has")
        return BoundLibrary(
            states=states,
            driven=driven,
            names=names,
            expressions=[expression for _, expression in terms.values()],
            inputs=inputs,
            customs=customs,
        )

    def names(self, states: Sequence[str], origin_values: ArrayLike | None = None) -> list[str]:
        """How the terms are shown, for states of these names."""
        return self.bind(states, origin_values).names

    def terms(self, states: Sequence[str], origin_values: ArrayLike | None = None) -> list[str]:
        """The terms as expressions; those of custom functions are `custom1`, `custom2`, ...

        Parameters
        ----------
        states : sequence of str
        origin_values : (m,) array of float, optional
            What `origin="mean"` stands for.
        """
        return self.bind(states, origin_values).expressions

    def evaluate(
        self, x: ArrayLike, states: Sequence[str] | None = None, backend: str | None = None
    ) -> Array:
        """The values `(n, K)` of the terms at the rows of `x` `(n, m)`; `origin="mean"` is the mean of `x`.

        Parameters
        ----------
        x : (n, m) array of float, or (n,) for one state
        states : sequence of str, optional
            Names of the columns of `x`, `x1`, `x2`, ... unless given.
        backend : {"rust", "reference"}, optional
        """
        rows, bound = self._bound_to(x, states)
        return bound.program(backend).evaluate(bound.augment(rows))

    def gradient(
        self, x: ArrayLike, states: Sequence[str] | None = None, backend: str | None = None
    ) -> Array:
        """The derivatives `(n, K, m)` of the terms at the rows of `x`; see `evaluate`.

        Raises
        ------
        ArgumentError
            If a term is a custom function, whose derivative nobody knows.
        """
        rows, bound = self._bound_to(x, states)
        if bound.customs:
            raise ArgumentError(
                f"custom term {bound.customs[0].name!r}: has no gradient; write it with Library.expressions to get one"
            )
        return bound.program(backend).gradient(rows)

    def _bound_to(self, x: ArrayLike, states: Sequence[str] | None) -> tuple[Array, BoundLibrary]:
        rows = np.ascontiguousarray(checks.reals("x", x, missing=True))
        if rows.ndim == 1:
            rows = rows[:, None]
        if rows.ndim != 2:
            raise ArgumentError(f"x of shape {rows.shape}: (n, m), one column per state")
        states = [f"x{i + 1}" for i in range(rows.shape[1])] if states is None else states
        states = checks.names(states, "states")
        if len(states) != rows.shape[1]:
            raise argument_error("states", list(states), f"one name per column of x ({rows.shape[1]})")
        bound = self.bind(states, readable_means([rows]) if self.needs_means else None)
        if bound.driven:
            raise argument_error("states", list(states), "t among them: the terms contain the time")
        return rows, bound

    def uses_time(self, names: Sequence[str]) -> bool:
        """Whether a term contains the time, for states and inputs of these names."""
        if TIME in checks.names(names):
            return False
        if any(isinstance(part, Fourier) for part in self.parts):
            return True
        texts = [text for part in self.parts if isinstance(part, Expressions) for text in part.texts]
        return any(TIME in names_in(text) for text in texts)

    @property
    def needs_means(self) -> bool:
        """Whether `bind` has to be given the means of the data."""
        return any(isinstance(part, Polynomials) and part.origin == "mean" for part in self.parts)


def bind_together(
    libraries: Sequence[Library],
    states: Sequence[str],
    means: ArrayLike | None = None,
    inputs: Sequence[str] = (),
) -> list[BoundLibrary]:
    """Libraries over the same states and the same columns of custom functions; see `Library.bind`.

    `custom1` is one function in all of them, so that what one augments the programs of the others can read.

    Parameters
    ----------
    libraries : sequence of Library
    states : sequence of str
    means : (m + g,) array of float, optional
        Of the states and the inputs, the time left out.
    inputs : sequence of str
        Names of what drives the states: terms are made of them as of states, but for the time `t`, which is there for
        written terms alone. It need not be named; it comes last where a term contains it.
    """
    names = list(checks.names(states, "states"))
    driven = list(checks.names([*names, *inputs], "inputs"))[len(names) :]
    if TIME not in driven and any(library.uses_time([*names, *driven]) for library in libraries):
        driven.append(TIME)
    variables = [name for name in [*names, *driven] if name != TIME or name in names]
    values = None if means is None else _checked_means(means, variables)
    parts = [part for library in libraries for part in library.parts]
    customs: list[Custom] = []
    for part in parts:
        if isinstance(part, Custom) and part not in customs:
            customs.append(part)
    return [library._bound(names, driven, values, customs) for library in libraries]


def _checked_means(means: ArrayLike, states: Sequence[str]) -> list[float]:
    values = checks.reals("means", means)
    if values.shape != (len(states),) or not np.isfinite(values).all():
        raise argument_error("means", means, f"one finite number per state ({', '.join(states)})")
    return [float(value) for value in values]
