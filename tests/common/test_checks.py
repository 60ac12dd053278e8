"""One rule for each kind of argument, held by every public call that takes one."""

from fractions import Fraction

import itoscope as ito
import numpy as np
import pytest
from itoscope import SDE, Library, Trajectories, discover, stream
from itoscope.common import checks
from itoscope.errors import ArgumentError, DataError

BAD_SEEDS = [-1, 2**64, 2**70, 1.0, True, "1", [1], np.float64(3)]
GOOD_SEEDS = [0, 2**64 - 1, np.int64(7), np.uint64(2**64 - 1)]
BAD_COUNTS = [0, -1, True, 2.0, "2", None, [1]]
BAD_NAMES = ["", "2b", "x y", "x-y", "x.1", 3, None]
GOOD_NAMES = ["x", "x1", "_", "lambda", "class", "é", "σ_1", "x²"]


@pytest.fixture(scope="module")
def data():
    return ito.problems.ornstein_uhlenbeck().simulate(duration=1.0, dt=0.01, n_paths=4, seed=1)


@pytest.fixture(scope="module")
def result(data):
    return ito.discover(data, ito.Library.polynomials(1), seed=1, n_chains=1, n_samples=50, n_burn=10)


@pytest.fixture(scope="module")
def moments(data):
    return ito.moments(data, ito.Library.polynomials(1), row="x1")


def _short(**settings):
    return {"n_chains": 1, "n_samples": 5, "n_burn": 1} | settings


# -- every call with a seed ----------------------------------------------------------------------------------
SEEDED = {
    "discover": lambda seed, data, result, moments: ito.discover(
        data, ito.Library.polynomials(1), **_short(seed=seed)
    ),
    "estimator": lambda seed, data, result, moments: ito.SDEDiscovery(
        ito.Library.polynomials(1), **_short(seed=seed)
    ).fit(data),
    "Moments.sample": lambda seed, data, result, moments: moments.sample(**_short(seed=seed)),
    "exact": lambda seed, data, result, moments: moments.sample(sampler="exact", **_short(seed=seed)),
    "SDE.simulate": lambda seed, data, result, moments: ito.SDE(["-x1"], [["1"]]).simulate(
        [0.0], dt=0.1, n_steps=3, seed=seed
    ),
    "Problem.simulate": lambda seed, data, result, moments: ito.problems.lorenz63().simulate(
        duration=0.03, dt=0.01, seed=seed
    ),
    "Discovery.simulate": lambda seed, data, result, moments: result.simulate([0.0], n_steps=3, seed=seed),
    "forecast": lambda seed, data, result, moments: result.forecast([0.0], n_steps=3, n_paths=2, seed=seed),
    "sample_models": lambda seed, data, result, moments: result.sample_models(1, seed),
    "self_check": lambda seed, data, result, moments: result.self_check(seed),
    "add_noise": lambda seed, data, result, moments: data.add_noise(0.1, seed=seed),
    "positions": lambda seed, data, result, moments: data.positions(noise=0.1, seed=seed),
}


@pytest.mark.parametrize("call", SEEDED)
def test_a_seed_is_a_whole_number_of_64_bits(call, data, result, moments):
    for seed in BAD_SEEDS:
        with pytest.raises(ArgumentError, match=r"^seed = .*: a whole number from 0 to 2\^64 - 1, or None$"):
            SEEDED[call](seed, data, result, moments)


@pytest.mark.parametrize("call", sorted(set(SEEDED) - {"self_check", "estimator"}))
def test_every_seed_of_64_bits_is_taken(call, data, result, moments):
    for seed in GOOD_SEEDS:
        SEEDED[call](seed, data, result, moments)


def test_no_seed_is_another_one_each_time():
    drawn = {checks.seed(None) for _ in range(20)}
    assert len(drawn) == 20
    assert all(0 <= seed < 2**63 for seed in drawn)


# -- every call with a count ---------------------------------------------------------------------------------
def _simulated(result, name, value):
    settings = {"n_steps": 4} | {name: value}
    return ito.SDE(["-x1"], [["1"]]).simulate([0.0], dt=0.1, **settings)


COUNTED = {
    "discover n_chains": lambda v, data, result, moments: ito.discover(data, n_chains=v),
    "discover n_samples": lambda v, data, result, moments: ito.discover(data, n_samples=v),
    "discover max_rounds": lambda v, data, result, moments: ito.discover(data, max_rounds=v),
    "sample n_chains": lambda v, data, result, moments: moments.sample(n_chains=v),
    "sample n_samples": lambda v, data, result, moments: moments.sample(n_samples=v),
    "simulate n_steps": lambda v, data, result, moments: _simulated(result, "n_steps", v),
    "simulate substeps": lambda v, data, result, moments: _simulated(result, "substeps", v),
    "simulate keep_every": lambda v, data, result, moments: _simulated(result, "keep_every", v),
    "forecast n_paths": lambda v, data, result, moments: result.forecast([0.0], n_steps=3, n_paths=v),
    "sample_models n": lambda v, data, result, moments: result.sample_models(v),
    "thin k": lambda v, data, result, moments: data.thin(v),
    "chain n": lambda v, data, result, moments: ito.problems.chain(n=v),
    "write_csv digits": lambda v, data, result, moments: data.to_csv("never.csv", digits=v),
}


@pytest.mark.parametrize("call", COUNTED)
def test_a_count_is_a_whole_number(call, data, result, moments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = call.split()[-1]
    for value in BAD_COUNTS:
        with pytest.raises(ArgumentError, match=rf"^{name} = .*: a whole number"):
            COUNTED[call](value, data, result, moments)
    assert not list(tmp_path.iterdir())


# -- every call with a choice --------------------------------------------------------------------------------
CHOSEN = {
    "order": lambda v, data, moments: ito.discover(data, order=v),
    "diffusion": lambda v, data, moments: ito.discover(data, diffusion=v),
    "scheme": lambda v, data, moments: ito.discover(data, scheme=v),
    "weights": lambda v, data, moments: ito.discover(data, weights=v),
    "ensemble": lambda v, data, moments: ito.discover(data, ensemble=v),
    "sampler": lambda v, data, moments: ito.discover(data, sampler=v),
    "backend": lambda v, data, moments: ito.discover(data, backend=v),
    "sampler of sample": lambda v, data, moments: moments.sample(sampler=v),
    "scheme of moments": lambda v, data, moments: ito.moments(
        data, ito.Library.polynomials(1), row="x1", scheme=v
    ),
    "ensemble of moments": lambda v, data, moments: ito.moments(
        data, ito.Library.polynomials(1), row="x1", ensemble=v
    ),
    "scheme of simulate": lambda v, data, moments: ito.SDE(["-x1"], [["1"]]).simulate(
        [0.0], dt=0.1, n_steps=3, scheme=v
    ),
    "by": lambda v, data, moments: data.split(0.5, by=v),
}


@pytest.mark.parametrize("call", CHOSEN)
def test_a_choice_is_one_of_a_few(call, data, moments):
    for value in ("ful", 3, True, ["full"], np.array([1, 2])):
        with pytest.raises(ArgumentError, match=rf"(?s)^{call.split()[0]} = .*: one of .*'|1, 2"):
            CHOSEN[call](value, data, moments)


# -- every call with names -----------------------------------------------------------------------------------
NAMED = {
    "Trajectories": lambda name: ito.Trajectories(np.arange(8.0).reshape(4, 2), dt=1.0, names=["a", name]),
    "SDE": lambda name: ito.SDE(["0", "0"], [["1"], ["1"]], ["a", name]),
    "Library.bind": lambda name: ito.Library.polynomials(1).bind(["a", name]),
    "Library.names": lambda name: ito.Library.polynomials(1).names(["a", name]),
}


@pytest.mark.parametrize("call", NAMED)
def test_a_name_is_what_an_expression_can_use(call):
    for name in BAD_NAMES:
        with pytest.raises(ArgumentError, match=r"^(names|states)\[1\] = .*: a name of letters"):
            NAMED[call](name)
    with pytest.raises(ArgumentError, match=r"^(names|states)\[1\] = 'a': names that differ"):
        NAMED[call]("a")
    for name in GOOD_NAMES:
        NAMED[call](name)


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_good_name_is_good_all_the_way(name, backend):
    """From an SDE over its simulation and a fit to the text, with any name."""
    sde = ito.SDE([f"-{name}"], [["1"]], [name])
    np.testing.assert_allclose(np.ravel(sde.drift([2.0])), [-2.0])
    data = sde.simulate([0.0], dt=0.05, n_steps=60, seed=1, backend=backend)
    assert list(data.names) == [name]
    moments = ito.moments(data, ito.Library.polynomials(1), row=name, backend=backend)
    assert list(moments.terms) == ["1", name]


# -- the rules -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [1, 1.5, np.float32(0.5), np.int16(3), np.array(2.0), Fraction(1, 3)])
def test_a_number_is_what_a_float_can_be_made_of(value):
    assert checks.positive("a", value) == float(value)


@pytest.mark.parametrize(
    "value", [True, "1", b"1", None, [1.0], np.array([1.0]), np.nan, np.inf, 10**400, 1j]
)
def test_other_things_are_no_number(value):
    with pytest.raises(ArgumentError, match="a positive, finite number"):
        checks.positive("a", value)


def test_bounds():
    assert checks.not_negative("a", 0) == 0.0
    for rule, value in (
        (checks.positive, 0),
        (checks.not_negative, -1e-9),
        (checks.share, 1),
        (checks.share, 0.0),
    ):
        with pytest.raises(ArgumentError, match=r"^a = "):
            rule("a", value)
    assert checks.count("digits", 17, most=17) == 17
    with pytest.raises(ArgumentError, match="digits = 18: a whole number from 1 to 17"):
        checks.count("digits", 18, most=17)
    assert checks.choice("order", np.int64(2), (1, 2)) == 2
    assert checks.choice("weights", None, ("auto", None)) is None


MASKED = np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[False, True, False])


@pytest.mark.parametrize("value", [MASKED, MASKED.astype(object), [1.0, None, 3.0], [1.0, np.nan, 3.0]])
def test_what_is_missing_is_nan_or_refused(value):
    np.testing.assert_array_equal(checks.reals("x", value, missing=True), [1.0, np.nan, 3.0])
    with pytest.raises(ArgumentError, match=r"x\[1\] is missing"):
        checks.reals("x", value)


@pytest.mark.parametrize("value", [[1 + 2j], ["1"], [True], [[1.0], [1.0, 2.0]], [object()], [10**400]])
def test_what_is_no_array_of_real_numbers_is_refused(value):
    with pytest.raises(ArgumentError, match="real numbers"):
        checks.reals("x", value, missing=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: SDE(["-x1"], [["1"]]).drift(x),
        lambda x: SDE(["-x1"], [["1"]]).gamma(x),
        lambda x: SDE(["-x1"], [["1"]]).simulate(x, dt=0.1, n_steps=4),
        lambda x: SDE(["-x1"], [["1"]]).simulate(0.0, dt=0.1, n_steps=2, noise=[[x, x]]),
        lambda x: Library.polynomials(1).evaluate([x]),
        lambda x: SDE([x], library=Library.polynomials(0)),
        lambda x: Library.trig(x),
        lambda x: Trajectories(np.array([x, x, x]), dt=0.1),
        lambda x: stream(lambda: iter([np.array(x * 50)]), dt=0.1).n_steps,
        lambda x: discover(DATA, measurement_noise={"x1": np.array(x * 50)}),
        lambda x: discover(DATA, inputs={"u": lambda t: t * x[0]}),
        lambda x: discover(DATA, inputs={"u": np.array(x * 50)}),
    ],
)
def test_imaginary_parts_are_lost_nowhere(call):
    with pytest.raises((ArgumentError, DataError), match="complex numbers"):
        call([1.0 + 1e-9j])


def test_imaginary_parts_of_origins_and_of_custom_terms():
    with pytest.raises(ArgumentError, match="origin = "):
        Library.polynomials(2, origin=np.array([1.0 + 1e-9j]))
    with pytest.raises(ArgumentError, match="values of type complex128: real numbers"):
        Library.custom(lambda _: np.array([1.0 + 1e-9j]), "one").evaluate([1.0])


def test_masks_are_lost_nowhere():
    start = np.ma.MaskedArray([1.0], mask=[True])
    with pytest.raises(ArgumentError, match=r"x0.*missing"):
        SDE(["-x1"], [["1"]]).simulate(start, dt=0.1, n_steps=4)
    assert np.isnan(SDE(["-x1"]).drift(start)).all()
    assert np.isnan(Library.polynomials(1).evaluate(start)[0, 1])
    hidden = np.ma.MaskedArray(np.arange(1.0, 51.0), mask=np.arange(50) == 20)
    whole = stream(lambda: iter([hidden]), dt=0.1)
    assert np.isnan(np.concatenate(list(whole.blocks()))).sum() == 1
    with pytest.raises(ArgumentError, match="returned nan at row 20"):
        Library.custom(lambda _: hidden, "one").evaluate(np.zeros(50))
    with pytest.raises(ArgumentError, match="nan at sample 20"):
        discover(DATA, measurement_noise={"x1": hidden})
    with pytest.raises(DataError, match="input 'u' of path 0: nan at sample 20"):
        discover(DATA, inputs={"u": lambda t: hidden})
    samples = np.ma.MaskedArray(np.arange(5.0), mask=[0, 1, 0, 0, 0]).astype(object)
    assert np.isnan(Trajectories(samples, dt=0.1).paths[0]).sum() == 1


DATA = Trajectories(np.random.default_rng(1).normal(size=50), dt=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: discover(DATA, prior=5), "prior = 5"),
        (lambda: discover(DATA, known_drift="x1=x2"), "known_drift = 'x1=x2'"),
        (lambda: discover(DATA, measurement_noise=np.array([0.1, 0.2])), "measurement_noise"),
        (lambda: SDE(["0"]).simulate(0.0, dt=0.1, n_steps=2**62), "n_steps"),
        (lambda: SDE(["0"]).simulate(0.0, dt=0.1, n_steps=5, substeps=2**63), "substeps"),
        (lambda: DATA.select(5), "names = 5"),
        (lambda: Library.polynomials(10**9).names(["x"]), "degree = 1000000000: at most"),
        (lambda: Library.polynomials(60).names(["x", "y", "z", "u"]), "4 states have 635376"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name_and_at_once(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
