"""Noise of steps that is not normal, of measured states: what is found, how sure, what is drawn by it."""

import json

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.stats.heavy import draws

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)
STUDENT, JUMPS = (0.25,), (0.01, 20.0)
FINE = 10


def _relaxing(law, n=3000, seeds=range(1), rate=1.5, gamma=0.81, dt=0.05):
    """Exact steps, ten between two samples, the size of the noise the same over these; `(seeds, n)`."""
    rng = np.random.default_rng([seeds.start, n])
    decay = np.exp(-rate * dt / FINE)
    sd = np.sqrt(gamma * (1.0 - decay**2) / (2.0 * rate))
    x = np.zeros((len(seeds), n))
    for k in range(1, n):
        size, now = draws(law, len(seeds), rng), x[:, k - 1]
        for kick in rng.standard_normal((FINE, len(seeds))):
            now = decay * now + sd * size * kick
        x[:, k] = now
    return x


def _data(x):
    return ito.Trajectories(np.ascontiguousarray(x), dt=0.05, names=["x"])


def _found(x, law, **more):
    return ito.discover(_data(x), LINEAR, **(SHORT | {"diffusion_law": law} | more))


@pytest.fixture(scope="module")
def kicked():
    x = _relaxing(STUDENT)[0]
    return x, _found(x, "student")


@pytest.mark.parametrize(("law", "kind"), [(STUDENT, "student"), (JUMPS, "jumps")])
def test_rate_and_gamma_are_unbiased_and_their_intervals_hold(law, kind):
    """Sixty recordings, three numbers each: 171 of 180 intervals, between 162 and 178 in all but one of a thousand."""
    inside, estimates, errors = 0, [], []
    for x in _relaxing(law, 1000, range(60)):
        found = _found(x, kind)
        drift, gamma = found.drift["x"], found.diffusion["x", "x"]
        shape = found.diagnostics["diffusion_law"]["x"]["shape"]
        value = shape["degrees"] if kind == "student" else shape["share"]
        true = 4.0 if kind == "student" else 0.01
        inside += bool(drift.interval(0.95)[1][0] <= -1.5 <= drift.interval(0.95)[1][1])
        inside += bool(gamma.interval(0.95)[0][0] <= 0.81 <= gamma.interval(0.95)[0][1])
        inside += bool(value[1] <= true <= value[2])
        estimates.append((drift.mean[1] / -1.5, gamma.mean[0] / 0.81))
        errors.append((drift.sd[1] / 1.5, gamma.sd[0] / 0.81))
    mean, spread = np.mean(estimates, axis=0), np.std(estimates, axis=0, ddof=1)
    assert 162 <= inside <= 178
    # What is left of the start of a path and of the logarithm of a scale is about a standard error of sixty.
    assert (np.abs(mean - 1.0) < 4.0 * spread / np.sqrt(60)).all()
    assert (np.abs(np.mean(errors, axis=0) / spread - 1.0) < 0.3).all()  # three errors of a spread of sixty


def test_normal_noise_for_what_is_not_has_another_gamma_and_a_rate_less_well_known(kicked):
    x, found = kicked
    normal = _found(x, "normal")
    assert normal.diffusion["x", "x"].interval(0.95)[0][0] > 0.81
    assert found.drift["x"].sd[1] < 0.9 * normal.drift["x"].sd[1]
    assert found.diagnostics["diffusion_law"]["x"]["log_bayes_factor"] > 50
    assert not [check for check in found.diagnostics["checks"] if check["fired"]]
    assert [check["name"] for check in normal.diagnostics["checks"] if check["fired"]] == ["jumps"]


def test_of_normal_noise_the_answer_is_that_of_normal_noise_and_nothing_is_a_jump():
    for x in _relaxing((), 2000, range(5)):
        normal = _found(x, "normal")
        for law in ("student", "jumps"):
            found = _found(x, law)
            shape = found.diagnostics["diffusion_law"]["x"]
            assert shape["log_bayes_factor"] < 0.0 and not found.jumps
            assert law == "jumps" or (shape["shape"]["degrees"][0] > 10 and shape["shape"]["degrees"][2] > 50)
            assert abs(found.drift["x"].mean[1] - normal.drift["x"].mean[1]) < 0.3 * normal.drift["x"].sd[1]
            gamma = found.diffusion["x", "x"], normal.diffusion["x", "x"]
            assert abs(gamma[0].mean[0] - gamma[1].mean[0]) < 2.0 * gamma[0].sd[0]


def test_jumps_are_listed_with_times_and_sizes():
    rng = np.random.default_rng(4)
    x = _relaxing((), 2000)[0]
    at = np.sort(rng.choice(np.arange(50, 1990), 15, replace=False))
    for k in at:
        later = np.exp(-1.5 * 0.05 * np.arange(2000 - k))
        x[k:] += 3.0 * later
    for law in ("jumps", "student"):
        found = _found(x, law)
        assert {one.sample for one in found.jumps} == set(at)
        assert all(one.row == "x" and one.probability > 0.5 for one in found.jumps)
        assert [one.time for one in found.jumps] == pytest.approx((0.05 * at).tolist())
        assert np.mean([one.size for one in found.jumps]) == pytest.approx(3.0, abs=0.3)
    assert f"jumps of x: {len(at)}" in str(found)


def test_both_backends_find_the_same(kicked):
    x, _ = kicked
    other = _found(x, "student", backend="reference", sampler="exact")
    same = _found(x, "student", sampler="exact")
    np.testing.assert_allclose(other.drift["x"].mean, same.drift["x"].mean, rtol=1e-8)
    np.testing.assert_allclose(other.diffusion["x", "x"].cov, same.diffusion["x", "x"].cov, rtol=1e-7)
    assert other.diagnostics["diffusion_law"]["x"]["shape"]["degrees"] == pytest.approx(
        same.diagnostics["diffusion_law"]["x"]["shape"]["degrees"], rel=1e-8
    )


def test_rows_whose_covariance_is_sought_have_the_size_of_a_step_in_common():
    rng = np.random.default_rng(2)
    n, dt = 4000, 0.02
    x, low = np.zeros((n, 2)), np.array([[0.8, 0.0], [0.3, 0.6]])
    turn = np.array([[-1.0, -2.0], [2.0, -1.0]])
    for k, size in enumerate(draws(STUDENT, n - 1, rng)):
        now = x[k]
        for kick in rng.standard_normal((FINE, 2)):
            now = now + dt / FINE * turn @ now + np.sqrt(dt / FINE) * size * low @ kick
        x[k + 1] = now
    data = ito.Trajectories(x, dt=dt, names=["x", "y"])
    found = ito.discover(data, LINEAR, diffusion_law="student", **SHORT)
    assert found.diagnostics["diffusion_law"]["y"]["rows"] == ["x", "y"]
    low_end, high_end = found.diagnostics["diffusion_law"]["x"]["shape"]["degrees"][1:]
    assert low_end < 4.0 < high_end
    for pair, true in ((("x", "x"), 0.64), (("y", "y"), 0.45), (("x", "y"), 0.24)):
        low_end, high_end = found.diffusion[pair].interval(0.95)[0]
        assert low_end < true < high_end
    apart = ito.discover(data, LINEAR, diffusion_law={"x": "student"}, **(SHORT | {"diffusion": "diagonal"}))
    assert list(apart.diagnostics["diffusion_law"]) == ["x"]
    with pytest.raises(ArgumentError, match="one law for x and y"):
        ito.discover(data, LINEAR, diffusion_law={"x": "student"}, **(SHORT | {"diffusion": "full"}))


def test_noise_that_grows_with_the_state_leads_the_rate_nowhere():
    """Large steps are skewed outward, and weighed down they would push inward: by 0.18 beside a rate of 1."""
    rng, many, dt = np.random.default_rng(8), 40, 0.03
    x, now = [], np.zeros(many)
    for _ in range(2500):
        size, h = draws(STUDENT, many, rng), dt / 30
        for kick in rng.standard_normal((30, many)):
            now = now - h * now + np.sqrt(h * (0.2 + 0.3 * now**2)) * size * kick
        x.append(now)
    rates, inside = [], 0
    for path in np.array(x).T:
        data = ito.Trajectories(np.ascontiguousarray(path), dt=dt, names=["x"])
        found = ito.discover(data, LINEAR, diffusion_library=ito.Library.expressions("1", "x^2"),
                             diffusion_law="student", **(SHORT | {"diffusion": "full"}))  # fmt: skip
        rates.append(-found.drift["x"].mean[1])
        low, high = found.drift["x"].interval(0.95)[1]
        inside += bool(low <= -1.0 <= high)
    assert abs(np.mean(rates) - 1.0) < 3.3 * np.std(rates, ddof=1) / np.sqrt(many)
    assert inside >= 34  # of 38 expected, one in two hundred below


def test_kicks_of_a_velocity():
    rng = np.random.default_rng(5)
    n, dt = 6000, 0.01
    s = np.zeros((n, 2))
    for k, size in enumerate(draws(STUDENT, n - 1, rng)):
        at, v = s[k]
        for kick in rng.standard_normal(FINE):
            h = dt / FINE
            at, v = at + h * v, v - h * (40.0 * at + 0.8 * v) + np.sqrt(3.0 * h) * size * kick
        s[k + 1] = at, v
    data = ito.Trajectories(s, dt=dt, names=["x", "v"])
    found = ito.discover(data, LINEAR, known_drift={"x": "v"}, diffusion_law={"v": "student"}, **SHORT)
    row = found.drift["v"]
    assert [t for t, z in zip(row.terms, row.selected) if z] == ["x", "v"]
    for term, true in (("x", -40.0), ("v", -0.8)):
        low, high = row.interval(0.95)[row.terms.index(term)]
        assert low < true < high
    assert found.diffusion["v", "v"].mean[0] == pytest.approx(3.0, rel=0.15)


def test_simulations_draw_steps_by_the_law(kicked):
    x, found = kicked
    made = found.simulate([0.0], n_steps=3000, n_paths=4, seed=2, posterior=False)
    step = np.concatenate([np.diff(path[:, 0]) for path in made.paths])
    own = np.diff(x)
    for share in (0.5, 0.9, 0.99):  # of a normal law with the same Gamma the last is 40 % less
        there = np.quantile(np.abs(own), share)
        assert np.quantile(np.abs(step), share) == pytest.approx(there, rel=0.1)
    again = found.simulate([0.0], n_steps=3000, n_paths=4, seed=2, posterior=False)
    np.testing.assert_array_equal(again.paths[3], made.paths[3])
    fine = found.simulate([0.0], dt=0.025, n_steps=6000, n_paths=4, seed=2, posterior=False)
    every = np.concatenate([np.diff(path[::2, 0]) for path in fine.paths])
    assert np.quantile(np.abs(every), 0.99) == pytest.approx(np.quantile(np.abs(own), 0.99), rel=0.15)
    with pytest.raises(ArgumentError, match="scheme = 'milstein': 'euler-maruyama'"):
        found.simulate([0.0], n_steps=10, scheme="milstein")
    with pytest.raises(
        ArgumentError, match="stationary_density: follows from an equation of steps whose noise"
    ):
        found.stationary_density()


def test_the_likelihood_is_that_of_the_law(kicked):
    x, found = kicked
    normal = _found(x, "normal")
    gain = found.diagnostics["diffusion_law"]["x"]["log_bayes_factor"]
    assert found.loglik() - normal.loglik() == pytest.approx(gain, abs=10.0)
    clean = _relaxing((), 2000)[0]
    assert _found(clean, "student").loglik() == pytest.approx(_found(clean, "normal").loglik(), abs=3.0)


def test_advice_on_heavy_steps_names_the_law_and_can_be_tried(kicked):
    x, found = kicked
    normal = _found(x, "normal")
    (advice,) = [one for one in normal.advice if one.cause == "jumps"]
    assert advice.arguments["diffusion_law"] in ({"x": "student"}, {"x": "jumps"})
    assert f"diffusion_law={advice.arguments['diffusion_law']!r}" in advice.sentence
    tried = normal.try_advice(normal.advice.index(advice))
    assert tried.comparable and tried.after > tried.before + 50
    assert not [one for one in found.advice if one.cause == "jumps"]


def test_laws_are_saved_and_read(kicked, tmp_path):
    _, found = kicked
    found.save(tmp_path / "found.npz")
    again = ito.Discovery.load(tmp_path / "found.npz")
    assert again.settings["diffusion_law"] == {"x": "student"} and again.jumps == found.jumps
    assert again.diagnostics["diffusion_law"] == found.diagnostics["diffusion_law"]
    json.dumps(again.diagnostics["diffusion_law"])
    assert "Student's law of" in str(found) and "Gamma is the square of its scale" in " ".join(
        str(found).split()
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"diffusion_law": "cauchy"}, "diffusion_law = 'cauchy'"),
        ({"diffusion_law": {"x": "outliers"}}, r"diffusion_law\['x'\] = 'outliers'"),
        ({"diffusion_law": {"y": "student"}}, "diffusion_law = 'y': a row whose noise is sought: x"),
        ({"weights": None}, "weights = None: 'auto' beside diffusion_law"),
        ({"ensemble": "mean"}, "ensemble = 'mean': 'pool' beside diffusion_law"),
    ],
)
def test_what_no_law_is_asked_beside(kicked, more, said):
    with pytest.raises(ArgumentError, match=said):
        _found(kicked[0][:100], "student", **more)
