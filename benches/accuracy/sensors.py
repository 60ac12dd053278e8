"""Sensors as they are beside the same recordings taken at face value: `python benches/accuracy/sensors.py --seeds 10`.

`film`: a Brownian particle in a trap, filmed at full exposure or a share of it, its truth by exact steps of a hundredth
of a frame.
`track`: a velocity that relaxes, of which fixes are taken whose errors go over two decades. `outliers`: one of fifty
readings is off by 10 to 50 standard deviations. `zeros`: an oscillator seen by a gauge whose zero moves. `cost`: the
filter's time for each state more. `groups`: two sensors of one oscillator, and both coordinates of a tracker, whose
noises are correlated at each sample, or are not. All truths are exact steps of linear systems, but for `motor` and
`turns`, angles that wrap, in steps of a twentieth and a hundredth of a sample.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from typing import Any
from unittest import mock

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend

FINE = 100
RATE, GAMMA = 1.0, 2.0


def filmed(relaxations: float, localisation: float, frames: int, seed: int, share: float = 1.0) -> np.ndarray:
    """Average of the particle over the last share of each frame, with noise in shares of its spread."""
    rng = np.random.default_rng(seed)
    spread = np.sqrt(GAMMA / (2 * RATE))
    x = relaxing(frames * FINE + 1, relaxations / RATE / FINE, RATE, GAMMA, rng)
    average = ((x[1:] + x[:-1]) / 2.0).reshape(frames, FINE)[:, FINE - round(share * FINE) :].mean(axis=1)
    return average + localisation * spread * rng.standard_normal(frames)


def line(
    relaxations: float, localisation: float, frames: int, seeds: int, observed: object, share: float = 1.0
) -> str:
    """Rate and Gamma over their true values, mean and its standard error, and how many intervals hold them."""
    ratios, inside, right = [], 0, 0
    for seed in range(seeds):
        y = filmed(relaxations, localisation, frames, seed, share)
        result = ito.discover(
            ito.Trajectories(y, dt=relaxations / RATE, names=["bead"]),
            ito.Library.polynomials(1),
            observed={"bead": observed},
            measurement_noise="estimate" if localisation else 0.0,
            diffusion="constant",
            seed=1,
        )
        drift, gamma = result.drift["x1"], result.diffusion["x1", "x1"]
        right += list(drift.selected) == [False, True]
        ratios.append((-drift.mean[1] / RATE, gamma.mean[0] / GAMMA))
        for equation, k, true in ((drift, 1, -RATE), (gamma, 0, GAMMA)):
            low, high = equation.interval(0.95)[k]
            inside += low <= true <= high
    mean, error = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1) / np.sqrt(seeds)
    return (
        f"{right} of {seeds} | {mean[0]:.2f} ± {error[0]:.2f} | {mean[1]:.2f} ± {error[1]:.2f} | "
        f"{inside} of {2 * seeds}"
    )


def relaxing(n: int, dt: float, rate: float, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """A relaxing state by exact steps."""
    decay, spread = np.exp(-rate * dt), np.sqrt(gamma / (2 * rate))
    x = np.empty(n)
    x[0] = spread * rng.standard_normal()
    for k, kick in enumerate(spread * np.sqrt(1.0 - decay**2) * rng.standard_normal(n - 1)):
        x[k + 1] = decay * x[k] + kick
    return x


class Tally:
    """Estimates over their true values, how many intervals hold those, and how often the terms are right."""

    def __init__(self) -> None:
        self.ratios: list[list[float]] = []
        self.inside = self.asked = self.right = 0

    def add(self, result: ito.Discovery, terms: dict[str, dict[str, float]], gamma: dict[Any, float]) -> None:
        """One result: the true coefficients of the drift by row and term, and the constant of Gamma by row or pair."""
        right, ratios = True, []
        for row, wanted in terms.items():
            equation = result.drift[row]
            chosen = {t for t, z in zip(equation.terms, equation.selected) if z}
            right &= chosen - {f"force_{row}"} == set(wanted)
            ratios += self._held(equation, wanted)
        for row, value in gamma.items():
            pair = row if isinstance(row, tuple) else (row, row)
            ratios += self._held(result.diffusion[pair], {"1": value})
        self.right += right
        self.ratios.append(ratios)

    def _held(self, equation: ito.Equation, wanted: dict[str, float]) -> list[float]:
        interval, found = equation.interval(0.95), []
        for term, true in wanted.items():
            k = equation.terms.index(term)
            self.asked += 1
            self.inside += bool(interval[k][0] <= true <= interval[k][1])
            found.append(equation.mean[k] / true)
        return found

    def text(self) -> str:
        """As a row of a table."""
        n = len(self.ratios)
        mean, error = np.mean(self.ratios, axis=0), np.std(self.ratios, axis=0, ddof=1) / np.sqrt(n)
        cells = [f"{a:.2f} ± {b:.2f}" for a, b in zip(mean, error)]
        return " | ".join([f"{self.right} of {n}", *cells, f"{self.inside} of {self.asked}"])


def tracks(asked: argparse.Namespace) -> None:
    """A relaxing velocity whose fixes have errors over two decades."""
    tallies = {"errors of each fix": Tally(), "one level": Tally()}
    for seed in range(asked.seeds):
        rng = np.random.default_rng(seed)
        x = relaxing(asked.frames, 0.1, 1.0, 2.0, rng)
        errors = 10.0 ** rng.uniform(-2.0, 0.0, len(x))
        data = ito.Trajectories(x + errors * rng.standard_normal(len(x)), dt=0.1, names=["x1"])
        for (_, tally), noise in zip(tallies.items(), ({"x1": errors}, "estimate")):
            result = ito.discover(
                data, ito.Library.polynomials(1), measurement_noise=noise, diffusion="constant", seed=1
            )
            tally.add(result, {"x1": {"x1": -1.0}}, {"x1": 2.0})
    for name, tally in tallies.items():
        print(f"| {name} | {tally.text()} |", flush=True)


def off_by_much(sd: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors of which two of a hundred are of 10 to 50 standard deviations, and which."""
    error, off = sd * rng.standard_normal(len(sd)), rng.random(len(sd)) < 0.02
    error[off] = (sd * rng.choice([-1, 1], len(sd)) * rng.uniform(10.0, 50.0, len(sd)))[off]
    return error, off


def outliers(asked: argparse.Namespace) -> None:
    """Two readings of a hundred are off by 10 to 50 sd: of a relaxing state, of fixes, of an oscillator."""
    k, c, gamma = 40.0, 0.8, 3.0
    for name in ("relaxing", "fixes", "oscillator"):
        tallies = {law: Tally() for law in ("outliers", "student", "normal")}
        levels: dict[str, list[float]] = {law: [] for law in tallies}
        listed = false = there = 0
        for seed in range(asked.seeds):
            rng = np.random.default_rng(seed)
            if name == "oscillator":
                x = oscillating(asked.frames, 0.05, k, c, gamma, rng)[:, 0]
                sd = np.full(len(x), 0.05 * np.sqrt(gamma / (2 * c * k)))
            else:
                x = relaxing(asked.frames, 0.05, 1.5, 0.81, rng)
                sd = np.full(len(x), 0.15) if name == "relaxing" else 10.0 ** rng.uniform(-2.0, 0.0, len(x))
            error, off = off_by_much(sd, rng)
            data = ito.Trajectories(x + error, dt=0.05, names=["x1"])
            for law, tally in tallies.items():
                result = ito.discover(
                    data, ito.Library.polynomials(2), order=2 if name == "oscillator" else 1, diffusion="constant",
                    measurement_noise={"x1": sd} if name == "fixes" else "estimate", noise_law=law, seed=1,
                )  # fmt: skip
                if name == "oscillator":
                    tally.add(result, {"v1": {"x1": -k, "v1": -c}}, {"v1": gamma})
                else:
                    tally.add(result, {"x1": {"x1": -1.5}}, {"x1": 0.81})
                levels[law].append(result.measurement_noise / np.sqrt(np.mean(sd**2)))
                found = {one.sample for one in result.outliers}
                if law == "outliers":
                    there, listed = there + off.sum(), listed + len(found & set(np.flatnonzero(off)))
                    false += len(found - set(np.flatnonzero(off)))
        for law, tally in tallies.items():
            low, high = min(levels[law]), max(levels[law])
            print(f"| {name} | {law} | {tally.text()} | {low:.2f} .. {high:.2f} |", flush=True)
        print(f"{name}: outliers listed: {listed} of {there}, others {false}", flush=True)


def rounding(asked: argparse.Namespace) -> None:
    """A relaxing state that moves 0.2 in a step of time, on grids of half, two and four times that; of fine steps."""
    for dt, step in ((0.05, 0.1), (0.05, 0.4), (0.05, 0.8), (0.005, 0.4)):
        kinds: dict[str, dict[str, object]] = {
            "rounded": {"resolution": {"x1": step}},
            "noisy": {"measurement_noise": "estimate"},
            "exact": {"measurement_noise": 0.0},
        }
        tallies = {name: Tally() for name in kinds}
        for seed in range(asked.seeds):
            x = relaxing(asked.frames, dt, 1.5, 0.81, np.random.default_rng(seed))
            data = ito.Trajectories(step * np.round(x / step), dt=dt, names=["x1"])
            for name, tally in tallies.items():
                more = {"measurement_noise": 0.0} | kinds[name]
                result = ito.discover(data, ito.Library.polynomials(2), diffusion="constant", seed=1, **more)
                tally.add(result, {"x1": {"x1": -1.5}}, {"x1": 0.81})
        for name, tally in tallies.items():
            print(f"| {dt} | {step} | {name} | {tally.text()} |", flush=True)


TRACKED = (2.0, 0.8, 1.0, 0.6, 0.5)
"""A particle in a trap that a flow turns: rate, turn, and Gamma of x, y and both."""


def trapped(n: int, dt: float, rng: np.random.Generator) -> np.ndarray:
    """Both coordinates of a particle in a trap that turns, by exact steps."""
    rate, turn, gx, gy, gxy = TRACKED
    a, gamma = np.array([[-rate, turn], [-turn, -rate]]), np.array([[gx, gxy], [gxy, gy]])
    eye = np.eye(2)
    law = np.linalg.solve(np.kron(a, eye) + np.kron(eye, a), -gamma.ravel()).reshape(2, 2)
    phi = np.exp(-rate * dt) * np.array(
        [[np.cos(turn * dt), np.sin(turn * dt)], [-np.sin(turn * dt), np.cos(turn * dt)]]
    )
    low = np.linalg.cholesky(law - phi @ law @ phi.T)
    x = np.empty((n, 2))
    x[0] = np.linalg.cholesky(law) @ rng.standard_normal(2)
    for step, kick in enumerate(rng.standard_normal((n - 1, 2))):
        x[step + 1] = phi @ x[step] + low @ kick
    return x


def in_common(
    shape: tuple[int, int], sd: tuple[float, float], r: float, rng: np.random.Generator
) -> np.ndarray:
    """Errors of two sensors, of correlation `r` at each sample."""
    return rng.standard_normal(shape) @ np.linalg.cholesky([[1.0, r], [r, 1.0]]).T * sd


class GroupTally(Tally):
    """The same, and levels and correlation of the noises."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[list[float]] = []
        self.correlations: list[float] = []
        self.of_noise = self.noises = self.of_r = self.zero = 0

    def add_noise(self, result: ito.Discovery, sd: tuple[float, float], r: float) -> None:
        """Levels over the true ones; the correlation where it was sought."""
        found = result.diagnostics["measurement_noise"].values()
        self.levels.append([level["sd"] / true for level, true in zip(found, sd)])
        self.noises += 2
        self.of_noise += sum(level["low"] <= true <= level["high"] for level, true in zip(found, sd))
        for one in result.diagnostics.get("noise_correlation", ()):
            self.correlations.append(one["correlation"])
            self.of_r += one["low"] <= r <= one["high"]
            self.zero += one["low"] <= 0.0 <= one["high"]

    def text(self) -> str:
        level = " | ".join(f"{a:.3f}" for a in np.mean(self.levels, axis=0))
        n, r = len(self.correlations), "|"
        if n:
            error = np.std(self.correlations, ddof=1) / np.sqrt(n)
            r = f"{np.mean(self.correlations):.3f} ± {error:.3f} | {self.of_r} of {n}"
        return f"{super().text()} | {level} | {self.of_noise} of {self.noises} | {r}"


def groups(asked: argparse.Namespace) -> None:
    """Two sensors of an oscillator of 20 samples a period, a tracker's fixes, with noises in common; and naively."""
    k, c, gamma, dt = 40.0, 0.8, 3.0, 0.05
    rate, turn, gx, gy, gxy = TRACKED
    for motion in ("oscillator", "tracker"):
        for r in (0.8, -0.6, 0.0):
            tallies = {"correlated": GroupTally(), "independent": GroupTally()}
            for seed in range(asked.seeds):
                rng = np.random.default_rng(seed)
                if motion == "oscillator":
                    spread = np.sqrt(gamma / (2 * c * k))
                    sd, x = (
                        (0.2 * spread, 0.3 * spread),
                        oscillating(asked.frames, dt, k, c, gamma, rng)[:, [0, 0]],
                    )
                    told = {"order": 2, "observed": {"a": "x1", "b": "x1"}, "exclude": {"v1": ["1"]}}
                    told |= {"diffusion": "constant"}
                    true, of_gamma = {"v1": {"x1": -k, "v1": -c}}, {("v1", "v1"): gamma}
                else:
                    sd, x = (0.15, 0.2), trapped(asked.frames, dt, rng)
                    told = {"diffusion": "constant", "exclude": {"x": ["1"], "y": ["1"]}}
                    told |= {"include": {"x": ["x", "y"], "y": ["x", "y"]}}
                    true = {"x": {"x": -rate, "y": turn}, "y": {"x": -turn, "y": -rate}}
                    of_gamma = {("x", "x"): gx, ("y", "y"): gy, ("x", "y"): gxy}
                names = ["a", "b"] if motion == "oscillator" else ["x", "y"]
                data = ito.Trajectories(x + in_common(x.shape, sd, r, rng), dt=dt, names=names)
                for name, tally in tallies.items():
                    result = ito.discover(
                        data, ito.Library.polynomials(1), measurement_noise="estimate", seed=1,
                        noise_groups=[names] if name == "correlated" else None, **told,
                    )  # fmt: skip
                    tally.add(result, true, of_gamma)
                    tally.add_noise(result, sd, r)
            for name, tally in tallies.items():
                print(f"| {motion} | {r} | {name} | {tally.text()} |", flush=True)
                if not r and name == "correlated":
                    print(
                        f"{motion}: intervals of the correlation that hold nothing: {tally.zero} of {asked.seeds}"
                    )


def cost(asked: argparse.Namespace) -> None:
    """CPU time of a fit of 3000 samples, and of passes over 20 000, of what sensors add, and over plain places.

    The least of some repeats each, in which the kinds take turns: a machine that others use is slow for all alike.
    """
    kinds: dict[str, dict[str, object]] = {
        "plain": {},
        "offset": {"offset": {"x1": "estimate"}},
        "drifting offset": {"offset": {"x1": "drift"}},
        "average": {"observed": {"x1": ito.Average("x1")}},
        "average and offset": {"observed": {"x1": ito.Average("x1")}, "offset": {"x1": "estimate"}},
        "average over a part": {"observed": {"x1": ito.Average("x1", exposure=0.02)}},
        "average over a part, late": {"observed": {"x1": ito.Average("x1", exposure=0.02, lag=0.01)}},
        "acceleration": {"observed": {"x1": ito.Acceleration("x1")}},
        "coloured force": {"forcing": "coloured"},
        "outliers": {"noise_law": "outliers"},
        "student": {"noise_law": "student"},
    }
    for alpha in (0, 400):
        motion, terms = "Duffing" if alpha else "linear", ["x1", "v1", "x1^3"][: 3 if alpha else 2]
        sde = ito.SDE(
            ["v1", f"-40*x1 - 0.8*v1 - {alpha}*x1^3"], gamma=[["0", "0"], ["0", "3"]], states=["x1", "v1"]
        )
        path = sde.simulate([0.0, 0.0], dt=0.05, n_steps=20_000, substeps=20, seed=1).paths[0]
        rng = np.random.default_rng(2)
        x = noisy(path[:, 0], 0.02 * path[:, 0].std(), rng)
        felt = np.r_[np.nan, np.diff(path[:, 1]) / 0.05]
        felt = noisy(felt, 0.02 * float(np.nanstd(felt)), rng)
        least: dict[str, list[float]] = {}
        states: dict[str, int] = {}
        for _ in range(asked.repeats):
            for name, more in kinds.items():
                y = felt if name == "acceleration" else x
                spent, states[name] = times_of(y, terms, more)
                least[name] = [min(pair) for pair in zip(spent, least.get(name, spent))]
        for name, spent in least.items():
            cells = " | ".join(f"{t:.2f} ({t / one:.2f})" for t, one in zip(spent, least["plain"]))
            print(f"| {motion} | {name} | {states[name]} | {cells} |", flush=True)


def times_of(y: np.ndarray, terms: list[str], more: dict[str, Any]) -> tuple[list[float], int]:
    """CPU seconds of a fit of the first readings, milliseconds of three kinds of pass over all, and the states."""
    start = time.process_time()
    result = ito.discover(
        ito.Trajectories(y[:3000], dt=0.05, names=["x1"]), ito.Library.expressions(*terms), order=2, seed=1,
        diffusion="constant", measurement_noise="estimate", include={"v1": terms}, n_samples=100, n_burn=10, **more,
    )  # fmt: skip
    spent = [time.process_time() - start]
    stages, seen, data = get_backend("rust"), result.observer, ito.Trajectories(y, dt=0.05, names=["x1"])
    space, paths, times = seen.space(), seen.columns(data), seen.times(data)
    for columns, stage in (
        ((), stages.filter_loglik),
        ([(1, 0), (1, 1)], stages.filter_drift_moments),
        ([(0, 0)], stages.filter_noise_moments),
    ):
        once = []
        for _ in range(7):
            start = time.process_time()
            stage(space, paths, times, *([columns] if columns else []))
            once.append(1e3 * (time.process_time() - start))
        spent.append(min(once))
    return spent, len(space.drift)


def oscillating(n: int, dt: float, k: float, c: float, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Places and velocities of a linear oscillator by exact steps."""
    a = np.array([[0.0, 1.0], [-k, -c]])
    law = np.diag([gamma / (2 * c * k), gamma / (2 * c)])
    values, vectors = np.linalg.eig(a)
    phi = (vectors @ np.diag(np.exp(values * dt)) @ np.linalg.inv(vectors)).real
    low = np.linalg.cholesky(law - phi @ law @ phi.T + 1e-18 * np.eye(2))
    x = np.empty((n, 2))
    x[0] = np.sqrt(np.diag(law)) * rng.standard_normal(2)
    for step, kick in enumerate(rng.standard_normal((n - 1, 2))):
        x[step + 1] = phi @ x[step] + low @ kick
    return x


def zeros(asked: argparse.Namespace) -> None:
    """An oscillator of 20 samples a period seen by a gauge with 5 % of noise whose zero goes by 5 sd, or to and fro."""
    k, c, gamma, dt = 40.0, 0.8, 3.0, 0.05
    sd = np.sqrt(gamma / (2 * c * k))
    for share in (0.0, None, 0.1, 1 / 3, 2 / 3):
        tallies = {kind: Tally() for kind in ("drift", "slow", None)}
        for seed in range(asked.seeds):
            rng = np.random.default_rng(seed)
            x = oscillating(asked.frames, dt, k, c, gamma, rng)[:, 0]
            t = np.arange(len(x)) * dt
            slow = 5 * t / t[-1] if share is None else np.sqrt(2) * share * np.sin(2 * np.pi * 3 * t / t[-1])
            y = x + 0.05 * sd * rng.standard_normal(len(x)) + sd * slow
            for kind, tally in tallies.items():
                result = ito.discover(
                    ito.Trajectories(y, dt=dt, names=["x1"]), ito.Library.polynomials(1), order=2,
                    offset={"x1": kind} if kind else None, exclude={"v1": ["1"]}, diffusion="constant",
                    seed=1,
                )  # fmt: skip
                tally.add(result, {"v1": {"x1": -k, "v1": -c}}, {"v1": gamma})
        name = "5 sd over the record" if share is None else f"sine of {share:.2f}"
        for kind, tally in tallies.items():
            print(f"| {name} | {kind} | {tally.text()} |", flush=True)


def noisy(values: np.ndarray, sd: float, rng: np.random.Generator) -> np.ndarray:
    """Readings with errors."""
    return values + sd * rng.standard_normal(len(values))


def integrated(felt: np.ndarray, dt: float) -> np.ndarray:
    """An acceleration summed up twice, its mean and the lines that come of it taken out."""
    found = np.where(np.isnan(felt), 0.0, felt - np.nanmean(felt))
    for _ in range(2):
        found = np.cumsum(found) * dt
        t = np.arange(len(found))
        found -= np.polyval(np.polyfit(t, found, 1), t)
    return found


def accelerations(asked: argparse.Namespace) -> None:
    """An oscillator, linear or of Duffing's kind, from an accelerometer with a zero, from two sensors, and naively."""
    c, gamma, dt = 0.8, 3.0, 0.05
    for alpha in (0.0, 400.0):
        k, tallies = 20.0 if alpha else 40.0, {}
        for seed in range(asked.seeds):
            rng = np.random.default_rng(seed)
            if alpha:
                sde = ito.SDE(["v1", f"-{k}*x1 - {c}*v1 - {alpha}*x1^3"], gamma=[["0", "0"], ["0", str(gamma)]],
                              states=["x1", "v1"])  # fmt: skip
                x = sde.simulate([0.0, 0.0], dt=dt, n_steps=asked.frames, substeps=100, seed=seed).paths[0]
            else:
                x = oscillating(asked.frames, dt, k, c, gamma, rng)
            sx, sv = x.std(axis=0)
            felt = np.r_[np.nan, np.diff(x[:, 1]) / dt]
            felt += 3.0 + 0.05 * np.nanstd(felt) * rng.standard_normal(len(x))
            place = x[:, 0] + 0.05 * sx * rng.standard_normal(len(x))
            few = np.where(np.arange(len(x)) % 10 == 0, place, np.nan)
            good, bad = noisy(x[:, 0], 0.002, rng), noisy(x[:, 0], 0.05, rng)
            here, there = noisy(x[:, 0], 0.1 * sx, rng), noisy(x[:, 1], 0.1 * sv, rng)
            acc, second = ito.Acceleration("x1"), {"order": 2, "measurement_noise": 0}
            found, zero = {"measurement_noise": "estimate", "order": 2}, {"offset": {"a": "estimate"}}
            cases = {
                "places without noise": ([x[:, 0]], dt, {"observed": {"a": "x1"}} | second),
                "acceleration": ([felt], dt, {"observed": {"a": acc}} | found | zero),
                "acceleration summed up twice": ([integrated(felt, dt)], dt, {"observed": {"a": "x1"}} | second),
                "and a tenth of the places": ([felt, few], dt, {"observed": {"a": acc, "b": "x1"}} | found | zero),
                "a tenth of the places alone": ([place[::10]], 10 * dt, {"observed": {"a": "x1"}} | found),
                "two of place": ([good, bad], dt, {"observed": {"a": "x1", "b": "x1"}} | found),
                "their mean, taken as exact": ([(good + bad) / 2], dt, {"observed": {"a": "x1"}} | second),
                "place and velocity": ([here, there], dt, {"observed": {"a": "x1", "b": "v1"}} | found),
                "both taken as exact": (
                    [here, there], dt,
                    {"observed": {"a": "x1", "b": "v1"}, "order": 2, "measurement_noise": {"a": 0, "b": 0}},
                ),
            }  # fmt: skip
            true = {"v1": {"x1": -k, "v1": -c} | ({"x1^3": -alpha} if alpha else {})}
            for name, (columns, step, told) in cases.items():
                data = ito.Trajectories(np.column_stack(columns), dt=step, names=["a", "b"][: len(columns)])
                result = ito.discover(
                    data,
                    ito.Library.polynomials(3),
                    exclude={"v1": ["1"]},
                    diffusion="constant",
                    seed=1,
                    **told,
                )
                tallies.setdefault(name, Tally()).add(result, true, {"v1": gamma})
        for name, tally in tallies.items():
            print(f"| {'Duffing' if alpha else 'linear'} | {name} | {tally.text()} |", flush=True)


def values(asked: argparse.Namespace) -> None:
    """An oscillator under a force with a memory, whose acceleration has a value: read, and taken for an average."""
    sde = ito.SDE(
        ["v1", "-40*x1 - 0.8*v1 + u", "-2*u"],
        gamma=[["0", "0", "0"], ["0", "0", "0"], ["0", "0", "60"]],
        states=["x1", "v1", "u"],
    )
    tallies = {"its value": Tally(), "an average": Tally()}
    for seed in range(asked.seeds):
        rng = np.random.default_rng(seed)
        path = sde.simulate([0.0, 0.0, 0.0], dt=0.05, n_steps=asked.frames, substeps=50, seed=seed).paths[0]
        felt = path @ [-40.0, -0.8, 1.0]
        columns = [noisy(one, 0.05 * float(one.std()), rng) for one in (felt, path[:, 0])]
        data = ito.Trajectories(np.column_stack(columns), dt=0.05, names=["a", "b"])
        for name, tally in tallies.items():
            naive = name == "an average"
            kept = mock.patch("itoscope.fit.question.at_once", lambda _, __, gathered, ___: dict(gathered))
            with kept if naive else contextlib.nullcontext():
                result = ito.discover(
                    data, ito.Library.polynomials(1), order=2, observed={"a": ito.Acceleration("x1"), "b": "x1"},
                    measurement_noise="estimate", forcing="coloured", exclude={"v1": ["1"]}, seed=1,
                )  # fmt: skip
            drift = {"v1": {"x1": -40.0, "v1": -0.8}, "force_v1": {"force_v1": -2.0}}
            tally.add(result, drift, {"force_v1": 60.0})
    for name, tally in tallies.items():
        print(f"| {name} | {tally.text()} |", flush=True)


def motors(asked: argparse.Namespace) -> None:
    """An angle that turns, d theta = (1 + 0.5 sin theta) dt + 0.5 dB, read within one turn, by the same terms."""
    terms = (
        "1",
        *(f"{wave}({k} theta)" if k > 1 else f"{wave}(theta)" for k in (1, 2, 3) for wave in ("sin", "cos")),
    )
    sde = ito.SDE(["1 + 0.5*sin(theta)"], [["0.5"]], ["theta"])
    for share in (0.0, 0.05):
        tallies = {"an angle": Tally(), "a number": Tally()}
        for seed in range(asked.seeds):
            x = sde.simulate([0.3], dt=0.02, n_steps=asked.frames, substeps=20, seed=seed).paths[0]
            y = noisy(x[:, 0], share * np.pi / np.sqrt(3), np.random.default_rng(seed))
            data = ito.Trajectories(np.mod(y, 2 * np.pi), dt=0.02, names=["theta"])
            for name, tally in tallies.items():
                angle = name == "an angle"
                result = ito.discover(
                    data, None if angle else ito.Library.expressions(*terms), seed=1,
                    observed={"theta": ito.Angle("theta")} if angle else None,
                    measurement_noise="estimate" if share else None,
                )  # fmt: skip
                tally.add(result, {"theta": {"1": 1.0, "sin(theta)": 0.5}}, {"theta": 0.25})
        for name, tally in tallies.items():
            print(f"| {100 * share:.0f} % | {name} | {tally.text()} |", flush=True)


def turning(case: str, frames: int, seed: int) -> tuple[ito.Trajectories, np.ndarray]:
    """A motor, or a driven pendulum that turns over, with errors of a tenth of a turn and gaps; and its angle."""
    rng, turn = np.random.default_rng(seed), 2 * np.pi
    if case == "motor":
        sde, dt, gap = ito.SDE(["1 + 0.5*sin(theta)"], [["0.5"]], ["theta"]), 0.2, 100
        x = sde.simulate([0.3], dt=dt, n_steps=frames, substeps=20, seed=seed).paths[0]
        columns, names = [x[:, 0] + 0.1 * turn * rng.standard_normal(len(x))], ["theta"]
    else:
        dt, gap = 0.2, 20
        rate = float(case) * turn / dt
        drift = ["v1", f"-4*sin(x1) - 0.5*v1 + {0.5 * rate!r}"]
        sde = ito.SDE(drift, gamma=[["0", "0"], ["0", "4"]], states=["x1", "v1"])
        x = sde.simulate([0.0, rate], dt=dt, n_steps=frames, substeps=100, seed=seed).paths[0]
        columns = [noisy(x[:, 0], 0.1 * turn, rng), noisy(x[:, 1], 0.5, rng)]
        names = ["a", "w"]
    y = np.column_stack(columns)
    y[:, 0] = np.mod(y[:, 0], turn)
    for start in range(gap, len(y), 2 * gap + 100):
        y[start : start + gap] = np.nan
    return ito.Trajectories(y, dt=dt, names=names), x[:, 0]


def turns(asked: argparse.Namespace) -> None:
    """Angles through gaps of turns and at 0.4 to 0.9 turns a sample: led by the model, counted, and as numbers."""
    for case in ("motor", "0.4", "0.7", "0.9"):
        frames = 2 * asked.frames if case == "motor" else asked.frames
        tallies = {name: (Tally(), []) for name in ("an angle", "counted", "a number")}
        for seed in range(asked.seeds):
            data, x = turning(case, frames, seed)
            angle = "theta" if case == "motor" else "x1"
            state, order = ("theta", 1) if case == "motor" else ("v1", 2)
            waves = [f"{wave}({k} {angle})".replace("(1 ", "(") for k in (1, 2) for wave in ("sin", "cos")]
            library = ito.Library.expressions("1", *([] if case == "motor" else ["v1"]), *waves)
            true = {"1": 1.0, "sin(theta)": 0.5}
            if case != "motor":
                true = {"1": 0.5 * float(case) * 2 * np.pi / 0.2, "v1": -0.5, "sin(x1)": -4.0}
            for name, (tally, lost) in tallies.items():
                shown = {data.names[0]: angle if name == "a number" else ito.Angle(angle)}
                counted = mock.patch("itoscope.fit.question.Question.periods", {})
                with counted if name == "counted" else contextlib.nullcontext():
                    result = ito.discover(
                        data, library, order=order, observed=shown if order == 1 else shown | {"w": "v1"},
                        measurement_noise="estimate", diffusion="constant", seed=1,
                    )  # fmt: skip
                tally.add(result, {state: true}, {state: 0.25 if order == 1 else 4.0})
                off = np.round((result.smoothed().mean[0][:, 0] - x) / (2 * np.pi))
                lost.append(np.count_nonzero(np.diff(off[np.isfinite(data.paths[0][:, 0])])))
            print(
                case, seed, {name: lost for name, (_, lost) in tallies.items()}, file=sys.stderr, flush=True
            )
        for name, (tally, lost) in tallies.items():
            print(f"| {case} | {name} | {tally.text()} | {np.mean(lost):.1f} |", flush=True)


OTHERS = {
    "motor": motors,
    "turns": turns,
    "track": tracks,
    "outliers": outliers,
    "zeros": zeros,
    "groups": groups,
    "accelerations": accelerations,
    "values": values,
    "cost": cost,
    "rounding": rounding,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="film", choices=("film", *OTHERS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--relaxations", type=float, nargs="+", default=[0.2, 0.5, 1.0])
    parser.add_argument("--localisation", type=float, nargs="+", default=[0.0, 0.1, 0.3])
    parser.add_argument("--repeats", type=int, default=3, help="of each time")
    parser.add_argument("--exposure", type=float, default=1.0, help="share of a frame")
    asked = parser.parse_args()
    ito.set_threads(1)
    if asked.what != "film":
        OTHERS[asked.what](asked)
        return
    share = asked.exposure
    for relaxations in asked.relaxations:
        film = ito.Average("x1", exposure="full" if share == 1.0 else share * relaxations / RATE)
        for localisation in asked.localisation:
            for name, observed in (("average", film), ("naive", "x1")):
                found = line(relaxations, localisation, asked.frames, asked.seeds, observed, share)
                print(
                    f"| {share} | {relaxations} | {100 * localisation:.0f} % | {name} | {found} |", flush=True
                )


if __name__ == "__main__":
    main()
