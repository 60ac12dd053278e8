"""What is said of the columns of a noisy equation: those that coincide, those that are nearly one, the slab's scale."""

import re
from functools import cache

import itoscope as ito
import numpy as np
import pytest

SMALL = {"n_samples": 300, "n_chains": 2}


@cache
def found(offset, terms, unit="time"):
    """The drift of a series behind noise, small enough for its sine to be nearly itself."""
    rng = np.random.default_rng(5)
    x, keep = np.zeros(1500), np.exp(-0.05)
    for k in range(1, len(x)):
        x[k] = keep * x[k - 1] + 0.2 * np.sqrt(1 - keep**2) * rng.standard_normal()
    seen = offset + x + 0.02 * rng.standard_normal(len(x))
    return ito.discover(
        ito.Trajectories(seen, dt=0.05, names=["x"]), ito.Library.expressions(*terms), diffusion="constant",
        measurement_noise="estimate", prior=ito.Prior(slab_unit=unit), seed=1, **SMALL,
    )  # fmt: skip


def test_nearly_equal_columns_are_one_of_a_group():
    result = found(0.0, ("x", "sin(x)", "x^2"))
    (note,) = [note for note in result.drift["x"].warnings if note.startswith("one of ")]
    assert note.startswith(("one of x, sin(x): 1.00", "one of sin(x), x: 1.00")) and "x^2" not in note
    assert any("one of " in warning for warning in result.warnings)
    assert max(result.drift["x"].pip) < 0.9


def test_columns_that_coincide_are_named():
    drift = found(5.0, ("1", "x", "|x|")).drift["x"]
    assert drift.aliases == {"x": ["|x|"]} and drift.pip[2] == 0.0
    assert drift.warnings == [
        "on these data some terms cannot be told apart, and only the first of each was tried: x = |x|"
    ]


def test_columns_that_differ_are_not_spoken_of():
    drift = found(0.0, ("x", "x^2")).drift["x"]
    assert drift.aliases == {} and drift.warnings == []


def test_the_scale_of_the_slab_is_said():
    assert found(0.0, ("x", "x^2")).settings["slab_scale"] == {"x": pytest.approx(0.05, rel=0.35)}
    assert found(0.0, ("x", "x^2"), "sample").settings["slab_scale"] == {"x": pytest.approx(1.0)}


def test_an_infinite_standard_deviation_is_told():
    seen = [
        -0.05240387,
        0.09760174,
        -0.12178956,
        -0.09777652,
        -0.03804389,
        -0.06574324,
        -0.19524333,
        -0.07207817,
    ]
    data = ito.Trajectories(np.array([*seen, -0.11613336, -0.02814791]), dt=0.01)
    result = ito.discover(
        data, ito.Library.polynomials(1), order=2, measurement_noise="estimate", scheme="euler", threshold=1e-9,
        n_samples=20, n_burn=10, n_chains=2, seed=102,
    )  # fmt: skip
    untold = "its standard deviation is infinite"
    told = [label for label, equation in result.labelled() if any(untold in w for w in equation.warnings)]
    assert told == [label for label, equation in result.labelled() if np.isinf(equation.sd).any()] != []
    assert any(untold in warning and told[0] in warning for warning in result.warnings)
    assert re.search(r"\(\d+ ± inf\)", str(result))  # and not to more digits than anybody knows
