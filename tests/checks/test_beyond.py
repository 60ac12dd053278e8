"""Fits that do not hold what the data hold: a drift that leads away from beyond them, a row that nothing holds."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.checks.beyond import beyond, random_walk_tail

DT, N = 0.01, 20_000
CUBIC = ito.Library.polynomials(3)


def path(seed, drift, n=N, x0=0.0, noise=1.0):
    w = noise * np.sqrt(DT) * np.random.default_rng(seed).normal(size=n)
    x = np.full((n, 1), float(x0))
    for k in range(1, n):
        x[k] = x[k - 1] + drift(x[k - 1]) * DT + w[k]
    return x


def fit(paths, library=CUBIC, **options):
    return ito.discover(ito.Trajectories(paths, dt=DT), library, seed=1, n_samples=200, **options)


def fired(result):
    return {check["name"]: check["sentence"] for check in result.diagnostics["checks"] if check["fired"]}


def saturating(x):
    return -3 * x / (1 + x * x)


@pytest.mark.parametrize("seed", [0, 3, 6, 8])
def test_a_drift_that_turns_outward_beyond_the_data_is_named(seed):
    """Cubic and square terms that fit a saturating force within the data and run away beyond."""
    result = fit([path(seed, saturating)])
    sentence = fired(result)["outward drift"]
    assert sentence in result.warnings and "the fitted drift leads away (from x1 = " in sentence
    # the right form of the force is silent on the same data
    assert "outward drift" not in fired(
        fit([path(seed, saturating)], ito.Library.expressions("x1/(1 + x1^2)"))
    )


def test_recordings_about_their_own_centres_are_held_by_nothing():
    """Each alone has a drift of -1 that all together lack."""
    result = fit([path(k, lambda x, c=c: c - x, n=2000, x0=c) for k, c in enumerate(range(-10, 10, 2))])
    assert not result.drift["x1"].selected.any()
    assert "nothing in its fitted drift holds it" in fired(result)["stationary law"]


def test_inputs_stay_at_their_means():
    push = np.random.default_rng(3).normal(size=4000).repeat(5)
    truth = ito.SDE(["-x1 + 2 u"], [["1"]], ["x1"], inputs=["u"])
    run = truth.simulate([0.0], dt=0.02, n_steps=19_999, inputs={"u": push}, substeps=5, seed=4)
    recorded = ito.Trajectories(np.column_stack([run.paths[0], push]), dt=0.02, names=["x1", "u"])
    library = ito.Library.polynomials(1) + ito.Library.custom(lambda x: np.tanh(x[:, 0]), "tanh x1")
    result = ito.discover(recorded, library, inputs=["u"], seed=1)
    assert [c["fired"] for c in result.diagnostics["checks"] if c["name"] == "outward drift"] == [False]


def test_a_constant_holds_nothing_either():
    assert "stationary law" in fired(fit([path(1, lambda x: 1 - x)], ito.Library.polynomials(0)))


@pytest.mark.parametrize(
    "paths",
    [
        lambda: [path(1, lambda x: -x)],
        lambda: [path(1, lambda x: x - x**3)],
        lambda: [path(1, lambda x: 0.0)],
        lambda: [path(k, lambda x: 0.0, n=500) for k in range(20)],
        lambda: [path(k, lambda x: 2 * x, n=200, x0=1.0) for k in range(20)],
    ],
    ids=["linear", "double well", "random walk", "short random walks", "growth"],
)
def test_what_holds_its_state_is_silent_and_so_is_what_no_data_bound(paths):
    assert not {"outward drift", "stationary law"} & set(fired(fit(paths())))


def test_nothing_is_asked_where_the_data_are_not_bounded():
    walk = fit([path(1, lambda x: 0.0)])
    assert beyond(walk, walk.data.paths, [DT * N]) == []
    bounded = fit([path(1, lambda x: -x)])
    assert [check.name for check in beyond(bounded, bounded.data.paths, [DT * N])] == [
        "stationary law",
        "outward drift",
    ]


def softening(seed):
    rng = np.random.default_rng(seed)
    x = v = 0.0
    out = np.empty((N, 2))
    for k in range(N):
        out[k] = x, v
        for w in 0.8 * np.sqrt(DT / 2) * rng.normal(size=2):
            x, v = x + v * DT / 2, v - (3 * np.sin(x) + 0.8 * v) * DT / 2 + w
    return out


def test_an_oscillator_whose_spring_gives_way_is_named():
    """A pendulum by the cubic that is like it within the swings that were recorded, and turns over beyond."""
    known = {"known_drift": {"x1": "x2"}, "diffusion": "constant"}
    cubic = fit([softening(1)], ito.Library.expressions("x1 - x1^3/6", "x2"), **known)
    assert "(from x1 = " in fired(cubic)["outward drift"]
    assert fired(fit([softening(1)], ito.Library.expressions("sin(x1)", "x2"), **known)) == {}


def test_noisy_recordings_are_asked_at_their_smoothed_states():
    noise = 0.05 * np.random.default_rng(9).normal(size=(5000, 1))
    right = fit(
        [path(1, lambda x: -2 * x, n=5000) + noise], ito.Library.polynomials(1), measurement_noise=0.05
    )
    assert {"stationary law", "outward drift"} <= {check["name"] for check in right.diagnostics["checks"]}
    assert fired(right) == {}
    wrong = fit(
        [path(1, lambda x: -2 * x, n=5000) + noise], ito.Library.polynomials(0), measurement_noise=0.05
    )
    assert "stationary law" in fired(wrong)


@pytest.mark.parametrize("paths", [1, 5])
def test_the_bound_for_random_walks_is_one(paths):
    """It is above how often random walks vary as little, by less than a power of ten."""
    rng = np.random.default_rng(3)
    squares = rng.normal(size=(40_000, 100)) ** 2
    for _ in range(paths - 1):
        squares += rng.normal(size=(40_000, 100)) ** 2
    shares = squares @ (1 / (np.pi * np.arange(1, 101)) ** 2) / paths
    for level in (0.3, 0.05, 0.005):
        bound = random_walk_tail(float(np.quantile(shares, level)), paths)
        assert level < bound < 10 * level
    assert random_walk_tail(1 / 6, paths) == 1.0
