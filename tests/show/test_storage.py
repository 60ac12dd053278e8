"""Saving and loading loses nothing; damaged and newer files are refused by name; ArviZ reads a result."""

import json
import zipfile

import itoscope as ito
import numpy as np
import pytest
from itoscope.show.storage import ARRAYS, FORMAT, PLAIN
from results import four_states, measured, one_state, with_custom_terms


def rewritten(source, target, change):
    """A copy of a saved result whose document went through `change`."""
    with np.load(source) as archive:
        arrays = dict(archive)
    document = json.loads(bytes(arrays["document"]))
    change(document)
    arrays["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    np.savez(target, **arrays)


@pytest.fixture
def saved(tmp_path):
    one_state().save(tmp_path / "result")
    return tmp_path / "result.npz"


@pytest.mark.parametrize("make", [measured, one_state, four_states, with_custom_terms])
def test_nothing_is_lost(make, tmp_path):
    result = make()
    result.save(tmp_path / "r.npz")
    back = ito.Discovery.load(tmp_path / "r.npz")
    assert str(back) == str(result) and back._repr_html_() == result._repr_html_()
    assert back.diagnostics == json.loads(json.dumps(result.diagnostics, default=float))
    assert back.settings["seed"] == result.settings["seed"]
    for (label, one), (other_label, other) in zip(result.labelled(), back.labelled()):
        assert label == other_label
        for name in ARRAYS:
            kept, read = getattr(one, name), getattr(other, name)
            assert kept.dtype == read.dtype
            np.testing.assert_array_equal(kept, read)
        for name in PLAIN:
            assert getattr(one, name) == getattr(other, name), name
        np.testing.assert_array_equal(one.moments.gram, other.moments.gram)
        assert one.prior == other.prior and one.models(3) == other.models(3)
    if make is not with_custom_terms:
        assert back.model() == result.model()
        again = [r.simulate(r_start(result), n_steps=20, n_paths=2, seed=3) for r in (result, back)]
        np.testing.assert_array_equal(again[0].paths[0], again[1].paths[0])


def r_start(result):
    return result.data.paths[0][0]


def test_no_pickle_inside(saved):
    with zipfile.ZipFile(saved) as archive:
        for name in archive.namelist():
            head = archive.read(name)[:200]
            assert b"'descr': '|O'" not in head


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text", "other"])
def test_a_damaged_file_is_refused_by_name(saved, damage):
    content = saved.read_bytes()
    if damage == "cut":
        saved.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        middle = len(content) // 2
        turned = bytes(255 - b for b in content[middle : middle + 64])
        saved.write_bytes(content[:middle] + turned + content[middle + 64 :])
    elif damage == "empty":
        saved.write_bytes(b"")
    elif damage == "text":
        saved.write_text("x1,x2\n1,2\n")
    else:
        np.savez(saved, x=np.zeros(3))
    with pytest.raises(ito.errors.DataError, match=r"result\.npz"):
        ito.Discovery.load(saved)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        ito.Discovery.load(tmp_path / "none.npz")


def test_a_newer_layout_is_refused_and_an_older_one_read(saved, tmp_path):
    rewritten(saved, tmp_path / "newer.npz", lambda document: document.update(format=FORMAT + 1))
    with pytest.raises(ito.errors.DataError, match=r"newer.npz: written by a newer version"):
        ito.Discovery.load(tmp_path / "newer.npz")
    rewritten(saved, tmp_path / "older.npz", lambda document: document.update(format=0))
    assert str(ito.Discovery.load(tmp_path / "older.npz")) == str(one_state())


WRONG = {
    "a list for a number": lambda d: d["diagnostics"]["measurement_noise"]["x1"].update(sd=[1, 2]),
    "degrees as text": lambda d: d["equations"][0].update(degrees="x"),
    "no degrees": lambda d: d["equations"][0].update(degrees=0),
    "aliases as number": lambda d: d["equations"][0].update(aliases=1),
    "an alias of nothing": lambda d: d["equations"][0].update(aliases={"zz": ["x1"]}),
    "a state of another name": lambda d: d["states"].__setitem__(0, "y1"),
    "a state twice": lambda d: d.update(states=["x1", "x1"]),
    "a row missing": lambda d: d["equations"].pop(0),
    "a row of no state": lambda d: d["equations"][0].update(key=["NaN"]),
    "a pair of no state": lambda d: d["equations"][-1].update(key=["x1", "zz"]),
    "a given row of no name": lambda d: d["known_drift"].update(x1="import os"),
    "threshold": lambda d: d["equations"][0].update(threshold=True),
    "seed": lambda d: d["equations"][0].update(seed=-1),
    "a size below none": lambda d: d["data_summary"].update(n_paths=-1),
    "a unit that is none": lambda d: d["data_summary"].update(units={"x1": 3}),
    "a check without its sentence": lambda d: d["diagnostics"]["checks"][0].pop("sentence"),
    "settings as list": lambda d: d.update(settings=[1]),
    "backend": lambda d: d["equations"][0].update(backend="../x"),
}


@pytest.mark.parametrize("damage", WRONG)
def test_a_document_of_another_form_is_refused(damage, tmp_path):
    measured().save(tmp_path / "whole.npz")

    def change(document):
        level = {"sd": 0.1, "low": 0.05, "high": 0.2}
        document["diagnostics"].setdefault("measurement_noise", {"x1": level})
        WRONG[damage](document)

    rewritten(tmp_path / "whole.npz", tmp_path / "found.npz", change)
    with pytest.raises(ito.errors.DataError, match=r"found\.npz: not a saved discovery, or a damaged one"):
        ito.Discovery.load(tmp_path / "found.npz")


def test_a_document_may_hold_more(tmp_path):
    measured().save(tmp_path / "whole.npz")
    rewritten(tmp_path / "whole.npz", tmp_path / "found.npz", lambda document: document.update(news={"a": 1}))
    assert str(ito.Discovery.load(tmp_path / "found.npz")) == str(measured())


def test_an_sde_as_json(tmp_path):
    model = four_states().model()
    model.save(tmp_path / "model.json")
    assert ito.SDE.load(tmp_path / "model.json") == model
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(ito.errors.DataError, match=r"model.json"):
        ito.SDE.load(tmp_path / "model.json")


@pytest.mark.filterwarnings("ignore")
def test_arviz():
    az = pytest.importorskip("arviz")
    pytest.importorskip("matplotlib").use("Agg")
    result = measured()
    data = result.to_arviz()
    drift = data.posterior["drift"]
    assert drift.dims == ("chain", "draw", "equation", "term")
    k = result.drift["x2"].terms.index("x1^3")
    np.testing.assert_array_equal(
        drift.sel(equation="x2", term="x1^3").values, result.drift["x2"].samples[..., k]
    )
    assert float(data.sample_stats["drift_inclusion"].sel(term="x1").mean()) > 0.99
    assert data.observed_data["x"].dims == ("path", "time", "state")
    table = az.summary(data, var_names=["drift"], coords={"term": ["x1", "x2", "x1^3"]})
    assert "drift[x2, x1^3]" in table.index and (table["r_hat"] < 1.1).all()
    assert len(az.summary(data)) > 2 * len(result.drift["x2"].terms)
    az.plot_trace(data, var_names=["drift"], coords={"term": ["x1"]})
    uneven = ito.Trajectories(
        [x[: 40 + 5 * i] for i, x in enumerate(result.data.paths[:3])], dt=1e-3, names=["x1", "x2"]
    )
    short = ito.discover(
        uneven, ito.Library.polynomials(1), known_drift={"x1": "x2"}, n_chains=2, n_samples=50, seed=1
    )
    assert short.to_arviz().observed_data["x"].dims == ("sample", "state")
