"""The dialog of imports as a person meets it: choose, see what would come, import, see what came."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.imports.import_plan import KEY
from core.imports.imports_messages import CancelImport, DismissImport, ImportConversations
from core.kernel.values.imports import (
    ImportFault,
    ImportReport,
    ImportRow,
    ImportState,
    KnownPlace,
    TranscriptKind,
)
from core.kernel.values.settings import ImportSettings
from core.services.settings.settings_messages import ChangeSetting
from panels.base.view import Dialog
from tests.panels import states
from tests.panels.screen import Screen

AT = datetime(2025, 6, 14, tzinfo=UTC)
ROWS = (
    ImportRow("/x/c.json", TranscriptKind.CHATGPT, "Tides and datums", AT, 12, 12, branches=2),
    ImportRow(
        "/x/c.json",
        TranscriptKind.CHATGPT,
        "Old talk",
        AT,
        3,
        0,
        discussion_id="d1",
        why="the whole conversation is already here",
    ),
)
REPORT = ImportReport(
    is_dry=True, rows=ROWS, count=2, new_count=1, files=1, made=3, new_messages=12, other_files=4,
    faults=(ImportFault("/x/cut.json", "the file ends in the middle"),), skipped={"system texts": 5},
)  # fmt: skip


def screen(imports: ImportState, *, is_read_only: bool = False) -> Screen:
    state = replace(states.working(), imports=imports)
    if is_read_only:
        state = replace(state, program=replace(state.program, is_home_read_only=True))
    made = Screen(state)
    made.view.dialog = Dialog("import")
    made.ui.settle()
    return made


def test_files_that_are_chosen_are_looked_at_first() -> None:
    made = Screen(states.working())
    made.ui.click("File")
    made.ui.click("Import conversations…")
    made.ui.pick("Import conversations", "/x/a.zip", "/x/b.jsonl")

    assert made.asked == [ImportConversations(("/x/a.zip", "/x/b.jsonl"), is_dry=True)]
    assert made.ui.shows("Reading your selection…")


def test_the_preview_tells_what_comes_what_is_here_and_what_is_left_out() -> None:
    made = screen(ImportState(paths=("/x",), report=REPORT))

    for words in ("1 conversation of 2 in 1 file would become 3 new discussions, 12 messages.", "Tides and datums",
                  "the whole conversation is already here", "/x/cut.json: the file ends in the middle", "left out: system texts: 5"):  # fmt: skip
        assert made.ui.shows(words), words
    made.ui.click("Import 1 conversation")
    assert made.asked == [ImportConversations(("/x",), is_dry=False)]


def test_a_run_under_way_can_be_stopped_and_a_report_closed() -> None:
    made = screen(ImportState(paths=("/x",), is_running=True, count=1_204, doing="Tides"))
    assert made.ui.shows("Reading: 1,204 conversations so far. Tides")
    made.ui.click("Stop")
    assert made.asked == [CancelImport()]

    made = screen(ImportState(paths=("/x",), report=replace(REPORT, is_dry=False)))
    made.ui.click("Close", within="Tides and datums")
    assert made.asked == [DismissImport()]
    assert made.view.dialog is None


def test_a_home_that_cannot_be_written_has_nothing_imported() -> None:
    made = screen(ImportState(paths=("/x",), report=REPORT), is_read_only=True)

    with pytest.raises(AssertionError, match="Nothing can be saved: this data folder is read-only"):
        made.ui.click("Import 1 conversation")
    assert made.asked == []


def test_what_is_unticked_is_not_imported_and_all_or_none_can_be() -> None:
    rows = tuple(
        ImportRow("/x/c.json", TranscriptKind.CHATGPT, f"Talk {n}", AT, 3, 3, discussion_id=f"d{n}")
        for n in range(3)
    )
    report = ImportReport(is_dry=True, rows=rows, count=3, new_count=3, files=1, made=3, new_messages=9)
    made = screen(ImportState(paths=("/x",), report=report))
    assert not any("Branches" in word for word in made.ui.texts()), "a column with nothing in it is none"
    made.ui.click("Import Talk 1")
    assert made.ui.shows("2 of 3 new conversations ticked")
    made.ui.click("Import 2 conversations")
    assert made.asked == [ImportConversations(("/x",), is_dry=False, without=frozenset({"d1"}))]

    made = screen(ImportState(paths=("/x",), report=report))
    made.ui.click("None")
    with pytest.raises(AssertionError, match="Tick a conversation first"):
        made.ui.click("Import", within="0 of 3 new conversations ticked")
    made.ui.click("Tick all")
    made.ui.click("Import 3 conversations")
    assert made.asked == [ImportConversations(("/x",), is_dry=False)]


def test_an_export_that_is_cut_off_says_so_first_and_files_without_a_talk_are_named() -> None:
    cut = ImportFault("/x/conversations.json: after conversation 0, near byte 3,000", "the file ends in the middle", "Export the conversation again", is_cut=True, file="/x/conversations.json")  # fmt: skip
    made = screen(ImportState(paths=("/x",), report=ImportReport(is_dry=True, files=1, faults=(cut,))))
    assert made.ui.shows(
        "The program could read nothing. /x/conversations.json: after conversation 0, near byte 3,000"
    )
    assert not made.ui.shows("nothing new")

    some = replace(REPORT, faults=(cut,), other_names=("notes.md", "run.log"))
    made = screen(ImportState(paths=("/x",), report=some))
    assert made.ui.shows(
        "conversations.json is cut off in the middle; the import takes the complete conversations. 1 conversation"
    )
    assert made.ui.shows("No conversation in 4 files: notes.md, run.log and 2 more. To import a text file")


def test_memories_alone_are_offered_and_none_is_taken() -> None:
    report = ImportReport(is_dry=True, knowledge_names=("memories.json",), offered=2)
    made = screen(ImportState(paths=("/x",), report=report))
    assert made.ui.shows("memories.json: the import offers 2 proposals. You add or refuse each.")
    made.ui.click("Offer 2 proposals")
    assert made.asked == [ImportConversations(("/x",), is_dry=False)]


PLACE = KnownPlace(name="claude-code", label="Claude Code", path="/u/.claude/projects")
SWITCH = "Let the program import new sessions of Claude Code by itself"


def followed(*places: str) -> Screen:
    report = replace(REPORT, places=(PLACE,))
    made = screen(ImportState(paths=("/u/.claude/projects",), report=report))
    settings = replace(made.state.config.settings, imports=ImportSettings(follow=places))
    made.show(replace(made.state, config=replace(made.state.config, settings=settings)))
    return made


def test_new_sessions_of_a_program_are_taken_by_itself_once_a_person_said_yes_to_its_folder() -> None:
    made = followed("/other")
    made.ui.click(SWITCH)
    assert made.ui.shows("/u/.claude/projects")
    assert made.asked == [], "the switch asks first"
    made.ui.click("Not now")
    assert made.asked == []

    made.ui.click(SWITCH)
    made.ui.click("Import sessions")
    assert made.asked == [ChangeSetting(KEY, ("/other", "/u/.claude/projects"))]
    assert made.ui.shows("Tides and datums"), "the preview is there again"


def test_a_program_that_is_followed_is_followed_no_more_at_once() -> None:
    made = followed("/u/.claude/projects")
    made.ui.click(SWITCH)
    assert made.asked == [ChangeSetting(KEY, None)]


def test_what_is_of_no_known_program_has_no_switch() -> None:
    assert not screen(ImportState(paths=("/x",), report=REPORT)).ui.shows("Import new sessions")
