"""One list of options, which the function, the estimator and the command share."""

import inspect
from dataclasses import fields

import itoscope as ito
import pytest
from itoscope.discovery.estimator import SDEDiscovery
from itoscope.errors import ArgumentError
from itoscope.fit.options import Options

BESIDE = {"discover": ["trajectories", "dt", "t"], "SDEDiscovery": ["self", "dt"]}


@pytest.mark.parametrize("asked", [ito.discover, SDEDiscovery.__init__], ids=["discover", "SDEDiscovery"])
def test_who_asks_has_every_option_with_its_default_and_type(asked):
    signature = inspect.signature(asked)
    own = BESIDE["discover" if asked is ito.discover else "SDEDiscovery"]
    assert [name for name in signature.parameters if name not in own] == [f.name for f in fields(Options)]
    for f in fields(Options):
        assert signature.parameters[f.name].default == f.default, f.name
        assert signature.parameters[f.name].annotation == f.type, f.name


def test_options_are_picked_from_the_arguments_of_a_call():
    found = Options.of({"trajectories": 1, "dt": 0.1, "order": 2, "seed": 3})
    assert (found.order, found.seed, found.n_chains) == (2, 3, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"order": 0}, "order = 0"),
        ({"weights": "none"}, "weights = 'none': one of 'auto', None"),
        ({"measurement_noise": float("nan")}, "measurement_noise = nan"),
        ({"measurement_noise": [0.1]}, "measurement_noise"),
        ({"max_rounds": 1.5}, "max_rounds = 1.5"),
        ({"weight_floor": 1.0}, "weight_floor = 1.0"),
        ({"diffusion_library": "paper"}, "diffusion_library = 'paper'"),
    ],
)
def test_an_option_outside_its_range_is_refused(given, words):
    with pytest.raises(ArgumentError) as caught:
        Options(**given)
    assert words in str(caught.value)


def test_a_chain_is_checked_where_it_is_sampled():
    with pytest.raises(ArgumentError, match="n_burn = -1"):
        Options(n_burn=-1).sampling()
    found = Options(n_chains=3, n_samples=50, seed=9, threshold=0.7, sampler="exact").sampling()
    assert (found.n_chains, found.n_samples, found.seed, found.threshold, found.sampler) == (
        3,
        50,
        9,
        0.7,
        "exact",
    )
    assert isinstance(Options().sampling().seed, int)
