"""Averages over a part of a step: the likelihood beside the exact one, lags, uneven steps, columns of several rates."""

from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.data.sight import Sight
from itoscope.data.timeline import Window, timeline
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.kinds import shown

LINEAR = ito.Library.polynomials(1)
SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
RATE, GAMMA = 1.3, 0.9


def _gaussian(starts, ends, noise):
    """Covariance of averages of the stationary process over windows that do not overlap, with the sensor's noise."""
    n, length = len(starts), ends - starts
    cov = np.empty((n, n))
    shape = (1.0 - np.exp(-RATE * length)) / (RATE * length)
    for i in range(n):
        for j in range(n):
            if i == j:
                a = RATE * length[i]
                cov[i, i] = 2.0 * (a - 1.0 + np.exp(-a)) / a**2
            else:
                first, last = min(i, j), max(i, j)
                cov[i, j] = shape[i] * shape[j] * np.exp(-RATE * (starts[last] - ends[first]))
    return GAMMA / (2.0 * RATE) * cov + noise * np.eye(n)


def _relaxing(times, seed):
    """The stationary process at increasing times."""
    rng = np.random.default_rng(seed)
    spread = np.sqrt(GAMMA / (2.0 * RATE))
    decay = np.exp(-RATE * np.diff(times))
    x = [spread * rng.standard_normal()]
    for d, kick in zip(decay, rng.standard_normal(len(decay))):
        x.append(d * x[-1] + spread * np.sqrt(1.0 - d * d) * kick)
    return np.array(x)


def _filmed(stamps, exposure, lag=0.0, noise=0.0, seed=3, fine=20):
    """Averages over the exposures of the stamps, of 20 exact places each."""
    grid = (np.arange(fine) + 0.5) / fine
    moments = (stamps - lag - exposure)[:, None] + exposure * grid
    order = np.argsort(moments.ravel())
    places = np.empty(moments.size)
    places[order] = _relaxing(moments.ravel()[order], seed)
    rng = np.random.default_rng(seed + 100)
    return places.reshape(moments.shape).mean(axis=1) + noise * rng.standard_normal(len(stamps))


@pytest.mark.parametrize("backend", ["reference", "rust"])
@pytest.mark.parametrize(
    ("exposure", "lag", "noise", "even"),
    [(0.15, 0.0, 0.0, True), (0.15, 0.1, 0.01, True), (0.3, 0.0, 0.02, True), (0.1, 0.07, 0.0, False),
     (0.12, 0.9, 0.01, True)],
)  # fmt: skip
def test_the_likelihood_is_that_of_the_averages(backend, exposure, lag, noise, even):
    rng = np.random.default_rng(8)
    steps = np.full(80, 0.3) if even else rng.choice([0.2, 0.3, 0.55], 80)
    stamps = np.concatenate([[0.0], np.cumsum(steps)])
    y = _filmed(stamps, exposure, lag, np.sqrt(noise))
    observed = {"bead": ito.Average("x1", exposure=exposure, lag=lag)}
    data = ito.Trajectories(y, t=stamps, names=["bead"])
    fit = ito.discover(
        data, LINEAR, observed=observed, measurement_noise=np.sqrt(noise), max_rounds=1, **SHORT
    ).observer
    m = len(fit.states)
    drift, gamma = np.zeros_like(fit.drift), np.zeros_like(fit.gamma)
    drift[0, fit.expressions.index("x1")], gamma[0, fit.expressions.index("1")] = -RATE, GAMMA
    drift[1] = fit.drift[1]
    cov0 = np.diag([GAMMA / (2.0 * RATE), *[5.0] * (m - 1)])
    model = replace(
        fit, drift=drift, gamma=gamma, noise=np.array([noise]), mean0=np.zeros(m), cov0=cov0,
        floor=np.zeros(m), backend=backend,
    )  # fmt: skip
    assert model.drift[1].any()
    found = get_backend(backend).filter_loglik(model.space(), model.columns(data), model.times(data)).sum()
    used = stamps - lag - exposure >= -1e-9
    cov = _gaussian((stamps - lag - exposure)[used], (stamps - lag)[used], noise)
    left = y[used]
    exact = -0.5 * (
        left @ np.linalg.solve(cov, left) + np.linalg.slogdet(cov)[1] + used.sum() * np.log(2 * np.pi)
    )
    assert abs(found - exact) < 1e-8 * abs(exact)
    # a lag or an exposure that is not theirs is another law
    wrong = _gaussian((stamps - lag - 0.5 * exposure)[used], (stamps - lag)[used], noise)
    other = -0.5 * (
        left @ np.linalg.solve(wrong, left) + np.linalg.slogdet(wrong)[1] + used.sum() * np.log(2 * np.pi)
    )
    assert abs(found - other) > 1e-3


def test_moments_of_a_path():
    stamps = np.array([0.0, 1.0, 2.0, 4.0])
    every = np.ones(4, dtype=bool)
    line = timeline(stamps, {Window(0.25, 0.0): every, Window(0.25, 0.5): every})
    np.testing.assert_allclose(line.stamps, [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 3.25, 3.5, 3.75, 4])
    np.testing.assert_array_equal(line.samples, [0, 4, 8, 12])
    np.testing.assert_array_equal(line.readings[0.25, 0.0], [-1, 4, 8, 12])
    np.testing.assert_array_equal(line.readings[0.25, 0.5], [-1, 2, 6, 10])
    np.testing.assert_array_equal(np.flatnonzero(line.starts[0.25, 0.5]), [1, 5, 9])
    # an exposure of a whole step needs no moment of its own
    line = timeline(np.arange(5) * 0.1, {Window(0.1, 0.0): np.ones(5, dtype=bool)})
    assert len(line.stamps) == 5 and list(line.readings[0.1, 0.0]) == [-1, 1, 2, 3, 4]
    # nor do samples that were not taken
    line = timeline(stamps, {Window(0.25, 0.0): np.array([True, False, True, False])})
    np.testing.assert_allclose(line.stamps, [0, 1, 1.75, 2, 4])


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_part_of_a_step_is_told_from_the_whole(noise, tmp_path):
    """The intervals hold rate and Gamma; taken for averages over whole steps or for places it does not."""
    stamps = 0.5 * np.arange(2500)
    data = ito.Trajectories(_filmed(stamps, 0.3, 0.0, noise), dt=0.5, names=["bead"])
    asked = SHORT | {"measurement_noise": "estimate" if noise else 0.0}

    def of(what):
        result = ito.discover(data, LINEAR, observed={"bead": what}, **asked)
        return result, result.drift["x1"].interval(0.95)[1], result.diffusion["x1", "x1"].interval(0.95)[0]

    result, rate, gamma = of(ito.Average("x1", exposure=0.3))
    assert rate[0] < -RATE < rate[1] and gamma[0] < GAMMA < gamma[1]
    assert result.settings["observed"] == ["average(x1, 0.3)"] and not result.warnings
    _, rate, gamma = of("x1")
    assert gamma[1] < GAMMA or noise
    smoothed = result.smoothed()
    assert np.isnan(smoothed.readings[0][0, 0])
    if not noise:
        np.testing.assert_allclose(smoothed.readings[0][1:, 0], data.paths[0][1:, 0], atol=1e-6)
    result.save(tmp_path / "film.json")
    again = ito.Discovery.load(tmp_path / "film.json").smoothed(data)
    np.testing.assert_allclose(again.mean[0], smoothed.mean[0], rtol=1e-10)
    assert len(again.mean[0]) == 2500
    z = result.observer.innovations(data)
    assert z.z.shape[1] == 1 and abs(np.nanstd(z.z) - 1.0) < 0.06


def test_a_laser_and_a_slow_camera_share_a_table():
    """A camera every tenth sample, its exposure of four samples ends two before its stamp."""
    dt, n = 0.02, 3000
    fine = 10
    x = _relaxing(np.arange(n * fine + 1) * dt / fine, 4)
    rng = np.random.default_rng(2)
    places = x[::fine] + 0.1 * rng.standard_normal(n + 1)
    camera = np.full(n + 1, np.nan)
    for k in range(10, n + 1, 10):
        camera[k] = x[(k - 6) * fine : (k - 2) * fine + 1].mean() + 0.05 * rng.standard_normal()
    data = ito.Trajectories(np.column_stack([places, camera]), dt=dt, names=["laser", "camera"])
    told = {"laser": "x1", "camera": ito.Average("x1", exposure=4 * dt, lag=2 * dt)}
    result = ito.discover(data, LINEAR, observed=told, **SHORT)
    levels = result.diagnostics["measurement_noise"]
    for name, sd in (("camera", 0.05), ("laser", 0.1)):
        assert levels[name]["low"] < sd < levels[name]["high"] < 2 * sd
    naive = ito.discover(data, LINEAR, observed={"laser": "x1", "camera": "x1"}, **SHORT)
    assert naive.diagnostics["measurement_noise"]["camera"]["low"] > 0.15


def test_an_oscillator_filmed_for_half_a_step():
    k, c, gamma = 40.0, 0.8, 3.0
    model = ito.SDE(["v1", f"-{k}*x1 - {c}*v1"], gamma=[["0", "0"], ["0", str(gamma)]], states=["x1", "v1"])
    fine = 20
    x = model.simulate([0.0, 0.0], dt=0.15 / fine, n_steps=fine * 2000, substeps=5, seed=2).paths[0][:, 0]
    film = np.array([np.nan, *(x[n * fine - 10 : n * fine + 1].mean() for n in range(1, 2001))])
    data = ito.Trajectories(film, dt=0.15, names=["film"])
    result = ito.discover(
        data, LINEAR, order=2, observed={"film": ito.Average("x1", exposure=0.075)}, measurement_noise=0.0,
        exclude={"v1": ["1"]}, **SHORT,
    )  # fmt: skip
    equation, names = result.drift["v1"], result.drift["v1"].terms
    for term, true in (("x1", -k), ("v1", -c)):
        low, high = equation.interval(0.99)[names.index(term)]
        assert low < true < high
    low, high = result.diffusion["v1", "v1"].interval(0.99)[0]
    assert low < gamma < high


def test_what_is_recorded_of_a_path():
    sight = Sight(("a", "b", "c"), gathered=(1, 2), windows=((1, 0.2, 0.1), (2, None, 0.1)), step=0.4)
    ramp = np.arange(9.0)[:, None]
    found = sight.recorded(ramp, np.array([0, 4, 8]), np.ones((3, 1)), 0.1)
    np.testing.assert_allclose(found[1:], [[4.0, 2.0, 1.5], [8.0, 6.0, 5.0]])


@pytest.mark.parametrize(
    ("text", "window"),
    [("average(x1, 0.2)", (0.2, 0.0)), ("average(x2 - x1, 0.2, 0.1)", (0.2, 0.1)),
     ("average(x1, lag=0.1)", (None, 0.1)), ("average(x1, exposure=1e-3, lag=0.1)", (1e-3, 0.1)),
     ("average(x1, full)", (None, 0.0))],
)  # fmt: skip
def test_windows_as_text(text, window):
    of, what = shown(text)
    assert what.window == window and of in ("x1", "x2 - x1")


def test_texts_read_back():
    for sensor in (ito.Average("x1", 0.25), ito.Average("x1", 1e-4, lag=2.5), ito.Average("x1", lag=0.1)):
        what = shown(sensor.text)[1]
        assert what.window == (None if sensor.exposure == "full" else sensor.exposure, sensor.lag)


@pytest.mark.parametrize("text", ["average(x1, much)", "average(x1, 0.1, 0.2, 0.3)", "average(x1, -1)",
                                  "average(x1, late=1)", "acceleration(x1, 0.1)"])  # fmt: skip
def test_texts_that_are_none(text):
    with pytest.raises(ArgumentError, match="observed"):
        shown(text)


def test_exposures_that_do_not_fit():
    stamps = np.cumsum(np.random.default_rng(1).choice([0.2, 0.5], 100))
    data = ito.Trajectories(np.sin(stamps) + stamps, t=stamps, names=["bead"])
    with pytest.raises(ArgumentError, match=r"over 0.3': an exposure of at most 0.2, the shortest step"):
        ito.discover(data, LINEAR, observed={"bead": ito.Average("x1", 0.3)}, **SHORT)
    with pytest.raises(ArgumentError, match="a lag of 1000': less than the recording"):
        ito.discover(data, LINEAR, observed={"bead": ito.Average("x1", 0.1, lag=1000.0)}, **SHORT)
    for wrong in (dict(exposure=-1.0), dict(exposure="half"), dict(lag=-0.1), dict(exposure=np.inf)):
        with pytest.raises(ArgumentError, match=r"exposure|lag"):
            ito.Average("x1", **wrong)
