"""Values of the selected terms and of fitted equations at given states, custom functions included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.errors import ArgumentError, ExpressionError
from itoscope.library.bound import TIME

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.common.types import Array
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["drift_at", "drift_of", "equation_at", "gamma_at", "selected_terms_at"]


def selected_terms_at(result: Findings, equation: Equation, x: Array) -> Array:
    """The selected terms of an equation at states and inputs `x` `(n, m + g)`: `(n, r)`.

    Raises
    ------
    ArgumentError
        For a custom function of a result that was loaded from a file, which holds no functions.
    """
    return _selected_terms(result, equation)(_rows(result, checks.reals("x", x, missing=True)))


def _selected_terms(result: Findings, equation: Equation) -> Callable[[Array], Array]:
    """The selected terms of an equation as a function of states and inputs, compiled once."""
    names = [equation.terms[k] for k in np.flatnonzero(equation.selected)]
    if not names:
        return lambda x: np.zeros((len(x), 0))
    customs = result.settings.get("custom_terms", ())
    try:
        if any(name in customs for name in names):
            raise ExpressionError("a function of Python")
        return get_backend(equation.backend).compile(names, list(result.variables)).evaluate
    except ExpressionError:
        libraries = [result.library, result.diffusion_library]
        if any(equation is entry for entry in result.diffusion.values()) and libraries[1] is not None:
            libraries.reverse()  # a function of one library may have the name of a term of the other
        for library in libraries:
            if library is not None:
                named = [name for name in result.inputs if name != TIME]
                bound = library.bind(result.states, np.zeros(len(result.states) + len(named)), result.inputs)
                if set(names) <= set(bound.names):
                    program, places = (
                        bound.program(equation.backend),
                        [bound.names.index(name) for name in names],
                    )
                    return lambda x: program.evaluate(bound.augment(x))[:, places]
        raise ArgumentError(
            f"terms {', '.join(names)}: one is a function of Python, which a saved result does not hold"
        ) from None


def _rows(result: Findings, x: Array) -> Array:
    """Rows in one block, with zeros for what recordings have of their own, where they have no columns for it."""
    more = len(result.differences)
    if more and x.ndim == 2 and x.shape[1] == len(result.variables) - more:
        x = np.hstack([x, np.zeros((len(x), more))])
    return np.ascontiguousarray(x)


def equation_at(result: Findings, equation: Equation, x: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of an equation's right-hand side at states `x` `(n, m)`, each `(n,)`."""
    values = selected_terms_at(result, equation, x)
    inside = np.flatnonzero(equation.selected)
    cov = equation.cov[np.ix_(inside, inside)]
    variance = np.einsum("ni,ij,nj->n", values, cov, values)
    return values @ equation.mean[inside], np.sqrt(np.maximum(variance, 0.0))


def drift_at(result: Findings, x: Array) -> Array:
    """The mean drift at states `x` `(n, m)`: `(n, m)`."""
    return drift_of(result)(checks.reals("x", x, missing=True))


def drift_of(result: Findings) -> Callable[[Array], Array]:
    """The mean drift as a function of states `(n, m)`, compiled once."""
    rows: list[tuple[Callable[[Array], Array], Array]] = []
    for state in result.states:
        given = result.known_drift.get(state)
        if given is None:
            equation = result.drift[state]
            rows.append((_selected_terms(result, equation), equation.mean[equation.selected]))
        else:
            program = get_backend(None).compile([given], list(result.variables))
            rows.append((program.evaluate, np.ones(1)))

    def drift(x: Array) -> Array:
        x = _rows(result, x)
        return np.stack([terms(x) @ theta for terms, theta in rows], axis=1)

    return drift


def gamma_at(result: Findings, x: Array) -> Array:
    """The mean covariance at states `x` `(n, m)`: `(n, m, m)`."""
    gamma = np.zeros((len(x), len(result.states), len(result.states)))
    for (a, b), equation in result.diffusion.items():
        i, j = result.states.index(a), result.states.index(b)
        gamma[:, i, j] = gamma[:, j, i] = equation_at(result, equation, x)[0]
    return gamma
