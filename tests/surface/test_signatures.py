"""Hostile values for every argument of every public call, as the signatures list them: an answer or an error of ours.

The calls are those of `itoscope.__all__`, its problems, and the public methods of what they make. An argument that is
added is covered with the next run; one without a default needs a lawful value in `GIVEN`.
"""

import inspect
import warnings

import itoscope as ito
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from itoscope.errors import ItoscopeError

SDE = ito.SDE(["x2", "-x1 - x2"], [["0", "0"], ["0", "0.5"]], ["x1", "x2"])
DATA = SDE.simulate([0.1, 0.0], dt=0.01, n_steps=40, n_paths=2, seed=1)
LIBRARY = ito.Library.polynomials(1)
SHORT = {"n_chains": 2, "n_samples": 10, "n_burn": 2, "seed": 1}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ESTIMATOR = ito.SDEDiscovery(LIBRARY, dt=0.01, **SHORT).fit(DATA)
    RESULT = ito.discover(DATA, LIBRARY, known_drift={"x1": "x2"}, **SHORT)
SUMS = ito.moments(DATA, LIBRARY, row="x2")

#: What the methods are called of; records of results are made by the package, and their fields are not arguments.
OBJECTS = {"SDE": SDE, "Library": LIBRARY, "Trajectories": DATA, "Moments": SUMS, "SDEDiscovery": ESTIMATOR}
OBJECTS |= {"Discovery": RESULT, "Equation": RESULT.drift["x2"]}
RECORDS = ("Discovery", "Equation")
#: Building stones between modules, which are handed what the package made.
INNER = (
    "SDEDiscovery.set_fit_request", "SDEDiscovery.set_predict_request", "SDEDiscovery.set_score_request",
    "Library.bind", "Moments.from_sums", "Moments.given", "Moments.profile", "Moments.residual", "Discovery.of",
)  # fmt: skip
#: Names that every signature of a kind has, and arguments in the place of "all others".
NONE_OF_OURS = ("self", "cls", "y", "deep")
#: Lawful values of arguments, for all calls or for one; those without a default must be here.
GIVEN = {
    "drift": ["x2", "-x1"], "diffusion": [["0.1", "0"], ["0", "0.1"]], "x": np.zeros((3, 2)), "x0": [0.1, 0.0],
    "data": DATA, "trajectories": DATA, "library": LIBRARY, "states": ["x1", "x2"], "dt": 0.01, "n_steps": 4,
    "duration": 0.05, "path": "here.npz", "factor": 2.0, "n_threads": 1, "name": "one", "n": 2, "degree": 1,
    "names": ["x1"],
    "frequencies": 1.0, "period": 1.0, "func": np.sin, "gram": np.eye(2), "moment": np.ones(2), "yy": 3.0,
    "columns": [0],
    "k": 2, "fraction": 0.5, "frame": DATA.to_dataframe(), "array": DATA.to_xarray(), "n_samples": 10,
    "n_burn": 2, "n_chains": 2, "seed": 1,
    "n_paths": 2,
    "use_backend.name": "rust", "Trajectories.data": np.zeros((5, 2)) + np.arange(5)[:, None],
    "moments.row": "x2", "discover_many.recordings": DATA, "stream.source": DATA.paths[0], "stream.names": None,
    "SDE.from_terms.drift": {"x1": {"x2": 1.0}, "x2": {"x1": -1.0}}, "Discovery.find.name": "x2",
    "from_pysindy.states": None, "Library.names.names": None, "Moments.n": 20.0, "Discovery.self_check.seed": 1,
    "Trajectories.columns": None, "Trajectories.names": None, "Moments.subset.columns": [0],
    "Library.uses_time.names": ["x1"],
    "discover.known_drift": {"x1": "x2"}, "SDE.states": ["x1", "x2"], "discover.states": None,
    "SDE.library": None,
    "SDEDiscovery.states": None, "Trajectories.dt": 0.01, "discover.dt": None, "moments.dt": None,
    "classify_order.dt": None,
    "advise.dt": None,
    "Discovery.simulate.n_steps": None, "Discovery.forecast.n_steps": None, "discover.t": None,
    "Trajectories.from_file.dt": None, "Trajectories.from_file.names": None, "Trajectories.plot.names": None,
    "Library.evaluate.states": None, "Library.gradient.states": None, "Trajectories.positions.names": None,
    "discover.diffusion": None, "SDEDiscovery.diffusion": None, "SDEDiscovery.fit.x": DATA,
    "SDEDiscovery.score.x": DATA,
    "SDEDiscovery.simulate.t": [0.0, 0.01, 0.02], "SDE.load.path": "model.json", "Discovery.load.path": "found.npz",
    "Moments.load.path": "moments.npz",
    "read.path": "run.csv", "Trajectories.from_csv.path": "run.csv", "Trajectories.from_file.path": "run.csv",
    "Trajectories.from_npz.path": "run.npz", "Trajectories.from_parquet.path": "run.parquet",
    "Discovery.self_check.data": None, "Discovery.check.data": None, "Discovery.smoothed.data": None,
    "SDEDiscovery.dt": 0.01,
    "Discovery.simulate.dt": None, "Discovery.forecast.dt": None, "Discovery.simulate.x0": [0.1, 0.0],
    "Discovery.try_advice.k": 0, "Average.of": "x1", "Average.exposure": "full", "Acceleration.of": "x1",
    "Angle.of": "x1",
    "Discovery.fixed_points.starts": None,
    "Discovery.stationary_density.x": np.linspace(-1.0, 1.0, 9), "Discovery.first_passage.level": 0.2,
    "Discovery.first_passage.start": [0.1, 0.0],
    "SDEDiscovery.first_as_good.cv_results": {"split0_test_score": [1.0, 2.0], "split1_test_score": [1.0, 3.0]},
}  # fmt: skip

#: Examples for an argument of calls that take seconds.
SLOW = {
    "Discovery.report": 1, "Discovery.self_check": 1, "Discovery.try_advice": 1, "Discovery.check": 2,
    "Discovery.first_passage": 3,
}  # fmt: skip

SCALARS = [
    None, True, 0, -1, 3, 2**63, 2**70, 10**400, 0.0, -0.5, 1.5, np.nan, np.inf, -np.inf, 1e308, 5e-324, 1j, "",
    "x1", "x9",
    "\0", "a/../b", "x1^", "é\ud800", b"x1", np.float64("nan"), np.int8(-1), np.datetime64("2020-01-01"),
    object(), print,
    int, ..., NotImplemented, np.ma.masked, range(0),
]  # fmt: skip
ARRAYS = [
    np.array(2.0), np.array(None), np.array("x1"), np.zeros(0), np.zeros((0, 2)), np.zeros((2, 0)),
    np.zeros((2, 2, 2, 2)),
    np.full((2, 2), np.nan), np.full(2, np.inf), np.ones((3, 2)) * 1j, np.ma.array([1.0, 2.0], mask=[0, 1]),
    np.eye(2) > 0,
    np.array([1, None], dtype=object), np.array(["a", "b"]), np.zeros(3, dtype="datetime64[s]"),
    np.zeros(2, dtype=[("a", float)]), np.full((2, 2), 1e300), np.arange(2**5).reshape(16, 2)[::-3],
]  # fmt: skip
#: What rows, terms, sensors and inputs may be said to be, and what they may not.
PHRASES = [
    "x2", "a*x1 + ...", "...", "-x1", "sin(t)", "0.1", "a", "1", "x1^2", "0/0", "9e999*x1", "x1-x1", "average(x1)",
    "angle(x1)", "sin(",
    "linear", "held", "estimate", "coloured", "peaked", "none", ito.Average("x1"), ito.Input(np.cos), np.cos,
    np.linspace(0.01, 0.02, 41), (None, 0), (0, None), (0.1, 1.0, 10.0), (1, 0), ["1"], ["x1", "x9"], {"x1": (0, 1)},
    {"x1": (None, None), "x9": 3},
]  # fmt: skip
one = st.one_of(st.sampled_from(SCALARS), st.sampled_from(ARRAYS))
key = st.sampled_from(["x1", "x2", "x9", "", 0, None, ("x1", "x2")])
HOSTILE = st.one_of(
    one, st.lists(one, max_size=3), st.tuples(one, one), st.dictionaries(key, one, max_size=2),
    st.lists(st.lists(one, max_size=2), min_size=1, max_size=2), st.builds(iter, st.lists(one, max_size=2)),
    st.dictionaries(key, st.sampled_from(PHRASES), min_size=1, max_size=2),
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=2),
)  # fmt: skip


PROBLEMS = [f"problems.{name}" for name in ito.problems.__all__[2:]]
#: Calls that have no answer here: they need another package, any argument at all, a result of another kind.
REFUSED = (
    "from_pysindy", "Library.expressions", "Discovery.smoothed", "Discovery.potential", "Discovery.try_advice",
    "Discovery.modes",
)  # fmt: skip


def public_calls():
    """Label and function of all that a user can call, and the arguments of each."""
    found = {}
    for name in ito.__all__:
        thing = getattr(ito, name)
        if callable(thing) and name not in RECORDS:
            found[name] = thing
    found |= {f"problems.{name}": getattr(ito.problems, name) for name in ito.problems.__all__[2:]}
    problem = {"problems.Problem": ito.problems.ornstein_uhlenbeck_2d()}
    for name, thing in (OBJECTS | problem).items():
        for method in vars(type(thing)) if name == "SDEDiscovery" else dir(type(thing)):
            if not method.startswith("_") and callable(getattr(type(thing), method, None)):
                found[f"{name}.{method}"] = getattr(thing, method)
    return {label: call for label, call in found.items() if label not in INNER}


CALLS = public_calls()
PARAMETERS = {
    label: [p for p in inspect.signature(call).parameters.values() if p.name not in NONE_OF_OURS]
    for label, call in CALLS.items()
}
CASES = [(label, p.name) for label, every in PARAMETERS.items() for p in every if p.kind is not p.VAR_KEYWORD]


def lawful(label):
    """Arguments with which a call answers."""
    found = {}
    for p in PARAMETERS[label]:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) or (label in PROBLEMS and p.name == "x0"):
            continue
        for name in (f"{label}.{p.name}", p.name):
            if name in GIVEN:
                if GIVEN[name] is not None:
                    found[p.name] = GIVEN[name]
                break
    return found


def outcome(label, arguments, spread=()):
    """Call with positional and named arguments as the signature has them; the error of ours, or None."""
    positional = [
        arguments[p.name] for p in PARAMETERS[label] if p.kind is p.POSITIONAL_ONLY and p.name in arguments
    ]
    try:
        CALLS[label](*positional, *spread, **arguments)
    except (ItoscopeError, MemoryError, FileNotFoundError, IsADirectoryError) as problem:
        return problem
    finally:
        ito.set_threads(1)
        ito.use_backend("rust")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a file of each kind that is read."""
    path = tmp_path_factory.mktemp("files")
    SDE.save(path / "model.json")
    RESULT.save(path / "found.npz")
    SUMS.save(path / "moments.npz")
    DATA.to_csv(path / "run.csv")
    DATA.to_npz(path / "run.npz")
    DATA.to_dataframe().to_parquet(path / "run.parquet")
    return path


@pytest.mark.filterwarnings("ignore")
def test_lawful_values_have_an_answer(folder, monkeypatch):
    monkeypatch.chdir(folder)
    left = {label: outcome(label, lawful(label)) for label in CALLS if label not in REFUSED}
    assert not {label: repr(problem) for label, problem in left.items() if problem is not None}


def test_every_argument_without_a_default_has_a_lawful_value():
    missing = [
        f"{label}.{p.name}"
        for label, every in PARAMETERS.items()
        for p in every
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        and p.name not in GIVEN and f"{label}.{p.name}" not in GIVEN
    ]  # fmt: skip
    assert not missing
    assert len(CASES) > 200


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("label", "name"), CASES, ids=[f"{label}-{name}" for label, name in CASES])
def test_a_hostile_argument_is_an_answer_or_an_error_of_ours(label, name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    spread = {p.name for p in PARAMETERS[label] if p.kind is p.VAR_POSITIONAL}

    @settings(
        max_examples=SLOW.get(label, 25),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(HOSTILE)
    def try_it(value):
        arguments = lawful(label)
        if name in spread:
            outcome(label, arguments, spread=(value,))
        else:
            outcome(label, arguments | {name: value})
        plt.close("all")

    try_it()
