"""`Discovery.summary()`: size, likelihood and criteria of a fit above the table of its coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itoscope.errors import ArgumentError
from itoscope.posterior.words import columns, head, term_rows
from itoscope.result.written import rows_shown, units_shown
from itoscope.show.text import headline, noise_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.data.trajectories import Trajectories
    from itoscope.result.estimates import Criteria, Estimates

__all__ = ["Summary", "summarised"]


@dataclass(frozen=True, repr=False)
class Summary:
    """A fit as a regression is reported; printed, a table.

    Attributes
    ----------
    text : str
        What is printed.
    criteria : Criteria or None
        `samples`, `loglik`, `parameters`, `aic`, `bic`; None where there is no recording or no likelihood.
    """

    text: str
    criteria: Criteria | None

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def summarised(result: Estimates, data: Trajectories | None) -> Summary:
    """See `Discovery.summary`."""
    try:
        criteria = result.criteria(data)
    except ArgumentError:
        criteria = None
    return Summary("\n".join(_lines(result, criteria)), criteria)


def _lines(result: Estimates, criteria: Criteria | None) -> Iterator[str]:
    yield headline(result)
    yield ""
    facts = [("states", ", ".join(result.states))]
    if criteria is not None:
        facts += [
            ("samples", str(criteria.samples)),
            ("parameters", str(criteria.parameters)),
            ("log-likelihood", f"{criteria.loglik:.2f}, {criteria.loglik / criteria.samples:.5f} a sample"),
            ("AIC", f"{criteria.aic:.2f}"),
            ("BIC", f"{criteria.bic:.2f}"),
        ]
    if result.measurement_noise:
        facts.append(("measurement noise", noise_text(result)))
    doubtful = [label for label, equation in result.labelled() if equation.doubtful]
    if doubtful:
        facts.append(("models in doubt", ", ".join(doubtful)))
    fired = sum(bool(check["fired"]) for check in result.diagnostics.get("checks", ()))
    facts.append(("checks", f"{fired} of {len(result.diagnostics.get('checks', ()))} fired"))
    width = max(len(name) for name, _ in facts)
    yield from (f"  {name:<{width}}  {value}" for name, value in facts)
    yield ""
    units = units_shown(result)
    yield from columns([head(units), *term_rows(rows_shown(result), units)], 2)
