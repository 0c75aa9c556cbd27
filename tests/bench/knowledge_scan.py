"""Measures the scan of 10,000 conversations and 1 GB against `sha256sum` on the same files, and their classes."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.values.harvest import Artifact, ArtifactClass
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge.harvest.harvest_scan import ScanRequest, scan, with_ledger
from core.knowledge.ledger import HarvestLedger, SourceHash
from core.knowledge.ledger_text import ledger_bytes, to_raw
from tests.bench.__main__ import Row, row

CONVERSATIONS = 10_000
BYTES = 1_000_000_000
OTHER_ENTRIES = 90_000
RUNS = 3
RATIO_BAR = 1.5
CLASSIFY_BAR_MS = 1_000
CORES = 2
OLD = datetime(2026, 6, 1, 8, tzinfo=UTC)
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = "2026-11-20T12:00:00.123456+00:00"


def rows() -> list[Row]:
    """Measure in a temporary home. Both programs by turns over the same files, which the cache of pages holds."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_conversations(home, CONVERSATIONS, BYTES)
        sha256sum(home)  # warms the cache of pages
        found: list[tuple[Artifact, ...]] = []
        pairs = [
            (_timed(lambda: found.append(look(home))), _timed(lambda: sha256sum(home))) for _ in range(RUNS)
        ]
        ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
        ratio = statistics.median(our / their for our, their in pairs)
        classified = classify_ms(home, found[-1])
    what = f"{CONVERSATIONS:,} conversations, {BYTES / 1e9:g} GB"
    return [
        _row(f"scan and hash of {what}", statistics.median(ours), "ms", ""),
        _row(f"sha256sum of {what}, {CORES} processes", statistics.median(theirs), "ms", ""),
        _row("scan and hash / sha256sum", ratio, "times", f"at most {RATIO_BAR:g} times", holds=ratio <= RATIO_BAR),
        _row(
            f"classes of {CONVERSATIONS:,} conversations, warm ledger of {CONVERSATIONS + OTHER_ENTRIES:,}",
            classified, "ms", f"at most {CLASSIFY_BAR_MS:,} ms", holds=classified <= CLASSIFY_BAR_MS,
        ),
    ]  # fmt: skip


def make_conversations(home: Path, count: int, total_bytes: int) -> None:
    """So many discussions, old enough to be harvested, no two of the same bytes, with so many bytes in all."""
    said = "What stays useful once the talk is gone, and what does not? " * 40
    for number in range(count):
        at = OLD + timedelta(seconds=number)
        folder = paths.discussions_dir(home) / f"{at:%Y%m%d-%H%M%S}-{_letters(number)}"
        folder.mkdir(parents=True)
        line = _line(folder.name, at, said)
        room = total_bytes // count
        log = folder / paths.LOG_FILE
        log.write_bytes(line * (room // len(line)) + _line(folder.name, at, "x" * (room % len(line))))
        (folder / paths.META_FILE).write_text(
            f'name = "Talk {number}"\ncreated_at = {at.isoformat()}\nprovider = "embedded"\nmodel = "m"\n',
            "utf-8",
        )
        for path in (log, folder / paths.META_FILE):
            os.utime(path, (at.timestamp(), at.timestamp()))


def look(home: Path) -> tuple[Artifact, ...]:
    """Scan the home: every conversation read, hashed and given its class."""
    found = scan(ScanRequest(home, NOW), HarvestLedger(home))
    if any(one.kind is not ArtifactClass.HARVEST for one in found):
        raise AssertionError("a conversation was not read")
    return found


def sha256sum(home: Path) -> None:
    """Hash the same files with the system's program, on as many cores."""
    names = "\0".join(str(path) for path in sorted(paths.discussions_dir(home).glob(f"*/{paths.LOG_FILE}")))
    command = ["xargs", "-0", "-P", str(CORES), "-n", "500", "sha256sum"]
    subprocess.run(command, input=names.encode(), stdout=subprocess.DEVNULL, check=True)


def classify_ms(home: Path, found: tuple[Artifact, ...]) -> float:
    """Give conversations their classes against a ledger that is loaded and knows them, hashes at hand."""
    entries = {one.facts.sha256: _entry(one.facts.sha256, one.facts.path) for one in found}
    others = (_entry(f"{number:064x}", f"elsewhere/{number}") for number in range(OTHER_ENTRIES))
    raw = {entry.sha256: to_raw(entry) for entry in (*others, *entries.values())}
    ledger = HarvestLedger(home)
    ledger.path.parent.mkdir(exist_ok=True)
    ledger.path.write_bytes(ledger_bytes({"entries": raw}))
    ledger.load()
    request = ScanRequest(home, NOW)

    def classify() -> None:
        for one in found:
            facts = one.facts
            source = SourceHash(facts.sha256, facts.size_bytes)
            ledger.harvested_lengths(facts.path, facts.size_bytes)
            known = with_ledger(replace(facts, known_status=""), source, ledger)
            if request.classified(known).facts.known_status != LedgerStatus.HARVESTED:
                raise AssertionError("the ledger does not know it")

    return statistics.median(_timed(classify) for _ in range(RUNS))


def _entry(sha256: str, path: str) -> HarvestLedgerEntry:
    return HarvestLedgerEntry(sha256, path, LedgerStatus.HARVESTED, AT, size_bytes=9_000)


def _line(discussion_id: str, at: datetime, text: str) -> bytes:
    stamp = at.isoformat().replace("+00:00", "Z")
    return (
        f'{{"v":1,"type":"message","id":"{discussion_id}","at":"{stamp}","role":"user",'
        f'"parts":[{{"type":"text","text":"{text}"}}]}}\n'
    ).encode()


def _letters(number: int) -> str:
    found = ""
    for _ in range(6):
        number, rest = divmod(number, 20)
        found += "bcdfghjkmnpqrstvwxyz"[rest]
    return found


def _timed(act: Callable[[], object]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1e3


def _row(name: str, value: float, unit: str, bar: str, *, holds: bool = True) -> Row:
    return row(name, value, unit, bar=bar, holds=holds, runs=RUNS)
