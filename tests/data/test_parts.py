"""Readers give `Parts` and writers take a `Recording`: neither knows the class that is made of them."""

import ast
from pathlib import Path
from types import SimpleNamespace

import itoscope.data
import numpy as np
import pytest
from itoscope import Trajectories, errors
from itoscope.data import formats
from itoscope.data.parts import Parts

FOLDER = Path(itoscope.data.__file__).parent
BELOW = (
    "parts",
    "recording",
    "samples",
    "calendars",
    "asked",
    "clock",
    "headings",
    "columns",
    "looks",
    "stamps",
    "roles",
    "grid",
    "meaning",
    "frames",
    "gridded",
    "arrays",
    "npz",
    "containers",
    "layout",
    "text",
    "sheets",
    "exports",
    "formats",
    "intake",
    "conversions",
    "inputs",
    "precision",
    "trajectories",
    "angles",
    "timeline",
    "looked",
    "sight",
    "resumed",
    "streams",
    "driving",
    "advice",
    "reading",
    "closure",
    "order",
    "traits",
    "pace",
    "alike",
    "bystanders",
    "glance",
    "course",
)


def test_a_file_of_the_folder_imports_those_listed_before_it():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*BELOW, "__init__"}
    for place, name in enumerate(BELOW):
        for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("itoscope.data"):
                known = (
                    [alias.name for alias in node.names]
                    if node.module == "itoscope.data"
                    else [node.module[14:]]
                )
                assert set(known) <= set(BELOW[:place]), f"{name} imports {known}"


def test_a_reader_gives_parts_that_trajectories_check(tmp_path):
    (tmp_path / "run.csv").write_text("path,t,x\na,0,1\na,1,inf\na,2,3\n")
    parts = formats.read(tmp_path / "run.csv")
    assert isinstance(parts, Parts)
    assert (parts.names, parts.where, parts.paths[0].tolist()) == (
        ["x"],
        "the time column 't'",
        [[1], [np.inf], [3]],
    )
    with pytest.raises(errors.DataError, match="path 0, sample 1, x = inf"):
        Trajectories(parts)


def test_trajectories_of_parts_and_what_is_given_beside_them():
    parts = Parts(np.zeros((2, 4, 2)), None, ["x", "v"], dt=0.5, position_names=["x"], diverged=[1], seed=7)
    made = Trajectories(parts)
    assert (made.names, made.dt, made.position_names) == (("x", "v"), 0.5, ("x",))
    assert (made.diverged, made.seed) == ((1,), 7)
    other = Trajectories(parts, dt=2, names=["a", "b"], position_names=["b"], seed=8)
    assert (other.names, other.dt, other.position_names, other.seed) == (("a", "b"), 2.0, ("b",), 8)
    assert Trajectories(parts, t=[0, 1, 3, 4]).dt is None


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_step_beside_times_agrees_with_them_and_leaves_them(tmp_path, suffix):
    data = Trajectories(np.arange(5.0), t=3 + 0.1 * np.arange(5))
    formats.write(data, tmp_path / f"run{suffix}")
    back = Trajectories.from_file(tmp_path / f"run{suffix}", dt=0.1)
    assert back.dt == 0.1 and back.times[0][0] == 3
    with pytest.raises(errors.ArgumentError, match=r"dt = 0\.2: the .* gives path 0 the step 0\.1"):
        Trajectories.from_file(tmp_path / f"run{suffix}", dt=0.2)


def test_own_npz_by_columns_keeps_what_belongs_to_them(tmp_path):
    data = Trajectories(
        np.arange(24.0).reshape(2, 4, 3),
        dt=1,
        names=["a", "b", "c"],
        position_names=["a", "c"],
        diverged=[1],
        seed=3,
    )
    data.to_npz(tmp_path / "run.npz")
    back = Trajectories.from_file(tmp_path / "run.npz", columns=["c", "b"])
    assert (back.names, back.position_names, back.diverged, back.seed) == (("c", "b"), ("c",), (1,), 3)
    np.testing.assert_array_equal(back.paths[1], data.paths[1][:, [2, 1]])
    assert Trajectories.from_file(tmp_path / "run.npz", columns=["b"]).position_names is None
    with pytest.raises(errors.ArgumentError, match="columns = 'q': one of the states a, b, c"):
        Trajectories.from_file(tmp_path / "run.npz", columns=["q"])


@pytest.mark.parametrize("suffix", formats.WRITTEN)
def test_writers_take_anything_with_the_attributes_of_a_recording(tmp_path, suffix):
    if suffix in (".parquet", ".nc"):
        pytest.importorskip("pyarrow" if suffix == ".parquet" else "netCDF4")
    times = np.arange(4.0)
    recording = SimpleNamespace(
        paths=[np.arange(8.0).reshape(4, 2)] * 2, times=[times, times], names=("x", "v"), position_names=None,
        diverged=(), seed=None,
    )  # fmt: skip
    formats.write(recording, tmp_path / f"run{suffix}")
    back = Trajectories.from_file(tmp_path / f"run{suffix}")
    assert (back.names, back.n_paths) == (("x", "v"), 2)
    np.testing.assert_array_equal(back.paths[1], recording.paths[1])
