"""`from_pysindy`: the same terms in the same order, told from the attributes of PySINDy's libraries."""

from types import SimpleNamespace

import itoscope as ito
import numpy as np
import pytest


def like(kind, **attributes):
    """An object that looks like a library of PySINDy."""
    return type(kind, (SimpleNamespace,), {})(**attributes)


def polynomial(degree=2, interaction=True, only=False, bias=True):
    return like(
        "PolynomialLibrary",
        degree=degree,
        include_interaction=interaction,
        interaction_only=only,
        include_bias=bias,
    )


def test_polynomials():
    assert ito.from_pysindy(polynomial()).names(["x", "v"]) == ["1", "x", "v", "x^2", "x v", "v^2"]
    assert ito.from_pysindy(polynomial(bias=False), ["x", "v"]).names(["x", "v"]) == [
        "x",
        "v",
        "x^2",
        "x v",
        "v^2",
    ]
    assert ito.from_pysindy(polynomial(3, interaction=False)).names(["x", "v"]) == [
        "1", "x", "v", "x^2", "v^2", "x^3", "v^3",
    ]  # fmt: skip
    only = ito.from_pysindy(polynomial(2, only=True), ["x", "v", "z"])
    assert only.names(["x", "v", "z"]) == ["1", "x", "v", "z", "x v", "x z", "v z"]


def test_sums_fourier_and_functions_have_the_values():
    fourier = like("FourierLibrary", n_frequencies=2, include_sin=True, include_cos=True)
    custom = like(
        "CustomLibrary",
        functions=[np.tanh, lambda a, b: a * np.exp(b)],
        function_names=[lambda a: f"tanh {a}", lambda a, b: f"{a} exp {b}"],
        interaction_only=True,
        include_bias=False,
    )
    custom.functions[0] = lambda a: np.tanh(a)
    both = like("ConcatLibrary", libraries=[like("IdentityLibrary"), fourier, custom], n_features_in_=2)
    library = ito.from_pysindy(both)
    x = np.random.default_rng(1).normal(size=(7, 2))
    a, b = x.T
    expected = [a, b, np.sin(a), np.cos(a), np.sin(b), np.cos(b), np.sin(2 * a), np.cos(2 * a), np.sin(2 * b)]
    expected += [np.cos(2 * b), np.tanh(a), np.tanh(b), a * np.exp(b)]
    np.testing.assert_allclose(library.evaluate(x), np.stack(expected, axis=1), rtol=1e-13)
    assert library.names(["x1", "x2"])[-1] == "x1 exp x2"


def test_what_cannot_be_taken_over_is_named():
    with pytest.raises(ito.errors.ArgumentError, match="PDELibrary"):
        ito.from_pysindy(like("PDELibrary"))
    with pytest.raises(ito.errors.ArgumentError, match="states"):
        ito.from_pysindy(polynomial(bias=False))


def test_against_pysindy_itself():
    ps = pytest.importorskip("pysindy")
    x = np.random.default_rng(2).normal(size=(9, 2))
    libraries = [
        ps.PolynomialLibrary(degree=3),
        ps.PolynomialLibrary(degree=2, include_bias=False),
        ps.PolynomialLibrary(degree=3, include_interaction=False),
        ps.PolynomialLibrary(degree=2, interaction_only=True),
        ps.FourierLibrary(n_frequencies=2),
        ps.IdentityLibrary() + ps.FourierLibrary(include_cos=False),
        ps.CustomLibrary([lambda a: np.abs(a), lambda a, b: a * np.abs(b)], interaction_only=False),
    ]
    for library in libraries:
        library.fit(x)
        np.testing.assert_allclose(
            ito.from_pysindy(library).evaluate(x), np.asarray(library.transform(x)), rtol=1e-12
        )
