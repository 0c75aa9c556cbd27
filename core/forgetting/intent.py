"""Intents on disk until all is forgotten, which a start after a crash goes on with; and receipts, without words."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from core.base.decoders import from_json
from core.base.disk import OS_DISK, Disk, make_dirs, remove_file, write_file
from core.base.opener import BOOK_BYTES, read_file
from core.forgetting.words import Words
from core.values.forgetting import ForgetReceipt, ForgetTarget

FOLDER = "forgetting"
_INTENT, _RECEIPT = ".intent.json", ".receipt.json"

log = logging.getLogger(__name__)


class Intent(msgspec.Struct, frozen=True):
    """A forgetting as it was begun.

    Args:
        words: by which copies are found; providers: of conversations, by id, whose caches may be stored.
        holders: discussions that may still hold it; server: address of the index on a server, empty for none.
    """

    id: str
    target: ForgetTarget
    words: Words
    providers: tuple[tuple[str, str], ...] = ()
    holders: tuple[str, ...] = ()
    server: str = ""


def folder(home: Path) -> Path:
    """Folder of intents, of what was moved out of sight, and of receipts."""
    return home / FOLDER


def keep(home: Path, intent: Intent, *, disk: Disk = OS_DISK) -> None:
    """Put an intent on the medium. Raises StorageError: nothing was forgotten yet."""
    make_dirs(folder(home), disk=disk)
    write_file(folder(home) / f"{intent.id}{_INTENT}", msgspec.json.encode(intent), disk=disk)


def waiting(home: Path) -> Iterator[Intent]:
    """Intents that did not come to their end, the oldest first. One that cannot be read is told in the log."""
    for path in sorted(folder(home).glob(f"*{_INTENT}")):
        try:
            yield from_json(read_file(path, BOOK_BYTES), Intent)
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("a forgetting cannot be gone on with: %s: %s", path.name, type(error).__name__)


def is_waiting(home: Path) -> bool:
    """True if something is half forgotten."""
    return any(folder(home).glob(f"*{_INTENT}"))


def close(home: Path, receipt: ForgetReceipt, *, disk: Disk = OS_DISK) -> None:
    """Keep the receipt, then drop the intent: its words go last. Raises StorageError: a start ends it."""
    write_file(folder(home) / f"{receipt.id}{_RECEIPT}", msgspec.json.encode(receipt), disk=disk)
    remove_file(folder(home) / f"{receipt.id}{_INTENT}", disk=disk)


def receipts(home: Path) -> tuple[ForgetReceipt, ...]:
    """Receipts that are kept, the newest first."""
    found = []
    for path in sorted(folder(home).glob(f"*{_RECEIPT}"), reverse=True):
        with suppress(OSError, msgspec.MsgspecError):
            found.append(from_json(read_file(path, BOOK_BYTES), ForgetReceipt))
    return tuple(found)
