"""The Rust crate's `discover` has the numbers of Python: its constants, and the file of answers that its tests read."""

import importlib
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from tolerances import SAMPLER

ROOT = Path(__file__).parents[2]


def loaded(name, path):
    """The module of a script."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


discovered = loaded("discovered", Path(__file__).with_name("discovered.py"))
ANSWERS = json.loads(discovered.FILE.read_text())


def close(ours, theirs):
    """Whether two trees of numbers are the same but for rounding, and whatever else is in them altogether."""
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(close(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    if isinstance(ours, float):
        return bool(np.isclose(ours, theirs, rtol=SAMPLER, atol=SAMPLER))
    return ours == theirs


@pytest.mark.parametrize("name", discovered.QUESTIONS)
def test_the_file_says_what_is_found(name):
    asked = ANSWERS["questions"][name]
    question = (asked["system"], asked["simulation"], asked["terms"], asked["options"], asked["done"])
    assert json.loads(json.dumps(discovered.QUESTIONS[name])) == list(question)
    found = json.loads(json.dumps(discovered.answered(*discovered.QUESTIONS[name])))
    assert close(found, asked["found"]), "run python tests/parity/discovered.py and commit the file"


def test_the_file_says_what_is_usual():
    usual = json.loads(json.dumps(discovered.usual()))
    assert {name: ANSWERS[name] for name in usual} == usual


@pytest.fixture(scope="module")
def constants():
    """Values of the constants of the Rust crate's `discover` by name, and the constant of Python that each is."""
    folder = ROOT / "benches" / "accuracy"
    sys.path.insert(0, str(folder))
    script, listed = (
        loaded("constants", folder / "constants.py"),
        loaded("constant_list", folder / "constant_list.py"),
    )
    yield [
        (c.name, eval(c.value), listed.CORE[c.name].removeprefix("see ").strip("`"))
        for c in script.of_rust()
        if c.name.startswith("discovery::") and listed.CORE[c.name].startswith("see ")
    ]
    sys.path.remove(str(folder))


def test_constants_are_those_of_python(constants):
    assert len(constants) > 20
    for name, value, twin in constants:
        module, short = twin.rsplit(".", 1)
        if name.endswith("EXCHANGES"):
            assert value == importlib.import_module("itoscope.posterior.sampling").Sampling.exchanges
            continue
        assert value == getattr(importlib.import_module(f"itoscope.{module}"), short), name


def test_another_constant_would_be_seen():
    assert not close({"a": [1.0, True]}, {"a": [1.0 + 1e-6, True]})
    assert not close({"a": 1}, {"b": 1})
    assert close({"a": [1.0, "b"]}, {"a": [1.0 + 1e-12, "b"]})
