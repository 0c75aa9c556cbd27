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
from core.kernel.language import tr

TYPE_CHECKING = False  # `typing` itself takes longer to load than the help may
if TYPE_CHECKING:
    from typing import NoReturn

# Grammar of the commands that talk and that order what was said: `send`, `context`, `discussions`.

USAGE_BY = ("day", "week", "month", "provider", "model", "discussion", "kind")
"""The members of `core.kernel.values.usage.UsageBy`."""
EFFORTS = ("auto", "none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The members of `core.kernel.values.provider.Effort`, whose module takes longer to load than all of the help."""


FLAG_ACTS = (
    ("pin", tr("keep a discussion at the top of the list")),
    ("unpin", tr("return a pinned discussion to its place by date")),
    ("archive", tr("take a discussion out of the list without deleting it")),
    ("unarchive", tr("put an archived discussion back into the list")),
)
"""The acts of `core.kernel.values.discussion.FLAGS`, and what each does; that module takes longer to load than all of the help."""


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the option that trusts the folder first."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help=tr("trust this project for good before the command runs; prints what the project asks for"),
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--provider", metavar="ID", default="", help=tr("the provider that answers (see `models`)")
    )
    parser.add_argument(
        "--model", metavar="NAME", default="", help=tr("the model, by the provider's name for the model")
    )
    parser.add_argument(
        "--preset", metavar="NAME", default=None, help=tr("the context preset; empty for none")
    )
    parser.add_argument("--persona", metavar="NAME", default=None, help=tr("the persona; empty for none"))
    parser.add_argument(
        "--system", metavar="NAME", default=None, help=tr("the system prompt; empty for none")
    )


def add_send(commands: CommandParsers, common: Parser) -> None:
    """Add `send`."""
    parser = add_command(
        commands,
        common,
        "send",
        tr("send one message and print the reply while it arrives"),
        tr(
            "Piped input follows the text of the message. Ctrl+C stops the reply and keeps the part that arrived."
        ),
    )
    parser.add_argument(
        "text",
        nargs="*",
        help=tr("the message; without a message, or with `-`, the command reads standard input"),
    )
    parser.add_argument(
        "--discussion",
        metavar="ID",
        default="new",
        help=tr("a discussion: an id or its start, a name, `last`, or `new` (default)"),
    )
    _add_model(parser)
    parser.add_argument(
        "--effort", choices=EFFORTS, default="", help=tr("how much a model thinks before it answers")
    )
    parser.add_argument(
        "--temperature",
        metavar="T",
        type=float,
        default=None,
        help=tr("the temperature of the replies, if the model takes one"),
    )
    parser.add_argument(
        "--top-p",
        metavar="P",
        type=float,
        default=None,
        help=tr("the top-p of the replies, if the model takes one"),
    )
    parser.add_argument(
        "--max-output", metavar="TOKENS", type=int, default=None, help=tr("the longest reply, in tokens")
    )
    parser.add_argument(
        "--attach", metavar="FILE", action="append", default=[], help=tr("attach a file; may be repeated")
    )
    parser.add_argument("--template", metavar="NAME", default="", help=tr("begin with a prompt template"))
    parser.add_argument(
        "--var",
        metavar="NAME=TEXT",
        action="append",
        default=[],
        help=tr("a variable of the template; may be repeated"),
    )
    parser.add_argument(
        "--editor", action="store_true", help=tr("write the message in $VISUAL or $EDITOR first")
    )
    parser.add_argument(
        "--show-reasoning", action="store_true", help=tr("print the model's reasoning on standard error")
    )
    parser.add_argument("--retry", action="store_true", help=tr("send the discussion's failed message again"))
    parser.add_argument(
        "--over-limit",
        action="store_true",
        help=tr("send the message and later requests of its turn although a limit is reached"),
    )
    parser.add_argument(
        "--compare",
        metavar="MODELS",
        default="",
        help=tr(
            "send the message to two to four models, `NAME,PROVIDER/NAME`; keeps each reply as a version"
        ),
    )
    parser.add_argument(
        "--without-memory",
        action="store_true",
        help=tr("with --compare: also ask the first model without memory"),
    )
    tools = parser.add_mutually_exclusive_group()
    tools.add_argument(
        "--tools",
        action="store_true",
        help=tr("give the model tools in this discussion; the program asks for approvals on this terminal"),
    )
    tools.add_argument(
        "--no-tools", action="store_true", help=tr("give the model no tools in this discussion from now on")
    )
    parser.add_argument(
        "--queue", action="store_true", help=tr("wait until a reply in the window has ended, then send")
    )
    parser.add_argument("-q", "--quiet", action="store_true", help=tr("print only the reply"))
    add_trust(parser)


def add_context(commands: CommandParsers, common: Parser) -> None:
    """Add `context`."""
    parser = add_command(
        commands,
        common,
        "context",
        tr("print the context of the next request, and the length of its stable prefix"),
        tr("The command sends nothing and writes nothing."),
    )
    parser.add_argument(
        "--discussion",
        metavar="ID",
        default="",
        help=tr("a discussion: an id or its start, a name, `last`, or `new` (default)"),
    )
    parser.add_argument(
        "--message",
        metavar="TEXT",
        default=None,
        help=tr("the text of your message, layer 12 (default: the discussion's draft)"),
    )
    parser.add_argument("--text", action="store_true", help=tr("print only the whole text of the context"))
    _add_model(parser)
    add_trust(parser)


def add_why(commands: CommandParsers, common: Parser) -> None:
    """Add `why`."""
    parser = add_command(
        commands,
        common,
        "why",
        tr("explain a discussion's cache misses, and estimate the cost of its next message"),
        tr("The command sends nothing."),
    )
    parser.add_argument(
        "id",
        nargs="?",
        default="last",
        help=tr("a discussion: an id or its start, a name, or `last` (the default)"),
    )


def add_discussions(commands: CommandParsers, common: Parser) -> None:
    """Add `discussions` and its actions."""
    parser = add_command(commands, common, "discussions", tr("list, read, export and organize discussions"))
    actions = parser.add_commands("action")
    lister = add_command(actions, common, "list", tr("list discussions, newest first (the default)"))
    for listed in (parser, lister):
        default = "" if listed is parser else argparse.SUPPRESS
        listed.add_argument(
            "--search",
            metavar="TEXT",
            default=default,
            help=tr("list only discussions that contain this text"),
        )
        listed.add_argument(
            "--all",
            action="store_true",
            default=False if listed is parser else argparse.SUPPRESS,
            help=tr("list archived discussions too"),
        )
    for name, about in (
        ("show", tr("print a discussion as Markdown, or with --json as JSON")),
        ("export", tr("write a discussion to a file")),
        ("rename", tr("give a discussion another name")),
        *FLAG_ACTS,
        (
            "compact",
            tr("replace the beginning of a discussion by a summary, for the model only; prints the cost"),
        ),
        ("delete", tr("move a discussion to the trash")),
        ("restore", tr("bring a discussion back from the trash")),
    ):
        action = add_command(actions, common, name, about)
        needed = None if name != "export" else "?"
        action.add_argument(
            "id", nargs=needed, default="", help=tr("a discussion: an id or its start, a name, or `last`")
        )
        if name == "export":
            action.add_argument(
                "--format",
                choices=("markdown", "json", "page"),
                default="markdown",
                help=tr("the format; `page` is one HTML file for a browser, without scripts"),
            )
            action.add_argument(
                "--every",
                action="store_true",
                help=tr("write every discussion, each to a file in the folder --out"),
            )
            action.add_argument(
                "--out", metavar="FILE", default="-", help=tr("the file to write (default: standard output)")
            )
            action.add_argument("--replace", action="store_true", help=tr("replace a file that exists"))
        if name == "rename":
            action.add_argument("name", help=tr("the new name"))


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
    parser = add_command(
        commands, common, "tour", tr("show a tour, in which the program operates the real window itself")
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=TOUR_OUT,
        help=tr("the folder for the screenshots ({TOUR_OUT})", TOUR_OUT=TOUR_OUT),
    )
    chapters = tr(
        "{TOUR_CHAPTERS} or {TOUR_CHAPTERS2}",
        TOUR_CHAPTERS=", ".join(TOUR_CHAPTERS[:-1]),
        TOUR_CHAPTERS2=TOUR_CHAPTERS[-1],
    )
    parser.add_argument(
        "--until",
        metavar="CHAPTER",
        default="",
        choices=("", *TOUR_CHAPTERS),
        help=tr("end the tour after {chapters} (default: show all of the tour)", chapters=chapters),
    )


def add_lists(commands: CommandParsers, common: Parser) -> None:
    """Add `presets`, `models`, `usage`, `doctor` and `desktop`."""
    presets = add_command(
        commands, common, "presets", tr("list the project's context presets, personas and system prompts")
    )
    add_trust(presets)
    models = add_command(commands, common, "models", tr("list providers and their models"))
    models.add_argument("provider", nargs="?", default="", help=tr("list only this provider"))
    models.add_argument(
        "--refresh", action="store_true", help=tr("ask the providers' servers for their models")
    )
    models.add_argument(
        "--update-prices",
        action="store_true",
        help=tr("download newer prices, and use them from now on"),
    )
    usage = add_command(
        commands,
        common,
        "usage",
        tr("show the tokens and the cost of your requests"),
        tr(
            "Discussions in the trash count too. The table counts requests without a known price, but adds no cost for them."
        ),
    )
    usage.add_argument(
        "--by", choices=USAGE_BY, default="model", help=tr("group the rows by this (default: model)")
    )
    usage.add_argument(
        "--since",
        metavar="DAY",
        default="",
        help=tr("the first day that the table covers, for example 2026-11-29"),
    )
    usage.add_argument("--until", metavar="DAY", default="", help=tr("the last day that the table covers"))
    usage.add_argument("--csv", action="store_true", help=tr("print CSV, for a spreadsheet"))
    doctor = add_command(
        commands, common, "doctor", tr("check your installation, settings and folders, and suggest remedies")
    )
    doctor.add_argument(
        "--quick", action="store_true", help=tr("do not start the built-in model or other programs")
    )
    doctor.add_argument(
        "--repair", action="store_true", help=tr("repair what the program can, asking before each")
    )
    doctor.add_argument("--yes", action="store_true", help=tr("with --repair: repair without being asked"))
    desktop = add_command(
        commands,
        common,
        "desktop",
        tr("add the program to the desktop's menu, or remove the menu entry"),
        tr(
            "For Linux: menu entry, icon, manual page and shell completion. Without an option, the command lists the installed files."
        ),
    )
    what = desktop.add_mutually_exclusive_group()
    what.add_argument("--install", action="store_true", help=tr("write the files below ~/.local/share"))
    what.add_argument("--remove", action="store_true", help=tr("remove the files"))
    desktop.add_argument(
        "--share",
        metavar="DIR",
        default="",
        help=tr("another folder for the files, for makers of packages (/usr/share)"),
    )
    desktop.add_argument(
        "--program",
        metavar="PATH",
        default="",
        help=tr("the program that the menu starts (default: this program)"),
    )


def add_settings(commands: CommandParsers, common: Parser) -> None:
    """Add `trust`, `key` and `servers`."""
    trust = add_command(
        commands,
        common,
        "trust",
        tr("show what a folder's manual_slop.toml asks for, and trust the folder if you agree"),
    )
    trust.add_argument("folder", nargs="?", default="", help=tr("the folder (default: the current project)"))
    trust.add_argument("--list", action="store_true", help=tr("list the trusted folders"))
    trust.add_argument("--yes", action="store_true", help=tr("trust the folder without a question"))
    trust.add_argument("--remove", action="store_true", help=tr("stop trusting the folder"))
    servers = add_command(
        commands,
        common,
        "servers",
        tr("list MCP servers, add servers from JSON, or approve one on this terminal"),
    )
    servers.add_argument(
        "server", nargs="?", default="", help=tr("a server's name, or `add`; without a name: all servers")
    )
    servers.add_argument(
        "json_text",
        nargs="?",
        default="",
        metavar="JSON",
        help=tr('with `add`: {"mcpServers": …}; default: from standard input'),
    )
    servers.add_argument(
        "--approve",
        action="store_true",
        help=tr("show the server's command and tools, and ask for your approval"),
    )
    servers.add_argument("--forget", action="store_true", help=tr("take back your approval of the server"))
    keys = add_command(
        commands,
        common,
        "key",
        tr("store or remove a provider's key"),
        tr("The command reads the key from standard input. Others could see a key on the command line."),
    )
    keys.add_argument(
        "provider",
        nargs="?",
        default="",
        help=tr("a provider's id; without an id: list where each key was found"),
    )
    keys.add_argument("--remove", action="store_true", help=tr("remove the key"))


SHELLS = ("bash", "zsh", "fish")

_EPILOG = tr(
    'exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted\nwith --json, an error is {"error": {"code", "message", "remedy", "where"}} on standard output\n\nexamples:\n  manual-slop                                     open the window\n  manual-slop send "Why is the sky blue?"         send a message in a new discussion\n  git diff | manual-slop send "Review this" --preset core\n  manual-slop send "And at night?" --discussion last\n  manual-slop context --text                      print the context of the next request\n  manual-slop doctor                              check installation and settings\n'
)


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
        remedy = tr("Run `{prog} --help`", prog=error.parser.prog)
        console.json(error_data("wrong_usage", error.reason, remedy))
    error.parser.end_wrong(error.reason)


def _help(parser: Parser, words: Sequence[str]) -> NoReturn:
    """Answer with the help of a command or its action, or of the program."""
    for word in words:
        known = parser.commands()
        if word not in known:
            parser.error(
                tr("there is no help for {word!r}{word2}", word=word, word2=near(word, tuple(known)))
            )
        parser = known[word]
    parser.print_help()


def _complete(shell: str) -> NoReturn:
    """Answer with what a shell evaluates to complete this program's commands and options."""
    from core.front.cli.parser import script

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
        named: words that are asked about: options of all other commands are not made. None: all are made.
    """
    common = _common(argparse.SUPPRESS)
    parser = Parser(
        prog=PROGRAM,
        description=tr("A desktop workbench for work with language models."),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common(None)],
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action=_ShowVersion, nargs=0, help=tr("show the version and exit"))
    parser.add_argument(
        "--headless", action="store_true", help=tr("run without a window until you stop the program")
    )
    parser.add_argument(
        "--hooks",
        action="store_true",
        help=tr("let other programs on this computer use the Hook API (docs/openapi.json)"),
    )
    parser.add_argument(
        "--approvals-fd",
        metavar="N",
        type=int,
        default=None,
        help=tr("with --headless --hooks: write a token for approvals into the pipe with this descriptor"),
    )
    parser.add_argument(
        "--test-clock", action="store_true", help="let tests put the clock forward through the Hook API"
    )
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
        "--home", metavar="DIR", default=default, help=tr("the folder with all your data (~/.manual_slop)")
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        default=default,
        help=tr("the folder to work in (default: the current folder)"),
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=default,
        help=tr("change a setting for this run; may be repeated"),
    )
    parser.add_argument(
        "--json",
        action="store_true",
        default=False if default is None else default,
        help=tr("print JSON, for programs"),
    )
    return parser


def _add_help(commands: CommandParsers, common: Parser) -> None:
    """Commands that end while the command line is read."""
    helper = add_command(commands, common, "help", tr("show the help of a command"))
    helper.add_argument(
        "words", nargs="*", metavar="COMMAND", help=tr("the command that you want help on, and its action")
    )
    completion = add_command(
        commands,
        common,
        "completion",
        tr("print a script with which your shell completes commands and options"),
        tr(
            'For bash, put eval "$(manual-slop completion bash)" into ~/.bashrc. For zsh, put eval "$(manual-slop completion zsh)" into ~/.zshrc. For fish, put manual-slop completion fish | source into config.fish.'
        ),
    )
    completion.add_argument("shell", choices=SHELLS, help="whose")
