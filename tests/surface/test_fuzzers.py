"""The fuzzers find what they hunt: a backend that is wrong by a little is told, one that is right is not."""

import importlib
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from itoscope.backends import get_backend

FOLDER = Path(__file__).parents[2] / "tools" / "fuzzing"
SEEDS, FEW = range(200), range(50)

pytestmark = pytest.mark.filterwarnings("ignore")  # hostile numbers overflow


@pytest.fixture(scope="module")
def fuzzers():
    """The kinds of calls by name, and the error for an answer that is wrong without a word."""
    sys.path.insert(0, str(FOLDER))
    try:
        modules = [importlib.import_module(name) for name in ("expressions", "parity")]
        return {k: f for module in modules for k, f in module.KINDS.items()}, importlib.import_module(
            "wrong"
        ).Wrong
    finally:
        sys.path.remove(str(FOLDER))


def count(fuzzers, kind, seeds=SEEDS):
    """How many calls of a kind are told to be wrong."""
    kinds, wrong = fuzzers
    told = 0
    for seed in seeds:
        try:
            kinds[kind](np.random.default_rng([zlib.crc32(kind.encode()), seed]))
        except wrong:
            told += 1
    return told


class Off:
    """A program whose numbers are off by a share."""

    def __init__(self, program, share):
        self.program, self.share = program, share

    def evaluate(self, x):
        """Values."""
        return self.program.evaluate(x) * self.share

    def gradient(self, x):
        """Slopes."""
        return self.program.gradient(x) * self.share


@pytest.mark.parametrize("kind", ["values", "slopes", "mutated"])
@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_values_and_slopes_off_by_a_millionth_are_told(fuzzers, kind, backend, monkeypatch):
    assert count(fuzzers, kind) == 0
    whole = get_backend(backend).compile
    monkeypatch.setattr(get_backend(backend), "compile", lambda *asked: Off(whole(*asked), 1 + 1e-6))
    assert count(fuzzers, kind) > 10


@pytest.mark.parametrize(("kind", "least"), [("values", 10), ("mutated", 3)])
def test_a_missing_sample_that_is_lost_is_told(fuzzers, kind, least, monkeypatch):
    class Lost(Off):
        def evaluate(self, x):
            return np.nan_to_num(self.program.evaluate(x), nan=1.0, posinf=np.inf, neginf=-np.inf)

    whole = get_backend("rust").compile
    monkeypatch.setattr(get_backend("rust"), "compile", lambda *asked: Lost(whole(*asked), 1.0))
    assert count(fuzzers, kind) > least


def test_moments_off_by_a_hundred_thousandth_are_told(fuzzers, monkeypatch):
    assert count(fuzzers, "moments", FEW) == 0
    rust = get_backend("rust")
    whole = rust.project

    def off(sums):
        found = whole(sums)
        return replace(found, moment=found.moment * (1 + 1e-5))

    monkeypatch.setattr(rust, "project", off)
    assert count(fuzzers, "moments", FEW) > 10


def test_paths_from_a_start_off_by_a_millionth_are_told(fuzzers, monkeypatch):
    assert count(fuzzers, "integrators", FEW) == 0
    rust = get_backend("rust")
    whole = rust.simulate

    def off(dynamics, x0, *rest, **more):
        return whole(dynamics, np.asarray(x0) * (1 + 1e-6), *rest, **more)

    monkeypatch.setattr(rust, "simulate", off)
    assert count(fuzzers, "integrators", FEW) > 20
