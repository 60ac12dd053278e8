"""How something is spelled, named or ordered changes nothing."""

import itoscope as ito
import numpy as np
import pytest

QUICK = {"n_chains": 2, "n_samples": 200, "n_burn": 100, "seed": 1}


@pytest.fixture(scope="module")
def friction():
    """A particle with dry friction and two channels that do not know of each other, measured with 10 % noise."""
    sde = ito.SDE(["-x1 - sgn(x1)"], [["0.6"]], ["x1"])
    return sde.simulate([0.5], dt=0.02, n_steps=300, n_paths=2, seed=4).add_noise(sd=0.1, seed=2)


SPELLINGS = [
    ("sgn(x1)", "|x1|", "x1|x1|"),
    ("sign(x1)", "abs(x1)", "|x1|x1"),
    ("(sgn(x1))", "(|x1|)", "abs(x1)*x1"),
    ("sgn((x1))", "sqrt(x1^2)", "x1 abs(x1)"),
]


def found(result):
    equations = [equation for _, equation in result.labelled()]
    return [part for e in equations for part in (e.pip, e.mean, e.sd, e.samples)] + [result.measurement_noise]


@pytest.fixture(scope="module")
def as_listed(friction):
    """The answers without and with measurement noise, in the first spelling."""
    library = ito.Library.expressions("1", "x1", *SPELLINGS[0])
    return {noise: found(answer(friction, library, noise)) for noise in (0, "estimate")}


def answer(data, library, noise):
    return ito.discover(data, library, diffusion="constant", measurement_noise=noise, **QUICK)


@pytest.mark.parametrize("noise", [0, "estimate"])
@pytest.mark.parametrize("spelling", SPELLINGS[1:])
def test_spelling_changes_no_discovery(friction, as_listed, spelling, noise):
    library = ito.Library.expressions("1", "x1", *spelling)
    for one, other in zip(as_listed[noise], found(answer(friction, library, noise))):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_spelling_changes_no_path(backend):
    settings = {"dt": 0.01, "n_steps": 60, "n_paths": 3, "seed": 4, "scheme": "taylor15", "backend": backend}
    spellings = [
        (["x2", "-x1|x1| - sgn(x2)"], [["0"], ["0.2 + 0.1|x1|"]]),
        (["(x2)", "-(abs(x1)*x1) - sign(x2)"], [["0"], ["0.1*abs(x1) + 0.2"]]),
        (["1*x2", "-|x1| x1 - (sgn(x2))"], [["0/2"], ["(0.2) + |x1|*0.1"]]),
    ]
    paths = [ito.SDE(*sde, ["x1", "x2"]).simulate([0.4, 0.1], **settings).paths for sde in spellings]
    for other in paths[1:]:
        np.testing.assert_allclose(other, paths[0], rtol=1e-12, atol=1e-14)
