"""A `Discovery` in one file: NumPy arrays and one JSON document in an NPZ archive, no pickle."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from itoscope.common.archives import read_archive
from itoscope.common.prior import Prior
from itoscope.common.writing import path_of, replacing
from itoscope.errors import DataError
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments
from itoscope.result.findings import Diffusion, Drift, Findings
from itoscope.result.observer import Observer
from itoscope.result.parameters import Parameters
from itoscope.show.document import KIND, check_document

__all__ = ["FORMAT", "load", "save", "target_of"]

#: Version of the layout; a file of a newer one is refused, older ones are read.
FORMAT = 1
#: Fields of an equation that are arrays, and that JSON holds; and those of a result.
ARRAYS = (
    "pip", "pip_mcse", "mean", "cov", "selected", "samples", "included", "inclusion", "noise_var", "slab_var", "p0",
)  # fmt: skip
PLAIN = ("terms", "work", "aliases", "warnings", "threshold", "sampler", "seed", "degrees", "backend")
OPTIONAL = ("log_mass", "positive", "limits")
RESULT = ("known_drift", "measurement_noise", "settings", "diagnostics", "warnings", "data_summary")


def save(result: Findings, path: str | Path) -> Path:
    """Write a result; see `Discovery.save`."""
    target = target_of(path)
    arrays: dict[str, Any] = {}
    equations = [
        {"kind": kind, "key": key, **_pack(equation, f"e{number}", arrays)}
        for number, (kind, key, equation) in enumerate(_equations(result))
    ]
    document = {"kind": KIND, "format": FORMAT, "states": list(result.states), "equations": equations}
    document |= {name: getattr(result, name) for name in RESULT}
    document["inputs"] = list(result.inputs)
    if result.parameters:
        document["parameters"] = result.parameters.as_dict()
    if result.observer is not None:
        document["observer"] = result.observer.as_dict()
    arrays["document"] = np.frombuffer(json.dumps(document, default=_plain).encode(), dtype=np.uint8)
    with replacing(target) as beside, open(beside, "wb") as file:
        np.savez_compressed(file, **arrays)
    return target


def target_of(path: str | Path) -> Path:
    """Where `save` writes: a name without suffix gets `.npz`."""
    target = Path(path_of(path))
    return target if target.suffix else target.with_suffix(".npz")


def load(path: str | Path) -> Findings:
    """Read a result; see `Discovery.load`."""
    try:
        arrays = read_archive(path, "a discovery")
        document = json.loads(bytes(arrays["document"]))
        if document["kind"] == KIND and document["format"] > FORMAT:
            raise DataError(
                f"{path}: written by a newer version (layout {document['format']}, this one reads {FORMAT})"
            )
        check_document(document)
        drift, diffusion = Drift(), {}
        for entry in document["equations"]:
            if entry["kind"] == "drift":
                drift[entry["key"][0]] = _unpack(entry, arrays)
            else:
                diffusion[entry["key"][0], entry["key"][1]] = _unpack(entry, arrays)
        observer = document.get("observer")
        return Findings(
            states=tuple(document["states"]),
            drift=drift,
            diffusion=Diffusion(diffusion),
            inputs=tuple(document.get("inputs", ())),
            parameters=_parameters(document),
            observer=None if observer is None else Observer.from_dict(document["states"], observer),
            **{name: document[name] for name in RESULT},
        )
    except (OSError, MemoryError):
        raise
    except Exception as problem:
        if isinstance(problem, DataError) and "newer version" in str(problem):
            raise
        raise DataError(f"{path}: not a saved discovery, or a damaged one ({problem})") from problem


def _parameters(document: dict[str, Any]) -> Parameters:
    found = document.get("parameters")
    return Parameters.none() if found is None else Parameters.from_dict(found)


def _equations(result: Findings) -> list[tuple[str, list[str], Equation]]:
    drift = [("drift", [state], equation) for state, equation in result.drift.items()]
    return drift + [("diffusion", list(pair), equation) for pair, equation in result.diffusion.items()]


def _pack(equation: Equation, prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Put the arrays of an equation into `arrays`, return what goes into the document."""
    for name in ARRAYS:
        arrays[f"{prefix}.{name}"] = getattr(equation, name)
    for name in OPTIONAL:
        if getattr(equation, name) is not None:
            arrays[f"{prefix}.{name}"] = getattr(equation, name)
    packed: dict[str, Any] = {"prefix": prefix} | {name: getattr(equation, name) for name in PLAIN}
    if equation.differs:
        packed["differs"] = {name: [term, spread] for name, (term, spread) in equation.differs.items()}
    if equation.moments is not None:
        found = equation.moments
        arrays[f"{prefix}.gram"], arrays[f"{prefix}.moment"] = found.gram, found.moment
        packed |= {"yy": found.yy, "n": found.n}
    if equation.prior is not None:
        packed["prior"] = {f.name: getattr(equation.prior, f.name) for f in fields(equation.prior)}
    return packed


def _unpack(entry: dict[str, Any], arrays: dict[str, Any]) -> Equation:
    prefix = entry["prefix"]
    _check(prefix, len(entry["terms"]), arrays)
    moments = None
    if "yy" in entry:
        gram, moment = arrays[f"{prefix}.gram"], arrays[f"{prefix}.moment"]
        moments = Moments(gram, moment, entry["yy"], entry["n"], entry["terms"])
    if f"{prefix}.log_mass" in arrays:
        _check_mass(arrays[f"{prefix}.log_mass"], entry, moments)
    return Equation(
        **{name: arrays[f"{prefix}.{name}"] for name in ARRAYS},
        **{name: entry[name] for name in PLAIN},
        log_mass=arrays.get(f"{prefix}.log_mass"),
        positive=arrays.get(f"{prefix}.positive"),
        limits=arrays.get(f"{prefix}.limits"),
        moments=moments,
        prior=Prior(**entry["prior"]) if "prior" in entry else None,
        differs={
            name: (str(term), float(spread)) for name, (term, spread) in entry.get("differs", {}).items()
        },
    )


def _check(prefix: str, k: int, arrays: dict[str, Any]) -> None:
    """Raise unless the arrays of an equation of `k` terms are numbers of the shapes that belong together."""
    chains = arrays[f"{prefix}.samples"].shape[:2]
    if len(chains) < 2 or 0 in chains:
        raise ValueError(f"{prefix}.samples of shape {chains}: a draw of each chain is wanted")
    shapes = dict.fromkeys(("pip", "pip_mcse", "mean", "selected"), (k,)) | {"cov": (k, k)}
    shapes |= dict.fromkeys(("samples", "included", "inclusion"), (*chains, k))
    shapes |= dict.fromkeys(("noise_var", "slab_var", "p0"), chains)
    if f"{prefix}.positive" in arrays:
        shapes["positive"] = (k,)
    if f"{prefix}.limits" in arrays:
        shapes["limits"] = (k, 2)
    for name, shape in shapes.items():
        array = arrays[f"{prefix}.{name}"]
        wanted = "b" if name in ("selected", "included", "positive") else "f"
        if array.shape != shape or array.dtype.kind != wanted:
            raise ValueError(f"{prefix}.{name} of shape {array.shape} and {array.dtype}: {shape} is wanted")


def _check_mass(array: Any, entry: dict[str, Any], moments: Moments | None) -> None:
    """Raise unless these are the masses of all models of the columns that were tried."""
    dropped = {name for others in entry["aliases"].values() for name in others}
    there = np.ones(len(entry["terms"])) if moments is None else np.diag(moments.gram)
    tried = sum(name not in dropped and size > 0 for name, size in zip(entry["terms"], there))
    if array.dtype.kind != "f" or array.shape != (2**tried,) or not np.isfinite(array.max()):
        raise ValueError(
            f"log_mass of shape {array.shape} and {array.dtype}: a mass for each of 2^{tried} models is wanted"
        )


def _plain(value: Any) -> Any:
    """What JSON does not know: NumPy numbers and arrays."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be stored")
