"""`Prior`, `Moments` and `Equation` as a user meets them, on both backends."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError, DataError

TERMS = ["1", "x1", "x2", "x1^2", "x1 x2"]
FAST = {"n_chains": 2, "n_samples": 60, "n_burn": 20, "seed": 3}


def design(n=300, seed=0):
    x1, x2 = np.random.default_rng(seed).normal(size=(2, n))
    return np.stack([np.ones(n), x1, x2, x1**2, x1 * x2], axis=1)


def moments(columns=None, scale=1.0, target=1.0, seed=0):
    u = design(seed=seed) if columns is None else columns
    y = 2 * u[:, 1] - 3 * u[:, 3] + np.random.default_rng(seed + 1).normal(size=len(u))
    u, y = u * scale, y * target
    names = TERMS if columns is None else [f"c{i}" for i in range(u.shape[1])]
    return ito.Moments(u.T @ u, u.T @ y, y @ y, len(y), names)


def test_an_equation_is_found_and_printed(backend):
    equation = moments().sample(backend=backend, **FAST)
    assert [equation.terms[k] for k in np.flatnonzero(equation.selected)] == ["x1", "x1^2"]
    assert equation.text() == "(1.95 ± 0.05) x1 - (3.03 ± 0.03) x1^2"
    assert repr(equation).startswith(equation.text())
    assert equation.samples.shape == equation.included.shape == equation.inclusion.shape == (2, 60, 5)
    assert equation.pip.shape == equation.sd.shape == equation.rhat.shape == equation.ess.shape == (5,)
    assert equation.cov.shape == (5, 5) and equation.interval(0.9).shape == (5, 2)
    assert (np.abs(equation.pip - equation.pip_frequency) < 0.1).all()
    assert (equation.samples[~equation.included] == 0).all()
    assert equation.mean[2] == equation.sd[2] == 0
    table = equation.table(all_terms=True)
    assert len(table) == 5 and {row["term"] for row in table} == set(TERMS)
    assert str(table).splitlines()[0].split()[:3] == ["term", "pip", "pip_mcse"]
    best = equation.models(3)[0]
    assert best.terms == ("x1", "x1^2") and best.mass > 0.5 and best.mean["x1"] == pytest.approx(2, abs=0.3)


def test_same_seed_same_answer_and_none_is_kept(backend):
    once, again = (moments().sample(backend=backend, **FAST) for _ in range(2))
    assert np.array_equal(once.samples, again.samples) and np.array_equal(once.pip, again.pip)
    drawn = moments().sample(backend=backend, **(FAST | {"seed": None}))
    repeated = moments().sample(backend=backend, **(FAST | {"seed": drawn.seed}))
    assert np.array_equal(drawn.samples, repeated.samples)


def test_exact_and_chains_agree():
    exact = moments().sample(sampler="exact", seed=1)
    chains = moments().sample(sampler="gibbs", seed=1)
    assert (exact.pip_mcse == 0).all()
    assert (np.abs(exact.pip - chains.pip) <= 4 * np.maximum(chains.pip_mcse, 1e-4)).all()
    assert (np.abs(exact.pip - exact.pip_frequency) < 0.03).all()
    np.testing.assert_allclose(exact.mean, chains.mean)
    masses = [model.mass for model in exact.models(40)]
    assert len(masses) == 32 and sum(masses) == pytest.approx(1) and masses == sorted(masses, reverse=True)


def test_moments_add():
    u = design()
    y = np.random.default_rng(5).normal(size=300)
    parts = [
        ito.Moments(a.T @ a, a.T @ b, b @ b, len(b), TERMS)
        for a, b in ((u[:100], y[:100]), (u[100:], y[100:]))
    ]
    both = parts[0] + parts[1]
    np.testing.assert_allclose(both.gram, u.T @ u)
    assert both.n == 300 and both.yy == pytest.approx(y @ y) and both.terms == tuple(TERMS)
    with pytest.raises(ArgumentError, match="the same terms as on the left"):
        _ = parts[0] + ito.Moments(np.eye(1), [0.5], 1, 1)


@pytest.mark.parametrize("factor", [1e3, 1e-6])
def test_units_change_nothing_but_the_units(factor):
    scale = np.array([1, factor, 1, factor**2, factor])
    plain, scaled = moments().sample(**FAST), moments(scale=scale, target=factor).sample(**FAST)
    assert (np.abs(plain.pip - scaled.pip) <= 1e-9 + 4 * plain.pip_mcse).all()
    np.testing.assert_allclose(scaled.mean, plain.mean * factor / scale, rtol=1e-9)
    np.testing.assert_allclose(scaled.sd, plain.sd * factor / scale, rtol=1e-9)


def test_aliases_are_named_and_not_split(backend):
    u = design()
    columns = np.column_stack([u[:, :4], -2 * u[:, 1], np.zeros(300), u[:, 3] * 7])
    equation = moments(columns).sample(backend=backend, **FAST)
    assert equation.aliases == {"c1": ["c4"], "c3": ["c6"]}
    assert list(np.flatnonzero(equation.selected)) == [1, 3]
    assert (equation.pip[[4, 5, 6]] == 0).all() and (equation.samples[..., 4:] == 0).all()
    assert "c1 = c4; c3 = c6" in equation.warnings[0]
    assert any("zero everywhere on these data and never selected: c5" in note for note in equation.warnings)
    assert repr(equation).count("note:") == len(equation.warnings) == 2
    exact = moments(columns).sample(sampler="exact", backend=backend, **FAST)
    assert exact.models(1)[0].terms == ("c1", "c3")


def test_nearly_dependent_terms_are_warned_about():
    u = design()
    columns = np.column_stack([u, u[:, 1] + u[:, 2] + 1.6e-6 * np.random.default_rng(9).normal(size=300)])
    assert any("nearly dependent" in note for note in moments(columns).sample(**FAST).warnings)


def test_all_zero_target_and_no_usable_column(backend):
    u = design()
    silent = ito.Moments(u.T @ u, np.zeros(5), 0.0, 300, TERMS).sample(backend=backend, **FAST)
    assert not silent.selected.any() and silent.text() == "0"
    empty = ito.Moments(np.zeros((2, 2)), np.zeros(2), 5.0, 10).sample(backend=backend, **FAST)
    assert (empty.pip == 0).all()


def test_auto_runs_until_the_error_is_small():
    equation = moments().sample(n_samples="auto", sampler="gibbs", seed=1)
    assert equation.pip_mcse.max() < 0.01 and equation.samples.shape[1] >= 2000


def test_memory_of_the_draws_is_bounded():
    full = moments().sample(sampler="gibbs", seed=1, n_samples=1000)
    bounded = moments().sample(sampler="gibbs", seed=1, n_samples=1000, max_memory=17 * 4 * 5 * 100)
    assert full.samples.shape[1] == 1000 and bounded.samples.shape[1] == 100
    np.testing.assert_allclose(full.pip, bounded.pip, rtol=1e-12)
    assert moments().sample(sampler="gibbs", seed=1, n_samples=1000, thin=20).samples.shape[1] == 50


def test_progress_is_reported_and_an_exception_in_it_ends_the_run(backend):
    seen = []
    moments().sample(backend=backend, progress=seen.append, sampler="gibbs", **FAST)
    assert seen and seen[-1] == 160

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moments().sample(backend=backend, progress=stop, sampler="gibbs", **FAST)


U = design()
GOOD = {"gram": U.T @ U, "moment": U[:, 1] @ U, "yy": 400.0, "n": 300}
BAD_MOMENTS = [
    ({"gram": np.eye(4)}, ArgumentError, r"gram = 'an array of shape \(4, 4\)': shape \(5, 5\), as moment"),
    ({"gram": np.eye(5) * np.nan}, ArgumentError, r"gram\[0, 0\] is missing"),
    ({"gram": np.eye(5) - 2 * np.eye(5)[::-1]}, DataError, "eigenvalue|zero or positive"),
    ({"gram": U.T @ U + np.triu(np.full((5, 5), 50.0), 1)}, DataError, "a Gram matrix is symmetric"),
    ({"gram": np.ones((5, 5)) - 0.1 * np.eye(5)}, DataError, "positive semidefinite"),
    ({"moment": "abc"}, ArgumentError, "moment holds dtype <U3: real numbers are wanted"),
    ({"moment": np.ones((5, 1))}, ArgumentError, "an array with 1 dimension"),
    ({"yy": -1}, ArgumentError, "yy = -1: a finite number, zero or positive"),
    ({"yy": 1e-3}, DataError, "yy = 0.001: at least .*, the sum of squares that the columns explain"),
    ({"yy": "x"}, ArgumentError, "yy = 'x': a finite number"),
    ({"n": 0}, ArgumentError, "n = 0: a positive, finite number"),
    ({"n": np.inf}, ArgumentError, "n = inf: a positive, finite number"),
    ({"terms": ["a", "b"]}, ArgumentError, "terms = .*: 5 different names"),
    ({"terms": list("aabcd")}, ArgumentError, "terms = .*: 5 different names"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD_MOMENTS)
def test_moments_of_no_data_are_refused(change, error, message):
    ito.Moments(**GOOD)
    with pytest.raises(error, match=message):
        ito.Moments(**(GOOD | change))


BAD_SETTINGS = [
    ({"sampler": "nuts"}, "sampler = 'nuts': one of 'auto', 'gibbs', 'exact'"),
    ({"n_chains": 0}, "n_chains = 0: a whole number, at least 1"),
    ({"n_samples": 2.5}, "n_samples = 2.5: a whole number, at least 1 or 'auto'"),
    ({"n_samples": "many"}, "n_samples = 'many': a whole number, at least 1 or 'auto'"),
    ({"n_burn": -1}, "n_burn = -1: a whole number, at least 0"),
    ({"exchanges": True}, "exchanges = True: a whole number, at least 0"),
    ({"thin": 0}, "thin = 0: a whole number, at least 1"),
    ({"threshold": 1.0}, "threshold = 1.0: a number between 0 and 1, both excluded"),
    ({"seed": -3}, "seed = -3: a whole number"),
    ({"max_memory": 0}, "max_memory = 0: a positive number of bytes"),
    ({"backend": "fortran"}, "backend = 'fortran': one of 'rust', 'reference'"),
]


@pytest.mark.parametrize(("change", "message"), BAD_SETTINGS)
def test_bad_settings_are_named(change, message, backend):
    with pytest.raises(ArgumentError, match=message):
        moments().sample(**({"backend": backend} | FAST | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a_p": 0}, "a_p = 0: a positive, finite number"),
        ({"b_s": -1.0}, "b_s = -1.0: a positive, finite number"),
        ({"a_v": float("inf")}, "a_v = inf: a positive, finite number"),
        ({"slab_start": "big"}, "slab_start = 'big': a positive, finite number"),
        ({"p0_start": 1}, "p0_start = 1: a number between 0 and 1, both excluded"),
        ({"standardize": 1}, "standardize = 1: one of True, False"),
    ],
)
def test_bad_priors_are_named(change, message):
    with pytest.raises(ArgumentError, match=message):
        ito.Prior(**change)


def test_a_wrong_interval_is_named():
    with pytest.raises(ArgumentError, match="probability = 95: a number between 0 and 1"):
        moments().sample(**FAST).interval(95)


def parts_of_a_recording():
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=5.0, dt=0.01, n_paths=7, substeps=2, seed=4)
    library = ito.Library.polynomials(4)
    return [ito.moments(x, library, row="x1", dt=0.01) for x in data.paths]


def assert_same_bits(one, other):
    for name in ("gram", "moment", "yy", "n", "slab_scale"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("own", [True, False])
def test_moments_add_in_any_order_and_groups_with_the_same_bits(own, tmp_path):
    parts = parts_of_a_recording()
    if not own:  # of somebody's regression
        parts = [ito.Moments(m.gram, m.moment, m.yy, m.n, m.terms, slab_scale=m.slab_scale) for m in parts]
    whole = sum(parts[1:], parts[0])
    rng = np.random.default_rng(1)
    for trial in range(5):
        left = [parts[k] for k in rng.permutation(7)]
        while len(left) > 1:
            a = left.pop(rng.integers(len(left)))
            b = left.pop(rng.integers(len(left)))
            both = a + b
            if trial == 0:
                both.save(tmp_path / "part.npz")
                both = ito.Moments.load(tmp_path / "part.npz")
            left.append(both)
        assert_same_bits(left[0], whole)
    if own:  # the sums that were added before rounded in another order
        plain = [sum((m.sums for m in order[1:]), order[0].sums).omega for order in (parts, parts[::-1])]
        assert not np.array_equal(*plain)


def test_saved_moments_are_the_same_and_add_on(tmp_path):
    a, b, c = parts_of_a_recording()[:3]
    (a + b).save(tmp_path / "ab.npz")
    loaded = ito.Moments.load(tmp_path / "ab.npz")
    assert_same_bits(loaded, a + b)
    assert loaded.terms == a.terms
    assert_same_bits(loaded + c, b + (c + a))
    assert np.array_equal(loaded.sample(seed=1).pip, (a + b).sample(seed=1).pip)


def test_files_that_hold_no_moments_are_told(tmp_path):
    np.savez(tmp_path / "other.npz", gram=np.eye(2))
    with pytest.raises(DataError, match="no moments"):
        ito.Moments.load(tmp_path / "other.npz")
    moments().save(tmp_path / "m.npz")
    arrays = dict(np.load(tmp_path / "m.npz"))
    for changed in ({"itoscope_moments": 99}, {"terms": np.array(["a"])}, {"exact": arrays["exact"][:3]}):
        np.savez(tmp_path / "damaged.npz", **(arrays | changed))
        with pytest.raises(DataError, match=r"damaged\.npz"):
            ito.Moments.load(tmp_path / "damaged.npz")
    with pytest.raises(FileNotFoundError):
        ito.Moments.load(tmp_path / "none.npz")
    with pytest.raises(ArgumentError, match="path"):
        moments().save(3)
