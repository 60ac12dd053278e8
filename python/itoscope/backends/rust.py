"""The compiled backend: each stage is one call into `itoscope._core`."""

from __future__ import annotations

from collections.abc import Sequence

from itoscope import _core
from itoscope.backends.protocol import Program

__all__ = ["compile"]


def compile(expressions: Sequence[str], inputs: Sequence[str]) -> Program:
    """Compile expressions over the named inputs; see `itoscope.backends.protocol.Backend.compile`."""
    return _core.Program(list(expressions), list(inputs))
