"""What Python says of a call in words of the shell: arguments as options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itoscope.data.advice import Advice
    from itoscope.data.trajectories import Trajectories

__all__ = ["advised", "options_of"]

OPTIONS = {"measurement_noise": "--noise", "observed": "--sensor", "select": "--columns"}
"""Arguments of `discover` and methods of a recording as options of the shell, where these have other names."""

IN_PYTHON = frozenset({"library", "diffusion_library", "thin", "unwrap", "blank", "split"})
"""What an advice asks for that has no option, or is to be added to what an option says."""


def options_of(asked: Mapping[str, Any], data: Trajectories) -> list[str]:
    """Arguments and what is to be done to a recording first as options, quoted for a shell.

    Parameters
    ----------
    asked : mapping
        A setting may be a mapping, which is said once for each entry, or a list, which has commas.
    data : Trajectories
        Whose columns have the headings that the shell knows them by.
    """
    found = []
    for name, value in asked.items():
        if name == "select":
            labels = dict(zip(data.names, data.labels))
            value = [labels[one] for one in value]
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        found += [f"{option} {shlex.quote(word)}" for word in _words(value)]
    return found


def advised(advices: Iterable[Advice], data: Trajectories) -> list[str]:
    """The options that mend what advices are about, of each that has some."""
    asked = [{**advice.recording, **advice.arguments} for advice in advices]
    return [" ".join(options_of(one, data)) for one in asked if one and not IN_PYTHON & one.keys()]


def _words(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={word}" for key, entry in value.items() for word in _words(entry)]
    return [",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
