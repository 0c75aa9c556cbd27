"""Documents among the notes are found by their words; what is no note is told by count and kind."""

from __future__ import annotations

from tests.core.retrieval.test_index_faults import found, passed_over
from tests.core.retrieval.test_navigation_worker import Room
from tests.core.talk.discussion.test_document_text import p, word


def test_office_files_pages_tables_and_exports_are_searched(room: Room) -> None:
    (room.notes / "Lease.DOCX").write_bytes(word(p("The landlord keeps the badger key.")))
    (room.notes / "page.html").write_text("<h1>Tides</h1><script>zebra</script><p>Otters sleep afloat.</p>")
    (room.notes / "stock.csv").write_text("item,place\ncapercaillie,shed 4\n")
    (room.notes / "old.enex").write_text(
        "<en-export><note><title>Shop</title><content>&lt;en-note>lapwing eggs&lt;/en-note></content></note></en-export>"
    )
    report = room.index()

    assert (report.passed_over, report.left_out) == ((), ())
    assert found(room, "badger key") == ["Lease.DOCX"]
    assert found(room, "otters afloat") == ["page.html"]
    assert found(room, "capercaillie shed") == ["stock.csv"]
    assert found(room, "lapwing") == ["old.enex"]
    assert room.index().unchanged == report.read
    assert "[Lease](Lease.DOCX)" in (room.notes / "index.md").read_text()
    assert "passages come from search_notes" in room.tool("read_note", path="Lease.DOCX")


def test_a_damaged_document_is_said_and_the_rest_is_read(room: Room) -> None:
    (room.notes / "torn.docx").write_bytes(word(p("x"))[:200])

    assert "the file is damaged" in passed_over(room.index())["torn.docx"]
    assert found(room, "gateway") == ["retry.md"]


def test_files_that_are_no_notes_are_counted_by_kind(room: Room) -> None:
    for name in ("a.pdf", "b.PDF", "c.png", "LICENSE"):
        (room.notes / name).write_bytes(b"x")

    assert room.index().left_out == ((".pdf", 2), ("", 1), (".png", 1))
