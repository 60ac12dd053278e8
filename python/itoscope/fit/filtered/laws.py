"""What a fit found of the laws of noise that are not normal, and the readings that are outliers by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.data.angles import nearest
from itoscope.fit.filtered.tails import over_normal
from itoscope.result.outliers import outliers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.sight import Sight
    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.question import Question
    from itoscope.result.diagnostics import Law

__all__ = ["laws_found", "outliers_found"]


def laws_found(question: Question, fit: FilteredFit) -> dict[str, Law]:
    """What was found of the law of the noise of each column, and the evidence for those that are not normal."""
    factor = over_normal(fit.recording, fit.maximum)
    found: dict[str, Law] = {}
    for c, law in question.laws.items():
        name = question.data.names[c]
        ends = [fit.law_interval(Parameter("tails", c, k)) for k in range(len(fit.model.tails[c]))]
        if law == "student":
            (low, high), (heaviness,) = ends[0], fit.model.tails[c]
            shape = {"degrees": [1.0 / heaviness, 1.0 / high, 1.0 / low if low > 0.0 else np.inf]}
        else:
            shape = {
                key: [value, *end] for key, value, end in zip(("share", "width"), fit.model.tails[c], ends)
            }
        found[name] = {"law": law, "shape": shape, "log_bayes_factor": factor}
    return found


def outliers_found(
    question: Question, fit: FilteredFit, sight: Sight, smoothed: tuple[Sequence[Array], Sequence[Array]]
) -> list[dict[str, Any]]:
    """The outliers of each column whose noise is not normal.

    Parameters
    ----------
    question : Question
    fit : FilteredFit
    sight : Sight
    smoothed : pair of sequences of arrays
        Means and covariances of the states on the rows of the filter.
    """
    data, found, (means, covs) = question.data, [], smoothed
    rows = sight.rows(data)
    for c in question.laws:
        lengths = [sight.of_channels(data, i)[:, c] for i in range(data.n_paths)]
        values = [path[:, c] for path in sight.readings(data)]
        scale, row = np.sqrt(fit.model.noise[c]), fit.recording.observation[c]
        period = question.periods.get(data.names[c], np.inf)
        fitted = [
            (mean[at[:, c]] @ row / size, np.einsum("i,nij,j->n", row, cov[at[:, c]], row) / size**2)
            for mean, cov, at, size in zip(means, covs, rows, lengths)
        ]
        found += outliers_of(
            data.names[c],
            fit.model.tails[c],
            data.times,
            [mean + nearest(y / size - mean, period) for y, size, (mean, _) in zip(values, lengths, fitted)]
            if period < np.inf
            else [y / size for y, size in zip(values, lengths)],
            fitted,
            [scale * np.sqrt(sight.factors(data, i)[:, c]) for i in range(data.n_paths)],
        )
    return [one._asdict() for one in found]
