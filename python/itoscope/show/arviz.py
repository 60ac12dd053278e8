"""A discovery as ArviZ data: posterior, likelihood, predictions, prior and data with named coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.extras import require
from itoscope.show.arviz_groups import log_likelihood, predictive, prior, simulable

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["to_arviz"]


def to_arviz(result: Findings, draws: int = 200, seed: int | None = 0) -> Any:
    """Convert; see `Discovery.to_arviz`."""
    az = require("arviz", "arviz", "to_arviz")
    draws = checks.count("draws", draws, 0)
    number = int(np.random.default_rng(checks.seed(seed)).integers(2**31))
    posterior: dict[str, Any] = {}
    statistics: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    dims: dict[str, list[str]] = {}
    diffusion = [(f"{a}, {b}", equation) for (a, b), equation in result.diffusion.items()]
    groups = (
        ("drift", "equation", "term", list(result.drift.items())),
        ("diffusion", "entry", "diffusion_term", diffusion),
    )
    for name, rows, columns, named in groups:
        if not named:
            continue
        equations = [equation for _, equation in named]
        coords[rows] = [label for label, _ in named]
        coords[columns] = list(equations[0].terms)
        for variable, values, per_term in (
            (name, _stack(equations, "samples"), True),
            (f"{name}_noise_var", _stack(equations, "noise_var"), False),
            (f"{name}_slab_var", _stack(equations, "slab_var"), False),
            (f"{name}_p0", _stack(equations, "p0"), False),
        ):
            posterior[variable] = values
            dims[variable] = [rows, columns] if per_term else [rows]
        included = _stack(equations, "included")
        statistics |= {
            f"{name}_included": included,
            f"{name}_inclusion": _stack(equations, "inclusion"),
            f"{name}_size": included.sum(axis=-1),
        }
        dims |= {
            f"{name}_included": [rows, columns],
            f"{name}_inclusion": [rows, columns],
            f"{name}_size": [rows],
        }
    content: dict[str, Any] = {"posterior": posterior, "sample_stats": statistics}
    if result.data is not None:
        content["observed_data"], more, axes = _observed(result.data)
        coords |= more
        dims |= axes
    if draws:
        content |= _more(result, groups, draws, number)
        dims |= {"step_x": ["step"]}
    if int(az.__version__.split(".")[0]) >= 1:  # one dictionary of groups since version 1
        return az.from_dict(content, coords=coords, dims=dims)
    return az.from_dict(**content, coords=coords, dims=dims)


def _more(result: Findings, groups: Any, draws: int, seed: int) -> dict[str, Any]:
    """The groups that are drawn: log-likelihood, posterior predictive, prior; those that there are."""
    found: dict[str, Any] = {}
    steps = log_likelihood(result, draws)
    if steps is not None:
        found["log_likelihood"] = {"step_x": steps}
    if result.data is not None and simulable(result):
        made = predictive(result, result.data, draws, seed)
        even = _even(result.data)
        found["posterior_predictive"] = {
            "x": np.stack([np.stack(paths) if even else np.concatenate(paths) for paths in made])[None]
        }
    for name, _, _, named in groups:
        rows = [prior(equation, draws, seed + k) for k, (_, equation) in enumerate(named)]
        there = [one for one in rows if one is not None]
        if there and len(there) == len(rows):
            found.setdefault("prior", {})[name] = np.stack(there, axis=1)[None]
    return found


def _even(data: Trajectories) -> bool:
    """Whether all paths have the same times."""
    first = data.times[0]
    return all(len(t) == len(first) and np.array_equal(t, first) for t in data.times)


def _stack(equations: list[Equation], name: str) -> Any:
    """One quantity of several equations, `(chain, draw, equation, ...)`."""
    return np.stack([getattr(equation, name) for equation in equations], axis=2)


def _observed(data: Trajectories) -> tuple[dict[str, Any], dict[str, Any], dict[str, list[str]]]:
    """Samples by path, time and state, or one after the other where paths have different times; coordinates; axes."""
    coords: dict[str, Any] = {"state": list(data.names)}
    if _even(data):
        coords |= {"path": np.arange(data.n_paths), "time": np.asarray(data.times[0])}
        return {"x": np.stack(data.paths)}, coords, {"x": ["path", "time", "state"]}
    path = np.concatenate([np.full(len(x), number) for number, x in enumerate(data.paths)])
    content = {"x": np.concatenate(data.paths), "path_of": path, "time_of": np.concatenate(data.times)}
    return content, coords, {"x": ["sample", "state"], "path_of": ["sample"], "time_of": ["sample"]}
