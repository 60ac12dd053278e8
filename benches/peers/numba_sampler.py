"""The spike-and-slab sampler as a numba loop that maintains the Schur complements of all candidates.

Single flips only, in the same valid order as itoscope, with the same updates: rows of the Cholesky factor extended
over all columns, so that the odds of every candidate cost O(1), a new row O(r K), a new slab variance O(r^2 K).
Started by `sampler.py` in an environment of its own: reads the moments from a file, then for each line on standard
input runs the chain once and answers with core seconds.
"""
# ruff: noqa: NPY002 -- the legacy generator is the one that numba compiles

import json
import math
import sys
import time

import numpy as np
from numba import njit


@njit(fastmath=True, error_model="numpy")
def refactor(gram, moment, yy, b_s, inverse_v, members, r, start, rows, lower, inverse, z, d, c):
    """Rows from `start` on; Schur complements, residuals and energy of all columns."""
    k = moment.size
    for j in range(k):
        d[j] = gram[j, j] + inverse_v
        c[j] = moment[j]
    energy = 2 * b_s + yy
    for p in range(start):
        energy -= z[p] * z[p]
        zp = z[p]
        for j in range(k):
            w = rows[p, j]
            d[j] -= w * w
            c[j] -= w * zp
    for p in range(start, r):
        energy = append(gram, b_s, members, p, rows, lower, inverse, z, d, c, energy)
    return energy


@njit(fastmath=True, error_model="numpy")
def append(gram, b_s, members, p, rows, lower, inverse, z, d, c, energy):
    """Row `p` of the factor, of the member `members[p]`."""
    k = d.size
    m = members[p]
    pivot = 1 / math.sqrt(d[m])
    zp = c[m] * pivot
    z[p] = zp
    row = rows[p]
    source = gram[m]
    for j in range(k):
        row[j] = source[j]
    for i in range(p):
        coefficient = rows[i, m]
        lower[p, i] = coefficient
        former = rows[i]
        for j in range(k):
            row[j] -= coefficient * former[j]
    for j in range(k):
        w = row[j] * pivot
        row[j] = w
        d[j] -= w * w
        c[j] -= w * zp
    for q in range(p):
        total = 0.0
        for i in range(q, p):
            total += lower[p, i] * inverse[i, q]
        inverse[p, q] = -total * pivot
    inverse[p, p] = pivot
    return max(energy - zp * zp, 2 * b_s)


@njit(fastmath=True, error_model="numpy")
def run(gram, moment, yy, n, a_p, b_p, a_v, b_v, a_s, b_s, v, p0, n_sweeps, seed):
    """Average of the inclusion probabilities over the sweeps, from the empty model."""
    np.random.seed(seed)
    k = moment.size
    rows, lower, inverse = np.zeros((k, k)), np.zeros((k, k)), np.zeros((k, k))
    z, d, c = np.zeros(k), np.zeros(k), np.zeros(k)
    members, place = np.zeros(k, np.int64), np.full(k, -1)
    theta, noise, pip = np.zeros(k), np.zeros(k), np.zeros(k)
    r, power = 0, a_s + 0.5 * n
    energy = refactor(gram, moment, yy, b_s, 1 / v, members, r, 0, rows, lower, inverse, z, d, c)
    for _ in range(n_sweeps):
        log_prior = math.log(p0) - math.log1p(-p0) - 0.5 * math.log(v)
        for j in range(k):
            p = place[j]
            if p < 0:
                log_odds = (
                    log_prior - 0.5 * math.log(d[j]) - power * math.log1p(-c[j] * c[j] / (d[j] * energy))
                )
            else:
                s, mu = 0.0, 0.0
                for i in range(p, r):
                    s += inverse[i, p] * inverse[i, p]
                    mu += inverse[i, p] * z[i]
                log_odds = log_prior + 0.5 * math.log(s) + power * math.log1p(mu * mu / (s * energy))
            probability = 1 / (1 + math.exp(-log_odds))
            pip[j] += probability
            wanted = np.random.random() < probability
            if wanted and p < 0:
                members[r] = j
                place[j] = r
                energy = append(gram, b_s, members, r, rows, lower, inverse, z, d, c, energy)
                r += 1
            elif not wanted and p >= 0:
                for i in range(p, r - 1):
                    members[i] = members[i + 1]
                    place[members[i]] = i
                place[j] = -1
                r -= 1
                energy = refactor(gram, moment, yy, b_s, 1 / v, members, r, p, rows, lower, inverse, z, d, c)
        s2 = 0.5 * energy / np.random.standard_gamma(power)
        sd = math.sqrt(s2)
        for i in range(r):
            noise[i] = z[i] + sd * np.random.standard_normal()
        square = 0.0
        for q in range(r):
            theta[q] = 0.0
            for i in range(q, r):
                theta[q] += inverse[i, q] * noise[i]
            square += theta[q] * theta[q]
        v = (b_v + 0.5 * square / s2) / np.random.standard_gamma(a_v + 0.5 * r)
        p0 = np.random.beta(a_p + r, b_p + k - r)
        p0 = min(max(p0, 1e-300), 1 - 1e-16)
        energy = refactor(gram, moment, yy, b_s, 1 / v, members, r, 0, rows, lower, inverse, z, d, c)
    return pip / n_sweeps


def main():
    """Answer every line on standard input with the core seconds of one run."""
    data = np.load(sys.argv[1])
    n_sweeps = int(sys.argv[2])
    gram, moment, yy, n = data["gram"], data["moment"], float(data["yy"]), float(data["n"])
    scale, target = np.sqrt(np.diag(gram) / n), math.sqrt(yy / n)
    gram = np.ascontiguousarray(gram / np.outer(scale, scale))
    moment = moment / (scale * target)
    prior = (0.1, 1.0, 0.5, 0.5, 1e-4, 1e-4, 10.0, 0.1)
    run(gram, moment, n, n, *prior, 10, 0)
    for line in sys.stdin:
        start = time.process_time()
        pip = run(gram, moment, n, n, *prior, n_sweeps, int(line))
        print(json.dumps({"seconds": time.process_time() - start, "pip": pip.tolist()}), flush=True)


if __name__ == "__main__":
    main()
