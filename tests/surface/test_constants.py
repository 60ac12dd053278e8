"""Every number that decides something about a fit stands on a page, with its value, its meaning and its study."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benches" / "accuracy"


@pytest.fixture(scope="module")
def script():
    """The script that studies the constants and writes their page."""
    spec = importlib.util.spec_from_file_location("constants", FOLDER / "constants.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    sys.modules["constants"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FOLDER))


def rows(page):
    """Value, meaning and study of each constant of a page."""
    cells = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {name.strip("`"): (value.strip("`"), meaning, study) for name, value, meaning, study in cells}


def test_every_constant_has_a_row_of_its_value(script):
    shown = rows(script.PAGE.read_text().split("<!-- constants -->")[1])
    held = {c.name: c.value for c in [*script.of_python(), *script.of_rust()]}
    assert {name: row[0] for name, row in shown.items()} == held


def test_every_row_says_what_the_number_means_and_what_its_study_found(script):
    for name, (_, meaning, study) in rows(script.PAGE.read_text().split("<!-- constants -->")[1]).items():
        assert len(meaning) > 10, name
        assert study, f"run python benches/accuracy/constants.py {name} --page"


def test_the_page_is_that_of_the_code_and_of_the_results(script):
    assert script.PAGE.read_text() == script.page(), "run python benches/accuracy/constants.py --page"


def test_every_constant_has_a_study_or_a_reason(script):
    assert "none yet" not in script.page()


def test_tables_written_by_hand_have_the_values_of_the_code(script):
    held = {c.name: c.value for c in script.of_python()}
    by_hand = script.written(script.PAGE.read_text().split("<!-- constants -->")[0])
    assert len(by_hand) > 20
    for name, value in by_hand.items():
        assert eval(value) == eval(held[name]), name


def test_no_entry_outlives_its_constant(script):
    from constant_list import CORE, NO_STUDY, STUDIES, TWINS

    held = {c.name for c in [*script.of_python(), *script.of_rust()]}
    assert {*CORE, *NO_STUDY, *STUDIES, *TWINS} <= held


@pytest.mark.parametrize(
    ("text", "is_a_number"),
    [
        ("3", True),
        ("-1e-3", True),
        ("1 - 1e-9", True),
        ("10 * OTHER", True),
        ("(0, 2, 4)", True),
        ("range(10)", True),
        ("True", False),
        ("'3'", False),
        ("OTHER", False),
        ("{'a': 3}", False),
    ],
)
def test_what_counts_as_a_number(script, text, is_a_number):
    assert script.numeric(ast.parse(text, mode="eval").body) is is_a_number


def test_another_value_reaches_every_module_that_imported_the_name(script):
    from itoscope.fit import sampler
    from itoscope.fit.filtered import drift, gamma

    before = sampler.STABLE_SHIFT
    with script.patched("fit.sampler.STABLE_SHIFT", 7.0) as same:
        assert not same
        assert (sampler.STABLE_SHIFT, drift.STABLE_SHIFT, gamma.STABLE_SHIFT) == (7.0, 7.0, 7.0)
    assert {sampler.STABLE_SHIFT, drift.STABLE_SHIFT, gamma.STABLE_SHIFT} == {before}
