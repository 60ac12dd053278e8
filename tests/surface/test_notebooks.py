"""The notebooks are the guides: the same words and code, what the page prints, the pictures that it shows."""

import base64
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_notebooks", DOCS / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_notebooks"] = module
    spec.loader.exec_module(module)
    return module


GUIDES = ("structures", "tracks", "cells", "prices", "climate")


def kept(guide):
    return json.loads((DOCS / "notebooks" / f"{guide}.ipynb").read_text())


@pytest.mark.parametrize("guide", GUIDES)
def test_a_notebook_has_the_words_and_the_code_of_its_page(script, guide):
    assert script.GUIDES == GUIDES
    bare = kept(guide)
    for cell in bare["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    assert bare == script.notebook(guide, draw=False), "run python docs/make_notebooks.py"


@pytest.mark.parametrize("guide", GUIDES)
def test_its_outputs_are_those_that_the_page_shows(guide):
    page = (DOCS / "guides" / f"{guide}.md").read_text()
    printed = re.findall(r"^<!-- printed -->\n```text\n(.*?)^```$", page, re.S | re.M)
    outputs = [out for cell in kept(guide)["cells"] for out in cell.get("outputs", [])]
    assert [out["text"] for out in outputs if out["output_type"] == "stream"] == printed
    drawn = [base64.b64decode(out["data"]["image/png"]) for out in outputs if "data" in out]
    shown = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", page, re.M)
    assert drawn == [(DOCS / "guides" / target).read_bytes() for target in shown]
    assert shown and all(png.startswith(b"\x89PNG") and 5_000 < len(png) < 100_000 for png in drawn)
