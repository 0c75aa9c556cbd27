"""`@` in the composer: what it completes, what it adds, how it is left; files dropped on the window."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import FileHit, FileItem, FileMode, FilesLookedUp, HitKind
from core.talk.context.context_messages import AddItems, LookUpFiles
from core.talk.discussion.discussion_messages import AttachFile, ChangeDiscussion, SetDraft
from panels.discussion.completions import mention_of
from tests.panels import states
from tests.panels.screen import Screen

HITS = (
    FileHit(path="src/cachelab/", kind=HitKind.FOLDER),
    FileHit(path="src/cachelab/slots.py", kind=HitKind.FILE),
)
EDITOR = "Write a message"


def typed(text: str, *hits: FileHit, problem: str = "") -> Screen:
    screen = Screen(states.working())
    screen.ui.type(EDITOR, text)
    asked = screen.only(LookUpFiles)
    state = screen.state
    found = FilesLookedUp(text=asked.text, hits=hits, total=len(hits), problem=problem)
    screen.show(replace(state, context=replace(state.context, mentioned=found)))
    screen.ui.focus_on(EDITOR)
    return screen


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("@slo", "slo"),
        ("see @src/a.py#to", "src/a.py#to"),
        ("(@", ""),
        ("me@home", None),
        ("@a b", None),
        ("", None),
    ],
)
def test_a_mention_is_what_stands_behind_an_at_sign_that_begins_a_word(
    text: str, mention: str | None
) -> None:
    found = mention_of(text, -1)
    assert (found.text if found is not None else None) == mention


def test_the_file_that_is_chosen_is_named_and_added() -> None:
    screen = typed("Look at @slo", *HITS)
    screen.ui.press("Down")
    screen.ui.press("Tab")
    assert screen.only(AddItems).items == (FileItem(path="src/cachelab/slots.py"),)
    assert screen.ui.find(EDITOR, kind="editor").value == "Look at @src/cachelab/slots.py "
    assert [c.text for c in screen.sent if isinstance(c, SetDraft)][-1] == "Look at @src/cachelab/slots.py "


def test_a_folder_is_added_whole_and_a_symbol_with_its_lines() -> None:
    screen = typed("@cach", *HITS)
    screen.ui.press("Enter")
    assert screen.only(AddItems).items == (FileItem(path="src/cachelab/**/*"),)
    symbol = FileHit(path="a.py", kind=HitKind.SYMBOL, symbol="Slot.touch", detail="def touch(self)")
    screen = typed("@a.py#to", symbol)
    screen.ui.click("Slot.touch")
    item = FileItem(path="a.py", mode=FileMode.SLICES, symbols=("Slot.touch",))
    assert screen.only(AddItems).items == (item,)


def test_a_preset_is_chosen_and_its_name_leaves_the_message() -> None:
    screen = typed("With @docs")
    screen.ui.press("Tab")
    assert screen.only(ChangeDiscussion).changes == {"preset": "docs only"}
    assert screen.ui.find(EDITOR, kind="editor").value == "With "


def test_escape_leaves_it_as_text_and_a_problem_is_said() -> None:
    screen = typed("@zz", problem="More than 250,000 files: type a path or a glob.")
    assert screen.ui.shows("More than 250,000 files")
    screen.ui.press("Escape")
    assert not screen.ui.shows("More than 250,000 files")
    assert screen.ui.find(EDITOR, kind="editor").value == "@zz"


def test_files_dropped_on_the_window_are_attached() -> None:
    screen = Screen(states.working())
    screen.ui.drop("/tmp/a.png", "/tmp/notes.md")
    assert screen.asked == [AttachFile("d1", "/tmp/a.png"), AttachFile("d1", "/tmp/notes.md")]
