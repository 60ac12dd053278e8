"""Fragments of HTML: labels and terms of the table are those of the equations."""

from itoscope.show.html import equations_html, terms_html
from results import artificial, with_custom_terms


def test_labels_are_written_from_the_names_of_states():
    result = artificial({"x1": {"x1": (1.0, 0.1)}, "tau": {}}, {("tau", "x1"): {"1": (1.0, 0.1)}})
    table = terms_html(result)
    drift = '<math><mrow><mi mathvariant="normal">d</mi><mi>τ</mi></mrow></math>'
    gamma = '<msub><mi mathvariant="normal">Γ</mi><mrow><mi>τ</mi><mo>,</mo><msub><mi>x</mi><mn>1</mn></msub></mrow>'
    assert table.count("<tr") == 4 and drift in table and gamma in table


def test_a_function_of_python_has_its_plain_name_in_the_table_as_in_the_equation():
    result = with_custom_terms()
    assert "<mtext>wind load</mtext>" in equations_html(result)
    assert "<mtext>wind load</mtext>" in terms_html(result)
