"""A recording whose likelihood is a parabola in every coefficient, so that what a search must find is known."""

from dataclasses import replace

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.model import Model
from itoscope.fit.filtered.recording import Recording
from itoscope.fit.filtered.state import Task
from itoscope.stats.quadratic import Quadratic

TERMS = ("1", "x", "x^2", "x^3")


def positive(size, seed, strength):
    """A positive definite matrix with correlations, about `strength` on its diagonal."""
    rows = np.random.default_rng(seed).normal(size=(4 * size, size))
    return strength * rows.T @ rows / len(rows)


class Parabola:
    """The stages of a filter whose log-likelihood is `-(z - top).curvature.(z - top) / 2`, twice: drift; Gamma, noise.

    `drift` maps a term to its coefficient in the one row, `gamma` likewise; `noise` is the variance of the one channel.
    The moments of the stages belong to that parabola exactly, so least squares on all true terms are its top.
    `calls` counts the passes by stage; `bend` replaces the likelihood of a pass by `bend(value, space)`.
    """

    def __init__(self, drift, gamma, noise, strength=100.0, terms=TERMS):
        self.terms = list(terms)
        self.top = np.array([drift.get(term, 0.0) for term in terms])
        self.noise_top = np.array([*(gamma.get(term, 0.0) for term in terms), noise])
        self.curvature = positive(len(terms), 1, strength)
        self.noise_curvature = positive(len(terms) + 1, 2, strength)
        self.calls = dict.fromkeys(("loglik", "drift", "noise", "information", "smooth"), 0)
        self.bend = lambda value, space: value
        self.share = 1.0
        self.samples = []

    def compile(self, expressions, inputs):
        return get_backend("reference").compile(list(expressions), list(inputs))

    def wide(self, space, table):
        """The coefficients of one row of a state-space model over all terms."""
        found = dict(zip(space.program.expressions, table[0]))
        return np.array([found.get(term, 0.0) for term in self.terms])

    def places(self, space, columns):
        return [self.terms.index(space.program.expressions[k]) for _, k in columns]

    def value(self, space):
        off = self.wide(space, space.drift) - self.top
        far = np.append(self.wide(space, space.gamma), space.noise) - self.noise_top
        return -0.5 * float(off @ self.curvature @ off + far @ self.noise_curvature @ far)

    def filter_loglik(self, space, paths, times):
        self.calls["loglik"] += 1
        self.samples.append(sum(map(len, paths)))
        whole = self.bend(self.value(space), space)
        return np.full(len(paths), whole / len(paths))

    def filter_drift_moments(self, space, paths, times, columns):
        self.calls["drift"] += 1
        return self._moments(self.curvature, self.top, self.places(space, columns)), np.zeros(len(paths))

    def filter_noise_moments(self, space, paths, times, columns):
        self.calls["noise"] += 1
        places = [*self.places(space, columns), len(self.terms)]
        return self._moments(self.noise_curvature, self.noise_top, places), np.zeros(len(paths))

    def _moments(self, curvature, top, places):
        return Quadratic(
            curvature[np.ix_(places, places)], (curvature @ top)[places], float(top @ curvature @ top), 1000.0
        )

    def filter_information(self, space, paths, times, parameters, steps):
        self.calls["information"] += 1
        size = len(self.terms)
        whole = np.zeros((2 * size + 1, 2 * size + 1))
        whole[:size, :size], whole[size:, size:] = self.curvature, self.noise_curvature
        now = np.concatenate([self.wide(space, space.drift), self.wide(space, space.gamma), space.noise])
        slope = whole @ (np.concatenate([self.top, self.noise_top]) - now)
        first = {"drift": 0, "gamma": size, "noise": 2 * size}
        places = [
            first[p.kind] + (0 if p.kind == "noise" else self.terms.index(space.program.expressions[p.term]))
            for p in parameters
        ]
        return Quadratic(whole[np.ix_(places, places)], slope[places], 0.0, 1000.0), np.zeros(len(paths))

    def filter_innovations(self, space, paths, times):
        return [np.zeros_like(path) for path in paths]

    def filter_smooth(self, space, paths, times):
        self.calls["smooth"] += 1
        return [path[:, :1].copy() for path in paths], [np.full((len(path), 1, 1), 0.01) for path in paths]


def recording(stages, *, free_noise=True, terms=TERMS, paths=None, **changed):
    """One state `x`, seen with noise, and the `terms` as candidates of drift and Gamma."""
    library = ito.Library.expressions(*terms)
    walk = np.random.default_rng(3).normal(size=(200, 1)).cumsum(axis=0) * 0.1 + 0.5
    whole = Recording(
        paths=[walk] if paths is None else paths,
        times=[0.01] * (1 if paths is None else len(paths)),
        candidates=Candidates.of(library.bind(["x"])),
        observation=np.eye(1),
        free_noise=np.array([free_noise]),
        max_step=0.01,
        stages=stages,
    )
    return replace(whole, **changed)


def model(drift=None, gamma=None, noise=0.5, terms=TERMS):
    """A model with these coefficients by term."""
    gamma = {"1": 1.0} if gamma is None else gamma
    return Model(
        drift=np.array([[(drift or {}).get(term, 0.0) for term in terms]]),
        gamma=np.array([[gamma.get(term, 0.0) for term in terms]]),
        noise=np.array([noise]),
        mean0=np.zeros(1),
        cov0=np.eye(1),
        floor=np.zeros(1),
    )


def task(stages, *, prior=None, **changed):
    """What is sought in the toy recording."""
    terms = changed.get("terms", TERMS)
    return Task(recording(stages, **changed), prior or ito.Prior(), terms, terms)
