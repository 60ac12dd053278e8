"""The paper's two-storey building: what averaging over the paths hides, and pooling shows."""

import itoscope as ito

problem = ito.problems.two_storey_building()
data = problem.simulate(duration=1.0, dt=1e-3, n_paths=200, scheme="euler-maruyama", seed=1)
for ensemble in ("mean", "pool"):
    result = ito.discover(
        data, ito.Library.paper(3), known_drift=problem.known_drift, diffusion="none", scheme="euler", weights=None,
        ensemble=ensemble, seed=1,
    )  # fmt: skip
    print(f"{ensemble}:", *result.equations(), sep="\n  ")
