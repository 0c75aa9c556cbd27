"""The Retrieval panel: switching it on, the search with its hits, the index, and what goes with messages."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.curation import FileItem, FileMode, LineRange
from core.kernel.values.retrieval import Corpus, IndexReport, RetrievalState, SearchAnswer, SearchFilters
from core.kernel.values.settings import AskedValue
from core.kernel.values.state import AppState
from core.retrieval.retrieval_messages import (
    BuildNavigation,
    CancelIndexing,
    CheckNavigation,
    LookAtSources,
    PauseIndexing,
    SearchMemory,
    UpdateIndex,
)
from core.services.settings.settings_messages import ChangeProjectSetting, ChangeSetting
from core.talk.context.context_messages import ChangePreset, CreatePreset
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.retrieval.retrieval_room import RetrievalView
from tests.panels import states
from tests.panels.retrieval import retrieval_states as rs
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields


def open_at(state: AppState, tab: str = "search") -> Screen:
    return Screen(state, view_of(RetrievalView(tab=tab), panel="retrieval"))


def test_off_it_says_what_it_would_read_and_switches_on_for_this_project_alone() -> None:
    screen = open_at(rs.off())

    assert screen.ui.shows("Search is off in this project")
    assert screen.ui.shows("310 discussions")
    assert screen.ui.shows("../secrets: it is outside the project")
    assert screen.ui.shows("outside folders that you allowed")
    screen.ui.click("Turn search on in this project")

    assert screen.asked == [ChangeProjectSetting("retrieval.enabled", True)]


def test_what_would_be_read_is_looked_at_once_and_after_each_change_of_what_is_named() -> None:
    screen = open_at(rs.with_retrieval(RetrievalState()))
    view = screen.view.of(RetrievalView)
    first = view.looked_with
    assert first is not None
    screen.show(rs.with_retrieval(RetrievalState(), roots=("notes",)))
    screen.ui.settle()

    assert screen.asked == [LookAtSources()]
    assert view.looked_with == replace(first, roots=("notes",))


def test_corpora_and_folders_are_written_to_the_project() -> None:
    screen = open_at(rs.off())

    screen.ui.click("Project files")
    screen.ui.type("Add a folder of notes", f"{rs.ROOT}/docs/")
    screen.ui.click("Stop searching the folder ../secrets")

    assert screen.asked[0] == ChangeProjectSetting(
        "retrieval.corpora", ("notes", "knowledge", "discussions", "project")
    )
    assert screen.asked[-2:] == [
        ChangeProjectSetting("retrieval.roots", ("notes", "../secrets", "docs")),
        ChangeProjectSetting("retrieval.roots", ("notes",)),
    ]


def test_a_folder_is_chosen_in_a_dialog_and_named_from_the_project() -> None:
    screen = open_at(rs.off())
    screen.ui.click("Add a folder of notes…")
    screen.ui.pick("Add a folder of notes", f"{rs.ROOT}/docs")

    assert screen.asked == [ChangeProjectSetting("retrieval.roots", ("notes", "../secrets", "docs"))]
    assert screen.view.dialog is None


def test_where_a_folder_asks_for_what_was_not_shown_nothing_can_be_switched() -> None:
    state = rs.off()
    asked = (AskedValue(("settings", "retrieval.roots"), "x", "retrieval.roots = /etc"),)
    screen = open_at(with_fields(state, project=replace(state.config.project, asked=asked)))

    assert not screen.ui.has("Turn search on in this project")
    screen.ui.click("Review requests", within="They apply only after you agree")
    assert screen.view.dialog is not None
    assert screen.view.dialog.kind == "trust"


def test_a_question_is_asked_with_what_narrows_it() -> None:
    screen = open_at(rs.answered())
    screen.ui.type("Search in your own words", "harbour flood")
    screen.ui.click("Show the filters")
    screen.ui.choose("Choose where to search", "Notes")
    screen.ui.type("From this day", "2026-13-01")

    assert screen.ui.shows("'2026-13-01' is not a day")
    screen.ui.type("From this day", "2026-01-01")
    screen.ui.type("With a tag", "#sea")

    wanted = SearchFilters((Corpus.NOTES,), "", "sea", "2026-01-01")
    assert screen.asked[0] == SearchMemory("harbour flood", 20)
    assert screen.asked[-1] == SearchMemory("harbour flood", 20, wanted)
    screen.ui.click("Clear")
    assert screen.asked[-1] == SearchMemory("harbour flood", 20)


def test_a_hit_shows_where_it_stands_why_it_was_found_and_its_other_passages() -> None:
    screen = open_at(rs.answered())

    assert screen.ui.shows("3 sources for “why did the harbour flood” · By words and by meaning")
    assert screen.ui.shows("sea/surge.md · lines 3 to 9 · What pushes the water up · 1 Jun")
    assert screen.ui.shows("Score: words 0.61, meaning 0.92")
    assert screen.ui.shows("Score: words –, meaning 0.55")
    assert "Found by its words and by its meaning." in screen.ui.tips()
    assert screen.ui.shows("Harvest worker design")
    assert screen.ui.shows("message 4")
    marked = [node for node in screen.ui.nodes("text") if node.path[-1] == "snippet"]
    assert marked[0].props["terms"] == ("harbour", "flood")
    screen.ui.click("Show other passages")
    assert screen.ui.shows("lines 12 to 20 · At the harbour")


def test_a_passage_that_a_newer_one_took_the_place_of_says_so_itself_and_below_its_source() -> None:
    """The place of the newer one is named, so that nobody takes an old value for the one that counts."""
    older = replace(rs.SURGE.also[0], newer="Harbour in May:4")
    hit = replace(rs.SURGE, newer="Surges of spring:1", also=(older,))
    answer = SearchAnswer(query="surge", hits=(hit, rs.TALK))
    state = rs.answered()
    screen = open_at(replace(state, retrieval=replace(state.retrieval, answer=answer)))

    said = "A newer passage says something similar: "
    assert screen.ui.shows(f"{said}Surges of spring:1")
    assert not screen.ui.shows(f"{said}Harbour in May:4")
    screen.ui.click("Show other passages")
    assert screen.ui.shows(f"{said}Harbour in May:4")


def test_one_click_puts_the_passage_into_the_preset() -> None:
    screen = open_at(rs.answered())
    preset = screen.state.config.project.presets["coding-strict"]

    screen.ui.click("Add lines 3 to 9 to “coding-strict”")

    added = FileItem("notes/sea/surge.md", FileMode.SLICES, (LineRange(3, 9),))
    assert screen.asked == [ChangePreset("coding-strict", (*preset.items, added))]
    fuller = {
        **screen.state.config.project.presets,
        "coding-strict": replace(preset, items=(*preset.items, added)),
    }
    screen.show(with_fields(screen.state, project=replace(screen.state.config.project, presets=fuller)))
    assert not screen.ui.find("Already in the preset").is_enabled


def test_without_a_preset_one_is_made_with_it() -> None:
    state = rs.answered()
    row = state.discussions.summaries["d1"]
    rows = {**state.discussions.summaries, "d1": replace(row, meta=replace(row.meta, preset=""))}
    screen = open_at(with_fields(state, summaries=rows))

    screen.ui.click("Add lines 3 to 9 to a new preset")

    item = FileItem("notes/sea/surge.md", FileMode.SLICES, (LineRange(3, 9),))
    assert screen.asked == [CreatePreset("default", (item,))]


def test_a_discussion_that_was_found_is_shown_and_a_note_is_opened() -> None:
    screen = open_at(rs.answered())
    screen.ui.click("Open surge.md in editor")
    screen.ui.click("Show the discussion")

    assert screen.ui.files == [f"{rs.NOTES}/sea/surge.md"]
    assert screen.asked == [SelectDiscussion("d2")]


def test_an_answer_that_is_not_the_whole_one_says_so() -> None:
    screen = open_at(rs.degraded())

    assert screen.ui.shows("By words only.")
    assert screen.ui.shows("degraded")
    assert screen.ui.shows("The embedding model needed more than 2 s. Try again.")
    assert not open_at(rs.answered()).ui.shows("degraded")


def test_before_a_question_and_without_a_hit_it_says_what_to_do() -> None:
    assert open_at(rs.indexed()).ui.shows("Ask as you would ask a person")
    nothing = open_at(rs.indexed(answer=SearchAnswer("zebra")))
    assert nothing.ui.shows("Nothing found for “zebra”.")
    assert nothing.ui.shows("Try other words")
    empty = open_at(rs.indexed(report=None))
    empty.ui.click("Choose sources")
    assert empty.view.of(RetrievalView).tab == "index"


def test_a_run_is_seen_paused_and_stopped_on_every_tab() -> None:
    screen = open_at(rs.running(), "recall")

    assert screen.ui.shows("Reading 12 of 340 files")
    screen.ui.click("Pause")
    screen.ui.click("Cancel")

    assert screen.asked == [PauseIndexing(True), CancelIndexing()]
    screen.show(rs.indexed(progress=rs.running().retrieval.progress, is_paused=True))
    screen.ui.click("Continue", within="Paused")
    assert screen.asked[-1] == PauseIndexing(False)


def test_the_index_says_what_it_holds_and_is_brought_up_to_date() -> None:
    screen = open_at(rs.indexed(), "index")

    assert screen.ui.shows("10,678 passages of 359 sources")
    assert screen.ui.shows("42 files · 1,180 passages · 12 without a vector")
    assert screen.ui.shows("3 sources read, 356 unchanged, 1 removed, 40 vectors made")
    assert screen.ui.shows("Made by the built-in embedding model, on this machine")
    assert screen.ui.shows("1 file skipped or partly read")
    screen.ui.click("Update now")
    screen.ui.click("Rebuild")
    screen.ui.click("Turn off")

    assert screen.asked == [
        UpdateIndex(),
        UpdateIndex(is_anew=True),
        ChangeProjectSetting("retrieval.enabled", False),
    ]


def test_after_a_run_that_was_stopped_nothing_is_called_up_to_date() -> None:
    stopped = IndexReport(stopped=True, counts=rs.COUNTS)
    screen = open_at(rs.indexed(report=stopped, problem="You stopped the run"), "index")

    assert screen.ui.shows("10,678 passages of 359 sources")
    assert screen.ui.shows("You stopped the run")
    assert not screen.ui.shows("Up to date")


def test_index_files_of_notes_are_checked_after_a_run_and_mended_on_a_click() -> None:
    screen = open_at(rs.indexed(), "index")

    assert screen.ui.shows("5 up to date, 1 outdated, 1 left over")
    assert screen.ui.shows("your own")
    screen.ui.click("Build")
    screen.ui.click("Check")
    screen.show(rs.indexed(indexed_at=states.NOW))

    assert screen.asked == [BuildNavigation(), CheckNavigation(), CheckNavigation()]


def test_the_router_is_read_in_the_panel_and_goes_into_the_preset_for_a_model_without_tools() -> None:
    screen = open_at(rs.indexed(), "index")
    assert screen.ui.shows("notes/index.md")
    assert not screen.ui.shows("Instruments at the pier")
    screen.ui.click("Read notes/index.md: a model sees this file first")
    assert screen.ui.shows("Instruments at the pier")
    screen.ui.click("Hide notes/index.md")
    assert not screen.ui.shows("Instruments at the pier")

    screen.ui.click("Add notes/index.md to “coding-strict”, so that a model without tools can read it")
    preset = screen.state.config.project.presets["coding-strict"]
    assert screen.asked == [ChangePreset("coding-strict", (*preset.items, FileItem("notes/index.md")))]


def test_a_server_is_named_without_its_password() -> None:
    state = rs.with_retrieval(
        rs.indexed().retrieval, enabled=True, server="postgresql://me:secret@db.example/notes"
    )
    screen = open_at(state, "index")

    assert screen.ui.shows("On this machine and on db.example/notes")
    assert not screen.ui.shows("secret")


def test_a_fault_of_the_index_says_what_mends_it() -> None:
    screen = open_at(rs.faulty())

    assert screen.ui.shows("The program cannot use the search index: disk full.")
    assert screen.ui.shows("Delete the folder of the index")
    screen.ui.click("Update now")
    assert screen.asked == [UpdateIndex()]


def test_what_went_with_messages_is_shown_with_why_and_what_never_goes_is_let_in_again() -> None:
    screen = open_at(rs.indexed(), "recall")

    assert screen.ui.shows("With “Why did it flood?”")
    assert screen.ui.shows("“Harvest worker design”, message 4 · 2026-10-02")
    assert screen.ui.shows("Because the passage contains harbour, flood.")
    screen.ui.click("Include again", within="concepts.md")
    screen.ui.click("Send matching passages with each message")

    assert screen.asked == [
        ChangeSetting("retrieval.kept_out", ("discussions:d5",)),
        ChangeProjectSetting("retrieval.ambient", False),
    ]
