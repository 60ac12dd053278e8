"""The recording in examples/data, from Python: discover the equation, then simulate what was found."""

import itoscope as ito

data = ito.Trajectories.from_csv("examples/data/duffing.csv")
result = ito.discover(data, known_drift={"x1": "x2"}, seed=1)
print(result)

stiffness = result.drift["x2"].terms.index("x1")
low, high = result.drift["x2"].interval(0.95)[stiffness]
print(f"\nstiffness: 95 % interval {-high:.1f} to {-low:.1f}, truth 1000")

future = result.simulate(x0=[0.05, 0.0], duration=2.0, dt=1e-3, n_paths=20, seed=3)
print(f"\nsimulated from the posterior: {future}")
