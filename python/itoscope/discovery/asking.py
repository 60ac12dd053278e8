"""A question of a result asked again, of another recording or with other options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itoscope.common.prior import Prior
from itoscope.errors import ArgumentError
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.library.library import Library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["asked_again"]

#: What `settings` hold of the answer or in another form.
NOT_ASKED = (
    "inputs",
    "prior",
    "library",
    "diffusion_library",
    "backend",
    "seed",
    "custom_terms",
    "slab_scale",
)


def asked_again(
    result: Findings,
    data: Trajectories,
    seed: int,
    progress: bool | Callable[[int], Any] | None = None,
    changed: Mapping[str, Any] | None = None,
) -> Question:
    """The question behind a result with its settings, those of `changed` in their place.

    Parameters
    ----------
    result : Findings
    data : Trajectories
    seed : int
    progress : bool or callable, optional
    changed : mapping, optional
        Options by name, libraries among them.
    """
    settings = {key: value for key, value in result.settings.items() if key not in NOT_ASKED}
    if settings.get("order") == 2:
        settings["known_drift"] = {
            row: text for row, text in settings["known_drift"].items() if row not in data.names
        }
    prior = result.settings.get("prior")
    settings |= {
        "library": library_of(result, "library"),
        "diffusion_library": library_of(result, "diffusion_library"),
        "prior": None if prior is None else Prior(**prior),
        "seed": seed,
        "progress": progress,
    }
    return Question.of(data, Options.of(settings | dict(changed or {})))


def library_of(result: Findings, name: str) -> Library | None:
    """The library that was asked for; of a loaded result, its terms written out."""
    own: Library | None = getattr(result, name)
    if own is not None or (result.data is not None and result.library is not None):
        return own
    customs = result.settings.get("custom_terms", [])
    if customs:
        raise ArgumentError(
            f"the terms {', '.join(customs)} are functions of Python, which a saved result does not hold"
        )
    return Library.expressions(*result.settings[name])
