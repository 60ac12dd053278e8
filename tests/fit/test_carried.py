"""More candidates than a recording can carry are refused with the most that it can, and never taken unasked."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.fit.carried import degree_within, most_carried

SHORT = {"seed": 1, "n_chains": 2, "n_samples": 50, "n_burn": 20}


def walk(n, states=2, seed=1):
    return np.cumsum(0.1 * np.random.default_rng(seed).standard_normal((n, states)), axis=0)


@pytest.mark.parametrize(("noise", "most"), [({}, 199), ({"measurement_noise": 0.01}, 200)])
def test_more_terms_than_steps_are_refused_with_the_largest_that_can(noise, most):
    said = rf"library = '496 terms'.*at most {most}.*{most + 1}.*Library.polynomials\(18\), with 190"
    with pytest.raises(ArgumentError, match=said):
        ito.discover(walk(201), ito.Library.polynomials(30), dt=0.01, **SHORT, **noise)


@pytest.mark.parametrize(("scheme", "samples"), [("auto", 11), ("filter", 10)])
def test_the_largest_that_can_is_taken_and_one_more_is_not(scheme, samples):
    data = walk(samples, states=1)
    asked = {"dt": 0.01, "diffusion": "constant", "scheme": scheme}
    ito.discover(data, ito.Library.polynomials(8), **asked, **SHORT)
    with pytest.raises(ArgumentError, match=r"at most 9: .*, 10, "):
        ito.discover(data, ito.Library.polynomials(9), **asked, **SHORT)


def test_candidates_of_gamma_are_counted_too_and_excluded_ones_are_not():
    data, small = walk(11, states=1), ito.Library.polynomials(1)
    with pytest.raises(ArgumentError, match="diffusion_library = '11 terms'"):
        ito.discover(data, small, dt=0.01, diffusion_library=ito.Library.polynomials(10), **SHORT)
    without = {"x1": ["x1^9", "x1^10"]}
    wide = ito.Library.polynomials(10)
    ito.discover(data, wide, dt=0.01, diffusion="constant", exclude=without, **SHORT)


def test_steps_with_a_missing_end_do_not_count():
    data = walk(12, states=1)
    data[5] = np.nan
    assert most_carried(ito.Trajectories(data, dt=0.1), 1, filtered=False) == 8
    assert most_carried(ito.Trajectories(data, dt=0.1), 1, filtered=True) == 10
    two = ito.Trajectories([walk(12), walk(7)], dt=0.1)
    assert most_carried(two, 2, filtered=False) == 16
    assert most_carried(two, 2, filtered=False, ensemble="mean") == 10
    assert most_carried(two, 2, filtered=True) == 18
    assert most_carried(two, 1, filtered=True) == 37


@pytest.mark.parametrize(
    ("n", "terms"), [(3, 1), (4, 1), (5, 3), (7, 3), (8, 6), (11, 6), (12, 10), (30, 10)]
)
def test_candidates_that_nobody_asked_for_are_no_more_than_can_be_carried(n, terms):
    found = ito.discover(walk(n), dt=0.01, **SHORT)
    assert len(found.drift["x1"].terms) == terms
    assert any("so short a recording" in one for one in found.warnings) == (terms < 10)


def test_harmonics_of_an_angle_end_earlier_too():
    turns = np.cumsum(np.random.default_rng(1).standard_normal(6)) % 360.0
    data = ito.Trajectories(turns[:, None], dt=0.1, names=["angle"], units=["deg"])
    found = ito.discover(data, dt=None, observed=None, **SHORT)
    assert len(found.drift["angle"].terms) <= 4


def test_streams_have_the_steps_of_all_their_blocks():
    rows = walk(31, states=1)
    source = ito.stream(lambda: iter([rows]), dt=0.01)
    with pytest.raises(ArgumentError, match="at most 29"):
        ito.discover(source, ito.Library.polynomials(29), **SHORT)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 6, 9, 10, 200])
def test_the_degree_is_the_largest_of_so_many_monomials(most):
    sizes = [len(ito.Library.polynomials(degree).names(["x", "y"])) for degree in range(20)]
    assert sizes[degree_within(2, most)] <= most < sizes[degree_within(2, most) + 1]
