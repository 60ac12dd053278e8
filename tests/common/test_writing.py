"""Whatever stops a writer, the file is the old one or the whole new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import itoscope as ito
import numpy as np
import pytest
from itoscope.cli import main
from itoscope.common.writing import replacing, try_outputs
from itoscope.errors import ArgumentError

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
MAKE = """
import sys, numpy as np, itoscope as ito
rng = np.random.default_rng(int(sys.argv[2]))
data = ito.Trajectories(rng.normal(size=(40000, 2)), dt=0.1)
"""


def test_a_block_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "kept.csv"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as beside:
            Path(beside).write_text("half")
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        fail()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["kept.csv"]


def test_a_link_is_followed_and_the_mode_is_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "real.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link) as beside:
        Path(beside).write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "x.csv"):
        with pytest.raises((IsADirectoryError, FileNotFoundError)) as caught, replacing(path):
            pass
        assert str(caught.value.filename) == str(path)


@POSIX
@pytest.mark.parametrize("call", ["data.to_csv(path)", "data.to_npz(path)", "data.to_csv(path + '.gz')"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, call: str) -> None:
    suffix = ".npz" if "npz" in call else ".csv"
    path = tmp_path / f"run{suffix}"
    code = MAKE + (
        "path = sys.argv[1]\n"
        f"{call}\n"
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))\n"
        "data = ito.Trajectories(rng.normal(size=(40000, 2)), dt=0.1)\n"
        f"try: {call}\n"
        "except OSError as problem: print(problem.filename)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path, "1"], capture_output=True, text=True, check=True)
    assert done.stdout.strip().startswith(str(path))
    (left,) = tmp_path.iterdir()
    kept = ito.Trajectories.from_file(left)
    expected = np.random.default_rng(1).normal(size=(40000, 2))
    np.testing.assert_array_equal(kept.paths[0], expected)


@POSIX
def test_a_signal_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    code = MAKE + "print('ready', flush=True)\nwhile True: data.to_csv(sys.argv[1])\n"
    whole = [np.random.default_rng(seed).normal(size=(40000, 2)) for seed in range(4)]
    ito.Trajectories(whole[0], dt=0.1).to_csv(path)
    for seed, wait in ((1, 0.0), (2, 0.05), (3, 0.31)):
        child = subprocess.Popen(
            [sys.executable, "-c", code, path, str(seed)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(wait)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
        found = ito.Trajectories.from_file(path).paths[0]
        assert any(np.array_equal(found, one) for one in whole)


def test_outputs_are_tried_before_the_run(tmp_path: Path) -> None:
    recording = tmp_path / "good.csv"
    recording.write_text("x\n1\n2\n3\n")
    same = tmp_path / "." / "good.csv"
    with pytest.raises(ArgumentError, match="another file than that of FILE"):
        try_outputs({"--save": same}, {"FILE": recording})
    with pytest.raises(ArgumentError, match="another file than that of --save"):
        try_outputs({"--save": tmp_path / "x", "--report": tmp_path / "x"}, {})
    with pytest.raises(FileNotFoundError):
        try_outputs({"--save": tmp_path / "missing" / "x.npz"}, {})
    try_outputs({"--save": tmp_path / "x", "--report": None}, {"FILE": recording})
    assert os.listdir(tmp_path) == ["good.csv"]


def test_the_command_refuses_to_overwrite_its_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "good.csv"
    recording.write_text("x\n" + "\n".join(map(str, np.random.default_rng(3).normal(size=200))) + "\n")
    before = recording.read_text()
    words = ["discover", str(recording), "--dt", "0.1", "--quiet", "--save"]
    assert main([*words, str(recording)]) == 2
    assert "another file" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "x.npz"), "--report", str(tmp_path / "x.npz")]) == 2
    assert main([*words, str(tmp_path / "missing" / "x.npz")]) == 1
    assert "Sampling" not in capsys.readouterr().out
    assert recording.read_text() == before
