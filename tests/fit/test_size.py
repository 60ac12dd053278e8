"""Fits are estimated before they start: what does not fit is refused, what takes long is said, all else is silent."""

import time
import warnings

import itoscope as ito
import numpy as np
import pytest
from itoscope.common import machine
from itoscope.errors import ArgumentError
from itoscope.fit import size
from itoscope.fit.size import size_of

SHORT = {"seed": 1, "n_chains": 2, "n_samples": 50, "n_burn": 20}


def walk(states, n=300):
    return np.cumsum(0.1 * np.random.default_rng(1).standard_normal((n, states)), axis=0)


def test_a_library_that_does_not_fit_is_refused_with_one_that_does(monkeypatch):
    monkeypatch.setattr(size, "free_memory", lambda: 4e5)
    with pytest.raises(ArgumentError, match="library = '36 terms'") as told:
        ito.discover(walk(2), ito.Library.paper(), dt=0.01, **SHORT)
    most = int(str(told.value).partition("about ")[2].split()[0])
    assert 5 < most < 36
    assert size_of(most, 5, 299, 0).memory <= 0.2e6 < size_of(most + 2, 5, 299, 0).memory
    ito.discover(walk(2), ito.Library.polynomials(2), dt=0.01, **SHORT)


def test_29_states_with_the_library_of_the_paper_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(size, "free_memory", lambda: 64e9)
    began = time.perf_counter()
    with pytest.raises(ArgumentError, match="29 states"):
        ito.discover(walk(29, 7000), ito.Library.paper(3), dt=0.01, **SHORT)
    assert time.perf_counter() - began < 20.0


def test_memory_that_the_system_does_not_give_is_a_memory_error(monkeypatch):
    monkeypatch.setattr(size, "free_memory", lambda: float("inf"))
    monkeypatch.setattr(size, "HELD", 1e10)
    with pytest.raises(MemoryError):
        ito.discover(walk(2), dt=0.01, **SHORT)


def test_a_long_time_is_said_and_a_short_one_is_not(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ito.discover(walk(2), ito.Library.polynomials(1), dt=0.01, **SHORT)
    monkeypatch.setattr(size, "LONG", 1e-9)
    with pytest.warns(UserWarning, match="minutes of one core: 5 equations with 3 candidates over 299 steps"):
        ito.discover(walk(2), ito.Library.polynomials(1), dt=0.01, **SHORT)


def test_noisy_recordings_are_estimated_too(monkeypatch):
    monkeypatch.setattr(size, "free_memory", lambda: 4e5)
    with pytest.raises(ArgumentError, match="36 terms"):
        ito.discover(walk(2), ito.Library.paper(), dt=0.01, measurement_noise="estimate", **SHORT)


def test_free_memory_is_that_of_the_system_or_without_bound(monkeypatch, tmp_path):
    assert machine.free_memory() > 1e6
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2048 kB\n")
    monkeypatch.setattr(machine, "MEMINFO", str(tmp_path / "meminfo"))
    assert machine.free_memory() == 2048 * 1024
    monkeypatch.setattr(machine, "MEMINFO", str(tmp_path / "none"))
    assert machine.free_memory() > 1e6
