"""itoscope on one case, with its defaults."""

import common
import itoscope as ito


def discover(case):
    data = ito.Trajectories(
        case.paths, dt=case.dt, names=[s for s in case.states if s not in case.rows or case.order == 1]
    )
    result = ito.discover(
        data,
        ito.Library.polynomials(case.degree),
        order=case.order,
        measurement_noise="estimate" if case.noise else 0.0,
        seed=1,
    )

    def selected(equation):
        return {
            term: [float(equation.mean[k]), float(equation.sd[k])]
            for k, term in enumerate(equation.terms)
            if equation.selected[k]
        }

    drift = {row: selected(equation) for row, equation in result.drift.items()}
    diffusion = {",".join(pair): selected(equation) for pair, equation in result.diffusion.items()}
    return drift, diffusion, {"states": list(result.states)}


if __name__ == "__main__":
    common.main({"itoscope": discover})
