"""The real outside: the home, its lock, and the workers that carry out effects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core import paths
from core.cache.offers import cache_prices
from core.config.keys import KeyStore
from core.controller.app import wall_clock
from core.providers.base import Provider, ReadBlob
from core.store import attachments
from core.store import home as store_home
from core.store.home import HomeLock
from core.store.reply_journal import ReplyHead
from core.values import effects as f
from core.values import events as e
from core.values.cache import CachePrices
from core.values.effects import Effect, StackSpec
from core.values.events import Event
from core.values.options import OutsideOptions
from core.values.provider import ContentsReport
from core.values.usage import Usage
from core.workers import cache_work, context, disk, knowledge, listing
from core.workers.assembly import Assembler, BuiltCall, Prices
from core.workers.cache_desks import CacheDesks, HomeCacheStore
from core.workers.cache_work import CacheHandler
from core.workers.caching import CacheKeeper, CacheSetup
from core.workers.calls import CallWorker
from core.workers.clients import Clients
from core.workers.counting import Counting
from core.workers.harvest import HarvestHandler, HarvestServices
from core.workers.journals import Journals, OpenJournal
from core.workers.knowledge import Layer7
from core.workers.queue import QueueWorker
from core.workers.setup import SetupHandler
from core.workers.setup import keeps as keeps_work
from core.workers.setup import supersedes as supersedes_work
from core.workers.stored import StoredContents
from core.workers.watching import Watcher

STOP_CALLS_S = 5.0
STOP_WORKERS_S = 20.0


class LocalOutside:
    """Carries out effects on this machine. Made once for each controller."""

    def __init__(self, options: OutsideOptions, *, clock: Callable[[], datetime] = wall_clock) -> None:
        self._options = options
        self._clock = clock
        self.home = options.home or paths.home_dir()
        self._lock: HomeLock | None = None
        self._is_stopped = threading.Event()
        self._workers: list[QueueWorker] = []
        self._counting = Counting()
        self._clients = Clients(paths.cache_dir())
        self._journals = Journals(self.home)
        self._emit: Callable[[Event], None] = lambda _event: None

    def start(self, emit: Callable[[Event], None]) -> None:
        """Take the home, report it, and make the workers (their threads start with their first effect).

        Raises:
            LockedError: another program owns the home; it was asked to come forward.
            StorageError: the home cannot be used.
        """
        self._emit = emit
        self._lock = store_home.own(self.home) if self._options.owns_home else None
        opened = store_home.open_home(self.home, self._clock())
        window_toml, selected_id = disk.split_state(store_home.read_state(self.home))
        self._make_workers(is_read_only=opened.is_read_only)
        if self._lock is not None:
            threading.Thread(target=self._poll_raise, name="raise-requests", daemon=True).start()
        emit(e.HomeOpened(str(self.home), opened.is_read_only, window_toml, selected_id, ()))

    def begin(self, effect: Effect) -> None:
        """Hand an effect to its worker."""
        match effect:
            case f.CallProvider():
                self._cacher.cancel()
                self._calls.begin(effect)
            case f.CancelCall():
                self._calls.cancel(effect.call_id)
            case f.WatchFiles():
                self._watcher.watch(
                    effect.paths,
                    effect.settings_paths,
                    effect.home,
                    effect.discussion_ids,
                    effect.knowledge_paths,
                )
            case f.ReadKnowledge() | f.MakeDigest() | f.RemoveDigest() | f.ChangeKnowledge():
                self._knowledge.submit(effect)
            case f.ScanConversations() | f.DistilConversations() | f.ApplyPreview() | f.UndoApply():
                self._harvester.prepare()
                self._harvest.submit(effect)
            case f.StopHarvest():
                self._harvester.cancel(effect.why)
            case f.AssembleContext() | f.InspectOnDisk() | f.CheckRewrites():
                self._context.submit(effect)
            case f.LoadSummaries() | f.IndexDiscussion() | f.SearchCatalog():
                self._listing.submit(effect)
            case f.WarmUp() if not self._options.owns_home:
                pass  # a command that runs once starts what it needs when it needs it
            case (
                f.LoadSettings()
                | f.WriteSetting()
                | f.WriteServer()
                | f.WriteTrust()
                | f.WriteKey()
                | f.WritePreset()
                | f.KeepPresets()
                | f.ListModels()
                | f.ProbeServers()
                | f.WarmUp()
            ):
                self._setup.submit(effect)
            case f.Prewarm() if not self._options.owns_home:
                pass
            case f.AdoptContents() if not self._options.owns_home:
                pass
            case (
                f.ForgetCache()
                | f.ReadCaches()
                | f.Prewarm()
                | f.PingCaches()
                | f.ReleaseCache()
                | f.ReleaseIdle()
                | f.AdoptContents()
                | f.DeleteContents()
            ):
                self._caches.submit(effect)
            case f.StopAll():
                pass  # the controller ends its loop and calls `stop_calls` and `stop`
            case _:
                self._disk.submit(effect)

    def stop_calls(self) -> None:
        """Cancel the calls and wait for their reports."""
        if self._workers:
            self._cacher.close()
            self._harvester.close()
            self._calls.stop(STOP_CALLS_S)

    def stop(self) -> None:
        """Write what is pending, end the workers, release the home."""
        if self._is_stopped.is_set():
            return
        self._is_stopped.set()
        for worker in self._workers:
            worker.stop(STOP_WORKERS_S)
        if self._workers:
            self._watcher.stop()
        self._counting.close()
        deleted = self._clients.close()
        if self._workers:
            self._stored.forget(deleted)
        self._journals.release_all()
        if self._lock is not None:
            self._lock.release()

    def _make_workers(self, *, is_read_only: bool) -> None:
        emit, clock = self._emit, self._clock
        setup = SetupHandler(
            self.home, self._options.start, self._options.overrides, self._clients, KeyStore(self.home), emit
        )
        outline = self._counting.outline
        caches = CacheSetup(
            prices=lambda kind, provider, model, at: cache_prices(provider, kind, model, at),
            kind=self._clients.kind,
            key_id=self._clients.key_id,
            cost=self._cost,
            counted=self._counting.known,
            settings=lambda: setup.settings.caching,
            label=self._clients.label,
        )
        desks = CacheDesks(HomeCacheStore(self.home))
        self._keeper = CacheKeeper(desks, caches, clock)
        prices = self._cache_prices
        self._stored = StoredContents(desks, self._clients.key_id, prices, clock)
        self._assembler = Assembler(
            self._counting,
            outline,
            _prices(),
            setup.profile,
            clock,
            knowledge=Layer7(self.home).read,
            keeper=self._keeper,
        )
        keeper = disk.DiskHandler(
            self.home, clock, emit, self._journals, lambda: setup.settings.files.max_attachment_bytes
        )
        lister = listing.ListingHandler(self.home, clock, emit, is_read_only=is_read_only)
        assembling = context.ContextHandler(self._assembler, outline, self._counting, emit)
        self._disk = QueueWorker("disk", keeper.handle, emit, disk.supersedes, disk.keeps)
        self._listing = QueueWorker("list", lister.handle, emit, listing.supersedes)
        self._setup = QueueWorker("settings", setup.handle, emit, supersedes_work, keeps_work)
        self._context = QueueWorker("context", assembling.handle, emit, context.supersedes)
        knower = knowledge.KnowledgeHandler(self.home, emit, is_read_only=is_read_only)
        self._knowledge = QueueWorker("knowledge", knower.handle, emit, knowledge.supersedes)
        self._cacher = CacheHandler(
            self._keeper,
            self._stored,
            self._clients,
            emit,
            self._assembler.prewarm_request,
            lambda spec: attachment_reader(self.home, spec),
            prices,
        )
        self._caches = QueueWorker("cache", self._cacher.handle, emit, cache_work.supersedes)
        self._harvester = HarvestHandler(
            self.home,
            clock,
            emit,
            HarvestServices(self._clients.get, setup.profile, self._cost, self._counting.messages),
            is_read_only=is_read_only,
        )
        self._harvest = QueueWorker("harvest", self._harvester.handle, emit)
        self._workers = [
            self._harvest,
            self._knowledge,
            self._context,
            self._setup,
            self._disk,
            self._listing,
            self._caches,
        ]
        services = _CallServices(
            self.home, self._assembler, self._clients, self._journals, self._keeper, self._cost, clock
        )
        self._calls = CallWorker(services, emit)
        self._watcher = Watcher(emit, is_on=self._options.watches)

    def _cost(self, provider: str, model: str, usage: Usage) -> float | None:
        from core.pricing import cost

        return cost(provider, model, usage, self._clock())

    def _cache_prices(self, provider: str, model: str) -> CachePrices:
        return cache_prices(provider, self._clients.kind(provider), model, self._clock())

    def _poll_raise(self) -> None:
        while not self._is_stopped.wait(0.5):
            if self._lock is not None and self._lock.take_raise_request():
                self._emit(e.RaiseRequested())


@dataclass(frozen=True, slots=True)
class _CallServices:
    """What calls need, from the parts of the outside."""

    home: Path
    assembler: Assembler
    clients: Clients
    journals: Journals
    keeper: CacheKeeper
    price: Callable[[str, str, Usage], float | None]
    clock: Callable[[], datetime]

    def build(self, effect: f.CallProvider) -> BuiltCall:
        return self.assembler.build(effect)

    def provider(self, provider_id: str) -> Provider:
        return self.clients.get(provider_id)

    def journal(self, spec: StackSpec, effect: f.CallProvider) -> OpenJournal:
        inputs = spec.inputs
        head = ReplyHead(effect.reply_id, self.clock(), inputs.provider, inputs.model)
        return self.journals.start(spec.discussion_id, head)

    def read_blob(self, spec: StackSpec) -> ReadBlob:
        return attachment_reader(self.home, spec)

    def begun(self, call_id: str) -> None:
        self.keeper.begun(call_id)

    def ended(
        self, call_id: str, spec: StackSpec, usage: Usage, contents: ContentsReport | None
    ) -> Event | None:
        self.assembler.learn(spec, usage)
        report = self.keeper.ended(call_id, usage, contents)
        if report is None:
            return None
        return e.CacheReported(spec.discussion_id, report.state, report.totals, report.miss_reason)


def attachment_reader(home: Path, spec: StackSpec) -> ReadBlob:
    """Reads the attachments that a stack names."""
    inputs = spec.inputs
    parts = (*inputs.attachments, *(part for turn in inputs.turns for part in turn.attachments))
    by_hash = {part.sha256: part for part in parts}
    return lambda sha256: attachments.load(home, spec.discussion_id, by_hash[sha256])


def _prices() -> Prices:
    def input_price(provider: str, model: str, at: datetime) -> float | None:
        from core.pricing import input_usd_per_token

        return input_usd_per_token(provider, model, at)

    return Prices(input_price)
