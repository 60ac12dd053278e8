"""Which of the two paths a question takes, and that both answer with the same record."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError, NumericalError
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.fit.solve import solve

QUICK = {"sampler": "exact", "seed": 1, "library": ito.Library.polynomials(1)}
DATA = ito.SDE(["-x1"], [["0.5"]], ["x1"]).simulate([1.0], dt=0.05, n_steps=3000, seed=1)


def ask(**options):
    return solve(Question.of(DATA, Options(**QUICK | options)))


def test_measured_states_are_regressed_and_noisy_ones_filtered():
    measured, noisy = ask(), ask(measurement_noise=0.01)
    assert measured.observer is None and "loglik" not in measured.diagnostics
    assert noisy.observer is not None and np.isfinite(noisy.diagnostics["loglik"])
    assert measured.measurement_noise == 0.0 and noisy.measurement_noise == pytest.approx(0.01)
    for found in (measured, noisy):
        assert found.data is DATA and found.states == ("x1",)
        assert found.settings["seed"] == 1 and found.data_summary == {
            "n_paths": 1,
            "n_steps": 3000,
            "dt": 0.05,
        }
        assert found.drift["x1"].selected[1] and found.drift["x1"].mean[1] == pytest.approx(-1.0, abs=0.5)


def test_a_diffusion_that_is_not_sought_is_not_shown():
    assert (
        len(ask(diffusion="none").diffusion)
        == len(ask(diffusion="none", measurement_noise=0.01).diffusion)
        == 0
    )


def test_what_the_filter_cannot_do_is_refused():
    custom = ito.Library.custom(lambda x: x[:, 0], "f")
    with pytest.raises(ArgumentError, match="a custom function has no derivative"):
        ask(library=custom, measurement_noise=0.1)
    many = [f"u{k}" for k in range(20)]
    with pytest.raises(ArgumentError, match="at most 20"):
        ask(states=["x1", *many], known_drift={u: "x1" for u in many})


@pytest.mark.parametrize(
    "raised", [OverflowError(34, "out of range"), ZeroDivisionError(), np.linalg.LinAlgError("no")]
)
def test_arithmetic_that_fails_is_an_error_of_ours(raised, monkeypatch):
    def fails(_):
        raise raised

    monkeypatch.setattr("itoscope.fit.solve.answer_filtered", fails)
    with pytest.raises(NumericalError, match="leave the range of floating point") as caught:
        ask(measurement_noise=0.01)
    assert caught.value.__cause__ is raised


def test_an_error_of_ours_stays_what_it_is(monkeypatch):
    def fails(_):
        raise NumericalError("as it was")

    monkeypatch.setattr("itoscope.fit.solve.answer_filtered", fails)
    with pytest.raises(NumericalError, match=r"^as it was$"):
        ask(measurement_noise=0.01)
