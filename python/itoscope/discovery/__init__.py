"""`discover`, its result and its scikit-learn estimator."""

from itoscope.discovery.result import Diffusion, Discovery, Drift

__all__ = ["Diffusion", "Discovery", "Drift"]
