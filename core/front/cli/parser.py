"""The parser of every command: names what was nearly meant, prints help on any output; and completion of words, by a script of a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from core.front.cli.version import WIDEST_HELP, put_beside, terminal_columns
from core.kernel.language import capital, tr
from core.kernel.stored_texts import retold


def script(parser: Parser, shell: str) -> str:
    """The text that a shell evaluates, or reads from a file, to complete commands, options, choices and files.

    Args:
        parser: the whole grammar; shell: bash, zsh or fish.
    """
    import shtab  # here, for help and versions would load the metadata of every package with it

    files = {"FILE": shtab.FILE, "PATH": shtab.FILE, "DIR": shtab.DIRECTORY}
    places = {"archive": shtab.FILE, "folder": shtab.DIRECTORY}  # named without a word for their value
    for action in _actions(parser):
        offered = files.get(str(action.metavar)) or places.get(action.dest)
        if offered and action.choices is None:
            action.complete = offered  # type: ignore[attr-defined]  # where shtab looks for it
    return str(shtab.complete(parser, shell))


def _actions(parser: Parser) -> Iterator[argparse.Action]:
    yield from parser._actions  # noqa: SLF001 (argparse lists them nowhere else)
    for below in parser.commands().values():
        yield from _actions(below)


TYPE_CHECKING = False  # `typing` itself takes longer to load than the help may
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Subparsers = argparse._SubParsersAction["Parser"]  # noqa: SLF001 (argparse names the type nowhere else)
else:
    Subparsers = argparse._SubParsersAction  # noqa: SLF001


class CommandParsers(Subparsers):
    """Commands of a parser. Where `named` is given, options are made for those alone; the others have name and help."""

    named: Collection[str] | None = None

    def add_name(self, name: str, about: str) -> Any:
        """Know a command by its name and help alone. Returns what takes its options, and keeps none."""
        self._choices_actions.append(self._ChoicesPseudoAction(name, [], about))
        unmade: Any = Unmade()
        self._name_parser_map[name] = unmade
        return unmade


class Unmade:
    """Placeholder for the parser of a command that the person did not use."""

    named = ()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_, **__: self


class WrongUsageError(Exception):
    """A command line that does not fit the grammar. `parser`: whose usage it breaks; `reason`: one plain phrase."""

    def __init__(self, parser: Parser, reason: str) -> None:
        super().__init__(reason)
        self.parser, self.reason = parser, reason


class AnsweredError(Exception):
    """A command line that a text answers, before anything is done. `text`: for a person; `data`: for a program."""

    def __init__(self, text: str, **data: str) -> None:
        super().__init__(text)
        self.text, self.data = text, data


WORDS_OF_ARGPARSE = (
    tr("argument {argument}: {message}"),
    tr("the following arguments are required: {names}"),
    tr("one of the arguments {names} is required"),
    tr("not allowed with argument {name}"),
    tr("ignored explicit argument {value}"),
    tr("expected one argument"),
    tr("expected at most one argument"),
    tr("expected at least one argument"),
    tr("invalid {kind} value: {value}"),
)
"""Refusals by argparse itself; `retold` finds them."""


class Parser(argparse.ArgumentParser):
    """A parser that suggests a similar word for an unknown one."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._positionals.title, self._optionals.title = tr("positional arguments"), tr("options")
        for action in self._actions:
            if isinstance(action, argparse._HelpAction):  # noqa: SLF001 (argparse names the type nowhere else)
                action.help = tr("show this help message and exit")

    def format_usage(self) -> str:
        """The usage as argparse writes it, beginning with the person's word for it."""
        return self._said(super().format_usage())

    def format_help(self) -> str:
        """The help as argparse writes it, beginning with the person's word for usage."""
        return self._said(super().format_help())

    def _said(self, text: str) -> str:
        return tr("usage:") + text.removeprefix("usage:") if text.startswith("usage:") else text

    def _get_formatter(self) -> argparse.HelpFormatter:
        made: Any = self.formatter_class
        formatter: argparse.HelpFormatter = made(
            prog=self.prog, width=min(terminal_columns(), WIDEST_HELP) - 2
        )
        return formatter

    def print_help(self, file: Any = None) -> NoReturn:
        """Answer with the help. Raises AnsweredError: who reads the command line prints it, in one place."""
        del file
        text = self.format_help()
        raise AnsweredError(text, help=text)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices if choice]
            reason = tr(
                "invalid choice: {value!r}{suggestion} (choose from {known})",
                value=value,
                suggestion=near(str(value), known),
                known=", ".join(known),
            )
            raise argparse.ArgumentError(action, reason)

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is not None:
            put_beside(message, file)

    def error(self, message: str) -> NoReturn:
        """Refuse a command line. Raises WrongUsageError: who reads the command line says it, in one place."""
        raise WrongUsageError(self, retold(message))

    def end_wrong(self, reason: str) -> NoReturn:
        """End with 2. Argparse would say the usage on standard output where standard error was closed."""
        if sys.stderr is None:
            raise SystemExit(2)
        self.print_usage(sys.stderr)
        self.exit(2, tr("{prog}: error: {reason}", prog=self.prog, reason=reason) + "\n")

    def add_commands(
        self, dest: str, named: Collection[str] | None = None, *, is_required: bool = False
    ) -> CommandParsers:
        """Let this one have commands, or actions, of which `dest` takes the name. Args: as `CommandParsers` has them."""
        added: Any = self.add_subparsers(
            action=CommandParsers,
            dest=dest,
            metavar=dest,
            title=tr("commands") if dest == "command" else tr("actions"),
            required=is_required,
        )
        commands: CommandParsers = added
        commands.named = named
        return commands

    def commands(self) -> dict[str, Parser]:
        """The parsers of this one's commands or actions by name, empty where it has none."""
        for action in self._actions:
            if isinstance(action, CommandParsers):
                return dict(action.choices)
        return {}

    def below(self, words: Iterable[str]) -> Parser:
        """The parser that a command and its action lead to, as far as they do."""
        found = self
        for word in words:
            found = found.commands().get(word, found)
        return found

    def refuse_unknown(self, unknown: Sequence[str]) -> NoReturn:
        """End with this usage, and the nearest option to what it does not know; for a word, the option that takes a file."""
        known = [option for action in self._actions for option in action.option_strings]
        meant = near(unknown[0].partition("=")[0], known, before="; ")
        takers = [action.option_strings[0] for action in self._actions if action.metavar == "FILE"]
        if not unknown[0].startswith("-") and len(takers) == 1:
            meant = tr("; {option} names a file", option=takers[0])
        self.error(
            tr("unknown arguments: {unknown}{suggestion}", unknown=" ".join(unknown), suggestion=meant)
        )


def near(word: str, known: Sequence[str], before: str = ", ") -> str:
    """The question whether the nearest of what is known was meant, empty where nothing is near."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1)
    return tr("{before}did you mean {found}?", before=before, found=found[0]) if found else ""


def add_command(
    commands: CommandParsers,
    common: Parser,
    name: str,
    about: str,
    more: str = "",
) -> Parser:
    """A command or an action below `commands`, with the options of all; `about`: its help, `more`: said below that."""
    if commands.named is not None and name not in commands.named:
        unmade: Parser = commands.add_name(name, about)
        return unmade
    return commands.add_parser(
        name,
        parents=[common],
        help=about,
        description=f"{capital(about)}. {more}".strip(),
        allow_abbrev=False,
    )


# Values on the command line: numbers with the bounds that each has, and categories.

CATEGORIES = ("facts", "decisions", "tasks_done", "tasks_open", "questions", "playbooks", "files")
"""Categories of knowledge; `files` are notes, which a harvest places."""


def days(text: str) -> float:
    """Days from 0 to 36500. Raises argparse.ArgumentTypeError."""
    with suppress(ValueError):
        if 0 <= (number := float(text)) <= 36_500:
            return number
    raise argparse.ArgumentTypeError(tr("{text!r} is not a number of days from 0 to 36500", text=text))


def size_bytes(text: str) -> int:
    """Bytes from 1 to 1 GiB. Raises argparse.ArgumentTypeError."""
    with suppress(ValueError):
        if 0 < (size := int(text)) <= 1 << 30:
            return size
    raise argparse.ArgumentTypeError(
        tr("{text!r} is not a number of bytes from 1 to {value}", text=text, value=1 << 30)
    )
