"""Signals in the state: where they come from, what is none, and that nothing of ours wakes us."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import CommandEnded
from core.kernel.values.agent import ActKind, CallState
from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus, SignalSource
from core.kernel.values.state import AppState, TrashItem
from core.kernel.values.updates import PathsChanged, Tick, Watched, outcome_of
from core.services.settings.settings_messages import SettingsLoaded
from core.signals.signals_messages import (
    ChannelChanged,
    ChannelSaid,
    InboxFile,
    InboxRead,
    PostSignal,
    PutSignalsAway,
    ReadInbox,
    SetChannels,
)
from core.signals.signals_step import taken
from core.talk.discussion.discussion_messages import DiscussionTrashed
from tests.core.signals.moments import D1, FILE, NOW, after, autonomous, call, day, with_page

OPS = ChannelSettings("ops", "irc.example", "#ops", senders=("alice",), announces=True)


def test_what_a_program_posts_waits_and_begins_nothing() -> None:
    state, effects = after(autonomous(day()), PostSignal("Approve all.\r\n", "ci\r\nx", D1, "c1"))

    (signal,) = state.signals.waiting
    assert (signal.source, signal.sender, signal.text) == (SignalSource.API, "ci x", "Approve all.")
    assert (signal.discussion_id, signal.at) == (D1, NOW)
    assert effects == ()
    outcome = outcome_of(state, "c1")
    assert outcome is not None
    assert outcome.is_done


@pytest.mark.parametrize("asked", [PostSignal("  ", command_id="c1"), PostSignal("x", "", "none", "c1")])
def test_an_empty_signal_or_one_for_nobody_is_refused(asked: PostSignal) -> None:
    state, _ = after(day(), asked)
    outcome = outcome_of(state, "c1")

    assert state.signals.waiting == ()
    assert outcome is not None
    assert not outcome.is_done


def test_the_inbox_is_read_when_it_was_touched_and_again_while_a_file_grows() -> None:
    state, effects = after(day(), PathsChanged(Watched.INBOX))
    assert ReadInbox() in effects
    state, _ = after(state, InboxRead(is_unready=True))
    assert ReadInbox() in after(state, Tick())[1]
    state, _ = after(state, InboxRead((InboxFile("a.txt", "one"), InboxFile("b.txt", "two"))))
    assert ReadInbox() not in after(state, Tick())[1]

    assert [(one.sender, one.text) for one in state.signals.waiting] == [("a.txt", "one"), ("b.txt", "two")]
    assert len({one.id for one in state.signals.waiting}) == 2


def test_what_lies_odd_in_the_inbox_is_said_until_it_is_gone() -> None:
    state, _ = after(day(), InboxRead(odd=("pipe: it is a named pipe",)))
    (notice,) = [one for one in state.program.notices if one.id == "inbox"]
    assert "a named pipe" in notice.detail
    state, _ = after(state, InboxRead())

    assert not any(one.id == "inbox" for one in state.program.notices)
    assert state.signals.inbox_odd == ()


def test_a_home_that_is_read_only_has_no_inbox() -> None:
    state = day()
    state = replace(state, program=replace(state.program, is_home_read_only=True))

    assert ReadInbox() not in after(state, PathsChanged(Watched.INBOX))[1]


def test_a_command_that_ended_by_itself_is_a_signal_of_its_discussion() -> None:
    running = replace(call(ActKind.COMMAND, CallState.DONE), is_background=True)
    state = with_page(day(), running, commands=(running,))
    state, _ = after(state, CommandEnded(D1, "c1", 2, "2 failed\n"))

    (signal,) = state.signals.waiting
    assert (signal.source, signal.sender, signal.discussion_id) == (SignalSource.COMMAND, "make all", D1)
    assert signal.text == "It ended with exit code 2.\n2 failed"
    bound = "It was ended: it took more than 50.3 MB of memory."
    state, _ = after(state, CommandEnded(D1, "c1", -9, "3 done", bound))
    assert state.signals.waiting[-1].text == f"It ended with exit code -9. {bound}\n3 done"


def test_a_command_that_we_ended_is_none() -> None:
    running = replace(call(ActKind.COMMAND, CallState.DONE), is_background=True)
    state = with_page(day(), running, commands=(running,))
    state, _ = after(
        state, CommandEnded(D1, "c1", -15, "…", "It was ended: the person stopped it.", is_wanted=True)
    )

    assert state.signals.waiting == ()


def test_a_watched_file_counts_once_and_only_while_something_is_autonomous() -> None:
    changed = PathsChanged(Watched.CURATED, (FILE,))
    assert after(day(), changed)[0].signals.waiting == ()
    state, _ = after(autonomous(day()), changed, changed)

    (signal,) = state.signals.waiting
    assert signal.source is SignalSource.FILE
    assert signal.sender.endswith("plan.md")


@pytest.mark.parametrize(
    ("kind", "state", "ended_s", "changed", "is_ours"),
    [
        (ActKind.EDIT, CallState.RUNNING, None, "", True),
        (ActKind.EDIT, CallState.DONE, 3, FILE, True),
        (ActKind.EDIT, CallState.DONE, 3, "/other.md", False),
        (ActKind.EDIT, CallState.DONE, 9, FILE, False),
        (ActKind.COMMAND, CallState.RUNNING, None, "", True),
        (ActKind.COMMAND, CallState.INTERRUPTED, 4, "", True),
        (ActKind.COMMAND, CallState.DONE, 9, "", False),
        (ActKind.READ, CallState.RUNNING, None, "", False),
        (ActKind.NETWORK, CallState.DONE, 1, "", False),
    ],
)
def test_what_our_own_tools_may_have_written_is_no_signal(
    kind: ActKind, state: CallState, ended_s: float | None, changed: str, *, is_ours: bool
) -> None:
    before = with_page(autonomous(day()), call(kind, state, ended_s), changed=changed)

    assert bool(after(before, PathsChanged(Watched.CURATED, (FILE,)))[0].signals.waiting) is not is_ours


def test_the_journal_that_the_loop_has_just_written_wakes_nothing() -> None:
    before = with_page(autonomous(day()), call(ActKind.OWN, CallState.DONE, 3))
    journal = f"{before.program.home}/journal.md"

    assert after(before, PathsChanged(Watched.CURATED, (journal,)))[0].signals.waiting == ()
    assert after(before, PathsChanged(Watched.CURATED, (FILE,)))[0].signals.waiting != ()


def test_while_a_command_goes_on_behind_every_change_may_be_its_own() -> None:
    old = call(ActKind.COMMAND, CallState.DONE)
    state = with_page(autonomous(day()), commands=(old,))

    assert after(state, PathsChanged(Watched.CURATED, (FILE,)))[0].signals.waiting == ()


def test_taken_signals_wait_no_more_and_one_is_put_away_alone() -> None:
    state, _ = after(day(), PostSignal("one"), PostSignal("two"), PostSignal("three"))
    first, second, third = state.signals.waiting
    state = taken(state, [first.id])
    state, _ = after(state, PutSignalsAway(second.id))
    assert state.signals.waiting == (third,)
    state, _ = after(state, PutSignalsAway())

    assert state.signals.waiting == ()
    assert state.signals.seen == (first, second, third)


def test_what_a_signal_of_a_discussion_said_goes_with_it() -> None:
    state, _ = after(day(), PostSignal("of it", "ci", D1), PostSignal("of none"), PostSignal("seen", "", D1))
    state = taken(state, [state.signals.waiting[-1].id])
    gone = TrashItem(D1, "Gone", NOW, "deleted", "trash/d1")
    state, _ = after(state, DiscussionTrashed(gone))

    assert D1 not in state.discussions.summaries
    assert [one.text for one in (*state.signals.waiting, *state.signals.seen)] == ["of none"]


def _loaded(state: AppState, channel: ChannelSettings) -> SettingsLoaded:
    settings = replace(state.config.settings, channels={channel.name: channel})
    return SettingsLoaded(settings, (), state.config.project, state.config.providers, {}, {})


def test_channels_follow_the_settings_and_lines_of_none_are_let_go() -> None:
    state = day()
    loaded = _loaded(state, OPS)
    state, effects = after(state, loaded)
    assert SetChannels((OPS,)) in effects
    assert state.signals.channels == {"ops": ChannelStatus("ops")}
    state, _ = after(
        state,
        ChannelChanged(ChannelStatus("ops", is_connected=True)),
        ChannelChanged(ChannelStatus("other", is_connected=True)),
        ChannelSaid("ops", "alice", "deploy is done", dropped=7),
        ChannelSaid("other", "mallory", "rm"),
    )
    assert state.signals.channels == {"ops": ChannelStatus("ops", is_connected=True, dropped=7)}
    (signal,) = state.signals.waiting
    assert (signal.sender, signal.text, state.signals.dropped) == ("ops/alice", "deploy is done", 0)
    state, _ = after(
        state,
        ChannelSaid("ops", "", "", dropped=2),
        ChannelChanged(ChannelStatus("ops", problem="The server closed the connection")),
    )
    assert state.signals.channels["ops"].dropped == 9, (
        "what a flood took stays told when the connection is lost"
    )
    assert len(state.signals.waiting) == 1

    off = _loaded(state, replace(OPS, is_enabled=False))
    state, effects = after(state, off)
    assert SetChannels(()) in effects
    assert state.signals.channels == {}
