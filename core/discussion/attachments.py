"""Files kept with a discussion, named by the hash of their content: written once, verified when read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs, reported, sync_dir, write_file
from core.base.errors import StorageError
from core.base.opener import BOOK_BYTES, read_file
from core.values.messages import AttachmentPart


def sniff(data: bytes) -> str:
    """The media type that the content itself shows: a picture, PDF, UTF-8 text, else `application/octet-stream`.

    Names and extensions are not asked: a vendor refuses a picture whose type is wrong.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"%PDF-"):
        return "application/pdf"
    return "text/plain" if _is_text(data) else "application/octet-stream"


def save(
    home: Path, discussion_id: str, data: bytes, name: str, *, media_type: str = "", disk: Disk = OS_DISK
) -> AttachmentPart:
    """Keep a file's content with a discussion and return once it is on the medium.

    Args:
        name: what the person calls it; only shown; media_type: empty for what the content itself shows.

    Returns:
        The part to put into a message. The same content is kept once.

    Raises:
        StorageError: it was not kept.
    """
    part = AttachmentPart(hashlib.sha256(data).hexdigest(), media_type or sniff(data), name, len(data))
    path = attachment_file(home, discussion_id, part)
    if not _holds(path, part.sha256):
        make_dirs(path.parent, disk=disk)
        write_file(path, data, mode=0o600, disk=disk)
    return part


def load(home: Path, discussion_id: str, part: AttachmentPart) -> bytes:
    """Read an attachment's content.

    Raises:
        StorageError: it is gone, or its content is not what was attached.
    """
    path = attachment_file(home, discussion_id, part)
    with reported("read the attachment", path):
        data = read_file(path, BOOK_BYTES)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise StorageError(
            f"The attachment {part.name!r} was changed on disk",
            remedy="Attach the file again",
            where=str(path),
        )
    return data


def attachment_file(home: Path, discussion_id: str, part: AttachmentPart) -> Path:
    """Path of an attachment; need not exist.

    Raises:
        StorageError: the hash is none, as a log from elsewhere may say.
    """
    if not part.file_name:
        raise StorageError(
            f"{part.sha256[:80]!r} is no sha256 of an attachment", remedy="Attach the file again"
        )
    return paths.attachments_dir(home, discussion_id) / part.file_name


def copy_between(
    source: Path, target: Path, parts: Iterable[AttachmentPart], *, disk: Disk = OS_DISK
) -> None:
    """Give one discussion's attachments to another, so that either may be deleted.

    Args:
        source, target: the two `attachments/` directories. What is missing in the source is passed over: reading
            it later says so.

    Raises:
        StorageError: a file could not be made.
    """
    kept = {one.file_name for part in parts for one in (part, part.as_text) if one is not None}
    for name in sorted(kept - {""}):
        if (source / name).is_file() and not (target / name).exists():
            make_dirs(target, disk=disk)
            _link_or_copy(source / name, target / name)
    if target.is_dir():
        with reported("write", target):
            sync_dir(target, disk)


def _link_or_copy(source: Path, target: Path) -> None:
    """A link costs no space; content that is written once may be shared."""
    with reported("copy the attachment", target):
        try:
            os.link(source, target)
        except OSError:
            write_file(target, read_file(source, BOOK_BYTES))


def _holds(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(read_file(path, BOOK_BYTES)).hexdigest() == sha256
    except OSError:
        return False


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
