"""The logs of evidence and events: read past torn lines, and folded into what an item stands on."""

from __future__ import annotations

from pathlib import Path

from core.kernel import paths
from core.kernel.values.facts import ItemEvent, ItemEventKind, Quote
from core.knowledge.evidence_rows import (
    EVENTS_FILE,
    EVIDENCE_FILE,
    Conversation,
    LogRows,
    evidence_of,
    item_hash,
    read_rows,
    row_text,
)
from core.knowledge.history_text import evidence_for, history, seen
from core.knowledge.memory_log import add_events, read_logs

AT = "2026-11-20T12:00:00.000000+00:00"
SAID = Conversation(AT, "tides", "/home/person/log.jsonl", "c" * 64, "20261101-090000-aaaaaa")
OLD, NEW = item_hash("facts", "Six hours."), item_hash("facts", "Six hours and a bit.")
ROW = evidence_of(OLD, Quote(("m1",), "six hours"), SAID)
EDITED = ItemEvent(ItemEventKind.EDITED, AT, NEW, "facts", "Six hours and a bit.", was=(OLD,))


def injected(*items: str, discussion: str = "d") -> ItemEvent:
    return ItemEvent(ItemEventKind.INJECTED, AT, discussion=discussion, items=items)


def test_rows_are_read_as_they_were_written() -> None:
    data = f"{row_text(ROW)}\n".encode()
    assert read_rows(data, f"{row_text(EDITED)}\n".encode()) == LogRows((ROW,), (EDITED,))


def test_an_evidence_file_that_lost_half_its_lines_tells_the_rest_and_counts() -> None:
    lines = [
        row_text(evidence_of(item_hash("facts", str(n)), Quote(("m1",), f"q{n}"), SAID)) for n in range(8)
    ]
    halved = "\n".join(line if n % 2 else line[: len(line) // 2] for n, line in enumerate(lines))
    rows = read_rows(halved.encode() + b"\n\xff\xfe\n[]\n{}\n\n\0\0\n", b"")
    assert [row.quote for row in rows.evidence] == ["q1", "q3", "q5", "q7"]
    assert rows.torn == 7


def test_a_quote_whose_hash_does_not_fit_is_not_believed() -> None:
    forged = row_text(ROW).replace('"six hours"', '"ten hours"')
    assert read_rows(forged.encode(), b"") == LogRows((), (), 1)


def test_an_edited_item_keeps_what_it_stood_on() -> None:
    rows = LogRows((ROW,), (EDITED,))
    assert evidence_for(NEW, rows) == (ROW,)
    assert evidence_for(OLD, rows) == (ROW,)
    assert evidence_for(item_hash("facts", "Other."), rows) == ()


def test_edits_in_a_circle_end() -> None:
    back = ItemEvent(ItemEventKind.EDITED, AT, OLD, was=(NEW,))
    assert evidence_for(OLD, LogRows((ROW,), (EDITED, back))) == (ROW,)


def test_a_history_tells_events_of_all_its_words_and_the_requests_newest_first() -> None:
    accepted = ItemEvent(ItemEventKind.ACCEPTED, AT, OLD)
    first, second = injected(OLD), injected(NEW, discussion="e")
    rows = LogRows((ROW,), (accepted, first, EDITED, second, injected("other")), torn=2)
    told = history("facts", "Six hours and a bit.", rows)
    assert told.events == (accepted, EDITED)
    assert told.injected == (second, first)
    assert told.torn == 2
    assert seen(rows, "e") == (second,)


def test_an_event_is_added_behind_a_torn_line(tmp_path: Path) -> None:
    folder = paths.knowledge_dir(tmp_path)
    folder.mkdir(parents=True)
    (folder / EVENTS_FILE).write_bytes(b'{"kind":"acc')
    add_events(tmp_path, [EDITED])
    add_events(tmp_path, [])
    assert read_logs(tmp_path) == LogRows((), (EDITED,), 1)
    assert not (folder / EVIDENCE_FILE).exists()
