"""Write reference.md, an entry for every public name: `python docs/make_reference.py`."""

from __future__ import annotations

import inspect
from pathlib import Path

import itoscope

PAGE = Path(__file__).parent / "reference.md"

#: Every name of `itoscope.__all__` once, in the order of the page.
SECTIONS = {
    "Finding an equation": ("discover", "discover_many", "Discovery", "Equation", "SDEDiscovery", "Prior"),
    "Recordings": (
        "Trajectories",
        "Acceleration",
        "Angle",
        "Average",
        "Input",
        "read",
        "stream",
        "dask",
        "advise",
        "classify_order",
    ),
    "Candidate terms": ("Library", "from_pysindy"),
    "Moments of one regression": ("moments", "Moments"),
    "Equations that are given": ("SDE", "problems"),
    "The studies of the paper": ("paper",),
    "Errors": ("errors",),
    "Settings": ("use_backend", "set_threads", "__version__"),
}

#: What calls return that has no public name of its own.
RETURNED = {
    "itoscope.result.diagnostics.Diagnostics": "as `Discovery.diagnostics`",
    "itoscope.result.diagnostics.Check": 'in `diagnostics["checks"]`',
    "itoscope.result.diagnostics.NoiseLevel": 'in `diagnostics["measurement_noise"]`',
    "itoscope.result.diagnostics.Correlation": 'in `diagnostics["noise_correlation"]`',
    "itoscope.show.summary.Summary": "by `Discovery.summary`",
    "itoscope.result.estimates.Criteria": "by `Discovery.criteria`",
    "itoscope.result.motion.FixedPoint": "by `Discovery.fixed_points`",
    "itoscope.result.motion.Mode": "by `Discovery.modes`",
    "itoscope.result.motion.Banded": "in `Mode`, `FixedPoint` and `FirstPassage`",
    "itoscope.result.passage.Curve": "by `Discovery.potential` and `Discovery.stationary_density`",
    "itoscope.result.laws.Surface": "by `Discovery.stationary_density` of two states",
    "itoscope.result.passage.FirstPassage": "by `Discovery.first_passage`",
    "itoscope.result.forecast.Forecast": "by `Discovery.forecast`",
    "itoscope.result.states.SmoothedStates": "by `Discovery.smoothed`",
    "itoscope.discovery.accessor.Accessor": "as `.ito` of frames, series and arrays",
    "itoscope.discovery.many.Discoveries": "by `discover_many`",
    "itoscope.data.streams.Stream": "by `stream`",
    "itoscope.show.plots.Plots": "as `Discovery.plot`",
}

#: Methods that scikit-learn puts on every estimator, with references into its own pages.
FOREIGN = ("set_fit_request", "set_predict_request", "set_score_request")


def entry(path: str, thing: object) -> str:
    """The directive that documents a thing."""
    if inspect.ismodule(thing):
        return f".. automodule:: {path}\n   :members:"
    if inspect.isclass(thing):
        foreign = f":exclude-members: {', '.join(FOREIGN)}"
        which = foreign if hasattr(thing, FOREIGN[0]) else ":inherited-members: object"
        return f".. autoclass:: {path}\n   :members:\n   {which}"
    return f".. autofunction:: {path}" if callable(thing) else f".. autodata:: {path}\n   :no-value:"


def page() -> str:
    """The page; `ValueError` if a public name has no place, or a place no public name."""
    placed = [name for names in SECTIONS.values() for name in names]
    if sorted(placed) != sorted(itoscope.__all__):
        raise ValueError(f"not once on the page: {sorted(set(placed) ^ set(itoscope.__all__))}")
    parts = [
        "# Reference",
        "Every public name, written by `python docs/make_reference.py` from `itoscope.__all__`.",
    ]
    for section, names in SECTIONS.items():
        entries = [entry(f"itoscope.{name}", getattr(itoscope, name)) for name in names]
        parts += [f"## {section}", "```{eval-rst}\n" + "\n\n".join(entries) + "\n```"]
    parts.append("## What calls return")
    for path, where in RETURNED.items():
        parts.append(f"Returned {where}:\n\n```{{eval-rst}}\n.. autoclass:: {path}\n   :members:\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
