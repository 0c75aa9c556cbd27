"""Notifications: which change of the state a person is told of, in fixed words, and by which way it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.frame import flat, one_line
from core.kernel.language import as_sentences, joined, spliced, tr
from core.kernel.secrets import scrubbed_line
from core.kernel.values.agent import STOP_NOTICE, CallState
from core.kernel.values.messages import Role
from core.kernel.values.signals import Notification, NotificationKind, SignalSource
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Result, is_busy, notify
from core.signals.signals_messages import SayInChannel, ShowNotification, SignalEffect
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


def followed(before: AppState, after: AppState) -> Result:
    """The state and the effects once a person was told of what changed."""
    effects: tuple[SignalEffect, ...] = ()
    if before.signals.is_quiet and not after.signals.is_quiet:
        after, effects = _given_together(after)
    for note in _news(before, after):
        after, more = _told(after, note)
        effects = (*effects, *more)
    return after, effects


def _news(before: AppState, after: AppState) -> Iterator[Notification]:
    """Everything that a person may want to come back for."""
    if before.agent.turns is not after.agent.turns:
        known = _questions(before)
        for key, discussion_id in _questions(after).items():
            if key not in known:
                yield _note(after, NotificationKind.APPROVAL, discussion_id)
    if before.turns is not after.turns or before.agent.turns is not after.agent.turns:
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
