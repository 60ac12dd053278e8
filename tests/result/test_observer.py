"""The fitted state space of a noisy recording: kept as JSON, compiled when it is asked to look."""

import json
from dataclasses import fields

import numpy as np
import pytest
from itoscope.backends.records import StateSpace
from itoscope.result.observer import Observer
from results import noisy


def test_it_has_all_of_a_state_space():
    names = {f.name for f in fields(Observer)}
    assert {f.name for f in fields(StateSpace)} - {"program"} <= names


def test_json_and_back():
    ours = noisy().observer
    theirs = Observer.from_dict(ours.states, json.loads(json.dumps(ours.as_dict())))
    for f in fields(Observer):
        mine, other = getattr(ours, f.name), getattr(theirs, f.name)
        assert type(mine) is type(other), f.name
        np.testing.assert_array_equal(np.array(mine, dtype=object), np.array(other, dtype=object), f.name)


@pytest.mark.parametrize("name", ["drift", "observation"])
def test_arrays_of_another_shape_are_refused(name):
    document = noisy().observer.as_dict()
    document[name] = [[0.0]]
    with pytest.raises(ValueError, match="observer"):
        Observer.from_dict(noisy().observer.states, document)


def test_more_terms_change_nothing():
    observer = noisy().observer
    space, more = observer.space(), observer.space(["x1^5"])
    assert more.drift.shape == (2, space.drift.shape[1] + 1) and not more.drift[:, -1].any()
    x = np.array([[0.1, 0.2]])
    np.testing.assert_allclose(
        more.program.evaluate(x) @ more.drift.T, space.program.evaluate(x) @ space.drift.T
    )
