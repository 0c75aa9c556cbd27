"""Attachments: kept once by content, verified when read, shared safely with branches."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.messages import AttachmentPart
from core.talk.discussion import attachments
from tests.core.kernel.faults import FullDisk, made
from tests.core.records import ID

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    ("data", "media_type", "extension"),
    [
        (PNG, "image/png", "png"),
        (b"\xff\xd8\xff\xe0abc", "image/jpeg", "jpg"),
        (b"GIF89a...", "image/gif", "gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp", "webp"),
        (b"%PDF-1.7\n%\xe2\xe3", "application/pdf", "pdf"),
        ("Grüße\n".encode(), "text/plain", "txt"),
        (b"", "text/plain", "txt"),
        (b"a\0b", "application/octet-stream", "bin"),
        (b"\xff\xfea\0", "application/octet-stream", "bin"),
        (b"RIFF\0\0\0\0WAVE\xff", "application/octet-stream", "bin"),
    ],
)
def test_the_type_is_what_the_content_shows_whatever_the_name(
    tmp_path: Path, data: bytes, media_type: str, extension: str
) -> None:
    made(tmp_path)
    part = attachments.save(tmp_path, ID, data, "photo.exe")

    assert part == AttachmentPart(hashlib.sha256(data).hexdigest(), media_type, "photo.exe", len(data))
    assert attachments.attachment_file(tmp_path, ID, part).name == f"{part.sha256}.{extension}"
    assert attachments.load(tmp_path, ID, part) == data


@given(st.binary(max_size=200))
def test_any_content_comes_back(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    home = tmp_path_factory.mktemp("home")
    made(home)

    assert attachments.load(home, ID, attachments.save(home, ID, data, "x")) == data


def test_the_same_content_is_kept_once_and_not_written_again(tmp_path: Path) -> None:
    made(tmp_path)
    part = attachments.save(tmp_path, ID, PNG, "a.png")
    again = attachments.save(tmp_path, ID, PNG, "b.png", disk=FullDisk(0))

    assert again == replace(part, name="b.png")
    assert len(list(paths.attachments_dir(tmp_path, ID).iterdir())) == 1


def test_a_file_that_was_changed_or_lost_is_said_and_can_be_attached_again(tmp_path: Path) -> None:
    made(tmp_path)
    part = attachments.save(tmp_path, ID, PNG, "a.png")
    path = attachments.attachment_file(tmp_path, ID, part)

    path.write_bytes(b"tampered")
    with pytest.raises(StorageError, match=r"'a\.png' no longer has"):
        attachments.load(tmp_path, ID, part)
    path.unlink()
    with pytest.raises(StorageError, match="the file or folder is missing"):
        attachments.load(tmp_path, ID, part)

    attachments.save(tmp_path, ID, PNG, "a.png")
    assert attachments.load(tmp_path, ID, part) == PNG


def test_a_damaged_file_is_replaced_when_its_content_comes_again(tmp_path: Path) -> None:
    made(tmp_path)
    part = attachments.save(tmp_path, ID, PNG, "a.png")
    attachments.attachment_file(tmp_path, ID, part).write_bytes(b"tampered")

    attachments.save(tmp_path, ID, PNG, "a.png")

    assert attachments.load(tmp_path, ID, part) == PNG


@pytest.mark.parametrize("sha256", ["", "../../../etc/passwd", "AB" * 32, "ab" * 31, "ab" * 32 + "\n"])
def test_a_hash_from_a_hostile_log_reaches_no_other_file(tmp_path: Path, sha256: str) -> None:
    made(tmp_path)
    with pytest.raises(StorageError, match="is not the sha256 of an attachment"):
        attachments.load(tmp_path, ID, AttachmentPart(sha256, "text/plain", "x", 1))


def test_a_full_disk_keeps_nothing_half(tmp_path: Path) -> None:
    made(tmp_path)
    with pytest.raises(StorageError, match="the disk is full"):
        attachments.save(tmp_path, ID, PNG, "a.png", disk=FullDisk(10))

    assert list(paths.attachments_dir(tmp_path, ID).iterdir()) == []
