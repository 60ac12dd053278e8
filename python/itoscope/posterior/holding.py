"""Equations over more terms than were weighed: terms of no model, and terms of every model with the coefficient 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.posterior.equation import Equation

__all__ = ["among_terms", "holding"]


def holding(equation: Equation, terms: Sequence[str]) -> Equation:
    """An equation that has these of its terms in every model, with the coefficient 1."""
    at = [equation.terms.index(term) for term in terms]
    if not at:
        return equation
    names = ("pip", "mean", "selected", "samples", "included", "inclusion")
    changed: dict[str, Any] = {name: np.array(getattr(equation, name)) for name in names}
    for values in changed.values():
        values[..., at] = 1
    limits = (
        np.full((len(equation.terms), 2), (-np.inf, np.inf)) if equation.limits is None else equation.limits
    )
    limits = np.array(limits)
    limits[at] = 1.0
    return replace(equation, limits=limits, log_mass=None, moments=None, **changed)


def among_terms(equation: Equation, terms: Sequence[str]) -> Equation:
    """An equation over more terms, which are in no model."""
    at = [list(terms).index(term) for term in equation.terms]
    if at == list(range(len(terms))):
        return equation

    def wide(values: Any, fill: Any = 0) -> Any:
        out = np.full((*values.shape[:-1], len(terms)), fill, dtype=values.dtype)
        out[..., at] = values
        return out

    cov = np.zeros((len(terms), len(terms)))
    cov[np.ix_(at, at)] = equation.cov
    names = ("pip", "pip_mcse", "mean", "selected", "samples", "included", "inclusion")
    changed = {name: wide(getattr(equation, name)) for name in names}
    limits = (
        None
        if equation.limits is None
        else np.stack([wide(equation.limits[:, 0], -np.inf), wide(equation.limits[:, 1], np.inf)], axis=1)
    )
    positive = None if equation.positive is None else wide(equation.positive)
    moments = equation.moments
    if moments is not None:  # columns of zeros, which no model tries
        gram = np.zeros_like(cov)
        gram[np.ix_(at, at)] = moments.gram
        named: dict[str, Any] = {"terms": tuple(terms)} if hasattr(moments, "terms") else {}
        moments = replace(moments, gram=gram, moment=wide(moments.moment), **named)
    return replace(
        equation, terms=list(terms), cov=cov, limits=limits, positive=positive, moments=moments, **changed
    )
