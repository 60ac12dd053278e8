"""Simulation in both backends: its limits, its schemes' domains, its arguments, and what happens on
divergence."""

import numpy as np
import pytest
from itoscope import SDE
from itoscope.errors import ArgumentError, DivergenceError
from itoscope.expressions.ito import SCHEMES

GEOMETRIC = SDE(["0.5 x"], [["0.4 x"]], ["x"])


@pytest.mark.parametrize(
    ("scheme", "error"), [("euler-maruyama", 3e-3), ("milstein", 3e-3), ("taylor15", 2e-6)]
)
@pytest.mark.parametrize("diffusion", [None, [["0"], ["0"]]])
def test_zero_noise_gives_the_ordinary_equation(backend, scheme, error, diffusion):
    sde = SDE(["y", "-4 x"], diffusion, ["x", "y"])
    x = sde.simulate([1, 0], dt=0.001, n_steps=1000, scheme=scheme, backend=backend).paths[0]
    np.testing.assert_allclose(x[:, 0], np.cos(0.002 * np.arange(1001)), atol=error)


def test_a_seed_is_a_run(backend):
    def run(**settings):
        return GEOMETRIC.simulate([1.0], dt=0.01, n_steps=50, backend=backend, **settings)

    first = run(n_paths=5, seed=7)
    assert first.seed == 7
    # A path has its own stream, whatever the number of paths.
    np.testing.assert_array_equal(run(n_paths=3, seed=7).paths[2], first.paths[2])
    assert not np.array_equal(first.paths[0], first.paths[1])
    assert not np.array_equal(run(seed=8).paths[0], first.paths[0])
    drawn = run()
    np.testing.assert_array_equal(run(seed=drawn.seed).paths[0], drawn.paths[0])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_keep_every_and_substeps_take_the_same_steps(backend, scheme):
    def run(dt, n_steps, **settings):
        return GEOMETRIC.simulate(
            [1.0], dt=dt, n_steps=n_steps, n_paths=2, scheme=scheme, seed=1, backend=backend, **settings
        )

    fine = run(0.01, 60)
    np.testing.assert_array_equal(run(0.01, 60, keep_every=4).paths[1], fine.paths[1][::4])
    assert run(0.01, 61, keep_every=4).n_steps == 30
    assert run(0.01, 60, keep_every=4).dt == pytest.approx(0.04)
    np.testing.assert_allclose(run(0.04, 15, substeps=4).paths[1], fine.paths[1][::4], rtol=1e-12)


def test_every_path_may_have_its_start(backend):
    sde = SDE(["-x", "0"], states=["x", "y"])
    starts = np.arange(6.0).reshape(3, 2)
    data = sde.simulate(starts, dt=0.1, n_steps=5, backend=backend)
    np.testing.assert_array_equal([path[0] for path in data.paths], starts)
    np.testing.assert_array_equal([path[-1, 1] for path in data.paths], starts[:, 1])


def test_observe_noise():
    sde = SDE(["-x"], [["1"]], ["x"])
    clean = sde.simulate([0.0], dt=0.01, n_steps=20000, seed=1, backend="reference").paths[0]
    noisy = sde.simulate(
        [0.0], dt=0.01, n_steps=20000, seed=1, observe_noise=0.05, backend="reference"
    ).paths[0]
    # The spread of 20000 independent values is known to 0.5 %; 2 % is four of that.
    assert (noisy - clean).std() / clean.std() == pytest.approx(0.05, rel=0.02)


# -- the integral of the noise -------------------------------------------------------------------------------
# Its equation is its own probe: after one step of dX = V dt, dV = dW from rest, V is dW and X is dZ.
PROBE = SDE(["v", "0"], [["0"], ["1"]], ["x", "v"])


def after_one_step(backend, **settings):
    data = PROBE.simulate(
        np.zeros((20000, 2)), dt=0.25, n_steps=2, scheme="taylor15", seed=6, backend=backend, **settings
    )
    return np.array([path[1] for path in data.paths])


def test_dz_has_the_covariance_of_an_integral(backend):
    h = 0.25
    expected = np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]])
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 20000)
    assert np.all(np.abs(np.cov(after_one_step(backend).T) - expected) < 4 * error)


def test_dz_is_drawn_given_dw(backend):
    h = 0.25
    dw = 0.5 * np.random.default_rng(12).normal(size=(20000, 2, 1))
    x, v = after_one_step(backend, noise=dw).T
    np.testing.assert_allclose(v, dw[:, 0, 0], rtol=1e-15)
    rest = x - h / 2 * v
    assert abs(rest.mean()) < 4 * np.sqrt(h**3 / 12 / 20000)
    assert abs(rest.var() / (h**3 / 12) - 1) < 4 * np.sqrt(2 / 20000)
    assert abs(np.corrcoef(rest, v)[0, 1]) < 4 / np.sqrt(20000)


def test_dz_may_be_given(backend):
    noise = np.random.default_rng(13).normal(size=(20000, 2, 2))
    np.testing.assert_array_equal(after_one_step(backend, noise=noise)[:, ::-1], noise[:, 0])


# -- covariances ---------------------------------------------------------------------------------------------
def test_a_general_covariance_drives_paths(backend):
    """Increments of one step have the covariance at its start, in 4 standard errors for each of three
    entries."""
    sde = SDE(["0", "0"], gamma=[["1 + x1^2", "0.5 x2"], ["0.5 x2", "2"]])
    assert sde.noise_structure == "general"
    data = sde.simulate(
        [0.5, 1.5],
        dt=0.01,
        n_steps=2,
        n_paths=20000,
        scheme="euler-maruyama",
        seed=3,
        backend=backend,
    )
    steps = np.array([path[1] - path[0] for path in data.paths]) / 0.1
    expected = np.array([[1.25, 0.75], [0.75, 2]])
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 20000)
    assert np.all(np.abs(np.cov(steps.T) - expected) < 4 * error)


# -- divergence ----------------------------------------------------------------------------------------------
EXPLOSIVE = SDE(["x^3"], [["0"]], ["x"])


def test_a_path_that_diverges_is_cut(backend):
    with pytest.warns(
        RuntimeWarning, match=r"1 of 3 paths left the finite range, path 1 first, after t = 0\.[3-9]"
    ):
        data = EXPLOSIVE.simulate([[0.1], [1.0], [0.2]], dt=0.05, n_steps=40, backend=backend)
    assert data.diverged == (1,)
    assert [len(path) for path in data.paths][::2] == [41, 41]
    assert 3 <= len(data.paths[1]) < 41
    assert all(np.isfinite(path).all() for path in data.paths)


def test_divergence_may_be_an_error(backend):
    with pytest.raises(DivergenceError, match="1 of 1 paths left the finite range, path 0 first, after t = "):
        EXPLOSIVE.simulate([1.0], dt=0.05, n_steps=40, on_divergence="raise", backend=backend)


def test_divergence_at_once_is_an_error(backend):
    with pytest.raises(DivergenceError, match="fewer than 3 samples; a smaller dt or more substeps may help"):
        EXPLOSIVE.simulate([1e100], dt=1.0, n_steps=40, backend=backend)


# -- arguments -----------------------------------------------------------------------------------------------
GENERAL = SDE(["0", "0"], [["x2", "0"], ["0", "x1"]])
COMMUTATIVE = SDE(["0"], [["x1", "2 x1"]])


@pytest.mark.parametrize(
    ("sde", "settings", "message"),
    [
        (GEOMETRIC, {"scheme": "heun"}, "scheme = 'heun': one of 'euler-maruyama', 'milstein', 'taylor15'"),
        (
            GENERAL,
            {},
            "scheme = 'milstein': needs additive, scalar, diagonal or commutative noise; "
            "the noise of this SDE is general, use 'euler-maruyama'",
        ),
        (
            COMMUTATIVE,
            {"scheme": "taylor15"},
            "scheme = 'taylor15': needs additive, scalar or diagonal noise; "
            "the noise of this SDE is commutative, use 'euler-maruyama' or 'milstein'",
        ),
        (GEOMETRIC, {"dt": 0}, "dt = 0: a positive, finite number"),
        (GEOMETRIC, {"dt": np.inf}, "dt = inf: a positive"),
        (GEOMETRIC, {"n_steps": 1}, "n_steps = 1: at least 2, so that three samples are kept"),
        (GEOMETRIC, {"n_steps": 10.0}, "n_steps = 10.0: a whole number, at least 1"),
        (GEOMETRIC, {"keep_every": 6}, "n_steps = 10: at least 12, so that three samples are kept"),
        (GEOMETRIC, {"keep_every": 0}, "keep_every = 0: a whole number, at least 1"),
        (GEOMETRIC, {"substeps": True}, "substeps = True: a whole number, at least 1"),
        (GEOMETRIC, {"n_paths": 0}, "n_paths = 0: a whole number, at least 1"),
        (GEOMETRIC, {"seed": -1}, r"seed = -1: a whole number from 0 to 2\^64 - 1, or None"),
        (GEOMETRIC, {"on_divergence": "ignore"}, "on_divergence = 'ignore': one of 'cut', 'raise'"),
        (GEOMETRIC, {"progress": 3}, "progress = 3: True, False, None or a function of the work done"),
        (GEOMETRIC, {"backend": "numba"}, "backend = 'numba'"),
        (GEOMETRIC, {"x0": [1.0, 2.0]}, r"x0 of shape \(2,\): \(1,\) or \(n_paths, 1\), states x"),
        (GEOMETRIC, {"x0": [np.nan]}, r"x0\[0\] is missing \(NaN, None or masked\): finite numbers"),
        (
            GEOMETRIC,
            {"x0": [[1.0], [2.0]], "n_paths": 3},
            r"number of paths: the same in n_paths \(3\), x0 \(2\)",
        ),
        (
            GEOMETRIC,
            {"noise": np.zeros((2, 9, 1))},
            r"noise of shape \(2, 9, 1\): \(n_paths, n_steps \* substeps = 10, 1\)",
        ),
        (
            GEOMETRIC,
            {"noise": np.zeros((2, 10, 3)), "scheme": "taylor15"},
            r"noise of shape \(2, 10, 3\): \(n_paths, n_steps \* substeps = 10, 1 or 2\)",
        ),
        (GEOMETRIC, {"noise": np.full((1, 10, 1), np.nan)}, r"noise\[0, 0, 0\] is missing"),
        (GEOMETRIC, {"noise": np.zeros((2, 10, 1)), "n_paths": 3}, r"n_paths \(3\), noise \(2\)"),
        (GEOMETRIC, {"observe_noise": -1}, "observe_noise = -1: a finite number, zero or positive"),
    ],
)
def test_bad_arguments_are_named(sde, settings, message):
    arguments = {"x0": np.zeros(sde.n_states), "dt": 0.1, "n_steps": 10, "backend": "reference"} | settings
    with pytest.raises(ArgumentError, match=message):
        sde.simulate(**arguments)


def test_progress_counts_path_steps(backend):
    seen = []
    GEOMETRIC.simulate([1.0], dt=0.01, n_steps=3000, n_paths=4, seed=1, backend=backend, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 12000
