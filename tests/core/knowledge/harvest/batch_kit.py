"""A home, a vendor's batch desk on loopback and the run of batches between them, with points at which it dies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from core.kernel import paths
from core.kernel.values.harvest import BatchReport, HarvestBatch, HarvestReport
from core.knowledge.harvest.batch_prompts import BatchFiles, answered_ones, not_asked
from core.knowledge.harvest.batch_run import BatchServices, look_after_batches, withdraw_batches
from core.knowledge.harvest.harvest_run import ApplyRequest, apply, items_by_asking
from core.knowledge.harvest.harvest_scan import ScanRequest, scan
from core.knowledge.harvest.sources import Distiller
from core.knowledge.ledger import HarvestLedger
from core.services.providers.batches import BatchAnswer, Batches, BatchRequest, BatchStatus, FoundBatch
from core.services.spending.harvest_costs import Payments
from tests.core.knowledge.harvest.harvests import NOW


class Crash(BaseException):
    """The program ends here."""


@dataclass
class Dying:
    """A batch service during which the program ends. `at`: "before", "after" the submission, or "answers"."""

    inner: Batches
    at: str = ""

    @property
    def most_requests(self) -> int:
        return self.inner.most_requests

    @property
    def most_bytes(self) -> int:
        return self.inner.most_bytes

    @property
    def ends_within(self) -> timedelta:
        return self.inner.ends_within

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        self._die("before")
        status = self.inner.submit(tag, requests)
        self._die("after")
        return status

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        return self.inner.find(tag, count, since, known)

    def status(self, name: str) -> BatchStatus | None:
        return self.inner.status(name)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        yield from self.inner.answers(name)
        self._die("answers")

    def cancel(self, name: str) -> None:
        self.inner.cancel(name)

    def clean(self, tag: str, name: str) -> None:
        self.inner.clean(tag, name)

    def _die(self, at: str) -> None:
        if self.at == at:
            raise Crash


@dataclass
class Backlog:
    """A home whose conversations are read in batches. Each call is a program of its own."""

    home: Path
    service: Batches
    provider: str
    model: str
    now: datetime = NOW
    piece_bytes: int = 64 * 1024
    refuses: str = ""
    estimates: list[float] = field(default_factory=list)
    open_usd: dict[str, float] = field(default_factory=dict)
    seeds: Iterator[str] = field(default_factory=lambda: iter(f"{n:016x}" for n in range(100)))

    @property
    def request(self) -> ScanRequest:
        return ScanRequest(self.home, self.now)

    @property
    def asker(self) -> Distiller:
        knowledge = paths.knowledge_dir(self.home)
        return Distiller(not_asked, self.provider, self.model, "Write down.", self.piece_bytes, knowledge)

    def run(self, dies: str = "") -> BatchReport:
        """Collect and submit."""
        listed = scan(self.request, HarvestLedger(self.home))
        services = self._services(dies)
        return look_after_batches(self.home, lambda: self.now, services, self.asker, self.request, listed)

    def withdraw(self) -> BatchReport:
        """Stop all that is open."""
        return withdraw_batches(self.home, lambda: self.now, self._services(), ())

    def _services(self, dies: str = "") -> BatchServices:
        service = Dying(self.service, dies)
        return BatchServices(
            lambda _provider: service,
            Payments(self.home, lambda *_: 0.5, lambda: self.now),
            lambda: next(self.seeds),
            self._let_go,
            self._on_open,
        )

    def apply(self) -> HarvestReport:
        """Write what is answered."""
        listed = scan(self.request, HarvestLedger(self.home))
        ready = answered_ones(self.asker, self.home, listed)
        return apply(ApplyRequest(self.request, ready, items_by_asking(self.asker, self.now), "seed"))

    @property
    def batches(self) -> tuple[HarvestBatch, ...]:
        return BatchFiles(self.home).batches()

    def _on_open(self, expected: Mapping[str, float]) -> None:
        self.open_usd = dict(expected)

    def _let_go(self, usd: float) -> str:
        self.estimates.append(usd)
        return self.refuses
