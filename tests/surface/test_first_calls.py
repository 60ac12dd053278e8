"""The first call that people make on a file of its usual form: a right reading, or one sentence with the call."""

import numpy as np
import pytest
from itoscope import Trajectories, discover, errors, problems, read
from itoscope.cli import main

RNG = np.random.default_rng(11)
QUICK = {"seed": 1, "n_samples": 200, "n_burn": 100, "n_chains": 2}


def test_displacement_sensor(tmp_path, capsys):
    motion = problems.duffing_van_der_pol().simulate(duration=2.0, dt=1e-3, n_paths=1, substeps=5, seed=3)
    seen = motion.positions(noise=0.05, seed=4)
    file = tmp_path / "sensor.csv"
    head = "Device;LK-G5000;\nSampling rate;1000;Hz\n\nNo.;Time (s);Displacement (mm)\n"
    rows = "".join(
        f"{k + 1};{t:.3f};{1e3 * x:.4f}\n".replace(".", ",")
        for k, (t, x) in enumerate(zip(seen.times[0], seen.paths[0][:, 0]))
    )
    file.write_bytes((head + rows).encode("utf-16"))
    data = read(file)
    assert (data.names, data.units, data.dt, data.time_unit) == (("Displacement",), ("mm",), 0.001, "s")
    assert main(["look", str(file)]) == 0
    said = capsys.readouterr().out
    assert "the time column 'Time (s)', in s" in said and "ballistic" in said
    assert f"itoscope discover {file} --order 2 --noise estimate" in said
    short = [
        "--samples",
        "200",
        "--burn",
        "100",
        "--chains",
        "2",
        "--seed",
        "1",
        "--quiet",
        "--library",
        "poly:3",
    ]
    # The default is wrong here, which is said without being asked; the call that it names gives the equation.
    assert main(["discover", str(file), *short]) == 0
    said = capsys.readouterr().out
    assert "discover(data, order=2)" in " ".join(said.split()) and "the advice as options: --order 2" in said
    assert main(["discover", str(file), "--order", "2", *short]) == 0
    said = capsys.readouterr().out
    assert "measurement noise: 1.7" in said or "measurement noise: 1.8" in said
    assert [term for term in ("Displacement", "v1") if f"{term} " in said.split("Gamma")[0]] == [
        "Displacement",
        "v1",
    ]


def test_particle_tracker():
    pd = pytest.importorskip("pandas")
    rows = [(1.5 * k + p, 2.0 * p - k, 300 + k, k, p) for p in range(4) for k in range(40) if (k + p) % 13]
    table = pd.DataFrame(rows, columns=["y", "x", "mass", "frame", "particle"])
    table[["x", "y"]] += RNG.standard_normal((len(table), 2))
    data = Trajectories(table, columns=["x", "y"], fps=25)
    assert (data.n_paths, data.dt, data.names) == (4, 0.04, ("x", "y"))
    assert data.missing > 0.05


def test_quant():
    pd = pytest.importorskip("pandas")
    days = pd.bdate_range("2020-01-01", periods=300, name="Date")
    prices = pd.DataFrame({"AAPL": 100 * np.exp(np.cumsum(0.01 * RNG.standard_normal(300)))}, index=days)
    with pytest.raises(errors.DataError, match="per_year=252"):
        discover(prices)
    data = Trajectories(prices, time="index", per_year=252)
    volatility = np.std(np.diff(np.log(data.paths[0][:, 0]))) / np.sqrt(data.dt)
    assert volatility == pytest.approx(0.01 * np.sqrt(252), rel=0.15)


def test_climate_scientist(tmp_path):
    xr, cftime = pytest.importorskip("xarray"), pytest.importorskip("cftime")
    pytest.importorskip("netCDF4")
    dates = cftime.num2date(np.arange(60) * 365, "days since 1850-07-01", "noleap")
    sst = xr.DataArray(
        RNG.standard_normal((5, 60)), dims=("member", "time"), coords={"time": dates, "member": np.arange(1, 6)},
        name="tos", attrs={"units": "degC"},
    )  # fmt: skip
    sst.to_dataset().to_netcdf(tmp_path / "tos.nc")
    data = read(tmp_path / "tos.nc", time_unit="d")
    assert (data.n_paths, data.names, data.units, data.dt) == (5, ("tos",), ("degC",), 365)
    file = tmp_path / "core.txt"
    age = np.cumsum(RNG.uniform(0.2, 0.4, 50))
    rows = "".join(f"{a:.3f}\t{-a / 9 + x:.3f}\n" for a, x in zip(age, RNG.standard_normal(50)))
    file.write_text("# Core 7, Nature (2004)\n# Age in ka BP\n\nAge [ka BP]\td18O [permil]\n" + rows)
    proxy = read(file)
    assert proxy.time_unit == "ka" and proxy.dt is None
    assert proxy.times[0][-1] == pytest.approx(-age[0], abs=1e-3)


def test_pysindy_user():
    t = np.linspace(0, 10, 400)
    x = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * np.cumsum(RNG.standard_normal((400, 2)), axis=0)
    assert discover(x, t=t, diffusion="constant", **QUICK).data.dt == pytest.approx(t[1])
    assert discover([x, x[::-1]], t=[t, t], diffusion="constant", **QUICK).data.n_paths == 2


def test_statistician():
    polars = pytest.importorskip("polars")
    subject, visit = np.repeat(np.arange(101, 121), 12), np.tile(np.arange(12), 20)
    table = polars.DataFrame({"subject": subject, "week": visit, "score": RNG.standard_normal(240)})
    data = Trajectories(table)
    assert (data.n_paths, data.dt, data.time_unit, data.names) == (20, 1.0, "week", ("score",))
    assert Trajectories(table, time_unit="y").dt == pytest.approx(7 / 365.25)


def test_developer_at_a_shell(tmp_path, capsys):
    np.save(tmp_path / "run.npy", np.column_stack([np.arange(100) * 0.5, RNG.standard_normal((100, 2))]))
    assert main(["look", str(tmp_path / "run.npy"), "--dt", "0.5"]) == 1
    assert "as the time does" in capsys.readouterr().err
    (tmp_path / "run.tsv").write_text("\tx\tv\n" + "".join(f"{k}\t{k % 7}\t{k % 5}\n" for k in range(60)))
    assert main(["look", str(tmp_path / "run.tsv"), "--dt", "1/4"]) == 0
    said = capsys.readouterr().out
    assert "60 samples, dt = 0.25, states x, v" in said and "--dt 0.25" in said
    assert main(["look", str(tmp_path / "run.tsv")]) == 2
    assert "dt" in capsys.readouterr().err
