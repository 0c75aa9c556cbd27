"""A home, a model server on loopback and the harvest worker between them, for its tests."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from core.knowledge.harvest_run import look
from core.knowledge.harvest_setup import scan_request
from core.knowledge_text.harvest_preview import joined
from core.values import effects as f
from core.values import events as e
from core.values.effects import HarvestRun
from core.values.events import Event
from core.values.harvest import Artifact, ArtifactClass, HarvestPreview
from core.values.provider import ModelProfile
from core.values.settings import KnowledgeSettings, ServerSettings
from core.workers.clients import Clients
from core.workers.harvest import HarvestHandler, HarvestServices
from tests.core.knowledge.harvests import NOW
from tests.vendors.compatible_server import MODEL, CompatibleServer

WAIT_S = 30.0
MOON, SUN = "Tides follow the moon.", "The sun helps."
E = TypeVar("E", bound=Event)


@dataclass
class Program:
    """A home, a server that speaks for a model, and the worker between them."""

    home: Path
    server: CompatibleServer
    clients: Clients
    price: float | None = 0.25
    events: list[Event] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    is_read_only: bool = False
    now: datetime = NOW
    settings: KnowledgeSettings = field(default_factory=KnowledgeSettings)

    def __post_init__(self) -> None:
        services = HarvestServices(self.clients.get, ModelProfile, lambda *_: self.price)
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

    def wait_for(self, kind: type[E]) -> E:
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(isinstance(one, kind) for one in self.events), WAIT_S)
        return self.of(kind)[-1]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def run(self, **more: object) -> HarvestRun:
        made = HarvestRun(self.settings, frozenset(), "local", MODEL)
        return replace(made, **more)  # type: ignore[arg-type]

    def handle(self, effect: f.Effect) -> list[Event]:
        """Carry out one effect on this thread; the events of it."""
        before = len(self.events)
        self.handler.prepare()
        self.handler.handle(effect)
        return self.events[before:]

    def candidates(self) -> tuple[Artifact, ...]:
        found = look(scan_request(self.home, self.run(), self.now), "local", MODEL).artifacts
        return tuple(one for one in found if one.kind in {ArtifactClass.HARVEST, ArtifactClass.PRUNE})

    def preview(self) -> HarvestPreview:
        events = self.handle(f.DistilConversations(self.run(), self.candidates()))
        return joined(event.part for event in events if isinstance(event, e.HarvestProposed))

    def apply(self, reviewed: HarvestPreview | None) -> e.HarvestApplied:
        event = self.handle(f.ApplyPreview(self.run(), self.candidates(), reviewed))[-1]
        assert isinstance(event, e.HarvestApplied)
        return event


def made(home: Path, server: CompatibleServer, **more: object) -> Program:
    clients = Clients()
    clients.configure({"local": ServerSettings("local", "compatible", "Local", f"{server.url}/v1")}, {}, ())
    return Program(home, server, clients, **more)  # type: ignore[arg-type]
