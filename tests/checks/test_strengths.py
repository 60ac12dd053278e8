"""Looks at the drift behind noisy innovations: silent on the system of the fit, loud where the drift is another."""

import itoscope as ito
import numpy as np
import pytest

DT, N, NOISE = 0.02, 8000, 0.03
LOOKS = {"drift terms", "drift form", "strength of halves", "strength of paths", "strength before"}


def recording(seed, drifts, n=N):
    """A noisy path for each drift, a function of state and time."""
    paths = []
    for k, drift in enumerate(drifts):
        rng = np.random.default_rng([seed, k])
        w, x, out = np.sqrt(DT) * rng.normal(size=n), 0.0, np.empty((n, 1))
        for i in range(n):
            out[i] = x
            x += drift(x, i * DT) * DT + w[i]
        paths.append(out + NOISE * rng.normal(size=(n, 1)))
    return ito.Trajectories(paths, dt=DT)


def linear(x, t):
    return -2 * x


@pytest.fixture(scope="module")
def result():
    return ito.discover(
        recording(1, [linear]), ito.Library.polynomials(1), measurement_noise=NOISE, diffusion="constant", seed=1,
        n_samples=200,
    )  # fmt: skip


def found(checks):
    return {check["name"]: check for check in checks if check["name"] in LOOKS}


def test_the_recording_of_the_fit_is_silent(result):
    own = found(result.diagnostics["checks"])
    assert set(own) == {"drift terms", "drift form", "strength of halves"}
    assert not any(check["fired"] for check in own.values())
    assert [c["value"] for c in found(result.check()).values()] == [c["value"] for c in own.values()]


def test_other_recordings_of_the_system_are_silent(result):
    for data in (recording(2, [linear]), recording(3, [linear] * 10, 800)):
        assert not any(check["fired"] for check in found(result.check(data)).values())
    assert set(found(result.check(data))) == LOOKS


@pytest.mark.parametrize(
    ("name", "drifts", "n"),
    [
        ("drift terms", [lambda x, t: 1 - 2 * x], N),
        ("drift form", [lambda x, t: -2 * x + 3 * np.sin(4 * x)], N),
        ("strength of halves", [lambda x, t: -(1 if t < DT * N / 2 else 5) * x], N),
        ("strength of paths", [lambda x, t, c=c: c - 2 * x for c in (-1, 1, 1, -1)], 2000),
        ("strength before", [lambda x, t, k=k: -k * x for k in np.geomspace(0.3, 12, 20)], 800),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_drift_fires_its_look(result, name, drifts, n):
    check = found(result.check(recording(4, drifts, n)))[name]
    assert (
        check["fired"] and "the innovations behind x1" in check["sentence"] and "{" not in check["sentence"]
    )


def test_a_constant_is_named(result):
    sentence = found(result.check(recording(4, [lambda x, t: 1 - 2 * x])))["drift terms"]["sentence"]
    assert "most on a constant (+" in sentence and "% of the drift" in sentence
