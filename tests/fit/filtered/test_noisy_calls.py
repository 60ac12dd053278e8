"""Random calls: no exception but ours, no negative variance, no interval without width."""

import warnings

import itoscope as ito
import numpy as np
import pytest
from noisy_calls import call

QUICK, ALL = 60, 1000


def looked_at(seed):
    """What is wrong with the answer to one call, if there is one."""
    paths, times, library, asked = call(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = ito.discover(ito.Trajectories(paths, t=times), library, **asked)
        except ito.errors.ItoscopeError:
            return []
    wrong = []
    assert str(result)
    for label, equation in result.labelled():
        interval, inside = equation.interval(0.95), np.flatnonzero(equation.selected)
        wrong += [(label, equation.terms[k], "width") for k in inside if not interval[k, 1] > interval[k, 0]]
    for (a, b), equation in result.diffusion.items():
        inside = np.flatnonzero(equation.selected)
        if a == b and len(inside) == 1:
            low, high = equation.interval(0.95)[inside[0]]
            if min(low, high) < 0 < max(low, high) or (equation.terms[inside[0]] == "1" and low < 0):
                wrong.append((a, equation.terms[inside[0]], "negative"))
    if asked["measurement_noise"] == "estimate":
        levels = result.diagnostics["measurement_noise"]
        wrong += [(name, level) for name, level in levels.items() if not level["high"] > level["low"] >= 0]
    return wrong


@pytest.mark.parametrize("first", range(0, QUICK, 10))
def test_random_calls(first):
    assert {seed: wrong for seed in range(first, first + 10) if (wrong := looked_at(seed))} == {}


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_a_thousand_random_calls():
    assert {seed: wrong for seed in range(QUICK, ALL) if (wrong := looked_at(seed))} == {}
