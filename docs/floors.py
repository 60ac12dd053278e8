"""Write the floors of the package into architecture.md and pictures/floors.svg: `python docs/floors.py`.

The floors are those of the linter's list in pyproject.toml, what each owns is the first line of its files, and the rows
of the Rust core are those that rust/core/tests/layers.rs keeps.
"""

from __future__ import annotations

import ast
import re
import sys
from html import escape
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "itoscope"
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "pictures" / "floors.svg"

#: Neighbouring floors that serve one purpose, from the top, and their colour.
PARTS = {
    "what a user says and sees": (
        "#4477aa",
        ("__main__", "cli", "paper", "problems", "dask", "pandas", "polars", "xarray", "discovery", "show"),
    ),
    "from a question to findings": ("#228833", ("fit", "checks", "result")),
    "what is asked and what answers": ("#aa7700", ("posterior", "sde", "data", "library")),
    "the stages, twice": ("#aa3377", ("backends",)),
    "common ground": ("#666666", ("drawing", "expressions", "stats", "common", "errors")),
}


def floors() -> list[str]:
    """The floors from top to bottom, as the linter holds them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(contract["layers"] for contract in contracts if contract["type"] == "layers")


def rows() -> list[list[str]]:
    """The rows of the Rust core from bottom to top."""
    source = (ROOT / "rust/core/tests/layers.rs").read_text()
    body = source.split("const LAYERS", 1)[1].split("= ", 1)[1].split("];", 1)[0]
    return [re.findall(r'"(\w+)"', line) for line in body.splitlines() if '"' in line]


def owns(file: Path) -> str:
    """The first line of a Python file's docstring."""
    return (ast.get_docstring(ast.parse(file.read_text())) or "").splitlines()[0]


def home(floor: str) -> Path:
    """The file whose first line says what a floor owns."""
    folder = PACKAGE / floor
    return folder / "__init__.py" if folder.is_dir() else PACKAGE / f"{floor}.py"


def _code(text: str) -> str:
    return re.sub(r"``([^`]*)``", r"`\1`", text).replace("|", "\\|")


def table() -> str:
    """The floors, top to bottom, with what they own."""
    lines = ["| floor | owns |", "| --- | --- |"]
    lines += [f"| `{floor}` | {_code(owns(home(floor)))} |" for floor in floors()]
    return "\n".join(lines)


def _text(x: float, y: float, words: str, **style: object) -> str:
    given = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x}" y="{y}" {given}>{escape(words)}</text>'


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    place = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="4"'
    return f'<rect {place} fill="{colour}" fill-opacity="0.12" stroke="{colour}"/>'


def _core(x: float, width: float, top: float, step: float) -> list[str]:
    """The Rust column, from the row at `top` downward."""
    colour = PARTS["the stages, twice"][0]
    shapes = [_box(x, top, width, step - 6, colour)]
    shapes.append(_text(x + 12, top + 18, "rust/py: itoscope._core", font_weight="bold"))
    for index, names in enumerate(reversed(rows()), start=1):
        y = top + index * step
        shapes += [
            _box(x, y, width, step - 6, colour),
            _text(x + 12, y + 18, "rust/core: " + ", ".join(names)),
        ]
    return shapes


def picture() -> str:
    """The house as SVG: a floor imports from those below it; the core stands beside the backends."""
    step, left, width, core = 30, 12, 640, 290
    height = {floor: 12 + index * step for index, floor in enumerate(floors())}
    shapes = []
    for purpose, (colour, names) in PARTS.items():
        for floor in names:
            y = height[floor]
            shapes.append(_box(left, y, width, step - 6, colour))
            shapes.append(_text(left + 12, y + 17, floor, font_weight="bold"))
            shapes.append(
                _text(left + 112, y + 17, owns(home(floor)).split(":")[0].rstrip(".").replace("`", ""))
            )
        shapes.append(
            _text(left + width + 14, height[names[0]] + 17, purpose, fill=colour, font_style="italic")
        )
    x, y = left + width + 250, height["backends"] + 21
    shapes += _core(x, core, height["backends"], step)
    shapes.append(
        f'<path d="M{left + width} {y} H{x}" stroke="#aa3377" marker-end="url(#to)" stroke-dasharray="4 3"/>'
    )
    top = max(max(height.values()), height["backends"] + len(rows()) * step) + step + 6
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x + core + 12} {top}" font-family="sans-serif" '
        'font-size="13" fill="#222222">\n<title>The floors of itoscope, each above those that it imports</title>\n'
        '<defs><marker id="to" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#aa3377"/></marker></defs>\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>'
    )
    return "\n".join([head, *shapes, "</svg>", ""])


def page() -> str:
    """The page with its table renewed."""
    before, rest = PAGE.read_text().split("<!-- floors -->\n", 1)
    after = rest.split("<!-- /floors -->", 1)[1]
    return f"{before}<!-- floors -->\n{table()}\n<!-- /floors -->{after}"


if __name__ == "__main__":
    PAGE.write_text(page())
    PICTURE.write_text(picture())
