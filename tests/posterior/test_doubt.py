"""Doubt between models: which one is shown, how the others are named, what intervals then are."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.posterior.words import near_notes
from itoscope.result.models import system_models
from regressions import moments_of


def cubic(noise=1.0, n=400, seed=0):
    """Odd powers on a narrow range, of which the data do not say which it is."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.2, 1.2, n)
    u = np.stack([x, x**3, x**5, np.ones(n)], axis=1)
    m = moments_of(u, x - x**3 + noise * rng.normal(size=n))
    return ito.Moments(m.gram, m.moment, m.yy, m.n, ["x", "x^3", "x^5", "1"])


def certain():
    rng = np.random.default_rng(1)
    u = rng.normal(size=(400, 3))
    m = moments_of(u, u[:, 0] + 0.1 * rng.normal(size=400))
    return ito.Moments(m.gram, m.moment, m.yy, m.n, ["x", "y", "z"])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sampler", ["exact", "gibbs"])
def test_what_is_shown_is_never_less_probable_than_the_most_probable_model(sampler, seed):
    equation = cubic(seed=seed).sample(sampler=sampler, seed=1)
    shown = tuple(term for term, inside in zip(equation.terms, equation.selected) if inside)
    exact = cubic(seed=seed).sample(sampler="exact", seed=1)
    assert shown == exact.leading(1)[0][0]
    strict = cubic(seed=seed).sample(sampler=sampler, seed=1, threshold=0.9)
    assert (strict.selected == (strict.pip > 0.9)).all()


@pytest.mark.parametrize("seed", range(4))
def test_of_all_models_the_most_probable_is_shown_whatever_was_drawn(seed):
    few = cubic().sample(sampler="exact", seed=seed, n_samples=1, n_chains=1)
    (leading, mass), *_ = few.leading(1)
    assert mass < 0.5
    assert tuple(few.terms[k] for k in np.flatnonzero(few.selected)) == leading


def test_doubt_is_told_with_the_models_that_lead():
    equation = cubic().sample(seed=1)
    assert equation.doubtful and equation.leading(1)[0][1] < 0.8
    (doubt,) = [
        note for note in near_notes([("dx", equation)]) if note.startswith("the models of dx that lead")
    ]
    terms, mass = equation.leading(1)[0]
    assert f"{{{', '.join(terms) or '0'}}} {mass:.2f}" in doubt
    assert "that lead" in repr(equation) and "that lead" in equation._repr_html_()
    sure = certain().sample(seed=1)
    assert not sure.doubtful and "that lead" not in repr(sure)


def test_long_models_in_doubt_are_told_by_their_differences():
    rng = np.random.default_rng(2)
    u = rng.normal(size=(400, 12))
    u[:, 10] = u[:, 9] + 0.05 * rng.normal(size=400)
    m = moments_of(u, u[:, :10].sum(axis=1) + 0.5 * rng.normal(size=400))
    equation = ito.Moments(m.gram, m.moment, m.yy, m.n, [f"term{k}" for k in range(12)]).sample(seed=1)
    assert equation.doubtful and equation.selected.sum() > 6
    (doubt,) = [note for note in near_notes([("dx", equation)]) if "that lead" in note]
    assert "{as shown} " in doubt and ("- term" in doubt or "+ term" in doubt)
    assert "term3" not in doubt and len(doubt) < 400


def test_intervals_are_averaged_where_there_is_doubt():
    equation = cubic().sample(seed=1)
    np.testing.assert_array_equal(equation.interval(0.9), equation.interval(0.9, kind="averaged"))
    given = equation.interval(0.9, kind="model")
    assert (given[~equation.selected] == 0).all()
    draws = equation.samples.reshape(-1, 4)
    inside = (equation.interval(0.9)[:, 0] <= draws) & (draws <= equation.interval(0.9)[:, 1])
    assert (inside.mean(axis=0) > 0.89).all()
    sure = certain().sample(seed=1)
    np.testing.assert_array_equal(sure.interval(0.9), sure.interval(0.9, kind="model"))
    with pytest.raises(ito.errors.ArgumentError, match="kind"):
        sure.interval(0.9, kind="both")


def test_whole_systems_are_products_of_their_equations():
    first, second = cubic().sample(seed=1), certain().sample(seed=1)
    systems = system_models([("dx", first), ("dy", second)], 50)
    masses = [system.mass for system in systems]
    assert masses == sorted(masses, reverse=True) and sum(masses) == pytest.approx(1, abs=1e-3)
    top = systems[0]
    assert top.terms == {"dx": first.leading(1)[0][0], "dy": second.leading(1)[0][0]}
    assert top.mass == pytest.approx(first.leading(1)[0][1] * second.leading(1)[0][1])
    assert [s.mass for s in system_models([("dx", first), ("dy", second)], 2)] == masses[:2]
