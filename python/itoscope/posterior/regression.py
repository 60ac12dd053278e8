"""`moments`: from trajectories and a library to the moments of one regression, for anybody who wants them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Sums, Target
from itoscope.common import checks
from itoscope.common.progress import Reporter
from itoscope.data import driving
from itoscope.data.streams import as_stream
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.errors import ArgumentError, argument_error
from itoscope.library.bound import readable_means
from itoscope.library.library import Library
from itoscope.posterior.moments import Moments
from itoscope.posterior.streamed import BlockSums, streamed_sums
from itoscope.stats.correlation import recorded_correlation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from itoscope.common.types import Array, Ensemble, Scheme
    from itoscope.posterior.equation import Equation

__all__ = ["moments"]


def moments(
    trajectories: Trajectories | Any,
    library: Library,
    *,
    row: str | None = None,
    pair: tuple[str, str] | None = None,
    scheme: Scheme = "trapezoid",
    weights: ArrayLike | Sequence[ArrayLike] | None = None,
    ensemble: Ensemble = "pool",
    drift: Mapping[str, Equation] | None = None,
    dt: float | None = None,
    backend: str | None = None,
    progress: bool | Callable[[int], Any] | None = None,
) -> Moments:
    r"""Moments of one regression: `yy - 2 b.theta + theta.G.theta` is its residual sum of squares.

    Moments of several recordings add: `moments(a, ...) + moments(b, ...)` is what the joint data give, so a recording
    of
    any length, from any number of files or machines, takes :math:`K^2` numbers.

    Parameters
    ----------
    trajectories : Trajectories, array or Stream
    library : Library
        The K candidate terms; an origin of `"mean"` is taken from these data.
    row : str
        Regress the increments of this state over the step: its drift.
    pair : (str, str)
        Or the products of the residual increments of two states over the step: an entry of the diffusion covariance.
    scheme : {"trapezoid", "euler"}
    weights : array or list of arrays of shape (n_steps,), optional
        One positive weight per step, a function of the start of the step alone.
    ensemble : {"pool", "mean"}
    drift : mapping of str to Equation, optional
        With `pair`: fitted drift rows to take out of the increments; by default the least-squares fit over the library.
    dt : float, optional
        Step between samples, only for arrays.
    backend : {"rust", "reference"}, optional
    progress : bool or callable, optional
        True shows a bar on a terminal; a callable receives the number of steps done.

    Returns
    -------
    Moments

    Raises
    ------
    ArgumentError
        For anything else than one of `row` and `pair`, an unknown state, or weights of another shape or sign.
    DataError
        For a term that is not finite on the data.

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=20, substeps=10, seed=1)
    >>> equation = ito.moments(data, ito.Library.polynomials(2), row="x1").sample(seed=1)
    >>> equation.terms
    ['1', 'x1', 'x1^2']
    """
    source = as_stream(trajectories, dt)
    data = as_trajectories(trajectories, dt=dt) if source is None else source.part()
    if source is not None and (weights is not None or ensemble != "pool"):
        raise ArgumentError(
            "weights and ensemble='mean' are of recordings in memory: a stream is summed in blocks"
        )
    stages = get_backend(backend)
    reporter = Reporter(progress)
    states = _states_of(data, row, pair)
    checks.choice("scheme", scheme, ("trapezoid", "euler"))
    checks.choice("ensemble", ensemble, ("pool", "mean"))
    bound = checks.instance("library", library, Library, "a Library").bind(
        data.names, readable_means(data.paths)
    )
    program = stages.compile(bound.expressions, bound.inputs)
    paths = [bound.augment(x) for x in driving.rows(data, bound.driven)]
    steps = data.steps()

    def regress(target: Target, w: Sequence[Array] | None) -> Sums:
        if source is not None:
            work = BlockSums(backend, bound, program, target, scheme, None, source.dt)
            with reporter.stage("sums", source.n_steps) as count:
                return streamed_sums(source, work, len(bound.names), count)
        with reporter.stage("sums", data.n_steps) as count:
            return stages.regression_sums(
                paths, steps, program, target, scheme=scheme, weights=w, ensemble=ensemble, progress=count
            )

    checked = None if weights is None else _weights_of(data, weights)
    if row is not None:
        sums = regress(Target((states[0], states[0])), checked)
        tau, step = recorded_correlation(data.paths, steps, states[0])
        scale = step / tau * (data.n_paths if ensemble == "mean" else 1)
        return Moments.from_sums(sums, bound.names, stages, slab_scale=scale)
    rows = [_row_of(data.names[i], drift, bound.names) for i in states]
    for q, i in enumerate(states):
        if rows[q] is None:
            rows[q] = stages.project(regress(Target((i, i)), None)).solve().theta
    fitted = Fitted(program, np.array(rows))
    target = Target((states[0], states[1]), is_diffusion=True, drift=fitted)
    return Moments.from_sums(regress(target, checked), bound.names, stages)


def _states_of(data: Trajectories, row: str | None, pair: tuple[str, str] | None) -> tuple[int, ...]:
    if (row is None) == (pair is None):
        raise ArgumentError(
            "moments needs one of row and pair: row='x1' for a drift, pair=('x1', 'x1') for a diffusion"
        )
    if pair is not None and (not checks.is_list(pair) or len(tuple(pair)) != 2):
        raise argument_error("pair", pair, "two state names")
    wanted = (row,) if pair is None else tuple(pair)
    for name in wanted:
        if not isinstance(name, str) or name not in data.names:
            raise argument_error(
                "row" if row is not None else "pair", name, f"a state: {', '.join(data.names)}"
            )
    return tuple(list(data.names).index(str(name)) for name in wanted)


def _weights_of(data: Trajectories, weights: ArrayLike | Sequence[ArrayLike]) -> list[Array]:
    one = (isinstance(weights, np.ndarray) and weights.ndim == 1) or not checks.is_list(weights)
    given = [weights] if one else list(weights)  # type: ignore[arg-type]
    checked = [np.ascontiguousarray(checks.reals("weights", w)) for w in given]
    shapes = [(len(x) - 1,) for x in data.paths]
    if [w.shape for w in checked] != shapes:
        raise argument_error(
            "weights", [w.shape for w in checked[:3]], "one array of n_steps weights per path"
        )
    if not all(np.isfinite(w).all() and (w >= 0).all() for w in checked):
        raise ArgumentError("weights: finite numbers of at least 0")
    return checked


def _row_of(state: str, drift: Mapping[str, Equation] | None, terms: Sequence[str]) -> Array | None:
    if drift is None or state not in drift:
        return None
    equation = drift[state]
    if list(equation.terms) != list(terms):
        raise argument_error(f"drift[{state!r}]", equation.terms, "an Equation over the same library")
    return np.where(equation.selected, equation.mean, 0.0)
