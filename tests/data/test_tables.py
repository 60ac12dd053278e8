"""Kinds of tables that people have, the information in an index, calendars, wide tables, units."""

import numpy as np
import pytest
from itoscope import Trajectories, discover, errors

N = 30
RNG = np.random.default_rng(7)
X = np.cumsum(RNG.standard_normal((N, 2)), axis=0)
T = 0.5 * np.arange(N)


def pandas():
    return pytest.importorskip("pandas")


def frame():
    return pandas().DataFrame({"time [s]": T, "x [mm]": X[:, 0], "v": X[:, 1]})


def polars_frame():
    return pytest.importorskip("polars").DataFrame({"time [s]": T, "x [mm]": X[:, 0], "v": X[:, 1]})


def arrow_table():
    return pytest.importorskip("pyarrow").table({"time [s]": T, "x [mm]": X[:, 0], "v": X[:, 1]})


def fields():
    made = np.zeros(N, dtype=[("time [s]", float), ("x [mm]", float), ("v", float)])
    made["time [s]"], made["x [mm]"], made["v"] = T, X[:, 0], X[:, 1]
    return made


def data_set():
    xr = pytest.importorskip("xarray")
    return xr.Dataset(
        {"x": ("time", X[:, 0], {"units": "mm"}), "v": ("time", X[:, 1])},
        {"time": ("time", T, {"units": "s"})},
    )


def stamped():
    pd = pandas()
    return frame().drop(columns="time [s]").set_index(pd.to_timedelta(T, unit="s"))


KINDS = {
    "pandas": frame,
    "pandas, times in the index": lambda: frame().set_index("time [s]"),
    "pandas, time spans in the index": stamped,
    "pandas, numbers in an index without a name": lambda: frame().set_index("time [s]").rename_axis(None),
    "pandas, nullable": lambda: frame().convert_dtypes(),
    "pandas, types of arrow": lambda: frame().convert_dtypes(dtype_backend="pyarrow"),
    "polars": polars_frame,
    "polars, lazy": lambda: polars_frame().lazy(),
    "pyarrow": arrow_table,
    "dict of arrays": lambda: {"time [s]": T, "x [mm]": X[:, 0], "v": X[:, 1]},
    "dict of series": lambda: dict(frame().items()),
    "array with fields": fields,
    "xarray data set": data_set,
    "xarray array": lambda: data_set().to_dataarray("state"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tables(kind):
    data = Trajectories(KINDS[kind]())
    assert (data.names, data.dt, data.n_paths) == (("x", "v"), 0.5, 1)
    np.testing.assert_array_equal(data.paths[0], X)
    if kind not in ("pandas, numbers in an index without a name", "xarray array"):
        assert data.time_unit == "s"
    if kind != "xarray array":
        assert data.units == ("mm", "")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_is_a_state_with_its_name(library):
    series = pytest.importorskip(library).Series(X[:, 0], name="height [m]") if library == "pandas" else (
        pytest.importorskip(library).Series("height [m]", X[:, 0])
    )  # fmt: skip
    data = Trajectories(series, dt=0.1)
    assert (data.names, data.units, data.dt) == (("height",), ("m",), 0.1)
    pd = pandas()
    daily = pd.Series(X[:, 0], pd.date_range("2024-01-01", periods=N), name="level")
    assert Trajectories(daily, time_unit="d").dt == 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_lists_and_dicts_are_recordings(library):
    whole = frame() if library == "pandas" else polars_frame()
    parts = [whole[:12], whole[12:]]
    listed = Trajectories(parts)
    assert (listed.n_paths, listed.names, listed.dt) == (2, ("x", "v"), 0.5)
    named = Trajectories({"a": parts[0], "b": parts[1]})
    assert named.ids == ("a", "b")
    np.testing.assert_array_equal(named.paths[1], X[12:])
    with pytest.raises(errors.DataError, match=r"table 1 has the states x, the first x, v"):
        Trajectories([parts[0], parts[1][["time [s]", "x [mm]"]]])


# -- what an index says ------------------------------------------------------------------------------------
def test_rows_that_were_dropped_are_missing_samples():
    pd = pandas()
    whole = pd.DataFrame({"x": X[:, 0], "v": X[:, 1]})
    whole.iloc[[4, 5, 17]] = np.nan
    expected = whole.to_numpy()
    for step in (0.05, 3.0):
        data = Trajectories(whole.dropna(), dt=step)
        np.testing.assert_array_equal(data.paths[0], expected)
        assert data.dt == step
    timed = whole.set_index(pd.Index(0.05 * np.arange(N), name="t")).dropna()
    np.testing.assert_array_equal(Trajectories(timed, dt=0.05).paths[0], expected)
    dates = whole.set_index(pd.date_range("2024-01-01", periods=N, freq="min")).dropna()
    np.testing.assert_array_equal(Trajectories(dates, dt=60).paths[0], expected)
    film = whole.assign(frame=np.arange(N)).dropna()
    np.testing.assert_array_equal(Trajectories(film, fps=20).paths[0], expected)


def test_the_index_of_a_written_table_is_still_one(tmp_path):
    pd = pandas()
    whole = pd.DataFrame({"x": X[:, 0], "v": X[:, 1]})
    whole.to_csv(tmp_path / "run.csv")
    assert Trajectories.from_csv(tmp_path / "run.csv", dt=0.1).names == ("x", "v")
    whole.drop(index=[3, 9]).to_csv(tmp_path / "run.csv")
    data = Trajectories.from_csv(tmp_path / "run.csv", dt=0.1)
    assert len(data.paths[0]) == N and np.isnan(data.paths[0][[3, 9]]).all()
    whole.insert(0, "t", T)
    whole.to_csv(tmp_path / "run.csv")
    assert Trajectories.from_csv(tmp_path / "run.csv").names == ("x", "v")
    both = pd.concat([whole.assign(particle=k) for k in (0, 1)], ignore_index=True)
    both.sort_values("t", kind="stable").to_csv(tmp_path / "run.csv")  # rows as a tracker writes them
    data = Trajectories.from_csv(tmp_path / "run.csv")
    assert data.names == ("x", "v") and data.n_paths == 2
    pd.concat([whole.assign(run=k) for k in "ab"]).to_csv(tmp_path / "run.csv")  # numbers that recur
    data = Trajectories.from_csv(tmp_path / "run.csv")
    assert data.names == ("x", "v") and data.n_paths == 2
    pd.concat([whole[["x", "v"]]] * 2).to_csv(tmp_path / "run.csv")
    with pytest.raises(errors.DataError, match=r"id='column' tells recordings apart"):
        Trajectories.from_csv(tmp_path / "run.csv", dt=0.1)


def test_an_index_that_contradicts_dt_is_an_error():
    pd = pandas()
    table = pd.DataFrame({"x": X[:, 0]}, index=0.1 * np.arange(N))
    assert Trajectories(table).dt == pytest.approx(0.1)
    with pytest.raises(errors.ArgumentError, match=r"dt = 0\.05: the index gives path 0 the step 0\.1"):
        Trajectories(table, dt=0.05)
    with pytest.raises(errors.ArgumentError, match=r"t is given, and the index of the table holds times"):
        Trajectories(table, t=T)
    with pytest.raises(
        errors.ArgumentError, match=r"t is given, and the table has the time column 'time \[s\]'"
    ):
        Trajectories(frame(), t=T)
    with pytest.raises(errors.DataError, match=r"goes from 29 to 0 at row 30.*id=.*reset_index"):
        Trajectories(pd.concat([table.reset_index(drop=True)] * 2), dt=1)
    with pytest.raises(errors.ArgumentError, match="missing"):
        Trajectories(table.reset_index(drop=True).drop(index=3))
    every_third = table.reset_index(drop=True)[::3]
    assert Trajectories(every_third, dt=0.3).n_steps == 9


def test_frames_counted_in_steps_need_a_rate():
    pd = pandas()
    film = pd.DataFrame({"frame": 5 * np.arange(N), "x": X[:, 0]})
    assert Trajectories(film, fps=25).dt == 0.2
    with pytest.raises(errors.ArgumentError, match=r"dt = 0\.04: the time column 'frame' rises by 5.*fps="):
        Trajectories(film, dt=0.04)


def test_tracks_of_particles():
    pd = pandas()
    rows = [
        {"y": X[k, 1], "x": X[k, 0], "mass": 7.0 + k, "frame": k, "particle": p}
        for k in range(N)
        for p in (3, 8)
        if (k, p) not in ((6, 3), (7, 3))
    ]
    table = pd.DataFrame(rows)
    table.index = np.arange(len(table)) * 2 + 5
    data = Trajectories(table, columns=["x", "y"], id="particle", time="frame", fps=25)
    assert (data.names, data.ids, data.dt, data.time_unit) == (("x", "y"), (8, 3), 0.04, "s") or data.ids == (
        3,
        8,
    )
    short = data.paths[data.ids.index(3)]
    assert len(short) == N and np.isnan(short[[6, 7]]).all() and short[8, 0] == X[8, 0]
    assert Trajectories(table, columns=["x", "y"], fps=25).n_paths == 2
    mixed = Trajectories(table.sample(frac=1, random_state=1).sort_values("frame"), columns=["x"], fps=25)
    assert mixed.n_paths == 2


def test_levels_of_an_index():
    pd = pandas()
    levels = pd.MultiIndex.from_product([["a", "b"], T], names=["mouse", "time"])
    data = Trajectories(pd.concat([frame()[["v"]]] * 2).set_index(levels))
    assert (data.n_paths, data.ids, data.dt) == (2, ("a", "b"), 0.5)
    prices = pd.DataFrame(X, columns=pd.MultiIndex.from_product([["Close"], ["AAA", "BBB"]]))
    assert Trajectories(prices, dt=1).names == ("AAA", "BBB")


# -- calendars ---------------------------------------------------------------------------------------------
def test_dates_in_every_unit():
    pd = pandas()
    hourly = pd.DataFrame(
        {"x": X[:, 0]}, pd.date_range("2024-03-01", periods=N, freq="h", tz="Europe/Berlin")
    )
    for unit, step in {"ns": 3.6e12, "us": 3.6e9, "ms": 3.6e6, "s": 3600, "min": 60, "h": 1, "d": 1 / 24,
                       "week": 1 / 168, "y": 1 / 8766, "hours": 1, "Jahre": 1 / 8766}.items():  # fmt: skip
        data = Trajectories(hourly, time_unit=unit)
        assert data.dt == pytest.approx(step)
    assert repr(Trajectories(hourly)).startswith("Trajectories: 1 path of 30 samples, dt = 3600 s, state x")
    assert Trajectories(frame(), time_unit="ms").dt == 500
    assert Trajectories(X, dt=2.0, time_unit="years").time_unit == "y"


def test_a_clock_change_is_no_gap():
    pd = pandas()
    spring = pd.date_range("2024-03-30", periods=60, freq="h", tz="Europe/Berlin")
    assert Trajectories(pd.DataFrame({"x": RNG.standard_normal(60)}, spring), time_unit="h").dt == 1


def test_trading_days():
    pd = pandas()
    days = pd.bdate_range("2024-01-01", periods=N)
    prices = pd.DataFrame({"Close": 100 + X[:, 0]}, days.rename("Date"))
    with pytest.raises(errors.DataError, match=r"leave out every weekend: .*per_year=252.*time_unit='d'"):
        Trajectories(prices)
    hours = np.concatenate([day + np.arange(10, 17) * np.timedelta64(1, "h") for day in days.values])
    hourly = pd.DataFrame({"Date": hours, "Close": np.arange(len(hours))})
    with pytest.raises(errors.DataError, match=r"per_year=1764\) lets time run .*, 7 samples in each"):
        Trajectories(hourly)
    data = Trajectories(prices, time="index", per_year=252)
    assert data.time_source == "each row a step, 252 in a year"
    assert data.dt == pytest.approx(1 / 252) and data.time_unit == "y" and len(data.paths[0]) == N
    assert Trajectories(prices, per_year=252).dt == pytest.approx(1 / 252)
    calendar = Trajectories(prices, time_unit="d")
    assert calendar.dt is None and calendar.times[0][5] == 7
    with pytest.raises(errors.ArgumentError, match=r"dt = 1 and per_year = 252 are given"):
        Trajectories(prices, dt=1, per_year=252)


@pytest.mark.parametrize(
    ("form", "step"),
    [
        ("2024-03-01T12:00:0{}+01:00", 1),
        ("2024-03-01 12:00:{}0Z", 10),
        ("2024-03-01 12:00:0{}.250 UTC", 1),
        ("31.03.2024 10:0{}", 60),
        ("03/31/2024 0{}:00:00 PM", 3600),
        ("31/03/2024 10:00:0{}", 1),
        ("12:00:0{},5", 1),
        ("2{}:30", 3600),
        ("3{}-Mar-2024 10:00:00", 86400),
        ("2024/03/0{}", 86400),
        ("2024030{}", 86400),
        ("170929080{}000", 1),
    ],
)
def test_forms_of_dates(tmp_path, form, step):
    numbers = (0, 1) if form.startswith("3{}") else (1, 2, 3)
    rows = "".join(f"{form.format(k)};{k}\n" for k in numbers)
    (tmp_path / "run.csv").write_text(
        "timestamp;x\n" + rows + ("01-Apr-2024 10:00:00;3\n" if len(numbers) < 3 else "")
    )
    assert Trajectories.from_csv(tmp_path / "run.csv").dt == step


def test_a_clock_after_midnight(tmp_path):
    (tmp_path / "run.csv").write_text("Uhrzeit,x\n23:59:59.0,1\n23:59:59.5,2\n00:00:00.0,3\n00:00:00.5,4\n")
    assert Trajectories.from_csv(tmp_path / "run.csv").dt == 0.5


def test_dates_that_can_be_read_in_two_ways(tmp_path):
    (tmp_path / "run.csv").write_text("date,x\n" + "".join(f"0{k}/0{k + 1}/2024,{k}\n" for k in range(1, 8)))
    with pytest.raises(errors.DataError, match="day first or the month first"):
        Trajectories.from_csv(tmp_path / "run.csv")


# -- wide tables -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("stem", ["run", "trial_", "", "fish "])
def test_numbered_columns_are_asked_about(stem):
    pd = pandas()
    wide = pd.DataFrame({f"{stem}{k + 1}": RNG.standard_normal(N) for k in range(8)})
    with pytest.raises(errors.DataError, match=r"8 columns .*wide='repeats'.*wide='states'"):
        Trajectories(wide, dt=0.1)
    assert Trajectories(wide, dt=0.1, wide="states").n_states == 8
    repeats = Trajectories(wide, dt=0.1, wide="repeats")
    assert (repeats.n_paths, repeats.n_states) == (8, 1)
    np.testing.assert_array_equal(repeats.paths[3][:, 0], wide.iloc[:, 3])


def test_states_with_numbers_are_states():
    pd = pandas()
    assert Trajectories(pd.DataFrame(X[:, [0, 1, 0]], columns=["x1", "x2", "x3"]), dt=1).n_states == 3


# -- arrays of xarray --------------------------------------------------------------------------------------
def test_members_of_an_ensemble_are_recordings():
    xr = pytest.importorskip("xarray")
    runs = RNG.standard_normal((4, N))
    array = xr.DataArray(
        runs, dims=("member", "time"), coords={"time": T, "member": [1, 2, 5, 9]}, name="tas"
    )
    data = Trajectories(array)
    assert (data.n_paths, data.names, data.ids, data.dt) == (4, ("tas",), (1, 2, 5, 9), 0.5)
    unknown = array.rename(member="level")
    with pytest.raises(errors.DataError, match=r"dimension 'level'.*id='level'.*wide='states'"):
        Trajectories(unknown)
    assert Trajectories(unknown, id="level").n_paths == 4
    assert Trajectories(unknown, wide="states").n_states == 4


@pytest.mark.parametrize("calendar", ["noleap", "360_day", "standard"])
def test_calendars_of_models(calendar):
    xr, cftime = pytest.importorskip("xarray"), pytest.importorskip("cftime")
    dates = cftime.num2date(np.arange(N) * 30, "days since 2000-01-01", calendar)
    array = xr.DataArray(X[:, 0], dims="time", coords={"time": dates}, name="sst", attrs={"units": "degC"})
    data = Trajectories(array, time_unit="d")
    assert (data.dt, data.units, data.time_unit) == (30, ("degC",), "d")


def test_falling_and_uneven_coordinates():
    xr = pytest.importorskip("xarray")
    age = np.cumsum(RNG.uniform(0.5, 1.5, N))
    array = xr.DataArray(X[:, 0], dims="age", coords={"age": ("age", age, {"units": "ka BP"})}, name="d18O")
    data = Trajectories(array)
    assert data.dt is None and data.time_unit == "ka"
    np.testing.assert_array_equal(data.paths[0][:, 0], X[::-1, 0])
    falling = xr.DataArray(X[:, 0], dims="time", coords={"time": -T}, name="h")
    np.testing.assert_array_equal(Trajectories(falling).paths[0][:, 0], X[::-1, 0])


# -- calls -------------------------------------------------------------------------------------------------
def test_trajectories_of_trajectories_and_times_for_discover():
    data = Trajectories(frame())
    again = Trajectories(data, columns=["v"], time_unit="ms")
    assert (again.names, again.dt, again.units, again.time_unit) == (("v",), 500, ("",), "ms")
    assert Trajectories(data).times[0][3] == data.times[0][3]
    with pytest.raises(errors.ArgumentError, match=r"dt = 3"):
        Trajectories(data, dt=3)
    few = {"n_samples": 100, "n_burn": 50, "n_chains": 2, "seed": 1, "diffusion": "constant"}
    times = np.cumsum(RNG.uniform(0.4, 0.6, N))
    assert discover(X, t=times, **few).data.dt is None
    with pytest.raises(
        errors.DataError, match=r"column 0 of data rises by dt = 0\.5.*t=data\[:, 0\].*names="
    ):
        Trajectories(np.column_stack([T, X]), dt=0.5)
    assert Trajectories(np.column_stack([T, X]), dt=0.5, names=["c", "x", "v"]).n_states == 3
    with pytest.raises(errors.DataError, match=r"itoscope\.read\('run\.csv'\)"):
        Trajectories("run.csv")


def test_units_are_labels_that_stay(tmp_path):
    data = Trajectories(frame(), units={"v": "mm/s"})
    assert repr(data) == "Trajectories: 1 path of 30 samples, dt = 0.5 s, states x [mm], v [mm/s]"
    for suffix in (".npz", ".csv"):
        getattr(data, f"to_{suffix[1:]}")(tmp_path / f"run{suffix}")
        back = Trajectories.from_file(tmp_path / f"run{suffix}")
        assert (back.units, back.time_unit) == (("mm", "mm/s"), "s")
    assert data.select("v").thin(2).units == ("mm/s",)
    with pytest.raises(errors.ArgumentError, match=r"units = 'q': states of these data: x, v"):
        Trajectories(X, dt=1, names=["x", "v"], units={"q": "m"})


# -- tables with more than they need -----------------------------------------------------------------------
def test_a_date_beside_a_clock_is_one_time(tmp_path):
    rows = "".join(f"2024-03-0{1 + k // 4},{k % 4 * 6:02d}:00:00,{k}\n" for k in range(12))
    (tmp_path / "run.csv").write_text("Date,Time,x\n" + rows)
    data = Trajectories.from_csv(tmp_path / "run.csv", time_unit="h")
    assert (data.names, data.dt) == (("x",), 6)
    monthly = {
        "Year": np.repeat([2020, 2021], 12),
        "Month": np.tile(np.arange(1, 13), 2),
        "sst": RNG.standard_normal(24),
    }
    stamps = Trajectories(monthly, time_unit="d").times[0]
    assert stamps[:4] == pytest.approx([0, 31, 60, 91])


def test_a_file_of_trackmate(tmp_path):
    titles = "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_T,FRAME"
    nice = "Label,Spot ID,Track ID,Quality,X,T,Frame"
    units = ",,,(quality),(micron),(sec),"
    rows = "".join(
        f"ID{k},{k},{'' if k < 8 else k // 8},1.5,{k % 7},{k % 8 * 0.5},{k % 8}\n" for k in range(24)
    )
    (tmp_path / "spots.csv").write_text("\n".join([titles, nice, nice, units, rows]))
    data = Trajectories.from_csv(tmp_path / "spots.csv", columns=["X"])
    assert (data.ids, data.dt, data.time_unit, data.units) == ((1, 2), 0.5, "s", ("micron",))


def test_two_labels_part_what_one_cannot():
    table = {
        "subject": np.repeat([1, 2], 12),
        "trial": np.tile(np.repeat([1, 2], 6), 2),
        "time": np.tile(np.arange(6), 4),
        "x": RNG.standard_normal(24),
    }
    assert Trajectories(table).ids == ((1, 1), (1, 2), (2, 1), (2, 2))
    assert Trajectories(table, id=["subject", "trial"]).n_paths == 4


def test_a_count_that_is_named_like_a_label_is_a_state():
    cells = np.round(50 + 10 * np.sin(T)).astype(int)
    assert Trajectories({"t": T, "cell": cells, "x": X[:, 0]}).names == ("cell", "x")


def test_times_that_step_back_without_a_label():
    with pytest.raises(errors.DataError, match=r"t\[15\] = 0\.0 comes after.*id='column'.*sorting"):
        Trajectories({"t": np.tile(T[:15], 2), "x": X[:, 0]})


def test_groups_of_a_frame_keep_their_label_out():
    table = pandas().DataFrame({"p": np.repeat([1, 2], 15), "frame": np.tile(np.arange(15), 2), "x": X[:, 0]})
    groups = [group for _, group in table.groupby("p")]
    with pytest.raises(errors.DataError, match="column 'p' is one number in every table"):
        Trajectories(groups, fps=10)
    assert Trajectories(groups, fps=10, columns=["x"]).names == ("x",)


def test_trajectories_and_arrays_one_after_the_other():
    data = Trajectories(frame())
    both = Trajectories([data, data.thin(1)])
    assert (both.n_paths, both.names, both.units, both.time_unit) == (2, ("x", "v"), ("mm", ""), "s")
    assert Trajectories((X for _ in range(3)), dt=1).n_paths == 3
    assert Trajectories(pandas().DataFrame(X), dt=1).n_states == 2
