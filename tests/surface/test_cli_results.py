"""`itoscope forecast` and `itoscope report` from saved results, and recordings of every kind of file."""

import json
from functools import cache

import itoscope
import numpy as np
import pytest
from itoscope import Library, Trajectories, discover, problems
from results import measured, noisy, with_custom_terms

pytestmark = pytest.mark.usefixtures("empty_directory")


@pytest.fixture
def saved(tmp_path):
    measured().save(tmp_path / "found")
    measured().data[:3].to_npz(tmp_path / "run.npz")
    return "found"


# -- forecast ----------------------------------------------------------------------------------------------
def test_forecast_to_standard_output(run, saved):
    code, out, err = run("forecast", saved, "--x0", "0.05,0", "--duration", 0.02, "--paths", 5, "--seed", 1)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "t,x1_mean,x1_sd,x1_q5,x1_q25,x1_q75,x1_q95,x2_mean,x2_sd,x2_q5,x2_q25,x2_q75,x2_q95"
    assert len(lines) == 22
    assert err == "Forecast: 5 paths, 21 times from 0 to 0.02, states x1, x2, bands of 50 %, 90 %, seed 1\n"
    expected = measured().forecast([0.05, 0], duration=0.02, n_paths=5, seed=1)
    np.testing.assert_allclose([float(cell) for cell in lines[-1].split(",")][1], expected.mean[-1, 0])
    assert run("forecast", saved, "--x0", "0.05,0", "--steps", 20, "--paths", 5, "--seed", 1, "--quiet") == (
        0,
        out,
        "",
    )


def test_forecast_to_every_kind_of_file(run, saved, tmp_path):
    xarray = pytest.importorskip("xarray")
    pandas = pytest.importorskip("pandas")
    words = [
        "forecast",
        saved,
        "--x0",
        "0.05,0",
        "--duration",
        0.02,
        "--paths",
        5,
        "--seed",
        1,
        "--levels",
        "0.8",
    ]
    for name in ("b.csv", "b.csv.gz", "b.npz", "b.nc", "b.parquet"):
        code, out, err = run(*words, "--out", name, "--digits", 17)
        assert (code, err) == (0, "") and out.startswith("Forecast: 5 paths")
    expected = measured().forecast([0.05, 0], duration=0.02, n_paths=5, seed=1, levels=[0.8])
    for frame in (pandas.read_csv("b.csv"), pandas.read_csv("b.csv.gz"), pandas.read_parquet("b.parquet")):
        assert list(frame) == [
            "t",
            "x1_mean",
            "x1_sd",
            "x1_q10",
            "x1_q90",
            "x2_mean",
            "x2_sd",
            "x2_q10",
            "x2_q90",
        ]
        np.testing.assert_array_equal(frame["x2_q90"], expected.bands[0.8][:, 1, 1])
    with np.load("b.npz") as arrays:
        np.testing.assert_array_equal(arrays["bands"][0], expected.bands[0.8])
        assert arrays["names"].tolist() == ["x1", "x2"]
    with xarray.open_dataset("b.nc") as found:
        band = found["band"].sel(level=0.8, state="x1", end="low").values
        np.testing.assert_array_equal(band, expected.bands[0.8][:, 0, 0])


def test_forecast_pictures_and_ensembles(run, saved, tmp_path):
    pytest.importorskip("matplotlib")
    words = ["forecast", saved, "--data", "run.npz", "--path", 2, "--paths", 5, "--seed", 1, "--steps", 50]
    code, _, err = run(*words, "--plot", "f.png", "--ensemble", "e.npz", "--mean-model")
    assert (code, err) == (0, "") and (tmp_path / "f.png").stat().st_size > 10_000
    paths = Trajectories.from_npz("e.npz")
    assert paths.n_paths == 5
    np.testing.assert_array_equal(paths.paths[0][0], measured().data.paths[2][0])
    run(*words, "--from-end", "--ensemble", "e.npz")
    np.testing.assert_array_equal(Trajectories.from_npz("e.npz").paths[0][0], measured().data.paths[2][-1])


def test_forecast_and_report_of_a_noisy_result(run, tmp_path):
    noisy().save(tmp_path / "noisy.npz")
    np.savetxt(tmp_path / "path.csv", noisy().data.paths[0], header="x1", comments="")
    words = ["--data", "path.csv", "--quiet"]
    code, _, err = run("forecast", "noisy.npz", *words, "--paths", 5, "--seed", 1, "--ensemble", "e.csv")
    assert (code, err) == (0, "")
    start = noisy().smoothed().mean[0][0]
    np.testing.assert_allclose(Trajectories.from_csv("e.csv").paths[0][0], start, rtol=1e-9)
    pytest.importorskip("matplotlib").use("Agg")
    assert run("report", "noisy.npz", *words) == (0, "", "")
    text = (tmp_path / "noisy.html").read_text()
    for word in ("Smoothed states", "innovation", "bend"):
        assert word in text


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nothing", "--x0", "0,0"], 1, "nothing.npz: No such file"),
        (["run.npz", "--x0", "0,0", "--duration", "1"], 1, "run.npz: not a saved discovery"),
        (["found"], 2, "--x0: give the start, x1,x2"),
        (["found", "--x0", "0,0"], 2, "--duration: give how long"),
        (["found", "--x0", "0", "--duration", "1"], 2, "x0 = 'shape (1,)'"),
        (["found", "--x0", "a,b", "--duration", "1"], 2, "--x0 = 'a,b': numbers"),
        (["found", "--x0", "0,0", "--duration", "1", "--levels", "2"], 2, "levels = 2.0"),
        (["found", "--x0", "0,0", "--duration", "1", "--out", "b.xls"], 2, "--out = 'b.xls'"),
        (["found", "--x0", "0,0", "--duration", "1", "--plot", "b.txt"], 2, "--plot = 'b.txt'"),
        (["found", "--x0", "0,0", "--duration", "1", "--paths", "0"], 2, "n_paths = 0"),
        (["found", "--data", "run.npz", "--path", "7"], 2, "path = 7"),
        (["found", "--data", "run.npz", "--columns", "x1"], 2, "x2 was not measured"),
        (["found", "--data", "none.csv"], 1, "none.csv: No such file"),
    ],
)
def test_forecast_mistakes(run, saved, words, code, message):
    found, out, err = run("forecast", *words)
    assert (found, out) == (code, "")
    assert err.startswith("itoscope: error: ") and message in err and err.count("\n") == 1


def test_a_custom_term_is_refused_by_name(run, tmp_path):
    with_custom_terms().save(tmp_path / "custom")
    code, _, err = run("forecast", "custom", "--x0", "1", "--duration", "1")
    assert code == 2 and "term 'wind load' of dx1 is a function of Python" in err


# -- report ------------------------------------------------------------------------------------------------
def test_report(run, saved, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    assert run("report", saved) == (0, "written: found.html\n", "")
    assert "recording is not stored" in (tmp_path / "found.html").read_text()
    words = ["report", saved, "--data", "run.npz", "--out", "page.html", "--title", "Run <1>"]
    assert run(*words) == (0, "written: page.html\n", "")
    text = (tmp_path / "page.html").read_text()
    assert "<h1>Run &lt;1&gt;</h1>" in text and "recording is not stored" not in text
    code, _, err = run("report", saved, "--data", "run.npz", "--columns", "x1")
    assert code == 2 and "data = 'x1': a recording of the states of the model, x1, x2" in err
    assert run("report", "run.npz")[0] == 1


# -- files -------------------------------------------------------------------------------------------------
@cache
def columns():
    data = itoscope.problems.duffing_van_der_pol().simulate(duration=0.5, dt=1e-3, n_paths=1, seed=1)
    return data.times[0], data.paths[0]


def written(name):
    """One path with its times, and a column that is no state."""
    t, x = columns()
    other = np.cos(t)
    table = {"time": t, "x1": x[:, 0], "x2": x[:, 1], "temperature": other}
    if name.endswith((".csv", ".tsv", ".txt", ".csv.gz")):
        sign = "\t" if name.endswith(".tsv") else " " if name.endswith(".txt") else ","
        np.savetxt(
            name, np.column_stack(list(table.values())), "%.17g", sign, header=sign.join(table), comments=""
        )
    elif name.endswith(".npz"):
        np.savez(name, **table)
    elif name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas").DataFrame(table).to_parquet(name)
    elif name.endswith(".nc"):
        xarray = pytest.importorskip("xarray")
        del table["time"]
        xarray.Dataset({key: ("time", value) for key, value in table.items()}, {"time": t}).to_netcdf(name)
    else:
        pytest.importorskip("scipy.io").savemat(name, table)


@pytest.mark.parametrize(
    "name", ["r.csv", "r.csv.gz", "r.tsv", "r.txt", "r.npz", "r.parquet", "r.nc", "r.mat"]
)
def test_every_kind_of_file_with_columns_by_name(run, tmp_path, name):
    words = "--known-drift x1=x2 --library poly:2 --samples 100 --burn 50 --chains 2 --seed 1 --json".split()
    written(name)
    code, out, err = run("discover", name, "--columns", "x1,x2", *words)
    assert (code, err) == (0, "")
    found = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    data = Trajectories(columns()[1], dt=1e-3, names=["x1", "x2"])
    settings = {"n_samples": 100, "n_burn": 50, "n_chains": 2, "seed": 1, "known_drift": {"x1": "x2"}}
    direct = itoscope.discover(data, itoscope.Library.polynomials(2), **settings)
    means = [term["mean"] for term in found["drift"]["x2"]]
    np.testing.assert_allclose(means, direct.drift["x2"].mean, rtol=1e-6)
    code, _, err = run("discover", name, "--columns", "x1,speed", *words)
    assert code == 2 and "'speed'" in err and err.count("\n") == 1


@pytest.mark.parametrize("name", ["s.parquet", "s.nc"])
def test_simulate_to_tables(run, tmp_path, name):
    pytest.importorskip("pyarrow"), pytest.importorskip("netCDF4")
    words = ["simulate", "duffing", "--paths", 3, "--duration", 0.02, "--seed", 4]
    assert run(*words, "--out", name)[0] == 0
    data = Trajectories.from_file(tmp_path / name)
    again = itoscope.problems.duffing_van_der_pol().simulate(
        duration=0.02, dt=1e-3, n_paths=3, substeps=10, seed=4
    )
    np.testing.assert_array_equal(data.paths[2], again.paths[2])
    assert list(data.names) == ["x1", "x2"]


def test_simulate_a_saved_model(run, tmp_path):
    measured().model().save(tmp_path / "model.json")
    words = ["simulate", "model.json", "--duration", 0.01, "--seed", 1, "--quiet"]
    code, out, _ = run(*words, "--x0", "0.05,0")
    assert code == 0 and out.splitlines()[1] == "0,0,0.050000000000000003,0"
    assert "--x0: give where the paths start" in run(*words)[2]
    assert "a model from a file has no parameters" in run(*words, "--x0", "0,0", "--set", "k=1")[2]


def test_json_of_a_noisy_result(run, tmp_path):
    from itoscope.cli.discover import as_json

    found = json.loads(json.dumps(as_json(noisy()), allow_nan=False))
    assert found["measurement_noise"] == pytest.approx(noisy().measurement_noise)
    assert set(found["noise_levels"]["x1"]) == {"sd", "low", "high"}
    assert {"whiteness", "jumps"} <= {check["name"] for check in found["checks"]}


# -- check -------------------------------------------------------------------------------------------------
@pytest.fixture
def process(tmp_path):
    """A saved Ornstein-Uhlenbeck process, a recording of it, and one of another stiffness."""

    def recording(seed, **other):
        system = problems.ornstein_uhlenbeck(**other)
        return system.simulate(duration=100.0, dt=0.01, n_paths=1, substeps=4, seed=seed)

    settings = {"seed": 1, "n_samples": 200}
    discover(recording(1), Library.polynomials(1), diffusion="constant", **settings).save(tmp_path / "found")
    np.savetxt(tmp_path / "same.csv", recording(2).paths[0], header="x1", comments="")
    np.savetxt(tmp_path / "other.csv", 1.5 * recording(3).paths[0], header="x1", comments="")


def test_check_ends_with_0_where_the_system_is_the_same_and_with_1_where_not(run, process):
    code, out, err = run("check", "found", "same.csv")
    assert (code, err) == (0, "")
    assert "same drift" in out and "fired" not in out
    assert out.endswith("the recording has the equation that was found\n")
    code, out, err = run("check", "found", "other.csv")
    assert (code, err) == (1, "")
    assert "same noise" in out and "fired" in out and "times that of the fit" in out
    assert out.endswith("does not have the equation that was found\n")
    assert run("check", "found", "other.csv", "--quiet") == (1, "", "")
    code, out, _ = run("check", "found", "other.csv", "--json")
    found = json.loads(out)
    assert code == 1 and not found["same"] and any(check["fired"] for check in found["checks"])


def test_check_of_a_noisy_result(run, tmp_path):
    noisy().save(tmp_path / "noisy.npz")
    np.savetxt(tmp_path / "path.csv", noisy().data.paths[1], header="x1", comments="")
    np.savetxt(tmp_path / "loud.csv", 4.0 * noisy().data.paths[1], header="x1", comments="")
    assert run("check", "noisy.npz", "path.csv")[0] == 0
    assert run("check", "noisy.npz", "loud.csv")[0] == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["found"], 2, "FILE: name the recording"),
        ([], 2, "RESULT"),
        (["found", "none.csv"], 1, "none.csv: No such file"),
        (["found", "same.csv", "--names", "y"], 2, "a recording of the states of the model, x1"),
    ],
)
def test_check_mistakes(run, process, words, code, message):
    found, out, err = run("check", *words)
    assert (found, out) == (code, "")
    assert message in err and err.count("\n") == 1
