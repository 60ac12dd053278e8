"""Moments of a regression, their posterior, and the equation that it gives."""

from itoscope.posterior.equation import Equation

__all__ = ["Equation"]
