"""When knowledge is read, and what a reading changes."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.app_messages import HomeOpened, WatchFiles
from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles
from core.kernel.values.knowledge import DigestSwitch, KnowledgeState, NoteFile
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.updates import PathsChanged, Watched
from core.knowledge.knowledge_messages import (
    ChangeKnowledge,
    KnowledgeRead,
    ReadKnowledge,
    RegenerateDigest,
)
from core.services.settings.settings_messages import SettingsLoaded
from core.talk.context.context_messages import AssembleContext, FilesRead
from core.talk.discussion.discussion_messages import SummariesLoaded
from tests.core.app.playbook import Playbook, of, settings_loaded

ON = KnowledgeState(digest="one", switch=DigestSwitch.ON, watched=("/h/knowledge/digest.md",))


def loaded(settings: KnowledgeSettings | None = None) -> SettingsLoaded:
    event = settings_loaded()
    event = replace(event, settings_paths=("/p/manual_slop.toml",))
    if settings is None:
        return event
    return replace(event, settings=replace(event.settings, knowledge=settings))


def ready() -> Playbook:
    book = Playbook()
    book.play(HomeOpened("/h"))
    book.play(loaded())
    book.play(SummariesLoaded((), True))
    return book


def test_it_is_read_once_when_settings_are_known_and_again_when_they_switch_it() -> None:
    book = Playbook()
    book.play(HomeOpened("/h"))

    assert of(book.play(loaded()), ReadKnowledge) == (ReadKnowledge(KnowledgeSettings()),)
    assert of(book.play(loaded()), ReadKnowledge) == ()
    off = KnowledgeSettings(digest_enabled=False)
    assert of(book.play(loaded(off)), ReadKnowledge) == (ReadKnowledge(off),)


def test_a_changed_file_is_read_and_its_paths_are_watched() -> None:
    book = ready()
    assert of(book.play(PathsChanged(Watched.KNOWLEDGE, ("/h/knowledge/digest.md",))), ReadKnowledge)

    (watch,) = of(book.play(KnowledgeRead(ON)), WatchFiles)

    assert watch.knowledge_paths == ON.watched
    assert book.state.knowledge is ON


def test_a_new_digest_assembles_the_shown_discussion_anew_and_the_same_one_does_not() -> None:
    book = ready()
    book.discussion()

    assert of(book.play(KnowledgeRead(ON)), AssembleContext)
    before = book.state
    assert book.play(KnowledgeRead(replace(ON))) == ()
    assert book.state.knowledge is before.knowledge
    (assembly,) = of(book.play(KnowledgeRead(replace(ON, digest="two"))), AssembleContext)
    assert assembly.spec.knowledge == KnowledgeSettings()


def test_files_that_come_are_looked_at_for_notes() -> None:
    book = ready()
    items = (ItemFiles(FileItem("a"), (FileSnapshot("a", "/p/a"),)),)
    assert of(book.play(FilesRead("core", items)), ReadKnowledge) == ()
    book.play(KnowledgeRead(replace(ON, notes=(NoteFile("1:2", "/p/b"),))))

    more = (ItemFiles(FileItem("b"), (FileSnapshot("b", "/p/b"),)),)

    assert of(book.play(FilesRead("core", more)), ReadKnowledge)[0].candidates == ("/p/b",)
    assert of(book.play(FilesRead("core", more)), ReadKnowledge) == ()


def test_problems_are_a_notice_that_goes_with_them() -> None:
    book = ready()

    book.play(KnowledgeRead(replace(ON, problems=("facts.md is not UTF-8", "more"))))
    assert [(n.id, n.detail) for n in book.state.program.notices] == [("knowledge-files", "more")]

    book.play(KnowledgeRead(ON))
    assert book.state.program.notices == ()


def test_the_person_regenerates_the_digest() -> None:
    assert ready().play(RegenerateDigest()) == (ChangeKnowledge(RegenerateDigest(), KnowledgeSettings()),)
