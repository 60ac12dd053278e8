"""A model as tables and as a list of parameters, and the candidates it is over."""

import itoscope as ito
import numpy as np
import toy_recording as toy
from itoscope.backends.records import Parameter
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.model import support, table


def test_parameters_are_all_that_may_move_and_can_be_put_back():
    model = toy.model({"x": 2.0, "x^3": -1.0}, {"1": 0.3, "x^2": 0.7}, noise=0.4)
    free = model.parameters(np.array([True]))
    assert free == (
        Parameter("drift", 0, 1), Parameter("drift", 0, 3), Parameter("gamma", 0, 0), Parameter("gamma", 0, 2),
        Parameter("noise", 0),
    )  # fmt: skip
    assert model.parameters(np.array([False])) == free[:-1]
    np.testing.assert_array_equal(model.values(free), [2.0, -1.0, 0.3, 0.7, 0.4])
    moved = model.with_values(free, np.arange(1.0, 6.0))
    np.testing.assert_array_equal(moved.values(free), np.arange(1.0, 6.0))
    np.testing.assert_array_equal(model.values(free), [2.0, -1.0, 0.3, 0.7, 0.4])
    assert moved.cov0 is model.cov0


def test_a_table_and_its_support_belong_together():
    columns = [(0, 1), (0, 3), (1, 1), (1, 3)]
    made = table((2, 4), columns, [1, 2], np.array([5.0, -6.0]))
    np.testing.assert_array_equal(made, [[0, 0, 0, 5.0], [0, -6.0, 0, 0]])
    assert support(made, columns) == [1, 2]


def test_candidates_of_two_libraries_share_their_terms():
    """`sign(v)` is `sgn(v)`; the constant is there though nobody named it; given rows come last."""
    drift, gamma = ito.Library.expressions("x", "sgn(v)"), ito.Library.expressions("v^2", "sign(v)")
    among = Candidates.of(drift.bind(["x", "v"]), gamma.bind(["x", "v"]), {0: "v"})
    assert among.expressions == ("x", "sgn(v)", "v^2", "1", "v")
    assert (among.drift_terms, among.gamma_terms, among.constant, among.n_terms) == ((0, 1), (2, 1), 3, 4)
    assert (among.rows, among.pairs, among.pair_names) == ((1,), ((1, 1),), ["v,v"])
    assert among.known == {0: "v"}
    np.testing.assert_array_equal(among.given, [[1.0], [0.0]])
    assert among.all_drift == [(1, 0), (1, 1)] and among.all_gamma == [(0, 2), (0, 1)]
    assert among.kinks[1].kind == "sgn" and 1 not in among.affine


def test_gamma_has_every_element_of_the_unknown_rows_unless_told():
    library = ito.Library.polynomials(1).bind(["a", "b", "c"])
    assert Candidates.of(library, known={1: "a"}).pairs == ((0, 0), (0, 2), (2, 2))
    assert Candidates.of(library, pairs=[(0, 0)]).pairs == ((0, 0),)
    assert Candidates.of(library).known == {}
