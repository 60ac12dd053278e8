"""Run the guides and keep them as notebooks, with what they print and draw: `python docs/make_notebooks.py`."""

import base64
import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
GUIDES = ("structures", "tracks", "cells", "prices", "climate")
PIECE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n|^<!-- printed -->\n```text\n.*?^```\n|^!\[[^\]]*\]\((?P<picture>[^)]*)\)\n",
    re.S | re.M,
)
"""Code, what it prints, and what it draws."""
DOTS = 90


def notebook(guide: str, draw: bool = True) -> dict[str, Any]:
    """The guide as a notebook; where nothing is to be drawn nothing is run, and cells have no outputs."""
    page, cells, end = (HERE / "guides" / f"{guide}.md").read_text(), [], 0
    variables: dict[str, Any] = {}
    for piece in PIECE.finditer(page):
        words, end = page[end : piece.start()].strip(), piece.end()
        if words:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": _site(words)})
        if piece["code"] is not None:
            cells.append(_code(piece["code"].rstrip("\n"), variables, draw))
        elif piece["picture"] is not None and draw:
            cells[-1]["outputs"].append(_drawn(HERE / "guides" / piece["picture"]))
    if page[end:].strip():
        cells.append({"cell_type": "markdown", "metadata": {}, "source": _site(page[end:].strip())})
    for number, cell in enumerate(cells):
        cell["id"] = f"{guide}-{number}"
    language = {"name": "python", "pygments_lexer": "ipython3"}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": language},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _site(words: str) -> str:
    """Words of a page for a notebook: links to other pages and files lead nowhere there."""
    words = re.sub(r"\{download\}`[^`]*`", "this notebook", words)
    return re.sub(r"\[([^\]]+)\]\((?!http)[^)]*\)", r"\1", words)


def _code(source: str, variables: dict[str, Any], run: bool) -> dict[str, Any]:
    """A cell of code, with what it prints."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "source": source,
        "outputs": [],
    }
    if run:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(source, "cell", "exec"), variables)
        if out.getvalue():
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": out.getvalue()})
    return cell


def _drawn(target: Path) -> dict[str, Any]:
    """The last figure, written for the page and for the notebook."""
    plt.gcf().savefig(target, dpi=DOTS, metadata={"Software": None})
    plt.close("all")
    data = {"image/png": base64.b64encode(target.read_bytes()).decode(), "text/plain": "<Figure>"}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def main() -> None:
    """All of them."""
    (HERE / "notebooks").mkdir(exist_ok=True)
    for guide in GUIDES:
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                made = notebook(guide)
            finally:
                os.chdir(here)
        (HERE / "notebooks" / f"{guide}.ipynb").write_text(
            json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        )


if __name__ == "__main__":
    main()
