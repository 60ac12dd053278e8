"""What differs between the paper and what is found here, and why: the words of the page."""

from __future__ import annotations

__all__ = ["CLOSING", "HEAD", "NOTES"]

HEAD = "# The paper's studies, done again"
CLOSING = ""
NOTES: dict[str, str] = {}
