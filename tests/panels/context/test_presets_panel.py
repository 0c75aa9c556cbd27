"""Context presets as a person meets them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import FileItem, FileMode, FileSnapshot, Preset
from core.kernel.values.stack import LayerId, SegmentReport
from core.kernel.values.state import AppState
from core.talk.context.context_messages import (
    CreatePreset,
    DeletePreset,
    InspectFile,
    LookUpFiles,
    RenamePreset,
    RevertPreset,
    SavePreset,
)
from core.talk.context.file_layers import free_name
from core.talk.discussion.discussion_messages import ChangeDiscussion
from panels.base.view import WindowView
from panels.context.context_room import ContextPanelView, StructureView
from panels.context.preset_item import project_path
from tests.panels import states
from tests.panels.context.preset_steps import ITEMS, changed_items, open_item
from tests.panels.screen import Screen
from tests.state_fields import with_fields

ADD = "Add a path or glob: src/**/*.py"


def test_a_preset_is_chosen_with_one_click() -> None:
    screen = Screen(states.working())

    screen.ui.click("docs only")

    assert screen.asked == [ChangeDiscussion(discussion_id="d1", changes={"preset": "docs only"})]


def test_no_preset_is_a_choice_too() -> None:
    screen = Screen(states.working())

    screen.ui.click("No preset")

    assert screen.asked == [ChangeDiscussion(discussion_id="d1", changes={"preset": ""})]


def test_a_changed_preset_is_marked_and_can_be_saved_or_reverted() -> None:
    screen = Screen(states.working())
    assert screen.ui.has("unsaved", kind="badge")

    screen.ui.click("Save")
    screen.ui.click("Revert")

    assert screen.asked == [SavePreset("coding-strict"), RevertPreset("coding-strict")]


def test_a_saved_preset_has_nothing_to_save() -> None:
    state = states.working()
    screen = Screen(
        replace(
            state,
            config=replace(state.config, project=replace(state.config.project, unsaved_presets=frozenset())),
        )
    )

    assert not screen.ui.find("Save", kind="button").is_enabled
    assert not screen.ui.find("Revert", kind="button").is_enabled


def test_a_new_preset_gets_a_name_and_is_used_at_once() -> None:
    screen = Screen(states.working())
    screen.ui.click("New preset")
    screen.ui.type("Preset name", "tests")

    screen.ui.press("Enter")

    assert screen.asked == [CreatePreset("tests")], "the step has the discussion use it, where it comes about"


def test_a_name_that_is_taken_cannot_be_used_and_a_free_one_is_offered() -> None:
    screen = Screen(states.working())
    screen.ui.click("New preset")

    screen.ui.type("Preset name", "empty")

    assert screen.ui.shows("A preset named 'empty' exists; 'empty 2' is free")
    assert not screen.ui.find("Create").is_enabled


def _menu(screen: Screen, label: str) -> None:
    screen.ui.click("More", within="Revert")
    screen.ui.click(label)


def test_a_preset_is_duplicated_with_a_name_to_change() -> None:
    screen = Screen(states.working())
    _menu(screen, "Duplicate…")
    screen.ui.click("Duplicate")

    assert screen.asked == [
        CreatePreset("coding-strict copy", copy_of="coding-strict"),
    ]


def test_a_preset_is_renamed() -> None:
    screen = Screen(states.working())
    _menu(screen, "Rename…")
    screen.ui.type("Preset name", "strict")
    screen.ui.click("Rename")

    assert screen.asked == [RenamePreset("coding-strict", "strict")]


def test_a_preset_is_deleted_only_after_a_yes() -> None:
    screen = Screen(states.working())
    _menu(screen, "Delete…")
    screen.ui.click("Cancel")
    assert screen.asked == []

    _menu(screen, "Delete…")
    screen.ui.click("Delete preset")

    assert screen.asked == [DeletePreset("coding-strict")]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("src/new.py", "src/new.py"), (" 'docs/a b.md' ", "docs/a b.md"), ("lib/**/*.py", "lib/**/*.py"),
     ("/home/person/work/cachelab/src/x.py", "src/x.py"), ("/etc/hosts", "/etc/hosts")],
)  # fmt: skip
def test_a_path_or_glob_is_added_as_it_is_typed(typed: str, kept: str) -> None:
    screen = Screen(states.working())

    screen.ui.type(ADD, typed)
    screen.ui.press("Enter")

    assert changed_items(screen) == (*ITEMS, FileItem(kept))


@pytest.mark.parametrize("typed", ["", "  ", "AGENTS.md", "/home/person/work/cachelab/AGENTS.md"])
def test_nothing_and_what_is_there_already_are_not_added(typed: str) -> None:
    screen = Screen(states.working())

    screen.ui.type(ADD, typed)
    screen.ui.press("Enter")

    assert [one for one in screen.asked if not isinstance(one, LookUpFiles)] == []


def test_files_are_added_through_the_file_chooser() -> None:
    screen = Screen(states.working())
    screen.ui.click("Add files…")

    screen.ui.pick(
        "Add files to the preset", "/home/person/work/cachelab/a.py", "/home/person/work/cachelab/b.py"
    )

    assert changed_items(screen) == (*ITEMS, FileItem("a.py"), FileItem("b.py"))


def test_a_file_added_without_a_preset_begins_one() -> None:
    screen = Screen(states.first_run())

    screen.ui.type(ADD, "README.md")
    screen.ui.press("Enter")

    assert [one for one in screen.asked if not isinstance(one, LookUpFiles)] == [
        CreatePreset("default", (FileItem("README.md"),)),
    ]


def test_items_are_reordered_by_dragging() -> None:
    screen = Screen(states.working())

    screen.ui.drag(2, 0)

    assert changed_items(screen) == (ITEMS[2], ITEMS[0], ITEMS[1], *ITEMS[3:])


def test_items_are_reordered_without_a_mouse_too() -> None:
    screen = Screen(states.working())
    open_item(screen, "ledger.py")
    screen.ui.click("Move or remove")
    assert not screen.ui.has("Move to the bottom") or screen.ui.find("Move to the bottom").is_enabled

    screen.ui.click("Move to the bottom")

    assert changed_items(screen) == (ITEMS[0], *ITEMS[2:], ITEMS[1])


def test_a_glob_takes_ignored_files_when_it_is_ticked_and_says_how_many_it_leaves_out() -> None:
    screen = Screen(states.working())
    glob = next(item for item in ITEMS if item.is_glob)
    state = screen.state
    files = {
        name: tuple(replace(found, ignored=3) if found.item == glob else found for found in items)
        for name, items in state.context.files.items()
    }
    screen.show(replace(state, context=replace(state.context, files=files)))
    assert screen.ui.has("3 files · 3 ignored · outline")
    open_item(screen, glob.path)
    screen.ui.click("Move or remove")

    screen.ui.click("Include ignored files")

    assert changed_items(screen) == tuple(
        replace(item, include_ignored=True) if item == glob else item for item in ITEMS
    )


def test_an_item_is_removed() -> None:
    screen = Screen(states.working())
    open_item(screen, "gone.py")
    screen.ui.click("Move or remove")

    screen.ui.click("Remove from preset")

    assert changed_items(screen) == ITEMS[:5]


def test_an_item_is_pinned_unpinned_switched_on_and_off() -> None:
    for label, within, index, changed in (
        ("Unpin", "slots.py", 0, replace(ITEMS[0], pinned=False)),
        ("Pin to the top of the preset", "ledger.py", 1, replace(ITEMS[1], pinned=True)),
        ("Send AGENTS.md", "AGENTS.md", 3, replace(ITEMS[3], enabled=False)),
        ("Send assets/logo.png", "logo.png", 4, replace(ITEMS[4], enabled=True)),
    ):
        screen = Screen(states.working())
        screen.ui.click(label, within=within)
        assert changed_items(screen) == (*ITEMS[:index], changed, *ITEMS[index + 1 :])


def test_the_mode_of_an_item_is_chosen() -> None:
    screen = Screen(states.working())
    open_item(screen, "slots.py")

    screen.ui.choose("How much of the file is sent", "Outline")

    assert changed_items(screen)[0] == replace(ITEMS[0], mode=FileMode.OUTLINE)


def test_notes_are_kept_as_they_are_typed() -> None:
    screen = Screen(states.working())
    open_item(screen, "slots.py")

    screen.ui.type("Notes for the model about this file", "owns the TTL")

    assert changed_items(screen)[0] == replace(ITEMS[0], notes="owns the TTL")


def test_reverting_a_preset_brings_the_old_notes_back_into_the_editor() -> None:
    screen = Screen(states.working())
    open_item(screen, "slots.py")
    screen.ui.type("Notes for the model about this file", "wrong")
    typed = Preset("coding-strict", changed_items(screen))
    project = screen.state.config.project
    screen.show(
        replace(
            screen.state,
            config=replace(
                screen.state.config,
                project=replace(project, presets={**project.presets, "coding-strict": typed}),
            ),
        )
    )

    screen.show(states.working())

    assert screen.ui.find("Notes for the model about this file").value == ""


def test_each_item_says_what_is_sent_of_it_and_how_many_tokens_that_takes() -> None:
    screen = Screen(states.working())

    assert screen.ui.shows("src/cachelab · lines 10-40, 55, 1 symbol")
    assert screen.ui.shows("src/cachelab · whole · pinned")
    assert screen.ui.shows("3 files · outline")
    assert {"≈910", "≈640", "off"} <= set(screen.ui.texts())


def test_a_file_that_cannot_be_read_says_why_and_counts_nothing() -> None:
    screen = Screen(states.working())

    assert screen.ui.shows("src/gone.py is not there any more; restore it or remove the item")
    assert screen.ui.shows("assets/logo.png is binary; attach pictures to a message instead")
    assert screen.ui.has("—", within="gone.py")


def test_the_foot_adds_up_what_is_switched_on() -> None:
    assert Screen(states.working()).ui.shows("6 files · ≈1.6k + tokens")


def test_the_files_of_a_glob_are_listed_and_each_can_be_looked_into() -> None:
    screen = Screen(states.working())
    open_item(screen, "docs/**/*.md")

    screen.ui.click("Structure of docs/ttl.md")

    assert screen.asked == [InspectFile("docs/ttl.md")]


def test_each_file_of_a_glob_says_how_many_tokens_of_it_are_sent() -> None:
    screen = Screen(states.working())
    open_item(screen, "docs/**/*.md")
    state = screen.state
    files = {
        name: tuple(
            replace(entry, files=tuple(replace(file, tokens=None) for file in entry.files))
            for entry in entries
        )
        for name, entries in state.context.files.items()
    }
    report = states.report()
    details = next(layer for layer in report.layers if layer.layer is LayerId.FILE_DETAILS)
    sent = replace(details, segments=(SegmentReport("10/docs/ttl.md", "0" * 64, 4_000, 1_234),))
    layers = tuple(sent if layer is details else layer for layer in report.layers)
    reports = {name: replace(report, layers=layers) for name in state.context.reports}

    screen.show(replace(state, context=replace(state.context, files=files, reports=reports)))

    assert screen.ui.shows("≈1.2k")


def test_the_preview_shows_exactly_the_layers_of_the_files() -> None:
    screen = Screen(states.working())
    screen.ui.click("Preview")

    (text,) = screen.ui.nodes("selectable_text")
    report = states.report()
    assert text.value == f"{report.texts[8].text}\n{report.texts[9].text}"
    screen.ui.click("Back")
    assert screen.ui.shows("New preset")


def test_names_that_are_free_are_found() -> None:
    presets = {name: Preset(name) for name in ("a", "a 2")}

    assert free_name(presets, "b") == "b"
    assert free_name(presets, "a") == "a 3"


def test_a_path_outside_the_project_stays_absolute() -> None:
    assert project_path("/other/x.py", "/home/person") == "/other/x.py"
    assert project_path("/home/person", "/home/person") == "."


def test_an_unread_preset_counts_nothing_yet() -> None:
    state: AppState = with_fields(states.working(), files={})

    assert {"…"} <= set(Screen(state).ui.texts())
    assert not Screen(state).ui.shows("is not there any more")


def test_a_snapshot_without_tokens_is_not_counted_as_zero() -> None:
    files = states.item_files()["coding-strict"]
    uncounted = replace(files[0], files=(replace(FileSnapshot("src/cachelab/slots.py", "/x"), tokens=None),))
    screen = Screen(with_fields(states.working(), files={"coding-strict": (uncounted,)}, reports={}))

    assert screen.ui.has("…", within="slots.py")


def test_a_preset_that_the_project_does_not_have_is_named_here_and_at_the_composer() -> None:
    state = states.working()
    project = replace(state.config.project, presets={"docs only": state.config.project.presets["docs only"]})
    screen = Screen(replace(state, config=replace(state.config, project=project)))

    assert screen.ui.shows("This project has no preset 'coding-strict'")
    assert screen.ui.shows("coding-strict (missing)")


def test_choose_files_in_an_empty_discussion_leads_to_the_field_for_a_path() -> None:
    screen = Screen(states.first_run())
    screen.ui.click("Choose files")
    assert screen.view.panel == "presets"
    assert screen.ui.is_focused_on("Add a path or glob: src/**/*.py")
    screen.ui.settle()
    assert screen.view.focus == ""


def test_choose_files_leads_to_the_field_for_a_path_out_of_a_view_of_the_panel() -> None:
    """The wish for the keyboard outlasted the view, and took it from what was typed after that."""
    view = WindowView()
    view.of(ContextPanelView).structure = StructureView(preset="a", item_path="a.py", path="a.py")
    view.of(ContextPanelView).is_preview_open = True
    screen = Screen(states.first_run(), view)
    screen.ui.click("Choose files")
    assert screen.ui.is_focused_on("Add a path or glob: src/**/*.py")
    assert screen.view.focus == ""
