"""PySINDy on one case: STLSQ, its ensemble by bagging, sparse Bayesian regression (SBR).

Forward differences are given as `x_dot`, because the default centred difference makes the drift of a reversible
diffusion vanish; from noisy positions, velocity and acceleration are those of `SmoothedFiniteDifference`. The diffusion
is a second regression, on squared increments. STLSQ has one setting that decides, its threshold: it is chosen from a
grid *with the truth known*, so no better choice exists; the ensemble uses the same.
"""

import common
import numpy as np
import pysindy as ps

GRID = np.logspace(-3, 0.5, 10)


def rates(case):
    """States `(n, m)` and drift targets by row, per path; and how large a step the diffusion target spans."""
    states, targets, squares = [], [], []
    for path in case.paths:
        if case.order == 1:
            x = path[:-1]
            step = np.diff(path, axis=0)
        else:
            t = case.dt * np.arange(len(path))
            smooth = ps.SmoothedFiniteDifference(smoother_kws={"window_length": 11, "polyorder": 3})
            velocity = smooth._differentiate(path, t)
            x = np.hstack([path, velocity])[:-1]
            step = np.diff(velocity, axis=0)
        states.append(x)
        targets.append(step / case.dt)
        squares.append(np.stack([step[:, i] * step[:, j] / case.dt for i, j in pairs(case)], axis=1))
    return states, targets, squares


def pairs(case):
    r = range(len(case.rows))
    return [(i, j) for i in r for j in r if i <= j]


def regress(case, x, y, make):
    """Fit each column of `y`; `make(scaled_threshold)` gives an optimizer."""
    model = ps.SINDy(optimizer=make, feature_library=ps.PolynomialLibrary(degree=case.degree))
    with common.quiet():
        model.fit(x, t=case.dt, x_dot=[pad(v, case) for v in y], feature_names=case.states)
    return model


def pad(values, case):
    """PySINDy wants a target per state: the rows that are not asked for get zeros."""
    wide = np.zeros((len(values), max(len(case.states), values.shape[1])))
    wide[:, : values.shape[1]] = values
    return wide[:, : len(case.states)] if values.shape[1] <= len(case.states) else wide


def table(case, coefficients, sds=None):
    return {
        term: [float(c), None if sds is None else float(s)]
        for term, c, s in zip(case.terms, coefficients, sds if sds is not None else coefficients)
        if c != 0
    }


def wrong(found, truth):
    return len(set(found) ^ set(truth))


def best(case, x, columns, truth, make, read):
    """The fit whose terms differ least from the true ones, over the grid of thresholds; one column at a time."""
    scale = np.std(np.concatenate(columns))
    tried = []
    for threshold in GRID:
        model = regress(case, x, [c[:, None] for c in columns], make(threshold * scale))
        found = read(model)
        tried.append((wrong(found, truth), found))
    return min(tried, key=lambda pair: pair[0])[1]


def solve(case, make, read):
    x, targets, squares = rates(case)
    drift, diffusion = {}, {}
    for q, row in enumerate(case.rows):
        truth = case.truth["drift"].get(row, {})
        drift[row] = best(case, x, [t[:, q] for t in targets], truth, make, read)
    for p, (i, j) in enumerate(pairs(case)):
        name = f"{case.rows[i]},{case.rows[j]}"
        truth = case.truth["diffusion"].get(name, {})
        diffusion[name] = best(case, x, [s[:, p] for s in squares], truth, make, read)
    return drift, diffusion, {}


def stlsq(case):
    return solve(
        case,
        lambda threshold: ps.STLSQ(threshold=threshold, alpha=0.0, normalize_columns=True),
        lambda model: table(case, model.optimizer.coef_[0]),
    )


def ensemble(case):
    def read(model):
        draws = np.array(model.optimizer.coef_list)[:, 0]
        inside = (draws != 0).mean(axis=0) > 0.5
        return table(case, np.where(inside, draws.mean(axis=0), 0.0), draws.std(axis=0))

    return solve(
        case,
        lambda threshold: ps.EnsembleOptimizer(
            ps.STLSQ(threshold=threshold, alpha=0.0, normalize_columns=True), bagging=True, n_models=20
        ),
        read,
    )


def sbr(case):
    """Its posterior has no exact zeros: a term is selected when its 95 % interval does not hold zero."""
    x, targets, squares = rates(case)

    def fit(columns):
        scale = np.std(np.concatenate(columns))
        model = regress(
            case,
            x,
            [c[:, None] / scale for c in columns],
            ps.SBR(num_warmup=300, num_samples=500, normalize_columns=True),
        )
        names = model.optimizer.mcmc_.get_samples()
        draws = np.asarray(names["beta"])[:, 0] * scale
        norms = getattr(model.optimizer, "feature_norms_", None)
        if norms is not None:
            draws = draws / np.ravel(norms)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        return table(case, np.where(low * high > 0, draws.mean(axis=0), 0.0), draws.std(axis=0))

    drift = {row: fit([t[:, q] for t in targets]) for q, row in enumerate(case.rows)}
    diffusion = {
        f"{case.rows[i]},{case.rows[j]}": fit([s[:, p] for s in squares])
        for p, (i, j) in enumerate(pairs(case))
    }
    return drift, diffusion, {}


if __name__ == "__main__":
    common.main({"stlsq": stlsq, "ensemble": ensemble, "sbr": sbr})
