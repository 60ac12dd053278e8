"""A signal at a random moment of any writer, and a disk without room, leave the old file or the whole new one."""

import errno
import json
import os
import subprocess
import sys

import itoscope as ito
import numpy as np
import pytest
from itoscope.show import report

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals of POSIX")
MOMENTS = 50

# Each child writes the two contents in turn until it is killed; a page is text that takes a while to write.
SCRIPT = """
import contextlib, io, json, os, pathlib, signal, sys, time
import numpy as np, itoscope as ito, itoscope.cli
from itoscope.show import report

def naive(path, data):
    with open(path, "w") as file:
        for row in data.paths[0][:1000]:
            file.write(repr(row))

def result(seed):
    data = ito.SDE(["x1 - x1^3"], [["0.5"]]).simulate([0.1], dt=0.01, n_steps=3000, seed=seed)
    library = ito.Library.polynomials(2)
    return ito.discover(data, library, n_chains=2, n_samples=1000, n_burn=50, seed=1, diffusion="constant")

kind, moments = sys.argv[1], int(sys.argv[2])
report.page = lambda result, title, **_: repr(result.data.paths[0].tolist()) * 40
data = [ito.Trajectories(np.random.default_rng(seed).normal(size=(3000, 2)), dt=0.1) for seed in (1, 2)]
results = [result(seed) for seed in (1, 2)] if kind in ("save", "report", "forecast") else data
if kind == "forecast":
    results[0].save("found.npz")

def forecast(path, which):
    asked = ["forecast", "found.npz", "--x0", "0.1", "--steps", "20", "--paths", "20", "--seed", str(which)]
    with contextlib.redirect_stdout(io.StringIO()):
        assert itoscope.cli.main([*asked, "--out", path]) == 0
write = {
    "to_csv": lambda path, which: data[which].to_csv(path),
    "to_npz": lambda path, which: data[which].to_npz(path),
    "save": lambda path, which: results[which].save(path),
    "report": lambda path, which: results[which].report(path),
    "forecast": forecast,
    "naive": lambda path, which: naive(path, data[which]),
}[kind]
whole = []
for which in (0, 1):
    began = time.perf_counter()
    write("run.npz", which)
    longest = time.perf_counter() - began
    whole.append(pathlib.Path("run.npz").read_bytes())
rng, torn = np.random.default_rng(7), 0
for wait in rng.uniform(0, 3 * longest, moments):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        while True:
            write("run.npz", 0)
            write("run.npz", 1)
    time.sleep(wait)
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    torn += pathlib.Path("run.npz").read_bytes() not in whole
print(json.dumps({"torn": torn, "differ": whole[0] != whole[1]}))
"""


def killed(kind, folder):
    """How often a file was neither content."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, kind, str(MOMENTS)]
    found = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)
    assert found["differ"]
    return found["torn"]


@pytest.mark.parametrize("kind", ["to_csv", "to_npz", "save", "report", "forecast"])
def test_a_signal_at_a_random_moment(kind, tmp_path):
    assert killed(kind, tmp_path) == 0


def test_a_writer_in_place_is_caught(tmp_path):
    assert killed("naive", tmp_path) > MOMENTS / 10


@pytest.fixture(scope="module")
def result():
    data = ito.SDE(["x1 - x1^3"], [["0.5"]]).simulate([0.1], dt=0.01, n_steps=300, seed=1)
    return ito.discover(data, ito.Library.polynomials(2), n_chains=2, n_samples=20, n_burn=5, seed=1)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("kind", ["to_csv", "to_npz", "save", "report", "model"])
def test_a_disk_without_room(kind, step, result, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "page", lambda *_, **__: "page")
    path = tmp_path / "run.npz"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    write = {
        "to_csv": result.data.to_csv, "to_npz": result.data.to_npz, "save": result.save, "report": result.report,
        "model": result.model().save,
    }[kind]  # fmt: skip
    with pytest.raises(OSError, match="No space left") as caught:
        write(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["run.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_full(result):
    with pytest.raises(OSError, match="No space left"):
        result.data.to_csv("/dev/full")
    np.testing.assert_array_equal(np.isfinite(result.data.paths[0]), True)
