"""The paper's Black-Scholes study, with and without |x| and x|x| among the candidates."""

import itoscope as ito

problem = ito.problems.black_scholes()
data = problem.simulate(duration=1.0, dt=1e-3, n_paths=200, substeps=5, seed=1)
for library in (ito.Library.polynomials(6), ito.Library.paper(6)):
    result = ito.discover(data, library, seed=1)
    print(*result.equations(), sep="\n")
    # Prices are positive, so that x and |x| are one column: it is kept once and the other is named.
    print("candidates that coincide on these data:", result.drift["x1"].aliases, "\n")
