"""Nothing shown is unexecuted: blocks of README and docs, docstring examples, scripts in examples/."""

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import itoscope
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^>]*) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.S | re.M)
OTHER_COMMANDS = {"pip", "make", "git", "python3", ".", "cargo"}


def blocks(page, language):
    return [
        m for m in BLOCK.finditer(page.read_text()) if m["language"] == language and m["mark"] != "not run"
    ]


@pytest.fixture
def in_copy(tmp_path, monkeypatch):
    """A directory in which ``examples/data`` is found and files may be left behind."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_in_order(page, in_copy):
    namespace = {}
    for block in blocks(page, "python"):
        exec(compile(block["code"], f"{page.name}: {block['code'][:40]!r}", "exec"), namespace)


def commands(page):
    """Commands of `itoscope` in the shell blocks of a page, joined lines and `&&` taken apart."""
    for block in blocks(page, "sh"):
        for line in block["code"].replace("\\\n", " ").splitlines():
            for command in line.split("#")[0].split("&&"):
                words = shlex.split(command)
                if words and words[0] == "itoscope":
                    yield command.strip()
                elif words:
                    assert words[0] in OTHER_COMMANDS, (
                        f"{page.name} shows a command that no test runs: {command}"
                    )


@pytest.mark.parametrize("command", [command for page in PAGES for command in commands(page)])
def test_shell_commands_run(command, in_copy):
    words = shlex.split(command)
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert text.count("<!-- ci: test -->") == 1
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


MODULES = ["itoscope", *(m.name for m in pkgutil.walk_packages(itoscope.__path__, "itoscope.")
                         if not m.name.endswith(("_core", "__main__")))]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name, in_copy):
    result = doctest.testmod(
        importlib.import_module(name),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL,
    )
    assert result.failed == 0


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(script, in_copy):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
