"""Measures a log of 100 MB read into a view: its processor time, and against reading its lines as bare JSON."""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from core.kernel import paths
from core.kernel.values.messages import Part, ReasoningPart, Role, TextPart
from core.kernel.values.records import MessageRecord, Record, RequestRecord, UsageRecord
from core.kernel.values.stack import LayerId, LayerReport, SegmentReport
from core.kernel.values.usage import Usage
from core.talk.discussion import log, log_codec, log_content
from tests.bench.__main__ import Row, row

LOG_BYTES = 100_000_000
RUNS = 5
BAR = 3.0
"""Six tenths of what dataclasses and `json` took (5.4 times); bare JSON makes dicts and drops them line by line."""
_ID = "20261120-073000-abcdef"
_AT = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
_TALK = "the cache holds a prefix of “naïve” requests, so that `replace(state)` costs 0.3 µs:\n- Größe; "


def rows() -> list[Row]:
    """Measure in a temporary home. The ratio comes from alternating runs, values are medians."""
    view, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = make_log(Path(folder), LOG_BYTES)
        for _ in range(RUNS):
            bare.append(processor_s(lambda: _bare(path)))
            view.append(processor_s(lambda: _view(Path(folder))))
    ratio = statistics.median(one / other for one, other in zip(view, bare, strict=True))
    name = f"log of {LOG_BYTES // 1_000_000} MB, read into a view"
    return [
        row(name, statistics.median(view), "s", runs=RUNS),
        row(f"{name} / its lines as bare JSON", ratio, "times", BAR, runs=RUNS),
    ]


def make_log(home: Path, size_bytes: int) -> Path:
    """A discussion's log of about that size, turn by turn as the program writes them. Returns its path."""
    path = paths.log_file(home, _ID)
    path.parent.mkdir(parents=True)
    source, size = random.Random(20_261_120), 0
    with path.open("wb") as stream:
        while size < size_bytes:
            size += sum(stream.write(log_codec.encode(record)) for record in _turn(size, source))
    return path


def _turn(number: int, source: random.Random) -> Iterator[Record]:
    """A question, what was sent, the reply with what was thought aloud, and what it cost."""
    said, reply = f"{number:09}-user", f"{number:09}-reply"
    yield MessageRecord(said, _AT, Role.USER, (TextPart(_text(source, 60)),))
    segments = (SegmentReport("10/src/a.py", "0f" * 32, 2_400, 600),) * 3
    layers = tuple(LayerReport(layer, 1_000, 900, 950, 240, "a1" * 32, segments) for layer in LayerId)
    yield RequestRecord(
        f"{number:09}-request", _AT, said, "anthropic", "m", "high", layers, ("10/src/a.py",), 12_000
    )
    parts: tuple[Part, ...] = (
        ReasoningPart(_text(source, 200)),
        TextPart(_text(source, source.randrange(50, 1_500))),
    )
    yield MessageRecord(reply, _AT, Role.ASSISTANT, parts, provider="anthropic", model="m")
    usage = Usage(24_000, 900, 22_000, 1_500, cost_usd=source.random() / 100, duration_s=source.random() * 60)
    yield UsageRecord(f"{number:09}-usage", _AT, reply, usage)


def _text(source: random.Random, words: int) -> str:
    return " ".join(source.choices(_TALK.split(" "), k=words))


def _bare(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(len(json.loads(line)) for line in stream)


def _view(home: Path) -> int:
    return len(log_content.fold(_ID, log.read(home, _ID).records).entries)


def processor_s(work: Callable[[], object]) -> float:
    """The processor time of a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start
