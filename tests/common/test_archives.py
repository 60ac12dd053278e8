"""Archives are believed in nothing: sizes, headers, members and bytes are checked before they are used."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile

import itoscope as ito
import numpy as np
import pytest
from itoscope.common import archives
from itoscope.errors import DataError, ItoscopeError


def test_arrays_come_back_as_they_were(tmp_path):
    given = {
        "a": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "empty": np.empty((0, 2)),
        "texts": np.array(["x1", "velocity"]),
        "scalar": np.array(3),
    }
    np.savez_compressed(tmp_path / "x.npz", **given)
    found = archives.read_archive(tmp_path / "x.npz")
    assert set(found) == set(given)
    for name, array in given.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def member(shape, data=b""):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + data


@pytest.mark.parametrize(
    "raw", [member((10**17,)), member((2,), bytes(8)), member((1,), bytes(16)), member((-1,)), b"nothing"]
)
def test_a_header_that_lies_is_found_out_before_memory_is_taken(tmp_path, raw):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a.npy", raw)
    with pytest.raises(DataError, match=r"x\.npz cannot be read as NPZ"):
        ito.Trajectories.from_file(tmp_path / "x.npz")


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "UNPACKED", 1000)
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(100_000))
    with pytest.raises(DataError, match="it unpacks to 800128 bytes"):
        archives.read_archive(tmp_path / "x.npz")


def test_pickled_objects_are_not_loaded(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.array([{}, None], dtype=object))
    with pytest.raises(DataError, match="pickled objects"):
        archives.read_archive(tmp_path / "x.npz")


def test_damaged_files_are_data_errors(tmp_path):
    """Bytes flipped, members missing or swapped: an error of the package, or a file that was not hurt."""
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=1.0, dt=0.01, n_paths=2, seed=1)
    result = ito.discover(data, ito.Library.polynomials(1), n_chains=2, n_samples=20, n_burn=5, seed=1)
    loaders = {"data.npz": ito.Trajectories.from_npz, "found.npz": ito.Discovery.load}
    data.to_npz(tmp_path / "data.npz")
    result.save(tmp_path / "found.npz")
    rng = np.random.default_rng(20)
    for name, load in loaders.items():
        whole = (tmp_path / name).read_bytes()
        arrays = dict(np.load(tmp_path / name))
        names = list(arrays)
        for trial in range(60):
            target = tmp_path / f"hurt-{name}"
            if trial % 3 == 0:
                hurt = bytearray(whole)
                for at in rng.integers(0, len(whole), 4):
                    hurt[at] ^= 1 << int(rng.integers(8))
                target.write_bytes(hurt)
            else:
                other = dict(arrays)
                a, b = rng.choice(names, 2, replace=False)
                if trial % 3 == 1:
                    del other[a]
                else:
                    other[a], other[b] = other[b], other[a]
                np.savez(target, **other)
            with contextlib.suppress(ItoscopeError, OSError):
                load(target)


@pytest.mark.parametrize("change", [{"drift": None}, {"states": 5}, {"gamma": [["("]]}, {"drift": ["y"]}])
def test_a_damaged_model_is_a_data_error(tmp_path, change):
    file = tmp_path / "model.json"
    ito.SDE(["-x1"], [["1"]]).save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(DataError, match=r"model\.json: a damaged SDE"):
        ito.SDE.load(file)
    file.write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"model\.json: no JSON"):
        ito.SDE.load(file)


@pytest.mark.parametrize(
    "change", [{"warnings": [{}]}, {"states": [1]}, {"settings": 3}, {"known_drift": {"x1": 2}}]
)
def test_a_document_of_other_types_is_a_data_error(tmp_path, change):
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=1.0, dt=0.01, n_paths=2, seed=1)
    file = tmp_path / "found.npz"
    ito.discover(data, ito.Library.polynomials(1), n_chains=2, n_samples=20, n_burn=5, seed=1).save(file)
    arrays = dict(np.load(file))
    document = json.loads(bytes(arrays["document"])) | change
    np.savez(file, **arrays | {"document": np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)})
    with pytest.raises(DataError, match=r"found\.npz: not a saved discovery, or a damaged one"):
        ito.Discovery.load(file)
