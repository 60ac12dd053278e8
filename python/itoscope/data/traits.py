"""What a recording shows of its sensor before any fit: noise, averaging, a grid, wraps, outliers, jumps, a baseline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.common.numbers import exact, number, rough
from itoscope.data.advice import Advice
from itoscope.data.angles import TURN
from itoscope.data.closure import is_closed
from itoscope.data.order import OrderAnswer, order_of_column
from itoscope.stats.correlation import efolding_lag
from itoscope.stats.lines import periodogram, power_tail
from itoscope.stats.marks import bursts, derivative_of, grid_step, smoothness, wrap_period
from itoscope.stats.variogram import variogram

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.stats.variogram import Variogram

__all__ = ["call_of", "follows", "traits"]

MOST = 100_000
"""Samples of a column that are looked at closely, whole paths of them."""
GLIMPSE, STRETCHES = 20_000, 5
"""Samples of a long recording that are looked at where nothing else is wrong with it, and stretches they are of."""
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


class Seen(NamedTuple):
    """What is looked at: a recording, or stretches of one."""

    names: Sequence[str]
    dt: float | None
    paths: Sequence[Array]
    times: Sequence[Array]

    def column(self, k: int) -> list[Array]:
        """One of its columns."""
        return [path[:, k] for path in self.paths]

    def most(self) -> Seen:
        """Its first paths that hold `MOST` samples, the first one cut if need be."""
        ends = np.cumsum([0, *(min(len(path), MOST) for path in self.paths)])
        many = int(np.searchsorted(ends, MOST))
        return self._replace(
            paths=[path[:MOST] for path in self.paths[:many]], times=[t[:MOST] for t in self.times[:many]]
        )

    def glimpse(self) -> Seen:
        """Stretches of it, spread, that hold `GLIMPSE` samples; all of a shorter one."""
        total = sum(map(len, self.paths))
        if total <= GLIMPSE:
            return self
        size = GLIMPSE // STRETCHES
        cuts = [
            (k, a) for k, path in enumerate(self.paths) for a in range(0, max(len(path) - size, 0) + 1, size)
        ]
        many = min(max(GLIMPSE * len(cuts) // total, 1), len(cuts))
        few = [cuts[k] for k in np.unique(np.linspace(0, len(cuts) - 1, many).round().astype(int))]
        return self._replace(
            paths=[self.paths[k][a : a + size] for k, a in few],
            times=[self.times[k][a : a + size] for k, a in few],
        )


def seen_of(data: Trajectories) -> Seen:
    """All of a recording."""
    return Seen(data.names, data.dt, data.paths, data.times)


def order_of(seen: Seen) -> OrderAnswer | None:
    """What says that all columns are positions of a second-order motion; None where one is not."""
    reasons: dict[str, None] = {}
    for k in range(len(seen.names)):
        answer = order_of_column(seen.dt, seen.column(k), seen.times)
        if answer.order != 2:
            return None
        reasons[answer.reason] = None
    if is_closed(seen.paths, seen.times):
        return None
    return OrderAnswer(2, "; ".join(reasons), ())


def follows(data: Trajectories | Seen) -> dict[str, str]:
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


def traits(data: Trajectories, positions: bool = False, closely: bool = True) -> list[Advice]:
    """What is seen, the gravest first; of columns with uneven steps only what needs no even ones.

    Parameters
    ----------
    data : Trajectories
    positions : bool
        Whether the columns are known to be positions whose velocities were not measured.
    closely : bool
        False looks at all of a long recording only if there is something to see on stretches of it.
    """
    seen = seen_of(data)
    if not closely and seen.glimpse() is not seen and not _seen(seen.glimpse(), positions):
        return []
    return _seen(seen, positions)


def _seen(seen: Seen, positions: bool) -> list[Advice]:
    """See `traits`."""
    rates, part = follows(seen), seen.most()
    found = list(_derivatives(part))
    made = {advice.about for advice in found}
    # of positions beside their velocities the order says nothing, nor where the columns are no states of a motion
    order = None if rates or positions else order_of(part)
    wrapped = False
    for column, name in enumerate(seen.names):
        if name in made:
            continue
        of_it = list(_column(part, column, order is not None or positions))
        wrapped = wrapped or any(advice.cause == "wrapped angle" for advice in of_it)
        found += of_it
    if order is not None and not wrapped and not made:
        found.append(_second_order(order))
    return sorted(found, key=lambda advice: ORDER.index(advice.cause))


ORDER = (
    "wrapped angle", "smoothed derivative", "outliers", "quantised", "wrong order", "jumps", "measurement noise",
    "averaged samples", "coarse step", "slow baseline", "offset",
)  # fmt: skip


def _column(seen: Seen, column: int, smooth: bool) -> Iterator[Advice]:
    """What one column shows; a graver mark hides the others that it makes."""
    name, series = seen.names[column], seen.column(column)
    values = np.concatenate(series)
    if np.count_nonzero(np.isfinite(values)) < 2 or not np.nanstd(values) > 0:
        return
    period, times = wrap_period(series)
    if period:
        angle = f"angle({name})" if period == TURN else f"angle({name}, {exact(period)})"
        yield Advice(
            "wrapped angle", name,
            f"{name} is an angle that wraps: {times} steps of about {number(period)}; observed={{{name!r}: "
            f"{angle!r}}} takes the turns out of it, and its sines and cosines as candidate terms",
            {"period": period, "wraps": float(times)}, {"observed": {name: angle}},
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
    if seen.dt is None:
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
            f"sample {where[1]}): set them to NaN, a missing sample is left out; or of a noisy recording "
            f"{call_of({}, {'noise_law': {name: 'outliers'}})}",
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
        yield from _short_lags(name, list(seen.names), found)
    if smooth:
        yield from _baseline(name, series, seen.dt)


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
    arguments["resolution"] = {name: float(f"{step:.6g}")}
    recording = {"thin": thin} if thin > 1 else {}
    distinct = len(np.unique(np.round(moved[np.isfinite(moved)] / step)))
    return Advice(
        "quantised", name,
        f"{name} lies on a grid of {number(step)} where a step of the motion is {number(size, 3)} ({distinct} distinct "
        f"increments): {call_of(recording, arguments)}, which counts with the noise of rounding",
        {"grid": step, "step": size, "increments": float(distinct)}, arguments, recording,
    )  # fmt: skip


def _short_lags(name: str, names: list[str], found: Variogram) -> Iterator[Advice]:
    """Noise, averaging or a coarse step, of the squared increments over one, two and three samples."""
    bridged = {"scheme": "filter"}
    evidence = {"share": found.share, "errors": found.errors}
    first, second = 1.0 - float(found.keep[0]), 1.0 - float(found.keep[1])
    if first > COARSE and abs(first - second) < ALIKE + 0.2 * first:
        yield Advice(
            "coarse step", name,
            f"{name} forgets {100 * first:.0f} % of itself from one sample to the next: the step is too coarse for a "
            "regression on steps; sample faster, or let the filter bridge the step, "
            f"{call_of({}, bridged)}",
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
        seen = {**{other: other for other in names}, name: f"average({name})"}
        averaged = {"states": names, "observed": seen, "measurement_noise": 0.0}
        yield Advice(
            "averaged samples", name,
            f"samples of {name} are means over their step and not values at an instant: neighbours move together, and "
            f"noise comes out by a third too small; {call_of({}, averaged)}",
            evidence, averaged,
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


def _derivatives(seen: Seen) -> Iterator[Advice]:
    """Velocities that somebody made of the positions, of recordings with noise: of smooth ones all tells all."""
    columns = [seen.column(k) for k in range(len(seen.names))]
    for j, rate in enumerate(seen.names):
        for i, row in enumerate(seen.names):
            left = 1.0 if i == j else derivative_of(columns[i], columns[j])
            if left < TOLD and smoothness(columns[j]) > SMOOTH:
                kept = [name for name in seen.names if name != rate]
                yield Advice(
                    "smoothed derivative", rate,
                    f"{rate} was made of {row} and lags behind it ({row} tells all but {100 * left:.1g} % of its "
                    f"noise), so that friction comes out wrong: {call_of({'select': kept}, {'order': 2})}",
                    {"untold": left}, {"order": 2}, {"select": kept},
                )  # fmt: skip
                break


def call_of(recording: dict[str, Any], arguments: dict[str, Any]) -> str:
    """The call that an advice asks for."""
    data = "data" + "".join(f".{what}({value!r})" for what, value in recording.items())
    return f"discover({', '.join([data, *(f'{name}={value!r}' for name, value in arguments.items())])})"
