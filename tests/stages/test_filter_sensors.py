"""What sensors ask of the filter, against exact laws: noise of its own at every sample, readings over an exposure."""

import itoscope as ito
import numpy as np
import pytest
import tolerances
from itoscope.backends import get_backend
from itoscope.backends.records import Parameter, StateSpace

RATE, GAMMA, STEP = 1.5, 0.8, 0.4
SPREAD = GAMMA / (2 * RATE)


def _trap(backend, **changed):
    """A relaxing state and its integral since the last reset; a channel shows the state, one its average."""
    stages = get_backend(backend)
    space = {
        "program": stages.compile(["x", "1"], ["x", "z"]),
        "drift": np.array([[-RATE, 0.0], [1.0, 0.0]]),
        "gamma": np.array([[0.0, GAMMA]]),
        "pairs": ((0, 0),),
        "observation": np.array([[0.0, 1.0 / STEP]]),
        "noise": np.array([0.05]),
        "mean0": np.zeros(2),
        "cov0": np.diag([SPREAD, 0.0]),
        "floor": np.zeros(2),
        "max_step": np.inf,
        "resets": (np.diag([1.0, 0.0]),),
    }
    return stages, StateSpace(**(space | changed))


def _averages(n):
    """Covariance of the averages over successive exposures of the relaxing state, in closed form."""
    c = RATE * STEP
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    law = SPREAD / c**2 * np.exp(-c * apart) * (np.exp(c) - 2.0 + np.exp(-c))
    np.fill_diagonal(law, 2.0 * SPREAD / c**2 * (c - 1.0 + np.exp(-c)))
    return law


def _normal(y, cov):
    return -0.5 * (y @ np.linalg.solve(cov, y) + np.linalg.slogdet(cov)[1] + len(y) * np.log(2 * np.pi))


def _readings(n, seed=3):
    return np.linalg.cholesky(_averages(n) + 0.05 * np.eye(n)) @ np.random.default_rng(seed).normal(size=n)


def test_averages_over_the_whole_step_have_their_exact_law(backend):
    y = _readings(200)
    path = np.column_stack([[np.nan, *y], np.ones(201)])
    for noise in (0.05, 0.0):
        stages, space = _trap(backend, noise=np.array([noise]))
        exact = _normal(y, _averages(200) + noise * np.eye(200))
        found = stages.filter_loglik(space, [path], [STEP])[0]
        assert found == pytest.approx(exact, rel=tolerances.DENSE_GAUSSIAN)
    without = stages.filter_loglik(space, [np.column_stack([path[:, 0], np.zeros(201)])], [STEP])[0]
    assert without < exact - 10.0  # an integral that is never reset is another law


def test_an_exposure_of_half_the_step_starts_at_a_row_of_its_own(backend):
    """The same law with the exposures `STEP` long and as much dead time between them."""
    c, n = RATE * STEP, 120
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    law = SPREAD / c**2 * np.exp(-2 * c * apart) * (np.exp(c) - 2.0 + np.exp(-c))
    np.fill_diagonal(law, 2.0 * SPREAD / c**2 * (c - 1.0 + np.exp(-c)))
    law += 0.05 * np.eye(n)
    y = np.linalg.cholesky(law) @ np.random.default_rng(1).normal(size=n)
    path = np.full((2 * n, 2), np.nan)
    path[::2, 1], path[1::2, 0], path[1::2, 1] = 1.0, y, 0.0
    stages, space = _trap(backend)
    found = stages.filter_loglik(space, [path], [STEP])[0]
    assert found == pytest.approx(_normal(y, law), rel=tolerances.DENSE_GAUSSIAN)


def test_noise_of_its_own_at_every_sample(backend):
    n = 150
    factors = np.random.default_rng(2).choice([0.1, 1.0, 40.0], n)
    law = SPREAD * np.exp(-RATE * STEP * np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    law += np.diag(0.05 * factors)
    y = np.linalg.cholesky(law) @ np.random.default_rng(4).normal(size=n)
    stages, space = _trap(backend, observation=np.array([[1.0, 0.0]]), resets=(), scaled=(0,))
    found = stages.filter_loglik(space, [np.column_stack([y, factors])], [STEP])[0]
    assert found == pytest.approx(_normal(y, law), rel=tolerances.DENSE_GAUSSIAN)


def test_two_sensors_with_noises_in_common_have_their_exact_law(backend):
    """Each with noise of its own at every sample and readings that are missing; the correlation stays, -0.6."""
    n, rng = 90, np.random.default_rng(7)
    law = SPREAD * np.exp(-RATE * STEP * np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    factors = rng.choice([0.3, 1.0, 6.0], (n, 2))
    sd = np.sqrt([0.05, 0.2] * factors)
    whole = np.kron(law, np.ones((2, 2)))
    for t in range(n):
        whole[2 * t : 2 * t + 2, 2 * t : 2 * t + 2] += np.outer(sd[t], sd[t]) * [[1.0, -0.6], [-0.6, 1.0]]
    y = (np.linalg.cholesky(whole) @ rng.normal(size=2 * n)).reshape(n, 2)
    y[rng.random((n, 2)) < 0.2] = np.nan
    there = np.isfinite(y).ravel()
    exact = _normal(y.ravel()[there], whole[np.ix_(there, there)])
    stages, space = _trap(
        backend, observation=np.array([[1.0, 0.0], [1.0, 0.0]]), resets=(), scaled=(0, 1),
        noise=np.array([0.05, 0.2, -0.6 * 0.1]), shared=((1, 0),),
    )  # fmt: skip
    asked = ([np.column_stack([y, factors])], [STEP])
    found = stages.filter_loglik(space, *asked)[0]
    assert found == pytest.approx(exact, rel=tolerances.DENSE_GAUSSIAN)
    cross = np.repeat(law, 2, axis=1)[:, there]
    known = whole[np.ix_(there, there)]
    mean, cov = stages.filter_smooth(space, *asked)
    np.testing.assert_allclose(mean[0][:, 0], cross @ np.linalg.solve(known, y.ravel()[there]), atol=1e-9)
    variance = SPREAD - np.einsum("ij,ji->i", cross, np.linalg.solve(known, cross.T))
    np.testing.assert_allclose(cov[0][:, 0, 0], variance, atol=1e-9)
    alone = _trap(backend, observation=space.observation, resets=(), scaled=(0, 1), noise=space.noise[:2])[1]
    assert stages.filter_loglik(alone, *asked)[0] < exact - 3.0


@pytest.mark.parametrize("place", [0, 1, 2])
def test_moments_of_noises_in_common_hold_the_gradient_of_the_likelihood(backend, place):
    rng = np.random.default_rng(8)
    y, factors = _readings(60)[:, None] + 0.3 * rng.normal(size=(60, 2)), rng.choice([0.3, 1.0, 5.0], 60)
    y[7, 0] = y[9, 1] = np.nan
    stages, space = _trap(
        backend, observation=np.array([[1.0, 0.0], [0.4, 0.0]]), resets=(), scaled=(0,), cov0=np.zeros((2, 2)),
        noise=np.array([0.05, 0.2, 0.07]), shared=((0, 1),),
    )  # fmt: skip
    path = np.column_stack([y, factors])
    path[0, :2] = np.nan  # the first sample is not foreseen
    asked, parameter = ([path], [STEP]), Parameter("noise", place)
    up, down = (stages.filter_loglik(space.moved(parameter, s), *asked)[0] for s in (1e-6, -1e-6))
    sums, _ = stages.filter_noise_moments(space, *asked, [(0, 1)])
    found = (sums.moment - sums.gram @ [GAMMA, *space.noise])[1 + place]
    assert found == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-6)
    score, _ = stages.filter_information(space, *asked, [parameter], [1e-5])
    assert score.moment[0] == pytest.approx(found, rel=1e-5, abs=1e-7)
    assert score.gram[0, 0] == pytest.approx(sums.gram[1 + place, 1 + place], rel=1e-5)


def test_two_sensors_of_one_state_and_a_third_are_more_channels_than_states(backend):
    """Three equal sensors are one with a third of the variance, up to what their differences tell of the noise."""
    stages, three = _trap(
        backend, observation=np.tile([[1.0, 0.0]], (3, 1)), noise=np.full(3, 0.06), resets=()
    )
    _, one = _trap(backend, observation=np.array([[1.0, 0.0]]), noise=np.array([0.02]), resets=())
    y = np.random.default_rng(5).normal(size=(80, 3))
    mean = y.mean(axis=1, keepdims=True)
    squares = ((y - mean) ** 2).sum()
    rest = -0.5 * squares / 0.06 - 80 * (np.log(2 * np.pi * 0.06) + 0.5 * np.log(3.0))
    together = stages.filter_loglik(three, [y], [STEP])[0]
    assert together == pytest.approx(
        stages.filter_loglik(one, [mean], [STEP])[0] + rest, rel=tolerances.DENSE_GAUSSIAN
    )


@pytest.mark.parametrize(
    "parameter", [Parameter("drift", 0, 0), Parameter("gamma", 0, 1), Parameter("noise", 0)]
)
def test_moments_hold_the_gradient_of_the_likelihood(backend, parameter):
    y = _readings(60)
    marks = np.ones(61)
    marks[20:26] = 0.0  # a long exposure
    factors = np.random.default_rng(2).choice([0.3, 1.0, 5.0], 61)
    stages, space = _trap(backend, scaled=(0,))
    asked = ([np.column_stack([[np.nan, *y], factors, marks])], [STEP])
    up, down = (stages.filter_loglik(space.moved(parameter, s), *asked)[0] for s in (1e-5, -1e-5))
    if parameter.kind == "drift":
        sums, _ = stages.filter_information(space, *asked, [parameter], [1e-5])
        found = sums.moment[0]
    else:
        sums, _ = stages.filter_noise_moments(space, *asked, [(0, 1)])
        found = (sums.moment - sums.gram @ [GAMMA, 0.05])[0 if parameter.kind == "gamma" else 1]
    assert found == pytest.approx((up - down) / 2e-5, rel=1e-5)


def test_smoothed_states_of_averages_are_those_of_the_joint_gaussian(backend):
    """Cov(x_n, average_m) in closed form; the state at the end of the exposures."""
    n, c = 40, RATE * STEP
    y = _readings(n)
    gap = np.arange(n)[:, None] - np.arange(n)[None, :]  # end of x's exposure less that of the average
    cross = SPREAD / c * (1.0 - np.exp(-c)) * np.exp(-c * np.where(gap >= 0, gap, -gap - 1.0))
    law = _averages(n) + 0.05 * np.eye(n)
    gain = np.linalg.solve(law, cross.T).T
    stages, space = _trap(backend)
    path = np.column_stack([[np.nan, *y], np.ones(n + 1)])
    means, covs = stages.filter_smooth(space, [path], [STEP])
    np.testing.assert_allclose(means[0][1:, 0], gain @ y, atol=1e-9)
    variance = SPREAD - np.einsum("ij,ij->i", gain, cross)
    np.testing.assert_allclose(covs[0][1:, 0, 0], variance, atol=1e-9)
    # what was gathered by the end of the exposures, before it is reset
    fitted = _averages(n) @ np.linalg.solve(law, y)
    np.testing.assert_allclose(means[0][1:, 1] / STEP, fitted, atol=1e-9)


def test_what_the_paths_must_hold(backend):
    stages, space = _trap(backend)
    if backend == "reference":
        return
    with pytest.raises(ito.errors.ArgumentError, match="1 resets"):
        stages.filter_loglik(space, [np.zeros((9, 1))], [STEP])


def test_changes_over_the_step_have_their_exact_law(backend):
    """A copy of the state is renewed at every sample: readings are differences, whose law is that of the states."""
    n = 150
    times = STEP * np.arange(n + 1)
    law = SPREAD * np.exp(-RATE * np.abs(np.subtract.outer(times, times)))
    differ = np.diff(np.eye(n + 1), axis=0) / STEP
    cov = differ @ law @ differ.T + 0.05 * np.eye(n)
    y = np.linalg.cholesky(cov) @ np.random.default_rng(4).normal(size=n)
    stages, space = _trap(
        backend, drift=np.array([[-RATE, 0.0], [0.0, 0.0]]), observation=np.array([[1.0, -1.0]]) / STEP,
        resets=(np.array([[1.0, 0.0], [1.0, 0.0]]),),
    )  # fmt: skip
    path = np.column_stack([[np.nan, *y], np.ones(n + 1)])
    found = stages.filter_loglik(space, [path], [STEP])[0]
    assert found == pytest.approx(_normal(y, cov), rel=tolerances.DENSE_GAUSSIAN)


def _mixture(e, share=0.1, width=8.0):
    """Density of a normal law of variance 0.05, but for a share of it that is so many times as wide."""
    sizes = np.sqrt(0.05) * np.array([1.0, width])
    normal = np.exp(-0.5 * (e[:, None] / sizes) ** 2) / (np.sqrt(2 * np.pi) * sizes)
    return normal @ [1.0 - share, share]


def _student(e):
    """Density of Student's law of four degrees of freedom, whose scale has the variance 0.05."""
    return 0.375 * (1.0 + e**2 / 0.2) ** -2.5 / np.sqrt(0.05)


@pytest.mark.parametrize(("law", "density"), [((0.1, 8.0), _mixture), ((0.25,), _student)])
def test_noise_with_tails_about_a_known_state_has_its_exact_law(backend, law, density):
    stages, space = _trap(
        backend, drift=np.zeros((2, 2)), gamma=np.zeros((1, 2)), observation=np.array([[1.0, 0.0]]),
        cov0=np.zeros((2, 2)), mean0=np.array([0.7, 0.0]), resets=(), tails=(law,),
    )  # fmt: skip
    y = 0.7 + np.clip(0.3 * np.random.default_rng(1).standard_cauchy(300), -20.0, 20.0)
    y[5] = np.nan
    found = stages.filter_loglik(space, [y[:, None]], [STEP])[0]
    exact = np.log(density(y[np.isfinite(y)] - 0.7)).sum()
    assert found == pytest.approx(exact, rel=1e-7)
    each = stages.filter_densities(space, [y[:, None]], [STEP])[0]
    np.testing.assert_allclose(np.nansum(each), exact - np.log(density(y[:1] - 0.7))[0], rtol=1e-7)
    normal = stages.filter_loglik(_trap(backend, tails=(), resets=())[1], [y[:, None]], [STEP])[0]
    assert normal < exact - 100.0


def test_one_reading_of_a_wide_law_moves_the_state_to_its_exact_mean_and_variance(backend):
    """By an integral over the state; the smoothed law of a single sample is the law given it."""
    stages, space = _trap(
        backend, observation=np.array([[1.0, 0.0]]), cov0=np.diag([0.3, 0.0]), resets=(), tails=((0.1, 8.0),)
    )
    x = np.linspace(-6.0, 6.0, 40_001)
    for y in (0.2, 1.1, 3.0):
        law = np.exp(-0.5 * x**2 / 0.3) * _mixture(y - x)
        mean = (law * x).sum() / law.sum()
        variance = (law * (x - mean) ** 2).sum() / law.sum()
        means, covs = stages.filter_smooth(
            space,
            [
                np.array(
                    [
                        [
                            y,
                        ],
                        [np.nan],
                    ]
                )
            ],
            [STEP],
        )
        assert means[0][0, 0] == pytest.approx(mean, abs=1e-9)
        assert covs[0][0, 0, 0] == pytest.approx(variance, abs=1e-9)


@pytest.mark.parametrize(
    "parameter",
    [Parameter("drift", 0, 0), Parameter("gamma", 0, 1), Parameter("noise", 0),
     Parameter("tails", 0, 0), Parameter("tails", 0, 1)],
)  # fmt: skip
def test_scores_of_noise_with_tails_are_slopes_of_the_likelihood(backend, parameter):
    rng = np.random.default_rng(6)
    y = _readings(80)[:, None] + np.where(rng.random(80) < 0.1, 3.0, 0.0)[:, None]
    stages, space = _trap(
        backend, observation=np.array([[1.0, 0.0]]), resets=(), scaled=(0,), tails=((0.1, 8.0),)
    )
    asked = ([np.column_stack([y, rng.choice([0.3, 1.0, 5.0], 80)])], [STEP])
    sums, _ = stages.filter_information(space, *asked, [parameter], [1e-5])
    up, down = (stages.filter_loglik(space.moved(parameter, s), *asked)[0] for s in (1e-5, -1e-5))
    first = (
        stages.filter_loglik(space.moved(parameter, s), [asked[0][0][:1]], [STEP])[0] for s in (1e-5, -1e-5)
    )
    a, b = first  # the first sample is not foreseen
    assert sums.moment[0] == pytest.approx((up - down - a + b) / 2e-5, rel=1e-4, abs=1e-6)
    assert sums.n == 79
