"""The NumPy reference of every stage: the same names as the compiled backend, written to be read."""

from itoscope.backends.reference.expr import compile
from itoscope.backends.reference.integrate import simulate

__all__ = ["compile", "simulate"]
