"""What the outside must do for the controller: a closed union, imperative. Each says which worker does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.values.commands import (
    AddKnowledgeItem,
    AttachNotes,
    DeleteKnowledgeItem,
    EditKnowledgeItem,
    SetTaskDone,
)
from core.values.curation import FileItem, Preset
from core.values.discussion import DiscussionMeta, Draft
from core.values.harvest import Artifact, HarvestPreview, Review
from core.values.provider import Effort
from core.values.records import Record, RequestRecord
from core.values.settings import FileLimits, KnowledgeSettings
from core.values.stack import StackInputs


@dataclass(frozen=True, slots=True)
class StackSpec:
    """What a worker needs to assemble a stack: the inputs but for the files, which it reads fresh.

    Args:
        inputs: with `items` empty; preset: whose files fill them; root, allowed_roots, limits: for reading.
        previous: the last request of the discussion, for the difference.
        effort, max_output_tokens: for the request; caching_enabled: the person lets this discussion cache.
    """

    discussion_id: str
    inputs: StackInputs
    preset: Preset
    root: str
    allowed_roots: tuple[str, ...] = ()
    limits: FileLimits = field(default_factory=FileLimits)
    previous: RequestRecord | None = None
    effort: Effort = Effort.AUTO
    max_output_tokens: int | None = None
    is_project_trusted: bool = False
    knowledge: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    caching_enabled: bool = True


# disk worker: one thread, first in first out
@dataclass(frozen=True, slots=True)
class CreateOnDisk:
    """Make the folder, meta and an empty log."""

    meta: DiscussionMeta


@dataclass(frozen=True, slots=True)
class BranchOnDisk:
    """Make a discussion whose log starts with the parent's records up to a message."""

    parent_id: str
    message_id: str
    meta: DiscussionMeta


@dataclass(frozen=True, slots=True)
class LoadDiscussion:
    """Read a log and report `DiscussionLoaded`."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append, fsync, then report `RecordsAppended` or `WriteFailed` with the token."""

    discussion_id: str
    records: tuple[Record, ...]
    token: str = ""
    drops_reply_journal: bool = False


@dataclass(frozen=True, slots=True)
class WriteMeta:
    """Write `meta.toml`."""

    meta: DiscussionMeta


@dataclass(frozen=True, slots=True)
class LookAtDiscussions:
    """Read again what another program changed in these discussions."""

    discussion_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteDraft:
    """Later drafts of the same discussion replace earlier ones that are still waiting."""

    discussion_id: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class WriteReview:
    """Keep what the person made of previews: `review` of earlier ones, and of the one that is shown, if any.

    A later one replaces those that still wait. Nothing to keep: no file is left.
    """

    review: Review
    preview: HarvestPreview | None = None


@dataclass(frozen=True, slots=True)
class TrashOnDisk:
    """Move a discussion to the trash and report `DiscussionTrashed`."""

    discussion_id: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class RestoreOnDisk:
    """Bring a discussion back and report `DiscussionRestored`."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class StoreAttachment:
    """Copy a file (`path`) or a text into the discussion's attachments."""

    discussion_id: str
    path: str = ""
    text: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class WriteExport:
    """Write an export to a path the person chose."""

    discussion_id: str
    form: str
    path: str


@dataclass(frozen=True, slots=True)
class WriteWindow:
    """Persist `<home>/state.toml`."""

    window_toml: str
    selected_id: str


# set-up worker: settings, keys, models
@dataclass(frozen=True, slots=True)
class LoadSettings:
    """Read settings, project, prompts, keys; report `SettingsLoaded`. Empty root: the folder in use."""

    root: str = ""


@dataclass(frozen=True, slots=True)
class WriteSetting:
    """Write one key of user settings, then load settings anew."""

    key: str
    value: str | int | float | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class WriteServer:
    """Add, change or (with an empty address) remove a compatible server."""

    id: str
    label: str
    base_url: str


@dataclass(frozen=True, slots=True)
class WriteTrust:
    """Trust a folder or stop trusting it, then load settings anew."""

    root: str
    is_trusted: bool


@dataclass(frozen=True, slots=True)
class WriteKey:
    """Keep or (empty) remove a key, and say where it is kept."""

    provider: str
    key: str

    def __repr__(self) -> str:
        return f"WriteKey(provider={self.provider!r}, key=<hidden>)"


@dataclass(frozen=True, slots=True)
class WritePreset:
    """Write a preset to the project's file; `old_name` set means rename, `preset` None means delete."""

    root: str
    preset: Preset | None
    old_name: str = ""


@dataclass(frozen=True, slots=True)
class KeepPresets:
    """Keep unsaved work on presets in the home, so that it survives a crash."""

    root: str
    presets: tuple[Preset, ...]


@dataclass(frozen=True, slots=True)
class ListModels:
    """Ask a provider for its models and report `ModelsListed`."""

    provider: str


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Start what a first message to this provider would wait for (the embedded model's process)."""

    provider: str


@dataclass(frozen=True, slots=True)
class ProbeServers:
    """Look for local servers and report `ServersFound`."""


# catalog worker: the list of discussions
@dataclass(frozen=True, slots=True)
class LoadSummaries:
    """Report the list, the trash, and empty the trash of what is past its time."""

    trash_days: int


@dataclass(frozen=True, slots=True)
class IndexDiscussion:
    """Bring the derived index up to date after an append."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class SearchCatalog:
    """Search names and messages and report `SearchFound`."""

    query: str


# context worker: latest wins for each discussion
@dataclass(frozen=True, slots=True)
class AssembleContext:
    spec: StackSpec


@dataclass(frozen=True, slots=True)
class InspectOnDisk:
    """Read one file for the structure view."""

    root: str
    item: FileItem
    allowed_roots: tuple[str, ...]
    limits: FileLimits


@dataclass(frozen=True, slots=True)
class WatchFiles:
    """Watch these absolute paths and no others; settings files are told apart by `settings_paths`.

    `home` and `discussion_ids`: the list of discussions and the content of these are watched too.
    """

    paths: tuple[str, ...]
    settings_paths: tuple[str, ...]
    home: str = ""
    discussion_ids: tuple[str, ...] = ()
    knowledge_paths: tuple[str, ...] = ()


# knowledge worker: one thread, the latest reading wins
@dataclass(frozen=True, slots=True)
class ReadKnowledge:
    """Read category files, notes, digest and switch; report `KnowledgeRead`.

    `candidates`: absolute paths that files with notes may have moved to.
    """

    settings: KnowledgeSettings
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MakeDigest:
    """Make the digest, which turns layer 7 on, and read knowledge."""

    settings: KnowledgeSettings


@dataclass(frozen=True, slots=True)
class RemoveDigest:
    """Remove `digest.md`, which turns layer 7 off, and read knowledge."""

    settings: KnowledgeSettings


@dataclass(frozen=True, slots=True)
class ChangeKnowledge:
    """A person's change to an item or to notes: carry it out, and read knowledge."""

    change: AddKnowledgeItem | EditKnowledgeItem | DeleteKnowledgeItem | SetTaskDone | AttachNotes
    settings: KnowledgeSettings
    candidates: tuple[str, ...] = ()


# harvest worker: one thread; each reports `HarvestProgressed` on its way and ends with one event of its own
@dataclass(frozen=True, slots=True)
class HarvestRun:
    """What every run of the harvest is set to.

    Args:
        open_ids: discussions that are open or answering; provider, model: which reads.
        prompts_root: the trusted project's root, whose prompt file counts; empty for none.
        room_usd: what its calls may cost, by what is left of the day's limit now; None for no limit.
    """

    settings: KnowledgeSettings
    open_ids: frozenset[str]
    provider: str
    model: str
    prompts_root: str = ""
    room_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ScanConversations:
    """Look at every conversation, the ledger and the applies; report `HarvestLooked`."""

    run: HarvestRun


@dataclass(frozen=True, slots=True)
class DistilConversations:
    """Ask the model about these; report `HarvestProposed` for each, then `HarvestEnded`."""

    run: HarvestRun
    artifacts: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True)
class ApplyPreview:
    """Append, prove, reclaim; report `HarvestApplied`. `preview` None: reclaim without harvesting."""

    run: HarvestRun
    artifacts: tuple[Artifact, ...]
    preview: HarvestPreview | None


@dataclass(frozen=True, slots=True)
class UndoApply:
    """Take an apply back; report `HarvestUndone`."""

    run: HarvestRun
    apply_id: str = ""


@dataclass(frozen=True, slots=True)
class StopHarvest:
    """Cancel the run under way; what is being written is finished. `why`: empty where the person asked for it."""

    why: str = ""


# call worker: one thread a call
@dataclass(frozen=True, slots=True)
class CallProvider:
    """Assemble the stack, send it, report what comes back; journal the reply as it arrives."""

    call_id: str
    reply_id: str
    request_id: str
    user_message_id: str
    spec: StackSpec


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Stop a call; it reports `CallEnded`."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ForgetCache:
    """Believe nothing of a discussion to be cached any more, and delete what its provider lets us delete."""

    discussion_id: str
    provider: str


@dataclass(frozen=True, slots=True)
class ReleaseCache:
    """Delete what a provider stores for rent for a discussion: it is not needed any more."""

    discussion_id: str
    provider: str


@dataclass(frozen=True, slots=True)
class ReleaseIdle:
    """Delete stored prefixes whose rent is no longer expected to pay."""


@dataclass(frozen=True, slots=True)
class AdoptContents:
    """Find what a provider still stores for this program, and bills: what to hold on to, and what is orphaned.

    `efforts`: of every discussion that exists, by its id.
    """

    provider: str
    efforts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DeleteContents:
    """Delete stored prefixes by their names and report `ContentsDeleted`."""

    provider: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckRewrites:
    """Compare layer 7 of warm discussions with what was sent of it last; report `RewritesChecked`."""

    specs: tuple[StackSpec, ...]


@dataclass(frozen=True, slots=True)
class ReadCaches:
    """Report what is kept of these discussions' caches, from before a restart."""

    discussion_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prewarm:
    """Read the prefix of a discussion that was opened, so that its first answer starts at once."""

    spec: StackSpec


@dataclass(frozen=True, slots=True)
class PingCaches:
    """Read again the prefixes that are worth keeping and about to expire.

    Args:
        off: discussions whose caching is off, which are left alone.
    """

    off: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StopAll:
    """Finish what is being written, cancel calls, end the workers."""


Effect = (
    CreateOnDisk
    | BranchOnDisk
    | LoadDiscussion
    | AppendRecords
    | WriteMeta
    | LookAtDiscussions
    | WriteDraft
    | WriteReview
    | TrashOnDisk
    | RestoreOnDisk
    | StoreAttachment
    | WriteExport
    | WriteWindow
    | LoadSettings
    | WriteSetting
    | WriteServer
    | WriteTrust
    | WriteKey
    | WritePreset
    | KeepPresets
    | ListModels
    | ProbeServers
    | WarmUp
    | LoadSummaries
    | IndexDiscussion
    | SearchCatalog
    | AssembleContext
    | InspectOnDisk
    | WatchFiles
    | ReadKnowledge
    | RemoveDigest
    | ChangeKnowledge
    | ScanConversations
    | DistilConversations
    | ApplyPreview
    | UndoApply
    | StopHarvest
    | MakeDigest
    | CallProvider
    | CancelCall
    | ForgetCache
    | ReleaseCache
    | ReleaseIdle
    | AdoptContents
    | DeleteContents
    | CheckRewrites
    | ReadCaches
    | Prewarm
    | PingCaches
    | StopAll
)
