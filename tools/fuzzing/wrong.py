"""`Wrong`: the package answered, and the answer is wrong without a word."""

from __future__ import annotations

__all__ = ["Wrong"]


class Wrong(Exception):
    """Says what is wrong."""
