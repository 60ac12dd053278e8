"""The filter against what it must equal: dense Gaussian algebra, weighted regression, numerical derivatives."""

import itoscope as ito
import numpy as np
import pytest
import tolerances
from itoscope import _core
from itoscope.backends import get_backend
from itoscope.backends.records import Kink, StateSpace
from itoscope.backends.reference.filter import _kinked
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.model import Model
from itoscope.fit.filtered.recording import Recording


def _space(backend, **changed):
    """A damped oscillator with correlated noise in both states, seen through a mixture."""
    stages = get_backend(backend)
    given = {
        "program": stages.compile(["x", "v", "1"], ["x", "v"]),
        "drift": np.array([[0.0, 1.0, 0.2], [-4.0, -0.5, 0.0]]),
        "gamma": np.array([[0.0, 0.0, 0.3], [0.0, 0.0, 0.8], [0.0, 0.0, 0.2]]),
        "pairs": ((0, 0), (1, 1), (0, 1)),
        "observation": np.array([[1.0, 0.3]]),
        "noise": np.array([0.05]),
        "mean0": np.array([0.5, -0.2]),
        "cov0": np.array([[0.4, 0.1], [0.1, 0.9]]),
        "floor": np.zeros(2),
        "max_step": 0.1,
        "second_order": False,
    }
    return stages, StateSpace(**(given | changed))


def _data(n=30, seed=1, q=1):
    return np.random.default_rng(seed).normal(size=(n, q)).cumsum(axis=0) * 0.3


def _dense(space, h, n):
    """Mean and covariance of all states and then all samples of the linear model with Euler steps."""
    a, b = space.drift[:, :2], space.drift[:, 2]
    phi = np.eye(2) + h * a
    q = np.zeros((2, 2))
    for (i, j), value in zip(space.pairs, space.gamma[:, 2]):
        q[i, j] = q[j, i] = value
    mean, cov = [space.mean0], [space.cov0]
    for _ in range(n - 1):
        mean.append(phi @ mean[-1] + h * b)
        cov.append(phi @ cov[-1] @ phi.T + h * q)
    whole = np.zeros((2 * n, 2 * n))
    for s in range(n):
        block = cov[s]
        for t in range(s, n):
            whole[2 * t : 2 * t + 2, 2 * s : 2 * s + 2] = block
            whole[2 * s : 2 * s + 2, 2 * t : 2 * t + 2] = block.T
            block = phi @ block
    return np.concatenate(mean), whole


def test_likelihood_and_smoothed_states_are_those_of_the_joint_gaussian(backend):
    stages, space = _space(backend)
    y, h = _data(), 0.1
    mean, cov = _dense(space, h, len(y))
    ob = np.kron(np.eye(len(y)), space.observation)
    s = ob @ cov @ ob.T + space.noise[0] * np.eye(len(y))
    r = y[:, 0] - ob @ mean
    exact = -0.5 * (r @ np.linalg.solve(s, r) + np.linalg.slogdet(s)[1] + len(y) * np.log(2 * np.pi))
    assert stages.filter_loglik(space, [y], [h])[0] == pytest.approx(exact, rel=tolerances.DENSE_GAUSSIAN)
    gain = cov @ ob.T @ np.linalg.inv(s)
    means, covs = stages.filter_smooth(space, [y], [h])
    after = cov - gain @ ob @ cov
    np.testing.assert_allclose(means[0].ravel(), mean + gain @ r, atol=1e-9)
    for n in range(len(y)):
        np.testing.assert_allclose(covs[0][n], after[2 * n : 2 * n + 2, 2 * n : 2 * n + 2], atol=1e-9)


def _exact(space, h):
    """Transition, shift and covariance of one step of the linear model, from block exponentials (Van Loan 1978)."""
    linalg = pytest.importorskip("scipy.linalg")
    a, b, q = space.drift[:, :2], space.drift[:, 2], np.zeros((2, 2))
    for (i, j), value in zip(space.pairs, space.gamma[:, 2]):
        q[i, j] = q[j, i] = value
    zero = np.zeros((2, 2))
    late = linalg.expm(np.block([[-a, q], [zero, a.T]]) * h)
    phi = late[2:, 2:].T
    lead = linalg.expm(np.block([[a, np.eye(2)], [zero, zero]]) * h)[:2, 2:]
    return phi, lead @ b, phi @ late[:2, 2:]


@pytest.mark.parametrize("h", [0.01, 0.35, 1.0, 30.0])
def test_a_linear_system_is_exact_at_any_step(backend, h):
    """From 0.02 to 60 radians a sample, in one step; the control of first order is far off."""
    stages, space = _space(backend, second_order=True, max_step=1e9)
    y, (phi, shift, spread), ob = _data(), _exact(space, h), space.observation
    mean, cov, exact = space.mean0, space.cov0, 0.0
    for n in range(len(y)):
        if n:
            mean, cov = phi @ mean + shift, phi @ cov @ phi.T + spread
        s = float((ob @ cov @ ob.T)[0, 0] + space.noise[0])
        r = float(y[n, 0] - (ob @ mean)[0])
        exact -= 0.5 * (r * r / s + np.log(2 * np.pi * s))
        gain = (cov @ ob.T)[:, 0] / s
        mean, cov = mean + gain * r, cov - np.outer(gain, ob @ cov)
    assert stages.filter_loglik(space, [y], [h])[0] == pytest.approx(exact, rel=tolerances.DENSE_GAUSSIAN)
    _, euler = _space(backend, max_step=1e9)
    off = abs(stages.filter_loglik(euler, [y], [h])[0] - exact)
    assert off > 0.1 or h < 0.1


def test_the_covariance_of_a_step_whose_gamma_moves_is_that_of_small_steps(backend):
    """Gamma = x^2 beside an oscillator: one step against a hundred, in the innovation's variance."""
    stages, _ = _space(backend, second_order=True, max_step=1e9)
    program = stages.compile(["x", "v", "x^2"], ["x", "v"])
    given = {"program": program, "gamma": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.8], [0.0, 0.0, 0.0]])}
    given |= {"drift": np.array([[0.0, 1.0, 0.0], [-4.0, -0.5, 0.0]]), "cov0": 1e-12 * np.eye(2)}
    y = np.array([[0.4], [0.7]])
    off = []
    for h in (0.2, 0.1):
        _, whole = _space(backend, second_order=True, max_step=1e9, **given)
        _, pieces = _space(backend, second_order=True, max_step=h / 100, **given)
        found, fine = (float(stages.filter_loglik(s, [y], [h])[0]) for s in (whole, pieces))
        off.append(abs(found - fine))
    assert off[0] < 2e-3 and off[1] < off[0] / 3.0


@pytest.mark.parametrize("restoring", [0.0, 1e-12])
def test_an_integrated_random_walk_is_exact(backend, restoring):
    """Where every search starts. Its Jacobian squared is nothing, and the spread of the position is not."""
    h, gamma, noise, y = 0.1, 60.0, 1e-3, _data()
    _, space = _space(
        backend, drift=np.array([[0.0, 1.0, 0.0], [-restoring, 0.0, 0.0]]), second_order=True,
        gamma=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, gamma], [0.0, 0.0, 0.0]]),
        observation=np.array([[1.0, 0.0]]), noise=np.array([noise]),
    )  # fmt: skip
    phi = np.array([[1.0, h], [0.0, 1.0]])
    q = gamma * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]])
    mean, cov, exact = space.mean0, space.cov0, 0.0
    for n, seen in enumerate(y[:, 0]):
        if n:
            mean, cov = phi @ mean, phi @ cov @ phi.T + q
        s, r = cov[0, 0] + noise, seen - mean[0]
        exact -= 0.5 * (r * r / s + np.log(2 * np.pi * s))
        mean, cov = mean + cov[:, 0] * r / s, cov - np.outer(cov[:, 0], cov[0]) / s
    found = get_backend(backend).filter_loglik(space, [y], [h])[0]
    assert found == pytest.approx(exact, rel=tolerances.DENSE_GAUSSIAN)


def test_a_missing_sample_is_a_longer_step(backend):
    stages, space = _space(backend)
    y, keep = _data(), np.delete(np.arange(30), [4, 5, 11])
    gappy = y.copy()
    gappy[[4, 5, 11]] = np.nan
    t = 0.1 * np.arange(30)
    whole = stages.filter_loglik(space, [gappy, y[keep]], [0.1, t[keep]])
    assert whole[0] == pytest.approx(whole[1], rel=tolerances.DENSE_GAUSSIAN)
    assert abs(whole[0] - stages.filter_loglik(space, [y], [0.1])[0]) > 0.1


def test_a_missing_channel_counts_for_nothing(backend):
    both = np.array([[1.0, 0.0], [0.0, 1.0]])
    stages, two = _space(backend, observation=both, noise=np.array([0.05, 0.1]))
    _, one = _space(backend, observation=both[:1], noise=np.array([0.05]))
    y = _data(q=2)
    y[:, 1] = np.nan
    alone = stages.filter_loglik(one, [np.ascontiguousarray(y[:, :1])], [0.1])
    assert stages.filter_loglik(two, [y], [0.1])[0] == pytest.approx(alone[0], rel=tolerances.DENSE_GAUSSIAN)


def test_noise_moments_hold_the_gradient_of_the_likelihood(backend):
    """`moment - gram @ now` is the exact gradient for a linear model, through the gain and all."""
    both = np.array([[1.0, 0.3], [0.2, 1.0]])
    stages, space = _space(backend, observation=both, noise=np.array([0.05, 0.1]), second_order=True)
    y = _data(q=2)
    y[7, 0] = np.nan
    columns = [(0, 2), (1, 2), (2, 2)]
    moments, _ = stages.filter_noise_moments(space, [y], [0.1], columns)
    now = np.concatenate([space.gamma[:, 2], space.noise])
    found = moments.moment - moments.gram @ now
    first = y[:1]  # the first sample tells of the noise too, but is left out of the moments

    def loglik(values):
        gamma = space.gamma.copy()
        gamma[:, 2] = values[:3]
        _, moved = _space(backend, observation=both, noise=values[3:], gamma=gamma, second_order=True)
        return float(
            np.sum(stages.filter_loglik(moved, [y], [0.1]))
            - np.sum(stages.filter_loglik(moved, [first], [0.1]))
        )

    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-5
        slope = (loglik(now + step) - loglik(now - step)) / 2e-5
        assert found[k] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_information_holds_the_gradient_of_the_likelihood(backend):
    stages, space = _space(backend, second_order=True)
    y = _data()
    parameters = [("drift", 1, 0), ("drift", 0, 2), ("gamma", 1, 2), ("noise", 0, 0)]
    sums, loglik = stages.filter_information(space, [y], [0.1], parameters, [1e-4] * 4)
    assert loglik[0] == stages.filter_loglik(space, [y], [0.1])[0]
    assert np.linalg.eigvalsh(sums.gram)[0] > 0
    for k, (kind, i, j) in enumerate(parameters):
        values = []
        for step in (1e-4, -1e-4):
            table = getattr(space, kind).copy()
            table[i if kind == "noise" else (i, j)] += step
            _, moved = _space(backend, second_order=True, **{kind: table})
            whole = stages.filter_loglik(moved, [y], [0.1]) - stages.filter_loglik(moved, [y[:1]], [0.1])
            values.append(whole[0])
        assert sums.moment[k] == pytest.approx((values[0] - values[1]) / 2e-4, rel=1e-4, abs=1e-4)


def _double_well(n=400, seed=3):
    rng, x = np.random.default_rng(seed), np.zeros((n, 1))
    for k in range(1, n):
        x[k] = x[k - 1] + 0.01 * (x[k - 1] - x[k - 1] ** 3) + 0.05 * (1 + x[k - 1] ** 2) ** 0.5 * rng.normal()
    return x


def test_without_noise_the_moments_are_those_of_weighted_euler_regression(backend):
    """Kramers-Moyal is the noise-free limit: H = I, no noise, terms of order dt^2 off."""
    stages, h = get_backend(backend), 0.01
    names = ["1", "x", "x^2", "x^3", "sgn(x)"]
    gamma = np.array([[0.25, 0.0, 0.25, 0.0, 0.0]])
    space = StateSpace(
        program=stages.compile(names, ["x"]),
        drift=np.array([[0.1, 0.9, 0.0, -0.8, 0.0]]),
        gamma=gamma,
        pairs=((0, 0),),
        observation=np.eye(1),
        noise=np.zeros(1),
        mean0=np.zeros(1),
        cov0=np.eye(1),
        floor=np.zeros(1),
        max_step=h,
        kinks=(Kink(4, "sgn", 0, 0),),
        second_order=False,
    )
    paths = [_double_well(seed=seed) for seed in range(3)]
    moments, _ = stages.filter_drift_moments(space, paths, [h] * 3, [(0, k) for k in range(5)])
    gram, moment, yy = np.zeros((5, 5)), np.zeros(5), 0.0
    for x in paths:
        u = space.program.evaluate(x[:-1])
        weight = h / (u @ gamma[0])
        y = np.diff(x[:, 0]) / h
        gram += u.T @ (u * weight[:, None])
        moment += u.T @ (weight * y)
        yy += weight @ y**2
    np.testing.assert_allclose(moments.gram, gram, rtol=1e-8)
    np.testing.assert_allclose(moments.moment, moment, rtol=1e-8)
    assert moments.yy == pytest.approx(yy, rel=1e-8)
    assert moments.n == sum(len(x) - 1 for x in paths)


@pytest.mark.parametrize("kind", ["sgn", "abs", "product"])
def test_expectations_of_kinked_terms(kind):
    x, cov = np.array([[0.3, -0.2]]), np.array([[[0.5, 0.2], [0.2, 0.4]]])
    i = 0 if kind == "product" else 1
    value, slope = _kinked(Kink(0, kind, i, 1), x, cov)
    draws = np.random.default_rng(1).multivariate_normal(x[0], cov[0], 400_000)
    inside = draws[:, 1]
    terms = {"sgn": np.sign(inside), "abs": np.abs(inside), "product": draws[:, 0] * np.abs(inside)}[kind]
    # 4.5 standard errors: one false alarm in 1e5
    assert abs(value[0] - terms.mean()) < 4.5 * terms.std() / np.sqrt(len(terms))
    for k in range(2):
        step = np.zeros((1, 2))
        step[0, k] = 1e-6
        high, low = (_kinked(Kink(0, kind, i, 1), x + s * step, cov)[0][0] for s in (1, -1))
        assert slope[0, k] == pytest.approx((high - low) / 2e-6, abs=1e-7)


def test_same_bits_for_any_number_of_threads():
    stages, space = _space("rust")
    paths = [_data(40 + k, seed=k) for k in range(37)]
    found = []
    try:
        for threads in (1, 3):
            _core.set_threads(threads)
            moments, loglik = stages.filter_drift_moments(space, paths, [0.1] * 37, [(0, 0), (1, 0), (1, 1)])
            found.append((moments.gram.tobytes(), moments.moment.tobytes(), moments.yy, loglik.tobytes()))
    finally:
        _core.set_threads(0)
    assert found[0] == found[1]


def test_a_filter_that_leaves_the_finite_range_has_no_likelihood(backend):
    stages, space = _space(backend, drift=np.array([[0.0, 1e200, 0.0], [1e200, 0.0, 0.0]]))
    assert stages.filter_loglik(space, [_data()], [0.1])[0] == -np.inf


def _away_from_the_trapezoid(backend, every, second_order):
    """How far the filter's drift, all states seen without noise, is from that of the trapezoid regression."""
    sde = ito.SDE(["v", "-x - 0.3 v - x^3"], [["0.002", "0"], ["0", "0.002"]], ["x", "v"])
    starts = np.linspace(0.5, 1.5, 4)[:, None] * [1.0, 0.5]
    fine = sde.simulate(starts, dt=0.05, n_steps=200, n_paths=4, substeps=40, seed=1)
    paths, h = [np.ascontiguousarray(path[::every]) for path in fine.paths], 0.05 * every
    library = ito.Library.expressions("x", "v", "x^3")
    data = ito.Trajectories(paths, dt=h, names=["x", "v"])
    plain = [ito.moments(data, library, row=row).solve().theta for row in ("x", "v")]
    among, stages = Candidates.of(library.bind(["x", "v"]), pairs=[(0, 0), (1, 1)]), get_backend(backend)
    recording = Recording(
        paths, [h] * 4, among, np.eye(2), np.zeros(2, dtype=bool), 1.001 * h, stages, second_order
    )
    drift, gamma = np.zeros((2, among.n_terms)), np.zeros((2, among.n_terms))
    gamma[:, among.constant] = 4e-6
    model = Model(drift, gamma, np.zeros(2), np.zeros(2), np.eye(2), np.zeros(2))
    for row, column in enumerate(plain):
        drift[row, list(among.drift_terms)] = column
    for _ in range(3):
        values, _ = recording.drift_moments(model, among.all_drift).solve()
        for column, value in zip(among.all_drift, values):
            drift[column] = value
    return np.linalg.norm(values - np.concatenate(plain))


def test_without_noise_the_drift_is_that_of_the_trapezoid_to_second_order(backend):
    """Half the step, a quarter of the difference; the filter of first order is the control: half of it."""
    second = [_away_from_the_trapezoid(backend, every, True) for every in (4, 2)]
    first = [_away_from_the_trapezoid(backend, every, False) for every in (4, 2)]
    assert 3.4 < second[0] / second[1] < 4.7
    assert 1.7 < first[0] / first[1] < 2.4
    assert second[1] < 0.2 * first[1]
