"""What a recording shows of its sensor before any fit: noise, averaging, a grid, wraps, outliers, jumps, a baseline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.numbers import number, rough
from itoscope.data.advice import Advice
from itoscope.data.order import classify_order
from itoscope.errors import DataError
from itoscope.stats.correlation import efolding_lag
from itoscope.stats.lines import periodogram, power_tail
from itoscope.stats.marks import bursts, derivative_of, grid_step, smoothness, wrap_period
from itoscope.stats.variogram import variogram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.common.types import Array
    from itoscope.data.order import OrderAnswer
    from itoscope.data.trajectories import Trajectories
    from itoscope.stats.variogram import Variogram

__all__ = ["follows", "order_of", "traits"]

MOST = 400_000
"""Samples of a column that are looked at, whole paths of them."""
ERRORS = 4.0
"""Standard errors of a level of noise that counts as real."""
NOISE, AVERAGED, STRAIGHT = 0.06, 0.12, 0.12
"""Shares of the squared step: of noise, of averaging, and of a bend that speaks against averaging."""
COARSE, ALIKE = 0.25, 0.1
"""Share of the motion forgotten in a step that is too much, and by how much that of two lags may differ."""
FINE = 2.0
"""Steps of a grid in the step of the motion, from which the grid is no matter."""
TOLD, SMOOTH = 0.01, 1e-4
"""Share of the noise of a derivative that positions leave untold, and least share of it that its neighbours do."""
FOLLOWS = 0.05
"""Share of the squared steps of a column that may be left once its rate of change, another column, has told them."""
BELOW, RARE = 8.0, 1e-6
"""A baseline is so many times slower than the motion, and so rare without one."""
EXCESS, CLEAR = 3.0, 6.0
"""Of one without a period: power over the plateau of the motion, and standard errors of that."""
FAR = 5.0
"""Standard deviations of a mean from zero that are far."""


def order_of(data: Trajectories) -> OrderAnswer | None:
    """The order of the motion, None where steps are uneven."""
    try:
        return classify_order(data)
    except DataError:
        return None


def follows(data: Trajectories) -> dict[str, str]:
    """Columns whose increments are the integral of another column, by the trapezoidal rule: `{"x": "v"}`."""
    found: dict[str, str] = {}
    for i, row in enumerate(data.names):
        for j, rate in enumerate(data.names):
            if i == j or row in found or rate in found:
                continue
            left, whole = 0.0, 0.0
            for path, stamps in zip(data.paths, data.times):
                moved = np.diff(path[:, i])
                told = np.diff(stamps) * (path[1:, j] + path[:-1, j]) / 2
                left, whole = left + float(np.nansum((moved - told) ** 2)), whole + float(np.nansum(moved**2))
            if left < FOLLOWS * whole:
                found[row] = rate
    return found


def traits(data: Trajectories, positions: bool = False) -> list[Advice]:
    """What is seen, the gravest first; of columns with uneven steps only what needs no even ones.

    Parameters
    ----------
    data : Trajectories
    positions : bool
        Whether the columns are known to be positions whose velocities were not measured.
    """
    rates = follows(data)
    found = list(_derivatives(data))
    made = {advice.about for advice in found}
    order = order_of(data)
    smooth = order is not None and order.order == 2
    wrapped = False
    for column, name in enumerate(data.names):
        if name in made:
            continue
        seen = list(_column(data, column, smooth or positions))
        wrapped = wrapped or any(advice.cause == "wrapped angle" for advice in seen)
        found += seen
    if order is not None and smooth and not rates and not wrapped and not made:
        found.append(_second_order(order))
    return sorted(found, key=lambda advice: ORDER.index(advice.cause))


ORDER = (
    "wrapped angle", "smoothed derivative", "outliers", "quantised", "wrong order", "jumps", "measurement noise",
    "averaged samples", "coarse step", "slow baseline", "offset",
)  # fmt: skip


def _column(data: Trajectories, column: int, smooth: bool) -> Iterator[Advice]:
    """What one column shows; a graver mark hides the others that it makes."""
    name = data.names[column]
    series = _some([path[:, column] for path in data.paths])
    values = np.concatenate(series)
    if np.count_nonzero(np.isfinite(values)) < 2 or not np.nanstd(values) > 0:
        return
    period, times = wrap_period(series)
    if period:
        yield Advice(
            "wrapped angle", name,
            f"{name} is an angle that wraps: {times} steps of about {number(period)}; unwrap it first, "
            f"np.unwrap({name}, period={number(period, 7)}), and give sin({name}), cos({name}) as candidate terms",
            {"period": period, "wraps": float(times)}, {}, {"unwrap": {name: period}},
        )  # fmt: skip
        return
    far = abs(float(np.nanmean(values))) / float(np.nanstd(values))
    if far > FAR:
        yield Advice(
            "offset", name,
            f"{name} is {number(far, 3)} standard deviations from zero, where monomials resemble each other: "
            'polynomials about the mean, library=Library.polynomials(3, origin="mean")',
            {"distance": far}, {"library": "about_mean"},
        )  # fmt: skip
    if data.dt is None:
        return
    grid = _grid(name, series, smooth)
    if grid is not None:
        yield grid
        return
    marks = bursts(series)
    if len(marks.outliers):
        where = marks.outliers[0]
        yield Advice(
            "outliers", name,
            f"{len(marks.outliers)} samples of {name} are outliers that come back at once (the first: path {where[0]}, "
            f"sample {where[1]}): set them to NaN, a missing sample is left out",
            {"outliers": float(len(marks.outliers))}, {}, {"blank": [name]},
        )  # fmt: skip
        series = [x.copy() for x in series]
        for path, sample in marks.outliers:
            series[path][max(sample - 1, 0) : sample + 2] = np.nan
    if len(marks.jumps):
        where = marks.jumps[0]
        yield Advice(
            "jumps", name,
            f"{name} jumps {len(marks.jumps)} times and stays (the first: path {where[0]}, sample {where[1]}), which "
            "no diffusion does: split the recording there, so that no step crosses a jump",
            {"jumps": float(len(marks.jumps))}, {}, {"split": [name]},
        )  # fmt: skip
    found = variogram(series)
    if found is not None and not len(marks.jumps):
        yield from _short_lags(name, list(data.names), found)
    if smooth:
        yield from _baseline(name, series, data.dt)


def _grid(name: str, series: list[Array], smooth: bool) -> Advice | None:
    """A grid of values that is coarse beside the motion of a step."""
    step = grid_step(series)
    if not step:
        return None
    moved = np.concatenate([np.diff(x) for x in series])
    size = 1.2533 * float(np.nanmean(np.abs(moved)))  # the sd of a normal step with that mean size
    if size >= FINE * step:
        return None
    thin = math.ceil((step / size) ** (1 if smooth else 2))
    arguments: dict[str, Any] = {"order": 2} if smooth else {}
    arguments["measurement_noise"] = float(f"{step / math.sqrt(12.0):.3g}")
    recording = {"thin": thin} if thin > 1 else {}
    distinct = len(np.unique(np.round(moved[np.isfinite(moved)] / step)))
    return Advice(
        "quantised", name,
        f"{name} lies on a grid of {number(step)} where a step of the motion is {number(size, 3)} ({distinct} distinct "
        f"increments): {_call(recording, arguments)}, the noise of rounding",
        {"grid": step, "step": size, "increments": float(distinct)}, arguments, recording,
    )  # fmt: skip


def _short_lags(name: str, names: list[str], found: Variogram) -> Iterator[Advice]:
    """Noise, averaging or a coarse step, of the squared increments over one, two and three samples."""
    bridged = {"states": names, "observed": names, "measurement_noise": 0.0}
    evidence = {"share": found.share, "errors": found.errors}
    first, second = 1.0 - float(found.keep[0]), 1.0 - float(found.keep[1])
    if first > COARSE and abs(first - second) < ALIKE + 0.2 * first:
        yield Advice(
            "coarse step", name,
            f"{name} forgets {100 * first:.0f} % of itself from one sample to the next: the step is too coarse for a "
            "regression on steps; sample faster, or let the filter bridge the step, "
            f"{_call({}, bridged)}",
            {"forgotten": first}, bridged,
        )  # fmt: skip
    elif found.errors > ERRORS and found.share > max(NOISE, 2.0 * second**2):
        yield Advice(
            "measurement noise", name,
            f"{name} carries measurement noise of sd {rough(found.noise)}: {100 * found.share:.0f} % of its "
            'squared steps stay when they get short; discover(data, measurement_noise="estimate")',
            {**evidence, "noise": found.noise}, {"measurement_noise": "estimate"},
        )  # fmt: skip
    elif found.errors < -ERRORS and found.share < -AVERAGED and abs(found.bend) < STRAIGHT:
        thin = math.ceil(10 * min(2.0 * -found.share, 1.0))
        yield Advice(
            "averaged samples", name,
            f"samples of {name} are means over their step and not values at an instant: neighbours move together, and "
            f"noise comes out by a third too small; {_call({'thin': thin}, {})}, after which little of that is left",
            evidence, {}, {"thin": thin},
        )  # fmt: skip


def _baseline(name: str, series: list[Array], dt: float) -> Iterator[Advice]:
    """Power below the band of a smooth motion, where a driven oscillator has a plateau."""
    knee = 1.0 / (2.0 * math.pi * max(efolding_lag(series), 1))
    frequencies, power, many = periodogram(series)
    low = (frequencies > 0) & (frequencies < knee / (4.0 * BELOW))
    plateau = (frequencies > knee / BELOW) & (frequencies < knee / 2.5)
    if np.count_nonzero(low) < 3 or np.count_nonzero(plateau) < 10:
        return
    level = float(power[plateau].mean())
    ratio = float(power[low].mean()) / level
    width = math.sqrt(2.0 / (many * np.count_nonzero(low)))
    best = int(np.argmax(np.where(low, power, 0.0)))
    p_value = power_tail(float(power[best]) / level, many, many * np.count_nonzero(plateau) / 2)
    if p_value * np.count_nonzero(low) < RARE:
        period = dt / float(frequencies[best])
        what, evidence = f"with a period of about {rough(period)}", {"period": period, "ratio": ratio}
    elif ratio > EXCESS and (ratio - 1.0) / width > CLEAR:
        what, evidence = f"{rough(ratio)} times the power that the motion has there", {"ratio": ratio}
    else:
        return
    yield Advice(
        "slow baseline", name,
        f"{name} has a slow baseline far below the band of its motion, {what}: the sensor drifts, or the rest position "
        f"moves; take it away first, {name} less its running mean over {_periods(knee)} samples",
        evidence,
    )  # fmt: skip


def _periods(knee: float) -> int:
    """Samples of ten periods of the motion, to two digits."""
    return int(float(f"{10.0 / knee:.1e}"))


def _second_order(order: OrderAnswer) -> Advice:
    return Advice(
        "wrong order", "all",
        f"the columns are positions whose velocities were not measured ({order.reason}): discover(data, order=2)",
        {}, {"order": 2},
    )  # fmt: skip


def _derivatives(data: Trajectories) -> Iterator[Advice]:
    """Velocities that somebody made of the positions, of recordings with noise: of smooth ones all tells all."""
    columns = [_some([path[:, k] for path in data.paths]) for k in range(data.n_states)]
    for j, rate in enumerate(data.names):
        for i, row in enumerate(data.names):
            left = 1.0 if i == j else derivative_of(columns[i], columns[j])
            if left < TOLD and smoothness(columns[j]) > SMOOTH:
                kept = [name for name in data.names if name != rate]
                yield Advice(
                    "smoothed derivative", rate,
                    f"{rate} was made of {row} and lags behind it ({row} tells all but {100 * left:.1g} % of its "
                    f"noise), so that friction comes out wrong: {_call({'select': kept}, {'order': 2})}",
                    {"untold": left}, {"order": 2}, {"select": kept},
                )  # fmt: skip
                break


def _call(recording: dict[str, Any], arguments: dict[str, Any]) -> str:
    """The call that an advice asks for."""
    data = "data" + "".join(f".{what}({value!r})" for what, value in recording.items())
    return f"discover({', '.join([data, *(f'{name}={value!r}' for name, value in arguments.items())])})"


def _some(series: list[Array]) -> list[Array]:
    """Whole series, as many as hold `MOST` samples, the first one cut if need be."""
    total, kept = 0, []
    for x in series:
        if total >= MOST:
            break
        kept.append(x[:MOST])
        total += len(x)
    return kept
