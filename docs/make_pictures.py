"""Draw the pictures of results.md into docs/pictures/: `python docs/make_pictures.py`."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import itoscope as ito
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent / "pictures"


def main() -> None:
    """Discover the oscillator of the page and draw it."""
    problem = ito.problems.duffing_van_der_pol()
    data = problem.simulate(duration=1.0, dt=1e-3, n_paths=60, substeps=4, seed=1)
    fitted, held = data.split(0.8)
    result = ito.discover(fitted, ito.Library.paper(4), known_drift={"x1": "x2"}, seed=1)
    pictures = {
        "pip": result.plot.pip(),
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
    pictures |= {"laws": laws(), "laws_two": laws_of_two()}
    for name, axes in pictures.items():
        figure = np.atleast_1d(axes).flat[0].figure
        figure.savefig(HERE / f"{name}.png", dpi=100, metadata={"Software": None})


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


if __name__ == "__main__":
    main()
