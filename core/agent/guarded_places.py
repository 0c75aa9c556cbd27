"""Places of a project that other programs obey, kept from commands while they run: shut where they are, and where not."""

from __future__ import annotations

import os
import threading
from collections import Counter
from contextlib import suppress

import msgspec

from core.agent.sandbox import guarded_candidates
from core.base.opener import open_descriptor


class Held(msgspec.Struct, frozen=True):
    """What is kept from one command.

    Args:
        guarded: read-only, they are there; blocked: files that hold a name while commands run.
        open_links: guarded places that are links, which no mount can shut.
    """

    guarded: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    open_links: tuple[str, ...] = ()


class GuardedPlaces:
    """Holds names that are not there by empty files and folders of ours, as long as a command runs in the project.

    They are taken away behind the last one; what the person has put in meanwhile stays. A kill leaves empty ones, which do
    nothing. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: Counter[str] = Counter()
        self._made: dict[str, dict[str, bool]] = {}

    def hold(self, root: str) -> Held:
        """Keep the places of a project for one more command; ended by `release`."""
        with self._lock:
            self._runs[root] += 1
            made = self._made.setdefault(root, {})
            guarded, links = [], []
            for path, is_folder in guarded_candidates(root):
                if os.path.islink(path):
                    links.append(path)
                    continue
                if not os.path.exists(path) and _make(path, is_folder=is_folder):
                    made[path] = is_folder
                if os.path.exists(path) and (is_folder or path not in made):
                    guarded.append(path)
            blocked = [path for path, is_folder in made.items() if not is_folder and os.path.exists(path)]
            return Held(tuple(guarded), tuple(blocked), tuple(links))

    def release(self, root: str) -> None:
        """One command less."""
        with self._lock:
            self._runs[root] -= 1
            if self._runs[root] > 0:
                return
            del self._runs[root]
            for path, is_folder in reversed(self._made.pop(root, {}).items()):
                with suppress(OSError):
                    if is_folder:
                        os.rmdir(path)
                    elif os.lstat(path).st_size == 0:
                        os.unlink(path)


def _make(path: str, *, is_folder: bool) -> bool:
    """Make an empty file or folder. False where that may not be: then no command can make it either."""
    try:
        if is_folder:
            os.mkdir(path)
        else:
            os.close(open_descriptor(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, follows_links=False))
    except OSError:
        return False
    return True
