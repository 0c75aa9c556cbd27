"""Every action of the table: it does what it says, from its chord, its menu, and not when it cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import KillCommands, SetTools
from core.app.app_messages import Command, Quit
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import Draft, OpenDiscussion
from core.kernel.values.settings import Appearance
from core.kernel.values.state import AppState, ProgramState, TrashItem
from core.kernel.values.usage import UsageQuery
from core.knowledge.harvest.harvest_messages import LookForHarvest, UndoHarvest
from core.knowledge.knowledge_messages import CountMemoryUse, RegenerateDigest
from core.mcp.mcp_messages import LookAtServers
from core.retrieval.retrieval_messages import LookAtSources, UpdateIndex
from core.services.settings.settings_messages import (
    ChangeSetting,
    FindLocalServers,
    PriceModels,
    ReadGuide,
    RefreshModels,
    TrustProject,
)
from core.services.spending.spending_messages import CountUsage
from core.signals.signals_messages import SetQuiet
from core.talk.context.context_messages import SavePreset
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChangeDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteDiscussion,
    EditDraft,
    SelectDiscussion,
    UndoDelete,
)
from core.talk.turn.turn_messages import CancelReply, RegenerateReply, RetrySend, SendPrompt
from panels.discussion.view import DiscussionView
from panels.shell.layout import MENUS
from panels.shell.rooms import ACTIONS
from tests.panels import states
from tests.panels.agent import agent_states
from tests.panels.harvest import harvest_states
from tests.panels.knowledge import knowledge_states
from tests.panels.mcp import mcp_states
from tests.panels.retrieval import retrieval_states
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _deleted() -> AppState:
    return with_fields(states.working(), trash=(TrashItem("d9", "Gone", states.NOW, "deleted", "trash/d9"),))


def _first_version() -> AppState:
    """The first of the last reply's two versions is the chosen one."""
    state = states.versioned()
    opened = state.discussions.open["d1"]
    known = opened.versions["w1"]
    aside = {"w2": (opened.entries[-1],)}
    entries = (*opened.entries[:-1], *known.aside["w1"])
    versions = {**opened.versions, "w1": replace(known, chosen_id="w1", aside=aside)}
    return states.with_opened(state, entries=entries, versions=versions)


@dataclass(frozen=True)
class Case:
    """What an action must do: send commands, or change what the window shows."""

    sends: tuple[Command, ...] = ()
    shows: Callable[[Screen], bool] = lambda _: True
    state: Callable[[], AppState] = states.working


def _text_of_last_reply(screen: Screen) -> bool:
    return screen.ui.copied == ["はい。折り返しは文字の境界で行われます。"]


CASES: dict[str, Case] = {
    "new": Case((CreateDiscussion(keeps_empty=True),)),
    "open_project": Case(shows=lambda s: s.ui.has("Open project folder", kind="file_dialog")),
    "export_markdown": Case(shows=lambda s: s.ui.has("Export Cache TTL policy", kind="file_dialog")),
    "export_page": Case(shows=lambda s: s.ui.has("Export Cache TTL policy", kind="file_dialog")),
    "export_json": Case(shows=lambda s: s.ui.has("Export Cache TTL policy", kind="file_dialog")),
    "import_files": Case(shows=lambda s: s.ui.has("Import conversations", kind="file_dialog")),
    "import_folder": Case(shows=lambda s: s.ui.has("Import a folder of conversations", kind="file_dialog")),
    "settings": Case(shows=lambda s: s.ui.shows("Providers and keys")),
    "quit": Case((Quit(),)),
    "undo_delete": Case((UndoDelete(),), state=_deleted),
    "copy_reply": Case(shows=_text_of_last_reply),
    "find": Case(shows=lambda s: s.ui.is_focused_on("Find in discussion")),
    "search": Case(shows=lambda s: s.ui.is_focused_on("Search discussions")),
    "composer": Case(shows=lambda s: s.ui.is_focused_on("Write a message")),
    "to_end": Case(shows=lambda s: s.view.of(DiscussionView).is_at_end),
    "prompt_before": Case(shows=lambda s: s.view.of(DiscussionView).scroll == {"d1": 0}),
    "prompt_after": Case(shows=lambda s: s.view.of(DiscussionView).is_at_end),
    "list": Case(shows=lambda s: not s.ui.has("Search discussions")),
    "hub": Case(shows=lambda s: not s.ui.has("Hide Context presets (Ctrl+Shift+H)")),
    "widen_list": Case(shows=lambda s: s.view.list_px == 320.0),
    "narrow_list": Case(shows=lambda s: s.view.list_px == 256.0),
    "widen_hub": Case(shows=lambda s: s.view.hub_px == 480.0),
    "narrow_hub": Case(shows=lambda s: s.view.hub_px == 416.0),
    "presets": Case(shows=lambda s: s.ui.shows("New preset")),
    "context": Case(shows=lambda s: s.ui.shows("Since the last request")),
    "usage": Case(
        (CountMemoryUse(), CountUsage(UsageQuery(since="2026-10-22"))),
        shows=lambda s: s.ui.shows("Budget per month ($)"),
    ),
    "caching": Case(shows=lambda s: s.ui.shows("Hit rate and cost")),
    "knowledge": Case(shows=lambda s: s.ui.shows("Knowledge is on"), state=knowledge_states.some),
    "retrieval": Case((LookAtSources(),), lambda s: s.ui.shows("3 sources for"), retrieval_states.answered),
    "agent": Case(shows=lambda s: s.ui.shows("Idle"), state=agent_states.rested),
    "mcp": Case((LookAtServers(),), lambda s: s.ui.shows("Approve and start"), mcp_states.asking),
    "undo_turn": Case(shows=lambda s: s.ui.shows("Undo this turn's edits?"), state=agent_states.rested),
    "tools": Case((SetTools("d1", has_tools=True),)),
    "mode": Case((SetTools("d1", has_tools=True, mode=Mode.ACCEPT_EDITS),), state=agent_states.rested),
    "autonomy": Case(shows=lambda s: s.ui.shows("Start autonomy"), state=agent_states.rested),
    "kill_commands": Case((KillCommands("d1"),), state=agent_states.running),
    "signals": Case(shows=lambda s: s.ui.shows("Signals that wait for a turn")),
    "quiet": Case((SetQuiet(is_quiet=True),)),
    "update_index": Case((UpdateIndex(),), state=retrieval_states.indexed),
    "harvest": Case(shows=lambda s: s.ui.shows("4 to read"), state=harvest_states.looked),
    "undo_harvest": Case(
        (UndoHarvest(),), lambda s: s.ui.shows("1 harvest · 1 undone"), harvest_states.looked
    ),
    "look_harvest": Case((LookForHarvest(),), lambda s: s.ui.shows("4 to read"), harvest_states.looked),
    "theme": Case((ChangeSetting("appearance.theme", "light"),)),
    "larger": Case((ChangeSetting("appearance.ui_scale", 1.1),)),
    "smaller": Case((ChangeSetting("appearance.ui_scale", 0.9),)),
    "normal_size": Case((ChangeSetting("appearance.ui_scale", 1.0),)),
    "send": Case((SendPrompt("d1", "Compare the lazy fork with the eager one.", may_queue=True),)),
    "stop": Case((CancelReply("d1"),), state=states.streaming),
    "retry": Case((RetrySend("d1"),), state=states.failed),
    "regenerate": Case((RegenerateReply("d1"),)),
    "regenerate_with": Case((PriceModels(),), shows=lambda s: s.ui.shows("Regenerate with another model")),
    "compare": Case((PriceModels(),), shows=lambda s: s.ui.shows("Compare models")),
    "version_before": Case((ChooseVersion("d1", "w2", -1),), state=states.versioned),
    "version_after": Case((ChooseVersion("d1", "w1", 1),), state=_first_version),
    "branch": Case((BranchDiscussion("d1", "m7"),)),
    "effort": Case((ChangeDiscussion(discussion_id="d1", changes={"effort": "low"}),)),
    "model": Case((PriceModels(),), shows=lambda s: s.ui.has("Done")),
    "rename": Case(shows=lambda s: s.ui.is_focused_on("Name")),
    "pin": Case((ChangeDiscussion(discussion_id="d1", changes={"pinned": True}),)),
    "archive": Case((ChangeDiscussion(discussion_id="d1", changes={"archived": True}),)),
    "delete": Case((DeleteDiscussion("d1"),)),
    "previous": Case((SelectDiscussion("d5"),)),
    "next": Case((SelectDiscussion("d3"),)),
    "palette": Case(shows=lambda s: s.ui.shows("Command palette")),
    "template": Case(shows=lambda s: s.ui.has("Insert template", kind="dialog")),
    "draft_editor": Case((EditDraft(discussion_id="d1", text="Compare the lazy fork with the eager one."),)),
    "attach": Case(shows=lambda s: s.ui.has("Attach file", kind="file_dialog")),
    "save_preset": Case((SavePreset("coding-strict"),)),
    "regenerate_digest": Case((RegenerateDigest(),)),
    "trust": Case((TrustProject(is_trusted=False),)),
    "local_servers": Case((FindLocalServers(),)),
    "refresh_models": Case((RefreshModels("anthropic"),)),
    "help": Case((ReadGuide("context"),)),
    "shortcuts": Case(shows=lambda s: s.ui.shows("Keyboard shortcuts")),
    "about": Case(shows=lambda s: s.ui.shows("About Manual Slop")),
}


def _check(case: Case, screen: Screen) -> None:
    assert tuple(screen.asked) == case.sends
    assert case.shows(screen)


def test_every_action_has_a_case() -> None:
    assert set(CASES) == {action.id for action in ACTIONS}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_an_action_works_from_its_menu(action: object) -> None:
    assert isinstance(action, type(ACTIONS[0]))
    case = CASES[action.id]
    screen = Screen(case.state())

    screen.ui.click(action.menu)
    label = next(
        text for text in (action.label, action.undo_label) if text and screen.ui.has(text, kind="menu_item")
    )
    screen.ui.click(label, within=_other_item(action.menu, action.id))

    _check(case, screen)


def _other_item(menu: str, action_id: str) -> str:
    """Another item of the same menu: labels repeat elsewhere in the window, not within a menu."""
    others = [action.label for action in ACTIONS if action.menu == menu and action.id != action_id]
    return others[0] if others else ""


@pytest.mark.parametrize("action", [a for a in ACTIONS if a.chord], ids=lambda action: action.id)
def test_an_action_works_from_its_chord(action: object) -> None:
    assert isinstance(action, type(ACTIONS[0]))
    case = CASES[action.id]
    screen = Screen(case.state())

    screen.ui.press(action.chord)

    _check(case, screen)


def test_menus_say_what_will_happen_and_not_what_is() -> None:
    screen = Screen(states.working())
    screen.ui.click("Discussion")
    assert screen.ui.has("Pin", kind="menu_item")
    assert screen.ui.has("Archive", kind="menu_item")
    meta = replace(screen.state.discussions.summaries["d1"].meta, pinned=True, archived=True)
    summaries = screen.state.discussions.summaries
    screen.show(with_fields(screen.state, summaries={**summaries, "d1": replace(summaries["d1"], meta=meta)}))

    assert screen.ui.has("Unpin", kind="menu_item")
    assert screen.ui.has("Unarchive", kind="menu_item")
    assert not screen.ui.has("Pin", kind="menu_item")


def test_no_two_actions_share_a_chord_or_an_id() -> None:
    chords = [action.chord for action in ACTIONS if action.chord]

    assert len(set(chords)) == len(chords)
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)
    assert {action.menu for action in ACTIONS} == set(MENUS)


@pytest.mark.parametrize(
    "chord", ["Ctrl+R", "F5", "Ctrl+S", "Ctrl+Shift+R", "Ctrl+F", "Ctrl+Shift+B", "F2", "Ctrl+Shift+Delete"]
)
def test_a_chord_that_can_do_nothing_just_now_does_nothing(chord: str) -> None:
    screen = Screen(AppState(program=ProgramState(home="/h", is_loading=False)))

    screen.ui.press(chord)

    assert screen.asked == []


def test_the_scale_stops_at_its_ends() -> None:
    largest = replace(states.working().config.settings, appearance=Appearance(ui_scale=3.0))
    screen = Screen(with_fields(states.working(), settings=largest))

    screen.ui.press("Ctrl+=")
    screen.ui.press("Ctrl+-")

    assert screen.asked == [ChangeSetting("appearance.ui_scale", 2.5)]


def test_an_empty_message_is_not_sent() -> None:
    screen = Screen(states.with_opened(states.working(), draft=Draft("  \n")))

    screen.ui.click("Discussion")

    assert not screen.ui.find("Send", kind="menu_item").is_enabled
    assert not screen.ui.find("Send", kind="button").is_enabled


def test_an_attachment_alone_can_be_sent() -> None:
    picture = states.conversation()[3].attachments[0]  # type: ignore[union-attr]
    screen = Screen(states.with_opened(states.working(), draft=Draft("", (picture,))))

    screen.ui.press("Ctrl+Enter")

    assert screen.asked == [SendPrompt("d1", "", may_queue=True)]


def test_pressing_send_twice_before_the_first_was_heard_sends_once() -> None:
    screen = Screen(states.working())

    screen.ui.press("Ctrl+Enter")
    assert not screen.ui.find("Send", kind="button").is_enabled
    screen.show(states.with_opened(screen.state, record_count=7))

    assert not screen.ui.find("Send", kind="button").is_enabled
    assert len(screen.asked) == 1


def test_nothing_can_be_sent_from_a_read_only_home() -> None:
    screen = Screen(with_fields(states.working(), is_home_read_only=True))

    assert not screen.ui.find("Send", kind="button").is_enabled


def test_forking_an_empty_discussion_is_not_offered() -> None:
    screen = Screen(with_fields(states.working(), open={"d1": OpenDiscussion("d1")}))

    assert not screen.ui.find("Branch", kind="button").is_enabled


def test_an_undo_of_a_harvest_is_offered_before_a_look_only_where_something_is_known() -> None:
    for state, is_offered in ((knowledge_states.empty(), False), (knowledge_states.some(), True)):
        screen = Screen(state)
        screen.ui.click("Edit")

        assert state.harvest.looked_at is None
        assert screen.ui.find("Undo last harvest", kind="menu_item").is_enabled is is_offered
