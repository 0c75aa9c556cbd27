"""Knowledge as values: items, files, notes, the ledger's entries; a forgetting: what is to go, what went, what holds it still."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from core.kernel.language import tr
from core.kernel.values.facts import NO_FACTS, FactsState, ItemWords, Quote

# Knowledge as values: items, the files that hold them, notes on files, the ledger's entries and the switch.


class Category(StrEnum):
    """The seven kinds of what a conversation leaves behind, in the order in which they are counted."""

    FACTS = "facts"
    DECISIONS = "decisions"
    TASKS_DONE = "tasks_done"
    TASKS_OPEN = "tasks_open"
    QUESTIONS = "questions"
    PLAYBOOKS = "playbooks"
    FILES = "files"


CATEGORY_WORDS = {
    Category.FACTS: (tr("fact"), tr("facts")),
    Category.DECISIONS: (tr("decision"), tr("decisions")),
    Category.TASKS_DONE: (tr("done task"), tr("done tasks")),
    Category.TASKS_OPEN: (tr("open task"), tr("open tasks")),
    Category.QUESTIONS: (tr("question"), tr("questions")),
    Category.PLAYBOOKS: (tr("playbook"), tr("playbooks")),
    Category.FILES: (tr("file note"), tr("file notes")),
}
"""One item of a kind, and several, as a person reads of them."""


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Provenance of an item: the conversation's name and the day, `YYYY-MM-DD`.

    `also`: of an item that several were merged into, where the others came from, in the order in which they stand.
    """

    source: str
    date: str
    also: tuple[Provenance, ...] = ()

    @property
    def all(self) -> tuple[Provenance, ...]:
        """Every origin by itself, this one last."""
        return (*self.also, Provenance(source=self.source, date=self.date))


class Item(msgspec.Struct, frozen=True, gc=False):
    """One item in its file.

    Args:
        file: name of the file below the knowledge directory (`facts.md`, `files/1:2.md`).
        text: without its dash and provenance; continued lines joined with LF, their indent kept.
        section: the heading it stands under, empty before the first.
        first_line, last_line: 1-based, both included.
    """

    category: Category
    file: str
    text: str
    provenance: Provenance | None = None
    section: str = ""
    first_line: int = 0
    last_line: int = 0


def item_data(item: Item) -> dict[str, Any]:
    """An item as plain data: what `--json` and the Hook API say; file, first line and text name it in `POST /api/ui`."""
    origin = item.provenance
    return {
        "category": item.category.value,
        "file": item.file,
        "first_line": item.first_line,
        "last_line": item.last_line,
        "section": item.section,
        "text": item.text,
        "source": None if origin is None else origin.source,
        "date": None if origin is None else origin.date,
        "also": [] if origin is None else [{"source": one.source, "date": one.date} for one in origin.also],
    }


class Replacement(msgspec.Struct, frozen=True):
    """A known item that a new one replaces, and why, in a sentence."""

    item: Item
    reason: str


class RemovalQuestion(msgspec.Struct, frozen=True):
    """A question before much is taken out of a category.

    Args:
        sentence: what would go; items: the list; is_undo: an undo asks, of `apply_id`; is_merge: a merge; else an apply of
            the preview.
        after: what that apply does with its conversations, as it was asked for.
    """

    sentence: str
    items: tuple[Item, ...]
    is_undo: bool = False
    apply_id: str = ""
    is_merge: bool = False
    after: str = ""


class NewItem(msgspec.Struct, frozen=True, gc=False):
    """An item that is about to be written, raw: whatever a model or a person said.

    Args:
        text: the statement, a playbook's steps, or the note; detail: joins it after an em dash.
        name: of a playbook, or the absolute path that a note is about; else empty.
        provenance: None for an item that a person adds by hand.
        quote: what it stands on in its conversation; proposed: what a model had proposed, None where the person left
            its words and category; replaces: the item that is struck through when this one is written.
        fact_category: of its structured fact, where a model named one; is_confirmed: a person ticked or wrote it.
        is_outside: of a note whose file is not to be looked at, for it lies outside of what the conversation was about.
    """

    category: Category
    text: str
    detail: str = ""
    name: str = ""
    provenance: Provenance | None = None
    quote: Quote = Quote()
    proposed: ItemWords | None = None
    replaces: Replacement | None = None
    fact_category: str = ""
    is_confirmed: bool = False
    is_outside: bool = False


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A raw item and the item that it is in a file: the new one, or the one that said the same already."""

    raw: NewItem
    item: Item
    is_new: bool


class CategoryFile(msgspec.Struct, frozen=True):
    """A category file as it was read. `data` is the truth, byte for byte; `items` is what of it was understood.

    Args:
        name: below the knowledge directory; problem: why it cannot be read or written, empty when all is well.
    """

    name: str
    data: bytes = b""
    items: tuple[Item, ...] = ()
    problem: str = ""


class NoteStatus(StrEnum):
    """Status of notes towards the file that they are about."""

    ATTACHED = "attached"
    MOVED = "moved"
    RENAMED = "renamed"
    ORPHANED = "orphaned"


class NoteFile(msgspec.Struct, frozen=True):
    """Notes that are bound to one file.

    Args:
        file_id: `{st_dev}:{st_ino}`, from the note file's name; heading: the path it was written for.
        sha256: hex digest of the file's bytes when that was noted, empty where it was not.
        path: the file that they belong to now, empty while orphaned; proposal: what to attach them to then.
    """

    file_id: str
    heading: str
    items: tuple[Item, ...] = ()
    sha256: str = ""
    status: NoteStatus = NoteStatus.ATTACHED
    path: str = ""
    proposal: str = ""
    problem: str = ""


class LedgerStatus(StrEnum):
    """Status of a conversation in the ledger."""

    HARVESTED = "harvested"
    HARVEST_FAILED = "harvest-failed"
    DELETED_UNHARVESTED = "deleted-unharvested"
    TOO_LARGE = "too-large"
    PRUNED = "pruned"


class HarvestLedgerEntry(msgspec.Struct, frozen=True):
    """One line of the audit log.

    Args:
        sha256: hex digest of the conversation's bytes, or `path:<path>` where pruned.
        at, undone_at: ISO 8601 UTC with microseconds; undone_at empty unless the harvest was taken back.
        deleted: whether the conversation was moved to the trash; size_bytes: of what was hashed.
        items: a count for each category, by its name; error: why it failed.
        domains: under which facts of the conversation are kept; kept: the person keeps it, marked as read.
    """

    sha256: str
    path: str
    status: LedgerStatus
    at: str
    deleted: bool = False
    size_bytes: int = 0
    items: Mapping[str, int] = msgspec.field(default_factory=dict)
    error: str = ""
    undone_at: str = ""
    domains: tuple[str, ...] = ()
    kept: bool = False

    @property
    def allows_reclaim(self) -> bool:
        """True if the conversation may go to the trash: its content is kept, or the person said so."""
        is_kept = self.status in {LedgerStatus.HARVESTED, LedgerStatus.DELETED_UNHARVESTED}
        return is_kept and not self.undone_at


class DigestSwitch(StrEnum):
    """Switch of layer 7, with the reason why it is off."""

    ON = "on"
    OFF_BY_DELETION = "off by deletion"
    OFF_WITHOUT_KNOWLEDGE = "off, nothing is known yet"
    OFF_BY_CONFIGURATION = "off by configuration"


class KnowledgeState(msgspec.Struct, frozen=True):
    """Knowledge, as a front end and the context stack may read it.

    Args:
        categories: files by name, in the order of the digest; notes: sorted by file id.
        digest: text of `digest.md` as it is injected, empty where there is none; digest_bytes: its size on disk.
        watched: absolute paths whose change calls for another reading; problems: sentences for the person.
        withdrawals: how often something was taken out; facts: the structured ones, as the last sync left them.
        drafts: absolute paths of drafts, by the mark of their playbook (`core.knowledge.merges.draft_mark`).
        archived: items that no request reads, until a person takes them back.
    """

    categories: tuple[CategoryFile, ...] = ()
    notes: tuple[NoteFile, ...] = ()
    digest: str = ""
    digest_bytes: int = 0
    switch: DigestSwitch = DigestSwitch.OFF_BY_DELETION
    watched: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    withdrawals: int = 0
    facts: FactsState = NO_FACTS
    drafts: Mapping[str, str] = msgspec.field(default_factory=dict)
    archived: tuple[Item, ...] = ()

    @property
    def is_on(self) -> bool:
        """True if layer 7 is injected."""
        return self.switch is DigestSwitch.ON

    @property
    def items(self) -> tuple[Item, ...]:
        """Every item, the category files in the order of the digest, then the notes. O(items)."""
        files = (*(file.items for file in self.categories), *(note.items for note in self.notes))
        return tuple(item for items in files for item in items)


# Merging as values: items of a category that a model would make one of, as a person left the proposal.


class MergeGroup(msgspec.Struct, frozen=True):
    """Items that one is to take the place of.

    Args:
        id: unique in the proposal; items: as they stood when they were read, at least two, in file order.
        text: the one, as it will stand, without dash and provenance; reason: one sentence, why these are the same.
        lost: figures and names of the items that the one does not have: it is not ticked beforehand.
    """

    id: str
    items: tuple[Item, ...]
    text: str
    reason: str = ""
    is_ticked: bool = True
    is_edited: bool = False
    lost: tuple[str, ...] = ()


class MergeProposal(msgspec.Struct, frozen=True):
    """Proposal of a shorter category file. Nothing of it is written yet.

    Args:
        groups: in file order; provider, model: who proposed it; read: items that it was shown; total: of the category.
        dropped: groups of the reply that named an item that is not there, or twice, or said nothing, or nothing of an item of
            theirs.
        calls, cost_usd: of asking for it; the cost is None where the price is unknown.
    """

    category: Category
    file: str
    groups: tuple[MergeGroup, ...] = ()
    provider: str = ""
    model: str = ""
    read: int = 0
    total: int = 0
    dropped: int = 0
    calls: int = 0
    cost_usd: float | None = None

    @property
    def ticked(self) -> tuple[MergeGroup, ...]:
        """Groups that the person wants."""
        return tuple(group for group in self.groups if group.is_ticked)


class MergeReport(msgspec.Struct, frozen=True):
    """Report of a merge. `items` became `merged` ones; `version`: path of the file as it was before."""

    apply_id: str
    category: Category
    file: str
    items: int
    merged: int
    version: str


class DraftKind(StrEnum):
    """Kind of thing that a playbook becomes."""

    PROMPT = "prompt"
    TOOL = "tool"


class DraftReport(msgspec.Struct, frozen=True):
    """Report of a playbook that became a draft. `path`: of the draft; `becomes`: the name that makes it count."""

    apply_id: str
    path: str
    becomes: str


# Proposals of other programs as values: items that wait for a person's yes before anything is known.


class Proposal(msgspec.Struct, frozen=True):
    """An item that a client of our server proposed. Nothing of it is known before a person takes it.

    Args:
        id: unique among those that wait; text, detail, name: as of `NewItem`, cleaned, bounded and without secrets.
        source: how the client names itself; at: when it was proposed, ISO 8601 UTC.
    """

    id: str
    category: Category
    text: str
    detail: str = ""
    name: str = ""
    source: str = ""
    at: str = ""


class ProposalsState(msgspec.Struct, frozen=True):
    """Proposals that wait, oldest first, as the disk tells.

    Args:
        near: known items that say nearly the same, by the proposal's id; problem: why they cannot be read, else empty.
    """

    waiting: tuple[Proposal, ...] = ()
    near: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    problem: str = ""


# Forgetting as values: what is to go, what went from which place, what holds it still, what cannot be
# reached.


class ForgetTarget(msgspec.Struct, frozen=True, omit_defaults=True):
    """Target of a forgetting: conversations, or one item of knowledge.

    Args:
        discussion_ids: the conversation first, then its branches that are to go as well.
        category, text, file: of an item as it stands, without provenance; empty for conversations.
    """

    discussion_ids: tuple[str, ...] = ()
    category: Category | None = None
    text: str = ""
    file: str = ""


class PlaceReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place of the receipt.

    Args:
        place: id of the place in the table; removed: copies that were taken out, of the place's own kind.
        checked: how it was seen afterwards that nothing is left; problem: why something may be, empty where nothing is.
    """

    place: str
    removed: int = 0
    checked: str = ""
    problem: str = ""


class ForgetReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Receipt of a forgetting. It contains no forgotten words, so that the program may keep it.

    Args:
        id: of the forgetting; at: ISO 8601 UTC, when it ended.
        discussion_ids: conversations that were forgotten; item: hash of the item that was, empty for conversations.
        items, facts: how many went from knowledge; kept_items: also said elsewhere, and stay without this origin.
        places: in the order of the table; holders: discussions that may still hold what was forgotten, by id, those in
            the trash too; recalls: discussions from whose logs it was taken, for it had been recalled there.
        blended: merged items that stay with words of it, for nobody knows any more what stood before them.
    """

    id: str
    at: str
    discussion_ids: tuple[str, ...] = ()
    item: str = ""
    items: int = 0
    facts: int = 0
    kept_items: int = 0
    places: tuple[PlaceReport, ...] = ()
    holders: tuple[str, ...] = ()
    recalls: tuple[str, ...] = ()
    blended: int = 0

    @property
    def problems(self) -> tuple[PlaceReport, ...]:
        """Places where something may be left."""
        return tuple(place for place in self.places if place.problem)


class ForgetPreview(msgspec.Struct, frozen=True):
    """A look at what a forgetting would take, before it is confirmed.

    Args:
        items, facts: how many go; kept_items: also said elsewhere; holders: discussions that keep words of it, by id.
        problem: why it cannot be told, empty where it can.
    """

    target: ForgetTarget
    items: int = 0
    facts: int = 0
    kept_items: int = 0
    holders: tuple[str, ...] = ()
    problem: str = ""


class ForgettingState(msgspec.Struct, frozen=True):
    """Forgetting as a front end sees it. One at a time.

    Args:
        target: of the one under way, None where none is; command_id: of who waits for it.
        receipt: of the last one, until it is dismissed; problem, remedy: why that did not come to its end.
        preview: of the one that was asked about last, None while it is looked at.
    """

    target: ForgetTarget | None = None
    command_id: str = ""
    receipt: ForgetReceipt | None = None
    problem: str = ""
    remedy: str = ""
    preview: ForgetPreview | None = None

    @property
    def is_running(self) -> bool:
        """True while something is being forgotten."""
        return self.target is not None
