"""Steps that are too coarse and samples that are means, told by what a fit leaves over."""

import itoscope as ito
import numpy as np

QUICK = {"seed": 1, "n_samples": 200}


def spiral(seed, dt, n=20_000, fine=10, turn=3.0):
    sde = ito.SDE([f"-x - {turn} y", f"{turn} x - y"], [["1", "0"], ["0", "0.7"]], ["x", "y"])
    return sde.simulate([0.0, 0.0], dt=dt, n_steps=n - 1, substeps=fine, seed=seed)


def of_means(seed, size=20):
    fine = spiral(seed, 0.05 / size, 20_000 * size, 1).paths[0]
    return ito.Trajectories(fine.reshape(-1, size, 2).mean(axis=1), dt=0.05, names=["x", "y"])


def test_means_over_the_step_of_a_motion_that_turns_are_told_of_both_columns_at_once():
    found = ito.discover(of_means(1), ito.Library.polynomials(1), **QUICK)
    (advice,) = found.advice
    assert advice.cause == "averaged samples" and "x and y" in advice.sentence
    assert advice.arguments["observed"] == {"x": "average(x)", "y": "average(y)"}
    tried = found.try_advice(0)
    assert tried.after > tried.before + 100.0
    row = tried.result.drift["x"]
    own = row.terms.index("x")
    assert abs(row.mean[own] + 1.0) < 4 * row.sd[own]
    assert [one.cause for one in tried.result.advice] == []


def test_a_force_whose_memory_is_of_a_sample_or_two_is_not_taken_for_means():
    rows = ["-x + f", "-f/0.1"]
    made = ito.SDE(rows, [["0"], ["4"]], ["x", "f"]).simulate(
        [0.0, 0.0], dt=0.05, n_steps=20_000, substeps=10, seed=3
    )
    found = ito.discover(made.select(["x"]), ito.Library.polynomials(1), **QUICK)
    assert "averaged samples" not in [advice.cause for advice in found.advice]


def test_a_step_that_moves_coefficients_is_told_where_the_samples_do_not_show_it():
    for seed in (2, 3):
        data = spiral(seed, 0.6, fine=60, turn=1.0)
        found = ito.discover(data, ito.Library.polynomials(1), scheme="trapezoid", **QUICK)
        (advice,) = found.advice
        assert advice.cause == "coarse step" and dict(advice.arguments) == {"scheme": "filter"}
    fine = ito.discover(spiral(2, 0.05, turn=1.0), ito.Library.polynomials(1), scheme="trapezoid", **QUICK)
    assert fine.advice == ()


def test_a_memory_of_the_force_is_not_taken_for_a_library_that_is_too_small():
    """Sums of dependent residuals vary twenty times as much, and so do all scores of what is left out."""
    rows = ["v", "-4*x - 0.5*v + f", "-f/0.2"]
    made = ito.SDE(rows, [["0", "0"], ["0.3", "0"], ["0", "12.6"]], ["x", "v", "f"]).simulate(
        [0.0, 0.0, 0.0], dt=0.01, n_steps=20_000, substeps=10, seed=1
    )
    found = ito.discover(made.select(["x", "v"]), ito.Library.polynomials(3), known_drift={"x": "v"}, **QUICK)
    fired = {check["name"] for check in found.diagnostics["checks"] if check["fired"]}
    assert {"whiteness", "drift shape"} <= fired
    assert [advice.cause for advice in found.advice] == ["coloured forcing"]


def test_a_weak_coefficient_that_changes_is_seen_beside_a_strong_one_that_stays():
    """Damping 0.6 to 2 beside a spring: the drift as a whole changes by a tenth."""
    half = 10_000
    at, first, kept = [0.0, 0.0], [], []
    for seed, damping in ((1, 0.6), (2, 2.0)):
        made = ito.SDE(["v", f"-9 x - {damping} v"], [["0"], ["1"]], ["x", "v"]).simulate(
            at, dt=0.01, n_steps=half, substeps=10, scheme="taylor15", seed=seed
        )
        first.append(made.paths[0][:-1])
        at = made.paths[0][-1].tolist()
        same = ito.SDE(["v", "-9 x - v"], [["0"], ["1"]], ["x", "v"])
        kept.append(
            same.simulate([0.0, 0.0], dt=0.01, n_steps=half, substeps=10, scheme="taylor15", seed=seed)
        )
    asked = {"known_drift": {"x": "v"}, **QUICK}
    for paths, wanted in ((first, True), ([one.paths[0] for one in kept], False)):
        changing = ito.Trajectories([np.concatenate(paths)] if wanted else paths, dt=0.01, names=["x", "v"])
        found = ito.discover(changing, ito.Library.polynomials(1), **asked)
        fired = [check["name"] for check in found.diagnostics["checks"] if check["fired"]]
        assert fired == (["drift of halves"] if wanted else [])
    noisy = ito.Trajectories(
        np.concatenate(first)[:, :1] + np.random.default_rng(5).normal(0, 0.01, (2 * half, 1)),
        dt=0.01,
        names=["x"],
    )
    found = ito.discover(noisy, ito.Library.polynomials(1), order=2, measurement_noise="estimate", **QUICK)
    assert "strength of halves" in [c["name"] for c in found.diagnostics["checks"] if c["fired"]]
