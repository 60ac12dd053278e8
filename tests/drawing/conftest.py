"""Figures are drawn without a screen."""

import pytest

pytest.importorskip("matplotlib").use("Agg")
