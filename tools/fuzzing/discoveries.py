"""discover and everything after it on hostile recordings and random options; answers must be finite or refused."""

import os
import tempfile

import itoscope as ito
import numpy as np
from wrong import Wrong

L = ito.Library


def recording(rng, small=False):
    m = int(rng.choice([1, 1, 2, 2, 3]))
    paths = int(rng.choice([1, 1, 2, 5]))
    n = int(rng.choice([3, 4, 5, 10, 60, 300]))
    if small:
        n = min(n, 60)
    dt = float(rng.choice([1e-3, 0.01, 1.0, 1e-12, 1e6, 1e-100, 1e100])) if rng.random() < 0.3 else 0.01
    x = rng.standard_normal((paths, n, m)).cumsum(1) * 0.1
    c = rng.integers(22)
    if c == 0:
        x[:, :, 0] = 3.0
    if c == 1 and m > 1:
        x[:, :, 1] = x[:, :, 0]
    if c == 2 and m > 1:
        x[:, :, 1] = -2 * x[:, :, 0] + 1
    if c == 3:
        x *= 1e-300
    if c == 4:
        x *= 1e150
    if c == 5:
        x = x * 1e-310
    if c == 6:
        x[rng.random(x.shape) < 0.5] = np.nan
    if c == 7:
        x[:, 1::2] = np.nan
    if c == 8:
        x[0, :, 0] = np.nan
        x[-1, 0, 0] = 1.0
    if c == 9:
        x = np.round(x, 1)
    if c == 10:
        x = x * 0
    if c == 11:
        x[0, n // 2] = 1e200
    if c == 12:
        x = x + 1e9
    if c == 13:
        x = np.sign(x)
    if c == 14:
        x = np.abs(x)
    if c == 15:
        x[:] = np.arange(n)[None, :, None]
    if c == 16:
        x = np.exp(np.clip(x * 100, -700, 700))
    if c == 17:
        x = x * np.array([1e-8, 1, 1e8])[:m]
    if c == 18:
        x[rng.random(x.shape) < 0.01] = 5e-324
    if rng.random() < 0.2 and paths > 1:
        x = [p[: max(3, len(p) // (i + 1))] for i, p in enumerate(x)]
    if rng.random() < 0.2:
        t = np.cumsum(rng.random(n) + 1e-3) * dt
        return ito.Trajectories(x, t=[t[: len(p)] for p in x]), m
    return ito.Trajectories(x, dt=dt), m


def library(rng, names):
    s = names[0]
    pool = [
        lambda: L.polynomials(int(rng.integers(0, 4))),
        L.sign,
        L.absolute,
        L.abs_products,
        lambda: L.trig([1, 2.0]),
        L.exponential,
        L.tanh,
        lambda: L.polynomials(2, origin="mean"),
        lambda: L.polynomials(1, origin=1e6),
        lambda: L.expressions(f"log({s})", f"{s}"),
        lambda: L.expressions(f"1/{s}", "1"),
        lambda: L.expressions(f"{s}^0.5", f"{s}"),
        lambda: L.expressions(f"{s}^40", f"{s}"),
        lambda: L.expressions(f"{s}-{s}", "1"),
        lambda: L.expressions(f"{s}", f"2*{s}", f"{s}+0"),
        lambda: L.expressions(f"exp(100*{s})", f"{s}"),
        lambda: L.expressions(f"sqrt(|{s}|)"),
        lambda: L.expressions("0*" + s, s),
        lambda: L.expressions("5"),
        lambda: L.custom(lambda x: x[:, 0] ** 2, "sq <b>"),
        lambda: L.custom(lambda x: np.full(len(x), 1e300), "big"),
    ]
    lib = pool[rng.integers(len(pool))]()
    if rng.random() < 0.4:
        lib = lib + pool[rng.integers(len(pool))]()
    return lib


def small(rng, names):
    """A library of few terms: for the reference, which is slow, and for all of its models, which are many."""
    s = names[0]
    pool = [
        lambda: L.polynomials(1),
        L.sign,
        L.absolute,
        L.abs_products,
        L.tanh,
        lambda: L.expressions(f"1/{s}", "1"),
        lambda: L.expressions(f"{s}-{s}", "1"),
        lambda: L.expressions(f"{s}", f"2*{s}", f"{s}+0"),
        lambda: L.custom(lambda x: np.full(len(x), 1e300), "big"),
    ]
    return pool[rng.integers(len(pool))]()


def finite(result):
    """All numbers are finite, but for the standard deviations that a warning tells to be infinite."""
    for label, e in result.labelled():
        told = any("standard deviation is infinite" in w for w in e.warnings)
        for name in ("pip", "mean", "sd", "samples"):
            v = np.asarray(getattr(e, name))
            if name == "sd" and told:
                v = np.nan_to_num(v, nan=np.nan)
            if not np.isfinite(v).all():
                raise Wrong(
                    f"{name} of {label} not finite; warnings {len(result.warnings)} {result.warnings[:2]}"
                )


def after(result, rng):
    repr(result)
    str(result)
    result._repr_html_()
    result.equations(style="latex")
    result.table() if hasattr(result, "table") else None
    for _, e in result.labelled():
        e.table()
        e.interval(0.9)
        repr(e)
        e._repr_html_()
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "a.npz")
        result.save(path)
        back = ito.Discovery.load(path)
        if str(back) != str(result):
            raise Wrong("save/load changes the printed result")
        if back.equations() != result.equations():
            raise Wrong("save/load changes equations")
    try:
        model = result.model()
    except ito.errors.ArgumentError:
        return
    repr(model)


def options(rng, names, m):
    kw = dict(n_samples=int(rng.choice([20, 60])), n_burn=10, n_chains=2, seed=int(rng.integers(1000)))
    if rng.random() < 0.8:
        kw["library"] = library(rng, names)
    if rng.random() < 0.3:
        kw["diffusion_library"] = library(rng, names)
    if rng.random() < 0.4:
        kw["diffusion"] = str(rng.choice(["full", "diagonal", "constant", "none"]))
    if rng.random() < 0.3:
        kw["scheme"] = "euler"
    if rng.random() < 0.3:
        kw["weights"] = None
    if rng.random() < 0.2:
        kw["ensemble"] = "mean"
    if rng.random() < 0.2:
        kw |= {"sampler": "exact", "library": small(rng, names), "diffusion_library": small(rng, names)}
    if rng.random() < 0.2:
        kw["threshold"] = float(rng.choice([1e-9, 0.01, 0.99, 1 - 1e-9]))
    if rng.random() < 0.2 and m > 1:
        kw["known_drift"] = {
            names[0]: str(
                rng.choice([names[1], "0", "1/" + names[0], "log(" + names[1] + ")", "1e300*" + names[0]])
            )
        }
    if rng.random() < 0.1:
        kw["weight_floor"] = float(rng.choice([1e-12, 0.999]))
    return kw


def measured(rng):
    slow = rng.random() < 0.15  # the reference may follow the recording with its filter
    data, m = recording(rng, small=slow)
    kw = options(rng, data.names, m)
    if slow:
        names = data.names
        kw |= {"backend": "reference", "library": small(rng, names), "diffusion_library": small(rng, names)}
    result = ito.discover(data, **kw)
    finite(result)
    after(result, rng)


def noisy(rng):
    data, m = recording(rng, small=True)
    names = list(data.names)
    kw = options(rng, names, m)
    kw.pop("known_drift", None)
    kw.pop("ensemble", None)
    kw["order"] = int(rng.choice([1, 2]))
    kw["measurement_noise"] = [0.01, "estimate", "estimate", 1e-300, 1e150, 0.0][rng.integers(6)]
    if "library" not in kw or rng.random() < 0.5:
        kw["library"] = L.polynomials(int(rng.integers(1, 3)))
    result = ito.discover(data, **kw)
    finite(result)
    after(result, rng)


ODD = [
    None,
    "x",
    -1,
    0,
    1,
    2,
    3,
    1.5,
    np.nan,
    np.inf,
    True,
    [],
    {},
    (),
    "full",
    np.array([1, 2]),
    10**30,
    -0.5,
    {"x1": "x2"},
    {"x1": 5},
    {"zz": "x1"},
    {"x1": "x3"},
    {"x1": "__import__('os')"},
    ["x1"],
    {"x1": ["x2"]},
    object(),
    b"x",
    np.float64(0.3),
    1e-320,
    "estimate",
    "exact",
    1j,
    lambda *a: None,
    range(3),
    L.sign(),
    {"x1": ""},
    {1: "x1"},
    {"x1": "x2", "x2": "x1"},
]


def wrong_option(rng):
    x = np.cumsum(np.random.default_rng(1).standard_normal((2, 40, 2)), axis=1) * 0.1
    name = str(
        rng.choice(
            [
                "library",
                "dt",
                "order",
                "measurement_noise",
                "diffusion_library",
                "diffusion",
                "known_drift",
                "scheme",
                "weights",
                "ensemble",
                "prior",
                "sampler",
                "n_chains",
                "n_samples",
                "n_burn",
                "threshold",
                "seed",
                "backend",
                "progress",
                "max_rounds",
                "weight_floor",
                "states",
                "observed",
            ]
        )
    )
    kw = dict(library=L.polynomials(1), n_samples=20, n_burn=5, n_chains=2, seed=1)
    value = ODD[rng.integers(len(ODD))]
    kw[name] = value
    try:
        ito.discover(ito.Trajectories(x, dt=0.01) if name != "dt" else x, **kw)
    except ito.errors.NumericalError:
        raise
    except ito.errors.ItoscopeError as e:
        if name not in str(e) and name.split("_")[0] not in str(e):
            raise Wrong(f"message does not name {name} = {value!r}: {e}") from e
        raise
    except Exception as e:
        raise type(e)(f"[{name} = {value!r}] {e}") from e


KINDS = {"measured": measured, "noisy": noisy, "wrong_option": wrong_option}
