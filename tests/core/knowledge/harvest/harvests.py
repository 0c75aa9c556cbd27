"""A home with conversations, and models from a script, for tests of the harvest."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError
from core.kernel.ids import make_id
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.harvest import Artifact, HarvestReport
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord
from core.knowledge.harvest.harvest_run import ApplyRequest, apply, items_by_asking
from core.knowledge.harvest.harvest_scan import ScanRequest, scan
from core.knowledge.harvest.sources import Distiller
from core.knowledge.ledger import HarvestLedger
from core.talk.discussion import discussion_store, log

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
OLD = datetime(2026, 10, 1, 8, tzinfo=UTC)


def add_discussion(home: Path, name: str, *texts: str, at: datetime = OLD, **meta: Any) -> str:
    """Make a discussion whose files were last changed at `at`. Returns its id."""
    made = DiscussionMeta(make_id(at, name), name, at, "embedded", "m", **meta)
    discussion_store.create(home, made, messages(*texts, at=at))
    age(paths.discussion_dir(home, made.id), at)
    return made.id


def go_on(home: Path, discussion_id: str, *texts: str, at: datetime = OLD) -> None:
    """Say more in a discussion."""
    log.append(home, discussion_id, messages(*texts, at=at, first=100))
    age(paths.discussion_dir(home, discussion_id), at)


def messages(*texts: str, at: datetime = OLD, first: int = 0) -> tuple[MessageRecord, ...]:
    roles = (Role.USER, Role.ASSISTANT)
    return tuple(
        MessageRecord(make_id(at + timedelta(seconds=first + n), text), at, roles[n % 2], (TextPart(text),))
        for n, text in enumerate(texts)
    )


def age(folder: Path, at: datetime) -> None:
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (at.timestamp(), at.timestamp()))


def reply(*facts: str, **categories: Any) -> str:
    found = {"facts": [{"statement": fact, "detail": ""} for fact in facts], **categories}
    return json.dumps(found)


@dataclass
class Model:
    """Answers by what a prompt holds, and counts what it was asked."""

    answers: dict[str, str | SlopError] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)
    on_asked: Callable[[], None] = lambda: None

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        self.prompts.append(prompt)
        self.on_asked()
        found = next((answer for mark, answer in self.answers.items() if mark in prompt), '{"facts": []}')
        if isinstance(found, SlopError):
            raise found
        return found


@dataclass(frozen=True)
class Harvest:
    """A harvest of a home, with everything a test may want to turn."""

    home: Path
    model: Model
    now: datetime = NOW
    disk: Disk = OS_DISK
    max_bytes: int = 1024 * 1024
    piece_bytes: int = 64 * 1024
    sources: tuple[Path, ...] = ()
    root: str = ""

    @property
    def request(self) -> ScanRequest:
        return ScanRequest(self.home, self.now, sources=self.sources, max_bytes=self.max_bytes)

    @property
    def distiller(self) -> Distiller:
        knowledge = paths.knowledge_dir(self.home)
        return Distiller(
            self.model, "local", "m", "Write down.", self.piece_bytes, knowledge, self.disk, root=self.root
        )

    def scan(self) -> tuple[Artifact, ...]:
        return scan(self.request, HarvestLedger(self.home))

    def apply(self, *, harvests: bool = True, seed: str = "s") -> HarvestReport:
        items = items_by_asking(self.distiller, self.now) if harvests else None
        return apply(ApplyRequest(self.request, self.scan(), items, seed, disk=self.disk))


def tree(home: Path) -> dict[str, bytes]:
    """Every file of a home with its bytes."""
    return {str(p.relative_to(home)): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


def item_lines(home: Path) -> list[str]:
    """Every item line of the knowledge."""
    files = [*paths.knowledge_dir(home).glob("*.md"), *paths.knowledge_dir(home).glob("files/*.md")]
    named = [path for path in sorted(files) if path.name != "digest.md"]
    return [line for path in named for line in path.read_text("utf-8").split("\n") if line.startswith("- ")]
