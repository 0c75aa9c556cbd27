"""A tool: its schema, how a call of it is judged before it is done, and how it is done."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from core.kernel.codecs import from_json, read_json, schemas_of, to_json
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.agent import Act, ActKind, FileChange, Sandbox, TodoItem
from core.kernel.values.mcp import CommandBounds
from core.kernel.values.messages import AttachmentPart, CallEnd, Entry, Message, ToolCallPart, ToolResultPart
from core.kernel.values.retrieval import MemoryToolAnswer
from core.kernel.values.stack import ToolSchema


class ToolPlaces(msgspec.Struct, frozen=True):
    """Folders of a discussion's tools, absolute, links resolved.

    Args:
        root: the project's, where commands work; allowed_roots: others that its files may be in.
        home: ours, which no tool reaches; scratch: a private temporary folder, empty until one is needed.
        journal: the journal file; is_trusted: the folder is trusted: else there are no file and command tools.
        bounds: of each command there.
        shown: places that the person showed to what runs there without a yes, absolute, links resolved: outside the project,
            or files in it that are no keys.
    """

    root: str
    allowed_roots: tuple[str, ...] = ()
    home: str = ""
    scratch: str = ""
    journal: str = ""
    is_trusted: bool = False
    bounds: CommandBounds = msgspec.field(default_factory=CommandBounds)
    shown: tuple[str, ...] = ()


class Judged(Act, frozen=True):
    """Act that a tool found in a call.

    Args:
        problem: it cannot be done; this is its result, marked as an error, and nobody is asked.
        plan: what `run` needs to do exactly what was judged.
    """

    problem: str = ""
    plan: Any = None


class ToolAnswer(msgspec.Struct, frozen=True):
    """Result of a call, for the model.

    Args:
        text: framed as data where it came from outside; attachments: pictures, kept in the discussion already.
        changes: files that it changed; todo: the new list, None where it is as before; is_yield: the model hands over.
        is_background: its command goes on behind it.
    """

    text: str
    is_error: bool = False
    attachments: tuple[AttachmentPart, ...] = ()
    changes: tuple[FileChange, ...] = ()
    todo: tuple[TodoItem, ...] | None = None
    is_yield: bool = False
    is_background: bool = False


class CommandOrder(msgspec.Struct, frozen=True):
    """A command line to be run.

    Args:
        command: for bash, whole; folder: where, absolute, links resolved.
        needs_network: it may reach the network; timeout_s: until it is ended, None for one in the background.
        sees_secrets: files that may hold keys or passwords are as they are; else they are empty for it, in a sandbox.
    """

    command: str
    folder: str
    needs_network: bool = False
    timeout_s: float | None = None
    sees_secrets: bool = False


class ShellOutcome(msgspec.Struct, frozen=True):
    """The present state of a command.

    Args:
        output: head and tail of what it wrote; exit_code: None while it runs, negative for a signal.
        ended_by: why it was ended, a sentence, empty where it ended by itself; notes: what the person should know, a sentence each.
        left_bytes: left out between head and tail.
    """

    output: str
    exit_code: int | None = None
    ended_by: str = ""
    notes: tuple[str, ...] = ()
    left_bytes: int = 0


class CommandDesk(Protocol):
    """Commands of the discussion that a call belongs to. Thread-safe."""

    @property
    def sandbox(self) -> Sandbox:
        """Confinement of commands here."""
        ...

    def run(self, order: CommandOrder, desk: ToolDesk) -> ShellOutcome:
        """Run to the end, its time or the call's cancelling. All that it started is gone then. Raises OSError."""
        ...

    def start(self, order: CommandOrder, desk: ToolDesk) -> str:
        """Start one that goes on behind its call. Returns its id. Raises OSError: it, or one more, cannot be started."""
        ...

    def look(self, command_id: str) -> ShellOutcome | None:
        """Output of a background command since the last look, None for an unknown id."""
        ...

    def kill(self, command_id: str) -> bool:
        """End a background command and all that it started. Returns False for an unknown id."""
        ...


class ToolDesk(Protocol):
    """Offer of the outside to a call. Thread-safe."""

    @property
    def call_id(self) -> str:
        """Id of the call."""
        ...

    @property
    def commands(self) -> CommandDesk:
        """Commands of the discussion: `core.agent.commands.Commands.of(discussion_id)`."""
        ...

    @property
    def places(self) -> ToolPlaces:
        """Folders of the discussion."""
        ...

    @property
    def now(self) -> datetime:
        """The time, UTC."""
        ...

    @property
    def discussion_id(self) -> str:
        """Id of the discussion."""
        ...

    @property
    def turn_id(self) -> str:
        """Id of the person's message that began the turn."""
        ...

    @property
    def has_yes(self) -> bool:
        """True if a person approved this very call, and no rule did."""
        ...

    def use_memory(self, name: str, arguments_json: str) -> MemoryToolAnswer:
        """Answer a call of `search_notes` or `read_note`."""
        ...

    def seen(self, path: str) -> str:
        """Sha256 (hex) of a file as the model read it last in this discussion, empty where it did not."""
        ...

    def note_seen(self, path: str, sha256: str) -> None:
        """The model has read a file, or written it, as these bytes."""
        ...

    def keep_before(self, change: FileChange, data: bytes | None) -> None:
        """Keep a file's bytes before the turn's first write of it, and what is about to be written, on disk.

        Args:
            data: None where it was not there.
        """
        ...

    def note_written(self, change: FileChange, *, is_made: bool) -> None:
        """Note that a change is made, or failed."""
        ...

    def keep_picture(self, name: str, data: bytes) -> AttachmentPart:
        """Keep a picture among the discussion's attachments. Raises SlopError: the data are no picture, or too large."""
        ...

    def page_text(self, data: bytes, charset: str) -> str:
        """Text of an HTML page, read in a process of its own. Raises SlopError: it cannot be, or takes too long."""
        ...

    def report(self, tail: str) -> None:
        """Show the end of the output so far."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Wait. Returns True as soon as the call is cancelled."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run a callback when the call is cancelled, at once if it is."""
        ...


class Tool(msgspec.Struct, frozen=True):
    """A tool.

    Args:
        judge: arguments as the model gave them; total: what does not fit is a problem.
        run: the judged call, done; `taken`: numbers of the hunks that the person took, None for all. Total as well.
        keeps_order: what a call finds, or leaves to the next, hangs on the calls before it in its reply: it is judged
            and begins when those are over, and those behind it wait for it.
    """

    schema: ToolSchema
    kind: ActKind
    judge: Callable[[str, ToolDesk], Judged]
    run: Callable[[Judged, ToolDesk, tuple[int, ...] | None], ToolAnswer]
    keeps_order: bool = False


def schema_of(name: str, description: str, arguments: type[msgspec.Struct]) -> ToolSchema:
    """Schema of a tool whose arguments are a struct; canonical JSON, keys sorted."""
    components = schemas_of([arguments], "{name}")
    schema = _plain(components[arguments.__name__], components)
    return ToolSchema(
        name=name,
        description=description,
        parameters_json=to_json(schema, order="sorted").decode(),
    )


def _plain(schema: Any, components: Mapping[str, Any]) -> Any:
    """A schema without references, which not every server follows, and without the names and docstrings of our types."""
    if isinstance(schema, list):
        return [_plain(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    named = components.get(schema.get("$ref", ""), {})
    own = {key: value for key, value in named.items() if key not in {"title", "description"}}
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    if "properties" in rest:  # a type of ours, not a field
        rest = {key: value for key, value in rest.items() if key not in {"title", "description"}}
    return {key: _plain(value, components) for key, value in {**own, **rest}.items()}


# Escapes for text that a person says yes to: each character that shows nothing, or something else than it
# does, by its code.

_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Control, format (bidi among them), unassigned, private, lone surrogates, line and paragraph separators."""
_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs that no font draws anything for."""
_KEPT = frozenset("\n\t")


def escaped(text: str) -> str:
    """The text as it can be judged: `‹U+202E›` where a character would be unseen or turn what follows around.

    Line feeds and tabs stay; any other space but the plain one, and marks that choose a variant, are escaped as well.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if is_plain(char) else f"‹U+{ord(char):04X}›" for char in text)


def is_plain(char: str) -> bool:
    """True if a character shows as what it is."""
    if " " <= char <= "~" or char in _KEPT:
        return True
    kind = unicodedata.category(char)
    is_variant = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return kind not in _HIDDEN_KINDS and kind != "Zs" and not is_variant and char not in _BLANK_LETTERS


def hidden_count(text: str) -> int:
    """Number of characters that `escaped` shows by their codes."""
    return sum(not is_plain(char) for char in text)


# Tool calls of a turn that did not do what was asked, for front ends that show no list of calls.

WORDS_CHARS = 300


class FailedCall(msgspec.Struct, frozen=True):
    """A call that failed, was refused or interrupted. `words`: start of what the model was told, one line."""

    call_id: str
    name: str
    end: CallEnd
    words: str

    @property
    def sentence(self) -> str:
        """The call, how it ended and why."""
        how = "failed" if self.end is CallEnd.FAILED else tr("was {end}", end=self.end)
        return f"{self.name} {how}: {self.words}"


def failed_calls(entries: Sequence[Entry]) -> tuple[FailedCall, ...]:
    """The failed calls whose results are among these entries, in their order."""
    names: dict[str, str] = {}
    found: list[FailedCall] = []
    for entry in entries:
        if not isinstance(entry, Message) or entry.is_deleted:
            continue
        for part in entry.parts:
            if isinstance(part, ToolCallPart):
                names[part.call_id] = part.name
            elif isinstance(part, ToolResultPart) and (end := part.end(entry.status)) is not CallEnd.DONE:
                name = names.get(part.call_id, "a tool")
                found.append(
                    FailedCall(
                        call_id=part.call_id, name=name, end=end, words=one_line(part.text, WORDS_CHARS)
                    )
                )
    return tuple(found)


# Arguments of a call as its tool's struct, or why they do not fit.

_Arguments = TypeVar("_Arguments", bound=msgspec.Struct)
MAX_ARGUMENT_CHARS = 4_000_000

Described = msgspec.Meta


def arguments_of(
    kind: ActKind, title: str, arguments_json: str, form: type[_Arguments]
) -> _Arguments | Judged:
    """Arguments in a tool's form; a judged call that cannot be done, for the model, where they do not fit. Raises nothing."""
    if len(arguments_json) > MAX_ARGUMENT_CHARS:
        return refused(kind, title, f"The arguments have {len(arguments_json):,} characters, too many.")
    try:
        try:
            return from_json(arguments_json or "{}", form)
        except msgspec.ValidationError:
            return from_json(with_whole_numbers(arguments_json or "{}"), form)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        return refused(kind, title, f"The arguments do not fit: {error}")


def with_whole_numbers(arguments_json: str) -> str:
    """The same JSON with `2.0` as `2`: an integer of JSON Schema is a number without a fraction, however it is written.

    Source: JSON Schema 2020-12, Validation 6.1.1, "integer" (read 2026-11).
    """

    def number(text: str) -> int | float:
        value = float(text)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    return to_json(read_json(arguments_json, parse_float=number)).decode()


def refused(kind: ActKind, title: str, problem: str) -> Judged:
    """Judge a call as one that cannot be done."""
    return Judged(kind=kind, title=title, problem=problem)
