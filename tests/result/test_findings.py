"""The plain record of a discovery: its equations by name, its models, and what the class with methods adds."""

import pickle
from dataclasses import fields, replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.discovery.result import Discovery
from itoscope.result.findings import Findings, Key
from results import artificial, measured, noisy, with_custom_terms

TWO = artificial(
    {"a": {"b": (1.0, 0.1)}, "b": {"a": (-4.0, 0.2), "b": (-0.5, 0.1)}},
    {("a", "a"): {"1": (0.5, 0.02)}, ("a", "b"): {"1": (0.1, 0.02)}, ("b", "b"): {"1": (0.3, 0.02)}},
)


def test_a_key_says_which_equation():
    assert [str(key) for key, _ in TWO.keyed()] == [label for label, _ in TWO.labelled()]
    assert [label for label, _ in TWO.labelled()] == [
        "da", "db", "Gamma[a, a]", "Gamma[a, b]", "Gamma[b, b]"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (None, Key("a")),
        ("b", Key("b")),
        ("db", Key("b")),
        (("b", "a"), Key("a", "b")),
        ("Gamma[a, b]", Key("a", "b")),
    ],
)
def test_an_equation_by_its_name(name, key):
    found, equation = TWO.find(name)
    assert found == key
    assert equation is (TWO.drift[key.row] if key.column is None else TWO.diffusion[key.row, key.column])


@pytest.mark.parametrize("name", ["c", ("a", "c"), "Gamma[b, a]"])
def test_a_name_that_nothing_has(name):
    with pytest.raises(ito.errors.ArgumentError, match=r"equation = .*: one of da, db, Gamma\[a, a\]"):
        TWO.find(name)


def test_a_discovery_is_its_findings():
    found = Findings(**{f.name: getattr(TWO, f.name) for f in fields(Findings)})
    again = Discovery.of(found)
    assert all(getattr(again, f.name) is getattr(TWO, f.name) for f in fields(Discovery))
    assert type(replace(again, measurement_noise=1.0)) is Discovery
    assert type(pickle.loads(pickle.dumps(again))) is Discovery


def test_drawn_models_are_the_draws():
    drawn = TWO.draw_models(5, seed=3)
    for number, model in enumerate(TWO.sample_models(5, seed=3)):
        assert model == ito.SDE(drawn.drift_of(number), gamma=drawn.gamma_of(number), states=["a", "b"])
    samples = TWO.drift["b"].samples.reshape(-1, 3)
    assert all((row == samples).all(axis=1).any() for row in drawn.drift["b"].values)
    np.testing.assert_array_equal(
        TWO.draw_models(5, seed=3).gamma["a", "b"].values, drawn.gamma["a", "b"].values
    )
    assert TWO.model().gamma([0.0, 0.0]) == pytest.approx(np.array([[0.5, 0.1], [0.1, 0.3]]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0,), "n = 0: a whole number"), ((2, -1), "seed = -1"), ((2, True), "seed = True")],
)
def test_draws_that_are_refused(arguments, words):
    with pytest.raises(ito.errors.ArgumentError, match=words):
        TWO.sample_models(*arguments)


def test_a_function_of_python_is_refused_by_the_label_of_its_equation():
    with pytest.raises(ito.errors.ArgumentError, match="term 'wind load' of dx1 is a function of Python"):
        with_custom_terms().model()


def test_states_are_names_and_smoothed_gives_their_bands():
    result = noisy()
    assert type(result.states) is tuple and result.states == ("x1", "v1")
    found = result.smoothed()
    assert found.names == result.states and len(found.mean) == result.data.n_paths
    band = found.band(0.9)[0]
    assert band.shape == (*found.mean[0].shape, 2)
    assert np.all(band[..., 0] < found.mean[0]) and np.all(found.mean[0] < band[..., 1])
    with pytest.raises(ito.errors.ArgumentError, match="probability = 1"):
        found.band(1)


def test_there_is_nothing_to_smooth_behind_a_measured_recording():
    with pytest.raises(ito.errors.ArgumentError, match="taken as exact"):
        measured().smoothed()
    with pytest.raises(ito.errors.ArgumentError, match="give the recording"):
        replace(noisy(), data=None).smoothed()
