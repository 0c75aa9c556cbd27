"""The command palette."""

from __future__ import annotations

from typing import cast

from msgspec.structs import replace

from core.agent.agent_messages import KillCommands
from core.kernel.values.state import AppState, SearchHits
from core.talk.discussion.discussion_messages import CreateDiscussion, SearchDiscussions, SelectDiscussion
from core.talk.turn.turn_messages import RetrySend
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.discussion.view import DiscussionView
from panels.knowledge.knowledge_room import KnowledgeView
from panels.shell.palette import HINT, SHOWN, hits, rank
from panels.shell.rooms import BY_ID
from tests.panels import states
from tests.panels.agent import agent_states
from tests.panels.knowledge import knowledge_states
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _open(state: AppState | None = None) -> Screen:
    screen = Screen(state or states.working())
    screen.ui.press("Ctrl+Shift+P")
    return screen


def test_letters_in_order_are_enough_and_nearer_matches_come_first() -> None:
    assert rank("Regenerate reply", "rr") is not None
    assert rank("Regenerate reply", "xr") is None
    exact, inside, scattered = (
        rank(label, "find") for label in ("Find in discussion", "Refind", "Fork in a day")
    )
    assert exact is not None
    assert inside is not None
    assert scattered is None or scattered > inside > exact


def test_the_palette_takes_the_keyboard() -> None:
    assert _open().ui.is_focused_on(HINT)


def test_enter_does_what_is_marked_and_closes() -> None:
    screen = _open()
    screen.ui.type(HINT, "new disc")

    screen.ui.press("Enter")

    assert CreateDiscussion(keeps_empty=True) in screen.asked
    assert screen.view.dialog is None


def test_down_moves_the_mark() -> None:
    screen = _open()
    screen.ui.press("Down")

    screen.ui.press("Enter")

    assert screen.ui.has("Open project folder", kind="file_dialog")


def test_up_from_the_first_line_goes_to_the_last() -> None:
    screen = _open()
    screen.ui.type(HINT, "discussion")
    last = screen.ui.nodes("clickable")[-1].texts()[0]

    screen.ui.press("Up")

    (marked,) = [n for n in screen.ui.nodes("clickable") if n.props["surface"] == "card_selected"]
    assert marked.texts()[0] == last


def test_a_discussion_is_found_by_its_name() -> None:
    screen = _open()

    screen.ui.type(HINT, "releas")
    screen.ui.click("Release checklist")

    assert SelectDiscussion("d7") in screen.asked


def test_what_cannot_be_done_now_is_found_where_nothing_else_is_and_says_so() -> None:
    screen = _open()

    screen.ui.type(HINT, "retry failed")
    assert screen.ui.shows("not now")
    screen.ui.press("Enter")

    assert screen.view.dialog is None
    assert screen.view.said is not None
    assert not any(isinstance(one, RetrySend) for one in screen.asked)


def test_what_cannot_be_done_now_stands_before_names_that_are_only_like_it() -> None:
    state = states.working()
    summary = state.discussions.summaries["d2"]
    like = replace(summary, meta=replace(summary.meta, name="Step reply"))
    screen = _open(with_fields(state, summaries={**state.discussions.summaries, "d2": like}))

    screen.ui.type(HINT, "stop reply")
    shown = [[text for text in node.texts() if text] for node in screen.ui.nodes("clickable")]
    assert shown == [["Stop reply", "not now"], ["Step reply", "discussion"]]


def test_what_cannot_be_done_now_is_looked_for_once() -> None:
    screen = _open()
    ui = cast("Ui", screen.ui)
    desk = Desk(state=screen.state, view=screen.view, ui=ui, send=screen.sent.append, actions=BY_ID)

    assert hits(desk, "retry failed")
    assert hits(desk, "retry failed") is hits(desk, "retry failed")
    assert len(hits(desk, "e")) == SHOWN


def test_escape_closes_it_and_nothing_else() -> None:
    screen = _open(states.streaming())

    screen.ui.press("Escape")

    assert screen.view.dialog is None
    assert screen.asked == []


def test_words_are_found_in_messages_knowledge_and_presets_each_with_its_kind() -> None:
    state = knowledge_states.some()
    hits = SearchHits(query="slot", ids=("d1",), lines={"d1": "the slot is immutable"}, messages={"d1": "m2"})
    screen = _open(with_fields(state, search=hits))
    screen.ui.type(HINT, "slot")

    texts = screen.ui.texts()
    assert "the slot is immutable" in texts
    assert "message · Cache TTL policy" in texts
    assert any(text.startswith("knowledge · ") for text in texts)

    screen.ui.click("the slot is immutable")
    find = screen.view.of(DiscussionView).find
    assert (find.is_open, find.query, find.is_by_word) == (True, "slot", True), "it stands at its message"
    assert SelectDiscussion("d1") in screen.asked


def test_a_find_in_knowledge_opens_its_panel_filtered() -> None:
    screen = _open(knowledge_states.some())
    screen.ui.type(HINT, "immutable")
    line = next(n for n in screen.ui.nodes("clickable") if n.texts()[-1].startswith("knowledge"))
    screen.ui.click(line.texts()[0])

    assert (screen.view.panel, screen.view.of(KnowledgeView).query) == ("knowledge", "immutable")


def test_other_words_for_a_command_and_pages_of_the_settings_are_found() -> None:
    screen = _open()
    screen.ui.type(HINT, "fork")
    assert screen.ui.shows("Branch")
    screen.ui.type(HINT, "font size")
    assert screen.ui.shows("Zoom in")
    screen.ui.type(HINT, "ollama")
    screen.ui.click("Settings: Compatible servers")
    assert (screen.view.page, screen.view.settings_section) == ("settings", "servers")


def test_words_that_a_label_has_stand_before_words_that_only_mean_it() -> None:
    screen = _open()
    screen.ui.type(HINT, "settings")
    assert screen.ui.nodes("clickable")[-SHOWN:][0].texts()[0] == "Settings"


def test_a_slip_of_the_finger_finds_what_was_meant() -> None:
    screen = _open()
    screen.ui.type(HINT, "keybaord shortcust")
    assert "Keyboard shortcuts" in screen.ui.texts()
    screen.ui.type(HINT, "zzqqxx")
    assert screen.ui.shows("No command, name or text matches.")


def test_an_early_enter_waits_for_messages_before_it_takes_a_command_that_is_only_like_it() -> None:
    screen = _open()
    screen.ui.type(HINT, "setings slot")
    screen.ui.press("Enter")
    assert screen.view.dialog is not None
    assert {*screen.asked} == {SearchDiscussions("setings slot")}

    hits = SearchHits(query="setings slot", ids=("d1",), lines={"d1": "setings slot"}, messages={"d1": "m2"})
    screen.show(with_fields(screen.state, search=replace(hits, ids=(), messages={}, is_complete=False)))
    assert screen.view.dialog is not None
    screen.show(with_fields(screen.state, search=hits))
    assert screen.view.dialog is None
    assert SelectDiscussion("d1") in screen.asked


def test_an_early_enter_takes_what_is_meant_once_no_message_has_the_words() -> None:
    screen = _open()
    screen.ui.type(HINT, "keybaord shortcust")
    screen.ui.press("Enter")
    assert screen.view.dialog is not None
    assert screen.view.dialog.kind == "palette"
    screen.show(with_fields(screen.state, search=SearchHits(query="keybaord shortcust")))
    assert screen.view.dialog is not None
    assert screen.view.dialog.kind == "shortcuts"


def test_an_enter_that_waits_is_forgotten_when_more_is_typed() -> None:
    screen = _open()
    screen.ui.type(HINT, "keybaord")
    screen.ui.press("Enter")
    screen.ui.type(HINT, "keybaord shortcust")
    screen.show(with_fields(screen.state, search=SearchHits(query="keybaord shortcust")))
    assert screen.view.dialog is not None
    assert screen.view.dialog.kind == "palette"


def test_ctrl_k_opens_the_palette_while_no_command_runs() -> None:
    screen = Screen(states.working())
    screen.ui.press("Ctrl+K")
    assert screen.ui.is_focused_on(HINT)

    running = Screen(agent_states.running())
    running.ui.press("Ctrl+K")
    assert not running.ui.has(HINT)
    assert running.asked == [KillCommands("d1")]
