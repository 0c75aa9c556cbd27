"""The tables of the rooms: one function a message, follow-ups only after a change, and a delta that passes few functions."""

from __future__ import annotations

import sys
from collections import Counter
from types import CodeType, FrameType
from typing import get_args

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, Effect, Event, Input
from core.app.dispatch import ACROSS, ORDER, ROOMS, followed_up, step
from core.app.outside import WORK
from core.kernel.ids import Stamp
from core.kernel.values.harvest import HarvestState
from core.kernel.values.state import AppState
from core.kernel.values.updates import Handlers, Moment, Tick, WorkerReported, follow, keep, on
from core.talk.context.context_messages import FilesRead
from core.talk.turn.turn_messages import KnowledgeSent, ReplyArrived
from tests.core.app.playbook import START, Playbook


def test_every_command_and_event_has_exactly_one_function_in_the_rooms() -> None:
    told = Counter(entry.message for room in ROOMS for entry in room)
    assert [kind.__name__ for kind, times in told.items() if times > 1] == []
    assert set(told) == {*get_args(Command), *get_args(Event)}
    assert {entry.message for entry in ACROSS} <= set(told), (
        "what several rooms act on is some room's own too"
    )


def test_every_effect_has_exactly_one_worker() -> None:
    told = Counter(kind for row in WORK for kind in row.effects)
    assert [kind.__name__ for kind, times in told.items() if times > 1] == []
    assert set(told) == {*get_args(Effect)}


def test_two_functions_for_one_message_are_refused() -> None:
    with pytest.raises(ValueError, match="Two functions decide Tick"):
        Handlers(on(Tick, keep), on(Tick, keep))


def test_a_group_that_the_state_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no group tides"):
        follow("config tides", lambda _before, after, _moment: (after, ()))


def test_a_field_that_a_group_does_not_have_is_refused() -> None:
    for watches, needs in (("turns.tides", ""), ("turns", "agent.tides")):
        with pytest.raises(ValueError, match=r"no field .*tides"):
            follow(watches, lambda _before, after, _moment: (after, ()), needs=needs)


def test_a_follow_up_that_needs_something_runs_while_it_is_there_and_once_when_it_is_gone() -> None:
    row = follow("now", lambda _before, after, _moment: (after, ()), needs="turns.calls harvest.is_dream")
    none, dream = AppState(), replace(AppState(), harvest=HarvestState(is_dream=True))
    assert not row.is_needed(none, none)
    assert row.is_needed(none, dream)
    assert row.is_needed(dream, none)


def test_a_plain_send_runs_only_the_follow_ups_of_what_it_changed() -> None:
    """A report that changes nothing runs none but the one that lets go of discussions by time."""
    ran: dict[str, int] = {}
    message = ""

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal message
        if event != "call":
            return
        if frame.f_code is followed_up.__code__:
            message = type(frame.f_locals["moment"].body).__name__
            ran[message] = 0
        elif frame.f_back is not None and frame.f_back.f_code is followed_up.__code__:
            ran[message] += frame.f_code.co_name == "<lambda>"

    play = Playbook().ready()
    chosen = play.discussion()
    sys.setprofile(note)
    try:
        call = play.ask(chosen, "Why do tides turn?")
        play.play(KnowledgeSent(discussion_id=chosen, message_id="m", model="tide", text=""))
        play.answer(call, "The moon.")
        play.play(FilesRead(preset="", items=()))
    finally:
        sys.setprofile(None)
    most = {
        "KnowledgeSent": 1,
        "FilesRead": 1,
        "SendPrompt": 7,
        "ReplyArrived": 7,
        "CallEnded": 7,
        "RecordsAppended": 13,
    }
    assert {name: times for name, times in ran.items() if times > most[name]} == {}


def test_each_follow_up_stands_once_in_the_order() -> None:
    assert len({id(one) for one in ORDER}) == len(ORDER)


def test_a_group_that_a_late_follow_up_changed_is_followed_in_the_next_step() -> None:
    """A room whose turn was over sees with the next message what one behind it changed, though that message changes nothing."""
    same, report = AppState(), WorkerReported("clock", "idle")
    late = replace(same, changed_late=frozenset({"agent"}))
    after, _ = followed_up(late, late, Moment(given=Stamp(START, "s"), body=report, effects=()))
    assert after.changed_late == frozenset()


def test_a_delta_of_a_reply_passes_at_most_three_functions_of_the_step() -> None:
    play = Playbook().ready()
    call = play.ask(play.discussion(), "Why do tides turn?")
    play.play(ReplyArrived(call.call_id, "The "))  # the first one changes the phase: all rooms may follow
    passed: list[CodeType] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            passed.append(frame.f_code)

    given = Input(play.at, "delta", ReplyArrived(call.call_id, "moon"))
    sys.setprofile(note)
    try:
        after, effects = step(play.state, given)
    finally:
        sys.setprofile(None)
    assert [code.co_name for code in passed if "core" in code.co_filename] == ["step", "grown"]
    assert effects == ()
    assert [one.text for one in after.turns.calls.values()] == ["The moon"]
    assert after.now == given.at
