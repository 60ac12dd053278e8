"""Discoveries for tests of what is shown: small ones from data, and artificial ones with chosen terms."""

from functools import cache

import itoscope as ito
import numpy as np
from itoscope.discovery.result import Discovery
from itoscope.posterior.equation import Equation
from itoscope.result.findings import Diffusion, Drift

SHORT = {"n_chains": 2, "n_samples": 150, "n_burn": 50, "seed": 1}


@cache
def measured():
    """The Duffing-Van der Pol oscillator with a given first row."""
    data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=20, seed=1)
    return ito.discover(data, ito.Library.paper(), known_drift={"x1": "x2"}, **SHORT)


@cache
def one_state():
    """An Ornstein-Uhlenbeck process."""
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=10, substeps=5, seed=1)
    return ito.discover(data, ito.Library.polynomials(3), **SHORT)


@cache
def noisy():
    """The displacement of the first records of the oscillator, with noise: velocities were not measured."""
    data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=4, seed=1)
    settings = SHORT | {"order": 2, "measurement_noise": "estimate"}
    return ito.discover(data.positions(noise=0.05, seed=2), ito.Library.polynomials(3), **settings)


@cache
def four_states():
    """Two coupled oscillators with correlated noise."""
    drift = ["v1", "v2", "-100*x1-1*v1+40*x2", "-80*x2-2*v2+30*x1"]
    sde = ito.SDE(drift, [["0", "0"], ["0", "0"], ["1.5", "0"], ["0.5", "1"]], ["x1", "x2", "v1", "v2"])
    data = sde.simulate([0.1, 0, 0, 0], dt=0.005, n_steps=400, n_paths=10, seed=1)
    return ito.discover(data, ito.Library.polynomials(1), known_drift={"x1": "v1", "x2": "v2"}, **SHORT)


def twice(x):
    """A function of Python, at the top of a module so that it can be pickled."""
    return 2 * x[:, 0]


@cache
def with_custom_terms():
    """A process whose drift is a custom function."""
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=10, substeps=5, seed=1)
    library = ito.Library.custom(twice, "wind load") + ito.Library.polynomials(0)
    return ito.discover(data, library, **SHORT)


def artificial(drift, diffusion, library=None, near=0.0):
    """A discovery with these coefficients: `{state: {term: (mean, sd)}}`; other terms have the probability `near`."""
    states = tuple(drift)
    names = list(library or dict.fromkeys(["1", *states, *(t for row in drift.values() for t in row)]))

    def equation(terms):
        mean = np.array([terms.get(name, (0.0, 0.0))[0] for name in names])
        sd = np.array([terms.get(name, (0.0, 0.0))[1] for name in names])
        selected = np.array([name in terms for name in names])
        draws = np.where(selected, mean + sd * np.random.default_rng(1).normal(size=(2, 50, len(names))), 0.0)
        return Equation(
            terms=names, pip=np.where(selected, 1.0, near), pip_mcse=np.zeros(len(names)), mean=mean,
            cov=np.diag(sd**2), selected=selected, samples=draws, included=draws != 0,
            inclusion=np.broadcast_to(np.where(selected, 1.0, near), draws.shape).copy(),
            noise_var=np.ones((2, 50)), slab_var=np.ones((2, 50)), p0=np.full((2, 50), 0.1), work=[], aliases={},
            warnings=[], threshold=0.5, sampler="gibbs", seed=1, degrees=1000.0,
        )  # fmt: skip

    return Discovery(
        states=states,
        drift=Drift({state: equation(terms) for state, terms in drift.items()}),
        diffusion=Diffusion({pair: equation(terms) for pair, terms in diffusion.items()}),
        data_summary={"n_paths": 1, "n_steps": 100, "dt": 0.01},
    )
