"""Files as the model of a discussion saw them last, which alone it may change; on disk, for edits that wait for a yes when the program ends."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from core.base.decoders import from_json
from core.base.disk import make_dirs, write_passing
from core.base.errors import StorageError
from core.base.opener import SETTINGS_BYTES, read_file

SEEN_FILE = "seen.json"
MOST_SEEN = 1_000
"""Files that are remembered, those seen last; another is read again before it is changed."""


class SeenFiles:
    """Files of one discussion, by path. Thread-safe. What cannot be read or kept counts as not seen after a restart.

    Args:
        folder: of the discussion's kept bytes; it is made with the first file, where the discussion's own is there.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / SEEN_FILE
        self._lock = threading.Lock()
        self._sha256 = _read(self._file)

    def get(self, path: str) -> str:
        """Sha256 (hex), empty where it never saw the file."""
        with self._lock:
            return self._sha256.get(path, "")

    def note(self, path: str, sha256: str) -> None:
        """It has seen a file as these bytes."""
        with self._lock:
            if self._sha256.get(path) == sha256:
                return
            self._sha256.pop(path, None)
            self._sha256[path] = sha256
            while len(self._sha256) > MOST_SEEN:
                del self._sha256[next(iter(self._sha256))]
            with suppress(OSError, StorageError):
                make_dirs(self._file.parent)
                write_passing(self._file, msgspec.json.encode(self._sha256))


def _read(file: Path) -> dict[str, str]:
    try:
        return from_json(read_file(file, SETTINGS_BYTES, follows_links=False), dict[str, str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
