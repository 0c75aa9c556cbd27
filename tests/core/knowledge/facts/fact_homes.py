"""Homes with files of facts, and a sync of them, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.kernel.values.facts import Fact, FactCategory, IndexedFact
from core.knowledge.facts.fact_index import FactNews, Past, facts_of, read_index
from core.knowledge.facts.fact_sync import SyncReport, SyncRequest, sync
from core.knowledge.file_writer import change_file

DAY = datetime(2026, 11, 23, 12, tzinfo=UTC)
HEAD = "---\ndomain: tides\nversion: 1\n---\n\n# What is known\n\n## Facts\n\n"


def made_fact(number: int = 1, text: str = "The moon makes tides.", **more: object) -> Fact:
    """A fact of the repository `tides`."""
    fact: Fact = Fact(f"tides:fact:{number:03d}", text, FactCategory.FACT, "tides", 0.7, **more)  # type: ignore[arg-type]
    return fact


class GivenPast(msgspec.Struct):
    """A past that a test sets."""

    past: Past = msgspec.field(default_factory=Past)
    mark: str = ""

    def stamp(self) -> str:
        return self.mark

    def read(self) -> Past:
        return self.past


class FactHome:
    """A home with a file of facts of `tides`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.directory = home / "knowledge"
        (self.directory / "repos").mkdir(parents=True)
        self.file = self.directory / "repos" / "tides.yaml"
        self.past = GivenPast()
        self.news: list[FactNews] = []

    @property
    def index(self) -> dict[str, IndexedFact]:
        """Facts of the index by id."""
        data = (self.directory / "index.json").read_bytes()
        return {fact.id: fact for fact in facts_of(read_index(data).rows.values())}

    def write(self, *items: str, head: str = HEAD) -> None:
        """Write the file."""
        self.file.write_text(head + "".join(items), encoding="utf-8")

    def edit(self, old: str, new: str, *, path: Path | None = None) -> None:
        """Put other words into a file, which must hold the old ones."""
        path = path or self.file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def sync(self, now: datetime = DAY, *, ours: frozenset[str] | None = frozenset()) -> SyncReport:
        """Bring files and index in step."""

        def tell(news: Sequence[FactNews]) -> None:
            self.news.extend(news)

        return sync(SyncRequest(self.home, now, self.past, change_file, tell, ours))

    def bytes(self) -> dict[str, bytes]:
        """Every file of the home."""
        return {path.name: path.read_bytes() for path in self.home.rglob("*") if path.is_file()}
