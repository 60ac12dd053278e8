"""Trajectories from arrays of every kind: the samples that are kept must be those that were given."""

import datetime
import decimal
import fractions

import itoscope as ito
import numpy as np
from wrong import Wrong

SCALES = [0.0, 1.0, 1e-300, 1e300, 5e-324, 1e-310, 1e308, 1e16, -1.0]


def samples(rng, shape=None):
    if shape is None:
        ndim = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        shape = tuple(int(rng.choice([0, 1, 2, 3, 4, 7, 30, 200])) for _ in range(ndim))
        if rng.random() < 0.7:
            shape = [(60,), (50, 2), (4, 30, 3), (3, 1), (1, 3, 1), (2, 2, 3), (200, 40)][rng.integers(7)]
        while np.prod(shape, dtype=float) > 2e5:
            shape = tuple(max(1, s // 3) for s in shape)
    x = rng.standard_normal(shape) * rng.choice(SCALES)
    if rng.random() < 0.3 and x.size:
        x = np.array(x)
        flat = x.reshape(-1) if x.flags.c_contiguous else x
        for value in rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, -0.0], size=rng.integers(1, 5)):
            flat[rng.integers(flat.size)] = value
    if rng.random() < 0.05:
        x = np.full(shape, rng.choice([np.nan, np.inf, 3.0]))
    return x


def dress(rng, x):
    """The same numbers in another costume; returns (object, float64 expectation or None)."""
    kind = rng.integers(24)
    with np.errstate(all="ignore"):
        if kind == 0:
            y = x.astype(np.float16)
            return y, y.astype(float)
        if kind == 1:
            y = x.astype(np.longdouble)
            return y, x
        if kind == 2:
            return x.astype(complex), None
        if kind == 3:
            return x.astype(object), x
        if kind == 4:
            return x > 0, None
        if kind == 5:
            return np.zeros(x.shape, "datetime64[s]"), None
        if kind == 6:
            y = (
                np.nan_to_num(x, posinf=9, neginf=9)
                .clip(-1e9, 1e9)
                .astype(rng.choice(["i1", "u1", "i8", "u8", ">i4"]))
            )
            return y, y.astype(float)
        if kind == 7:
            return x.astype(">f8"), x
        if kind == 8:
            return np.asfortranarray(x), x
        if kind == 9 and x.ndim:
            return x[::-1], x[::-1]
        if kind == 10 and x.ndim:
            y = np.repeat(x, 2, axis=0)[::2]
            return y, x
        if kind == 11:
            y = np.array(x)
            y.flags.writeable = False
            return y, x
        if kind == 12:
            mask = rng.random(x.shape) < 0.2
            y = np.ma.array(x, mask=mask)
            return y, np.where(mask, np.nan, x)
        if kind == 13:
            return x.tolist(), x
        if kind == 14 and x.ndim > 1:
            return list(x), x
        if kind == 15:
            return x.astype(str), None
        if kind == 16:
            return [list(map(str, range(3)))] * 4, None
        if kind == 17:
            y = np.zeros(x.shape, [("a", "f8"), ("b", "f8")])
            return y, None
        if kind == 18:
            return rng.choice(
                np.array(
                    [
                        None,
                        "abc",
                        {},
                        set(),
                        3,
                        b"x",
                        object(),
                        [],
                        [[]],
                        [[], []],
                        (),
                        [None] * 5,
                        range(10),
                        {"a": [1, 2, 3]},
                        [decimal.Decimal(1)] * 4,
                        [fractions.Fraction(1, 3)] * 4,
                        [datetime.datetime(2020, 1, 1)] * 5,
                        [1, 2, "x", 4],
                        [True, False, True],
                    ],
                    dtype=object,
                )
            ), None
        if kind == 19 and x.ndim >= 1 and len(x) > 1:
            parts = [np.atleast_1d(x[i]) for i in range(len(x))]
            k = rng.integers(len(parts))
            parts[k] = parts[k][: rng.integers(0, len(parts[k]) + 1)]
            return parts, None
        if kind == 20:
            return memoryview(np.ascontiguousarray(x)) if x.ndim and x.size else x, x
        if kind == 21:
            return np.asmatrix(x) if x.ndim == 2 else x, x
        if kind == 22 and x.ndim:
            y = np.lib.stride_tricks.as_strided(x, x.shape, (0,) * x.ndim) if x.size else x
            return y, y.copy()
        return x, x


def build(rng):
    x = samples(rng)
    data, expected = dress(rng, x)
    settings = {}
    n = x.shape[-2] if x.ndim > 1 else (x.shape[0] if x.ndim else 1)
    if rng.random() < 0.55:
        settings["dt"] = rng.choice(
            np.array(
                [
                    0.01,
                    1.0,
                    1e-300,
                    5e-324,
                    1e300,
                    0,
                    -1,
                    np.nan,
                    np.inf,
                    "0.1",
                    None,
                    True,
                    np.float32(0.1),
                    np.int64(2),
                    [0.1],
                    np.array(0.1),
                    1e-17,
                    3 + 0j,
                ],
                dtype=object,
            ),
            p=[0.83] + [0.01] * 17,
        )
    if (rng.random() < 0.05) if "dt" in settings else (rng.random() < 0.98):
        t = np.cumsum(rng.random(n)) * rng.choice([1.0, 1e-300, 1e300, 1e-12])
        c = rng.integers(20)
        if c == 0:
            t = t[::-1]
        if c == 1 and n:
            t[rng.integers(n)] = rng.choice([np.nan, np.inf])
        if c == 2 and n > 1:
            t[1] = t[0]
        if c == 3:
            t = t.astype(object)
        if c == 4:
            t = np.datetime64("2020-01-01") + np.arange(n)
        if c == 5:
            t = 1e16 + np.arange(n)
        if c == 6:
            t = [t] * (x.shape[0] if x.ndim == 3 else 1)
        if c == 7:
            t = t[:-1] if n else t
        if c == 8:
            t = np.arange(n) * 0.1 + 1e9
        if c == 9:
            t = np.full(n, 1e308) * np.linspace(-1, 1, n) if n else t
        settings["t"] = t
    if rng.random() < 0.15:
        m = x.shape[-1] if x.ndim > 1 else 1
        pool = [
            "a",
            "b",
            "x1",
            "x_1",
            "sin",
            "pi",
            "lambda",
            "été",
            "данные",
            "x" * 5000,
            "custom1",
            "e",
            "E1",
            "1e3",
            "",
            " ",
            "a b",
            "x\n",
            "<script>",
            "None",
            "é",
            "ﬁ",
            "K",
            "a\u0301",
            "t",
            "path",
            3,
            None,
            "ª",
            "x·y",
            "𝐱",
        ]
        settings["names"] = (
            [pool[rng.integers(len(pool))] for _ in range(min(m, 40))]
            if rng.random() < 0.9
            else rng.choice(["ab", 5])
        )
    return data, expected, settings


def construct(rng):
    data, expected, settings = build(rng)
    got = ito.Trajectories(data, **settings)
    flat = np.concatenate([p.ravel() for p in got.paths])
    if expected is not None:
        want = np.asarray(expected, float).ravel()
        if flat.shape != want.shape or not np.array_equal(flat, want, equal_nan=True):
            raise Wrong(
                f"samples differ: {type(data).__name__} {getattr(data, 'dtype', '')} {want.shape} {flat.shape}"
            )
    if not all(
        p.dtype == np.float64 and p.flags.c_contiguous and not p.flags.writeable and p.ndim == 2
        for p in got.paths
    ):
        raise Wrong("paths are not C-contiguous read-only float64")
    if np.isinf(flat).any():
        raise Wrong("infinity let in")
    for t in got.times:
        if not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
            raise Wrong(f"times not increasing/finite: {t[:4]} dt={got.dt}")
    if got.dt is not None and not (np.isfinite(got.dt) and got.dt > 0):
        raise Wrong(f"dt {got.dt}")
    repr(got)
    got.mean()
    got.sd()
    got.missing
    got.steps()
    got.n_steps
    len(got)
    got.thin(1)
    got[0]
    got.positions() if got.n_states % 2 == 0 else None
    for name in got.names:
        str(name)


def methods(rng):
    x = samples(rng, (3, int(rng.integers(3, 40)), int(rng.integers(1, 4))))
    got = ito.Trajectories(np.where(np.isfinite(x), x, 0.0), dt=float(rng.choice([0.1, 1e-300, 1e300])))
    odd = np.array(
        [
            0,
            1,
            2,
            -1,
            3,
            10**12,
            -5,
            0.5,
            np.nan,
            None,
            "x1",
            [],
            [0, 1],
            slice(None),
            [True, False, True],
            True,
            np.array([0]),
            {},
            2.0,
            1e308,
            "1",
            -0.1,
            1e-300,
            np.inf,
            -1e300,
        ],
        dtype=object,
    )
    pick = lambda: odd[rng.integers(len(odd))]
    name, call = [
        ("getitem", lambda: got[pick()]),
        ("select", lambda: got.select(pick())),
        ("thin", lambda: got.thin(pick())),
        ("split", lambda: got.split(pick())),
        ("noise", lambda: got.add_noise(pick(), seed=pick())),
        ("sd", lambda: got.add_noise(sd=pick(), seed=1)),
        ("positions", lambda: got.positions(pick(), seed=pick())),
        ("pos2", lambda: got.positions(0.1, names=pick())),
        ("order", lambda: ito.classify_order(got)),
    ][rng.integers(9)]
    try:
        call()
    except IndexError:
        if name != "getitem":
            raise
    return {"call": name}


KINDS = {"construct": construct, "methods": methods}
