"""The paper's Bouc-Wen oscillator: noisy displacements of 1 s at s = 2, its hysteresis unseen, foretold at s = 6."""

import itoscope as ito
import numpy as np

problem, louder = ito.problems.bouc_wen(), ito.problems.bouc_wen(s=6.0)
hysteresis = problem.sde.drift_expressions[2]
data = problem.simulate(duration=1.0, dt=1e-3, n_paths=20, substeps=20, seed=1)
data = data.select(["x1", "x3"]).add_noise(0.05, seed=1)

# Of the hysteretic displacement x3 the first sample is kept, the isolator at rest; its equation is in the books.
paths = [np.array(path) for path in data.paths]
for path in paths:
    path[1:, 1] = np.nan
data = ito.Trajectories(paths, dt=1e-3, names=["x1", "x3"])
result = ito.discover(
    data, ito.Library.polynomials(1), states=["x1", "x2", "x3"],
    known_drift={"x1": "x2", "x3": hysteresis}, measurement_noise="estimate", seed=1,
)  # fmt: skip
print(*result.equations(), sep="\n")

# Three times the forcing: Gamma times nine, the drift as it was learnt.
model = result.model().scaled_noise(6 / 2)
foretold = model.simulate(problem.x0, dt=1e-3, n_steps=100_000, n_paths=4, scheme="taylor15", seed=2)
truth = louder.simulate(duration=100.0, dt=1e-3, n_paths=4, seed=3)
for name in ("x1", "x2"):
    sd = [np.mean([path.std() for path in run.select(name).paths]) for run in (truth, foretold)]
    print(f"standard deviation of {name} over 100 s: true {sd[0]:.4g}, foretold {sd[1]:.4g}")
