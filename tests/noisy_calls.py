"""Random calls about noisy recordings: ordinary ones and the corners that recordings of the world have."""

import itoscope as ito
import numpy as np

KINDS = ("walk", "returning", "turning", "white", "sine", "line", "constant", "steps")


def signal(rng, kind, t):
    """One channel `(n,)` at times `t`."""
    n, gaps = len(t), np.diff(t, prepend=t[0])
    if kind == "walk":
        return np.cumsum(np.sqrt(gaps) * rng.normal(size=n))
    if kind == "returning":
        x = np.zeros(n)
        for i in range(1, n):
            x[i] = x[i - 1] * np.exp(-gaps[i]) + np.sqrt(gaps[i]) * rng.normal()
        return x
    if kind == "turning":
        return np.cumsum(gaps * np.cumsum(np.sqrt(gaps) * rng.normal(size=n)))
    if kind == "white":
        return rng.normal(size=n)
    if kind == "sine":
        return np.sin(rng.uniform(0.1, 3.0) * t)
    if kind == "line":
        return 0.3 * t
    if kind == "steps":
        return np.floor(0.3 * np.arange(n))
    return np.full(n, rng.normal())


def holed(rng, x):
    """The channel with samples missing."""
    x = x.copy()
    kind = rng.choice(["none", "none", "none", "second", "gap", "some", "dead", "start"])
    if kind == "second":
        x[1::2] = np.nan
    elif kind == "gap":
        x[len(x) // 3 : 2 * len(x) // 3] = np.nan
    elif kind == "some":
        x[rng.random(len(x)) < 0.3] = np.nan
    elif kind == "dead" and rng.random() < 0.3:
        x[:] = np.nan
    elif kind == "start":
        x[: len(x) // 4] = np.nan
    return x


def recording(rng):
    """A recording of one to three channels, one to three paths."""
    q, paths, times = int(rng.integers(1, 4)), [], []
    size = 10.0 ** rng.choice([0, 0, 0, 0, -6, 6, -150, 155], p=[0.2, 0.2, 0.2, 0.2, 0.08, 0.08, 0.02, 0.02])
    dt = 10.0 ** rng.integers(-3, 1)
    offset = rng.choice([0.0, 0.0, 0.0, 1.0, 100.0])
    kinds = rng.choice(KINDS, size=q, p=[0.2, 0.25, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05])
    for _ in range(int(rng.integers(1, 4))):
        n = int(rng.choice([3, 4, 5, 8, 20, 60, 200, 400]))
        t = dt * np.arange(n) if rng.random() < 0.8 else np.sort(rng.uniform(0, n * dt, n))
        channels = [offset + signal(rng, kind, t / dt * 0.1) for kind in kinds]
        noise = rng.choice([0.0, 0.01, 0.1, 1.0])
        paths.append(size * np.stack([holed(rng, x + noise * rng.normal(size=n)) for x in channels], axis=1))
        times.append(t)
    return paths, times


def call(seed):
    """Arguments of one call: a recording, its times, a library, and the keywords of `discover`."""
    rng = np.random.default_rng(seed)
    paths, times = recording(rng)
    q = paths[0].shape[1]
    order, degree = int(rng.integers(1, 3)), int(rng.integers(0, 4))
    library = ito.Library.polynomials(min(degree, max(1, 4 - q * order)))
    if rng.random() < 0.2:
        library = library + ito.Library.sign()
    asked = {
        "order": order,
        "measurement_noise": rng.choice(["estimate", "estimate", "estimate", "small", "zero"]),
        "diffusion": str(rng.choice(["full", "diagonal", "constant", "constant", "none"])),
        "n_samples": int(rng.choice([4, 5, 50])),
        "n_burn": 20,
        "n_chains": int(rng.integers(1, 3)),
        "max_rounds": int(rng.integers(1, 5)),
        "threshold": float(rng.choice([0.5, 0.5, 0.1, 0.999999])),
        "seed": seed,
    }
    together = np.concatenate(paths)
    spread = float(np.ptp(together[np.isfinite(together)])) if np.isfinite(together).any() else 1.0
    given = {"estimate": "estimate", "small": float(0.1 * spread), "zero": 0.0}
    asked["measurement_noise"] = given[str(asked["measurement_noise"])]
    if asked["order"] == 1 and asked["measurement_noise"] == 0.0:
        asked["measurement_noise"] = "estimate"
    if q > 1 and asked["order"] == 1 and rng.random() < 0.3:
        asked["known_drift"] = {"x1": "x2"}
    if rng.random() < 0.1:
        asked["prior"] = ito.Prior(b_p=1e6)
    return paths, times, library, asked
