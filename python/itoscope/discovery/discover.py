"""`discover`: from recorded trajectories to a `Discovery`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from itoscope.data.streams import as_stream
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.discovery.result import Discovery

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import (
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
        Symmetry,
        Weights,
    )
    from itoscope.fit.sensors.listed import Sensor
    from itoscope.library.library import Library

__all__ = ["discover"]


def discover(
    trajectories: Trajectories | Any,
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
    t: Any = None,
) -> Discovery:
    r"""Discover the stochastic differential equation behind recorded trajectories.

    The model is :math:`dX = f(X)\,dt + g(X)\,dB` with drift :math:`f_i = \sum_k \theta_{ik} u_k` and diffusion
    covariance :math:`\Gamma_{ij} = (g g^T)_{ij} = \sum_k \theta_{ijk} u_k` over a library of candidate
    terms :math:`u_k`.

    Parameters
    ----------
    trajectories : Trajectories, or what they can be made of
        Recorded states; an array of shape `(n_times,)`, `(n_times, n_states)` or `(n_paths, n_times, n_states)`, or a
        list of arrays, with `dt` or `t`; a data frame and whatever else `Trajectories` takes. A `Stream`, and an array
        that is not in memory (`numpy.memmap`, h5py, Zarr), are read in blocks; what is no sum, checks among them, is
        looked at on stretches, which are the `data` of the result.
    library : Library, optional
        Candidate terms of the drift. Default: `Library.polynomials(3)` of up to five states and inputs,
        `Library.polynomials(2)` of up to ten, `Library.polynomials(1)` of more, about zero or, where the data are far
        from it, about their mean, whichever has the larger evidence. Kinks, as of dry friction, are there on request:
        `Library.polynomials(3) + Library.sign()`, or `Library.paper()` with all of them.
    dt : float, optional
        Step between samples, in the unit of time of the answer, of data that have no times.
    order : {1, 2}
        1: the data are the states. 2: the data are positions, and the velocities `v1, ...` were not measured.
    measurement_noise : float, "estimate", None, or a mapping of str to these or to an array
        Standard deviation of white noise on the samples, or `"estimate"`; 0 for exact samples. By column,
        `{"laser": 0.002, "camera": "estimate", "gps": errors}`, where `errors` has a standard deviation for each
        sample, a list of such arrays of several paths, or is the name of a column of the data that has them and is no
        state then; columns that are not named are estimated. By classes of error
        `{"gps": {"class": "quality", "A": 20, "B": 300}}`, where a column of the data, which is no state then, or an
        array like the column, has the class of each sample. Default:
        `"estimate"` where `order=2`, `states` or `observed` ask for the filter, 0 otherwise.
    noise_law : {"normal", "student", "outliers"}, or a mapping of str to these
        `{"gps": "outliers"}`: a share of the readings of a column have errors many times as large as the others;
        both are found. `"student"`: noise of Student's law, whose degrees of freedom are found. Either weighs outliers
        down; `outliers` lists them, `diagnostics["noise_law"]` has what was found.
    noise_groups : sequence of sequences of str, or a mapping of these to a correlation, a matrix or "estimate"
        `[("a", "b")]`: the noises of these columns are correlated with each other at one sample, as of two sensors on
        one amplifier, or of both coordinates of a position. The correlations within each group are found beside the
        levels, or given, `{("a", "b"): 0.5}`, for all pairs of a group or as a matrix;
        `diagnostics["noise_correlation"]` has them.
    resolution : mapping of str to float, optional
        `{"x": 0.01}`: the values of a column are rounded to multiples of this step, whose variance, a twelfth of its
        square, is added to the noise of the column. Where the motion hardly leaves a step, this is said.
    offset : mapping of str to {"estimate", "drift", "slow"}, optional
        `{"acc": "estimate", "gauge": "drift"}`: the zero of a column is not known, a constant on each path, or a random
        walk whose strength is found; "slow" is a smooth course, the integral of a random walk.
        `diagnostics["offsets"]` and `smoothed()` have what was found.
    diffusion_library : Library, optional
        Candidate terms of the diffusion covariance. Default: those of the drift.
    diffusion : {"full", "diagonal", "constant", "none"}, or a mapping of states to these
        Which entries of `Gamma` are sought: all, the variances, all as constants, or none (an ordinary differential
        equation with a constant error). By row, `{"x1": "none"}`: this row of the drift is sought and carries no noise,
        the others are `"full"`; a covariance is sought where both rows have one, and constant where one of them is.
    diffusion_law : {"normal", "student", "jumps"}, or a mapping of rows to these
        `"student"`: the noise of a step is of Student's law, whose degrees of freedom are found; `"jumps"`: a share of
        the steps is many times as wide as the others, and share and width are found. Rows whose covariance is sought
        have the size of a step in common. `Gamma` is then that of the scale, of `"jumps"` of the steps without one;
        `jumps` lists them, `diagnostics["diffusion_law"]` has what was found. Behind the filter of constant
        noise, one law for all rows that have any.
    known_drift : mapping of str to str, optional
        `{"x1": "x2"}`: this row is given and carries no noise. `{"v1": "-9.81 + ..."}`: a part of this row is known,
        and `...` stands for unknown terms of the library beside it.
    known_diffusion : mapping of str, or of pairs, to str, optional
        `{"u": "0.04"}`, `{("v1", "u"): "0.1"}`: entries of `Gamma` of rows that are given whole, for instance of a
        hidden state that drives others.
    scheme : {"auto", "trapezoid", "euler", "filter"}
        Of measured states. Regressors at both ends of a step with the start as instrument (bias of order `dt**2`), or
        at its start (the paper's, bias of order `dt`), or the filter, which follows the states between samples and is
        exact at any step where the drift is linear. Default: the trapezoid, and the filter where the step leads a
        coefficient of the trapezoid off by two thirds of its standard error; `settings["scheme"]` says which.
    weights : "auto" or None
        Weigh the steps by the inverse noise variance, found in rounds; None is ordinary least squares.
    ensemble : {"pool", "mean"}
        Every step of every path is a row, or the paths are averaged at each time first (the paper's).
    prior : Prior, optional
        Hyperparameters of the spike-and-slab hierarchy.
    sampler : {"auto", "gibbs", "exact"}
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
        `{"gauge": "x2 - x1"}`, where columns that are not named show the state of their name. Several columns may show
        one state, NaN where a sensor is silent. `Average("x1")`, or `"average(x1)"`, is the average over the step to
        the sample before, as of a camera at full exposure, `Average("x1", exposure=0.033)` over a part of it;
        `Acceleration("x1")` is what an accelerometer shows, and `Angle("x1", period=360)` an angle that wraps. Without
        `states` those of the expressions are all there are, of order 2 with their velocities.
    inputs : sequence of str, or mapping of str, optional
        What drives the motion from outside and has no equation of its own: columns of the data by name, or by name
        `"linear"` or `"held"` (how a column goes between samples), a function of time, samples with their times
        `(t, values)`, or an `Input`. Terms and given rows may contain them, and the time `t` since the start of a
        recording.
    forcing : {"white", "coloured", "peaked", "memory"}, or a mapping of rows to these
        What drives the rows that are sought. `"coloured"`: a force with a correlation time, a hidden state `force_v1`
        that white noise drives; `"peaked"`: one that prefers a frequency, of two hidden states. Times, sizes and the
        evidence against white forcing are printed and in `diagnostics["forces"]`. `"memory"`, by row `("memory", 2)`:
        friction whose kernel is an exponential, or a sum of two, with the noise that belongs to it; its numbers are in
        `parameters`, the evidence in `diagnostics["memory"]`. The filter is used.
    exclude : mapping of str to sequence of str, optional
        `{"v1": ["1", "x1^2"]}`: terms of the library that the drift of a row may not have, named as they are shown or
        by an expression of the same meaning. They count in no probability.
    include : mapping of str to sequence of str, optional
        `{"v1": ["v1"]}`: terms of the library that the drift of a row has in every model. Their coefficients have flat
        priors, and they say nothing of how many other terms there are.
    bounds : mapping of str to mapping of str to (low, high), optional
        `{"v1": {"x1": (None, 0)}}`: between which the coefficient of a term of the drift lies where the term is in,
        None for no bound. A term of which the data want a coefficient beyond its bounds is out, or at the bound where
        it is one of `include`.
    vary : mapping of str to sequence of str, optional
        `{"x1": ["1"]}`: terms of the drift whose coefficients differ by recording, normal about a common mean. The mean
        is a term like others; `Discovery.varying` has the value of each recording, their spread and its interval.
        `"trend"` among them is a slope of the row in the time since the start of a recording, as of a drifting zero:
        the term `t`, which the library need not have.
    parameters : mapping of str to float or (low, start, high), optional
        `{"a": 1.0, "tau": (0.01, 0.1, 10.0)}`: names that `known_drift` and `known_diffusion` use for numbers that are
        not known, each with a start, or with bounds too (None for none). They are found with the equation, by maximum
        likelihood from several starts, and are in `parameters` of the result. The filter is used.
    symmetry : {"rotation", "exchange", "odd"}, optional
        `"rotation"`: of two states a motion that looks alike from all sides; `"exchange"`: states that may change
        places, positions and velocities together; `"odd"`: a drift that changes its sign with the states. Rows have
        their coefficients in common, and the evidence for that is printed.
    ties : list of mappings of str to str, optional
        `[{"v1": "x2 - 2*x1", "v2": "x1 - x2"}]`: sums of terms that have one coefficient in several rows, in the place
        of coefficients of their own for these terms.
    t : array_like, optional
        Time stamps in place of `dt`, as `Trajectories` takes them.

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
    arguments = locals()
    from itoscope.fit.options import Options
    from itoscope.fit.question import Question
    from itoscope.fit.sensors.classes import numbered
    from itoscope.fit.solve import solve

    data, noise = numbered(trajectories, measurement_noise)
    asked = Options.of(arguments | {"measurement_noise": noise})
    stream = as_stream(trajectories, dt)
    if stream is not None:
        return Discovery.of(solve(Question.of(stream.part(), asked, stream)))
    return Discovery.of(solve(Question.of(as_trajectories(data, dt=dt, t=t), asked)))
