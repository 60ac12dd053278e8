"""The picture of docs/noisy.md: what differencing makes of a noisy displacement, and what the filter makes of it."""

from pathlib import Path

import itoscope as ito
import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot

problem = ito.problems.duffing_van_der_pol()
truth = problem.simulate(duration=1.0, dt=1e-3, n_paths=20, substeps=20, seed=1)
seen = truth.positions(noise=0.05, seed=2)
library = ito.Library.polynomials(3)
result = ito.discover(seen, library, order=2, measurement_noise="estimate", diffusion="constant", seed=1)
states = result.smoothed()

part = slice(200, 500)
t, x, y = truth.times[0][part], truth.paths[0][part], seen.paths[0][part, 0]
band = states.band(0.95)[0][part]
figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
left.plot(t, y, ".", ms=2, color="0.6", label="recorded, 5 % noise")
left.plot(t, x[:, 0], color="C0", label="true")
left.set(title="displacement", xlabel="time (s)")
left.legend(frameon=False, fontsize=8)
middle.plot(t[1:], np.diff(y) / 1e-3, lw=0.5, color="0.6", label="difference of the recording")
middle.plot(t, x[:, 1], color="C0", label="true")
middle.set(title="velocity by differencing", xlabel="time (s)")
middle.legend(frameon=False, fontsize=8)
right.fill_between(t, band[:, 1, 0], band[:, 1, 1], color="C1", alpha=0.4, lw=0, label="filter, 95 % band")
right.plot(t, x[:, 1], color="C0", label="true")
right.set(title="velocity by the filter", xlabel="time (s)")
right.legend(frameon=False, fontsize=8)
figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)
