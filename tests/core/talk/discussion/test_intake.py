"""Attachments are judged at the door: what no provider takes is refused with the reason, a PDF is read once."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image

from core.app.crunch import Counting
from core.kernel.errors import SlopError, StorageError
from core.kernel.values.discussion import Draft
from core.kernel.values.messages import AttachmentPart
from core.talk.discussion import attachments, discussion_store
from core.talk.discussion.attachments import AttachmentHandler
from core.talk.discussion.discussion_messages import AttachmentStored, StoreAttachment
from core.talk.discussion.discussion_meta import read_draft, write_draft
from core.talk.discussion.document_text import read_document
from core.talk.discussion.pdf_text import Found
from tests.core.kernel.faults import made, names
from tests.core.records import ID, NOW, meta, user
from tests.core.talk.discussion.test_document_text import p, word
from tests.pdfs import ascii_pdf, bomb_pdf, encrypted_pdf, make_pdf

MOST = 1_000_000


class Door:
    """The worker on a home, and what it reported."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.reads = 0
        self.stored: list[AttachmentStored] = []
        made(home, [user("a")])
        self.handler = AttachmentHandler(home, self._emit, self._read)

    def _emit(self, event: object) -> None:
        assert isinstance(event, AttachmentStored)
        self.stored.append(event)

    def _read(self, data: bytes) -> Found:
        self.reads += 1
        return read_document(data)

    def attach(self, data: bytes, name: str, most: int = MOST) -> AttachmentPart:
        source = self.home / name
        source.write_bytes(data)
        self.handler.handle(StoreAttachment(ID, most, path=str(source)))
        return self.stored[-1].part


@pytest.fixture
def door(tmp_path: Path) -> Door:
    # In this process: what the memory limit of its own process does is tried below.
    return Door(tmp_path)


def test_a_file_and_a_paste_are_attached_by_content(door: Door) -> None:
    by_path = door.attach(b"remember", "notes.txt")
    door.handler.handle(StoreAttachment(ID, MOST, text="remember", name="pasted.txt"))

    assert by_path.sha256 == door.stored[-1].part.sha256
    assert by_path.name == "notes.txt"


def test_a_folder_is_refused_with_the_way_to_add_it(door: Door) -> None:
    with pytest.raises(StorageError, match="is a folder") as refused:
        door.handler.handle(StoreAttachment(ID, MOST, path=str(door.home)))
    assert "type @" in refused.value.remedy


@pytest.mark.parametrize("size", [1001, 5000])
def test_a_file_over_the_limit_is_refused_with_both_sizes(door: Door, size: int) -> None:
    with pytest.raises(StorageError, match="1,000") as refused:
        door.attach(b"x" * size, "big.bin", 1000)
    assert "add a part to a context preset" in refused.value.remedy


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_measured_by_its_longer_side_and_the_draft_keeps_it(door: Door, form: str) -> None:
    file = io.BytesIO()
    Image.new("1" if form == "PNG" else "L", (3, 9_000)).save(file, form)

    part = door.attach(file.getvalue(), "tall.bin")

    assert part.side_px == 9_000
    write_draft(door.home, ID, Draft("", (part,)))
    assert read_draft(door.home, ID).attachments == (part,)


def test_a_picture_of_more_pixels_than_memory_is_measured_and_half_of_a_head_is_not(door: Door) -> None:
    head = io.BytesIO()
    Image.new("1", (1, 1)).save(head, "PNG")
    data = bytearray(head.getvalue())
    data[16:24] = struct.pack(">II", 60_000, 50_000)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))

    assert door.attach(bytes(data), "bomb.png").side_px == 60_000
    assert door.attach(bytes(data[:20]), "half.png").side_px == 0


def test_a_pasted_picture_is_kept_by_its_bytes_and_measured(door: Door) -> None:
    out = io.BytesIO()
    Image.new("RGB", (60, 40)).save(out, "PNG")
    door.handler.handle(StoreAttachment(ID, MOST, data=out.getvalue(), name="pasted.png"))
    part = door.stored[-1].part
    assert (part.name, part.media_type, part.side_px) == ("pasted.png", "image/png", 60)
    assert attachments.load(door.home, ID, part) == out.getvalue()
    with pytest.raises(StorageError, match=r"pasted\.png.*has 87 bytes; an attachment may have 10"):
        door.handler.handle(StoreAttachment(ID, 10, data=out.getvalue(), name="pasted.png"))


def test_a_path_that_is_no_file_is_refused_by_name(door: Door) -> None:
    with pytest.raises(StorageError, match="not a file"):
        door.handler.handle(StoreAttachment(ID, 1000, path=str(door.home / "nothing")))


def test_a_pdf_of_gigabytes_is_named_with_its_own_size_and_not_read(door: Door) -> None:
    large = door.home / "large.pdf"
    with large.open("wb") as stream:
        stream.write(b"%PDF-1.7\n")
        stream.truncate(5_000_000_000)

    with pytest.raises(
        StorageError, match=r"'large.pdf' has 5,000,000,000 bytes; an attachment may have 1,000"
    ):
        door.handler.handle(StoreAttachment(ID, 1000, path=str(large)))
    assert door.reads == 0


@pytest.mark.parametrize("data", [b"\xff\xfea\0", b"BM\xff\0\0", b"\x7fELF\0"])
def test_what_no_provider_takes_is_refused_with_what_they_do_take(door: Door, data: bytes) -> None:
    with pytest.raises(StorageError, match=r"No provider takes 'a.docx'. Providers take .*PDF, UTF-8 text"):
        door.attach(data, "a.docx")
    assert not (door.home / "discussions" / ID / "attachments").exists()


def test_a_discussion_that_was_deleted_meanwhile_is_not_made_anew(door: Door) -> None:
    with pytest.raises(StorageError, match="The discussion is gone"):
        door.handler.handle(StoreAttachment("20261120-080000-gggggg", MOST, text="late", name="late.txt"))
    assert not (door.home / "discussions" / "20261120-080000-gggggg").exists()


@pytest.mark.parametrize("data", [make_pdf("Tides turn", "", "Grüße"), ascii_pdf("Tides turn")])
def test_a_pdf_is_kept_with_its_pages_and_its_text_beside_it(door: Door, data: bytes) -> None:
    part = door.attach(data, "tides.pdf")

    assert (part.media_type, part.pages) == ("application/pdf", data.count(b"/MediaBox"))
    assert attachments.load(door.home, ID, part) == data
    text = part.as_text
    assert text is not None
    assert text.name == "tides.pdf"
    assert attachments.load(door.home, ID, text).decode().startswith("[Page 1]\nTides turn\n")
    assert door.attach(data, "tides.pdf") == part, "the same file gives the same bytes"


def test_each_page_has_its_number_and_an_empty_one_too(door: Door) -> None:
    text = door.attach(make_pdf("one", "", "three"), "a.pdf").as_text

    assert text is not None
    assert (
        attachments.load(door.home, ID, text).decode() == "[Page 1]\none\n\n[Page 2]\n\n\n[Page 3]\nthree\n"
    )


def test_a_scan_has_pages_and_no_text(door: Door) -> None:
    part = door.attach(make_pdf("", ""), "scan.pdf")

    assert (part.pages, part.as_text) == (2, None)
    assert len(names(door.home / "discussions" / ID / "attachments")) == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (encrypted_pdf("secret"), "asks for a password"),
        (encrypted_pdf(), "is encrypted"),
        (make_pdf("Tides")[:200], "is damaged"),
        (b"%PDF-1.7\n" + b"\xff\0" * 400, "is damaged"),
        (make_pdf(), "is damaged|has no pages"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_refused_with_why_and_a_remedy(
    door: Door, data: bytes, why: str
) -> None:
    with pytest.raises(StorageError, match=f"'a.pdf': the (PDF|file) ({why})") as refused:
        door.attach(data, "a.pdf")
    assert refused.value.remedy


def test_too_many_pages_and_too_much_text_are_refused(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.talk.discussion.pdf_text.MAX_TEXT_CHARS", 20)
    with pytest.raises(StorageError, match="more than 20 characters"):
        door.attach(make_pdf("Tides turn every six hours"), "a.pdf")
    monkeypatch.setattr("core.talk.discussion.pdf_text.MAX_PAGES", 2)
    with pytest.raises(StorageError, match="has 3 pages, more than 2"):
        door.attach(make_pdf("a", "b", "c"), "a.pdf")


def test_a_bomb_ends_its_own_process_and_is_refused(door: Door) -> None:
    """27 KB that unpack to 4 GB."""
    counting = Counting()
    handler = AttachmentHandler(door.home, door.handler.emit, counting.document)
    source = door.home / "bomb.pdf"
    source.write_bytes(bomb_pdf(4_000))

    with pytest.raises(StorageError, match=r"'bomb\.pdf' is unreadable: it takes too much time or memory"):
        handler.handle(StoreAttachment(ID, MOST, path=str(source)))

    source.write_bytes(make_pdf("Tides"))
    handler.handle(StoreAttachment(ID, MOST, path=str(source)))
    assert door.stored[-1].part.pages == 1
    counting.close()


def test_a_draft_keeps_what_is_known_of_a_pdf_and_a_branch_takes_its_text_along(door: Door) -> None:
    part = door.attach(make_pdf("Tides"), "a.pdf")
    write_draft(door.home, ID, Draft("look", (part,)))
    assert read_draft(door.home, ID).attachments == (part,)

    other = "20261120-080000-bbbbbb"
    discussion_store.create(door.home, meta(other), [replace(user("b"), parts=(part,))], attachments_of=ID)
    text = part.as_text
    assert text is not None
    assert attachments.load(door.home, other, text)
    assert discussion_store.load(door.home, other, NOW).discussion.messages[-1].attachments == (part,)


def test_a_reader_that_fails_is_no_fault_of_the_program(door: Door) -> None:
    def broken(_data: bytes) -> Found:
        raise SlopError("The helper process needed more than 30 s for 'pdf'")

    handler = AttachmentHandler(door.home, door.handler.emit, broken)
    source = door.home / "a.pdf"
    source.write_bytes(make_pdf("Tides"))
    with pytest.raises(StorageError, match="is unreadable"):
        handler.handle(StoreAttachment(ID, MOST, path=str(source)))


def test_a_picture_that_lies_on_its_side_is_kept_upright(door: Door) -> None:
    exif = Image.Exif()
    exif[0x0112] = 8
    out = io.BytesIO()
    Image.new("RGB", (60, 40)).save(out, "JPEG", exif=exif.tobytes())
    part = door.attach(out.getvalue(), "phone.jpg")

    with Image.open(io.BytesIO(attachments.load(door.home, ID, part))) as kept:
        assert (kept.size, kept.getexif().get(0x0112, 1)) == ((40, 60), 1)


def test_an_office_file_is_kept_as_its_text(door: Door) -> None:
    part = door.attach(word(p("Rent is due on the 1st.")), "lease.docx")

    assert (part.name, part.media_type) == ("lease.docx", "text/plain")
    assert attachments.load(door.home, ID, part) == b"Rent is due on the 1st.\n"


def test_the_text_of_an_office_file_meets_the_limit_and_the_look_for_keys(door: Door) -> None:
    data = word(p("x" * 5_000))
    with pytest.raises(
        StorageError, match=r"The text of 'long.docx' has 5,001 bytes; an attachment may have 4,000"
    ):
        door.attach(data, "long.docx", 4_000)
    key = "-----BEGIN RSA PRIVATE KEY-----"
    with pytest.raises(StorageError, match="did not attach") as refused:
        door.attach(word(p(key) + p("MIIEowIBAAKCAQEA" * 20)), "server.docx")
    assert "without the keys" in refused.value.remedy
    assert door.stored == []


def test_an_old_office_file_is_refused_with_the_way_out(door: Door) -> None:
    with pytest.raises(StorageError, match="old Office format") as refused:
        door.attach(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "lease.doc")
    assert "Save it as .docx" in refused.value.remedy
