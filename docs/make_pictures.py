"""Draw the pictures of results.md and sensors.md into docs/pictures/: `python docs/make_pictures.py`."""

import io
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import itoscope as ito
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

HERE = Path(__file__).parent / "pictures"
#: Colours of a picture.
COLOURS = 128


def main() -> None:
    """Discover the oscillator of the page and draw it."""
    problem = ito.problems.duffing_van_der_pol()
    data = problem.simulate(duration=1.0, dt=1e-3, n_paths=60, substeps=4, seed=1)
    fitted, held = data.split(0.8)
    result = ito.discover(fitted, ito.Library.paper(4), known_drift={"x1": "x2"}, seed=1)
    pictures = {
        "recording": data.plot(),
        "pip": result.plot.pip(),
        "posterior": result.plot.posterior("x2"),
        "trace": result.plot.trace("x2"),
        "fit": result.plot.fit(),
        "pairs": result.plot.pairs("x2"),
        "residuals": result.plot.residuals(),
        "checks": line().plot.checks(),
        "forecast": result.plot.forecast(held, seed=2),
    }
    seen = data[:20].positions(noise=0.05, seed=2)
    library = ito.Library.polynomials(3)
    hidden = ito.discover(seen, library, order=2, measurement_noise="estimate", seed=1)
    pictures |= {"noisy_fit": hidden.plot.fit(), "noisy_states": hidden.plot.states()}
    pictures |= {"laws": laws(), "laws_two": laws_of_two(), "sensors": sensors(), "angles": angles()}
    for name, axes in pictures.items():
        figure = np.atleast_1d(axes).flat[0].figure
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=100)
        Image.open(drawn).convert("RGB").quantize(COLOURS).save(HERE / f"{name}.png", optimize=True)


def line() -> ito.Discovery:
    """A double well, fitted by a line."""
    sde = ito.SDE(["3 x - 3 x^3"], [["0.7"]], ["x"])
    data = sde.simulate([1.0], dt=0.01, n_steps=20_000, substeps=10, seed=8)
    return ito.discover(data, ito.Library.polynomials(1), seed=1)


def laws() -> np.ndarray:
    """What the equation of a double well means."""
    data = ito.SDE(["x - x^3"], [["0.6"]], ["x"]).simulate([1.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
    plot = ito.discover(data, ito.Library.polynomials(3), seed=1).plot
    _, axes = plt.subplots(2, 2, figsize=(8.4, 5.4), layout="constrained")
    plot.potential(ax=axes[0, 0])
    plot.density(ax=axes[0, 1])
    plot.fixed_points(ax=axes[1, 0])
    plot.first_passage(0.0, 1.0, ax=axes[1, 1])
    return axes


def laws_of_two() -> np.ndarray:
    """What the equation of a particle with inertia in a double well means."""
    sde = ito.SDE(["v", "x - x^3 - 0.5*v"], [["0"], ["0.8"]], ["x", "v"])
    data = sde.simulate([1.0, 0.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
    plot = ito.discover(data, ito.Library.polynomials(3), known_drift={"x": "v"}, seed=1).plot
    _, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
    plot.density(ax=axes[0])
    plot.fixed_points(ax=axes[1])
    return axes


def sensors() -> np.ndarray:
    """A sensor that is off by far now and then, and one that shows every third sample."""
    x = (
        ito.SDE(["-1.5*x1"], [["0.9"]], ["x1"])
        .simulate([0.3], dt=0.05, n_steps=600, substeps=20, seed=3)
        .paths[0][:, 0]
    )
    rng = np.random.default_rng(1)
    gps, camera = x + 0.1 * rng.standard_normal(len(x)), x + 0.15 * rng.standard_normal(len(x))
    gps[rng.choice(len(x), 12, replace=False)] += 4.0
    camera[np.arange(len(x)) % 3 != 0] = np.nan
    data = ito.Trajectories(np.column_stack([gps, camera]), dt=0.05, names=["gps", "camera"])
    shown = {"observed": {"gps": "x1", "camera": "x1"}, "noise_law": {"gps": "outliers"}}
    return ito.discover(
        data, ito.Library.polynomials(2), diffusion="constant", seed=1, **shown
    ).plot.sensors()


def angles() -> np.ndarray:
    """A motor whose angle is read up to whole turns."""
    motor = ito.SDE(["1 + 0.5*sin(theta)"], [["0.5"]], ["theta"])
    turning = motor.simulate([0.3], dt=0.02, n_steps=4000, substeps=20, seed=1).paths[0][:, 0]
    read = np.mod(turning + 0.1 * np.random.default_rng(1).standard_normal(len(turning)), 2 * np.pi)
    data = ito.Trajectories(read, dt=0.02, names=["theta"])
    result = ito.discover(data, observed={"theta": ito.Angle("theta")}, measurement_noise="estimate", seed=1)
    _, axes = plt.subplots(2, 2, figsize=(8.4, 4.6), layout="constrained")
    result.plot.fit(ax=axes[0])
    result.plot.states(ax=axes[1, 0])
    result.plot.forecast(seed=1, duration=12.0, ax=axes[1, 1])
    return axes


if __name__ == "__main__":
    main()
