"""Which elements of Gamma are sought, by one word or a word by row."""

import pytest
from itoscope.errors import ArgumentError
from itoscope.fit.forcing import constant_pairs, pairs_of, words_by_row
from itoscope.fit.options import Options

STATES = ["x", "y", "z"]


def test_one_word_is_that_of_every_row_and_rows_that_are_not_named_are_full():
    assert words_by_row("diagonal", STATES, [1, 2]) == {1: "diagonal", 2: "diagonal"}
    assert words_by_row({"z": "none"}, STATES, [0, 2]) == {0: "full", 2: "none"}


@pytest.mark.parametrize(
    ("words", "pairs", "constant"),
    [
        (("full", "full", "full"), ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), ()),
        (("full", "none", "full"), ((0, 0), (2, 2), (0, 2)), ()),
        (("full", "diagonal", "full"), ((0, 0), (1, 1), (2, 2), (0, 2)), ()),
        (("constant", "full", "none"), ((0, 0), (1, 1), (0, 1)), ((0, 0), (0, 1))),
        (("none", "none", "none"), (), ()),
    ],
)
def test_pairs_of_rows(words, pairs, constant):
    asked = dict(enumerate(words))
    assert pairs_of(asked) == pairs and constant_pairs(asked) == set(constant)


@pytest.mark.parametrize(
    ("diffusion", "said"),
    [
        ("all", "diffusion = 'all': one of 'full', 'diagonal', 'constant', 'none'"),
        ({"x": "some"}, r"diffusion\['x'\] = 'some': one of 'full'"),
        ({"x": None}, r"diffusion\['x'\] = None"),
        (3, "diffusion = 3"),
    ],
)
def test_other_words_are_refused(diffusion, said):
    with pytest.raises(ArgumentError, match=said):
        Options(diffusion=diffusion)


@pytest.mark.parametrize("name", ["u", "y"])
def test_a_row_that_is_not_sought_has_no_word(name):
    with pytest.raises(ArgumentError, match=f"diffusion = '{name}': a state whose drift is sought: x, z"):
        words_by_row({name: "none"}, STATES, [0, 2])
