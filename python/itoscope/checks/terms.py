"""Advice on libraries: the terms that a drift or a noise lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.backends import get_backend
from itoscope.checks import causes
from itoscope.data.advice import Advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.checks.steps import Steps
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["drift_short", "least", "noise_short"]


def least(fired: dict[str, float], *names: str) -> float | None:
    """The smallest p-value of the checks among these that fired."""
    return min((fired[name] for name in names if name in fired), default=None)


def drift_short(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    """Terms that the drift lacks."""
    return _library(result, steps, least(fired, "drift shape", "drift terms"), of_noise=False)


def noise_short(result: Findings, data: Trajectories, steps: Steps, fired: dict[str, float]) -> Advice | None:
    """Terms that the noise lacks, the state itself among them where it was asked to be constant."""
    p_value = least(fired, "noise shape", "noise terms")
    asked = result.settings.get("diffusion")
    words = asked if isinstance(asked, dict) else {}
    if p_value is not None and words.get(steps.name, asked) == "constant":
        wanted = {**words, steps.name: "full"} if words else "full"
        said = repr(wanted) if words else '"full"'
        return Advice(
            "noise that depends on the state", steps.name,
            f"the noise of {steps.name} depends on where it is, and was asked to be constant: "
            f"discover(data, diffusion={said})",
            {"p_value": p_value}, {"diffusion": wanted},
        )  # fmt: skip
    return _library(result, steps, p_value, of_noise=True)


def _library(result: Findings, steps: Steps, p_value: float | None, of_noise: bool) -> Advice | None:
    """The two terms of largest score, those of the library that were not selected and those nobody asked for."""
    if p_value is None:
        return None
    stages = get_backend(
        None if result.settings.get("backend") == "default" else result.settings.get("backend")
    )
    names = list(result.variables)
    if len(names) != steps.states.shape[1] and result.data is not None:
        names = list(result.data.names)

    def evaluate(terms: Sequence[str], states: Array) -> Array:
        return stages.compile(list(terms), names).evaluate(states)

    found = causes.missing_terms(steps, names, evaluate, of_noise)
    found = [(causes.finer(steps, term, names, evaluate, of_noise), z) for term, z in found]
    known = {*(steps.noise_names if of_noise else steps.outside_names)}
    new = [
        term for k, (term, z) in enumerate(found) if term not in known and (k == 0 or abs(z) > causes.REAL)
    ]
    shown = " and ".join(f"{term} ({z:+.1f} standard errors)" for term, z in found)
    what = "noise" if of_noise else "drift"
    option = "diffusion_library" if of_noise else "library"
    added = ", ".join(f'"{term}"' for term in new)
    remedy = (
        f"{option}=library + Library.expressions({added})" if new else
        "they are candidates already and were left out: look at their probabilities, or record longer"
    )  # fmt: skip
    return Advice(
        f"library of the {what} too small" if new else f"terms of the {what} left out", steps.name,
        f"the {what} of {steps.name} depends on the state in another way than was fitted, most like {shown}: {remedy}",
        {"p_value": p_value, **{term: z for term, z in found}}, {option: new} if new else {},
    )  # fmt: skip
