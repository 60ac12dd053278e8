"""What a fit says of itself, as the dictionaries that `Discovery.diagnostics` and saved files hold, key by key."""

from __future__ import annotations

from typing import Any, TypedDict

__all__ = [
    "Advised",
    "Check",
    "Correlation",
    "Diagnostics",
    "FilterRound",
    "Law",
    "NoiseLevel",
    "Residuals",
    "StepLaw",
    "Summary",
    "Tried",
    "WeightRound",
]


class Check(TypedDict):
    """One look at a fit."""

    name: str
    about: str
    """The equation or the states."""
    value: float
    threshold: float
    fired: bool
    sentence: str
    """What to make of it, said in `warnings` where it fired."""
    reason: str
    """Why the threshold is where it is."""


class Advised(TypedDict):
    """A cause and the next step, as `data.advice.Advice` has them."""

    cause: str
    about: str
    sentence: str
    evidence: dict[str, float]
    arguments: dict[str, Any]
    recording: dict[str, Any]


class Residuals(TypedDict):
    """Statistics of the standardised residuals of a row, or of the standardised innovations of a channel."""

    n: int
    mean: float
    variance: float
    kurtosis: float
    pawula: float
    autocorrelation: list[float]
    ljung_box: float
    p_value: float
    largest: float
    path: int
    step: int


class NoiseLevel(TypedDict):
    """Standard deviation of the measurement noise of a channel, and its 95 % interval."""

    sd: float
    low: float
    high: float


class Correlation(TypedDict):
    """Correlation of the noises of two channels at a sample, and its 95 % interval, of no width where it was given."""

    between: list[str]
    correlation: float
    low: float
    high: float


class Law(TypedDict):
    """The law of the noise of a channel: what shapes it, and the log evidence for all such laws over normal noise.

    `shape` has value, low and high end of the 95 % interval of the `degrees` of freedom of Student's law, or of the
    `share` of wide readings and their `width`, a standard deviation over that of the others.
    """

    law: str
    shape: dict[str, list[float]]
    log_bayes_factor: float


class StepLaw(TypedDict):
    """The law of the noise of a row's steps: what shapes it, and the log evidence for it over normal noise.

    `shape` as of `Law`, of the `share` of steps that are jumps and their `width`; `rows` are those that have the size
    of a step in common; `variance` is that of the noise over Gamma, infinite of Student's law of two degrees of freedom
    or fewer; `step` is the length of the steps that it is of.
    """

    law: str
    rows: list[str]
    shape: dict[str, list[float]]
    variance: float
    step: float
    log_bayes_factor: float


class WeightRound(TypedDict, total=False):
    """What a weight round of measured states selected; the last two compare it with the one before."""

    round: int
    weighted: bool
    drift: dict[str, list[str]]
    """By state."""
    diffusion: dict[str, list[str]]
    """By pair of states, `"x1,x2"`."""
    same_terms: bool
    shift: float
    """Largest move of a coefficient in standard deviations."""


class FilterRound(TypedDict):
    """What a round of the filter did, and the model at its end."""

    stage: str
    chosen: list[str]
    step: float
    loglik: float
    drift: dict[str, float]
    """Coefficients by `"x1: term"`."""
    diffusion: dict[str, float]
    """Coefficients by `"x1,x2: term"`."""
    noise: list[float]
    """Standard deviations by channel."""


class Tried(TypedDict):
    """A model of a noisy recording: its terms, its probability, and what speaks for it."""

    drift: list[str]
    diffusion: list[str]
    mass: float
    climbed: bool
    """Whether its likelihood was maximised; the evidence of others is that of a regression."""
    loglik: float | None
    log_evidence: float


class Zero(TypedDict):
    """The offset of a channel: "estimate", "drift" or "slow", mean over its paths with the standard deviation at a
    sample, how far it goes, and of one that drifts the standard deviation of its change in a unit of time to the power
    1/2, of a slow one of the change of its rate."""

    kind: str
    mean: float
    sd: float
    lowest: float
    highest: float
    rate: float | None
    rate_interval: list[float] | None


class Force(TypedDict):
    """A force with a memory, see `Discovery.forces`."""

    kind: str
    state: str
    correlation_time: float
    low: float
    high: float
    sd: float
    frequency: float | None
    log_bayes_factor: float


class Varied(TypedDict):
    """A coefficient that differs by recording, see `Discovery.varying`."""

    input: str
    """The input of the model that holds what a recording has beside the mean."""
    drawn: list[float]
    """Its values by recording that checks take: a draw, which leaves what is as independent as the noise."""
    values: list[float]
    errors: list[float]
    spread: float
    low: float
    high: float
    gain: float


class Kernel(TypedDict):
    """Friction with a memory on a row, ``K(t) = sum_k c_k exp(-t / tau_k)``."""

    amplitudes: list[float]
    times: list[float]
    """The shortest first."""
    temperature: float
    """The variance of the row's state in rest."""
    parameters: list[str]
    """Names of these numbers among the parameters of the result, which have errors."""
    log_bayes_factor: float
    """Against white friction."""


class Orbit(TypedDict):
    """A coefficient that rows have in common."""

    of: str
    """Of the "drift" or the "diffusion"."""
    terms: str
    """What it multiplies, in all rows."""
    selected: bool
    pip: float
    mean: float
    sd: float
    low: float
    high: float


class Common(TypedDict):
    """What rows have in common, and the log evidence for that over rows of their own."""

    log_evidence: float
    orbits: list[Orbit]


class Diagnostics(TypedDict, total=False):
    """Everything that a fit says of itself; what a filter alone says is missing for measured states.

    `forces` are those with a memory, by row, and `memory` frictions with one; `symmetry` is what rows have in common,
    `varying` what differs by recording, by row and term; `noise_law` the laws of the noise of channels where it is not
    normal, `noise_correlation` the correlations of the noises of channels in one group, `offsets` the zeros of channels
    that are not known, `angles` period and lowest value of states that are angles, `outliers` the readings of
    `Discovery.outliers`; `diffusion_law` the laws of the steps of rows where they are not normal, and `jumps`
    the steps of `Discovery.jumps`.

    `rounds` lists what happened until the terms settled (`converged`); `residuals` are by state or channel, and
    `measurement_noise` by channel; `models` lists the models that were compared; `observed_information` says whether
    the errors are those of the observed information; `origin_gain` is the log Bayes factor of terms about the mean
    against terms about zero, of states far from zero; `kinks` by row are those that no smooth term takes the place of,
    with their probabilities; `advice` is missing where there is none.
    """

    rounds: list[WeightRound] | list[FilterRound]
    converged: bool
    checks: list[Check]
    advice: list[Advised]
    residuals: dict[str, Residuals]
    measurement_noise: dict[str, NoiseLevel]
    loglik: float
    models: list[Tried]
    observed_information: bool
    forces: dict[str, Force]
    memory: dict[str, Kernel]
    varying: dict[str, dict[str, Varied]]
    symmetry: Common
    noise_law: dict[str, Law]
    noise_correlation: list[Correlation]
    offsets: dict[str, Zero]
    outliers: list[dict[str, Any]]
    diffusion_law: dict[str, StepLaw]
    jumps: list[dict[str, Any]]
    angles: dict[str, dict[str, float]]
    origin_gain: float
    kinks: dict[str, dict[str, float]]


class Summary(TypedDict, total=False):
    """The size of a recording; `dt` is None where steps are uneven; units as far as they are known.

    Of a recording that was read in blocks, `looked_at` are the steps that checks and origins are of.
    """

    n_paths: int
    n_steps: int
    dt: float | None
    units: dict[str, str]
    time_unit: str
    looked_at: int
