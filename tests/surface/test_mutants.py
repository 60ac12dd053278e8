"""The mutants of `tools/mutants.py` still find the text that they change, and tests that are there."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def mutants():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    python, rust = ROOT / "python" / "itoscope", ROOT / "rust" / "core" / "src"
    return [(python, m) for m in module.MUTANTS] + [(rust, m) for m in module.RUST]


@pytest.mark.parametrize(("folder", "mutant"), mutants(), ids=lambda value: getattr(value, "name", ""))
def test_the_text_is_there_once_and_so_are_the_tests(folder, mutant):
    assert (folder / mutant.file).read_text().count(mutant.old) == 1
    if "core" not in folder.parts:
        assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests)
