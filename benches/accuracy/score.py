"""How good a discovery is beside the truth: terms found, errors over the Cramer-Rao limit, coverage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from itoscope.backends import get_backend

if TYPE_CHECKING:
    import itoscope as ito


@dataclass
class Score:
    """What one case adds up over its seeds; keys are (equation, term)."""

    seeds: int = 0
    exact_drift: int = 0
    exact_diffusion: int = 0
    missed: dict = field(default_factory=dict)
    false: dict = field(default_factory=dict)
    standard: dict = field(default_factory=dict)
    """(estimate - truth) / reported sd, per coefficient."""
    relative: dict = field(default_factory=dict)
    """(estimate - truth) / Cramer-Rao sd, per coefficient."""
    covered: dict = field(default_factory=dict)
    seconds: list = field(default_factory=list)
    warnings: list = field(default_factory=list)

    def add(self, result: ito.Discovery, problem, data, seconds: float) -> None:
        """Score one result."""
        limits = cramer_rao(problem, data)
        self.seeds += 1
        self.seconds.append(seconds)
        self.warnings += result.warnings
        exact = {"drift": True, "diffusion": True}
        for kind, key, equation in _equations(result):
            truth = _truth(problem, kind, key)
            name = key if kind == "drift" else ",".join(key)
            for k, term in enumerate(equation.terms):
                inside, wanted = bool(equation.selected[k]), term in truth
                if inside != wanted:
                    exact[kind] = False
                    tally = self.missed if wanted else self.false
                    tally[name, term] = tally.get((name, term), 0) + 1
                if inside and wanted:
                    error = equation.mean[k] - truth[term]
                    at = (name, term)
                    self.standard.setdefault(at, []).append(error / equation.sd[k])
                    self.relative.setdefault(at, []).append(error / limits[kind, key, term])
                    for level in (0.5, 0.95):
                        low, high = equation.interval(level)[k]
                        self.covered.setdefault((level, at), []).append(low <= truth[term] <= high)
        self.exact_drift += exact["drift"]
        self.exact_diffusion += exact["diffusion"]

    def coverage(self, level: float) -> float:
        """Share of intervals that hold the truth, over coefficients and seeds."""
        hits = [hit for (at, _), all_hits in self.covered.items() if at == level for hit in all_hits]
        return float(np.mean(hits)) if hits else float("nan")

    def rows(self) -> list[str]:
        """One line per true coefficient."""
        lines = []
        for at, values in self.relative.items():
            bias, spread = np.mean(values), np.sqrt(np.mean(np.square(values)))
            z = np.array(self.standard[at])
            lines.append(
                f"    {at[0]:>8} {at[1]:<8} found {len(values)}/{self.seeds}  RMSE/CR {spread:5.2f}  "
                f"bias/CR {bias:+5.2f}"
                f"  z mean {z.mean():+.2f} sd {z.std():.2f}"
                f"  cover 50 % {np.mean(self.covered[0.5, at]):.2f}  95 % {np.mean(self.covered[0.95, at]):.2f}"
            )
        return lines

    def summary(self, name: str) -> str:
        """One line for the whole case."""
        return (
            f"{name:<28} drift {self.exact_drift}/{self.seeds}  diffusion {self.exact_diffusion}/{self.seeds}"
            f"  missed {sum(self.missed.values())}  false {sum(self.false.values())}"
            f"  cover 50 % {self.coverage(0.5):.2f}  95 % {self.coverage(0.95):.2f}"
            f"  {np.median(self.seconds):.2f} s"
        )


def _equations(result: ito.Discovery):
    for state, equation in result.drift.items():
        yield "drift", state, equation
    for pair, equation in result.diffusion.items():
        yield "diffusion", pair, equation


def _truth(problem, kind, key) -> dict[str, float]:
    table = problem.truth[kind]
    found = table.get(key, table.get(key[::-1], {}) if kind == "diffusion" else {})
    return {term: value for term, value in found.items() if value != 0}


def cramer_rao(problem, data) -> dict:
    """Standard deviation that no unbiased estimator of the true coefficients falls below.

    Information of the drift: ``sum u_k u_l (Gamma^-1)_ij dt``; of Gamma: ``sum tr(Gamma^-1 E_k Gamma^-1 E_l) / 2``
    per step,
    over the noisy rows.
    """
    states = list(problem.sde.states)
    rows = [s for s in states if s not in problem.known_drift]
    drift = [(s, term) for s in rows for term in _truth(problem, "drift", s)]
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[i:]]
    gammas = [(p, term) for p in pairs for term in _truth(problem, "diffusion", p)]
    terms = sorted({t for _, t in drift} | {t for _, t in gammas})
    program = get_backend("rust").compile(terms, states)
    place = {t: i for i, t in enumerate(terms)}
    info_drift, info_gamma = np.zeros((len(drift),) * 2), np.zeros((len(gammas),) * 2)
    for x, t in zip(data.paths, data.times):
        dt = np.diff(t)
        u = program.evaluate(np.ascontiguousarray(x[:-1]))
        gamma = np.zeros((len(u), len(rows), len(rows)))
        for (a, b), term in gammas:
            i, j = rows.index(a), rows.index(b)
            value = _truth(problem, "diffusion", (a, b))[term] * u[:, place[term]]
            gamma[:, i, j] += value
            if i != j:
                gamma[:, j, i] += value
        inverse = np.linalg.inv(gamma)
        for p, (a, s) in enumerate(drift):
            for q, (b, t2) in enumerate(drift):
                weight = inverse[:, rows.index(a), rows.index(b)] * dt
                info_drift[p, q] += np.sum(u[:, place[s]] * u[:, place[t2]] * weight)
        derivative = []
        for (a, b), term in gammas:
            unit = np.zeros((len(rows), len(rows)))
            unit[rows.index(a), rows.index(b)] = unit[rows.index(b), rows.index(a)] = 1
            derivative.append(inverse @ unit * u[:, place[term], None, None])
        for p, left in enumerate(derivative):
            for q, right in enumerate(derivative):
                info_gamma[p, q] += 0.5 * np.einsum("nij,nji->", left, right)
    limits = {}
    for names, info, kind in ((drift, info_drift, "drift"), (gammas, info_gamma, "diffusion")):
        sd = np.sqrt(np.diag(np.linalg.inv(info))) if len(names) else []
        limits |= {(kind, key, term): float(value) for (key, term), value in zip(names, sd)}
    return limits
