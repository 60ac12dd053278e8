"""Systems whose equations are known: `ito.problems.duffing_van_der_pol()` and its like, every parameter a keyword.

Examples
--------
>>> import itoscope as ito
>>> problem = ito.problems.double_well()
>>> problem.simulate(duration=1.0, dt=0.01, seed=1).n_steps
100
"""

from itoscope.sde.catalogue import (
    PROBLEMS,
    black_scholes,
    bouc_wen,
    chain,
    double_well,
    duffing_van_der_pol,
    lorenz63,
    ornstein_uhlenbeck,
    ornstein_uhlenbeck_2d,
    two_storey_building,
    van_der_pol,
)
from itoscope.sde.problem import Problem

__all__ = [
    "PROBLEMS",
    "Problem",
    "black_scholes",
    "bouc_wen",
    "chain",
    "double_well",
    "duffing_van_der_pol",
    "lorenz63",
    "ornstein_uhlenbeck",
    "ornstein_uhlenbeck_2d",
    "two_storey_building",
    "van_der_pol",
]
