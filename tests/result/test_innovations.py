"""Estimates over a state behind a noisy recording: they agree with a right model and not with a wrong one."""

from dataclasses import replace

import numpy as np
from itoscope.backends import get_backend
from itoscope.result.innovations import of_innovations, tents
from results import noisy


def test_fit_of_a_noisy_result_agrees_with_the_recording_and_a_wrong_one_does_not():
    def misfit(result, name):
        key, equation = result.find(name)
        found = of_innovations(result, result.data, 8)(key, equation, "x1")
        return np.max(np.abs(found.mean - found.line) / found.error)

    result = noisy()
    # The largest of eight normal deviations exceeds 4.4 with probability 1e-4 at most.
    assert misfit(result, "dv1") < 4.4 and misfit(result, "Gamma[v1, v1]") < 4.4
    wrong = replace(result.observer, drift=0.9 * result.observer.drift)
    assert misfit(replace(result, observer=wrong, states=tuple(result.states)), "dv1") > 4.4
    quiet = replace(result.observer, gamma=0.1 * result.observer.gamma)
    assert misfit(replace(result, observer=quiet, states=tuple(result.states)), "Gamma[v1, v1]") > 4.4


def test_tents_add_up_to_one_and_are_one_at_their_knots():
    knots = np.array([-1.5, 0.0, 0.3, 2.0])
    program = get_backend(None).compile(tents("x", knots), ["x"])
    np.testing.assert_allclose(program.evaluate(knots[:, None]), np.eye(4), atol=1e-14)
    far = program.evaluate(np.linspace(-5, 5, 101)[:, None])
    np.testing.assert_allclose(far.sum(axis=1), 1, atol=1e-13)
    assert far.min() > -1e-13
