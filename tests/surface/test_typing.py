"""What a user's type checker says of programs that are right and of programs that are not."""

import re
import subprocess
import sys
from pathlib import Path

import itoscope
import pytest

PROGRAM = Path(__file__).with_name("typing_user.py")
CACHE = Path(__file__).parents[2] / ".mypy_cache" / "user"


def reported(program):
    """Line and code of every error that strict mypy reports in a program."""
    pytest.importorskip("mypy")
    options = ["--strict", "--no-error-summary", "--config-file=", f"--cache-dir={CACHE}", "--no-pretty"]
    package = Path(itoscope.__file__).parents[1]
    environment = {"PATH": ""} if package.name == "site-packages" else {"PATH": "", "MYPYPATH": str(package)}
    out = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(program)],
        capture_output=True,
        text=True,
        env=environment,
    ).stdout
    found = re.findall(rf"{re.escape(program.name)}:(\d+): error: .*\[([\w-]+)\]$", out, re.MULTILINE)
    return [(int(line), code) for line, code in found]


def expected(program):
    lines = enumerate(program.read_text().splitlines(), start=1)
    return [(n, found[1]) for n, line in lines if (found := re.search(r"# error: ([\w-]+)$", line))]


def test_a_users_program():
    assert reported(PROGRAM) == expected(PROGRAM)
