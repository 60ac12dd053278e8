"""Names for figures, thinned paths, and panels."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.drawing import style

plt = pytest.importorskip("matplotlib.pyplot")


def test_names():
    assert style.name_of("x1") == "$x_{1}$"
    assert style.drift_title("v2") == "drift of $v_{2}$"
    assert style.covariance_title("x1", "tau") == r"$\Gamma_{x_{1},\,\tau}$"
    assert style.term_label("x1^2 x2", ["x1", "x2"]) == "$x_{1}^{2} x_{2}$"
    assert style.term_label("wind load", ["x1"]) == "wind load"


def test_a_thinned_path_keeps_its_extremes_and_its_gaps():
    t = np.arange(20_000.0)
    x = np.sin(t / 700)
    x[12_345], x[777] = 5.0, -7.0
    x[300:500] = np.nan
    few_t, few = style.thinned(t, x)
    assert len(few) < 1.2 * style.MOST_SAMPLES and np.isnan(few).any()
    assert (np.nanmax(few), np.nanmin(few)) == (5.0, -7.0)
    assert (np.diff(few_t) > 0).all() and few_t[-1] == t[-1]
    np.testing.assert_array_equal(few, x[few_t.astype(int)])
    assert style.thinned(t[:100], x[:100])[1] is not None and len(style.thinned(t[:100], x[:100])[1]) == 100


def test_samples_that_stand_alone_are_joined():
    t, x = np.arange(30.0), np.full(30, np.nan)
    x[::3] = np.arange(10.0)
    few_t, few = style.thinned(t, x)
    np.testing.assert_array_equal(few, np.arange(10.0))
    np.testing.assert_array_equal(few_t, t[::3])
    x = np.arange(30.0)
    x[10:15] = np.nan  # a gap stays one
    assert np.isnan(style.thinned(t, x)[1]).sum() == 5


def test_a_thinned_band_is_nowhere_narrower():
    t = np.arange(20_000.0)
    low, high = np.sin(t / 700) - 1, np.sin(t / 700) + 1
    low[4321], high[19_999], high[300:500] = -9.0, 8.0, np.nan
    few_t, few_low, few_high = style.thinned_band(t, low, high)
    assert len(few_t) <= style.MOST_SAMPLES and (few_t[0], few_t[-1]) == (t[0], t[-1])
    assert (few_low.min(), np.nanmax(few_high)) == (-9.0, 8.0) and np.isnan(few_high).any()
    off = np.abs(np.interp(few_t, t, low) - few_low)
    assert np.sort(off)[-2] < 0.05
    assert style.thinned_band(t[:100], low[:100], high[:100])[0].shape == (100,)


def test_panels_are_made_or_those_that_were_given():
    assert style.panels(None, 2, 3).shape == (2, 3)
    _, own = plt.subplots(3)
    assert [*style.panels(own, 1, 3).flat] == [*own]
    assert style.label_panels(style.panels(own[0], 1)) is own[0]
    with pytest.raises(ito.errors.ArgumentError, match="ax = '3 Axes': 2 Axes, one per panel"):
        style.panels(own, 2)


def test_the_core_of_draws_leaves_out_the_farthest():
    draws = np.append(np.linspace(-1, 1, 998), [50.0, -90.0])
    assert np.ptp(style.core_of(draws)) < 2.1 and len(style.core_of(draws)) > 990
