"""The embedded model's one slot: whose prefix it holds, and the prefixes saved to disk within a budget.

Source: llama.cpp server README, `POST /slots/{id}?action=save|restore|erase`; a restore that fails leaves the slot
empty, one of a torn file ends the process (tried 2026-11-20). About 23 kB a token: 2,300 tokens are 54 MB, saved in 50 ms and restored in 10.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.base.errors import ProviderError
from core.base.opener import open_descriptor

DEFAULT_BUDGET_BYTES = 512 * 1024 * 1024
SAVE_EVERY_TOKENS = 1024
"""A prefix that is in use is saved again when it has grown by so much: what a kill may cost."""

ENDING = ".kv"
_UNFINISHED = ".new"

SlotAction = Callable[[str, str], int]
"""Has the server save, restore or erase its slot (action, file name). Returns tokens. Raises ProviderError."""


class SavedPrefixes:
    """Files of a folder, one for each discussion, the longest unused deleted first.

    Args:
        folder: None keeps nothing; it is made when the server starts.
        version: of the model and the library: what another one saved is not found.
    """

    def __init__(self, folder: Path | None, version: str, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        self.folder = folder
        self._version = version
        self._budget_bytes = budget_bytes

    def has(self, discussion_id: str) -> bool:
        """True if a discussion's prefix is on disk."""
        return bool(self._files(discussion_id))

    def save(self, discussion_id: str, act: SlotAction) -> bool:
        """Have the slot saved whole or not at all. Returns whether it was; a full disk is no failure of a turn."""
        stem = self._stem(discussion_id)
        if self.folder is None or not stem:
            return False
        unfinished = self.folder / f"{stem}{_UNFINISHED}"
        whole = None
        try:
            if act("save", unfinished.name) > 0:
                whole = self.folder / f"{stem}-{_synced_size(unfinished)}{ENDING}"
                os.replace(unfinished, whole)
        except (ProviderError, OSError):
            whole = None
        _unlink(unfinished)
        if whole is None:
            return False
        for path in self._files(discussion_id):
            if path != whole:
                _unlink(path)
        self._keep_budget()
        return whole.exists()

    def restore(self, discussion_id: str, act: SlotAction) -> int:
        """Have a saved prefix read back. Returns its tokens; 0 where there is none, or the server refused it.

        A file that is not whole ends the server's process: its size is compared first, and whatever fails is deleted.

        Raises:
            ProviderError: the server gave no answer; it may be dying of the file, which is deleted.
        """
        for path in self._files(discussion_id):
            try:
                if path.stem.endswith(f"-{path.stat().st_size}"):
                    tokens = act("restore", path.name)
                    os.utime(path)
                    return tokens
            except ProviderError as error:
                if error.status is None:
                    _unlink(path)
                    raise
            except OSError:
                pass
            _unlink(path)
        return 0

    def delete(self, discussion_id: str) -> None:
        """Delete what is saved of a discussion."""
        for path in self._files(discussion_id):
            _unlink(path)

    def _stem(self, discussion_id: str) -> str:
        """Stem of a discussion's file names, empty where nothing is kept. It does not tell the discussion."""
        if not discussion_id or self._budget_bytes <= 0:
            return ""
        key = f"{self._version}\0{discussion_id}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(key).hexdigest()[:32]

    def _files(self, discussion_id: str) -> list[Path]:
        stem = self._stem(discussion_id)
        return sorted(self.folder.glob(f"{stem}-*{ENDING}")) if self.folder is not None and stem else []

    def _keep_budget(self) -> None:
        sizes = sorted(self._sizes(), reverse=True)
        total = 0
        for _, size, path in sizes:
            total += size
            if total > self._budget_bytes:
                _unlink(path)

    def _sizes(self) -> list[tuple[float, int, Path]]:
        found = []
        for path in self.folder.glob(f"*{ENDING}") if self.folder is not None else ():
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        return found


class WarmSlot:
    """Slot of a running server, by the prefix that it holds. Thread-safe; a saved file never holds another's
    prefix.

    Nothing is saved or restored while a call is under way: the server would do it after that call.
    """

    def __init__(self, saved: SavedPrefixes) -> None:
        self._saved = saved
        self._lock = threading.Lock()
        self._pid = 0
        self._seen: set[str] = set()
        self._holder = ""
        self._tokens = self._saved_tokens = 0
        self._calls = 0

    def enter(self, pid: int, discussion_id: str, act: SlotAction) -> None:
        """A call begins: save what the slot held of another discussion, read back what is saved of this one.

        Args:
            pid: the server's process, a new one knows nothing; discussion_id: empty for a call that is kept nowhere.

        Raises:
            ProviderError: the server did not answer, see `SavedPrefixes.restore`; the call has not begun.
        """
        with self._lock:
            if pid != self._pid:
                self._pid, self._seen, self._holder, self._calls = pid, set(), "", 0
            if self._calls == 0 and discussion_id != self._holder:
                self._save(act, 1)
                self._tokens = self._saved_tokens = 0
                if discussion_id not in self._seen:
                    self._tokens = self._saved_tokens = self._saved.restore(discussion_id, act)
            elif discussion_id != self._holder:
                self._tokens = self._saved_tokens = 0
            self._holder = discussion_id
            self._seen.add(discussion_id)
            self._calls += 1

    def leave(self, pid: int, discussion_id: str, tokens: int | None) -> None:
        """A call has ended.

        Args:
            tokens: what it read, None where that is not known.
        """
        with self._lock:
            if pid != self._pid:
                return
            self._calls = max(0, self._calls - 1)
            if discussion_id == self._holder and tokens is not None:
                self._tokens = tokens

    def keep(self, act: SlotAction, grown_tokens: int = SAVE_EVERY_TOKENS) -> None:
        """Save what the slot holds if it is not on disk, or has grown by so much since."""
        with self._lock:
            if self._calls == 0:
                self._save(act, grown_tokens)

    def forget(self, discussion_id: str, act: SlotAction | None) -> None:
        """Delete what is saved of a discussion, and what the slot holds of it."""
        with self._lock:
            self._saved.delete(discussion_id)
            if discussion_id != self._holder:
                return
            self._holder, self._tokens, self._saved_tokens = "", 0, 0
            if act is not None and self._calls == 0:
                with suppress(ProviderError):
                    act("erase", "")

    def _save(self, act: SlotAction, grown_tokens: int) -> None:
        grown = self._tokens - self._saved_tokens
        is_new = self._saved_tokens == 0 and self._tokens > 0
        if self._holder and (is_new or grown >= grown_tokens) and self._saved.save(self._holder, act):
            self._saved_tokens = self._tokens


def _synced_size(path: Path) -> int:
    """The size of a file of which every byte has reached the disk."""
    descriptor = open_descriptor(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
