"""What has happened outside the controller: a closed union, past tense. Time and content arrive inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.values.cache import CacheOrphan, CachePlan, DiscussionCacheState, Rewrite
from core.values.curation import FileSnapshot, ItemFiles
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.harvest import HarvestLook, HarvestPreview, HarvestReport, HarvestUse, UndoReport
from core.values.knowledge import KnowledgeState
from core.values.messages import AttachmentPart, Part
from core.values.provider import Failure, ModelProfile, ProviderStatus, Stopped
from core.values.records import Record, RequestRecord, ViewRecord
from core.values.settings import Project, ServerSettings, Settings, SettingsFault
from core.values.stack import ContextReport
from core.values.state import ProviderTotals, SearchHits, TrashItem
from core.values.usage import Usage


@dataclass(frozen=True, slots=True)
class HomeOpened:
    """The home is ours. `repaired`: what was mended on the way, in sentences."""

    home: str
    is_read_only: bool = False
    window_toml: str = ""
    selected_id: str = ""
    repaired: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingsLoaded:
    """Settings, project, prompts and the providers' readiness were read.

    `prompts` maps a prompt file's name to its text; `settings_paths` are the files whose change calls for another
    reading, those included that do not exist yet; `versions` are for the about page;
    `profiles` is all that is known of models, entries for any model of a provider included.
    """

    settings: Settings
    faults: tuple[SettingsFault, ...]
    project: Project
    providers: Mapping[str, ProviderStatus]
    models: Mapping[str, tuple[ModelProfile, ...]]
    prompts: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    settings_paths: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    profiles: tuple[ModelProfile, ...] = ()


@dataclass(frozen=True, slots=True)
class SummariesLoaded:
    """Discussions were found. `is_complete`: these are all of them, and every other id is gone."""

    summaries: tuple[DiscussionSummary, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class TrashListed:
    """What waits in the trash."""

    items: tuple[TrashItem, ...]


@dataclass(frozen=True, slots=True)
class SpentCounted:
    """What all logged calls since the person's midnight have cost. `day_start`: that midnight, UTC."""

    day_start: datetime
    usd: float


@dataclass(frozen=True, slots=True)
class DiscussionLoaded:
    """A log was read."""

    discussion: OpenDiscussion
    summary: DiscussionSummary | None = None


@dataclass(frozen=True, slots=True)
class DiscussionCreated:
    """A discussion stands on disk with its first records, already folded."""

    summary: DiscussionSummary
    discussion: OpenDiscussion


@dataclass(frozen=True, slots=True)
class DiscussionTrashed:
    """A discussion is in the trash."""

    item: TrashItem


@dataclass(frozen=True, slots=True)
class DiscussionRestored:
    """A discussion is back from the trash."""

    summary: DiscussionSummary


@dataclass(frozen=True, slots=True)
class MetaWritten:
    """The meta of a discussion stands on disk."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class DiscussionsTouched:
    """Something in these discussions' folders changed on disk, by this program or another."""

    discussion_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiscussionChangedOutside:
    """Another program wrote to a discussion: its row and its content as they are now."""

    summary: DiscussionSummary
    discussion: OpenDiscussion


@dataclass(frozen=True, slots=True)
class DiscussionVanished:
    """Another program moved a discussion away."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class WritesCaughtUp:
    """What a worker could not write before stands on disk now."""

    subject: str


@dataclass(frozen=True, slots=True)
class RecordsAppended:
    """Records are on disk, fsynced. `token` is that of the effect."""

    discussion_id: str
    records: tuple[Record, ...]
    token: str


@dataclass(frozen=True, slots=True)
class WriteFailed:
    """Something could not be written. `token` and `records` are the effect's, empty where nobody waits."""

    discussion_id: str
    token: str
    text: str
    detail: str
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationFailed:
    """Something that the person asked for could not be done. `subject` names the notice."""

    subject: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class OperationDone:
    """Something that the person asked for was done and is worth a word."""

    subject: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AttachmentStored:
    """A file is in the discussion's attachments."""

    discussion_id: str
    part: AttachmentPart


@dataclass(frozen=True, slots=True)
class SearchFound:
    """A search has results."""

    hits: SearchHits


@dataclass(frozen=True, slots=True)
class RequestBuilt:
    """The stack of a call was assembled and is about to be sent.

    `warning` names the layer and byte of a prefix change that nobody asked for, empty otherwise; `views` are what
    the log needs to rebuild the view that the model sees.
    """

    call_id: str
    record: RequestRecord
    warning: str = ""
    views: tuple[ViewRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyArrived:
    """More text or reasoning of a reply; already in the reply journal."""

    call_id: str
    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class CallRetrying:
    """A call failed in passing and is tried again after `wait_s` seconds."""

    call_id: str
    attempt: int
    wait_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A reply is whole, or ended as asked. `parts` is all that was received, in order."""

    call_id: str
    stopped: Stopped
    parts: tuple[Part, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A call failed. `parts` is what was received before it did."""

    call_id: str
    failure: Failure
    parts: tuple[Part, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class FilesRead:
    """A preset's files as they are now."""

    preset: str
    items: tuple[ItemFiles, ...]


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """Files that somebody watches have changed, been made or gone. Absolute paths."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsFilesChanged:
    """A settings file, a prompt or an identity file has changed."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeFilesChanged:
    """A category file, notes, the digest or the ledger has changed, been made or gone."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeRead:
    """What is known now."""

    knowledge: KnowledgeState


@dataclass(frozen=True, slots=True)
class HarvestProgressed:
    """The run under way got on. `doing`: the conversation in work, empty between two."""

    done: int
    total: int
    doing: str = ""


@dataclass(frozen=True, slots=True)
class HarvestLooked:
    """A look at the disk is done."""

    look: HarvestLook


@dataclass(frozen=True, slots=True)
class HarvestProposed:
    """What one conversation gave, or why it could not be read: to be added to the preview."""

    part: HarvestPreview


@dataclass(frozen=True, slots=True)
class HarvestPaid:
    """A model answered a call of the run, with what that used."""

    use: HarvestUse


@dataclass(frozen=True, slots=True)
class HarvestEnded:
    """A preview ended. `problem`: why early, empty where it did not."""

    problem: str = ""


@dataclass(frozen=True, slots=True)
class HarvestApplied:
    """An apply ended, with what is on disk now. `look` None: that could not be looked at."""

    report: HarvestReport
    look: HarvestLook | None


@dataclass(frozen=True, slots=True)
class HarvestUndone:
    """An undo ended, with what is on disk now. `look` None: that could not be looked at."""

    report: UndoReport
    look: HarvestLook | None


@dataclass(frozen=True, slots=True)
class HarvestFailed:
    """A run could not begin or go on: nothing more of it happens. `text`: what failed; `detail`: the remedy."""

    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FileInspected:
    """A file was read for the structure view."""

    snapshot: FileSnapshot


@dataclass(frozen=True, slots=True)
class ContextAssembled:
    """The stack of a discussion as it would be sent now."""

    discussion_id: str
    report: ContextReport
    plan: CachePlan | None = None


@dataclass(frozen=True, slots=True)
class CacheReported:
    """What a provider holds for a discussion, after a call, an invalidation or a restart.

    `state` is None where nothing was ever cached, `totals` where nothing was called. `miss_reason`: why the last request read less than expected.
    """

    discussion_id: str
    state: DiscussionCacheState | None
    totals: ProviderTotals | None = None
    miss_reason: str = ""


@dataclass(frozen=True, slots=True)
class CacheRead:
    """A prefix was read without asking for a reply: to keep it (`is_ping`), or because its discussion was opened."""

    discussion_id: str
    usage: Usage
    is_ping: bool
    totals: ProviderTotals | None = None


@dataclass(frozen=True, slots=True)
class OrphansFound:
    """What a provider stores for discussions that are gone."""

    provider: str
    orphans: tuple[CacheOrphan, ...]


@dataclass(frozen=True, slots=True)
class ContentsDeleted:
    """Stored prefixes are deleted, or were gone already."""

    provider: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RewritesChecked:
    """Which of the discussions will be rewritten on their next turn, as layer 7 stands now."""

    discussion_ids: tuple[str, ...]
    rewrites: tuple[Rewrite, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """A provider's models: the data files' and the server's own."""

    provider: str
    models: tuple[ModelProfile, ...]


@dataclass(frozen=True, slots=True)
class ServersFound:
    """Local servers that answer on their usual ports and are not configured yet."""

    servers: tuple[ServerSettings, ...]


@dataclass(frozen=True, slots=True)
class PresetStored:
    """A preset was written to (or removed from) the project's file."""

    name: str


@dataclass(frozen=True, slots=True)
class RaiseRequested:
    """A second start asked this one to come forward."""


@dataclass(frozen=True, slots=True)
class WorkerReported:
    """A background worker's state changed."""

    name: str
    status: str
    detail: str = ""
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed. Sent about once a second while something waits for it."""


Event = (
    HomeOpened
    | SettingsLoaded
    | SummariesLoaded
    | TrashListed
    | SpentCounted
    | DiscussionLoaded
    | DiscussionCreated
    | DiscussionTrashed
    | DiscussionRestored
    | MetaWritten
    | DiscussionsTouched
    | DiscussionChangedOutside
    | DiscussionVanished
    | WritesCaughtUp
    | RecordsAppended
    | WriteFailed
    | OperationFailed
    | OperationDone
    | AttachmentStored
    | SearchFound
    | RequestBuilt
    | ReplyArrived
    | CallRetrying
    | CallEnded
    | CallFailed
    | FilesRead
    | FilesChanged
    | SettingsFilesChanged
    | KnowledgeFilesChanged
    | KnowledgeRead
    | HarvestProgressed
    | HarvestLooked
    | HarvestProposed
    | HarvestPaid
    | HarvestEnded
    | HarvestApplied
    | HarvestUndone
    | HarvestFailed
    | FileInspected
    | ContextAssembled
    | CacheReported
    | CacheRead
    | OrphansFound
    | ContentsDeleted
    | RewritesChecked
    | ModelsListed
    | ServersFound
    | PresetStored
    | RaiseRequested
    | WorkerReported
    | Tick
)
