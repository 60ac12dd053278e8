"""The tables of the studies, as text for a terminal and as a page of the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.paper.forecasting import Motion, overlap
from itoscope.paper.notes import CLOSING, HEAD, NOTES, SEEDS_NOTE, VERDICT_NOTE
from itoscope.paper.outcome import Estimate, Outcome
from itoscope.paper.studies import FORMS, STUDIES, Key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["forecast_rows", "markdown", "seed_rows", "support_rows", "table_rows", "text", "verdict_rows"]

SHOWN = {
    "printed": "as printed",
    "pooled": "as printed, paths pooled",
    "promised": "as promised",
    "few": "as promised, few candidates",
    "law": "with the hysteresis equation known",
    "seen": "with the hysteresis measured",
}
MOTIONS = {"true": "true system", "again": "true system, other noise"} | {
    form: f"learnt {shown}" for form, shown in SHOWN.items()
}
BOUND = 0.05
"""How far a standard deviation of a forecast may be from the true one, as a share of it."""
WITHIN = "velocity, displacement within 5 %"
MANY = 8
"""More false terms than this are counted, not listed."""


# -- what the tables hold ------------------------------------------------------------------------------------
def table_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """One row per true coefficient of the studies judged by their terms, from the first seed of each form."""
    rows = []
    for study in STUDIES.values():
        seen = _first(outcomes, study.name)
        if not seen or study.judged != "terms":
            continue
        for key, value in study.truth().items():
            if value == 0:
                continue
            row: dict[str, Any] = {
                "study": study.title,
                "equation": key[0],
                "term": key[1],
                "true": value,
                "paper": study.paper.get(key),
            }
            rows.append(
                row | {form: seen[form].estimates.get(key) if form in seen else None for form in FORMS}
            )
    return rows


def _first(outcomes: Sequence[Outcome], study: str) -> dict[str, Outcome]:
    """The outcome of the first seed of each form of a study."""
    seen: dict[str, Outcome] = {}
    for outcome in outcomes:
        if outcome.study == study:
            seen.setdefault(outcome.form, outcome)
    return seen


def _groups(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str, list[Outcome]]]:
    """The outcomes of all seeds of each study and form."""
    for study in STUDIES.values():
        for form in study.forms:
            group = [o for o in outcomes if (o.study, o.form) == (study.name, form)]
            if group:
                yield study.name, form, group


def seed_rows(outcomes: Sequence[Outcome]) -> list[dict[str, str]]:
    """One row per coefficient and form over all seeds: how often it was found, how far it was off."""
    rows = []
    for name, form, group in _groups(outcomes):
        study = STUDIES[name]
        if study.judged != "terms":
            continue
        for key, true in study.truth().items():
            seen = [o.estimates[key] for o in group if key in o.estimates]
            if not seen or true == 0:
                continue
            inside = [e for e in seen if e.selected]
            errors = np.array([e.mean - true for e in inside])
            within = sum(_within(e, true, study.paper.get(key)) for e in inside)
            rows.append(
                {
                    "study": study.title,
                    "form": SHOWN[form],
                    "coefficient": _name(key),
                    "true": f"{true:g}",
                    "found": f"{len(inside)}/{len(seen)}",
                    "mean ± spread": _spread([e.mean for e in inside]),
                    "sd reported": f"{np.median([e.sd for e in inside]):.2g}" if inside else "",
                    "root mean square error": f"{np.sqrt(np.mean(errors**2)):.2g}" if inside else "",
                    "within": f"{within}/{len(inside)}",
                }
            )
    return rows


def verdict_rows(outcomes: Sequence[Outcome], motions: Mapping[str, Motion]) -> list[dict[str, str]]:
    """One row per study and form: how many seeds gave the true equation, or a forecast within `BOUND`."""
    rows = []
    forecasts = {row["motion"]: row for row in forecast_rows(motions)}
    for name, form, group in _groups(outcomes):
        study, n = STUDIES[name], len(group)
        row = {"study": study.title, "form": SHOWN[form]}
        if study.judged == "forecast":
            seen = forecasts.get(MOTIONS[form], {})
            rows.append(
                row | {f"forecast: {WITHIN}": seen.get(WITHIN, "none stays finite" if motions else "")}
            )
            continue
        truth = study.truth()
        for what, part in (("drift", "d"), ("diffusion", "Gamma")):
            labels = {key[0] for key in truth if key[0].startswith(part)}
            labels |= {label for o in group for label in o.false if label.startswith(part)}
            row[f"{what} exactly right"] = (
                f"{sum(all(o.exact(label) for label in labels) for o in group)}/{n}"
            )
        keys = [key for key, value in truth.items() if key[0].startswith("d") and value != 0]
        hits = sum(
            key in o.estimates
            and o.estimates[key].selected
            and _within(o.estimates[key], truth[key], study.paper.get(key))
            for o in group
            for key in keys
        )
        rows.append(row | {"drift coefficients found and within": f"{hits}/{len(keys) * n}"})
    heads = list(dict.fromkeys(head for row in rows for head in row))
    return [{head: row.get(head, "") for head in heads} for row in rows]


def support_rows(outcomes: Sequence[Outcome]) -> list[dict[str, str]]:
    """One row per equation and form: in how many seeds exactly the true terms were selected, and what else was."""
    rows = []
    for name, form, group in _groups(outcomes):
        study = STUDIES[name]
        if study.judged != "terms":
            continue
        labels = list(dict.fromkeys(label for label, _ in study.truth()))
        labels += [label for o in group for label in o.false if label not in labels]
        for label in dict.fromkeys(labels):
            asked = [o for o in group if label in o.false or any(eq == label for eq, _ in o.estimates)]
            if not asked:
                continue
            extra = [len(o.false.get(label, [])) for o in asked]
            rows.append(
                {
                    "study": study.title,
                    "form": SHOWN[form],
                    "equation": label,
                    "exactly the true terms": f"{sum(o.exact(label) for o in asked)}/{len(asked)}",
                    "all true terms": f"{sum(_complete(o, label) for o in asked)}/{len(asked)}",
                    "false terms": f"{np.mean(extra):.1f}",
                    "seconds": f"{np.median([o.seconds for o in asked]):.1f}",
                }
            )
    return rows


def _complete(outcome: Outcome, label: str) -> bool:
    return all(e.selected for (equation, _), e in outcome.estimates.items() if equation == label)


def _within(estimate: Estimate, true: float, paper: float | None) -> bool:
    """Within twice the paper's own deviation, or three standard deviations."""
    error = abs(estimate.mean - true)
    return error <= 3 * estimate.sd or (paper is not None and error <= 2 * abs(paper - true))


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.6g}"
    return str(Estimate(float(np.mean(values)), float(np.std(values, ddof=1)), 1.0, True)).partition(" (")[0]


def forecast_rows(motions: Mapping[str, Motion]) -> list[dict[str, str]]:
    """One row per ensemble: standard deviations beside the true ones, overlap of the mean spectra."""
    true = motions.get("true")
    if true is None:
        return []
    rows = []
    for name, seen in motions.items():
        mean = true.spectra.mean(axis=0)
        common = [overlap(seen.frequency, own, mean) for own in seen.spectra]
        rows.append(
            {
                "motion": MOTIONS.get(name, name),
                "paths": f"{len(seen.velocity)}" + (f" ({seen.diverged} diverged)" if seen.diverged else ""),
                "sd of velocity": _beside(seen.velocity, true.velocity),
                "sd of displacement": _beside(seen.displacement, true.displacement),
                "its vibration above 0.5 Hz": _beside(seen.vibration, true.vibration),
                "mean displacement": f"{seen.mean.mean():.4f}",
                "spectra in common (least)": f"{np.mean(common):.3f} ({min(common):.3f})",
                WITHIN: ", ".join(
                    f"{np.sum(np.abs(one / all_of_it.mean() - 1) <= BOUND)}/{len(one) + seen.diverged}"
                    for one, all_of_it in (
                        (seen.velocity, true.velocity),
                        (seen.displacement, true.displacement),
                    )
                ),
            }
        )
    return rows


def _beside(values: Any, true: Any) -> str:
    change = 100 * (values.mean() / true.mean() - 1)
    return f"{values.mean():.4g}" + ("" if values is true else f" ({change:+.1f} %)")


def _name(key: Key) -> str:
    return f"{key[0]}: {key[1]}"


# -- as text -------------------------------------------------------------------------------------------------
def text(outcomes: Sequence[Outcome], motions: Mapping[str, Motion], notes: Sequence[str]) -> list[str]:
    """Lines for a terminal."""
    lines = []
    for title, rows in _tables(outcomes, motions):
        lines += [title, *_aligned(rows), ""]
    lines += [f"note: {note}" for note in notes]
    return lines


def _tables(
    outcomes: Sequence[Outcome], motions: Mapping[str, Motion]
) -> Iterator[tuple[str, list[dict[str, str]]]]:
    for study in STUDIES.values():
        rows = _coefficient_table(outcomes, study.name)
        if rows:
            yield study.title, rows
    if motions:
        yield "Bouc-Wen, forecast at s = 6", forecast_rows(motions)
    if len({o.seed for o in outcomes}) > 1:
        tables = {"terms": support_rows(outcomes), "coefficients": seed_rows(outcomes)}
        yield from ((f"Over all seeds: {what}", rows) for what, rows in tables.items() if rows)


def _coefficient_table(outcomes: Sequence[Outcome], name: str) -> list[dict[str, str]]:
    """The rows of one study, and a last one with the false terms of each form."""
    study, seen = STUDIES[name], _first(outcomes, name)
    if study.judged != "terms" or not seen:
        return []
    forms = [form for form in study.forms if form in seen]
    rows: list[dict[str, str]] = []
    for row in table_rows([o for o in outcomes if o.study == name]):
        cells = {
            "coefficient": _name((row["equation"], row["term"])),
            "true": f"{row['true']:g}",
            "paper": "" if row["paper"] is None else f"{row['paper']:.7g}",
        }
        rows.append(cells | {SHOWN[form]: "" if row[form] is None else str(row[form]) for form in forms})
    labels = list(dict.fromkeys(label for form in forms for label in seen[form].false))
    for label in labels:
        cells = {"coefficient": f"{label}: false terms", "true": "none", "paper": ""}
        rows.append(cells | {SHOWN[form]: _listed(seen[form].false.get(label, [])) for form in forms})
    return rows


def _listed(terms: Sequence[str]) -> str:
    if len(terms) > MANY:
        return f"{len(terms)} terms"
    return ", ".join(terms) or "none"


def _aligned(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    head = list(rows[0])
    cells = [head, *([row.get(name, "") for name in head] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    for line in cells:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths))).rstrip()


# -- as a page -----------------------------------------------------------------------------------------------
def markdown(
    outcomes: Sequence[Outcome],
    motions: Mapping[str, Motion],
    notes: Sequence[str],
    pictures: Sequence[tuple[str, str]],
    *,
    quick: bool,
) -> str:
    """The page: a table and a note per study, figures, the forecast, what all seeds gave."""
    seeds = sorted({o.seed for o in outcomes})
    parts = [HEAD]
    if quick:
        parts.append("*These are figures of a quick run: fewer recordings and a shorter forecast.*")
    verdict = verdict_rows(outcomes, motions)
    if verdict:
        parts += [
            "## In short",
            VERDICT_NOTE.format(n=len(seeds), s="" if len(seeds) == 1 else "s"),
            _table(verdict),
        ]
    parts += [f"*{note}*" for note in notes]
    for study in STUDIES.values():
        rows = _coefficient_table(outcomes, study.name)
        if not rows and not (study.judged == "forecast" and motions):
            continue
        parts.append(f"## {study.title}")
        parts += [_table(rows)] if rows else []
        if study.judged == "forecast":
            parts.append(_table(forecast_rows(motions)))
        parts += [NOTES[study.name]] if study.name in NOTES else []
        parts += [
            f"![{caption}]({file})\n\n*{caption}*" for file, caption in pictures if _stem(file, study.name)
        ]
    if len(seeds) > 1:
        parts += [
            f"## All {len(seeds)} seeds",
            "Which terms were selected, how many false ones on average, and the median time of one discovery:",
            _table(support_rows(outcomes)),
            SEEDS_NOTE,
            _table(seed_rows(outcomes)),
        ]
    parts.append(CLOSING)
    return "\n\n".join(parts) + "\n"


def _stem(file: str, study: str) -> bool:
    return file.rpartition("/")[2].startswith(f"{study}--")


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    if not rows:
        return ""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        lines.append("| " + " | ".join(_cell(row.get(name, "")) for name in head) + " |")
    return "\n".join(lines)


def _cell(value: str) -> str:
    """Bars of |x| would end a cell; stars and carets mean nothing else in it."""
    return value.replace("|", "\\|")
