"""kramersmoyal on one case: kernel estimates of drift and diffusion on a grid; curves, not terms."""

import common
import numpy as np
from kramersmoyal import km


def curves(case):
    """Drift and Gamma at the points of the case, by interpolation between the bins; one state, one long path."""
    series = case.paths[0]
    powers = [[0], [1], [2]]
    coefficients, edges = km(series, bins=[200], powers=np.array(powers), bw=0.1)
    drift = coefficients[1] / case.dt
    gamma = 2 * coefficients[2] / case.dt
    at = case.points[:, 0]
    more = {
        "drift at points": np.interp(at, edges[0], drift).tolist(),
        "gamma at points": np.interp(at, edges[0], gamma).tolist(),
    }
    return {}, {}, more


if __name__ == "__main__":
    common.main({"kramersmoyal": curves})
