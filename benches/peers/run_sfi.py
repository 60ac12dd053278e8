"""StochasticForceInference on one case: the linear and the parametric estimator, both sparsified by PASTIS."""

import os
import re

# Set before JAX is imported: single precision loses the monomials of small displacements.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import common
import numpy as np
from SFI import OverdampedLangevinInference, TrajectoryCollection, UnderdampedLangevinInference
from SFI.bases import monomials_up_to

LABEL = re.compile(r"^\(?(?P<term>.*?)\)?·(?P<kind>[eS])(?P<at>\d+)$")


def prepared(case):
    """Engine and bases; the paths are the particles of one collection."""
    q, second = case.paths.shape[2], case.order == 2
    data = TrajectoryCollection.from_arrays(X=np.swapaxes(case.paths, 0, 1), dt=case.dt)
    engine = (UnderdampedLangevinInference if second else OverdampedLangevinInference)(data)
    force = monomials_up_to(order=case.degree, dim=q, rank="vector", include_v=second)
    noise = monomials_up_to(order=min(case.degree, 4), dim=q, rank="symmetric_matrix", include_v=second)
    return engine, force, noise


def read(case, labels, support, values, sds, factor):
    """Coefficients by row or pair, from labels such as `(x0^2·v0)·e1` and `x0·S01`."""
    found = {}
    for at, value, sd in zip(support, values, sds):
        match = LABEL.match(labels[int(at)])
        powers = dict.fromkeys(case.states, 0)
        for part in match["term"].split("·"):
            base, _, power = part.partition("^")
            if base != "1":
                kind, number = base[0], int(base[1:])
                powers[case.states[number + (case.paths.shape[2] if kind == "v" else 0)]] += int(power or 1)
        rows = [case.rows[int(d)] for d in match["at"]]
        name = common.monomial(tuple(powers[s] for s in case.states), case.states)
        found.setdefault(",".join(rows), {})[name] = [
            factor * float(value),
            None if sd is None else factor * float(sd),
        ]
    return found


def run(case, parametric):
    engine, force, noise = prepared(case)
    with common.quiet():
        engine.compute_diffusion_constant()
        (engine.infer_force if parametric else engine.infer_force_linear)(force)
        engine.sparsify_force(criterion="PASTIS")
        engine.compute_force_error()
        values, sds = engine.force_coefficients, engine.force_coefficients_stderr
        if values is None:
            print("PASTIS kept no term of the force")
            drift = {}
        else:
            # Of some estimators there are no errors.
            sds = [None] * len(values) if sds is None else sds
            drift = read(case, force.labels, engine.force_support, values, sds, 1.0)
        diffusion = {}
        try:
            (engine.infer_diffusion if parametric else engine.infer_diffusion_linear)(noise)
            engine.sparsify_diffusion()
            try:
                engine.compute_diffusion_error()
            except Exception as problem:
                print(f"no errors of the diffusion: {problem}")
            sds = getattr(engine, "diffusion_coefficients_stderr", None)
            values = np.asarray(engine.diffusion_coefficients)
            support = getattr(engine, "diffusion_support", None)
            support = np.arange(len(values)) if support is None else support
            # Its D is half of Gamma.
            diffusion = read(
                case, noise.labels, support, values, [None] * len(values) if sds is None else sds, 2.0
            )
        except Exception as problem:
            print(f"no diffusion: {type(problem).__name__}: {problem}")
    drift = {row: drift.get(row, {}) for row in case.rows}
    return drift, diffusion, {}


if __name__ == "__main__":
    common.main({"linear": lambda case: run(case, False), "parametric": lambda case: run(case, True)})
