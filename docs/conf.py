"""Settings of the documentation; `make docs` builds it into site/."""

import itoscope

project = "itoscope"
author = "the itoscope developers"
release = version = itoscope.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
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

html_theme = "furo"
html_title = f"itoscope {version}"


def _escape_bars(app, what, name, obj, options, lines):
    """Names such as |x1| are no substitutions of reStructuredText."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app):
    """Hook into autodoc."""
    app.connect("autodoc-process-docstring", _escape_bars)
