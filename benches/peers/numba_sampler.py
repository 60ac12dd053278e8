"""The spike-and-slab sampler as a numba loop that maintains the Schur complements of all candidates.

Flips, and if asked for the exchange and the pair move of every sweep, in the same valid order as itoscope, with the
same updates: rows of the Cholesky factor extended over all columns, so that the odds of every candidate cost O(1), a
new row O(r K), a new slab variance O(r^2 K), an exchange O(r K), a pair three small factors; the joint density of the
model that the chain is in comes from the maintained factor. Started by `sampler.py` in an environment of its own: reads
the moments from a file, then for each line on standard input, a seed and the number of moves a sweep, runs the chain
once and answers with core seconds.
"""
# ruff: noqa: NPY002, C901 -- numba compiles the legacy generator alone, and a sweep is one loop, as fast as it can be

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
def remove(gram, moment, yy, b_s, inverse_v, members, place, r, j, rows, lower, inverse, z, d, c):
    """Column `j` out of a model of `r`, and what comes after it anew."""
    p = place[j]
    for i in range(p, r - 1):
        members[i] = members[i + 1]
        place[members[i]] = i
    place[j] = -1
    return refactor(gram, moment, yy, b_s, inverse_v, members, r - 1, p, rows, lower, inverse, z, d, c)


@njit(fastmath=True, error_model="numpy")
def exchanged(power, r, p, member, rows, inverse, z, d, c, place, energy, weight):
    """The column that stands in the place of member number `p`, drawn from its conditional."""
    k = d.size
    s, mu = 0.0, 0.0
    for i in range(p, r):
        s += inverse[i, p] * inverse[i, p]
        mu += inverse[i, p] * z[i]
    without = energy + mu * mu / s
    own = mu * mu / (s * without)
    log_own = 0.5 * math.log(s) - power * math.log1p(-own)
    for j in range(k):
        weight[j] = 0.0
    for i in range(p, r):
        coefficient = inverse[i, p]
        row = rows[i]
        for j in range(k):
            weight[j] += coefficient * row[j]
    total = 1.0
    for j in range(k):
        t = weight[j]
        e, f = d[j] + t * t / s, c[j] + t * mu / s
        weight[j] = math.exp(-0.5 * math.log(e) - power * math.log1p(-f * f / (e * without)) - log_own)
        if place[j] >= 0:
            weight[j] = 0.0
        total += weight[j]
    left = np.random.random() * total - 1.0
    if left < 0:
        return member
    for j in range(k):
        left -= weight[j]
        if left < 0:
            return j
    return member


@njit(fastmath=True, error_model="numpy")
def small(gram, moment, yy, b_s, columns, r, ridge, low, y, pivot):
    """`L D L^T` of some columns; log determinant and energy, the first NaN where they are dependent."""
    log_det, energy, product = 0.0, yy, 1.0
    for i in range(r):
        source = gram[columns[i]]
        p, residual = source[columns[i]] + ridge, moment[columns[i]]
        for j in range(i):
            w = source[columns[j]]
            for m in range(j):
                w -= low[i, m] * pivot[m] * low[j, m]
            low[i, j] = w / pivot[j]
            p -= w * low[i, j]
            residual -= low[i, j] * y[j]
        if not p > 0:
            return np.nan, energy
        pivot[i], y[i] = p, residual
        energy -= residual * residual / p
        product *= p
        if not 1e-150 < product < 1e150:
            log_det += math.log(product)
            product = 1.0
    return log_det + math.log(product), 2 * b_s + max(energy, 0.0)


@njit(fastmath=True, error_model="numpy")
def slab_scale(gram, moment, yy, b_s, power, b_v, columns, r, low, y, pivot):
    """Scale of the law that the slab variance of a model is proposed from; NaN where its columns are dependent."""
    log_det, energy = small(gram, moment, yy, b_s, columns, r, 0.0, low, y, pivot)
    square = 0.0
    for i in range(r - 1, -1, -1):
        value = y[i] / pivot[i]
        for m in range(i + 1, r):
            value -= low[m, i] * y[m]
        y[i] = value
        square += value * value
    return b_v + square * power / energy + 0 * log_det


@njit(fastmath=True, error_model="numpy")
def run(gram, moment, yy, n, a_p, b_p, a_v, b_v, a_s, b_s, v, p0, n_sweeps, n_moves, seed):
    """Average of the inclusion probabilities over the sweeps, from the empty model."""
    np.random.seed(seed)
    k = moment.size
    rows, lower, inverse = np.zeros((k, k)), np.zeros((k, k)), np.zeros((k, k))
    z, d, c = np.zeros(k), np.zeros(k), np.zeros(k)
    members, place = np.zeros(k, np.int64), np.full(k, -1)
    theta, noise, pip = np.zeros(k), np.zeros(k), np.zeros(k)
    r, power = 0, a_s + 0.5 * n
    weight, low, y, pivot = np.zeros(k), np.zeros((k, k)), np.zeros(k), np.zeros(k)
    proposed, partners = np.zeros(k, np.int64), np.zeros((k, k))
    for j in range(k):
        level = 0.0
        for i in range(k):
            level += gram[j, i] ** 2 / (gram[j, j] * gram[i, i])
            partners[j, i] = level
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
                energy = remove(
                    gram, moment, yy, b_s, 1 / v, members, place, r, j, rows, lower, inverse, z, d, c
                )
                r -= 1
        for _ in range(n_moves):
            if 0 < r < k:
                p = np.random.randint(r)
                j = members[p]
                new = exchanged(power, r, p, j, rows, inverse, z, d, c, place, energy, weight)
                if new != j:
                    remove(gram, moment, yy, b_s, 1 / v, members, place, r, j, rows, lower, inverse, z, d, c)
                    energy = 2 * b_s + yy
                    for i in range(r - 1):
                        energy -= z[i] * z[i]
                    members[r - 1] = new
                    place[new] = r - 1
                    energy = append(gram, b_s, members, r - 1, rows, lower, inverse, z, d, c, energy)
            a = np.random.randint(k)
            b = np.searchsorted(partners[a], np.random.random() * partners[a, k - 1], side="right")
            b = min(b, k - 1)
            q = 0
            for i in range(r):
                if members[i] != a and members[i] != b:
                    proposed[q] = members[i]
                    q += 1
            if place[a] < 0:
                proposed[q] = a
                q += 1
            if a != b and place[b] < 0:
                proposed[q] = b
                q += 1
            here = slab_scale(gram, moment, yy, b_s, power, b_v, members, r, low, y, pivot)
            there = slab_scale(gram, moment, yy, b_s, power, b_v, proposed, q, low, y, pivot)
            shape, back = a_v + 0.5 * q, a_v + 0.5 * r
            drawn, uniform = np.random.standard_gamma(shape), np.random.random()
            if not (here > 0 and there > 0 and drawn > 0):
                continue
            new_v = there / drawn
            log_det, new_energy = small(gram, moment, yy, b_s, proposed, q, 1 / new_v, low, y, pivot)
            now_det = 1.0
            for i in range(r):
                now_det *= inverse[i, i] * inverse[i, i]
            log_v, log_new = math.log(v), math.log(new_v)
            ratio = (
                0.5 * (r * log_v - math.log(now_det) - q * log_new - log_det)
                - power * math.log(new_energy / energy)
                + (q - r) * (math.log(p0) - math.log1p(-p0))
                - a_v * (log_new - log_v)
                - b_v * (1 / new_v - 1 / v)
                - shape * math.log(drawn)
                + math.lgamma(shape)
                + drawn
                + back * (math.log(here) - log_v)
                - math.lgamma(back)
                - here / v
            )
            if math.log(uniform) < ratio:
                v, r = new_v, q
                for j in range(k):
                    place[j] = -1
                for i in range(r):
                    members[i] = proposed[i]
                    place[members[i]] = i
                energy = refactor(gram, moment, yy, b_s, 1 / v, members, r, 0, rows, lower, inverse, z, d, c)
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
    run(gram, moment, n, n, *prior, 10, 1, 0)
    for line in sys.stdin:
        seed, n_moves = (int(word) for word in line.split())
        start = time.process_time()
        pip = run(gram, moment, n, n, *prior, n_sweeps, n_moves, seed)
        print(json.dumps({"seconds": time.process_time() - start, "pip": pip.tolist()}), flush=True)


if __name__ == "__main__":
    main()
