"""Statistics of plain arrays: least squares, quantiles, convergence of chains."""
