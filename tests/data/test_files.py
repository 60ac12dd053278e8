"""Trajectories from and to files and tables: nothing is lost, and a bad file names line and column."""

import gzip
import sys
import tracemalloc

import numpy as np
import pytest
from itoscope import Trajectories, errors


def same(a, b):
    assert (a.names, a.position_names, a.diverged, a.seed) == (b.names, b.position_names, b.diverged, b.seed)
    assert a.n_paths == b.n_paths
    for i in range(a.n_paths):
        np.testing.assert_array_equal(a.paths[i], b.paths[i])
        np.testing.assert_array_equal(a.times[i], b.times[i])


@pytest.fixture
def ragged():
    rng = np.random.default_rng(1)
    paths = [rng.standard_normal((n, 2)) for n in (5, 8, 5)]
    paths[0][2, 1] = np.nan
    times = [np.cumsum(rng.uniform(0.5, 1, n)) for n in (5, 8)]
    return Trajectories(
        paths, t=[*times, times[0]], names=["x", "v"], position_names=["x"], diverged=[1], seed=2**63 + 1
    )


# -- CSV ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "settings", "names", "dt", "first", "shape"),
    [
        ("t,x,v\n0,1,2\n0.1,3,4\n0.2,5,6\n", {}, ("x", "v"), 0.1, [1, 2], (3, 2)),
        ("Time;x\n0,0;1,5\n0,5;2,5\n1,0;3,5\n", {}, ("x",), 0.5, [1.5], (3, 1)),
        ("x\tv\n1\t2\n3\t4\n5\t6\n", {"dt": 2}, ("x", "v"), 2, [1, 2], (3, 2)),
        ("  1   2\n 3 4 \n5   6\n", {"dt": 1}, ("x1", "x2"), 1, [1, 2], (3, 2)),
        ("1\n2\n3\n", {"dt": 1}, ("x1",), 1, [1], (3, 1)),
        ("Weg\n1,5\n2,25\n-3,0\n", {"dt": 1}, ("Weg",), 1, [1.5], (3, 1)),
        ("t|x\n0|1.5\n1|2\n2|3\n", {}, ("x",), 1, [1.5], (3, 1)),
        ("# made by a logger\n# t x\n0 1\n1 2\n2 3\n", {}, ("x",), 1, [1], (3, 1)),
        ("\ufefft,x\r\n0,1\r\n1,2\r\n2,3\r\n", {}, ("x",), 1, [1], (3, 1)),
        ('"t","Displacement (mm)"\n0,1\n1,2\n2,3\n', {}, ("Displacement",), 1, [1], (3, 1)),
        ("t,x,note\n0,1,ok\n1,2,bad\n2,3,\n", {"columns": ["x"]}, ("x",), 1, [1], (3, 1)),
        ('t,note,x\n0,"a, b",1\n1,,2\n2,c,3\n', {"columns": ["x"]}, ("x",), 1, [1], (3, 1)),
        ("t,x\n(s),(mm)\n0,1\n1,2\n2,3\n", {}, ("x",), 1, [1], (3, 1)),
        ("0,1,2\n1,3,4\n2,5,6\n", {"time": 0}, ("x1", "x2"), 1, [1, 2], (3, 2)),
        ("0,1,2\n1,3,4\n2,5,6\n", {"time": 0, "columns": [2], "names": ["q"]}, ("q",), 1, [2], (3, 1)),
        ("t,x\n0,1\n\n# gap\n1,2\n2,3\n", {}, ("x",), 1, [1], (3, 1)),
        ("t,x\n0,1\n0.001,2\n0.002,3\n", {"dt": 0.001}, ("x",), 0.001, [1], (3, 1)),
        (
            "date,x\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n",
            {"time": "date", "time_unit": "d"},
            ("x",),
            1,
            [1],
            (3, 1),
        ),
        ("time,x\n2024-01-01T00:00,1\n2024-01-01T00:01,2\n2024-01-01T00:02,3\n", {}, ("x",), 60, [1], (3, 1)),
        # row labels have no title
        ("t,x\n1,0,5\n2,2,6\n3,4,7\n", {}, ("x",), 2, [5], (3, 1)),
        ('"t","x"\n"a",0,5\n"b",2,6\n"c",4,7\n', {}, ("x",), 2, [5], (3, 1)),
        ('"t" "x"\n"1" 0 5\n"2" 2 6\n"3" 4 7\n', {}, ("x",), 2, [5], (3, 1)),
        (
            "some words\n0.1 5 6\n0.2 7 8\n0.4 9 9\n",
            {"dt": 1},
            ("x1", "x2", "x3"),
            1,
            [0.1, 5, 6],
            (3, 3),
        ),
    ],
)
def test_csv_dialects(tmp_path, text, settings, names, dt, first, shape):
    file = tmp_path / "run.csv"
    file.write_text(text, encoding="utf-8", newline="")
    data = Trajectories.from_csv(file, **settings)
    assert (data.names, data.dt, data.paths[0].shape) == (names, pytest.approx(dt), shape)
    assert data.paths[0][0].tolist() == first


def test_csv_missing_cells(tmp_path):
    file = tmp_path / "gaps.csv"
    file.write_text("t,x,v\n0,,2\n1,3,\n2,nan,NaN\n3, ,6\n4,7,8\n")
    np.testing.assert_array_equal(
        Trajectories.from_csv(file).paths[0],
        [[np.nan, 2], [3, np.nan], [np.nan, np.nan], [np.nan, 6], [7, 8]],
    )
    file.write_text("x,v\n,2\n3,4\n5,6\n7,")
    np.testing.assert_array_equal(
        Trajectories.from_csv(file, dt=1).paths[0], [[np.nan, 2], [3, 4], [5, 6], [7, np.nan]]
    )


def test_csv_paths_in_any_order(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("path,t,x\nb,0,1\na,0,10\nb,1,2\na,1,20\nb,2,3\na,2,30\na,3,40\n")
    data = Trajectories.from_csv(file)
    assert [path[:, 0].tolist() for path in data.paths] == [[1, 2, 3], [10, 20, 30, 40]]
    file.write_text("run,x\n7,1\n7,2\n7,3\n2,4\n2,5\n2,6\n")
    assert Trajectories.from_csv(file, path_column="run", dt=1).n_paths == 2


def test_a_short_table_takes_room_for_itself_alone(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("t,x\n" + "".join(f"{0.1 * k:.1f},{k % 7}\n" for k in range(1000)))
    Trajectories.from_csv(path)
    tracemalloc.start()
    try:
        Trajectories.from_csv(path)
        assert tracemalloc.get_traced_memory()[1] < 4e6
    finally:
        tracemalloc.stop()


def test_csv_in_several_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("itoscope.data.text.BLOCK", 50)
    data = Trajectories(np.random.default_rng(3).standard_normal((3, 40, 2)), dt=0.25)
    data.to_csv(tmp_path / "many.csv")
    same(Trajectories.from_csv(tmp_path / "many.csv"), data)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_csv_round_trip(tmp_path, ragged, suffix):
    ragged.to_csv(tmp_path / f"run.{suffix}")
    back = Trajectories.from_csv(tmp_path / f"run.{suffix}")
    for i in range(3):
        np.testing.assert_array_equal(back.paths[i], ragged.paths[i])
        np.testing.assert_allclose(back.times[i], ragged.times[i], rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "settings", "error", "words"),
    [
        ("t,x\n0,1\n1,two\n2,3\n", {}, "DataError", ["run.csv", "line 3", "column 'x'", "'two'", "columns="]),
        ("# c\nt,x\n0,1\n\n1,2\n2,1.2.3\n", {}, "DataError", ["line 6", "column 'x'", "'1.2.3'"]),
        ("t,x\n0,1\n1,2,9\n2,3\n", {}, "DataError", ["line 3", "3 cells", "2"]),
        ("t,x\n0,1\n1\n2,3\n", {}, "DataError", ["line 3", "1 cells"]),
        ("", {}, "DataError", ["run.csv", "no row"]),
        ("t,x\n", {}, "DataError", ["run.csv", "no row with a number"]),
        (
            "t,x\n0,0,2,1\n0,1,3,1\n0,2,4,1\n",
            {"dt": 1},
            "DataError",
            ["line 1", "2 columns (t, x)", "4", "decimal"],
        ),
        (
            "#\nx;y\n0.5;2;2\n0.6;3;2\n0.8;3;2\n",
            {"dt": 1},
            "DataError",
            ["line 2", "2 columns (x, y)", "have 3"],
        ),
        ("t\n0\n1\n2\n", {}, "DataError", ["columns t", "no state"]),
        ("t,x\n0,1\n1,inf\n2,3\n", {}, "DataError", ["path 0", "sample 1", "x = inf"]),
        ("t,x\n0,1\n2,2\n1,3\n", {}, "DataError", ["t[2] = 1.0", "increase"]),
        ("t,x\n0,1\n,2\n1,3\n", {}, "DataError", ["t[1] = nan", "finite time"]),
        (
            "time,x\n2024-01-01,1\n2024-13-01,2\n2024-01-03,3\n",
            {},
            "DataError",
            ["row 2", "'2024-13-01'", "dates"],
        ),
        ("x,v\n0,1\n1,2\n2,3\n", {}, "ArgumentError", ["dt and t", "missing"]),
        ("t,x\n0,1\n1,2\n2,3\n", {"dt": 0.5}, "ArgumentError", ["dt = 0.5", "time column", "step 1"]),
        ("t,x\n0,1\n1,2\n5,3\n", {"dt": 0.5}, "ArgumentError", ["dt = 0.5", "uneven"]),
        ("t,x\n0,1\n1,2\n2,3\n", {"time": "when"}, "ArgumentError", ["time = 'when'", "t, x"]),
        ("t,x\n0,1\n1,2\n2,3\n", {"columns": [5]}, "ArgumentError", ["columns = 5", "0 to 1"]),
        ("t,x\n0,1\n1,2\n2,3\n", {"path_column": "p"}, "ArgumentError", ["id = 'p'"]),
        ("t,a b,a-b\n0,1,1\n1,2,2\n2,3,3\n", {}, "ArgumentError", ["names[1] = 'a_b'", "differ"]),
        (
            "t,x\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n",
            {"time_unit": "fortnight"},
            "ArgumentError",
            ["time_unit = 'fortnight'"],
        ),
    ],
)
def test_csv_mistakes(tmp_path, text, settings, error, words):
    file = tmp_path / "run.csv"
    file.write_text(text)
    with pytest.raises(getattr(errors, error)) as caught:
        Trajectories.from_csv(file, **settings)
    for word in words:
        assert word in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Trajectories.from_csv(tmp_path / "nowhere.csv")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Trajectories.from_npz(tmp_path / "nowhere.npz")


def test_digits(tmp_path, ragged):
    ragged.to_csv(tmp_path / "short.csv", digits=4)
    back = Trajectories.from_csv(tmp_path / "short.csv")
    np.testing.assert_allclose(back.paths[1], ragged.paths[1], rtol=1e-3)
    with pytest.raises(errors.ArgumentError, match="digits = 0"):
        ragged.to_csv(tmp_path / "short.csv", digits=0)


# -- NPZ ---------------------------------------------------------------------------------------------------
def test_npz_round_trip(tmp_path, ragged):
    ragged.to_npz(tmp_path / "run.npz")
    same(Trajectories.from_npz(tmp_path / "run.npz"), ragged)
    plain = Trajectories(np.random.default_rng(0).standard_normal((4, 9, 1)), dt=1e-3)
    plain.to_npz(tmp_path / "run.npz")
    back = Trajectories.from_npz(tmp_path / "run.npz")
    same(back, plain)
    assert back.dt == plain.dt
    assert back.times[0] is back.times[3]


def test_npz_from_elsewhere(tmp_path):
    file = tmp_path / "other.npz"
    np.savez(file, x=np.zeros((2, 5, 1)), dt=0.5)
    assert Trajectories.from_npz(file).dt == 0.5
    np.savez(file, y=np.zeros((5, 1)), t=np.arange(5) ** 2, names=["q"])
    assert Trajectories.from_npz(file).names == ("q",)
    np.savez(file, a=np.zeros(5), b=np.zeros(5), dt=1)
    assert Trajectories.from_npz(file).names == ("a", "b")
    np.savez(file, a=np.zeros(5), b=np.zeros((5, 2)), dt=1)
    with pytest.raises(errors.DataError, match=r"holds a \(5,\), b \(5, 2\): one array of samples"):
        Trajectories.from_npz(file)
    np.savez(file, dt=1)
    with pytest.raises(errors.DataError, match=r"holds the arrays dt: none"):
        Trajectories.from_npz(file)


def test_npz_damaged(tmp_path, ragged):
    file = tmp_path / "run.npz"
    ragged.to_npz(file)
    whole = file.read_bytes()
    for broken in (whole[: len(whole) // 2], b"not a zip", b"", whole[:200] + b"\0" * 60 + whole[260:]):
        file.write_bytes(broken)
        with pytest.raises(errors.DataError, match=r"run\.npz"):
            Trajectories.from_npz(file)
    np.savez(file, x=np.array([{}], dtype=object), dt=1)
    with pytest.raises(errors.DataError, match=r"run\.npz"):
        Trajectories.from_npz(file)
    np.savez(file, itoscope_trajectories=99)
    with pytest.raises(errors.DataError, match="newer version"):
        Trajectories.from_npz(file)


# -- pandas, Parquet, xarray -------------------------------------------------------------------------------
def test_dataframe_round_trip(ragged):
    pytest.importorskip("pandas")
    back = Trajectories(ragged.to_dataframe())
    for i in range(3):
        np.testing.assert_array_equal(back.paths[i], ragged.paths[i])
        np.testing.assert_array_equal(back.times[i], ragged.times[i])
    assert back.names == ragged.names


def test_dataframe_index_and_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, 2, 4, 8], "v": [0, 1, 2, 3]})
    assert Trajectories(frame, dt=0.5).names == ("x", "v")
    assert Trajectories(frame.set_index(pd.Index([0, 0.1, 0.2, 0.3], name="t"))).dt == 0.1
    dates = frame.set_index(pd.date_range("2024-01-01", periods=4, freq="h"))
    assert Trajectories(dates).dt == 3600
    assert Trajectories.from_dataframe(dates, time_unit="h", columns=["v"]).dt == 1
    levels = pd.MultiIndex.from_product([[0, 1], [0.0, 1.0, 2.0, 3.0]], names=["path", "time"])
    both = Trajectories(pd.concat([frame, frame]).set_index(levels))
    assert (both.n_paths, both.dt, both.names) == (2, 1.0, ("x", "v"))
    nullable = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")})
    assert np.isnan(Trajectories(nullable, dt=1).paths[0][1, 0])


@pytest.mark.parametrize(
    ("make", "settings", "error", "words"),
    [
        (
            lambda pd: pd.DataFrame({"x": ["a", "b", "c"]}),
            {"dt": 1},
            "DataError",
            ["column 'x'", "'a'", "columns="],
        ),
        (lambda pd: pd.DataFrame({"x": [1j, 2, 3]}), {"dt": 1}, "DataError", ["column 'x'", "complex"]),
        (lambda pd: pd.DataFrame({"t": [0, 1, 2]}), {}, "DataError", ["columns t", "no state"]),
        (lambda pd: pd.DataFrame({"x": [0, 1, 2]}), {}, "ArgumentError", ["dt and t", "missing"]),
        (lambda pd: pd.DataFrame({"x": [0, 1, 2]}), {"time": "s"}, "ArgumentError", ["time = 's'", "x"]),
        (lambda pd: pd.DataFrame({"x": [0, 1, 2]}), {"columns": ["y"]}, "ArgumentError", ["columns = 'y'"]),
        (
            lambda pd: pd.DataFrame({"t": list("abc"), "x": [0, 1, 2]}),
            {},
            "DataError",
            ["time column", "'a'"],
        ),
        (
            lambda pd: pd.DataFrame({"t": [0, 1, 2], "x": [0, 1, 2]}),
            {"dt": 3},
            "ArgumentError",
            ["dt = 3", "'t'"],
        ),
    ],
)
def test_dataframe_mistakes(make, settings, error, words):
    frame = make(pytest.importorskip("pandas"))
    with pytest.raises(getattr(errors, error)) as caught:
        Trajectories.from_dataframe(frame, **settings)
    for word in words:
        assert word in str(caught.value)


def test_parquet(tmp_path, ragged):
    pytest.importorskip("pyarrow")
    file = tmp_path / "run.parquet"
    ragged.to_dataframe().to_parquet(file)
    np.testing.assert_array_equal(Trajectories.from_parquet(file).paths[1], ragged.paths[1])
    assert Trajectories.from_parquet(file, columns=["v"]).names == ("v",)
    file.write_bytes(b"nonsense")
    with pytest.raises(errors.DataError, match=r"run\.parquet"):
        Trajectories.from_parquet(file)


def test_xarray(ragged):
    xr = pytest.importorskip("xarray")
    even = Trajectories(np.random.default_rng(0).standard_normal((3, 6, 2)), dt=0.5, names=["x", "v"])
    for data in (ragged, even):
        back = Trajectories(data.to_xarray())
        assert back.names == data.names
        for i in range(3):
            np.testing.assert_array_equal(back.paths[i], data.paths[i])
            np.testing.assert_array_equal(back.times[i], data.times[i])
    assert Trajectories(even.to_xarray().transpose("state", "time", "path")).dt == 0.5
    series = xr.DataArray([1.0, 2, 4], dims="t", coords={"t": [0, 1, 2]}, name="height (m)")
    assert Trajectories.from_xarray(series).names == ("height",)
    assert Trajectories.from_xarray(xr.DataArray(np.zeros((4, 2)), dims=("time", "k")), dt=0.1).n_states == 2
    with pytest.raises(errors.DataError, match=r"dimensions lat, lon: allowed are 'time'"):
        Trajectories(xr.DataArray(np.zeros((4, 4)), dims=("lat", "lon")))


@pytest.mark.parametrize("call", ["to_dataframe", "to_xarray", "from_parquet"])
def test_missing_extra(monkeypatch, tmp_path, call):
    for module in ("pandas", "xarray", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    data = Trajectories(np.zeros((5, 1)), dt=1)
    with pytest.raises(errors.MissingExtraError, match=r'pip install "itoscope\[data\]"'):
        getattr(data, call)(*([tmp_path / "x.parquet"] if call == "from_parquet" else []))


def test_gzip_is_really_compressed(tmp_path):
    Trajectories(np.zeros((5, 1)), dt=1).to_csv(tmp_path / "x.csv.gz")
    with gzip.open(tmp_path / "x.csv.gz", "rt") as file:
        assert file.readline() == "path,t,x1\n"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("Sample rate,1000\nChannels,2\nTime,Volt\n", "Volt"),
        ("LabVIEW Measurement,\n***End_of_Header***,\n\nX_Value,Voltage,Comment\n", "Voltage"),
        ("Made by: a logger\nOperator: N., N.\n\ntime,Volt\n(s),(V)\n", "Volt"),
        ("% time,Volt\n", "Volt"),
        ("Serial,A-113\nComment,beam under wind\n\nTIME (s),Volt [V]\n", "Volt"),
        ("Date: 2024-01-01\nt,Volt,\n", "Volt"),
    ],
)
def test_what_an_instrument_writes_before_the_table(tmp_path, head, name):
    end = ",\n" if head.endswith(",\n") else "\n"
    rows = "".join(f"{0.5 * k},{(-1) ** k * k}{end}" for k in range(20))
    (tmp_path / "run.csv").write_text(head + rows)
    data = Trajectories.from_csv(tmp_path / "run.csv")
    assert (data.names, data.dt, len(data.paths[0])) == ((name,), 0.5, 20)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings(tmp_path, encoding):
    text = "Zeit (s);Größe (µm)\r\n" + "".join(f"{k};{k % 3},5\r\n" for k in range(2000))
    (tmp_path / "run.csv").write_bytes(text.encode(encoding))
    data = Trajectories.from_csv(tmp_path / "run.csv")
    assert (data.names, data.units, data.n_steps, data.paths[0][1, 0]) == (("Größe",), ("µm",), 1999, 1.5)
    assert Trajectories(data.to_dataframe()[["t", "Größe"]]).names == ("Größe",)
