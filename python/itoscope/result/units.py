"""Units of a discovery: those of its recording, and those of its coefficients, combined from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.common.units import product, quotient, read, write
from itoscope.expressions.units import unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.units import Unit
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.diagnostics import Summary
    from itoscope.result.findings import Findings, Key

__all__ = ["coefficient_units", "equation_unit", "shown_units", "state_units", "summary_of"]


def summary_of(data: Trajectories, observed: Sequence[str] | None = None) -> Summary:
    """The size of a recording, and its units where it has some.

    Parameters
    ----------
    data : Trajectories
    observed : sequence of str, optional
        What each column shows; the unit of a column is that of the state that it shows as it is, or as an average.
    """
    found: Summary = {"n_paths": data.n_paths, "n_steps": int(data.n_steps), "dt": data.dt}
    shown = data.names if observed is None else [_of_sensor(text) for text in observed]
    own = {name: unit for name, unit in zip(data.names, data.units) if unit and name not in shown}
    units = own | {name: unit for name, unit in zip(shown, data.units) if unit}
    if units:
        found["units"] = units
    if data.time_unit:
        found["time_unit"] = data.time_unit
    return found


def _of_sensor(text: str) -> str:
    """The expression whose unit the readings of a sensor have: of `average(x1, 0.033)` that is `x1`."""
    for kind in ("average(", "angle("):
        if text.startswith(kind):
            return text.removeprefix(kind).rstrip(")").partition(",")[0].strip()
    return text


def state_units(found: Findings) -> dict[str, Unit]:
    """The units of the states that are known; a row `dx1 = v1 dt` gives that of a velocity."""
    about = found.data_summary
    units = {name: read(unit) for name, unit in about.get("units", {}).items() if name in found.states}
    time = about.get("time_unit")
    for state, right in found.known_drift.items() if time else ():
        if right in found.states and right not in units and state in units:
            units[right] = quotient(units[state], read(str(time)))
    return units


def equation_unit(found: Findings, key: Key) -> str:
    """The unit of an equation's right side: of the drift of `x` that of `x` over time; empty where it is not known."""
    time, units = found.data_summary.get("time_unit"), state_units(found)
    return _unit(key, "1", units, read(time)) if time and units else ""


def shown_units(found: Findings, names: Sequence[str]) -> list[str]:
    """The units of states as text, empty where they are not known."""
    units = state_units(found)
    return [write(units[name]) if name in units else "" for name in names]


def coefficient_units(found: Findings) -> dict[Key, list[str]]:
    """The unit of every coefficient, empty where it is not known; nothing without units of states and time.

    A coefficient of the drift of `x` has the unit of `x` over that of time and of the term, one of `Gamma[x, y]` that
    of `x y` over those.
    """
    time, units = found.data_summary.get("time_unit"), state_units(found)
    if not time or not units:
        return {}
    return {
        key: [_unit(key, term, units, read(time)) for term in equation.terms]
        for key, equation in found.keyed()
    }


def _unit(key: Key, term: str, units: Mapping[str, Unit], time: Unit) -> str:
    states = [key.row] if key.column is None else [key.row, key.column]
    inside = unit_of(term, units)
    if inside is None or any(state not in units for state in states):
        return ""
    return write(quotient(product(units[state] for state in states), product([time, inside]))) or "1"
