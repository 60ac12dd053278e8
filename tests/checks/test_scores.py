"""Every look at slow scales: a recording that it is for, one that it is not for, over many short steps."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Variance
from itoscope.checks.check import alpha_of
from itoscope.checks.scores import step_checks
from itoscope.checks.steps import of_innovations, of_measured, sums_before
from itoscope.result.observer import Innovations

DT, N = 0.01, 20_000


def path(seed, drift, noise=lambda x, t: 1.0, n=N, x0=0.0):
    x, out, w = x0, np.empty((n, 1)), np.sqrt(DT) * np.random.default_rng(seed).normal(size=n)
    for k in range(n):
        out[k] = x
        x += drift(x, k * DT) * DT + noise(x, k * DT) * w[k]
    return out


def hidden(seed):
    """A force of correlation time 2."""
    rng = np.random.default_rng(seed)
    pushes, force = 2 * np.sqrt(DT) * rng.normal(size=N), np.zeros(N)
    for k in range(1, N):
        force[k] = force[k - 1] * (1 - DT / 2) + pushes[k]
    return path(rng, lambda x, t: -x + force[round(t / DT)])


def fired(paths, degree=3, **options):
    found = ito.discover(
        ito.Trajectories(paths, dt=DT), ito.Library.polynomials(degree), seed=1, n_samples=200, **options
    )
    checks = found.diagnostics["checks"]
    assert {check["about"] for check in checks} == {found.states[-1]}
    assert found.warnings[: len(checks)] == [c["sentence"] for c in checks if c["fired"]] or found.warnings
    return {check["name"]: check["sentence"] for check in checks if check["fired"]}


def late(t):
    return t > DT * N / 2


WRONG = {
    "periodic forcing": ("slow scales", lambda: [path(1, lambda x, t: -x + 3 * np.cos(t))]),
    "trend": ("trend", lambda: [path(1, lambda x, t: -(x - t / 50))]),
    "switch of mean": ("drift of halves", lambda: [path(1, lambda x, t: -x + (1 if late(t) else -1))]),
    "switch of stiffness": ("drift of halves", lambda: [path(1, lambda x, t: -(3 if late(t) else 1) * x)]),
    "switch of noise": (
        "noise of halves",
        lambda: [path(1, lambda x, t: -x, lambda x, t: 1.6 if late(t) else 1.0)],
    ),
    "hidden force": ("slow scales", lambda: [hidden(1)]),
    "stiffnesses": (
        "memory",
        lambda: [path(k, lambda x, t, k=k: -0.5 * 1.16**k * x, n=1000) for k in range(20)],
    ),
    "centres": (
        "memory",
        lambda: [path(c + 50, lambda x, t, c=c: -(x - c), n=2000, x0=c) for c in range(-10, 10, 2)],
    ),
    "means of recordings": (
        "drift of paths",
        lambda: [path(k, lambda x, t, c=(-1) ** k: c, n=2000, x0=-10 * (-1) ** k) for k in range(10)],
    ),
    "noises of recordings": (
        "noise of paths",
        lambda: [path(k, lambda x, t: -x, lambda x, t, k=k: 1 + k / 20, n=2000) for k in range(10)],
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_on_slow_scales_is_seen(what):
    name, make = WRONG[what]
    found = fired(make())
    assert name in found and "{" not in found[name] and "of x1" in found[name]


def test_a_state_dependent_noise_fitted_as_constant_is_seen():
    recording = [path(1, lambda x, t: -x, lambda x, t: np.sqrt(0.5 + x * x))]
    found = fired(recording, diffusion="constant")
    assert "noise shape" in found and "depends on the state in another way" in found["noise shape"]
    assert not {"noise shape", "noise of halves", "slow scales"} & set(fired(recording))


def test_a_double_well_fitted_by_a_line_is_seen():
    recording = [path(1, lambda x, t: x - x**3)]
    assert "the library of the drift lacks a term" in fired(recording, degree=1)["drift shape"]
    assert fired(recording) == {}


def oscillator(seed):
    rng = np.random.default_rng(seed)
    x = v = 0.0
    out = np.empty((N, 2))
    for k in range(N):
        out[k] = x, v
        for w in np.sqrt(DT / 4) * rng.normal(size=4):
            x, v = x + v * DT / 4, v - (4 * x + 0.5 * v) * DT / 4 + w
    return out


@pytest.mark.parametrize(
    "paths",
    [
        lambda: [path(2, lambda x, t: -x)],
        lambda: [path(2, lambda x, t: -x, lambda x, t: np.sqrt(0.5 + 0.5 * x * x))],
        lambda: [path(seed, lambda x, t: -x, n=200, x0=0.7 * (-1) ** seed) for seed in range(100)],
    ],
    ids=["ornstein", "multiplicative", "short"],
)
def test_right_models_are_silent(paths):
    assert fired(paths()) == {}


def test_an_oscillator_is_silent():
    found = ito.discover(
        ito.Trajectories(oscillator(1), dt=DT), ito.Library.polynomials(3), known_drift={"x1": "x2"}, seed=1,
        n_samples=200,
    )  # fmt: skip
    assert [check["name"] for check in found.diagnostics["checks"] if check["fired"]] == []


def test_a_variance_that_moves_smoothly_over_a_step_is_silent():
    data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=40, substeps=4, seed=7)
    found = ito.discover(data, ito.Library.polynomials(3), known_drift={"x1": "x2"}, seed=1, n_samples=200)
    checks = {check["name"]: check for check in found.diagnostics["checks"]}
    assert not checks["noise terms"]["fired"]
    # Without what the variance did over the step before, x1 x2 explains what it does over this one, at 1e-20.
    assert checks["noise terms"]["value"] > 0.001


# -- of given models -----------------------------------------------------------------------------------------
def looks(x, drift, gamma, terms=("1", "x", "x^3"), times=DT):
    stages = get_backend("reference")
    program = stages.compile(list(terms), ["x"])
    fitted = Fitted(program, np.array([drift])), Variance(program, np.array([gamma]), np.zeros(1))
    steps, _ = of_measured(stages, [x], [times], 0, "x", *fitted)
    return {check.name: check for check in step_checks("residual", steps, alpha_of(1))}


def test_a_term_that_was_left_out_is_named():
    x = path(3, lambda x, t: -x + 1.0)
    found = looks(x, [0.0, -1.0, 0.0], [1.0, 0.0, 0.0])
    assert found["drift terms"].fired and "most on a constant (+" in found["drift terms"].sentence
    right = looks(x, [1.0, -1.0, 0.0], [1.0, 0.0, 0.0])
    assert not any(check.fired for check in right.values())
    noisy = looks(
        path(3, lambda x, t: -x, lambda x, t: np.sqrt(max(1.5 + x, 0.1))), [0.0, -1.0, 0.0], [1.5, 0.0, 0.0]
    )
    assert noisy["noise terms"].fired and "most with x:" not in noisy["noise terms"].sentence


def test_gaps_and_uneven_times_are_no_alarm():
    x, times = path(4, lambda x, t: -x), DT * np.arange(N)
    keep = np.sort(np.random.default_rng(1).choice(N, N // 2, replace=False))
    x, times = x[keep], times[keep]
    x[500:600] = np.nan
    found = looks(x, [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], times=times)
    assert found and not any(check.fired for check in found.values())


def test_few_steps_are_not_looked_at():
    assert looks(path(5, lambda x, t: -x, n=40), [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]) == {}


def test_sums_before_are_of_the_same_piece():
    assert sums_before(np.arange(6.0), np.array([0, 0, 0, 1, 1, 1])).tolist() == [0, 0, 1, 0, 3, 7]


# -- of innovations ------------------------------------------------------------------------------------------
def of_filter(z, states):
    data = ito.Trajectories(states, dt=DT)
    seen = Innovations(
        ("y",), z[:, None], np.zeros(len(z), dtype=int), np.zeros(len(z), dtype=int), np.arange(len(z))
    )
    checks = step_checks("innovation", of_innovations(seen, 0, data), alpha_of(1))
    return {check.name: check for check in checks}


def test_innovations_are_asked_the_same():
    z, states = np.random.default_rng(6).normal(size=N), path(6, lambda x, t: -x)
    white = of_filter(z, states)
    assert {
        "slow scales",
        "drift shape",
        "trend",
        "drift of halves",
        "noise shape",
        "noise of halves",
    } == set(white)
    assert not any(check.fired for check in white.values())
    before = np.roll(states[:, 0], 1)
    for name, spoiled in {
        "slow scales": z + 0.2 * np.sin(np.arange(N) / 200),
        "drift shape": z + 0.1 * before**2,
        "trend": z + 0.1 * np.linspace(-1, 1, N),
        "drift of halves": z + np.where(np.arange(N) < N / 2, 0.1, -0.1),
        "noise shape": z * np.sqrt(0.5 + before**2),
        "noise of halves": z * np.where(np.arange(N) < N / 2, 1.0, 1.3),
    }.items():
        assert of_filter(spoiled, states)[name].fired, name
        assert "the innovations of y" in of_filter(spoiled, states)[name].sentence or name.startswith("noise")
