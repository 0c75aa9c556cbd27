"""Grammar of the command line: every command and option, with its help.

Stands on argparse, so that `--help` answers before the program's values load.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from core.cli.parser import Commands, Parser, near
from core.cli.version import PROGRAM, put, version_text

EFFORTS = ("auto", "none", "low", "medium", "high", "max")
"""The members of `core.values.provider.Effort`, whose module takes longer to load than all of the help."""

TOUR_OUT = "out/tour"
SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\
exit codes: 0 well, 1 failed, 2 wrong usage, 130 interrupted

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
    given, unknown = parser.parse_known_args(argv)
    if unknown:
        _meant(parser, given).refuse_unknown(unknown)
    if given.command == "help":
        _help(parser, given.words)
    if given.command == "completion":
        _print_completion(given.shell)
    if given.command and (given.hooks or given.test_clock):
        parser.error("--hooks and --test-clock go with the window or --headless, not with a command")
    return given


def _meant(parser: Parser, given: argparse.Namespace | None) -> Parser:
    """The parser of the command and action that a command line names."""
    words = (getattr(given, name, None) for name in ("command", "action"))
    return parser.below(word for word in words if word)


def refuse(reason: str, given: argparse.Namespace | None = None) -> NoReturn:
    """End with 2, the usage of the command that was meant and the reason on standard error."""
    _meant(make_parser(), given).error(reason)


def _help(parser: Parser, words: Sequence[str]) -> NoReturn:
    """Print the help of a command or its action, or of the program, and end."""
    for word in words:
        known = parser.commands()
        if word not in known:
            parser.error(f"there is no help for {word!r}{near(word, tuple(known))}")
        parser = known[word]
    parser.print_help()
    parser.exit()


def _print_completion(shell: str) -> NoReturn:
    """Print what a shell evaluates to complete this program's commands and options, and end."""
    from argcomplete.shell_integration import shellcode

    put(shellcode([PROGRAM], shell=shell) + "\n")
    raise SystemExit(0)


class _ShowVersion(argparse.Action):
    """Prints the version and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        del namespace, values, option_string
        put(version_text() + "\n")
        parser.exit()


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
    parser.add_argument("--test-clock", action="store_true", help="let tests put the clock forward over HTTP")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    _add_tour(commands, common)
    _add_send(commands, common)
    _add_context(commands, common)
    _add_discussions(commands, common)
    _add_lists(commands, common)
    _add_import(commands, common)
    _add_search(commands, common)
    _add_forget(commands, common)
    _add_secrets(commands, common)
    _add_harvest(commands, common)
    _add_knowledge(commands, common)
    _add_settings(commands, common)
    _add_help(commands)
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


def _add(
    commands: Commands[Parser],
    common: Parser,
    name: str,
    about: str,
    more: str = "",
) -> Parser:
    return commands.add_parser(
        name,
        parents=[common],
        help=about,
        description=f"{about[0].upper()}{about[1:]}. {more}".strip(),
        allow_abbrev=False,
    )


def _add_help(commands: Commands[Parser]) -> None:
    """Commands that end while the command line is read."""
    helper = commands.add_parser("help", help="show the help of a command", allow_abbrev=False)
    helper.add_argument("words", nargs="*", metavar="COMMAND", help="a command, and its action")
    completion = commands.add_parser(
        "completion",
        help="print a script that lets a shell complete commands and options",
        description='For bash: eval "$(manual-slop completion bash)" in ~/.bashrc; zsh likewise in ~/.zshrc; '
        "fish: manual-slop completion fish | source in config.fish.",
        allow_abbrev=False,
    )
    completion.add_argument("shell", choices=SHELLS, help="whose")


def _add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust",
        action="store_true",
        help="trust first, for good, what this project asks for; it is printed",
    )


def _add_tour(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(commands, common, "tour", "drive the real window through its main job")
    parser.add_argument(
        "--out", metavar="DIR", default=TOUR_OUT, help=f"where its screenshots go ({TOUR_OUT})"
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", metavar="ID", default="", help="who answers (see `models`)")
    parser.add_argument("--model", metavar="NAME", default="", help="the provider's name of the model")
    parser.add_argument("--preset", metavar="NAME", default=None, help="the context preset; empty for none")
    parser.add_argument("--persona", metavar="NAME", default=None, help="the persona; empty for none")
    parser.add_argument(
        "--system", metavar="NAME", default=None, help="the system prompt preset; empty for none"
    )


def _add_send(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(
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
    parser.add_argument("--show-reasoning", action="store_true", help="print reasoning on standard error")
    parser.add_argument("--retry", action="store_true", help="send the discussion's failed message again")
    parser.add_argument("--over-limit", action="store_true", help="send it although a spend limit is reached")
    parser.add_argument(
        "--queue", action="store_true", help="wait for the end of a reply that the window is receiving"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print the reply and nothing else")
    _add_trust(parser)


def _add_context(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(
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
    _add_trust(parser)


def _add_discussions(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(commands, common, "discussions", "list, read, export and order discussions")
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    lister = _add(actions, common, "list", "list them, newest first (the default)")
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
        ("pin", "keep one at the head of the list"),
        ("unpin", "let one back into the order of time"),
        ("archive", "take one out of the list"),
        ("unarchive", "put one back into the list"),
        ("delete", "move one to the trash"),
        ("restore", "bring one back from the trash"),
    ):
        action = _add(actions, common, name, about)
        action.add_argument("id", help="an id or its start, a name, or `last`")
        if name == "export":
            action.add_argument("--format", choices=("markdown", "json"), default="markdown")
            action.add_argument("--out", metavar="FILE", default="-", help="where to (standard output)")
            action.add_argument("--replace", action="store_true", help="write over a file that is there")
        if name == "rename":
            action.add_argument("name", help="the new name")


def _add_lists(commands: Commands[Parser], common: Parser) -> None:
    presets = _add(
        commands, common, "presets", "list the project's context presets, personas and system prompts"
    )
    _add_trust(presets)
    models = _add(commands, common, "models", "list providers and their models")
    models.add_argument("provider", nargs="?", default="", help="only this one")
    models.add_argument("--refresh", action="store_true", help="ask the providers' servers for their lists")
    doctor = _add(
        commands, common, "doctor", "check what is installed, found, configured and writable, with remedies"
    )
    doctor.add_argument(
        "--quick", action="store_true", help="do not start the embedded model and other programs"
    )


def _add_import(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(
        commands,
        common,
        "import",
        "make discussions of conversations from other programs",
        "Reads exports of ChatGPT and Claude (zipped or not), sessions of Claude Code, aider and SpecStory, and text. "
        "Importing twice adds nothing; a file that grew adds its new part.",
    )
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="files and folders, `-` for the standard input"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be imported, write nothing")


def _add_search(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(
        commands,
        common,
        "search",
        "search notes, knowledge, past discussions and project files",
        "By words and by meaning, where `[retrieval] enabled = true` switches it on. Reads what changed first.",
    )
    parser.add_argument("words", nargs="+", metavar="WORD", help="what is looked for")
    parser.add_argument(
        "-n", "--count", type=int, default=10, metavar="N", help="sources that are wanted (10)"
    )
    parser.add_argument(
        "--corpus",
        action="append",
        default=[],
        choices=["notes", "knowledge", "discussions", "project"],
        help="only in this; may be given more than once",
    )
    parser.add_argument("--folder", default="", metavar="PATH", help="only below this folder")
    parser.add_argument("--tag", default="", metavar="TAG", help="only notes with this tag")
    parser.add_argument("--after", default="", metavar="DAY", help="only from this day on (2026-11-23)")
    parser.add_argument("--before", default="", metavar="DAY", help="only up to this day")
    parser.add_argument("--no-update", action="store_true", help="search the index as it is")


def _add_forget(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(
        commands,
        common,
        "forget",
        "forget a conversation or an item of knowledge, with a receipt; it cannot be undone",
        "Takes it out of every place that we keep: lists, trash, knowledge, logs, caches, indexes. "
        "The receipt says what was removed, how that was checked, and what cannot be reached.",
    )
    parser.add_argument(
        "what",
        metavar="DISCUSSION|ITEM",
        help="an id or its start, a name, or `last`; or an item's place (facts.md:3), or words that only it has",
    )
    parser.add_argument(
        "--branches", action="store_true", help="its branches too, which begin with its records"
    )
    parser.add_argument("--yes", action="store_true", help="say yes without being asked")


def _add_secrets(commands: Commands[Parser], common: Parser) -> None:
    short = "look for keys, tokens and passwords in all that we keep, and take them out"
    long = "Prints where each stands and of which kind, never the secret; ends with 1 where any is left."
    parser = _add(commands, common, "secrets", short, long)
    parser.add_argument("--clean", action="store_true", help="take them out; offers to forget conversations")
    parser.add_argument("--yes", action="store_true", help="say yes without being asked")


def _add_harvest(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(
        commands,
        common,
        "harvest",
        "distil old conversations into knowledge and reclaim them",
        "Without --apply it only reports. `harvest undo` takes the last apply back.",
    )
    parser.add_argument("action", nargs="?", choices=("undo",), help="take the last apply back")
    parser.add_argument("id", nargs="?", default="", help="which apply to undo (the newest)")
    parser.add_argument("--apply", action="store_true", help="harvest, append, reclaim, make the digest")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="with --apply: write what the built-in model says without being asked; with undo: take out much at once",
    )
    parser.add_argument(
        "--no-harvest", action="store_true", help="with --apply: reclaim without distilling; asks no model"
    )
    parser.add_argument(
        "--batch",
        action="store_true",
        help="have the provider's batch service read them, at half the price within a day; with --apply: collect what "
        "has ended, apply it, submit the rest; run it again later",
    )
    parser.add_argument(
        "--over-limit", action="store_true", help="read on although the day's limit is reached"
    )
    parser.add_argument("--provider", metavar="ID", default="", help="who reads them (see `models`)")
    parser.add_argument("--model", metavar="NAME", default="", help="the provider's name of the model")
    parser.add_argument(
        "--source",
        metavar="PATH",
        action="append",
        default=[],
        help="conversations of other programs, a file or a folder; they stay where they are; may be repeated "
        "(the settings' harvest_sources)",
    )
    parser.add_argument(
        "--live-days",
        metavar="N",
        type=_days,
        help="leave alone what was touched since (the settings' live_days)",
    )
    parser.add_argument(
        "--max-bytes", metavar="N", type=_bytes, help="keep what is larger (the settings' max_source_bytes)"
    )


def _days(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (days := float(text)) <= 36_500:
            return days
    raise argparse.ArgumentTypeError(f"{text!r} is no number of days from 0 to 36500")


def _bytes(text: str) -> int:
    with suppress(ValueError):
        if 0 < (size := int(text)) <= 1 << 30:
            return size
    raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes from 1 to {1 << 30}")


def _add_knowledge(commands: Commands[Parser], common: Parser) -> None:
    parser = _add(commands, common, "knowledge", "show, search and audit what is known")
    parser.set_defaults(category="")
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    show = _add(actions, common, "show", "print every item with its place and origin (the default)")
    show.add_argument(
        "category",
        nargs="?",
        default="",
        choices=("", "facts", "decisions", "tasks_done", "tasks_open", "questions", "playbooks", "files"),
        help="only these",
    )
    digest = _add(actions, common, "digest", "print the digest as a model sees it, and whether memory is on")
    digest.add_argument("--regenerate", action="store_true", help="make it anew first; turns memory on")
    found = _add(actions, common, "search", "print the items in which every word occurs")
    found.add_argument("text", help="the words")
    _add(actions, common, "ledger", "print what became of each conversation")
    prompt = _add(actions, common, "prompt", "print what a harvest tells its model, and the file of it")
    prompt.add_argument(
        "--edit",
        action="store_true",
        help="open a copy of your own in $VISUAL or $EDITOR; it wins from then on",
    )
    _add(actions, common, "validate", "check the structured facts, and print file:line of all that is wrong")
    _add(actions, common, "sync", "bring the structured facts and their index in step")
    facts = _add(actions, common, "facts", "look structured facts up")
    facts.add_argument(
        "--domain", metavar="NAME", default="", help="of this repository or agent, or `global`"
    )
    facts.add_argument(
        "--category",
        dest="fact_category",
        default="",
        choices=("fact", "pitfall", "pattern", "tool-quirk", "question"),
        help="only these",
    )
    facts.add_argument("--tag", metavar="TAG", default="", help="only those with it")
    why = _add(
        actions, common, "why", "print what an item stands on, its history, and the requests it entered"
    )
    why.add_argument("item", help="its place as `show` prints it (facts.md:3), or words that only it has")
    seen = _add(actions, common, "seen", "print which items entered requests, newest first")
    seen.add_argument("--discussion", metavar="ID", default="", help="only of this discussion")


def _add_settings(commands: Commands[Parser], common: Parser) -> None:
    trust = _add(
        commands, common, "trust", "let what a folder's manual_slop.toml asks for count, after showing it"
    )
    trust.add_argument("folder", nargs="?", default="", help="the folder (the current project)")
    trust.add_argument("--list", action="store_true", help="print the trusted folders")
    trust.add_argument("--yes", action="store_true", help="say yes to what is shown without being asked")
    trust.add_argument("--remove", action="store_true", help="stop trusting it")
    keys = _add(
        commands,
        common,
        "key",
        "keep or remove a provider's key",
        "The key is read from standard input, never from the command line, where others could see it.",
    )
    keys.add_argument("provider", nargs="?", default="", help="its id; without one, where each key was found")
    keys.add_argument("--remove", action="store_true", help="remove it")
