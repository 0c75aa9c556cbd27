"""File of proposals, beside knowledge: written under knowledge's lock by the server, the window and a forgetting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from core.base import paths
from core.base.disk import OS_DISK, Disk, remove_file, reported, write_file
from core.base.errors import SlopError, StorageError
from core.base.opener import BOOK_BYTES, read_file
from core.knowledge.locks import write_lock
from core.mcp_server.proposal_text import MOST_WAITING, book_text, key_of, read_book, words_of
from core.values.proposals import Proposal


def proposals_file(home: Path) -> Path:
    """The file, hidden beside the category files, which nothing of it has entered yet."""
    return paths.knowledge_dir(home) / paths.PROPOSALS_FILE


def load_proposals(home: Path) -> tuple[Proposal, ...]:
    """Those that wait, oldest first.

    Raises:
        StorageError: the file cannot be read, or is none of ours; it is left as it is.
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
            "The proposals of other programs cannot be read",
            remedy=f"Move the file away: {error}",
            where=str(path),
        ) from error


def add_proposal(home: Path, proposal: Proposal, *, disk: Disk = OS_DISK) -> tuple[Proposal, bool]:
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

    change_proposals(home, with_it, disk=disk)
    return waits[-1]


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
    """Give those that wait to `change` and keep what it returns; where none are left the file goes.

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
