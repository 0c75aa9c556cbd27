"""The whole state of the program: one frozen tree, replaced by one assignment; outcomes of commands that are waited for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.language import as_sentences
from core.kernel.values.agent import AgentState, AttentionState
from core.kernel.values.cache import CacheOrphan, CachePlan, DiscussionCacheState, ExtensionEvidence, Rewrite
from core.kernel.values.curation import FilesLookedUp, FileSnapshot, ItemFiles
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.kernel.values.facts import EvidenceState
from core.kernel.values.harvest import HarvestState
from core.kernel.values.imports import FollowState, ImportState
from core.kernel.values.knowledge import ForgettingState, KnowledgeState, ProposalsState
from core.kernel.values.mcp import McpApproved, McpState
from core.kernel.values.provider import ModelPrice, ModelProfile, PriceSource, ProviderStatus
from core.kernel.values.records import Record
from core.kernel.values.retrieval import RetrievalState, SentRecall
from core.kernel.values.settings import (
    GuidePage,
    Project,
    PromptTemplate,
    ServerSettings,
    Settings,
    SettingsFault,
)
from core.kernel.values.signals import SignalState
from core.kernel.values.stack import ContextReport
from core.kernel.values.usage import (
    MonthSpent,
    OfferedCommand,
    Payment,
    Reservation,
    SpendRefusal,
    Upkeep,
    Usage,
    UsageReport,
)

# Outcomes of commands that a front end waits for.

OUTCOMES_KEPT = 64


class Cause(StrEnum):
    """Cause why a command was not carried out: it was tried, it may not be now, nothing is there to do, or it needs a yes."""

    FAILED = "failed"
    NOT_NOW = "not_now"
    NOTHING = "nothing_to_do"
    NEEDS_YES = "needs_yes"


class CommandOutcome(msgspec.Struct, frozen=True):
    """Outcome of the command of this id.

    Args:
        made_id: of what it made (the message that is on disk now), empty where it made nothing that has one.
        problem: why it was not carried out, in a sentence, empty where it was; remedy: what to do, may be empty.
        cause: of the problem.
        refusal: the spend limits that stand against it, None where none do.
        is_queued: the message that it made waits in the queue.
    """

    command_id: str
    made_id: str = ""
    problem: str = ""
    remedy: str = ""
    cause: Cause = Cause.FAILED
    refusal: SpendRefusal | None = None
    is_queued: bool = False

    @property
    def is_done(self) -> bool:
        """True if it was carried out."""
        return not self.problem

    @property
    def said(self) -> str:
        """Problem and remedy, each a sentence with its full stop; empty where it was carried out."""
        return as_sentences(self.problem, self.remedy, is_closed=True)


# The whole state of the program: one frozen tree, replaced by one assignment.


class Level(StrEnum):
    """Gravity of a notice."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Notice(msgspec.Struct, frozen=True):
    """Something the person should read. It stays until dismissed or replaced by one with the same id.

    Args:
        id: stable for one subject (`disk`, `call/<discussion>`), so that a repeat replaces it.
        text: what happened; detail: the remedy or the technical part, may be empty.
        action: a command that a button offers, of whatever room, None for none; with its label.
        discussion_id: the discussion that it is about and is shown with; empty for none.
        is_standing: reported whenever it is met, and not in answer to what the person did: once dismissed, it stays
            away until its cause is gone or reads otherwise.
    """

    id: str
    level: Level
    text: str
    detail: str = ""
    at: datetime | None = None
    action: OfferedCommand | None = None
    action_label: str = ""
    discussion_id: str = ""
    is_standing: bool = False


class WorkerStatus(msgspec.Struct, frozen=True):
    """Status of a background worker: `idle`, `busy`, `failed`; `fraction` 0 to 1 or None."""

    name: str
    status: str = "idle"
    detail: str = ""
    fraction: float | None = None


class PendingWrite(msgspec.Struct, frozen=True):
    """Records that are not on disk yet because a write failed; tried again until they are.

    `retry_at` is when; `problem` and `remedy` say what is in the way; `is_result`: they are results of tools, no reply.
    """

    discussion_id: str
    records: tuple[Record, ...]
    retry_at: datetime
    problem: str = ""
    remedy: str = ""
    is_result: bool = False


class TrashItem(msgspec.Struct, frozen=True):
    """A discussion in the trash."""

    discussion_id: str
    name: str
    deleted_at: datetime
    why: str
    path: str


class SearchHits(msgspec.Struct, frozen=True):
    """Ids that match a query, best first, with a line of context each. `is_complete` False while searching.

    Args:
        messages: the message that was found in each; a discussion whose name was found is not among them.
        instead: nearest words that were looked for, where nothing holds those of the query; empty otherwise.
        of_newest: how many messages, the newest, were looked at where more hold the query; 0 where all were.
    """

    query: str = ""
    ids: tuple[str, ...] = ()
    lines: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_complete: bool = True
    messages: Mapping[str, str] = msgspec.field(default_factory=dict)
    instead: str = ""
    of_newest: int = 0


class ProviderTotals(msgspec.Struct, frozen=True):
    """Totals of a provider since the program started, and what caching was worth.

    Args:
        usage: of all calls, added up; saved_usd: what the same calls would have cost more without caching (writes
            that were never read count against it), None where a price is unknown.
        upkeep: the pings and prewarms among them; booked: payments so far, which tells of two totals the later.
    """

    provider: str
    usage: Usage = msgspec.field(default_factory=Usage)
    saved_usd: float | None = None
    upkeep: Upkeep = msgspec.field(default_factory=Upkeep)
    booked: int = 0


class ProgramState(msgspec.Struct, frozen=True):
    """The program itself: its home, its window, its life and what it tells the person.

    Args:
        home: the data folder; is_home_read_only: nothing can be written there; holder: another program that owns it
            now, in words, empty for none: what happens once a home is that one's to do.
        window_toml: the window's own settings, opaque here.
        versions: of the program and of what it stands on, by name, for the about page.
        workers: what runs in the background, by name.
        raise_count: how often a second start asked this window to come forward.
        is_loading: the list of discussions is still being read; is_closing: `Quit` was asked for.
        notices: what the person should read, oldest first; dismissed: standing ones that were read, by id, each with
            its text; outcomes: of the last commands that carried an id; guide: the page that was read last.
    """

    home: str = ""
    is_home_read_only: bool = False
    holder: str = ""
    window_toml: str = ""
    versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    workers: Mapping[str, WorkerStatus] = msgspec.field(default_factory=dict)
    raise_count: int = 0
    is_loading: bool = True
    is_closing: bool = False
    notices: tuple[Notice, ...] = ()
    dismissed: Mapping[str, str] = msgspec.field(default_factory=dict)
    outcomes: tuple[CommandOutcome, ...] = ()
    guide: GuidePage | None = None


class ConfigState(msgspec.Struct, frozen=True):
    """Configuration, and what providers offer.

    Args:
        settings: the person's and the project's, merged; settings_faults: what could not be read in them;
            settings_paths: the files they came from.
        prompts: prompt files by name, resolved; prompt_sources: the file that stands in for a shipped one, or empty.
        templates: texts to begin a message with, by name.
        project: the opened folder and its presets.
        providers: status by provider id; models: to choose from, by provider id; profiles: all that is known of
            models, for `find_profile`; prices: by provider and model, as far as they were looked up; price_source: of their data; found_servers: local servers that answer and are not configured.
        approved_servers: what a person approved of MCP servers, by name.
        asked, settled: changes of all this that were asked for, and how many of them hold, counted.
        held_commands: those that such a change decides about, as they were asked for: they wait until it holds.
    """

    settings: Settings = msgspec.field(default_factory=Settings)
    settings_faults: tuple[SettingsFault, ...] = ()
    settings_paths: tuple[str, ...] = ()
    prompts: Mapping[str, str] = msgspec.field(default_factory=dict)
    prompt_sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    templates: Mapping[str, PromptTemplate] = msgspec.field(default_factory=dict)
    project: Project = msgspec.field(default_factory=Project)
    providers: Mapping[str, ProviderStatus] = msgspec.field(default_factory=dict)
    models: Mapping[str, tuple[ModelProfile, ...]] = msgspec.field(default_factory=dict)
    profiles: tuple[ModelProfile, ...] = ()
    prices: Mapping[tuple[str, str], ModelPrice | None] = msgspec.field(default_factory=dict)
    price_source: PriceSource = PriceSource()
    found_servers: tuple[ServerSettings, ...] = ()
    approved_servers: Mapping[str, McpApproved] = msgspec.field(default_factory=dict)
    asked: int = 0
    settled: int = 0
    held_commands: tuple[object, ...] = ()

    @property
    def is_settled(self) -> bool:
        """True if all changes that were asked for hold."""
        return self.settled >= self.asked


class DiscussionsState(msgspec.Struct, frozen=True):
    """Discussions of this home, and the person's place among them.

    Args:
        summaries: all discussions by id; selected_id: the one shown, empty for none; open: those whose log is
            loaded, by id.
        search: hits of the last query; trash: what can be taken back.
        pending: writes that failed and are tried again, by token.
        prompt_history: the person's last prompts, oldest first; drafted: discussions with something written and not sent.
        used: when each was shown, read or changed last, by id, while the program runs.
    """

    summaries: Mapping[str, DiscussionSummary] = msgspec.field(default_factory=dict)
    selected_id: str = ""
    open: Mapping[str, OpenDiscussion] = msgspec.field(default_factory=dict)
    search: SearchHits = msgspec.field(default_factory=SearchHits)
    trash: tuple[TrashItem, ...] = ()
    pending: Mapping[str, PendingWrite] = msgspec.field(default_factory=dict)
    prompt_history: tuple[str, ...] = ()
    drafted: frozenset[str] = frozenset()
    used: Mapping[str, datetime] = msgspec.field(default_factory=dict)


class TurnsState(msgspec.Struct, frozen=True):
    """Calls of providers under way.

    Args:
        calls: by discussion id.
    """

    calls: Mapping[str, LiveCall] = msgspec.field(default_factory=dict)


class ContextState(msgspec.Struct, frozen=True):
    """The files of presets, and the contexts built from them.

    Args:
        files: what the active presets stand for, by preset name; files_revision: grows when a watched file changed.
        inspected: the file that the person looks into, None until it was read.
        reports: the assembled stack by discussion id.
        sent_recall: passages that went out with messages of late, the newest first, while the program runs.
        kept_out_of: sources that the person kept out of what is recalled for a message, by its id, likewise.
        mentioned: the last lookup of a mention in the composer; globbed: of a path or glob that is typed.
    """

    files: Mapping[str, tuple[ItemFiles, ...]] = msgspec.field(default_factory=dict)
    files_revision: int = 0
    inspected: FileSnapshot | None = None
    reports: Mapping[str, ContextReport] = msgspec.field(default_factory=dict)
    sent_recall: tuple[SentRecall, ...] = ()
    kept_out_of: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    mentioned: FilesLookedUp | None = None
    globbed: FilesLookedUp | None = None


class CachingState(msgspec.Struct, frozen=True):
    """Caches of the discussions at providers, and what they were worth.

    Args:
        caches: what providers hold, by discussion id; plans: of the next request; miss_reasons: why the last
            request missed, both by discussion id; totals: by provider id.
        rewrites: warm discussions whose layers 6 or 7 changed since they were sent, by id.
        withdrawals, switch_offs: what taking something out of knowledge, or all of it away, would rewrite, by
            discussion.
        orphans: what providers store for discussions that are gone; adopted: providers that were asked what they
            store.
        lost_extensions: models with which long marks behind short-lived hits are not counted on, with the evidence.
        orders: of the word that each of `caches` is, by discussion: of two the higher is the later.
        refusals: what models refused, of this run and earlier ones (`core.services.providers.switches`).
    """

    caches: Mapping[str, DiscussionCacheState] = msgspec.field(default_factory=dict)
    plans: Mapping[str, CachePlan] = msgspec.field(default_factory=dict)
    miss_reasons: Mapping[str, str] = msgspec.field(default_factory=dict)
    refusals: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    totals: Mapping[str, ProviderTotals] = msgspec.field(default_factory=dict)
    rewrites: Mapping[str, Rewrite] = msgspec.field(default_factory=dict)
    withdrawals: Mapping[str, Rewrite] = msgspec.field(default_factory=dict)
    switch_offs: Mapping[str, Rewrite] = msgspec.field(default_factory=dict)
    orphans: tuple[CacheOrphan, ...] = ()
    lost_extensions: tuple[ExtensionEvidence, ...] = ()
    adopted: frozenset[str] = frozenset()
    orders: Mapping[str, int] = msgspec.field(default_factory=dict)


class SpendingState(msgspec.Struct, frozen=True):
    """Money of the day.

    Args:
        spent_today_usd: what all calls since `day_start` have cost, None where nothing was added up yet; unknown
            prices add nothing; day_start: the person's midnight; has_estimate: of some of it the provider did not say.
        own: what this program has paid since then, by the record's id; counted: ids that the last count on disk held.
        reserved: calls under way that no message asked for: pings, a prewarm, the harvest's.
        unsettled: payments for calls that are over and that other programs are told of with the next call, by the key
            under which it reserved, each by its record's id.
        usage: the last report of what calls have used; answers: to questions that somebody waits for, the newest first.
        month: what this month has cost, where a budget asks for it.
    """

    spent_today_usd: float | None = None
    day_start: datetime | None = None
    has_estimate: bool = False
    own: Mapping[str, Payment] = msgspec.field(default_factory=dict)
    counted: frozenset[str] = frozenset()
    reserved: Mapping[str, Reservation] = msgspec.field(default_factory=dict)
    unsettled: Mapping[str, Mapping[str, Payment]] = msgspec.field(default_factory=dict)
    usage: UsageReport | None = None
    answers: tuple[tuple[str, UsageReport], ...] = ()
    month: MonthSpent | None = None

    def answer_to(self, command_id: str) -> UsageReport | None:
        """Report that a front end waited for."""
        return next((report for name, report in self.answers if name == command_id), None)


class Unshown(msgspec.Struct, frozen=True):
    """Work that only shows what a turn did, put off while the turn goes on to its next request or waits for its answer.

    Args:
        before: the state that it was last done for; since: when it was put off first.
        indexed: discussions that the list's index is behind of.
    """

    before: AppState
    since: datetime
    indexed: frozenset[str] = frozenset()


class AppState(msgspec.Struct, frozen=True):
    """Everything that a front end may read: one group a room, changed by `replace` of the group that changes.

    Args:
        now: the controller's clock at the last message, UTC; unshown: None where nothing is put off.
        followed_at: the same at the last message that other rooms could follow; changed_late: groups that a follow-up
            changed after rooms that watch them had their turn.
    """

    now: datetime | None = None
    program: ProgramState = msgspec.field(default_factory=ProgramState)
    config: ConfigState = msgspec.field(default_factory=ConfigState)
    discussions: DiscussionsState = msgspec.field(default_factory=DiscussionsState)
    turns: TurnsState = msgspec.field(default_factory=TurnsState)
    agent: AgentState = msgspec.field(default_factory=AgentState)
    context: ContextState = msgspec.field(default_factory=ContextState)
    caching: CachingState = msgspec.field(default_factory=CachingState)
    spending: SpendingState = msgspec.field(default_factory=SpendingState)
    knowledge: KnowledgeState = msgspec.field(default_factory=KnowledgeState)
    harvest: HarvestState = msgspec.field(default_factory=HarvestState)
    evidence: EvidenceState = msgspec.field(default_factory=EvidenceState)
    imports: ImportState = msgspec.field(default_factory=ImportState)
    following: FollowState = msgspec.field(default_factory=FollowState)
    retrieval: RetrievalState = msgspec.field(default_factory=RetrievalState)
    forgetting: ForgettingState = msgspec.field(default_factory=ForgettingState)
    mcp: McpState = msgspec.field(default_factory=McpState)
    proposals: ProposalsState = msgspec.field(default_factory=ProposalsState)
    signals: SignalState = msgspec.field(default_factory=SignalState)
    attention: AttentionState = msgspec.field(default_factory=AttentionState)
    unshown: Unshown | None = None
    followed_at: datetime | None = None
    changed_late: frozenset[str] = frozenset()
