"""Places where words of a person may stand, in the one table of a forgetting; its receipt, and the words before it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec

from core.kernel.figures import count
from core.kernel.language import as_sentences, capital, spliced, tr
from core.kernel.stored_texts import retold
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


READ_AGAIN = tr("checked afterwards: none of the forgotten words are left")
"""Seen of most places, and said of all of them at once."""

PLACES: tuple[Place, ...] = (
    Place(
        id="provider",
        label=tr("copies in the caches of providers"),
        checked=tr("the provider answered: no copy is left"),
        counted=(
            tr("request to a provider to delete cached copies"),
            tr("requests to providers to delete cached copies"),
        ),
    ),
    Place(
        id="scratch",
        label=tr("temporary folders of the conversation's commands (the program ends these commands)"),
        checked=tr("no folder of the conversation's files is left"),
        counted=(
            tr("temporary folder of the conversation's commands"),
            tr("temporary folders of the conversation's commands"),
        ),
    ),
    Place(
        id="discussions",
        label=tr("conversations"),
        files=("discussions/*",),
        checked=tr("the conversation's folder is gone"),
        counted=(
            tr("conversation with draft, queue, replies, files and cache"),
            tr("conversations with drafts, queues, replies, files and caches"),
        ),
    ),
    Place(
        id="trash",
        label=tr("the trash"),
        files=("trash/*",),
        checked=tr("no folder of the conversation's files is left"),
        counted=(tr("copy in the trash"), tr("copies in the trash")),
    ),
    Place(
        id="recalled",
        label=tr("passages in messages of other conversations, found by recall"),
        checked=tr("the program deleted the recalled passages from those logs"),
        counted=(
            tr("conversation with recalled passages"),
            tr("conversations with recalled passages"),
        ),
    ),
    Place(
        id="journal",
        label=tr("the agent's journal"),
        files=("journal.md",),
        checked=READ_AGAIN,
        counted=(tr("entry in the agent's journal"), tr("entries in the agent's journal")),
    ),
    Place(
        id="memory",
        label=tr("memory files that you wrote"),
        files=("memory/*",),
        checked=tr("your own files: unchanged"),
        is_unread=True,
    ),
    Place(
        id="taken",
        label=tr("files that a discussion took from the inbox"),
        files=("inbox/taken/*",),
        checked=tr("no inbox file of this conversation is left"),
        counted=(
            tr("file that a discussion took from the inbox"),
            tr("files that a discussion took from the inbox"),
        ),
    ),
    Place(
        id="inbox",
        label=tr("files in the inbox that no discussion took"),
        files=("inbox/*",),
        checked=tr("your own files: unchanged"),
        is_unread=True,
    ),
    Place(
        id="versions",
        label=tr("earlier versions of category files and digests"),
        files=("knowledge/versions/*",),
        checked=READ_AGAIN,
        counted=(
            tr("item in earlier versions of category files"),
            tr("items in earlier versions of category files"),
        ),
    ),
    Place(
        id="archive",
        label=tr("items in the archive"),
        files=("knowledge/archive/*",),
        checked=READ_AGAIN,
        counted=(tr("item in the archive"), tr("items in the archive")),
    ),
    Place(
        id="drafts",
        label=tr("drafts made from playbooks"),
        files=("knowledge/drafts/*",),
        checked=READ_AGAIN,
        counted=(tr("draft made from a playbook"), tr("drafts made from playbooks")),
    ),
    Place(
        id="items",
        label=tr("category files and notes"),
        files=("knowledge/*.md", "knowledge/files/*.md"),
        checked=READ_AGAIN,
        counted=(tr("item in category files and notes"), tr("items in category files and notes")),
    ),
    Place(
        id="facts",
        label=tr("structured facts and their index"),
        files=(
            *(f"knowledge/{folder}/*.{end}" for folder in FOLDERS for end in ("yaml", "yml")),
            "knowledge/index.json",
        ),
        checked=READ_AGAIN,
        counted=(tr("structured fact"), tr("structured facts")),
    ),
    Place(
        id="fact-table",
        label=tr("the table of facts, built from the fact files"),
        files=("facts-*.msgpack",),
        root=Folder.CACHE,
        checked=READ_AGAIN,
    ),
    Place(
        id="evidence",
        label=tr("rows of evidence"),
        files=("knowledge/evidence.jsonl",),
        checked=READ_AGAIN,
        counted=(tr("row of evidence"), tr("rows of evidence")),
    ),
    Place(
        id="events",
        label=tr("earlier texts of items"),
        files=("knowledge/events.jsonl",),
        checked=READ_AGAIN,
        counted=(tr("earlier text of an item"), tr("earlier texts of items")),
    ),
    Place(
        id="applies",
        label=tr("logs of applied harvests"),
        files=("knowledge/applies/*",),
        checked=READ_AGAIN,
        counted=(tr("line in the log of a harvest"), tr("lines in the logs of harvests")),
    ),
    Place(
        id="ledger",
        label=tr("paths in the harvest ledger"),
        files=("knowledge/ledger.json", "knowledge/ledger.journal", "knowledge/.ledger.sha256"),
        checked=READ_AGAIN,
        counted=(tr("path in the harvest ledger"), tr("paths in the harvest ledger")),
    ),
    Place(
        id="review",
        label=tr("the unfinished harvest review"),
        files=("knowledge/.review.json",),
        checked=READ_AGAIN,
        counted=(tr("choice in an unfinished harvest review"), tr("choices in an unfinished harvest review")),
    ),
    Place(
        id="proposals",
        label=tr("proposals of other programs"),
        files=("knowledge/.proposals.json",),
        checked=READ_AGAIN,
        counted=(tr("proposal of another program"), tr("proposals of other programs")),
    ),
    Place(
        id="replies",
        label=tr("replies kept for a harvest"),
        files=("knowledge/.replies/*",),
        checked=tr("no harvest reply about the conversation is left"),
        counted=(
            tr("conversation whose harvest replies were kept"),
            tr("conversations whose harvest replies were kept"),
        ),
    ),
    Place(
        id="batches",
        label=tr("batches at providers"),
        files=("knowledge/batches/*",),
        checked=tr("stopped, and deleted at the provider"),
        counted=(tr("batch at a provider"), tr("batches at providers")),
    ),
    Place(
        id="digest",
        label=tr("the digest"),
        files=("knowledge/digest.md",),
        checked=tr("the program wrote the digest again without the forgotten words"),
    ),
    Place(
        id="catalog",
        label=tr("the list of conversations and its search index"),
        files=("catalog-*.sqlite*",),
        root=Folder.CACHE,
        checked=tr("the program emptied the list and the index, and built both again"),
    ),
    Place(
        id="prefixes",
        label=tr("cache files of the built-in model"),
        files=("embedded-prefixes/*",),
        root=Folder.CACHE,
        checked=tr("the program deleted all these files"),
        counted=(tr("cache file of the built-in model"), tr("cache files of the built-in model")),
        is_derived=True,
    ),
    Place(
        id="index",
        label=tr("the search index"),
        files=("index-*/*",),
        root=Folder.CACHE,
        checked=tr("the program overwrote the words and vectors in the index"),
        counted=(tr("file whose text is in the search index"), tr("files whose text is in the search index")),
        is_unread=True,
    ),
    Place(
        id="server",
        label=tr("the search index on a server"),
        checked=tr("the program wrote the tables on the index server again, without the conversation"),
        counted=(
            tr("file whose text is in the search index of the server"),
            tr("files whose text is in the search index of the server"),
        ),
    ),
    Place(
        id="diagnostics",
        label=tr("the diagnostic log"),
        files=("*",),
        root=Folder.LOG,
        checked=tr("emptied"),
        is_unread=True,
    ),
    Place(
        id="window",
        label=tr("the history of the composer and the selected discussion"),
        files=("state.toml",),
        checked=tr("the program removed the words from its prompt history"),
    ),
    Place(
        id="leftovers",
        label=tr("temporary files that are left over"),
        files=("*.tmp",),
        checked=tr("none is left"),
        counted=(tr("temporary file that is left over"), tr("temporary files that are left over")),
    ),
    Place(id="strangers", label=tr("files in the data folder that this program did not write")),
    Place(
        id="intents",
        label=tr("the program's notes on this deletion"),
        files=("forgetting/*",),
        is_unread=True,
    ),
    Place(
        id="wordless",
        label=tr("files without your words: locks, counts, settings, amounts paid"),
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
            *(
                "knowledge/.lock",
                "knowledge/*.lock",
                "knowledge/*.holder",
                "knowledge/.withdrawals",
                "knowledge/.digest",
            ),
        ),
        is_wordless=True,
    ),
    Place(
        id="wordless-cache",
        label=tr("cache files that hold none of your words"),
        files=(
            "ignores-said",
            "token-counts",
            "refused-fields",
            "refused-fields.lock",
            "imports-*.msgpack",
            "commands-*/*.json",
        ),
        root=Folder.CACHE,
        is_wordless=True,
    ),
)
"""Every place, in the order in which it is gone through and told."""

CANNOT = (
    tr("logs and backups that providers keep of your requests"),
    tr("files that the conversation's commands wrote in your folders"),
    tr("copies that you or others made: exports, imported or attached files, the clipboard"),
    tr("snapshots and backups of the file system, and disk blocks not yet overwritten"),
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

WARNING = tr("You cannot undo this: nothing brings back forgotten words.")
"""Said before every forgetting."""

DELETE_SAYS = tr(
    "Delete takes an item out of the model's context. Undo brings the item back, and a harvest may find the item again."
)
FORGET_SAYS = tr(
    "Forget removes every copy from this program, with history and quotes. No harvest proposes the words again."
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


HOLDERS = tr("These conversations still hold some of the words; forget each one separately:")
CANNOT_SAYS = tr("Copies that this program cannot delete:")


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
        lines.append(
            (
                tr("Emptied, or built again without the forgotten words: {places}", places=", ".join(whole)),
                False,
            )
        )
    if any(row.removed and _is_read_again(row) for row, _ in rows):
        lines.append(
            (tr("The program read the remaining knowledge again: none of the words are left"), False)
        )
    return lines


def _place_line(row: PlaceReport) -> str:
    where = place(row.place)
    one, many = where.counted
    said = count(row.removed, one, many) if one and row.removed else capital(where.label)
    more = retold(row.problem or ("" if _is_read_again(row) else row.checked))
    return spliced("{}: {}", said, more) if more else said


def _is_read_again(row: PlaceReport) -> bool:
    """True for what is said once of all such places. A receipt that was kept is in English, whatever is spoken now."""
    return bool(row.checked) and place(row.place).checked is READ_AGAIN


def nothing_found(receipt: ForgetReceipt) -> str:
    """One line with the places that held nothing of it, empty if there are none."""
    bare = [
        place(row.place).label
        for row in receipt.places
        if not row.removed and not row.problem and row.checked
    ]
    return tr("The program found nothing to remove in: {places}.", places=", ".join(bare)) if bare else ""


def preview_text(preview: ForgetPreview) -> str:
    """Sentence that names the things to be removed."""
    is_item = preview.target.category is not None
    branches = len(preview.target.discussion_ids) - 1
    figures = (
        (0 if is_item else preview.items, tr("item"), tr("items")),
        (preview.facts, tr("structured fact"), tr("structured facts")),
        (branches, tr("branch"), tr("branches")),
    )
    goes = [count(number, one, many) for number, one, many in figures if number > 0]
    total = sum(number for number, _, _ in figures if number > 0)
    if not goes:
        said = tr("The program deletes nothing else.")
    elif total == 1:
        said = tr("The program also deletes {place}.", place=_listed(goes))
    else:
        said = tr("The program also deletes {places}.", places=_listed(goes))
    kept = count(
        preview.kept_items,
        tr("item stays, because it has another source"),
        tr("items stay, because they have another source"),
    )
    return as_sentences(said, kept, is_closed=True) if preview.kept_items else said


def _listed(parts: Sequence[str]) -> str:
    return (
        parts[0]
        if len(parts) == 1
        else tr("{parts} and {parts2}", parts=", ".join(parts[:-1]), parts2=parts[-1])
    )


def headline(receipt: ForgetReceipt) -> str:
    """One sentence on what was forgotten."""
    if receipt.item:
        if not receipt.facts:
            return tr("Forgotten: an item.")
        return tr("Forgotten: an item and {facts}.", facts=count(receipt.facts, tr("fact"), tr("facts")))
    said = tr(
        "Forgotten: {conversations}, {items}",
        conversations=count(len(receipt.discussion_ids), tr("conversation"), tr("conversations")),
        items=count(receipt.items, tr("item"), tr("items")),
    )
    stay = (
        tr(
            "; {kept_items} stayed because of another source",
            kept_items=count(receipt.kept_items, tr("item"), tr("items")),
        )
        if receipt.kept_items
        else ""
    )
    facts = ", " + count(receipt.facts, tr("fact"), tr("facts")) if receipt.facts else ""
    mixed = (
        "; "
        + count(
            receipt.blended,
            tr("merged item stays, because it has words of several conversations: check it"),
            tr("merged items stay, because they have words of several conversations: check them"),
        )
        if receipt.blended
        else ""
    )
    return said + facts + stay + mixed + "."


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
