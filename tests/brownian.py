"""Brownian motion on a fine grid, seen through longer steps, and equations solved exactly on it."""

from dataclasses import dataclass

import numpy as np

__all__ = [
    "Brownian",
    "Exact",
    "bounded",
    "entangled",
    "geometric",
    "ornstein_uhlenbeck",
    "relaxing",
    "two_noises",
    "two_states",
]


@dataclass
class Brownian:
    """Increments dW and integrals dZ of Brownian motions over `n` steps up to time 1, `(n_paths, n)`, or with a
    last axis of several noises."""

    dw: np.ndarray
    dz: np.ndarray

    @classmethod
    def draw(cls, n_paths, n, seed, noises=()):
        first, second = np.random.default_rng(seed).normal(size=(2, n_paths, n, *noises))
        h = 1 / n
        return cls(np.sqrt(h) * first, h**1.5 / 2 * (first + second / np.sqrt(3)))

    def coarse(self, factor):
        """The same motion over steps `factor` times as long."""
        n_paths, n, *noises = self.dw.shape
        dw, dz = (a.reshape(n_paths, n // factor, factor, *noises) for a in (self.dw, self.dz))
        before = np.cumsum(dw, axis=2) - dw  # W at the start of each fine step, from that of the coarse step
        return Brownian(dw.sum(axis=2), (dz + before / n).sum(axis=2))

    def noise(self, scheme):
        """As `simulate` takes it."""
        if self.dw.ndim == 3:
            return np.concatenate([self.dw, self.dz], axis=2) if scheme == "taylor15" else self.dw
        return np.stack([self.dw, self.dz], axis=2) if scheme == "taylor15" else self.dw[:, :, None]


@dataclass
class Exact:
    """An equation over `states`, and the last state at time 1 on a Brownian motion."""

    states: list
    drift: list
    diffusion: list
    x0: list
    solution: object


def geometric(lam=0.5, mu=1.0):
    """dX = lam X dt + mu X dW."""

    def solution(brownian):
        return np.exp(lam - mu**2 / 2 + mu * brownian.dw.sum(axis=1))

    return Exact(["x"], [f"{lam} x"], [[f"{mu} x"]], [1.0], solution)


def two_noises(lam=0.5, mu=(0.8, -0.6)):
    """dX = lam X dt + mu_1 X dW_1 + mu_2 X dW_2, whose noises commute."""

    def solution(brownian):
        return np.exp(lam - np.dot(mu, mu) / 2 + brownian.dw.sum(axis=1) @ np.array(mu))

    return Exact(["x"], [f"{lam} x"], [[f"{mu[0]} x", f"({mu[1]}) x"]], [1.0], solution)


def two_states(lam=0.5, mu=(0.8, 0.6)):
    """Two equations of that kind, each with the noise of its own; the second is looked at."""

    def solution(brownian):
        return np.exp(lam - mu[1] ** 2 / 2 + mu[1] * brownian.dw[:, :, 1].sum(axis=1))

    diffusion = [[f"{mu[0]} x", "0"], ["0", f"{mu[1]} y"]]
    return Exact(["x", "y"], [f"{lam} x", f"{lam} y"], diffusion, [1.0, 1.0], solution)


def bounded(a=0.3, b=0.8, x0=0.2):
    """dX = -(a + b^2 X)(1 - X^2) dt + b (1 - X^2) dW, which stays in (-1, 1); Kloeden & Platen (4.4.46)."""

    def solution(brownian):
        e = (1 + x0) * np.exp(-2 * a + 2 * b * brownian.dw.sum(axis=1))
        return (e + x0 - 1) / (e + 1 - x0)

    return Exact(["x"], [f"-({a} + {b**2} x)(1 - x^2)"], [[f"{b}(1 - x^2)"]], [x0], solution)


def entangled(s=0.7):
    """P = s W and Q = exp(P), with coefficients of Q that mix both states: q^2 exp(-p) is q where q = exp(p)."""
    drift = ["0", f"{s**2 / 2} q^2 exp(-p)"]
    diffusion = [[f"{s}"], [f"{s} q^2 exp(-p)"]]
    return Exact(["p", "q"], drift, diffusion, [0.0, 1.0], lambda b: np.exp(s * b.dw.sum(axis=1)))


def ornstein_uhlenbeck(theta=2.0, sigma=1.0):
    """dX = -theta X dt + sigma dW; on the fine grid exact to order 2 in its step."""

    def solution(brownian):
        n = brownian.dw.shape[1]
        t = np.arange(n) / n
        within = brownian.dw + theta * (brownian.dw / n - brownian.dz)  # of exp(theta (s - t)) dW
        return np.exp(-theta) + sigma * (np.exp(-theta * (1 - t)) * within).sum(axis=1)

    return Exact(["x"], [f"-{theta} x"], [[f"{sigma}"]], [1.0], solution)


def relaxing(n, seed):
    """Exact steps of dX = -1.5 X dt + 0.9 dB, 0.05 apart: 0.2 a step, 0.52 on the whole. And the generator of them."""
    rng = np.random.default_rng(seed)
    decay, spread = np.exp(-0.075), np.sqrt(0.81 / 3.0)
    x = np.empty(n)
    x[0] = spread * rng.standard_normal()
    for k, kick in enumerate(spread * np.sqrt(1.0 - decay**2) * rng.standard_normal(n - 1)):
        x[k + 1] = decay * x[k] + kick
    return x, rng
