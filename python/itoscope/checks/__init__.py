"""Checks of a fit against its recording."""
