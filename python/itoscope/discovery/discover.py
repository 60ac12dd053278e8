"""`discover`: from recorded trajectories to a `Discovery`: the question checked, the rounds run, the answer seen."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.protocol import Backend
from itoscope.backends.records import Fitted, Variance
from itoscope.checks import measured as diagnostics
from itoscope.common.prior import Prior
from itoscope.common.progress import Reporter
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.discovery.result import Discovery
from itoscope.errors import ArgumentError, argument_error
from itoscope.fit.measured.rounds import (
    DIFFUSIONS,
    MeasuredFit,
    Problem,
    RoundSettings,
    coefficients,
    fit_measured,
)
from itoscope.fit.streams import Stream
from itoscope.library.library import BoundLibrary, Library, readable_means
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments
from itoscope.posterior.words import grouped_warnings
from itoscope.result.findings import Diffusion, Drift, Findings

__all__ = ["Question", "discover"]

#: Chains of the rounds that only choose terms are this short; the full ones run on the moments of the last round.
ROUND_CHAINS = {"n_chains": 2, "n_samples": 400, "n_burn": 200}
KNOWN_RESIDUAL = 0.05


@dataclass(frozen=True)
class Question:
    """What `discover` was asked, checked: the data, the libraries and every setting, ready for a fit."""

    data: Trajectories
    recipe: Library
    diffusion_recipe: Library | None
    library: BoundLibrary
    diffusion_library: BoundLibrary
    known_drift: dict[str, str]
    diffusion: str
    rounds: RoundSettings
    prior: Prior
    chains: dict[str, Any]
    seed: int
    backend_name: str | None
    reporter: Reporter

    @property
    def backend(self) -> Backend:
        """The backend module of this question."""
        return get_backend(self.backend_name)

    @property
    def rows(self) -> tuple[int, ...]:
        """Numbers of the states whose drift is unknown."""
        return tuple(i for i, name in enumerate(self.library.states) if name not in self.known_drift)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Entries of the diffusion covariance that are asked for, the diagonal first."""
        if self.diffusion == "none":
            return ()
        diagonal = tuple((i, i) for i in self.rows)
        if self.diffusion == "diagonal":
            return diagonal
        return diagonal + tuple((i, j) for i in self.rows for j in self.rows if i < j)


def discover(
    trajectories: Trajectories | Any,
    library: Library | None = None,
    *,
    dt: float | None = None,
    order: int = 1,
    measurement_noise: float | str = 0.0,
    diffusion_library: Library | None = None,
    diffusion: str = "full",
    known_drift: Mapping[str, str] | None = None,
    scheme: str = "trapezoid",
    weights: str | None = "auto",
    ensemble: str = "pool",
    prior: Prior | None = None,
    sampler: str = "gibbs",
    n_chains: int = 4,
    n_samples: int = 2000,
    n_burn: int = 1000,
    threshold: float = 0.5,
    seed: int | None = None,
    backend: str | None = None,
    progress: Callable[..., Any] | bool | None = None,
    max_rounds: int = 8,
    weight_floor: float = 1e-2,
    states: Sequence[str] | None = None,
    observed: Mapping[str, str] | Sequence[str] | None = None,
) -> Discovery:
    r"""Discover the stochastic differential equation behind recorded trajectories.

    The model is :math:`dX = f(X)\,dt + g(X)\,dB` with drift :math:`f_i = \sum_k \theta_{ik} u_k` and diffusion
    covariance
    :math:`\Gamma_{ij} = (g g^T)_{ij} = \sum_k \theta_{ijk} u_k` over a library of candidate terms :math:`u_k`.

    Parameters
    ----------
    trajectories : Trajectories or array
        Recorded states; an array of shape `(n_times,)`, `(n_times, n_states)` or `(n_paths, n_times, n_states)`, or a
        list of arrays, with `dt`.
    library : Library, optional
        Candidate terms of the drift. Default: `Library.paper(6)` for one or two states, `Library.paper(3)` for more.
    dt : float, optional
        Step between samples, in the unit of time of the answer; only for arrays.
    order : {1, 2}
        1: the data are the states. 2: the data are positions, and the velocities `v1, ...` were not measured.
    measurement_noise : float or "estimate"
        Standard deviation of white noise on the samples, or `"estimate"`; 0 for exact samples.
    diffusion_library : Library, optional
        Candidate terms of the diffusion covariance. Default: those of the drift.
    diffusion : {"full", "diagonal", "constant", "none"}
        Which entries of `Gamma` are sought: all, the variances, all as constants, or none (an ordinary differential
        equation with a constant error).
    known_drift : mapping of str to str, optional
        `{"x1": "x2"}`: this row is given and carries no noise.
    scheme : {"trapezoid", "euler"}
        Regressors at both ends of a step with the start as instrument (bias of order `dt**2`), or at its start (the
        paper's, bias of order `dt`).
    weights : "auto" or None
        Weigh the steps by the inverse noise variance, found in rounds; None is ordinary least squares.
    ensemble : {"pool", "mean"}
        Every step of every path is a row, or the paths are averaged at each time first (the paper's).
    prior : Prior, optional
        Hyperparameters of the spike-and-slab hierarchy.
    sampler : {"gibbs", "exact"}
        Markov chains, or enumeration of all models of at most 20 terms.
    n_chains, n_samples, n_burn : int
        Chains, kept draws of each, and draws before them that are thrown away.
    threshold : float
        Terms with a larger inclusion probability are selected.
    seed : int, optional
        Seed of all chains; drawn and stored in `settings["seed"]` when not given.
    backend : {"rust", "reference"}, optional
        Compiled, or NumPy.
    progress : bool or callable, optional
        True shows a bar with rate and remaining time where the standard error is a terminal; a callable receives the
        units of work done so far (steps of sums, sweeps of chains), one growing number.
    max_rounds : int
        Weight rounds after which the search for stable terms ends with a warning.
    weight_floor : float
        A predicted noise variance is held above this share of its mean, so that no step has unlimited weight.
    states : sequence of str, optional
        Names of all states when some were not recorded; the columns of the data bear the names of those that were.
        Rows of unseen states must be tied to seen ones, for instance by `known_drift`.
    observed : sequence of str, or mapping of str to str, optional
        What each column of the data shows, a linear expression of the `states`: `["x1", "x2 - x1"]`, or by column
        `{"gauge": "x2 - x1"}`, where columns that are not named show the state of their name.

    Returns
    -------
    Discovery

    Raises
    ------
    ArgumentError
        An argument outside its range, named with its value and what is allowed.
    DataError
        Data that break a rule of `Trajectories`, or a candidate term that is not finite on them.

    Notes
    -----
    Tripura & Chakraborty, "Learning governing physics from output only measurements", section 2, with the trapezoid
    moments and the weights of the method page.

    Examples
    --------
    >>> import numpy as np, itoscope as ito
    >>> problem = ito.problems.ornstein_uhlenbeck()
    >>> data = problem.simulate(duration=20.0, dt=0.01, n_paths=20, substeps=10, seed=1)
    >>> result = ito.discover(data, ito.Library.polynomials(3), seed=1)
    >>> [t for t, z in zip(result.drift["x1"].terms, result.drift["x1"].selected) if z]
    ['x1']
    """
    from itoscope.checks.filtered import looked_at
    from itoscope.fit.filtered.answer import discover_noisy, observation_matrix, state_names

    data = as_trajectories(trajectories, dt=dt)
    settings: dict[str, Any] = {
        "order": order, "measurement_noise": measurement_noise, "diffusion": diffusion,
        "known_drift": dict(known_drift or {}), "scheme": scheme, "weights": weights, "ensemble": ensemble,
        "sampler": sampler, "n_chains": n_chains, "n_samples": n_samples, "n_burn": n_burn, "threshold": threshold,
        "max_rounds": max_rounds, "weight_floor": weight_floor,
    }  # fmt: skip
    _check_settings(settings)
    if isinstance(observed, Mapping):
        for name in observed:
            if name not in data.names:
                raise argument_error("observed", name, f"a column of the data: {', '.join(data.names)}")
        observed = [observed.get(name, name) for name in data.names]
    every = state_names(data.names, order, states, observed is not None)
    if observed is not None:
        settings["observed"] = observed if isinstance(observed, str) else list(observed)
        observation_matrix(data.names, every, settings["observed"], backend)
    if states is not None:
        settings["states"] = list(every)
    if order == 2:
        settings["known_drift"] = dict(zip(data.names, every[data.n_states :])) | settings["known_drift"]
    question = _question(
        data, every, library, diffusion_library, prior or Prior(), seed, backend, progress, settings
    )
    settings |= {
        "seed": question.seed, "backend": backend or "default", "prior": asdict(question.prior),
        "library": list(question.library.names), "diffusion_library": list(question.diffusion_library.names),
    }  # fmt: skip
    customs = [
        name for library in (question.library, question.diffusion_library) for name in library.custom_names
    ]
    if customs:
        settings["custom_terms"] = list(dict.fromkeys(customs))
    if order == 2 or measurement_noise != 0 or len(every) > data.n_states or observed is not None:
        return Discovery.of(looked_at(discover_noisy(question, settings, _sampler_of)))
    return Discovery.of(_discover_measured(question, settings))


def _check_settings(settings: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` for the first setting outside its range."""
    choices: dict[str, tuple[Any, ...]] = {
        "order": (1, 2),
        "diffusion": DIFFUSIONS,
        "scheme": ("trapezoid", "euler"),
        "weights": ("auto", None),
        "ensemble": ("pool", "mean"),
        "sampler": ("gibbs", "exact"),
    }
    for name, allowed in choices.items():
        if not any(settings[name] is choice or settings[name] == choice for choice in allowed):
            raise argument_error(name, settings[name], "one of " + ", ".join(map(repr, allowed)))
    noise = settings["measurement_noise"]
    if noise != "estimate" and not _is_number(noise, 0.0):
        raise argument_error("measurement_noise", noise, "'estimate', or a standard deviation of at least 0")
    for name, low in {"n_chains": 1, "n_burn": 0, "max_rounds": 1}.items():
        value = settings[name]
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
            raise argument_error(name, value, f"a whole number of at least {low}")
    if not (_is_number(settings["threshold"], 0.0) and 0 < settings["threshold"] < 1):
        raise argument_error("threshold", settings["threshold"], "a probability between 0 and 1")
    if not (_is_number(settings["weight_floor"], 0.0) and 0 < settings["weight_floor"] < 1):
        raise argument_error("weight_floor", settings["weight_floor"], "a share between 0 and 1")


def _is_number(value: Any, low: float) -> bool:
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and bool(np.isfinite(value) and value >= low)


def _question(
    data: Trajectories,
    states: Sequence[str],
    library: Library | None,
    diffusion_library: Library | None,
    prior: Prior,
    seed: int | None,
    backend: str | None,
    progress: Callable[..., Any] | bool | None,
    settings: Mapping[str, Any],
) -> Question:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise argument_error("seed", seed, "a whole number of at least 0, or None")
    get_backend(backend)
    recorded = dict(zip(data.names, readable_means(data.paths)))
    means = [recorded.get(name, 0.0) for name in states]
    chosen = library if library is not None else Library.paper(6 if len(states) <= 2 else 3)
    for name, value in (("library", chosen), ("diffusion_library", diffusion_library)):
        if value is not None and not isinstance(value, Library):
            raise argument_error(name, value, "a Library, such as Library.polynomials(3)")
    constant = Library.polynomials(0)
    for_diffusion = constant if settings["diffusion"] == "constant" else (diffusion_library or chosen)
    chains = {key: settings[key] for key in ("sampler", "n_chains", "n_samples", "n_burn", "threshold")}
    return Question(
        data=data,
        recipe=chosen,
        diffusion_recipe=diffusion_library,
        library=chosen.bind(states, means),
        diffusion_library=for_diffusion.bind(states, means),
        known_drift=_known_rows(settings["known_drift"], states, backend),
        diffusion=settings["diffusion"],
        rounds=RoundSettings(
            scheme=settings["scheme"],
            weighted=settings["weights"] == "auto" and settings["diffusion"] != "none",
            ensemble=settings["ensemble"],
            floor=settings["weight_floor"],
            max_rounds=settings["max_rounds"],
        ),
        prior=prior,
        chains=chains,
        seed=int(seed) if seed is not None else secrets.randbits(63),
        backend_name=backend,
        reporter=Reporter(progress),
    )


def _known_rows(known: Mapping[str, str], states: Sequence[str], backend: str | None) -> dict[str, str]:
    """The given rows, each a state and an expression that compiles."""
    for state, expression in known.items():
        if state not in states:
            raise argument_error("known_drift", state, f"a state: {', '.join(states)}")
        if not isinstance(expression, str):
            raise argument_error(f"known_drift[{state!r}]", expression, "an expression, such as 'x2'")
        get_backend(backend).compile([expression], list(states))
    if len(known) == len(states):
        raise ArgumentError(f"known_drift gives all of {', '.join(states)}: leave a row to discover")
    return {state: known[state] for state in states if state in known}


def _sampler_of(question: Question) -> Callable[[Moments, bool, Stream], Equation]:
    def sample(found: Moments, final: bool, stream: Stream) -> Equation:
        settings = dict(question.chains)
        if not final and settings["sampler"] == "gibbs":
            settings |= ROUND_CHAINS
        exact = settings["sampler"] == "exact"
        draws = settings["n_samples"] if isinstance(settings["n_samples"], (int, np.integer)) else 0
        total = None if exact or not draws else settings["n_chains"] * (draws + settings["n_burn"])
        label = "posterior" if final else "choosing terms"
        unit = "models" if exact else "sweeps"
        with question.reporter.stage(f"{label}, {stream.name}", total, unit) as count:
            return found.sample(
                question.prior,
                **settings,
                seed=stream.seed(question.seed),
                backend=question.backend_name,
                progress=count,
            )

    return sample


def _discover_measured(question: Question, settings: dict[str, Any]) -> Findings:
    """A fully measured state: the weight rounds, then the checks."""
    backend, data = question.backend, question.data
    problem = Problem(
        paths=[question.library.augment(x) for x in data.paths],
        times=data.steps(),
        drift_library=question.library,
        diffusion_library=question.diffusion_library,
        drift_program=backend.compile(question.library.expressions, question.library.inputs),
        diffusion_program=backend.compile(question.diffusion_library.expressions, question.library.inputs),
        rows=question.rows,
        pairs=question.pairs,
        backend=backend,
        reporter=question.reporter,
    )
    fit = fit_measured(problem, question.rounds, _sampler_of(question))
    names = data.names
    found, checks = _look_at(question, problem, fit)
    checks = [*_known_checks(question, problem), *checks]
    warnings = [check["sentence"] for check in checks if check["fired"]]
    warnings += grouped_warnings(_labelled(fit, names))
    return Findings(
        states=tuple(names),
        drift=Drift({names[row]: equation for row, equation in fit.drift.items()}),
        diffusion=Diffusion({(names[i], names[j]): eq for (i, j), eq in fit.diffusion.items()}),
        known_drift=question.known_drift,
        settings=settings,
        diagnostics={
            "rounds": [_named_round(entry, names) for entry in fit.record],
            "converged": fit.converged,
            "checks": checks,
            "residuals": found,
        },
        warnings=warnings,
        data_summary={"n_paths": data.n_paths, "n_steps": int(data.n_steps), "dt": data.dt},
        data=data,
        library=question.recipe,
        diffusion_library=question.diffusion_recipe,
    )


def _labelled(fit: MeasuredFit, names: Sequence[str]) -> list[tuple[str, Equation]]:
    drift = [(f"d{names[row]}", equation) for row, equation in fit.drift.items()]
    return drift + [(f"Gamma[{names[i]}, {names[j]}]", eq) for (i, j), eq in fit.diffusion.items()]


def _named_round(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    drift = {names[row]: terms for row, terms in entry["drift"].items()}
    diffusion = {f"{names[i]},{names[j]}": terms for (i, j), terms in entry["diffusion"].items()}
    return {**entry, "drift": drift, "diffusion": diffusion}


def _look_at(
    question: Question, problem: Problem, fit: MeasuredFit
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Residual statistics of every unknown row, and all checks of the fit."""
    names = question.data.names
    found: dict[str, Any] = {}
    checks: list[diagnostics.Check] = []
    if not fit.converged:
        checks.append(diagnostics.unstable_rounds(question.rounds.max_rounds, fit.record))
    for q, row in enumerate(problem.rows):
        state, equation = names[row], fit.drift[row]
        sums = fit.moments[str(row)].sums
        if question.rounds.scheme == "trapezoid" and sums is not None:
            checks += diagnostics.check_step(state, equation, sums)
        if (row, row) not in fit.diffusion:
            continue
        gamma = coefficients(fit.diffusion[row, row])[None]
        if not gamma.any():
            checks.append(diagnostics.no_noise(state))
            continue
        variance = Variance(problem.diffusion_program, gamma, fit.floors[q : q + 1])
        drift = Fitted(problem.drift_program, coefficients(equation)[None])
        residuals = problem.backend.residual_sums(problem.paths, problem.times, row, drift, variance)
        found[state] = diagnostics.residual_statistics(residuals)
        checks += diagnostics.residual_checks(state, found[state])
    if problem.pairs:
        place = {row: q for q, row in enumerate(problem.rows)}
        pairs = [(place[i], place[j]) for i, j in problem.pairs]
        coef = np.array([coefficients(fit.diffusion[pair]) for pair in problem.pairs])
        seen = problem.backend.survey(
            problem.paths, Fitted(problem.diffusion_program, coef), pairs, fit.floors
        )
        checks += diagnostics.check_survey([names[row] for row in problem.rows], seen, fit.floors)
    return found, [check.as_dict() for check in checks]


def _known_checks(question: Question, problem: Problem) -> list[dict[str, Any]]:
    """Whether each given row explains the increments of its state."""
    states = list(question.data.names)
    checks = []
    for state, expression in question.known_drift.items():
        program = problem.backend.compile([expression], problem.drift_library.inputs)
        row = states.index(state)
        left, all_of_it = 0.0, 0.0
        for x, steps in zip(problem.paths, problem.times):
            dt = np.diff(steps) if np.ndim(steps) else steps
            f = program.evaluate(x)[:, 0]
            moved = np.diff(x[:, row])
            left += float(np.nansum((moved - dt * (f[:-1] + f[1:]) / 2) ** 2))
            all_of_it += float(np.nansum(moved**2))
        checks.append(diagnostics.known_row(state, expression, left, all_of_it, KNOWN_RESIDUAL).as_dict())
    return checks
