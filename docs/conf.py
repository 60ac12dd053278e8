"""Settings of the documentation; `make docs` builds it into site/."""

import itoscope
from docutils import nodes
from latex2mathml.converter import convert

project = "itoscope"
author = "the itoscope developers"
copyright = author
release = version = itoscope.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
# Single backticks in docstrings name arguments and functions.
default_role = "code"
# A shape such as (n_times, n_states) in the type of an attribute is no reference.
suppress_warnings = ["ref.python"]

# Formulas are MathML, which browsers draw by themselves: no script, no network.
html_math_renderer = "mathml"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["page.css"]
html_title = f"itoscope {version}"


def _escape_bars(app, what, name, obj, options, lines):
    """Names such as |x1| are no substitutions of reStructuredText."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def _formula_in_line(self, node):
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _formula_by_itself(self, node):
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app):
    """Hook into autodoc, and draw formulas."""
    app.connect("autodoc-process-docstring", _escape_bars)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(_formula_in_line, None),
        block_renderers=(_formula_by_itself, None),
    )
