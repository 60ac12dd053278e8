"""The NumPy reference of every stage: the same names as the compiled backend, written to be read."""

from itoscope.backends.reference.chains import replay_chain, sample_chains
from itoscope.backends.reference.enumerate import enumerate_models
from itoscope.backends.reference.evidence import log_evidence
from itoscope.backends.reference.filter import filter_batch
from itoscope.backends.reference.filter_moments import (
    filter_densities,
    filter_drift_moments,
    filter_information,
    filter_innovations,
    filter_kicks,
    filter_loglik,
    filter_noise_moments,
)
from itoscope.backends.reference.filter_smooth import filter_smooth
from itoscope.backends.reference.gram import regression_sums
from itoscope.backends.reference.integrate import simulate
from itoscope.backends.reference.moments import project
from itoscope.backends.reference.posterior import exact_draws, model_posterior
from itoscope.backends.reference.program import compile
from itoscope.backends.reference.residuals import residual_sums, survey

__all__ = [
    "compile",
    "enumerate_models",
    "exact_draws",
    "filter_batch",
    "filter_densities",
    "filter_drift_moments",
    "filter_information",
    "filter_innovations",
    "filter_kicks",
    "filter_loglik",
    "filter_noise_moments",
    "filter_smooth",
    "log_evidence",
    "model_posterior",
    "project",
    "regression_sums",
    "replay_chain",
    "residual_sums",
    "sample_chains",
    "simulate",
    "survey",
]
