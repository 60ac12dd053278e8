"""How wide are forecasts from a short recording? An Ornstein-Uhlenbeck motion seen for twenty time constants.

    python benches/accuracy/forecasts.py [--records 200] [--empty 0.5 ...]

Half widths of the 90 % bands of `discover` after 1, 5 and 20 time constants over those of the truth, in the median over
recordings, with `{1, x}` as candidates, for several prior probabilities that there is no drift. Posteriors that know
more than a question may say how narrow a band can be: that of `{x}` alone against no drift, and those of a drift that
is certain, of `{1, x}` and of `{x}`.
"""

from __future__ import annotations

import argparse
import warnings

import itoscope as ito
import numpy as np
from itoscope.common.prior import NO_DRIFT
from numpy.typing import NDArray

Array = NDArray[np.float64]
HORIZONS = np.array([1.0, 5.0, 20.0])
RATE, GAMMA = 1.0, 0.25
BOTH, ALONE = ito.Library.polynomials(1), ito.Library.expressions("x1")
CERTAIN = 1e-6


def widths(library: ito.Library, empty: float, seed: int, n_paths: int = 400) -> tuple[Array, float]:
    """Half widths of the bands over those of the truth, and the probability of no drift, of one recording."""
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.02, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ito.discover(
            data, library, diffusion="constant", prior=ito.Prior(empty=empty), n_samples=500, seed=1
        )
        paths = result.simulate(x0=[0.0], duration=HORIZONS[-1], dt=0.1, n_paths=n_paths, seed=2).paths
    at = np.array([[_at(path, round(10 * h)) for h in HORIZONS] for path in paths])
    low, high = np.quantile(at, [0.05, 0.95], axis=0)
    truth = 1.645 * np.sqrt(GAMMA / (2 * RATE) * (1 - np.exp(-2 * RATE * HORIZONS)))
    included = result.drift["x1"].included
    return (high - low) / 2 / truth, float(1 - included.any(axis=-1).mean())


def _at(path: Array, k: int) -> float:
    """The path after k steps; far away on the side where it left the finite range."""
    return float(path[k, 0]) if k < len(path) else float(np.sign(path[-1, 0])) * 1e9


def told(name: str, library: ito.Library, empty: float, records: int) -> str:
    """A line for a prior."""
    found = [widths(library, empty, seed) for seed in range(101, 101 + records)]
    ratios, none = np.array([ratio for ratio, _ in found]), np.array([p for _, p in found])
    shown = ", ".join(f"{ratio:.2f}" for ratio in np.median(ratios, axis=0))
    return (
        f"{name}: {shown} times the truth after {', '.join(f'{h:g}' for h in HORIZONS)} time constants; "
        f"no drift has a probability of {np.median(none):.3f} in the median"
    )


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--empty", type=float, nargs="+", default=[0.5, NO_DRIFT, 0.25])
    arguments = parser.parse_args()
    ito.set_threads(1)
    for empty in arguments.empty:
        print(told(f"1, x; no drift {empty:.3g} beforehand", BOTH, empty, arguments.records), flush=True)
    print(
        told(f"x alone; no drift {NO_DRIFT:.3g} beforehand", ALONE, NO_DRIFT, arguments.records), flush=True
    )
    print(told("1, x; a drift is certain", BOTH, CERTAIN, arguments.records), flush=True)
    print(told("x alone, and certain", ALONE, CERTAIN, arguments.records), flush=True)


if __name__ == "__main__":
    main()
