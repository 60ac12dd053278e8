"""Nothing shown is unexecuted: blocks of README and docs, docstring examples, scripts in examples/."""

import contextlib
import doctest
import importlib
import io
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
    namespace, printed = {}, ""
    for block in BLOCK.finditer(page.read_text()):
        if block["mark"] == "printed":
            assert alike(block["code"], printed), f"{page.name} shows\n{block['code']}not\n{printed}"
        elif block["language"] == "python" and block["mark"] != "not run":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block["code"], f"{page.name}: {block['code'][:40]!r}", "exec"), namespace)
            printed = out.getvalue()


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_what_a_block_prints_is_shown_below_it(page):
    found = list(BLOCK.finditer(page.read_text()))
    for block, after in zip(found, [*found[1:], None]):
        if block["language"] == "python" and block["mark"] != "not run":
            prints = re.search(r"^\s*print\(", block["code"], re.M)
            assert not prints or (after is not None and after["mark"] == "printed"), block["code"]


def commands(page):
    """Commands of the shell blocks of a page, joined lines and `&&` taken apart; those that install are left out."""
    for block in blocks(page, "sh"):
        for line in block["code"].replace("\\\n", " ").splitlines():
            for command in re.split(r"\s&&\s", line.split(" # ")[0]):
                words = shlex.split(command)
                if words and words[0] in ("itoscope", "python3"):
                    yield command.strip()
                elif words:
                    assert words[0] in OTHER_COMMANDS, (
                        f"{page.name} shows a command that no test runs: {command}"
                    )


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What the commands of each page print, run in order in one directory."""
    found = {}
    for page in PAGES:
        here = tmp_path_factory.mktemp(page.stem)
        (here / "examples").symlink_to(ROOT / "examples")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        found[page] = ""
        for block in BLOCK.finditer(page.read_text()):
            if (block["mark"] or "").startswith("file: "):
                (here / block["mark"].removeprefix("file: ")).write_text(block["code"])
        for command in commands(page):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=here,
                env={**os.environ, "PATH": path, "MPLBACKEND": "Agg"},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            assert "Traceback" not in done.stderr
            found[page] += done.stdout
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shell_commands_print_what_is_shown(page, outputs):
    for block in blocks(page, "text"):
        if block["mark"] == "output":
            assert alike(block["code"], outputs[page]), (
                f"{page.name} shows\n{block['code']}not\n{outputs[page]}"
            )


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def alike(shown, printed):
    """Tell whether the lines shown are among those printed, in order, each number to a tenth of its size."""
    wanted = [" ".join(line.split()) for line in shown.splitlines() if line.strip()]
    lines = iter(" ".join(line.split()) for line in printed.splitlines())

    def same(a, b):
        pairs = list(zip(NUMBER.findall(a), NUMBER.findall(b)))
        close = all(abs(float(x) - float(y)) <= 0.1 * abs(float(x)) + 1e-12 for x, y in pairs)
        return NUMBER.sub("#", a) == NUMBER.sub("#", b) and close

    return all(any(same(line, found) for found in lines) for line in wanted)


def test_alike_sees_a_difference():
    assert alike("a 1.00 b\n\nc", "x\na  1.01 b\nc\n")
    assert not alike("a 1.00 b", "a 1.2 b")
    assert not alike("a 1 b", "a 1 c")
    assert not alike("c\na", "a\nc")


def test_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert text.count("<!-- ci: test -->") == 1
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


def test_the_readme_lists_every_extra():
    project = (
        (ROOT / "pyproject.toml").read_text().split("[project.optional-dependencies]")[1].split("\n[")[0]
    )
    known = set(re.findall(r"^(\w+) = ", project, re.M)) - {"dev", "docs"}
    listed = (ROOT / "README.md").read_text().split("## Extras")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", listed, re.M)) == known


def test_the_page_for_rust_shows_the_example_of_the_crate():
    """That example is a test of the crate, which holds what it prints to the README too."""
    crate = (ROOT / "rust" / "core" / "README.md").read_text()
    code, printed = re.findall(r"^```(?:rust|text)\n(.*?)^```$", crate, re.S | re.M)[:2]
    page = {block["mark"]: block["code"] for block in BLOCK.finditer((ROOT / "docs" / "rust.md").read_text())}
    assert page["crate"] == "".join(
        line for line in code.splitlines(keepends=True) if not line.startswith("# ")
    )
    assert page["page"] == printed


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
