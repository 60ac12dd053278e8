"""The schemes converge at the orders they declare, strongly and weakly, to the Ito solution."""

import numpy as np
import pytest
from brownian import Brownian, bounded, entangled, geometric, ornstein_uhlenbeck, two_noises, two_states
from itoscope.backends import get_backend
from itoscope.backends.records import Dynamics, Stepping
from itoscope.backends.reference import expansion, integrate
from itoscope.backends.reference.expansion import Increment
from itoscope.expressions.ito import SCHEMES
from tolerances import ORDER

# Step lengths from 1/16 to 1/512 on one Brownian motion of 2000 paths. The slope of log(mean error) over
# log(step) repeats to 0.02 from seed to seed, so 0.1 is five times its spread.
FACTORS = np.array([128, 64, 32, 16, 8, 4])
BROWNIAN = Brownian.draw(2000, 2048, seed=11)


def run(backend, system, scheme, noise):
    n_paths, n_steps, _ = noise.shape
    samples, lengths = get_backend(backend).simulate(
        Dynamics(system.states, system.drift, system.diffusion),
        np.tile(system.x0, (n_paths, 1)),
        Stepping(1 / n_steps, n_steps, scheme, keep_every=n_steps),
        seed=1,
        noise=noise,
    )
    assert (lengths == 2).all()
    return samples[:, 1, -1]


PAIR = Brownian.draw(2000, 2048, seed=12, noises=(2,))


def strong_order(backend, system, scheme, brownian=BROWNIAN):
    exact = system.solution(brownian)
    errors = [
        np.abs(run(backend, system, scheme, brownian.coarse(factor).noise(scheme)) - exact).mean()
        for factor in FACTORS
    ]
    return np.polyfit(np.log(FACTORS), np.log(errors), 1)[0]


SYSTEMS = {"geometric": geometric(), "bounded": bounded(), "entangled": entangled()}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SYSTEMS)
def test_strong_order(backend, name, scheme):
    assert strong_order(backend, SYSTEMS[name], scheme) == pytest.approx(
        SCHEMES[scheme].strong_order, abs=ORDER
    )


# For linear drift and additive noise the next terms of the expansion vanish: half an order more.
@pytest.mark.parametrize(("scheme", "order"), [("euler-maruyama", 1), ("milstein", 1), ("taylor15", 2)])
def test_strong_order_for_additive_noise(backend, scheme, order):
    assert strong_order(backend, ornstein_uhlenbeck(), scheme) == pytest.approx(order, abs=ORDER)


@pytest.mark.parametrize(
    ("system", "scheme"),
    [
        (two_noises, "euler-maruyama"),
        (two_noises, "milstein"),
        (two_states, "euler-maruyama"),
        (two_states, "milstein"),
        (two_states, "taylor15"),
    ],
)
def test_strong_order_with_two_noises(backend, system, scheme):
    assert strong_order(backend, system(), scheme, PAIR) == pytest.approx(
        SCHEMES[scheme].strong_order, abs=ORDER
    )


@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
def test_milstein_with_another_factor_at_the_cross_terms_has_not_its_order(monkeypatch, factor):
    """Negative control."""
    monkeypatch.setattr(expansion, "_i_ij_and_ji", lambda i, j: lambda h, dw, dz: factor * dw[i] * dw[j])
    assert strong_order("reference", two_noises(), "milstein", PAIR) == pytest.approx(0.5, abs=2 * ORDER)


def test_milstein_without_its_correction_has_not_its_order(monkeypatch):
    """Negative control."""
    monkeypatch.setattr(
        integrate,
        "expansion",
        lambda scheme, c: [
            term for term in expansion.expansion(scheme, c) if "_i_jj" not in str(term.integral)
        ],
    )
    order = strong_order("reference", geometric(), "milstein")
    assert order == pytest.approx(0.5, abs=ORDER)
    assert order != pytest.approx(1, abs=ORDER)


# -- weak orders
# --------------------------------------------------------------------------------------------- The first
# and second moment of a linear equation are those of one step, to the power of the number of steps. The
# expectation over one step is a Gauss-Hermite quadrature, exact for polynomials of degree 15, so the weak
# error is known without any sampling noise.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(8)
STEPS = np.array([4, 8, 16, 32, 64, 128])


def moments_of_one_step(backend, system, scheme, n, x0):
    """E[X_h] and E[X_h^2] after one step h = 1/n from x0."""
    h = 1 / n
    first, second = (a.ravel() for a in np.meshgrid(NODES, NODES))
    weights = np.outer(WEIGHTS, WEIGHTS).ravel() / WEIGHTS.sum() ** 2
    dw, dz = np.sqrt(h) * first, h**1.5 / 2 * (first + second / np.sqrt(3))
    samples, _ = get_backend(backend).simulate(
        Dynamics(system.states, system.drift, system.diffusion),
        np.full((len(dw), 1), x0),
        Stepping(h, 1, scheme),
        seed=1,
        noise=Brownian(dw[:, None], dz[:, None]).noise(scheme),
    )
    x = samples[:, 1, 0]
    return np.array([weights @ x, weights @ x**2])


def slope(errors):
    return np.polyfit(np.log(1 / STEPS), np.log(np.abs(errors)), 1)[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weak_order_of_geometric_brownian_motion(backend, scheme):
    lam, mu = 0.5, 0.4
    exact = np.exp([lam, 2 * lam + mu**2])
    reached = [moments_of_one_step(backend, geometric(lam, mu), scheme, n, 1.0) ** n for n in STEPS]
    for k in (0, 1):
        errors = [moments[k] - exact[k] for moments in reached]
        assert slope(errors) == pytest.approx(SCHEMES[scheme].weak_order, abs=ORDER)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weak_order_of_the_ornstein_uhlenbeck_process(backend, scheme):
    theta, sigma = 1.0, 0.7
    exact = sigma**2 * (1 - np.exp(-2 * theta)) / (2 * theta)  # variance at time 1 of a start at rest
    errors = []
    for n in STEPS:
        system = ornstein_uhlenbeck(theta, sigma)
        offset = moments_of_one_step(backend, system, scheme, n, 0.0)[1]
        factor = moments_of_one_step(backend, system, scheme, n, 1.0)[1] - offset
        second = 0.0
        for _ in range(n):
            second = factor * second + offset
        errors.append(second - exact)
    assert slope(errors) == pytest.approx(SCHEMES[scheme].weak_order, abs=ORDER)


# -- Ito, not Stratonovich -----------------------------------------------------------------------------------
def stratonovich(scheme, c):
    """Negative control: the double integral of Stratonovich, dW^2 / 2, in place of that of Ito."""
    return [
        Increment(term.row, term.coefficient, lambda h, dw, dz: dw[0] ** 2 / 2)
        if "_i_jj" in str(term.integral)
        else term
        for term in expansion.expansion(scheme, c)
    ]


def mean_of_a_martingale(backend, scheme):
    """z-score of the mean of dX = X dW at time 1 against 1; of Stratonovich's it would be exp(1/2)."""
    x = run(backend, geometric(lam=0.0), scheme, BROWNIAN.coarse(16).noise(scheme))
    return (x.mean() - 1) / (x.std() / np.sqrt(len(x)))


# |z| < 4 is missed once in 16000 runs.
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_ito_limit(backend, scheme):
    assert abs(mean_of_a_martingale(backend, scheme)) < 4


def test_the_stratonovich_limit_is_another_one(monkeypatch):
    monkeypatch.setattr(integrate, "expansion", stratonovich)
    assert mean_of_a_martingale("reference", "milstein") > 8
