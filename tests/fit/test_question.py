"""A question has every argument checked against the data, and says what is saved of it."""

import tracemalloc

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.fit.standard import standard_library

STEPS = np.random.default_rng(1).normal(size=(50, 2)).cumsum(axis=0)


def ask(*, columns=2, names=None, **options):
    data = ito.Trajectories(STEPS[:, :columns], dt=0.1, names=names)
    return Question.of(data, Options(**options))


def test_all_states_without_noise_need_no_filter():
    assert ask().measured and ask(measurement_noise=0).measured and ask(states=["x2", "x1"]).measured
    assert not ask(measurement_noise="estimate").measured
    assert not ask(measurement_noise=0.1).measured
    assert not ask(order=2).measured
    noise = [ask(measurement_noise=n, order=2).settings()["measurement_noise"] for n in (0, 0.1, None)]
    assert noise == [0, 0.1, "estimate"] and ask().settings()["measurement_noise"] == 0
    assert ask(states=["x1", "x2", "u"]).settings()["measurement_noise"] == "estimate"
    assert not ask(states=["x1", "x2", "u"]).measured
    assert not ask(states=["x1", "x2"], observed=["x1", "x2"]).measured


def test_positions_have_velocities_that_are_given():
    found = ask(order=2)
    assert found.states == ("x1", "x2", "v1", "v2") and found.known_drift == {"x1": "v1", "x2": "v2"}
    assert found.rows == (2, 3) and found.pairs == ((2, 2), (3, 3), (2, 3))
    np.testing.assert_array_equal(found.observation, np.eye(4)[:2])
    assert ask(order=2, known_drift={"x1": "2 v1"}).known_drift == {"x1": "2 v1", "x2": "v2"}


@pytest.mark.parametrize(
    ("diffusion", "pairs"),
    [
        ("full", ((0, 0), (1, 1), (0, 1))),
        ("diagonal", ((0, 0), (1, 1))),
        ("constant", ((0, 0), (1, 1), (0, 1))),
        ("none", ()),
    ],
)
def test_the_entries_of_gamma_are_those_asked_for(diffusion, pairs):
    found = ask(diffusion=diffusion)
    assert found.pairs == pairs
    assert found.diffusion_library.names == (["1"] if diffusion == "constant" else found.library.names)


def test_a_given_row_has_no_noise():
    found = ask(known_drift={"x1": "x2"})
    assert found.rows == (1,) and found.pairs == ((1, 1),)


def test_the_library_is_of_monomials_as_far_as_they_are_few():
    poly = ito.Library.polynomials
    assert ask().library.names == ask().diffusion_library.names == poly(3).names(["x1", "x2"])
    assert ask(order=2).library.names == poly(3).names(["x1", "x2", "v1", "v2"])
    driven = ask(columns=1, inputs={"u": np.sin}).library.names
    assert driven == poly(3).names(["x1", "u"])
    assert [standard_library(n) for n in (5, 6, 10, 11, 40)] == [poly(3), poly(2), poly(2), poly(1), poly(1)]
    chosen = ask(library=ito.Library.polynomials(1), diffusion_library=ito.Library.polynomials(0))
    assert chosen.library.names == ["1", "x1", "x2"] and chosen.diffusion_library.names == ["1"]


def test_an_origin_at_the_mean_is_that_of_the_recording():
    mean = STEPS[:, 0].mean()
    library = ito.Library.polynomials(1, origin="mean")
    first = ask(columns=1, library=library).library.names[1]
    assert float(first.replace(" ", "").strip("(x1)")) == pytest.approx(-mean, rel=0.01)
    hidden = ask(columns=1, states=["x1", "u"], known_drift={"x1": "u"}, library=library).library.names
    assert first in hidden and "u" in hidden


def test_given_rows_come_in_the_order_of_the_states():
    found = ask(order=2, known_drift={"x2": "v2", "x1": "v1"})
    assert list(found.known_drift) == ["x1", "x2"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"known_drift": {"u": "x1"}}, "known_drift = 'u': a state: x1, x2"),
        ({"known_drift": {"x1": 3}}, "known_drift['x1'] = 3"),
        ({"known_drift": {"x1": "x2", "x2": "x1"}}, "leave a row to discover"),
        ({"observed": {"g": "x1"}}, "observed = 'g'"),
        ({"backend": "cuda"}, "backend = 'cuda'"),
        ({"progress": "yes"}, "progress = 'yes'"),
        ({"n_samples": 0}, "n_samples = 0"),
    ],
)
def test_what_does_not_fit_the_data_is_refused(options, words):
    with pytest.raises(ArgumentError) as caught:
        ask(**options)
    assert words in str(caught.value)


def test_what_is_saved_has_the_keys_of_before_and_asks_the_same_again():
    found = ask(
        order=2,
        columns=1,
        measurement_noise=0.1,
        seed=7,
        n_chains=3,
        library=ito.Library.polynomials(1),
        threshold=0.6,
    )
    saved = found.settings()
    assert list(saved) == [
        "order", "measurement_noise", "diffusion", "scheme", "weights", "ensemble", "sampler", "n_chains", "n_samples",
        "n_burn", "threshold", "max_rounds", "weight_floor", "known_drift", "seed", "backend", "prior", "library",
        "diffusion_library",
    ]  # fmt: skip
    assert (saved["seed"], saved["backend"], saved["library"]) == (7, "default", ["1", "x1", "v1"])
    assert saved["known_drift"] == {"x1": "v1"} and saved["prior"]["a_p"] == 0.1
    more = ask(states=["a", "b"], observed={"x1": "b - a", "x2": "a"}).settings()
    assert more["states"] == ["a", "b"] and more["observed"] == ["b - a", "a"]


def test_a_seed_that_is_drawn_is_kept():
    first, second = ask().settings()["seed"], ask().settings()["seed"]
    assert first != second and 0 <= first < 2**63


def test_functions_of_python_are_named():
    library = ito.Library.polynomials(1) + ito.Library.custom(np.sin, "wave")
    assert ask(library=library).settings()["custom_terms"] == ["wave"]


def test_asking_makes_nothing_as_long_as_the_recording():
    data, asked = ito.Trajectories(np.zeros((2_000_000, 1)) + 1.0, dt=0.1), Options(measurement_noise=0)
    Question.of(data, asked)
    tracemalloc.start()
    Question.of(data, asked)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000 * 8 / 2
