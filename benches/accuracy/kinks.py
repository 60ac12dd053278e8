"""How often a drift that was sought among smooth terms is said to have a kink, where it has one and where it has none.

python benches/accuracy/kinks.py              # 40 recordings of each system
python benches/accuracy/kinks.py --seeds 10
"""

import argparse

import itoscope as ito

SMOOTH = {
    "oscillator": (["x2", "-40*x1 - x2"], [["0"], ["2"]]),
    "hardening": (["x2", "-40*x1 - 20*x1^3 - x2"], [["0"], ["2"]]),
    "cubic damping": (["x2", "-40*x1 - x2 - x2^3"], [["0"], ["2"]]),
    "Van der Pol": (["x2", "2*(1 - x1^2)*x2 - x1"], [["0"], ["0.5"]]),
    "Ornstein-Uhlenbeck": (["-x1"], [["1"]]),
    "double well": (["x1 - x1^3"], [["0.6"]]),
}
KINKED = {
    "friction 2 sgn(x2)": (["x2", "-40*x1 - 0.5*x2 - 2*sgn(x2)"], [["0"], ["2"]]),
    "friction 1 sgn(x2)": (["x2", "-40*x1 - 0.5*x2 - sgn(x2)"], [["0"], ["2"]]),
    "drag x2|x2|": (["x2", "-40*x1 - x2*abs(x2)"], [["0"], ["2"]]),
}


def look(system: tuple[list[str], list[list[str]]], seed: int, noise: float) -> tuple[float, str]:
    """The probability of a kink, and the likeliest."""
    drift, g = system
    sde = ito.SDE(drift, g, ["x1", "x2"][: len(drift)])
    data = sde.simulate(
        [0.1] * len(drift), dt=0.005 if len(drift) == 2 else 0.02, n_steps=20_000, seed=seed, substeps=4
    )
    known = {"x1": "x2"} if len(drift) == 2 else None
    if noise:
        data, known = (
            (data.positions(noise=noise, seed=seed) if known else data.add_noise(sd=noise, seed=seed)),
            None,
        )
    asked = {"measurement_noise": "estimate", "order": len(drift)} if noise else {}
    result = ito.discover(data, known_drift=known, seed=1, n_samples=500, **asked)
    return next((c["value"], c["sentence"]) for c in result.diagnostics["checks"] if c["name"] == "kinks")


def main() -> None:
    """A line for each system: shares of recordings over 0.9, 0.95 and 0.99."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--noise", type=float, default=0.0)
    asked = parser.parse_args()
    for kind, systems in (("smooth", SMOOTH), ("kinked", KINKED)):
        for name, system in systems.items():
            found = [look(system, seed, asked.noise) for seed in range(asked.seeds)]
            over = [sum(value >= bound for value, _ in found) for bound in (0.9, 0.95, 0.99)]
            right = sum(value >= 0.99 and name.split()[-1] in text for value, text in found)
            print(f"{kind:8} {name:22} {over} of {asked.seeds}, named rightly {right}", flush=True)
    building = ito.problems.two_storey_building()
    found = []
    for seed in range(asked.seeds):
        data = building.simulate(duration=1.0, dt=1e-3, n_paths=100, seed=seed)
        result = ito.discover(data, known_drift=building.known_drift, seed=1, n_samples=500)
        found.append([c["value"] for c in result.diagnostics["checks"] if c["name"] == "kinks"])
    for row, place in (("dx2, with sgn(x2)", 0), ("dx4, smooth", 1)):
        print("building", row, [sum(v[place] >= bound for v in found) for bound in (0.9, 0.95, 0.99)])


if __name__ == "__main__":
    main()
