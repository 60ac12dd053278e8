"""The command line: what it prints, what it writes, its exit codes, and mistakes in one line."""

import argparse
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import itoscope
import numpy as np
import pytest
from itoscope import Trajectories
from itoscope.cli import discover as cli_discover
from itoscope.cli import main
from itoscope.cli.arguments import library_of
from itoscope.fit.options import Options


# -- the command itself ------------------------------------------------------------------------------------
def test_installed_command_and_module_are_one():
    script = shutil.which("itoscope", path=str(Path(sys.executable).parent))
    assert script is not None
    for command in ([script], [sys.executable, "-m", "itoscope"]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"itoscope {itoscope.__version__}\n"


def test_help_of_every_command(run):
    code, out, _ = run("--help")
    assert code == 0
    for name in ("discover", "simulate"):
        assert name in out
        assert run(name, "--help")[0] == 0


@pytest.mark.parametrize(
    "words", [["fly"], ["simulate"], ["simulate", "duffing", "--dt", "x"], ["simulate", "-q"]]
)
def test_wrong_use(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("itoscope")


def test_alone_it_shows_its_help(run):
    code, out, err = run()
    assert (code, err) == (0, "") and "discover" in out and "usage: itoscope" in out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["discovr", "x.csv"], "did you mean discover?"),
        (["discover", "x.csv", "--measurment-noise=3"], "did you mean --measurement-noise?"),
        (["discover", "x.csv", "--librry", "poly:2"], "did you mean --library?"),
        (["simulate", "duffing", "--durations", "2"], "did you mean --duration?"),
        (["discover", "x.csv", "--qqqqq"], "unrecognized arguments: --qqqqq (itoscope discover --help"),
    ],
)
def test_what_may_have_been_meant(run, words, meant):
    code, _, err = run(*words)
    assert code == 2 and meant in err and len(err.splitlines()) == 1


def test_the_shell_can_all_that_discover_can_by_the_same_names():
    parser = argparse.ArgumentParser()
    cli_discover.add(parser.add_subparsers())
    words = parser._subparsers._group_actions[0].choices["discover"]._option_string_actions
    names = set(inspect.signature(itoscope.discover).parameters) - {"trajectories", "t", "progress"}
    assert {f"--{name.replace('_', '-')}" for name in names} <= set(words)


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        (["itoscope", "dis"], "discover", "look"),
        (["itoscope", "discover", "--meas"], "--measurement-noise", "--library"),
        (["itoscope", "simulate", "--set"], "--set", "--order"),
        (["itoscope", "report", "run"], "run.csv", "--out"),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_bash_completes(run, tmp_path, monkeypatch, shell, typed, wanted, unwanted):
    """The script for zsh is that for bash behind one line, which bash does not know."""
    code, script, _ = run("completion", shell)
    assert code == 0
    (tmp_path / "run.csv").touch()
    monkeypatch.chdir(tmp_path)
    script = "autoload() { :; }; bashcompinit() { :; }\n" + script
    words = " ".join(f"'{word}'" for word in typed)
    program = (
        f'{script}COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _itoscope; echo "${{COMPREPLY[*]}}"'
    )
    found = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert wanted in found and unwanted not in found


def test_fish_knows_what_options_mean(run):
    _, script, _ = run("completion", "fish")
    assert "-a discover -d 'find the equation behind a recording'" in script
    assert "-l measurement-noise -d 'measurement noise: its sd, or estimate" in script
    assert run("completion", "csh")[0] == 2


def test_a_reader_that_has_seen_enough(tmp_path):
    command = f"{sys.executable} -m itoscope simulate duffing --paths 50 | head -2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout.startswith("path,t,x1,x2\n0,0,")
    assert "Traceback" not in done.stderr


def test_interrupted(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("itoscope.sde.problem.simulated", interrupt)
    assert run("simulate", "duffing") == (130, "", "\nitoscope: interrupted\n")


def test_our_own_mistake_is_one_line_too(run, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr("itoscope.sde.problem.simulated", fail)
    code, _, err = run("simulate", "duffing")
    assert code == 1
    assert err == "itoscope: error: ZeroDivisionError: by zero (itoscope --debug COMMAND ... shows where)\n"
    with pytest.raises(ZeroDivisionError):
        main(["--debug", "simulate", "duffing"])


# -- simulate ----------------------------------------------------------------------------------------------
def test_simulate_to_files(run, tmp_path):
    for name in ("run.npz", "run.csv", "run.csv.gz"):
        words = [
            "simulate",
            "duffing",
            "--paths",
            3,
            "--duration",
            0.02,
            "--seed",
            4,
            "--out",
            tmp_path / name,
        ]
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        assert out == "Trajectories: 3 paths of 21 samples, dt = 0.001, states x1, x2, seed 4\n"
        data = Trajectories.from_file(tmp_path / name)
        again = itoscope.problems.duffing_van_der_pol().simulate(
            duration=0.02, dt=1e-3, n_paths=3, substeps=10, seed=4
        )
        np.testing.assert_array_equal(data.paths[2], again.paths[2])


def test_simulate_to_standard_output(run):
    code, out, err = run("simulate", "ornstein-uhlenbeck", "--dt", 0.5, "--digits", 4, "--seed", 1)
    assert code == 0
    assert out.splitlines()[0] == "path,t,x1"
    assert len(out.splitlines()) == 4
    assert err.endswith("seed 1\n")
    assert run("simulate", "ornstein-uhlenbeck", "--dt", 0.5, "--seed", 1, "--quiet")[2] == ""


def test_simulate_parameters(run):
    words = ["simulate", "ornstein-uhlenbeck", "--dt", 0.5, "--seed", 1, "--quiet"]
    default = run(*words)[1]
    assert run(*words, "--scheme", "milstein", "--substeps", 2)[1] != default
    assert run(*words, "--x0", "5")[1].splitlines()[1] == "0,0,5"
    assert run("simulate", "duffing", "--set", "s=0", "--set", "c=0", "--dt", 0.1, "--quiet")[0] == 0
    code, out, _ = run("simulate", "building", "--positions", "--noise", 0.05, "--dt", 0.01, "--quiet")
    assert (code, out.splitlines()[0]) == (0, "path,t,x1,x3")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nothing"], 2, "PROBLEM = 'nothing': one of black-scholes"),
        (["duffing", "--set", "q=1"], 2, "--set = 'q': a parameter of duffing: m, c, k"),
        (["duffing", "--set", "k"], 2, "--set = 'k': NAME=VALUE"),
        (["duffing", "--set", "k=much"], 2, "--set k = 'much': numbers"),
        (["duffing", "--set", "m=-1"], 2, "m = -1"),
        (["duffing", "--dt", "0"], 2, "dt = 0.0"),
        (["duffing", "--paths", "0"], 2, "n_paths = 0"),
        (["duffing", "--x0", "1,2,3"], 2, "x0"),
        (["duffing", "--scheme", "magic"], 2, "scheme = 'magic'"),
        (["duffing", "--out", "run.xls"], 2, "run.xls"),
        (["duffing", "--out", "/nowhere/run.csv"], 1, "/nowhere/run.csv: No such file"),
    ],
)
def test_simulate_mistakes(run, words, code, message):
    found, out, err = run("simulate", "--duration", 0.01, *words)
    assert (found, out) == (code, "")
    assert err.startswith("itoscope: error: ")
    assert message in err
    assert err.count("\n") == 1


# -- discover ----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "ou.csv"
    problem = itoscope.problems.ornstein_uhlenbeck()
    problem.simulate(duration=20.0, dt=0.01, n_paths=20, seed=1).to_csv(file)
    return file


QUICK = ["--samples", 300, "--burn", 100, "--chains", 2, "--seed", 1, "--library", "poly:2"]


def test_discover_asks_what_the_options_say():
    """No word given: the defaults of `Options`. Each word reaches the option it is for."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    cli_discover.add(commands)

    def asked(*words):
        return cli_discover.asked(parser.parse_args(["discover", "file", *words]))

    bare = asked()
    for name, value in bare.items():
        if name != "progress":
            assert value == getattr(Options, name), name
    assert bare["progress"] is True
    given = asked(
        "--chains=3", "--burn=7", "--samples=9", "--noise=estimate", "--weights=none", "--known-drift=x=v",
        "--library=poly:1", "--quiet", "--order=2",
    )  # fmt: skip
    changed = {name for name in given if given[name] != bare[name]}
    assert changed == {
        "n_chains", "n_burn", "n_samples", "measurement_noise", "weights", "known_drift", "library", "progress",
        "order",
    }  # fmt: skip
    assert (given["n_chains"], given["n_burn"], given["n_samples"], given["weights"]) == (3, 7, 9, None)
    assert given["known_drift"] == {"x": "v"} and given["library"].names(["x"]) == ["1", "x"]
    assert asked("--measurement-noise=0.1")["measurement_noise"] == 0.1
    assert asked("--states=x, v")["states"] == ["x", "v"]
    assert asked("--observed=gauge=x2 - x1", "--observed=b=x1")["observed"] == {"gauge": "x2 - x1", "b": "x1"}
    assert asked("--sensor=camera=average(x1)")["observed"] == {"camera": "average(x1)"}
    assert asked("--offset=gauge=drift")["offset"] == {"gauge": "drift"}
    assert asked("--resolution=x=0.01", "--resolution=y=2")["resolution"] == {"x": 0.01, "y": 2.0}
    grouped = {"x,y": "estimate", "a,b": 0.5}
    assert asked("--noise-group=x,y", "--noise-group=a,b=0.5")["noise_groups"] == grouped
    assert asked()["noise_law"] == "normal" and asked("--noise-law=student")["noise_law"] == "student"
    assert asked("--noise-law=gps=outliers,b=student")["noise_law"] == {"gps": "outliers", "b": "student"}
    assert asked()["diffusion_law"] == "normal" and asked("--diffusion-law=jumps")["diffusion_law"] == "jumps"
    assert asked("--diffusion-law=x=student,v=normal")["diffusion_law"] == {"x": "student", "v": "normal"}
    assert asked("--prior=a_p=1", "--prior=standardize=false")["prior"] == itoscope.Prior(
        a_p=1, standardize=False
    )
    for word in ("--prior=a_q=1", "--prior=a_p=x", "--prior=standardize=3", "--prior=a_p=-1"):
        with pytest.raises(itoscope.errors.ArgumentError, match=r"a_q|a_p|standardize"):
            asked(word)
    assert asked("--diffusion=diagonal")["diffusion"] == "diagonal"
    assert asked("--diffusion=x=none,v=constant")["diffusion"] == {"x": "none", "v": "constant"}


def test_discover_prints_the_equation(run, recording, tmp_path):
    report = tmp_path / "found.html"
    code, out, err = run("discover", recording, *QUICK, "--save", tmp_path / "found", "--report", report)
    assert (code, err) == (0, "")
    assert "</html>" in report.read_text()
    first, _, rest = out.partition("\n")
    assert first == "Trajectories: 20 paths of 2001 samples, dt = 0.01, state x1"
    assert "x1" in rest
    assert any(tmp_path.iterdir())


def test_discover_reads_standard_input(recording):
    command = [sys.executable, "-m", "itoscope", "discover", "-", "--json", *map(str, QUICK)]
    with open(recording, "rb") as handle:
        done = subprocess.run(command, stdin=handle, capture_output=True, text=True, check=True)
    assert "x1" in json.loads(done.stdout)["drift"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 1 and "standard-input.csv" in done.stderr and "Traceback" not in done.stderr


def test_discover_as_json(run, recording):
    code, out, err = run("discover", recording, *QUICK, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    # on this record the constant is 2.8 standard errors from zero: more probable than not, and said to be in doubt
    terms = {term["term"]: term for term in found["drift"]["x1"]}
    assert [name for name, term in terms.items() if term["selected"]] == [
        name for name, term in terms.items() if term["pip"] > 0.5
    ]
    assert terms["x1"]["selected"] and not terms["x1^2"]["selected"]
    assert [term["term"] for term in found["diffusion"]["x1,x1"] if term["selected"]] == ["1"]
    slope = next(term for term in found["drift"]["x1"] if term["term"] == "x1")
    assert slope["interval"][0] < slope["mean"] < slope["interval"][1]
    assert found["settings"]["seed"] == 1


def test_discover_backends_agree_on_the_terms(run, recording):
    words = ["discover", recording, *QUICK, "--json", "--thin", 5]
    found = [json.loads(run(*words, "--backend", backend)[1]) for backend in ("rust", "reference")]
    chosen = [[term["selected"] for term in one["drift"]["x1"]] for one in found]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--dt", "0.5"], 2, "dt = 0.5"),
        (["--columns", "y"], 2, "columns = 'y'"),
        (["--names", "2b"], 2, "names[0] = '2b'"),
        (["--thin", "0"], 2, "k = 0"),
        (["--library", "poly"], 2, "--library = 'poly': candidate terms"),
        (["--library", "poly:x"], 2, "--library = 'poly:x': candidate terms"),
        (["--known-drift", "x1"], 2, "--known-drift = 'x1': NAME=VALUE"),
        (["--known-drift", "q=x1"], 2, "known_drift"),
        (["--noise", "some"], 2, "--noise = 'some'"),
        (["--order", "3"], 2, "order = 3"),
        (["--scheme", "magic"], 2, "scheme = 'magic'"),
        (["--sampler", "magic"], 2, "sampler = 'magic'"),
        (["--threshold", "2"], 2, "threshold = 2.0"),
        (["--chains", "0"], 2, "n_chains = 0"),
    ],
)
def test_discover_mistakes(run, recording, words, code, message):
    found, _, err = run("discover", recording, *words)
    assert found == code
    assert err.startswith("itoscope: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_discover_bad_expression_points_at_the_character(run, recording):
    code, _, err = run("discover", recording, "--library", "expr:x1 + * 2")
    assert code == 2
    assert err.splitlines()[-1].strip() == "^"


def test_discover_bad_files(run, tmp_path):
    code, _, err = run("discover", tmp_path / "absent.csv")
    assert (code, err) == (1, f"itoscope: error: {tmp_path / 'absent.csv'}: No such file or directory\n")
    (tmp_path / "bad.csv").write_text("t,x\n0,1\n1,one\n2,3\n")
    code, _, err = run("discover", tmp_path / "bad.csv")
    assert code == 1
    assert "bad.csv, line 3, column 'x': 'one'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("poly:2", ["1", "x1", "x1^2"]),
        ("poly:1+sign+abs", ["1", "x1", "sgn(x1)", "|x1|"]),
        ("expr:x1^3, exp(-x1)", ["x1^3", "exp(-x1)"]),
    ],
)
def test_library_words(text, names):
    assert library_of("--library", text).names(["x1"]) == names


def test_library_words_are_the_libraries():
    states = ["x1", "x2"]
    assert library_of("--library", "paper").names(states) == itoscope.Library.paper().names(states)
    assert library_of("--library", "paper:2").names(states) == itoscope.Library.paper(2).names(states)
    assert len(library_of("--library", "trig:1,2.5").names(states)) == 8
    assert library_of("--library", "poly:1@1,2").names(states) == ["1", "(x1 - 1)", "(x2 - 2)"]
    assert library_of("--library", None) is None
