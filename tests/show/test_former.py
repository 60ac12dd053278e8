"""Files and pickles of the first version: they load, and say what they said then."""

import pickle
import subprocess
import sys
from pathlib import Path

import itoscope as ito
import numpy as np
import pytest

FORMER = Path(__file__).parents[1] / "former"


@pytest.fixture(scope="module")
def things():
    return pickle.loads((FORMER / "things.pickle").read_bytes())


@pytest.mark.parametrize("name", ["measured", "noisy"])
def test_a_saved_file_prints_the_same(name):
    assert f"{ito.Discovery.load(FORMER / f'{name}.npz')}\n" == (FORMER / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["measured", "noisy"])
def test_a_pickled_result_is_the_saved_one(name, things):
    result, saved = things[name], ito.Discovery.load(FORMER / f"{name}.npz")
    assert type(result) is ito.Discovery
    assert f"{result}\n" == (FORMER / f"{name}.txt").read_text("utf-8")
    assert result.settings == saved.settings and result.model() == saved.model()
    for (label, ours), (other, theirs) in zip(result.labelled(), saved.labelled()):
        assert label == other
        np.testing.assert_array_equal(ours.samples, theirs.samples)
    paths = result.simulate([0.05] * len(result.states), n_steps=20, dt=1e-3, n_paths=5, seed=3)
    again = saved.simulate([0.05] * len(result.states), n_steps=20, dt=1e-3, n_paths=5, seed=3)
    np.testing.assert_array_equal(np.stack(paths.paths), np.stack(again.paths))


def test_the_filter_of_a_pickled_result_sees_as_it_did(things):
    found = things["noisy"].smoothed()
    # the step of the filter has become exact for linear systems since: states move by far less than they are uncertain
    former = things["states"]
    np.testing.assert_array_less(np.abs(found.mean[0] - former.mean[0]), 0.05 * found.sd[0] + 1e-12)
    saved = ito.Discovery.load(FORMER / "noisy.npz")
    np.testing.assert_array_equal(saved.smoothed(things["noisy"].data).mean[0], found.mean[0])


def test_other_pickles(things):
    assert type(things["trajectories"]) is ito.Trajectories and things["trajectories"].names == ("x1", "x2")
    assert things["library"].names(["x1", "x2"])[:3] == ["1", "x1", "x2"]
    assert things["prior"] == ito.Prior(a_p=0.2)
    assert things["sde"] == ito.SDE(["-2.0*sgn(x1)"], [["0.6"]], ["x1"])
    assert isinstance(things["moments"], ito.Moments) and isinstance(things["equation"], ito.Equation)
    np.testing.assert_array_equal(things["moments"].gram, things["equation"].moments.gram)
    again = things["moments"].sample(seed=3, n_chains=2, n_samples=20, n_burn=10)
    assert again.terms == things["equation"].terms
    assert things["equation"].rhat.shape == (len(again.terms),)
    assert things["forecast"].paths.n_paths == 3 and things["order"].order == 2


def test_old_names_cost_nothing_and_hide_nothing():
    """Serving them imports no module, and `itoscope.moments` stays the function."""
    code = (
        "import itoscope, pickle, sys; assert 'itoscope.discovery.estimator' not in sys.modules; "
        f"pickle.loads(open({str(FORMER / 'things.pickle')!r}, 'rb').read()); "
        "import itoscope.priors, itoscope.moments; assert callable(itoscope.moments)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
