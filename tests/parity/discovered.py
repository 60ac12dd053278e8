"""What `discover` finds in simulated recordings, for the Rust crate: `python tests/parity/discovered.py` writes it.

Both sides simulate the same paths, so the file holds questions and answers alone. A test of either side reads it.
"""

import json
from dataclasses import asdict
from pathlib import Path

import itoscope as ito
import numpy as np
from itoscope.common.prior import Prior
from itoscope.fit.options import Options

FILE = Path(__file__).parents[2] / "rust" / "core" / "tests" / "fixtures" / "discovered.json"

DOUBLE_WELL = {"states": ["x"], "drift": ["x - x^3"], "diffusion": [["0.5"]], "x0": [[1.0]]}
PULLED = {
    "states": ["x", "y"],
    "drift": ["-x + 0.5 y", "-2 y"],
    "diffusion": [["0.5", "0"], ["0.2", "0.4"]],
    "x0": [[1.0, 0.0], [0.0, 0.0]],
}
OSCILLATOR = {
    "states": ["x", "v"],
    "drift": ["v", "-4 x - 0.5 v"],
    "diffusion": [["0"], ["0.5 + 0.2 x^2"]],
    "x0": [[1.0, 0.0]],
}

#: By name the system, its simulation, the terms, the options of `discover`, and what is done to the samples.
QUESTIONS = {
    "double well": (DOUBLE_WELL, (0.01, 20_000, 1), ["1", "x", "x^2", "x^3", "x^4", "x^5"], {"seed": 1}, {}),
    "two states": (PULLED, (0.02, 8_000, 2), ["1", "x", "y", "x^2", "x y", "y^2"], {"seed": 5}, {}),
    "second order": (
        OSCILLATOR, (0.01, 20_000, 3), ["1", "x", "v", "x^2", "x v", "v^2", "x^3", "x^2 v", "x v^2", "v^3"],
        {"seed": 2, "known_drift": {"x": "v"}}, {},
    ),
    "unsaid": (OSCILLATOR, (0.01, 10_000, 12), ["1", "x", "v", "x^2", "x v", "v^2"], {"seed": 4}, {}),
    "still": (
        OSCILLATOR, (0.01, 10_000, 13), ["1", "x", "v", "x^3", "v^3"],
        {"seed": 4, "diffusion": {"x": "none"}}, {},
    ),
    "chains": (
        OSCILLATOR, (0.02, 6_000, 4), ["1", "x", "v", "x^3", "sgn(v)", "v|v|", "x^4"],
        {"seed": 3, "known_drift": {"x": "v"}, "sampler": "gibbs", "n_chains": 3, "n_samples": 300, "n_burn": 50}, {},
    ),
    "unweighted": (
        PULLED, (0.02, 4_000, 6), ["1", "x", "y", "x y"],
        {"seed": 7, "scheme": "euler", "weights": None, "diffusion": "diagonal", "threshold": 0.7,
         "prior": {"slab_unit": "sample", "b_v": 2.0}}, {},
    ),
    "constant": (
        PULLED, (0.02, 4_000, 8), ["1", "x", "y", "x^2"],
        {"seed": 1, "diffusion": "constant", "weight_floor": 0.05, "prior": {"a_p": 1.0}}, {},
    ),
    "none": (DOUBLE_WELL, (0.05, 4_000, 9), ["1", "x", "x^3"], {"seed": 1, "diffusion": "none"}, {}),
    "gaps": (DOUBLE_WELL, (0.02, 8_000, 10), ["1", "x", "x^2", "x^3"], {"seed": 1}, {"missing": 37, "left_out": 3}),
    "coinciding": (
        DOUBLE_WELL, (0.02, 8_000, 11), ["x", "2 x", "x^3", "x - x^3", "x^2", "0 x"], {"seed": 1}, {},
    ),
}  # fmt: skip


def recording(system, simulation, done):
    """The simulated paths, with samples missing and left out as asked."""
    dt, n_steps, seed = simulation
    sde = ito.SDE(system["drift"], system["diffusion"], system["states"])
    data = sde.simulate(np.array(system["x0"]), dt=dt, n_steps=n_steps, substeps=5, seed=seed)
    if not done:
        return data
    paths, times = [np.array(x) for x in data.paths], np.arange(n_steps + 1) * dt
    kept = np.arange(n_steps + 1) % done["left_out"] != 1
    for x in paths:
        x[4 :: done["missing"]] = np.nan
    return ito.Trajectories([x[kept] for x in paths], t=[times[kept]] * len(paths), names=data.names)


def answered(system, simulation, terms, options, done):
    """What is found: of each equation its numbers, and the page without remarks."""
    asked = dict(options)
    if "prior" in asked:
        asked["prior"] = ito.Prior(**asked["prior"])
    library = ito.Library.expressions(*terms)
    found = ito.discover(recording(system, simulation, done), library, **({"scheme": "trapezoid"} | asked))
    return {
        "page": "\n\n".join(str(found).split("\n\n")[:3]),
        "rounds": len(found.diagnostics["rounds"]) - 1,
        "equations": {label: numbers(equation) for label, equation in found.labelled()},
    }


def numbers(equation):
    """The numbers of an equation by what they are, the terms in the order of the library."""
    return {
        "terms": equation.terms,
        "selected": equation.selected.tolist(),
        "probability": equation.pip.tolist(),
        "mean": equation.mean.tolist(),
        "sd": equation.sd.tolist(),
        "interval": equation.interval(0.95).tolist(),
        "averaged": equation.averaged.tolist(),
        "models": [{"terms": list(terms), "probability": mass} for terms, mass in equation.leading(3)],
        "exact": equation.sampler == "exact",
    }


def usual():
    """The options where nothing is asked, and monomials."""
    names = (
        "n_chains",
        "n_samples",
        "n_burn",
        "threshold",
        "max_rounds",
        "weight_floor",
        "sampler",
        "diffusion",
    )
    options = Options()
    return {
        "defaults": {name: getattr(options, name) for name in (*names, "weights")}
        | {"prior": asdict(Prior())},
        "polynomials": list(ito.Library.polynomials(3).bind(["x", "y", "z"]).names),
    }


def everything():
    """All questions with their answers, and what is usual."""
    asked = ("system", "simulation", "terms", "options", "done")
    questions = {
        name: dict(zip(asked, question)) | {"found": answered(*question)}
        for name, question in QUESTIONS.items()
    }
    return {**usual(), "questions": questions}


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(everything(), indent=1, ensure_ascii=False) + "\n")
