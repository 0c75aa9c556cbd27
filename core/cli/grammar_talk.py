"""Grammar of the commands that talk and that order what was said: `send`, `context`, `discussions`."""

from __future__ import annotations

import argparse

from core.cli.parser import Commands, Parser, add_command

EFFORTS = ("auto", "none", "low", "medium", "high", "max")
"""The members of `core.values.provider.Effort`, whose module takes longer to load than all of the help."""


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


def add_send(commands: Commands[Parser], common: Parser) -> None:
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
    parser.add_argument("--show-reasoning", action="store_true", help="print reasoning on standard error")
    parser.add_argument("--retry", action="store_true", help="send the discussion's failed message again")
    parser.add_argument("--over-limit", action="store_true", help="send it although a spend limit is reached")
    parser.add_argument(
        "--tools",
        action="store_true",
        help="give the model tools in this discussion; what must be asked is asked on this terminal",
    )
    parser.add_argument(
        "--queue", action="store_true", help="wait for the end of a reply that the window is receiving"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print the reply and nothing else")
    add_trust(parser)


def add_context(commands: Commands[Parser], common: Parser) -> None:
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


def add_discussions(commands: Commands[Parser], common: Parser) -> None:
    """Add `discussions` and its actions."""
    parser = add_command(commands, common, "discussions", "list, read, export and order discussions")
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
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
        ("pin", "keep one at the head of the list"),
        ("unpin", "let one back into the order of time"),
        ("archive", "take one out of the list"),
        ("unarchive", "put one back into the list"),
        ("compact", "let the beginning of one leave what its model sees; says what that cost"),
        ("delete", "move one to the trash"),
        ("restore", "bring one back from the trash"),
    ):
        action = add_command(actions, common, name, about)
        action.add_argument("id", help="an id or its start, a name, or `last`")
        if name == "export":
            action.add_argument("--format", choices=("markdown", "json"), default="markdown")
            action.add_argument("--out", metavar="FILE", default="-", help="where to (standard output)")
            action.add_argument("--replace", action="store_true", help="write over a file that is there")
        if name == "rename":
            action.add_argument("name", help="the new name")
