"""A home, a model server on loopback and the harvest worker between them, for its tests."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from core.app.app_messages import Event
from core.kernel.values.harvest import Artifact, ArtifactClass, HarvestLook, HarvestPreview, HarvestReport
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import KnowledgeSettings, ServerSettings
from core.knowledge.harvest.harvest_messages import (
    ApplyPreview,
    DistilConversations,
    HarvestCalling,
    HarvestProposed,
    HarvestReported,
    HarvestRun,
    RunEffect,
)
from core.knowledge.harvest.harvest_run import look, scan_request
from core.knowledge.harvest.harvest_worker import HarvestHandler, HarvestServices
from core.knowledge.harvest.preview import joined
from core.services.providers.clients import Clients
from tests.core.knowledge.harvest.harvests import NOW
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import MODEL, CompatibleServer

WAIT_S = PATIENCE_S
NO_MONEY = "The limit of $0.40 for today is reached."
MOON, SUN = "Tides follow the moon.", "The sun helps."
E = TypeVar("E", bound=Event)


class Applied(NamedTuple):
    """What an apply came to, and what is on disk behind it."""

    report: HarvestReport
    look: HarvestLook | None


@dataclass
class Program:
    """A home, a server that speaks for a model, and the worker between them.

    `calls`: how many of its calls the step would let go, None for all.
    """

    home: Path
    server: CompatibleServer
    clients: Clients
    price: float | None = 0.25
    events: list[Event] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    is_read_only: bool = False
    now: datetime = NOW
    settings: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    calls: int | None = None

    def __post_init__(self) -> None:
        services = HarvestServices(self.clients.get, lambda *_: self.price)
        self.handler = HarvestHandler(
            self.home,
            lambda: self.now,
            self.emit,
            services,
            is_read_only=self.is_read_only,
            seed=iter("abcdefgh").__next__,
        )

    def emit(self, event: Event) -> None:
        with self.arrived:
            self.events.append(event)
            self.arrived.notify_all()
        if isinstance(event, HarvestCalling):
            if self.calls == 0:
                self.handler.cancel(NO_MONEY)
            else:
                self.calls = None if self.calls is None else self.calls - 1
                self.handler.let_go()

    def wait_for(self, kind: type[E]) -> E:
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(isinstance(one, kind) for one in self.events), WAIT_S)
        return self.of(kind)[-1]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def run(self, **more: object) -> HarvestRun:
        made = HarvestRun(self.settings, frozenset(), "local", MODEL, ModelProfile("local", MODEL))
        return replace(made, **more)  # type: ignore[arg-type]

    def handle(self, effect: RunEffect) -> list[Event]:
        """Carry out one effect on this thread; the events of it."""
        before = len(self.events)
        self.handler.prepare()
        self.handler.handle(effect)
        return self.events[before:]

    def candidates(self) -> tuple[Artifact, ...]:
        found = look(scan_request(self.home, self.run(), self.now), "local", MODEL).artifacts
        return tuple(one for one in found if one.kind in {ArtifactClass.HARVEST, ArtifactClass.PRUNE})

    def preview(self) -> HarvestPreview:
        events = self.handle(DistilConversations(self.run(), self.candidates()))
        return joined(event.part for event in events if isinstance(event, HarvestProposed))

    def apply(self, reviewed: HarvestPreview | None) -> Applied:
        event = self.handle(ApplyPreview(self.run(), self.candidates(), reviewed))[-1]
        assert isinstance(event, HarvestReported)
        assert isinstance(event.result, HarvestReport)
        return Applied(event.result, event.look)


def made(home: Path, server: CompatibleServer, **more: object) -> Program:
    clients = Clients()
    clients.configure({"local": ServerSettings("local", "compatible", "Local", f"{server.url}/v1")}, {}, ())
    return Program(home, server, clients, **more)  # type: ignore[arg-type]
