"""Climbs of single models: where they end does not hang on where they begin."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.fit.filtered.answer import recorded
from itoscope.fit.filtered.model import Model
from itoscope.fit.filtered.settle import settled
from itoscope.fit.options import Options
from itoscope.fit.question import Question


@pytest.fixture(scope="module")
def shaken():
    """The displacement of an oscillator under a force of correlation time 0.02, 25 s at 100 Hz."""
    size = float(np.sqrt(1.0 + 0.2**2)) / 0.02
    rows = ["v1", "-100*x1 - v1 - 2000*x1^3 + u", "-u/0.02"]
    sde = ito.SDE(rows, [["0"], ["0"], [repr(size)]], ["x1", "v1", "u"])
    path = sde.simulate([0.0] * 3, dt=0.01, n_steps=2500, substeps=10, scheme="taylor15", seed=2).paths[0]
    noise = 0.001 * np.random.default_rng(2).normal(size=2501)
    return ito.Trajectories(path[:, 0] + noise, dt=0.01, names=["x1"])


def test_a_force_is_climbed_from_half_and_from_twice_its_rate(shaken):
    """Its rate and its noise move as one: by turns of drift and noise a climb ended up to six units too low."""
    library = ito.Library.polynomials(3)
    question = Question.of(shaken, Options(library=library, order=2, forcing="coloured", seed=1))
    recording = recorded(question)
    among = recording.candidates
    place = dict(zip(question.library.names, among.drift_terms))
    ends = []
    for factor in (1.0, 0.5, 2.0):
        drift, gamma = np.zeros((3, among.n_terms)), np.zeros((1, among.n_terms))
        for term, value in {"x1": -100.0, "v1": -1.0, "x1^3": -2000.0}.items():
            drift[1, place[term]] = value
        drift[2, place["force_v1"]] = -50.0 * factor
        gamma[0, among.constant] = 2500.0 * factor**2
        start = Model(drift, gamma, np.array([1e-6]), np.zeros(3), np.diag([0.02, 2.0, 100.0]), np.zeros(3))
        ends.append(settled(recording, start).loglik)
    assert np.ptp(ends) < 0.1
