"""Reads knowledge for the window, makes, follows and removes the digest, and carries out a person's changes, on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from core.kernel.errors import LockedError, SlopError, StorageError
from core.kernel.language import as_sentences, tr
from core.kernel.paths import knowledge_dir
from core.kernel.queue import queued
from core.kernel.values.curation import ItemFiles, NamedText
from core.kernel.values.facts import GLOBAL, NO_FACTS
from core.kernel.values.knowledge import Category, KnowledgeState, NewItem, NoteFile, NoteStatus
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.spec import StackSpec
from core.kernel.values.updates import OperationDone, OperationFailed, Report
from core.knowledge import edits
from core.knowledge.categories import note_name
from core.knowledge.edits import archive_item, delete_fact, edit_fact, restore_fact, take_back
from core.knowledge.fact_store import FactReader, left_words, sync_facts
from core.knowledge.facts.fact_merge import ranked
from core.knowledge.file_writer import await_withdrawal, withdrawal_count, withdrawing
from core.knowledge.knowledge_messages import (
    AddKnowledgeItem,
    ArchiveItem,
    AttachNotes,
    ChangeKnowledge,
    CountMemoryUse,
    DeleteDigest,
    DeleteFact,
    DeleteKnowledgeItem,
    EditFact,
    EditKnowledgeItem,
    EvidenceRead,
    ExplainFact,
    ExplainItem,
    FollowDigest,
    KnowledgeChange,
    KnowledgeDeleted,
    KnowledgeEffect,
    KnowledgeEvent,
    KnowledgeRead,
    ListSeenItems,
    NoteInjection,
    NoteUse,
    ReadKnowledge,
    RegenerateDigest,
    RestoreFact,
    RestoreItem,
    SetTaskDone,
    SyncFacts,
    TakeBackItem,
)
from core.knowledge.knowledge_reader import (
    DigestFollower,
    KnowledgeReader,
    digest_file,
    is_digest,
    regenerate_digest,
    remove_digest,
    unquoted_in,
)
from core.knowledge.layer7 import layer_inputs
from core.knowledge.memory_log import (
    Injections,
    counted_use,
    fact_history,
    item_history,
    seen_items,
)
from core.knowledge.memory_use import Likeness
from core.knowledge.note_files import attach_notes, content_hash, keep_seen, move_notes, read_notes
from core.knowledge.recovery import recover_home

Emit = Callable[[KnowledgeEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

MOST_TOLD = 20
"""Problems of structured facts that are told beside the others; the panel lists all."""


class KnowledgeHandler:
    """Carries out the knowledge worker's effects.

    Args:
        home: the person's data; emit: the inbox; is_read_only: the home cannot be written.
        like: tells how near texts are in meaning, on this machine alone.
    """

    def __init__(
        self,
        home: Path,
        emit: Emit,
        *,
        is_read_only: bool = False,
        like: Likeness = lambda _said, _known: (),
    ) -> None:
        self._home = home
        self._emit = emit
        self._reader = KnowledgeReader(home)
        self._fact_reader = FactReader(home)
        self._facts = NO_FACTS
        self._follower = DigestFollower(home)
        self._is_read_only = is_read_only
        self._may_recover = not is_read_only
        self._injections = Injections(
            home,
            lambda: self._reader.read(KnowledgeSettings(), ()),
            lambda: ranked(self._fact_reader.facts()),
            like,
        )

    def handle(self, effect: KnowledgeEffect) -> None:
        """Carry out one effect. Raises SlopError for what could not be done."""
        match effect:
            case ReadKnowledge():
                self._recover()
                self._sync()
                self._follow()
                self._read(effect.settings, effect.candidates)
            case FollowDigest():
                if not self._is_read_only:
                    self._tell_kept(self._follower.follow())
            case ChangeKnowledge(change=RegenerateDigest()):
                done = regenerate_digest(self._home)
                self._read(effect.settings, ())
                said = (
                    f"Digest {done.write.value}"
                    if done.text
                    else tr("Your knowledge is empty, so there is no digest")
                )
                self._emit(OperationDone(subject="digest", text=as_sentences(said, _kept_words(done.kept))))
            case ChangeKnowledge(change=change):
                self._reading_after(lambda: self._change(change), effect.settings, effect.candidates)
            case ExplainItem():
                known = self._reader.read(KnowledgeSettings()).items
                told = item_history(self._home, effect.item, known, may_write=not self._is_read_only)
                self._emit(EvidenceRead(shown=told))
            case ExplainFact():
                self._emit(
                    EvidenceRead(shown=fact_history(self._home, effect.fact_id, self._fact_reader.facts()))
                )
            case ListSeenItems():
                known = self._reader.read(KnowledgeSettings()).items
                where, facts = effect.discussion_id, self._fact_reader.facts()
                seen = seen_items(self._home, known, where, facts)
                self._emit(EvidenceRead(seen=seen, seen_in=where))
            case CountMemoryUse():
                self._count_use()
            case NoteInjection():
                self._injections.note(effect)
            case NoteUse():
                self._injections.note_use(effect)
            case _:
                assert_never(effect)

    def _count_use(self) -> None:
        known = self._reader.read(KnowledgeSettings()).items
        self._emit(EvidenceRead(use=counted_use(self._home, known, self._fact_reader.facts())))

    def _remove_digest(self) -> None:
        path = digest_file(self._home)
        if is_digest(path):
            with withdrawing(self._home):
                self._tell_kept(remove_digest(self._home))

    def _tell_kept(self, kept: Path | None) -> None:
        """Say where a digest that another hand wrote is, which gave way."""
        if kept is not None:
            self._emit(OperationDone(subject="digest", text=_kept_words(kept)))

    def _reading_after(
        self, act: Callable[[], None], settings: KnowledgeSettings, candidates: tuple[str, ...]
    ) -> None:
        """Do something, then tell what is known now: also where it failed, for that may be why."""
        try:
            act()
        finally:
            self._read(settings, candidates)

    def _change(self, change: KnowledgeChange) -> None:
        match change:
            case AddKnowledgeItem(category=Category.FILES):
                raise SlopError(
                    tr("Only a harvest writes notes on files"), remedy=tr("Write a fact that names the file")
                )
            case AddKnowledgeItem():
                edits.add_item(
                    self._home, NewItem(category=change.category, text=change.text, name=change.name)
                )
            case EditKnowledgeItem():
                edits.edit_item(self._home, change.item, change.text)
            case DeleteKnowledgeItem():
                self._emit(KnowledgeDeleted(change.item.text, edits.delete_item(self._home, change.item)))
            case RestoreItem():
                edits.restore_item(self._home, change)
            case ArchiveItem():
                archive_item(self._home, change.item)
                self._count_use()
            case TakeBackItem():
                take_back(self._home, change.item)
                self._count_use()
            case SetTaskDone():
                edits.set_task_done(self._home, change.item, done=change.is_done)
            case AttachNotes():
                attach_notes(self._home, self._note(change.file_id), change.path)
            case EditFact():
                edit_fact(self._home, change.fact_id, change.was, change.text, change.confidence, change.tags)
                self._sync()
            case DeleteFact():
                undo = delete_fact(self._home, change.fact_id, change.was)
                self._emit(KnowledgeDeleted(change.was, undo))
            case RestoreFact():
                restore_fact(self._home, change)
            case SyncFacts():
                self._sync()
            case DeleteDigest():
                self._remove_digest()
            case RegenerateDigest():
                regenerate_digest(self._home)
            case _:
                assert_never(change)

    def _note(self, file_id: str) -> NoteFile:
        """Notes by their id, wherever they stand now. Raises StorageError: there are none."""
        for note in read_notes(self._home):
            if note.file_id == file_id:
                return note
        raise StorageError(
            tr("The notes {file_id!r} on a file no longer exist", file_id=file_id),
            remedy=tr("Look at the list again: the notes may have moved, or may be gone"),
            where=str(knowledge_dir(self._home) / note_name(file_id)),
        )

    def _read(self, settings: KnowledgeSettings, candidates: tuple[str, ...]) -> None:
        """Tell the switch and the digest at once, then all the items and facts."""
        self._tell(self._reader.read(settings, candidates, with_categories=False))
        found = self._reader.read(settings, candidates)
        facts = self._fact_reader.read(self._facts.problems)
        self._facts = self._facts if facts.facts is self._facts.facts else facts
        self._tell(found)
        if self._settled(found.notes):
            self._tell(self._reader.read(settings, candidates))

    def _tell(self, found: KnowledgeState) -> None:
        wrong = [one.sentence for one in self._facts.problems if not one.is_warning]
        problems = (*found.problems, *wrong[:MOST_TOLD])
        self._emit(KnowledgeRead(replace(found, facts=self._facts, problems=problems)))

    def _sync(self) -> None:
        """Facts that somebody saved reach the index; what is wrong with them is shown beside them."""
        if self._is_read_only:
            return
        try:
            report = sync_facts(self._home)
        except SlopError as error:
            self._fail("facts", error)
            return
        if report.left:
            self._emit(
                OperationDone(
                    subject="facts", text=left_words(len(report.left)), detail="\n".join(report.left)
                )
            )
        if report.problems != self._facts.problems:
            self._facts = replace(self._facts, problems=report.problems)

    def _settled(self, notes: tuple[NoteFile, ...]) -> bool:
        """Note what files with notes hold, and let notes follow those that were saved by rename or renamed, before another
        such change hides where they are.

        Returns:
            Whether any moved.
        """
        following = [note for note in notes if note.status in {NoteStatus.MOVED, NoteStatus.RENAMED}]
        if self._is_read_only:
            return False
        try:
            keep_seen(self._home, notes, content_hash)
            return bool(following) and bool(move_notes(self._home, following))
        except SlopError as error:
            self._fail("notes", error)
            return False

    def _follow(self) -> None:
        """An editor's save, or a pull, is in the digest too, while there is one."""
        if self._is_read_only:
            return
        try:
            self._tell_kept(self._follower.follow())
        except SlopError as error:
            self._fail("digest", error)

    def _fail(self, subject: str, error: SlopError) -> None:
        detail = as_sentences(error.remedy, error.where)
        self._emit(OperationFailed(subject=subject, text=error.what, detail=detail))

    def _recover(self) -> None:
        """Once: finish what a crash interrupted."""
        if not self._may_recover:
            return
        self._may_recover = False
        try:
            found = recover_home(self._home)
        except LockedError:
            return
        except SlopError as error:
            self._fail("knowledge", error)
            return
        if found:
            text = tr(
                "The program finished a harvest that was cut short: {found} conversations", found=len(found)
            )
            self._emit(OperationDone(subject="knowledge", text=text, detail="\n".join(found)))


class Layer7:
    """Reads the digest and the notes on files in scope fresh for every assembly: `rm` counts at once. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._reader = KnowledgeReader(home)
        self._facts = FactReader(home)

    def read(
        self, spec: StackSpec, items: tuple[ItemFiles, ...]
    ) -> tuple[str, str, tuple[NamedText, ...], int]:
        """The digest's text, facts of the spec's domains and notes of a preset's files, all empty while knowledge is off;
        the count of withdrawals.

        What is being taken out is waited for. The count is read first: of what is taken out meanwhile the next reading
        has another one.

        Raises:
            LockedError: taking something out lasts too long, so that what is left cannot be told.
        """
        await_withdrawal(self._home)
        withdrawals = withdrawal_count(self._home)
        if not spec.knowledge.digest_enabled or not is_digest(digest_file(self._home)):
            return "", "", (), withdrawals
        candidates = [file.absolute_path for item in items for file in item.files]
        with self._lock:
            found = self._reader.read(spec.knowledge, candidates, with_categories=False)
            facts = self._facts.ranked((*spec.fact_domains, GLOBAL))
        texts = layer_inputs(found, items, spec.knowledge.budget_bytes, facts, unquoted_in(self._home))
        return texts.digest, texts.facts, texts.notes, withdrawals


def _kept_words(kept: Path | None) -> str:
    """Sentence on a digest that gave way and that the program had not written; empty where there was none."""
    return (
        ""
        if kept is None
        else tr(
            "The program kept the earlier text of the digest: {kept}",
            kept=kept,
        )
    )


def supersedes(newer: KnowledgeEffect, older: KnowledgeEffect) -> bool:
    """A later reading makes an earlier one needless."""
    return isinstance(newer, ReadKnowledge) and isinstance(older, ReadKnowledge)


WORK = queued("knowledge", KnowledgeEffect, supersedes)
