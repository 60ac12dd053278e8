"""Every picture draws what it says, returns its axes, takes `ax=`, and is readable with many terms."""

import subprocess
import sys
from itertools import pairwise

import itoscope as ito
import numpy as np
import pytest
from itoscope.show.fit_pictures import states_in
from results import artificial, four_states, measured, noisy, one_state, with_custom_terms

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

PICTURES = ("pip", "posterior", "pairs", "trace", "fit", "residuals")


def axes_of(found):
    return list(np.atleast_1d(np.asarray(found, dtype=object)).flat)


@pytest.mark.parametrize("make", [measured, one_state, four_states, with_custom_terms, noisy])
@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_of_every_kind_of_result(name, make):
    axes = axes_of(getattr(make().plot, name)())
    assert all(isinstance(ax, plt.Axes) for ax in axes)
    axes[0].figure.canvas.draw()


def test_axes_that_are_given_are_used():
    _, ax = plt.subplots()
    assert one_state().plot.posterior("x1", ax=ax) is ax and ax.lines
    with pytest.raises(ito.errors.ArgumentError, match="ax = '1 Axes': 2 Axes"):
        one_state().plot.pip(ax=ax)
    _, pair = plt.subplots(1, 2)
    assert list(one_state().plot.pip(ax=pair)) == list(pair)


def test_equations_by_any_of_their_names():
    plots = four_states().plot
    for key in ("v1", "dv1", ("v1", "v2"), ("v2", "v1"), "Gamma[v1, v2]", None):
        plots.posterior(key)
    with pytest.raises(ito.errors.ArgumentError, match="equation = 'x1': one of dv1, dv2, Gamma"):
        plots.posterior("x1")


def test_pip_shows_every_term_of_a_large_library():
    names = ito.Library.paper(6).names(["x1", "x2"]) + [f"sin({k} x1)" for k in range(2, 25)]
    assert len(names) == 59
    result = artificial(
        {"x1": {"x1": (1.0, 0.1)}, "x2": {}}, {("x1", "x1"): {"1": (1.0, 0.1)}}, library=names
    )
    ax = result.plot.pip()[0]
    ax.figure.canvas.draw()
    labels = ax.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert len(labels) == 59
    overlap = [min(a.y1, b.y1) - max(a.y0, b.y0) for a, b in pairwise(boxes)]
    assert max(overlap) < 0.35 * min(box.height for box in boxes)
    assert all(box.x0 >= 0 for box in boxes)


def test_fit_agrees_with_the_data_it_was_fitted_to_and_not_with_others():
    """Chi-square of the binned estimates: near one per bin for the right model, far off for a wrong one."""

    def misfit(result):
        panel = axes_of(result.plot.fit(bins=12))[0]
        points = panel.containers[0]
        x, y = points.lines[0].get_data()
        error = np.array([(high[1] - low[1]) / 2 for low, high in points.lines[2][0].get_segments()])
        line = np.interp(x, *panel.lines[-1].get_data())
        return float(np.mean(((y - line) / error) ** 2))

    result = one_state()
    # Twelve standardised deviations: their mean square exceeds 3.3 with probability 1e-4 (chi-square over 12).
    assert misfit(result) < 3.3
    k = result.drift["x1"].terms.index("x1")
    kept = result.drift["x1"].mean[k]
    result.drift["x1"].mean[k] = -kept
    try:
        assert misfit(result) > 3.3
    finally:
        result.drift["x1"].mean[k] = kept


def test_fit_has_a_panel_for_each_state_that_the_selected_terms_contain():
    result = artificial(
        {
            "x": {"x y^2": (1.0, 0.1)},
            "xy": {"1": (2.0, 0.1)},
            "y": {"|sin(xy)|": (1.0, 0.1), "x": (1.0, 0.1)},
        },
        {},
    )
    assert [states_in(result, equation) for _, equation in result.keyed()] == [["x", "y"], ["x"], ["x", "xy"]]
    assert states_in(with_custom_terms(), with_custom_terms().drift["x1"]) == ["x1"]
    own = artificial({"x": {"wind load": (1.0, 0.1)}, "y": {}}, {})
    assert states_in(own, own.drift["x"]) == ["x", "y"]


def test_forecast_against_held_out_data():
    result = one_state()
    held = ito.problems.ornstein_uhlenbeck().simulate(duration=2.0, dt=0.01, n_paths=2, seed=9)
    ax = result.plot.forecast(held, path=1, n_paths=20, seed=1)
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["90 % of the ensemble", "50 % of the ensemble", "its mean", "recorded"]
    recorded = ax.lines[-1].get_ydata()
    np.testing.assert_array_equal(recorded, held.paths[1][:, 0])
    with pytest.raises(ito.errors.ArgumentError, match="path = 2"):
        result.plot.forecast(held, path=2)
    with pytest.raises(ito.errors.ArgumentError, match="x0: give the start"):
        measured().plot.forecast(measured().data.select("x1"))


def test_without_the_data_the_error_says_so(tmp_path):
    one_state().save(tmp_path / "saved.npz")
    loaded = ito.Discovery.load(tmp_path / "saved.npz")
    loaded.plot.pip(), loaded.plot.trace()
    loaded.plot.fit(data=one_state().data)
    for name in ("fit", "residuals"):
        with pytest.raises(ito.errors.ArgumentError, match=f"plot.{name} needs the recording"):
            getattr(loaded.plot, name)()


def test_trajectories_with_gaps_and_many_samples():
    x = np.sin(np.linspace(0, 50, 20_000))[:, None]
    x[300:500] = np.nan
    data = ito.Trajectories([x, x[:100]], dt=0.1)
    ax = data.plot()
    drawn = ax.lines[0].get_ydata()
    assert len(drawn) < 5000 and np.isnan(drawn).any()
    assert np.nanmax(drawn) == np.nanmax(x) and np.nanmin(drawn) == np.nanmin(x)
    assert len(measured().data.plot(["x2"], n_paths=3).lines) == 3


def test_matplotlib_is_imported_when_it_is_needed_and_named_when_it_is_missing():
    code = (
        "import sys, itoscope as ito, itoscope.show.plots, numpy as np\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib.pyplot'] = None\n"
        "try: ito.Trajectories(np.zeros((5, 1)), dt=1.0).plot()\n"
        "except ito.errors.MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "itoscope[plot]"' in done.stdout


def test_smoothed_states_of_a_noisy_recording():
    result = noisy()
    axes = result.plot.states(path=2)
    assert len(axes) == 2 and len(axes[0].lines) == 2 and len(axes[1].lines) == 1
    with pytest.raises(ito.errors.ArgumentError, match="path = 4"):
        result.plot.states(path=4)
    with pytest.raises(ito.errors.ArgumentError, match="nothing to smooth"):
        measured().plot.states()


def double_well():
    at = {"x": {"x": (1.0, 0.05), "x^3": (-1.0, 0.05)}}
    return artificial(at, {("x", "x"): {"1": (0.36, 0.005)}}, ["1", "x", "x^3"])


def test_potential_density_and_drift_of_two_wells_with_their_points():
    at = np.linspace(-2, 2, 101)
    plots = double_well().plot
    ax = plots.potential(at)
    curve, *marks = ax.lines
    assert len(curve.get_xdata()) == 101 and [line.get_xdata()[0] for line in marks] == pytest.approx(
        [-1, 1, 0]
    )
    assert [line.get_markerfacecolor() for line in marks] == ["#222222", "#222222", "white"]
    assert [text.get_text() for text in ax.texts] == ["relaxes in 0.5", "relaxes in 0.5", "grows in 1"]
    law = plots.density(at).lines[0].get_ydata()
    assert law[50] < law[25] == pytest.approx(law[75], rel=1e-6)
    drift = plots.fixed_points(at[:, None])
    np.testing.assert_allclose(drift.lines[1].get_ydata()[::200], [6, 0, -6], atol=1e-9)
    assert drift.get_ylabel() == "drift of $x$"


def test_how_many_have_reached_a_level():
    ax = double_well().plot.first_passage(0.0, 1.0, duration=20.0, wall=3.0)
    share = ax.lines[0].get_ydata()
    assert share[0] == pytest.approx(0, abs=1e-9) and (np.diff(share) >= -1e-12).all() and share[-1] > 0.8
    assert ax.get_ylabel() == "$x$ has reached 0" and ax.texts[0].get_text().startswith("mean 9.4 (")


def test_the_plane_of_two_states():
    pytest.importorskip("scipy")
    found = artificial(
        {"x": {"v": (1.0, 0.0)}, "v": {"x": (-1.0, 0.02), "v": (-0.5, 0.02)}},
        {("v", "v"): {"1": (0.5, 0.01)}},
    )
    side = np.linspace(-3, 3, 31)
    ax = found.plot.density(side, side)
    assert ax.get_xlabel() == "$x$" and ax.get_ylabel() == "$v$" and len(ax.collections) == 2
    flow = found.plot.fixed_points([[-1.0, -1.0], [1.0, 1.0]])
    assert [text.get_text() for text in flow.texts] == ["0.16 cycles,\ndamping 0.25"]
    with pytest.raises(ito.errors.ArgumentError, match="of one or two states"):
        four_states().plot.fixed_points()
