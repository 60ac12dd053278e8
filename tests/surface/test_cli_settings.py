"""The settings file of the command line: TOML and YAML, overruled by the shell, mistakes in one line."""

import json
import os
import subprocess
import sys

import itoscope
import pytest
from itoscope.cli import main

pytestmark = pytest.mark.usefixtures("empty_directory")


@pytest.fixture
def recording(tmp_path):
    itoscope.problems.duffing_van_der_pol().simulate(duration=0.5, dt=1e-3, n_paths=4, seed=1).to_npz(
        tmp_path / "run.npz"
    )
    return "run.npz"


SHORT = ("--samples", "100", "--burn", "50", "--chains", "2", "--seed", "1", "--quiet")
TOML = """
file = "run.npz"
library = "poly:3"
samples = 100
burn = 50
chains = 2
seed = 1
quiet = true
columns = ["x1", "x2"]
[known-drift]
x1 = "x2"
"""
YAML = """
file: run.npz
library: poly:3
samples: 100
burn: 50
chains: 2
seed: 1
quiet: true
columns: [x1, x2]
known_drift: [x1=x2]
"""


@pytest.mark.parametrize(("name", "text"), [("run.toml", TOML), ("run.yaml", YAML), ("run.yml", YAML)])
def test_settings_are_the_options(run, recording, tmp_path, name, text):
    if name != "run.toml":
        pytest.importorskip("yaml")
    (tmp_path / name).write_text(text)
    words = "--samples 100 --burn 50 --chains 2 --seed 1 --quiet --known-drift x1=x2 --library poly:3".split()
    assert run("discover", "--settings", name) == run("discover", recording, *words)
    assert run("discover", f"--settings={name}")[0] == 0


def test_the_command_line_wins(run, recording, tmp_path):
    (tmp_path / "run.toml").write_text(TOML)
    itoscope.Trajectories.from_npz("run.npz")[:2].to_npz("other.npz")
    code, out, _ = run("discover", "other.npz", "--settings", "run.toml", "--no-quiet", "--library", "poly:1")
    assert code == 0 and out.startswith("Trajectories: 2 paths") and "x1^3" not in out
    code, _, err = run("discover", "--settings", "run.toml", "--known-drift", "x1=x2*nonsense")
    assert code == 2 and "nonsense" in err


def test_settings_of_other_commands(run, tmp_path):
    (tmp_path / "sim.toml").write_text(
        'problem = "duffing"\nduration = 0.01\npaths = 2\nseed = 1\nx0 = [0.1, -0.2]\nset = {s = 0}\npositions = true\n'
    )
    code, out, err = run("simulate", "--settings", "sim.toml")
    assert code == 0 and out.splitlines()[:2] == ["path,t,x1", "0,0,0.10000000000000001"]
    assert "2 paths" in err


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ('libary = "poly:2"', 2, "key in run.toml = 'libary': one of backend, bounds, burn, chains"),
        ("debug = true", 2, "key in run.toml = 'debug'"),
        ("a = [", 2, "--settings = 'run.toml': valid TOML"),
        ('json = "yes"', 2, "json in run.toml = 'yes': true or false"),
        ("seed = true", 2, "seed in run.toml = True: a number or a text"),
        ("[library]\nx = 1", 2, "library in run.toml = {'x': 1}: a number or a text"),
        ('dt = "fast"', 2, "argument --dt: 'fast'"),
        ('backend = "cuda"', 2, "argument --backend"),
        ("samples = 0.5", 2, "argument --samples"),
        ('library = "poly"', 2, "--library = 'poly'"),
    ],
)
def test_mistakes_in_one_line(run, recording, tmp_path, text, code, message):
    (tmp_path / "run.toml").write_text(text)
    found, out, err = run("discover", recording, "--settings", "run.toml", "--quiet")
    assert (found, out) == (code, "")
    assert err.startswith("itoscope: error: ") and message in err and err.count("\n") == 1


def test_files_that_are_none(run, recording, tmp_path):
    assert run("discover", recording, "--settings", "none.toml")[::2] == (
        1,
        "itoscope: error: none.toml: No such file or directory\n",
    )
    (tmp_path / "run.ini").write_text("a=1")
    assert "ends in .toml, .yaml, .yml" in run("discover", recording, "--settings", "run.ini")[2]
    pytest.importorskip("yaml")
    (tmp_path / "run.yaml").write_text("- a\n- b\n")
    assert "lines of NAME: VALUE" in run("discover", recording, "--settings", "run.yaml")[2]
    (tmp_path / "run.yaml").write_text("a: [")
    assert "valid YAML" in run("discover", recording, "--settings", "run.yaml")[2]


def test_without_pyyaml_the_error_says_what_to_install(run, recording, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    (tmp_path / "run.yaml").write_text(YAML)
    code, _, err = run("discover", "--settings", "run.yaml")
    assert code == 2 and 'pip install "itoscope[cli]"' in err


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a: " + "[" * 5000])
def test_settings_that_nest_too_deep_are_no_settings(tmp_path, capsys, text):
    file = tmp_path / ("deep.toml" if "=" in text else "deep.yaml")
    file.write_text(text)
    assert main(["simulate", "duffing", "--settings", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("words", [["--library", ""], ["--threads", "-1"], ["--library", "poly:1000000000"]])
def test_words_without_meaning_are_refused(tmp_path, capsys, words):
    file = tmp_path / "x.csv"
    file.write_text("x\n" + "\n".join(str(k * 37 % 11) for k in range(50)) + "\n")
    assert main(["discover", str(file), "--dt", "0.1", "--quiet", *words]) == 2
    assert capsys.readouterr().err.startswith("itoscope: error:")


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_a_closed_output_is_no_error(tmp_path):
    words = (
        f"'{sys.executable}' -m itoscope simulate ornstein-uhlenbeck --duration 0.1 --out '{tmp_path}/x.csv'"
    )
    done = subprocess.run(["sh", "-c", words + " >&- 2>&-"], check=False)
    assert done.returncode == 0
    assert (tmp_path / "x.csv").exists()


def test_terms_that_a_row_may_not_have(run, recording, tmp_path):
    words = [*SHORT, "--known-drift", "x1=x2", "--library", "poly:3"]
    code, out, _ = run(
        "discover", recording, *words, "--exclude", "x2=1,x1*x2", "--exclude", "x2=x2^2", "--json"
    )
    assert code == 0 and json.loads(out)["settings"]["exclude"] == {"x2": ["1", "x1 x2", "x2^2"]}
    (tmp_path / "run.toml").write_text(TOML + '[exclude]\nx2 = "1"\n')
    code, out, _ = run("discover", "--settings", "run.toml", "--json")
    assert code == 0 and json.loads(out)["settings"]["exclude"] == {"x2": ["1"]}
    code, _, err = run("discover", recording, *words, "--tie", "x1=x2,x2=x1", "--symmetry", "rotation")
    assert code == 2 and "one of them" in err
    code, out, _ = run("discover", recording, *words, "--vary", "x2=1", "--json")
    found = json.loads(out)
    assert code == 0 and found["settings"]["vary"] == {"x2": ["1"]} and "1" in found["varying"]["x2"]
    code, _, err = run("discover", recording, *words, "--exclude", "x2")
    assert code == 2 and "--exclude = 'x2': NAME=VALUE" in err


def test_forces_with_a_memory(run, tmp_path):
    data = itoscope.SDE(
        ["v1", "-9*x1 - v1 + u", "-5*u"], [["0"], ["0"], ["10.0"]], ["x1", "v1", "u"]
    ).simulate([0.0, 0.0, 0.0], dt=0.05, n_steps=600, substeps=10, scheme="taylor15", seed=3)
    itoscope.Trajectories(data.paths[0][:, :1], dt=0.05, names=["x1"]).to_npz(tmp_path / "sway.npz")
    words = ["--library", "poly:1", "--order", "2", "--seed", "1", "--quiet", "--json"]
    code, out, err = run("discover", tmp_path / "sway.npz", *words, "--forcing", "v1=coloured")
    assert code == 0, err
    assert json.loads(out)["settings"]["forcing"] == {"v1": "coloured"}
    (tmp_path / "sway.toml").write_text('file = "sway.npz"\norder = 2\nforcing = "pink"\n')
    code, _, err = run("discover", "--settings", tmp_path / "sway.toml")
    assert code == 2 and "forcing = 'pink'" in err


def test_known_parts_and_noise(run, recording, tmp_path):
    words = [*SHORT, "--library", "poly:2"]
    known = ["--known-drift", "x1=x2", "--known-drift", "x2=-900*x1+...", "--known-diffusion", "x1=1e-6"]
    code, out, _ = run("discover", recording, *words, *known, "--json")
    found = json.loads(out)
    assert code == 0 and found["settings"]["known_drift"] == {"x1": "x2", "x2": "-900*x1+..."}
    assert found["settings"]["known_diffusion"] == {"x1": "1e-6"}
    assert {"-900*x1", "1"} <= {entry["term"] for entry in found["drift"]["x2"]}
    text = TOML + 'x2 = "-900*x1 + ..."\n[known-diffusion]\nx1 = 1e-6\n'
    (tmp_path / "run.toml").write_text(text)
    code, out, err = run("discover", "--settings", "run.toml", "--json")
    assert code == 0, err
    assert json.loads(out)["settings"]["known_drift"] == {"x1": "x2", "x2": "-900*x1 + ..."}


def test_terms_that_must_be_in_and_bounds(run, recording, tmp_path):
    words = [*SHORT, "--known-drift", "x1=x2", "--library", "poly:2"]
    code, out, _ = run(
        "discover", recording, *words, "--include", "x2=x2", "--bounds", "x2=x2<0,-2000<x1<0", "--json"
    )
    settings = json.loads(out)["settings"]
    assert code == 0 and settings["include"] == {"x2": ["x2"]}
    assert settings["bounds"] == {"x2": {"x1": [-2000.0, 0.0], "x2": [None, 0.0]}}
    (tmp_path / "run.toml").write_text(TOML + '[include]\nx2 = "x2"\n[bounds]\nx2 = "x2<0"\n')
    code, out, _ = run("discover", "--settings", "run.toml", "--json")
    settings = json.loads(out)["settings"]
    assert (
        code == 0
        and settings["include"] == {"x2": ["x2"]}
        and settings["bounds"] == {"x2": {"x2": [None, 0.0]}}
    )
    code, _, err = run("discover", recording, *words, "--bounds", "x2=x2")
    assert code == 2 and "--bounds = 'x2': TERM<NUMBER" in err


def test_noise_by_column_and_sensors(run, recording, tmp_path):
    words = [*SHORT, "--library", "poly:1"]
    words += ["--diffusion", "constant", "--known-drift", "x1=x2"]
    sensors = ["--observed", "x1=x1", "--observed", "x2=x2", "--noise", "x1=1e-4", "--noise", "x2=estimate"]
    code, out, err = run("discover", recording, *words, *sensors, "--json")
    assert code == 0, err
    settings = json.loads(out)["settings"]
    assert settings["measurement_noise"] == {"x1": 1e-4, "x2": "estimate"}
    assert settings["observed"] == ["x1", "x2"]
    text = TOML + '[noise]\nx1 = 1e-4\nx2 = "estimate"\n'
    (tmp_path / "run.toml").write_text(text)
    code, out, err = run("discover", "--settings", "run.toml", "--json")
    assert code == 0, err
    assert json.loads(out)["settings"]["measurement_noise"] == {"x1": 1e-4, "x2": "estimate"}
    code, _, err = run("discover", recording, *words, "--noise", "x1=much")
    assert code == 2 and "measurement_noise['x1'] = 'much'" in err and "another column of the data" in err


def test_numbers_of_known_rows(run, recording, tmp_path):
    words = [*SHORT, "--library", "poly:1", "--diffusion", "constant", "--known-drift", "x1=x2"]
    words += ["--known-drift", "x2=-k*x1 + ...", "--parameter", "k=100,500,5000"]
    code, out, err = run("discover", recording, *words, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["settings"]["parameters"] == {"k": [100.0, 500.0, 5000.0]}
    low, high = found["parameters"]["k"]["interval"]
    assert 100.0 < low < high < 5000.0
    text = TOML + 'x2 = "-k*x1 + ..."\n[parameter]\nk = "100,500,5000"\n'
    (tmp_path / "run.toml").write_text(text)
    code, again, err = run("discover", "--settings", "run.toml", "--json")
    assert code == 0 and json.loads(again)["settings"]["parameters"] == found["settings"]["parameters"], err
    code, _, err = run("discover", recording, *words, "--parameter", "k=1,2")
    assert code == 2 and "--parameter = 'k=1,2': NAME=START or NAME=LOW,START,HIGH" in err
