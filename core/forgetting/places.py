"""Places where words of a person may stand: the one table of what a forgetting goes through. Pure.

A new store gets a row here, or a test fails: one that walks a used home, and every test that runs the real program, whose
homes are walked as they end. What is derived needs its row alone (`is_derived`); a store of its own gets a step in `run`.
"""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec


class Folder(StrEnum):
    """Folders of ours that files are named below."""

    HOME = "home"
    CACHE = "cache"
    LOG = "log"


class Place(msgspec.Struct, frozen=True):
    """A place of copies.

    Args:
        label: for people; files: patterns of its files, `*` for anything, a `/` too.
        root: what they are below; checked: how the receipt says that it was seen.
        is_wordless: it holds ids, numbers and hashes alone, and is left as it is.
        is_derived: all of its files are removed, and made anew by themselves: nothing else has to be done for it.
    """

    id: str
    label: str
    files: tuple[str, ...] = ()
    root: Folder = Folder.HOME
    checked: str = ""
    is_wordless: bool = False
    is_derived: bool = False


_READ_AGAIN = "read again: none of the words stand in it"

PLACES: tuple[Place, ...] = (
    Place(
        "provider",
        "requests to delete cached contents at providers",
        checked="each was answered that none is left",
    ),
    Place(
        "discussions",
        "conversations with drafts, queues, replies, attachments and cache files",
        ("discussions/*",),
        checked="their folders are gone",
    ),
    Place("trash", "copies in the trash", ("trash/*",), checked="no folder of theirs is in the trash"),
    Place(
        "versions",
        "category files as they were before a merge",
        ("knowledge/versions/*",),
        checked=_READ_AGAIN,
    ),
    Place("drafts", "drafts made from playbooks", ("knowledge/drafts/*",), checked=_READ_AGAIN),
    Place(
        "items",
        "items in category files and notes",
        ("knowledge/*.md", "knowledge/files/*.md"),
        checked=_READ_AGAIN,
    ),
    Place(
        "facts",
        "structured facts and their index",
        ("knowledge/global/*", "knowledge/repos/*", "knowledge/agents/*", "knowledge/index.json"),
        checked=_READ_AGAIN,
    ),
    Place("fact-table", "the derived table of facts", ("facts-*.msgpack",), Folder.CACHE, _READ_AGAIN),
    Place("evidence", "rows of evidence", ("knowledge/evidence.jsonl",), checked=_READ_AGAIN),
    Place("events", "texts of events", ("knowledge/events.jsonl",), checked=_READ_AGAIN),
    Place("applies", "logs of applies", ("knowledge/applies/*",), checked=_READ_AGAIN),
    Place(
        "ledger",
        "paths in the ledger",
        ("knowledge/ledger.json", "knowledge/ledger.journal", "knowledge/.ledger.sha256"),
        checked=_READ_AGAIN,
    ),
    Place("review", "the review that was begun", ("knowledge/.review.json",), checked=_READ_AGAIN),
    Place(
        "replies", "replies kept for a harvest", ("knowledge/.replies/*",), checked="none is kept for them"
    ),
    Place(
        "batches",
        "requests in batches at providers",
        ("knowledge/batches/*",),
        checked="stopped, and deleted at the provider",
    ),
    Place("digest", "the digest", ("knowledge/digest.md",), checked="made anew where it is on"),
    Place(
        "catalog",
        "list and search index",
        ("catalog-*.sqlite*",),
        Folder.CACHE,
        "emptied, packed and made anew: none of the words stand in it",
    ),
    Place(
        "prefixes",
        "saved prefixes of the built-in model",
        ("embedded-prefixes/*",),
        Folder.CACHE,
        "all were deleted",
        is_derived=True,
    ),
    Place(
        "index",
        "index of retrieval, with its vectors",
        ("index-*/*",),
        Folder.CACHE,
        "deleted, and made anew from what is left",
        is_derived=True,
    ),
    Place("diagnostics", "the diagnostic log", ("*",), Folder.LOG, "emptied"),
    Place(
        "window", "prompt history and selection", ("state.toml",), checked="taken out of the program's memory"
    ),
    Place("leftovers", "temporary files that a crash left", ("*.tmp",), checked="none is left"),
    Place("intents", "what is being forgotten, until it is", ("forgetting/*",), checked="removed at the end"),
    Place(
        "wordless",
        "locks, counts, settings of the program, and what was paid",
        (
            *(
                "home.toml",
                "home.lock",
                "owner.toml",
                "raise.request",
                "hook_token",
                "hook.json",
                "caching.json",
                "tokens.json",
            ),
            *(
                "reserves/*",
                "keys/*",
                "backups/*",
                "knowledge/.spent/*",
                "knowledge/SCHEMA.md",
                "knowledge/.seen.json",
                "working/*",
            ),
            *("knowledge/.lock", "knowledge/*.lock", "knowledge/*.holder", "knowledge/.withdrawals"),
        ),
        is_wordless=True,
    ),
    Place(
        "wordless-cache",
        "derived files without words",
        ("ignores-said", "token-counts"),
        Folder.CACHE,
        is_wordless=True,
    ),
)
"""Every place, in the order in which it is gone through and told."""

CANNOT = (
    "logs and backups of the providers that the words were sent to",
    "copies that you or others made: exports, files that were imported or attached, the clipboard",
    "snapshots and backups of the file system, and blocks of the disk that are not written over yet",
)
"""Copies that no program of ours can reach."""

_BY_ID = {place.id: place for place in PLACES}


def place(place_id: str) -> Place:
    """A place by its id."""
    return _BY_ID[place_id]


def place_of(root: Folder, name: str) -> Place | None:
    """The place that a file belongs to, None for one that the table does not know.

    Args:
        name: relative to the root, with `/`.
    """
    if root is not Folder.LOG and name.endswith(".tmp"):
        return _BY_ID["leftovers"]
    own = [one for one in PLACES if one.root is root]
    named = (one for one in own if name in one.files)
    return next(named, None) or next(
        (one for one in own if any(fnmatchcase(name, f) for f in one.files)), None
    )
