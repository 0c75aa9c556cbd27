"""Shared parts of every step: reports of workers, tables of what a room decides and follows, results, notices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, get_type_hints

import msgspec
from msgspec.structs import replace

from core.kernel.ids import Stamp
from core.kernel.language import spliced
from core.kernel.structures import with_entry, without
from core.kernel.values.discussion import DiscussionSummary, Draft, LiveCall, OpenDiscussion
from core.kernel.values.settings import Project
from core.kernel.values.state import OUTCOMES_KEPT, AppState, CommandOutcome, Level, Notice
from core.kernel.values.usage import OfferedCommand


class FilledIn:
    """Mark of a command's field that the step of its room fills in: no front end gives it, and no request may."""


FILLED = FilledIn()


def given_fields(kind: type[Any]) -> tuple[str, ...]:
    """Names of a command's fields that a front end gives."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        name for name in kind.__struct_fields__ if FILLED not in getattr(hints[name], "__metadata__", ())
    )


class WritesCaughtUp(msgspec.Struct, frozen=True):
    """A worker's writes that failed before stand on disk now."""

    subject: str


class OperationFailed(msgspec.Struct, frozen=True):
    """Something that the person asked for could not be done. `subject` names the notice.

    `command_id` is that of the effect, and of the command that it was begun for: who waits for it is told.
    `is_standing`: nobody asked for it just now; see `Notice`. `discussion_id`: the one that it is about alone.
    """

    subject: str
    text: str
    detail: str = ""
    command_id: str = ""
    is_standing: bool = False
    discussion_id: str = ""


class OperationDone(msgspec.Struct, frozen=True):
    """Something that the person asked for was done.

    Args:
        text: the word that it is worth, with its subject; empty for none. command_id: as the command asked for.
    """

    subject: str = ""
    text: str = ""
    detail: str = ""
    command_id: str = ""


class WorkerReported(msgspec.Struct, frozen=True):
    """A background worker's state changed."""

    name: str
    status: str
    detail: str = ""
    fraction: float | None = None


class Watched(StrEnum):
    """Places on disk that are watched, by what they hold."""

    CONTEXT = "files and folders of presets"
    CURATED = "files of presets that were edited while they were watched"
    SETTINGS = "settings, prompts and identity files"
    KNOWLEDGE = "category files, notes, the digest and the ledger"
    PROPOSALS = "the file of proposals"
    SOURCES = "folders that are searched"
    DISCUSSIONS = "folders of discussions"
    CACHES = "what providers hold for discussions"
    RESERVES = "money that is held back by all programs"
    INBOX = "the inbox of signals"


class PathsChanged(msgspec.Struct, frozen=True):
    """Something in a watched place changed, was made or removed, by this program or another, or may have been.

    Args:
        names: absolute paths; of `DISCUSSIONS` and `CACHES` the discussions' ids. Empty where it does not matter what changed.
    """

    watched: Watched
    names: tuple[str, ...] = ()


class Tick(msgspec.Struct, frozen=True):
    """Time passed. Sent about once a second, and more seldom while nothing waits for it."""


def command_id_of(message: object) -> str:
    """The id that a command or an effect carries; empty where nobody waits for it, or it cannot be waited for."""
    command_id: str = getattr(message, "command_id", "")
    return command_id


Report = WritesCaughtUp | OperationFailed | OperationDone | WorkerReported | PathsChanged | Tick


# Shared parts of every step: tables of what a room decides and follows, results, notices, small changes of
# the state.

# Updates that every part of the step shares: results, notices and small changes of the state.

Result = tuple[AppState, tuple[Any, ...]]
"""The next state and what the outside must do."""


def notify(
    state: AppState,
    notice_id: str,
    level: Level,
    text: str,
    detail: str = "",
    *,
    action: OfferedCommand | None = None,
    action_label: str = "",
    discussion_id: str = "",
    is_standing: bool = False,
) -> AppState:
    """Add a notice, or replace the one with the same id, in its place. A standing one that was dismissed stays away."""
    notice = Notice(
        id=notice_id,
        level=level,
        text=text,
        detail=detail,
        at=state.now,
        action=action,
        action_label=action_label,
        discussion_id=discussion_id,
        is_standing=is_standing,
    )
    if is_standing and state.program.dismissed.get(notice_id) == _cause(notice):
        return state
    known = state.program.notices
    is_there = any(n.id == notice_id for n in known)
    notices = tuple(notice if n.id == notice_id else n for n in known) if is_there else (*known, notice)
    return replace(state, program=replace(state.program, notices=notices))


def _cause(notice: Notice) -> str:
    return spliced("{}\n{}", notice.text, notice.detail)


def dismiss(state: AppState, notice_id: str) -> AppState:
    """Remove a notice whose cause has ended. If the cause returns, the notice returns."""
    program = state.program
    if notice_id in program.dismissed:
        program = replace(program, dismissed=without(program.dismissed, notice_id))
    if any(n.id == notice_id for n in program.notices):
        program = replace(program, notices=tuple(n for n in program.notices if n.id != notice_id))
    return state if program is state.program else replace(state, program=program)


def refused_files(discussion_id: str) -> str:
    """The notice of a file that could not be attached to a discussion's draft: it goes with the draft."""
    return f"attachments/{discussion_id}"


def read_notice(state: AppState, notice_id: str) -> AppState:
    """Remove a notice that the person has read: a standing one does not come back for the same cause."""
    read = next((n for n in state.program.notices if n.id == notice_id), None)
    state = dismiss(state, notice_id)
    if read is None or not read.is_standing:
        return state
    dismissed = with_entry(state.program.dismissed, notice_id, _cause(read))
    return replace(state, program=replace(state.program, dismissed=dismissed))


def conclude(state: AppState, outcome: CommandOutcome) -> AppState:
    """Keep how a command ended for whoever waits for it; without an id nobody does. What was told first stands."""
    if not outcome.command_id or outcome_of(state, outcome.command_id) is not None:
        return state
    return replace(
        state,
        program=replace(state.program, outcomes=(*state.program.outcomes, outcome)[-OUTCOMES_KEPT:]),
    )


def decline(state: AppState, command_id: str, notice_id: str, text: str, detail: str = "") -> AppState:
    """Say why a command is not carried out: as a notice, and to whoever waits for it."""
    state = conclude(state, CommandOutcome(command_id=command_id, problem=text, remedy=detail))
    return notify(state, notice_id, Level.WARNING, text, detail)


def outcome_of(state: AppState, command_id: str) -> CommandOutcome | None:
    """Outcome of the command of this id, None while it has not ended."""
    return next((one for one in reversed(state.program.outcomes) if one.command_id == command_id), None)


def is_under_way(state: AppState, command_id: str) -> bool:
    """True if a command that somebody waits for has not ended; without an id nobody waits."""
    return bool(command_id) and outcome_of(state, command_id) is None


def with_open(state: AppState, discussion: OpenDiscussion) -> AppState:
    """Replace an open discussion, and note the time, and whether something stands in its composer."""
    drafted, used = state.discussions.drafted, state.discussions.used
    if (discussion.draft != Draft()) != (discussion.id in drafted):
        drafted ^= {discussion.id}
    opened = with_entry(state.discussions.open, discussion.id, discussion)
    if state.now is not None:
        used = with_entry(used, discussion.id, state.now)
    return replace(state, discussions=replace(state.discussions, open=opened, drafted=drafted, used=used))


def with_selected(state: AppState, discussion_id: str) -> AppState:
    """Show a discussion, empty for none, and note the time for it and for the one that is left."""
    known, used = state.discussions, state.discussions.used
    for name in (known.selected_id, discussion_id):
        if name and state.now is not None:
            used = with_entry(used, name, state.now)
    return replace(state, discussions=replace(known, selected_id=discussion_id, used=used))


def with_summary(state: AppState, summary: DiscussionSummary) -> AppState:
    """Replace a row of the list."""
    return replace(
        state,
        discussions=replace(
            state.discussions, summaries=with_entry(state.discussions.summaries, summary.meta.id, summary)
        ),
    )


def is_busy(state: AppState, discussion_id: str) -> bool:
    """True while a reply is under way in a discussion, or the tools that it asked for.

    What a program that ended has left waits for the person, and keeps nobody from anything.
    """
    return bool(message_at_work(state, discussion_id))


def message_at_work(state: AppState, discussion_id: str) -> str:
    """Id of the person's message whose reply is under way, or the tools that it asked for; empty for none."""
    turn, call = state.agent.turns.get(discussion_id), state.turns.calls.get(discussion_id)
    if turn is not None and not turn.is_left:
        return turn.turn_id
    return "" if call is None else call.user_message_id


def with_call(state: AppState, call: LiveCall) -> AppState:
    """Replace a call, or add it: the first of a discussion stands under its id, those that run beside it under their own."""
    calls = state.turns.calls
    key = _key_of(calls, call) or (call.id if call.discussion_id in calls else call.discussion_id)
    return replace(state, turns=replace(state.turns, calls=with_entry(calls, key, call)))


def without_call(state: AppState, call: LiveCall) -> AppState:
    """Take a call away: it has ended. One that ran beside it stands under the discussion's id then."""
    key = _key_of(state.turns.calls, call)
    calls = without(state.turns.calls, key)
    beside = next((name for name, one in calls.items() if one.discussion_id == call.discussion_id), "")
    if key == call.discussion_id and beside:
        calls = with_entry(without(calls, beside), key, calls[beside])
    return replace(state, turns=replace(state.turns, calls=calls))


def calls_in(state: AppState, discussion_id: str) -> tuple[LiveCall, ...]:
    """The calls under way in a discussion: one, or several that are compared."""
    return tuple(one for one in state.turns.calls.values() if one.discussion_id == discussion_id)


def _key_of(calls: Mapping[str, LiveCall], call: LiveCall) -> str:
    first = calls.get(call.discussion_id)
    if first is not None and first.id == call.id:
        return call.discussion_id
    return call.id if call.id in calls else ""


def with_project(state: AppState, project: Project) -> AppState:
    """Replace the opened folder."""
    return replace(state, config=replace(state.config, project=project))


# Tables by which rooms say what they decide: a function a message, and what follows a change of the state.

Message = TypeVar("Message")


class Handler(NamedTuple):
    """The one function that decides what follows from a message of this type.

    Args:
        is_stamped: it makes ids or needs the time, so it takes the stamp between the state and the message.
    """

    message: type[Any]
    decide: Callable[..., Result]
    is_stamped: bool = False


def on(message: type[Message], decide: Callable[[AppState, Message], Result]) -> Handler:
    """The entry of a message that its function decides by the state alone."""
    return Handler(message=message, decide=decide)


def on_stamped(message: type[Message], decide: Callable[[AppState, Stamp, Message], Result]) -> Handler:
    """The entry of a message whose function also makes ids, or needs the time."""
    return Handler(message=message, decide=decide, is_stamped=True)


class Handlers:
    """A room's table. Calling it decides what follows from one message.

    Raises:
        ValueError: two entries name one message.
    """

    def __init__(self, *entries: Handler) -> None:
        self.by_type = {entry.message: entry for entry in entries}
        if len(self.by_type) < len(entries):
            names = sorted(entry.message.__name__ for entry in entries)
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"Two functions decide {', '.join(twice)}. Leave one of the entries.")

    def __call__(self, state: AppState, message: object, stamp: Stamp | None = None) -> Result:
        """Decide what follows from a message of this room. Only one that is stamped needs `stamp`."""
        _, decide, is_stamped = self.by_type[type(message)]
        return decide(state, stamp, message) if is_stamped else decide(state, message)

    def __iter__(self) -> Iterator[Handler]:
        return iter(self.by_type.values())


def keep(state: AppState, _message: object) -> Result:
    """Nothing changes in this room; other rooms act on the message."""
    return state, ()


def carry_out(state: AppState, command: object) -> Result:
    """The command needs no decision: it is its own effect."""
    return state, (command,)


class Moment(NamedTuple):
    """The step that a follow-up follows: its stamp, its message, and the message's own effects."""

    given: Stamp
    body: object
    effects: tuple[Any, ...]


class Follow(NamedTuple):
    """A follow-up of a room to changes of the state, whichever room made them.

    Args:
        watches: groups of the state, and fields of a group as `turns.calls`; it runs when one of them is another object
            than before. `now` changes with each message, so who watches it runs every time.
        decide: it gets the state before the message, the state now, and the moment.
        messages: types that it follows even where nothing watched has changed.
        needs: fields; it runs only while one of them is set, before the message or now. Empty: always.
    """

    watches: frozenset[str]
    decide: Callable[[AppState, AppState, Moment], Result]
    messages: frozenset[type[Any]] = frozenset()
    needs: tuple[Callable[[AppState], Any], ...] = ()

    def is_needed(self, before: AppState, after: AppState) -> bool:
        """True if there is anything that it could follow."""
        return not self.needs or any(read(after) or read(before) for read in self.needs)


def follow(
    watches: str,
    decide: Callable[[AppState, AppState, Moment], Result],
    messages: Iterable[type[Any]] = (),
    needs: str = "",
) -> Follow:
    """A follow-up that watches these groups and fields, named with spaces between them.

    Raises:
        ValueError: the state has no such group or field.
    """
    empty = AppState()
    for name in (*watches.split(), *needs.split()):
        group, _, field = name.partition(".")
        if not hasattr(empty, group) or not hasattr(getattr(empty, group), field or "__class__"):
            raise ValueError(f"The state has no {'field' if field else 'group'} {name}. See `AppState`.")
    return Follow(
        watches=frozenset(watches.split()),
        decide=decide,
        messages=frozenset(messages),
        needs=tuple(map(attrgetter, needs.split())),
    )


def follow_effects(
    watches: str, decide: Callable[[AppState, AppState], tuple[Any, ...]], needs: str = ""
) -> Follow:
    """A follow-up that changes nothing and orders effects only."""
    return follow(watches, lambda before, after, _moment: (after, decide(before, after)), needs=needs)
