"""Grammar of the command line: every command and option, with its help.

Stands on argparse, so that `--help` answers before the program's values load.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from core import __version__
from core.cli.grammar_memory import (
    add_autonomy,
    add_forget,
    add_harvest,
    add_import,
    add_index,
    add_knowledge,
    add_mcp,
    add_search,
    add_secrets,
)
from core.cli.grammar_setup import add_lists, add_settings, add_tour
from core.cli.grammar_talk import add_context, add_discussions, add_send
from core.cli.parser import AnsweredError, Commands, Parser, WrongUsageError, near
from core.cli.version import PROGRAM, put, version_text

SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\
exit codes: 0 well, 1 failed, 2 wrong usage, 130 interrupted
with --json an error is {"error": {"code", "message", "remedy", "where"}} on standard output

examples:
  manual-slop                                     open the window
  manual-slop send "Why is the sky blue?"         one turn in a new discussion
  git diff | manual-slop send "Review this" --preset core
  manual-slop send "And at night?" --discussion last
  manual-slop context --text                      what a model would see
  manual-slop doctor                              what is installed, found and configured
"""


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Args:
        argv: arguments without the program's name.

    Raises:
        SystemExit: with 2 and a line on standard error for wrong usage, with 0 for `--help` and `--version`.
    """
    parser = make_parser()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)  # a shell asks what may follow: ends here
    try:
        return _read(parser, argv)
    except AnsweredError as answer:
        _print(answer, is_json="--json" in argv)
    except WrongUsageError as error:
        _end(error, is_json="--json" in argv)


def _read(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    given, unknown = parser.parse_known_args(argv)
    if unknown:
        _meant(parser, given).refuse_unknown(unknown)
    if given.command == "help":
        _help(parser, given.words)
    if given.command == "completion":
        _complete(given.shell)
    if given.approvals_fd is not None and not given.headless:
        parser.error("--approvals-fd goes with --headless --hooks: the window asks by itself")
    if given.command and (given.hooks or given.test_clock):
        parser.error("--hooks and --test-clock go with the window or --headless, not with a command")
    return given


def _meant(parser: Parser, given: argparse.Namespace | None) -> Parser:
    """The parser of the command and action that a command line names."""
    words = (getattr(given, name, None) for name in ("command", "action"))
    return parser.below(word for word in words if word)


def refuse(reason: str, given: argparse.Namespace | None = None) -> NoReturn:
    """End with 2, the usage of the command that was meant and the reason on standard error."""
    is_json = given is not None and given.json
    _end(WrongUsageError(_meant(make_parser(), given), reason), is_json=is_json)


def _end(error: WrongUsageError, *, is_json: bool) -> NoReturn:
    """Say what is wrong with a command line, for programs as JSON too, and end with 2."""
    if is_json:
        from core.cli.output import error_data, open_console

        console = open_console()
        remedy = f"See `{error.parser.prog} --help`"
        console.json(error_data("wrong_usage", error.reason, remedy))
    error.parser.end_wrong(error.reason)


def _help(parser: Parser, words: Sequence[str]) -> NoReturn:
    """Answer with the help of a command or its action, or of the program."""
    for word in words:
        known = parser.commands()
        if word not in known:
            parser.error(f"there is no help for {word!r}{near(word, tuple(known))}")
        parser = known[word]
    parser.print_help()


def _complete(shell: str) -> NoReturn:
    """Answer with what a shell evaluates to complete this program's commands and options."""
    from argcomplete.shell_integration import shellcode

    script = shellcode([PROGRAM], shell=shell) + "\n"
    raise AnsweredError(script, completion=script)


def _print(answer: AnsweredError, *, is_json: bool) -> NoReturn:
    """Print an answer, for programs as JSON, and end."""
    put(json.dumps(answer.data, indent=2, sort_keys=True) + "\n" if is_json else answer.text)
    raise SystemExit(0)


class _ShowVersion(argparse.Action):
    """Answers with the version."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        del parser, namespace, values, option_string
        python = ".".join(map(str, sys.version_info[:3]))
        raise AnsweredError(version_text() + "\n", program=PROGRAM, version=__version__, python=python)


def make_parser() -> Parser:
    """The parser of the whole command line."""
    common = _common(argparse.SUPPRESS)
    parser = Parser(
        prog=PROGRAM,
        description="A desktop workbench for curated sessions with language models.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common(None)],
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    parser.add_argument("--headless", action="store_true", help="run without a window until stopped")
    parser.add_argument(
        "--hooks",
        action="store_true",
        help="let your other programs use it over loopback HTTP (docs/openapi.json)",
    )
    parser.add_argument(
        "--approvals-fd",
        metavar="N",
        type=int,
        default=None,
        help="with --headless --hooks: write a token that may approve to this descriptor, a pipe",
    )
    parser.add_argument("--test-clock", action="store_true", help="let tests put the clock forward over HTTP")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    add_tour(commands, common)
    add_send(commands, common)
    add_context(commands, common)
    add_discussions(commands, common)
    add_lists(commands, common)
    add_import(commands, common)
    add_mcp(commands, common)
    add_autonomy(commands, common)
    add_search(commands, common)
    add_index(commands, common)
    add_forget(commands, common)
    add_secrets(commands, common)
    add_harvest(commands, common)
    add_knowledge(commands, common)
    add_settings(commands, common)
    _add_help(commands, common)
    return parser


def _common(default: str | None) -> Parser:
    """Options that may stand before the command or behind it."""
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument(
        "--home", metavar="DIR", default=default, help="where your data lives (~/.manual_slop)"
    )
    parser.add_argument(
        "--project", metavar="DIR", default=default, help="the folder to work in (the current one)"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=default,
        help="a setting for this run; may be repeated",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        default=False if default is None else default,
        help="print JSON, for programs",
    )
    return parser


def _add_help(commands: Commands[Parser], common: Parser) -> None:
    """Commands that end while the command line is read."""
    helper = commands.add_parser(
        "help", parents=[common], help="show the help of a command", allow_abbrev=False
    )
    helper.add_argument("words", nargs="*", metavar="COMMAND", help="a command, and its action")
    completion = commands.add_parser(
        "completion",
        parents=[common],
        help="print a script that lets a shell complete commands and options",
        description='For bash: eval "$(manual-slop completion bash)" in ~/.bashrc; zsh likewise in ~/.zshrc; '
        "fish: manual-slop completion fish | source in config.fish.",
        allow_abbrev=False,
    )
    completion.add_argument("shell", choices=SHELLS, help="whose")
