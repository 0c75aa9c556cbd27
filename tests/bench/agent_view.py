"""Measures the model's view of a long discussion with tools: rebuilt from its log of 100 MB, and after one more message."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.agent.cut_plan import restore_from_log
from core.kernel import paths
from core.kernel.values.messages import Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.records import MessageRecord, Record, StartRecord, UsageRecord
from core.kernel.values.usage import Usage
from core.kernel.values.window import CutReason, ViewCut, ViewLine
from core.talk.discussion import log, log_codec, log_content
from core.talk.discussion.cuts import cut_record, line_record, sent_view
from tests.bench.__main__ import Row, row
from tests.bench.app_log import LOG_BYTES, processor_s

RUNS = 5
MORE = 40
RATIO_BAR, MORE_BAR_MS = 1.5, 5.0
CUT_EVERY = 40
"""Turns between two cuts of the view."""
ROUNDS = 3
_ID = "20261120-073000-abcdef"
_AT = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
_RESULT = "src/cachelab/slots.py:41: return replace(slot, last_used=now)\n" * 40


def rows() -> list[Row]:
    """Measure in a temporary home. The ratio comes from alternating runs, values are medians of processor time."""
    view, read = [], []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        turns = make_tool_log(home, LOG_BYTES)
        path = paths.log_file(home, _ID)
        for _ in range(RUNS):
            read.append(processor_s(lambda: len(tuple(log.scan(path)))))
            view.append(processor_s(lambda: len(restore_from_log(log.read(home, _ID).records))))
        more = _more(home, turns)
    ratio = statistics.median(one / other for one, other in zip(view, read, strict=True))
    name = f"view rebuilt from a log of {LOG_BYTES // 1_000_000} MB"
    return [
        row(name, statistics.median(view), "s", runs=RUNS),
        row(f"{name} / reading and decoding it", ratio, "times", RATIO_BAR, runs=RUNS),
        row(f"{name}, after one more message", 1_000 * more, "ms", MORE_BAR_MS, runs=MORE),
    ]


def make_tool_log(home: Path, size_bytes: int) -> int:
    """Write a discussion's log of about that size, as turns with tools leave it. Returns its turns."""
    path = paths.log_file(home, _ID)
    path.parent.mkdir(parents=True)
    size, number = 0, 0
    with path.open("wb") as stream:
        while size < size_bytes:
            size += sum(stream.write(log_codec.encode(record)) for record in _turn(number))
            number += 1
    return number


def _turn(number: int) -> Iterator[Record]:
    at = _AT + timedelta(seconds=number)
    said = f"{number:07}-user"
    yield MessageRecord(said, at, Role.USER, (TextPart(f"And the next place, {number}? " * 20),))
    for round_ in range(ROUNDS):
        yield from _round(f"{number:07}-{round_}", at)
    reply = f"{number:07}-reply"
    yield MessageRecord(reply, at, Role.ASSISTANT, (TextPart(f"It is done, {number}. " * 60),))
    yield UsageRecord(f"{number:07}-usage", at, reply, Usage(24_000, 900, 22_000, cost_usd=0.01))
    if number % CUT_EVERY == CUT_EVERY - 1:
        cut = ViewCut(
            f"{number:07}-cut", at, said, summary="They went through the slots. " * 40, through=reply,
            calls=(f"{number:07}-0",), why=CutReason.FULL, left_messages=number,
        )  # fmt: skip
        yield cut_record(cut)
        yield line_record(f"{number:07}-line", at, ViewLine(said, "Write your journal."))


def _round(name: str, at: datetime) -> Iterator[Record]:
    call = ToolCallPart(name, "grep", '{"pattern": "replace"}')
    yield MessageRecord(f"{name}-asks", at, Role.ASSISTANT, (TextPart("I look."), call))
    yield StartRecord(f"{name}-start", at, name)
    result = ToolResultPart(name, _RESULT)
    yield MessageRecord(f"{name}-result", at, Role.TOOL, (result,))


def _more(home: Path, turns: int) -> float:
    """Seconds until the view is there again after a message was appended."""
    opened = log_content.fold(_ID, log.read(home, _ID).records)
    taken = []
    for number in range(MORE):
        at = _AT + timedelta(seconds=turns + number)
        role = Role.ASSISTANT if number % 2 else Role.USER
        record = MessageRecord(f"{turns + number:07}-more", at, role, (TextPart("One more message."),))

        def append(record: MessageRecord = record) -> None:
            nonlocal opened
            opened = log_content.apply(opened, record)
            assert sent_view(opened)[-1].id == record.id

        taken.append(processor_s(append))
    return statistics.median(taken)
