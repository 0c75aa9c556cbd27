"""The whole state of the program: one frozen tree, replaced by one assignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.values.cache import CacheOrphan, CachePlan, DiscussionCacheState, Rewrite
from core.values.commands import Command
from core.values.curation import FileSnapshot, ItemFiles
from core.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.values.harvest import HarvestState
from core.values.knowledge import KnowledgeState
from core.values.provider import ModelProfile, ProviderStatus
from core.values.records import Record
from core.values.settings import Project, ServerSettings, Settings, SettingsFault
from core.values.stack import ContextReport
from core.values.usage import Usage


class Level(StrEnum):
    """How grave a notice is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should read. It stays until dismissed or replaced by one with the same id.

    Args:
        id: stable for one subject (`disk`, `call/<discussion>`), so that a repeat replaces it.
        text: what happened; detail: the remedy or the technical part, may be empty.
        action: a command that a button offers, with its label.
    """

    id: str
    level: Level
    text: str
    detail: str = ""
    at: datetime | None = None
    action: Command | None = None
    action_label: str = ""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """What a background worker does: `idle`, `busy`, `failed`; `fraction` 0 to 1 or None."""

    name: str
    status: str = "idle"
    detail: str = ""
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """Records that are not on disk yet because a write failed; tried again until they are.

    `retry_at` is when; `drops_reply_journal` as in `AppendRecords`.
    """

    discussion_id: str
    records: tuple[Record, ...]
    retry_at: datetime
    drops_reply_journal: bool = False


@dataclass(frozen=True, slots=True)
class TrashItem:
    """A discussion in the trash."""

    discussion_id: str
    name: str
    deleted_at: datetime
    why: str
    path: str


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Ids that match a query, best first, with a line of context each. `is_complete` False while searching."""

    query: str = ""
    ids: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class ProviderTotals:
    """What a provider was used for since the program started, and what caching was worth.

    Args:
        usage: of all calls, added up; saved_usd: what the same calls would have cost more without caching (writes
            that were never read count against it), None where a price is unknown.
    """

    provider: str
    usage: Usage = field(default_factory=Usage)
    saved_usd: float | None = None


@dataclass(frozen=True, slots=True)
class AppState:
    """Everything that a front end may read.

    Args:
        now: the controller's clock at the last message, UTC.
        summaries: all discussions by id; open: those whose log is loaded; calls: by discussion id.
        files: what the active presets stand for, by preset name; files_revision: grows when a watched file changed; reports: the assembled stack by discussion id.
        models: models to choose from by provider id; profiles: all that is known of models, for `find_profile`;
             window_toml: the window's own settings, opaque here.
        caches: what providers hold, by discussion id; plans: of the next request; miss_reasons: why the last
            request missed; totals: by provider id; day_start: the person's midnight; spent_today_usd: what all calls since then have
            cost, None where a price is unknown or nothing was added up yet.
        rewrites: warm discussions whose layer 7 changed since it was sent, by id; orphans: what providers store for
            discussions that are gone; adopted: providers that were asked what they store.
        prompts: prompt files by name, resolved; pending: writes that failed and are tried again, by token.
        found_servers: local servers that answer and are not configured; raise_count: how often a second start
            asked this window to come forward.
        versions: of the program and of what it stands on, by name, for the about page.
        is_loading: the list of discussions is still being read; is_closing: `Quit` was asked for.
    """

    home: str = ""
    is_home_read_only: bool = False
    now: datetime | None = None
    settings: Settings = field(default_factory=Settings)
    settings_faults: tuple[SettingsFault, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    settings_paths: tuple[str, ...] = ()
    project: Project = field(default_factory=Project)
    providers: Mapping[str, ProviderStatus] = field(default_factory=dict)
    models: Mapping[str, tuple[ModelProfile, ...]] = field(default_factory=dict)
    profiles: tuple[ModelProfile, ...] = ()
    summaries: Mapping[str, DiscussionSummary] = field(default_factory=dict)
    selected_id: str = ""
    open: Mapping[str, OpenDiscussion] = field(default_factory=dict)
    calls: Mapping[str, LiveCall] = field(default_factory=dict)
    files: Mapping[str, tuple[ItemFiles, ...]] = field(default_factory=dict)
    files_revision: int = 0
    inspected: FileSnapshot | None = None
    inspected_path: str = ""
    reports: Mapping[str, ContextReport] = field(default_factory=dict)
    caches: Mapping[str, DiscussionCacheState] = field(default_factory=dict)
    plans: Mapping[str, CachePlan] = field(default_factory=dict)
    miss_reasons: Mapping[str, str] = field(default_factory=dict)
    totals: Mapping[str, ProviderTotals] = field(default_factory=dict)
    rewrites: Mapping[str, Rewrite] = field(default_factory=dict)
    orphans: tuple[CacheOrphan, ...] = ()
    adopted: frozenset[str] = frozenset()
    spent_today_usd: float | None = None
    day_start: datetime | None = None
    search: SearchHits = field(default_factory=SearchHits)
    knowledge: KnowledgeState = field(default_factory=KnowledgeState)
    harvest: HarvestState = field(default_factory=HarvestState)
    trash: tuple[TrashItem, ...] = ()
    notices: tuple[Notice, ...] = ()
    workers: Mapping[str, WorkerStatus] = field(default_factory=dict)
    pending: Mapping[str, PendingWrite] = field(default_factory=dict)
    found_servers: tuple[ServerSettings, ...] = ()
    prompt_history: tuple[str, ...] = ()
    raise_count: int = 0
    window_toml: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    is_loading: bool = True
    is_closing: bool = False
