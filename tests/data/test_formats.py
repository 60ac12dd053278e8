"""One reader for every kind of file."""

import numpy as np
import pytest
from itoscope import Trajectories, errors, read
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


# -- units and names of other people's files ---------------------------------------------------------------
T = np.linspace(0, 1.1, 12)
X, V = DATA.paths[0].T


def hdf5(file):
    with pytest.importorskip("h5py").File(file, "w") as store:
        for name, values, unit in (("time", T, "s"), ("x", X, "mm"), ("v", V, "mm/s")):
            store[f"run/{name}"] = values
            store[f"run/{name}"].attrs["units"] = unit


def hdf5_table(file):
    table = np.zeros(12, dtype=[("time [s]", float), ("x [mm]", float), ("v [mm/s]", float)])
    table["time [s]"], table["x [mm]"], table["v [mm/s]"] = T, X, V
    with pytest.importorskip("h5py").File(file, "w") as store:
        store["table"] = table


def netcdf(file):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    variables = {"x": ("time", X, {"units": "mm"}), "v": ("time", V, {"units": "mm/s"})}
    xr.Dataset(variables, {"time": ("time", T, {"units": "s"})}).to_netcdf(file)


def parquet(file):
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    pq.write_table(pa.table({"time [s]": T, "x [mm]": X, "v [mm/s]": V}), file)


def excel(file):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["Report of 7 May"], [], ["time", "x", "v"], ["(s)", "(mm)", "(mm/s)"], *zip(T, X, V)):
        book.active.append([float(cell) if not isinstance(cell, str) else cell for cell in row])
    book.save(file)


def matlab(file):
    run = {"time": T, "x": X, "v": V}
    pytest.importorskip("scipy").io.savemat(file, {"run": run})


def zarr(file):
    root = pytest.importorskip("zarr").open_group(str(file), mode="w", zarr_format=2)
    for name, values, unit in (("time", T, "s"), ("x", X, "mm"), ("v", V, "mm/s")):
        root.create_array(name, data=values).attrs["units"] = unit


@pytest.mark.parametrize(
    ("suffix", "write_it"),
    [
        (".h5", hdf5), (".hdf5", hdf5_table), (".nc", netcdf), (".parquet", parquet), (".xlsx", excel),
        (".mat", matlab), (".zarr", zarr),
    ],
)  # fmt: skip
def test_names_and_units_are_kept(tmp_path, suffix, write_it):
    write_it(tmp_path / f"run{suffix}")
    data = read(tmp_path / f"run{suffix}", names=None)
    assert sorted(data.names) == ["v", "x"]
    np.testing.assert_allclose(data.select(["x", "v"]).paths[0], DATA.paths[0], rtol=1e-15)
    assert data.dt == pytest.approx(0.1)
    if suffix != ".mat":
        assert data.select(["x", "v"]).units == ("mm", "mm/s") and data.time_unit == "s"
    assert read(tmp_path / f"run{suffix}", columns=[data.names[0]]).n_states == 1


def test_a_group_for_every_recording(tmp_path):
    with pytest.importorskip("h5py").File(tmp_path / "runs.h5", "w") as store:
        for run, length in (("a", 12), ("b", 9)):
            store[f"{run}/time"], store[f"{run}/x"] = T[:length], X[:length]
    data = read(tmp_path / "runs.h5")
    assert (data.n_paths, data.ids, data.names, len(data.paths[1])) == (2, ("a", "b"), ("x",), 9)


def test_arrays_are_named_with_their_groups_or_without(tmp_path):
    hdf5(tmp_path / "run.h5")
    for name in ("v", "run/v"):
        assert read(tmp_path / "run.h5", columns=[name]).names == ("v",)
    assert read(tmp_path / "run.h5", time="run/time").dt == pytest.approx(0.1)
    with pytest.raises(
        errors.ArgumentError, match=r"columns = 'q': one of the arrays run/time, run/v, run/x"
    ):
        read(tmp_path / "run.h5", columns=["q"])
