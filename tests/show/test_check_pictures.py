"""`plot.checks` shows what a check that fired has seen, and marks nothing of a fit of the right model."""

from functools import cache

import itoscope as ito
import numpy as np
import pytest
from itoscope.drawing.style import ORANGE
from results import four_states, measured, noisy, one_state, with_custom_terms

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@cache
def wells(degree):
    """A double well under polynomials of this degree."""
    sde = ito.SDE(["3 x - 3 x^3"], [["0.7"]], ["x"])
    data = sde.simulate([1.0], dt=0.01, n_steps=20_000, substeps=10, seed=8)
    return ito.discover(data, ito.Library.polynomials(degree), seed=1, n_samples=200)


def titles(axes):
    return [one.get_title() for one in np.ravel(axes) if one.axison]


def marked(axes):
    return [one.get_title() for one in np.ravel(axes) if one.axison and one.title.get_color() == ORANGE]


def coloured(ax):
    """How many points of a panel are coloured."""
    return sum(
        len(bars.lines[0].get_xdata()) for bars in ax.containers if bars.lines[0].get_color() == ORANGE
    )


def test_the_panel_of_a_check_that_fired_is_named_and_shows_why():
    axes = wells(1).plot.checks()
    assert axes[1, 0].get_title() == "drift shape" and len(titles(axes)) == 10
    fired = {check["name"] for check in wells(1).diagnostics["checks"] if check["fired"]}
    assert "drift shape" in fired
    assert fired - {"drift terms"} <= {name for title in marked(axes) for name in title.split(", ")}
    shape, other = axes[1, 0], axes[1, 1]
    assert coloured(shape) >= 3 > coloured(other)
    assert np.abs(shape.containers[1].lines[0].get_ydata()).max() > 0.05


def test_a_right_fit_has_no_marks_and_points_about_their_level():
    axes = wells(3).plot.checks()
    assert marked(axes) == []
    # 48 points at three standard errors: 6 beyond with probability 1e-9
    assert sum(coloured(one) for one in axes[1]) < 6
    sums = axes[0, 2].lines[1].get_ydata()
    assert np.all(np.abs(sums[:6] - 1.0) < 0.2)


@pytest.mark.parametrize("make", [measured, one_state, four_states, noisy])
def test_every_kind_of_result(make):
    result = make()
    axes = result.plot.checks(simulate=False)
    axes.flat[0].figure.canvas.draw()
    rows = len(result.drift) if result.observer is None else result.data.n_states
    assert len(titles(axes)) == 11 * rows + len(result.drift)
    one = result.plot.checks(
        result.states[0] if result.observer else next(iter(result.drift)), simulate=False
    )
    assert len(titles(one)) == 11 + (len(result.drift) if result.observer else 1)


def panel(axes, title):
    return next(one for one in np.ravel(axes) if title in one.get_title())


def test_a_drift_that_leads_outward_is_drawn_beyond_the_data():
    """Of ten records of a force that saturates, cubics turn outward in nine; a right library in none."""
    sde = ito.SDE(["-3*x/(1 + x^2)"], [["1"]], ["x"])
    data = sde.simulate([0.0], dt=0.01, n_steps=20_000, substeps=5, seed=2)
    outward = ito.discover(data, ito.Library.polynomials(3), seed=1, n_samples=200)
    found = panel(outward.plot.checks(simulate=False), "outward drift")
    assert found.title.get_color() == ORANGE
    x, y = found.lines[1].get_data()
    assert y[-1] > 0.0 or y[0] < 0.0
    right = ito.discover(data, ito.Library.expressions("x/(1 + x^2)"), seed=1, n_samples=200)
    x, y = panel(right.plot.checks(simulate=False), "beyond the data").lines[1].get_data()
    assert y[-1] < 0.0 < y[0] and x[-1] > 1.9 * data.paths[0].max()


def test_numbers_stand_beside_their_bounds():
    data = ito.SDE(["-x"], [["1"]], ["x"]).simulate([0.0], dt=0.7, n_steps=4000, substeps=40, seed=1)
    coarse = ito.discover(data, ito.Library.polynomials(1), scheme="trapezoid", seed=1, n_samples=200)
    found = panel(coarse.plot.checks(simulate=False), "time step")
    assert found.title.get_color() == ORANGE
    named = [label.get_text() for label in found.get_yticklabels()]
    assert found.collections[-1].get_offsets()[named.index("time step"), 0] > 1.0
    assert found.collections[-1].get_offsets()[named.index("variance floor"), 0] < 1.0


def test_another_recording_is_looked_at():
    """A drift of the other sign is seen in the panel of the state, or in that of the drift's strength."""
    right, away = (
        ito.SDE([drift], [["0.7"]], ["x"]).simulate([1.0], dt=0.01, n_steps=5000, substeps=5, seed=3)
        for drift in ("3 x - 3 x^3", "-x")
    )
    assert marked(wells(3).plot.checks(data=right, simulate=False)) == []
    axes = wells(3).plot.checks(data=away, simulate=False)
    assert coloured(axes[0, 3]) >= 3
    assert "same drift" in axes[0, 3].get_title() and axes[0, 3].title.get_color() == ORANGE


def test_what_cannot_be_drawn_is_an_error():
    with pytest.raises(ito.errors.ArgumentError, match="row = 'y': one of x"):
        wells(3).plot.checks("y")
    with pytest.raises(ito.errors.ArgumentError, match="wind load"):
        with_custom_terms().plot.checks()
    with pytest.raises(ito.errors.ArgumentError, match="2 Axes"):
        wells(3).plot.checks(simulate=False, ax=plt.subplots(1, 2)[1])


def test_the_report_has_them(tmp_path):
    wells(1).report(tmp_path / "wells.html")
    assert "What the checks look at" in (tmp_path / "wells.html").read_text()
