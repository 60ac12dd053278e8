"""Damaged, foreign and malicious files: nothing but ItoscopeError or OSError, no code run, no memory blown up."""

import contextlib
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path

import itoscope as ito
import numpy as np
from itoscope.errors import ItoscopeError
from wrong import Wrong

_made = {}


def good(kind):
    if not _made:
        d = ito.problems.PROBLEMS["duffing"]().simulate(duration=0.3, dt=1e-2, n_paths=2, seed=1)
        r = ito.discover(
            d,
            ito.Library.polynomials(2),
            known_drift={"x1": "x2"},
            seed=1,
            n_samples=20,
            n_burn=5,
            n_chains=2,
        )
        with tempfile.TemporaryDirectory() as f:
            for name, save in (
                ("data.npz", d.to_npz),
                ("data.csv", d.to_csv),
                ("res.npz", r.save),
                ("model.json", r.model().save),
            ):
                save(os.path.join(f, name))
                _made[name] = Path(f, name).read_bytes()
    return _made[kind]


def use(name, raw):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        Path(path).write_bytes(raw)
        if name == "res.npz":
            r = ito.Discovery.load(path)
            repr(r)
            r.equations()
            r._repr_html_()
            for _, e in r.labelled():
                e.interval(0.9)
            with contextlib.suppress(ItoscopeError):
                r.model().simulate(np.full(len(r.states), 0.01), dt=0.01, n_steps=3, seed=1)
        elif name == "model.json":
            s = ito.SDE.load(path)
            repr(s)
        elif name == "data.npz":
            t = ito.Trajectories.from_npz(path)
            repr(t)
            if any(np.isinf(p).any() for p in t.paths):
                raise Wrong("infinity")
        else:
            t = ito.Trajectories.from_file(path, dt=None)
            repr(t)


def flip(rng):
    name = ["data.npz", "res.npz", "model.json", "data.csv"][rng.integers(4)]
    raw = bytearray(good(name))
    for _ in range(rng.integers(1, 6)):
        c = rng.integers(5)
        k = int(rng.integers(len(raw)))
        if c == 0:
            raw[k] ^= 1 << rng.integers(8)
        if c == 1:
            raw = raw[:k] or bytearray(b"P")
        if c == 2:
            raw[k:k] = rng.bytes(rng.integers(1, 20))
        if c == 3:
            del raw[k : k + rng.integers(1, 30)]
        if c == 4:
            raw[k] = rng.choice([0, 255, 10, 13, 44, 46, 45])
        if not raw:
            raw = bytearray(b"\x00")
    use(name, bytes(raw))
    return {"name": name}


def members(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as z:
        return {n: z.read(n) for n in z.namelist()}


def pack(parts, compress=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compress) as z:
        for n, b in parts.items():
            z.writestr(n, b)
    return out.getvalue()


def npy(a, **k):
    out = io.BytesIO()
    np.save(out, a, **k)
    return out.getvalue()


ODD_ARRAYS = [
    np.array(3),
    np.array([]),
    np.array(["a", "b"]),
    np.array([-1, 5]),
    np.array([10**12]),
    np.array([np.nan, np.inf]),
    np.zeros((0, 2)),
    np.zeros((3, 3, 3)),
    np.array([True]),
    np.array([1j]),
    np.array(["2020-01-01"], "M8[D]"),
    np.array([2**63], "u8"),
    np.zeros(3, [("a", "f8")]),
    np.array(b"x"),
    np.array("x" * 100),
    np.array([1.5, 2.5]),
    np.array([-1]),
]


def swapped(rng):
    """Members replaced by arrays of other kinds, dropped or doubled."""
    name = ["data.npz", "res.npz"][rng.integers(2)]
    parts = members(good(name))
    keys = list(parts)
    for _ in range(rng.integers(1, 3)):
        key = keys[rng.integers(len(keys))]
        c = rng.integers(5)
        if c == 0:
            parts.pop(key, None)
        elif c == 1:
            parts[key] = (
                parts[keys[rng.integers(len(keys))]]
                if keys[0] in parts and all(k in parts for k in keys)
                else b""
            )
        elif c == 2:
            parts[key] = npy(np.array([{"a": 1}], dtype=object), allow_pickle=True)
        elif c == 3:
            parts[key] = rng.bytes(40)
        else:
            parts[key] = npy(ODD_ARRAYS[rng.integers(len(ODD_ARRAYS))])
    use(name, pack(parts))
    return {"name": name}


ODD_JSON = [
    None,
    1,
    -1,
    1.5,
    1e308,
    "x",
    "",
    [],
    {},
    [[]],
    [None],
    True,
    "<script>alert(1)</script>",
    "__import__('os').system('true')",
    ["x1", "x1"],
    {"a": {}},
    10**400,
    "x" * 10000,
    [1, 2, 3],
    -(10**30),
    "NaN",
]


def document(rng):
    """The JSON inside a saved result, one value replaced at random."""
    which = rng.random() < 0.75
    if which:
        parts = members(good("res.npz"))
        doc = json.loads(bytes(np.load(io.BytesIO(parts["document.npy"]))))
    else:
        doc = json.loads(good("model.json"))
    places = []

    def walk(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)) and node[key]:
                walk(node[key])

    walk(doc)
    for _ in range(rng.integers(1, 3)):
        node, key = places[rng.integers(len(places))]
        try:
            if rng.random() < 0.2:
                del node[key]
            else:
                node[key] = ODD_JSON[rng.integers(len(ODD_JSON))]
        except (KeyError, IndexError):
            pass
        note = str(key)
    if which:
        parts["document.npy"] = npy(np.frombuffer(json.dumps(doc).encode(), np.uint8))
        use("res.npz", pack(parts))
    else:
        use("model.json", json.dumps(doc).encode())
    return {"key": note}


CELLS = [
    "1",
    "2.5",
    "-3e4",
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "abc",
    "1,5",
    "1;5",
    "#",
    '"1"',
    '"',
    "'",
    "1e400",
    "0x10",
    "1_000",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "\u0661",
    "\x00",
    "\ufeff",
    "<b>",
    "=1+1",
    "None",
    "NA",
    "1 2",
    "\t",
    "1e",
    "--1",
    "1.2.3",
    "true",
    "\r",
    "\u2212" + "1",
    "9" * 400,
]
HEADS = [
    "t",
    "time",
    "path",
    "x",
    "x",
    "y",
    "<script>",
    "a b",
    "",
    "1",
    "#t",
    "Time",
    " t",
    '"q,r"',
    "é",
    "x1",
    "sin",
    "lambda",
    "x" * 3000,
    "index",
]


def table(rng):
    sep = [",", ";", "\t", " ", "  ", ", ", "|"][rng.integers(7)]
    m = int(rng.choice([1, 2, 3, 5]))
    n = int(rng.choice([0, 1, 3, 10, 60]))
    lines = []
    if rng.random() < 0.7:
        lines.append(sep.join(HEADS[rng.integers(len(HEADS))] for _ in range(m)))
    bad = rng.choice([0, 0.02, 0.3])
    for i in range(n):
        row = [f"{i * 0.1:.3f}"] + [f"{v:.4f}" for v in rng.standard_normal(m - 1)]
        row = [CELLS[rng.integers(len(CELLS))] if rng.random() < bad else c for c in row]
        if rng.random() < bad / 3:
            row.append("7")
        if rng.random() < bad / 3:
            row = row[:-1]
        lines.append(sep.join(row))
        if rng.random() < bad / 3:
            lines.append(["", "# remark", "   ", "\x1a"][rng.integers(4)])
    text = ["\n", "\r\n", "\r"][rng.integers(3)].join(lines)
    raw = text.encode(
        ["utf-8", "utf-8-sig", "latin-1", "utf-16"][rng.choice(4, p=[0.6, 0.2, 0.1, 0.1])], errors="replace"
    )
    kw = {}
    if rng.random() < 0.3:
        kw["columns"] = (
            [HEADS[rng.integers(len(HEADS))]] if rng.random() < 0.5 else [int(rng.integers(-1, 6))]
        )
    if rng.random() < 0.2:
        kw["time"] = [0, "t", 99, -1, "zz"][rng.integers(5)]
    if rng.random() < 0.5:
        kw["dt"] = 0.1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.csv")
        Path(path).write_bytes(raw)
        t = ito.Trajectories.from_csv(path, **kw)
        repr(t)
        if any(np.isinf(p).any() for p in t.paths):
            raise Wrong("infinity")


KINDS = {"flip": flip, "swapped": swapped, "document": document, "table": table}
