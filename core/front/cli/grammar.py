"""Grammar of the command line: every command and option, with its help.

Stands on argparse, so that `--help` answers before the program's values load.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence

from core import __version__
from core.front.cli.grammar_memory import (
    add_autonomy,
    add_backup,
    add_forget,
    add_harvest,
    add_import,
    add_index,
    add_knowledge,
    add_mcp,
    add_search,
    add_secrets,
)
from core.front.cli.parser import AnsweredError, CommandParsers, Parser, WrongUsageError, add_command, near
from core.front.cli.version import PROGRAM, put, version_text

TYPE_CHECKING = False  # `typing` itself takes longer to load than the help may
if TYPE_CHECKING:
    from typing import NoReturn

# Grammar of the commands that talk and that order what was said: `send`, `context`, `discussions`.

USAGE_BY = ("day", "week", "month", "provider", "model", "discussion", "kind")
"""The members of `core.kernel.values.usage.UsageBy`."""
EFFORTS = ("auto", "none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The members of `core.kernel.values.provider.Effort`, whose module takes longer to load than all of the help."""


FLAG_ACTS = (
    ("pin", "keep one at the head of the list"),
    ("unpin", "let one back into the order of time"),
    ("archive", "take one out of the list"),
    ("unarchive", "put one back into the list"),
)
"""The acts of `core.kernel.values.discussion.FLAGS`, whose module takes longer to load than all of the help."""


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the option that trusts the folder first."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="trust first, for good, what this project asks for; it is printed",
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", metavar="ID", default="", help="who answers (see `models`)")
    parser.add_argument("--model", metavar="NAME", default="", help="the provider's name of the model")
    parser.add_argument("--preset", metavar="NAME", default=None, help="the context preset; empty for none")
    parser.add_argument("--persona", metavar="NAME", default=None, help="the persona; empty for none")
    parser.add_argument(
        "--system", metavar="NAME", default=None, help="the system prompt preset; empty for none"
    )


def add_send(commands: CommandParsers, common: Parser) -> None:
    """Add `send`."""
    parser = add_command(
        commands,
        common,
        "send",
        "send one message and print the reply as it comes",
        "What is piped in follows the text. Ctrl+C stops the reply and keeps its part.",
    )
    parser.add_argument("text", nargs="*", help="the message; `-` or nothing takes it from standard input")
    parser.add_argument(
        "--discussion",
        metavar="ID",
        default="new",
        help="an id or its start, a name, `last`, or `new` (default)",
    )
    _add_model(parser)
    parser.add_argument("--effort", choices=EFFORTS, default="", help="how hard a reasoning model thinks")
    parser.add_argument(
        "--temperature",
        metavar="T",
        type=float,
        default=None,
        help="of the replies, where the model takes one",
    )
    parser.add_argument("--max-output", metavar="TOKENS", type=int, default=None, help="the longest reply")
    parser.add_argument(
        "--attach", metavar="FILE", action="append", default=[], help="attach a file; may be repeated"
    )
    parser.add_argument("--template", metavar="NAME", default="", help="begin with a prompt template")
    parser.add_argument(
        "--var",
        metavar="NAME=TEXT",
        action="append",
        default=[],
        help="a variable of the template; may be repeated",
    )
    parser.add_argument("--editor", action="store_true", help="write the message in $VISUAL or $EDITOR first")
    parser.add_argument("--show-reasoning", action="store_true", help="print reasoning on standard error")
    parser.add_argument("--retry", action="store_true", help="send the discussion's failed message again")
    parser.add_argument("--over-limit", action="store_true", help="send it although a spend limit is reached")
    parser.add_argument(
        "--compare",
        metavar="MODELS",
        default="",
        help="put it to two to four models, `NAME,PROVIDER/NAME`; each reply is a version",
    )
    parser.add_argument(
        "--without-memory",
        action="store_true",
        help="with --compare: the first model once more without memory",
    )
    tools = parser.add_mutually_exclusive_group()
    tools.add_argument(
        "--tools",
        action="store_true",
        help="give the model tools in this discussion; what must be asked is asked on this terminal",
    )
    tools.add_argument(
        "--no-tools", action="store_true", help="give the model no tools in this discussion from now on"
    )
    parser.add_argument(
        "--queue", action="store_true", help="wait for the end of a reply that the window is receiving"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print the reply and nothing else")
    add_trust(parser)


def add_context(commands: CommandParsers, common: Parser) -> None:
    """Add `context`."""
    parser = add_command(
        commands,
        common,
        "context",
        "print the stack that a model would see, and the length of its stable prefix",
        "Nothing is sent, nothing is written.",
    )
    parser.add_argument(
        "--discussion",
        metavar="ID",
        default="",
        help="an id or its start, a name, `last`, or `new` (default)",
    )
    parser.add_argument("--message", metavar="TEXT", default=None, help="layer 12 (the discussion's draft)")
    parser.add_argument("--text", action="store_true", help="the whole canonical text, nothing else")
    _add_model(parser)
    add_trust(parser)


def add_why(commands: CommandParsers, common: Parser) -> None:
    """Add `why`."""
    parser = add_command(
        commands,
        common,
        "why",
        "tell why a discussion's cache was missed, and what its next message will cost",
        "Nothing is sent.",
    )
    parser.add_argument(
        "id", nargs="?", default="last", help="an id or its start, a name, or `last` (the default)"
    )


def add_discussions(commands: CommandParsers, common: Parser) -> None:
    """Add `discussions` and its actions."""
    parser = add_command(commands, common, "discussions", "list, read, export and order discussions")
    actions = parser.add_commands("action")
    lister = add_command(actions, common, "list", "list them, newest first (the default)")
    for listed in (parser, lister):
        default = "" if listed is parser else argparse.SUPPRESS
        listed.add_argument(
            "--search", metavar="TEXT", default=default, help="only those in which a text occurs"
        )
        listed.add_argument(
            "--all",
            action="store_true",
            default=False if listed is parser else argparse.SUPPRESS,
            help="archived ones too",
        )
    for name, about in (
        ("show", "print one as Markdown, or with --json as JSON"),
        ("export", "write one to a file"),
        ("rename", "give one another name"),
        *FLAG_ACTS,
        ("compact", "let the beginning of one leave what its model sees; says what that cost"),
        ("delete", "move one to the trash"),
        ("restore", "bring one back from the trash"),
    ):
        action = add_command(actions, common, name, about)
        needed = None if name != "export" else "?"
        action.add_argument("id", nargs=needed, default="", help="an id or its start, a name, or `last`")
        if name == "export":
            action.add_argument(
                "--format",
                choices=("markdown", "json", "page"),
                default="markdown",
                help="`page` stands alone in a browser, and runs no script",
            )
            action.add_argument(
                "--every", action="store_true", help="all of them, each a file in the folder --out"
            )
            action.add_argument("--out", metavar="FILE", default="-", help="where to (standard output)")
            action.add_argument("--replace", action="store_true", help="write over a file that is there")
        if name == "rename":
            action.add_argument("name", help="the new name")


# Grammar of the commands about this machine and its settings: `tour`, `presets`, `models`, `doctor`,
# `trust`, `key`.

TOUR_OUT = "out/tour"
TOUR_CHAPTERS = (
    *("start", "talk", "caching", "preset", "question", "context"),
    *("search", "harvest", "attach", "import", "retrieval", "agent", "among", "theme"),
)
"""Parts of the tour, in its order."""


def add_tour(commands: CommandParsers, common: Parser) -> None:
    """Add the window driven through its main job."""
    parser = add_command(commands, common, "tour", "drive the real window through its main job")
    parser.add_argument(
        "--out", metavar="DIR", default=TOUR_OUT, help=f"where its screenshots go ({TOUR_OUT})"
    )
    chapters = f"{', '.join(TOUR_CHAPTERS[:-1])} or {TOUR_CHAPTERS[-1]}"
    parser.add_argument(
        "--until",
        metavar="CHAPTER",
        default="",
        choices=("", *TOUR_CHAPTERS),
        help=f"end it after {chapters} (all of it)",
    )


def add_lists(commands: CommandParsers, common: Parser) -> None:
    """Add `presets`, `models`, `usage`, `doctor` and `desktop`."""
    presets = add_command(
        commands, common, "presets", "list the project's context presets, personas and system prompts"
    )
    add_trust(presets)
    models = add_command(commands, common, "models", "list providers and their models")
    models.add_argument("provider", nargs="?", default="", help="only this one")
    models.add_argument("--refresh", action="store_true", help="ask the providers' servers for their lists")
    models.add_argument(
        "--update-prices",
        action="store_true",
        help="take newer prices from the network, and go by them from now on",
    )
    usage = add_command(
        commands,
        common,
        "usage",
        "add up what calls have used and cost",
        "Discussions in the trash count too. A price that nobody knows adds nothing and is counted.",
    )
    usage.add_argument("--by", choices=USAGE_BY, default="model", help="what the rows tell apart (model)")
    usage.add_argument("--since", metavar="DAY", default="", help="the first day, as 2026-11-29")
    usage.add_argument("--until", metavar="DAY", default="", help="the last day")
    usage.add_argument("--csv", action="store_true", help="print a table for a spreadsheet")
    doctor = add_command(
        commands, common, "doctor", "check what is installed, found, configured and writable, with remedies"
    )
    doctor.add_argument(
        "--quick", action="store_true", help="do not start the embedded model and other programs"
    )
    doctor.add_argument(
        "--repair", action="store_true", help="repair what the program can, asking before each"
    )
    doctor.add_argument("--yes", action="store_true", help="with --repair: repair without being asked")
    desktop = add_command(
        commands,
        common,
        "desktop",
        "put the program into the desktop's menu, with icon, manual page and completion, or take it out",
        "For Linux. Without an option it says which files are there.",
    )
    what = desktop.add_mutually_exclusive_group()
    what.add_argument("--install", action="store_true", help="write the files, below ~/.local/share")
    what.add_argument("--remove", action="store_true", help="remove them")
    desktop.add_argument("--share", metavar="DIR", default="", help="where to, for packages (/usr/share)")
    desktop.add_argument("--program", metavar="PATH", default="", help="what the menu starts (this program)")


def add_settings(commands: CommandParsers, common: Parser) -> None:
    """Add `trust`, `key` and `servers`."""
    trust = add_command(
        commands, common, "trust", "let what a folder's manual_slop.toml asks for count, after showing it"
    )
    trust.add_argument("folder", nargs="?", default="", help="the folder (the current project)")
    trust.add_argument("--list", action="store_true", help="print the trusted folders")
    trust.add_argument("--yes", action="store_true", help="say yes to what is shown without being asked")
    trust.add_argument("--remove", action="store_true", help="stop trusting it")
    servers = add_command(
        commands,
        common,
        "servers",
        "list MCP servers, add some from JSON, and approve one after its questions on this terminal",
    )
    servers.add_argument("server", nargs="?", default="", help="its name, or `add`; without one, all of them")
    servers.add_argument(
        "json_text",
        nargs="?",
        default="",
        metavar="JSON",
        help='with `add`: {"mcpServers": …}; else from standard input',
    )
    servers.add_argument("--approve", action="store_true", help="show what it would start and offer, and ask")
    servers.add_argument("--forget", action="store_true", help="take the yes back")
    keys = add_command(
        commands,
        common,
        "key",
        "keep or remove a provider's key",
        "The key is read from standard input, never from the command line, where others could see it.",
    )
    keys.add_argument("provider", nargs="?", default="", help="its id; without one, where each key was found")
    keys.add_argument("--remove", action="store_true", help="remove it")


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
    parser = make_parser({*argv})
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
        from core.front.cli.output import error_data, open_console

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
    from core.front.cli.completion import script

    text = script(make_parser(), shell)
    raise AnsweredError(text, completion=text)


def _print(answer: AnsweredError, *, is_json: bool) -> NoReturn:
    """Print an answer, for programs as JSON, and end."""
    text = answer.text
    if is_json:
        import json

        text = json.dumps(answer.data, indent=2, sort_keys=True) + "\n"
    put(text)
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


def make_parser(named: Collection[str] | None = None) -> Parser:
    """The parser of the command line.

    Args:
        named: words that are asked about: the options of a command that is none of them are not made. None: all of them are.
    """
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
    commands = parser.add_commands("command", named)
    add_tour(commands, common)
    add_send(commands, common)
    add_context(commands, common)
    add_why(commands, common)
    add_discussions(commands, common)
    add_lists(commands, common)
    add_import(commands, common)
    add_mcp(commands, common)
    add_autonomy(commands, common)
    add_search(commands, common)
    add_index(commands, common)
    add_forget(commands, common)
    add_secrets(commands, common)
    add_backup(commands, common)
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


def _add_help(commands: CommandParsers, common: Parser) -> None:
    """Commands that end while the command line is read."""
    helper = add_command(commands, common, "help", "show the help of a command")
    helper.add_argument("words", nargs="*", metavar="COMMAND", help="a command, and its action")
    completion = add_command(
        commands,
        common,
        "completion",
        "print a script that lets a shell complete commands and options",
        'For bash: eval "$(manual-slop completion bash)" in ~/.bashrc; zsh likewise in ~/.zshrc; '
        "fish: manual-slop completion fish | source in config.fish.",
    )
    completion.add_argument("shell", choices=SHELLS, help="whose")
