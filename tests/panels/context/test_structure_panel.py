"""The structure view of a file as a person meets it."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.curation import FileItem, FileMode, LineRange
from core.kernel.values.knowledge import DigestSwitch
from core.knowledge.knowledge_messages import EditKnowledgeItem
from core.talk.context.context_messages import InspectFile
from panels.context.structure_panel import sent_to
from tests.panels import states
from tests.panels.context.preset_steps import ITEMS, changed_items, open_item
from tests.panels.knowledge.knowledge_states import FOLDER, known
from tests.panels.knowledge.knowledge_states import note as known_note
from tests.panels.screen import Screen


def _structure(path: str = "src/cachelab/slots.py", **about: object) -> Screen:
    screen = Screen(states.working())
    open_item(screen, path.rpartition("/")[2])
    screen.ui.click("Structure", within=path.rpartition("/")[2])
    screen.sent.clear()
    shown = states.snapshot(path, **about)  # type: ignore[arg-type]
    screen.show(replace(screen.state, context=replace(screen.state.context, inspected=shown)))
    return screen


def test_a_file_is_read_when_its_structure_is_asked_for() -> None:
    screen = Screen(states.working())
    open_item(screen, "slots.py")

    screen.ui.click("Structure", within="slots.py")

    assert screen.asked == [InspectFile("src/cachelab/slots.py")]
    assert screen.ui.shows("Reading src/cachelab/slots.py…")


def test_a_symbol_is_ticked_and_the_file_becomes_one_of_slices() -> None:
    screen = _structure()

    screen.ui.click("Send Slot.touch")

    assert changed_items(screen)[0] == replace(ITEMS[0], symbols=("Slot.touch",), mode=FileMode.SLICES)


def test_a_ticked_symbol_is_unticked() -> None:
    screen = _structure("src/cachelab/ledger.py")

    screen.ui.click("Send Slot.touch")

    assert changed_items(screen)[1] == replace(ITEMS[1], symbols=())


def test_lines_are_chosen_by_typing_them() -> None:
    screen = _structure()

    screen.ui.type("Lines: 10-40, 55", "1-3, 70")

    assert changed_items(screen)[0] == replace(
        ITEMS[0], slices=(LineRange(1, 3), LineRange(70, 70)), mode=FileMode.SLICES
    )


def test_lines_that_are_none_are_refused_with_the_reason() -> None:
    screen = _structure()

    screen.ui.type("Lines: 10-40, 55", "9-3")

    assert screen.asked == []
    assert screen.ui.shows("'9-3' must start at line 1 or later, and not end before its start")


def test_lines_past_the_end_are_taken_with_a_warning() -> None:
    screen = _structure()

    screen.ui.type("Lines: 10-40, 55", "80-500")

    assert changed_items(screen)[0].slices == (LineRange(80, 500),)
    assert screen.ui.shows("The file has 89 lines")


def test_the_text_of_a_file_is_numbered() -> None:
    screen = _structure()

    screen.ui.click("Text")

    (code,) = [n for n in screen.ui.nodes("code") if n.value.startswith("line 1")]
    assert (code.props["first_line"], code.props["language"]) == (1, "py")


def test_notes_are_edited_beside_the_structure() -> None:
    screen = _structure()
    screen.ui.click("Notes")

    screen.ui.type("Notes for the model about this file", "slots")

    assert changed_items(screen)[0].notes == "slots"


def test_notes_of_knowledge_are_edited_beside_the_structure_and_it_is_said_who_is_sent_them() -> None:
    screen = _structure()
    path = screen.state.context.inspected.absolute_path  # type: ignore[union-attr]
    about = known_note("1:10", path, "The lock is reentrant")
    warm = DiscussionCacheState("d1", "anthropic", states.NOW, tokens_cached=12_000)
    caching = replace(screen.state.caching, caches={"d1": warm})
    screen.show(replace(screen.state, knowledge=replace(known(), notes=(about,)), caching=caching))
    screen.ui.click("Notes")
    assert screen.ui.shows("The lock is reentrant")
    screen.ui.click("Open 1:10.md in editor")
    assert screen.ui.files == [f"{FOLDER}/files/1:10.md"]
    assert screen.ui.shows(
        f"the next message of {screen.state.discussions.summaries['d1'].meta.name} carries the change"
    )

    screen.ui.click("Edit", within="The lock is reentrant")
    screen.ui.type("New text for this item", "The lock is not reentrant")
    screen.ui.click("Save")

    (sent,) = screen.sent
    assert isinstance(sent, EditKnowledgeItem)
    assert (sent.item, sent.text) == (about.items[0], "The lock is not reentrant")


def test_who_is_sent_notes_of_knowledge() -> None:
    state = states.working()

    shown = next(
        file.absolute_path for items in state.context.files.values() for one in items for file in one.files
    )
    off = replace(state, knowledge=replace(known(), switch=DigestSwitch.OFF_BY_DELETION))
    cold = replace(state, knowledge=known(), caching=replace(state.caching, caches={}))

    assert sent_to(off, shown) == "Knowledge is off: no discussion gets these notes."
    assert sent_to(cold, shown).endswith("No such discussion is warm now.")


def test_a_file_without_an_outline_can_still_be_cut_by_lines() -> None:
    screen = _structure()

    bare = replace(states.snapshot("src/cachelab/slots.py"), symbols=())
    screen.show(replace(screen.state, context=replace(screen.state.context, inspected=bare)))

    assert screen.ui.shows("No symbols were found in this file. You can still choose lines of the file.")
    assert screen.ui.has("Lines: 10-40, 55")


def test_leaving_the_structure_view_lets_the_file_go() -> None:
    screen = _structure()

    screen.ui.click("Back")

    assert screen.asked == [InspectFile("")]
    assert screen.ui.shows("New preset")


def test_a_file_that_cannot_be_read_shows_its_problem_in_place_of_its_structure() -> None:
    files = states.item_files()["coding-strict"]
    screen = _structure()

    screen.show(
        replace(
            screen.state,
            context=replace(
                screen.state.context, inspected=replace(files[5].files[0], path="src/cachelab/slots.py")
            ),
        )
    )

    assert screen.ui.shows("is not there any more")
    assert not screen.ui.has("Outline", kind="tab")


def test_a_file_of_a_glob_gets_a_place_of_its_own_before_parts_are_picked() -> None:
    screen = Screen(states.working())
    open_item(screen, "docs/**/*.md")
    screen.ui.click("Structure of docs/ttl.md")
    screen.show(
        replace(screen.state, context=replace(screen.state.context, inspected=states.snapshot("docs/ttl.md")))
    )
    screen.sent.clear()

    screen.ui.click("Add this file as a separate item of the preset")

    assert changed_items(screen) == (*ITEMS, FileItem("docs/ttl.md"))
