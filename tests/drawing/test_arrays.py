"""Drawing knows arrays and names alone: it imports nothing of the floors that have classes to draw."""

import ast
from pathlib import Path

import itoscope.drawing

ALLOWED = {"common", "drawing", "errors", "expressions"}


def test_drawing_imports_common_ground_alone():
    files = sorted(Path(itoscope.drawing.__file__).parent.glob("*.py"))
    assert len(files) > 4
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("itoscope"):
                assert node.module.split(".")[1] in ALLOWED, f"{file.name}: {node.module}"
