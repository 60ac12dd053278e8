"""Writes examples/data/duffing.csv: a Duffing-Van der Pol oscillator under noise that grows with its displacement.

The truth is dx2 = -(2 x2 + 1000 x1 + 1e5 x1^3) dt + 10 x1 dB, simulated with the strong Taylor scheme of order 1.5 at
1/20 of the recorded step. Displacements are rounded to 1e-6 and velocities to 1e-5, far below the noise of a step.
"""

import sys
from pathlib import Path

import itoscope as ito
import numpy as np

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("duffing.csv")
problem = ito.problems.duffing_van_der_pol()
data = problem.simulate(duration=1.0, dt=1e-3, n_paths=60, substeps=20, seed=20)
with open(target, "w") as file:
    file.write("path,time,x1,x2\n")
    for i, (path, times) in enumerate(zip(data.paths, data.times)):
        np.savetxt(file, np.column_stack([times, path]), fmt=f"{i},%.3f,%.6f,%.5f")
print(f"{target}: {data}, {target.stat().st_size / 1e6:.1f} MB")
