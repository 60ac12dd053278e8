"""Every number that decides something about a fit: what it is, and the study behind it.

    python benches/accuracy/constants.py              # list them
    python benches/accuracy/constants.py KINK NEAR    # run the studies of some, all with --all
    python benches/accuracy/constants.py --page       # write docs/constants.md from the code and the results

Results are kept in constants.json, each with the value that it was found for.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import pkgutil
import re
import time
import tokenize
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "itoscope"
CORE = ROOT / "rust" / "core" / "src"
RESULTS = Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "constants.md"

FOLDERS = ("checks", "common", "fit", "posterior", "result", "stats")

#: Where a constant is studied by the same noisy recordings as all others, unless it has a study of its own.
FILTERED = "fit.filtered."

#: Values of functions, in the core.
MATHEMATICAL = {"LOG_2PI", "SQRT_3", "LN2_HIGH", "LN2_LOW", "MM"}


@dataclass(frozen=True)
class Constant:
    """A number at the top of a module: its full name, its value as written, what the code says of it."""

    name: str
    value: str
    meaning: str


def numeric(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone, names of other constants included."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    if isinstance(node, (ast.Tuple, ast.List)):
        return bool(node.elts) and all(numeric(e) for e in node.elts)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "range" and all(map(numeric, node.args))
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        return all(numeric(p) or isinstance(p, ast.Name) for p in parts) and any(map(numeric, parts))
    return False


def _assigned(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    """Names and values of an assignment, those of a tuple one by one."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        return [(node.target.id, node.value)]
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return [(t.id, v) for t, v in zip(target.elts, value.elts) if isinstance(t, ast.Name)]
    return []


def _meaning(lines: list[str], body: list[ast.stmt], n: int) -> str:
    """The string after an assignment, else the comment before it or behind it."""
    after = body[n + 1] if n + 1 < len(body) else None
    if (
        isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    ):
        return " ".join(after.value.value.split())
    above, at = [], body[n].lineno - 2
    while at >= 0 and lines[at].startswith("#"):
        above.insert(0, lines[at].lstrip("#: ").strip())
        at -= 1
    behind = lines[body[n].end_lineno - 1].partition("  # ")[2]
    return " ".join(above) or behind.strip()


def of_python() -> list[Constant]:
    """Numbers at the top of the modules that fit, check and sample."""
    found = []
    for folder in FOLDERS:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            with tokenize.open(file) as source:
                text = source.read()
            body = ast.parse(text).body
            module = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
            for n, node in enumerate(body):
                for name, value in _assigned(node):
                    if numeric(value) and not name.startswith("__"):
                        meaning = _meaning(text.splitlines(), body, n)
                        found.append(Constant(f"{module}.{name}", ast.unparse(value), meaning))
    return found


def of_rust() -> list[Constant]:
    """Numbers at the top of the core's modules, tests aside."""
    found = []
    for file in sorted(CORE.rglob("*.rs")):
        if file.stem == "tests":
            continue
        text = file.read_text().split("#[cfg(test)]")[0]
        module = "::".join(file.relative_to(CORE).with_suffix("").parts).removesuffix("::mod")
        pattern = r"((?:^/// .*\n)*)^(?:pub(?:\(\w+\))? )?const (\w+): (?:f64|usize|u32|u64|i32) = ([^;]+);"
        for doc, name, value in re.findall(pattern, text, re.MULTILINE):
            meaning = " ".join(line.removeprefix("/// ") for line in doc.splitlines())
            if name not in MATHEMATICAL:
                found.append(Constant(f"{module}::{name}", value, meaning))
    return found


@contextmanager
def patched(name: str, value: Any) -> Iterator[bool]:
    """The constant with another value, in its module and wherever it was imported by name; whether it is its own."""
    home, short = f"itoscope.{name.rsplit('.', 1)[0]}", name.rsplit(".", 1)[1]
    own = getattr(importlib.import_module(home), short)
    holders = [
        module
        for key, module in modules().items()
        if vars(module).get(short) is own
        and (key == home or _imports(Path(str(module.__file__)), home, short))
    ]
    try:
        for module in holders:
            setattr(module, short, value)
        yield value == own
    finally:
        for module in holders:
            setattr(module, short, own)


@cache
def modules() -> dict[str, ModuleType]:
    """All modules of the package: one imported later would keep a value that was tried."""
    names = [module.name for module in pkgutil.walk_packages([str(PACKAGE)], "itoscope.")]
    return {name: importlib.import_module(name) for name in names if not name.endswith(("__main__", "_core"))}


def _imports(file: Path, home: str, short: str) -> bool:
    nodes = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ImportFrom)]
    return any(node.module == home and short in [alias.name for alias in node.names] for node in nodes)


def study(name: str) -> str:
    """What the study of a constant says; one of the core is studied in the reference."""
    from constant_list import STUDIES, TWINS, fits
    from constant_studies import row

    if name in TWINS:
        twin, plan = TWINS[name]
        inside = f"backends.reference.{twin}"
    else:
        inside, plan = name, STUDIES[name] if name in STUDIES or not name.startswith(FILTERED) else fits()
    module, short = inside.rsplit(".", 1)
    own = getattr(importlib.import_module(f"itoscope.{module}"), short)
    values = plan.tried(own)
    shown = [list(v) if isinstance(v, (tuple, range)) else v for v in values]
    return f"{row(shown)}: {plan.run(values, lambda value: patched(inside, value))}"


def kept() -> dict[str, dict[str, str]]:
    """The results of earlier studies."""
    found: dict[str, dict[str, str]] = json.loads(RESULTS.read_text())
    return found


def page() -> str:
    """The page, from the code and the results."""
    from constant_list import CORE, NO_STUDY

    results, reasons = kept(), NO_STUDY | CORE
    parts = [
        PAGE.read_text().split("<!-- constants -->\n")[0]
        + "<!-- constants -->\n<!-- Written by constants.py from the code, constant_list.py and constants.json. -->"
    ]
    python, rust = of_python(), of_rust()
    groups = {f"`{folder}`": [c for c in python if c.name.startswith(f"{folder}.")] for folder in FOLDERS}
    for title, group in {**groups, "The core": rust}.items():
        parts.append(f"\n## {title}\n\n| constant | value | meaning | study |\n| --- | --- | --- | --- |")
        for c in group:
            known = results.get(c.name, {})
            found = known.get("found") if known.get("value") == c.value else None
            words = found or reasons.get(c.name) or "none yet"
            parts.append(f"| `{c.name}` | `{c.value}` | {_cell(c.meaning)} | {_cell(words)} |")
    return "\n".join(parts) + "\n"


def written(text: str) -> dict[str, str]:
    """Names and values in the tables that are written by hand; names of one row share the module of the first."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            names, values = line.split(" | ")[:2]
            module = ""
            quoted = re.findall(r"`([\w.]+)`(?!/)", names.split(", in the core")[0])
            for name, value in zip(quoted, re.split(r", (?!\d{3}\b)|,(?= \d)", values)):
                module = name.rsplit(".", 1)[0] if "." in name else module
                found[f"{module}.{name.rsplit('.', 1)[-1]}"] = value.strip().replace(" 000", "000")
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="constants, by the end or by the folders of their name")
    parser.add_argument("--all", action="store_true", help="run every study")
    parser.add_argument(
        "--missing",
        action="store_true",
        help="run the studies, of those named or of all, without a result for today's value",
    )
    parser.add_argument("--page", action="store_true", help="write docs/constants.md")
    arguments = parser.parse_args()
    import itoscope
    from constant_list import NO_STUDY, TWINS

    itoscope.set_threads(1)
    for constant in [*of_python(), *(c for c in of_rust() if c.name in TWINS)]:
        name = constant.name.replace("::", ".")
        asked = any(
            f".{name}".endswith(f".{word}") or name.startswith(f"{word}.") for word in arguments.names
        )
        asked |= arguments.all or not arguments.names
        if arguments.missing:
            asked &= kept().get(constant.name, {}).get("value") != constant.value
        if not (arguments.names or arguments.all or arguments.missing):
            if not arguments.page:
                print(f"{constant.name} = {constant.value}: {constant.meaning}")
            continue
        if not asked or constant.name in NO_STUDY:
            continue
        began = time.process_time()
        found = study(constant.name)
        results = {**kept(), constant.name: {"value": constant.value, "found": found}}
        RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False) + "\n")
        print(f"{constant.name}: {found}  [{time.process_time() - began:.0f} s]", flush=True)
    if arguments.page:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
