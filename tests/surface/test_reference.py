"""The reference page has every public name once."""

import importlib.util
import inspect
import re
from pathlib import Path

import itoscope
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "make_reference.py"


@pytest.fixture(scope="module")
def script():
    """The script that writes the page."""
    pytest.importorskip("sklearn")
    spec = importlib.util.spec_from_file_location("make_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_public_names(script):
    assert script.PAGE.read_text() == script.page(), "run python docs/make_reference.py"
    entries = re.findall(r"^\.\. auto\w+:: itoscope\.(\w+)$", script.PAGE.read_text(), re.MULTILINE)
    assert sorted(entries) == sorted(itoscope.__all__)


@pytest.mark.parametrize("name", [name for name in itoscope.__all__ if name != "__version__"])
def test_every_public_name_has_an_example(name):
    """In its docstring; of a module, in its own or in that of one of its calls. `test_shown.py` runs them."""
    thing = getattr(itoscope, name)
    inside = [getattr(thing, one) for one in getattr(thing, "__all__", ())] if inspect.ismodule(thing) else []
    assert any(">>>" in (inspect.getdoc(one) or "") for one in [thing, *inside])


def test_a_forgotten_name_is_an_error(script, monkeypatch):
    monkeypatch.setattr(itoscope, "__all__", [*itoscope.__all__, "forgotten"])
    with pytest.raises(ValueError, match="forgotten"):
        script.page()


def test_what_calls_return_is_where_the_page_says(script):
    for path in script.RETURNED:
        module, name = path.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), name)
