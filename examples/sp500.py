"""Daily closes of the S&P 500, 1999 to 2018: is it geometric Brownian motion, and what is known of its growth?

The closes come with the PyPI package arch (pip install arch). A year has 252 trading days, so that all rates are per
year. The growth rate mu of dS = mu S dt + sigma S dB has the standard error sigma / sqrt(years), whatever the sampling:
20 years cannot tell 5 % a year from nothing, and the answer must say so.
"""

import itoscope as ito

try:
    from arch.data import sp500
except ImportError:
    raise SystemExit("this example needs the closes of the package arch: pip install arch") from None

closes = sp500.load()["Adj Close"].to_numpy()
data = ito.Trajectories(closes, dt=1 / 252, names=["S"])
print(data, "\n")

print("What the data say when the cubic polynomials are candidates\n")
print(ito.discover(data, ito.Library.polynomials(3), seed=1))

# A threshold next to zero keeps the one term of each library, however improbable, so that its interval is seen.
print("\n\nGeometric Brownian motion, whatever its probability\n")
gbm = ito.discover(
    data,
    ito.Library.expressions("S"),
    diffusion_library=ito.Library.expressions("S^2"),
    threshold=1e-5,
    seed=1,
)
print(gbm)

low, high = gbm.drift["S"].interval(0.95)[0]
print(
    f"""
95 % interval of the growth rate: {100 * low:.0f} % to {100 * high:.0f} % a year. It holds zero: whether there is
growth the closes do not say, and its probability of {gbm.drift["S"].pip[0]:.2f} says less than the prior's 2/3.
The volatility is known far better, but the warnings say that it is not constant: the kurtosis of the residuals belongs
to a process whose volatility moves by itself, not to a diffusion in S alone."""
)
