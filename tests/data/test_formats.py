"""One reader for every kind of file."""

import numpy as np
import pytest
from itoscope import Trajectories, errors
from itoscope.data.formats import SUFFIXES, write

DATA = Trajectories(np.random.default_rng(2).standard_normal((3, 12, 2)), dt=0.5, names=["x", "v"])


def same(back, times=True, exact=True):
    assert (back.names, back.n_paths) == (DATA.names, DATA.n_paths)
    for mine, theirs in zip(back.paths, DATA.paths):
        # A workbook keeps sixteen digits.
        np.testing.assert_allclose(mine, theirs, rtol=0 if exact else 1e-15)
    if times:
        assert back.dt == DATA.dt


def written(folder, suffix):
    file = folder / f"run{suffix}"
    if suffix in (".npz", ".csv", ".csv.gz"):
        write(DATA, file)
    elif suffix in (".txt", ".dat", ".tsv", ".asc"):
        sign = "\t" if suffix == ".tsv" else " "
        DATA.to_csv(folder / "run.csv")
        file.write_text((folder / "run.csv").read_text().replace(",", sign))
    elif suffix == ".npy":
        np.save(file, np.stack(DATA.paths))
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow")
        DATA.to_dataframe().to_parquet(file)
    elif suffix in (".feather", ".arrow", ".ipc"):
        pytest.importorskip("pyarrow")
        DATA.to_dataframe().to_feather(file)
    elif suffix == ".hdf5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(file, "w") as store:
            store["run/motion"], store["run/dt"] = np.stack(DATA.paths), 0.5
    elif suffix in (".h5", ".hdf"):
        pytest.importorskip("tables")
        DATA.to_dataframe().to_hdf(file, key="motion")
    elif suffix == ".zarr":
        pytest.importorskip("zarr")
        DATA.to_xarray().rename("motion").to_dataset().to_zarr(file, zarr_format=2)
    elif suffix in (".nc", ".nc4"):
        pytest.importorskip("netCDF4")
        DATA.to_xarray().rename("motion").to_netcdf(file)
    elif suffix == ".mat":
        pytest.importorskip("scipy").io.savemat(file, {"samples": np.stack(DATA.paths), "dt": 0.5})
    else:
        workbook(file)
    return file


def workbook(file):
    openpyxl = pytest.importorskip("openpyxl")
    frame, book = DATA.to_dataframe(), openpyxl.Workbook()
    for row in (["made by", "a logger"], [], list(frame.columns), *frame.to_numpy().tolist()):
        book.active.append(row)
    book.save(file)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind(tmp_path, suffix):
    settings = {
        ".npy": {"dt": 0.5, "names": ["x", "v"]},
        ".mat": {"names": ["x", "v"]},
        ".hdf5": {"names": ["x", "v"]},
    }.get(suffix, {})
    file = written(tmp_path, suffix)
    exact = not suffix.startswith(".xls")
    same(Trajectories.from_file(file, **settings), exact=exact)
    same(Trajectories.from_file(str(file), **settings), exact=exact)


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".feather", ".nc", ".mat", ".npy", ".hdf5", ".xlsx"])
def test_damaged(tmp_path, suffix):
    written(tmp_path, suffix)
    file = tmp_path / f"run{suffix}"
    file.write_bytes(b"nonsense" * 20)
    with pytest.raises(errors.DataError, match=rf"run\{suffix} cannot be read as"):
        Trajectories.from_file(file)


@pytest.mark.parametrize(
    "suffix", [".npz", ".parquet", ".nc", ".mat", ".npy", ".csv", ".h5", ".zarr", ".xlsx"]
)
def test_absent(tmp_path, suffix):
    written(tmp_path, suffix)
    with pytest.raises(FileNotFoundError):
        Trajectories.from_file(tmp_path / f"absent{suffix}")


def test_arrays_one_per_state(tmp_path):
    scipy = pytest.importorskip("scipy")
    t = np.linspace(0, 1.1, 12)
    scipy.io.savemat(tmp_path / "m.mat", {"time": t, "x": DATA.paths[0][:, 0], "v": DATA.paths[0][:, 1]})
    data = Trajectories.from_file(tmp_path / "m.mat")
    assert (data.names, data.dt) == (("x", "v"), 0.1)
    np.testing.assert_array_equal(data.paths[0], DATA.paths[0])
    assert Trajectories.from_file(tmp_path / "m.mat", columns=["v"]).n_states == 1
    assert Trajectories.from_file(tmp_path / "m.mat", dt=0.1).dt == 0.1
    with pytest.raises(errors.ArgumentError, match=r"dt = 0\.2"):
        Trajectories.from_file(tmp_path / "m.mat", dt=0.2)
    with pytest.raises(errors.ArgumentError, match=r"columns = 'q'.*time, x, v"):
        Trajectories.from_file(tmp_path / "m.mat", columns=["q"])


def test_own_npz_with_columns_and_dt(tmp_path):
    write(DATA, tmp_path / "run.npz")
    assert Trajectories.from_file(tmp_path / "run.npz", columns=["v"]).names == ("v",)
    with pytest.raises(errors.ArgumentError, match=r"dt = 0\.1"):
        Trajectories.from_file(tmp_path / "run.npz", dt=0.1)


def test_netcdf_one_variable_per_state(tmp_path):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    t = np.arange(12) * 0.5
    path = DATA.paths[0]
    xr.Dataset({"x": ("time", path[:, 0]), "v": ("time", path[:, 1])}, {"time": t}).to_netcdf(
        tmp_path / "d.nc"
    )
    data = Trajectories.from_file(tmp_path / "d.nc")
    assert (data.names, data.dt) == (("x", "v"), 0.5)
    np.testing.assert_array_equal(data.paths[0], path)
    with pytest.raises(errors.ArgumentError, match=r"columns = 'q'.*x, v"):
        Trajectories.from_file(tmp_path / "d.nc", columns=["q"])


def test_unknown_suffix(tmp_path):
    with pytest.raises(errors.DataError, match=r"run\.xls.*suffix.*\.csv"):
        Trajectories.from_file(tmp_path / "run.xls")
    with pytest.raises(errors.ArgumentError, match=r"run\.xls.*\.npz, \.csv"):
        write(DATA, tmp_path / "run.xls")
