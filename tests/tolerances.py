"""Every tolerance of the tests by name, with the reason for its size."""

# Values and derivatives of expressions in both backends: the same operations, but powers by multiplication
# here and by `pow` there, and two mathematical libraries that differ in the last digits. Relative to the
# largest term.
EXPRESSION = 1e-12

# A symbolic derivative against a central difference of step 1e-5: truncation 1e-10, rounding 1e-16 / 1e-5,
# times the third derivatives of the tested functions.
DIFFERENCE_QUOTIENT = 1e-6

# A measured order of convergence against the declared one, over six step lengths; its own spread is 0.02.
ORDER = 0.1

# One step of a scheme in both backends on the same increments, relative to the largest value of the state:
# a few roundings per operation.
STEP = 1e-12

# Sums over a few thousand rows in another order of addition: 1e-16 times the square root of their number, with room.
# Relative to the largest entry.
EXACT_SUMS = 1e-11

# Log evidence, masses, coefficients and chains on one tape in both backends: an updated factor there, factors
# from nothing and eigenvectors here. Rounding is about 1e-13 on these well-scaled problems; a slip is larger.
SAMPLER = 1e-9

# R-hat, effective sample sizes and Monte Carlo errors against ArviZ: the same formulas, sums in another order.
DIAGNOSTICS = 1e-9

# A recursion of thirty steps against one dense solve of the same Gaussian, well conditioned.
DENSE_GAUSSIAN = 1e-10

# The filter in both backends over some fifty steps: rounding in another order, carried along by a stable recursion.
FILTER = 1e-10

# The same for central differences of innovations, which divide rounding by the step of the difference.
FILTER_DIFFERENCES = 1e-8
