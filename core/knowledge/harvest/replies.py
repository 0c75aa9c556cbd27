"""Replies that were paid for, kept on disk until the ledger holds what came of them."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.kernel import paths
from core.kernel.codecs import read_json
from core.kernel.disk import (
    OS_DISK,
    Disk,
    make_dirs,
    remove_file,
    remove_tree,
    reported,
    sync_dir,
    write_file,
)
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.values.harvest import Review
from core.knowledge.harvest.preview import read_review, review_text

_FOLDER = ".replies"


class KeptReplies:
    """The replies to one conversation's prompts. What is asked twice, also after a crash, is paid once.

    Args:
        knowledge: the knowledge directory; sha256: of the conversation's bytes.
    """

    def __init__(self, knowledge: Path, sha256: str, *, disk: Disk = OS_DISK) -> None:
        self._folder = knowledge / _FOLDER / sha256
        self._disk = disk

    def find(self, prompt: str, provider: str, model: str) -> str | None:
        """The kept reply to a prompt, None where there is none that can be read.

        One that was written whole and lacks only its name, because the program ended there, counts too.

        Raises:
            StorageError: it is there and the disk cannot read it.
        """
        path = self._path(prompt, provider, model)
        for place in (path, *sorted(self._folder.glob(f".{path.name}.*.tmp"))):
            with reported("read", place):
                try:
                    text = _text(read_file(place, BOOK_BYTES))
                except FileNotFoundError:
                    continue
            if text is not None:
                return text
        return None

    @contextmanager
    def place(self, prompt: str, provider: str, model: str) -> Iterator[ReplyPlace]:
        """Make the place of a reply before it is asked for: what can fail then fails before anything is paid.

        Raises:
            StorageError: there is no place for it.
        """
        with self.place_of(reply_key(prompt, provider, model), provider, model) as place:
            yield place

    @contextmanager
    def place_of(self, key: str, provider: str, model: str) -> Iterator[ReplyPlace]:
        """As `place`, for the reply to a prompt that only its key is left of."""
        path = self._folder / f"{key}.json"
        make_dirs(path.parent, disk=self._disk)
        place = ReplyPlace(path, provider, model, self._disk)
        try:
            yield place
        finally:
            place.close()

    def drop_all(self) -> None:
        """Forget the replies: the ledger holds what came of them. What cannot be removed now is removed later."""
        remove_tree(self._folder, disk=self._disk)
        with suppress(OSError):
            self._folder.parent.rmdir()

    def drop(self, prompt: str, provider: str, model: str) -> None:
        """Forget one reply, so that the next run asks again."""
        path = self._path(prompt, provider, model)
        for place in (path, *self._folder.glob(f".{path.name}.*.tmp")):
            with suppress(OSError):
                self._disk.unlink(place)

    def _path(self, prompt: str, provider: str, model: str) -> Path:
        return self._folder / f"{reply_key(prompt, provider, model)}.json"


class ReplyPlace:
    """An open file that waits for one reply; made by `KeptReplies.place`."""

    def __init__(self, path: Path, provider: str, model: str, disk: Disk) -> None:
        self._path, self._provider, self._model, self._disk = path, provider, model, disk
        self._temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        self._is_whole = False
        with reported("write", path):
            self._fd = disk.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            sync_dir(path.parent, disk)

    def keep(self, text: str) -> None:
        """Put the reply on the medium. What fails is tried once more from the start: it was paid for.

        Raises:
            StorageError: it could not be kept: the harvest must stop here.
        """
        data = _data(text, self._provider, self._model)
        try:
            self._write(data)
            self._is_whole = True
            self._disk.fsync(self._fd)
            self.close()
            self._disk.replace(self._temporary, self._path)
            sync_dir(self._path.parent, self._disk)
        except OSError:
            write_file(self._path, data, disk=self._disk)

    def close(self) -> None:
        """Let go of the file; one that does not hold a whole reply is removed. May be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            if not self._is_whole:
                with suppress(OSError):
                    self._disk.unlink(self._temporary)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._disk.write(self._fd, view) :]


def reply_key(prompt: str, provider: str, model: str) -> str:
    """Name of a reply among those of its conversation."""
    text = json.dumps([provider, model, prompt], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def kept_conversations(knowledge: Path) -> tuple[str, ...]:
    """The conversations (sha256) for which replies are kept, sorted."""
    try:
        return tuple(sorted(path.name for path in (knowledge / _FOLDER).iterdir() if path.is_dir()))
    except OSError:
        return ()


def _data(text: str, provider: str, model: str) -> bytes:
    found = {"v": 1, "provider": provider, "model": model, "text": text}
    return (json.dumps(found, sort_keys=True, ensure_ascii=True) + "\n").encode()


def _text(data: bytes) -> str | None:
    kept: object = None
    with suppress(ValueError, RecursionError):
        kept = read_json(data)
    text = kept.get("text") if isinstance(kept, dict) and kept.get("v") == 1 else None
    return text if isinstance(text, str) else None


# File of a review that was begun: `.review.json`, until it is applied or discarded.

log = logging.getLogger(__name__)


def review_file(home: Path) -> Path:
    """The file, hidden beside the replies that the proposals came from."""
    return paths.knowledge_dir(home) / paths.REVIEW_FILE


def load_review(home: Path) -> Review:
    """Load the kept review, empty where there is none. What cannot be read is passed over: the proposals
    themselves are kept.
    """
    path = review_file(home)
    try:
        return read_review(read_file(path, BOOK_BYTES).decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("the review that was begun is passed over: %s: %s", path, error)
        return {}


def keep_review(home: Path, review: Review, *, disk: Disk = OS_DISK) -> None:
    """Keep a review instead of the one before; an empty one leaves no file.

    Raises:
        StorageError: the one before is still there.
    """
    path = review_file(home)
    if not review:
        remove_file(path, disk=disk)
        return
    make_dirs(path.parent, disk=disk)
    write_file(path, review_text(review).encode("ascii"), disk=disk)
