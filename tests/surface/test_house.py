"""The house keeps its rules: floors, sizes, no meaning read from text, one page that says where things are."""

import ast
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "itoscope"
PYTHON = sorted(PACKAGE.rglob("*.py"))
RUST = sorted((ROOT / "rust").rglob("*.rs"))

# Lines of a file; lines of a function without its docstring.
LONGEST_FILE = 450
LONGEST_FUNCTION = 60

# Files that may use regular expressions, and on what. Expressions and labels are read by the grammar alone.
MAY_MATCH = {
    "expressions/grammar.py": "the words of the grammar itself",
    "show/report.py": "identifiers inside an SVG picture",
}


@pytest.fixture(scope="module")
def floors():
    """The script that writes the floors."""
    spec = importlib.util.spec_from_file_location("floors", ROOT / "docs" / "floors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name(file):
    return str(file.relative_to(PACKAGE if file.is_relative_to(PACKAGE) else ROOT))


def functions(source):
    """Every function of a source, with its lines apart from the docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = first.end_lineno - first.lineno + 1 if documented else 0
            yield node.name, node.end_lineno - node.lineno + 1 - doc


def test_no_file_is_long():
    long = {
        file.relative_to(ROOT): lines
        for file in PYTHON + RUST
        if (lines := len(file.read_text().splitlines())) > LONGEST_FILE
    }
    assert not long


def test_no_function_is_long():
    long = [
        (name(file), function, lines)
        for file in PYTHON
        for function, lines in functions(file.read_text())
        if lines > LONGEST_FUNCTION
    ]
    assert not long


def test_a_long_function_is_found():
    body = "\n".join(f"    x = {i}" for i in range(LONGEST_FUNCTION))
    doc = '    """One.\n\n    Two.\n    """\n'
    assert list(functions(f"def f():\n{doc}{body}\n")) == [("f", LONGEST_FUNCTION + 1)]


def test_a_file_says_what_it_owns():
    for file in PYTHON:
        assert ast.get_docstring(ast.parse(file.read_text())), file
    for file in RUST:
        assert file.read_text().startswith("//!"), file


def matching(source):
    """Whether a source imports `re`."""
    return bool(re.search(r"^\s*(import re\b|from re import)", source, re.MULTILINE))


def test_meaning_is_not_read_from_text():
    found = {name(file) for file in PYTHON if matching(file.read_text())}
    assert found == set(MAY_MATCH)


def test_the_page_shows_the_floors_of_the_linter(floors):
    shown = re.findall(r"^\| `(\w+)` \| ", floors.page().split("<!-- floors -->")[1], re.MULTILINE)
    assert shown[: len(floors.floors())] == floors.floors()
    again = "run python docs/floors.py"
    assert floors.PAGE.read_text() == floors.page(), again
    assert floors.PICTURE.read_text() == floors.picture(), again


def test_every_floor_is_drawn(floors):
    drawn = [floor for _, part in floors.PARTS.values() for floor in part]
    assert drawn == floors.floors()
    here = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in PYTHON} - {"__init__"}
    assert set(drawn) == here


def test_what_the_architecture_names_exists(floors):
    page = floors.PAGE.read_text()
    needs, changes = page.split("## Need X, use Y")[1].split("## Symbols")[0].split("## Ten")
    answers = [line.split(" | ")[-1] for line in needs.splitlines()]
    used = [word for answer in answers for word in re.findall(r"`([a-z_.A-Z]+)`", answer)]
    assert len(used) > 20
    for word in set(used):
        assert pkgutil.resolve_name(f"itoscope.{word}") is not None
    folders = re.findall(r"^\| an? new [^|]*\| `([\w/]+)/` \|", changes, re.MULTILINE)
    assert len(folders) == 10
    for folder in folders:
        assert (PACKAGE / folder).is_dir(), folder
