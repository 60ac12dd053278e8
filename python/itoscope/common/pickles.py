"""Pickles of earlier versions: what their objects had not is what it is by default."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

__all__ = ["filled"]


def filled(kind: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The state of an object of a dataclass, with the fields that its version had not.

    Parameters
    ----------
    kind : dataclass
    state : dict
        The attributes that were pickled.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Former:
    ...     name: str
    ...     notes: list = field(default_factory=list)
    >>> filled(Former, {"name": "one"})
    {'notes': [], 'name': 'one'}
    """
    made = {one.name: one.default_factory() for one in fields(kind) if one.default_factory is not MISSING}
    return made | state
