"""Intake of files, long pastes and pasted pictures as attachments: judged at the door, kept, reported. On a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from core.base import paths
from core.base.errors import SlopError, StorageError
from core.base.key_files import BY_LINK, HEAD_BYTES, content_reasons, linked_keys, mark_of
from core.base.key_names import name_reasons
from core.base.opener import read_file
from core.base.reports import Report
from core.discussion import attachments
from core.discussion.messages import AttachmentStored, StoreAttachment
from core.discussion.pdf_text import Found
from core.discussion.picture_side import side_px
from core.values.messages import EXTENSIONS, AttachmentPart

Emit = Callable[[AttachmentStored | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

ReadPdf = Callable[[bytes], Found]
"""`read_pdf` in a process of its own. Raises SlopError where that process ended, or took too long."""

TAKEN = "pictures (PNG, JPEG, GIF, WebP), PDF and UTF-8 text"
_PDF = "application/pdf"
_FOLDERS_AROUND = 4
"""In which another name of an attached file is looked for, its own first."""


class AttachmentHandler(msgspec.Struct, frozen=True):
    """Carries out the effects that keep attachments.

    Args:
        root: the home; emit: the controller's inbox; read_pdf: may take seconds.
    """

    root: Path
    emit: Emit
    read_pdf: ReadPdf

    def handle(self, effect: StoreAttachment) -> None:
        """Keep a file, or what was pasted, with its discussion.

        Raises:
            StorageError: it was not kept: it is too large, no provider takes it, or the disk refuses it.
        """
        pasted = effect.data or effect.text.encode()
        data, name = (pasted, effect.name) if pasted else _read_file(effect)
        _check_size(effect, len(data), name)
        _check_keys(effect, data)
        if not paths.discussion_dir(self.root, effect.discussion_id).is_dir():
            raise StorageError("The discussion is not there any more", remedy="Look in the trash")
        media_type = attachments.sniff(data)
        if media_type not in EXTENSIONS:
            raise StorageError(
                f"No provider takes {name!r}: it is neither of {TAKEN}",
                remedy="Convert it to one of these, then attach that",
                where=effect.path,
            )
        if media_type == _PDF:
            part = self._keep_pdf(effect, data, name)
        else:
            part = attachments.save(self.root, effect.discussion_id, data, name)
            part = msgspec.structs.replace(part, side_px=side_px(data, media_type))
        self.emit(AttachmentStored(effect.discussion_id, part))

    def _keep_pdf(self, effect: StoreAttachment, data: bytes, name: str) -> AttachmentPart:
        """Keep a PDF, and beside it the text that goes to models that take none: read once, the same every turn."""
        found = self._judged_pdf(effect, data, name)
        part = attachments.save(self.root, effect.discussion_id, data, name)
        part = msgspec.structs.replace(part, pages=found["pages"])
        text = found["text"].encode()
        if not text:
            return part
        kept = attachments.save(self.root, effect.discussion_id, text, name, media_type="text/plain")
        return msgspec.structs.replace(part, text_sha256=kept.sha256, text_bytes=kept.size_bytes)

    def _judged_pdf(self, effect: StoreAttachment, data: bytes, name: str) -> Found:
        try:
            found = self.read_pdf(data)
        except SlopError as error:
            raise StorageError(
                f"{name!r} cannot be read: it asks for more time or memory than a PDF should, or breaks its reader",
                remedy="Open and save it anew, or attach the pages that matter",
                where=effect.path,
            ) from error
        if "problem" in found:
            raise StorageError(f"{name!r} {found['problem']}", remedy=found["remedy"], where=effect.path)
        return found


def _check_size(effect: StoreAttachment, size_bytes: int, name: str) -> None:
    limit = effect.max_bytes
    if size_bytes > limit:
        raise StorageError(
            f"{name!r} is {size_bytes:,} bytes, more than an attachment may have ({limit:,})",
            remedy="Attach a part of it, add it to a context preset in slices, or raise files.max_attachment_bytes",
            where=effect.path,
        )


def _check_keys(effect: StoreAttachment, data: bytes) -> None:
    """Raise StorageError for a file of keys: all that is attached goes to a provider."""
    if not effect.path or not attachments.sniff(data).startswith("text/"):
        return
    path = Path(effect.path).expanduser().resolve()
    is_shown = any(path.is_relative_to(place) for place in effect.shown)
    mark = mark_of(path.stat())
    found = name_reasons(path.as_posix()) or content_reasons(path.name, data[: HEAD_BYTES + 1])
    if (
        not found
        and mark.links > 1
        and mark.identity in linked_keys(map(str, path.parents[:_FOLDERS_AROUND]))
    ):
        found = (BY_LINK,)
    if found and not is_shown:
        raise StorageError(
            f"{effect.path!r} was not attached. {found[0].removesuffix('.')}",
            remedy="Attach a copy without the keys, or add the file to Places that are shown (Settings, Permissions)",
            where=effect.path,
        )


def _read_file(effect: StoreAttachment) -> tuple[bytes, str]:
    path = effect.path
    source = Path(path).expanduser()
    if not source.is_file():
        raise StorageError(f"{path!r} is not a file", remedy="Choose a file that exists", where=path)
    _check_size(effect, source.stat().st_size, source.name)
    try:
        return read_file(source, effect.max_bytes), source.name
    except OSError as error:
        raise StorageError(
            f"Cannot read {path!r}: {error.strerror}", where=path, errno=error.errno
        ) from error
