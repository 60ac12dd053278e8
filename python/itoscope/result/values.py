"""Values of the selected terms and of fitted equations at given states, custom functions included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.errors import ArgumentError, ExpressionError
from itoscope.library.bound import TIME

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["drift_at", "equation_at", "gamma_at", "selected_terms_at"]


def selected_terms_at(result: Findings, equation: Equation, x: Array) -> Array:
    """The selected terms of an equation at states and inputs `x` `(n, m + g)`: `(n, r)`.

    Raises
    ------
    ArgumentError
        For a custom function of a result that was loaded from a file, which holds no functions.
    """
    names = [equation.terms[k] for k in np.flatnonzero(equation.selected)]
    x = np.ascontiguousarray(_of_the_mean(result, checks.reals("x", x, missing=True)))
    if not names:
        return np.zeros((len(x), 0))
    customs = result.settings.get("custom_terms", ())
    try:
        if any(name in customs for name in names):
            raise ExpressionError("a function of Python")
        return get_backend(equation.backend).compile(names, list(result.variables)).evaluate(x)
    except ExpressionError:
        libraries = [result.library, result.diffusion_library]
        if any(equation is entry for entry in result.diffusion.values()) and libraries[1] is not None:
            libraries.reverse()  # a function of one library may have the name of a term of the other
        for library in libraries:
            if library is not None:
                named = [name for name in result.inputs if name != TIME]
                bound = library.bind(result.states, np.zeros(len(result.states) + len(named)), result.inputs)
                if set(names) <= set(bound.names):
                    values = bound.program(equation.backend).evaluate(bound.augment(x))
                    return values[:, [bound.names.index(name) for name in names]]
        raise ArgumentError(
            f"terms {', '.join(names)}: one is a function of Python, which a saved result does not hold"
        ) from None


def _of_the_mean(result: Findings, x: Array) -> Array:
    """Rows with zeros for what recordings have of their own, where they have no columns for it."""
    more = len(result.differences)
    short = more > 0 and x.ndim == 2 and x.shape[1] == len(result.variables) - more
    return np.hstack([x, np.zeros((len(x), more))]) if short else x


def equation_at(result: Findings, equation: Equation, x: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of an equation's right-hand side at states `x` `(n, m)`, each `(n,)`."""
    values = selected_terms_at(result, equation, x)
    inside = np.flatnonzero(equation.selected)
    cov = equation.cov[np.ix_(inside, inside)]
    variance = np.einsum("ni,ij,nj->n", values, cov, values)
    return values @ equation.mean[inside], np.sqrt(np.maximum(variance, 0.0))


def drift_at(result: Findings, x: Array) -> Array:
    """The mean drift at states `x` `(n, m)`: `(n, m)`."""
    x = np.ascontiguousarray(_of_the_mean(result, checks.reals("x", x, missing=True)))
    columns = []
    for state in result.states:
        given = result.known_drift.get(state)
        if given is None:
            columns.append(equation_at(result, result.drift[state], x)[0])
        else:
            columns.append(get_backend(None).compile([given], list(result.variables)).evaluate(x)[:, 0])
    return np.stack(columns, axis=1)


def gamma_at(result: Findings, x: Array) -> Array:
    """The mean covariance at states `x` `(n, m)`: `(n, m, m)`."""
    gamma = np.zeros((len(x), len(result.states), len(result.states)))
    for (a, b), equation in result.diffusion.items():
        i, j = result.states.index(a), result.states.index(b)
        gamma[:, i, j] = gamma[:, j, i] = equation_at(result, equation, x)[0]
    return gamma
