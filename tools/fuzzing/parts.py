"""What is said of parts of a question, hostile: inputs, forces, rows, numbers, sensors, streams, many recordings."""

import itoscope as ito
import numpy as np
from discoveries import finite, small
from wrong import Wrong

L = ito.Library
NAMES = ["x1", "x2"]
#: Expressions, good ones first; the rest is beside the grammar, overflows, or names what is not there.
TEXTS = [
    "x2", "-x1", "a*x1", "a*x1 + ...", "...", "-a*x2 + b", "force", "x1*force", "sin(t)", "0.1*x1 + ...", "1", "a",
    "a^2",
    "exp(a)", "0", "x9", "... + ...", "x1 * ...", "1/x1", "log(x1)", "9e999*x1", "0/0", "x1^a", "a a a", "", " ", "x1^",
    "sin(", "(" * 300 + "x1" + ")" * 300, "__import__('os')", "é", "a*", "1e308*x1*x2", "-", "x1 = x2", "x1-x1", "\0",
    "t",
]  # fmt: skip
ODD = [
    None, True, 0, -1, 1, 0.3, 1e-320, 1e308, np.nan, np.inf, 2**70, "", "x1", "x9", "estimate", "white", "coloured",
    "peaked",
    "1", b"x1", object(), 1j, [], (), {}, [1.0], ["x1"], [["x1"]], (0.0, 1.0), (None, 0), (0, None), (1, 0),
    (np.nan, 1),
    (0.1, 1.0, 10.0), (10, 1, 0.1), (None, 1.0, None), (0, 0, 0), (-np.inf, 1, np.inf), (1, 2), (1, 2, 3, 4),
    ("a", "b"),
    np.zeros(0), np.zeros((2, 40)), np.full(40, np.nan), np.ma.masked, range(3), ito.Average("x1"), print, {"x1": 1},
    {"x1": {"x1": (0, 1)}}, {"x1": ["1"]}, np.ones(40) * 1j, "average(x1)", ...,
]  # fmt: skip
ROWS = ["x1", "x2", "x9", "v1", "", 0, None, ("x1", "x2"), "x1,x2", "force", "a"]
TERMS = ["1", "x1", "x2", "x1^2", "x9", "", "2*x1", "x1 + 0", 1, None, "sin(", "force"]


def pick(rng, items):
    """One of them; arrays stay what they are."""
    return items[rng.integers(len(items))]


def some(rng, items, most=3):
    """A few of them."""
    return [pick(rng, items) for _ in range(rng.integers(most))]


def mapping(rng, keys, value, most=2):
    """A mapping of a few keys."""
    return {pick(rng, keys): value() for _ in range(rng.integers(1, most + 1))}


def lawful(rng, n):
    """Each part of a question as it may be asked."""
    errors = np.abs(rng.normal(0.02, 0.01, n))
    return {
        "known_drift": lambda: {
            "x1": pick(rng, ["x2", "a*x2", "x2 + ...", "-a*x1 + ...", "sin(t)", "force - x1"])
        },
        "known_diffusion": lambda: {"x1": pick(rng, ["0.01", "a^2", "0.1*x1^2", 0.01])},
        "parameters": lambda: {"a": pick(rng, [1.0, (0.1, 1.0, 10.0), (None, 1.0, None), (0.0, 0.5, None)])},
        "inputs": lambda: pick(
            rng,
            [["x2"], {"force": np.cos}, {"force": np.ones(n)}, {"force": ito.Input(np.sin)}, {"x2": "held"}],
        ),
        "forcing": lambda: pick(rng, ["coloured", "peaked", "white", {"x1": "coloured"}]),
        "include": lambda: {"x1": [pick(rng, ["x1", "1", "x2"])]},
        "exclude": lambda: {"x2": [pick(rng, ["x1", "1", "x2"])]},
        "bounds": lambda: {"x1": {"x1": pick(rng, [(None, 0), (0, None), (-1, 1), (0, 0)])}},
        "vary": lambda: {"x1": [pick(rng, ["1", "x1"])]},
        "measurement_noise": lambda: pick(
            rng, [0.02, "estimate", {"x1": 0.01}, {"x1": errors, "x2": "estimate"}]
        ),
        "observed": lambda: pick(rng, [["x1", ito.Average("x2")], ["x1", "x2 - x1"], {"x1": "average(x1)"}]),
        "noise_law": lambda: pick(rng, ["student", "outliers", {"x1": "student"}, {"x1": "normal"}]),
        "noise_groups": lambda: pick(rng, [[("x1", "x2")], {("x1", "x2"): 0.5}, {"x1,x2": -0.3}]),
        "diffusion_law": lambda: pick(rng, ["student", "jumps", {"x1": "student"}, {"x2": "jumps"}]),
        "offset": lambda: pick(rng, [{"x1": "estimate"}, {"x2": "drift"}, {"x1": "slow"}]),
        "resolution": lambda: pick(rng, [{"x1": 0.01}, {"x2": 0.2}]),
    }


def hostile(rng):
    """Each of them as nobody should ask."""
    text = lambda: pick(rng, TEXTS if rng.random() < 0.7 else ODD)
    odd = lambda: pick(rng, ODD)
    return {
        "known_drift": lambda: mapping(rng, ROWS, text),
        "known_diffusion": lambda: mapping(rng, ROWS, text),
        "parameters": lambda: mapping(rng, ["a", "b", "x1", "t", "é", "", 0, "force"], odd),
        "inputs": lambda: pick(rng, [some(rng, ROWS), mapping(rng, ROWS, odd)]),
        "forcing": lambda: mapping(rng, ROWS, odd),
        "include": lambda: mapping(rng, ROWS, lambda: pick(rng, [some(rng, TERMS), odd()])),
        "exclude": lambda: mapping(rng, ROWS, lambda: pick(rng, [some(rng, TERMS), odd()])),
        "bounds": lambda: mapping(rng, ROWS, lambda: pick(rng, [mapping(rng, TERMS, odd), odd()])),
        "vary": lambda: mapping(rng, ROWS, lambda: pick(rng, [some(rng, TERMS), odd()])),
        "measurement_noise": lambda: mapping(rng, ROWS, odd),
        "observed": lambda: pick(rng, [some(rng, [*TEXTS, *ODD]), mapping(rng, ROWS, text)]),
        "noise_law": lambda: mapping(rng, ROWS, odd),
        "noise_groups": lambda: pick(rng, [[some(rng, ROWS)], mapping(rng, ROWS, odd)]),
        "diffusion_law": lambda: mapping(rng, ROWS, odd),
        "offset": lambda: mapping(rng, ROWS, odd),
        "resolution": lambda: mapping(rng, ROWS, odd),
    }


def recording(rng):
    """Two states of an oscillator, of some paths, sometimes with gaps."""
    n, paths = int(rng.choice([5, 40, 40, 120])), int(rng.choice([1, 1, 3]))
    x = rng.standard_normal((paths, n, 2)).cumsum(1) * 0.05
    if rng.random() < 0.2:
        x[rng.random(x.shape) < 0.2] = np.nan
    return x, n


def question(rng, n):
    """Options of a call: a few parts, each lawful or not, and short chains."""
    fine, bad = lawful(rng, n), hostile(rng)
    asked = {"library": small(rng, NAMES) if rng.random() < 0.3 else L.polynomials(1)}
    asked |= {"n_samples": 20, "n_burn": 5, "n_chains": 2, "seed": 1, "max_rounds": 2}
    names = list(fine)
    for name in rng.choice(names, size=int(rng.integers(1, 4)), replace=False):
        if name == "parameters" and "known_drift" not in asked:
            asked["known_drift"] = {"x1": "a*x2 + ..."}
        asked[str(name)] = (
            (bad if rng.random() < 0.3 else fine)[str(name)]() if rng.random() < 0.95 else pick(rng, ODD)
        )
    if rng.random() < 0.3:
        asked["order"] = pick(rng, [1, 2, 2])
    return asked


def parts(rng):
    """One recording; the answer is finite, and can be shown and stored."""
    x, n = recording(rng)
    found = ito.discover(ito.Trajectories(list(x), dt=0.01), **question(rng, n))
    finite(found)
    str(found), repr(found), found.equations(), found.summary()
    for name, one in found.parameters.items():
        if not np.isfinite(one.mean):
            raise Wrong(f"parameter {name} is {one.mean}")


def many(rng):
    """Several recordings, one of them perhaps odd: each is an answer or an error of ours."""
    x, n = recording(rng)
    recordings = [*x, pick(rng, ODD)] if rng.random() < 0.5 else list(x)
    asked = {"dt": pick(rng, [0.01, 0.01, 0.01, *ODD])} | question(rng, n)
    if rng.random() < 0.2:
        recordings = pick(rng, [{"a": x[0], 0: x[0]}, *ODD])
    workers = pick(rng, [1, 2, None, *ODD]) if rng.random() < 0.3 else 2
    found = ito.discover_many(recordings, workers=workers, **asked)
    for problem in found.errors.values():
        if not isinstance(problem, ito.errors.ItoscopeError):
            raise problem
    if found:
        found.table()


def streams(rng):
    """Blocks from a function, an array or a list, good or not."""
    x, _ = recording(rng)
    x = np.nan_to_num(x)
    chunks = [x[0, :3], x[0, 3:]]
    sources = [
        x[0],
        lambda: iter(chunks),
        lambda: iter([x[0], pick(rng, ODD)]),
        list(x),
        lambda: pick(rng, ODD),
    ]
    source = pick(rng, sources if rng.random() < 0.7 else ODD)
    asked = {"dt": 0.01}
    for name in ("dt", "names", "columns", "key", "block"):
        if rng.random() < 0.15:
            asked[name] = pick(rng, [*ODD, ["x1", "x2"], ["a", "a"], [0, 1], [0, 0], 7])
    stream = ito.stream(source, **asked)
    found = ito.discover(stream, L.polynomials(1), n_samples=20, n_burn=5, n_chains=2, seed=1, max_rounds=2)
    finite(found)
    str(found)


KINDS = {"parts": parts, "many": many, "streams": streams}
