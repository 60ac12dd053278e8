"""One self-contained HTML page about a discovery: equations, tables, pictures, warnings, settings, versions."""

from __future__ import annotations

import io
import platform
import re
import zlib
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope._core import __version__
from itoscope.common.extras import require
from itoscope.common.numbers import number
from itoscope.common.writing import replacing
from itoscope.errors import ArgumentError
from itoscope.expressions import mathml
from itoscope.posterior import fragments
from itoscope.posterior.words import near_notes
from itoscope.show import html
from itoscope.show import text as summary
from itoscope.show.explorer import explorer
from itoscope.show.plots import Plots

if TYPE_CHECKING:
    from os import PathLike

    from itoscope.result.laws import Laws

__all__ = ["page", "write"]

STYLE = """
:root { color-scheme: light dark; --ground: #f5f5f3; --paper: #fff; --ink: #1c1c1c; --faint: #555; --line: #ddd;
  --link: #0060a0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #101214; --paper: #17191c; --ink: #dcdcda; --faint: #a0a3a6; --line: #3a3d40; --link: #6db3e8; }
  figure svg, .explorer { filter: invert(0.87) hue-rotate(180deg); } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem clamp(0.9rem, 4vw, 3rem) 4rem;
  background: var(--paper); min-height: 100vh; }
.explorer { color: #1c1c1c; color-scheme: light; }
h1 { font-size: clamp(1.35rem, 4vw, 1.9rem); line-height: 1.2; margin: 0.6rem 0 0.2rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 0.6rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--line); }
.lead, figcaption, .note { color: var(--faint); }
.lead { margin-top: 0; }
figure { margin: 1.2rem 0 1.8rem; }
figure .scroll { border: 0; }
figure svg { display: block; width: min(100%, var(--width)); height: auto; }
figcaption { font-size: 0.9rem; margin-top: 0.3rem; max-width: 46rem; }
.itoscope { line-height: 1.6; }
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", math; }
.itoscope .equation { font-size: 1.18rem; margin: 0.7rem 0; }
.itoscope table { font-size: 0.92rem; }
table.plain td { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
table.plain td:first-child { white-space: nowrap; color: var(--faint); padding-left: 0; }
code { font: 0.88em/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
.good { border-left: 3px solid #009e73; padding: 0.25em 0.8em; }
nav { margin: 0.8rem 0 0; font-size: 0.92rem; } nav a { color: var(--link); margin-right: 1.1em; white-space: nowrap; }
@media (max-width: 30rem) {
  .itoscope .equation { font-size: 1.02rem; padding-left: 1.2em; text-indent: -1.2em; }
  .itoscope table th, .itoscope table td { padding: 0.22em 0.4em; font-size: 0.86rem; } }
@media screen and (max-width: 48rem) { figure.wide svg { width: var(--width); } }
@page { margin: 16mm 15mm; }
@media print {
  body { background: none; font-size: 10.5pt; }
  main { background: none; max-width: none; min-height: 0; padding: 0; }
  nav { display: none; }
  h2 { margin-top: 1.4rem; break-after: avoid; }
  #settings { break-inside: avoid; }
  figure, tr, .equation, .warning, .good { break-inside: avoid; }
  figure { margin: 0.6rem 0 1rem; }
  figure svg { max-height: 21cm; }
  .itoscope .scroll { overflow: visible; } }
"""

#: Each picture: title of its section, name in `Plots`, caption; `wide` ones scroll sideways on a narrow screen.
PIP = (
    "Inclusion probability of every candidate term. Filled: selected, above the threshold at the dashed line."
)
FIT = (
    "Points: means of the data in bins of equal count, with one standard error. Line: the model averaged over the same "
    "samples, with a band of two standard deviations of its coefficients."
)
RESIDUALS = (
    "Standardised residuals. Left: their quantiles against those of a normal law, with the region where 95 % of them "
    "would lie. Right: autocorrelation; independent residuals stay in the grey band 19 times out of 20."
)
FIT_NOISY = (
    "Line: the model averaged over the smoothed states, with a band of two standard deviations of its coefficients. "
    "Points: the same model with straight pieces let in, as far as the innovations of the filter bend it, with one "
    "standard error."
)
INNOVATIONS = (
    "Standardised innovations of the filter. Left: their quantiles against those of a normal law, with the region "
    "where 95 % of them would lie. Right: autocorrelation; independent ones stay in the grey band 19 times out of 20."
)
CHECKS = (
    "What the checks look at; those that fired are named in vermilion. Law, neighbours and sums of standardised "
    "residuals; the recording beside simulated ones; mean and variance by state, over the time and by recording, with "
    "bars of two standard errors about what they should be."
)
POSTERIOR = (
    "Draws of each coefficient (bars), its law given the selected terms (line) and 95 % interval (bar below)."
)
PAIRS = "Joint draws of two coefficients, and ellipses that hold 50 % and 95 % of a normal law."
TRACE = "Every chain in its own colour. Chains that lie over each other have found the same posterior."
FORECAST = "Paths of models drawn from the posterior, started where the first recorded path starts, against that path."
DATA = "The recording."
SENSORS = (
    "What each sensor showed (points), and what it would have shown of the smoothed states without noise, with a band "
    "that holds 95 %; rings are outliers."
)


def write(
    result: Laws, path: str | PathLike[str], title: str | None = None, interactive: bool = False
) -> None:
    """Write the page; see `Discovery.report`."""
    text = page(result, title, interactive=interactive, written=date.today().isoformat())
    with replacing(path) as beside:
        Path(beside).write_text(text, encoding="utf-8")


def page(result: Laws, title: str | None = None, *, interactive: bool = False, written: str = "") -> str:
    """The page as text; with `interactive` a section to explore, with `written` a date."""
    sections = [
        ("Equations", _equations(result)),
        ("Warnings" if result.warnings else "Checks", _warnings(result)),
        *([("Explore", explorer(result))] if interactive else []),
        ("Terms", _terms(result, drawn=not interactive)),
        ("Fit", _fit(result, drawn=not interactive)),
        ("Coefficients", _coefficients(result, drawn=not interactive)),
        ("Settings", _settings(result, written)),
    ]
    links = " ".join(f'<a href="#{name.lower()}">{name}</a>' for name, _ in sections)
    body = "".join(f'<section id="{name.lower()}"><h2>{name}</h2>{text}</section>' for name, text in sections)
    heading = escape(
        title or f"Discovered {'stochastic' if result.diffusion else 'ordinary'} differential equation"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{heading}</title><link rel="icon" href="data:,"><style>{mathml.STYLE}{STYLE}</style></head><body>'
        f'<main class="itoscope"><h1>{heading}</h1><p class="lead">{escape(_lead(result))}</p><nav>{links}</nav>'
        f"{body}</main></body></html>\n"
    )


def _lead(result: Laws) -> str:
    lead = summary.headline(result).partition("differential equation")[2].strip()
    return f"{lead[:1].upper()}{lead[1:]}. Coefficients are given with one standard deviation."


def _equations(result: Laws) -> str:
    text = html.equations_html(result)
    note = "B is Brownian motion" if len([a for a, b in result.diffusion if a == b]) == 1 else (
        "dB are independent Brownian motions, and g any matrix with g gᵀ = Γ" if result.diffusion else ""
    )  # fmt: skip
    if note:
        text += f'<p class="note">{note}.</p>'
    if result.measurement_noise:
        text += f"<p>Measurement noise: {escape(summary.noise_text(result))}.</p>"
    return text


def _warnings(result: Laws) -> str:
    checks = result.diagnostics.get("checks", [])
    passed = [check for check in checks if not check.get("fired")]
    text = html.advice_html(result) + fragments.warnings_html(result.warnings)
    if passed:
        names = ", ".join(dict.fromkeys(str(check["name"]) for check in passed))
        text += f'<p class="good">{len(passed)} checks found nothing ({escape(names)}).</p>'
    return text or "<p>No checks were made.</p>"


def _terms(result: Laws, *, drawn: bool) -> str:
    near = "".join(f'<p class="near">{escape(note)}</p>' for note in near_notes(result.labelled()))
    return html.terms_html(result) + near + (_figure(Plots(result).pip, PIP) if drawn else "")


def _fit(result: Laws, *, drawn: bool) -> str:
    """Pictures of the fit; those that there is to explore are not `drawn` again."""
    parts = []
    data = result.data
    if data is not None and drawn:
        parts.append(_figure(data.plot, DATA))
    fit = (Plots(result).fit, FIT if result.observer is None else FIT_NOISY)
    for draw, caption in (
        *((fit,) if drawn else ()),
        (Plots(result).residuals, RESIDUALS if result.observer is None else INNOVATIONS),
        (Plots(result).checks, CHECKS),
        (partial(Plots(result).forecast, seed=result.settings.get("seed", 0)), FORECAST),
        (Plots(result).states, "Smoothed states with two standard deviations, against what was measured."),
        *(((Plots(result).sensors, SENSORS),) if result.settings.get("observed") or result.outliers else ()),
    ):
        try:
            parts.append(_figure(draw, caption))
        except (ArgumentError, ArithmeticError):
            continue  # the picture needs data that this result does not have
    return "".join(parts) or '<p class="note">The recording is not stored with a saved result.</p>'


def _coefficients(result: Laws, *, drawn: bool) -> str:
    parts = []
    for label, equation in result.labelled():
        parts.append(_figure(partial(Plots(result).posterior, label), f"{label}: {POSTERIOR}"))
        if equation.selected.sum() > 1:
            parts.append(_figure(partial(Plots(result).pairs, label), f"{label}: {PAIRS}", wide=False))
        if drawn:
            parts.append(_figure(partial(Plots(result).trace, label), f"{label}: {TRACE}"))
    return "".join(parts)


def _settings(result: Laws, written: str) -> str:
    rows = {key: _value(value) for key, value in result.settings.items()}
    versions = {"itoscope": __version__, "NumPy": np.__version__, "Python": platform.python_version()}
    versions["Matplotlib"] = require("matplotlib", "plot", "A report").__version__
    rows |= {"written": written} if written else {}
    rows["versions"] = ", ".join(f"{name} {version}" for name, version in versions.items())
    body = "".join(
        f"<tr><td>{escape(key)}</td><td><code>{escape(value)}</code></td></tr>" for key, value in rows.items()
    )
    return f'<table class="plain"><tbody>{body}</tbody></table>'


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_value(entry)}" for key, entry in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(_value(entry) for entry in value)
    return number(value, 6) if isinstance(value, float) else str(value)


# -- pictures ------------------------------------------------------------------------------------------------
def _figure(draw: Callable[[], Any], caption: str, *, wide: bool = True) -> str:
    """Draw, and return the picture as SVG inside the page."""
    matplotlib = require("matplotlib", "plot", "A report")
    pyplot = require("matplotlib.pyplot", "plot", "A report")
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "itoscope", "figure.dpi": 100}):
        backend_on = pyplot.isinteractive()
        pyplot.ioff()
        try:
            axes = draw()
            figure = np.atleast_1d(np.asarray(axes, dtype=object)).flat[0].figure
            text = io.StringIO()
            figure.savefig(
                text, format="svg", metadata={"Date": None, "Creator": None}, transparent=True, dpi=110
            )
            pyplot.close(figure)
        finally:
            if backend_on:
                pyplot.ion()
    return (
        f'<figure class="{"wide" if wide else "small"}"><div class="scroll">{_inline(text.getvalue(), caption)}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _inline(svg: str, label: str) -> str:
    """An SVG document as an element of a page: no prolog, and identifiers that no other picture of the page has."""
    svg = svg[svg.index("<svg") :]
    prefix = f"p{zlib.crc32((label + svg).encode()):x}-"
    svg = re.sub(r'(?<=[\s]id=")', prefix, svg)
    svg = re.sub(r'(?<=href="#)', prefix, svg)
    svg = re.sub(r"(?<=url\(#)", prefix, svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    size = re.search(r'width="([\d.]+)pt"', svg)
    width = f"{float(size[1]) / 0.72:.0f}px" if size else "100%"
    about = f'<svg role="img" style="--width: {width}" aria-label="{escape(label, quote=True)}"'
    return svg.replace("<svg", about, 1)
