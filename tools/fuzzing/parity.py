"""Rust against the NumPy reference on random problems: moments, discover, filter stages, integrators."""

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace
from itoscope.errors import ItoscopeError
from wrong import Wrong

L = ito.Library


def outcome(f):
    try:
        return "ok", f()
    except ItoscopeError as e:
        return type(e).__name__, str(e)


def same(name, a, b, tol, extra="", sizes=None):
    """Both refuse alike, or give numbers that are near: `tol` of the largest, or of the `sizes` of what was summed."""
    if a[0] != b[0]:
        raise Wrong(f"{name}: rust {str(a)[:110]} / reference {str(b)[:110]} {extra}")
    if a[0] != "ok":
        if a[1] != b[1]:
            raise Wrong(f"{name} message: {a[1][:110]} / {b[1][:110]}")
        return
    for k, (x, z) in enumerate(zip(a[1], b[1])):
        x, z = np.asarray(x, float), np.asarray(z, float)
        if x.shape != z.shape:
            raise Wrong(f"{name} shape {x.shape} {z.shape} {extra}")
        size = np.nanmax(np.abs(z)) if z.size and np.isfinite(z).any() else 1.0
        if size < 1e-18:
            continue  # rounding of what is zero
        allowed = tol * (size if sizes is None else sizes[k])
        near = (np.abs(x - z) <= tol * np.abs(z) + allowed) | (x == z) | (np.isnan(x) & np.isnan(z))
        if not near.all():
            raise Wrong(f"{name}: {np.nanmax(np.abs(x - z)) / (size + 1e-300):.1e} of {size:.1e} {extra}")


def paths(rng, lengths=(3, 5, 40, 129, 300, 700)):
    m = int(rng.integers(1, 4))
    out = []
    for _ in range(rng.integers(1, 5)):
        x = rng.standard_normal((int(rng.choice(lengths)), m)).cumsum(0) * 0.1
        if rng.random() < 0.4:
            x[rng.random(x.shape) < rng.choice([0.01, 0.3])] = np.nan
        out.append(x)
    if any(np.isnan(np.concatenate(out)[:, j]).all() for j in range(m)):
        out[0][0] = 0.1
    if rng.random() < 0.4:
        return ito.Trajectories(out, t=[np.cumsum(rng.random(len(x)) * 0.01 + 1e-4) for x in out]), m
    return ito.Trajectories(out, dt=0.01), m


def library(rng, m):
    parts = [
        L.polynomials(int(rng.integers(0, 4))),
        L.sign(),
        L.absolute(),
        L.abs_products(),
        L.trig(1.5),
        L.tanh(),
        L.expressions("sqrt(|x1|)", "x1^2/(1+x1^2)"),
        L.expressions("x1 - x1", "1"),
        L.exponential(),
        L.polynomials(2, origin="mean"),
    ]
    lib = parts[rng.integers(len(parts))]
    return lib + parts[rng.integers(len(parts))] if rng.random() < 0.5 else lib


def moments(rng):
    data, m = paths(rng)
    lib = library(rng, m)
    kw = dict(
        scheme=str(rng.choice(["trapezoid", "euler"])), ensemble=str(rng.choice(["pool", "pool", "mean"]))
    )
    if rng.random() < 0.5:
        kw["row"] = f"x{rng.integers(m) + 1}"
    else:
        kw["pair"] = (f"x{rng.integers(m) + 1}", f"x{rng.integers(m) + 1}")

    def f(b):
        with ito.backends.use_backend(b):
            q = ito.moments(data, lib, **kw)
            return q.gram, q.moment, [q.yy], [q.n]

    a, b = outcome(lambda: f("rust")), outcome(lambda: f("reference"))
    tol, sizes = within(data, lib, b[1], kw) if b[0] == "ok" else (0.0, None)
    same("moments", a, b, tol, kw, sizes)
    return {"kind": a[0]}


def within(data, lib, found, kw):
    """A tolerance of the moments of the reference, and the sizes of what each of them is the sum of.

    A moment that cancels is the rounding of its terms, of which Cauchy and Schwarz say how large they may be. `yy`, and
    for a pair the target too, is what a regression of the drift left over: the condition of its columns costs digits.
    """
    gram, _, (yy,), _ = found
    scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
    asked = {name: kw[name] for name in ("scheme", "ensemble")}
    with ito.backends.use_backend("reference"):
        drifts = [
            ito.moments(data, lib, row=row, **asked) for row in {kw.get("row"), *kw.get("pair", ())} - {None}
        ]
    if "pair" in kw:
        i, j = (data.names.index(name) for name in kw["pair"])
        steps = [np.diff(t) for t in data.times]
        y = np.concatenate([np.diff(x[:, i]) * np.diff(x[:, j]) / dt for x, dt in zip(data.paths, steps)])
        yy = max(float(np.nansum(y**2)), yy)
    tol = max(1e-6, 1e-14 * max(condition(drift.gram) for drift in drifts))
    return tol, [np.outer(scale, scale), scale * np.sqrt(yy), yy, 0.0]


def condition(gram):
    """Of the columns scaled to one, in the directions that a regression solves for."""
    kept = np.diag(gram) > 0
    scale = np.sqrt(np.diag(gram)[kept])
    values = (
        np.linalg.eigvalsh(gram[np.ix_(kept, kept)] / np.outer(scale, scale)) if kept.any() else np.ones(1)
    )
    values = values[values > 1e-13 * values[-1]]
    return float(values[-1] / values[0])


def exact(rng):
    """Whole discover with the exact sampler: no random difference but the draws."""
    data, m = paths(rng, (3, 5, 30))  # the reference, which is slow, may follow them with its filter
    lib = [L.polynomials(1), L.sign() + L.polynomials(0), L.polynomials(2 if m < 3 else 1)][rng.integers(3)]

    def f(b):
        r = ito.discover(
            data, lib, sampler="exact", seed=1, n_samples=20, n_chains=1, backend=b, diffusion=kind
        )
        return (
            [e.pip for _, e in r.labelled()]
            + [e.mean for _, e in r.labelled()]
            + [e.sd for _, e in r.labelled()]
        )

    kind = str(rng.choice(["full", "diagonal", "constant"]))
    same("discover exact", outcome(lambda: f("rust")), outcome(lambda: f("reference")), 1e-5, kind)


def filters(rng):
    m = int(rng.integers(1, 3))
    names = [f"x{i + 1}" for i in range(m)]
    q = int(rng.integers(1, m + 1))
    terms = ["1"] + names + [f"{n}^2" for n in names] + [f"sin({names[0]})"]
    k = len(terms)
    drift = np.zeros((m, k))
    drift[:, 1 : 1 + m] = rng.normal(0, 1, (m, m)) - 2 * np.eye(m)
    drift[:, -1] = rng.normal(0, 0.5, m)
    pairs = tuple((i, i) for i in range(m))
    gamma = np.zeros((m, k))
    gamma[:, 0] = rng.uniform(0.1, 1, m)
    if rng.random() < 0.5:
        gamma[0, 1 + m] = rng.uniform(0, 1)
    obs = np.eye(m)[:q] + 0.1 * rng.standard_normal((q, m))
    ps, ts = [], []
    for _ in range(rng.integers(1, 6)):
        n = int(rng.choice([3, 10, 60]))
        x = rng.standard_normal((n, q)).cumsum(0) * 0.1 + 0.05 * rng.standard_normal((n, q))
        if rng.random() < 0.4:
            x[rng.random(x.shape) < 0.3] = np.nan
        ps.append(x)
        ts.append(0.01 if rng.random() < 0.5 else np.cumsum(rng.random(n) * 0.02 + 1e-3))

    def f(b):
        s = get_backend(b)
        sp = StateSpace(
            program=s.compile(terms, names),
            drift=drift,
            gamma=gamma,
            pairs=pairs,
            observation=obs,
            noise=np.full(q, 10.0 ** rng2.uniform(-6, -1)),
            mean0=np.zeros(m),
            cov0=np.eye(m),
            floor=np.full(m, 1e-6),
            max_step=float(rng2.choice([0.011, 0.002, 1.0])),
            kinks=(),
            second_order=bool(rng2.random() < 0.2),
        )
        out = [s.filter_loglik(sp, ps, ts)]
        for g in (
            s.filter_drift_moments(sp, ps, ts, [(0, j) for j in range(k)]),
            s.filter_noise_moments(sp, ps, ts, [(0, j) for j in range(k)]),
        ):
            out += [g[0].gram, g[0].moment, [g[0].yy], [g[0].n], g[1]]
        out += s.filter_innovations(sp, ps, ts)
        mean, cov = s.filter_smooth(sp, ps, ts)
        return out + mean + cov

    state = int(rng.integers(2**32))
    rng2 = np.random.default_rng(state)
    a = outcome(lambda: f("rust"))
    rng2 = np.random.default_rng(state)
    b = outcome(lambda: f("reference"))
    same("filter", a, b, 1e-7)


def integrators(rng):
    m = int(rng.integers(1, 4))
    names = [f"x{i + 1}" for i in range(m)]
    pool = ["-1*{0}", "{0} - {0}^3", "sin({1})", "-2*{0} + tanh({1})", "{0}*{1}", "1", "-exp(-{0}^2)*{1}"]
    form = lambda: pool[rng.integers(len(pool))].format(names[rng.integers(m)], names[rng.integers(m)])
    noise = ["0.3", "0.2*{0}", "sqrt(0.1+{0}^2)", "0"]
    g = lambda i: noise[rng.integers(4)].format(names[i])
    sde = ito.SDE(
        [form() for _ in range(m)], [[g(i) if i == j else "0" for j in range(m)] for i in range(m)], names
    )
    scheme = str(rng.choice(["euler-maruyama", "milstein", "taylor15"]))
    n = int(rng.choice([1, 7, 8, 9, 37]))
    steps = int(rng.choice([2, 9, 30]))
    sub = int(rng.choice([1, 2]))
    dW = rng.standard_normal((n, steps * sub, sde.n_noise * (2 if scheme == "taylor15" else 1))) * 0.05
    kw = dict(
        dt=0.01,
        n_steps=steps,
        substeps=sub,
        scheme=scheme,
        keep_every=int(rng.choice([1, 1, 2 if steps > 4 else 1])),
        noise=dW,
    )
    x0 = rng.uniform(-1, 1, (n, m))
    far = rng.random() < 0.1
    x0 *= 1e100 if far else 1.0
    f = lambda b, start=x0: [x for x in sde.simulate(start, backend=b, **kw).paths]
    a, b = outcome(lambda: f("rust")), outcome(lambda: f("reference"))
    if far:
        moved = outcome(lambda: f("reference", x0 * (1 + 1e-15)))
        compare_far(a, b, moved, (scheme, str(sde)))
    else:
        same("simulate", a, b, 1e-8, (scheme, str(sde)))


def compare_far(a, b, moved, extra):
    """From 1e100 on: the step in which a power overflows is a matter of the order of operations, and so is a sine.

    What both backends have of a path is as near as the reference is to itself from a start moved in its last digit.
    """
    if "ok" not in (a[0], b[0]):
        return same("simulate far", (a[0], ""), (b[0], ""), 0.0, extra)
    if not a[0] == b[0] == moved[0]:
        return None  # fourth powers overflow at once: in one order of the products, in another not
    for x, z, w in zip(a[1], b[1], moved[1]):
        k = min(len(x), len(z), len(w))
        x, z, w = x[:k], z[:k], w[:k]
        rounding = 1e4 * np.maximum.accumulate(np.abs(w - z), axis=0) + 1e-8 * np.nanmax(np.abs(z))
        wild = np.maximum.accumulate((np.abs(z) > 1e150).any(axis=1))[:, None]
        if not ((np.abs(x - z) <= rounding) | wild).all():
            raise Wrong(f"simulate far: {np.nanmax(np.abs(x - z)):.1e} {extra}")


KINDS = {"moments": moments, "exact": exact, "filters": filters, "integrators": integrators}
