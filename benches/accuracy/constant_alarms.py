"""Recordings on which a check has to stay silent, and others, wrong in one way each, on which it has to speak."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import itoscope as ito
import numpy as np
from constant_cases import Case, oscillator, pendulum, seen_through_noise, wells

if TYPE_CHECKING:
    from collections.abc import Callable


def _ou(
    seed: int, n: int, *, rate: float = 1.0, dt: float = 0.02, drift: str | None = None, noise: str = "0.5"
) -> Case:
    sde = ito.SDE([drift or f"-{rate} x1"], [[noise]], ["x1"])
    data = sde.simulate([0.2], dt=dt, n_steps=n, substeps=10, seed=seed)
    return Case("OU", data, ito.Library.polynomials(1), {"x1: x1": -rate, "x1,x1: 1": 0.25})


@lru_cache
def clean(n: int = 2000, count: int = 20) -> tuple[Case, ...]:
    """Fits that are right."""
    return tuple(_ou(seed, n) for seed in range(count))


@lru_cache
def tiny() -> tuple[Case, ...]:
    """The same, so short that statistics are wild."""
    return clean(60, 80)


@lru_cache
def nearly(noise: str = "0.5", strength: float = 0.0, count: int = 8) -> tuple[Case, ...]:
    """Long recordings whose fits are wrong by what moves no coefficient: a trace of colour, noise that varies."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["-x1 + u", "-8 u"], [[noise, "0"], ["0", str(8 * strength)]], ["x1", "u"])
        data = sde.simulate(
            [0.0, 0.0], dt=0.02, n_steps=50_000, scheme="euler-maruyama", substeps=10, seed=seed
        )
        cases.append(replace(_ou(seed, 10), data=data.select(["x1"]), asked={"diffusion": "constant"}))
    return tuple(cases)


@lru_cache
def clean_lengths() -> tuple[Case, ...]:
    """The same, short and long."""
    return clean(500, 15) + clean(20_000, 10)


def _added(case: Case, extra: Callable[[np.random.Generator, int], np.ndarray], seed: int) -> Case:
    rng = np.random.default_rng(seed)
    paths = [path + extra(rng, len(path))[:, None] for path in case.data.paths]
    return replace(
        case, data=ito.Trajectories(paths, dt=float(case.data.times[0][1] - case.data.times[0][0]))
    )


@lru_cache
def jumping(size: float = 0.35, count: int = 10) -> tuple[Case, ...]:
    """Paths that jump, some ten times."""
    return tuple(
        _added(_ou(s, 2000), lambda rng, n: np.cumsum((rng.random(n) < 0.005) * rng.normal(0, size, n)), s)
        for s in range(count)
    )


@lru_cache
def coloured(strength: float = 0.7, count: int = 10) -> tuple[Case, ...]:
    """One state seen of two: the force on it has a memory."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["-x1 + u", "-8 u"], [["0.5", "0"], ["0", str(8 * strength)]], ["x1", "u"])
        data = sde.simulate([0.0, 0.0], dt=0.02, n_steps=2000, substeps=10, seed=seed).select(["x1"])
        cases.append(replace(_ou(seed, 10), data=data))
    return tuple(cases)


@lru_cache
def without_constant(shift: float = 0.6, count: int = 10) -> tuple[Case, ...]:
    """A constant drift that no candidate holds."""
    library = ito.Library.expressions("x1^3")
    return tuple(replace(_ou(seed, 4000, drift=f"{shift} - x1^3"), library=library) for seed in range(count))


@lru_cache
def coarse(rate_times_step: float, count: int = 10) -> tuple[Case, ...]:
    """Sampled too slowly for the trapezoid."""
    asked = {"scheme": "trapezoid"}
    return tuple(
        replace(_ou(seed, 2000, rate=rate_times_step / 0.1, dt=0.1), asked=asked) for seed in range(count)
    )


@lru_cache
def vanishing(power: int, count: int = 8) -> tuple[Case, ...]:
    """A covariance that swings to zero and back, with a power of a sine: below a hundredth of its mean for a while."""
    cases = []
    for seed in range(count):
        noise = [["0"], ["0"], [f"x1^{power // 2}"]]
        sde = ito.SDE(["x2", "-x1", "-x3"], noise, ["x1", "x2", "x3"])
        data = sde.simulate([1.0, 0.0, 0.0], dt=0.02, n_steps=3000, substeps=10, seed=seed)
        asked = {
            "known_drift": {"x1": "x2", "x2": "-x1"},
            "diffusion_library": ito.Library.expressions("1", f"x1^{power}"),
        }
        cases.append(Case("swinging", data, ito.Library.expressions("1", "x3"), {}, asked))
    return tuple(cases)


@lru_cache
def given(factor: float, count: int = 10) -> tuple[Case, ...]:
    """A row that is given, right if the factor is one."""
    cases = []
    for seed in range(count):
        sde = ito.SDE([f"{factor} x2", "-4 x1 - x2"], [["0"], ["1"]], ["x1", "x2"])
        data = sde.simulate([0.5, 0.0], dt=0.01, n_steps=2000, substeps=10, seed=seed)
        cases.append(Case("given", data, ito.Library.polynomials(1), {}, {"known_drift": {"x1": "x2"}}))
    return tuple(cases)


@lru_cache
def turning(noise: float, count: int = 10) -> tuple[Case, ...]:
    """Two states that turn each other, the first one with so much noise of its own."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["x2", "-4 x1 - x2"], [[str(noise), "0"], ["0", "1"]], ["x1", "x2"])
        data = sde.simulate([0.5, 0.0], dt=0.02, n_steps=2000, substeps=20, seed=seed)
        cases.append(Case("turning", data, ito.Library.polynomials(1), {}, {"diffusion": "diagonal"}))
    return tuple(cases)


@lru_cache
def sampled(step: float, count: int = 4) -> tuple[Case, ...]:
    """Noisy angles of a pendulum of 2.4 radians a second."""
    return tuple(pendulum(seed, 400, step) for seed in range(count))


@lru_cache
def forced(count: int = 4) -> tuple[Case, ...]:
    """Noisy positions of an oscillator under a force with a memory."""
    cases = []
    for seed in range(count):
        sde = ito.SDE(["x2", "-9 x1 - 0.6 x2 + 3 u", "-4 u"], [["0"], ["0"], ["4"]], ["x1", "x2", "u"])
        full = sde.simulate([0.3, 0, 0], dt=0.05, n_steps=800, substeps=10, seed=seed)
        seen = full.select(["x1"]).add_noise(sd=0.02 * float(full.sd()[0]), seed=seed)
        cases.append(replace(oscillator(seed, 10), data=seen))
    return tuple(cases)


@lru_cache
def clean_paths(count: int, length: int, fits: int = 40) -> tuple[Case, ...]:
    """Fits that are right, to so many paths."""
    sde = ito.SDE(["-x1"], [["0.5"]], ["x1"])
    return tuple(
        replace(
            _ou(0, 10), data=sde.simulate([0.2], dt=0.02, n_steps=length, n_paths=count, substeps=10, seed=s)
        )
        for s in range(fits)
    )


@lru_cache
def apart(centre: float = 1.0, rate: float = 1.0, n: int = 400, fits: int = 10) -> tuple[Case, ...]:
    """Twelve paths in two groups, the second about another centre or drawn back at another rate."""
    cases = []
    for seed in range(fits):
        paths: list[np.ndarray] = []
        for group, (c, r) in enumerate(((0.0, 1.0), (centre, rate))):
            sde = ito.SDE([f"{r} * ({c} - x1)"], [["0.5"]], ["x1"])
            seen = sde.simulate([c], dt=0.02, n_steps=n, n_paths=6, substeps=10, seed=2 * seed + group)
            paths += list(seen.paths)
        cases.append(replace(_ou(seed, 10), data=ito.Trajectories(paths, dt=0.02)))
    return tuple(cases)


@lru_cache
def curved(n: int, library: ito.Library | None = None, fits: int = 10) -> tuple[Case, ...]:
    """A drift of the third degree; no term of it beyond the first is a candidate unless a library is given."""
    asked = library or ito.Library.polynomials(1)
    return tuple(replace(_ou(s, n, drift="x1 - 2 x1^3"), library=asked) for s in range(fits))


@lru_cache
def curved_of_eight(fits: int = 3) -> tuple[Case, ...]:
    """The same for the first of eight states, which do not know of each other."""
    names = [f"x{k}" for k in range(1, 9)]
    sde = ito.SDE(["x1 - 2 x1^3", *(f"-{x}" for x in names[1:])], [*np.diag([0.5] * 8).astype(str)], names)
    seen = [sde.simulate([0.1] * 8, dt=0.02, n_steps=6000, substeps=10, seed=s) for s in range(fits)]
    asked = {"diffusion": "constant"}
    return tuple(Case("eight", data, ito.Library.polynomials(1), {}, asked) for data in seen)


@lru_cache
def right_of_eight(fits: int = 3) -> tuple[Case, ...]:
    """Eight states whose drift is linear."""
    names = [f"x{k}" for k in range(1, 9)]
    sde = ito.SDE([f"-{x}" for x in names], [*np.diag([0.5] * 8).astype(str)], names)
    seen = [sde.simulate([0.1] * 8, dt=0.02, n_steps=6000, substeps=10, seed=s) for s in range(fits)]
    asked = {"diffusion": "constant"}
    return tuple(Case("eight", data, ito.Library.polynomials(1), {}, asked) for data in seen)


@lru_cache
def sensed(share: float = 0.04, fits: int = 10) -> tuple[Case, ...]:
    """Measured states with a trace of noise that the fit is not told of: increments that pull back."""
    cases = [_ou(seed, 20_000) for seed in range(fits)]
    return tuple(
        replace(case, data=case.data.add_noise(sd=(share * case.data.sd()).tolist(), seed=1))
        for case in cases
    )


@lru_cache
def steep(fits: int = 10) -> tuple[Case, ...]:
    """Noise in proportion to a state that swings through zero, fitted as such: no step is short there."""
    cases = []
    for seed in range(fits):
        sde = ito.SDE(["x2", "-x1", "-x3"], [["0"], ["0"], ["x1"]], ["x1", "x2", "x3"])
        data = sde.simulate([1.0, 0.0, 0.0], dt=0.1, n_steps=4000, substeps=10, seed=seed)
        asked = {
            "known_drift": {"x1": "x2", "x2": "-x1"},
            "diffusion_library": ito.Library.expressions("1", "x1^2"),
        }
        cases.append(Case("steep", data, ito.Library.expressions("1", "x3"), {}, asked))
    return tuple(cases)


@lru_cache
def varying(size: float, n: int = 20_000, fits: int = 10) -> tuple[Case, ...]:
    """Noise that varies with the state by this share, fitted as a constant."""
    return tuple(
        replace(_ou(s, n, noise=f"0.5 + {size} x1"), asked={"diffusion": "constant"}) for s in range(fits)
    )


@lru_cache
def long_steps(n: int = 20_000, fits: int = 10) -> tuple[Case, ...]:
    """Fits that are right but for what steps of a tenth of the correlation time leave over."""
    return tuple(_ou(seed, n, rate=1.0, dt=0.1) for seed in range(fits))


@lru_cache
def running_away(fits: int = 10) -> tuple[Case, ...]:
    """Two wells under candidates of which none leads back from both sides."""
    library = ito.Library.expressions("1", "x1", "x1^2")
    return tuple(replace(_ou(s, 600, drift="0.3 + x1 - x1^3"), library=library) for s in range(fits))


@lru_cache
def held(fits: int = 10) -> tuple[Case, ...]:
    """The same under those that do."""
    return tuple(replace(case, library=ito.Library.polynomials(3)) for case in running_away(fits))


@lru_cache
def straight(fits: int = 4) -> tuple[Case, ...]:
    """Noisy positions in two wells under a linear library."""
    return tuple(replace(wells(seed), library=ito.Library.polynomials(1)) for seed in range(fits))


@lru_cache
def seen_wells(fits: int = 4) -> tuple[Case, ...]:
    """The same under a cubic one."""
    return tuple(wells(seed) for seed in range(fits))


@lru_cache
def seen_apart(centre: float, rate: float, fits: int = 4) -> tuple[Case, ...]:
    """Noisy paths in two groups, see `apart`."""
    asked = {"diffusion": "constant"}
    cases = apart(centre, rate, 400, fits)
    return tuple(seen_through_noise(replace(case, asked=asked), 0.02) for case in cases)
