"""`SDEDiscovery` does what scikit-learn expects of an estimator, and what `discover` does."""

import pickle
import subprocess
import sys
import warnings

import itoscope as ito
import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

SHORT = {"library": ito.Library.polynomials(3), "n_chains": 2, "n_samples": 150, "n_burn": 50, "seed": 1}


@pytest.fixture(scope="module")
def data():
    return ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=12, substeps=5, seed=1)


@pytest.fixture(scope="module")
def fitted(data):
    return ito.SDEDiscovery(**SHORT).fit(np.stack(data.paths), t=0.01)


def test_fit_is_discover(data, fitted):
    direct = ito.discover(data, **SHORT)
    assert str(fitted.result_).splitlines()[2:] == str(direct).splitlines()[2:]
    assert fitted.equations() == direct.equations()
    np.testing.assert_allclose(
        fitted.predict([[0.5], [1.0]])[:, 0], direct.model().drift([[0.5], [1.0]])[:, 0], rtol=1e-12
    )
    assert fitted.coefficients().shape == (1, 4) and fitted.get_feature_names() == ["1", "x1", "x1^2", "x1^3"]
    assert fitted.n_features_in_ == 1 and fitted.feature_names_in_ == ["x1"]


def test_parameters_clone_and_pickle(fitted):
    again = clone(fitted)
    assert again.get_params()["seed"] == 1 and not hasattr(again, "result_")
    assert again.set_params(threshold=0.9).threshold == 0.9
    with pytest.raises(ValueError, match="nonsense"):
        again.set_params(nonsense=1)
    with pytest.raises(NotFittedError):
        again.predict([[0.0]])
    copied = pickle.loads(pickle.dumps(fitted))
    assert str(copied.result_) == str(fitted.result_)
    np.testing.assert_array_equal(copied.predict([[0.3]]), fitted.predict([[0.3]]))


def test_in_a_pipeline(data):
    one = np.concatenate(data.paths[:1])
    pipe = make_pipeline(StandardScaler(), ito.SDEDiscovery(**SHORT)).fit(one, sdediscovery__t=0.01)
    assert pipe.predict(one[:5]).shape == (5, 1)


def test_cross_validation_by_trajectories(data):
    """The right library beats a diffusion that vanishes at the origin; NaN would mean that a fold failed."""
    folds = KFold(3)
    arrays = np.stack(data.paths)
    right = cross_val_score(ito.SDEDiscovery(**SHORT, dt=0.01), arrays, cv=folds, error_score="raise")
    vanishing = ito.SDEDiscovery(**SHORT, dt=0.01, diffusion_library=ito.Library.expressions("x1^2"))
    wrong = cross_val_score(vanishing, arrays, cv=folds, error_score="raise")
    assert right.shape == (3,) and right.mean() > wrong.mean()
    by_list = cross_val_score(ito.SDEDiscovery(**SHORT), list(data), cv=folds, error_score="raise")
    np.testing.assert_allclose(by_list, right, rtol=1e-6)


def test_simulate(fitted):
    paths = fitted.simulate([0.5], t=np.arange(0, 1, 0.01), n_paths=3, seed=1)
    assert paths.n_paths == 3 and len(paths.paths[0]) == 100


def test_shapes_that_do_not_fit(fitted):
    with pytest.raises(ito.errors.ArgumentError, match=r"x of shape \(3, 2\): \(n, 1\)"):
        fitted.predict(np.zeros((3, 2)))


def test_without_scikit_learn_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.base'] = None\n"
        "import itoscope as ito\n"
        "try: ito.SDEDiscovery()\nexcept ito.errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "itoscope[sklearn]"' in done.stdout


def test_scikit_learn_checks_it_but_for_what_is_stated():
    from sklearn.utils.estimator_checks import check_estimator

    made = ito.SDEDiscovery(
        library=ito.Library.polynomials(1),
        dt=1.0,
        diffusion="constant",
        n_chains=2,
        n_samples=20,
        n_burn=10,
        seed=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check_estimator(made, on_fail=None)
    failed = {one["check_name"] for one in done if one["status"] == "failed"}
    assert failed == set(ito.SDEDiscovery.expected_failed_checks)
    assert sum(one["status"] == "passed" for one in done) > 30


def two_states(seed, noise, paths=6):
    sde = ito.SDE(["y - x", "-x - 0.6*y"], [["0.4", "0"], ["0", "0.6"]], ["x", "y"])
    data = sde.simulate([0.3, 0.3], dt=0.02, n_steps=400, n_paths=paths, substeps=10, seed=seed)
    return data.add_noise(sd=noise * data.sd(), seed=seed) if noise else data


def searched(data, refit=True):
    made = ito.SDEDiscovery(
        library=ito.Library.polynomials(1), diffusion="constant", n_chains=2, n_samples=100, n_burn=50, seed=1
    )
    grid = {"measurement_noise": [0, "estimate"]}
    search = GridSearchCV(made, grid, cv=KFold(6), refit=refit, error_score="raise")
    return search.fit(list(data)).best_params_["measurement_noise"]


@pytest.mark.parametrize(("noise", "chosen"), [(0.0, 0), (0.1, "estimate")])
def test_a_search_chooses_the_noise_of_the_recording(noise, chosen):
    assert searched(two_states(20, noise)) == chosen


def test_the_first_as_good_is_taken_where_that_is_asked():
    assert searched(two_states(20, 0.1), ito.SDEDiscovery.first_as_good) == "estimate"


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "chosen"), [(0.0, 0), (0.1, "estimate")])
def test_in_ten_of_ten(noise, chosen):
    """On clean recordings the two likelihoods differ by 0.2, one standard deviation over recordings; the price is 2."""
    assert [searched(two_states(seed, noise)) for seed in range(10)] == [chosen] * 10


def test_a_level_that_may_be_none_has_its_price():
    clean = two_states(3, 0.0)
    made = ito.SDEDiscovery(
        library=ito.Library.polynomials(1), diffusion="constant", n_chains=2, n_samples=100, n_burn=50, seed=1,
        measurement_noise="estimate",
    ).fit(clean)  # fmt: skip
    samples = clean.n_steps
    assert made.score(clean) == pytest.approx((made.result_.loglik() - 2) / samples, rel=1e-9)
    noisy = two_states(3, 0.1)
    assert made.fit(noisy).score(noisy) == pytest.approx(made.result_.loglik() / samples, rel=1e-9)


def test_the_first_setting_that_is_as_good():
    def scores(*columns):
        return {f"split{k}_test_score": np.array(row) for k, row in enumerate(zip(*columns))}

    choose = ito.SDEDiscovery.first_as_good
    assert choose(scores([1.0, 1.1, 0.9], [1.01, 1.08, 0.93])) == 0
    assert choose(scores([1.0, 1.1, 0.9], [1.5, 1.61, 1.4])) == 1
    assert choose(scores([1.5, 1.6, 1.4], [1.0, 1.1, 0.9])) == 0
    assert choose(scores([0.0, 0.1, 0.0], [np.nan] * 3, [1.0, 1.1, 1.0])) == 2


def test_positions_are_scored():
    data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=4, seed=1)
    seen = data.positions(noise=0.05, seed=2)
    right = ito.SDEDiscovery(**SHORT, order=2).fit(seen)
    wrong = ito.SDEDiscovery(**SHORT | {"library": ito.Library.expressions("x1")}, order=2).fit(seen)
    assert right.score(seen) > wrong.score(seen) + 1e-3
