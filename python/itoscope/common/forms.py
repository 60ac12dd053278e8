"""The form of a document that nobody has vetted, declared as types and compared with what the document holds."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

__all__ = ["require_form"]

#: What JSON calls the types, for messages; a whole number is a number, a truth value is none.
SCALARS: dict[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    type(None): ((type(None),), "null"),
}
SHOWN = 60
"""Letters of a value that a message quotes."""


def require_form(value: Any, form: Any, where: str = "document") -> None:
    """Raise unless a value of JSON is of a form.

    Parameters
    ----------
    value : object
        As `json.loads` gave it.
    form : type
        Of `str`, `bool`, `int`, `float`, None, `Any`, `Literal`, unions, `list[...]`, `dict[str, ...]` and `TypedDict`;
        a table may hold more than its `TypedDict` says.
    where : str
        The place in the document, for messages.

    Raises
    ------
    TypeError
        Names the place and what is wanted there.

    Examples
    --------
    >>> require_form([1, 2.5], list[float])
    >>> require_form([1, "2.5"], list[float])
    Traceback (most recent call last):
      ...
    TypeError: document[1] = '2.5': a number is wanted
    """
    origin, inside = get_origin(form), get_args(form)
    if form is Any:
        return
    if is_typeddict(form):
        _table(value, form, where)
    elif origin is Literal:
        if not any(value == one and isinstance(value, type(one)) for one in inside):
            _refuse(value, where, f"one of {', '.join(map(repr, inside))}")
    elif origin is Union or origin is types.UnionType:
        _union(value, inside, where)
    elif origin is list:
        for number, one in enumerate(_of(list, value, where, "a list")):
            require_form(one, inside[0], f"{where}[{number}]")
    elif origin is dict:
        for key, one in _of(dict, value, where, "a table").items():
            require_form(one, inside[1], f"{where}[{key!r}]")
    else:
        allowed, name = SCALARS[form]
        if not isinstance(value, allowed) or (isinstance(value, bool) and form is not bool):
            _refuse(value, where, name)


def _table(value: Any, form: Any, where: str) -> None:
    """A table of named entries, those that may not be missing among them."""
    table = _of(dict, value, where, "a table")
    missing = sorted(form.__required_keys__ - set(table))
    if missing:
        raise TypeError(f"{where}: {missing[0]!r} is missing")
    for name, inner in get_type_hints(form).items():
        if name in table:
            require_form(table[name], inner, f"{where}[{name!r}]")


def _union(value: Any, forms: tuple[Any, ...], where: str) -> None:
    """One of several forms; the complaint is that of the last."""
    for form in forms[:-1]:
        try:
            return require_form(value, form, where)
        except TypeError:
            pass
    return require_form(value, forms[-1], where)


def _of(kind: type, value: Any, where: str, name: str) -> Any:
    if not isinstance(value, kind):
        _refuse(value, where, name)
    return value


def _refuse(value: Any, where: str, wanted: str) -> None:
    text = repr(value)
    raise TypeError(f"{where} = {text if len(text) <= SHOWN else text[:SHOWN] + '...'}: {wanted} is wanted")
