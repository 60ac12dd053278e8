"""`SDEDiscovery`: `discover` as a scikit-learn estimator, with the names that users of PySINDy expect."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from itoscope.common import checks
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.discovery.result import Discovery
from itoscope.errors import ArgumentError, MissingExtraError, argument_error
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.fit.sensors.classes import numbered
from itoscope.fit.solve import solve
from itoscope.result.likelihood import likelihood
from itoscope.result.values import drift_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import (
        Array,
        BackendName,
        Diffusion,
        DiffusionLaw,
        Ensemble,
        Fitting,
        Forcing,
        Kernel,
        Level,
        NoiseGroups,
        NoiseLaw,
        Offset,
        Order,
        Sampler,
        Style,
        Symmetry,
        Weights,
    )
    from itoscope.fit.sensors.listed import Sensor
    from itoscope.library.library import Library

try:  # the base class has to be there when the class is made; without it, making an estimator is an error
    BaseEstimator: Any = importlib.import_module("sklearn.base").BaseEstimator
except ModuleNotFoundError:
    BaseEstimator = None

__all__ = ["SDEDiscovery"]

IDLE = 1.0
"""Price of a level of noise that is compatible with none, in the log-likelihood of a recording."""
ERRORS = 2.0
"""Standard errors of a difference of scores that chance explains."""

Base: Any = object if BaseEstimator is None else BaseEstimator


class SDEDiscovery(Base):  # type: ignore[misc]
    """Discover a stochastic differential equation, as an estimator.

    Parameters are those of `discover`, with the same defaults; `dt` may also come with the data, as `fit(x, t=0.01)`.

    Attributes
    ----------
    result_ : Discovery
        All that was found.
    n_features_in_ : int
        Number of recorded states.
    feature_names_in_ : list of str
        Names of all states of the model.

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=10, seed=1)
    >>> estimator = ito.SDEDiscovery(library=ito.Library.polynomials(3), seed=1).fit(data)
    >>> estimator.predict([[0.0], [1.0]]).shape
    (2, 1)
    """

    #: Checks of scikit-learn that a recording of a motion cannot pass, each with the reason; for
    #: `check_estimator(estimator, expected_failed_checks=SDEDiscovery.expected_failed_checks)`.
    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_estimators_nan_inf": "a NaN is a missing sample, which is allowed",
        "check_fit1d": "one column of samples is a recording of one state",
        "check_fit2d_predict1d": "the message names the shape that is wanted, in other words",
        "check_n_features_in_after_fitting": "the message names the states that are wanted, in other words",
        "check_complex_data": "the message says that real numbers are allowed, in other words",
        "check_dtype_object": "the message names the sample that is no number, in other words",
        "check_estimators_empty_data_messages": "the message says that a state is needed, in other words",
    }

    def __init__(
        self,
        library: Library | None = None,
        *,
        dt: float | None = None,
        order: Order = 1,
        measurement_noise: Level | Mapping[str, Any] | None = None,
        noise_law: NoiseLaw | Mapping[str, NoiseLaw] = "normal",
        noise_groups: NoiseGroups | None = None,
        resolution: Mapping[str, float] | None = None,
        offset: Mapping[str, Offset] | None = None,
        diffusion_library: Library | None = None,
        diffusion: Diffusion | Mapping[str, Diffusion] = "full",
        diffusion_law: DiffusionLaw | Mapping[str, DiffusionLaw] = "normal",
        known_drift: Mapping[str, str] | None = None,
        known_diffusion: Mapping[str | tuple[str, str], str | float] | None = None,
        scheme: Fitting = "auto",
        weights: Weights = "auto",
        ensemble: Ensemble = "pool",
        prior: Prior | None = None,
        sampler: Sampler = "auto",
        n_chains: int = 4,
        n_samples: int | Literal["auto"] = 2000,
        n_burn: int = 1000,
        threshold: float = 0.5,
        seed: int | None = None,
        backend: BackendName | None = None,
        progress: Callable[[int], Any] | bool | None = None,
        max_rounds: int = 8,
        weight_floor: float = 1e-2,
        states: Sequence[str] | None = None,
        observed: Mapping[str, str | Sensor] | Sequence[str | Sensor] | None = None,
        inputs: Sequence[str] | Mapping[str, Any] | None = None,
        forcing: Forcing | Mapping[str, Forcing | Kernel] = "white",
        exclude: Mapping[str, Sequence[str]] | None = None,
        include: Mapping[str, Sequence[str]] | None = None,
        bounds: Mapping[str, Mapping[str, tuple[float | None, float | None]]] | None = None,
        vary: Mapping[str, Sequence[str]] | None = None,
        symmetry: Symmetry | None = None,
        ties: Sequence[Mapping[str, str]] | None = None,
        parameters: Mapping[str, float | tuple[float | None, float, float | None]] | None = None,
    ) -> None:
        asked = {name: value for name, value in locals().items() if name != "self"}
        if BaseEstimator is None:
            raise MissingExtraError(
                'SDEDiscovery needs scikit-learn: pip install "itoscope[sklearn]"', name="sklearn"
            )
        self.__dict__.update(asked)

    def fit(self, x: Any, y: Any = None, *, t: Any = None) -> SDEDiscovery:
        """Discover the equation behind `x`.

        Parameters
        ----------
        x : Trajectories, array or list of them
            As in `discover`; a list of `Trajectories`, which cross-validation makes, counts as their paths.
        y : ignored
        t : float or array, optional
            The time step, or the times of the samples (of each path, in a list).
        """
        x, noise = numbered(x, self.measurement_noise)
        asked = Options.of(self.get_params(deep=False) | {"measurement_noise": noise})
        self.result_: Discovery = Discovery.of(solve(Question.of(self._data(x, t), asked)))
        self.n_features_in_ = self.result_.data.n_states if self.result_.data is not None else 0
        self.feature_names_in_ = list(self.result_.states)
        return self

    def _data(self, x: Any, t: Any) -> Trajectories:
        if isinstance(x, (list, tuple)) and len(x) and all(isinstance(part, Trajectories) for part in x):
            first = x[0]
            paths = [path for part in x for path in part.paths]
            times = [stamps for part in x for stamps in part.times]
            x = Trajectories(paths, t=times, names=first.names, position_names=first.position_names)
        if isinstance(x, Trajectories):
            return x
        if t is None:
            return as_trajectories(x, dt=self.dt)
        return as_trajectories(x, t=t) if checks.is_list(t) else as_trajectories(x, dt=t)

    def _fitted(self) -> Discovery:
        if not hasattr(self, "result_"):
            exceptions = importlib.import_module("sklearn.exceptions")
            raise exceptions.NotFittedError("SDEDiscovery is not fitted yet: call fit(x, t=dt) first")
        return self.result_

    def predict(self, x: Any) -> Any:
        """Return the mean drift at states `x` `(n, m)`, inputs in columns after them; for a list of paths, a list."""
        result = self._fitted()
        if isinstance(x, Trajectories):
            return [drift_at(result, path) for path in result.rows(x)]
        if isinstance(x, (list, tuple)) and len(x) and np.ndim(checks.reals("x", x[0], missing=True)) == 2:
            return [drift_at(result, checks.reals("x", path, missing=True)) for path in x]
        rows = checks.reals("x", x, missing=True)
        names = result.variables
        if (
            result.differences
            and rows.ndim in (2, 3)
            and rows.shape[-1] == len(names) - len(result.differences)
        ):
            names = names[: rows.shape[-1]]
        if rows.ndim not in (2, 3) or rows.shape[-1] != len(names):
            raise ArgumentError(f"x of shape {rows.shape}: (n, {len(names)}), states {', '.join(names)}")
        flat = drift_at(result, rows.reshape(-1, rows.shape[-1]))
        return flat.reshape(*rows.shape[:-1], len(result.states))

    def score(self, x: Any, y: Any = None, *, t: Any = None) -> float:
        """Return the log-likelihood of a sample of `x` given those before it, the mean over all; larger is better.

        It is that of the filter, whatever the settings (`Discovery.loglik`), so that fits with and without measurement
        noise, of states and of positions alike compare. Less one over the number of samples for each level of noise
        that was estimated and is compatible with none, the price of Akaike for a number that foretells nothing: without
        it, which of two settings that found the same is the better one would be chance. A coefficient of determination
        would say little: over a short step, nearly all of the variance is noise.
        """
        result = self._fitted()
        found = likelihood(result, self._data(x, t))
        levels = (result.diagnostics.get("measurement_noise") or {}).values()
        idle = sum(level["low"] <= 0.0 < level["high"] for level in levels)
        return found.per_sample - IDLE * idle / found.samples

    @staticmethod
    def first_as_good(cv_results: Mapping[str, Any]) -> int:
        """Of a search over a grid, the first setting whose score cannot be told from the best one.

        Say `GridSearchCV(..., refit=SDEDiscovery.first_as_good)` and put the simplest setting first: of scores that
        differ by no more than two standard errors of their differences over the folds the best is the best by chance.

        Parameters
        ----------
        cv_results : mapping
            Those of the search.

        Returns
        -------
        int
            Number of the setting.
        """
        wanted = "results of a search over two folds or more: split0_test_score, split1_test_score, ..."
        if not isinstance(cv_results, Mapping):
            raise argument_error("cv_results", type(cv_results).__name__, wanted)
        named = [
            name for name in cv_results if str(name).startswith("split") and str(name).endswith("_test_score")
        ]
        rows = [checks.reals(f"cv_results[{name!r}]", cv_results[name], missing=True) for name in named]
        if len(rows) < 2 or any(row.ndim != 1 or row.shape != rows[0].shape or not len(row) for row in rows):
            raise argument_error("cv_results", sorted(map(str, cv_results)), wanted)
        scores = np.array(rows)
        means = scores.mean(axis=0)
        if np.isnan(means).all():
            raise ArgumentError("cv_results: no setting has a score in every fold")
        less = scores[:, [int(np.nanargmax(means))]] - scores
        error = less.std(axis=0, ddof=1) / np.sqrt(len(scores))
        return int(np.argmax(less.mean(axis=0) <= ERRORS * error))

    def simulate(self, x0: Any, t: Any = None, **settings: Any) -> Trajectories:
        """Simulate the fitted model; `t` are even times, or use `duration`, `n_steps`, `dt` of `Discovery.simulate`."""
        if t is not None:
            stamps = checks.reals("t", t)
            if stamps.ndim != 1 or len(stamps) < 2:
                raise argument_error("t", f"an array of shape {stamps.shape}", "two or more even times")
            settings |= {"dt": float(stamps[1] - stamps[0]), "n_steps": len(stamps) - 1}
        return self._fitted().simulate(x0, **settings)

    def equations(self, style: Style = "text") -> list[Any]:
        """Return the equations; see `Discovery.equations`."""
        return self._fitted().equations(style)

    def coefficients(self) -> Array:
        """Return the drift coefficients, one row per state and one column per term `(m, K)`; zero for given rows."""
        result = self._fitted()
        drift = result.drift
        terms = self.get_feature_names()
        rows = [
            np.where(drift[s].selected, drift[s].mean, 0.0) if s in drift else np.zeros(len(terms))
            for s in result.states
        ]
        return np.array(rows)

    def get_feature_names(self) -> list[str]:
        """Return the names of the candidate terms of the drift."""
        return list(next(iter(self._fitted().drift.values())).terms)

    def print(self) -> None:
        """Print what was found."""
        print(self._fitted())
