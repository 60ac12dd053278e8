"""The paper's Duffing-Van der Pol oscillator twice: by its printed recipe, and from noisy displacements alone."""

import itoscope as ito

problem = ito.problems.duffing_van_der_pol()

# As printed: Euler data, all states exact, everything averaged over the paths before one unweighted regression.
data = problem.simulate(duration=1.0, dt=1e-3, n_paths=200, scheme="euler-maruyama", seed=1)
printed = ito.discover(
    data, ito.Library.paper(), known_drift=problem.known_drift, scheme="euler", weights=None, ensemble="mean",
    prior=ito.Prior(standardize=False), seed=1,
)  # fmt: skip
print("as printed:", *printed.equations(), sep="\n  ")

# As promised: fine data, displacement alone, 5 % noise. Now the diffusion comes out right too.
shaker = problem.simulate(duration=1.0, dt=1e-3, n_paths=30, substeps=50, seed=1).positions(
    noise=0.05, seed=2
)
promised = ito.discover(shaker, order=2, measurement_noise="estimate", seed=1)
print("\nas promised:", *promised.equations(), sep="\n  ")
