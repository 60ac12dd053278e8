"""What warnings and advice tell a user to write exists: arguments, methods, libraries, by their signatures of today."""

import ast
import inspect
import re
from pathlib import Path

import itoscope as ito
import pytest

PACKAGE = Path(ito.__file__).parent
#: Where sentences for users of a fit are written.
FOLDERS = (
    "checks",
    "fit",
    "posterior",
    "data/traits.py",
    "data/advice.py",
    "data/glance.py",
    "discovery/trial.py",
)
#: `argument=`, and calls of what users hold.
ARGUMENT = re.compile(r"(?<![\w.<>=!{])([a-z][a-z_0-9]*)=(?=[\w'\"\[{(])")
CALLED = re.compile(r"\b(data|result|Library|ito|itoscope)\.([a-z_]+)")
HELD = {
    "data": ito.Trajectories,
    "result": ito.Discovery,
    "Library": ito.Library,
    "ito": ito,
    "itoscope": ito,
}


SENSORS = [ito.Average, ito.Acceleration]


def arguments():
    """Names of all parameters that a sentence may speak of."""
    found = {
        name
        for call in (ito.discover, ito.moments, ito.Prior, *SENSORS)
        for name in inspect.signature(call).parameters
    }
    for holder in (ito.Trajectories, ito.Discovery, ito.Library):
        for name, member in inspect.getmembers(holder, callable):
            if not name.startswith("_"):
                found |= {*inspect.signature(member).parameters}
    return found


def texts(node):
    """Strings and f-strings under a node as a reader sees them, `{}` for what is filled in; no docstrings."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
        node.body = node.body[1:]
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        yield "".join(parts)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def unknown(text, known):
    """What a sentence names that is not there."""
    wrong = [name for name in ARGUMENT.findall(text) if name not in known]
    return wrong + [".".join(pair) for pair in CALLED.findall(text) if not hasattr(HELD[pair[0]], pair[1])]


def sources():
    for place in FOLDERS:
        path = PACKAGE / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


@pytest.mark.parametrize("path", list(sources()), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_sentences_name_what_exists(path):
    known = arguments()
    sentences = [text for text in texts(ast.parse(path.read_text())) if " " in text and "<" not in text]
    assert {text: wrong for text in sentences if (wrong := unknown(text, known))} == {}


def test_a_name_that_does_not_exist_is_found():
    """Negative control, and what the sentences of today look like."""
    known = arguments()
    assert unknown("set noise_level=0.1 and data.smoothen(3)", known) == ["noise_level", "data.smoothen"]
    assert unknown("split it, data.split({}, by='time'), and discover(data, diffusion={})", known) == []
    advice = ast.parse((PACKAGE / "checks" / "advice.py").read_text())
    assert sum(bool(ARGUMENT.search(text) or CALLED.search(text)) for text in texts(advice)) >= 5


def test_arguments_of_advice_are_those_of_discover():
    """Keys of the dictionaries that `try_advice` hands to `discover`."""
    known = {*inspect.signature(ito.discover).parameters}
    for place in ("checks/advice.py", "data/traits.py"):
        for node in ast.walk(ast.parse((PACKAGE / place).read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Advice" and len(node.args) > 4:
                keys = [k.value for k in getattr(node.args[4], "keys", []) if isinstance(k, ast.Constant)]
                assert set(keys) <= known, keys
