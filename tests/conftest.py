"""Fixtures shared by all tests: every test that takes `backend` runs on both."""

import sys

import pytest
from hypothesis import settings
from itoscope.backends import BACKENDS
from itoscope.cli import main

# Examples are drawn from a fixed seed, so that a run is repeatable, and no test fails for being slow once.
settings.register_profile("itoscope", derandomize=True, deadline=None)
settings.load_profile("itoscope")


@pytest.fixture(params=BACKENDS)
def backend(request):
    """The name of a backend."""
    return request.param


@pytest.fixture
def run(capsys):
    """Run the command in this process; returns exit code, standard output and error."""

    def call(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def empty_directory(tmp_path, monkeypatch):
    """Makes `tmp_path` the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def figures_closed():
    """No figure outlives its test: a process that keeps twenty is warned by matplotlib, in whichever test is next."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
