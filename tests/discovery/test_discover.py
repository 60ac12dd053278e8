"""`discover` as a user meets it: what it refuses and how, what it returns, what it prints, what it keeps."""

from __future__ import annotations

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError, DataError, ExpressionError
from itoscope.result.values import gamma_at

QUICK = {"n_chains": 2, "n_samples": 300, "n_burn": 100, "seed": 1}


@pytest.fixture(scope="module")
def oscillator():
    """A short Duffing-Van der Pol ensemble."""
    problem = ito.problems.duffing_van_der_pol()
    return problem.simulate(duration=0.5, dt=1e-3, n_paths=20, substeps=20, seed=1)


@pytest.fixture(scope="module")
def result(oscillator):
    return ito.discover(oscillator, ito.Library.polynomials(3), known_drift={"x1": "x2"}, **QUICK)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"order": 3}, ("order = 3", "one of 1, 2")),
        ({"diffusion": "all"}, ("diffusion = 'all'", "'full', 'diagonal', 'constant', 'none'")),
        ({"scheme": "heun"}, ("scheme = 'heun'", "'trapezoid', 'euler'")),
        ({"weights": "yes"}, ("weights = 'yes'", "'auto', None")),
        ({"ensemble": "median"}, ("ensemble = 'median'", "'pool', 'mean'")),
        ({"sampler": "nuts"}, ("sampler = 'nuts'", "'gibbs', 'exact'")),
        ({"measurement_noise": -1.0}, ("measurement_noise = -1.0", "'estimate'")),
        ({"measurement_noise": "guess"}, ("measurement_noise = 'guess'", "'estimate'")),
        ({"threshold": 1.5}, ("threshold = 1.5", "between 0 and 1")),
        ({"n_chains": 0}, ("n_chains = 0", "at least 1")),
        ({"n_samples": 0}, ("n_samples = 0", "at least")),
        ({"n_burn": -1}, ("n_burn = -1", "at least 0")),
        ({"max_rounds": 0}, ("max_rounds = 0", "at least 1")),
        ({"weight_floor": 0.0}, ("weight_floor = 0.0", "between 0 and 1")),
        ({"seed": -1}, ("seed = -1", "from 0 to 2^64 - 1")),
        ({"seed": 2**70}, ("seed = ", "from 0 to 2^64 - 1")),
        ({"order": True}, ("order = True", "one of 1, 2")),
        ({"backend": "cuda"}, ("backend = 'cuda'", "'rust', 'reference'")),
        ({"library": "poly"}, ("library = 'poly'", "a Library")),
        ({"known_drift": {"x3": "x2"}}, ("known_drift = 'x3'", "x1, x2")),
        ({"known_drift": {"x1": 2}}, ("known_drift['x1'] = 2", "an expression")),
        ({"known_drift": {"x1": "x2", "x2": "x1"}}, ("known_drift", "leave a row")),
        ({"dt": 0.1}, ("dt",)),
    ],
)
def test_a_setting_outside_its_range_is_named_with_what_is_allowed(oscillator, settings, words):
    with pytest.raises(ArgumentError) as caught:
        ito.discover(oscillator, **settings)
    for word in words:
        assert word in str(caught.value)


def test_a_known_row_that_does_not_parse_points_at_the_character(oscillator, backend):
    with pytest.raises(ExpressionError, match="unknown name 'x3'"):
        ito.discover(oscillator, known_drift={"x1": "x2 + x3"}, backend=backend)


def test_a_term_that_is_not_finite_on_the_data_is_named(oscillator):
    with pytest.raises(DataError, match=r"term 'log\(x1\)' is not a number at path 0, sample \d+"):
        ito.discover(oscillator, ito.Library.expressions("x1", "log(x1)"), known_drift={"x1": "x2"}, **QUICK)


def test_the_equations_are_read_by_name(result):
    equation = result.drift["x2"]
    assert {t for t, z in zip(equation.terms, equation.selected) if z} >= {"x1", "x1^3"}
    assert result.diffusion["x2", "x2"] is result.diffusion["x2"]
    with pytest.raises(KeyError, match="no unknown drift row 'x1'"):
        result.drift["x1"]
    with pytest.raises(KeyError, match="no diffusion entry"):
        result.diffusion["x1", "x2"]


def test_what_is_printed_holds_equations_probabilities_and_what_was_given(result):
    text = str(result)
    assert "dx1 = x2 dt" in text and "given" in text
    assert "dx2 = [-(" in text and "x1^3" in text and "±" in text
    assert "Gamma[x2, x2] = (" in text
    assert "probability" in text and "95 % interval" in text
    assert "20 paths" in text and "dt = 0.001" in text


def test_equations_come_in_three_styles(result):
    pytest.importorskip("sympy")
    assert len(result.equations()) == 3
    assert any(r"\Gamma_" in line for line in result.equations("latex"))
    assert str(result.equations("sympy")[0].rhs) == "x2"
    with pytest.raises(ArgumentError, match="style = 'html'"):
        result.equations("html")


def test_the_same_seed_gives_the_same_answer_and_none_is_stored(oscillator):
    settings = {**QUICK, "known_drift": {"x1": "x2"}, "library": ito.Library.polynomials(2)}
    first, second = (ito.discover(oscillator, **settings) for _ in range(2))
    np.testing.assert_array_equal(first.drift["x2"].samples, second.drift["x2"].samples)
    drawn = ito.discover(oscillator, **{**settings, "seed": None})
    again = ito.discover(oscillator, **{**settings, "seed": drawn.settings["seed"]})
    np.testing.assert_array_equal(drawn.drift["x2"].samples, again.drift["x2"].samples)


def test_both_backends_find_the_same(oscillator):
    settings = {
        "known_drift": {"x1": "x2"},
        "sampler": "exact",
        "seed": 1,
        "library": ito.Library.polynomials(3),
    }
    rust, reference = (ito.discover(oscillator[:5], backend=b, **settings) for b in ("rust", "reference"))
    for (_, left), (_, right) in zip(rust.labelled(), reference.labelled()):
        np.testing.assert_array_equal(left.selected, right.selected)
        np.testing.assert_allclose(left.pip, right.pip, atol=1e-6)
        np.testing.assert_allclose(left.mean, right.mean, rtol=1e-6, atol=1e-9 * np.abs(left.mean).max())


def test_an_array_with_dt_is_as_good_as_trajectories(oscillator):
    data = np.stack(oscillator.paths)
    settings = {**QUICK, "known_drift": {"x1": "x2"}, "library": ito.Library.polynomials(2)}
    from_array = ito.discover(data, dt=1e-3, **settings)
    np.testing.assert_array_equal(
        from_array.drift["x2"].samples, ito.discover(oscillator, **settings).drift["x2"].samples
    )


@pytest.mark.parametrize("diffusion", ["full", "diagonal", "constant", "none"])
def test_the_entries_of_the_covariance_are_those_asked_for(diffusion):
    data = ito.problems.ornstein_uhlenbeck_2d().simulate(
        duration=20.0, dt=0.01, n_paths=10, substeps=5, seed=2
    )
    result = ito.discover(data, ito.Library.polynomials(1), diffusion=diffusion, **QUICK)
    entries = {"full": 3, "diagonal": 2, "constant": 3, "none": 0}[diffusion]
    assert len(result.diffusion) == entries
    if diffusion == "constant":
        assert result.diffusion["x1", "x2"].terms == ["1"]
    if diffusion == "none":
        assert "dB" not in str(result)


def test_a_wrong_known_row_is_said_to_be_wrong(oscillator):
    result = ito.discover(oscillator, ito.Library.polynomials(1), known_drift={"x1": "2 x2"}, **QUICK)
    assert any("the given drift dx1 = 2 x2 leaves" in warning for warning in result.warnings)


def test_gaps_and_uneven_times_are_taken(oscillator):
    rng = np.random.default_rng(0)
    paths, times = [], []
    for x, t in zip(oscillator.paths, oscillator.times):
        keep = np.sort(rng.choice(len(x), size=len(x) * 9 // 10, replace=False))
        gappy = x[keep].copy()
        gappy[::50, 0] = np.nan
        paths.append(gappy)
        times.append(t[keep])
    data = ito.Trajectories(paths, t=times)
    result = ito.discover(data, ito.Library.polynomials(3), known_drift={"x1": "x2"}, **QUICK)
    assert {"x1", "x1^3"} <= set(result.coefficients()["dx2"])


def test_custom_functions_are_candidates(oscillator):
    library = ito.Library.polynomials(1) + ito.Library.custom(lambda x: x[:, 0] ** 3, "cube")
    result = ito.discover(oscillator, library, known_drift={"x1": "x2"}, diffusion="constant", **QUICK)
    assert result.coefficients()["dx2"]["cube"] == pytest.approx(-1e5, rel=0.1)


def test_saving_and_loading_loses_nothing(result, tmp_path):
    result.save(tmp_path / "duffing")
    loaded = ito.Discovery.load(tmp_path / "duffing.npz")
    assert str(loaded) == str(result)
    assert loaded.settings == result.settings and loaded.diagnostics == result.diagnostics
    for (_, left), (_, right) in zip(result.labelled(), loaded.labelled()):
        np.testing.assert_array_equal(left.samples, right.samples)
        assert left.models(3) == right.models(3)


def test_a_damaged_file_is_refused_by_name(result, tmp_path):
    path = tmp_path / "broken.npz"
    result.save(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"broken\.npz: not a saved discovery, or a damaged one"):
        ito.Discovery.load(path)
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(DataError, match=r"other\.npz: not a saved discovery"):
        ito.Discovery.load(tmp_path / "other.npz")


def test_simulation_holds_what_is_not_known_of_the_model(result):
    paths = result.simulate([0.1, 0.0], duration=0.2, n_paths=8, seed=3, keep_every=10)
    assert paths.n_paths == 8 and paths.names == ("x1", "x2")
    assert len({round(float(path[-1, 0]), 12) for path in paths.paths}) == 8
    again = result.simulate([0.1, 0.0], duration=0.2, n_paths=8, seed=3, keep_every=10)
    np.testing.assert_array_equal(np.stack(paths.paths), np.stack(again.paths))
    bands = result.forecast([0.1, 0.0], duration=0.1, n_paths=16, levels=(0.5, 0.9), seed=1)
    wide, narrow = bands.bands[0.9], bands.bands[0.5]
    assert (wide[..., 1] - wide[..., 0] >= narrow[..., 1] - narrow[..., 0]).all()
    with pytest.raises(ArgumentError, match="one of duration and n_steps"):
        result.simulate([0.1, 0.0])
    with pytest.raises(ArgumentError, match=r"x0 = .*\(3,\)|x0"):
        result.simulate([0.1, 0.0, 1.0], duration=0.1)


def test_moments_are_public_and_add(oscillator):
    library = ito.Library.polynomials(2)
    whole = ito.moments(oscillator, library, row="x2")
    parts = ito.moments(oscillator[:12], library, row="x2") + ito.moments(oscillator[12:], library, row="x2")
    np.testing.assert_allclose(parts.gram, whole.gram, rtol=1e-8, atol=1e-10 * np.abs(whole.gram).max())
    assert parts.n == whole.n
    assert ito.moments(oscillator, library, pair=("x2", "x2")).n == whole.n


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "one of row and pair"),
        ({"row": "x1", "pair": ("x1", "x1")}, "one of row and pair"),
        ({"row": "x9"}, "row = 'x9'"),
        ({"pair": ("x1", "x9")}, "pair = 'x9'"),
        ({"row": "x1", "scheme": "heun"}, "scheme = 'heun'"),
        ({"row": "x1", "weights": [np.ones(3)]}, "one array of n_steps weights per path"),
    ],
)
def test_moments_refuse_what_does_not_fit(oscillator, settings, words):
    with pytest.raises(ArgumentError, match=words):
        ito.moments(oscillator, ito.Library.polynomials(1), **settings)


@pytest.mark.parametrize("backend", ["rust", "reference"])
@pytest.mark.parametrize("in_drift", [True, False])
def test_custom_functions_of_the_diffusion_are_its_own(backend, in_drift):
    """One name in both libraries, or a function in the diffusion alone: Gamma = 0.2 + 0.8 x^2 is found in its own."""
    data = ito.SDE(["-x1"], [["sqrt(0.2 + 0.8*x1^2)"]]).simulate(
        0.3, dt=0.01, n_steps=8000, substeps=4, seed=4
    )
    constant = ito.Library.polynomials(0)
    options = {
        "library": ito.Library.polynomials(1),
        "diffusion_library": constant + ito.Library.custom(lambda x: x[:, 0] ** 2, "f"),
    }
    if in_drift:
        options["library"] += ito.Library.custom(lambda x: np.tanh(30 * x[:, 0]), "f")
    found = ito.discover(data, n_samples=200, n_burn=100, n_chains=2, seed=1, backend=backend, **options)
    gamma = found.diffusion["x1", "x1"]
    assert gamma.selected.tolist() == [True, True]
    np.testing.assert_allclose(gamma.mean, [0.2, 0.8], atol=0.08)
    x = np.array([[0.0], [0.5], [1.0]])
    np.testing.assert_allclose(gamma_at(found, x)[:, 0, 0], gamma.mean[0] + gamma.mean[1] * x[:, 0] ** 2)
