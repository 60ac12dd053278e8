"""The document inside a saved discovery: its form, and that what it names belongs together; checked before any use."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from itoscope.common import checks
from itoscope.common.forms import require_form
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.result.diagnostics import Check, Correlation, NoiseLevel, Varied

__all__ = ["KIND", "check_document"]

KIND = "itoscope discovery"


class _Entry(TypedDict):
    """An equation beside its arrays."""

    kind: Literal["drift", "diffusion"]
    key: list[str]
    prefix: str
    terms: list[str]
    work: list[dict[str, int]]
    aliases: dict[str, list[str]]
    warnings: list[str]
    threshold: float
    sampler: str
    seed: int
    degrees: float
    backend: Literal["rust", "reference"] | None


class Entry(_Entry, total=False):
    """The same with its regression and its prior."""

    yy: float
    n: float
    prior: dict[str, Any]
    differs: dict[str, list[str | float]]


class Told(TypedDict, total=False):
    """Of `Diagnostics` what is read again; rounds and models are kept as they are."""

    rounds: list[dict[str, Any]]
    converged: bool
    checks: list[Check]
    residuals: dict[str, dict[str, Any]]
    measurement_noise: dict[str, NoiseLevel]
    noise_correlation: list[Correlation]
    loglik: float
    models: list[dict[str, Any]]
    observed_information: bool
    varying: dict[str, dict[str, Varied]]


class Asked(TypedDict, total=False):
    """Of the settings what is read again; the others are kept as they are."""

    order: int
    known_drift: dict[str, str]
    states: list[str]
    inputs: dict[str, str]
    observed: list[str]
    library: list[str]
    diffusion_library: list[str]
    custom_terms: list[str]
    prior: dict[str, Any]
    seed: int
    backend: Literal["default", "rust", "reference"]
    weight_floor: float


class Size(TypedDict, total=False):
    """`Summary`, as it is stored."""

    n_paths: int
    n_steps: int
    dt: float | None
    units: dict[str, str]
    time_unit: str


class Seen(TypedDict, total=False):
    """An observer, as its `as_dict` gives it; the arrays are checked where they are made."""

    channels: list[str]
    expressions: list[str]
    backend: Literal["rust", "reference"] | None
    drift: list[Any]
    gamma: list[Any]
    pairs: list[list[int]]
    observation: list[Any]
    noise: list[float]
    shared: list[list[int]]
    periods: list[float]
    mean0: list[float]
    cov0: list[Any]
    floor: list[float]
    max_step: float
    kinks: list[list[Any]]
    second_order: bool
    given: list[int]
    driven: dict[str, str]
    carried: list[str]


class Number(TypedDict):
    """What was found of a named number; None is not finite."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    degrees: float


class Found(TypedDict):
    """`Parameters`, as its `as_dict` gives it."""

    estimates: dict[str, Number]
    beside: list[list[str]]
    cov: list[list[float]]
    written: dict[str, dict[str, str]]


class _Document(TypedDict):
    """What every file holds."""

    kind: Literal["itoscope discovery"]
    format: int
    states: list[str]
    equations: list[Entry]
    known_drift: dict[str, str]
    measurement_noise: float
    settings: Asked
    diagnostics: Told
    warnings: list[str]
    data_summary: Size


class Document(_Document, total=False):
    """Everything of a discovery but its arrays."""

    inputs: list[str]
    parameters: Found


def check_document(document: Any) -> None:
    """Raise unless a document is of the form of one, and its states, rows and terms belong together.

    Raises
    ------
    TypeError, ValueError
        Name the place and what is wanted there.
    """
    require_form(document, Document)
    states = checks.names(document["states"], "states")
    variables = list(checks.names([*states, *document.get("inputs", [])], "states and inputs"))
    rows = [*document["known_drift"]]
    for number, entry in enumerate(document["equations"]):
        where = f"equations[{number}]"
        if entry["kind"] == "drift":
            rows += entry["key"]
        wanted = 1 if entry["kind"] == "drift" else 2
        if len(entry["key"]) != wanted or not set(entry["key"]) <= set(states):
            raise ValueError(f"{where}: key {entry['key']} is not of the states {', '.join(states)}")
        _check_entry(entry, where)
    if sorted(rows) != sorted(states):
        raise ValueError(f"rows of {', '.join(rows)}: one for each of the states {', '.join(states)}")
    pairs = [frozenset(entry["key"]) for entry in document["equations"] if entry["kind"] == "diffusion"]
    if len(set(pairs)) < len(pairs):
        raise ValueError("an entry of Gamma stands twice")
    for expression in document["known_drift"].values():
        parse(expression, Graph(variables))
    checks.not_negative("measurement_noise", document["measurement_noise"])
    _check_summary(document["data_summary"])
    if document.get("observer") is not None:
        require_form(document["observer"], Seen, "observer")


def _check_entry(entry: dict[str, Any], where: str) -> None:
    """Numbers of an equation that mean something, and names that are those of its terms."""
    if not entry["terms"] or len(set(entry["terms"])) < len(entry["terms"]):
        raise ValueError(f"{where}: terms are missing, or stand twice")
    differs = entry.get("differs", {})
    if not {*differs, *(one[0] for one in differs.values())} <= set(entry["terms"]):
        raise ValueError(f"{where}: what differs by recording is no term")
    aliased = {*entry["aliases"], *(name for names in entry["aliases"].values() for name in names)}
    if not aliased <= set(entry["terms"]):
        raise ValueError(f"{where}: an alias is no term")
    checks.share("threshold", entry["threshold"])
    checks.positive("degrees", entry["degrees"])
    checks.seed(entry["seed"])


def _check_summary(summary: dict[str, Any]) -> None:
    """Sizes of a recording, all or none."""
    if summary:
        checks.count("n_paths", summary.get("n_paths"))
        checks.count("n_steps", summary.get("n_steps"))
        if summary.get("dt") is not None:
            checks.positive("dt", summary["dt"])
