"""Whole calls of PySINDy and of StochasticForceInference on one long recording, for `scale.py`.

    python run_scale.py pysindy recording.npy dt 12   # CPU seconds of PySINDy's STLSQ, drift and Gamma; at most 12 GB
    python run_scale.py sfi recording.npy dt 12       # of StochasticForceInference, linear, sparsified by PASTIS

Prints a line of JSON after each part of the work, what it is and the seconds and megabytes up to there. Runs in the
environment of the peers; NumPy alone is shared.
"""

import json
import os
import resource
import sys
import time
import warnings
from importlib import import_module

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

DEGREE = 6


def by_pysindy(x, dt, told):
    """Drift and Gamma over monomials to degree 6 (28 terms), thresholds as they are by default."""
    import pysindy as ps

    step = np.diff(x, axis=0)
    squares = np.stack([step[:, 0] ** 2, step[:, 1] ** 2], axis=1) / dt
    mixed = np.stack([step[:, 0] * step[:, 1], step[:, 1] * step[:, 0]], axis=1) / dt
    for target in (step / dt, squares, mixed):
        model = ps.SINDy(optimizer=ps.STLSQ(), feature_library=ps.PolynomialLibrary(degree=DEGREE))
        model.fit(x[:-1], t=dt, x_dot=target)
    told("drift and Gamma")


def by_sfi(x, dt, told):
    """Force over monomials to degree 6, diffusion to degree 4, linear, sparsified."""
    from SFI import OverdampedLangevinInference, TrajectoryCollection
    from SFI.bases import monomials_up_to

    engine = OverdampedLangevinInference(TrajectoryCollection.from_arrays(X=x[:, None, :], dt=dt))
    engine.compute_diffusion_constant()
    engine.infer_force_linear(monomials_up_to(order=DEGREE, dim=2, rank="vector"))
    told("force")
    engine.sparsify_force(criterion="PASTIS")
    told("force, sparsified")
    try:
        engine.infer_diffusion_linear(monomials_up_to(order=4, dim=2, rank="symmetric_matrix"))
        told("force, sparsified, and diffusion")
        engine.sparsify_diffusion()
    except RuntimeError as problem:
        print(f"no diffusion: {problem}")
    told("force and diffusion, sparsified")


def main():
    what, path, dt = sys.argv[1], sys.argv[2], float(sys.argv[3])
    most = int(float(sys.argv[4]) * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))  # a shared machine is not to run out of memory
    x = np.load(path)
    warnings.simplefilter("ignore")
    work = {"pysindy": by_pysindy, "sfi": by_sfi}[what]
    out = os.dup(1)
    os.dup2(2, 1)  # what they print is no answer
    import_module({"pysindy": "pysindy", "sfi": "SFI"}[what])  # imports are not counted, compilation is
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def told(part):
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        os.write(out, (json.dumps([part, time.process_time() - began, more]) + "\n").encode())

    work(x, dt, told)


if __name__ == "__main__":
    main()
