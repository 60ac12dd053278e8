"""The benchmark systems, every parameter a keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.errors import argument_error
from itoscope.expressions.sums import expression_of
from itoscope.library.library import Library
from itoscope.sde.problem import Problem, Terms, check_positive, problem_of, with_numbers

#: Storeys of a chain: its noise has 2 n^2 entries, which are read in a second.
MOST_STOREYS = 500

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

__all__ = [
    "PROBLEMS",
    "black_scholes",
    "bouc_wen",
    "chain",
    "double_well",
    "duffing_van_der_pol",
    "lorenz63",
    "ornstein_uhlenbeck",
    "ornstein_uhlenbeck_2d",
    "two_storey_building",
    "van_der_pol",
]


@with_numbers
def black_scholes(*, lam: float = 2.0, mu: float = 1.0, x0: ArrayLike = (1.0,)) -> Problem:
    """Black-Scholes, geometric Brownian motion: `dX = lam X dt + mu X dB`."""
    return problem_of(
        "black-scholes",
        ["x1"],
        {"x1": {"x1": lam}},
        [[expression_of({"x1": mu})]],
        {("x1", "x1"): {"x1^2": mu**2}},
        Library.paper(6),
        x0,
    )


@with_numbers
def duffing_van_der_pol(
    *,
    m: float = 1.0,
    c: float = 2.0,
    k: float = 1000.0,
    a: float = 1e5,
    s: float = 10.0,
    x0: ArrayLike = (0.1, 0.0),
) -> Problem:
    """Duffing-Van der Pol oscillator under parametric noise.

    `dX1 = X2 dt, dX2 = -(c X2 + k X1 + a X1^3)/m dt + (s/m) X1 dB`. The table of the paper says k = 2000; its
    results and its code use 1000.
    """
    check_positive(m=m)
    return problem_of(
        "duffing",
        ["x1", "x2"],
        {"x2": {"x1": -k / m, "x2": -c / m, "x1^3": -a / m}},
        [["0"], [expression_of({"x1": s / m})]],
        {("x2", "x2"): {"x1^2": (s / m) ** 2}},
        Library.paper(6),
        x0,
        positions=[("x1", "x2")],
    )


@with_numbers
def two_storey_building(
    *,
    m1: float = 1.0,
    m2: float = 1.0,
    k1: float = 4000.0,
    k2: float = 2000.0,
    c1: float = 2.0,
    c2: float = 2.0,
    mu: float = 1.0,
    g: float = 9.81,
    s1: float = 10.0,
    s2: float = 10.0,
    x0: ArrayLike = (0.1, 0.0, 0.1, 0.0),
) -> Problem:
    """Two-storey building on a base with dry friction; x1, x3 are displacements, x2, x4 velocities.

    `dY2 = -((c1+c2) Y2 + mu g m1 sgn Y2 + (k1+k2) Y1 - c2 Y4 - k2 Y3)/m1 dt + s1/m1 dB1`,
    `dY4 = -(c2 (Y4-Y2) + k2 (Y3-Y1))/m2 dt + s2/m2 dB2`.
    """
    check_positive(m1=m1, m2=m2)
    first = {"x1": -(k1 + k2) / m1, "x2": -(c1 + c2) / m1, "x3": k2 / m1, "x4": c2 / m1, "sgn(x2)": -mu * g}
    second = {"x1": k2 / m2, "x2": c2 / m2, "x3": -k2 / m2, "x4": -c2 / m2}
    return problem_of(
        "building",
        ["x1", "x2", "x3", "x4"],
        {"x2": first, "x4": second},
        [["0", "0"], [s1 / m1, "0"], ["0", "0"], ["0", s2 / m2]],
        {("x2", "x2"): {"1": (s1 / m1) ** 2}, ("x4", "x4"): {"1": (s2 / m2) ** 2}},
        Library.paper(3),
        x0,
        positions=[("x1", "x2"), ("x3", "x4")],
    )


@with_numbers
def bouc_wen(
    *,
    m: float = 1.0,
    c: float = 20.0,
    k: float = 1e4,
    lam: float = 0.5,
    a1: float = 0.5,
    a2: float = 0.5,
    a3: float = 1.0,
    n: float = 3.0,
    s: float = 2.0,
    x0: ArrayLike = (0.55, 0.0, 0.005),
) -> Problem:
    """Bouc-Wen oscillator; x3 is the hysteretic displacement.

    `dX1 = X2 dt, dX2 = -(c X2 + k lam X1 + k (1-lam) X3)/m dt + s/m dB, dX3 = (-a1 X3 |X2| |X3|^(n-1) - a2
    X2 |X3|^n + a3 X2) dt`. The text of the paper says k = 1e5; its table and its equations use 1e4.
    """
    check_positive(m=m)
    if not n >= 1:
        raise argument_error("n", n, "a number, 1 or more")
    power = {1.0: "", 2.0: "|x3|"}.get(float(n), f"|x3|^{exact(n - 1)}")
    loop, loss = f"x3|x2|{power}", f"x2|x3|^{exact(n)}" if n != 1 else "x2|x3|"
    return problem_of(
        "bouc-wen",
        ["x1", "x2", "x3"],
        {
            "x2": {"x1": -k * lam / m, "x2": -c / m, "x3": -k * (1 - lam) / m},
            "x3": {loop: -a1, loss: -a2, "x2": a3},
        },
        [["0"], [s / m], ["0"]],
        {("x2", "x2"): {"1": (s / m) ** 2}},
        Library.paper(3) + Library.expressions(loop, loss),
        x0,
        positions=[("x1", "x2")],
    )


@with_numbers
def ornstein_uhlenbeck(
    *, theta: float = 1.0, mu: float = 0.0, sigma: float = 0.5, x0: ArrayLike = (0.0,)
) -> Problem:
    """Ornstein-Uhlenbeck process: `dX = theta (mu - X) dt + sigma dB`.

    Its stationary law is normal with mean mu and variance sigma^2 / (2 theta).
    """
    return problem_of(
        "ornstein-uhlenbeck",
        ["x1"],
        {"x1": {"1": theta * mu, "x1": -theta}},
        [[sigma]],
        {("x1", "x1"): {"1": sigma**2}},
        Library.paper(3),
        x0,
    )


@with_numbers
def ornstein_uhlenbeck_2d(
    *,
    a: ArrayLike = ((1.0, -0.5), (0.8, 1.5)),
    gamma: ArrayLike = ((0.5, 0.2), (0.2, 0.3)),
    x0: ArrayLike = (0.0, 0.0),
) -> Problem:
    """Two Ornstein-Uhlenbeck states with correlated noise: `dX = -a X dt + g dB`, `g g^T = gamma`."""
    rates, covariance = checks.reals("a", a), checks.reals("gamma", gamma)
    if rates.shape != (2, 2) or not np.isfinite(rates).all():
        raise argument_error("a", a, "a 2 x 2 matrix of finite numbers")
    if covariance.shape != (2, 2) or not np.allclose(covariance, covariance.T):
        raise argument_error("gamma", gamma, "a symmetric 2 x 2 matrix")
    if not np.linalg.eigvalsh(covariance).min() > 0:
        raise argument_error("gamma", gamma, "a positive definite matrix")
    states = ["x1", "x2"]
    return problem_of(
        "ornstein-uhlenbeck-2d",
        states,
        {state: dict(zip(states, -rates[i])) for i, state in enumerate(states)},
        np.linalg.cholesky(covariance).tolist(),
        {
            (p, q): {"1": covariance[i, j]}
            for i, p in enumerate(states)
            for j, q in enumerate(states)
            if i <= j
        },
        Library.paper(3),
        x0,
    )


@with_numbers
def double_well(
    *,
    a: float = 1.0,
    b: float = 1.0,
    gamma0: float = 0.5,
    gamma2: float = 0.3,
    x0: ArrayLike = (0.0,),
) -> Problem:
    """Double well: `dX = (a X - b X^3) dt + g dB`, `g^2 = gamma0 + gamma2 X^2`; `gamma2=0` makes it additive.

    Its occupation density is proportional to `exp(int 2 f / Gamma dx) / Gamma`.
    """
    checks.positive("gamma0", gamma0)
    checks.not_negative("gamma2", gamma2)
    covariance = {"1": gamma0, "x1^2": gamma2}
    g = f"sqrt({expression_of(covariance)})" if gamma2 else exact(np.sqrt(gamma0))
    return problem_of(
        "double-well",
        ["x1"],
        {"x1": {"x1": a, "x1^3": -b}},
        [[g]],
        {("x1", "x1"): covariance},
        Library.paper(5),
        x0,
    )


@with_numbers
def lorenz63(
    *,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    s: float = 1.0,
    x0: ArrayLike = (1.0, 1.0, 25.0),
) -> Problem:
    """Stochastic Lorenz-63: independent additive noise of strength s in each state."""
    states = ["x1", "x2", "x3"]
    return problem_of(
        "lorenz",
        states,
        {
            "x1": {"x1": -sigma, "x2": sigma},
            "x2": {"x1": rho, "x2": -1.0, "x1 x3": -1.0},
            "x3": {"x3": -beta, "x1 x2": 1.0},
        },
        [[s if i == j else 0 for j in range(3)] for i in range(3)],
        {(state, state): {"1": s**2} for state in states},
        Library.polynomials(3),
        x0,
    )


@with_numbers
def van_der_pol(
    *, mu: float = 2.0, omega: float = 1.0, s: float = 0.5, x0: ArrayLike = (1.0, 0.0)
) -> Problem:
    """Van der Pol oscillator: `dX1 = X2 dt, dX2 = (mu (1 - X1^2) X2 - omega^2 X1) dt + s dB`."""
    return problem_of(
        "van-der-pol",
        ["x1", "x2"],
        {"x2": {"x1": -(omega**2), "x2": mu, "x1^2 x2": -mu}},
        [["0"], [s]],
        {("x2", "x2"): {"1": s**2}},
        Library.paper(4),
        x0,
        positions=[("x1", "x2")],
    )


@with_numbers
def chain(
    *,
    n: int = 3,
    m: float | Sequence[float] = 1.0,
    k: float | Sequence[float] = 2000.0,
    c: float | Sequence[float] = 2.0,
    s: float | Sequence[float] = 1.0,
    x0: ArrayLike | None = None,
) -> Problem:
    """Chain of n storeys (3 unless given), each driven by its own noise; odd states are displacements.

    Storey i of mass `m_i` hangs on the one below by stiffness `k_i` and damping `c_i`, the first on the
    ground, and is pushed by `s_i dB_i`: with r_i the force of spring and damper i, `m_i dV_i = (r_{i+1} -
    r_i) dt + s_i dB_i`, `r_i = k_i (Y_i - Y_{i-1}) + c_i (V_i - V_{i-1})`.
    """
    checks.count("n", n, most=MOST_STOREYS)
    mass, stiffness, damping, noise = (_per_storey(name, v, n) for name, v in zip("mkcs", (m, k, c, s)))
    for i, value in enumerate(mass):
        check_positive(**{f"m[{i}]": value})
    positions = [(f"x{2 * i + 1}", f"x{2 * i + 2}") for i in range(n)]
    drift: dict[str, Terms] = {}
    for i in range(n):
        terms: Terms = {}
        # The spring below pulls to the storey below or the ground, the one above to the storey above.
        for spring, neighbour in ((i, i - 1), (i + 1, i + 1)):
            if spring == n:
                continue
            for strength, kind in ((stiffness[spring], 0), (damping[spring], 1)):
                own = positions[i][kind]
                terms[own] = terms.get(own, 0.0) - strength / mass[i]
                if neighbour >= 0:
                    terms[positions[neighbour][kind]] = strength / mass[i]
        drift[positions[i][1]] = terms
    strengths = [noise[i] / mass[i] for i in range(n)]
    zeros = [0.0] * n
    rows = [row for i in range(n) for row in (zeros, [strengths[i] if i == j else 0.0 for j in range(n)])]
    return problem_of(
        f"chain of {n}",
        [name for pair in positions for name in pair],
        drift,
        rows,
        {(velocity, velocity): {"1": strengths[i] ** 2} for i, (_, velocity) in enumerate(positions)},
        Library.polynomials(2) + Library.sign(),
        [0.0] * (2 * n) if x0 is None else x0,
        positions=positions,
    )


def _per_storey(name: str, value: float | Sequence[float], n: int) -> list[float]:
    values = checks.reals(name, value)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n) or not np.isfinite(values).all():
        raise argument_error(name, value, f"a finite number, or {n} of them")
    return [float(v) for v in np.broadcast_to(values, n)]


PROBLEMS: dict[str, Callable[..., Problem]] = {
    "black-scholes": black_scholes,
    "duffing": duffing_van_der_pol,
    "building": two_storey_building,
    "bouc-wen": bouc_wen,
    "ornstein-uhlenbeck": ornstein_uhlenbeck,
    "ornstein-uhlenbeck-2d": ornstein_uhlenbeck_2d,
    "double-well": double_well,
    "lorenz": lorenz63,
    "van-der-pol": van_der_pol,
    "chain": chain,
}
"""Every problem by the name that the command line uses."""
