"""When knowledge is read, and what a reading changes."""

from __future__ import annotations

from dataclasses import replace

from core.values import effects as f
from core.values import events as e
from core.values.commands import RegenerateDigest
from core.values.curation import FileItem, FileSnapshot, ItemFiles
from core.values.knowledge import DigestSwitch, KnowledgeState, NoteFile
from core.values.settings import KnowledgeSettings
from tests.core.step.playbook import Playbook, of, settings_loaded

ON = KnowledgeState(digest="one", switch=DigestSwitch.ON, watched=("/h/knowledge/digest.md",))


def loaded(settings: KnowledgeSettings | None = None) -> e.SettingsLoaded:
    event = settings_loaded()
    event = replace(event, settings_paths=("/p/manual_slop.toml",))
    if settings is None:
        return event
    return replace(event, settings=replace(event.settings, knowledge=settings))


def ready() -> Playbook:
    book = Playbook()
    book.play(e.HomeOpened("/h"))
    book.play(loaded())
    book.play(e.SummariesLoaded((), True))
    return book


def test_it_is_read_once_when_settings_are_known_and_again_when_they_switch_it() -> None:
    book = Playbook()
    book.play(e.HomeOpened("/h"))

    assert of(book.play(loaded()), f.ReadKnowledge) == (f.ReadKnowledge(KnowledgeSettings()),)
    assert of(book.play(loaded()), f.ReadKnowledge) == ()
    off = KnowledgeSettings(digest_enabled=False)
    assert of(book.play(loaded(off)), f.ReadKnowledge) == (f.ReadKnowledge(off),)


def test_a_changed_file_is_read_and_its_paths_are_watched() -> None:
    book = ready()
    assert of(book.play(e.KnowledgeFilesChanged(("/h/knowledge/digest.md",))), f.ReadKnowledge)

    (watch,) = of(book.play(e.KnowledgeRead(ON)), f.WatchFiles)

    assert watch.knowledge_paths == ON.watched
    assert book.state.knowledge is ON


def test_a_new_digest_assembles_the_shown_discussion_anew_and_the_same_one_does_not() -> None:
    book = ready()
    book.discussion()

    assert of(book.play(e.KnowledgeRead(ON)), f.AssembleContext)
    before = book.state
    assert book.play(e.KnowledgeRead(replace(ON))) == ()
    assert book.state.knowledge is before.knowledge
    (assembly,) = of(book.play(e.KnowledgeRead(replace(ON, digest="two"))), f.AssembleContext)
    assert assembly.spec.knowledge == KnowledgeSettings()


def test_files_that_come_are_looked_at_for_notes() -> None:
    book = ready()
    items = (ItemFiles(FileItem("a"), (FileSnapshot("a", "/p/a"),)),)
    assert of(book.play(e.FilesRead("core", items)), f.ReadKnowledge) == ()
    book.play(e.KnowledgeRead(replace(ON, notes=(NoteFile("1:2", "/p/b"),))))

    more = (ItemFiles(FileItem("b"), (FileSnapshot("b", "/p/b"),)),)

    assert of(book.play(e.FilesRead("core", more)), f.ReadKnowledge)[0].candidates == ("/p/b",)
    assert of(book.play(e.FilesRead("core", more)), f.ReadKnowledge) == ()


def test_problems_are_a_notice_that_goes_with_them() -> None:
    book = ready()

    book.play(e.KnowledgeRead(replace(ON, problems=("facts.md is not UTF-8", "more"))))
    assert [(n.id, n.detail) for n in book.state.notices] == [("knowledge-files", "more")]

    book.play(e.KnowledgeRead(ON))
    assert book.state.notices == ()


def test_the_person_regenerates_the_digest() -> None:
    assert ready().play(RegenerateDigest()) == (f.MakeDigest(KnowledgeSettings()),)
