"""The search for a model of a noisy recording: rounds of filter moments, selection and damped steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from itoscope.common.types import Array
from itoscope.fit.filtered.recording import Coefficients, Columns, Filtering
from itoscope.fit.filtered.start import maximise_noise, start
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments
from itoscope.stats.quadratic import Quadratic

__all__ = ["MAX_DRIFT_ROUNDS", "Sample", "Search", "table"]

Sample = Callable[[Moments, bool, int], Equation]

MAX_DRIFT_ROUNDS, MAX_GAMMA_ROUNDS = 10, 6
SELECTION_FLOOR, FINAL_FLOOR = 2e-2, 1e-4
"""Smallest Gamma_ii as a share of the constant Gamma_ii of the first rounds: while terms are chosen, and at the end."""
RIVALS_FROM = 2
"""Drift round from which the models that the chains visited often are compared by their likelihood."""
MAX_RIVALS, RIVAL_MASS = 4, 0.05
"""How many of them, and the share of the draws that each must have."""
CLEAR_MASS = 0.9
"""Share of the draws above which a model has no rival."""
SHORT = 20_000
"""Samples of a recording up to which every term is tried alone in Gamma_ii."""
PART = 50_000
"""Samples of a long recording that are enough for Gamma and the noise between two rounds of the drift."""
KINK = 2.0
"""Log odds against a term with a kink."""
STABLE_SHIFT = 0.1
"""Movement of a coefficient, in standard errors, that counts as none."""


class Search:
    """The model as it stands, and the steps that may improve it."""

    def __init__(self, f: Filtering, sample: Sample, names: tuple[Sequence[str], Sequence[str]]) -> None:
        self.f, self.sample, self.names = f, sample, names
        self.record: list[dict[str, Any]] = []
        self.n = int(sum(np.count_nonzero(~np.isnan(y)) for y in f.paths))
        self.scale = np.zeros(len(f.states))
        self.model: Coefficients
        self.loglik = -math.inf
        self.overflowed: set[str] = set()

    # -- bookkeeping -----------------------------------------------------------------------------------------
    def evidence(self, model: Coefficients, loglik: float) -> float:
        """Laplace evidence of a model: log-likelihood less log(n)/2 + log(K) per coefficient, and 2 more per kink.

        The first is what a slab of unit information costs, the second what it costs to have picked one of K terms. The
        third is a preference, seven to one, for smooth terms: on a short recording `sgn(x)` with `x|x|` fits as well as
        `x` with `x^3`, and the data do not decide.
        """
        drift = len(model.drift_columns()) * self.cost(self.f.all_drift)
        gamma = len(model.gamma_columns()) * self.cost(self.f.all_gamma)
        kinks = sum(k in self.f.kinked for _, k in model.drift_columns() + model.gamma_columns())
        return loglik - drift - gamma - KINK * kinks

    def cost(self, candidates: Columns) -> float:
        """Log evidence that a coefficient costs which is picked from `candidates`."""
        return 0.5 * math.log(max(self.n, 2)) + math.log(max(len(candidates), 1))

    def take(self, model: Coefficients, loglik: float) -> None:
        """Make a model the current one."""
        self.model, self.loglik = model, loglik

    def better(self, model: Coefficients, loglik: float) -> bool:
        """Whether the evidence of a model is above that of the current one."""
        return self.evidence(model, loglik) > self.evidence(self.model, self.loglik) + 1e-6

    def note(self, stage: str, chosen: list[str], step: float) -> None:
        """Add a round to the record."""
        self.record.append(
            {
                "stage": stage,
                "chosen": chosen,
                "step": step,
                "loglik": self.loglik,
                "drift": self.show(self.model.drift, self.f.states),
                "diffusion": self.show(self.model.gamma, self.pair_names()),
                "noise": np.sqrt(self.model.noise).tolist(),
            }
        )

    def pair_names(self) -> list[str]:
        """How the elements of Gamma are named."""
        return [f"{self.f.states[i]},{self.f.states[j]}" for i, j in self.f.pairs]

    def show(self, table: Array, rows: Sequence[str]) -> dict[str, float]:
        """The coefficients of a table that are not zero, by name."""
        return {
            f"{rows[i]}: {self.f.expressions[k]}": float(table[i, k]) for i, k in np.argwhere(table != 0.0)
        }

    # -- the start -------------------------------------------------------------------------------------------
    def start(self, noise: Array) -> None:
        """Begin from the integrated random walk."""
        model = start(self.f, noise)
        self.take(model, self.f.loglik(model))
        self.note("start", [], 1.0)

    def constant_gamma(self) -> None:
        """Keeps the size of Gamma_ii as the measure of its floor."""
        for p, (i, j) in enumerate(self.f.pairs):
            if i == j:
                self.scale[i] = abs(self.model.gamma[p, self.f.constant])

    def set_floor(self, share: float) -> None:
        """Hold Gamma_ii above a share of its size in the first rounds."""
        self.f.floor = share * self.scale
        self.loglik = self.f.loglik(self.model)

    # -- drift -----------------------------------------------------------------------------------------------
    def drift_moments(self) -> Moments:
        """Moments of all drift candidates at the current model."""
        columns = self.f.all_drift
        sums, bad = self.f.drift_moments(self.model, columns).finite()
        self.overflowed |= {self.drift_names()[c] for c in bad}
        return _named(sums, self.drift_names())

    def drift_names(self) -> list[str]:
        """Names of the drift candidates, with their row where there are several."""
        names = self.names[0]
        if len(self.f.rows) == 1:
            return list(names)
        return [f"{self.f.states[i]}: {name}" for i in self.f.rows for name in names]

    def gamma_names(self) -> list[str]:
        """Names of the candidates of Gamma, with their element where there are several."""
        names = self.names[1]
        if len(self.f.pairs) == 1:
            return list(names)
        return [f"{pair}: {name}" for pair in self.pair_names() for name in names]

    def drift_round(self, index: int) -> tuple[list[int], float]:
        """One regression, selection and damped step; the chosen columns and how far the model moved in errors."""
        columns, moments = self.f.all_drift, self.drift_moments()
        found = self.sample(moments, False, index)
        chosen = np.flatnonzero(found.selected).tolist()
        if index >= RIVALS_FROM:
            chosen = self.best_rival(
                chosen, found, lambda c, _: self.drift_trial(moments, c), [self.support()]
            )
        value, inverse = moments.solve(chosen)
        aim = table(self.model.drift.shape, columns, chosen, value)
        now = np.array([self.model.drift[columns[c]] for c in chosen])
        error = np.sqrt(np.maximum(np.diag(inverse), np.finfo(float).tiny))
        moved = float(np.max(np.abs(value - now) / error, initial=0.0))
        step = 0.0
        grows = bool(np.any((aim != 0.0) & (self.model.drift == 0.0)))
        settled = chosen == self.support() and moved < STABLE_SHIFT
        for halving in range(0 if settled else 6 if grows or chosen == self.support() else 2):
            part = 0.5**halving
            trial = replace(self.model, drift=self.model.drift + part * (aim - self.model.drift))
            loglik = self.f.loglik(trial)
            if self.better(trial, loglik):
                self.take(trial, loglik)
                step = part
                break
        if step == 0.0 and chosen != self.support():
            trial, loglik = maximise_noise(self.f, replace(self.model, drift=aim), 3)
            if self.better(trial, loglik):
                self.take(trial, loglik)
                step = 1.0
        if step == 0.0 and chosen == self.support():
            moved = 0.0  # the regression points elsewhere, but no step along it raises the likelihood: an end
        self.note("drift", [moments.terms[c] for c in chosen], step)  # type: ignore[index]
        return chosen, moved

    def drift_trial(self, moments: Moments, chosen: list[int]) -> float:
        """Evidence of the drift columns `chosen` at their least-squares values."""
        value, _ = moments.solve(chosen)
        trial = replace(self.model, drift=table(self.model.drift.shape, self.f.all_drift, chosen, value))
        return self.evidence(trial, self.f.loglik(trial))

    def best_rival(
        self,
        chosen: list[int],
        found: Equation,
        evidence: Callable[[list[int], float], float],
        others: Sequence[list[int]],
    ) -> list[int]:
        """Of `chosen`, the models that the chains visited often and `others`, the one of largest evidence.

        Where one model has nearly all draws, nothing is tried. `evidence(columns, most)` may fall short of the truth
        where that is below `most`, the largest so far.
        """
        visited = found.models(MAX_RIVALS)
        place = {name: c for c, name in enumerate(found.terms)}
        # The current model is tried first: its evidence is known, and what cannot reach it is soon given up.
        rivals = [*others, chosen]
        rivals += [sorted(place[name] for name in m.terms) for m in visited if m.mass > RIVAL_MASS]
        different = [rival for n, rival in enumerate(rivals) if rival not in rivals[:n]]
        if visited[0].mass > CLEAR_MASS or len(different) == 1:
            return chosen
        best, most = chosen, -math.inf
        for rival in different:
            value = evidence(rival, most)
            if value > most:
                best, most = rival, value
        return best

    def support(self) -> list[int]:
        """The drift columns in the model, as numbers among all candidates."""
        return [c for c, column in enumerate(self.f.all_drift) if self.model.drift[column] != 0.0]

    def drift_rounds(self, most: int) -> bool:
        """Drift with constant Gamma, until selection and coefficients are stable; whether they became so."""
        before: list[int] | None = None
        for index in range(most):
            chosen, moved = self.drift_round(index)
            if chosen == before == self.support() and moved < 10 * STABLE_SHIFT:
                self.take(*maximise_noise(self.f, self.model, 3, self.loglik))
                self.constant_gamma()
                return True
            before = chosen
            self.follow_noise()
        self.constant_gamma()
        return False

    def follow_noise(self) -> None:
        """Fit Gamma and the noise to the new drift, on a part of a long recording where that raises the likelihood."""
        f = self.f
        sizes = [len(y) for y in f.paths]
        stride = max(1, sum(sizes) // PART)
        if stride > 1 and len(sizes) > stride:
            model, _ = maximise_noise(f.subset(range(0, len(sizes), stride)), self.model, 3, halvings=3)
            loglik = f.loglik(model)
            if loglik > self.loglik:
                self.take(model, loglik)
                return
        self.take(*maximise_noise(f, self.model, 3, self.loglik, halvings=3))

    # -- Gamma -----------------------------------------------------------------------------------------------
    def gamma_moments(self) -> tuple[Moments, Quadratic]:
        """Moments of the Gamma columns with the noise variances projected out, and those of all."""
        columns = self.f.all_gamma
        sums, bad = self.f.noise_moments(self.model, columns).finite()
        self.overflowed |= {f"Gamma {self.gamma_names()[c]}" for c in bad if c < len(columns)}
        return _named(sums.profile(len(columns)), self.gamma_names()), sums

    def gamma_round(self, index: int) -> tuple[list[int], float]:
        """One regression of Gamma, its selection and a damped step."""
        f, columns = self.f, self.f.all_gamma
        moments, sums = self.gamma_moments()
        found = self.sample(moments, False, 100 + index)
        chosen = np.flatnonzero(found.selected).tolist()
        others = [self.gamma_support(), *self.single_terms()]
        chosen = self.best_rival(chosen, found, partial(self.gamma_trial, sums), others)
        chosen = self.with_every_variance(chosen)
        value, inverse = self.gamma_aim(sums, chosen)
        aim = table(self.model.gamma.shape, columns, chosen, value[: len(chosen)])
        now = self.model.noise[f.free_noise]
        change = np.clip((value[len(chosen) :] - now) / now, -2.0, 2.0)
        step = 0.0
        error = np.sqrt(np.maximum(np.diag(inverse), 0.0))[: len(chosen)]
        shift = np.abs(value[: len(chosen)] - [self.model.gamma[columns[c]] for c in chosen])
        settled = chosen == self.gamma_support() and bool(np.all(shift < STABLE_SHIFT * error))
        for halving in range(0 if settled else 4):
            part = 0.5**halving
            trial = replace(self.model, gamma=self.model.gamma + part * (aim - self.model.gamma))
            trial = f.with_noise(trial, now * np.exp(part * change))
            trial, loglik = maximise_noise(f, trial, 3)
            if self.better(trial, loglik):
                self.take(trial, loglik)
                step = part
                break
            if chosen == self.gamma_support():
                break
        self.note("diffusion", [moments.terms[c] for c in chosen], step)  # type: ignore[index]
        return chosen, step

    def gamma_aim(self, sums: Quadratic, chosen: list[int]) -> tuple[Array, Array]:
        """Least-squares values of the columns of Gamma and of the noise variances, and the inverse Gram matrix."""
        return sums.solve(chosen + list(range(len(self.f.all_gamma), len(sums.moment))))

    def gamma_trial(self, sums: Quadratic, chosen: list[int], most: float) -> float:
        """Evidence of the columns of Gamma `chosen` after two scoring steps, fewer where it would stay below `most`."""
        chosen = self.with_every_variance(chosen)
        if chosen == self.gamma_support():
            return self.evidence(self.model, self.loglik)
        value, _ = self.gamma_aim(sums, chosen)
        gamma = table(self.model.gamma.shape, self.f.all_gamma, chosen, value[: len(chosen)])
        trial = replace(self.model, gamma=gamma)
        needed = most - self.evidence(trial, 0.0)
        return self.evidence(*maximise_noise(self.f, trial, 2, halvings=3, needed=needed))

    def single_terms(self) -> list[list[int]]:
        """For a short recording, each term alone in a Gamma_ii, where it is positive along the path.

        Little data say little through the squares of innovations that a constant Gamma has weighted; the likelihood
        of each such model says more.
        """
        if self.n > SHORT:
            return []
        f, columns, now = self.f, self.f.all_gamma, self.gamma_support()
        program = f.stages.compile([f.expressions[k] for k in f.gamma_terms], f.states)
        states = np.ascontiguousarray(np.concatenate(f.smooth(self.model)[0]))
        positive = np.all(program.evaluate(states) >= 0.0, axis=0)
        out = []
        for p, (i, j) in enumerate(f.pairs):
            rest = [c for c in now if columns[c][0] != p]
            if i == j:
                own = [columns.index((p, k)) for k, good in zip(f.gamma_terms, positive.tolist()) if good]
                out += [sorted([*rest, c]) for c in own]
        return out

    def with_every_variance(self, chosen: list[int]) -> list[int]:
        """`chosen` with the constant added to each Gamma_ii that would be empty."""
        columns = self.f.all_gamma
        for p, (i, j) in enumerate(self.f.pairs):
            if i == j and not any(columns[c][0] == p for c in chosen) and (p, self.f.constant) in columns:
                chosen = [*chosen, columns.index((p, self.f.constant))]
        return sorted(chosen)

    def gamma_support(self) -> list[int]:
        """The columns of Gamma in the model, as numbers among all candidates."""
        return [c for c, column in enumerate(self.f.all_gamma) if self.model.gamma[column] != 0.0]

    def gamma_rounds(self) -> bool:
        """Gamma's terms and the drift in turn, until both are stable."""
        self.set_floor(SELECTION_FLOOR)
        before: tuple[list[int], list[int]] | None = None
        stable = False
        for index in range(MAX_GAMMA_ROUNDS):
            gamma, _ = self.gamma_round(index)
            drift, moved = self.drift_round(50 + index)
            if before == (gamma, drift) and drift == self.support() and gamma == self.gamma_support():
                stable = moved < 10 * STABLE_SHIFT
                if stable:
                    break
            before = (gamma, drift)
        self.set_floor(FINAL_FLOOR)
        return stable


def _named(sums: Quadratic, names: Sequence[str]) -> Moments:
    return Moments(0.5 * (sums.gram + sums.gram.T), sums.moment, sums.yy, sums.n, list(names))


def table(shape: tuple[int, ...], columns: Columns, chosen: Sequence[int], values: Array) -> Array:
    """A coefficient table with `values` at the chosen columns."""
    out = np.zeros(shape)
    for c, value in zip(chosen, values):
        out[columns[c]] = value
    return out
