"""Signals in the state: what came from outside and waits for a turn; data, never an order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from msgspec.structs import replace

from core.base.mapping import with_entry
from core.base.stamp import Stamp
from core.signals import notices
from core.signals.inflow import (
    make_signal,
    room_of,
    with_signal,
    with_signals_back,
    without_claims,
    without_signals,
)
from core.signals.messages import (
    ChannelChanged,
    ChannelSaid,
    DesktopTried,
    InboxRead,
    InboxTouched,
    PostSignal,
    PutInboxAway,
    PutSignalsAway,
    ReadInbox,
    SetChannels,
    SetQuiet,
    SignalCommand,
    SignalEffect,
    SignalEvent,
    TellInboxAgain,
    WatchedFilesChanged,
)
from core.signals.own_writes import is_own_write, may_be_own_signal
from core.values.outcomes import CommandOutcome
from core.values.signals import ChannelStatus, Signal, SignalSource
from core.values.state import AppState, Level
from core.values.updates import Result, conclude, dismiss, notify

INBOX_NOTICE = "inbox"
FILE_SAYS = "It was changed, made or removed on disk."
TAIL_CHARS = 1_500
"""Of what a command wrote last."""
_BY_ANYBODY = frozenset({SignalSource.INBOX, SignalSource.API})
"""Sources that a program on this machine reaches, also one that a call of ours started."""


def command(state: AppState, given: Stamp, asked: SignalCommand) -> Result:
    """Decide what follows from a command."""
    match asked:
        case PostSignal():
            return _post(state, given, asked), ()
        case PutSignalsAway():
            wanted = (one.id for one in state.signals.waiting if asked.signal_id in {"", one.id})
            return taken(state, wanted), ()
        case SetQuiet():
            return replace(state, signals=replace(state.signals, is_quiet=asked.is_quiet)), ()
        case _:
            assert_never(asked)


def event(state: AppState, given: Stamp, happened: SignalEvent) -> Result:
    """Decide what follows from an event."""
    match happened:
        case InboxTouched():
            is_ours = not (state.program.is_home_read_only or state.program.holder)
            return state, (_read(state),) if is_ours else ()
        case InboxRead():
            return _inbox(state, given, happened), ()
        case WatchedFilesChanged():
            return _files(state, given, happened), ()
        case ChannelSaid():
            return _line(state, given, happened), ()
        case ChannelChanged():
            return _channel(state, happened.status), ()
        case DesktopTried():
            return replace(state, signals=replace(state.signals, desktop_problem=happened.problem)), ()
        case _:
            assert_never(happened)


def tick(state: AppState) -> Result:
    """Look at the inbox again for a file that was still being written, or had to wait for room."""
    is_ours = not state.program.holder
    look = _read(state)
    return state, (look,) if is_ours and state.signals.is_inbox_unready and look.most else ()


def _read(state: AppState) -> ReadInbox:
    return ReadInbox(most=room_of(state.signals, SignalSource.INBOX))


def taken(state: AppState, ids: Iterable[str]) -> AppState:
    """The state once a turn has taken signals: they wait no more, and the window still shows them."""
    return replace(state, signals=without_signals(state.signals, ids))


def judged_again(state: AppState) -> AppState:
    """The state once a log has told of calls of another run: a file of the inbox that waits may be one of theirs."""
    waiting = tuple(
        replace(one, wakes=False)
        if one.wakes and one.came_at is not None and may_be_own_signal(state, one.came_at)
        else one
        for one in state.signals.waiting
    )
    return replace(state, signals=replace(state.signals, waiting=waiting))


def given_back(state: AppState, signals: Iterable[Signal]) -> AppState:
    """The state once a turn that had taken signals failed: they wait again."""
    return replace(state, signals=with_signals_back(state.signals, tuple(signals)))


def followed(before: AppState, after: AppState) -> Result:
    """Follow a change of the state: who owns the home, channels as the settings have them, and who is told of what."""
    after = _without_gone(before, after)
    after, owned = _owned(before, after)
    after, effects = notices.followed(before, after)
    effects = (*owned, *effects)
    now = after.config.settings.channels
    if now is before.config.settings.channels or now == before.config.settings.channels:
        return after, effects
    wanted = tuple(one for one in now.values() if one.is_enabled)
    known = after.signals.channels
    channels = {one.name: known.get(one.name, ChannelStatus(one.name)) for one in wanted}
    return replace(after, signals=replace(after.signals, channels=channels)), (*effects, SetChannels(wanted))


def _owned(before: AppState, after: AppState) -> tuple[AppState, tuple[SignalEffect, ...]]:
    """Leave inbox and channels to another program that owns the home, and go on with them when this one does again.

    While it does, a file that was told of waits on disk until no signal of it waits and its words are in a log. One
    whose signal was let go for the bound is told of again.
    """
    holder = after.program.holder
    if holder and not before.program.holder:
        return replace(after, signals=without_claims(after.signals)), (SetChannels(()),)
    if before.program.holder and not holder:
        wanted = tuple(one for one in after.config.settings.channels.values() if one.is_enabled)
        return after, (replace(_read(after), begins_anew=True), SetChannels(wanted))
    is_same = (
        before.signals.waiting is after.signals.waiting
        and before.attention.autonomy is after.attention.autonomy
    )
    if holder or (is_same and before.discussions.open is after.discussions.open):
        return after, ()
    let_go = after.signals.let_go
    gone = _claims(before) - _claims(after) - frozenset(let_go)
    away = (PutInboxAway(tuple(sorted(gone))),) if gone else ()
    if not let_go:
        return after, away
    signals = replace(after.signals, let_go=(), is_inbox_unready=True)
    return replace(after, signals=signals), (*away, TellInboxAgain(let_go))


def _claims(state: AppState) -> frozenset[str]:
    """Files whose words are in no log yet: of signals that wait, and of a turn whose words are being written."""
    claims = [one.claim for one in state.signals.waiting if one.claim]
    autonomy = state.attention.autonomy
    if autonomy is not None and autonomy.message_id and any(one.claim for one in autonomy.signals):
        opened = state.discussions.open.get(autonomy.discussion_id)
        if opened is not None and all(one.id != autonomy.message_id for one in reversed(opened.messages)):
            claims += [one.claim for one in autonomy.signals if one.claim]
    return frozenset(claims)


def _without_gone(before: AppState, after: AppState) -> AppState:
    """Forget what the signals of a discussion said once it is gone."""
    old, now, signals = before.discussions.summaries, after.discussions.summaries, after.signals
    if old is now:
        return after
    about = {one.discussion_id for one in (*signals.waiting, *signals.seen)}
    gone = {one for one in about if one in old and one not in now}
    if not gone:
        return after
    waiting, seen = (
        tuple(one for one in many if one.discussion_id not in gone)
        for many in (signals.waiting, signals.seen)
    )
    return replace(after, signals=replace(signals, waiting=waiting, seen=seen))


def command_ended(
    state: AppState, given: Stamp, discussion_id: str, call_id: str, how: str, tail: str
) -> AppState:
    """The state once a background command has ended by itself, or at a bound; `how`: in sentences."""
    page = state.agent.pages.get(discussion_id)
    call = next((one for one in reversed(page.activity) if one.id == call_id), None) if page else None
    if call is None:
        return state
    said = f"{how}\n{tail[-TAIL_CHARS:].strip()}"
    return _added(state, given, SignalSource.COMMAND, call.summary or call.name, said, discussion_id)


def _files(state: AppState, given: Stamp, happened: WatchedFilesChanged) -> AppState:
    """Changes count while a discussion is autonomous; nobody else is woken by them."""
    if state.attention.autonomy is None:
        return state
    root = state.config.project.root
    for number, path in enumerate(happened.paths):
        if not is_own_write(state, path):
            shown = path.removeprefix(f"{root}/") if root else path
            state = _added(state, given, SignalSource.FILE, shown, FILE_SAYS, number=number)
    return state


def _line(state: AppState, given: Stamp, happened: ChannelSaid) -> AppState:
    """A line of a channel. What a flood took is counted with its channel."""
    known = state.signals.channels.get(happened.name)
    if known is None:
        return state
    if happened.dropped:
        state = _with_channel(state, replace(known, dropped=known.dropped + happened.dropped))
    if not happened.text:
        return state
    return _added(state, given, SignalSource.CHANNEL, f"{happened.name}/{happened.sender}", happened.text)


def _channel(state: AppState, status: ChannelStatus) -> AppState:
    known = state.signals.channels.get(status.name)
    return state if known is None else _with_channel(state, replace(status, dropped=known.dropped))


def _with_channel(state: AppState, status: ChannelStatus) -> AppState:
    channels = with_entry(state.signals.channels, status.name, status)
    return replace(state, signals=replace(state.signals, channels=channels))


def _added(
    state: AppState,
    given: Stamp,
    source: SignalSource,
    sender: str,
    text: str,
    discussion_id: str = "",
    number: int = 0,
    claim: str = "",
    came_at: datetime | None = None,
) -> AppState:
    signal = make_signal(given.make_id(number), source, sender, text, given.at, discussion_id, claim)
    wakes = source not in _BY_ANYBODY or not may_be_own_signal(state, came_at)
    signal = replace(signal, wakes=wakes, came_at=came_at)
    return replace(state, signals=with_signal(state.signals, signal))


def _post(state: AppState, given: Stamp, asked: PostSignal) -> AppState:
    if not asked.text.strip():
        problem = CommandOutcome(
            asked.command_id, problem="A signal needs a text", remedy="Say what happened"
        )
        return conclude(state, problem)
    if asked.discussion_id and asked.discussion_id not in state.discussions.summaries:
        problem = CommandOutcome(
            asked.command_id,
            problem=f"No discussion has the id {asked.discussion_id!r}",
            remedy="Leave it out, or use an id of the list",
        )
        return conclude(state, problem)
    return _added(state, given, SignalSource.API, asked.sender, asked.text, asked.discussion_id)


def _inbox(state: AppState, given: Stamp, happened: InboxRead) -> AppState:
    for number, file in enumerate(happened.files):
        about = SignalSource.INBOX, file.name, file.text
        state = _added(state, given, *about, number=number, claim=file.claim, came_at=file.came_at)
    signals = replace(state.signals, inbox_odd=happened.odd, is_inbox_unready=happened.is_unready)
    state = replace(state, signals=signals)
    if not happened.odd:
        return dismiss(state, INBOX_NOTICE)
    text = "Something in the inbox is passed over."
    return notify(state, INBOX_NOTICE, Level.WARNING, text, "\n".join(happened.odd), is_standing=True)
