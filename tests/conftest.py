"""Fixtures shared by all tests: every test that takes `backend` runs on both."""

import pytest
from hypothesis import settings
from itoscope.backends import BACKENDS

# Examples are drawn from a fixed seed, so that a run is repeatable, and no test fails for being slow once.
settings.register_profile("itoscope", derandomize=True, deadline=None)
settings.load_profile("itoscope")


@pytest.fixture(params=BACKENDS)
def backend(request):
    """The name of a backend."""
    return request.param
