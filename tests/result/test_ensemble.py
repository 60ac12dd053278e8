"""Ensembles from a discovery: which path has which model, on which grid."""

import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.result.ensemble import Asked, simulate
from results import artificial

DECAY = artificial({"x": {"x": (-1.0, 0.3)}}, {})


def test_path_i_has_model_i_and_more_paths_take_turns():
    asked = Asked(n_steps=50, dt=0.01, n_paths=10, substeps=20, seed=7, models=4)
    paths = simulate(DECAY, [1.0], asked).paths
    drawn = DECAY.draw_models(4, seed=7).drift["x"]
    rates = drawn.values[:, drawn.terms.index("x")]
    assert len(set(rates)) == 4
    for number, path in enumerate(paths):
        np.testing.assert_allclose(path[-1, 0], np.exp(0.5 * rates[number % 4]), rtol=1e-3)


def test_without_the_posterior_all_paths_have_the_mean_model():
    paths = simulate(DECAY, [1.0], Asked(n_steps=50, dt=0.01, n_paths=3, posterior=False, substeps=20)).paths
    np.testing.assert_allclose([path[-1, 0] for path in paths], np.exp(-0.5), rtol=1e-3)


def test_each_path_may_have_its_own_start():
    paths = simulate(DECAY, [[1.0], [2.0]], Asked(n_steps=3, dt=0.1, n_paths=2, seed=1)).paths
    assert [path[0, 0] for path in paths] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("asked", "grid"),
    [
        (Asked(n_steps=7), (0.5, 7)),
        (Asked(n_steps=7, dt=0.1), (0.1, 7)),
        (Asked(duration=3.0), (0.5, 6)),
        (Asked(duration=3.0, dt=0.1), (0.1, 30)),
    ],
)
def test_the_grid(asked, grid):
    assert asked.grid(0.5) == grid


@pytest.mark.parametrize(
    ("asked", "dt", "words"),
    [
        (Asked(), 0.1, "one of duration and n_steps"),
        (Asked(n_steps=3, duration=1.0), 0.1, "one of duration and n_steps"),
        (Asked(n_steps=3), None, "uneven steps"),
        (Asked(n_steps=3, dt=-1.0), None, "dt = -1.0: a positive"),
        (Asked(n_steps=2.5), 0.1, "n_steps = 2.5: a whole number"),
        (Asked(duration=-1), 0.1, "duration = -1: a positive"),
    ],
)
def test_a_grid_that_is_none(asked, dt, words):
    with pytest.raises(ArgumentError, match=words):
        asked.grid(dt)


@pytest.mark.parametrize(
    ("x0", "asked", "words"),
    [
        ([1.0, 2.0], Asked(n_steps=3), "x0 = 'shape"),
        ([1.0], Asked(n_steps=3, n_paths=0), "n_paths = 0"),
        ([1.0], Asked(n_steps=3, seed=-1), "seed = -1"),
        ([1.0], Asked(n_steps=3, substeps=0), "substeps = 0"),
        ([1.0], Asked(n_steps=3, scheme="heun"), "scheme = 'heun'"),
    ],
)
def test_what_is_refused(x0, asked, words):
    with pytest.raises(ArgumentError, match=words):
        simulate(DECAY, x0, asked)
