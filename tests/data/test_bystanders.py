"""Columns of a table that are no states of the motion: named before a search, and left out of the call."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.cli import main
from itoscope.data.bystanders import bystanders

MODEL = ito.SDE(["-2*x", "-2*y"], [["0.7", "0"], ["0", "0.7"]], ["x", "y"])
N = 2000


@pytest.fixture(scope="module")
def motion():
    return MODEL.simulate([0.1, 0.0], dt=0.04, n_steps=N - 1, substeps=10, seed=4).paths[0]


def _beside(motion, **columns):
    table = {"x": motion[:, 0], "y": motion[:, 1], **columns}
    return dict(bystanders(ito.Trajectories(np.column_stack([*table.values()]), dt=0.04, names=[*table])))


def test_each_kind_is_named(motion):
    rng = np.random.default_rng(1)
    found = _beside(
        motion,
        temperature=np.full(N, 21.5),
        quality=rng.exponential(size=N),
        depth=np.cumsum(rng.uniform(0.5, 0.6, N)),
        copy=3.0 * motion[:, 0] + 1.0,
        second=motion[:, 1] + 0.02 * rng.standard_normal(N),
    )
    assert list(found) == ["temperature", "quality", "depth", "copy", "second"]
    words = ["never changes", "no memory", "along with time", "shows what x shows", "shows what y shows"]
    assert all(word in reason for word, reason in zip(words, found.values()))


@pytest.mark.parametrize("seed", range(5))
def test_states_are_none(seed):
    """Coupled, driven, hidden under noise, jumping between places: nothing of all these."""
    rng = np.random.default_rng(seed)
    coupled = ito.SDE(["-x + 0.9*y", "0.9*x - y"], [["0.5", "0"], ["0", "0.5"]], ["x", "y"])
    path = coupled.simulate([0.1, 0.0], dt=0.04, n_steps=N, substeps=10, seed=seed).paths[0]
    assert not bystanders(ito.Trajectories(path, dt=0.04))
    assert not bystanders(ito.Trajectories(path + 2.0 * rng.standard_normal(path.shape), dt=0.04))
    assert not bystanders(
        ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=5, seed=seed)
    )
    assert not bystanders(ito.Trajectories(np.cumsum(rng.standard_normal((N, 3)) + 0.1, axis=0), dt=0.1))


def test_where_nothing_moves_nothing_is_left_out():
    assert not bystanders(ito.Trajectories(np.random.default_rng(2).standard_normal((500, 2)), dt=0.1))


def test_the_call_leaves_them_out_by_their_headings(motion, tmp_path, capsys):
    table = np.column_stack([0.04 * np.arange(N), np.full(N, 7.0), motion[:, 0]])
    file = tmp_path / "run.csv"
    np.savetxt(file, table, delimiter=",", header="time,supply,pos x", comments="")
    seen = ito.advise(ito.read(file))
    assert seen.recording == {"select": ["pos_x"]} and seen.settings == {}
    assert seen.call == "itoscope.discover(data.select(['pos_x']))" and "supply never changes" in str(seen)
    assert main(["look", str(file), "--columns", "supply,pos x"]) == 0
    assert f"itoscope discover {file} --columns 'pos x'\n" in capsys.readouterr().out
    # said before the search too, and not where somebody has said what the columns are
    short = ["--samples", "200", "--burn", "100", "--chains", "2", "--library", "poly:1", "--seed", "1"]
    assert main(["discover", str(file), *short]) == 1
    assert "supply never changes: --columns 'pos x' leaves out" in capsys.readouterr().err
    assert main(["discover", str(file), *short, "--input", "supply"]) == 0
    assert "leaves out" not in capsys.readouterr().err
