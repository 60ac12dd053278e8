"""The result of a discovery: equations with probabilities and intervals, checks, and a model to carry on with."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, overload

from itoscope.common import checks
from itoscope.common.pickles import filled
from itoscope.result.findings import Diffusion, Drift, Findings
from itoscope.result.laws import Laws
from itoscope.result.models import SystemModel, system_models
from itoscope.show import text as summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from itoscope.common.types import DiscreteScheme, Progress, Style
    from itoscope.data.advice import Advice
    from itoscope.data.trajectories import Trajectories
    from itoscope.discovery.trial import Tried
    from itoscope.result.diagnostics import Check
    from itoscope.result.forecast import Forecast
    from itoscope.show.plots import Plots
    from itoscope.show.summary import Summary

__all__ = ["Diffusion", "Discovery", "Drift"]


class Discovery(Laws):
    """A discovered stochastic differential equation `dX = f(X) dt + g(X) dB`, `Gamma = g g^T`.

    Attributes
    ----------
    states : tuple of str
        Names of the m states.
    drift : mapping of str to Equation
        `drift["x2"]`: terms, inclusion probabilities and coefficients of an unknown row of the drift.
    diffusion : mapping of (str, str) to Equation
        `diffusion["x2", "x2"]`: the same for an entry of the covariance `Gamma`.
    known_drift : dict of str to str
        Rows that were given, the values of parameters in them.
    varying : dict of str to dict
        By row and term, the coefficients that differ by recording (`vary`): `values`, `errors`, `spread`, `interval`.
    parameters : Parameters
        `parameters["tau"]`: `mean`, `sd` and `interval()` of a named number of what was given; `correlations`.
    inputs : tuple of str
        What drives the states: names of inputs, and the time `t` where a term contains it.
    measurement_noise : float
        Standard deviation of the measurement noise, 0 when the states were taken as exact; the root mean square over
        several channels, whose levels and intervals are in `diagnostics["measurement_noise"]`.
    settings : dict
        Everything that is needed to run it again, the seed included.
    diagnostics : dict
        `rounds`: what each round selected; `checks`: each check with its value, threshold and reason; `residuals`:
        statistics of the standardised residuals of each row; and what `result.diagnostics.Diagnostics` lists.
    warnings : list of str
        Sentences of the checks that fired.
    data_summary : dict
        `n_paths`, `n_steps` and `dt` (None: uneven) of the recording.
    data : Trajectories or None
        The recording, which a saved result does not hold.
    library, diffusion_library : Library or None
        The candidate terms that were asked for.
    observer : Observer or None
        How the model sees a noisy or partly seen recording; None when the states were taken as exact.

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.ornstein_uhlenbeck().simulate(duration=50.0, dt=0.01, n_paths=20, substeps=5, seed=1)
    >>> result = ito.discover(data, ito.Library.polynomials(2), seed=1)
    >>> result.equations()
    ['dx1 = -(1.01 ± 0.05) x1 dt + sqrt(Gamma) dB', 'Gamma[x1, x1] = (0.2506 ± 0.0011)']
    >>> result.warnings, result.measurement_noise
    ([], 0.0)
    """

    @classmethod
    def of(cls, found: Findings) -> Discovery:
        """The same findings, with all that can be done with them."""
        return cls(**{f.name: getattr(found, f.name) for f in fields(Findings)})

    # -- reading ---------------------------------------------------------------------------------------------
    @overload
    def equations(self, style: Literal["text", "latex"] = "text") -> list[str]: ...

    @overload
    def equations(self, style: Style) -> list[Any]: ...

    def equations(self, style: Style = "text") -> list[Any]:
        """Equations of all states, then the entries of the diffusion covariance.

        Parameters
        ----------
        style : {"text", "latex", "sympy"}
            `"text"`: one line each, coefficients with one standard deviation. `"latex"`: the same typeset. `"sympy"`:
            `sympy.Eq` objects with mean coefficients (needs the extra `symbolic`).

        Returns
        -------
        list

        Raises
        ------
        ArgumentError
            For another style.
        """
        checks.choice("style", style, ("text", "latex", "sympy"))
        if style == "text":
            return [left + " ".join(pieces) for left, pieces, _ in summary.equation_lines(self)]
        from itoscope.show import latex as equations

        if style == "latex":
            return equations.latex_equations(self)
        return equations.sympy_equations(self)

    def __str__(self) -> str:
        return "\n".join(summary.text(self))

    __repr__ = __str__

    def print(self) -> None:
        """Print the equations, the table of their terms, and the warnings."""
        print(self)

    def _repr_html_(self) -> str:
        from itoscope.show.html import discovery_html

        return discovery_html(self)

    def _repr_latex_(self) -> str:
        from itoscope.show.latex import latex_block

        return f"$\\displaystyle\n{latex_block(self)}$"

    def table(self) -> Any:
        """One row per candidate term of every equation.

        Returns
        -------
        pandas.DataFrame
            Columns `equation, term, selected, pip, pip_mcse, mean, sd, low, high` (95 % interval), and `unit` where
            units are known; or a list of dicts of these when pandas is not installed.
        """
        rows = summary.records(self)
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    def summary(self, data: Trajectories | None = None) -> Summary:
        """Size, log-likelihood, information criteria and coefficients, as a regression is reported.

        Parameters
        ----------
        data : Trajectories, optional
            By default the recording of the fit; of a saved result, which holds none, there is no likelihood without it.

        Returns
        -------
        Summary
            Printed, a table; `criteria` has `samples`, `loglik`, `parameters`, `aic` and `bic`.
        """
        from itoscope.show.summary import summarised

        return summarised(self, data)

    def models(self, count: int = 10) -> list[SystemModel]:
        """Return the `count` most probable whole systems: the `terms` of every equation by its label, and their `mass`.

        The probability of a system is the product of those of its equations' models.
        """
        return system_models(self.labelled(), count)

    @property
    def plot(self) -> Plots:
        """Pictures: `plot.pip()`, `plot.fit()`, ...; see `itoscope.show.plots.Plots`."""
        from itoscope.show.plots import Plots

        return Plots(self)

    # -- carrying on -----------------------------------------------------------------------------------------
    def simulate(
        self,
        x0: ArrayLike,
        *,
        duration: float | None = None,
        n_steps: int | None = None,
        dt: float | None = None,
        n_paths: int = 1,
        posterior: bool = True,
        scheme: DiscreteScheme | None = None,
        substeps: int | None = None,
        keep_every: int = 1,
        seed: int | None = None,
        backend: str | None = None,
        progress: bool | Progress = None,
        inputs: Mapping[str, Any] | None = None,
        start: float = 0.0,
    ) -> Trajectories:
        """Simulate the discovered model.

        Parameters
        ----------
        x0 : (m,) or (n_paths, m) array of float
            Where the paths start.
        duration, n_steps : float or int
            How long, one of the two.
        dt : float, optional
            Time step; that of the data by default.
        n_paths : int
        posterior : bool
            True: every path has its own draw of terms and coefficients, so the ensemble holds what is not known of the
            model beside the noise (100 models at most, used in turn). False: all paths have the mean model.
        scheme : str, optional
            By default the one of the highest order that the noise of the model allows.
        substeps : int, optional
            Steps of the scheme per `dt`; by default 1, or 10 where only Euler-Maruyama fits.
        keep_every, seed, backend, progress
            See `SDE.simulate`.
        inputs : mapping of str, optional
            What drives the model, see `SDE.simulate`; needed where it has inputs.
        start : float
            Time `t` at the start of the paths, for a model that contains it.

        Raises
        ------
        ArgumentError
            For a term that is a Python function, which no simulation can call.

        Returns
        -------
        Trajectories
            Paths that left the finite range are cut there and listed in `diverged`.
        """
        from itoscope.result.ensemble import Asked, simulate

        asked = Asked(
            duration, n_steps, dt, n_paths, posterior, scheme, substeps, keep_every, seed, backend, progress,
            inputs=inputs, start=start,
        )  # fmt: skip
        return simulate(self, x0, asked)

    def forecast(
        self,
        x0: ArrayLike,
        *,
        duration: float | None = None,
        n_steps: int | None = None,
        dt: float | None = None,
        n_paths: int = 200,
        levels: Sequence[float] = (0.5, 0.9),
        **settings: Any,
    ) -> Forecast:
        """Simulate an ensemble and summarise it.

        Parameters
        ----------
        x0, duration, n_steps, dt, n_paths, **settings
            See `simulate`.
        levels : sequence of float
            Probabilities of the central bands.

        Returns
        -------
        Forecast
            Mean, standard deviation and bands at each time, and the paths.
        """
        from itoscope.result.ensemble import Asked, forecast

        return forecast(self, x0, Asked(duration, n_steps, dt, n_paths, **settings), levels)

    def self_check(
        self, seed: int | None = None, *, data: Trajectories | None = None, progress: bool | Progress = None
    ) -> dict[str, Any]:
        """Ask whether the fitted model makes recordings like the data, and whether a fit finds it again in one of them.

        Up to 50 recordings are simulated with models drawn from the posterior, from the starts of the data, a noisy or
        partly seen one from its smoothed starts and seen through the same channels with its gaps and the noise that was
        found; one more, of the mean model, is fitted with the same settings, which takes as long as the discovery did.

        Parameters
        ----------
        seed : int, optional
        data : Trajectories, optional
            The recording of the fit, for a result that was loaded from a file.
        progress : bool or callable, optional

        Returns
        -------
        dict
            `spread`, `extremes`, `spectrum`: by recorded state, the standard deviation, the shares of samples beyond
            the outermost hundredth of the data, and the power by octaves, each in the data and in the mean over the
            simulations; `exploded`: the share of these that left the finite range; `checks`: what these and the
            residuals say, like `check()`; `terms`: each selected term fitted and from the simulation, their difference
            in standard deviations; `largest` of these, of terms that both fits have or one is sure of; `consistent`: no
            check fired, and no difference above four standard deviations.
        """
        from itoscope.discovery.selfcheck import self_check

        return self_check(self if data is None else self.with_data(data), seed, progress)

    def check(self, data: Trajectories | None = None) -> list[Check]:
        """Look at residuals or innovations of a recording, and at simulations like it: is it still the model found?

        Parameters
        ----------
        data : Trajectories, optional
            Of the same columns; by default the recording of the fit.

        Returns
        -------
        list of dict
            Like `diagnostics["checks"]`. Of measured states `same drift` and `same noise` say whether the recording has
            the coefficients that were found, with their errors; `spread`, `extremes`, `spectrum` and `explosions` look
            at recordings that models drawn from the posterior make; the others look at what the model does not hold.

        Raises
        ------
        ArgumentError
            For a recording of other columns, and where there is none: a saved result holds none.
        """
        from itoscope.checks.again import check_again

        return [check.as_dict() for check in check_again(self, data)]

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What the fit suffers from and the next step, the gravest first; empty where nothing was found.

        Each has a `cause`, a `sentence`, the figures behind it (`evidence`), what to say to `discover` (`arguments`)
        and what to do to the recording first (`recording`, which `mend` does); `try_advice` does both.
        """
        from itoscope.data.advice import Advice

        return tuple(Advice(**found) for found in self.diagnostics.get("advice", ()))

    def try_advice(self, k: int = 0, *, seed: int | None = None, progress: bool | Progress = None) -> Tried:
        """Discover again as an advice says.

        Parameters
        ----------
        k : int
            Number of the advice in `advice`.
        seed : int, optional
            By default that of this result.
        progress : bool or callable, optional

        Returns
        -------
        Tried
            The new `result`; the log evidences `before` and `after`; whether they are `comparable`, which they are
            where the recording stayed as it is.

        Raises
        ------
        ArgumentError
            Where there is no such advice, no call does it, or this result has no recording.
        """
        from itoscope.discovery.trial import Tried, tried

        new, before, after, comparable = tried(self, self.advice, k, seed, progress)
        return Tried(type(self).of(new), before, after, comparable)

    def to_arviz(self, *, draws: int = 200, seed: int | None = 0) -> Any:
        """Return everything as ArviZ data (`InferenceData`, a `DataTree` since ArviZ 1), for `az.summary` and its like.

        Group `posterior`: `drift (chain, draw, equation, term)`, `diffusion (chain, draw, entry, diffusion_term)`,
        and of each `noise_var` (of what a regression leaves as it weighs its steps: about `1/dt` of a drift, 1 of a
        diffusion), `slab_var`, `p0`. Group `sample_stats`: `included`, `inclusion` (its probability given the rest of
        the draw), `size` (number of terms). Group `observed_data`: `x (path, time, state)`. Group `log_likelihood`:
        `step_x (chain, draw, step)`, for `az.loo` and `az.compare`. Group `posterior_predictive`: `x`
        of recordings that models drawn from the posterior make, for `az.plot_ppc`. Group `prior`: coefficients
        given noise variances of the posterior. Needs the extra `arviz`.

        Parameters
        ----------
        draws : int
            Of the last three groups, of all chains together; 50 recordings at most, and fewer likelihoods of recordings
            over 25 000 steps; 0 leaves them out.
        seed : int or None
            Of these.
        """
        from itoscope.show.arviz import to_arviz

        return to_arviz(self, draws, seed)

    def report(self, path: str | Path, *, title: str | None = None, interactive: bool = False) -> None:
        """Write one HTML page that needs no network: equations, checks, terms, pictures, settings, versions.

        Parameters
        ----------
        path : str or Path
        title : str, optional
            Heading of the page.
        interactive : bool
            With a section to explore: the recording, terms and fit with zoom, values under the pointer, and switches
            that take terms out of the curve. Needs the extra `interactive` (Bokeh), whose script the page then holds.

        Raises
        ------
        MissingExtraError
            Without Matplotlib, the extra `plot`, or Bokeh.
        """
        from itoscope.show.report import write

        write(self, path, title, checks.choice("interactive", interactive, (True, False)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.pop("fit", None)  # an empty place in pickles of the first version
        self.__dict__.update(filled(type(self), state))

    # -- keeping ---------------------------------------------------------------------------------------------
    def save(self, path: str | Path) -> Path:
        """Write everything but the recorded data to one file (NumPy arrays and JSON, no pickle).

        Parameters
        ----------
        path : str or Path
            The suffix `.npz` is added when there is none.

        Returns
        -------
        Path
            Of the file that was written.
        """
        from itoscope.show import storage

        return storage.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read what `save` wrote.

        Raises
        ------
        DataError
            When the file is damaged, of another kind, or of a newer format.
        """
        from itoscope.show import storage

        return cls.of(storage.load(path))
