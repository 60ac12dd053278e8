"""Figures are drawn without a screen and closed after each test."""

import pytest

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(autouse=True)
def closed():
    """Closes all figures."""
    yield
    pytest.importorskip("matplotlib.pyplot").close("all")
