"""Measures a home of 1,000 discussions and 100 MB: a search over it, and its backup against `tar` with the same compression."""

from __future__ import annotations

import gzip
import random
import statistics
import tarfile
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.app.backup import LEVEL, back_up
from core.kernel import paths
from core.kernel.ids import make_id
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord
from core.talk.discussion import discussion_store, log_codec
from core.talk.discussion.catalog import Catalog
from tests.bench.__main__ import Row, row

DISCUSSIONS = 1_000
HOME_BYTES = 100_000_000
MESSAGE_WORDS = 200
WORDS = 50_000
SEARCHES = 5
SEARCH_BAR_MS, BACKUP_BAR = 50.0, 1.3
_AT = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)


def rows() -> list[Row]:
    """Measure in a temporary home, once: it takes a minute. Times are the processor's."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        make_home(home)
        return [*_searches(home, Path(folder) / "catalog.db"), _backup(home, Path(folder))]


def make_home(home: Path, discussions: int = DISCUSSIONS, size_bytes: int = HOME_BYTES) -> None:
    """A home whose messages are of a vocabulary of 50,000 words, common ones often."""
    source = random.Random(20_261_130)
    vocabulary = words()
    common = [1 / (rank + 3) for rank in range(WORDS)]
    drawn = source.choices(vocabulary, common, k=2_000_000)
    pattern = DiscussionMeta(make_id(_AT, "first"), "NAME", _AT, "anthropic", "claude-opus-5-5")
    discussion_store.create(home, pattern)
    meta = paths.meta_file(home, pattern.id).read_text("utf-8")
    for number in range(discussions):
        at = _AT + timedelta(minutes=number)
        name = make_id(at, str(number))
        log = paths.log_file(home, name)
        log.parent.mkdir(parents=True)
        text = meta.replace(pattern.id, name).replace("NAME", f"Talk {number}")
        paths.meta_file(home, name).write_text(text, "utf-8")
        size = 0
        with log.open("wb") as stream:
            while size < size_bytes // discussions:
                start = source.randrange(len(drawn) - MESSAGE_WORDS)
                said = " ".join(drawn[start : start + MESSAGE_WORDS])
                role = Role.USER if size == 0 else Role.ASSISTANT
                record = MessageRecord(make_id(at, f"{number}-{size}"), at, role, (TextPart(said),))
                size += stream.write(log_codec.encode(record))


def words() -> list[str]:
    """Words of two to four syllables, all different, the common ones first."""
    parts = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
    source = random.Random(20_261_130)
    made = {"".join(source.choices(parts, k=source.randrange(2, 5))): None for _ in range(2 * WORDS)}
    return list(made)[:WORDS]


def queries() -> dict[str, str]:
    """What is looked for, by what it is."""
    known = words()
    return {
        "a common word": known[7],
        "two words": f"{known[12]} {known[900]}",
        "a phrase": f'"{known[3]} {known[4]}"',
        "a rare word": known[-1],
        "a typo": known[4711][0] + known[4711][2] + known[4711][1] + known[4711][3:],
        "words of no message": "nothing that stands there",
    }


def _searches(home: Path, file: Path) -> list[Row]:
    catalog = Catalog(home, file)
    for _ in catalog.refresh():
        pass
    out = []
    for kind, query in queries().items():
        times = []
        for _ in range(SEARCHES):
            start = time.process_time()
            catalog.search(query)
            times.append(1_000 * (time.process_time() - start))
        name = f"search over {DISCUSSIONS:,} discussions and 100 MB: {kind}"
        out.append(row(name, statistics.median(times), "ms", SEARCH_BAR_MS, runs=SEARCHES))
    catalog.close()
    return out


def _backup(home: Path, folder: Path) -> Row:
    start = time.process_time()
    back_up(home, folder / "ours.tar.gz", program="bench", now=_AT)
    between = time.process_time()
    with (
        gzip.open(folder / "plain.tar.gz", "wb", compresslevel=LEVEL) as packed,
        tarfile.TarFile(fileobj=packed, mode="w") as archive,
    ):
        archive.add(home, arcname="home")
    ratio = (between - start) / (time.process_time() - between)
    return row("backup of a 100 MB home / tar with the same compression", ratio, "times", BACKUP_BAR)
