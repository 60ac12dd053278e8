"""Moments of a regression, their posterior, and the equation that it gives."""
