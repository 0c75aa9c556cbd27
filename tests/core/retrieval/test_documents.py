"""Documents among the notes are found by their words; what is no note is told by count and kind."""

from __future__ import annotations

from tests.core.retrieval.test_index_faults import found, passed_over
from tests.core.retrieval.test_navigation_worker import Room
from tests.core.talk.discussion.test_document_text import p, word
from tests.note_exports import CANVAS, DAY_ONE, KEEP, OUTLINE, ROAM
from tests.pdfs import make_pdf


def test_office_files_pages_tables_and_exports_are_searched(room: Room) -> None:
    (room.notes / "Lease.DOCX").write_bytes(word(p("The landlord keeps the badger key.")))
    (room.notes / "page.html").write_text("<h1>Tides</h1><script>zebra</script><p>Otters sleep afloat.</p>")
    (room.notes / "stock.csv").write_text("item,place\ncapercaillie,shed 4\n")
    (room.notes / "old.enex").write_text(
        "<en-export><note><title>Shop</title><content>&lt;en-note>lapwing eggs&lt;/en-note></content></note></en-export>"
    )
    (room.notes / "Map.canvas").write_bytes(CANVAS)
    (room.notes / "Garden.opml").write_bytes(OUTLINE)
    (room.notes / "Roam.json").write_bytes(ROAM)
    (room.notes / "Orchard.wiki").write_text("= Rows =\nPrune the medlar.\n")
    report = room.index()

    assert (report.passed_over, report.left_out) == ((), ())
    assert found(room, "hovercraft") == ["Map.canvas"]
    assert found(room, "seaweed mulch") == ["Garden.opml"]
    assert found(room, "cone nine hours") == ["Roam.json"]
    assert found(room, "prune medlar") == ["Orchard.wiki"]
    assert found(room, "badger key") == ["Lease.DOCX"]
    assert found(room, "otters afloat") == ["page.html"]
    assert found(room, "capercaillie shed") == ["stock.csv"]
    assert found(room, "lapwing") == ["old.enex"]
    assert room.index().unchanged == report.read
    assert "[Lease](Lease.DOCX)" in (room.notes / "index.md").read_text()
    assert "passages come from search_notes" in room.tool("read_note", path="Lease.DOCX")


def test_exports_of_keep_and_day_one_are_searched_once_and_other_json_is_counted(room: Room) -> None:
    (room.notes / "Shop.json").write_bytes(KEEP)
    (room.notes / "Shop.html").write_text("<title>Shop list</title><p>lapwing eggs</p>")
    (room.notes / "Journal.json").write_bytes(DAY_ONE)
    (room.notes / "package.json").write_text('{"name": "lapwing"}')
    report = room.index()

    assert (report.passed_over, report.left_out) == ((), ((".html", 1), (".json", 1)))
    assert found(room, "lapwing") == ["Shop.json"]
    assert found(room, "seine") == ["Journal.json"]
    (hit,) = room.search("lapwing").hits
    assert (hit.title, hit.date) == ("Shop list", "2012-10-30")
    assert "[Shop list](Shop.json)" in (room.notes / "index.md").read_text()
    assert "passages come from search_notes" in room.tool("read_note", path="Journal.json")
    assert "There is no note" in room.tool("read_note", path="package.json")


def test_a_damaged_document_is_said_and_the_rest_is_read(room: Room) -> None:
    (room.notes / "torn.docx").write_bytes(word(p("x"))[:200])

    assert "the file is damaged" in passed_over(room.index())["torn.docx"]
    assert found(room, "gateway") == ["retry.md"]


def test_files_that_are_no_notes_are_counted_by_kind(room: Room) -> None:
    for name in ("a.key", "b.KEY", "c.png", "LICENSE"):
        (room.notes / name).write_bytes(b"x")

    assert room.index().left_out == ((".key", 2), ("", 1), (".png", 1))


def test_pdfs_and_rich_text_are_searched_and_a_scan_is_said(room: Room) -> None:
    (room.notes / "Lease.pdf").write_bytes(make_pdf("The landlord keeps", "the badger key."))
    (room.notes / "Scan.PDF").write_bytes(make_pdf(""))
    (room.notes / "torn.pdf").write_bytes(b"%PDF-1.7 x")
    (room.notes / "Old.rtf").write_bytes(rb"{\rtf1\ansi\ansicpg1252 The caf\'e9 sells lapwing eggs.\par}")
    report = room.index()

    assert found(room, "badger key") == ["Lease.pdf"]
    assert found(room, "café lapwing") == ["Old.rtf"]
    told = passed_over(report)
    assert "pictures without text" in told["Scan.PDF"]
    assert "damaged" in told["torn.pdf"]
    assert "[Page 2]" in room.search("badger key").hits[0].text
