"""The command ``itoscope``: one module per subcommand, errors in one line, exit codes that scripts can rely on.

Exit codes: 0 done, 1 the data or the fit refuse, 2 the command was used wrongly, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from itoscope import __version__
from itoscope.cli import discover, paper, simulate
from itoscope.errors import ArgumentError, ExpressionError, ItoscopeError

__all__ = ["main"]

COMMANDS = (discover, simulate, paper)
"""Each has ``add(subparsers)``, which declares the subcommand and its ``run(arguments)``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv` (by default the words of the shell) and return its exit code."""
    parser = _parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("default")
            arguments.run(arguments)
            sys.stdout.flush()
        return 0
    except (ArgumentError, ExpressionError) as problem:
        return _fail(problem, 2, arguments.debug)
    except (ItoscopeError, OSError) as problem:
        if isinstance(problem, BrokenPipeError):
            # Whoever read our output has seen enough; Python must not complain when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _fail(problem, 1, arguments.debug)
    except KeyboardInterrupt:
        print("\nitoscope: interrupted", file=sys.stderr)
        return 130
    except Exception as problem:
        return _fail(problem, 1, arguments.debug)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="itoscope",
        description="Find the stochastic differential equation behind recorded motion whose input was never measured.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"itoscope {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return parser


def _fail(problem: BaseException, code: int, debug: bool) -> int:
    if debug:
        raise problem
    if isinstance(problem, OSError) and problem.filename is not None:
        text = f"{problem.filename}: {problem.strerror}"
    elif isinstance(problem, ExpressionError):
        # The line below the message points at a character.
        text = str(problem)
    else:
        text = " ".join(str(problem).split())
        if not isinstance(problem, ItoscopeError):
            text = f"{type(problem).__name__}: {text} (itoscope --debug COMMAND ... shows where)"
    print(f"itoscope: error: {text}", file=sys.stderr)
    return code


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print(f"itoscope: warning: {' '.join(str(message).split())}", file=sys.stderr)
