"""Files of the inbox that wait on disk: until their words are in a log, they are put away, or another program has the home."""

from __future__ import annotations

from msgspec.structs import replace

from core.agent.agent_messages import StartAutonomy
from core.app.app_messages import OwnerChanged
from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import SIGNALS_KEPT
from core.kernel.values.updates import PathsChanged, Tick, Watched, outcome_of
from core.signals.signals_messages import (
    InboxFile,
    InboxRead,
    PostSignal,
    PutInboxAway,
    PutSignalsAway,
    ReadInbox,
    SetChannels,
    TellInboxAgain,
)
from core.talk.turn.turn_messages import CallProvider, CancelCall
from tests.core.agent.attention.autonomy_playbook import AutonomyPlaybook
from tests.core.app.playbook import of
from tests.core.signals.moments import D1, after, autonomous, day

NOTE = InboxRead((InboxFile("note.txt", "Look.", "20261123-note.txt"),))
ELSEWHERE = OwnerChanged("process 7")


def test_a_file_waits_until_the_words_of_its_turn_are_on_disk() -> None:
    book = AutonomyPlaybook()
    book.autonomous()
    book.yields(book.next_call())
    effects = book.play(NOTE)
    assert not of(effects, PutInboxAway), "its words are being written"
    effects = book.keep(effects)

    assert of(effects, CallProvider)
    assert of(effects, PutInboxAway) == (PutInboxAway(("20261123-note.txt",)),)


def test_a_file_whose_turn_failed_waits_on_in_memory_and_is_not_put_away_a_second_time() -> None:
    book = AutonomyPlaybook()
    book.autonomous()
    book.yields(book.next_call())
    (call,) = of(book.keep(book.play(NOTE)), CallProvider)
    book.fails(call)

    assert [one.claim for one in book.state.signals.waiting] == ["20261123-note.txt"]


def test_what_is_put_away_waits_no_more() -> None:
    state, effects = after(day(), NOTE)
    assert not of(effects, PutInboxAway)
    assert of(after(state, PutSignalsAway())[1], PutInboxAway) == (PutInboxAway(("20261123-note.txt",)),)


def test_a_file_whose_place_another_source_takes_waits_on_disk_and_is_told_of_again_once_there_is_room() -> (
    None
):
    """It went to `taken` unread, where the newest hundred push the older out: a person's letter was deleted by a flood."""
    state, _ = after(day(), NOTE)
    state, effects = after(
        state, InboxRead(tuple(InboxFile(f"{n}", "x", f"{n}") for n in range(SIGNALS_KEPT)))
    )
    assert of(effects, PutInboxAway) == ()
    assert of(effects, TellInboxAgain) == (TellInboxAgain(("20261123-note.txt",)),)
    assert of(after(state, Tick())[1], ReadInbox) == (), "there is no room"
    state, effects = after(state, PostSignal("The build is red."))
    assert of(effects, TellInboxAgain) == (TellInboxAgain(("0",)),)
    assert (len(state.signals.waiting), state.signals.dropped) == (SIGNALS_KEPT, 0)

    state, effects = after(state, PutSignalsAway(state.signals.waiting[0].id))
    assert of(effects, PutInboxAway) == (PutInboxAway(("1",)),)
    assert of(after(state, Tick())[1], ReadInbox) == (ReadInbox(most=1),)


def test_one_that_says_the_same_again_is_put_away() -> None:
    state, _ = after(day(), NOTE)
    again = replace(NOTE.files[0], claim="20261124-note.txt")

    assert of(after(state, InboxRead((again,)))[1], PutInboxAway) == (PutInboxAway(("20261123-note.txt",)),)


def test_another_program_that_owns_the_home_gets_inbox_and_channels_and_gives_them_back() -> None:
    ops = ChannelSettings("ops", "irc.example", "#ops")
    state = day()
    state = replace(
        state, config=replace(state.config, settings=replace(state.config.settings, channels={"ops": ops}))
    )
    state, _ = after(state, NOTE, InboxRead(is_unready=True))
    state, effects = after(state, ELSEWHERE)
    assert of(effects, SetChannels) == (SetChannels(()),)
    assert not of(effects, PutInboxAway), "the file waits for that one"
    assert state.signals.waiting == ()
    assert any("process 7" in one.text for one in state.program.notices)
    for quiet in (PathsChanged(Watched.INBOX), Tick()):
        assert not of(after(state, quiet)[1], ReadInbox)
    state, effects = after(state, OwnerChanged())

    assert of(effects, ReadInbox) == (ReadInbox(begins_anew=True),)
    assert of(effects, SetChannels) == (SetChannels((ops,)),)
    assert not any("process 7" in one.text for one in state.program.notices)


def test_autonomy_ends_with_the_home_and_does_not_come_back_with_it() -> None:
    book = AutonomyPlaybook()
    chosen = book.autonomous()
    call = book.next_call()
    effects = book.play(ELSEWHERE)
    assert of(effects, CancelCall) == (CancelCall(call.call_id),)
    assert book.state.attention.autonomy is None
    book.play(StartAutonomy(chosen, command_id="c1"))
    outcome = outcome_of(book.state, "c1")
    assert outcome is not None
    assert "process 7" in outcome.problem
    book.play(OwnerChanged())

    assert book.state.attention.autonomy is None
    assert not of(book.after(4000), CallProvider)


def test_a_second_program_beside_lets_nothing_go_on_alone_that_ran() -> None:
    state, _ = after(autonomous(day()), ELSEWHERE)

    assert state.attention.autonomy is None
    assert state.attention.ended is not None
    assert state.attention.ended.discussion_id == D1
