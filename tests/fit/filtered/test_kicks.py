"""Steps of unknown size behind the filter: likelihood, drift, Gamma and jumps, beside the same taken for normal."""

import itertools
import math

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace
from itoscope.errors import ArgumentError

LINEAR = ito.Library.polynomials(1)
ASKED = {"measurement_noise": "estimate", "diffusion": "constant", "seed": 1}


def _recording(seed, n=600, share=0.015, noise=0.1, law="jumps"):
    """A rate of 1.5 and Gamma 0.81, exact over steps of 0.05; readings, states and which steps are jumps."""
    rng = np.random.default_rng(seed)
    decay = math.exp(-1.5 * 0.05)
    spread = math.sqrt(0.81 * (1.0 - decay**2) / 3.0)
    jumped = rng.random(n) < share if law == "jumps" else np.zeros(n, dtype=bool)
    size = np.where(jumped, rng.uniform(10.0, 40.0, n), 1.0)
    if law == "student":
        size = 1.0 / np.sqrt(rng.gamma(1.5, 1.0 / 1.5, n))
    x = np.zeros(n)
    for k in range(1, n):
        x[k] = decay * x[k - 1] + spread * size[k] * rng.choice([-1.0, 1.0]) * abs(rng.standard_normal())
    jumped &= np.abs(np.r_[0.0, np.diff(x)]) > 5.0 * spread
    return x + noise * rng.standard_normal(n), x, jumped


def _fit(y, law, **more):
    data = ito.Trajectories(y, dt=0.05, names=["x"])
    return ito.discover(data, LINEAR, **(ASKED | {"diffusion_law": law} | more))


def _space(stages, law, m=1):
    terms, states = ["x"], ["x"]
    drift = np.array([[-1.5]])
    if m == 2:
        terms, states, drift = ["x", "v"], ["x", "v"], np.array([[0.0, 1.0], [-40.0, -0.8]])
    program = stages.compile([*terms, "1"], states)
    gamma = np.zeros((1, m + 1))
    gamma[0, m] = 0.8
    return StateSpace(
        program=program, drift=np.hstack([drift, np.zeros((m, 1))]), gamma=gamma, pairs=((m - 1, m - 1),),
        observation=np.eye(m)[:1], noise=np.array([0.01]), mean0=np.zeros(m), cov0=np.eye(m), floor=np.zeros(m),
        max_step=math.inf, kicks=law,
    )  # fmt: skip


def _one_by_one(y, dt, law, m):
    """Log-likelihood by a filter for every sequence of sizes."""
    stages = get_backend("reference")
    space = _space(stages, (), m)
    share, width = law
    total = []
    for sequence in itertools.product((0, 1), repeat=len(y) - 1):
        mean, cov, height = space.mean0, space.cov0, 0.0
        for n, value in enumerate(y):
            if n:
                a = space.drift[:, :m]
                steps = 200
                for _ in range(steps):
                    turn = np.eye(m) + a * dt / steps + 0.5 * (a * dt / steps) @ (a * dt / steps)
                    own = np.zeros((m, m))
                    own[-1, -1] = 0.8 * (width**2 if sequence[n - 1] else 1.0) * dt / steps
                    mean, cov = turn @ mean, turn @ cov @ turn.T + own
                height += math.log(share if sequence[n - 1] else 1.0 - share)
            s = cov[0, 0] + 0.01
            r = value - mean[0]
            height -= 0.5 * (math.log(2.0 * math.pi * s) + r * r / s)
            gain = cov[:, 0] / s
            mean, cov = mean + gain * r, cov - np.outer(gain, cov[0])
        total.append(height)
    return float(np.logaddexp.reduce(total))


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_the_likelihood_is_that_of_all_sequences_of_sizes(backend):
    """Of the place of an oscillator, kicked once; one normal law of the state would be off by more."""
    stages, law = get_backend(backend), (0.05, 15.0)
    y = np.array([0.1, 0.12, 0.05, 0.0, 0.16, 0.42, 0.51])
    found = stages.filter_loglik(_space(stages, law, 2), [y[:, None]], [0.05])[0]
    wanted = _one_by_one(y, 0.05, law, 2)
    assert found == pytest.approx(wanted, abs=0.03)
    normal = stages.filter_loglik(_space(stages, (), 2), [y[:, None]], [0.05])[0]
    assert normal < wanted - 3.0


def test_a_step_is_known_to_be_a_jump():
    """And those beside it are known to be none."""
    stages = get_backend("rust")
    y = np.r_[np.zeros(20), np.full(20, 3.0)] + 0.1 * np.random.default_rng(3).standard_normal(40)
    known = stages.filter_kicks(_space(stages, (0.01, 20.0)), [y[:, None]], [0.05])[0]
    assert known[20, 1] > 0.99 and known[20, 0] > 300.0
    assert (np.delete(known[:, 1], 20) < 0.3).all()
    assert known[0].tolist() == [1.0, 0.0]


def test_jumps_are_found_with_drift_and_gamma(tmp_path):
    """Of right size, where normal steps make Gamma many times as large."""
    y, _, jumped = _recording(5)
    found = _fit(y, "jumps")
    assert {t for t, z in zip(found.drift["x"].terms, found.drift["x"].selected) if z} == {"x"}
    low, high = found.diffusion["x", "x"].interval(0.95)[0]
    assert low < 0.81 < high < 1.3
    law = found.diagnostics["diffusion_law"]["x"]
    assert law["law"] == "jumps" and law["rows"] == ["x"] and law["log_bayes_factor"] > 50.0
    listed = {one.sample for one in found.jumps}
    assert len(listed & set(np.flatnonzero(jumped))) >= 0.8 * jumped.sum()
    assert len(listed) <= jumped.sum() + 3
    assert all(one.time == pytest.approx(0.05 * one.sample) and one.probability > 0.5 for one in found.jumps)
    normal = _fit(y, "normal")
    assert normal.diffusion["x", "x"].mean[0] > 3.0 * found.diffusion["x", "x"].mean[0]
    found.save(tmp_path / "found.npz")
    again = ito.Discovery.load(tmp_path / "found.npz")
    assert again.jumps == found.jumps and again.observer.kicks == found.observer.kicks
    assert again.loglik(found.data) == pytest.approx(found.loglik())
    made = np.asarray(found.simulate([0.0], n_steps=2000, seed=3, posterior=False).paths[0])
    assert np.abs(np.diff(made[:, 0])).max() > 1.5  # eight standard deviations of a step without a jump


def test_normal_steps_stay_normal():
    """The law loses against normal steps, lists no jump, and leaves Gamma where it is."""
    y, _, _ = _recording(6, law="normal")
    found, normal = _fit(y, "jumps"), _fit(y, "normal")
    assert found.diagnostics["diffusion_law"]["x"]["log_bayes_factor"] < 0.0 and found.jumps == []
    assert found.diffusion["x", "x"].mean[0] == pytest.approx(normal.diffusion["x", "x"].mean[0], rel=0.15)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"diffusion": "full", "diffusion_library": ito.Library.polynomials(2)},
            "diffusion = 'full': 'constant'",
        ),
        ({"noise_law": "outliers"}, "noise_law = 'outliers': normal beside diffusion_law"),
        ({"weights": None}, "weights = None: 'auto' beside diffusion_law"),
        ({"offset": {"x": "slow"}}, "offset = "),
        ({"observed": {"x": "average(x)"}}, "observed = "),
        ({"forcing": {"x": "ou"}}, "forcing|diffusion_law"),
    ],
)
def test_what_is_not_followed_is_refused_by_name(more, message):
    """With what is allowed."""
    y, _, _ = _recording(7, n=120)
    with pytest.raises(ArgumentError, match=message):
        _fit(y, "jumps", **more)
