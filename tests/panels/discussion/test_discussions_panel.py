"""The list of discussions as a person meets it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command
from core.kernel.errors import FailureKind
from core.kernel.values.discussion import Draft, OpenDiscussion
from core.kernel.values.provider import Failure
from core.kernel.values.state import AppState, Level, Notice, ProgramState, TrashItem
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    CreateDiscussion,
    DeleteDiscussion,
    ExportDiscussion,
    SearchDiscussions,
    SelectDiscussion,
    UndoDelete,
)
from panels.base.view import WindowView
from panels.discussion.view import ALL_PROJECTS, DiscussionView
from tests.panels import states
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields


def _tip(screen: Screen, name: str) -> str:
    return next(tip for tip in screen.ui.tips() if tip.startswith(name))


def test_a_row_shows_name_and_age_and_the_rest_on_hover() -> None:
    screen = Screen(states.working())

    row = screen.ui.find("Harvest worker design", kind="text").parent
    assert row is not None
    assert row.texts() == ["Harvest worker design", "3 min"]
    assert _tip(screen, "Harvest worker design") == (
        "Harvest worker design\n17 turns · Gemini 4 Pro\n18.4k tokens sent, $0.080\nLast used 14:02"
    )


def test_a_wide_list_shows_model_and_cost_in_the_row() -> None:
    row = (
        Screen(states.working(), WindowView(list_px=460)).ui.find("Harvest worker design", kind="text").parent
    )

    assert row is not None
    assert row.texts() == ["Harvest worker design", "Gemini 4 Pro", "$0.080", "3 min"]


def test_a_row_whose_cost_nobody_knows_shows_none_and_says_so_on_hover() -> None:
    screen = Screen(states.working(), WindowView(list_px=460))

    assert "price unknown" in _tip(screen, "A branch of the branch")
    assert "$0" not in screen.ui.texts()


def test_an_imported_talk_says_where_it_came_from() -> None:
    state, origin = states.working(), "Imported on 2026-11-23 from ChatGPT: conversations.json"
    rows = state.discussions.summaries
    imported = replace(rows["d2"], origin=origin, is_unanswered=False)
    screen = Screen(with_fields(state, summaries={**rows, "d2": imported}))

    assert f"\n{origin}\n" in _tip(screen, "Harvest worker design")
    assert origin in screen.ui.tips(), "on its icon"


def test_a_click_on_a_row_selects_it() -> None:
    screen = Screen(states.working())

    screen.ui.click("Harvest worker design")

    assert screen.asked == [SelectDiscussion("d2")]


def test_a_click_on_the_selected_row_asks_for_nothing() -> None:
    screen = Screen(states.working())

    screen.ui.click("Cache TTL policy", within="Pinned")

    assert screen.asked == []


def test_search_asks_at_each_change_and_shows_the_hits_with_their_line() -> None:
    screen = Screen(states.working())
    screen.ui.type("Search discussions", "ttl ")
    assert screen.asked == [SearchDiscussions("ttl")]

    screen.show(
        replace(
            screen.state, discussions=replace(screen.state.discussions, search=states.searched("ttl", "d7"))
        )
    )

    assert screen.ui.shows("… a line with ttl in it …")
    assert not screen.ui.shows("Harvest worker design")


def test_enter_in_the_search_opens_the_first_hit_once_it_is_there() -> None:
    screen = Screen(states.working())
    screen.ui.type("Search discussions", "ttl")
    screen.ui.focus_on("Search discussions")
    screen.ui.press("Enter")
    assert not [one for one in screen.asked if isinstance(one, SelectDiscussion)], (
        "the search has not answered"
    )

    screen.show(with_fields(screen.state, search=states.searched("ttl", "d7", "d5")))

    assert screen.only(SelectDiscussion) == SelectDiscussion("d7")
    assert screen.view.of(DiscussionView).landing is not None


def test_words_that_were_looked_for_in_place_of_mistyped_ones_are_said() -> None:
    found = replace(states.searched("tlt polcy", "d7"), instead="ttl policy")
    screen = Screen(with_fields(states.working(), search=found))
    screen.ui.type("Search discussions", "tlt polcy")
    assert screen.ui.shows("Nothing matches “tlt polcy”. The list shows matches for “ttl policy”.")


def test_a_search_without_hits_says_so() -> None:
    screen = Screen(with_fields(states.working(), search=states.searched("zebra")))

    screen.ui.type("Search discussions", "zebra")

    assert screen.ui.shows("Nothing found for “zebra”")


def test_a_search_for_a_long_paste_is_named_by_its_beginning() -> None:
    words = "zebra " * 5_000
    screen = Screen(with_fields(states.working(), search=states.searched(words)))

    screen.ui.type("Search discussions", words)

    (said,) = (text for text in screen.ui.texts() if text.startswith("Nothing found"))
    assert said.startswith("Nothing found for “zebra zebra")
    assert len(said) < 100


def test_a_new_discussion_takes_the_keyboard_to_its_composer() -> None:
    screen = Screen(states.working())

    screen.ui.click("New discussion")

    assert screen.asked == [CreateDiscussion(keeps_empty=True)]
    assert not screen.ui.is_focused_on("Write a message")
    screen.show(states.first_run())
    assert screen.ui.is_focused_on("Write a message")


def test_a_name_is_changed_where_it_stands() -> None:
    screen = Screen(states.working())
    screen.ui.press("F2")

    screen.ui.type("Name", "  Slots and forks ")

    assert screen.asked == [ChangeDiscussion(discussion_id="d1", changes={"name": "Slots and forks"})]
    assert not screen.ui.has("Name", kind="text_input")


@pytest.mark.parametrize("name", ["", "   ", "Cache TTL policy"])
def test_a_name_that_is_empty_or_the_same_changes_nothing(name: str) -> None:
    screen = Screen(states.working())
    screen.ui.press("F2")

    screen.ui.type("Name", name)

    assert screen.asked == []


def test_escape_gives_a_renaming_up() -> None:
    screen = Screen(states.working())
    screen.ui.press("F2")

    screen.ui.press("Escape")

    assert not screen.ui.has("Name", kind="text_input")


ROW_MENU: list[tuple[str, list[Command]]] = [
    ("Pin", [ChangeDiscussion(discussion_id="d1", changes={"pinned": True})]),
    ("Archive", [ChangeDiscussion(discussion_id="d1", changes={"archived": True})]),
    ("Delete", [DeleteDiscussion("d1")]),
]


@pytest.mark.parametrize(("label", "asked"), ROW_MENU)
@pytest.mark.parametrize("how", ["menu", "right click"])
def test_what_a_row_offers_works_from_its_button_and_from_a_right_click(
    label: str, asked: list[Command], how: str
) -> None:
    screen = Screen(states.working())
    if how == "menu":
        screen.ui.click("More", within="Cache TTL policy")
    else:
        _right_click(screen, "Cache TTL policy")

    screen.ui.click(label, within="Export as JSON…")

    assert screen.asked == asked


def _right_click(screen: Screen, name: str) -> None:
    """On a row of the list: the name of the selected discussion stands over the conversation, too."""
    (row,) = [
        n for n in screen.ui.nodes("text") if n.path[-1] == "name" and n.value == name and "rows" in n.path
    ]
    menu = next(kid for above in row.above() for kid in above.children if kid.kind == "context_menu")
    screen.ui.open_menu(menu)


@pytest.mark.parametrize(("form", "ending"), [("Markdown", "md"), ("JSON", "json")])
def test_a_discussion_is_exported_to_where_the_person_says(form: str, ending: str) -> None:
    state = states.working()
    screen = Screen(states.with_opened(state, entries=()))
    screen.ui.right_click("Fork: TTL policy / lazy")
    screen.ui.click(f"Export as {form}…")
    chooser = screen.ui.find("Export Fork: TTL policy / lazy", kind="file_dialog")
    assert chooser.props["name"] == f"Fork TTL policy lazy.{ending}"

    screen.ui.pick("Export Fork: TTL policy / lazy", f"/tmp/fork.{ending}")

    assert screen.asked == [ExportDiscussion("d3", form.lower(), f"/tmp/fork.{ending}", replaces=True)]


def _icon(state: AppState, name: str) -> tuple[str, str]:
    return _sign(Screen(state), name)


def _sign(screen: Screen, name: str) -> tuple[str, str]:
    card = screen.ui.find(name, kind="text").parent
    assert card is not None
    status = next(node for node in card.walk() if node.kind == "icon" and node.path[-1] == "status")
    return status.props["icon"], status.tip


def test_the_icon_of_a_row_says_how_the_discussion_stands() -> None:
    working = states.working()
    torn = replace(working.discussions.summaries["d2"], problem="Two lines of its log could not be read")

    assert _icon(working, "Fork: TTL policy / lazy") == ("code-branch", "Branch of Cache TTL policy")
    assert _icon(replace(working, discussions=replace(working.discussions, summaries={**working.discussions.summaries, "d2": torn})), "Harvest worker design") == (
        "triangle-exclamation", "Two lines of its log could not be read",
    )  # fmt: skip
    assert (
        _icon(
            replace(
                working, turns=replace(working.turns, calls={"d2": states.streaming().turns.calls["d1"]})
            ),
            "Harvest worker design",
        )[1]
        == "A reply is in progress"
    )
    opened = replace(working.discussions.open["d1"], id="d2", failed_message_id="m1")
    unanswered = replace(opened, draft=Draft())
    assert _icon(
        replace(working, discussions=replace(working.discussions, open={"d2": unanswered})),
        "Harvest worker design",
    ) == ("comments", "")
    drafted = replace(opened, failed_message_id="")
    assert (
        _icon(
            replace(working, discussions=replace(working.discussions, open={"d2": drafted})),
            "Harvest worker design",
        )[0]
        == "pen"
    )


def _said(*about: str, minute: int = 0) -> AppState:
    """A state with a failed send in each of these discussions."""
    at = states.NOW + timedelta(minutes=minute)
    failed = (Notice(f"call/{one}", Level.ERROR, "No network", at=at, discussion_id=one) for one in about)
    return with_fields(states.working(), notices=(Notice("disk", Level.WARNING, "Nearly full"), *failed))


def test_a_row_carries_a_sign_while_something_of_its_discussion_was_not_read() -> None:
    name = "Harvest worker design"
    assert _icon(_said("d2"), name) == ("circle-exclamation", "Unread: No network")
    assert _icon(_said("d1"), name) == ("comments", "")
    gravest = (
        Notice("prefix/d2", Level.WARNING, "The prefix changed", discussion_id="d2"),
        *_said("d2").program.notices,
    )
    assert _icon(with_fields(states.working(), notices=gravest), name) == (
        "circle-exclamation", "Unread: No network\nUnread: The prefix changed",
    )  # fmt: skip


def test_the_sign_goes_when_the_discussion_was_in_front_and_comes_back_for_another_failure() -> None:
    name, failed = "Harvest worker design", _said("d2")
    screen = Screen(failed)
    in_front = OpenDiscussion("d2")

    screen.view.page = "settings"
    screen.show(with_fields(failed, selected_id="d2", open={"d2": in_front}))
    screen.view.page = "chat"
    screen.show(failed)
    assert _sign(screen, name)[0] == "circle-exclamation", "behind the settings nobody read it"

    screen.show(with_fields(failed, selected_id="d2", open={"d2": in_front}))
    screen.show(failed)
    assert _sign(screen, name)[0] == "comments", "it was read"

    screen.show(_said("d2", minute=1))
    assert _sign(screen, name)[0] == "circle-exclamation", "it failed again"


def test_the_archive_opens_and_closes() -> None:
    screen = Screen(states.working())

    screen.ui.click("Archived · 1")
    screen.ui.scroll("rows", 6)
    assert screen.ui.shows("Old ideas")
    screen.ui.click("Archived · 1")

    assert not screen.ui.shows("Old ideas")


def test_ten_thousand_discussions_cost_no_more_than_a_screenful() -> None:
    screen = Screen(states.many(10_000))

    drawn = [node for node in screen.ui.nodes("list_row") if "discussions" in node.path]

    assert 3 < len(drawn) < 40


def test_an_empty_home_says_so() -> None:
    assert Screen(AppState(program=ProgramState(home="/h", is_loading=False))).ui.shows("No discussions yet")
    assert Screen(AppState(program=ProgramState(home="/h", is_loading=True))).ui.shows("Reading discussions…")


def test_a_project_is_chosen_from_the_menu_and_taken_back() -> None:
    found = {
        "d1": states.summary("d1", "High water", folder="/w/tides"),
        "d2": states.summary("d2", "Full moon", folder="/w/moon"),
    }
    screen = Screen(with_fields(states.working(), summaries=found))
    screen.ui.click("Projects")
    screen.ui.click("moon")

    assert _listed(screen) == ["Full moon"]
    screen.ui.click("Show all projects")
    assert _listed(screen) == ["High water", "Full moon"]


def _listed(screen: Screen) -> list[str]:
    return [n.value for n in screen.ui.nodes("text") if n.path[-1] == "name" and "rows" in n.path]


def test_a_new_discussion_is_never_hidden_by_the_filter() -> None:
    screen = Screen(states.working(), view_of(DiscussionView(project="/w/moon")))
    assert screen.ui.shows("This project has no discussions yet")

    screen.ui.press("Ctrl+N")

    assert screen.view.of(DiscussionView).project == ALL_PROJECTS


def test_what_was_deleted_waits_in_the_list_and_comes_back_one_by_one() -> None:
    gone = tuple(TrashItem(f"t{n}", f"Gone {n}", states.NOW, "deleted", f"/h/trash/t{n}") for n in range(3))
    screen = Screen(with_fields(states.working(), trash=gone))
    assert not screen.ui.shows("Gone 1")

    screen.ui.click("Trash · 3")
    screen.ui.click("Restore Gone 1")

    assert screen.asked == [UndoDelete("t1")]
    assert "Deleted discussions stay here for 30 days" in screen.ui.tips()


def test_a_draft_on_disk_has_its_pencil_before_its_discussion_is_opened() -> None:
    state = with_fields(states.working(), drafted=frozenset({"d2"}))

    icons = [n for n in Screen(state).ui.nodes("icon") if n.tip == "You have an unsent draft"]

    assert len(icons) == 2, "of the one that is open, and of the one that is not"


def test_a_discussion_whose_last_message_failed_says_so_in_the_list() -> None:
    tips = [node.tip for node in Screen(states.failed()).ui.nodes("icon") if node.path[-1] == "status"]

    assert any(tip.startswith("The last message failed:") for tip in tips)


def test_a_discussion_whose_last_reply_is_not_whole_says_in_the_list_why() -> None:
    why = "The reply was cut off at the output limit (length)"
    state = states.with_opened(states.failed(), failure=Failure(FailureKind.CUT_OFF, why))
    tips = [node.tip for node in Screen(state).ui.nodes("icon") if node.path[-1] == "status"]

    assert why in tips


def test_a_reply_that_is_not_whole_has_its_sign_in_the_list_before_and_after_it_is_opened() -> None:
    sign = "The last reply is incomplete: open the discussion and press Continue"
    state = states.working()
    rows = {key: replace(row, is_partial=True) for key, row in state.discussions.summaries.items()}
    state = replace(state, discussions=replace(state.discussions, summaries=rows))

    signs = [node for node in Screen(state).ui.nodes("icon") if node.tip == sign]

    assert len(signs) > 1, "of one that is open, and of others"
    assert sign not in Screen(states.working()).ui.tips()


def test_a_message_without_a_reply_has_its_sign_in_the_list_of_what_the_log_says() -> None:
    state = states.working()
    row = state.discussions.summaries["d2"]
    rows = {**state.discussions.summaries, "d2": replace(row, is_unanswered=True)}
    state = replace(state, discussions=replace(state.discussions, summaries=rows))

    assert "The last message has no reply: you can send the message again" in Screen(state).ui.tips()
    assert (
        "The last message has no reply: you can send the message again"
        not in Screen(states.working()).ui.tips()
    )
