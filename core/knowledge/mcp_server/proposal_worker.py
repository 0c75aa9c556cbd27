"""Carries out a person's answers to proposals, and reads those that wait, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, remove_file, reported, write_file
from core.kernel.errors import SlopError, StorageError
from core.kernel.language import tr
from core.kernel.language import words_of as words_of_error
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.queue import queued
from core.kernel.values.knowledge import Category, Proposal, ProposalsState, Provenance
from core.knowledge import edits
from core.knowledge.categories import FILE_OF
from core.knowledge.evidence_rows import short_name
from core.knowledge.file_writer import write_lock
from core.knowledge.knowledge_reader import read_categories
from core.knowledge.mcp_server.proposal_messages import (
    McpServerEffect,
    McpServerEvent,
    ProposalsRead,
    ReadProposals,
    RefuseProposals,
    WriteProposed,
)
from core.knowledge.mcp_server.proposal_step import (
    MOST_WAITING,
    book_text,
    key_of,
    new_item,
    read_book,
    safe_source,
    safe_words,
    words_of,
)
from core.knowledge.merges import Known, known_items

# File of proposals, beside knowledge: written under knowledge's lock by the server, the window and a
# forgetting.


def proposals_file(home: Path) -> Path:
    """The file, hidden beside the category files, which nothing of it has entered yet."""
    return paths.knowledge_dir(home) / paths.PROPOSALS_FILE


def load_proposals(home: Path) -> tuple[Proposal, ...]:
    """Return the waiting proposals, the oldest first.

    Raises:
        StorageError: the file cannot be read, or this program did not write it; it is left as it is.
    """
    path = proposals_file(home)
    with reported("read", path):
        try:
            data = read_file(path, BOOK_BYTES)
        except FileNotFoundError:
            return ()
    try:
        return read_book(data)
    except ValueError as error:
        raise StorageError(
            tr("The program cannot read the file with proposals of other programs"),
            remedy=tr("Move the file away: {error}", error=error),
            where=str(path),
        ) from error


def add_proposal(home: Path, proposal: Proposal) -> tuple[Proposal, bool]:
    """Keep a proposal. Returns the one that waits now, and whether it is new: the same words wait only once.

    Raises:
        SlopError: too many wait. StorageError: it was not kept. LockedError: another program writes knowledge.
    """
    waits: list[tuple[Proposal, bool]] = []

    def with_it(waiting: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
        same = next((one for one in waiting if key_of(one) == key_of(proposal)), None)
        if same is not None:
            waits.append((same, False))
            return waiting
        if len(waiting) >= MOST_WAITING:
            raise SlopError(
                f"{len(waiting)} proposals wait for the person already",
                remedy="Propose again when some of them are decided",
            )
        taken = {one.id for one in waiting}
        number = 1
        while (name := f"{proposal.id}-{number}" if number > 1 else proposal.id) in taken:
            number += 1
        new = replace(proposal, id=name)
        waits.append((new, True))
        return (*waiting, new)

    change_proposals(home, with_it)
    return waits[-1]


def propose(home: Path, proposal: Proposal, known: Known) -> tuple[Proposal, bool]:
    """Keep a proposal, made safe, unless that is known. Returns the one that waits now, and whether it is new.

    Raises:
        SlopError: it says nothing, or what is known or forgotten; or it cannot be kept.
    """
    safe = replace(
        proposal,
        text=safe_words(proposal.text),
        detail=safe_words(proposal.detail),
        name=safe_words(proposal.name),
        source=safe_source(proposal.source),
    )
    words = words_of(safe)
    if not words:
        raise KnownAlreadyError("The item says nothing", remedy="Give one statement")
    if known.is_forgotten(safe.category, words):
        raise KnownAlreadyError("The person does not want this to be known", remedy="Do not propose it again")
    if (same := known.exact(safe.category, FILE_OF[safe.category], words)) is not None:
        raise KnownAlreadyError(f"This is known already, as {short_name(same.category, same.text)}")
    return add_proposal(home, safe)


class KnownAlreadyError(SlopError):
    """A proposal that needs no decision: it is empty, already known, or forgotten."""


def drop_proposals(home: Path, ids: frozenset[str], *, disk: Disk = OS_DISK) -> None:
    """Take proposals out; those that are gone already stay gone. Raises as `change_proposals`."""
    change_proposals(home, lambda waiting: tuple(one for one in waiting if one.id not in ids), disk=disk)


def drop_saying(home: Path, says: Callable[[bytes], bool], *, disk: Disk = OS_DISK) -> int:
    """Take out proposals whose words, UTF-8, are to be forgotten. Returns how many. Raises as `change_proposals`."""
    gone = frozenset(
        one.id
        for one in load_proposals(home)
        if says("\n".join((words_of(one), one.text, one.detail, one.name)).encode())
    )
    if gone:
        drop_proposals(home, gone, disk=disk)
    return len(gone)


def change_proposals(
    home: Path, change: Callable[[tuple[Proposal, ...]], tuple[Proposal, ...]], *, disk: Disk = OS_DISK
) -> None:
    """Pass the waiting proposals to `change` and keep its result. Deletes the file if none is left.

    Raises:
        StorageError: nothing was changed. LockedError: another program writes knowledge.
    """
    path = proposals_file(home)
    with write_lock(home, disk=disk):
        before = load_proposals(home)
        after = change(before)
        if after == before:
            return
        if after:
            write_file(path, book_text(after), disk=disk)
        else:
            remove_file(path, disk=disk)


Emit = Callable[[McpServerEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class ProposalHandler:
    """Carries out the proposals worker's effects.

    Args:
        home: the person's data; emit: the inbox.
    """

    def __init__(self, home: Path, emit: Emit) -> None:
        self._home, self._emit = home, emit

    def handle(self, effect: McpServerEffect) -> None:
        """Carry out one effect. Raises SlopError for what could not be done."""
        match effect:
            case ReadProposals():
                self._read()
            case WriteProposed():
                try:
                    self._write(effect.proposal)
                finally:
                    self._read()
            case RefuseProposals():
                try:
                    drop_proposals(self._home, frozenset(effect.proposal_ids))
                finally:
                    self._read()
            case _:
                assert_never(effect)

    def _write(self, proposal: Proposal) -> None:
        if proposal.category is Category.FILES:
            raise SlopError(tr("Only a harvest writes notes on files"), remedy=tr("Choose another category"))
        words = words_of(proposal)
        if not words:
            raise SlopError(
                tr("The item has no text"),
                remedy=tr("Write the text of the item; a playbook also needs a name"),
            )
        if self._known().exact(proposal.category, FILE_OF[proposal.category], words) is None:
            origin = Provenance(source=proposal.source, date=proposal.at[:10])
            edits.add_item(self._home, replace(new_item(proposal), provenance=origin))
        drop_proposals(self._home, frozenset({proposal.id}))

    def _known(self) -> Known:
        return known_items(item for file in read_categories(self._home) for item in file.items)

    def _read(self) -> None:
        try:
            waiting = load_proposals(self._home)
            known = self._known() if waiting else Known()
        except SlopError as error:
            self._emit(ProposalsRead(ProposalsState(problem=words_of_error(error))))
            return
        near = {one.id: tuple(item.text for item in known.near(words_of(one))) for one in waiting}
        told = {name: texts for name, texts in near.items() if texts}
        self._emit(ProposalsRead(ProposalsState(waiting=waiting, near=told)))


def supersedes(newer: McpServerEffect, older: McpServerEffect) -> bool:
    """A later reading makes an earlier one needless."""
    return isinstance(newer, ReadProposals) and isinstance(older, ReadProposals)


WORK = queued("proposals", McpServerEffect, supersedes)
