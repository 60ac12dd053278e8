"""StochasticForceInference's underdamped estimators on displacements of linear oscillators: stiffness, damping, Gamma.

Started as `python run_sfi_oscillators.py recordings.npz answer.json` in the environment of the package. The recordings
are `paths` (R, n) and `dt`; the answer has a triple by recording for each estimator, NaN where it fails.
"""

import json
import os
import sys

# Set before JAX is imported: single precision loses differences of displacements.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import common
import numpy as np
from SFI import TrajectoryCollection, UnderdampedLangevinInference
from SFI.bases import monomials_up_to


def one(y, dt, parametric):
    """Stiffness, damping and Gamma by one estimator, which knows that there are three terms: 1, x and v."""
    data = TrajectoryCollection.from_arrays(X=y[:, None, None], dt=dt)
    engine = UnderdampedLangevinInference(data)
    basis = monomials_up_to(order=1, dim=1, rank="vector", include_v=True)
    engine.compute_diffusion_constant()
    (engine.infer_force if parametric else engine.infer_force_linear)(basis)
    found = dict(zip(basis.labels, np.asarray(engine.force_coefficients).ravel().tolist()))
    by = {label.split("·")[0].strip("()"): value for label, value in found.items()}
    return [-by["x0"], -by["v0"], float(np.asarray(engine.A).ravel()[0])]


def main():
    """All recordings of a file."""
    source, target = sys.argv[1:3]
    box = np.load(source)
    answer = {}
    for name in ("linear", "parametric"):
        answer[name] = []
        for y in box["paths"]:
            try:
                with common.quiet():
                    answer[name].append(one(y, float(box["dt"]), name == "parametric"))
            except Exception as problem:
                print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
                answer[name].append([float("nan")] * 3)
    with open(target, "w") as out:
        json.dump(answer, out)


if __name__ == "__main__":
    main()
