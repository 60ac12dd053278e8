"""How something is spelled, named, ordered or measured changes nothing."""

from functools import cache

import itoscope as ito
import numpy as np
import pytest
from printed import latex_tokens, value

SHORT = {"n_chains": 2, "n_samples": 200, "n_burn": 100, "seed": 1}
POINTS = np.random.default_rng(5).normal(size=(20, 2))
NOISES = [0, "estimate"]

# A function of the core is summed in another order where columns or units change; searches stop at the same place.
ROUNDING = 1e-8


@cache
def recording(noise):
    """A stiffening spring with noise on both rows, measured exactly or with 5 % noise."""
    sde = ito.SDE(["x2", "-4 x1 - x1^3 - 0.5 x2"], [["0.1", "0"], ["0", "0.8"]], ["x1", "x2"])
    data = sde.simulate([1.0, 0.0], dt=0.01, n_steps=250, n_paths=2, substeps=5, seed=4)
    return data.add_noise(sd=0.05, seed=2) if noise else data


def spring(noise, paths=None, states=("x1", "x2"), dt=0.01):
    """What is found in the recording, or in its paths in other words."""
    data = ito.Trajectories(recording(noise).paths if paths is None else paths, dt=dt, names=list(states))
    a, b = sorted(states)
    library = ito.Library.polynomials(1) + ito.Library.expressions(f"{a}^3", f"|{b}|", f"{b}|{a}|")
    return ito.discover(data, library, diffusion="diagonal", measurement_noise=noise, **SHORT)


@cache
def found(noise):
    return spring(noise)


def numbers(result):
    """All numbers of a result that are to be the same bits."""
    equations = [equation for _, equation in result.labelled()]
    return [part for e in equations for part in (e.pip, e.mean, e.cov, e.samples)] + [
        result.measurement_noise
    ]


def noise_levels(result):
    levels = result.diagnostics.get("measurement_noise") or {}
    return np.array([levels[state]["sd"] if levels else 0.0 for state in sorted(result.states)])


def same_bits(one, other):
    for a, b in zip(numbers(one), numbers(other), strict=True):
        np.testing.assert_array_equal(a, b)


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=ROUNDING, atol=ROUNDING * np.abs(other).max())


# -- spelling ------------------------------------------------------------------------------------------------
SPELLINGS = [
    ("sgn(x1)", "|x1|", "x1|x1|"),
    ("sign(x1)", "abs(x1)", "|x1|x1"),
    ("(sgn(x1))", "(|x1|)", "abs(x1)*x1"),
    ("sgn((x1))", "sqrt(x1^2)", "x1 abs(x1)"),
]


@cache
def friction(noise, spelling):
    """What is found of dry friction, with terms that can hardly be told apart from it."""
    sde = ito.SDE(["-x1 - sgn(x1)"], [["0.6"]], ["x1"])
    data = sde.simulate([0.5], dt=0.02, n_steps=300, n_paths=2, seed=4)
    library = ito.Library.expressions("1", "x1", *spelling)
    data = data.add_noise(sd=0.1, seed=2) if noise else data
    return ito.discover(data, library, diffusion="constant", measurement_noise=noise, **SHORT)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("spelling", SPELLINGS[1:])
def test_spelling_changes_no_discovery(spelling, noise):
    same_bits(friction(noise, spelling), friction(noise, SPELLINGS[0]))


@pytest.mark.parametrize("spelling", SPELLINGS[1:])
def test_spelling_changes_no_forecast(spelling):
    one, other = (
        friction(0, words).forecast([0.4], duration=0.4, n_paths=20, seed=3)
        for words in (spelling, SPELLINGS[0])
    )
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_labels_of_pictures_mean_their_term_in_every_spelling(spelling):
    pytest.importorskip("matplotlib").use("agg")
    axes = np.atleast_1d(friction(0, spelling).plot.pip())[0]
    labels = [label.get_text() for label in (*axes.get_yticklabels(), *axes.get_xticklabels())]
    shown = [
        value(latex_tokens(label.strip("$")), {"x1": np.array([-1.5, 2.0])})
        for label in labels
        if "x" in label
    ]
    expected = ito.Library.expressions("x1", *SPELLINGS[0]).evaluate(np.array([[-1.5], [2.0]])).T
    assert sorted(map(tuple, shown)) == sorted(map(tuple, expected.tolist()))


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_spelling_changes_no_path(backend):
    settings = {"dt": 0.01, "n_steps": 60, "n_paths": 3, "seed": 4, "scheme": "taylor15", "backend": backend}
    spellings = [
        (["x2", "-x1|x1| - sgn(x2)"], [["0"], ["0.2 + 0.1|x1|"]]),
        (["(x2)", "-(abs(x1)*x1) - sign(x2)"], [["0"], ["0.1*abs(x1) + 0.2"]]),
        (["1*x2", "-|x1| x1 - (sgn(x2))"], [["0/2"], ["(0.2) + |x1|*0.1"]]),
    ]
    paths = [ito.SDE(*sde, ["x1", "x2"]).simulate([0.4, 0.1], **settings).paths for sde in spellings]
    for other in paths[1:]:
        np.testing.assert_allclose(other, paths[0], rtol=1e-12, atol=1e-14)


# -- names ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("states", [("a", "b"), ("Größe", "θ_2")])
def test_names_change_no_discovery(noise, states):
    result = spring(noise, states=states)
    same_bits(result, found(noise))
    renamed = [line.replace("x1", states[0]).replace("x2", states[1]) for line in found(noise).equations()]
    assert result.equations() == renamed
    one, other = (r.forecast([0.5, 0.0], duration=0.2, n_paths=20, seed=3) for r in (result, found(noise)))
    np.testing.assert_array_equal(one.mean, other.mean)


def test_names_change_no_path():
    texts = ["{1} - {0}^3", "-sin({0}) - {1}"], [["0.1 {0}", "0"], ["0", "0.3"]]

    def simulated(*states):
        drift, noise = texts[0], texts[1]
        sde = ito.SDE(
            [t.format(*states) for t in drift], [[t.format(*states) for t in row] for row in noise], states
        )
        return sde.simulate([0.4, 0.1], dt=0.01, n_steps=50, n_paths=3, seed=4).paths

    np.testing.assert_array_equal(simulated("x1", "x2"), simulated("exp", "Größe"))


# -- the order of columns ------------------------------------------------------------------------------------
@pytest.mark.parametrize("noise", NOISES)
def test_the_order_of_columns_changes_no_equation(noise):
    result = spring(noise, [path[:, ::-1] for path in recording(noise).paths], ("x2", "x1"))
    known = found(noise)
    for (a, b), equation in [*((("", s), e) for s, e in known.drift.items()), *known.diffusion.items()]:
        other = result.diffusion[a, b] if a else result.drift[b]
        at = [other.terms.index(term) for term in equation.terms]
        assert np.array_equal(other.selected[at], equation.selected)
        close(other.mean[at], equation.mean)
        np.testing.assert_allclose(other.sd[at], equation.sd, rtol=1e-5 if noise else ROUNDING)
    close(noise_levels(result), noise_levels(known))


def test_the_order_of_states_changes_no_path():
    increments = np.random.default_rng(2).normal(size=(3, 50, 2)) * 0.1
    settings = {"dt": 0.01, "n_steps": 50, "n_paths": 3}
    drift, noise = ["x2 - x1^3", "-sin(x1) - x2"], [["0.1 x1", "0"], ["0", "0.3"]]
    one = ito.SDE(drift, noise, ["x1", "x2"]).simulate([0.4, 0.1], noise=increments, **settings)
    swapped = [row[::-1] for row in noise[::-1]]
    other = ito.SDE(drift[::-1], swapped, ["x2", "x1"])
    other = other.simulate([0.1, 0.4], noise=increments[..., ::-1], **settings)
    np.testing.assert_allclose([p[:, ::-1] for p in other.paths], one.paths, rtol=1e-12)


# -- units ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("noise", NOISES)
def test_units_change_no_equation(noise):
    """Millimetres for metres, kilometres for metres, minutes for hours."""
    units, minutes = np.array([1e3, 1e-3]), 60.0
    result = spring(noise, [path * units for path in recording(noise).paths], dt=0.01 * minutes)
    one, other = found(noise).model(), result.model()
    close(other.drift(POINTS * units) / units * minutes, one.drift(POINTS))
    close(other.gamma(POINTS * units) / np.outer(units, units) * minutes, one.gamma(POINTS))
    for (_, a), (_, b) in zip(result.labelled(), found(noise).labelled(), strict=True):
        close(a.pip, b.pip)
    close(noise_levels(result) / units, noise_levels(found(noise)))
    starts = np.array([0.5, 0.1])
    settings = {"n_steps": 30, "n_paths": 20, "seed": 3}
    bands = (
        result.forecast(starts * units, dt=0.01 * minutes, **settings),
        found(noise).forecast(starts, **settings),
    )
    close(bands[0].mean / units, bands[1].mean)
