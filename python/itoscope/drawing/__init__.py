"""Axes drawn from arrays."""
