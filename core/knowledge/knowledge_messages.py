"""Messages of knowledge: commands, effects, and what was read as an event."""

from __future__ import annotations

from datetime import datetime

import msgspec

from core.kernel.values.facts import ItemHistory, MemoryUse, SeenItems
from core.kernel.values.knowledge import Category, Item, KnowledgeState
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.usage import OfferedCommand

WAYS_BACK = FACT_DELETED, ITEM_DELETED = "fact-deleted", "item-deleted"
"""Ids of the notices that offer the way back."""


class RegenerateDigest(msgspec.Struct, frozen=True):
    """Make the digest from the category files, which turns layer 7 on."""

    command_id: str = ""


class FollowDigest(msgspec.Struct, frozen=True):
    """Bring a digest that is on up to date with what was saved while no window was open."""

    command_id: str = ""


class DeleteDigest(msgspec.Struct, frozen=True):
    """Remove `digest.md`: layer 7 is off."""


class AddKnowledgeItem(msgspec.Struct, frozen=True):
    """Write an item into its category file. `name`: of a playbook. Not for notes, which a harvest places."""

    category: Category
    text: str
    name: str = ""
    command_id: str = ""


class EditKnowledgeItem(msgspec.Struct, frozen=True):
    """Give an item other words; its provenance stays. LF separates continued lines."""

    item: Item
    text: str
    command_id: str = ""


class DeleteKnowledgeItem(msgspec.Struct, frozen=True):
    """Take an item out of its file; the notice offers `RestoreItem`. A structured fact of it leaves prompts with it."""

    item: Item
    command_id: str = ""


class RestoreItem(OfferedCommand, frozen=True):
    """Put an item back that was deleted.

    Args:
        item: as it stood; lines: its lines in its file, with their ends; at: offset in bytes where they stood.
        sha256: of the file as the deletion left it: in any other the item goes to the end of its section.
    """

    item: Item
    lines: bytes
    at: int
    sha256: str
    command_id: str = ""


class ArchiveItem(msgspec.Struct, frozen=True):
    """Put an item into the archive, which no request reads. `TakeBackItem` puts it back."""

    item: Item
    command_id: str = ""


class TakeBackItem(msgspec.Struct, frozen=True):
    """Put an item of the archive back into its file."""

    item: Item
    command_id: str = ""


class SetTaskDone(msgspec.Struct, frozen=True):
    """Move a task between its sections."""

    item: Item
    is_done: bool
    command_id: str = ""


class AttachNotes(msgspec.Struct, frozen=True):
    """Bind orphaned notes to a file. `path`: absolute."""

    file_id: str
    path: str
    command_id: str = ""


class ExplainItem(msgspec.Struct, frozen=True):
    """Tell why the model knows an item: its evidence, its changes, and the requests that contained it."""

    item: Item
    command_id: str = ""


class ListSeenItems(msgspec.Struct, frozen=True):
    """Tell what entered requests. `discussion_id`: empty for all discussions."""

    discussion_id: str = ""
    command_id: str = ""


class EditFact(msgspec.Struct, frozen=True):
    """Give a structured fact other words, confidence or tags, in its YAML file. `was`: its words as they were shown."""

    fact_id: str
    was: str
    text: str
    confidence: float
    tags: tuple[str, ...] = ()
    command_id: str = ""


class DeleteFact(msgspec.Struct, frozen=True):
    """Take a structured fact out of its YAML file, and the item that says the same out of its category file.

    The notice offers `RestoreFact`. `was`: its words as they were shown.
    """

    fact_id: str
    was: str
    command_id: str = ""


class RestoreFact(OfferedCommand, frozen=True):
    """Put a structured fact back that was deleted.

    Args:
        file: below the knowledge directory; item: its text there, as it was written; at: where, in characters.
        items: those of category files that said the same, and went with it.
    """

    fact_id: str
    file: str
    item: str
    at: int
    items: tuple[RestoreItem, ...] = ()
    command_id: str = ""


class ExplainFact(msgspec.Struct, frozen=True):
    """Tell why the model knows a structured fact: its evidence, its changes, and the requests that contained it."""

    fact_id: str
    command_id: str = ""


class SyncFacts(msgspec.Struct, frozen=True):
    """Bring the YAML files of facts and their index in step now."""

    command_id: str = ""


# knowledge worker: one thread, the latest reading wins
class ReadKnowledge(msgspec.Struct, frozen=True):
    """Read category files, notes, digest and switch; report `KnowledgeRead`.

    `candidates`: absolute paths that files with notes may have moved to.
    """

    settings: KnowledgeSettings
    candidates: tuple[str, ...] = ()


KnowledgeChange = (
    RegenerateDigest
    | DeleteDigest
    | AddKnowledgeItem
    | EditKnowledgeItem
    | DeleteKnowledgeItem
    | RestoreItem
    | ArchiveItem
    | TakeBackItem
    | SetTaskDone
    | AttachNotes
    | EditFact
    | DeleteFact
    | RestoreFact
    | SyncFacts
)
"""Commands that change what is known: each is carried out as `ChangeKnowledge`, and knowledge is read after it."""


class ChangeKnowledge(msgspec.Struct, frozen=True):
    """A person's change to an item or to notes: carry it out, and read knowledge."""

    change: KnowledgeChange
    settings: KnowledgeSettings
    candidates: tuple[str, ...] = ()
    command_id: str = ""


class NoteInjection(msgspec.Struct, frozen=True):
    """Keep which items entered a request, where they are others than before in its discussion."""

    discussion_id: str
    message_id: str
    model: str
    text: str
    at: datetime


class NoteUse(msgspec.Struct, frozen=True):
    """Keep what a reply quotes of the items that went with its request.

    `asked`: the person's words; `recall_tokens`: of passages that went along.
    """

    discussion_id: str
    message_id: str
    model: str
    asked: str
    reply: str
    at: datetime
    recall_tokens: int = 0


class CountMemoryUse(msgspec.Struct, frozen=True):
    """Add up what memory cost and did."""

    command_id: str = ""


class EvidenceRead(msgspec.Struct, frozen=True):
    """Evidence that was asked for; only what was asked for is given.

    Args:
        shown: the history of an item or a fact; seen: injections into requests, newest first, of the discussion `seen_in`
            (empty: of all); use: what memory cost and did.
    """

    shown: ItemHistory | None = None
    seen: tuple[SeenItems, ...] | None = None
    seen_in: str = ""
    use: MemoryUse | None = None


class KnowledgeDeleted(msgspec.Struct, frozen=True):
    """An item or a structured fact was deleted. `text`: its words; `undo`: the command that restores it."""

    text: str
    undo: RestoreFact | RestoreItem


class KnowledgeRead(msgspec.Struct, frozen=True):
    """Knowledge was read."""

    knowledge: KnowledgeState


KnowledgeCommand = KnowledgeChange | FollowDigest | ExplainItem | ExplainFact | ListSeenItems | CountMemoryUse
"""Commands that a front end may give this room."""

KnowledgeEvent = KnowledgeRead | EvidenceRead | KnowledgeDeleted
"""Events of this room."""

KnowledgeEffect = (
    ReadKnowledge
    | FollowDigest
    | ChangeKnowledge
    | ExplainItem
    | ExplainFact
    | ListSeenItems
    | CountMemoryUse
    | NoteInjection
    | NoteUse
)
"""The knowledge worker's: one thread, the latest reading wins."""
