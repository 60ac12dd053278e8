"""Potentials, stationary densities and first passages of systems where they are known."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.result.passage import by_equation
from itoscope.result.plane import settled
from itoscope.result.walk import crossed
from results import artificial, four_states, measured

QUICK = {"seed": 1, "n_samples": 300, "n_burn": 100, "n_chains": 2}


@pytest.fixture(scope="module")
def wells():
    data = ito.SDE(["x - x^3"], [["0.6"]], ["x"]).simulate([1.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
    return ito.discover(data, ito.Library.polynomials(3), **QUICK)


@pytest.fixture(scope="module")
def rolling():
    """A particle with inertia in two wells."""
    sde = ito.SDE(["v", "x - x^3 - 0.5*v"], [["0"], ["0.8"]], ["x", "v"])
    data = sde.simulate([1.0, 0.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
    return ito.discover(data, ito.Library.polynomials(3), known_drift={"x": "v"}, **QUICK)


def test_the_potential_and_the_density_of_two_wells(wells):
    curve = wells.potential()
    inner = np.abs(curve.x) < 1.3
    truth = (curve.x**2 - 1) ** 2 / 4
    assert (curve.low <= curve.mean).all() and (curve.mean <= curve.high).all()
    assert np.mean((curve.low <= truth)[inner] & (truth <= curve.high)[inner]) > 0.8
    density = wells.stationary_density(np.linspace(-2.5, 2.5, 501))
    h = density.x[1] - density.x[0]
    assert density.mean.sum() * h == pytest.approx(1, abs=1e-3)
    law = np.exp(-2 * (density.x**2 - 1) ** 2 / 4 / 0.36)
    assert np.abs(density.mean - law / (law.sum() * h)).sum() * h < 0.1
    seen, _ = np.histogram(wells.data.paths[0][:, 0], bins=25, range=(-2.5, 2.5), density=True)
    assert np.abs(density.mean[10::20] - seen).sum() * 0.2 < 0.2


def test_the_density_of_noise_that_grows_with_the_state_is_that_of_ito():
    """`dx = (1 - x) dt + 0.5 x dB` settles on an inverse gamma law: its density goes as `x^-10 exp(-8 / x)`."""
    result = artificial(
        {"x1": {"1": (1.0, 0.01), "x1": (-1.0, 0.01)}},
        {("x1", "x1"): {"x1^2": (0.25, 0.001)}},
        ["1", "x1", "x1^2"],
    )
    at = np.linspace(0.1, 6, 2000)
    found = result.stationary_density(at)
    law = at**-10.0 * np.exp(-8 / at)
    h = at[1] - at[0]
    assert np.abs(found.mean - law / (law.sum() * h)).sum() * h < 0.02


# -- two states ---------------------------------------------------------------------------------------------------
def plane(law, drift, gamma, x, y):
    """The integral of the distance of a solution from a law that is given up to a factor."""
    pytest.importorskip("scipy")
    at = np.meshgrid(x, y, indexing="ij")
    f = np.stack(np.broadcast_arrays(*drift(*at)), axis=-1)
    g = np.zeros((*at[0].shape, 2, 2))
    for (i, j), entry in gamma(*at).items():
        g[..., i, j] = g[..., j, i] = entry
    found, area = settled(x, y, f, g), (x[1] - x[0]) * (y[1] - y[0])
    truth = law(*at)
    assert (found >= 0).all() and found.sum() * area == pytest.approx(1)
    return np.abs(found - truth / (truth.sum() * area)).sum() * area


def two_wells(n):
    side = np.linspace(-2.6, 2.6, n), np.linspace(-3.5, 3.5, n)
    return plane(
        lambda x, v: np.exp(-(v**2 / 2 + x**4 / 4 - x**2 / 2) / 0.7),
        lambda x, v: (v, x - x**3 - 0.5 * v),
        lambda x, v: {(1, 1): 0.7},
        *side,
    )


def test_position_and_velocity_in_two_wells_settle_on_the_law_of_boltzmann():
    """Of second order in the step, though the position has no noise."""
    fine, coarse = two_wells(81), two_wells(41)
    assert fine < 1.5e-3 and coarse > 3.0 * fine


def test_correlated_noise_settles_on_the_normal_law_of_lyapunov():
    drift, gamma = np.array([[-1.0, 0.5], [-1.0, -1.5]]), np.array([[0.5, 0.3], [0.3, 0.8]])
    eye = np.eye(2)
    cov = np.linalg.solve(np.kron(drift, eye) + np.kron(eye, drift), -gamma.ravel()).reshape(2, 2)
    inverse = np.linalg.inv(cov)
    side = np.linspace(-3.5, 3.5, 81)

    def law(x, y):
        return np.exp(-0.5 * (inverse[0, 0] * x**2 + 2 * inverse[0, 1] * x * y + inverse[1, 1] * y**2))

    def rates(x, y):
        return drift[0, 0] * x + drift[0, 1] * y, drift[1, 0] * x + drift[1, 1] * y

    def noise(x, y):
        return {(0, 0): 0.5, (0, 1): 0.3, (1, 1): 0.8}

    assert plane(law, rates, noise, side, side) < 5e-3
    without = plane(law, rates, lambda x, y: {(0, 0): 0.5, (1, 1): 0.8}, side, side)
    assert without > 0.1


def test_noise_that_grows_with_one_of_two_states():
    x, y = np.linspace(0.05, 6, 161), np.linspace(-3, 3, 61)
    found = plane(
        lambda x, y: x**-10.0 * np.exp(-8 / x) * np.exp(-(y**2)),
        lambda x, y: (1 - x, -y),
        lambda x, y: {(0, 0): 0.25 * x**2, (1, 1): 1.0},
        x,
        y,
    )
    assert found < 0.02


def test_the_density_of_a_recorded_particle_in_two_wells(rolling):
    pytest.importorskip("scipy")
    found = rolling.stationary_density(np.linspace(-2.6, 2.6, 53), np.linspace(-3.5, 3.5, 61))
    area = (found.x[1] - found.x[0]) * (found.y[1] - found.y[0])
    x, v = np.meshgrid(found.x, found.y, indexing="ij")
    law = np.exp(-(v**2 / 2 + x**4 / 4 - x**2 / 2) / 0.64)
    law /= law.sum() * area
    assert found.mean.shape == (53, 61) and 0.0 < found.error < 0.02
    assert np.abs(found.mean - law).sum() * area < 0.1
    core = law > 0.1 * law.max()
    assert np.mean(((found.low <= law) & (law <= found.high))[core]) > 0.8
    assert (found.low <= found.high).all()


# -- first passage ------------------------------------------------------------------------------------------------
def passage(drift, gamma, ends, start, both=False, nodes=201):
    x = np.linspace(*ends, nodes)
    place = int(np.argmin(np.abs(x - start)))
    assert x[place] == pytest.approx(start)
    times, found = by_equation(x, place, drift(x)[None], gamma(x)[None], both, None)
    return float(found.mean[0]), float(found.sd[0]), times, found.share[0]


def test_a_brownian_path_leaves_an_interval():
    """From `x` between `-a` and `a` in the mean time `a^2 - x^2`, with the variance `2 (a^4 - x^4) / 3`."""
    mean, sd, times, share = passage(lambda x: 0 * x, lambda x: 1 + 0 * x, (-1, 1), 0.5, both=True)
    assert mean == pytest.approx(0.75, rel=1e-3) and sd == pytest.approx(
        np.sqrt(2 * (1 - 0.0625) / 3), rel=1e-3
    )
    t = times[40]
    odd = np.arange(1, 60, 2)
    left = (
        4 / np.pi / odd * (-1) ** (odd // 2) * np.cos(odd * np.pi / 4) * np.exp(-((odd * np.pi) ** 2) * t / 8)
    ).sum()
    assert share[0] == pytest.approx(0, abs=1e-9) and share[40] == pytest.approx(1 - left, abs=1e-3)


def test_a_brownian_path_before_a_wall():
    """From `x` to `a` with a wall at 0 in the mean time `a^2 - x^2`."""
    mean, *_ = passage(lambda x: 0 * x, lambda x: 1 + 0 * x, (0, 2), 0.5)
    assert mean == pytest.approx(3.75, rel=1e-3)


def test_a_process_of_ornstein_and_uhlenbeck_climbs_to_one_standard_deviation():
    """Of `dx = -x dt + dB` from 0 to 1: `sqrt(pi)` times the integral of `exp(y^2) (1 + erf y)`."""
    special, integrate = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.integrate")
    truth = integrate.quad(lambda y: np.exp(y * y) * np.sqrt(np.pi) * (1 + special.erf(y)), 0, 1)[0]
    mean, sd, times, share = passage(lambda x: -x, lambda x: 1 + 0 * x, (-6, 1), 0.0, nodes=281)
    assert mean == pytest.approx(truth, rel=2e-3)
    rest = (1 - share[-1]) * mean
    assert np.sum(1 - (share[1:] + share[:-1]) / 2) * times[1] + rest == pytest.approx(mean, rel=0.01)
    assert 0.9 * mean < sd < 1.1 * mean


def test_a_barrier_of_sixty_times_the_noise_is_no_trouble():
    """The law of Kramers: the time over a high barrier is `2 pi / sqrt(|U''| U'') exp(2 dU / Gamma)`."""
    gamma = 0.5 / 60
    mean, *_ = passage(lambda x: x - x**3, lambda x: gamma + 0 * x, (-2, 1), -1.0, nodes=1201)
    assert np.log(mean) == pytest.approx(np.log(np.sqrt(2) * np.pi) + 60, abs=0.05)


def test_steps_that_reach_a_level_and_come_back_between_two_samples():
    """Of a Brownian path with 64 steps over a unit of time, beside the law of its maximum, `P(M > 1) = 0.3173`."""
    rng = np.random.default_rng(1)
    x = np.cumsum(np.append(np.zeros((20000, 1)), rng.normal(scale=1 / 8, size=(20000, 64)), axis=1), axis=1)
    spread, draws = np.full((20000, 64), 1 / 64), rng.random((20000, 64))
    share = crossed(x, (1.0,), spread, draws).any(axis=1).mean()
    assert share == pytest.approx(0.3173, abs=0.013)  # four standard errors
    assert crossed(x, (1.0,), 0 * spread, draws).any(axis=1).mean() < 0.29


def test_over_the_rim_of_a_well_and_out_of_it(wells):
    over = wells.first_passage(0.0, 1.0)
    mean, sd, *_ = passage(lambda x: x - x**3, lambda x: 0.36 + 0 * x, (-3, 0), -1.0, nodes=301)
    assert over.mean.low < mean < over.mean.high and over.sd.low < sd < over.sd.high
    back = wells.first_passage(0.0, -1.0)
    assert back.mean.low < mean < back.mean.high
    assert over.method == "equation" and str(over).startswith("x from 1 to 0: mean ")
    early, late = over.probability(1.0), over.probability(20.0)
    assert 0.0 <= early.low <= early.value <= early.high < late.value < 1.0
    out = wells.first_passage((-0.5, 0.5), 0.0)
    inside, *_ = passage(lambda x: x - x**3, lambda x: 0.36 + 0 * x, (-0.5, 0.5), 0.0, both=True)
    assert out.level == (-0.5, 0.5) and out.mean.value == pytest.approx(inside, rel=0.05)
    brief = wells.first_passage(0.0, 1.0, duration=2.0)
    assert brief.arrived.x[-1] == 2.0 and brief.mean == over.mean


def test_the_other_well_is_reached_as_by_fine_simulation(rolling):
    sde = ito.SDE(["v", "x - x^3 - 0.5*v"], [["0"], ["0.8"]], ["x", "v"])
    paths = sde.simulate([1.0, 0.0], dt=0.05, n_steps=2000, substeps=5, n_paths=1000, seed=2)
    first = np.array(
        [np.argmax(path[:, 0] <= -1.0) * 0.05 if (path[:, 0] <= -1).any() else 100 for path in paths.paths]
    )
    found = rolling.first_passage(-1.0, [1.0, 0.0])
    assert found.method == "simulation" and found.state == "x"
    assert found.mean.low < first.mean() < found.mean.high
    assert found.probability(5.0).value == pytest.approx((first <= 5).mean(), abs=0.12)
    cut = rolling.first_passage(-1.0, [1.0, 0.0], duration=2.0)
    assert np.isnan(cut.mean.value) and cut.arrived.x[-1] == 2.0


def test_what_has_no_law_says_so(wells, rolling, tmp_path):
    loaded = ito.Discovery.load(wells.save(tmp_path / "found"))
    curve = loaded.potential(np.linspace(-1, 1, 201))
    np.testing.assert_allclose(curve.mean[::100], [0, 0.25, 0], atol=0.05)
    held, free = loaded.first_passage(0.5, 1.0, wall=3.0), wells.first_passage(0.5, 1.0)
    assert held.mean.value == pytest.approx(free.mean.value, rel=2e-3)
    refused = ito.errors.ArgumentError
    with pytest.raises(refused, match="of one state"):
        measured().potential()
    with pytest.raises(refused, match="one or two states"):
        four_states().stationary_density()
    with pytest.raises(refused, match="increasing"):
        wells.potential([1.0, 0.0, 2.0])
    with pytest.raises(refused, match="wall: give one"):
        loaded.first_passage(0.5, 1.0)
    with pytest.raises(refused, match="wall = 0"):
        wells.first_passage(0.5, 1.0, wall=0.0)
    for wall in (6.0, 100.0, 1e6):
        with pytest.raises(
            refused, match=rf"wall = {wall}: a state between 1 and [34]\.\d+: .* holds nothing"
        ):
            wells.first_passage(0.5, 1.0, wall=wall)
    with pytest.raises(refused, match="holds nothing"):
        wells.first_passage(-0.5, -1.0, wall=-50.0)
    with pytest.raises(refused, match="y = "):
        wells.stationary_density(y=[0.0, 1.0, 2.0])
    with pytest.raises(refused, match="even steps"):
        rolling.stationary_density([0.0, 1.0, 2.0, 3.0, 5.0])
    with pytest.raises(refused, match="level = "):
        wells.first_passage([0.0, 1.0, 2.0], 0.5)
    with pytest.raises(refused, match="not there yet"):
        wells.first_passage((-0.5, 0.5), 1.0)
    with pytest.raises(refused, match="state = "):
        rolling.first_passage(0.0, [1.0, 0.0], state="y")
    with pytest.raises(refused, match="shape"):
        rolling.first_passage(0.0, 1.0)
