"""The command palette."""

from __future__ import annotations

from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from panels.shell.palette import rank
from tests.panels import states
from tests.panels.screen import Screen


def _open(state: AppState | None = None) -> Screen:
    screen = Screen(state or states.working())
    screen.ui.press("Ctrl+Shift+P")
    return screen


def test_letters_in_order_are_enough_and_nearer_matches_come_first() -> None:
    assert rank("Regenerate reply", "rr") is not None
    assert rank("Regenerate reply", "xr") is None
    exact, inside, scattered = (
        rank(label, "find") for label in ("Find in conversation", "Refind", "Fork in a day")
    )
    assert exact is not None
    assert inside is not None
    assert scattered is None or scattered > inside > exact


def test_the_palette_takes_the_keyboard() -> None:
    assert _open().ui.is_focused_on("Type a command or the name of a discussion")


def test_enter_does_what_is_marked_and_closes() -> None:
    screen = _open()
    screen.ui.type("Type a command or the name of a discussion", "new disc")

    screen.ui.press("Enter")

    assert screen.asked == [CreateDiscussion()]
    assert screen.view.dialog is None


def test_down_moves_the_mark() -> None:
    screen = _open()
    screen.ui.press("Down")

    screen.ui.press("Enter")

    assert screen.ui.has("Open project folder", kind="file_dialog")


def test_up_from_the_first_line_goes_to_the_last() -> None:
    screen = _open()
    screen.ui.type("Type a command or the name of a discussion", "discussion")
    last = screen.ui.nodes("clickable")[-1].texts()[0]

    screen.ui.press("Up")

    (marked,) = [n for n in screen.ui.nodes("clickable") if n.props["surface"] == "card_selected"]
    assert marked.texts()[0] == last


def test_a_discussion_is_found_by_its_name() -> None:
    screen = _open()

    screen.ui.type("Type a command or the name of a discussion", "releas")
    screen.ui.click("Release checklist")

    assert screen.asked == [SelectDiscussion("d7")]


def test_only_what_can_be_done_now_is_offered() -> None:
    screen = _open()

    screen.ui.type("Type a command or the name of a discussion", "retry failed")

    assert not screen.ui.has("Retry failed send")
    assert screen.ui.shows("Nothing is called that.")


def test_escape_closes_it_and_nothing_else() -> None:
    screen = _open(states.streaming())

    screen.ui.press("Escape")

    assert screen.view.dialog is None
    assert screen.asked == []
