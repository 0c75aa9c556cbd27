"""A discussion: its persisted part, its derived part, and its part in the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from operator import is_
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.structures import GrownRuns
from core.kernel.values.agent import Mode
from core.kernel.values.messages import (
    AttachmentPart,
    Entry,
    Message,
    Role,
    Status,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import Failure
from core.kernel.values.records import RequestRecord
from core.kernel.values.stack import ToldTurn
from core.kernel.values.usage import OfferedCommand, ReachedLimit, SpendRefusal, Upkeep, Usage
from core.kernel.values.window import ViewCut, ViewLine

T = TypeVar("T")

MAX_TEMPERATURE = 2.0
MIN_TOP_P = 0.01
"""Least share of the likeliest words: servers read 0 in different ways."""
MAX_OUTPUT_TOKENS = 10_000_000


class Flag(NamedTuple):
    """Words and signs of a yes or no that a person sets on a discussion, in the window and on the command line.

    Args:
        verb, undo: commands of the command line, and in capitals the labels of the window.
        said, unsaid: what is told of a discussion afterwards; sign: before its name in the command line's table.
        icon, chord: of the window's menus.
    """

    verb: str
    undo: str
    said: str
    unsaid: str
    sign: str
    icon: str
    chord: str = ""


class MetaChoice(NamedTuple):
    """Facts for front ends on a field of `DiscussionMeta` that a person chooses.

    Args:
        panel: of the Hook API, with `form`, the name of its action in capitals, and `key`, the field's name there.
        flag: where the choice is a yes or no with an act of its own; is_inherited: a branch and a task begin with it.
    """

    panel: str
    form: str
    key: str
    flag: Flag | None = None
    is_inherited: bool = True


_PIN = Flag(
    verb="pin",
    undo="unpin",
    said="pinned",
    unsaid=tr("no longer pinned"),
    sign="* ",
    icon="thumbtack",
    chord="Ctrl+Shift+D",
)
_ARCHIVE = Flag(
    verb="archive",
    undo="unarchive",
    said="archived",
    unsaid=tr("back in the list of discussions"),
    sign="(archived) ",
    icon="box-archive",
)


class DiscussionMeta(msgspec.Struct, frozen=True):
    """`meta.toml`. `parent_id` and `branch_message_id` are empty for a discussion that is no branch.

    `cache_epoch` counts invalidations: it salts the prefix, 0 until the first. `folder`: root of the project that it was
    started in; empty for none, and for a discussion from before this was recorded. `temperature`, `top_p`, `max_output_tokens`:
    None as the model and the settings have it. `has_tools`: its model is given tools; `mode`: what they may without a yes.
    `delegated_by`: the tool call of `parent_id` whose task it is; empty for any other.

    A field with a `MetaChoice` is one that `ChangeDiscussion` may change; the front ends read the rest from there.
    """

    id: str
    name: Annotated[str, MetaChoice(panel="discussions", form="RenameDiscussion", key="name")]
    created_at: datetime
    provider: Annotated[str, MetaChoice(panel="composer", form="SetModel", key="provider")]
    model: Annotated[str, MetaChoice(panel="composer", form="SetModel", key="model")]
    effort: Annotated[str, MetaChoice(panel="composer", form="SetEffort", key="effort")] = "auto"
    preset: Annotated[str, MetaChoice(panel="composer", form="SetDiscussionPreset", key="preset")] = ""
    persona: Annotated[str, MetaChoice(panel="composer", form="SetPersona", key="persona")] = ""
    system_preset: Annotated[
        str, MetaChoice(panel="composer", form="SetSystemPreset", key="system_preset")
    ] = ""
    pinned: Annotated[
        bool,
        MetaChoice(panel="discussions", form="PinDiscussion", key="is_pinned", flag=_PIN, is_inherited=False),
    ] = False
    archived: Annotated[
        bool,
        MetaChoice(
            panel="discussions",
            form="ArchiveDiscussion",
            key="is_archived",
            flag=_ARCHIVE,
            is_inherited=False,
        ),
    ] = False
    caching_enabled: bool = True
    parent_id: str = ""
    branch_message_id: str = ""
    spend_limit_usd: float | None = None
    cache_epoch: int = 0
    folder: str = ""
    temperature: Annotated[
        float | None, MetaChoice(panel="composer", form="SetTemperature", key="temperature")
    ] = None
    top_p: Annotated[float | None, MetaChoice(panel="composer", form="SetTopP", key="top_p")] = None
    max_output_tokens: Annotated[
        int | None, MetaChoice(panel="composer", form="SetMaxOutput", key="tokens")
    ] = None
    has_tools: bool = False
    mode: Mode = Mode.ASK
    delegated_by: str = ""


_MARKED = {
    name: hint
    for name, hint in get_type_hints(DiscussionMeta, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}
"""Read once: types that are written out are slow to read, and each start does it."""
CHOICES: Mapping[str, MetaChoice] = {name: hint.__metadata__[0] for name, hint in _MARKED.items()}
"""Fields of `DiscussionMeta` that a person chooses, in their order."""
CHOICE_TYPES = {name: hint.__origin__ for name, hint in _MARKED.items()}
"""Their types."""
FLAGS = {name: choice.flag for name, choice in CHOICES.items() if choice.flag is not None}
"""Those that are a yes or no with an act of its own."""
NOT_INHERITED: Mapping[str, Any] = {
    name: default
    for name, default in zip(
        reversed(DiscussionMeta.__struct_fields__), reversed(DiscussionMeta.__struct_defaults__), strict=False
    )
    if name in CHOICES and not CHOICES[name].is_inherited
}
"""Choices that a branch and a task begin without, with what these have instead."""


class DiscussionSummary(msgspec.Struct, frozen=True):
    """A row of the list: the meta and figures derived from the log (a cache, rebuilt at any time).

    Args:
        updated_at: of the last record but for upkeep's; upkept_at: of upkeep's last one, None where there is none.
        turns: messages of the user; preview: start of the last message, one line, at most 160 characters.
        usage: of every call, deleted replies, pings and prewarms among them; upkeep: of the last two alone.
        problem: why the discussion cannot be opened as it should be, empty when all is well.
        is_unanswered: the model has not had the last word: its reply is under way, or its send failed.
        is_partial: the last reply is not whole: it can be continued.
        left_calls: tool calls of the last reply that nobody had begun when the log was read: they ask once it is opened.
        origin: sentence on where an import took it from, and when; empty for a discussion of this program.
    """

    meta: DiscussionMeta
    updated_at: datetime
    turns: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)
    preview: str = ""
    problem: str = ""
    upkeep: Upkeep = msgspec.field(default_factory=Upkeep)
    is_unanswered: bool = False
    is_partial: bool = False
    left_calls: int = 0
    origin: str = ""
    upkept_at: datetime | None = None

    @property
    def paid_at(self) -> datetime:
        """Time up to which it may have been paid for."""
        return self.updated_at if self.upkept_at is None else max(self.updated_at, self.upkept_at)


class Draft(msgspec.Struct, frozen=True):
    """Text and attachments in the composer."""

    text: str = ""
    attachments: tuple[AttachmentPart, ...] = ()


class ReplyVersions(msgspec.Struct, frozen=True):
    """Versions of one reply, or of one message of the person, two at least.

    Args:
        ids: of the versions, in the order in which they came; chosen_id: the one that stands among the entries.
        aside: the others by their ids, each with what followed it: of a reply up to the person's next message.
    """

    ids: tuple[str, ...]
    chosen_id: str
    aside: Mapping[str, tuple[Entry, ...]]

    @property
    def number(self) -> int:
        """Number of the chosen version, from 1."""
        return self.ids.index(self.chosen_id) + 1

    def neighbour(self, step: int, asked_id: str = "") -> str:
        """Id of the version so many steps from the one that was asked for last, else the chosen one; empty past
        either end.
        """
        begin = self.ids.index(asked_id) if asked_id in self.ids else self.number - 1
        at = begin + step
        return self.ids[at] if 0 <= at < len(self.ids) else ""


class QueuedPrompt(msgspec.Struct, frozen=True):
    """A message that waits until the reply under way has ended.

    `id`: that of its message in the log, later; kept_out: sources that the person keeps out of what is recalled for it.
    """

    id: str
    at: datetime
    text: str = ""
    attachments: tuple[AttachmentPart, ...] = ()
    kept_out: tuple[str, ...] = ()


class EntryPlaces:
    """Places of a discussion's messages by id, and what else was made of it, handed on from one value of it to the next: they
    only save time.

    Any two are equal: they say nothing that the entries do not say.
    """

    __slots__ = ("_held", "_made", "grown")

    def __init__(
        self,
        entries: tuple[Entry, ...] | None = None,
        places: dict[str, int] | None = None,
        made: Mapping[str, tuple[tuple[object, ...], Any]] | None = None,
        grown: GrownRuns | None = None,
    ) -> None:
        self.grown = GrownRuns() if grown is None else grown
        self._held = [] if entries is None or places is None else [(entries, places)]
        self._made = dict(made or {})

    def moved(self, entries: tuple[Entry, ...], places: dict[str, int], *, is_same: bool) -> EntryPlaces:
        """Places for the value that follows. `is_same`: its entries are these very ones."""
        return EntryPlaces(entries, places, self._made if is_same else None, self.grown)

    def once(self, name: str, made_of: tuple[object, ...], make: Callable[[], T]) -> T:
        """The result of `make`, remembered under `name` for as long as `made_of` holds these very objects."""
        known = self._made.get(name)
        if known is None or not all(map(is_, known[0], made_of)):
            self._made[name] = known = made_of, make()
        found: T = known[1]
        return found

    def take(self, entries: tuple[Entry, ...]) -> dict[str, int]:
        """The places, to be changed by whoever has them now. O(1) for who comes first, O(n) for the others."""
        try:
            known, places = self._held.pop()
        except IndexError:
            known, places = None, {}
        if known is entries:
            return places
        return {entry.id: place for place, entry in enumerate(entries) if isinstance(entry, Message)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EntryPlaces)

    def __hash__(self) -> int:
        return hash(EntryPlaces)

    def __repr__(self) -> str:
        return "…"


class ComparedModel(msgspec.Struct, frozen=True):
    """A model that a message is put to beside others. `has_memory`: knowledge, facts and recall go along, where they are on."""

    provider: str
    model: str
    has_memory: bool = True


class ComparedReply(msgspec.Struct, frozen=True):
    """A column of a comparison.

    Args:
        reply_id: its version of the reply, empty while it has none; problem: why it is not whole, in sentences.
        is_over: nothing more comes; call_id: of the call that asks, empty while it is not asked for.
    """

    asked: ComparedModel
    reply_id: str = ""
    problem: str = ""
    is_over: bool = False
    call_id: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """One message put to several models at once, each reply a version.

    Args:
        prompt_id: the message; replies: in the order of their columns.
        over_limit: the person's yes to all of them past a limit.
        first_id: the reply that the others are versions of, empty before one came.
        chosen_id: the whole reply that was shown when columns were asked for again, and stays so; else empty.
    """

    prompt_id: str
    replies: tuple[ComparedReply, ...]
    over_limit: bool = False
    first_id: str = ""
    chosen_id: str = ""

    @property
    def is_over(self) -> bool:
        """True if nothing more comes."""
        return all(one.is_over for one in self.replies)

    def with_column(self, call_id: str, **changes: Any) -> Comparison:
        """The same with changes to the column that a call asks for."""
        replies = tuple(
            msgspec.structs.replace(one, **changes) if one.call_id == call_id else one for one in self.replies
        )
        return msgspec.structs.replace(self, replies=replies)


class SentBreak(msgspec.Struct, frozen=True):
    """A request that did not begin with the whole request before it.

    Args:
        text: layer, byte, reason, tokens and price in words, as the log keeps them.
    """

    request_id: str
    at: datetime
    model: str
    text: str


class OpenDiscussion(msgspec.Struct, frozen=True):
    """A discussion whose log is loaded.

    Args:
        entries: messages and marks in order, edits applied, deleted ones kept with `is_deleted`, of each reply the
            version that was chosen.
        versions: of replies that have several, by the id of the first.
        last_request: the newest request record, for the difference and for replay.
        breaks: the last requests that did not extend the one before them, the newest last.
        failed_message_id: the user's message whose send failed and can be retried, empty otherwise.
        repaired: what was repaired when the log was read (a torn last line, foreign lines), in sentences.
        record_count: records in the log, for making ids unique in it; attachments_dir: where its files lie.
        refusal: the last send that a spend limit stood against and nobody waits for; None since another began.
        awaits_limit: the command that goes on when a spend limit is raised, None where none waits.
        usage, upkeep: as in `DiscussionSummary`.
        queue: what is sent next, in order, as it stands on disk; queue_hold: why it waits for the person, in a
            sentence, empty while it goes on by itself; is_held_at_limit: a spend limit holds it, and nothing else.
        asked_version: the version of a reply that was chosen last, until it stands there.
        retrieved: recalled text that stays behind a message, by its id; kept_out: sources that the person keeps out
            of what is recalled for the draft.
        cut: the newest cut of the model's view, None where all of the log is in it.
        lines: of the program, in order, behind the message of that id, for the model alone.
        gone_calls: calls that left the model's view by themselves, with their results, when the cache was cold.
        told_turn: what the last turn with tools began with, None where the log does not tell.
        sent_through: the last message when the newest request went out: it and all before it was sent.
        left_calls: ids of tool calls of the last reply that a program which ended had not begun, and nobody runs now.
        held_calls: ids of tool calls without a result that another live program asks about, or runs.
        starts: when tool calls began, by their ids.
        comparison: the last one of this message or that, as long as the program runs.
        places: of the entries.
    """

    id: str
    entries: tuple[Entry, ...] = ()
    draft: Draft = msgspec.field(default_factory=Draft)
    last_request: RequestRecord | None = None
    failed_message_id: str = ""
    failure: Failure | None = None
    repaired: tuple[str, ...] = ()
    record_count: int = 0
    attachments_dir: str = ""
    refusal: SpendRefusal | None = None
    awaits_limit: OfferedCommand | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    upkeep: Upkeep = msgspec.field(default_factory=Upkeep)
    versions: Mapping[str, ReplyVersions] = msgspec.field(default_factory=dict)
    queue: tuple[QueuedPrompt, ...] = ()
    queue_hold: str = ""
    is_held_at_limit: bool = False
    asked_version: str = ""
    retrieved: Mapping[str, str] = msgspec.field(default_factory=dict)
    kept_out: tuple[str, ...] = ()
    cut: ViewCut | None = None
    lines: Mapping[str, tuple[ViewLine, ...]] = msgspec.field(default_factory=dict)
    gone_calls: frozenset[str] = frozenset()
    told_turn: ToldTurn | None = None
    sent_through: str = ""
    left_calls: tuple[str, ...] = ()
    held_calls: tuple[str, ...] = ()
    starts: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    comparison: Comparison | None = None
    places: EntryPlaces = msgspec.field(default_factory=EntryPlaces)
    breaks: tuple[SentBreak, ...] = ()

    def message_anywhere(self, message_id: str) -> Message | None:
        """A message that stands among the entries, or in a version that was put aside."""
        aside = (run for versions in self.versions.values() for run in versions.aside.values())
        runs = (self.entries, *aside)
        return next((e for run in runs for e in run if isinstance(e, Message) and e.id == message_id), None)

    def picture_path(self, part: AttachmentPart) -> str:
        """Path of a picture; empty for other files, and where a foreign log names none that could be there."""
        if not (part.is_image and part.file_name and self.attachments_dir):
            return ""
        return f"{self.attachments_dir}/{part.file_name}"

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that are not deleted, in order."""
        made = self.places.grown
        return self.places.once(
            "messages", (self.entries,), lambda: made.each("messages", self.entries, _kept_message)
        )

    @property
    def unanswered_id(self) -> str:
        """Id of the person's last message where no reply stands behind it, or results of tools that none has followed;
        empty otherwise, and where the model handed over.
        """
        return unanswered_id(self.entries)

    def versions_of(self, message: Message) -> ReplyVersions | None:
        """Versions of a message, None where it has but one."""
        return self.versions.get(message.version_of or message.id)

    def version_from(self, message_id: str, step: int) -> str:
        """Id of a version, or of the one so many steps from the one of its reply that was asked for last; empty: none."""
        known = next((one for one in self.versions.values() if message_id in one.ids), None)
        if known is None:
            return ""
        return known.neighbour(step, self.asked_version) if step else message_id

    def is_of_prompt(self, version_id: str) -> bool:
        """True for a version of a person's message, with which all that followed it comes and goes."""
        known = next((one for one in self.versions.values() if version_id in one.ids), None)
        runs = () if known is None else known.aside.values()
        head = next((run[0] for run in runs if run), None)
        return isinstance(head, Message) and head.role is Role.USER


def _kept_message(entry: Entry) -> tuple[Message, ...]:
    return (entry,) if isinstance(entry, Message) and not entry.is_deleted else ()


HAND_OVER = "yield_to_user"
"""Tool by which a model ends its turn: the last word is its."""


def unanswered_id(entries: Sequence[Entry]) -> str:
    """Id of the person's last message where the model has not had the last word since, empty where it has, or handed over."""
    if has_last_word(entries):
        return ""
    for entry in reversed(entries):
        if isinstance(entry, Message) and entry.role is Role.USER and not entry.is_deleted:
            return entry.id
    return ""


def has_last_word(entries: Sequence[Entry]) -> bool:
    """True if the model's turn is complete: no tool result follows its last reply, or that reply handed the turn over."""
    results: dict[str, bool] = {}
    for last in reversed(entries):
        if not isinstance(last, Message) or last.is_deleted:
            continue
        if last.role is Role.USER:
            return False
        if last.role is Role.ASSISTANT:
            calls = [part for part in last.parts if isinstance(part, ToolCallPart)]
            return not results or any(one.name == HAND_OVER and results.get(one.call_id) for one in calls)
        results.update(
            (part.call_id, not part.is_error) for part in last.parts if isinstance(part, ToolResultPart)
        )
    return False


def is_partial(entries: Sequence[Entry]) -> bool:
    """True if the last message is a reply that ended early; one that the person ended is as they wanted it."""
    messages = (one for one in reversed(entries) if isinstance(one, Message) and not one.is_deleted)
    last = next(messages, None)
    return last is not None and last.role is Role.ASSISTANT and last.status is Status.PARTIAL


class CallPhase(StrEnum):
    """Phase of a call."""

    SAVING = "saving"
    COMPACTING = "compacting"
    WAITING = "waiting"
    STREAMING = "streaming"
    RETRYING = "retrying"
    STOPPING = "stopping"
    STORING = "storing"


class LiveCall(msgspec.Struct, frozen=True):
    """A call under way.

    Args:
        user_message_id: the message that it answers; reply_id: the id that the reply will have in the log.
        command_id: of the command that asked for it, empty where nobody waits for that one.
        reserved_usd: what it is expected to cost, what it did cost once that is known, until it is counted as spent; None
            while nobody knows.
        version_of: the reply that it will be another version of, empty for a first one.
        over_limit: the person said yes to it past a limit; is_out: it was let go.
        built: its request for the log, None until it is assembled; is_claimed: other programs see what it reserves.
        refused: the limits that stood against it when its cost was known: it is not sent.
        held: where its request parts from what is warm though nobody asked for that, with its price: it is not sent.
        elsewhere_usd: what other programs had under way when its cost was known; is_priced: it has a price.
        after_change: the last change of settings that was asked for before it, which holds in it.
        is_saved: its words are on disk, and it waits for that change and for nothing else.
        was_queued: its prompt waited in the queue, and never was the composer's since.
        kept_out: sources that the person keeps out of what is recalled for its message.
        is_round: it goes on with a turn after tool results: what followed the message goes along.
        awaits_view: it waits until the model's view is rebuilt; had_view: that was tried for it.
        overflows: how often its request was longer than the window; overflow: what was said then, last.
        compared: the column of a comparison that it is for, None for the discussion's own model.
        text, reasoning: what has arrived; retry_at and retry_reason: while `RETRYING`.
    """

    id: str
    discussion_id: str
    user_message_id: str
    reply_id: str
    provider: str
    model: str
    started_at: datetime
    phase: CallPhase = CallPhase.SAVING
    text: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    first_token_at: datetime | None = None
    retry_at: datetime | None = None
    retry_reason: str = ""
    command_id: str = ""
    reserved_usd: float | None = 0.0
    over_limit: bool = False
    built: RequestRecord | None = None
    is_claimed: bool = False
    is_out: bool = False
    refused: tuple[ReachedLimit, ...] = ()
    held: str = ""
    version_of: str = ""
    elsewhere_usd: float = 0.0
    is_priced: bool = True
    was_queued: bool = False
    kept_out: tuple[str, ...] = ()
    after_change: int = 0
    is_saved: bool = False
    is_round: bool = False
    awaits_view: bool = False
    had_view: bool = False
    overflows: int = 0
    overflow: Failure | None = None
    compared: ComparedModel | None = None


# Text of the composer: a slash command, or a message. `//` begins a message with a slash. Pure.

_INPUT = late(r"/(?P<name>[A-Za-z]*)(?P<space>[ \t]+(?P<argument>.*?)[ \t]*)?")


class SlashInput(msgspec.Struct, frozen=True):
    """A slash command as it is typed. `argument`: None while no space stands behind the name."""

    name: str
    argument: str | None = None


def slash_input(text: str) -> SlashInput | None:
    """The command that stands in the composer; None for a message: `//…`, a path, or several lines."""
    found = _INPUT.fullmatch(text)
    if found is None:
        return None
    return SlashInput(found["name"].lower(), found["argument"] if found["space"] else None)


def message_text_of(text: str) -> str:
    """The message that is sent, empty for a command: of two slashes at its head one stays."""
    if slash_input(text) is not None:
        return ""
    return text[1:] if text.startswith("//") else text
