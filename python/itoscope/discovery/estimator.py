"""`SDEDiscovery`: `discover` as a scikit-learn estimator, with the names that users of PySINDy expect."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itoscope.common import checks
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.discovery.result import Discovery
from itoscope.errors import ArgumentError, MissingExtraError, argument_error
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.fit.solve import solve
from itoscope.result.steps import steps_of
from itoscope.result.values import drift_at, gamma_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import (
        Array,
        BackendName,
        Diffusion,
        Ensemble,
        Order,
        Sampler,
        Scheme,
        Style,
        Weights,
    )
    from itoscope.library.library import Library

try:  # the base class has to be there when the class is made; without it, making an estimator is an error
    BaseEstimator: Any = importlib.import_module("sklearn.base").BaseEstimator
except ModuleNotFoundError:
    BaseEstimator = None

__all__ = ["SDEDiscovery"]

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

    def __init__(
        self,
        library: Library | None = None,
        *,
        dt: float | None = None,
        order: Order = 1,
        measurement_noise: float | Literal["estimate"] | None = None,
        diffusion_library: Library | None = None,
        diffusion: Diffusion | Mapping[str, Diffusion] = "full",
        known_drift: Mapping[str, str] | None = None,
        scheme: Scheme = "trapezoid",
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
        observed: Mapping[str, str] | Sequence[str] | None = None,
        inputs: Sequence[str] | Mapping[str, Any] | None = None,
        exclude: Mapping[str, Sequence[str]] | None = None,
        include: Mapping[str, Sequence[str]] | None = None,
        bounds: Mapping[str, Mapping[str, tuple[float | None, float | None]]] | None = None,
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
        self.result_: Discovery = Discovery.of(
            solve(Question.of(self._data(x, t), Options.of(self.get_params(deep=False))))
        )
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
        if rows.ndim not in (2, 3) or rows.shape[-1] != len(names):
            raise ArgumentError(f"x of shape {rows.shape}: (n, {len(names)}), states {', '.join(names)}")
        flat = drift_at(result, rows.reshape(-1, rows.shape[-1]))
        return flat.reshape(*rows.shape[:-1], len(result.states))

    def score(self, x: Any, y: Any = None, *, t: Any = None) -> float:
        r"""Return the mean log-likelihood of a step of `x` under the fitted model; larger is better.

        Steps of the noisy rows are normal with mean :math:`\bar f\,\Delta t` and covariance :math:`\Gamma \Delta t`,
        :math:`\bar f` being the drift averaged over both ends. A coefficient of determination would say little: over a
        short step, nearly all of the variance is noise.
        """
        result = self._fitted()
        steps = steps_of(result, self._data(x, t), "score")
        rows = [i for i, state in enumerate(result.states) if (state, state) in result.diffusion]
        if not rows:
            raise ArgumentError("score: no row has noise, so there is no likelihood")
        drift = (drift_at(result, steps.x) + drift_at(result, steps.y)) / 2
        moved = (steps.y - steps.x)[:, : len(result.states)]
        left = (moved - drift * steps.dt[:, None])[:, rows]
        gamma = gamma_at(result, steps.x)[:, rows][:, :, rows] * steps.dt[:, None, None]
        values, vectors = np.linalg.eigh(gamma)
        floor = 1e-3 * values.mean()  # a variance that vanishes somewhere must not decide alone
        values = np.maximum(values, floor)
        turned = np.einsum("nji,nj->ni", vectors, left)
        log = -0.5 * (turned**2 / values + np.log(2 * np.pi * values)).sum(axis=1)
        return float(log.mean())

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
