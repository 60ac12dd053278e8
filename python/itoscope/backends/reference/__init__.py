"""The NumPy reference of every stage: the same names as the compiled backend, written to be read."""

from itoscope.backends.reference.expr import compile
from itoscope.backends.reference.gram import regression_sums
from itoscope.backends.reference.integrate import simulate
from itoscope.backends.reference.moments import project
from itoscope.backends.reference.residuals import residual_sums, survey

__all__ = ["compile", "project", "regression_sums", "residual_sums", "simulate", "survey"]
