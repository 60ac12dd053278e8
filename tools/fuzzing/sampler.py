"""Moments and the sampler: wild Gram matrices and priors, broken moments, both backends on one tape."""

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.backends.records import Sweeps
from itoscope.backends.reference.chains import record_chain
from itoscope.errors import ItoscopeError
from itoscope.stats.quadratic import Quadratic
from wrong import Wrong

EXTREME = [1e-100, 1e-12, 1e-10, 1e-4, 0.1, 0.5, 1, 3, 100, 1e6, 1e10, 1e100]


def data(rng, k=None):
    k = int(rng.choice([1, 2, 3, 5, 8, 12])) if k is None else k
    n = int(rng.choice([1, 2, 5, k, k + 1, 50, 400]))
    u = rng.standard_normal((n, k)) * np.exp(rng.normal(0, rng.choice([0, 1, 10]), k))
    c = rng.integers(10)
    if c == 0 and k > 1:
        u[:, 1] = u[:, 0]
    if c == 1 and k > 1:
        u[:, 1] = u[:, 0] * (1 + 1e-9 * rng.standard_normal(n))
    if c == 2:
        u[:, 0] = 0
    if c == 3 and k > 2:
        u[:, 2] = u[:, 0] + u[:, 1]
    if c == 4:
        u = np.vander(rng.uniform(-2, 2, n), k)
    if c == 5:
        u = u + 1e5
    theta = rng.standard_normal(k) * (rng.random(k) < 0.4)
    y = u @ theta + rng.standard_normal(n) * rng.choice([0.0, 1e-12, 0.1, 1, 100])
    if rng.random() < 0.05:
        y = np.zeros(n)
    s = float(rng.choice([1, 1, 1, 1e-150, 1e150, 1e-100, 1e10]))
    with np.errstate(all="ignore"):
        return (u * s).T @ (u * s), (u * s).T @ y, float(y @ y), float(n)


def prior(rng, wild):
    if not wild:
        return [
            ito.Prior(),
            ito.Prior(standardize=False),
            ito.Prior(a_p=2, b_p=3, a_v=3, b_v=2, a_s=1, b_s=0.5),
        ][rng.integers(3)]
    kw = {
        name: float(rng.choice(EXTREME))
        for name in ("a_p", "b_p", "a_v", "b_v", "a_s", "b_s", "slab_start")
        if rng.random() < 0.4
    }
    return ito.Prior(
        **kw,
        p0_start=float(rng.choice([1e-300, 1e-5, 0.1, 0.5, 1 - 1e-16])),
        standardize=bool(rng.random() < 0.7),
    )


def check(e, k):
    for name in ("pip", "mean", "sd", "samples", "noise_var", "slab_var", "p0", "inclusion", "cov"):
        v = np.asarray(getattr(e, name))
        if name in ("sd", "cov") and e.degrees <= 2 and any("degrees of freedom" in w for w in e.warnings):
            continue
        if not np.isfinite(v).all():
            raise Wrong(f"{name} not finite, no error; warnings {e.warnings}")
    if not ((e.pip >= 0) & (e.pip <= 1 + 1e-12)).all():
        raise Wrong(f"pip {e.pip}")
    if not (e.noise_var >= 0).all() or not (e.slab_var >= 0).all():
        raise Wrong("negative variance")
    e.interval(0.95)
    e.table()
    repr(e)
    e.rhat
    e.ess
    e.pip_frequency


def sample(rng):
    G, m, yy, n = data(rng)
    p = prior(rng, rng.random() < 0.5)
    M = ito.Moments(G, m, yy, n)
    kw = dict(
        n_chains=int(rng.choice([1, 2, 4])),
        n_samples=int(rng.choice([1, 2, 3, 7, 30])),
        n_burn=int(rng.choice([0, 1, 20])),
        seed=int(rng.integers(2**63)),
    )
    kw["sampler"] = rng.choice(["gibbs", "exact"])
    kw["backend"] = rng.choice(["rust", "rust", "reference"])
    e = M.sample(p, **kw)
    check(e, len(m))
    return {"prior": p, **kw}


def broken(rng):
    G, m, yy, n = data(rng)
    c = rng.integers(16)
    k = len(m)
    i, j = rng.integers(k), rng.integers(k)
    bad = [np.nan, np.inf, -np.inf, -1.0, 1e308, 1e-308, 0.0][rng.integers(7)]
    if c == 0:
        G[i, j] = bad
    if c == 1:
        m[i] = bad
    if c == 2:
        yy = bad
    if c == 3:
        n = bad
    if c == 4:
        G = G + rng.standard_normal(G.shape) * np.abs(G).max()
    if c == 5:
        G = -G
    if c == 6:
        m = m * 1e6
    if c == 7:
        G = G[:, :-1]
    if c == 8:
        m = m[:0]
        G = G[:0, :0]
    if c == 9:
        G, m = G.astype(complex), m
    if c == 10:
        G, m = G.astype(object), m.tolist()
    if c == 11:
        G = G.tolist()
        m = [str(v) for v in m]
    if c == 12:
        G = np.float32(G)
    if c == 13:
        G = G * 1e-320
    if c == 14:
        yy = yy * (1 - 10 ** -rng.uniform(2, 16))
    if c == 15:
        n = 10.0 ** rng.uniform(-300, 300)
    terms = [None, None, ["a"] * k, [f"t{q}" for q in range(k)], "abc", 5, [1] * k][rng.integers(7)]
    try:
        M = ito.Moments(G, m, yy, n, terms)
    except TypeError:
        if terms == 5:
            return
        raise
    e = M.sample(
        sampler=rng.choice(["gibbs", "exact"]),
        n_samples=20,
        n_burn=5,
        n_chains=2,
        seed=3,
        backend=rng.choice(["rust", "reference"]),
    )
    check(e, k)
    M + M
    M.subset([0])
    M.correlation()
    repr(M)


def outcome(f):
    try:
        return "ok", f()
    except ItoscopeError as e:
        return type(e).__name__, str(e)


def parity(rng):
    """Evidence, masses, posteriors and a chain on tape, on problems that are conditioned up to 1e8."""
    k = int(rng.integers(1, 9))
    n = int(rng.choice([k + 2, 60, 500]))
    u = rng.standard_normal((n, k)) * np.exp(rng.normal(0, 2, k))
    if rng.random() < 0.3 and k > 1:
        u[:, 1] = u[:, 0] + 10 ** -rng.uniform(1, 4) * u[:, 1]
    y = u @ (rng.standard_normal(k) * (rng.random(k) < 0.5)) + rng.standard_normal(n) * rng.choice([0.01, 1])
    if np.linalg.cond(Quadratic(u.T @ u, u.T @ y, float(y @ y), float(n)).correlation()) > 1e6:
        return {}  # a decision of one of them may be a rounding error of the other
    args = (Quadratic(u.T @ u, u.T @ y, float(y @ y), float(n)),)
    p = prior(rng, False)  # with scales of 1e-100 the slab has two modes, of which a backend may see one
    # of the sum of squares the explained part is taken, and the logarithm of what is left is multiplied by n / 2
    left = max(
        float(y @ y) - float(y @ u @ np.linalg.lstsq(u, y, rcond=None)[0]), 2 * p.b_s, 1e-12 * float(y @ y)
    )
    rounding = n / 2 * 1e-14 * float(y @ y) / left
    rust, ref = get_backend("rust"), get_backend("reference")
    inc = rng.random(k) < 0.5
    v = float(np.exp(rng.normal(0, 3)))
    for name, f in (
        ("evidence", lambda b: b.log_evidence(*args, p, inc, v)),
        ("posterior", lambda b: b.model_posterior(*args, p, inc)),
        ("masses", lambda b: b.enumerate_models(*args, p, progress=None)),
    ):
        a, b = outcome(lambda f=f: f(rust)), outcome(lambda f=f: f(ref))
        if a[0] != b[0]:
            raise Wrong(f"{name}: {str(a)[:120]} / {str(b)[:120]} {p}")
        if a[0] == "ok":
            parts = zip(a[1], b[1]) if isinstance(a[1], tuple) else [(a[1], b[1])]
            for x, z in parts:
                near = 1e-6 * (1 + np.nanmax(np.abs(z))) + (rounding if name != "posterior" else 0.0)
                if not np.allclose(x, z, rtol=1e-6, atol=near, equal_nan=True):
                    raise Wrong(f"{name}: {np.ravel(x)[:3]} {np.ravel(z)[:3]} {p}")
    if rounding > 1e-6:
        return {}  # nor are the draws of a chain the same then
    start = ["search", "empty", "random"][rng.integers(3)]
    if start == "search" and np.abs(args[0].correlation() - np.eye(k)).max() > 0.999:
        start = "empty"  # which of two twins comes first is a matter of rounding
    sweeps = Sweeps(15, 3, int(rng.integers(1, 3)), int(rng.integers(0, 3)))
    tape = outcome(lambda: record_chain(*args, p, sweeps, start=start, seed=int(rng.integers(2**32))))
    if tape[0] != "ok":
        return {"refused": tape[1]}
    theirs, draws = tape[1]
    ours = outcome(lambda: rust.replay_chain(*args, p, sweeps, start=start, draws=draws))
    if ours[0] != "ok":
        raise Wrong(f"chain: rust {ours[1][:200]} {p}")
    for name in ("samples", "included", "inclusion", "noise_var", "slab_var", "p0"):
        x, z = getattr(ours[1], name).astype(float), getattr(theirs, name).astype(float)
        if not np.allclose(x, z, rtol=1e-5, atol=1e-6 * (1 + np.abs(z).max()), equal_nan=True):
            raise Wrong(f"chain {name}: {np.abs(x - z).max()} {p}")


KINDS = {"sample": sample, "broken": broken, "parity": parity}
