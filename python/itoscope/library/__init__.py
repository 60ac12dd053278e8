"""Libraries of candidate terms."""

from itoscope.library.library import Library

__all__ = ["Library"]
