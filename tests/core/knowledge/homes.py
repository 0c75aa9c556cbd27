"""Homes with conversations and knowledge for tests, and what must hold of them whatever happened."""

from __future__ import annotations

import errno
import hashlib
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, Item, LedgerStatus, NewItem, Provenance
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.knowledge_reader import KnowledgeReader, digest_file, fresh_digest
from core.knowledge.ledger import HarvestLedger, hash_source, timestamp
from core.services.spending.harvest_costs import harvest_payments
from core.talk.discussion import discussion_store
from core.talk.discussion.trash import items as trash_items
from tests.core.records import meta, user

NOW = datetime(2026, 11, 20, 12, 0, 0, 123456, UTC)
FIRST, SECOND = "20261101-090000-aaaaaa", "20261102-090000-bbbbbb"


def paid_since(home: Path, start: datetime) -> float:
    """What the harvests of a home have cost since then, in US dollars."""
    return sum(payment.usd for payment in harvest_payments(home, start).values())


class KilledError(BaseException):
    """The program ends here, without a chance to tidy up."""


class FaultyDisk(Disk):
    """Fails at its n-th call (0-based) as told, and counts. Nothing is synced for real.

    Args:
        at: which call fails; -1 for none.
        fault: an errno, `torn` (half of a write is done, then no space) or `kill` (nothing works from then on).
    """

    def __init__(self, at: int = -1, fault: int | str = errno.ENOSPC) -> None:
        self.at, self.fault, self.calls, self.what = at, fault, 0, ""

    def _point(self, what: str) -> bool:
        number = self.calls
        self.calls += 1
        if number == self.at:
            self.what = what
        if self.fault == "kill" and 0 <= self.at <= number:
            raise KilledError
        return number == self.at

    def _fail(self) -> OSError:
        number = errno.ENOSPC if isinstance(self.fault, str) else self.fault
        return OSError(number, os.strerror(number))

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        if self._point(f"open {path.name}"):
            raise self._fail()
        return super().open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        number = self.calls
        try:
            if not self._point("write"):
                return super().write(fd, data)
        except KilledError:
            if number == self.at:
                super().write(fd, data[: len(data) // 2])
            raise
        if self.fault == "torn":
            super().write(fd, data[: len(data) // 2])
        raise self._fail()

    def fsync(self, fd: int) -> None:
        if self._point("fsync"):
            raise self._fail()

    def replace(self, source: Path, target: Path) -> None:
        if self._point(f"rename to {target.name}"):
            raise self._fail()
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        if self._point(f"unlink {path.name}"):
            raise self._fail()
        super().unlink(path)

    def make_dir(self, path: Path) -> None:
        if self._point(f"make {path.name}"):
            raise self._fail()
        super().make_dir(path)


def made_home(home: Path) -> Path:
    """A home with two conversations and a file that notes are about."""
    for discussion_id in (FIRST, SECOND):
        discussion_store.create(
            home,
            meta(discussion_id),
            [user(f"{discussion_id[:-6]}userid", f"hello from {discussion_id}")],
            disk=FaultyDisk(),
        )
    (home / "code.py").write_text("print()\n", encoding="utf-8")
    return home


def sha_of(home: Path, discussion_id: str) -> str:
    """The hash of a conversation's bytes."""
    return hash_source(paths.log_file(home, discussion_id)).sha256


def entry_of(home: Path, discussion_id: str) -> HarvestLedgerEntry:
    """What a harvest says of a conversation."""
    source = hash_source(paths.log_file(home, discussion_id))
    path = f"discussions/{discussion_id}/log.jsonl"
    return HarvestLedgerEntry(
        source.sha256, path, LedgerStatus.HARVESTED, timestamp(NOW), size_bytes=source.size_bytes
    )


def items_of(home: Path, discussion_id: str) -> list[NewItem]:
    """One item of each category, different for each conversation."""
    came = Provenance(f"2026-11-01-{discussion_id[-6:]}", "2026-11-20")
    word = hashlib.sha256(discussion_id.encode()).hexdigest()[:8]
    return [
        NewItem(category, f"{category.value} that {word} left", name=_name(home, category), provenance=came)
        for category in Category
    ]


def harvest(home: Path, disk: Disk = OS_DISK, only: tuple[str, ...] = (FIRST, SECOND)) -> None:
    """Apply the items of the conversations that the ledger does not know, and reclaim what it does."""
    with begin_apply(home, NOW, seed="seed", disk=disk) as apply:
        for discussion_id in only:
            if not paths.log_file(home, discussion_id).exists():
                continue
            sha256 = sha_of(home, discussion_id)
            if not apply.ledger.may_reclaim(sha256):
                apply.append(items_of(home, discussion_id), entry_of(home, discussion_id))
            apply.reclaim(discussion_id, sha256, NOW)
        finish_apply(apply)


def item_lines(home: Path) -> Counter[str]:
    """How often each item's line stands in the knowledge."""
    directory = paths.knowledge_dir(home)
    files = [*directory.glob("*.md"), *directory.glob("files/*.md")]
    lines = [line for f in files if f.name != "digest.md" for line in f.read_text("utf-8").split("\n")]
    return Counter(line for line in lines if line.startswith("- "))


def check_nothing_lost(home: Path) -> None:
    """No item doubled, no conversation gone unharvested, the digest up to date, the ledger readable."""
    assert not [line for line, count in item_lines(home).items() if count > 1]
    ledger = HarvestLedger(home)
    gone = {item.discussion_id for item in trash_items(home)}
    for discussion_id in (FIRST, SECOND):
        is_here = paths.log_file(home, discussion_id).exists()
        assert is_here != (discussion_id in gone), "a conversation is in one place"
        entries = [entry for entry in ledger.entries() if discussion_id in entry.path]
        if not is_here:
            assert [entry.status for entry in entries] == [LedgerStatus.HARVESTED]
        if entries and entries[0].allows_reclaim:
            word = hashlib.sha256(discussion_id.encode()).hexdigest()[:8]
            assert sum(word in line for line in item_lines(home)) == len(Category)
    if digest_file(home).exists():
        assert digest_file(home).read_text("utf-8") == fresh_digest(home)


def _name(home: Path, category: Category) -> str:
    return {Category.FILES: str(home / "code.py"), Category.PLAYBOOKS: "Deploy"}.get(category, "")


def applied(
    home: Path, *items: NewItem, sha256: str = "a" * 64, path: str = "/talks/a.md", domain: str = "tides"
) -> tuple[str, ...]:
    """An apply of one conversation of another program. Returns the files of facts that could not be read."""
    at = timestamp(NOW)
    domains = (domain,) if domain else ()
    entry = HarvestLedgerEntry(sha256, path, LedgerStatus.HARVESTED, at, domains=domains)
    with begin_apply(home, NOW, seed=sha256[:6]) as apply:
        apply.append(items, entry)
        finish_apply(apply)
    return tuple(apply.held_files)


def archived_items(home: Path) -> tuple[Item, ...]:
    """The archive, as a reader that begins anew finds it."""
    return KnowledgeReader(home).read(KnowledgeSettings()).archived
