"""A state that another one drives moves like a position for some samples, and is none."""

import itoscope as ito


def test_a_state_beside_an_unseen_one_is_no_position():
    sde = ito.SDE(["-0.5 x - 4 y", "4 x - 0.5 y"], [["0.5", "0"], ["0", "1.5"]], ["x", "y"])
    made = sde.simulate([0.0, 0.0], dt=0.01, n_steps=20_000, substeps=10, seed=1)
    answer = ito.classify_order(made.select(["x"]))
    assert answer.order is None and "steps carry noise of their own" in answer.reason
    found = ito.discover(made.select(["x"]), ito.Library.polynomials(1), seed=1, n_samples=200)
    assert [advice.cause for advice in found.advice] == ["hidden state"]
    smooth = ito.SDE(["v", "-16 x - v"], [["0"], ["1"]], ["x", "v"])
    made = smooth.simulate([0.0, 0.0], dt=0.01, n_steps=20_000, substeps=10, scheme="taylor15", seed=1)
    assert ito.classify_order(made.select(["x"])).order == 2
