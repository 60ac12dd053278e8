"""A forked child comes back from every call that its parent has made; workers of any kind find the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = """
import numpy as np
import itoscope as ito

well = ito.SDE(["x1 - x1^3"], [["0.5"]], ["x1"])
data = well.simulate([0.1], dt=0.01, n_steps=400, n_paths=3, seed=1)
library = ito.Library.polynomials(3)
sums = ito.moments(data, library, row="x1")
data.to_csv("one.csv")
SHORT = dict(n_chains=2, n_samples=60, n_burn=20, seed=3)

calls = {
    "read": lambda: ito.Trajectories.from_csv("one.csv").paths[0],
    "evaluate few": lambda: library.evaluate(data.paths[0][:20]),
    "evaluate many": lambda: library.evaluate(np.zeros((100_000, 1))),
    "gradient": lambda: library.gradient(data.paths[0]),
    "drift": lambda: well.drift([0.3]),
    "simulate": lambda: well.simulate([0.1], dt=0.01, n_steps=50, n_paths=40, seed=2).paths[3],
    "moments": lambda: ito.moments(data, library, row="x1").gram,
    "gibbs": lambda: sums.sample(**SHORT).mean,
    "exact": lambda: sums.sample(sampler="exact", **SHORT).mean,
    "discover": lambda: ito.discover(data, library, diffusion="constant", **SHORT).drift["x1"].mean,
    "discover noisy": lambda: ito.discover(
        data.add_noise(sd=0.02, seed=4), ito.Library.polynomials(1), diffusion="constant",
        measurement_noise=0.02, **SHORT
    ).drift["x1"].mean,
}

linear = ito.Library.polynomials(1)
fitted = ito.discover(data, linear, diffusion="constant", **SHORT)
fitted.save("fitted.npz")
two = ito.problems.ornstein_uhlenbeck_2d().simulate(duration=1.0, dt=0.01, seed=1)
pull = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, seed=1)
pulled = ito.discover(pull, linear, diffusion="constant", include={"x1": ["x1"]}, **SHORT)
held = dict(diffusion="constant", max_rounds=2, **SHORT)
estimator = ito.SDEDiscovery(linear, dt=0.01, **SHORT)

calls |= {
    "advise": lambda: len(str(ito.advise(data))),
    "order": lambda: ito.classify_order(data).order or 0,
    "many": lambda: ito.discover_many(data, linear, workers=2, **held)[1].drift["x1"].mean,
    "stream": lambda: ito.discover(ito.stream(data.paths[0], dt=0.01), linear, **held).drift["x1"].mean,
    "inputs": lambda: ito.discover(data, linear, inputs={"u": np.cos}, **held).drift["x1"].mean,
    "vary": lambda: ito.discover(data, linear, vary={"x1": ["1"]}, **held).drift["x1"].mean,
    "include": lambda: ito.discover(
        data, linear, include={"x1": ["x1"]}, exclude={"x1": ["1"]}, bounds={"x1": {"x1": (None, 0)}}, **held
    ).drift["x1"].mean,
    "parameters": lambda: ito.discover(
        data, linear, known_drift={"x1": "a*x1 + ..."}, parameters={"a": 1.0}, **held
    ).parameters["a"].mean,
    "coloured": lambda: ito.discover(data[0], linear, forcing="coloured", **held).drift["x1"].mean,
    "sensors": lambda: ito.discover(
        two, linear, observed=[ito.Average("x1"), "x2"], measurement_noise={"x1": 0.01, "x2": 0.02}, **held
    ).drift["x1"].mean,
    "load": lambda: ito.Discovery.load("fitted.npz").drift["x1"].samples,
    "forecast": lambda: fitted.forecast([0.1], n_steps=20, n_paths=30, seed=1).mean,
    "simulate found": lambda: fitted.simulate([0.1], n_steps=20, n_paths=5, seed=1).paths[0],
    "check": lambda: len(str(fitted.check())),
    "self check": lambda: len(str(fitted.self_check(seed=1))),
    "likelihood": lambda: fitted.loglik(),
    "density": lambda: pulled.stationary_density(np.linspace(-1.0, 1.0, 9)).mean,
    "fixed points": lambda: pulled.fixed_points(seed=1)[0].interval,
    "estimator": lambda: estimator.fit(data).predict(data.paths[0][:5]),
}
"""

# The child has SECONDS for what took its parent far less; then the alarm ends it.
FORKED = """
import json, os, signal

found = {}
for name, call in calls.items():
    parents = np.asarray(call())
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            same = np.array_equal(np.asarray(call()), parents, equal_nan=True)
            os._exit(0 if same else 1)
        finally:
            os._exit(2)
    found[name] = os.waitpid(child, 0)[1]
print(json.dumps(found))
"""


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def ends(calls, folder, seconds=10):
    """How the child of each call ended: 0 if it came back with what its parent had found."""
    script = calls + FORKED.replace("SECONDS", str(seconds))
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    return json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_child_comes_back(threads, tmp_path):
    found = ends(f"{CALLS}\nito.set_threads({threads})\n", tmp_path)
    assert found and not any(found.values()), found


def test_a_child_that_hangs_or_finds_something_else_is_seen(tmp_path):
    calls = """
import threading
import numpy as np

calls = {"hangs": threading.Semaphore().acquire, "differs": lambda: np.float64(os.getpid())}
"""
    found = ends(calls, tmp_path, seconds=1)
    assert all(found.values()), found


# What each worker finds, as bytes; the calls are a module, as a spawned child imports them.
SHARED = """
import sys
sys.path.insert(0, ".")
import answers

def found():
    return answers.found(0)

if __name__ == "__main__":
    kind, expected = sys.argv[1], found()
    if kind == "threads":
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(8) as pool:
            every = list(pool.map(answers.found, range(8)))
    elif kind == "loky":
        import joblib
        every = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(answers.found)(i) for i in range(2))
    else:
        import multiprocessing
        with multiprocessing.get_context(kind).Pool(2) as pool:
            every = pool.map(answers.found, range(2))
    print(sorted({name for one in every for name in expected if one[name] != expected[name]}))
"""


@pytest.mark.parametrize("kind", ["threads", "spawn", "forkserver", "loky"])
@pytest.mark.parametrize("wrong", [False, True], ids=["", "control"])
def test_workers_of_any_kind_find_the_same_bits(kind, wrong, tmp_path):
    if kind == "loky":
        pytest.importorskip("joblib")
    calls = CALLS
    if wrong:  # a call that finds another answer each time, or in each process
        calls = "import os, itertools\nimport numpy as np\nturn = itertools.count()\n"
        calls += 'calls = {"differs": lambda: np.float64(os.getpid() + next(turn))}\n'
    calls += (
        "\ndef found(_):\n    return {name: np.asarray(call()).tobytes() for name, call in calls.items()}\n"
    )
    (tmp_path / "answers.py").write_text(calls)
    (tmp_path / "main.py").write_text(SHARED)
    command = [sys.executable, "-W", "ignore", "main.py", kind]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.strip() == ("['differs']" if wrong else "[]")


def test_the_binding_works_without_the_interpreter_in_one_place():
    # Elsewhere, what runs in parallel would start the threads that no child has.
    sources = Path(__file__).parents[2] / "rust" / "py" / "src"
    found = {file.name for file in sources.glob("*.rs") if "py.detach(" in file.read_text()}
    assert found == {"run.rs"}
