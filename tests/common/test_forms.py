"""A document is of a declared form or refused by its place; truth values are no numbers, and tables may hold more."""

from typing import Any, Literal, TypedDict

import pytest
from itoscope.common.forms import require_form


class Whole(TypedDict):
    name: str


class Part(Whole, total=False):
    sizes: list[float]
    kind: Literal["a", "b"] | None


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("x", str),
        (1, float),
        (1.5, float),
        (None, None | str),
        ({}, dict[str, int]),
        ([[]], list[list[str]]),
        ({"name": "x", "more": 1}, Part),
        ({"name": "x", "sizes": [1, 2.5], "kind": None}, Part),
        ({"name": "x", "kind": "b"}, Part),
        (object(), Any),
    ],
)
def test_what_is_of_the_form_passes(value, form):
    require_form(value, form)


@pytest.mark.parametrize(
    ("value", "form", "said"),
    [
        (1, str, r"document = 1: a text"),
        (True, int, "a whole number"),
        (True, float, "a number"),
        (1, bool, "true or false"),
        (1.5, int, "a whole number"),
        ([1, "2"], list[float], r"document\[1\] = '2': a number"),
        ("ab", list[str], "a list"),
        ({"a": 1}, dict[str, str], r"document\['a'\]"),
        ({}, Part, "'name' is missing"),
        ({"name": "x", "kind": "c"}, Part, r"document\['kind'\]"),
        ({"name": "x", "sizes": [None]}, Part, r"document\['sizes'\]\[0\] = None: a number"),
        ("x" * 1000, int, r"x\.\.\.: a whole number"),
    ],
)
def test_what_is_not_is_refused_by_its_place(value, form, said):
    with pytest.raises(TypeError, match=said) as told:
        require_form(value, form)
    assert len(str(told.value)) < 150
