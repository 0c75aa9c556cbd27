"""Words that stand in a home beside the places: temporary files of a crash, files that are not ours, bytes of databases."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from core.app.forgetting import forgetting_places as places
from core.app.forgetting.forgetting_places import Folder, Place, place_of
from core.app.forgetting.words import MIN_NEEDLE, Words, forms, holds
from core.kernel import paths
from core.kernel.child_process import start_child
from core.kernel.codecs import from_json, to_json
from core.kernel.diagnostics import LOG_NAME
from core.kernel.disk import OS_DISK, Disk, make_dirs, remove_file, write_file
from core.kernel.figures import first_of
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.opener import BOOK_BYTES, open_descriptor, open_file, read_file
from core.kernel.values.knowledge import ForgetReceipt, ForgetTarget
from core.kernel.values.signals import SIGNAL_CHARS

# Bytes of a file in pieces, those of a database read by another process.

_PIECE_BYTES = 1 << 20
_CHILD = Path(__file__).with_name("read_child.py")
_DATABASE = ".sqlite"


def pieces_of(path: Path, piece_bytes: int = _PIECE_BYTES) -> Iterator[bytes]:
    """Read any file of ours to its end. `piece_bytes`: at most, of each piece.

    A database is read by another process: POSIX takes from this one all its locks on a file when it closes any descriptor
    of it, and the next program that ends deletes the log under our connections. Source: "How To Corrupt An SQLite Database
    File", 2.2 (read 2026-11-24).

    Raises:
        OSError: as `open_file`; the other process could not be started, or could not read it.
    """
    if _DATABASE not in path.name:
        with open_file(path) as stream:
            while data := stream.read(piece_bytes):
                yield data
        return
    process = start_child(_CHILD, str(path.absolute()), stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        with process.stdout:
            while data := process.stdout.read(piece_bytes):
                yield data
        if process.wait():
            raise OSError(errno.EIO, tr("the file could not be read"), str(path))
    finally:
        process.kill()
        process.wait()


# Words that stand in a home beside the places: temporary files that a crash left, and files that are not
# ours.

# Files of a home, its caches and logs: which there are, and how those go that are made anew by themselves.


def files_of(folder: Path, left_out: Collection[Path] = ()) -> Iterator[Path]:
    """Every file below a folder, a folder at a time, by name. `left_out`: folders in it that are passed over."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if Path(place, one) not in left_out)
        yield from (Path(place, name) for name in sorted(names))


def is_of_home(home: Path, root: Folder, name: str) -> bool:
    """True if a file belongs to this data folder: the folder of caches holds files of all data folders. `name`: below the root."""
    if root is not Folder.CACHE or not name.startswith(("catalog-", "commands-", "facts-", "index-")):
        return True
    return paths.catalog_file(home).stem.partition("-")[2] in name


def drop_place(home: Path, place: Place, disk: Disk) -> int:
    """Remove every file of a derived place in this home. Returns their number. Raises StorageError: a file is still there."""
    folder = {Folder.HOME: home, Folder.CACHE: paths.cache_dir(), Folder.LOG: paths.log_dir()}[place.root]
    names = ((path, path.relative_to(folder).as_posix()) for path in files_of(folder))
    found = [
        path
        for path, name in names
        if place_of(place.root, name) is place and is_of_home(home, place.root, name)
    ]
    for path in found:
        remove_file(path, disk=disk)
    return len(found)


def empty_logs(folder: Path) -> int:
    """Empty the log in place, for others may have it open, and remove those that were turned over.

    Returns:
        How many there were.

    Raises:
        OSError: one could not be opened or removed.
    """
    count = 0
    for path in sorted(folder.glob(f"{LOG_NAME}*")) if folder.is_dir() else []:
        if path.name == LOG_NAME:
            descriptor = open_descriptor(path, os.O_RDWR)
            try:
                os.ftruncate(descriptor, 0)
            finally:
                os.close(descriptor)
        else:
            path.unlink(missing_ok=True)
        count += 1
    return count


# Intents on disk until all is forgotten, which a start after a crash goes on with; and receipts, without
# words.

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


def intents_folder(home: Path) -> Path:
    """Folder of intents, of what was moved out of sight, and of receipts."""
    return home / FOLDER


def keep(home: Path, intent: Intent, *, disk: Disk = OS_DISK) -> None:
    """Put an intent on the medium. Raises StorageError: nothing was forgotten yet."""
    make_dirs(intents_folder(home), disk=disk)
    write_file(intents_folder(home) / f"{intent.id}{_INTENT}", to_json(intent), disk=disk)


def waiting(home: Path) -> Iterator[Intent]:
    """Intents that did not come to their end, the oldest first. One that cannot be read is told in the log."""
    for path in sorted(intents_folder(home).glob(f"*{_INTENT}")):
        try:
            yield from_json(read_file(path, BOOK_BYTES), Intent)
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("a forgetting cannot be gone on with: %s: %s", path.name, type(error).__name__)


def is_waiting(home: Path) -> bool:
    """True if something is half forgotten."""
    return any(intents_folder(home).glob(f"*{_INTENT}"))


def close(home: Path, receipt: ForgetReceipt, *, disk: Disk = OS_DISK) -> None:
    """Keep the receipt, then drop the intent: its words go last. Raises StorageError: a start ends it."""
    write_file(intents_folder(home) / f"{receipt.id}{_RECEIPT}", to_json(receipt), disk=disk)
    remove_file(intents_folder(home) / f"{receipt.id}{_INTENT}", disk=disk)


def receipts(home: Path) -> tuple[ForgetReceipt, ...]:
    """Receipts that are kept, the newest first."""
    found = []
    for path in sorted(intents_folder(home).glob(f"*{_RECEIPT}"), reverse=True):
        with suppress(OSError, msgspec.MsgspecError):
            found.append(from_json(read_file(path, BOOK_BYTES), ForgetReceipt))
    return tuple(found)


_WRITTEN = ("knowledge", FOLDER)
"""Folders of the home in which a write that was cut short leaves words behind."""

_SAID = 5


def drop_leftovers(home: Path, disk: Disk) -> int:
    """Remove temporary files of writes that a crash cut short. Our own locks keep others from writing meanwhile.

    Returns:
        How many there were. Raises StorageError: one is still there.
    """
    count = 0
    below = (path for top in _WRITTEN for path in (home / top).glob("**") if path.is_dir())
    mark = paths.index_dir(home).name.partition("-")[2]
    derived = paths.cache_dir().glob(f".*{mark}*.tmp")
    for path in (*(one for folder in (home, *below) for one in folder.glob(".*.tmp")), *derived):
        remove_file(path, disk=disk)
        count += 1
    return count


def words_left(home: Path, words: Words) -> dict[str, str]:
    """Reasons why words may be left, by place: files of knowledge and caches that hold one still, and files that are not ours."""
    found: dict[str, str] = {}
    strangers = []
    for root, folder, path in _files(home):
        name = path.relative_to(folder).as_posix()
        place = places.place_of(root, name)
        if place is not None and (place.is_wordless or place.is_unread or not is_of_home(home, root, name)):
            continue
        with suppress(OSError):
            if not holds(b"".join(pieces_of(path)), words):
                continue
            if place is not None:
                found.setdefault(place.id, f"words of it stand in {name} still, in another's text")
            elif root is places.Folder.HOME:
                strangers.append(name)
    if strangers:
        said = first_of(strangers, _SAID)
        found["strangers"] = tr(
            "{files} still holds some of the words. The program never changes files of others: delete them by hand",
            files=said,
        )
    return found


def _files(home: Path) -> Iterator[tuple[places.Folder, Path, Path]]:
    """Files of the home but for conversations and the trash, and of the caches, with the folder that each is below."""
    left_out = (paths.discussions_dir(home), paths.trash_dir(home), intents_folder(home))
    for root, folder, out in (
        (places.Folder.HOME, home, left_out),
        (places.Folder.CACHE, paths.cache_dir(), ()),
    ):
        for path in files_of(folder, out):
            yield root, folder, path


# Files that were read out of the inbox: which of them conversations were told, and which hold words.

MOST_BYTES = 1_000_000
"""Bytes of a file of the inbox, at most: a larger one was never taken."""


def taken_told(home: Path, logs: Iterable[Path]) -> Iterator[str]:
    """Names of the files whose words stand in one of these logs. O(files x logs), in C."""
    told = []
    for path in logs:
        with suppress(OSError):
            told.append(read_file(path, None))
    for path, data in _taken_files_files(home):
        needle = _needle(data)
        if needle and any(form in log for log in told for form in forms(needle)):
            yield path.name


def drop_taken(home: Path, words: Words, *, disk: Disk) -> int:
    """Remove the files that belong to the forgotten things, and files that contain the words.

    Returns:
        How many there were.

    Raises:
        StorageError: one is still there.
    """
    gone = [path for path, data in _taken_files_files(home) if path.name in words.taken or holds(data, words)]
    for path in gone:
        remove_file(path, disk=disk)
    return len(gone)


def _needle(data: bytes) -> str:
    """The longest line of what was told of a file; all of it where it is short. Empty for a file of blanks."""
    text = clean(data.decode("utf-8-sig", "ignore")).strip()[:SIGNAL_CHARS]
    longest = max((line.strip() for line in text.split("\n")), key=len)
    return longest if len(longest) >= MIN_NEEDLE else text


def _taken_files_files(home: Path) -> Iterator[tuple[Path, bytes]]:
    """Regular files with their bytes, by name; what cannot be read is passed over."""
    for folder in (paths.inbox_dir(home) / name for name in (paths.INBOX_TAKEN_DIR, paths.INBOX_WAITING_DIR)):
        with suppress(OSError), os.scandir(folder) as entries:
            for name in sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False)):
                with suppress(OSError):
                    yield folder / name, read_file(folder / name, MOST_BYTES)


# Services of the program to a forgetting: what is asked of providers, and of commands that run.

WithdrawBatches = Callable[[], str]
"""Has providers stop the batches that are unwanted, and delete what was sent. Returns why one is left, empty where none is.
The harvest's lock is held."""

AskProvider = Callable[[str, str], str]
"""Has a provider delete what it stores of a discussion (id, provider). Returns why it did not, empty where it did."""

DropScratch = Callable[[str], bool]
"""Ends the commands of a discussion and removes their scratch folder. Returns whether there was one. Raises OSError."""


def _batches_later() -> str:
    return tr("the next `harvest --batch --apply` stops the batch and deletes your data there")


class ForgetServices(msgspec.Struct, frozen=True):
    """Services of the program to a forgetting: what is asked of providers and of its own commands."""

    ask_provider: AskProvider = lambda _discussion_id, _provider: ""
    withdraw_batches: WithdrawBatches = _batches_later
    drop_scratch: DropScratch = lambda _discussion_id: False


NO_SERVICES = ForgetServices()
