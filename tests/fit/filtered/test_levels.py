"""The level of the noise is found from wherever the search comes, and never at the cost of likelihood."""

from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.levels import reopened
from itoscope.fit.filtered.model import Model
from itoscope.fit.filtered.recording import Recording
from itoscope.library.library import Library
from itoscope.stats.quadratic import Quadratic
from oscillators import DAMPING, STIFFNESS, coarse, fitted, recording


def test_noise_does_not_stick_at_zero():
    """The random walk of the start takes the restoring force for noise of the path; the answer must not."""
    y, dt, level = recording(0, 20, duration=120.0)
    result = fitted(y, dt, "estimate")
    equation = result.drift["v1"]
    assert result.diagnostics["loglik"] > 6970
    assert result.measurement_noise == pytest.approx(level, rel=0.1)
    found = dict(zip(equation.terms, equation.mean))
    assert found["x1"] == pytest.approx(-STIFFNESS, abs=4 * equation.sd[equation.terms.index("x1")])
    assert found["v1"] == pytest.approx(-DAMPING, abs=4 * equation.sd[equation.terms.index("v1")])


@pytest.mark.parametrize("per_turn", [20, 10])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_estimate_is_never_below_a_given_level(per_turn, seed):
    """Levels over five decades, each a fit of its own with the same candidates."""
    y, dt, level = recording(seed, per_turn)
    free = fitted(y, dt, "estimate").diagnostics["loglik"]
    given = [fitted(y, dt, level * factor).diagnostics["loglik"] for factor in 10.0 ** np.arange(-3, 2)]
    assert free > max(given) - 0.05


@pytest.mark.parametrize(("radians", "seed"), [(0.7, 16), (0.7, 26), (1.0, 1)])
def test_nor_where_the_step_hides_the_noise(radians, seed):
    """At a radian a sample the likelihood is nearly flat in the level, and its top may be near zero."""
    y, level = coarse(seed, radians, 1500)
    free = fitted(y, radians, "estimate")
    given = [fitted(y, radians, level * f).diagnostics["loglik"] for f in (0.01, 0.5, 0.8, 1.0)]
    assert free.diagnostics["loglik"] > max(given) - 0.05
    told = free.diagnostics["measurement_noise"]["x1"]
    assert told["low"] <= told["sd"] <= told["high"]


def relaxing(seed):
    """Two states that turn and relax, both seen, 5 % and 20 % noise."""
    system = ito.SDE(["-x + 2*y", "-2*x - y"], [["0.5", "0"], ["0", "0.5"]], ["x", "y"])
    path = system.simulate([0.3, 0.0], dt=0.1, n_steps=1200, substeps=20, seed=seed).paths[0]
    levels = path.std(axis=0) * [0.05, 0.2]
    return path + levels * np.random.default_rng(seed).standard_normal(path.shape), levels


@pytest.mark.parametrize("seed", [1])
def test_nor_with_several_channels(seed):
    """All channels at one given level: the levels of their own are as likely at least."""
    y, levels = relaxing(seed)
    asked = dict(dt=0.1, diffusion="constant", seed=1, n_samples=100)
    library = ito.Library.polynomials(1)
    free = ito.discover(y, library, measurement_noise="estimate", **asked).diagnostics["loglik"]
    given = [
        ito.discover(y, library, measurement_noise=one, **asked) for one in (1e-3, *levels, levels.mean())
    ]
    assert free > max(result.diagnostics["loglik"] for result in given) - 0.05


# -- with stages that know the likelihood ------------------------------------------------------------------
class TwoHills:
    """Stages whose likelihood of the noise variance has two tops, the lower one where the noise is nothing."""

    def __init__(self, tops):
        self.tops = tops

    def compile(self, expressions, inputs):
        return get_backend("reference").compile(expressions, inputs)

    def filter_loglik(self, space, paths, times):
        if not 1e-30 < space.noise[0] < 1e30:
            return np.array([-np.inf])
        place = np.log10(space.noise[0])
        return np.array([max(height - (place - top) ** 2 for top, height in self.tops)])

    def filter_noise_moments(self, space, paths, times, columns):
        place = np.log10(space.noise[0])
        top, _ = max(self.tops, key=lambda hill: hill[1] - (place - hill[0]) ** 2)
        aim = space.noise[0] * (1.0 + np.log(10.0) * (top - place))
        gram = np.eye(len(columns) + 1) / space.noise[0] ** 2
        values = np.array([*(space.gamma[p, k] for p, k in columns), aim])
        return Quadratic(gram, gram @ values, 1e6, len(paths[0])), np.zeros(1)


def seen(stages, n=400):
    library = Library.polynomials(0).bind(["x"])
    return Recording(
        paths=[np.random.default_rng(1).normal(size=(n, 1))], times=[0.1], candidates=Candidates.of(library),
        observation=np.eye(1), free_noise=np.array([True]), max_step=0.1, stages=stages,
    )  # fmt: skip


def at_noise(noise):
    one = np.ones((1, 1))
    return Model(0.0 * one, one, np.array([noise]), np.zeros(1), one, np.zeros(1))


def test_a_higher_hill_is_found_from_the_lower_and_a_lower_one_is_not_taken():
    for start in (1e-10, 1e-2):
        for stages, best in ((TwoHills([(-9, 0), (-2, 8)]), -2), (TwoHills([(-9, 8), (-2, 0)]), -9)):
            view, model = seen(stages), at_noise(start)
            loglik = view.loglik(model)
            top, height = reopened(view, model, loglik, np.array([1.0]), np.array([1.0]))
            assert height >= loglik and height == pytest.approx(view.loglik(top))
            if best == -2:  # a hill nine decades under the bound is not looked for
                assert np.log10(top.noise[0]) == pytest.approx(best, abs=0.5)
            elif start == 1e-10:
                assert top is model


def test_a_given_level_is_left_alone():
    view = seen(TwoHills([(-9, 0), (-2, 8)]))
    held = replace(view, free_noise=np.array([False]))
    model = at_noise(1e-9)
    assert reopened(held, model, 0.0, np.array([1.0]), np.array([1.0]))[0] is model


def test_a_part_takes_samples_of_paths_spread_over_the_recording():
    view = seen(TwoHills([(0, 0)]))
    paths = [np.full((1000, 1), float(i)) for i in range(20)]
    many = replace(view, paths=paths, times=[0.1] * 19 + [np.arange(1000.0)])
    part = many.part(2000)
    assert part.samples == 2000 and [p[0, 0] for p in part.paths] == [0.0, 10.0]
    one = replace(view, paths=paths[-1:], times=many.times[-1:]).part(300)
    assert one.samples == 300 and len(one.times[0]) == 300
    assert many.part(10**6) is many
