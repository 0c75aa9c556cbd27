"""Standard output and error: safe on any terminal, quiet in a pipe."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TextIO

import msgspec

from core.front.cli.stops import Stops, in_terminal, is_full
from core.front.cli.version import INTERRUPTED, give_up, put_beside, unwritten
from core.kernel.codecs import builtins_of
from core.kernel.errors import SlopError
from core.kernel.language import tr

_VISIBLE = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_VISIBLE |= {0x7F: "\u2421", **dict.fromkeys(range(128, 160), "�")}
_VISIBLE |= dict.fromkeys((*range(8234, 8239), *range(8294, 8298), 8206, 8207, 1564), "�")

_CODES = {2: "wrong_usage", INTERRUPTED: "interrupted"}
"""Codes of errors by exit code; of all others `failed`."""

_ESCAPED = {code: f"\\u{code:04x}" for code in _VISIBLE if code >= 0x20}
"""Marks as JSON writes them inside a text, where alone they can stand; below 0x20 `json` has done it."""


def harmless(text: str) -> str:
    """Text for a terminal: control characters, escape sequences and bidi marks are shown, not obeyed."""
    return text.translate(_VISIBLE)


class _Memory:
    """Memory of a console: whether anything was printed on standard output, the lines that were said beside it, and what
    is drawn on the terminal now.
    """

    __slots__ = ("displays", "has_printed", "last", "prose")

    def __init__(self) -> None:
        self.displays: list[Display] = []
        self.has_printed = False
        self.prose: list[str] = []
        self.last = ""


class Display(Protocol):
    """Bar or mark that a terminal draws again and again."""

    def start(self) -> None: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102


class OutputError(SlopError):
    """Standard output is full or cannot be written."""


class Console(msgspec.Struct, frozen=True):
    """The two streams of a command. What a model wrote reaches a terminal only harmless; a pipe gets it as it is.

    Args:
        stops: how the person stops the command; held back while streams and what is known of them must agree.
        is_json: a program reads standard output: one JSON value stands there, however the command ends (`conclude`),
            and prose goes to standard error.
    """

    out: TextIO
    err: TextIO
    stops: Stops = msgspec.field(default_factory=Stops)
    is_json: bool = False
    memory: _Memory = msgspec.field(default_factory=_Memory)

    @property
    def is_terminal(self) -> bool:
        """True if a person reads standard output."""
        return self.out.isatty()

    @property
    def columns(self) -> int | None:
        """The width of the terminal in columns, None if standard output is not a terminal."""
        return shutil.get_terminal_size().columns if self.is_terminal else None

    @property
    def has_progress(self) -> bool:
        """True if progress may be drawn on standard error."""
        return self.err.isatty() and os.environ.get("TERM") != "dumb"

    def write(self, text: str) -> None:
        """Print a text unchanged, at once."""
        if not self.is_json:
            self._put(harmless(text) if self.is_terminal else text)
            return
        self.memory.prose += text.splitlines()
        self._remember(text)
        self.aside(text)

    def line(self, text: str = "") -> None:
        """Print a line."""
        self.write(text + "\n")

    def shown(self, text: str) -> None:
        """Print a line that a question is about where the person reads it: on standard error, where that alone is a terminal."""
        if self.err.isatty() and not self.is_terminal:
            self._remember(text)
            self.aside(text + "\n")
        else:
            self.line(text)

    def note(self, text: str) -> None:
        """Print a line on standard error, its remedies in a terminal's words."""
        text = in_terminal(text)
        self._remember(text)
        self.aside(text + "\n")

    def aside(self, text: str) -> None:
        """Print text as it comes on standard error. Where that is full or closed, what is printed beside it goes on."""
        with contextlib.suppress(ValueError):  # closed, it is not even known to be a terminal
            put_beside(harmless(text) if self.err.isatty() else text, self.err)

    def json(self, value: Any) -> None:
        """Print a value as JSON, keys in order, so that two runs can be compared."""
        self.json_text(
            json.dumps(builtins_of(value), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
            + "\n"
        )

    def json_text(self, text: str) -> None:
        """Print JSON that is written already. A terminal gets its marks as escapes: the same value, obeyed by nobody."""
        self._put(text.translate(_ESCAPED) if self.is_terminal else text)

    def outcome(self, said: str, data: Mapping[str, Any]) -> None:
        """Print what a command has done: the sentence, or for a program its data, with the sentence as `said`."""
        if self.is_json:
            self.json({**data, "said": said})
        else:
            self.line(said)

    def conclude(self, code: int) -> None:
        """For a program that reads JSON, print the command's last message if standard output is still empty.

        Args:
            code: its exit code; any but 0 is an error, whose message is the last line that was said.
        """
        if not self.is_json or self.memory.has_printed:
            return
        if code:
            kind = _CODES.get(code, "failed")
            what = self.memory.last.removeprefix("manual-slop: ") or tr(
                "The command ended with exit code {code}", code=code
            )
            self.json(error_data(kind, what))
        else:
            self.json({"said": "\n".join(self.memory.prose)})

    def _remember(self, text: str) -> None:
        self.memory.last = next(
            (line for line in reversed(text.splitlines()) if line.strip()), self.memory.last
        )

    def _put(self, text: str) -> None:
        """Write to standard output. Raises BrokenPipeError, or OutputError where it is full or closed."""
        self.memory.has_printed = self.memory.has_printed or bool(text)
        if self.stops.is_over and is_full(self.out):
            give_up(self.out)
        try:
            self.out.write(text)
            self.out.flush()
        except KeyboardInterrupt:
            give_up(self.out)  # the reader may never come back, and the end of the program writes once more
            raise
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(unwritten(error)) from error

    def failed(self, error: SlopError, code: str) -> None:
        """Say on standard error why a command failed, and for a program on standard output too, unless a part of what
        it asked for stands there: one JSON value is all that it reads.
        """
        self.note(tr("manual-slop: {error}", error=error))
        if self.is_json and not self.memory.has_printed:
            self.json(error_data(code, error.what, error.remedy, error.where))

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show on a terminal that something is under way; nothing in a pipe."""
        if not self.has_progress:
            yield
            return
        from rich.console import Console as RichConsole
        from rich.markup import escape

        with self.drawing(RichConsole(file=self.err, highlight=False).status(escape(harmless(text)))):
            yield

    @contextlib.contextmanager
    def drawing(self, display: Display) -> Iterator[None]:
        """Draw in the block, but not over a question (`resting`)."""
        displays = self.memory.displays
        displays.append(display)
        display.start()
        try:
            yield
        finally:
            display.stop()
            displays.remove(display)

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """Let nothing be drawn while a person is asked: it would wipe the question out."""
        for display in self.memory.displays:
            display.stop()
        try:
            yield
        finally:
            for display in self.memory.displays:
                display.start()


def error_data(code: str, what: str, remedy: str = "", where: str = "") -> dict[str, dict[str, str]]:
    """An error as every command prints it with `--json`, in the form of the Hook API, with its place.

    Args:
        code: `wrong_usage`, `failed`, or what kind of failure a provider's was.
    """
    return {"error": {"code": code, "message": what, "remedy": in_terminal(remedy), "where": where}}


def open_console(*, is_json: bool = False) -> Console:
    """The process's streams, made to take any text: what a terminal cannot show becomes a mark, not an error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before the program began
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (open to the end)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace", **({} if stream.isatty() else {"encoding": "utf-8"}))
    return Console(out=sys.stdout, err=sys.stderr, is_json=is_json)


# Tables of the command line: columns that line up for any script, and give way where a terminal is narrow.
# Pure.

GAP = "  "
LEAST = 6
"""Columns that a text keeps before ids and numbers give way too."""

SOFT_HYPHEN = "\u00ad"
"""The one invisible format character that terminals draw."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: frozenset[int] = frozenset(),
    kept: frozenset[int] = frozenset(),
    columns: int | None = None,
) -> str:
    """Rows in columns, two spaces apart; the last column is not padded.

    Args:
        head: titles, or empty for none; numbers: indexes of columns that are set to the right.
        kept: indexes of columns that people copy (ids), which give way last; columns: of the terminal, None without end.
    """
    lines = [*([head] if head else []), *rows]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    if columns is not None:
        widths = _fitted(widths, columns - len(GAP) * (len(widths) - 1), numbers, kept)
    return "".join(
        GAP.join(
            _padded(cut(cell, widths[index]), widths[index], is_right=index in numbers)
            for index, cell in enumerate(row)
        ).rstrip()
        + "\n"
        for row in lines
    )


def _fitted(widths: Sequence[int], room: int, numbers: frozenset[int], kept: frozenset[int]) -> list[int]:
    """Widths that fit a room: the widest text gives way first, then ids, then numbers."""
    fitted = list(widths)
    texts = [index for index in range(len(fitted)) if index not in numbers | kept]
    for group, least in ((texts, LEAST), (sorted(kept), LEAST), (range(len(fitted)), 1)):
        while sum(fitted) > room and (wide := max((fitted[index] for index in group), default=0)) > least:
            fitted[max(group, key=fitted.__getitem__)] = wide - 1
    return fitted


def cut(text: str, columns: int) -> str:
    """A line of a terminal's text, cut with an ellipsis where it takes more than so many columns."""
    if width(text) <= columns:
        return text
    taken = 0
    for index, mark in enumerate(text):
        taken += width(mark)
        if taken > columns - 1:
            return f"{text[:index].rstrip()}…"
    return text


def folded(text: str, columns: int | None, indent: str) -> str:
    """A line broken at spaces where it is wider than a terminal, what follows indented; long words are not broken."""
    if columns is None or width(text) <= columns:
        return text
    words = text.lstrip(" ").split(" ")
    lines, line = [], text[: len(text) - len(text.lstrip(" "))] + words[0]
    for word in words[1:]:
        if word and width(line) + 1 + width(word) > columns:
            lines.append(line.rstrip())
            line = indent + word
        else:
            line = f"{line} {word}"
    return "\n".join((*lines, line.rstrip()))


def _padded(cell: str, size: int, *, is_right: bool) -> str:
    gap = " " * (size - width(cell))
    return gap + cell if is_right else cell + gap


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(mark: str) -> int:
    category = unicodedata.category(mark)
    if category in {"Mn", "Me"} or (category == "Cf" and mark != SOFT_HYPHEN and harmless(mark) == mark):
        return 0  # drawn over the mark before, or not at all
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1
