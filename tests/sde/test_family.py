"""Models that differ in their coefficients: which of them are compiled together, and as what."""

import numpy as np
import pytest
from itoscope import SDE
from itoscope.sde.family import Draws, Sum, families, repaired


def draws(drift, gamma, states=("x",), **given):
    def sums(rows):
        return {key: Sum(terms, np.array(values, dtype=float)) for key, (terms, values) in rows.items()}

    return Draws(tuple(states), given, sums(drift), sums(gamma))


HALF = {("x", "x"): (["1"], [[0.25]] * 3)}


def test_what_differs_in_form_is_parted():
    terms = ["c_^3", "c_^2", "sin(2 c_)"]
    rows = [[-1.5, 0, 1], [0, -2, 1], [-2e-05, 0, 1]]
    found = families(draws({"c_": (terms, rows)}, {("c_", "c_"): (["1"], [[0.25]] * 3)}, ["c_"]))
    first, second = found
    assert first.members.tolist() == [0, 2] and second.members.tolist() == [1]
    assert first.drift_expressions == ["-c__1 c_^3 + 1 sin(2 c_)"]
    assert first.values.tolist() == [[1.5], [2e-05]]
    assert second.parameters == [] and second.diffusion_expressions == [["0.5"]]


def test_signs_are_part_of_the_form():
    first, second = families(draws({"x": (["x"], [[-1.0], [2.0], [-3.0]])}, HALF))
    assert first.members.tolist() == [0, 2] and first.drift_expressions == ["-c_1 x"]
    assert second.members.tolist() == [1] and second.drift_expressions == ["2 x"]


@pytest.mark.parametrize(
    ("terms", "values", "root", "parameter"),
    [
        (["1"], [[4], [9]], "c_1", [[2], [3]]),
        (["x^2"], [[4], [9]], "c_1 |x|", [[2], [3]]),
        (["1", "x^2"], [[4, 1], [9, 1]], "sqrt(c_1 + 1 x^2)", [[4], [9]]),
        (["exp(x)"], [[4], [9]], "sqrt(c_1 exp(x))", [[4], [9]]),
    ],
)
def test_roots_of_the_covariance(terms, values, root, parameter):
    (family,) = families(draws({"x": (["x"], [[-1.0], [-1.0]])}, {("x", "x"): (terms, values)}))
    assert family.diffusion_expressions == [[root]] and family.values.tolist() == parameter


@pytest.mark.parametrize("terms", [["x"], ["1", "x"], ["4 x^2"]])
def test_a_covariance_without_an_evident_root_stays_one(terms):
    (family,) = families(draws({"x": (["x"], [[-1.0]])}, {("x", "x"): (terms, [[0.5] * len(terms)])}))
    assert family.diffusion_expressions is None and family.noise_structure == "general"


def test_a_negative_constant_is_cut_off_and_zero_noise_has_no_column():
    gamma = {("x", "x"): (["1"], [[-0.5], [0.0], [0.25]])}
    quiet, noisy = families(draws({"x": (["x"], [[-1.0], [-2.0], [-3.0]])}, gamma))
    assert quiet.members.tolist() == [0, 1] and (quiet.n_noise, quiet.noise_structure) == (0, "none")
    assert noisy.members.tolist() == [2] and (noisy.n_noise, noisy.noise_structure) == (1, "additive")


def test_every_member_is_the_model_that_its_coefficients_say():
    """Whatever the signs, the drift and the covariance of a member are those of its own `SDE`."""
    rng = np.random.default_rng(3)
    terms = ["1", "x - 3", "-y", "x^2", "|x - 1|"]
    values = rng.normal(size=(4, 40, 5)) * (rng.random((4, 40, 5)) < 0.5)
    values[1:, :, 3] = np.abs(values[1:, :, 3])
    pairs = [("x", "x"), ("x", "y"), ("y", "y")]
    values[2, 20:] = 0
    gamma = {pair: (terms, value) for pair, value in zip(pairs, values[1:])}
    with pytest.warns(RuntimeWarning, match="negative eigenvalue"):
        models = repaired(draws({"x": (terms, values[0])}, gamma, ["x", "y"], y="x - y"))
    x = rng.normal(size=(20, 2))
    seen = []
    for family in families(models):
        for member, numbers in zip(family.members, family.values):
            seen.append(int(member))
            shown = dict(zip(family.parameters, numbers.tolist()))
            alone = SDE(models.drift_of(member), gamma=models.gamma_of(member), states=["x", "y"])
            given = np.hstack([x, np.tile(list(shown.values()), (20, 1)).reshape(20, -1)])
            names = [*family.states, *shown]
            together = SDE([*family.drift_expressions, *("0" for _ in shown)], states=names)
            np.testing.assert_allclose(together.drift(given)[:, :2], alone.drift(x), rtol=1e-12)
            rows = family.diffusion_expressions or family.gamma_expressions
            width = len(rows[0])
            if width:
                whole = [*rows, *(["0"] * width for _ in shown)]
                table = SDE(["0"] * len(names), whole, names).diffusion(given)[:, :2]
                found = table @ table.transpose(0, 2, 1) if family.diffusion_expressions else table
            else:
                found = np.zeros((20, 2, 2))
            g = alone.diffusion(x)
            wanted = alone.gamma(x) if family.diffusion_expressions is None else g @ g.transpose(0, 2, 1)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
            structure = alone.noise_structure
            assert family.noise_structure == structure or structure == "none"
    assert sorted(seen) == list(range(40))


def test_constant_covariances_that_are_none_become_the_nearest_with_one_warning():
    terms = ["1"]
    values = {
        ("x", "x"): Sum(terms, np.array([[1.0], [2.0], [-0.5]])),
        ("x", "y"): Sum(terms, np.array([[2.0], [0.5], [0.0]])),
        ("y", "y"): Sum(terms, np.array([[1.0], [1.0], [3.0]])),
    }
    drift = {name: Sum(["x"], -np.ones((3, 1))) for name in "xy"}
    with pytest.warns(
        RuntimeWarning, match="of 2 of 3 models has a negative eigenvalue, the worst -1"
    ) as seen:
        found = repaired(Draws(("x", "y"), {}, drift, values))
    assert len(seen) == 1
    gamma = np.array([found.gamma_of(i) for i in range(3)], dtype=float)
    np.testing.assert_allclose(gamma[0], [[1.5, 1.5], [1.5, 1.5]])
    np.testing.assert_allclose(gamma[1], [[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(gamma[2], [[0.0, 0.0], [0.0, 3.0]])
