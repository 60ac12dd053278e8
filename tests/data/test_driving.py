"""Inputs along recordings: columns, samples of their own, functions; straight or held; gaps that are said."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.data.driving import carried, carried_columns, driven, pieces, rows
from itoscope.errors import ArgumentError, DataError
from itoscope.sde.driven import along


def recording(n=7, dt=0.5, start=10.0):
    t = start + dt * np.arange(n)
    columns = np.column_stack([np.sin(t), 2.0 * t, np.repeat([1.0, 5.0], [4, n - 4])])
    return ito.Trajectories(columns, t=t, names=["x", "ramp", "step"])


def test_columns_leave_the_states_and_come_after_them():
    data = driven(recording(), ["ramp", "step"])
    assert data.names == ("x",)
    assert data.driving.modes == {"ramp": "linear", "step": "held"}
    (found,) = rows(data, ["step", "t", "ramp"])
    np.testing.assert_allclose(found[:, 0], recording().paths[0][:, 0])
    np.testing.assert_allclose(found[:, 1], [1, 1, 1, 1, 5, 5, 5])
    np.testing.assert_allclose(found[:, 2], 0.5 * np.arange(7))
    np.testing.assert_allclose(found[:, 3], recording().paths[0][:, 1])


def test_a_part_of_a_recording_keeps_the_clock_and_the_inputs():
    data = driven(recording(), ["ramp"])
    rest = data.select("x").split(0.5, by="time")[1]
    np.testing.assert_allclose(rows(rest, ["t", "ramp"])[0][:, 1:], [[2.0, 24], [2.5, 25], [3.0, 26]])


def test_samples_of_their_own_and_functions():
    own = ([9.0, 14.0], [0.0, 5.0])
    data = driven(
        recording(), {"own": own, "wave": np.cos, "late": ito.Input([3, 4], t=[0, 11], between="held")}
    )
    (found,) = rows(data, ["own", "wave", "late"])
    np.testing.assert_allclose(found[:, 3], 1.0 + 0.5 * np.arange(7))
    np.testing.assert_allclose(found[:, 4], np.cos(0.5 * np.arange(7)))
    np.testing.assert_allclose(found[:, 5], [3, 3, 4, 4, 4, 4, 4])


def test_each_path_has_its_own_input():
    paths = [np.zeros((4, 1)), np.zeros((5, 1))]
    data = ito.Trajectories(paths, dt=1.0, names=["x"])
    given = driven(data, {"u": ito.Input([np.arange(4.0), np.ones(5)])})
    assert [found[-1, 1] for found in rows(given, ["u"])] == [3.0, 1.0]
    assert rows(given[1:], ["u"])[0][0, 1] == 1.0


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        (["nobody"], ArgumentError, "a column of the data"),
        (["t"], ArgumentError, "t is the time"),
        ("ramp", ArgumentError, "names of columns"),
        ({"ramp": "sideways"}, ArgumentError, "'linear', 'held'"),
        (["x", "ramp", "step"], ArgumentError, "the others are the states"),
        (
            {"u": ([10.0, 12.0], [1.0, 2.0])},
            DataError,
            "known from 10 to 12, but the recording goes from 10 to 13",
        ),
        ({"u": [1.0, 2.0]}, ArgumentError, "2 values and 7 times"),
        ({"u": lambda t: np.where(t > 1, np.nan, 1.0)}, DataError, "sample 3"),
    ],
)
def test_what_cannot_drive_is_said(inputs, error, words):
    with pytest.raises(error, match=words):
        driven(recording(), inputs)


def test_a_gap_is_an_error_that_says_where():
    columns = recording().paths[0].copy()
    columns[3:5, 1] = np.nan
    data = ito.Trajectories(columns, dt=0.5, names=["x", "ramp", "step"])
    with pytest.raises(DataError, match=r"'ramp' of path 0: nan at sample 3 \(time 1.5\) and 1 more"):
        driven(data, ["ramp"])


def test_paths_are_cut_where_a_held_input_changes():
    data = driven(recording().select(["x", "step"]), ["step"])
    cut, times = pieces(data, rows(data, ["step"]))
    assert [len(piece) for piece in cut] == [5, 3]
    np.testing.assert_allclose(cut[0][:, 1], 1.0)  # the end of the last step under the old value
    np.testing.assert_allclose(cut[1][:, 1], 5.0)
    np.testing.assert_allclose(cut[0][-1, 0], cut[1][0, 0])
    assert times == [0.5, 0.5]
    straight = driven(recording(), ["ramp"])
    assert len(pieces(straight, rows(straight, ["ramp"]))[0]) == 1


def test_what_a_filter_carries_moves_as_the_inputs_do():
    data = driven(recording(), ["ramp", "step"])
    names = ["ramp", "step", "t"]
    assert carried(names, data.driving.modes, ["x"]) == {
        "ramp": "rate_of_ramp", "step": "0", "t": "1", "rate_of_ramp": "0",
    }  # fmt: skip
    (columns,) = carried_columns(data, names, data.driving.modes)
    np.testing.assert_allclose(columns[0], [20.0, 1.0, 0.0, 2.0])
    np.testing.assert_allclose(columns[1:, 0], columns[:-1, 0] + 0.5 * columns[:-1, 3])


def test_values_of_a_simulation_are_those_of_the_middle_of_a_step_or_of_its_start():
    found = along(["u", "t"], {"u": lambda t: 2 * t}, 1.0, 1.0, (2, 2))
    np.testing.assert_allclose(found[:, 0], 2 * found[:, 1])
    np.testing.assert_allclose(found[:, 1], [1.25, 1.75, 2.25, 2.75])
    held = along(["s"], {"s": ito.Input([7, 8], t=[0, 1.5], between="held")}, 1.0, 1.0, (2, 2))
    np.testing.assert_allclose(held[:, 0], [7, 8, 8, 8])
    assert along([], None, 0.0, 1.0, (2, 1)) is None
    with pytest.raises(ArgumentError, match="say what it is"):
        along(["u"], None, 0.0, 1.0, (2, 1))
    with pytest.raises(ArgumentError, match="an input of the model"):
        along(["u"], {"w": 1.0}, 0.0, 1.0, (2, 1))
    with pytest.raises(ArgumentError, match=r"known from 0 to 1\.5"):
        along(["s"], {"s": ([0, 1.5], [7, 8])}, 1.0, 1.0, (2, 2))
