"""Notes on files in the Knowledge panel: whose they are, and how the orphaned find a file."""

from __future__ import annotations

from core.knowledge.knowledge_messages import AttachNotes, EditKnowledgeItem
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import item_of, open_panel, words_of


def test_notes_are_grouped_by_file_with_what_became_of_it() -> None:
    screen = open_panel(ks.some(), "files")
    words = words_of(screen)

    assert words.index("gone.py") < words.index("Six is a guess") < words.index("lost.py")
    assert "slots.py" not in words[: words.index("lost.py")]
    assert words.count("orphaned") == 2
    screen.ui.scroll("knowledge rows", 11)
    words = words_of(screen)
    assert "moved" in words
    assert "renamed" in words
    assert "formerly /home/person/work/cachelab/docs/old-name.md" in words


def test_orphaned_notes_are_attached_to_what_is_proposed() -> None:
    screen = open_panel(ks.some(), "files")

    screen.ui.click("Attach to came_back.py")

    assert screen.asked == [AttachNotes("1:13", "/home/person/work/cachelab/src/cachelab/came_back.py")]
    assert not screen.ui.find("Attach to came_back.py").is_enabled


def test_orphaned_notes_are_attached_to_a_file_that_the_person_chooses() -> None:
    screen = open_panel(ks.some(), "files")

    screen.ui.click("Choose a file…")
    screen.ui.pick("Choose the file that these notes belong to", "/elsewhere/found.py")

    assert screen.asked == [AttachNotes("1:14", "/elsewhere/found.py")]


def test_choosing_no_file_attaches_nothing() -> None:
    screen = open_panel(ks.some(), "files")

    screen.ui.click("Choose a file…")
    screen.ui.pick("Choose the file that these notes belong to")

    assert screen.asked == []
    assert screen.view.dialog is None


def test_the_path_of_a_file_can_be_copied_and_its_notes_edited_here_and_in_an_editor() -> None:
    screen = open_panel(ks.some(), "files")

    screen.ui.click("Copy the path /home/person/work/cachelab/src/lost.py")
    assert screen.ui.copied == ["/home/person/work/cachelab/src/lost.py"]
    screen.ui.click("Open 1:14.md in editor")
    assert screen.ui.files == [f"{ks.FOLDER}/files/1:14.md"]
    screen.ui.click("Edit", within="Six is a guess")
    screen.ui.type("New text for this item", "Six is right")
    screen.ui.click("Save")
    assert screen.asked == [EditKnowledgeItem(item_of(screen.state, "Six is a guess"), "Six is right")]
