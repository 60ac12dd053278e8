"""``itoscope completion``: the script with which a shell completes commands, options and files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

__all__ = ["add"]

BASH = """\
_itoscope() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=( $(compgen -W "{commands}" -- "$current") )
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
  else
    COMPREPLY=( $(compgen -f -- "$current") )
  fi
}}
complete -o filenames -F _itoscope itoscope
"""


def add(subparsers: Any) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "completion",
        help="print the script with which a shell completes commands and options",
        description="Print the script with which a shell completes commands, options and files. For bash put "
        '`eval "$(itoscope completion bash)"` into ~/.bashrc, for zsh the like into ~/.zshrc; for fish write it to '
        "~/.config/fish/completions/itoscope.fish.",
        epilog="Example: itoscope completion bash",
        allow_abbrev=False,
    )
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
    parser.set_defaults(run=partial(run, subparsers))


def run(subparsers: Any, arguments: argparse.Namespace) -> None:
    """Print the script of a shell."""
    commands: Mapping[str, argparse.ArgumentParser] = subparsers.choices
    if arguments.shell == "fish":
        about = {action.dest: action.help or "" for action in subparsers._choices_actions}
        print("\n".join(_fish(commands, about)))
        return
    cases = "\n".join(
        f'    {name}) words="{" ".join(_options(parser))}" ;;' for name, parser in commands.items()
    )
    if arguments.shell == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(BASH.format(commands=" ".join(commands), cases=cases), end="")


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """The long options of a command."""
    return [text for action in parser._actions for text in action.option_strings if text.startswith("--")]


def _fish(commands: Mapping[str, argparse.ArgumentParser], about: Mapping[str, str]) -> Iterator[str]:
    """The lines for fish, with what each option means."""
    for name, parser in commands.items():
        yield f"complete -c itoscope -n __fish_use_subcommand -a {name} -d {_quoted(about.get(name, ''))}"
        for action in parser._actions:
            for text in action.option_strings:
                if text.startswith("--"):
                    said = _quoted((action.help or "").partition(" (default")[0])
                    yield f"complete -c itoscope -n '__fish_seen_subcommand_from {name}' -l {text[2:]} -d {said}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
