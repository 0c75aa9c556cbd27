"""Places where words of a person may stand, in the one table of a forgetting; its receipt, and the words before it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec

from core.kernel.figures import count
from core.kernel.values.knowledge import ForgetPreview, ForgetReceipt, PlaceReport
from core.knowledge.facts.fact_checks import FOLDERS

# Places where words of a person may stand: the one table of what a forgetting goes through. Pure.


class Folder(StrEnum):
    """The program's folders, to which the names of files are relative."""

    HOME = "home"
    CACHE = "cache"
    LOG = "log"


class Place(msgspec.Struct, frozen=True):
    """A place of copies.

    Args:
        label: for people, of the place as a whole; files: patterns of its files, `*` for anything, a `/` too.
        root: what they are below; checked: how the receipt says that it was seen.
        counted: one and several of what is taken out of it, empty where a place is emptied as a whole.
        is_wordless: it holds ids, numbers and hashes alone, and is left as it is.
        is_derived: all of its files are removed, and made anew by themselves: nothing else has to be done for it.
        is_unread: words in it may be another's by right, so that finding them says nothing.
    """

    id: str
    label: str
    files: tuple[str, ...] = ()
    root: Folder = Folder.HOME
    checked: str = ""
    counted: tuple[str, str] = ("", "")
    is_wordless: bool = False
    is_derived: bool = False
    is_unread: bool = False


READ_AGAIN = "read again: none of the words stand there"
"""Seen of most places, and said of all of them at once."""

PLACES: tuple[Place, ...] = (
    Place(
        id="provider",
        label="cached contents at providers",
        checked="answered: none is left",
        counted=(
            "request to a provider to delete cached contents",
            "requests to providers to delete cached contents",
        ),
    ),
    Place(
        id="scratch",
        label="scratch folders of its commands, which are ended",
        checked="no folder of it is there",
        counted=("scratch folder of its commands", "scratch folders of its commands"),
    ),
    Place(
        id="discussions",
        label="conversations",
        files=("discussions/*",),
        checked="its folder is gone",
        counted=(
            "conversation with its draft, queue, replies, files and cache",
            "conversations with their drafts, queues, replies, files and caches",
        ),
    ),
    Place(
        id="trash",
        label="the trash",
        files=("trash/*",),
        checked="no folder of it is there",
        counted=("copy in the trash", "copies in the trash"),
    ),
    Place(
        id="recalled",
        label="messages of other conversations for which it was recalled",
        checked="what was recalled is taken out of their logs",
        counted=(
            "conversation for which it was recalled",
            "conversations for which it was recalled",
        ),
    ),
    Place(
        id="journal",
        label="journal of the agent",
        files=("journal.md",),
        checked=READ_AGAIN,
        counted=("entry in the agent's journal", "entries in the agent's journal"),
    ),
    Place(
        id="memory",
        label="memory files that you wrote",
        files=("memory/*",),
        checked="yours: left as they are",
        is_unread=True,
    ),
    Place(
        id="taken",
        label="files that were taken out of the inbox",
        files=("inbox/taken/*",),
        checked="none that it was told is left",
        counted=("file that was taken out of the inbox", "files that were taken out of the inbox"),
    ),
    Place(
        id="inbox",
        label="files of the inbox that nobody took",
        files=("inbox/*",),
        checked="yours: left as they are",
        is_unread=True,
    ),
    Place(
        id="versions",
        label="category files as they were before a merge",
        files=("knowledge/versions/*",),
        checked=READ_AGAIN,
        counted=(
            "item in category files as they were before a merge",
            "items in category files as they were before a merge",
        ),
    ),
    Place(
        id="drafts",
        label="drafts made from playbooks",
        files=("knowledge/drafts/*",),
        checked=READ_AGAIN,
        counted=("draft made from a playbook", "drafts made from playbooks"),
    ),
    Place(
        id="items",
        label="category files and notes",
        files=("knowledge/*.md", "knowledge/files/*.md"),
        checked=READ_AGAIN,
        counted=("item in category files and notes", "items in category files and notes"),
    ),
    Place(
        id="facts",
        label="structured facts and their index",
        files=(
            *(f"knowledge/{folder}/*.{end}" for folder in FOLDERS for end in ("yaml", "yml")),
            "knowledge/index.json",
        ),
        checked=READ_AGAIN,
        counted=("structured fact", "structured facts"),
    ),
    Place(
        id="fact-table",
        label="the derived table of facts",
        files=("facts-*.msgpack",),
        root=Folder.CACHE,
        checked=READ_AGAIN,
    ),
    Place(
        id="evidence",
        label="rows of evidence",
        files=("knowledge/evidence.jsonl",),
        checked=READ_AGAIN,
        counted=("row of evidence", "rows of evidence"),
    ),
    Place(
        id="events",
        label="texts of events",
        files=("knowledge/events.jsonl",),
        checked=READ_AGAIN,
        counted=("text of an event", "texts of events"),
    ),
    Place(
        id="applies",
        label="logs of applies",
        files=("knowledge/applies/*",),
        checked=READ_AGAIN,
        counted=("line in logs of applies", "lines in logs of applies"),
    ),
    Place(
        id="ledger",
        label="paths in the ledger",
        files=("knowledge/ledger.json", "knowledge/ledger.journal", "knowledge/.ledger.sha256"),
        checked=READ_AGAIN,
        counted=("path in the ledger", "paths in the ledger"),
    ),
    Place(
        id="review",
        label="the review that was begun",
        files=("knowledge/.review.json",),
        checked=READ_AGAIN,
        counted=("choice in the review that was begun", "choices in the review that was begun"),
    ),
    Place(
        id="proposals",
        label="proposals of other programs",
        files=("knowledge/.proposals.json",),
        checked=READ_AGAIN,
        counted=("proposal of another program", "proposals of other programs"),
    ),
    Place(
        id="replies",
        label="replies kept for a harvest",
        files=("knowledge/.replies/*",),
        checked="none is kept for it",
        counted=("reading of which replies were kept", "readings of which replies were kept"),
    ),
    Place(
        id="batches",
        label="batches at providers",
        files=("knowledge/batches/*",),
        checked="stopped, and deleted at the provider",
        counted=("batch at a provider", "batches at providers"),
    ),
    Place(id="digest", label="the digest", files=("knowledge/digest.md",), checked="made anew without it"),
    Place(
        id="catalog",
        label="list of conversations and its search",
        files=("catalog-*.sqlite*",),
        root=Folder.CACHE,
        checked="emptied, packed and made anew",
    ),
    Place(
        id="prefixes",
        label="saved prefixes of the built-in model",
        files=("embedded-prefixes/*",),
        root=Folder.CACHE,
        checked="all were deleted",
        counted=("saved prefix of the built-in model", "saved prefixes of the built-in model"),
        is_derived=True,
    ),
    Place(
        id="index",
        label="index of retrieval",
        files=("index-*/*",),
        root=Folder.CACHE,
        checked="words and vectors written over",
        counted=("file in the index of retrieval", "files in the index of retrieval"),
        is_unread=True,
    ),
    Place(
        id="server",
        label="index of retrieval on a server",
        checked="its tables were written anew without it",
        counted=("file in the index on the server", "files in the index on the server"),
    ),
    Place(
        id="diagnostics",
        label="diagnostic log",
        files=("*",),
        root=Folder.LOG,
        checked="emptied",
        is_unread=True,
    ),
    Place(
        id="window",
        label="prompt history and selection",
        files=("state.toml",),
        checked="taken out of the program's memory",
    ),
    Place(
        id="leftovers",
        label="temporary files that a crash left",
        files=("*.tmp",),
        checked="none is left",
        counted=("temporary file that a crash left", "temporary files that a crash left"),
    ),
    Place(id="strangers", label="other files beside knowledge"),
    Place(id="intents", label="notes of this forgetting", files=("forgetting/*",), is_unread=True),
    Place(
        id="wordless",
        label="locks, counts, settings of the program, and what was paid",
        files=(
            *(
                "home.toml",
                "home.lock",
                "owner.toml",
                "raise.request",
                "hook_token",
                "hook.json",
                "caching.json",
                "tokens.json",
                "imported",
            ),
            *(
                "reserves/*",
                "keys/*",
                "backups/*",
                "knowledge/.spent/*",
                "knowledge/SCHEMA.md",
                "knowledge/.seen.json",
                "working/*",
                "crashes/*",
            ),
            *("knowledge/.lock", "knowledge/*.lock", "knowledge/*.holder", "knowledge/.withdrawals"),
        ),
        is_wordless=True,
    ),
    Place(
        id="wordless-cache",
        label="derived files without words",
        files=("ignores-said", "token-counts", "refused-fields", "imports-*.msgpack"),
        root=Folder.CACHE,
        is_wordless=True,
    ),
)
"""Every place, in the order in which it is gone through and told."""

CANNOT = (
    "what providers keep of the words that were sent to them: logs and backups",
    "files that its commands wrote in your folders",
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


# The receipt of a forgetting, and the words before it, for a person and for programs.

WARNING = "It cannot be undone: nothing brings back what is forgotten."
"""Said before every forgetting."""

DELETE_SAYS = "Delete takes an item out of what the model is told; Undo brings it back, and a harvest may find it again."
FORGET_SAYS = (
    "Forget takes every copy out of this program, history and quotes too, and no harvest proposes it again."
)
"""The difference between the two, a sentence each."""

_NO_NAMES: Mapping[str, str] = {}


def receipt_text(receipt: ForgetReceipt, names: Mapping[str, str] = _NO_NAMES) -> str:
    """The receipt as text. `names`: of discussions that are still there, in the trash too, by id."""
    lines = [headline(receipt), "", *(f"  {line}" for line, _ in found_lines(receipt))]
    if bare := nothing_found(receipt):
        lines += ["", bare]
    if receipt.holders:
        lines += ["", HOLDERS, *(f"  {one}  {names.get(one, '')}".rstrip() for one in receipt.holders)]
    lines += ["", CANNOT_SAYS, *(f"  {one}" for one in CANNOT)]
    return "\n".join(lines) + "\n"


HOLDERS = "Conversations that still hold words of it, each with a Forget of its own:"
CANNOT_SAYS = "Out of reach of this program:"


def found_lines(receipt: ForgetReceipt) -> list[tuple[str, bool]]:
    """Lines on what was found and done, each with whether something may be left there. What is said of many is said once."""
    rows = [(row, place(row.place)) for row in receipt.places]
    lines = [
        (_place_line(row), bool(row.problem))
        for row, its in rows
        if row.problem or (row.removed and its.counted[0])
    ]
    whole = [its.label for row, its in rows if row.removed and not row.problem and not its.counted[0]]
    if whole:
        lines.append((f"Emptied, or made anew without it: {', '.join(whole)}", False))
    if any(row.removed and row.checked == READ_AGAIN for row, _ in rows):
        lines.append(("What stays of knowledge was read again: none of the words stand there", False))
    return lines


def _place_line(row: PlaceReport) -> str:
    where = place(row.place)
    one, many = where.counted
    said = (
        count(row.removed, one, many)
        if one and row.removed
        else f"{where.label[:1].upper()}{where.label[1:]}"
    )
    more = row.problem or ("" if row.checked == READ_AGAIN else row.checked)
    return f"{said}: {more}" if more else said


def nothing_found(receipt: ForgetReceipt) -> str:
    """One line with the places that held nothing of it, empty if there are none."""
    bare = [
        place(row.place).label
        for row in receipt.places
        if not row.removed and not row.problem and row.checked
    ]
    return f"Looked through, nothing of it found: {', '.join(bare)}." if bare else ""


def preview_text(preview: ForgetPreview) -> str:
    """Sentence that names the things to be removed."""
    is_item = preview.target.category is not None
    branches = len(preview.target.discussion_ids) - 1
    figures = (
        (0 if is_item else preview.items, "item", "items"),
        (preview.facts, "structured fact", "structured facts"),
        (branches, "branch", "branches"),
    )
    goes = [count(number, one, many) for number, one, many in figures if number > 0]
    total = sum(number for number, _, _ in figures if number > 0)
    verb = "goes" if total == 1 else "go"
    said = f"With it {verb} {_listed(goes)}." if goes else "Nothing else goes with it."
    kept = preview.kept_items
    stay = f" {count(kept, 'item')} said elsewhere too {'stays' if kept == 1 else 'stay'}." if kept else ""
    return said + stay


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def headline(receipt: ForgetReceipt) -> str:
    """One sentence on what was forgotten."""
    if receipt.item:
        more = f" and {count(receipt.facts, 'fact')}" if receipt.facts else ""
        return f"Forgotten: an item{more}."
    said = f"Forgotten: {count(len(receipt.discussion_ids), 'conversation')}, {count(receipt.items, 'item')}"
    stay = f"; {count(receipt.kept_items, 'item')} also said elsewhere stayed" if receipt.kept_items else ""
    facts = f", {count(receipt.facts, 'fact')}" if receipt.facts else ""
    mixed = (
        f"; {count(receipt.blended, 'merged item')} with words of it and of others stayed, look at "
        f"{'it' if receipt.blended == 1 else 'them'}"
        if receipt.blended
        else ""
    )
    return f"{said}{facts}{stay}{mixed}."


def receipt_data(receipt: ForgetReceipt, names: Mapping[str, str] = _NO_NAMES) -> dict[str, object]:
    """The receipt as plain data, every field named. `names`: as of `receipt_text`."""
    return {
        "id": receipt.id,
        "at": receipt.at,
        "discussion_ids": list(receipt.discussion_ids),
        "item": receipt.item,
        "items": receipt.items,
        "facts": receipt.facts,
        "kept_items": receipt.kept_items,
        "blended": receipt.blended,
        "places": [
            {
                "place": row.place,
                "label": place(row.place).label,
                "removed": row.removed,
                "checked": row.checked,
                "problem": row.problem,
            }
            for row in receipt.places
        ],
        "holders": list(receipt.holders),
        "holder_names": {one: names.get(one, "") for one in receipt.holders},
        "recalls": list(receipt.recalls),
        "cannot": list(CANNOT),
    }
