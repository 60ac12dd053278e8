"""Many recordings: each is what it is alone, in one table, and one that fails stops no other."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError, DataError

DATA = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=4, substeps=2, seed=1)
LIBRARY = ito.Library.polynomials(2)
SHORT = {"n_samples": 200, "n_burn": 100}


@pytest.mark.parametrize("workers", [1, 3, None])
def test_each_is_that_of_a_call_of_its_own(workers):
    done = []
    many = ito.discover_many(DATA, LIBRARY, seed=7, workers=workers, progress=done.append, **SHORT)
    assert list(many) == [0, 1, 2, 3] and len(many) == 4 and done == [1, 2, 3, 4]
    for k, result in many.items():
        alone = ito.discover(DATA[k], LIBRARY, seed=7 + k, **SHORT)
        for row in alone.drift:
            np.testing.assert_array_equal(result.drift[row].pip, alone.drift[row].pip)
            np.testing.assert_array_equal(result.drift[row].samples, alone.drift[row].samples)
    assert repr(many) == "Discoveries: 4 recordings"


def test_one_table_of_all():
    many = ito.discover_many({"a": DATA[0], "b": DATA[1]}, LIBRARY, **SHORT)
    table = many.table()
    assert list(table.columns[:3]) == ["recording", "equation", "term"]
    assert set(table["recording"]) == {"a", "b"} and table["selected"].all()
    whole = many.table(all_terms=True)
    assert len(whole) == 2 * 6 and set(table.columns) == set(whole.columns)


def test_a_recording_that_fails_is_kept_as_its_error():
    recordings = [DATA.paths[0], DATA.paths[1][:2], DATA.paths[2]]
    many = ito.discover_many(recordings, LIBRARY, dt=0.01, **SHORT)
    assert list(many) == [0, 2] and list(many.errors) == [1]
    with pytest.raises(DataError, match="2 samples"):
        many[1]
    assert "1 with an error" in repr(many)
    with pytest.raises(KeyError):
        many[5]


def test_what_is_asked_wrong_is_an_error_of_the_call():
    for wrong in (3, "x", []):
        with pytest.raises(ArgumentError, match="recordings"):
            ito.discover_many(wrong)
    with pytest.raises(ArgumentError, match="n_sample"):
        ito.discover_many(DATA, n_sample=3)
    with pytest.raises(ArgumentError, match="workers"):
        ito.discover_many(DATA, workers=0)
    with pytest.raises(ArgumentError, match="progress"):
        ito.discover_many(DATA, progress=3)
