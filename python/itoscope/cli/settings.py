"""A settings file: the long options of a command as TOML or YAML, read as if they stood before those of the shell."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any

from itoscope.common.extras import require
from itoscope.errors import argument_error

__all__ = ["SUFFIXES", "read", "words_of"]

SUFFIXES = (".toml", ".yaml", ".yml")
NOT_IN_A_FILE = ("help", "settings")


def read(path: str) -> dict[str, Any]:
    """Return the keys and values of a settings file.

    Raises
    ------
    ArgumentError
        For another suffix, or a file that is not what its suffix says, with the line.
    """
    kind = Path(path).suffix.lower()
    if kind not in SUFFIXES:
        raise argument_error("--settings", path, f"a name that ends in {', '.join(SUFFIXES)}")
    content = Path(path).read_bytes()
    try:
        found = _toml(content) if kind == ".toml" else _yaml(content)
    except (ValueError, RecursionError) as problem:
        raise argument_error("--settings", path, f"valid {kind[1:].upper()}; {problem}") from problem
    if not isinstance(found, dict):
        raise argument_error("--settings", path, "lines of NAME: VALUE, as dt: 0.001")
    return found


def _toml(content: bytes) -> Any:
    try:
        tomllib = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        tomllib = require("tomli", "cli", "A settings file in TOML before Python 3.11")
    return tomllib.loads(content.decode())


def _yaml(content: bytes) -> Any:
    yaml = require("yaml", "cli", "A settings file in YAML")
    try:
        return yaml.safe_load(content) or {}
    except yaml.YAMLError as problem:
        raise ValueError(" ".join(str(problem).split())) from problem


def words_of(
    path: str, parser: argparse.ArgumentParser, positional: str | None
) -> tuple[list[str], str | None]:
    """Return the options of a settings file as words of the shell, and what it says of the positional argument.

    Parameters
    ----------
    path : str
    parser : ArgumentParser
        Of the subcommand: its long options are the keys that are allowed.
    positional : str or None
        The key of its positional argument, such as `file`.
    """
    options: dict[str, argparse.Action] = {}
    for action in parser._actions:
        for text in action.option_strings:
            if text.startswith("--") and not text.startswith("--no-"):
                options[text[2:]] = action
    allowed = sorted(set(options) - set(NOT_IN_A_FILE) | ({positional} if positional else set()))
    words: list[str] = []
    given = None
    for key, value in read(path).items():
        name = str(key).replace("_", "-")
        if name not in allowed:
            raise argument_error(f"key in {path}", key, f"one of {', '.join(allowed)}")
        if name == positional:
            given = _one(path, name, value)
            continue
        words += _words(path, name, value, options[name])
    return words, given


def _words(path: str, name: str, value: Any, action: argparse.Action) -> list[str]:
    """The words of one key: none for false, several for an option that may be repeated, commas between others."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise argument_error(f"{name} in {path}", value, "true or false")
        return [f"--{name}"] if value else []
    if action.default == [] or isinstance(action, argparse._AppendAction):
        return [f"--{name}={word}" for word in _several(path, name, value)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [f"--{name}={','.join(_one(path, name, entry) for entry in value)}"]
    return [f"--{name}={_one(path, name, value)}"]


def _several(path: str, name: str, value: Any) -> list[str]:
    """`{x1 = "x2"}` and `["x1=x2"]` alike."""
    if isinstance(value, Mapping):
        return [f"{key}={_one(path, name, entry)}" for key, entry in value.items()]
    return [_one(path, name, entry) for entry in (value if isinstance(value, list) else [value])]


def _one(path: str, name: str, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(entry, int | float) for entry in value):
        return ",".join(repr(entry) for entry in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float | date | time):
        raise argument_error(f"{name} in {path}", value, "a number or a text, or a list of them")
    return value if isinstance(value, str) else repr(value) if isinstance(value, int | float) else str(value)
