"""The self-check: a right fit is consistent, a wrong one is not, and what it says comes from the data."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.discovery import selfcheck

DT, N = 0.02, 6000


def path(seed, drift, noise=1.0):
    w = noise * np.sqrt(DT) * np.random.default_rng(seed).normal(size=N)
    x = np.zeros((N, 1))
    for k in range(1, N):
        x[k] = x[k - 1] + drift(x[k - 1]) * DT + w[k]
    return ito.Trajectories(x, dt=DT)


def well(x):
    return x - x**3


def fit(data, degree, **options):
    return ito.discover(data, ito.Library.polynomials(degree), seed=1, n_samples=300, **options)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_right_fit_is_consistent(seed):
    found = fit(path(seed, well), 3).self_check(seed=seed)
    assert found["consistent"] and found["largest"] < selfcheck.FAR and found["exploded"] == 0
    assert {row["term"] for row in found["terms"] if row["equation"] == "dx1"} >= {"x1", "x1^3"}
    assert not any(check["fired"] for check in found["checks"])


def test_it_tells_spread_extremes_and_spectrum_of_data_and_model():
    data = path(1, well)
    found = fit(data, 3).self_check(seed=1)
    own, made = found["spread"]["x1"]
    assert own == pytest.approx(float(data.sd()[0])) and made == pytest.approx(own, rel=0.15)
    assert all(share == pytest.approx(0.01, abs=1e-3) for share, _ in found["extremes"]["x1"].values())
    assert len(found["spectrum"]["x1"]) == 10
    for own, made in found["spectrum"]["x1"].values():
        assert 0.2 < own / made < 5


@pytest.mark.parametrize("degree", [0, 1])
def test_a_double_well_fitted_by_a_line_or_by_nothing_is_not_consistent(degree):
    """The fit finds itself again, and is wrong all the same."""
    found = fit(path(1, well), degree).self_check(seed=1)
    assert found["largest"] < selfcheck.FAR and found["consistent"] is False
    assert {"drift shape"} <= {check["name"] for check in found["checks"] if check["fired"]}


def test_a_model_that_is_held_against_other_data_is_not_consistent():
    """Noise twice as strong: the spread is named, though the same fit would find the model in its simulation."""
    found = fit(path(1, well), 3).self_check(seed=1, data=path(2, well, noise=2.0))
    assert found["consistent"] is False
    assert {"spread", "same noise"} <= {check["name"] for check in found["checks"] if check["fired"]}
    own, made = found["spread"]["x1"]
    assert own > 1.15 * made


def test_a_fit_that_does_not_find_itself_again_is_not_consistent(monkeypatch):
    result, solve = fit(path(1, well), 3), selfcheck.solve

    def other(question):
        found = solve(question)
        found.drift["x1"].mean[:] *= 4
        return found

    monkeypatch.setattr(selfcheck, "solve", other)
    found = result.self_check(seed=1)
    assert found["largest"] > selfcheck.FAR and found["consistent"] is False
    assert not any(check["fired"] for check in found["checks"])


def test_a_doubtful_term_is_compared_where_both_fits_have_it():
    """A term that one fit is not sure of and the other lacks says nothing."""
    result, other = fit(path(1, well), 3), fit(path(1, well), 3)
    row = result.drift["x1"]
    assert selfcheck._compared(result, other)[1] == 0
    absent = int(np.flatnonzero(~row.selected)[0])
    row.selected[absent], row.mean[absent], row.sd[absent], row.pip[absent] = True, 10.0, 0.1, 0.6
    rows, worst = selfcheck._compared(result, other)
    assert worst == 0 and not rows[absent]["both selected"]
    row.pip[absent] = 0.99
    assert selfcheck._compared(result, other)[1] > 50
