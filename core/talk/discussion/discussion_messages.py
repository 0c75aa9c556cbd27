"""Messages of discussions: commands, events, and effects for their workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from core.kernel.values.discussion import (
    DiscussionMeta,
    DiscussionSummary,
    Draft,
    OpenDiscussion,
    QueuedPrompt,
)
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.records import Record
from core.kernel.values.state import SearchHits, TrashItem
from core.kernel.values.updates import FILLED
from core.kernel.values.usage import OfferedCommand
from core.services.spending.spending_messages import CountUsage

# Messages of a discussion's queue between the step and the disk's thread.


class AddToQueue(msgspec.Struct, frozen=True):
    """Keep a prompt that waits for its turn, behind those that wait, and report `QueueWritten`."""

    discussion_id: str
    prompt: QueuedPrompt
    command_id: str = ""


class RemoveFromQueue(msgspec.Struct, frozen=True):
    """Write the draft that holds a queued prompt's words, then take it out of the queue and report `QueueWritten`."""

    discussion_id: str
    prompt_id: str
    draft: Draft


class QueueWritten(msgspec.Struct, frozen=True):
    """A queue stands on disk like this. `added`: the prompt that is new in it; `command_id` is the effect's."""

    discussion_id: str
    queue: tuple[QueuedPrompt, ...]
    added: QueuedPrompt | None = None
    command_id: str = ""


class PromptGone(msgspec.Struct, frozen=True):
    """Another program has sent or taken back a queued prompt: it was not written again.

    `call_id`: the call that waited for it; `queue`: as it is now.
    """

    discussion_id: str
    call_id: str
    queue: tuple[QueuedPrompt, ...]


class CreateDiscussion(msgspec.Struct, frozen=True):
    """Start a discussion and select it. Empty fields take the settings' defaults.

    Args:
        id: given by a front end that must tell its discussion from others made at the same time; else empty.
        keeps_empty: where the selected discussion is empty, it is the new one.
    """

    name: str = ""
    provider: str = ""
    model: str = ""
    preset: str = ""
    id: str = ""
    command_id: str = ""
    keeps_empty: bool = False


class SelectDiscussion(OfferedCommand, frozen=True):
    """Show a discussion; its log is loaded when it is not yet."""

    discussion_id: str
    command_id: str = ""


class ReadDiscussion(msgspec.Struct, frozen=True):
    """Read a discussion's log, when it is not yet, without showing it, and report `DiscussionLoaded`.

    `task_ids`: of discussions that it gave tasks to, whose money its limit pays, as the step fills it in: calls that a
    killed program left in them are booked before, and told by `SummariesChanged`.
    """

    discussion_id: str
    command_id: str = ""
    task_ids: Annotated[tuple[str, ...], FILLED] = ()


class ChangeDiscussion(msgspec.Struct, frozen=True):
    """Change what a person chooses of a discussion: all of it, or nothing where one of the values is refused.

    Args:
        changes: new values by the fields of `DiscussionMeta` that are marked as a `MetaChoice`. An empty name is ignored; an
            empty model is the provider's usual one; None is what the settings and the model have.
    """

    discussion_id: str
    changes: Mapping[str, str | int | float | bool | None]
    command_id: str = ""


class DeleteDiscussion(msgspec.Struct, frozen=True):
    """Move a discussion to the trash; `UndoDelete` brings it back."""

    discussion_id: str
    command_id: str = ""


class DiscardDiscussion(msgspec.Struct, frozen=True):
    """Take back a discussion that was made for a message which was then refused: no trash, for nothing was said in it."""

    discussion_id: str
    command_id: str = ""


class UndoDelete(OfferedCommand, frozen=True):
    """Bring a discussion back from the trash. Empty id: the one deleted last."""

    discussion_id: str = ""
    command_id: str = ""


class BranchDiscussion(msgspec.Struct, frozen=True):
    """Copy a discussion up to and including a message into a new one, and select it."""

    discussion_id: str
    message_id: str


class EditMessage(msgspec.Struct, frozen=True):
    """Replace a message's text. `detached`: attachments that are taken off it, by key or sha256; the others stay."""

    discussion_id: str
    message_id: str
    text: str
    detached: tuple[str, ...] = ()


class DeleteMessage(msgspec.Struct, frozen=True):
    """Take a message out of the discussion; it stays in the log."""

    discussion_id: str
    message_id: str


class RestoreMessage(msgspec.Struct, frozen=True):
    """Put a deleted message back."""

    discussion_id: str
    message_id: str


class ChooseVersion(msgspec.Struct, frozen=True):
    """Choose which version of a reply, or of a message with all that followed it, stands in the discussion and goes to the model.

    `step`: 0 for the version `message_id`; else so many from the one of them that was asked for last.
    """

    discussion_id: str
    message_id: str
    step: int = 0
    command_id: str = ""


class SetDraft(msgspec.Struct, frozen=True):
    """Set the text in the composer; written to disk soon after."""

    discussion_id: str
    text: str


class EditDraft(msgspec.Struct, frozen=True):
    """Open the draft in the person's own text editor. `text`: as the composer has it now."""

    discussion_id: str
    text: str
    command_id: str = ""


class DraftEdited(msgspec.Struct, frozen=True):
    """The person's editor has ended. `began`: the draft that it was opened with; `text`: what it saved."""

    discussion_id: str
    began: str
    text: str


class AttachFile(msgspec.Struct, frozen=True):
    """Attach a file by its path to the draft."""

    discussion_id: str
    path: str
    command_id: str = ""


class AttachText(msgspec.Struct, frozen=True):
    """Attach a text (a long paste) to the draft."""

    discussion_id: str
    text: str
    name: str = "pasted.txt"


class AttachPicture(msgspec.Struct, frozen=True):
    """Attach a picture that was pasted to the draft: the bytes of its file."""

    discussion_id: str
    data: bytes
    name: str = "pasted.png"


class Detach(msgspec.Struct, frozen=True):
    """Take an attachment out of the draft. `name` tells files of the same content apart; without it each of them goes."""

    discussion_id: str
    sha256: str
    name: str = ""


class ExportDiscussion(msgspec.Struct, frozen=True):
    """Write a discussion to a file that the person chose.

    Args:
        form: `markdown`, `json` or `page` (for a browser); replaces: the person's yes to a file that goes.
        kept: folders and files that no export goes to, as the step fills it in.
    """

    discussion_id: str
    form: str
    path: str
    replaces: bool = False
    command_id: str = ""
    kept: Annotated[tuple[str, ...], FILLED] = ()


class ExportUsage(msgspec.Struct, frozen=True):
    """Write the last report of usage to a file that the person chose, as CSV.

    Args:
        replaces: the person's yes to a file that goes; kept: folders and files that no export goes to, table: the report, both
            as the step fills them in.
    """

    path: str
    replaces: bool = False
    command_id: str = ""
    kept: Annotated[tuple[str, ...], FILLED] = ()
    table: Annotated[str, FILLED] = ""


class SearchDiscussions(msgspec.Struct, frozen=True):
    """Find text in names and messages of all discussions. Empty: show all."""

    query: str
    command_id: str = ""


# disk worker: one thread, first in first out
class CreateOnDisk(msgspec.Struct, frozen=True):
    """Make the folder, meta and log. Of a branch the log starts with the parent's records, up to the branch point."""

    meta: DiscussionMeta
    command_id: str = ""


class PromptToken(msgspec.Struct, frozen=True):
    """The records are what a call waits for before it is made. `is_draft`: they are what stood in the composer."""

    call_id: str
    is_draft: bool = True


class ReplyToken(msgspec.Struct, frozen=True):
    """The records hold a call's reply: once they stand in the log its journal goes."""

    call_id: str


class UpkeepToken(msgspec.Struct, frozen=True):
    """The record tells what a ping, a prewarm or a summary cost: once it stands in the log that reserves no more.

    `key`: under which programs share its reserve.
    """

    key: str


class RentToken(msgspec.Struct, frozen=True):
    """The record tells a rent, which is owed until it stands in the log."""

    record_id: str


class StartToken(msgspec.Struct, frozen=True):
    """Token of a record that says that a tool call begins; the call waits for this record."""

    call_id: str


class ResultToken(msgspec.Struct, frozen=True):
    """The records hold results of tool calls: the turn's next request waits for them. `call_id`: of the first."""

    call_id: str


WriteToken = PromptToken | ReplyToken | UpkeepToken | RentToken | StartToken | ResultToken
"""Token of the one who waits for a write."""


class AppendRecords(msgspec.Struct, frozen=True):
    """Append, fsync, then report `RecordsAppended` or `WriteFailed` with the token. None: nobody waits.

    `queued_id`: the queued prompt that the records hold, empty for none. It leaves the queue with the same hold of the
    lock; where it is not there any more nothing is appended, and `PromptGone` is reported.
    """

    discussion_id: str
    records: tuple[Record, ...]
    token: WriteToken | None = None
    queued_id: str = ""


class WriteMeta(msgspec.Struct, frozen=True):
    """Write `meta.toml`."""

    meta: DiscussionMeta
    command_id: str = ""


class LookAtDiscussions(msgspec.Struct, frozen=True):
    """Read again what another program changed in these discussions."""

    discussion_ids: tuple[str, ...]


class WriteDraft(msgspec.Struct, frozen=True):
    """Later drafts of the same discussion replace earlier ones that are still waiting."""

    discussion_id: str
    draft: Draft


class TrashOnDisk(msgspec.Struct, frozen=True):
    """Move a discussion to the trash and report `DiscussionTrashed`."""

    discussion_id: str
    name: str
    why: str
    command_id: str = ""


class StoreAttachment(msgspec.Struct, frozen=True):
    """Copy a file (`path`), a text or a picture (`data`) into the discussion's attachments, unless it has more than `max_bytes`.

    `shown`: places that the person said hold no keys: any other file of keys is refused.
    """

    discussion_id: str
    max_bytes: int
    path: str = ""
    text: str = ""
    data: bytes = b""
    name: str = ""
    command_id: str = ""
    shown: tuple[str, ...] = ()


# catalog worker: the list of discussions
class LoadSummaries(msgspec.Struct, frozen=True):
    """Report the list and the trash. `first`: a discussion whose row is told before all others, empty for none."""

    first: str = ""


class EmptyTrash(msgspec.Struct, frozen=True):
    """Empty the trash of what is past its time, and report what is left."""

    trash_days: int


class LookForChanges(msgspec.Struct, frozen=True):
    """Report `SummariesChanged` of discussions that another program changed."""


class IndexDiscussion(msgspec.Struct, frozen=True):
    """Bring the derived index up to date after an append."""

    discussion_id: str


class SummariesLoaded(msgspec.Struct, frozen=True):
    """Discussions were found. `is_complete`: these are all of them, and every other id is gone.

    Args:
        drafted: ids of those with a draft on disk; told with the complete list alone.
    """

    summaries: tuple[DiscussionSummary, ...]
    is_complete: bool
    drafted: frozenset[str] = frozenset()


class SummariesChanged(msgspec.Struct, frozen=True):
    """Rows of discussions that are new or changed since they were told last, by this program or another."""

    summaries: tuple[DiscussionSummary, ...]


class TrashListed(msgspec.Struct, frozen=True):
    """Trash was listed: these entries wait in it."""

    items: tuple[TrashItem, ...]


class DiscussionLoaded(msgspec.Struct, frozen=True):
    """A log was read."""

    discussion: OpenDiscussion
    summary: DiscussionSummary | None = None


class DiscussionCreated(msgspec.Struct, frozen=True):
    """A discussion stands on disk with its first records, already folded."""

    summary: DiscussionSummary
    discussion: OpenDiscussion


class DiscussionTrashed(msgspec.Struct, frozen=True):
    """A discussion is in the trash."""

    item: TrashItem


class DiscussionRestored(msgspec.Struct, frozen=True):
    """A discussion is back from the trash."""

    summary: DiscussionSummary


class MetaWritten(msgspec.Struct, frozen=True):
    """The meta of a discussion stands on disk."""

    discussion_id: str


class DiscussionChangedOutside(msgspec.Struct, frozen=True):
    """Another program wrote to a discussion: its row and its content as they are now."""

    summary: DiscussionSummary
    discussion: OpenDiscussion


class DiscussionVanished(msgspec.Struct, frozen=True):
    """Another program moved a discussion away."""

    discussion_id: str


class RecordsAppended(msgspec.Struct, frozen=True):
    """Records are on disk, fsynced. `token` is that of the effect."""

    discussion_id: str
    records: tuple[Record, ...]
    token: WriteToken | None = None


class WriteFailed(msgspec.Struct, frozen=True):
    """Something could not be written. `token` and `records` are the effect's."""

    discussion_id: str
    token: WriteToken | None
    text: str
    detail: str
    records: tuple[Record, ...] = ()


class AttachmentStored(msgspec.Struct, frozen=True):
    """A file is in the discussion's attachments."""

    discussion_id: str
    part: AttachmentPart


class SearchFound(msgspec.Struct, frozen=True):
    """A search has results."""

    hits: SearchHits


DiscussionCommand = (
    CreateDiscussion
    | SelectDiscussion
    | ReadDiscussion
    | ChangeDiscussion
    | DeleteDiscussion
    | DiscardDiscussion
    | UndoDelete
    | BranchDiscussion
    | EditMessage
    | DeleteMessage
    | RestoreMessage
    | ChooseVersion
    | SetDraft
    | EditDraft
    | AttachFile
    | AttachText
    | AttachPicture
    | Detach
    | ExportDiscussion
    | ExportUsage
    | SearchDiscussions
    | CountUsage
)
"""Commands that a front end may give this room."""

DiscussionEvent = (
    SummariesLoaded
    | SummariesChanged
    | TrashListed
    | DiscussionLoaded
    | DiscussionCreated
    | DiscussionTrashed
    | DiscussionRestored
    | MetaWritten
    | DiscussionChangedOutside
    | DiscussionVanished
    | RecordsAppended
    | WriteFailed
    | QueueWritten
    | PromptGone
    | AttachmentStored
    | DraftEdited
    | SearchFound
)
"""Events of this room."""

DiskEffect = (
    CreateOnDisk
    | ReadDiscussion
    | AppendRecords
    | AddToQueue
    | RemoveFromQueue
    | WriteMeta
    | LookAtDiscussions
    | WriteDraft
    | TrashOnDisk
    | DiscardDiscussion
    | UndoDelete
    | ExportDiscussion
    | ExportUsage
)
"""The disk worker's: one thread, first in first out."""

ListEffect = LoadSummaries | EmptyTrash | LookForChanges | IndexDiscussion | SearchDiscussions | CountUsage
"""The list worker's: the derived index, on one thread."""

DiscussionEffect = DiskEffect | ListEffect | StoreAttachment | EditDraft
