"""`run`: all studies, forms and seeds; and the `Report` that holds what they gave and writes it down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.writing import replacing
from itoscope.errors import MissingExtraError, argument_error
from itoscope.paper import forecasting, page
from itoscope.paper.outcome import Outcome, outcome_of
from itoscope.paper.studies import FORMS, STUDIES, Form, Study

if TYPE_CHECKING:
    from os import PathLike

    from itoscope.discovery.result import Discovery
    from itoscope.paper.forecasting import Motion

__all__ = ["Report", "run"]

FORECAST_SECONDS, QUICK_FORECAST_SECONDS = 500.0, 100.0
QUICK_FORECASTS = 2

Progress = Callable[[float, float], Any]


@dataclass
class Report:
    """What the studies gave.

    Attributes
    ----------
    outcomes : list of Outcome
        One per study, form and seed.
    results : dict of (study, form) to Discovery
        Those of the first seed.
    motions : dict of str to Motion
        The Bouc-Wen forecast: `"true"`, `"again"` (the true system with other noise) and one per form.
    quick : bool
    seconds : float
    files : list of Path
        What was written.
    notes : list of str
        What could not be done, and why.
    """

    quick: bool
    outcomes: list[Outcome] = field(default_factory=list)
    results: dict[tuple[str, str], Discovery] = field(default_factory=dict)
    motions: dict[str, Motion] = field(default_factory=dict)
    seconds: float = 0.0
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def outcome(self, study: str, form: str, seed: int | None = None) -> Outcome:
        """The outcome of a study in a form; of the first seed unless another is asked for."""
        for found in self.outcomes:
            if (found.study, found.form) == (study, form) and seed in (None, found.seed):
                return found
        known = sorted({(o.study, o.form, o.seed) for o in self.outcomes})
        raise argument_error("study, form, seed", (study, form, seed), f"one that was run: {known}")

    def found(self, study: str, form: str, label: str) -> list[str]:
        """Selected terms of an equation, the true ones first."""
        seen = self.outcome(study, form)
        true = [term for (equation, term), e in seen.estimates.items() if equation == label and e.selected]
        return true + seen.false.get(label, [])

    def table(self) -> list[dict[str, Any]]:
        """One row per true coefficient: `study, equation, term, true, paper` and an `Estimate` or None per form."""
        return page.table_rows(self.outcomes)

    def __str__(self) -> str:
        return "\n".join(page.text(self.outcomes, self.motions, self.notes))

    def write(self, folder: str | PathLike[str], *, figures: bool = True) -> None:
        """Write `paper.md` into a folder, and the figures into its subfolder `paper`; list both in `files`."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        pictures: list[tuple[str, str]] = []
        if figures:
            pictures = self._draw(target / "paper")
        text = page.markdown(self.outcomes, self.motions, self.notes, pictures, quick=self.quick)
        with replacing(target / "paper.md") as beside:
            Path(beside).write_text(text, encoding="utf-8")
        self.files.append(target / "paper.md")

    def _draw(self, folder: Path) -> list[tuple[str, str]]:
        from itoscope.paper import figures

        try:
            drawn = figures.draw(self.results, self.motions, folder)
        except MissingExtraError as problem:
            self.notes.append(f"no figures: {problem}")
            return []
        self.files += [folder / name for name, _ in drawn]
        return [(f"{folder.name}/{name}", caption) for name, caption in drawn]


def run(
    *,
    quick: bool = False,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    studies: Sequence[str] | None = None,
    forms: Sequence[str] | None = None,
    seed: int = 1,
    seeds: int = 1,
    recordings: int | None = None,
    figures: bool = True,
) -> Report:
    """Do the studies of the paper again, as printed and as promised.

    Parameters
    ----------
    quick : bool
        Fewer paths for the noisy recordings and a shorter forecast.
    folder : path, optional
        Where `paper.md` and the figures go; nothing is written without one.
    progress : callable, optional
        `progress(done, total)`, in about seconds of work.
    studies, forms : sequence of str, optional
        Some of `itoscope.paper.studies.STUDIES` and `FORMS`; all by default.
    seed, seeds : int
        The first seed, and how many; the tables show the first one, and how all of them fared.
    recordings : int, optional
        Most paths of a noisy recording, in place of the study's own number.
    figures : bool
        Draw them too (needs the extra `plot`).

    Returns
    -------
    Report
        Prints as the table.

    Raises
    ------
    ArgumentError
        For a study or form that there is not, or no seed.
    """
    chosen = [STUDIES[name] for name in _known("studies", studies, STUDIES)]
    wanted = _known("forms", forms, FORMS)
    checks.count("seeds", seeds)
    report = Report(quick)
    start = time.perf_counter()
    jobs = [
        (study, name, form, number)
        for study in chosen
        for name, form in study.forms.items()
        if name in wanted
        for number in range(seed, seed + seeds)
    ]
    forecast = any(study.judged == "forecast" for study, *_ in jobs)
    costs = [form.quick_cost if quick else form.cost for _, _, form, _ in jobs]
    total, done = sum(costs) + forecast * _forecast_cost(quick), 0.0
    models: dict[str, list[Discovery]] = {}
    for (study, name, form, number), cost in zip(jobs, costs):
        result = _one(report, study, name, form, number, recordings)
        if result is not None and study.judged == "forecast":
            models.setdefault(name, []).append(result)
        done += cost
        if progress is not None:
            progress(done, total)
    if models:
        _forecast(report, models, seed)
    if progress is not None:
        progress(total, total)
    report.seconds = time.perf_counter() - start
    if folder is not None:
        report.write(folder, figures=figures)
    return report


def _known(name: str, chosen: Sequence[str] | None, allowed: Sequence[str] | dict[str, Any]) -> list[str]:
    for value in chosen or ():
        if value not in allowed:
            raise argument_error(name, value, f"some of {', '.join(allowed)}")
    return list(chosen or allowed)


def _forecast_cost(quick: bool) -> float:
    return 3.0 if quick else 60.0


def _one(
    report: Report, study: Study, name: str, form: Form, seed: int, recordings: int | None
) -> Discovery | None:
    """Record, discover, and add the outcome to the report."""
    problem = study.problem()
    data = form.record(problem, seed, quick=report.quick, most=recordings)
    start = time.perf_counter()
    result = form.discover(problem, data, seed)
    seconds = time.perf_counter() - start
    seen = outcome_of(study, name, seed, seconds, result, problem.known_drift)
    report.outcomes.append(seen)
    report.results.setdefault((study.name, name), result)
    return result


def _forecast(report: Report, models: dict[str, list[Discovery]], seed: int) -> None:
    """The motion of the true system and of each discovered one; one path per seed, more if there are few."""
    duration = QUICK_FORECAST_SECONDS if report.quick else FORECAST_SECONDS
    count = QUICK_FORECASTS if report.quick else 10
    report.motions["true"], x0 = forecasting.true_motion(duration, count, seed)
    report.motions["again"], _ = forecasting.true_motion(duration, count, seed + 10_000)
    for name, found in models.items():
        share = max(1, count // len(found))
        parts = [
            forecasting.foretold(result.model(), np.asarray(x0), duration, share, seed + 20_000 + number)
            for number, result in enumerate(found)
        ]
        together = forecasting.joined(parts, share)
        if together is None:
            report.notes.append(f"Bouc-Wen, {name}: every forecast left the finite range")
        else:
            report.motions[name] = together
