"""The command ``itoscope``: one module per subcommand, errors in one line, exit codes that scripts can rely on.

Exit codes: 0 done, 1 the data or the fit refuse or a check fires, 2 the command was used wrongly, 130 interrupted.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from itoscope import __version__
from itoscope.cli import check, completion, discover, forecast, look, paper, report, settings, simulate
from itoscope.errors import ArgumentError, ExpressionError, ItoscopeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["main"]

COMMANDS = (discover, look, check, simulate, forecast, report, paper, completion)
"""Each has ``add(subparsers)``, which declares the subcommand and its ``run(arguments)``; that may return a code."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is, and end with code 2."""
        self.exit(
            2, f"itoscope: error: {' '.join(message.split())} ({self.prog} --help shows what there is)\n"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv` (by default the words of the shell) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words[:1]
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        arguments = _parse(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    except (ItoscopeError, OSError) as problem:
        return _fail(problem, 1 if isinstance(problem, OSError) else 2, debug)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("default")
            code = arguments.run(arguments)
            sys.stdout.flush()
        return int(code or 0)
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


def _parse(words: list[str]) -> argparse.Namespace:
    """Parse twice where a settings file is named: its options come before those of the shell, which win."""
    parser, commands = _parser()
    if not words:
        parser.print_help()
        parser.exit()
    first = next((word for word in words if not word.startswith("-")), None)
    if first is not None and first not in commands:
        parser.error(f"no command {first!r}{_near(first, commands)}; there are {', '.join(commands)}")
    arguments, unknown = parser.parse_known_args(words)
    place = next(n for n, word in enumerate(words) if word in commands)
    own = commands[words[place]]
    if unknown:
        own.error(
            f"unrecognized arguments: {' '.join(unknown)}{_near(unknown[0], own._option_string_actions)}"
        )
    positional = own.get_default("positional")
    if getattr(arguments, "settings", None) is not None:
        more, given = settings.words_of(arguments.settings, own, positional)
        arguments = parser.parse_args([*words[: place + 1], *more, *words[place + 1 :]])
        if given is not None and getattr(arguments, positional) is None:
            setattr(arguments, positional, given)
    if positional is not None and getattr(arguments, positional) is None:
        own.error(f"the following arguments are required: {positional.upper()}")
    return arguments


def _near(word: str, known: Iterable[str]) -> str:
    """What may have been meant by a word that is not known."""
    found = difflib.get_close_matches(word.partition("=")[0], list(known), 1)
    return f", did you mean {found[0]}?" if found else ""


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = Parser(
        prog="itoscope",
        description="Find the stochastic differential equation behind recorded motion whose input was never measured.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"itoscope {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return parser, dict(subparsers.choices)


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
