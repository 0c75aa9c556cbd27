"""Signals from outside, which wait for a turn as data, never as an order; and notifications: who is told of what."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta

from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.frame import clean, flat, one_line
from core.kernel.ids import Stamp
from core.kernel.language import as_sentences, joined, spliced, tr
from core.kernel.secrets import scrubbed_line
from core.kernel.structures import with_entry
from core.kernel.values.agent import STOP_NOTICE, ActKind, AgentPage, CallState, ToolCall
from core.kernel.values.messages import Role
from core.kernel.values.signals import (
    SENDER_CHARS,
    SIGNAL_CHARS,
    SIGNALS_KEPT,
    ChannelStatus,
    Notification,
    NotificationKind,
    Signal,
    SignalSource,
    SignalState,
)
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import (
    Handlers,
    Result,
    conclude,
    dismiss,
    follow,
    is_busy,
    notify,
    on,
    on_stamped,
)
from core.signals.signals_messages import (
    ChannelChanged,
    ChannelSaid,
    DesktopTried,
    InboxRead,
    PostSignal,
    PutInboxAway,
    PutSignalsAway,
    ReadInbox,
    SayInChannel,
    SetChannels,
    SetQuiet,
    ShowNotification,
    SignalEffect,
    TellInboxAgain,
)
from core.talk.discussion.discussion_messages import SelectDiscussion

AWAY = timedelta(seconds=30)
"""Time without a key or pointer event in the window after which a person counts as not in front of it."""
HELD_KEPT = 50
NAME_CHARS, REPLY_CHARS = 60, 240
NOTICE = "notifications"

_WORDS = {
    NotificationKind.TURN_FINISHED: tr("The reply has arrived"),
    NotificationKind.TURN_FAILED: tr("The reply failed"),
    NotificationKind.QUESTION: tr("The discussion waits for your answer"),
    NotificationKind.APPROVAL: tr("The discussion asks for your approval"),
    NotificationKind.AUTONOMY: tr("The autonomous discussion stopped"),
}
"""Words of ours, without any of a model's."""
_REPLIES = frozenset({NotificationKind.TURN_FINISHED, NotificationKind.QUESTION})
_COUNTED = {
    NotificationKind.TURN_FINISHED: (tr("reply has arrived"), tr("replies have arrived")),
    NotificationKind.TURN_FAILED: (tr("reply failed"), tr("replies failed")),
    NotificationKind.QUESTION: (
        tr("discussion waits for your answer"),
        tr("discussions wait for your answer"),
    ),
    NotificationKind.APPROVAL: (
        tr("tool call waits for your approval"),
        tr("tool calls wait for your approval"),
    ),
    NotificationKind.AUTONOMY: (
        tr("autonomous discussion stopped"),
        tr("autonomous discussions stopped"),
    ),
}


def news_followed(before: AppState, after: AppState) -> Result:
    """The state and the effects once a person was told of what changed."""
    effects: tuple[SignalEffect, ...] = ()
    if before.signals.is_quiet and not after.signals.is_quiet:
        after, effects = _given_together(after)
    for note in _news(before, after):
        after, more = _told(after, note)
        effects = (*effects, *more)
    return after, effects


def _news(before: AppState, after: AppState) -> Iterator[Notification]:
    """Everything that a person may want to come back for. Who sits before the window sees questions and ends of turns there."""
    is_heard = after.signals.is_quiet or bool(after.config.settings.channels) or is_away(after)
    if is_heard and before.agent.turns is not after.agent.turns:
        known = _questions(before)
        for key, discussion_id in _questions(after).items():
            if key not in known:
                yield _note(after, NotificationKind.APPROVAL, discussion_id)
    if is_heard and (before.turns is not after.turns or before.agent.turns is not after.agent.turns):
        for discussion_id in sorted({*before.turns.calls, *before.agent.turns}):
            if is_busy(before, discussion_id) and not is_busy(after, discussion_id):
                yield from _ended(before, after, discussion_id)
    stopped = _stopped(after)
    if stopped and stopped != _stopped(before):
        yield _note(after, NotificationKind.AUTONOMY, stopped[0])


def _questions(state: AppState) -> dict[tuple[str, str], str]:
    """Questions that wait for a person, with their discussion."""
    return {
        (discussion_id, call.question_id): discussion_id
        for discussion_id, turn in state.agent.turns.items()
        for call in turn.calls
        if call.state is CallState.ASKING
    }


def _ended(before: AppState, after: AppState, discussion_id: str) -> Iterator[Notification]:
    """A turn is over. One that the person stopped is no news, nor one whose task another discussion waits for.

    Nor is one that an autonomous discussion goes on from, but to a channel that it was begun for.
    """
    if discussion_id not in after.discussions.summaries or discussion_id in before.agent.delegations:
        return
    turn = before.agent.turns.get(discussion_id)
    if turn is not None and turn.is_stopping:
        return
    if turn is not None and turn.has_yielded:
        yield _note(after, NotificationKind.QUESTION, discussion_id)
        return
    autonomy = after.attention.autonomy
    opened = after.discussions.open.get(discussion_id)
    has_failed = opened is not None and opened.failure is not None
    if autonomy is None or autonomy.discussion_id != discussion_id:
        yield _note(
            after,
            NotificationKind.TURN_FAILED if has_failed else NotificationKind.TURN_FINISHED,
            discussion_id,
        )
    elif not has_failed and _asking(after, discussion_id):
        yield _note(after, NotificationKind.TURN_FINISHED, discussion_id)


def _stopped(state: AppState) -> tuple[str, str] | None:
    """The discussion that is autonomous and was stopped, and why."""
    autonomy = state.attention.autonomy
    return (autonomy.discussion_id, autonomy.stopped) if autonomy is not None and autonomy.stopped else None


def _note(state: AppState, kind: NotificationKind, discussion_id: str) -> Notification:
    row = state.discussions.summaries.get(discussion_id)
    name = one_line(flat(row.meta.name), NAME_CHARS) if row is not None else ""
    return Notification(
        kind=kind,
        title=name or "Manual Slop",
        text=_WORDS[kind],
        discussion_id=discussion_id,
        channels=_hearing(state, kind, discussion_id),
    )


def _hearing(state: AppState, kind: NotificationKind, discussion_id: str) -> dict[str, str]:
    """Names of channels that hear of it, each with the model's last words where it asked and may have them."""
    asking = _asking(state, discussion_id)
    hearing = (one for one in state.config.settings.channels.values() if one.announces or one.name in asking)
    reply = _last_words(state, discussion_id) if asking and kind in _REPLIES else ""
    return {one.name: reply if one.answers and one.name in asking else "" for one in hearing}


def _last_words(state: AppState, discussion_id: str) -> str:
    """Beginning of the newest reply, on one line and without what looks like a secret."""
    opened = state.discussions.open.get(discussion_id)
    for message in reversed(opened.messages if opened is not None else ()):
        if message.role is Role.USER:
            return ""
        if message.role is Role.ASSISTANT and message.text.strip():
            return scrubbed_line(message.text, REPLY_CHARS)
    return ""


def _asking(state: AppState, discussion_id: str) -> frozenset[str]:
    """Names of channels whose lines began the turn that runs or ran last in a discussion."""
    autonomy = state.attention.autonomy
    if autonomy is None or autonomy.discussion_id != discussion_id:
        return frozenset()
    senders = [one.sender for one in autonomy.signals if one.source is SignalSource.CHANNEL]
    names = state.config.settings.channels
    return frozenset(name for name in names for sender in senders if sender.startswith(f"{name}/"))


def _told(state: AppState, note: Notification) -> tuple[AppState, tuple[SignalEffect, ...]]:
    """Give a notification, or hold it while it is quiet."""
    signals = state.signals
    if signals.is_quiet:
        is_full = len(signals.held) >= HELD_KEPT
        held = signals.held if is_full else (*signals.held, note)
        return replace(state, signals=replace(signals, held=held, missed=signals.missed + is_full)), ()
    return _in_window(state, note), (*_desktop(state, note.title, note.text), *_channels(state, (note,)))


def _in_window(state: AppState, note: Notification) -> AppState:
    """Say why autonomy stopped. The other kinds are seen where they are: in the list, under the reply, in its question."""
    stopped = _stopped(state)
    if note.kind is not NotificationKind.AUTONOMY or stopped is None:
        return state
    return notify(state, STOP_NOTICE, Level.WARNING, stopped[1], discussion_id=stopped[0])


def _desktop(state: AppState, title: str, text: str) -> tuple[SignalEffect, ...]:
    return (ShowNotification(title, text),) if is_away(state) else ()


def _channels(state: AppState, notes: tuple[Notification, ...]) -> tuple[SignalEffect, ...]:
    """Tell channels, each of a kind once. The name of a discussion holds words of its talk and stays here."""
    known = {one.name for one in state.config.settings.channels.values() if one.is_enabled}
    lines = (
        SayInChannel(name=name, kind=note.kind, reply=reply)
        for note in notes
        for name, reply in note.channels.items()
    )
    return tuple(dict.fromkeys(line for line in lines if line.name in known))


def is_away(state: AppState) -> bool:
    """True if the person has a window and did not touch it of late, and wants to be told on the desktop."""
    active_at = state.attention.active_at
    if active_at is None or state.now is None or not state.config.settings.notifications.desktop:
        return False
    return state.now - active_at >= AWAY


def _given_together(state: AppState) -> tuple[AppState, tuple[SignalEffect, ...]]:
    """Quiet is over: one notification says all that was held."""
    held, missed = state.signals.held, state.signals.missed
    state = replace(state, signals=replace(state.signals, held=(), missed=0))
    if not held:
        return state, ()
    kinds = Counter(note.kind for note in held)
    parts = [count(kinds[kind], *_COUNTED[kind]) for kind in NotificationKind if kinds[kind]]
    more = (count(missed, tr("more notification"), tr("more notifications")),) if missed else ()
    text = tr("While notifications were held back: {events}", events=joined(", ", (*parts, *more)))
    newest = next((one for one in reversed(held) if one.discussion_id in state.discussions.summaries), None)
    action = SelectDiscussion(newest.discussion_id) if newest is not None else None
    label = tr("Open the newest") if action is not None else ""
    state = notify(state, NOTICE, Level.INFO, text, action=action, action_label=label)
    return state, (*_desktop(state, "Manual Slop", text), *_channels(state, held))


def channel_words(kind: NotificationKind, reply: str = "") -> str:
    """Words that go out to a channel: ours, without a name, and the model's where the person lets those out."""
    ours = f"Manual Slop: {_WORDS[kind]}"
    return spliced("{}: {}", ours, reply) if reply else as_sentences(ours, is_closed=True)


# Signals that come in: cleaned, bounded, counted, so that one that floods takes the place of its own and of
# no other.


def make_signal(
    signal_id: str,
    source: SignalSource,
    sender: str,
    text: str,
    at: datetime,
    discussion_id: str = "",
    claim: str = "",
) -> Signal:
    """Make a signal of what came from outside: its sender on one line, its text clean, both bounded."""
    cut = clean(text).strip()
    if len(cut) > SIGNAL_CHARS:
        cut = f"{cut[:SIGNAL_CHARS]}…"
    return Signal(
        id=signal_id,
        source=source,
        sender=one_line(clean(sender), SENDER_CHARS),
        text=cut,
        at=at,
        discussion_id=discussion_id,
        claim=claim,
    )


def with_signal(signals: SignalState, signal: Signal) -> SignalState:
    """Add a signal. One that says the same of the same as one that waits takes its place.

    Over `SIGNALS_KEPT` the source with the most of them loses its oldest. One of a file is not lost: the file waits on
    disk until there is room.
    """
    waiting = (*(one for one in signals.waiting if not _is_same(one, signal)), signal)
    gone: list[Signal] = []
    while len(waiting) > SIGNALS_KEPT:
        most = _most(Counter(one.source for one in waiting))
        oldest = next(index for index, one in enumerate(waiting) if one.source is most)
        gone.append(waiting[oldest])
        waiting = (*waiting[:oldest], *waiting[oldest + 1 :])
    claims = tuple(one.claim for one in gone if one.claim)
    return replace(
        signals,
        waiting=waiting,
        dropped=signals.dropped + len(gone) - len(claims),
        let_go=(*signals.let_go, *claims),
    )


def room_of(signals: SignalState, source: SignalSource) -> int:
    """Signals of a source that can be added before it loses one of its own by that."""
    counts = Counter(one.source for one in signals.waiting)
    for room in range(SIGNALS_KEPT):
        counts[source] += 1
        if counts.total() > SIGNALS_KEPT:
            most = _most(counts)
            if most is source:
                return room
            counts[most] -= 1
    return SIGNALS_KEPT


def _most(counts: Counter[SignalSource]) -> SignalSource:
    """The source with the most; of several that anybody can reach, before what the program's own work brings."""
    return max(reversed(SignalSource), key=lambda one: counts[one])


def without_signals(signals: SignalState, ids: Iterable[str]) -> SignalState:
    """Take signals out of those that wait. The window still shows the newest of them."""
    gone = frozenset(ids)
    taken = tuple(one for one in signals.waiting if one.id in gone)
    if not taken:
        return signals
    left = tuple(one for one in signals.waiting if one.id not in gone)
    return replace(signals, waiting=left, seen=(*signals.seen, *taken)[-SIGNALS_KEPT:])


def without_told(signals: SignalState, discussion_ids: Collection[str]) -> SignalState:
    """The signals that no discussion has read yet and whose discussion still exists."""
    left = tuple(one for one in signals.waiting if one.discussion_id not in discussion_ids)
    return replace(signals, waiting=left, seen=())


def with_signals_back(signals: SignalState, back: tuple[Signal, ...]) -> SignalState:
    """Put taken signals back into the queue, before newer ones."""
    if not back:
        return signals
    ids = frozenset(one.id for one in back)
    later, seen = signals.waiting, tuple(one for one in signals.seen if one.id not in ids)
    signals = replace(signals, waiting=(), seen=seen)
    for one in (*back, *later):
        signals = with_signal(signals, one)
    return signals


def without_claims(signals: SignalState) -> SignalState:
    """The signals without those of files: another program has these now."""
    left = tuple(one for one in signals.waiting if not one.claim)
    return signals if len(left) == len(signals.waiting) else replace(signals, waiting=left)


def _is_same(one: Signal, other: Signal) -> bool:
    """True if one says what the other said: a file that is saved ten times is one thing that happened."""
    if one.source is not other.source or one.sender != other.sender:
        return False
    return one.discussion_id == other.discussion_id and one.text == other.text


# Files and signals that our own tools may have written: they wake nothing, or a loop would wake itself by
# its writing.

AFTER = timedelta(seconds=5)
"""Time after a call within which the watch may still tell of what it wrote."""
LOOKED_BACK = 200
"""Calls of a page that are looked at, the newest."""

_WRITES_NOTHING = frozenset({ActKind.READ, ActKind.NETWORK})


def is_own_write(state: AppState, path: str) -> bool:
    """True if a call that runs, or has just ended, may have written a file.

    An edit names its file once it is done. What a command or a server writes nobody knows: while one runs, in the
    background too, every change may be its own.
    """
    return any(_may_have_written(state, page, path) for page in state.agent.pages.values())


def may_be_own_signal(state: AppState, came_at: datetime | None = None) -> bool:
    """True if a call that runs, or has just ended, may have put a file into the inbox, or posted a signal.

    A command that is confined reaches neither; what a server does nobody knows.

    Args:
        came_at: when a file came to the inbox, None for now: of many, the last are read long after the call that wrote them.
    """
    reaching = {ActKind.SERVER} if state.agent.sandbox.is_confined else {ActKind.SERVER, ActKind.COMMAND}
    pages = state.agent.pages.values()
    if any(call.kind in reaching for page in pages for call in (*page.commands, *_late_calls(state, page))):
        return True
    ended = (call for page in pages for call in page.activity if call.kind in reaching and call.ended_at)
    return came_at is not None and any(_ran_at(call, came_at) for call in ended)


def _may_have_written(state: AppState, page: AgentPage, path: str) -> bool:
    if page.commands:
        return True
    for call in _late_calls(state, page):
        if call.kind in _WRITES_NOTHING:
            continue
        if call.kind is ActKind.OWN:  # the journal, which a preset may name
            if path.startswith(f"{state.program.home}{os.sep}"):
                return True
            continue
        is_known = call.kind is ActKind.EDIT and call.state is not CallState.RUNNING
        if not is_known or any(change.path == path for change in page.changes):
            return True
    return False


def _ran_at(call: ToolCall, moment: datetime) -> bool:
    """True for a call, over by now, that ran at a moment or had just ended. Clocks of files go in coarser steps."""
    assert call.ended_at is not None
    begun = call.started_at or call.ended_at
    return begun - AFTER <= moment <= call.ended_at + AFTER


def _late_calls(state: AppState, page: AgentPage) -> Iterator[ToolCall]:
    """Calls that run, and those that have just ended."""
    for call in reversed(page.activity[-LOOKED_BACK:]):
        if call.state is CallState.RUNNING or (
            call.ended_at is not None and state.now is not None and state.now - call.ended_at <= AFTER
        ):
            yield call


INBOX_NOTICE = "inbox"
FILE_SAYS = "It was changed, made or removed on disk."
TAIL_CHARS = 1_500
"""Characters of a command's last output that a signal carries."""
_BY_ANYBODY = frozenset({SignalSource.INBOX, SignalSource.API})
"""Sources that a program on this machine reaches, also one that a call of ours started."""


def _put_signals_away(state: AppState, asked: PutSignalsAway) -> Result:
    wanted = (one.id for one in state.signals.waiting if asked.signal_id in {"", one.id})
    return taken(state, wanted), ()


def _set_quiet(state: AppState, asked: SetQuiet) -> Result:
    return replace(state, signals=replace(state.signals, is_quiet=asked.is_quiet)), ()


def inbox_changed(state: AppState) -> Result:
    """Something came to the inbox, or went: read it, unless another program owns the home."""
    is_ours = not (state.program.is_home_read_only or state.program.holder)
    return state, (_read(state),) if is_ours else ()


def _desktop_tried(state: AppState, happened: DesktopTried) -> Result:
    return replace(state, signals=replace(state.signals, desktop_problem=happened.problem)), ()


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


def _channels_set(before: AppState, after: AppState) -> Result:
    """Channels as the settings have them."""
    now = after.config.settings.channels
    if now == before.config.settings.channels:
        return after, ()
    wanted = tuple(one for one in now.values() if one.is_enabled)
    known = after.signals.channels
    channels = {one.name: known.get(one.name, ChannelStatus(name=one.name)) for one in wanted}
    return replace(after, signals=replace(after.signals, channels=channels)), (SetChannels(wanted),)


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


def files_edited(state: AppState, given: Stamp, files: tuple[str, ...]) -> AppState:
    """Changes count while a discussion is autonomous; nobody else is woken by them."""
    if state.attention.autonomy is None:
        return state
    root = state.config.project.root
    for number, path in enumerate(files):
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
            command_id=asked.command_id, problem=tr("A signal needs a text"), remedy=tr("Say what happened")
        )
        return conclude(state, problem)
    if asked.discussion_id and asked.discussion_id not in state.discussions.summaries:
        problem = CommandOutcome(
            command_id=asked.command_id,
            problem=tr("No discussion has the id {discussion_id!r}", discussion_id=asked.discussion_id),
            remedy=tr("Leave the id out, or use one of the list"),
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
    text = tr("The inbox has entries that the program skips.")
    return notify(state, INBOX_NOTICE, Level.WARNING, text, joined("\n", happened.odd), is_standing=True)


HANDLERS = Handlers(
    on_stamped(PostSignal, lambda state, given, asked: (_post(state, given, asked), ())),
    on(PutSignalsAway, _put_signals_away),
    on(SetQuiet, _set_quiet),
    on_stamped(InboxRead, lambda state, given, happened: (_inbox(state, given, happened), ())),
    on_stamped(ChannelSaid, lambda state, given, happened: (_line(state, given, happened), ())),
    on(ChannelChanged, lambda state, happened: (_channel(state, happened.status), ())),
    on(DesktopTried, _desktop_tried),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = (
    follow(
        "discussions.summaries",
        lambda before, after, _moment: (_without_gone(before, after), ()),
        needs="signals.waiting signals.seen",
    ),
    follow(
        "program.holder signals.waiting attention.autonomy discussions.open",
        lambda before, after, _moment: _owned(before, after),
        needs="program.holder signals.waiting signals.let_go attention.autonomy",
    ),
    follow(
        "turns agent.turns signals.is_quiet attention.autonomy",
        lambda before, after, _moment: news_followed(before, after),
    ),
    follow("config.settings", lambda before, after, _moment: _channels_set(before, after)),
)
"""Signals of discussions that are gone; who owns the home; what a person is told of; channels as the settings have them."""
