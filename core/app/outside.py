"""The real outside: the home, its lock, prices as of now, the workers that carry out effects, an export's knowledge as proposals."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, assert_never

import msgspec

from core.agent import agent_worker, compaction_worker
from core.agent.agent_worker import ToolServices, ToolWorker
from core.agent.compaction_worker import CompactionHandler
from core.app import crash_report, services, watcher
from core.app import home as store_home
from core.app.app_messages import Effect, Event, HomeOpened, Quit
from core.app.controller import wall_clock
from core.app.crunch import Counting, LocalEmbedder, read_page
from core.app.forgetting import forgetting_run
from core.app.forgetting.forgetting_run import ForgetHandler
from core.app.forgetting.leftovers import ForgetServices
from core.app.home import Ownership
from core.app.options import OutsideOptions
from core.app.services import (
    ContextWorker,
    DiskHandler,
    recovered,
    split_state,
)
from core.app.watcher import Watcher
from core.imports import import_run
from core.imports.import_run import ImportHandler, Offer
from core.imports.imports_messages import ImportEnded, LookForSessions, RunImport
from core.kernel import paths
from core.kernel.machine import give_back_freed
from core.kernel.queue import QueueWorker, Work, at_once
from core.kernel.values.cache import CachePrices
from core.kernel.values.imports import Offered
from core.kernel.values.knowledge import Category, Proposal
from core.kernel.values.mcp import WrappedCommand
from core.kernel.values.provider import ModelPrice, ModelProfile, PriceSource, ProviderKind
from core.kernel.values.retrieval import SearchPlaces
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.usage import Usage, UsageKind
from core.knowledge import knowledge_worker as knowledge
from core.knowledge.harvest import harvest_worker
from core.knowledge.harvest.harvest_messages import RunEffect
from core.knowledge.harvest.harvest_worker import HarvestHandler, HarvestServices
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.knowledge_worker import Layer7
from core.knowledge.mcp_server import proposal_worker as mcp_server
from core.knowledge.mcp_server.proposal_worker import KnownAlreadyError, propose
from core.knowledge.memory_log import read_logs
from core.knowledge.merges import Known, known_items
from core.mcp import mcp_worker
from core.mcp.mcp_client import McpClient
from core.mcp.mcp_worker import McpHandler, ServerServices, mcp_secrets
from core.retrieval import retrieval_worker
from core.retrieval.remote_embedder import remote_embedders
from core.retrieval.retrieval_messages import IndexEnded, UpdateIndex
from core.retrieval.retrieval_worker import (
    IndexHandler,
    Recaller,
    Retrieving,
    SearchHandler,
    discussion_names,
    local_answer,
)
from core.services.providers.clients import Clients
from core.services.providers.http import Call, asking
from core.services.providers.keys import KeyStore
from core.services.settings import settings_worker
from core.services.settings.settings_messages import RefreshModels, SettingsEffect, UpdatePrices, WarmUp
from core.services.settings.settings_worker import SetupHandler
from core.services.spending import shared_reserves
from core.services.spending.shared_reserves import SharedReserves
from core.signals import signals_worker
from core.signals.signals_worker import SignalHandler
from core.talk.caching import caching_worker
from core.talk.caching.cache_file import HomeCacheStore
from core.talk.caching.caching_messages import (
    AdoptContents,
    CacheEffect,
    CacheRead,
    PingCaches,
    Prewarm,
    TendContents,
)
from core.talk.caching.caching_worker import CacheHandler, RewriteCheck
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.offers import CacheSetup, cache_prices
from core.talk.context import project_names
from core.talk.context.assembly import Assembler
from core.talk.context.assembly_desk import HomeScaleStore
from core.talk.context.context_worker import ContextHandler, LossesSaid
from core.talk.discussion import attachments, discussion_worker, draft_editor
from core.talk.discussion.attachments import AttachmentHandler, attachment_reader, request_reader
from core.talk.discussion.discussion_messages import EditDraft
from core.talk.discussion.discussion_store import CallsLocks
from core.talk.discussion.discussion_worker import DiscussionHandler
from core.talk.discussion.draft_editor import DraftEditor
from core.talk.discussion.log import is_booked
from core.talk.discussion.reply_journal import Journals
from core.talk.turn import turn_worker
from core.talk.turn.turn_messages import CallProvider, CancelCall, SendRequest, TurnEffect
from core.talk.turn.turn_worker import CallServices, CallWorker

# Instructions, documents and memories of an export as proposals: each waits for a person's yes in
# Knowledge.


def offers_to(home: Path, clock: Callable[[], datetime]) -> Offer:
    """Give what has one import's pieces wait as proposals of this home: it reads once what is known, at the first piece."""

    @cache
    def known() -> Known:
        return known_items(KnowledgeReader(home).read(KnowledgeSettings()).items, read_logs(home))

    def offer(offered: Offered) -> bool:
        now = clock()
        proposal = Proposal(
            id=f"import-{now:%Y%m%d%H%M%S%f}",
            category=Category.FACTS,
            text=offered.text,
            source=f"An import ({offered.source})",
            at=now.isoformat(timespec="seconds"),
        )
        try:
            return propose(home, proposal, known())[1]
        except KnownAlreadyError:
            return False

    return offer


# The real outside: the home, its lock, prices as of now, and the workers that carry out effects.

# Prices as the outside asks for them, now; what knows them is loaded when it is first asked.


class HomePrices:
    """Prices by the clock of a program."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def cost(self, provider: str, model: str, usage: Usage) -> float | None:
        """As of `core.services.spending.pricing`."""
        from core.services.spending.pricing import cost

        return cost(provider, model, usage, self._clock())

    def model_price(self, provider: str, model: str) -> ModelPrice | None:
        """As of `core.services.spending.pricing`."""
        from core.services.spending.pricing import model_price

        return model_price(provider, model, self._clock())

    def use(self, models: Sequence[ModelProfile], kinds: Mapping[str, str]) -> PriceSource:
        """As of `core.services.spending.price_files`."""
        from core.services.spending.price_files import use_known_prices

        return use_known_prices(models, kinds)

    def take(self) -> str:
        """As of `core.services.spending.price_files`."""
        from core.services.spending.price_files import take_newer_prices

        return take_newer_prices(self._clock())


# The real outside: the home, its lock, and the workers that carry out effects.

STOP_CALLS_S, STOP_ASKING_S = 5.0, 0.5
STOP_WORKERS_S = 20.0
PRICES = "*"
"""In the place of a provider's id: the server that is asked for prices."""

ENDS = at_once("end", Quit)
WORK: tuple[Work, ...] = (
    services.DISK_WORK,
    services.CONTEXT_WORK,
    project_names.WORK,
    discussion_worker.LIST_WORK,
    attachments.WORK,
    draft_editor.WORK,
    settings_worker.WORK,
    settings_worker.ASK_WORK,
    knowledge.WORK,
    mcp_server.WORK,
    harvest_worker.WORK,
    harvest_worker.STOP_WORK,
    harvest_worker.LET_WORK,
    import_run.WORK,
    import_run.STOP_WORK,
    retrieval_worker.SEARCH_WORK,
    retrieval_worker.LOOK_WORK,
    retrieval_worker.RUN_WORK,
    retrieval_worker.STOP_WORK,
    compaction_worker.WORK,
    compaction_worker.STOP_WORK,
    forgetting_run.WORK,
    signals_worker.WORK,
    shared_reserves.WORK,
    caching_worker.WORK,
    turn_worker.WORK,
    agent_worker.WORK,
    mcp_worker.WORK,
    watcher.WORK,
    ENDS,
)
"""Each room's rows. Together they name every effect once."""

_OWNERS_CACHING = Prewarm | AdoptContents | TendContents | PingCaches


class LocalOutside:
    """Carries out effects on this machine. Made once for each controller."""

    def __init__(self, options: OutsideOptions, *, clock: Callable[[], datetime] = wall_clock) -> None:
        self._options = options
        self._clock = clock
        self.home = options.home or paths.home_dir()
        self._ownership = Ownership(self.home, is_wanted=options.owns_home)
        self._is_stopped = threading.Event()
        self._was_read = threading.Event()
        self._workers: list[QueueWorker[Any]] = []
        self._askers: dict[str, tuple[Call, QueueWorker[RefreshModels | UpdatePrices]]] = {}
        self._prices = HomePrices(clock)
        self._counting = Counting(kept=paths.counts_file())
        self._clients = Clients(paths.cache_dir(), clock)
        self._journals = Journals(self.home)
        self._call_locks = CallsLocks(self.home)
        self._reserves = SharedReserves(self.home, clock)
        self._emit: Callable[[Event], None] = lambda _event: None
        self._begins: dict[type[Any], Callable[[Any], None]] = {}

    def start(self, emit: Callable[[Event], None]) -> None:
        """Take the home, report it, and make the workers (their threads start with their first effect).

        Raises:
            LockedError: another program owns the home; it was asked to come forward.
            StorageError: the home cannot be used.
        """
        self._emit = emit
        give_back_freed()
        self._ownership.take()
        opened = store_home.open_home(self.home, self._clock())
        odd = store_home.odd_names(self.home)
        window_toml, selected_id = split_state(store_home.read_state(self.home))
        self._make_workers(is_read_only=opened.is_read_only)
        emit(
            HomeOpened(
                home=str(self.home),
                is_read_only=opened.is_read_only,
                window_toml=window_toml,
                selected_id=selected_id,
                repaired=(),
                odd=odd,
                is_headless=self._options.is_headless,
                crash=self._crash(is_read_only=opened.is_read_only),
            )
        )
        self._ownership.watch(emit)

    def _crash(self, *, is_read_only: bool) -> str:
        """The report of an earlier window that crashed: the window that follows tells of it."""
        is_told = self._ownership.is_ours() and not self._options.is_headless and not is_read_only
        return crash_report.take_reports(self.home, self._clock()) if is_told else ""

    def begin(self, effect: Effect) -> None:
        """Hand an effect to its worker."""
        self._begins[type(effect)](effect)

    def _begin_run(self, effect: RunEffect) -> None:
        self._harvester.prepare()
        self._harvest.submit(effect)

    def _begin_import(self, effect: RunImport | LookForSessions) -> None:
        """Begin an import. What is followed is taken once a home, by its owner."""
        if isinstance(effect, LookForSessions) and not self._ownership.is_ours():
            self._emit(ImportEnded(is_followed=True))
            return
        self._importer.prepare()
        self._imports.submit(effect)

    def _begin_settings(self, effect: SettingsEffect) -> None:
        """A command that runs once starts what it needs when it needs it."""
        if self._options.owns_home or not isinstance(effect, WarmUp):
            self._setup.submit(effect)

    def _begin_asking(self, effect: RefreshModels | UpdatePrices) -> None:
        self._asking(effect.provider if isinstance(effect, RefreshModels) else PRICES).submit(effect)

    def _begin_index(self, effect: UpdateIndex) -> None:
        """Keep an index, where the home is ours, or a person asked for it."""
        if self._ownership.is_ours() or effect.command_id:
            self._indexer.prepare()
            self._indexing.submit(effect)
        else:
            self._emit(IndexEnded(report=None, places=SearchPlaces()))

    def _asking(self, provider: str) -> QueueWorker[RefreshModels | UpdatePrices]:
        """The worker that asks one server for its models, or for prices: a dead one keeps nobody else waiting, nor the end."""
        if provider not in self._askers:
            call = Call()

            def ask(effect: RefreshModels | UpdatePrices) -> None:
                with asking(call):
                    self._setups.handle(effect)

            worker = QueueWorker(f"models/{provider}", ask, self._emit, settings_worker.ASK_WORK.supersedes)
            self._askers[provider] = call, worker
        return self._askers[provider][1]

    def _begin_caching(self, effect: CacheEffect) -> None:
        """Read ahead and tend what is stored only where the home is ours: all this is its owner's."""
        if not isinstance(effect, _OWNERS_CACHING) or self._ownership.is_ours():
            self._caches.submit(effect)
        elif isinstance(effect, Prewarm):
            chosen, record_id = effect.spec.discussion_id, effect.record_id
            self._emit(
                CacheRead(discussion_id=chosen, usage=None, kind=UsageKind.PREWARM, record_id=record_id)
            )

    def _begin_turn(self, effect: TurnEffect) -> None:
        match effect:
            case CallProvider():
                self._cacher.cancel()
                self._calls.begin(effect, self._knowledge.barrier())
            case SendRequest():
                self._calls.send(effect.call_id)
            case CancelCall():
                self._calls.cancel(effect.call_id)
            case _:
                assert_never(effect)

    def stack_inputs(self, spec: StackSpec) -> StackInputs:
        """Inputs of the discussion's next request, read as they are now."""
        return self._assembler.inputs(spec)

    def stop_calls(self) -> None:
        """Cancel the calls and wait for their reports."""
        if self._workers:
            self._cacher.close()
            self._harvester.close()
            self._importer.close()
            self._indexer.close()
            self._servers.close()
            self._signaller.close()
            self._tools.stop(STOP_CALLS_S)
            self._compactor.close()
            self._calls.stop(STOP_CALLS_S)
            self._compacting.stop(STOP_CALLS_S)  # so is what a summary cost
            self._caches.stop(STOP_CALLS_S)  # what a ping cost that was cut off is still booked
            if self._ownership.is_ours():
                self._cacher.release_held()

    def stop(self) -> None:
        """Write what is pending, end the workers, release the home."""
        if self._is_stopped.is_set():
            return
        self._is_stopped.set()
        for call, asker in tuple(self._askers.values()):
            asker.stop(0, drops=True)
            call.close()
        if self._workers:
            self._context.stop(0, drops=True)  # nobody looks at a view any more
        for worker in self._workers:
            worker.stop(STOP_WORKERS_S)
        if self._workers:
            self._watcher.stop()
        self._counting.close()
        if self._workers:
            self._retrieving.close()
            self._context.stop(STOP_ASKING_S, drops=True)
        for _, asker in tuple(self._askers.values()):
            asker.stop(STOP_ASKING_S, drops=True)
        self._clients.close()
        self._journals.release_all()
        self._call_locks.release_all()
        self._reserves.close()
        self._ownership.release()

    def _make_editor(self) -> QueueWorker[EditDraft]:
        handler = DraftEditor(root=self.home, emit=self._emit, environ=os.environ)
        return QueueWorker.of(draft_editor.WORK, handler.handle, self._emit)

    def _make_workers(self, *, is_read_only: bool) -> None:
        emit, clock = self._emit, self._clock
        self._setups = SetupHandler(
            self.home,
            self._options.start,
            self._options.overrides,
            self._clients,
            KeyStore(self.home),
            emit,
            price=self._prices.model_price,
            use_prices=self._prices.use,
            take_prices=self._prices.take,
        )
        outline = self._counting.outline
        caches = CacheSetup(
            prices=self._prices_at,
            kind=self._clients.kind,
            key_id=self._clients.key_id,
            cost=self._prices.cost,
            counted=self._counting.known,
            label=self._clients.label,
            may_store=self._ownership.is_ours,
        )
        self._keeper = CacheKeeper(HomeCacheStore(self.home), caches, clock)
        self._retrieving = Retrieving(self.home, LocalEmbedder, remote_embedders(self._clients.get, clock))
        searcher = SearchHandler(self._retrieving, emit)
        self._servers = McpHandler(
            ServerServices(
                client=McpClient,
                wrap=self._wrapped_server,
                news=self._server_news,
                soon_lost=self._soon_lost,
                secrets=partial(mcp_secrets, KeyStore(self.home), os.environ),
            ),
            emit,
        )
        self._tool_services = tools = ToolServices(
            self.home, clock, self._options.tools, searcher.used, emit, self._servers, read_page
        )
        self._assembler = Assembler(
            self._counting,
            outline,
            self._prices.model_price,
            clock,
            knowledge=Layer7(self.home).read,
            recall=Recaller(
                local_answer(self._retrieving), tell=emit, name=discussion_names(self.home)
            ).recall,
            keeper=self._keeper,
            scales=HomeScaleStore(self.home),
            tools=tools.offered,
        )
        self._cacher = CacheHandler(
            self._keeper,
            self._clients,
            emit,
            self._assembler.prewarm_request,
            lambda name, request: request_reader(self.home, name, request),
            self._cache_prices,
            self._reserves.note_out,
        )
        discussions = DiscussionHandler(
            self.home,
            clock,
            emit,
            self._journals,
            self._reserves,
            self._call_locks,
            self._keeper,
            self._was_read,
        )
        keeper = DiskHandler(self.home, discussions, self._cacher.recall)
        lister = discussion_worker.ListingHandler(
            self.home, clock, emit, is_read_only=is_read_only, was_read=self._was_read
        )
        losses = LossesSaid(paths.losses_file())
        assembling = ContextWorker(
            ContextHandler(self._assembler, outline, self._counting, emit, losses),
            RewriteCheck(self._assembler.rewrite, emit),
            lambda: self._context.has_waiting,
        )
        self._disk = QueueWorker.of(services.DISK_WORK, keeper.handle, emit)
        self._listing = QueueWorker.of(discussion_worker.LIST_WORK, lister.handle, emit)
        self._attaching = QueueWorker.of(
            attachments.WORK,
            AttachmentHandler(root=self.home, emit=emit, read_document=self._counting.document).handle,
            emit,
        )
        self._editing = self._make_editor()
        self._setup = QueueWorker.of(settings_worker.WORK, self._setups.handle, emit)
        self._context = QueueWorker.of(services.CONTEXT_WORK, assembling.handle, emit)
        self._lookups = QueueWorker.of(
            project_names.WORK, project_names.LookupHandler(outline, emit).handle, emit
        )
        knower = knowledge.KnowledgeHandler(
            self.home, emit, is_read_only=is_read_only, like=self._retrieving.likeness
        )
        self._knowledge = QueueWorker.of(knowledge.WORK, knower.handle, emit)
        proposer = mcp_server.ProposalHandler(self.home, emit)
        self._proposing = QueueWorker.of(mcp_server.WORK, proposer.handle, emit)
        self._caches = QueueWorker.of(caching_worker.WORK, self._cacher.handle, emit)
        self._harvester = HarvestHandler(
            self.home,
            clock,
            emit,
            HarvestServices(
                client=self._clients.get,
                price=self._prices.cost,
                read=self._counting.messages,
                set_batches=self._reserves.set_batches,
            ),
            is_read_only=is_read_only,
        )
        self._harvest = QueueWorker.of(harvest_worker.WORK, self._harvester.handle, emit)
        pipe = None if self._options.owns_home else (lambda: sys.stdin.buffer)
        self._importer = ImportHandler(self.home, clock, emit, pipe, partial(offers_to, self.home, clock))
        self._imports = QueueWorker.of(import_run.WORK, self._importer.handle, emit)
        self._indexer = IndexHandler(self._retrieving, emit)
        self._indexing = QueueWorker.of(retrieval_worker.LOOK_WORK, self._indexer.handle, emit)
        self._searches = QueueWorker.of(retrieval_worker.SEARCH_WORK, searcher.handle, emit)
        forgetter = ForgetHandler(
            self.home,
            clock,
            emit,
            ForgetServices(
                ask_provider=self._cacher.forget_all,
                withdraw_batches=self._harvester.withdraw_unwanted,
                drop_scratch=tools.drop_scratch,
            ),
            self._alone,
            lambda: self._disk.barrier().wait(STOP_WORKERS_S),
        )
        self._forgetting = QueueWorker.of(forgetting_run.WORK, forgetter.handle, emit)
        self._compactor = CompactionHandler(
            self.home,
            self._assembler,
            self._clients.get,
            self._prices.cost,
            emit,
            self._reserves.note_out,
            partial(attachment_reader, self.home),
        )
        self._compacting = QueueWorker.of(compaction_worker.WORK, self._compactor.handle, emit)
        spender = shared_reserves.SpendingHandler(self._reserves, emit, partial(is_booked, self.home))
        self._spending = QueueWorker.of(shared_reserves.WORK, spender.handle, emit)
        self._signaller = SignalHandler(self.home, clock, emit, self._ownership.is_ours)
        self._signals = QueueWorker.of(signals_worker.WORK, self._signaller.handle, emit)
        self._workers = [
            self._signals,
            self._lookups,
            self._harvest,
            self._compacting,
            self._imports,
            self._indexing,
            self._searches,
            self._forgetting,
            self._knowledge,
            self._proposing,
            self._setup,
            self._attaching,
            self._editing,
            self._disk,
            self._listing,
            self._caches,
            self._spending,
        ]
        call_services = CallServices(
            assembler=self._assembler,
            journals=self._journals,
            keeper=self._keeper,
            provider=self._clients.get,
            refused=self._clients.refusals,
            read_blob=partial(attachment_reader, self.home),
            price=self._prices.cost,
            recovered=partial(recovered, self.home),
            note_usage=self._assembler.note_usage,
            reply_tokens=self._assembler.reply_tokens,
            recounted=self._assembler.recounted,
            begun=self._keeper.begun,
            resent=self._keeper.resent,
            keep=self._keeper.keep,
            clock=clock,
        )
        self._calls = CallWorker(call_services, emit)
        self._tools = ToolWorker(tools, emit)
        self._watcher = Watcher(emit, is_on=self._options.watches)
        self._begins = self._table()

    def _table(self) -> dict[type[Any], Callable[[Any], None]]:
        """The function that begins each effect, by the rows of `WORK`."""
        begins: dict[Work, Callable[[Any], None]] = {
            services.DISK_WORK: self._disk.submit,
            services.CONTEXT_WORK: self._context.submit,
            project_names.WORK: self._lookups.submit,
            discussion_worker.LIST_WORK: self._listing.submit,
            attachments.WORK: self._attaching.submit,
            draft_editor.WORK: self._editing.submit,
            settings_worker.WORK: self._begin_settings,
            settings_worker.ASK_WORK: self._begin_asking,
            knowledge.WORK: self._knowledge.submit,
            mcp_server.WORK: self._proposing.submit,
            harvest_worker.WORK: self._begin_run,
            harvest_worker.STOP_WORK: lambda effect: self._harvester.cancel(effect.why),
            harvest_worker.LET_WORK: lambda _effect: self._harvester.let_go(),
            import_run.WORK: self._begin_import,
            import_run.STOP_WORK: lambda _effect: self._importer.cancel(),
            retrieval_worker.SEARCH_WORK: self._searches.submit,
            retrieval_worker.LOOK_WORK: self._indexing.submit,
            retrieval_worker.RUN_WORK: self._begin_index,
            retrieval_worker.STOP_WORK: self._indexer.handle,
            compaction_worker.WORK: self._compacting.submit,
            compaction_worker.STOP_WORK: self._compactor.stop,
            forgetting_run.WORK: self._forgetting.submit,
            signals_worker.WORK: self._signals.submit,
            shared_reserves.WORK: self._spending.submit,
            caching_worker.WORK: self._begin_caching,
            turn_worker.WORK: self._begin_turn,
            agent_worker.WORK: self._tools.begin,
            mcp_worker.WORK: self._servers.begin,
            watcher.WORK: lambda effect: self._watcher.watch(*msgspec.structs.astuple(effect)),
            ENDS: lambda _effect: None,  # the controller ends its loop and calls `stop_calls` and `stop`
        }
        return {kind: begins[row] for row in WORK for kind in row.effects}

    def _wrapped_server(self, *asked: Any) -> WrappedCommand:
        return self._tool_services.server_sandbox.wrap(*asked)

    def _server_news(self, name: str) -> tuple[str, ...]:
        return self._tool_services.server_sandbox.news(name)

    def _soon_lost(self, name: str) -> tuple[str, ...]:
        return self._tool_services.server_sandbox.soon_lost(name)

    def _alone(self) -> AbstractContextManager[object]:
        """Hold the home while something is forgotten. A program that owns it holds it already."""
        return nullcontext() if self._ownership.is_ours() else store_home.alone(self.home)

    def _prices_at(self, kind: ProviderKind, provider: str, model: str, at: datetime) -> CachePrices:
        return cache_prices(provider, kind, model, at, is_local=self._clients.is_local(provider))

    def _cache_prices(self, provider: str, model: str) -> CachePrices:
        return self._prices_at(self._clients.kind(provider), provider, model, self._clock())
