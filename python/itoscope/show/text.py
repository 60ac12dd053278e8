"""A discovery as text: equations, table of terms, near misses, warnings; 60 lines of 100 columns at most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from itoscope.common.numbers import Rounding, number
from itoscope.expressions.sums import broken, in_brackets
from itoscope.posterior.words import (
    aligned,
    columns,
    head,
    near_notes,
    parts,
    probability,
    sum_words,
    term_rows,
    wrap,
)
from itoscope.result.units import coefficient_units
from itoscope.result.written import LABEL, rows_shown, units_shown, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.result.diagnostics import Correlation, Law, StepLaw
    from itoscope.result.findings import Findings

__all__ = ["advice_sentences", "equation_lines", "headline", "noise_text", "records", "shortened", "text"]

MOST_ADVICE = 2
"""Sentences of advice that are printed; `result.advice` has all."""
MOST_OUTLIERS = 5
"""Outliers of a sensor whose times are printed."""
MOST_LINES = 60
"""Lines that are printed at most; the longest parts are cut, and say where all of them is."""


def equation_lines(result: Findings) -> list[tuple[str, list[str], str]]:
    """Each equation: its left side, the pieces of its right side, and what is to be said beside it."""
    lines, result = [], written(result)
    for state in result.states:
        if state in result.standing:
            continue
        left = f"d{state} = "
        if state in result.known_drift:
            pieces = broken(in_brackets(result.known_drift[state]))
            moved = _noise(result, state)
            lines.append(
                (left, [*pieces[:-1], f"{pieces[-1]} dt", *([f"+ {moved}"] if moved else [])], "given")
            )
            continue
        count = sum(1 for _ in parts(result.drift[state]))
        noise = _noise(result, state)
        pieces = sum_words(result.drift[state]) if count or not noise else []
        if count > 1:
            pieces[0], pieces[-1] = f"[{pieces[0]}", f"{pieces[-1]}]"
        if count:
            pieces[-1] += " dt"
        if noise:
            pieces.append(f"+ {noise}" if count else noise)
        lines.append((left, pieces, ""))
    for (a, b), equation in result.diffusion.items():
        lines.append((f"Gamma[{a}, {b}] = ", sum_words(equation), ""))
    return lines


def _noise(result: Findings, state: str) -> str:
    """How the noise of a row is written: its own Brownian motion, or a part of `g dB` with `g g^T = Gamma`."""
    noisy = [a for a, b in result.diffusion if a == b]
    if state not in noisy:
        return ""
    return "sqrt(Gamma) dB" if len(noisy) == 1 else f"(g dB)[{state}]"


def headline(result: Findings) -> str:
    """What was found, and from how much data."""
    about = result.data_summary
    kind = "Stochastic" if result.diffusion else "Ordinary"
    if not about:
        return f"{kind} differential equation"
    paths = "1 path" if about["n_paths"] == 1 else f"{about['n_paths']} paths"
    dt = about.get("dt")
    unit = f" {about['time_unit']}" if about.get("time_unit") else ""
    step = f"dt = {number(dt)}{unit}" if dt else "uneven steps"
    return f"{kind} differential equation from {paths}, {about['n_steps']} steps, {step}"


def text(result: Findings) -> Iterator[str]:
    """The lines that `print(result)` shows."""
    yield headline(result)
    yield from shortened(_parts(result), MOST_LINES - 1)


def shortened(parts: Sequence[tuple[list[str], str]], most: int) -> Iterator[str]:
    """Parts of a text, the longest ones cut to the same length until all have no more than `most` lines.

    Parameters
    ----------
    parts : sequence of (lines, where)
        `where` is the call that gives all of a part.
    most : int
        Lines in all.

    Examples
    --------
    >>> list(shortened([(["a"], ""), (["b", "c", "d"], "say()")], 3))
    ['a', 'b', '  ... 2 more lines: say()']
    """
    length = most
    while sum(min(len(lines), length) for lines, _ in parts) > most:
        length -= 1
    for lines, where in parts:
        if len(lines) <= length:
            yield from lines
        else:
            yield from lines[: length - 1]
            yield f"  ... {len(lines) - length + 1} more lines: {where}"


def _parts(result: Findings) -> list[tuple[list[str], str]]:
    """The parts of what is printed, each behind an empty line, with the call that gives all of it."""
    equations = list(aligned(equation_lines(result)))
    noisy = [a for a, b in result.diffusion if a == b]
    if len(noisy) > 1:
        equations += wrap(
            f"g is any matrix with g g^T = Gamma, dB are {len(noisy)} independent Brownian motions"
        )
    noise = wrap(f"measurement noise: {noise_text(result)}") if result.measurement_noise else ()
    advice = [f"advice: {sentence}" for sentence in advice_sentences(result)[:MOST_ADVICE]]
    warnings = [f"warning: {warning}" for warning in result.warnings]
    found = [
        (equations, "result.equations()"),
        (list(_table(result)), "result.table()"),
        (list(noise), "result.measurement_noise"),
        ([line for one in offset_texts(result) for line in wrap(one)], "result.diagnostics['offsets']"),
        ([line for one in outlier_texts(result) for line in wrap(one)], "result.outliers"),
        (
            [line for one in step_law_texts(result) for line in wrap(one)],
            "result.diagnostics['diffusion_law']",
        ),
        (
            [line for sentence in force_texts(result) for line in wrap(sentence)],
            "result.diagnostics['forces']",
        ),
        (list(_common_lines(result)), "result.diagnostics['symmetry']"),
        (
            [line for sentence in kernel_texts(result) for line in wrap(sentence)],
            "result.diagnostics['memory']",
        ),
        (
            [line for sentence in varying_texts(result) for line in wrap(sentence)],
            "result.varying",
        ),
        ([line for note in near_notes(result.labelled()) for line in wrap(note)], "result.models()"),
        (_sentences(advice), "result.advice"),
        (_sentences(warnings), "result.warnings"),
    ]
    return [(["", *lines], where) for lines, where in found if lines]


def _sentences(sentences: Sequence[str]) -> list[str]:
    """Sentences in lines, with an empty one between two."""
    return [line for sentence in sentences for line in ["", *wrap(sentence)]][1:]


def advice_sentences(result: Findings) -> list[str]:
    """What to do, the gravest first."""
    return [found["sentence"] for found in result.diagnostics.get("advice", [])]


def force_texts(result: Findings) -> list[str]:
    """What was found of each force with a memory, and the evidence against a white one."""
    found = []
    for row, force in result.diagnostics.get("forces", {}).items():
        write = Rounding.of(force["correlation_time"], (force["high"] - force["low"]) / 4).write
        ends = f"95 % interval {write(force['low'])} .. {write(force['high'])}"
        peak = "" if force["frequency"] is None else f"peak near frequency {number(force['frequency'], 3)}, "
        found.append(
            f"force on {row} ({force['state']}): {peak}correlation time {write(force['correlation_time'])}, {ends}; "
            f"standard deviation {number(force['sd'], 3)}; log Bayes factor against white forcing "
            f"{force['log_bayes_factor']:+.3g}"
        )
    return found


def _common_lines(result: Findings) -> Iterator[str]:
    """What rows have in common, a line for each coefficient, and the evidence for it."""
    common = result.diagnostics.get("symmetry")
    if common is None:
        return
    named = result.settings.get("symmetry") or "ties"
    yield from wrap(
        f"{named}: log evidence {common['log_evidence']:+.3g} against rows with coefficients of their own"
    )
    rows = []
    for one in common["orbits"]:
        if one["selected"]:
            write = Rounding.of(one["mean"], one["sd"]).write
            left = {"drift": "", "diffusion": "Gamma "}[one["of"]] + one["terms"]
            rows.append((left, f"{write(one['mean'])} ± {write(one['sd'])}", probability(one["pip"])))
    if rows:
        yield from columns([("in common", "coefficient", "probability"), *rows], 1)


def varying_texts(result: Findings) -> list[str]:
    """How much each coefficient differs by recording, and how much more likely the data are so."""
    found = []
    for row, terms in result.varying.items():
        for term, one in terms.items():
            write = Rounding.of(one.spread, (one.interval[1] - one.interval[0]) / 4).write
            low, high = map(write, one.interval)
            found.append(
                f"the coefficient of {term} in d{row} differs over {len(one.values)} recordings with the standard "
                f"deviation {write(one.spread)}, 95 % interval {low} .. {high}; log likelihood {one.gain:+.3g} against "
                "one value for all"
            )
    return found


def kernel_texts(result: Findings) -> list[str]:
    """What was found of each friction with a memory, and the evidence against a white one."""
    found = []
    for row, kernel in result.diagnostics.get("memory", {}).items():
        pairs = zip(kernel["amplitudes"], kernel["times"])
        shown = " + ".join(f"{number(c, 3)} exp(-t/{number(tau, 3)})" for c, tau in pairs)
        found.append(
            f"memory of the friction on {row}: kernel {shown}; temperature {number(kernel['temperature'], 3)}; "
            f"log Bayes factor against white friction {kernel['log_bayes_factor']:+.3g}"
        )
    return found


def offset_texts(result: Findings) -> list[str]:
    """What was found of the zero of each sensor of which it is not known."""
    found = []
    for name, zero in result.diagnostics.get("offsets", {}).items():
        write = Rounding.of(zero["mean"], zero["sd"]).write
        said = f"offset of {name}: {write(zero['mean'])} ± {write(zero['sd'])}"
        if zero["rate"] is not None and zero["rate_interval"] is not None:
            low, high = (number(end, 2) for end in zero["rate_interval"])
            said += (
                f" on the average, from {write(zero['lowest'])} to {write(zero['highest'])}; "
                f"{'its rate drifts by' if zero['kind'] == 'slow' else 'drift'} {number(zero['rate'], 2)} in a unit of "
                f"time to the power 1/2, 95 % interval {low} .. {high}"
            )
        found.append(said)
    return found


def noise_text(result: Findings) -> str:
    """The level of the measurement noise of each channel, with its interval where it was estimated."""
    levels = result.diagnostics.get("measurement_noise") or {}
    if not levels:
        return f"{number(float(result.measurement_noise))} (one standard deviation)"
    units = result.data_summary.get("units", {})
    shown = []
    for name, level in levels.items():
        value, low, high = level["sd"], level["low"], level["high"]
        head = f"{name} " if len(levels) > 1 else ""
        unit = f" {units[name]}" if name in units else ""
        if high > low:
            write = Rounding.of(value, (high - low) / 4).write
            interval = f"{write(low)} .. {write(high)}"
            shown.append(f"{head}{write(value)}{unit}, 95 % interval {interval}")
        else:
            shown.append(f"{head}{number(value)}{unit}, as given")
        if name in (laws := result.diagnostics.get("noise_law", {})):
            shown[-1] += f", {law_text(laws[name])}"
    found = "; ".join(shown) + " (one standard deviation)"
    return "; ".join([found, *map(correlation_text, result.diagnostics.get("noise_correlation", ()))])


def correlation_text(one: Correlation) -> str:
    """The correlation of the noises of two channels, with its interval where it was estimated."""
    head = f"correlation of {' and '.join(one['between'])} "
    if one["high"] > one["low"]:
        write = Rounding.of(one["correlation"], (one["high"] - one["low"]) / 4).write
        return f"{head}{write(one['correlation'])}, 95 % interval {write(one['low'])} .. {write(one['high'])}"
    return f"{head}{number(one['correlation'])}, as given"


def law_text(law: Law | StepLaw, what: str = "readings") -> str:
    """What shapes a law of noise that is not normal, and the evidence for it."""

    def told(key: str, factor: float = 1.0) -> str:
        value, low, high = (factor * v for v in law["shape"][key])
        return f"{number(value, 2)} ({number(low, 2)} .. {number(high, 2)})"

    if law["law"] == "student":
        said = f"Student's law of {told('degrees')} degrees of freedom"
    else:
        said = f"but for {told('share', 100.0)} % of the {what} with {told('width')} times that"
    return f"{said}, log Bayes factor against normal noise {law['log_bayes_factor']:+.3g}"


def outlier_texts(result: Findings) -> list[str]:
    """The first outliers of each sensor, and how many there are."""
    found = []
    for name in result.diagnostics.get("noise_law", {}):
        own = [one for one in result.outliers if one.channel == name]
        if own:
            times = ", ".join(number(one.time) for one in own[:MOST_OUTLIERS])
            more = ", ..." if len(own) > MOST_OUTLIERS else ""
            found.append(f"outliers of {name}: {len(own)}, at t = {times}{more} (result.outliers)")
    return found


def step_law_texts(result: Findings) -> list[str]:
    """The law of the noise of each row's steps, where it is not normal, and the first jumps."""
    found, groups = [], {}
    for law in result.diagnostics.get("diffusion_law", {}).values():
        groups[tuple(law["rows"])] = law
    for rows, law in groups.items():
        names = ", ".join(rows)
        if law["law"] == "student":
            of = "Gamma is the square of its scale"
            size = (
                f", the variance {number(law['variance'], 3)} times that"
                if math.isfinite(law["variance"])
                else ""
            )
        else:
            of, size = "Gamma is that of the others", ""
        found.append(f"noise of the steps of {names}: {law_text(law, 'steps')}; {of}{size}")
        own = [one for one in result.jumps if one.row == rows[0]]
        if own:
            times = ", ".join(number(one.time) for one in own[:MOST_OUTLIERS])
            more = ", ..." if len(own) > MOST_OUTLIERS else ""
            found.append(f"jumps of {names}: {len(own)}, at t = {times}{more} (result.jumps)")
    return found


def _table(result: Findings) -> Iterator[str]:
    units = units_shown(result)
    return columns([head(units), *term_rows(rows_shown(result), units)], 2)


def records(result: Findings) -> list[dict[str, Any]]:
    """One record per candidate term of every equation; see `Discovery.table`."""
    units = coefficient_units(result)
    columns = ("term", "selected", "pip", "pip_mcse", "mean", "sd", "low", "high")
    rows = []
    for key, equation in result.keyed():
        low, high = equation.interval(0.95).T.tolist()
        arrays = [equation.selected, equation.pip, equation.pip_mcse, equation.mean, equation.sd]
        for k, values in enumerate(zip(equation.terms, *(array.tolist() for array in arrays), low, high)):
            unit = {"unit": units[key][k]} if units else {}
            rows.append({"equation": str(key), **dict(zip(columns, values)), **unit})
    return rows + [
        {"equation": LABEL, **dict(zip(columns, (name, True, None, None, one.mean, one.sd, *one.interval())))}
        for name, one in result.parameters.items()
    ]
