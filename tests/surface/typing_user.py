"""A user's program under strict mypy: what must pass, and what must be told. Read by test_typing.py, never run.

A line that ends in `# error: CODE` must be reported with that code, all others must not.
"""

from __future__ import annotations

import itoscope as ito
import numpy as np


def passes() -> None:
    data = ito.Trajectories(np.zeros((2, 100, 1)), dt=0.01, names=["x"])
    library = ito.Library.polynomials(3) + ito.Library.sign()
    result = ito.discover(
        data,
        library,
        diffusion="constant",
        scheme="euler",
        sampler="exact",
        weights=None,
        ensemble="mean",
        seed=1,
    )
    equation: ito.Equation = result.drift["x"]
    mean: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = equation.mean
    names: tuple[str, ...] = result.states
    smoothed = result.smoothed()
    band = smoothed.band(0.95)
    model: ito.SDE = result.model()
    again: ito.Trajectories = model.simulate([0.0], dt=0.01, n_steps=10, scheme="taylor15", seed=1)
    loaded: ito.Discovery = ito.Discovery.load("found.npz")
    moments: ito.Moments = ito.moments(data, library, row="x")
    posterior: ito.Equation = moments.sample(ito.Prior(a_p=1.0), sampler="gibbs")
    text: list[str] = result.equations()
    level: float = result.diagnostics["measurement_noise"]["x"]["sd"]
    fired = [
        check["sentence"] for check in result.diagnostics["checks"] if check["value"] > check["threshold"]
    ]
    print(level, fired, mean, names, band, again, loaded, posterior, text)


def told(data: ito.Trajectories, result: ito.Discovery) -> None:
    ito.discover(data, diffusion="ful")  # error: arg-type
    ito.discover(data, scheme="trapeze")  # error: arg-type
    ito.discover(data, sampler="nuts")  # error: arg-type
    ito.discover(data, order=3)  # error: arg-type
    ito.discover(data, seeds=1)  # error: call-arg
    data.split(0.5, by="path")  # error: arg-type
    result.model().simulate([0.0], dt=0.01, n_steps=10, scheme="heun")  # error: arg-type
    result.equations(style="word")  # error: call-overload
    result.states()  # error: operator
    print(result.drift["x"].meen)  # error: attr-defined
    print(result.diagnostics["checks"][0]["valeu"])  # error: typeddict-item
