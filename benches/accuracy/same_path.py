"""One path, seen otherwise: thinned, and far from zero. What is found of it must stay the same.

    python benches/accuracy/same_path.py thinned [--seeds 20]
    python benches/accuracy/same_path.py offsets

`thinned`: every 1st, 4th, 20th and 100th sample of a path. Fewer samples know a little less: the estimate moves by
a share of its standard error, and the log odds with it by what is lost of t^2 / 2; the paper's slab is the control.
`offsets`: an autoregressive series 0, 10, 1e3 and 1e6 standard deviations from zero, both samplers, three
libraries; the drift as a function of the distance from the mean, beside that of no offset.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from typing import Literal, NamedTuple

import itoscope as ito
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
THIN = (1, 4, 20, 100)
OFFSETS = (0.0, 10.0, 1e3, 1e6)
SAMPLERS = ("exact", "gibbs")
LIBRARIES: dict[str, ito.Library | None] = {
    "none given": None,
    "degree 3 about the mean": ito.Library.polynomials(3, origin="mean"),
    "degree 1 about zero": ito.Library.polynomials(1),
}


class Thinned(NamedTuple):
    """The restoring force at every `step`-th sample: its probability, t value, and move since the first in errors."""

    step: int
    pip: float
    t: float
    moved: float


def thinned(seed: int, unit: Literal["time", "sample"] = "time", length: float = 15.0) -> list[Thinned]:
    """An Ornstein-Uhlenbeck path of 15 time constants at steps from 0.0005 to 0.05 of one, with `{1, x}`."""
    dt = 0.0005
    path = ito.SDE(["-x"], [["1"]], ["x"]).simulate(
        [0.0], dt=dt, n_steps=round((length + 5) / dt), scheme="taylor15", seed=seed
    )
    x = path.paths[0][round(5 / dt) :]
    found: list[Thinned] = []
    first = 0.0
    for step in THIN:
        data = ito.Trajectories(x[::step], dt=step * dt, names=["x"])
        drift = ito.discover(
            data, ito.Library.polynomials(1), diffusion="constant", prior=ito.Prior(slab_unit=unit),
            sampler="exact", n_samples=100, seed=1,
        ).drift["x"]  # fmt: skip
        assert drift.moments is not None
        gram, moment = drift.moments.gram, drift.moments.moment
        theta = np.linalg.solve(gram, moment)
        noise = (drift.moments.yy - moment @ theta) / drift.moments.n
        error = math.sqrt(noise * np.linalg.inv(gram)[1, 1])
        first = float(theta[1]) if step == 1 else first
        found.append(
            Thinned(step, float(drift.pip[1]), float(theta[1]) / error, (float(theta[1]) - first) / error)
        )
    return found


def told(found: list[list[Thinned]]) -> list[str]:
    """A line for each thinning: probabilities, the move of the estimate, and that of the log odds with its error."""
    pip = np.array([[one.pip for one in path] for path in found])
    odds = np.log(pip / (1 - pip))
    lines = []
    for k, step in enumerate(THIN):
        change = odds[:, k] - odds[:, 0]
        moved = math.sqrt(np.mean([path[k].moved ** 2 for path in found]))
        error = change.std() / math.sqrt(len(found))
        lost = np.mean([(path[k].t ** 2 - path[0].t ** 2) / 2 for path in found])
        lines.append(
            f"every {step:3d}: mean probability {pip[:, k].mean():.3f}, of the median path {np.median(pip[:, k]):.3f}; "
            f"the estimate moves by {moved:.2f} standard errors, "
            f"the log odds by {change.mean():+.2f} +- {error:.2f}, {np.abs(change).mean():.2f} in size; "
            f"t^2 / 2 by {lost:+.2f}"
        )
    return lines


def series(n: int = 4000, dt: float = 0.05, seed: int = 1) -> Array:
    """A path that returns to its mean, which is zero, of spread one, sampled exactly."""
    rng = np.random.default_rng(seed)
    keep = np.exp(-dt)
    noise = np.sqrt(1 - keep**2) * rng.standard_normal(n)
    x = np.zeros(n)
    for k in range(1, n):
        x[k] = keep * x[k - 1] + noise[k]
    return x - x.mean()


class Shifted(NamedTuple):
    """What is found of a series with an offset: the drift at some distances from its mean, and the terms."""

    library: str
    sampler: str
    offset: float
    drift: Array
    terms: tuple[str, ...]
    said: str


def shifted(x: Array, library: str, sampler: str, offset: float) -> Shifted:
    """Discover a series with an offset."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ito.discover(
            ito.Trajectories(x + offset, dt=0.05, names=["x"]), LIBRARIES[library],
            diffusion="constant", sampler=sampler, seed=1,
        )  # fmt: skip
        drift = result.model().drift(np.linspace(-2.0, 2.0, 9)[:, None] + offset)[:, 0]
    equation = result.drift["x"]
    terms = tuple(t for t, s in zip(equation.terms, equation.selected) if s)
    about = [w for w in result.warnings if "standard deviations from zero" in w]
    return Shifted(library, sampler, offset, drift, terms, about[0] if about else "")


def main() -> None:
    """Run a study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=("thinned", "offsets"))
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    ito.set_threads(1)
    np.set_printoptions(precision=3, suppress=True, linewidth=150)
    if arguments.study == "thinned":
        for unit in ("time", "sample"):
            print(f"slab in units of {unit}")
            print(
                "\n".join(told([thinned(seed, unit) for seed in range(1, arguments.seeds + 1)])), flush=True
            )
        return
    x = series()
    for library, sampler in itertools.product(LIBRARIES, SAMPLERS):
        base: Array | None = None
        for offset in OFFSETS:
            found = shifted(x, library, sampler, offset)
            base = found.drift if base is None else base
            off = np.abs(found.drift - base).max() / np.abs(base).max()
            terms = ", ".join(found.terms) or "none"
            print(f"{library}, {sampler}, {offset:g} sd: {terms}; off by {off:.2g}; {found.said}", flush=True)


if __name__ == "__main__":
    main()
