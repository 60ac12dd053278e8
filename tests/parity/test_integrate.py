"""Both backends take the same steps on the same increments, and the compiled one the same on any threads."""

import numpy as np
import pytest
from itoscope import SDE, _core, problems
from itoscope.backends import get_backend
from itoscope.backends.records import Dynamics, Stepping
from itoscope.errors import ArgumentError
from itoscope.expressions.ito import SCHEMES
from itoscope.result import ensemble as forecast
from itoscope.sde.family import Draws, Sum, families
from tolerances import STEP

SYSTEMS = {name: make().sde for name, make in problems.PROBLEMS.items()} | {
    "commutative": SDE(["-x", "x y"], [["x", "0"], ["y", "x"]], ["x", "y"]),
    "diagonal": SDE(["y", "-1.0 x"], gamma=[["1 + x^2", "0"], ["0", "exp(-y^2)"]], states=["x", "y"]),
    "functions": SDE(["sin(x) - x^3 + tanh(2 x)"], [["0.3 cos(x)^2 + |x|/(1 + x^2)"]], ["x"]),
    "general": SDE(["y", "-1.0 x"], gamma=[["1 + x^2", "0.3 y"], ["0.3 y", "1"]], states=["x", "y"]),
    "semidefinite": SDE(["y", "-x"], gamma=[["x^2", "x y"], ["x y", "y^2"]], states=["x", "y"]),
}
CASES = [
    (name, scheme)
    for name, sde in SYSTEMS.items()
    for scheme, declared in SCHEMES.items()
    if sde.noise_structure in declared.structures
]


def stage(backend, sde, x0, noise, scheme, *, parameters=None, seed=1, **settings):
    roots = sde.diffusion_expressions
    names, values = parameters or ((), None)
    dynamics = Dynamics(
        sde.states, sde.drift_expressions, roots, sde.gamma_expressions if roots is None else None, names
    )
    stepping = Stepping(scheme=scheme, **{"dt": 0.004, "n_steps": 10, "substeps": 2} | settings)
    return get_backend(backend).simulate(dynamics, x0, stepping, seed=seed, noise=noise, values=values)


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_the_same_increments_give_the_same_paths(name, scheme):
    sde = SYSTEMS[name]
    rng = np.random.default_rng(8)
    n_paths = 37  # a full block of lanes and a part of one
    first, second = rng.normal(size=(2, n_paths, 20, sde.n_noise))
    h = 0.002
    noise = np.sqrt(h) * first
    if scheme == "taylor15":
        noise = np.concatenate([noise, h**1.5 / 2 * (first + second / np.sqrt(3))], axis=2)
    x0 = 0.1 + 0.05 * rng.normal(size=(n_paths, sde.n_states))
    ours, lengths = stage("rust", sde, x0, noise, scheme)
    theirs, their_lengths = stage("reference", sde, x0, noise, scheme)
    np.testing.assert_array_equal(lengths, their_lengths)
    size = np.abs(theirs).max(axis=(0, 1))
    assert np.all(np.abs(ours - theirs).max(axis=(0, 1)) <= 20 * STEP * size)


FORMS = {
    name: (truth["drift"], truth["diffusion"])
    for name in ("duffing", "building")
    for truth in [problems.PROBLEMS[name]().truth]
} | {
    "diagonal": (
        {"x": {"y": 1.0}, "y": {"x": -1.0}},
        {("x", "x"): {"1": 1.0, "x^2": 1.0}, ("y", "y"): {"exp(-y^2)": 1.0}},
    ),
    "general": (
        {"x": {"y": 1.0}, "y": {"x": -1.0}},
        {("x", "x"): {"1": 1.0, "x^2": 1.0}, ("x", "y"): {"y": 0.3}, ("y", "y"): {"1": 1.0}},
    ),
}


@pytest.mark.parametrize("backend", ["rust", "reference"])
@pytest.mark.parametrize("name", FORMS)
def test_models_of_one_form_run_together_as_they_run_alone(name, backend):
    rng = np.random.default_rng(10)
    drift, gamma = ({key: perturbed(terms, rng) for key, terms in part.items()} for part in FORMS[name])
    draws = Draws(tuple(drift), {}, drift, gamma)
    (family,) = families(draws)
    assert len(family.parameters) == family.values.shape[1] > 0
    first = SYSTEMS[name]
    assert (family.noise_structure, family.n_noise) == (first.noise_structure, first.n_noise)
    scheme = forecast.best_scheme(family)
    noise = 0.04 * rng.normal(size=(len(draws), 20, first.n_noise * (2 if scheme == "taylor15" else 1)))
    x0 = 0.1 + 0.05 * rng.normal(size=(len(draws), first.n_states))
    settings = {"parameters": (family.parameters, family.values)}
    together, _ = stage(backend, family, x0, noise, scheme, **settings)
    models = [SDE(draws.drift_of(i), gamma=draws.gamma_of(i), states=first.states) for i in range(len(draws))]
    alone = [
        stage(backend, model, x0[i : i + 1], noise[i : i + 1], scheme)[0] for i, model in enumerate(models)
    ]
    alone = np.concatenate(alone)
    size = np.abs(alone).max(axis=(0, 1))
    assert np.all(np.abs(together - alone).max(axis=(0, 1)) <= 20 * STEP * size)
    # What would be seen if the paths had one model.
    assert np.abs(together[1:] - stage(backend, models[0], x0[1:], noise[1:], scheme)[0]).max() > 1e-6


def perturbed(terms, rng):
    """The same terms with other coefficients in eleven models."""
    return Sum(list(terms), np.array(list(terms.values())) * rng.uniform(0.9, 1.1, size=(11, len(terms))))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_divergence_is_cut_at_the_same_sample(scheme):
    sde = SDE(["x^3"], [["0.1 x"]], ["x"])
    noise = 0.2 * np.random.default_rng(9).normal(size=(70, 40, 2 if scheme == "taylor15" else 1))
    x0 = np.linspace(0.1, 3, 70)[:, None]
    settings = {"dt": 0.1, "n_steps": 40, "substeps": 1, "keep_every": 2}
    ours, lengths = stage("rust", sde, x0, noise, scheme, **settings)
    theirs, their_lengths = stage("reference", sde, x0, noise, scheme, **settings)
    np.testing.assert_array_equal(lengths, their_lengths)
    assert lengths.min() < 21 == lengths.max()
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["duffing", "building", "double-well"])
def test_any_number_of_threads_and_paths_gives_the_same_bits(name, scheme):
    sde = SYSTEMS[name]
    x0 = np.full((130, sde.n_states), 0.1)
    settings = {"n_steps": 100, "substeps": 3, "seed": 5}
    try:
        _core.set_threads(1)
        one, _ = stage("rust", sde, x0, None, scheme, **settings)
        _core.set_threads(3)
        three, _ = stage("rust", sde, x0, None, scheme, **settings)
    finally:
        _core.set_threads(0)
    np.testing.assert_array_equal(one, three)
    few, _ = stage("rust", sde, x0[:5], None, scheme, **settings)
    np.testing.assert_array_equal(few, one[:5])


@pytest.mark.parametrize("scheme", ["milstein", "taylor15"])
@pytest.mark.parametrize("diffusion", [[["y", "0"], ["0", "x"]], [["x", "1"], ["0", "0"]]])
def test_an_unfit_scheme_is_the_same_error(scheme, diffusion):
    sde = SDE(["0", "0"], diffusion, ["x", "y"])
    messages = []
    for backend in ("rust", "reference"):
        with pytest.raises(ValueError, match="scheme") as caught:
            stage(backend, sde, np.zeros((1, 2)), None, scheme)
        messages.append((type(caught.value), str(caught.value)))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("scheme", ["euler-maruyama", "milstein", "taylor15"])
def test_both_backends_take_the_same_inputs(scheme):
    """The inputs of every step of the scheme, beside parameters, drawn noise and given noise."""
    rng = np.random.default_rng(3)
    dynamics = Dynamics(["x"], ["-a*x + u*cos(s)"], [["0.3"]], None, ["a"], ["u", "s"])
    stepping = Stepping(0.1, 10, scheme, substeps=2)
    x0, values, driven = rng.normal(size=(37, 1)), rng.uniform(1, 2, (37, 1)), rng.normal(size=(20, 2))
    noise = 0.2 * rng.normal(size=(37, 20, 1 + (scheme == "taylor15")))
    ours, theirs = (
        get_backend(name).simulate(dynamics, x0, stepping, seed=1, noise=noise, values=values, inputs=driven)[
            0
        ]
        for name in ("rust", "reference")
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    drawn = get_backend("rust").simulate(dynamics, x0, stepping, seed=1, values=values, inputs=driven)[0]
    still = get_backend("rust").simulate(dynamics, x0, stepping, seed=1, values=values, inputs=0 * driven)[0]
    assert np.abs(drawn - still).max() > 0.1


def test_both_backends_take_the_inputs_of_a_covariance():
    rng = np.random.default_rng(3)
    gamma = [["1 + u^2", "0.3*y"], ["0.3*y", "1"]]
    dynamics = Dynamics(["x", "y"], ["y", "u - x"], None, gamma, (), ["u"])
    stepping, driven = Stepping(0.1, 40, "euler-maruyama"), rng.normal(size=(40, 1))
    noise = 0.3 * rng.normal(size=(37, 40, 2))
    ours, theirs = (
        get_backend(name).simulate(dynamics, np.zeros((37, 2)), stepping, seed=1, noise=noise, inputs=driven)[
            0
        ]
        for name in ("rust", "reference")
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_an_input_of_the_wrong_shape_is_refused(backend):
    dynamics = Dynamics(["x"], ["u"], [["1"]], None, (), ["u"])
    with pytest.raises(ArgumentError, match="inputs"):
        get_backend(backend).simulate(
            dynamics, np.zeros((1, 1)), Stepping(0.1, 10), seed=1, inputs=np.zeros((9, 1))
        )


def test_a_motion_that_time_alone_moves_is_that_of_the_equation():
    """dx = cos(t) dt without noise: of second order, for the input is that of the middle of a step."""
    sde = SDE(["cos(t)"], states=["x"])
    errors = []
    for n in (50, 100):
        path = sde.simulate([0.0], dt=5.0 / n, n_steps=n, seed=1).paths[0][:, 0]
        errors.append(np.abs(path - np.sin(np.linspace(0, 5, n + 1))).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("scheme", ["milstein", "taylor15"])
def test_a_hyperbolic_tangent_is_flat_far_out(scheme):
    sde, noise = SDE(["tanh(x)"], [["tanh(x)"]], ["x"]), np.full((1, 20, 1 + (scheme == "taylor15")), 0.05)
    ours, theirs = (stage(b, sde, np.array([[900.0]]), noise, scheme)[0] for b in ("rust", "reference"))
    assert np.isfinite(theirs).all()
    np.testing.assert_allclose(ours, theirs, rtol=STEP)
