"""Noise that was given, as equations of one term beside those that were found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.library.bound import names_in
from itoscope.result.findings import Diffusion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["with_given_noise"]


def with_given_noise(findings: Findings, noise: Mapping[tuple[str, str], str]) -> Findings:
    """The findings with given entries of Gamma after those that were found."""
    if not noise:
        return findings
    like = next(iter(findings.drift.values()))
    given = {pair: _equation(text, like) for pair, text in noise.items()}
    return replace(findings, diffusion=Diffusion({**dict(findings.diffusion.items()), **given}))


def _equation(text: str, like: Equation) -> Equation:
    """The equation whose one term is `text`, or the constant, its chains as long as those of another."""
    graph = Graph(sorted(names_in(text)))
    number = graph.constant(parse(text, graph))
    term, size = ("1", number) if number is not None else (text, 1.0)
    shape, one = (*like.samples.shape[:2], 1), np.ones(1)
    return replace(
        like,
        terms=[term],
        pip=one,
        pip_mcse=np.zeros(1),
        mean=size * one,
        cov=np.zeros((1, 1)),
        selected=np.ones(1, dtype=bool),
        samples=np.full(shape, size),
        included=np.ones(shape, dtype=bool),
        inclusion=np.ones(shape),
        work=[],
        aliases={},
        warnings=[],
        log_mass=None,
        moments=None,
        positive=None,
        limits=np.full((1, 2), size),
    )
