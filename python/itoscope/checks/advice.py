"""Advice on a fit: the cause behind the checks that fired, chosen by tests, and the next step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from itoscope.checks import causes
from itoscope.checks.filtered import MOST_PATHS
from itoscope.checks.kinks import kink_advice
from itoscope.checks.rows import steps_of
from itoscope.checks.sampled import averaged, coarse
from itoscope.checks.terms import drift_short, least, noise_short
from itoscope.common.numbers import number, rough
from itoscope.data.advice import Advice
from itoscope.data.looked import looked_at
from itoscope.data.traits import call_of, traits
from itoscope.errors import ArgumentError
from itoscope.stats.whiteness import autocorrelation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.checks.steps import Steps
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.diagnostics import Advised
    from itoscope.result.findings import Findings

__all__ = ["advice_of", "advised"]

MORE = 1.3
"""How much more noise a recording shows than was given, from which the given level is too small."""
ROUNDED = 0.7
"""Share of the noise of rounding that a given level covers."""
FEWEST = 3
"""Recordings of which a spread can be told."""
TWO = 6
"""Advices of a result at most."""
ALTERNATES = 3.0
"""Standard errors below zero of an autocorrelation at one step that is noise of the sensor, once a check has fired."""
COLOURED = ("whiteness", "slow scales")
"""Checks that fire where a smooth motion is taken for one that noise drives."""
LOOKS = ("drift ", "strength ", "trend")
"""How the names of checks begin that hold the drift against sums of residuals."""
BESIDE = "offset"
"""The mark of a recording that leaves the residuals what they are."""


def advised(result: Findings) -> Findings:
    """The result with its advice among the diagnostics."""
    found = [cast("Advised", advice.as_dict()) for advice in advice_of(result)]
    return replace(result, diagnostics={**result.diagnostics, "advice": found}) if found else result


def advice_of(result: Findings) -> list[Advice]:
    """What a fit suffers from, the gravest first.

    Marks of the sensor, which the recording shows by itself, come first; where there are none, what fired on the
    residuals or innovations of each row is traced to its cause.
    """
    data = result.data
    if data is None:
        return []
    data = data if result.inputs else looked_at(data)
    suspect = _any_fired(result)
    seen = traits(data, result.settings.get("order") == 2, closely=suspect)
    found = [_weighed(advice, result) for advice in seen if _is_open(advice, result)]
    if not [advice for advice in found if advice.cause != BESIDE]:
        try:
            rows = steps_of(result, data, MOST_PATHS) if suspect else []
        except ArgumentError:  # a function of Python among the terms
            rows = []
        for steps in rows:
            fired = _fired(result, steps.name)
            if fired and np.count_nonzero(np.isfinite(steps.z)) > 200:
                found += [new for new in _of_row(result, data, steps, fired, rows) if not _said(new, found)]
    return (found + kink_advice(result, {advice.about for advice in found}))[:TWO]


def _said(advice: Advice, found: Sequence[Advice]) -> bool:
    """Whether the same has been asked already, for another row."""
    return any(
        one.cause == advice.cause
        and one.arguments == advice.arguments != {}
        and one.recording == advice.recording
        for one in found
    )


def _any_fired(result: Findings) -> bool:
    """Whether there is anything whose cause is to be found: else nothing of a row need be worked out again."""
    return any(check["fired"] for check in result.diagnostics.get("checks", []))


def _fired(result: Findings, name: str) -> dict[str, float]:
    """Checks of a row that fired, with their values."""
    checks = result.diagnostics.get("checks", [])
    return {check["name"]: check["value"] for check in checks if check["fired"] and check["about"] == name}


def _is_open(advice: Advice, result: Findings) -> bool:
    """Whether the fit has not done already what an advice on its recording asks for."""
    settings, checks = result.settings, result.diagnostics.get("checks", [])
    noise = settings.get("measurement_noise")
    if isinstance(noise, Mapping):  # somebody knows the sensors
        noise = "estimate"
    if advice.cause == "measurement noise":
        if noise == "estimate" or settings.get("ensemble") == "mean":
            return False
        return not noise or advice.evidence["noise"] > MORE * float(noise)
    if advice.cause == "quantised":
        level = advice.evidence["grid"] / math.sqrt(12.0)
        if advice.about in (settings.get("resolution") or ()):
            return False
        return (
            not (noise == "estimate" or (noise and float(noise) > ROUNDED * level))
            or "thin" in advice.recording
        )
    if advice.cause == "averaged samples":
        return f"average({advice.about})" not in (settings.get("observed") or ())
    if advice.cause in ("outliers", "jumps"):  # outliers in a row look like jumps to and fro
        groups = settings.get("noise_groups") or ()  # beside which no law is built
        told = {**(settings.get("noise_law") or {}), **(settings.get("diffusion_law") or {})}
        return not groups and advice.about not in told
    if advice.cause == "wrong order":
        asked = settings.get("order") == 1 and not result.known_drift and not settings.get("states")
        return asked and any(check["fired"] and check["name"] in COLOURED for check in checks)
    if advice.cause == "coarse step":
        return any(check["name"] == "time step" and check["fired"] for check in checks)
    if advice.cause == "offset":
        may_move = result.library is not None and result.library.about_mean() is not result.library
        return may_move and result.diagnostics.get("origin_gain", 1.0) > 0
    return True


def _noisy(result: Findings, channel: str) -> bool:
    """Whether a column was fitted with noise."""
    levels = result.diagnostics.get("measurement_noise") or {}
    return channel in levels and levels[channel]["sd"] > 0.0


def _weighed(advice: Advice, result: Findings) -> Advice:
    """Of a fit with noise, outliers are weighed down by its law; of measured states, jumps by that of their steps."""
    if advice.cause == "jumps" and (laws := _step_laws(result, advice.about, "jumps")):
        sentence = advice.sentence + f"; or {call_of({}, laws)}, which finds their share and their width"
        return replace(advice, sentence=sentence, arguments=laws, recording={})
    if advice.cause != "outliers" or not _noisy(result, advice.about):
        return advice
    many = int(advice.evidence["outliers"])
    laws = {**(result.settings.get("noise_law") or {}), advice.about: "outliers"}
    return replace(
        advice,
        sentence=f"{many} samples of {advice.about} are outliers that come back at once, and count as much as others: "
        f"discover(data, noise_law={laws!r}) weighs them down",
        arguments={"noise_law": laws},
        recording={},
    )


def _of_row(
    result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float], rows: Sequence[Steps]
) -> Iterator[Advice]:
    """The cause of what fired on one row.

    A period, samples that are means or too far apart, and recordings that differ make all other checks fire, and
    whatever is wrong makes residuals that are not white; these make all sums of theirs vary more, so that only what
    is beyond that has a cause of its own. A wrong variance makes checks of the drift fire, and the other way round,
    but the rarer is the cause.
    """
    with np.errstate(all="ignore"):
        at_once, own = (_noise_time, noise_short, _time, drift_short), _beyond_colour(result, steps, fired)
        means = partial(averaged, rows=rows)
        for tests in ((_period,), (coarse, means), (_recordings,), at_once, (_noise,), (_colour,), (_heavy,)):
            seen = own if tests is at_once else fired
            found = [advice for test in tests if (advice := test(result, data, steps, seen)) is not None]
            if found:
                yield min(found, key=lambda advice: advice.evidence["p_value"])
                return


def _beyond_colour(result: Findings, steps: Steps, fired: dict[str, float]) -> dict[str, float]:
    """Those that would have fired too if the residuals had been taken for what they are: not independent."""
    if not {*COLOURED} & {*fired}:
        return fired
    bounds = {
        check["name"]: check["threshold"]
        for check in result.diagnostics["checks"]
        if check["about"] == steps.name
    }
    of_sums, of_sizes = causes.inflation(steps), causes.inflation(steps, size=True)
    found = {}
    for name, value in fired.items():
        if name.startswith((*LOOKS, "noise ")):
            value = causes.deflated(value, of_sizes if name.startswith("noise ") else of_sums)
            if value > bounds[name]:
                continue
        found[name] = value
    return found


def _period(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    found = causes.period_of(steps)
    if found is None:
        return None
    dt, unit = _step(data), data.time_unit
    period = 1.0 / found.frequency * dt
    return Advice(
        "periodic forcing", steps.name,
        f"{steps.name} is driven with a period of {number(period, 3)}{f' {unit}' if unit else ''} "
        f"({number(2 * math.pi / period, 3)} rad per unit of time): its residuals have a line there, "
        f"{rough(found.power)} times what is around it; a clock as a column whose row is known to be 1, with "
        "cos and sin of it among the candidates, takes it in",
        {"period": period, "power": found.power, "p_value": found.p_value},
    )  # fmt: skip


def _recordings(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    p_value = least(fired, "memory", "drift of paths", "noise of paths")
    if p_value is None or data.n_paths < 2:
        return None
    column = data.names.index(steps.name) if steps.name in data.names else 0
    lasts = max(
        causes.persistent([path[:, column] for path in data.paths]),
        causes.persistent([np.diff(path[:, column]) for path in data.paths]),
    )
    if not ({"drift of paths", "noise of paths"} & {*fired}) and lasts < causes.AGREES:
        return None
    means = np.array([np.nanmean(path[:, column]) for path in data.paths])
    odd = int(np.argmax(np.abs(means - np.median(means))))
    wanted = _differing(result, data, steps.name)
    remedy = (
        f"or discover(data, vary={wanted}), which takes what differs as normal about a mean; or "
        if wanted
        else ""
    )
    return Advice(
        "recordings that differ", steps.name,
        f"the {data.n_paths} recordings are not of one system in {steps.name} (centre, strength or noise differ, most "
        f"in recording {odd}): {remedy.removeprefix('or ')}fit them one by one, discover(data[k]), and compare",
        {"persistence": lasts, "p_value": p_value}, {"vary": wanted} if wanted else {},
    )  # fmt: skip


def _differing(result: Findings, data: Trajectories, name: str) -> dict[str, list[str]]:
    """What to let vary by recording, where that can be asked: the constant of the row."""
    name = name if name in result.drift else result.known_drift.get(name, "")
    if data.n_paths < FEWEST or name not in result.drift:
        return {}
    asked = {row: list(terms) for row, terms in (result.settings.get("vary") or {}).items()}
    if asked.get(name) or "1" not in result.drift[name].terms:
        return {}
    return {**asked, name: ["1"]}


def _time(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    p_value = least(fired, "trend", "drift of halves")
    if p_value is None:
        return None
    change = causes.change_in_time(steps)
    if "trend" in fired and not change.sudden:
        return Advice(
            "trend", steps.name,
            f"{steps.name} is pushed more and more as time passes: a trend in the force or in the sensor; a clock as a "
            "column whose row is known to be 1 takes it in, and taking the trend off the recording does where it is "
            "the sensor's",
            {"p_value": p_value},
        )  # fmt: skip
    return _switch(steps, "the drift", change.at if "trend" in fired else None, p_value)


def _switch(steps: Steps, what: str, at: float | None, p_value: float) -> Advice:
    where = "" if at is None else f", most at {100 * at:.0f} % of the time"
    return Advice(
        "changes in time", steps.name,
        f"{what} of {steps.name} is another one later in the recording{where}: split it, "
        f"data.split({number(at or 0.5, 2)}, by='time'), and fit the parts one by one",
        {"at": at or 0.5, "p_value": p_value},
    )  # fmt: skip


def _noise_time(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    p_value = least(fired, "noise of halves")
    if p_value is None:
        return None
    return _switch(steps, "the noise", causes.change_in_time(steps, size=True).at, p_value)


def _noise(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    """Noise too small to be seen on the samples: what is left of measured states alternates."""
    p_value = least(fired, "slow scales", "whiteness", "memory")
    if p_value is None or result.settings.get("measurement_noise"):
        return None
    alternation = float(autocorrelation(steps.z, steps.piece, 1)[0])
    errors = -alternation * math.sqrt(np.count_nonzero(np.isfinite(steps.z)))
    if errors < ALTERNATES:
        return None
    return Advice(
        "measurement noise", steps.name,
        f"what is left of {steps.name} alternates (autocorrelation {number(alternation, 2)} at one step), as noise of "
        'the sensor makes it; discover(data, measurement_noise="estimate")',
        {"autocorrelation": alternation, "errors": errors, "p_value": p_value}, {"measurement_noise": "estimate"},
    )  # fmt: skip


def _colour(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    p_value = least(fired, "slow scales", "whiteness", "memory")
    if p_value is None:
        return None
    found, dt = causes.colour(steps), _step(data)
    if found.period is not None:
        return Advice(
            "hidden state", steps.name,
            f"what is left of {steps.name} rings with a period of about {rough(found.period * dt)}: a state that "
            "was not measured; record it too, or name it with states=[...] where a known row ties it to a column",
            {"period": found.period * dt, "p_value": p_value},
        )  # fmt: skip
    memory, forcing = found.memory * dt, {steps.name: "coloured"}
    asked = "" if result.settings.get("forcing") else f"discover(data, forcing={forcing!r}); or "
    return Advice(
        "coloured forcing", steps.name,
        f"the force on {steps.name} has a memory of about {rough(memory)}, {rough(found.memory)} samples, and "
        f"is no white noise: {asked}thin the recording to steps longer than that, data.thin(k), if the motion is "
        "slower still; else what makes the force is a state to be recorded",
        {"memory": memory, "samples": found.memory, "p_value": p_value}, {"forcing": forcing} if asked else {},
    )  # fmt: skip


def _heavy(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    if "jumps" not in fired:
        return None
    told = result.settings.get("noise_law") or {}
    if _noisy(result, steps.name) and steps.name not in told:
        laws = {**told, steps.name: "student"}
        return Advice(
            "heavy noise", steps.name,
            f"the innovations of {steps.name} have heavier tails than those of a diffusion with normal noise: "
            f"discover(data, noise_law={laws!r}), if it is the sensor; else many small jumps of the motion",
            {"kurtosis": 3.0 * fired["jumps"], "p_value": 0.0}, {"noise_law": laws},
        )  # fmt: skip
    laws = _step_laws(result, steps.name, "student")
    return Advice(
        "jumps", steps.name,
        f"the steps of {steps.name} have heavier tails than those of a diffusion, and no term of the state tells when: "
        "many small jumps, or a noise whose strength is a state of its own"
        + (f"; {call_of({}, laws)} finds their law and weighs them by it" if laws else ""),
        {"kurtosis": 3.0 * fired["jumps"], "p_value": 0.0}, laws,
    )  # fmt: skip


def _step_laws(result: Findings, row: str, law: str) -> dict[str, Any]:
    """The option by which a row, and those whose covariance with it is sought, have a law; none where that is none."""
    settings = result.settings
    told = dict(settings.get("diffusion_law") or {})
    usual = (
        settings.get("weights") == "auto" and settings.get("ensemble") == "pool" and not settings.get("vary")
    )
    if result.observer is not None or not usual or row in told or (row, row) not in result.diffusion:
        return {}
    rows, grows = {row}, True
    while grows:
        more = {name for pair in result.diffusion for name in pair if rows & {*pair}} - rows
        rows, grows = rows | more, bool(more)
    return {"diffusion_law": told | {name: law for name in result.states if name in rows}}


def _step(data: Trajectories) -> float:
    """The step, or the mean one."""
    return data.dt or float(np.mean([np.diff(stamps).mean() for stamps in data.times]))
