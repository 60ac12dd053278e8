"""Rows of measured states without noise: which they are, fitted as such, without terms like the error of the step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from itoscope.checks.measured import check_quiet, check_slight, quiet_sentence
from itoscope.fit.measured.regressions import coefficients
from itoscope.fit.measured.rounds import fit_measured
from itoscope.fit.measured.stepping import is_smooth, left_over, slight_terms, with_step_error
from itoscope.fit.streams import Stream

if TYPE_CHECKING:
    from itoscope.checks.check import Check
    from itoscope.fit.measured.regressions import Measured
    from itoscope.fit.measured.rounds import MeasuredFit
    from itoscope.fit.sampler import Sample

__all__ = ["fit_still"]

MOST_TRIMS = 20
"""Times that the terms of a row are looked at for slight ones."""


def fit_still(
    measured: Measured, fit: MeasuredFit, names: tuple[str, ...], sample: Sample
) -> tuple[Measured, MeasuredFit, list[Check]]:
    """The fit without the noise of rows that show none beyond the error of the step, and the checks that say so.

    Where there are such rows all is fitted again, as it is when they are said beforehand to have none. Terms of rows
    without noise that are no larger than what the error of the step brings in are taken out.

    Parameters
    ----------
    measured : Measured
    fit : MeasuredFit
    names : tuple of str
        Of the states.
    sample : Sample
    """
    if measured.scheme != "trapezoid" or measured.ensemble != "pool":
        return measured, fit, []
    checks, quiet = [], set()
    for row in measured.noisy:
        gamma = measured.gamma(fit.diffusion[row, row])
        if not gamma.any() and not is_smooth(measured, row, fit.drift[row]):
            continue
        checks.append(check_quiet(names[row], *left_over(measured, row, coefficients(fit.drift[row]), gamma)))
        if checks[-1].fired:
            quiet.add(row)
    if quiet:
        pairs = tuple((i, j) for i, j in measured.pairs if i not in quiet and j not in quiet)
        groups = tuple(group for group in measured.groups if not quiet & {*group.rows})
        measured = replace(measured, pairs=pairs, groups=groups)
        fit = fit_measured(measured, sample)
        sentence = quiet_sentence([check.about for check in checks if check.fired], every=not pairs)
        checks = [replace(check, sentence=sentence) if check.fired else check for check in checks]
    fit, left_out = _trimmed(measured, fit, sample)
    if left_out:
        checks.append(check_slight([names[row] for row in left_out], sum(map(len, left_out.values()))))
    return measured, fit, checks


def _trimmed(
    measured: Measured, fit: MeasuredFit, sample: Sample
) -> tuple[MeasuredFit, dict[int, tuple[str, ...]]]:
    """The fit without slight terms of rows without noise, and the terms that were taken out, by row."""
    if measured.pieces is not None:
        return fit, {}
    drift = dict(fit.drift)
    gone: dict[int, tuple[str, ...]] = {}
    for q, row in enumerate(measured.rows):
        if row in measured.noisy or row in measured.varying or measured.orbits is not None:
            continue
        for _ in range(MOST_TRIMS):
            said = measured.said_of(row)
            needed = {*said.included, *said.held}
            slight = [term for term in slight_terms(measured, row, drift[row]) if term not in needed]
            if not slight:
                break
            gone[row] = (*gone.get(row, ()), *slight)
            less = said.without(*gone[row])
            drift[row] = sample(fit.drift_moments[row], True, Stream.equation(q), less)
        drift[row] = with_step_error(measured, row, drift[row])
    return replace(fit, drift=drift), gone
