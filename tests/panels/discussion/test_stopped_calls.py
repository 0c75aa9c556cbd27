"""Calls that were stopped, as the conversation shows them."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.messages import CallEnd, Message, Role, Status, ToolCallPart, ToolResultPart
from tests.panels import states
from tests.panels.screen import Screen


def test_a_call_that_was_stopped_says_so_once_and_of_nothing_that_arrived() -> None:
    call = ToolCallPart("t1", "bash", '{"command":"make"}')
    said = "Not run: the person stopped the turn."
    result = ToolResultPart("t1", said, is_error=True, ended=CallEnd.INTERRUPTED)
    entries = (
        states.user("m1", "q"),
        replace(states.reply("m2", ""), parts=(call,)),
        Message("m3", states.NOW, Role.TOOL, (result,), Status.INTERRUPTED),
    )
    screen = Screen(states.with_opened(states.working(), entries=entries))

    assert screen.ui.shows(said)
    assert not screen.ui.shows("The program kept the part that arrived")
