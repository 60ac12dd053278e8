"""Do the probabilities and intervals of noisy fits mean what they say: six systems, ten seeds each.

    python benches/accuracy/noisy_probability.py [seeds]

For every fit: whether what is shown follows the rule, which intervals of 95 % hold (zero is the truth of a term that is
not there), and the share of true terms among those of each probability.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass

import itoscope as ito
import numpy as np

MEDIAN = 0.5


@dataclass(frozen=True)
class System:
    """A system whose truth is written in the terms of its library, and how it is recorded."""

    name: str
    drift: dict[str, dict[str, float]]
    gamma: dict[str, dict[str, float]]
    known: dict[str, str]
    seen: tuple[str, ...]
    noise: float
    degree: int
    n: int
    dt: float = 0.05

    @property
    def states(self) -> list[str]:
        """Names, the given rows first."""
        return [*self.known, *self.drift]

    def recording(self, seed: int) -> ito.Trajectories:
        """One path with the noise of its sensors."""
        rows = [self.known.get(s) or _sum(self.drift[s]) for s in self.states]
        gamma = [
            [_sum(self.gamma[a]) if a == b and a in self.gamma else "0" for b in self.states]
            for a in self.states
        ]
        model = ito.SDE(rows, states=self.states, gamma=gamma)
        x0 = [0.0] * len(self.states)
        path = model.simulate(
            x0, dt=self.dt, n_steps=self.n + 200, substeps=100, seed=seed, scheme="euler-maruyama"
        ).paths[0][200:]
        x = path[:, [self.states.index(s) for s in self.seen]]
        rng = np.random.default_rng(1000 + seed)
        return ito.Trajectories(
            x + self.noise * x.std(axis=0) * rng.standard_normal(x.shape), dt=self.dt, names=list(self.seen)
        )

    def fitted(self, seed: int) -> ito.Discovery:
        """A discovery with the library of all monomials up to the degree, everything left open."""
        return ito.discover(
            self.recording(seed), ito.Library.polynomials(self.degree), states=self.states,
            known_drift=self.known or None, measurement_noise="estimate", diffusion="diagonal", seed=seed,
        )  # fmt: skip

    def truth(self, label: str) -> dict[str, float]:
        """Of an equation, `dx` or `Gamma[x, x]`."""
        return self.gamma[label[6:].split(",")[0]] if label.startswith("Gamma") else self.drift[label[1:]]


def _sum(terms: dict[str, float]) -> str:
    return " + ".join(f"{value} * {term.replace(' ', ' * ')}" for term, value in terms.items())


SYSTEMS = (
    System("returning", {"x": {"x": -1.3}}, {"x": {"1": 0.5}}, {}, ("x",), 0.1, 3, 1500),
    System(
        "turning", {"x": {"x": -0.4, "y": 1.5}, "y": {"x": -1.5, "y": -0.4}}, {"x": {"1": 0.3}, "y": {"1": 0.6}},
        {}, ("x", "y"), 0.05, 2, 1500,
    ),
    System("oscillator", {"v": {"x": -20.0, "v": -0.6}}, {"v": {"1": 1.0}}, {"x": "v"}, ("x",), 0.03, 2, 2000),
    System(
        "hardening", {"v": {"x": -10.0, "v": -0.8, "x^3": -6.0}}, {"v": {"1": 4.0}}, {"x": "v"}, ("x",), 0.03, 3, 2000
    ),
    System("two wells", {"x": {"x": 1.0, "x^3": -1.0}}, {"x": {"1": 0.5}}, {}, ("x",), 0.05, 4, 3000),
    System("uneven noise", {"x": {"x": -1.0}}, {"x": {"1": 0.2, "x^2": 0.3}}, {}, ("x",), 0.03, 3, 3000),
)  # fmt: skip


@dataclass
class Tally:
    """Counts over fits."""

    rule: int = 0
    fits: int = 0
    held: int = 0
    shown: int = 0
    false: int = 0
    missed: int = 0
    possible: int = 0
    pips: list[float] | None = None
    there: list[bool] | None = None

    def add(self, system: System, result: ito.Discovery) -> None:
        """Count one fit."""
        self.pips, self.there = self.pips or [], self.there or []
        self.fits += 1
        self.rule += follows_rule(result)
        for label, equation in result.labelled():
            truth, interval = system.truth(label), equation.interval(0.95)
            for k, term in enumerate(equation.terms):
                value = truth.get(term, 0.0)
                self.pips.append(float(equation.pip[k]))
                self.there.append(value != 0.0)
                self.possible += value == 0.0
                if equation.selected[k]:
                    self.shown += 1
                    self.held += interval[k, 0] <= value <= interval[k, 1]
                    self.false += value == 0.0
                else:
                    self.missed += value != 0.0

    def __str__(self) -> str:
        return (
            f"{self.fits:3d} fits, by the rule {self.rule}; 95 % intervals that hold {self.held} of {self.shown} "
            f"({self.held / max(self.shown, 1):.2f}); false {self.false} of {self.possible}; missed {self.missed}"
        )

    def bins(self) -> str:
        """Mean probability and share of true terms, by probability."""
        p, z = np.array(self.pips), np.array(self.there)
        edges = [0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 1.01]
        rows = []
        for low, high in itertools.pairwise(edges):
            inside = (p >= low) & (p < high)
            if inside.any():
                rows.append(f"{p[inside].mean():.3f} -> {z[inside].mean():.3f} ({inside.sum()})")
        loss = -np.mean(np.where(z, np.log(np.maximum(p, 1e-4)), np.log(np.maximum(1 - p, 1e-4))))
        return f"probability -> share true (terms): {'; '.join(rows)}; log loss {loss:.3f}"


def follows_rule(result: ito.Discovery) -> bool:
    """Whether every equation shows what is above the threshold, or else a set with more of the draws than that."""
    for _, equation in result.labelled():
        median = equation.pip > MEDIAN
        if np.array_equal(median, equation.selected):
            continue
        share = [np.mean(np.all(equation.included == one, axis=-1)) for one in (median, equation.selected)]
        if share[1] + 0.02 < share[0]:
            return False
    return True


def main(seeds: int) -> None:
    """Print a line for each system, and the bins of all."""
    ito.set_threads(1)
    whole = Tally()
    for system in SYSTEMS:
        tally = Tally()
        for seed in range(1, seeds + 1):
            result = system.fitted(seed)
            tally.add(system, result)
            whole.add(system, result)
        print(f"{system.name:13s} {tally}", flush=True)
    print(f"{'all':13s} {whole}\n{whole.bins()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
