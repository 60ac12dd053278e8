"""Regression sums of two states by a fused numba tile, the vectors along the samples, for `scale.py`.

    python numba_sums.py recording.npy dt   # for each line of "euler" or "trapezoid" that comes in, CPU seconds

Runs in the environment of the peers. The library and the products are those of `scale.by_numpy`; a tile stays in the
cache, and four by four sums in registers.
"""

import json
import sys
import time

import numpy as np
from numba import njit

TILE, K, DEGREE = 256, 36, 6


@njit(fastmath=True)
def library(a, b, u, n):
    for i in range(n):
        u[0, i] = 1.0
    row, first = 1, 0
    for order in range(1, DEGREE + 1):
        for k in range(order):
            for i in range(n):
                u[row + k, i] = u[first + k, i] * a[i]
        for i in range(n):
            u[row + order, i] = u[first + order - 1, i] * b[i]
        first, row = row, row + order + 1
    for i in range(n):
        x, y = a[i], b[i]
        u[row, i], u[row + 1, i] = np.sign(x), np.sign(y)
        u[row + 2, i], u[row + 3, i] = abs(x), abs(y)
        u[row + 4, i], u[row + 5, i] = x * abs(x), x * abs(y)
        u[row + 6, i], u[row + 7, i] = y * abs(x), y * abs(y)


@njit(fastmath=True)
def symmetric(u, at, n, out):
    # four by four sums are held in registers
    for i in range(0, K, 4):
        for j in range(i, K, 4):
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
            for p in range(at, at + n):
                a0, a1, a2, a3 = u[i, p], u[i + 1, p], u[i + 2, p], u[i + 3, p]
                b0, b1, b2, b3 = u[j, p], u[j + 1, p], u[j + 2, p], u[j + 3, p]
                s00 += a0 * b0
                s01 += a0 * b1
                s02 += a0 * b2
                s03 += a0 * b3
                s10 += a1 * b0
                s11 += a1 * b1
                s12 += a1 * b2
                s13 += a1 * b3
                s20 += a2 * b0
                s21 += a2 * b1
                s22 += a2 * b2
                s23 += a2 * b3
                s30 += a3 * b0
                s31 += a3 * b1
                s32 += a3 * b2
                s33 += a3 * b3
            out[i, j] += s00
            out[i, j + 1] += s01
            out[i, j + 2] += s02
            out[i, j + 3] += s03
            out[i + 1, j] += s10
            out[i + 1, j + 1] += s11
            out[i + 1, j + 2] += s12
            out[i + 1, j + 3] += s13
            out[i + 2, j] += s20
            out[i + 2, j + 1] += s21
            out[i + 2, j + 2] += s22
            out[i + 2, j + 3] += s23
            out[i + 3, j] += s30
            out[i + 3, j + 1] += s31
            out[i + 3, j + 2] += s32
            out[i + 3, j + 3] += s33


@njit(fastmath=True)
def across(u, n, out):
    for i in range(0, K, 4):
        for j in range(0, K, 4):
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
            for p in range(n):
                a0, a1, a2, a3 = u[i, p], u[i + 1, p], u[i + 2, p], u[i + 3, p]
                b0, b1, b2, b3 = u[j, p + 1], u[j + 1, p + 1], u[j + 2, p + 1], u[j + 3, p + 1]
                s00 += a0 * b0
                s01 += a0 * b1
                s02 += a0 * b2
                s03 += a0 * b3
                s10 += a1 * b0
                s11 += a1 * b1
                s12 += a1 * b2
                s13 += a1 * b3
                s20 += a2 * b0
                s21 += a2 * b1
                s22 += a2 * b2
                s23 += a2 * b3
                s30 += a3 * b0
                s31 += a3 * b1
                s32 += a3 * b2
                s33 += a3 * b3
            out[i, j] += s00
            out[i, j + 1] += s01
            out[i, j + 2] += s02
            out[i, j + 3] += s03
            out[i + 1, j] += s10
            out[i + 1, j + 1] += s11
            out[i + 1, j + 2] += s12
            out[i + 1, j + 3] += s13
            out[i + 2, j] += s20
            out[i + 2, j + 1] += s21
            out[i + 2, j + 2] += s22
            out[i + 2, j + 3] += s23
            out[i + 3, j] += s30
            out[i + 3, j + 1] += s31
            out[i + 3, j + 2] += s32
            out[i + 3, j + 3] += s33


@njit(fastmath=True)
def line(u, at, n, y, out):
    for i in range(K):
        s = 0.0
        for p in range(n):
            s += u[i, at + p] * y[p]
        out[i] += s


@njit(fastmath=True)
def sums(x, dt, trapezoid):
    omega, cross, inner = np.zeros((K, K)), np.zeros((K, K)), np.zeros((K, K))
    c, d = np.zeros(K), np.zeros(K)
    u, y = np.empty((K, TILE + 8)), np.empty(TILE)
    a, b = np.empty(TILE + 1), np.empty(TILE + 1)
    for start in range(0, len(x) - 1, TILE):
        n = min(TILE, len(x) - 1 - start)
        for i in range(n + 1):
            a[i], b[i] = x[start + i, 0], x[start + i, 1]
        for i in range(n):
            y[i] = (b[i + 1] - b[i]) / dt
        library(a, b, u, n + 1)
        symmetric(u, 0, n, omega)
        line(u, 0, n, y, c)
        if trapezoid:
            across(u, n, cross)
            for i in range(K):  # the squares at the ends of the steps differ by two samples
                for j in range(K):
                    inner[i, j] += u[i, n] * u[j, n] - u[i, 0] * u[j, 0]
            line(u, 1, n, y, d)
    return omega, cross, inner, c, d


def main():
    x, dt = np.load(sys.argv[1]), float(sys.argv[2])
    for trapezoid in (False, True):
        sums(x[:2000], dt, trapezoid)
    print(json.dumps(np.triu(sums(x[:5001], dt, False)[0]).sum()), flush=True)
    for text in sys.stdin:
        began = time.process_time()
        sums(x, dt, text.strip() == "trapezoid")
        print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main()
