"""The paper's Bouc-Wen oscillator: learnt from 1 s at s = 2 without its hysteresis, foretold at s = 6."""

import itoscope as ito
import numpy as np

problem, louder = ito.problems.bouc_wen(), ito.problems.bouc_wen(s=6.0)
data = problem.simulate(duration=1.0, dt=1e-3, n_paths=50, substeps=20, seed=1).select(["x1", "x2"])
library = ito.Library.polynomials(3, origin="mean")
result = ito.discover(data, library, known_drift={"x1": "x2"}, seed=1)
print(*result.equations(), sep="\n")

# Three times the forcing: Gamma times nine, the drift as it was learnt.
model = result.model().scaled_noise(6 / 2)
foretold = model.simulate([0.55, 0.0], dt=1e-3, n_steps=60_000, n_paths=4, scheme="taylor15", seed=2)
truth = louder.simulate(duration=60.0, dt=1e-3, n_paths=4, seed=3)
for name in ("x1", "x2"):
    sd = [np.concatenate([p[20_000:] for p in run.select(name).paths]).std() for run in (truth, foretold)]
    print(f"standard deviation of {name} after 20 s: true {sd[0]:.4g}, foretold {sd[1]:.4g}")
