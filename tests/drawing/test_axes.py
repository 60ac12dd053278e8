"""Axes drawn from arrays hold those arrays."""

import numpy as np
import pytest
from itoscope.drawing import bars, over_time, scatter
from itoscope.drawing.bands import bands
from itoscope.drawing.style import BLUE, ORANGE

plt = pytest.importorskip("matplotlib.pyplot")
from matplotlib.colors import to_rgba  # noqa: E402

T = np.linspace(0.0, 2.0, 21)
RNG = np.random.default_rng(1)


@pytest.fixture
def ax():
    return plt.subplots()[1]


def test_paths_are_spread_over_the_list():
    values = [np.full((21, 2), float(i)) for i in range(10)]
    axes = over_time.paths([T] * 10, values, ["x", "v"], n_paths=4, ax=None)
    assert [line.get_ydata()[0] for line in axes[1].lines] == [0, 3, 6, 9]
    assert axes[0].get_title(loc="left") == "4 of 10 paths" and axes[1].get_ylabel() == "$v$"
    np.testing.assert_array_equal(axes[0].lines[1].get_xdata(), T)


def test_smoothed_states_over_what_was_measured():
    mean = np.stack([np.sin(T), np.cos(T)], axis=1)
    axes = over_time.smoothed(T, mean, mean[..., None] + [-0.1, 0.1], ["x", "v"], {"x": 2 * T}, ax=None)
    assert [len(one.lines) for one in axes] == [2, 1]
    np.testing.assert_array_equal(axes[0].lines[0].get_ydata(), 2 * T)
    np.testing.assert_array_equal(axes[1].lines[0].get_ydata(), mean[:, 1])
    band = axes[1].collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((mean[:, 1].min() - 0.1, mean[:, 1].max() + 0.1))


def test_chains_are_drawn_where_they_are_shown(ax):
    draws = RNG.standard_normal((2, 3000))
    over_time.chains(ax, draws, draws > 0, labelled=True)
    assert [line.get_label() for line in ax.lines] == ["chain 1", "chain 2"]
    y = ax.lines[1].get_ydata()
    assert len(y) == 1500 and np.nanmin(y) > 0 and np.isnan(y).any()


def test_bands_with_a_recording_as_far_as_they_reach():
    mean = T[:, None]
    central = {0.5: mean[..., None] + [-1, 1], 0.9: mean[..., None] + [-2, 2]}
    longer = np.arange(50) / 10
    ax = bands(T, ["x"], mean, central, (longer, {"x": longer**2, "other": longer}), ax=None)
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == [
        "90 % of the ensemble", "50 % of the ensemble", "its mean", "recorded",
    ]  # fmt: skip
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), longer[:21] ** 2)
    assert len(bands(T, ["x"], mean, central, None, ax=None).lines) == 1


def test_a_long_ensemble_is_drawn_with_few_points():
    t = np.arange(50_000.0)
    mean = np.sin(t / 900)[:, None]
    ax = bands(t, ["x"], mean, {0.5: mean[..., None] + [-1, 1]}, (t, {"x": mean[:, 0]}), ax=None)
    assert all(len(line.get_xdata()) < 2100 for line in ax.lines) and len(ax.lines) == 2
    assert all(len(path.vertices) < 4100 for fill in ax.collections for path in fill.get_paths())


def test_stems_of_inclusion_are_filled_where_selected(ax):
    bars.inclusion(ax, np.array([0.9, 0.2, 1.0]), np.array([True, False, True]), 0.4)
    assert ax.lines[0].get_xdata()[0] == 0.4
    points = ax.collections[1]
    np.testing.assert_array_equal(points.get_offsets(), [[0.9, 0], [0.2, 1], [1.0, 2]])
    assert [tuple(colour[:3]) == to_rgba(BLUE)[:3] for colour in points.get_facecolors()] == [
        True,
        False,
        True,
    ]


def test_correlations_beyond_twice_the_band_are_coloured(ax):
    bars.correlation(ax, np.array([0.5, -0.01, -0.3]), 0.1)
    colours = [tuple(colour[:3]) for colour in ax.collections[1].get_facecolors()]
    assert [colour == to_rgba(ORANGE)[:3] for colour in colours] == [True, False, True]
    np.testing.assert_array_equal(ax.collections[1].get_offsets()[:, 1], [0.5, -0.01, -0.3])


def test_the_law_integrates_to_one(ax):
    bars.law(ax, 2.0, 0.5, np.array([1.0, 3.0]))
    x, y = ax.lines[0].get_data()
    assert np.sum((y[1:] + y[:-1]) / 2 * np.diff(x)) == pytest.approx(1, abs=1e-3)
    assert list(ax.lines[1].get_xdata()) == [1.0, 3.0]


def test_a_corner_has_clouds_below_its_diagonal_and_nothing_above():
    _, axes = plt.subplots(3, 3)
    draws = RNG.standard_normal((500, 3)) @ np.array([[1, 0.8, 0], [0, 1, 0], [0, 0, 1]])
    scatter.corner(axes, draws, ["a", "b", "c"])
    assert [[one.axison for one in row] for row in axes] == [
        [True, False, False],
        [True, True, False],
        [True] * 3,
    ]
    assert axes[2, 0].get_xlim() == axes[0, 0].get_xlim() and axes[2, 0].get_ylim() == axes[2, 2].get_xlim()
    assert [one.get_xlabel() for one in axes[2]] == ["a", "b", "c"]
    np.testing.assert_array_equal(axes[2, 1].collections[0].get_offsets(), draws[:, [1, 2]])


def test_the_ellipses_hold_half_and_nearly_all(ax):
    x, y = RNG.standard_normal((2, 20_000)) * [[1.0], [3.0]]
    scatter.cloud(ax, x, x + y)
    for line, share in zip(ax.lines, (0.5, 0.95)):
        ring = plt.matplotlib.path.Path(line.get_xydata())
        # Standard error of a share of 2e4 draws: 0.0035 at most; five of them.
        assert ring.contains_points(np.stack([x, x + y], axis=1)).mean() == pytest.approx(share, abs=0.018)


def test_quantiles_of_normal_draws_lie_on_the_line_and_of_others_do_not(ax):
    def far(z):
        ax.clear()
        scatter.quantiles(ax, z)
        normal, found = ax.lines[1].get_data()
        middle = np.abs(normal) < 1.5
        return np.abs(found - normal)[middle].max()

    z = np.append(RNG.standard_normal(10_000), [np.nan] * 50)
    # The standard error of a quantile within 1.5 deviations is at most 0.02 for 1e4 draws; five of them.
    assert far(z) < 0.1 < far(RNG.uniform(-1.5, 1.5, 10_000))


def test_estimates_with_a_model_through_them(ax):
    centre, grid = np.arange(4.0), np.linspace(0, 3, 10)
    scatter.estimates(ax, (centre, centre**2 + 1, np.full(4, 0.5)), (grid, grid**2 + 1, np.full(10, 0.1)))
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), grid**2 + 1)
    np.testing.assert_array_equal(ax.containers[0].lines[0].get_ydata(), centre**2 + 1)
    assert ax.get_ylim()[0] == 0
