"""Which study belongs to which constant; a constant of the filter's fit without an entry gets `fits()`."""

from __future__ import annotations

from dataclasses import replace

from constant_alarms import (
    apart,
    clean,
    clean_paths,
    coarse,
    coloured,
    curved,
    curved_of_eight,
    forced,
    given,
    held,
    jumping,
    long_steps,
    nearly,
    right_of_eight,
    running_away,
    sampled,
    seen_apart,
    seen_wells,
    sensed,
    steep,
    straight,
    tiny,
    turning,
    vanishing,
    varying,
)  # fmt: skip
from constant_cases import Case, cubic, filtered, lengthy, linear, measured, quadratic
from constant_still import by_euler, rounded_still, short_of_terms, slight, smooth, still
from constant_studies import ANY, Study, alarms, answers, doubts, replayed, weak, widest
from constant_sums import (
    averaging,
    close,
    collinear,
    dependent,
    disagreement,
    ensembles,
    indefinite,
    linear_maps,
    monte_carlo,
    quadrature,
    rounded,
    settling,
    stretches,
    substeps,
)  # fmt: skip

__all__ = ["CORE", "NO_STUDY", "STUDIES", "TWINS", "fits"]


BEYOND = "stationary law or outward drift"
SIMULATED = "spread or extremes or spectrum"
STRENGTH = "strength of halves or strength of paths or strength before"


def fits(*factors: float) -> Study:
    """A constant of the filter's fit, times these factors."""
    return Study(answers(filtered), factors or (1 / 3, 1, 3))


def all_cases() -> list[Case]:
    """Measured and noisy."""
    return measured() + filtered()


def by_chains() -> list[Case]:
    """Measured states, short, by chains."""
    cases = [make(seed, 3000) for seed in (1, 2, 3) for make in (linear, quadratic, cubic)]
    return [replace(case, asked={**case.asked, "sampler": "gibbs"}) for case in cases]


def by_reference() -> list[Case]:
    """Measured states, short, by the reference."""
    return [
        replace(make(seed, 4000), asked={**make(seed, 10).asked, "backend": "reference", "sampler": "exact"})
        for seed in (1, 2)
        for make in (quadratic, cubic)
    ]


STUDIES: dict[str, Study] = {
    "checks.check.RATE": Study(alarms(ANY, lambda: clean(500, 200), coloured), (1e-2, 1, 10)),
    "checks.check.LOOKS": Study(alarms(ANY, lambda: clean(500, 200), coloured), (0.1, 1, 10)),
    "checks.check.AUTOCORRELATION": Study(
        alarms("whiteness", lambda: nearly(strength=0.35), coloured), (0.1, 1, 3, 10)
    ),
    "checks.check.KURTOSIS": Study(
        alarms("jumps", lambda: nearly("0.5 + 0.3 x1"), jumping), values=(3.1, 3.5, 4.0, 6.0)
    ),
    "checks.check.KURTOSIS_ERRORS": Study(alarms("jumps", tiny, jumping), (0.1, 0.4, 1, 4)),
    "checks.check.VARIANCE": Study(alarms("innovation variance", filtered, forced), (0.03, 0.3, 1, 3)),
    "checks.measured.QUIET": Study(
        alarms("row noise", lambda: turning(0.01), lambda: turning(0.0)), values=(0.5, 1.2, 2.0, 5.0, 50.0)
    ),
    "checks.still.LEFT": Study(alarms("row residual", still, short_of_terms), (1e-3, 0.1, 1, 100)),
    "checks.still.LEAST": Study(alarms("drift shape", rounded_still, short_of_terms), (1e-4, 1, 1e4)),
    "checks.still.BIAS": Study(alarms("step bias", still, by_euler), values=(0.5, 1.5, 5.0, 50.0)),
    "fit.measured.stepping.SLIGHT": Study(slight, values=(0.0, 5.0, 15.0, 50.0, 200.0)),
    "fit.measured.stepping.SMOOTH": Study(smooth, values=(0.5, 2.0, 10.0)),
    "checks.measured.STEP_CHANGE": Study(
        alarms("time step", lambda: coarse(0.05), lambda: coarse(0.8)), (0.1, 1, 1.5, 4)
    ),
    "checks.measured.STEP_ERRORS": Study(alarms("time step", tiny, lambda: coarse(0.8)), (0.1, 1, 2, 5)),
    "checks.measured.BIASED": Study(
        alarms("step size", lambda: coarse(0.05), lambda: coarse(0.8)), (0.1, 1, 2, 10, 100)
    ),
    "checks.measured.BELOW_FLOOR": Study(
        alarms("variance floor", lambda: vanishing(2), lambda: vanishing(12)), values=(0.03, 0.1, 0.2, 0.5)
    ),
    "checks.measured.GIVEN_RESIDUAL": Study(
        alarms("given row", lambda: given(1.0), lambda: given(1.3)), (0.001, 0.1, 1, 4)
    ),
    "checks.scores.RATIO": Study(alarms("slow scales", long_steps, coloured), (0.1, 1, 4, 40)),
    "checks.scores.VARIES": Study(
        alarms("noise shape", lambda: long_steps() + varying(0.03), lambda: varying(0.3)), (0.01, 1, 4)
    ),
    "checks.scores.INFORMED": Study(
        alarms("drift of paths", lambda: clean_paths(20, 100, 60), lambda: apart(0.0, 4.0, 2000)),
        (0.01, 1, 10),
    ),
    "checks.scores.PATHS": Study(alarms("memory", lambda: clean(150, 400), apart), values=(1, 4, 8, 24)),
    "checks.scores.BINS": Study(
        alarms("drift shape", lambda: clean(2000, 40), lambda: curved(4000)), values=(3, 10, 30)
    ),
    "checks.scores.COLUMNS": Study(
        alarms("drift shape", right_of_eight, curved_of_eight), values=(24, 60, 240)
    ),
    "checks.scores.FEWEST": Study(
        alarms(ANY, lambda: clean(30, 80) + clean(60, 80), lambda: curved(60)), values=(10, 50, 200)
    ),
    "checks.steps.SOME": Study(
        alarms("drift shape", clean, lambda: curved(4000)), values=(50, 500, 5000, 50_000)
    ),
    "checks.steps.UNSTEADY": Study(alarms(ANY, steep, lambda: varying(0.3)), (0.1, 1, 4, 1e6)),
    "stats.blocks.FEWEST": Study(
        alarms("slow scales", lambda: clean(500, 200), coloured), values=(3, 20, 200)
    ),
    "stats.blocks.MANY": Study(
        alarms("slow scales", lambda: clean(500, 200), sensed), values=(2, 20, 200, 2000)
    ),
    "checks.beyond.BOUNDED": Study(alarms(BEYOND, lambda: clean(500, 40), running_away), (1e-4, 1, 100)),
    "checks.beyond.REACH": Study(alarms(BEYOND, held, running_away), values=(1.1, 2.0, 5.0)),
    "checks.beyond.GONE": Study(alarms(BEYOND, held, running_away), values=(1.5, 4.0, 20.0)),
    "checks.simulated.REPLICAS": Study(
        replayed(SIMULATED, lambda: clean(500, 20), coloured), values=(20, 50, 200)
    ),
    "checks.simulated.OUTER": Study(
        replayed("extremes", lambda: clean(500, 20), jumping), values=(0.001, 0.01, 0.1)
    ),
    "checks.simulated.DIFFERS": Study(replayed(SIMULATED, lambda: clean(500, 20), coloured), (0.1, 1, 10)),
    "checks.simulated.LOST": Study(replayed("explosions", held, running_away), values=(0.0, 0.05, 0.5)),
    "checks.simulated.SHORTEST": Study(
        replayed("spectrum", lambda: clean_paths(20, 40, 10), coloured), values=(8, 64, 4096)
    ),
    "checks.strengths.WAVES": Study(replayed("drift form", seen_wells, straight), values=(2, 8, 24)),
    "checks.strengths.COLUMNS": Study(replayed("drift form", seen_wells, straight), values=(4, 24, 72)),
    "checks.strengths.SEGMENTS": Study(
        replayed(STRENGTH, lambda: seen_apart(0.0, 1.0), lambda: seen_apart(1.0, 1.0)), values=(2, 4, 16)
    ),
    "checks.filtered.COARSE": Study(
        alarms("time step", lambda: sampled(0.05), lambda: sampled(0.3)), (0.2, 0.5, 1, 2)
    ),
    "checks.filtered.FAST": Study(
        alarms("time step", lambda: sampled(0.05), lambda: sampled(0.3)), values=(0.5, 0.95, 0.999)
    ),
    "checks.filtered.RATES": Study(
        alarms("time step", lambda: sampled(0.05), lambda: sampled(0.3)), (0.1, 1, 10)
    ),
    "checks.filtered.LAGS": Study(alarms("whiteness", lambda: sampled(0.05), forced), values=(2, 10, 50)),
    "checks.filtered.MOST_PATHS": Study(
        alarms("whiteness", lambda: sampled(0.05), forced), (0.02, 0.1, 1, 4)
    ),
    "fit.sampler.STABLE_SHIFT": Study(answers(all_cases)),
    "fit.measured.rounds.FLOOR_QUANTILE": Study(answers(measured), values=(0.0, 0.1, 0.2, 0.4)),
    "fit.measured.rounds.QUANTILE_SAMPLES": Study(answers(measured), values=(200, 2000, 20_000)),
    "posterior.columns.ALIAS": Study(collinear(close, "alias"), values=(1 - 1e-5, 1 - 1e-9, 1 - 1e-13)),
    "posterior.columns.CONDITION": Study(collinear(dependent, "condition"), values=(1e8, 1e12, 1e15)),
    "posterior.sampling.AUTO_ERROR": Study(monte_carlo),
    "posterior.sampling.AUTO_START": Study(monte_carlo, quadrature, (0.1, 1, 5)),
    "posterior.sampling.AUTO_END": Study(monte_carlo, quadrature, (0.02, 0.1, 1)),
    "posterior.sampling.DISAGREEMENT": Study(disagreement, (0.2, 1, 3)),
    "fit.filtered.draws.WIDEST": Study(widest, (0.1, 1, 10)),
    "fit.filtered.fit.WEAK": Study(weak, values=(0.5, 2.0, 6.0)),
    "fit.filtered.doubt.SURE": Study(doubts, values=(0.5, 0.8, 0.95)),
    "fit.filtered.family.FEW": Study(answers(lengthy), values=(1, 3, 10)),
    "fit.filtered.family.WORK": Study(answers(filtered), values=(4000, 20_000, 400_000)),
    "fit.filtered.climb.AGREES": Study(answers(filtered), values=(0.01, 0.1, 1)),
    "fit.filtered.likelihood.NEARLY": Study(answers(filtered), values=(0.01, 0.3, 3)),
    "fit.filtered.ranking.ALL": Study(answers(filtered), values=(4, 10, 14)),
    "fit.filtered.ranking.FEW": Study(answers(filtered), values=(2, 5, 9)),
    "fit.filtered.fit.SEARCHED": Study(answers(filtered), values=(300, 20_000)),
    "fit.filtered.gamma.PART": Study(answers(filtered), values=(300, 5000)),
    "fit.filtered.levels.PART": Study(answers(filtered), values=(150, 400, 3000)),
    "fit.filtered.search.START_PART": Study(answers(filtered), values=(150, 400, 5000)),
    "fit.filtered.slab.PART": Study(answers(filtered), values=(150, 20_000)),
    "posterior.equation.AVERAGED": Study(averaging, values=(5, 20, 80)),
    "fit.channels.LINEAR": Study(linear_maps, (1e-3, 1, 1e6)),
    "fit.sampler.ROUND_SAMPLES": Study(answers(by_chains), (0.1, 1, 4)),
    "fit.sampler.ROUND_BURN": Study(answers(by_chains), (0.05, 1, 4)),
    "fit.sampler.ROUND_CHAINS": Study(answers(by_chains), values=(1, 2, 4)),
    "posterior.moments.TOLERANCE": Study(rounded, (1e-3, 1, 1e3)),
    "result.ensemble.MAX_MODELS": Study(ensembles, (0.1, 1, 10)),
    "result.ensemble.EULER_SUBSTEPS": Study(substeps, values=(1, 3, 10, 30)),
    "result.observer.PIECE": Study(stretches(lambda n: (n, 10)), (0.1, 0.3, 1, 2)),
    "result.observer.MOST_PIECES": Study(stretches(lambda n: (100, n)), values=(4, 40, 200)),
    "result.observer.SETTLE": Study(settling, values=(1, 5, 20, 50)),
    "stats.quadratic.RANK_TOLERANCE": Study(answers(all_cases), (1e-2, 1, 1e2)),  # and rank_tolerance.py
}

#: Constants that no answer hangs on: what is shown, how much is held, how streams are numbered.
NO_STUDY = {
    "common.archives.UNPACKED": "a limit on what is unpacked: the largest recordings are below",
    "common.archives.RATIO": "what text and floats are packed to is below; a file made to fill the memory is far above",
    "common.forms.SHOWN": "how much of a value an error shows",
    "common.prior.SHAPES": "what doubles can count with: beyond, draws are all zero or infinite",
    "common.prior.SCALES": "what doubles can count with: beyond, squares overflow",
    "common.prior.NO_DRIFT": "`python benches/accuracy/forecasts.py`, and `calibration.py`",
    "fit.carried.ENOUGH": "the sums of so many terms take 34 GB: no library has more",
    "fit.size.SHARE": "what is told before the work: no answer hangs on it",
    "fit.size.LONG": "what is told before the work: no answer hangs on it",
    "fit.size.ROUNDS": "of an estimate of time, which no answer hangs on",
    "fit.size.SUMS": "of an estimate of time, measured on one processor; no answer hangs on it",
    "fit.size.SWEEP": "of an estimate of time, measured on one processor; no answer hangs on it",
    "fit.size.FACTOR": "of an estimate of time, measured on one processor; no answer hangs on it",
    "fit.size.BYTES": "counts of what is held in memory, as the code has it",
    "fit.size.HELD": "counts of what is held in memory, as the code has it",
    "fit.size.JOB": "counts of what is held in memory, as the code has it",
    "fit.size.STEPS_OF_JOB": "counts of what is held in memory, as the core has it",
    "fit.size.MOST_JOBS": "counts of what is held in memory, as the core has it",
    "posterior.moments.LEAST": "a thousandth of a sample: fewer give a gamma law whose draws are all zero in doubles",
    "posterior.moments.MOST": "counts are exact in a double up to 9e15",
    "posterior.sampling.MOST_CHAINS": "a limit on what is asked: hours of work",
    "posterior.sampling.MOST_SWEEPS": "a limit on what is asked: days of work",
    "posterior.sampling.MOST_EXCHANGES": "a limit on what is asked: hours of work",
    "posterior.bounds.CONTRADICTED": "a model of a hundredth of its weight changes nothing that is shown",
    "posterior.bounds.FAR": "the exponential tail is within a fiftieth there, and its mass is 1e-15",
    "fit.filtered.draws.REJECTED": "a bound that leaves a hundredth is met by two draws of three; the others lie at it",
    "fit.symmetry.POINTS": "at how many points terms are compared; two that agree there are one",
    "fit.symmetry.NEAR": "a million times what rounding leaves",
    "fit.measured.varying.RIVAL": "twenty to one, as of the sets of terms of the filter",
    "fit.filtered.deviations.RATES": "starts a factor of three apart; a climb finds a spread from a factor of ten away",
    "posterior.effects.LEAST": "a ratio of a millionth of what a recording tells changes no digit that is shown",
    "posterior.effects.MOST": "a ratio of ten million is no common mean at all",
    "posterior.effects.STEPS": "a likelihood of a variance has one maximum, some units of its logarithm wide",
    "posterior.effects.SWEEPS": "how often several ratios are climbed in turn; rounds of the fit go on from there",
    "posterior.effects.GOLDEN": "the golden section",
    "posterior.effects.NEAR": "a hundredth of a standard deviation, far inside its interval",
    "posterior.effects.DRAWS": "an end of an interval to a tenth of its width",
    "posterior.effects.MOST_HELD": "a recording of which next to nothing is left says nothing of the noise",
    "fit.question.FEWEST": "with two recordings the law of a variance has no mean",
    "checks.advice.FEWEST": "with two recordings the law of a variance has no mean",
    "checks.measured.ALIKE": "half of the 0.9 quantile of chi-square: of alike recordings half have the ratio 0",
    "fit.memory.MOST": "a limit on what is asked: recordings tell no more times apart",
    "fit.memory.APART": "where several times start; a climb finds them from factors away",
    "fit.memory.COLDEST": "white noise of the sensor may be all that the rate of samples shows",
    "fit.memory.HOTTEST": "the samples show the rate but for what they average over",
    "fit.numbers.STARTS": "the best of a few is climbed: a likelihood of more tops than these needs bounds",
    "fit.filtered.course.FELT": "`benches/accuracy/course.py`: by nothing of a linear oscillator, under 0.2 of a weak "
    "Duffing seen, 10 to 11 of one felt (1000 samples), 10 to 12 of Van der Pol's (2000); no term hangs on half",
    "fit.filtered.course.COURSES": "ends a loop that ends where a course gains less than `FELT`",
    "fit.filtered.course.ROUNDS": "ends a loop that ends where the best model keeps its course",
    "fit.filtered.settle.CLIMBS": "ends a loop; eight steps of scoring are usual",
    "fit.numbers.FACTOR": "a start is meant to be right within its size; bounds say more",
    "fit.numbers.GENERIC": "any value will do at which an expression is of no special form",
    "fit.filtered.told.FLAT": "a standard error of all of the value: its sign is not told",
    "fit.filtered.told.LOST": "beyond thirty times its size nothing is known of a number",
    "fit.filtered.told.PART": "a tenth of the square of a direction: the other parts hardly count",
    "fit.filtered.told.EDGE": "a climb that is cut off ends at the bound itself",
    "fit.filtered.tails.FIRST_DEGREES": "where the search begins; laws are tried over their whole range after it",
    "fit.filtered.tails.FIRST_SHARE": "where the search begins; laws are tried over their whole range after it",
    "fit.filtered.tails.FIRST_WIDTH": "where the search begins; laws are tried over their whole range after it",
    "fit.filtered.kicks.DEGREES": "a factor of two apart where the law changes; the likelihood is climbed between",
    "fit.filtered.kicks.SHARES": "a factor of four apart; the likelihood is climbed between",
    "fit.filtered.kicks.WIDTHS": "a factor of two apart; the likelihood is climbed between",
    "fit.filtered.kicks.TURNS": "a turn that changes nothing ends them; the likelihood is climbed after them",
    "fit.filtered.kicks.SWEEPS": "the likelihood is climbed after them",
    "fit.filtered.jumps.RATHER": "more probable than not",
    "fit.filtered.jumps.WIDENED": "where a climb begins",
    "fit.filtered.model.LIGHTEST_STEPS": "a normal law to three digits",
    "fit.filtered.model.HEAVIEST_STEPS": "of steps of one degree seven sizes are a factor of ten apart",
    "fit.filtered.model.MOST_JUMPS": "the fewer of the steps are the jumps",
    "fit.filtered.model.NARROWEST_JUMP": "nearer to one a jump is none",
    "fit.filtered.tails.DEGREES": "a factor of two apart where the law changes; the likelihood is climbed between",
    "fit.filtered.tails.SHARES": "a factor of four apart; the likelihood is climbed between",
    "fit.filtered.tails.WIDTHS": "a factor of two apart; the likelihood is climbed between",
    "fit.filtered.tails.TURNS": "a turn that changes nothing ends them; the likelihood is climbed after them",
    "fit.filtered.tails.SWEEPS": "the likelihood is climbed after them",
    "fit.filtered.noise.DIFFERENCE": "errors of a millionth of a score, and of rounding of a hundred-thousandth",
    "fit.filtered.model.LEAST": "a normal law to nine digits",
    "fit.filtered.model.HEAVIEST": "beyond, 68 % of the law are within a hundred scales: of such noise nothing is told",
    "fit.filtered.model.MOST": "the fewer of the readings are the outliers",
    "fit.filtered.model.NARROWEST": "outliers are the wider",
    "fit.filtered.model.WIDEST": "beyond what a recording in doubles holds beside its noise",
    "result.outliers.RATHER": "more likely than not",
    "fit.filtered.noise.LINK_STEP": "most of the way from none to 0.8; a climb goes on where it still rises",
    "fit.filtered.links.DIFFERENCE": "errors of a millionth of a score, and of rounding of a hundred-thousandth",
    "fit.sensors.groups.ALIKE": "rounding moves a correlation by 1e-16, a link at its bound by far more",
    "stats.linked.MOST_CORRELATED": "the bound of two noises of a motion; `tests/stats/test_linked.py`",
    "stats.linked.IMAGINARY": "no rounding, and an error of its square, whatever it is",
    "fit.sensors.resolution.MOST": "most of them",
    "fit.sensors.resolution.SMALL": "at 0.2 Gamma is right, at 0.13 it is a tenth too large: `docs/sensors.md`",
    "fit.sensors.resolution.ALIKE": "far above what a number in print loses, far below another step",
    "stats.sizes.NODES": "5 · 6 · 7 · 8: log density lost at three degrees 0.0019 · 0.0004 · 0.0002 · 0.0001",
    "stats.sizes.LEFT_OUT": "with `REACH`, see `stats.sizes.NODES`",
    "stats.sizes.REACH": "with `LEFT_OUT`, see `stats.sizes.NODES`",
    "stats.sizes.LARGE": "2 · 3 · 4: log-likelihoods of 1000 places of a kicked oscillator within 1.4",
    "stats.sizes.REMEMBERED": "1 · 2 · 4: log-likelihoods of 1000 places of a kicked oscillator within 0.3",
    "stats.sizes.JUMP_REMEMBERED": "2 · 4 · 12: log-likelihoods of 1000 places within 0.9, from 4 on 0.5",
    "stats.sizes.LAG": "three times as long as a jump is remembered",
    "stats.heavy.NODES": "the density is right to four parts in ten million, `tests/stats/test_heavy.py`",
    "stats.heavy.LEFT_OUT": "what is left out of the law of sizes is under a billionth of it",
    "stats.heavy.WIDEST": "a standard deviation of half a billion scales, beyond which no reading tells more",
    "stats.heavy.REACH": "what is left out of the law of sizes is under a millionth of it",
    "stats.heavy.FAR": "the distance from which a normal reading is an outlier to most people",
    "stats.jumps.HEAVIEST": "half a degree of freedom: of such steps a scale is hardly told",
    "stats.jumps.LIGHTEST": "a thousand degrees of freedom: a normal law to three digits",
    "stats.jumps.TRIED": "a ninth apart, a parabola between: degrees to a thousandth of them",
    "stats.jumps.SHARES": "a factor of four apart; the likelihood is climbed from the best",
    "stats.jumps.WIDTHS": "a factor of two apart; the likelihood is climbed from the best",
    "stats.jumps.FEWEST": "below one step of any recording",
    "stats.jumps.MOST": "the fewer of the steps are the jumps",
    "stats.jumps.WIDEST": "beyond what a recording in doubles holds beside its noise",
    "stats.jumps.FEWEST_FREE": "of such steps neither mean nor variance is told",
    "stats.jumps.BIN": "sums of a smooth density to a hundred-thousandth",
    "stats.jumps.LEAST": "steps so short tell nothing of a law",
    "stats.jumps.HOLDS": "half the quantile of chi-square at 95 %",
    "stats.jumps.TURNS": "ends a loop; ten steps are usual",
    "stats.jumps.CLIMBS": "ends a loop; ten steps are usual",
    "stats.jumps.CLOSE": "far below the error of any scale",
    "stats.jumps.DIFFERENCE": "errors of a millionth of a curvature, and of rounding of a thousandth",
    "stats.jumps.HIGHEST": "beyond, a score is 37 anyway",
    "fit.measured.kicks.LEAST_SLOPE": "of half a degree of freedom it is a seventh; below, nothing is told",
    "fit.measured.kicks.CLOSEST": "a covariance beyond is found all the same: it is regressed, not held",
    "fit.measured.kicks.CENTRAL": "the standard deviation of a normal law over its median",
    "fit.measured.kicks.RATHER": "more likely than not",
    "result.likelihood.SMALL": "errors of a ten-billionth of a slope, and of rounding of a hundred-thousandth",
    "result.ensemble.MOST_NOISE": "80 MB; the paths are the same for any number",
    "fit.sensors.motion.LONGEST": "slower swings have no peak in a stretch; a search starts at half of every rate too",
    "fit.sensors.motion.PIECE": "resolves rates to a fiftieth; searches start at a half and twice the rate found",
    "fit.shapers.STARTS": "starts a factor of six apart; a climb finds a rate from a factor of ten away",
    "fit.shapers.SHORTEST": "white on the samples, where a climb to a white force begins",
    "fit.shapers.LONGEST": "twenty correlation times or more, of which a time can be told",
    "fit.shapers.DAMPED": "between a peak and none: a climb goes either way",
    "fit.filtered.forces.AROUND": "how finely an integral is taken",
    "fit.shapers.FASTEST": "a force that forgets itself within a third of a step is white on the samples",
    "fit.filtered.forces.GRID": "how finely an integral is taken",
    "fit.filtered.forces.WIDE": "where a normal law leaves the range of times",
    "stats.covariance.ROUNDING": "a thousand times what rounding leaves of a zero eigenvalue of a million terms",
    "stats.covariance.PIVOT": "rounding leaves 1e-16 of the entry; noise of a millionth is kept",
    **{
        f"stats.ringing.{name}": reason
        for name, reason in {
            "BLOCKS": "how many replicates an error is taken from",
            "LONGEST": "how many lags are looked at",
            "FEWEST": "twelve lags tell five numbers: with eight a sixth of the answers are none",
            "LEVEL": "where a plateau begins; the lags that are fitted go four times as far",
            "SPAN": "a quarter of a period is where the increments come to their plateau: four are one period",
            "DECAYS": "where the fit starts",
            "FREQUENCIES": "where the fit starts",
            "SLOWEST": "where the fit starts",
            "FASTEST": "a fifth is left after one sample",
            "TINY": "rounding of a matrix of three alike shapes",
            "ROUNDS": "when a fit that does not settle ends",
            "HALVINGS": "when a step is no step",
            "SETTLED": "when a fit has settled",
            "TOLD": "rounding of slopes that are alike where nothing rings",
        }.items()
    },
    "checks.still.SMOOTH": "which cause a sentence names: differences of white noise have -0.5, a motion near 1",
    "checks.beyond.STRIDE": "how finely the drift is followed: a fifth of the distance a step of fourth order",
    "checks.beyond.MOST": "how many samples the outermost are taken from",
    "checks.steps.LONGEST": "how much of a recording of over 160 000 steps is regressed on",
    "stats.blocks.OVERLAP": "the law of the ratio counts how blocks overlap: those that begin in between add 1 %",
    "checks.beyond.STRIDES": "how long the drift is followed: from twice the distance four steps lead straight back",
    "checks.beyond.SAMPLES": "how many samples a mean is taken over",
    "checks.strengths.WIDE": "what is shared by rows against the products of their terms: seconds alone",
    "checks.beyond.STARTS": "how many points are followed",
    "checks.simulated.FEWEST": "how many recordings are simulated of a long one",
    "checks.simulated.STEPS": "how much is simulated",
    "checks.simulated.LONGEST": "how much of a long recording is looked at",
    "result.motion.FLAT": "rounding of slopes and of Newton's last step",
    "result.likeness.FINE": "the error of a trapezoid of 8 steps: a 64th of that of one",
    "result.likeness.UNEVEN": "how finely uneven times are simulated",
    "checks.strengths.MOST_PATHS": "how many paths are looked at",
    "checks.steps.CHUNK": "how much is held at once",
    "stats.running.PIECE": "how much is held at once",
    "stats.correlation.MOST": "how many samples a mean is taken over",
    "stats.correlation.STRETCH": "how many samples a mean is taken over",
    "fit.sensors.angles.BENDS": (
        "a driven pendulum of `sensors.py turns`, 1000 samples, whose sine is -4, in pieces of a sample · 0.2 · 0.1 · "
        "0.05 turns: at 0.4 turns a sample log likelihood over the first 0 · 4.4 · 5.7 · 6.2, sine -3.2 · -3.5 · -3.8 "
        "· -3.8, 3.8 · 4.2 · 7.1 · 11.9 s; at 0.7 turns 0 · 4.9 · 5.3 · 5.4, sine 0 · -3.1 · -3.1 · -3.1, 1.8 · 7.8 · "
        "12.7 · 23.5 s"
    ),
    "fit.sensors.angles.DOUBTFUL": "when a sentence is said: a wrong turn in one of two such recordings",
    "fit.sensors.angles.SIMPLE": "how a term is spelled, not what it is",
    "fit.sensors.angles.ROUNDING": "rounding of the period; how a term is spelled, not what it is",
    "fit.sensors.angles.FITS": "rounding of readings; periods that are mistaken for each other differ by far more",
    "fit.channels.FEWEST": "fewer samples have no third difference",
    "fit.channels.INSTANT": "half of it is the delay, far below a step; the differences keep ten digits",
    "fit.filtered.admission.LARGEST": "the range of floating point",
    "fit.filtered.admission.SMALLEST": "the range of floating point",
    "fit.filtered.answer.DRAWS": "the default of `n_samples`",
    "checks.measured.SHARE": "the usual one in twenty",
    "fit.filtered.answer.DECISIVE": "odds of over a hundred to one; under it white forces are called as good",
    "fit.filtered.common.POINTS": "more equations than unknown weights, so that a sum that is none would show",
    "fit.filtered.common.ROUNDING": "rounding of the weights, which are of order one",
    "fit.filtered.pace.LONG_STEP": "rounding of time stamps; more pieces than needed change nothing",
    "fit.filtered.answer.MAX_STATES": "the core holds no more",
    "fit.filtered.doubt.LEAST_NAMED": "a sentence stays readable; all models are in the diagnostics",
    "fit.filtered.fit.MOST_LISTED": "the size of the record",
    "fit.filtered.likelihood.TAILED_STEPS": "ends a climb that no longer gains; with eight one of six did not end",
    "fit.filtered.likelihood.BEND": "under the errors of ten outliers and more; only where scores tell less is it used",
    "fit.filtered.likelihood.DOUBLINGS": "2^80 spans the range of any answer",
    "fit.measured.answer.SMALLEST": "the range of floating point",
    "fit.measured.stepping.FEWEST": "how many samples a mean is taken over",
    "fit.measured.stepping.MOST": "how many samples a mean is taken over",
    "fit.filtered.likelihood.FALL": "half the square of the normal quantile",
    "fit.filtered.likelihood.QUANTILE": "the normal quantile of 0.95",
    "fit.filtered.ranking.STACK": "sets ranked in one call: their evidence is the same, alone or together",
    "fit.filtered.recording.KEPT": "passes that are not made again: their results are the same",
    "fit.filtered.ranking.WELL": "which of two ways an inverse is computed: they agree to rounding",
    "fit.filtered.selection.MEDIAN": "the median model, as the method has it",
    "fit.filtered.doubt.MOST_NAMED": "a sentence stays readable; all models are in the diagnostics",
    "checks.kinks.KINKED": "`python benches/accuracy/kinks.py`: over it are 0 of 240 smooth, 67 of 80 with friction",
    "checks.kinks.NAMED": "what is named beside the likeliest; nothing is decided by it",
    "checks.kinks.MOST_STATES": "beyond, the library is of straight lines, and says less than any kink",
    "checks.kinks.DRAWS": "4000 draws of four chains, of a share told to a hundredth",
    "checks.kinks.BURN": "half of the draws",
    "checks.kinks.SEED": "the same look at the same fit",
    "fit.origin.FAR": "monomials to degree 3 lose four digits there; prices stay below, mostly",
    "fit.standard.DEGREE": "the lowest that holds wells, hardening and limit cycles; the checks name what lacks",
    "fit.standard.MOST": "squares of ten states and cubes of five, as networks and small structures have them",
    "fit.streams.APART": "any number that keeps streams apart serves",
    "stats.tails.TERMS": "what is left out of a series is below rounding",
    "posterior.columns.DEPENDENT": "ten times `RANK_TOLERANCE`: K subtractions lose about a digit",
    "posterior.equation.DOUBT": "four to one is where a reader may take one model for the answer",
    "posterior.sampling.AUTO_MODELS": "12 columns with draws from them 18 ms, four chains of 3000 sweeps 14 ms",
    "posterior.sampling.SWEEPS_PER_MODEL": "a model of 12 to 18 columns costs 2.1 us, a sweep 1.1 to 1.5 us",
    "posterior.sampling.MAX_COLUMNS": "that of the stage",
    "posterior.sampling.GROUP": "their difference has under a fiftieth of the information on their sum",
    "posterior.sampling.MEDIAN": "the median model, as the method has it",
    "posterior.sampling.RIVALS": "the most probable model is among the first few wherever one has a mass worth naming",
    "posterior.sampling.SURE": "a term is named as one of a group only where none of the group is sure",
    "posterior.words.LEAST_MASS": "what is shown; nothing is selected by it",
    "fit.measured.stepping.RARE": "a term as improbable is neither shown nor named as possible",
    "fit.measured.still.MOST_TRIMS": "ends a loop that takes terms out, of which a library has few hundred",
    "posterior.words.MOST_TERMS": "what is shown; nothing is selected by it",
    "posterior.words.MOST_MODELS": "what is shown; nothing is selected by it",
    "stats.convergence.TOGETHER": "how many draws are looked at together, a size of blocks",
    "stats.positive.EDGE": "where half the value is its error, an interval of two of them reaches zero",
    "posterior.sampling.BYTES_PER_ENTRY": "the size of what is held",
    "posterior.words.MOST_NEAR": "what is shown beside the selected terms; nothing is selected by it",
    "posterior.words.NEAR_MISS": "what is shown beside the selected terms; nothing is selected by it",
    "posterior.words.WIDTH": "lines of a terminal",
    "result.ensemble.LEVELS": "what is shown unless others are asked for",
    "result.innovations.ENDS": "the edges of a picture",
    "result.innovations.MOST_SAMPLES": "the points of a picture",
    "result.field.CONVERGED": "far below any error of a coefficient, far above rounding",
    "posterior.moments.VERSION": "names the layout of a file",
    "stats.exact.DIGITS": "the format of a double",
    "stats.exact.LOWEST": "the format of a double",
    "result.motion.DRAWS": "how many draws are behind a band",
    "result.field.HALVINGS": "ends a search that comes to nothing",
    "result.laws.POINTS": "the points of a curve",
    "result.motion.SAME": "zeros so near are found from several starts, to rounding",
    "result.motion.STARTS": "where zeros are sought from; `pytest tests/result/test_motion.py` finds all of known ones",
    "result.field.STEPS": "ends a search that comes to nothing",
    "result.laws.WIDER": "the edges of a curve",
    "result.laws.NODES": "the points of a surface, whose error by them is told",
    "result.laws.PLANE_DRAWS": "how many draws are behind a band",
    "result.laws.PASSAGE_NODES": "`pytest tests/result/test_laws.py` finds known times to 0.2 % with a few more",
    "result.laws.WALKERS": "how many paths are behind a band, in which their chance is",
    "result.laws.NEAREST": "how closely a range is told; nothing else hangs on it",
    "result.passage.HELD": "no mean time is moved by what is so rare; at e-300 numbers leave the range of floats",
    "result.walk.WALKED": "ends a simulation whose paths do not arrive",
    "result.walk.BLOCK": "how much is simulated at once",
    "result.walk.MISSING": "a mean time is told that at most so many paths are missing from",
    "result.passage.TIMES": "the points of a curve",
    "result.passage.LONG": "where a curve ends",
    "result.plane.DRIFT": "the expansion of Taylor of a slope",
    "result.plane.NOISE": "the expansion of Taylor of a second derivative",
    "result.plane.NUDGE": "far below any rate between nodes, far above rounding",
    "result.plane.ROUNDS": "each shrinks what is not the answer by `NUDGE` over its rate",
    "result.states.NORMAL": "a quantile that differs from the normal one by 1e-9",
}

NO_STUDY |= {
    "checks.causes.LEAST": "beyond it a p-value has no digits",
    "checks.scores.EACH": "rows enough that a sum of squares of standardised scores has its chi-square law; "
    "`python benches/accuracy/checks.py`",
}

#: What tells causes apart is studied on causes: `advice.py` simulates each, and recordings without one.
NO_STUDY |= dict.fromkeys(
    (
        "checks.advice.ALTERNATES",
        "checks.advice.MORE",
        "checks.advice.ROUNDED",
        "checks.advice.TWO",
        "checks.causes.RARE",
        "checks.causes.CYCLES",
        "checks.causes.SUDDEN",
        "checks.causes.BINS",
        "checks.causes.AGREES",
        "checks.causes.RINGS",
        "checks.causes.SLOWEST",
        "checks.causes.SIMPLE",
        "checks.causes.NEW",
        "checks.causes.QUIET",
        "checks.causes.REAL",
        "checks.causes.FREQUENCIES",
        "checks.sampled.MEANS",
        "checks.sampled.AROUND",
        "checks.sampled.BEYOND",
        "checks.sampled.ERRORS",
        "stats.lines.AROUND",
        "stats.lines.OWN",
        "stats.lines.LOWEST",
        "stats.marks.BLOCK",
        "stats.marks.FAR",
        "stats.marks.LONGEST",
        "stats.marks.RARER",
        "stats.marks.WINDOW",
        "stats.marks.ROWS",
        "stats.marks.NEAR",
        "stats.marks.ALONG",
        "stats.variogram.BLOCKS",
        "stats.variogram.OWN",
        "stats.variogram.FLAT",
        "stats.variogram.ALTERNATES",
        "stats.variogram.ERRORS",
    ),
    "`python benches/accuracy/advice.py`",
)

#: What is said of the pace of a recording, and of recordings that differ, is studied on sets of both kinds.
NO_STUDY |= dict.fromkeys(
    (
        "stats.groups.APART",
        "stats.groups.LAG",
        "stats.groups.LEAST",
        "stats.groups.MEMORIES",
        "stats.groups.RARE",
        "stats.groups.STRETCHES",
        "stats.pace.ERRORS",
        "stats.pace.FINE_GRID",
        "stats.pace.MOST",
        "stats.pace.NOISIEST",
        "stats.pace.RINGS",
        "stats.pace.RINGS_IN",
        "stats.pace.SETTLES",
    ),
    "`python benches/accuracy/glance.py`",
) | dict.fromkeys(
    ("stats.pace.BLIND", "stats.pace.COARSE", "stats.pace.FINE", "stats.pace.LEAVES"),
    "`python benches/accuracy/glance.py --limits`",
)


_BLOCK = "a size of blocks: it moves sums by rounding at most, and is chosen by `make bench`"
_LIMIT = "a limit that is told by an error, or under which nothing is changed"
_PRINTED = "what is printed, not what is found"
_NORMALS = "of the tables of the normal generator, whose law `rust/core` tests"

#: What decides about a constant of the core; those that the reference has as well are studied there, see `TWINS`.
CORE = {
    "discovery::along::FEWEST": "see `fit.measured.stepping.FEWEST`",
    "discovery::along::MOST": "see `fit.measured.stepping.MOST`",
    "discovery::along::SMOOTH": "see `fit.measured.stepping.SMOOTH`",
    "discovery::columns::ALIAS": "see `posterior.columns.ALIAS`",
    "discovery::columns::CONDITION": "see `posterior.columns.CONDITION`",
    "discovery::columns::DEPENDENT": "see `posterior.columns.DEPENDENT`",
    "discovery::correlation::MOST": "see `stats.correlation.MOST`",
    "discovery::correlation::STRETCH": "see `stats.correlation.STRETCH`",
    "discovery::equation::DOUBT": "see `posterior.equation.DOUBT`",
    "discovery::equation::INTERVAL": "the probability of what is printed as a 95 % interval",
    "discovery::library::MOST_TERMS": _LIMIT,
    "discovery::numbers::DIGITS": _PRINTED,
    "discovery::posterior::APART": "see `fit.streams.APART`",
    "discovery::posterior::AUTO_MODELS": "see `posterior.sampling.AUTO_MODELS`",
    "discovery::posterior::AVERAGED": "see `posterior.equation.AVERAGED`",
    "discovery::posterior::DISAGREEMENT": "see `posterior.sampling.DISAGREEMENT`",
    "discovery::posterior::EXCHANGES": "see `posterior.sampling.Sampling`, whose default it is",
    "discovery::posterior::MEDIAN": "see `posterior.sampling.MEDIAN`",
    "discovery::posterior::MOST_NAMED": _PRINTED,
    "discovery::posterior::RIVALS": "see `posterior.sampling.RIVALS`",
    "discovery::posterior::ROUND_BURN": "see `fit.sampler.ROUND_BURN`",
    "discovery::posterior::ROUND_CHAINS": "see `fit.sampler.ROUND_CHAINS`",
    "discovery::posterior::ROUND_SAMPLES": "see `fit.sampler.ROUND_SAMPLES`",
    "discovery::posterior::SWEEPS_PER_MODEL": "see `posterior.sampling.SWEEPS_PER_MODEL`",
    "discovery::recordings::FEWEST": "see `fit.channels.FEWEST`",
    "discovery::rounds::FLOOR_QUANTILE": "see `fit.measured.rounds.FLOOR_QUANTILE`",
    "discovery::rounds::QUANTILE_SAMPLES": "see `fit.measured.rounds.QUANTILE_SAMPLES`",
    "discovery::rounds::STABLE_SHIFT": "see `fit.sampler.STABLE_SHIFT`",
    "discovery::settings::NO_DRIFT": "see `common.prior.NO_DRIFT`",
    "discovery::still::GIVEN_RESIDUAL": "see `checks.measured.GIVEN_RESIDUAL`",
    "discovery::still::MOST_TRIMS": "see `fit.measured.still.MOST_TRIMS`",
    "discovery::still::QUIET": "see `checks.measured.QUIET`",
    "discovery::still::RARE": "see `fit.measured.stepping.RARE`",
    "discovery::still::SLIGHT": "see `fit.measured.stepping.SLIGHT`",
    "discovery::student::NEARLY_NORMAL": "the next term of the expansion is below 1e-15",
    "discovery::words::LEAST_MASS": "see `posterior.words.LEAST_MASS`",
    "discovery::words::MOST_MODELS": "see `posterior.words.MOST_MODELS`",
    "discovery::words::MOST_NEAR": "see `posterior.words.MOST_NEAR`",
    "discovery::words::NARROW": _PRINTED,
    "discovery::words::NEAR_MISS": "see `posterior.words.NEAR_MISS`",
    "discovery::words::WIDTH": _PRINTED,
    "filter::affine::CLOSE": "what is left of a change falls on far below rounding, see `AGAIN`",
    "filter::affine::AGAIN": "1e-13 to the power of 1.25 is 6e-17: below rounding",
    "filter::phases::LONGEST": "1 · 4: 41 · 8 ms a likelihood of 20 000 averages over a part of the step, the same",
    "filter::phases::MOST": "gaps are few where there is a period; without one all is computed, to the same numbers",
    "filter::phases::SAME": "the rounding of two stamps and of their difference",
    "filter::drift_moments::WAYS": "follows from the nodes of a step",
    "filter::engine::BATCH": _BLOCK,
    "filter::state_space::MAX_STATES": _LIMIT,
    "filter::kicks::LAG": "see `stats.sizes.LAG`",
    "filter::kicks::modes::NODES": "see `stats.sizes.NODES`",
    "filter::kicks::modes::LEFT_OUT": "see `stats.sizes.LEFT_OUT`",
    "filter::kicks::modes::REACH": "see `stats.sizes.REACH`",
    "filter::kicks::modes::LARGE": "see `stats.sizes.LARGE`",
    "filter::kicks::modes::REMEMBERED": "see `stats.sizes.REMEMBERED`",
    "filter::kicks::modes::JUMP_REMEMBERED": "see `stats.sizes.JUMP_REMEMBERED`",
    "filter::kicks::modes::FAR": "see `stats.heavy.FAR`",
    "filter::kicks::scores::LEAST": "a score of 37, beyond which no check looks",
    "filter::kicks::scores::TURNS": "to rounding from an approximation of four digits",
    "filter::turns::LOST": "of normal predictions with that standard deviation 68 % are within half a turn of what is",
    "filter::turns::CREDIBLE": (
        "of right counts one in 370 is further off; after a gap those at a wrong mean rate are: a pendulum at 0.7 "
        "turns a sample with gaps of 14 turns is not found without it"
    ),
    "filter::tails::NODES": "see `stats.heavy.NODES`",
    "filter::tails::LEFT_OUT": "see `stats.heavy.LEFT_OUT`",
    "filter::tails::WIDEST": "see `stats.heavy.WIDEST`",
    "filter::tails::REACH": "see `stats.heavy.REACH`",
    "filter::state_space::MAX_CORRELATION": "the rest, 0.2 % of a variance, is far above rounding of a pivot",
    "filter::transition::LEFT_OUT": "what is left out of a series is below rounding",
    "filter::transition::MOST": "at `NORM` a series needs 15 to leave out what is below rounding",
    "filter::transition::NORM": "halving and doubling are exact; more terms or more halvings",
    "filter::whitened::BLOCK": _BLOCK,
    "filter::wide::LANES": _BLOCK,
    "program::ROWS": _BLOCK,
    "regression::residuals::LANES": _BLOCK,
    "regression::residuals::NEAR": _BLOCK,
    "program::code::GROUP": _BLOCK,
    "program::graph::MAX_FACTORS": _LIMIT,
    "program::graph::MAX_POWER": "a product and a power differ by rounding",
    "program::parse::MAX_DEPTH": _LIMIT,
    "program::squares::ROW": _BLOCK,
    "regression::block::STEPS": _BLOCK,
    "regression::sums::LINES": "as many as the structure has fields",
    "regression::tiles::BAND": _BLOCK,
    "regression::tiles::MOST_COLUMNS": "registers of the processor: no answer hangs on it",
    "regression::pass::JOB": _BLOCK,
    "regression::pass::LONG": _BLOCK,
    "regression::pass::MANY": _BLOCK,
    "regression::pass::WAVE": _BLOCK,
    "sampler::chains::CHECK_EVERY": "how soon Ctrl-C is heard",
    "sampler::chains::RANDOM_RATE": "where one of the chains starts, which the others do not",
    "sampler::chains::RANDOM_SIZE": "where one of the chains starts, which the others do not",
    "sampler::enumerate::EDGE": "mass left out, below rounding of what is reported",
    "sampler::enumerate::MAX_COLUMNS": _LIMIT,
    "sampler::enumerate::SHARED_DEPTH": _BLOCK,
    "sampler::factor::OUTSIDE": "the mark of a column that is not in the model",
    "sampler::lanes::LANES": _BLOCK,
    "sampler::pairs::ROUNDING": "far more than rounding does to a bound that only spares work: draws are the same",
    "sampler::posterior::NEGLIGIBLE": "mass left out, below rounding",
    "sampler::proposals::REMEMBERED": "how much is remembered, not what: draws are the same",
    "sampler::proposals::SOUND": "under it no bound is used, which only spares work: draws are the same",
    "sampler::slab::COARSE": "only finds the interval; the rule that follows has a step of its own",
    "sampler::slab::FINER": "only finds the interval; the rule that follows has a step of its own",
    "sampler::slab::SCAN": "only finds the interval; the rule that follows has a step of its own",
    "simulate::covariance::PIVOT": "rounding leaves 1e-16 of the entry; noise of a millionth is kept",
    "program::memory::LINE": "where arrays begin in memory: no answer hangs on it",
    "regression::tiles::GROUP": "the widest vector register",
    "regression::tiles::STRIDE": "a whole group behind the last step",
    "sampler::spectrum::ROUNDING": "a thousand times what the eigenvalues of sums of a million products are off",
    "simulate::ensemble::GATHERED": _BLOCK,
    "simulate::ensemble::MEMORY": _BLOCK,
    "simulate::ensemble::SQUARE": _BLOCK,
    "simulate::ensemble::TILE": _BLOCK,
    "simulate::ensemble::WATCHED": "how soon Ctrl-C is heard",
    "simulate::normals::AREA": _NORMALS,
    "simulate::normals::LAYERS": _NORMALS,
    "simulate::normals::PER_BLOCK": _NORMALS,
    "simulate::normals::STATE": _NORMALS,
    "simulate::normals::STREAMS": _BLOCK,
    "simulate::normals::TAIL": _NORMALS,
    "table::PIECE": _BLOCK,
    "table::LONGEST": "the length of a word of the list before it",
}

#: Constants of the core by their name in the reference, where they are studied.
TWINS = {
    "regression::project::RANK_TOLERANCE": (
        "moments.RANK_TOLERANCE",
        Study(answers(by_reference), (1e-3, 1, 1e2)),
    ),
    "regression::residuals::INDEFINITE_TOLERANCE": (
        "residuals.INDEFINITE_TOLERANCE",
        Study(indefinite, (1e-8, 1e-4, 1, 1e4)),
    ),
    "sampler::slab::NEGLIGIBLE": ("slab.NEGLIGIBLE", Study(quadrature, values=(5.0, 20.0, 40.0, 80.0))),
}
