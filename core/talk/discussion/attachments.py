"""Files kept with a discussion, named by the hash of their content: written once, verified when read."""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, make_dirs, reported, sync_dir, write_file
from core.kernel.errors import SlopError, StorageError
from core.kernel.key_files import BY_LINK, HEAD_BYTES, content_reasons, linked_keys, mark_of
from core.kernel.key_names import name_reasons
from core.kernel.language import spliced, tr
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.picture_files import as_looked_at, mended_png
from core.kernel.queue import queued
from core.kernel.values.messages import EXTENSIONS, AttachmentPart, files_of
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.spec import StackSpec
from core.kernel.values.updates import Report
from core.services.providers.protocol import ReadBlob
from core.talk.discussion.discussion_messages import AttachmentStored, StoreAttachment
from core.talk.discussion.pdf_text import Found


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
    part = AttachmentPart(
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=media_type or sniff(data),
        name=name,
        size_bytes=len(data),
    )
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
    with reported(tr("read the attachment"), path):
        data = read_file(path, BOOK_BYTES)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise StorageError(
            tr("The attachment {name!r} no longer has the attached content", name=part.name),
            remedy=tr("Attach the file again"),
            where=str(path),
        )
    return data


def attachment_file(home: Path, discussion_id: str, part: AttachmentPart) -> Path:
    """Path of an attachment; need not exist.

    Raises:
        StorageError: the hash has no valid form, as in a log from elsewhere.
    """
    if not part.file_name:
        raise StorageError(
            tr("{sha256!r} is not the sha256 of an attachment", sha256=part.sha256[:80]),
            remedy=tr("Attach the file again"),
        )
    return paths.attachments_dir(home, discussion_id) / part.file_name


def attachment_reader(home: Path, spec: StackSpec) -> ReadBlob:
    """Reads the attachments that a stack names."""
    inputs = spec.inputs

    def parts() -> Iterator[AttachmentPart]:
        yield from inputs.attachments
        for turn in inputs.turns:
            yield from files_of(turn.parts)

    return _reader(home, spec.discussion_id, parts)


def request_reader(home: Path, discussion_id: str, request: ProviderRequest) -> ReadBlob:
    """Reads the attachments that a request of a discussion names, as a ping and a prewarm send them again."""
    return _reader(
        home, discussion_id, lambda: files_of(part for message in request.messages for part in message.parts)
    )


def _reader(home: Path, discussion_id: str, parts: Callable[[], Iterable[AttachmentPart]]) -> ReadBlob:
    """Looks for the files when the first is read: most requests of many messages have none."""

    @cache
    def by_hash() -> dict[str, AttachmentPart]:
        return {part.sha256: part for one in parts() for part in (one, one.as_text) if part is not None}

    return lambda sha256: load(home, discussion_id, by_hash()[sha256])


def copy_between(
    source: Path, target: Path, parts: Iterable[AttachmentPart], *, disk: Disk = OS_DISK
) -> None:
    """Copy one discussion's attachments to another, so that a person can delete either.

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
    with reported(tr("copy the attachment"), target):
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


# Longer side of a picture, read from the head of its file: nothing is decoded.


def side_px(data: bytes, media_type: str) -> int:
    """Measure the longer side of a picture, in pixels. Raises nothing.

    Returns:
        0 where the file is no picture of the four types that vendors take, or its head cannot be read.
    """
    reader = _READERS.get(media_type)
    if reader is None:
        return 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return max(reader(data))
    except Exception:  # noqa: BLE001 - Pillow's readers raise what they like about bytes that are no picture
        return 0


# Each type by its own class: `Image.open` refuses the very pictures whose size is asked for, as bombs.
def _png(data: bytes) -> tuple[int, int]:
    from PIL.PngImagePlugin import PngImageFile

    return PngImageFile(io.BytesIO(data)).size


def _jpeg(data: bytes) -> tuple[int, int]:
    from PIL.JpegImagePlugin import JpegImageFile

    return JpegImageFile(io.BytesIO(data)).size


def _gif(data: bytes) -> tuple[int, int]:
    from PIL.GifImagePlugin import GifImageFile

    return GifImageFile(io.BytesIO(data)).size


def _webp(data: bytes) -> tuple[int, int]:
    from PIL.WebPImagePlugin import WebPImageFile

    return WebPImageFile(io.BytesIO(data)).size


_READERS = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}


# Intake of files, long pastes and pasted pictures as attachments: judged at the door, kept, reported. On a
# thread of its own.

Emit = Callable[[AttachmentStored | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

ReadDocument = Callable[[bytes], Found]
"""`read_document` in a process of its own. Raises SlopError where that process ended, or took too long."""

TAKEN = tr("pictures (PNG, JPEG, GIF, WebP), PDF, UTF-8 text, docx, pptx, xlsx, odt, rtf, epub")
_DOCUMENTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"{\\rtf")
"""First bytes of archives, as office files and books are, of old office files, and of rich text."""
_PDF = "application/pdf"
_FOLDERS_AROUND = 4
"""In which another name of an attached file is looked for, its own first."""


class AttachmentHandler(msgspec.Struct, frozen=True):
    """Carries out the effects that keep attachments.

    Args:
        root: the home; emit: the controller's inbox; read_document: may take seconds.
    """

    root: Path
    emit: Emit
    read_document: ReadDocument

    def handle(self, effect: StoreAttachment) -> None:
        """Keep a file, or what was pasted, with its discussion.

        Raises:
            StorageError: it was not kept: it is too large, no provider takes it, or the disk refuses it.
        """
        pasted = effect.data or effect.text.encode()
        data, name = (pasted, effect.name) if pasted else _read_file(effect)
        _check_size(effect, len(data), name)
        if data.startswith(_DOCUMENTS):
            data = self._judged(effect, data, name)["text"].encode()
            _check_size(effect, len(data), name, is_of_text=True)
        _check_keys(effect, data)
        if not paths.discussion_dir(self.root, effect.discussion_id).is_dir():
            raise StorageError(tr("The discussion is gone"), remedy=tr("Look in the trash"))
        media_type = sniff(data)
        if media_type not in EXTENSIONS:
            raise StorageError(
                tr("No provider takes {name!r}. Providers take {TAKEN}", name=name, TAKEN=TAKEN),
                remedy=tr("Convert the file to one of these, then attach the result"),
                where=effect.path,
            )
        if media_type == _PDF:
            part = self._keep_pdf(effect, data, name)
        else:
            data = as_looked_at(mended_png(data), media_type)
            part = save(self.root, effect.discussion_id, data, name)
            part = msgspec.structs.replace(part, side_px=side_px(data, media_type))
        self.emit(AttachmentStored(effect.discussion_id, part))

    def _keep_pdf(self, effect: StoreAttachment, data: bytes, name: str) -> AttachmentPart:
        """Keep a PDF, and beside it the text that goes to models that take none: read once, the same every turn."""
        found = self._judged(effect, data, name)
        part = save(self.root, effect.discussion_id, data, name)
        part = msgspec.structs.replace(part, pages=found["pages"])
        text = found["text"].encode()
        if not text:
            return part
        kept = save(self.root, effect.discussion_id, text, name, media_type="text/plain")
        return msgspec.structs.replace(part, text_sha256=kept.sha256, text_bytes=kept.size_bytes)

    def _judged(self, effect: StoreAttachment, data: bytes, name: str) -> Found:
        try:
            found = self.read_document(data)
        except SlopError as error:
            raise StorageError(
                tr(
                    "{name!r} is unreadable: it takes too much time or memory, or crashes the reader",
                    name=name,
                ),
                remedy=tr("Open the file and save it again, or attach only the pages that matter"),
                where=effect.path,
            ) from error
        if "problem" in found:
            raise StorageError(
                spliced("{!r}: {}", name, found["problem"]), remedy=found["remedy"], where=effect.path
            )
        return found


def _check_size(effect: StoreAttachment, size_bytes: int, name: str, *, is_of_text: bool = False) -> None:
    limit = effect.max_bytes
    if size_bytes > limit:
        raise StorageError(
            tr(
                "The text of {name!r} has {size_bytes:,} bytes; an attachment may have {limit:,}",
                name=name,
                size_bytes=size_bytes,
                limit=limit,
            )
            if is_of_text
            else tr(
                "{name!r} has {size_bytes:,} bytes; an attachment may have {limit:,}",
                name=name,
                size_bytes=size_bytes,
                limit=limit,
            ),
            remedy=tr("Attach a part, add a part to a context preset, or raise files.max_attachment_bytes"),
            where=effect.path,
        )


def _check_keys(effect: StoreAttachment, data: bytes) -> None:
    """Raise StorageError for a file of keys: all that is attached goes to a provider."""
    if not effect.path or not sniff(data).startswith("text/"):
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
            tr(
                "The program did not attach {path!r}. {found}",
                path=effect.path,
                found=found[0].removesuffix("."),
            ),
            remedy=tr(
                "Attach a copy without the keys. Or add the file to “Readable places” in Settings, Permissions"
            ),
            where=effect.path,
        )


def _read_file(effect: StoreAttachment) -> tuple[bytes, str]:
    path = effect.path
    source = Path(path).expanduser()
    if source.is_dir():
        raise StorageError(
            tr("{path!r} is a folder", path=path),
            remedy=tr("Attach its files, or type @ and the folder's name"),
            where=path,
        )
    if not source.is_file():
        raise StorageError(
            tr("{path!r} is not a file", path=path), remedy=tr("Choose a file that exists"), where=path
        )
    _check_size(effect, source.stat().st_size, source.name)
    try:
        return read_file(source, effect.max_bytes), source.name
    except OSError as error:
        raise StorageError(
            tr("The program cannot read {path!r}: {strerror}", path=path, strerror=error.strerror),
            where=path,
            errno=error.errno,
        ) from error


WORK = queued("attachments", StoreAttachment, about=lambda one: one.discussion_id)
