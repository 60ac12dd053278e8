"""Named numbers: their starts, bounds and what they replace."""

import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.fit.numbers import STARTS, Numbers

TEXTS = ["-u/tau + a", "s^2"]
ASKED = {"a": 1.0, "tau": (0.01, 0.1, 10.0), "s": (0, 2.0, None)}


def numbers(asked=ASKED, taken=("x", "u"), texts=TEXTS):
    return Numbers.of(asked, list(taken), texts)


def test_names_become_numbers_and_signs_stay_apart():
    found = numbers()
    assert found.filled("a - tau*x - s^2", np.array([-1.5, 0.1, 2.0])) == "(-1.5) - (0.1)*x - (2)^2"
    assert found.filled("taux + a1", found.start) == "taux + a1"


def test_starts_fill_the_bounds():
    found = numbers()
    starts = np.array(found.starts())
    assert len(starts) == 1 + STARTS and np.array_equal(starts[0], [1.0, 0.1, 2.0])
    assert np.all(starts >= found.low) and np.all(starts <= found.high)
    # tau on the scale of the logarithm: some in each third of the three decades
    assert set(np.digitize(np.log10(starts[:, 1]), [-1.0, 0.0])) == {0, 1, 2}
    assert np.all((starts[:, 0] >= 0.25) & (starts[:, 0] <= 4.0))


def test_without_parameters_there_is_one_start():
    assert len(numbers(None).starts()) == 1 and not numbers(None)


def test_generic_values_are_within_the_bounds_and_nowhere_special():
    found = Numbers.of({"a": 0.0, "b": (0.0, 1.0, 1.0)}, ["x"], ["a*b*x"])
    assert np.all(found.generic != found.start)
    assert np.all((found.generic >= found.low) & (found.generic <= found.high))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"x": 1.0}, "another name than"),
        ({"t": 1.0}, "another name than"),
        ({"sin": 1.0}, "another name than"),
        ({"c": 1.0}, "a name that known_drift or known_diffusion uses"),
        ({"a": "much"}, "a start, as 1.0"),
        ({"a": float("nan")}, "a start, as 1.0"),
        ({"a": (1.0, 2.0)}, "a start, as 1.0"),
        ({"tau": (1.0, 0.5, 2.0)}, "in this order"),
        ({"tau": (1.0, 1.0, 1.0)}, "in this order"),
    ],
)
def test_refused(asked, words):
    with pytest.raises(ArgumentError, match=words):
        numbers(asked)
