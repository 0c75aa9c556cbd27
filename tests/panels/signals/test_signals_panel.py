"""The Signals panel: what waits, where it came from, and the switch of notifications."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.values.signals import (
    SIGNALS_KEPT,
    ChannelStatus,
    Notification,
    NotificationKind,
    Signal,
    SignalSource,
    SignalState,
)
from core.kernel.values.state import AppState
from core.signals.signals_messages import PutSignalsAway, SetQuiet
from panels.signals.signals_room import SignalsView
from tests.panels import states
from tests.panels.screen import Screen
from tests.panels.views import view_of

FILE = Signal("s1", SignalSource.INBOX, "note.txt", "Look at the logs.\nThere is more.", states.NOW)
BUILD = Signal(
    "s2", SignalSource.COMMAND, "make all", "It ended with 0.", states.NOW + timedelta(seconds=1), "d1"
)


def open_at(signals: SignalState) -> Screen:
    state: AppState = replace(states.working(), signals=signals)
    return Screen(state, view_of(SignalsView(), panel="signals"))


def test_what_waits_is_shown_with_its_source_and_can_be_put_away() -> None:
    screen = open_at(SignalState((FILE, BUILD), dropped=3))

    assert screen.ui.shows("Signals that wait for a turn: 2")
    assert screen.ui.shows("Inbox · note.txt")
    assert screen.ui.shows("Command · make all")
    assert screen.ui.shows("For “")
    assert screen.ui.shows("3 older signals dropped")
    screen.ui.click("Dismiss all")

    assert screen.asked == [PutSignalsAway()]


def test_an_inbox_that_has_no_room_says_what_makes_some() -> None:
    many = tuple(replace(FILE, id=f"s{number}", text=f"{number}") for number in range(SIGNALS_KEPT))

    assert open_at(SignalState(many, is_inbox_unready=True)).ui.shows(
        "The inbox is full. More files wait until a turn takes some, or you dismiss some."
    )
    assert not open_at(SignalState(many)).ui.shows("The inbox is full")
    assert not open_at(SignalState(many[1:], is_inbox_unready=True)).ui.shows("The inbox is full")


def test_a_signal_unfolds_to_all_that_it_says() -> None:
    screen = open_at(SignalState((FILE,)))
    assert not screen.ui.shows("There is more.\n")
    screen.ui.click("Show all")

    assert screen.view.of(SignalsView).open_signals == {"s1"}
    assert screen.ui.shows("There is more.")


def test_quiet_is_switched_and_says_what_it_holds() -> None:
    note = Notification(NotificationKind.QUESTION, "A question", "It waits for you")
    screen = open_at(SignalState(is_quiet=True, held=(note,), missed=2))

    assert screen.ui.shows("3 notifications held back")
    screen.ui.click("Hold notifications back")
    assert screen.asked == [SetQuiet(is_quiet=False)]


def test_what_lies_odd_in_the_inbox_and_how_channels_stand_is_said() -> None:
    channels = {
        "ops": ChannelStatus("ops", problem="you do not trust its certificate"),
        "dev": ChannelStatus("dev", True, dropped=480),
    }
    screen = open_at(SignalState(inbox_odd=("pipe: it is a named pipe",), channels=channels))

    assert screen.ui.shows("pipe: it is a named pipe")
    assert screen.ui.shows("you do not trust its certificate")
    assert screen.ui.shows("connected")
    assert screen.ui.shows("the program dropped 480 lines")
