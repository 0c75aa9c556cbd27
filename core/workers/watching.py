"""Watches curated files and settings files and tells the two apart."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable

from core.files.watch import FileWatch
from core.values.events import FilesChanged, OperationFailed, SettingsFilesChanged
from core.workers.queue import Emit


class Watcher:
    """Reports `FilesChanged` and `SettingsFilesChanged`. Thread-safe.

    Args:
        emit: the controller's inbox; is_on: False watches nothing (a command that runs once).
        make_watch: makes what watches, for tests.
    """

    def __init__(
        self,
        emit: Emit,
        *,
        is_on: bool = True,
        make_watch: Callable[..., FileWatch] = FileWatch,
    ) -> None:
        self._emit = emit
        self._lock = threading.Lock()
        self._settings: frozenset[str] = frozenset()
        self._curated_folders: frozenset[str] = frozenset()
        self._watch = make_watch(self._changed, self._trouble, self._changed) if is_on else None

    def watch(self, paths: Iterable[str], settings_paths: Iterable[str]) -> None:
        """Watch these absolute paths instead of the earlier ones.

        Args:
            paths: curated files; a file that appears beside one counts too, since a glob may take it.
            settings_paths: settings, prompts and identity files.
        """
        curated, settings = frozenset(paths), frozenset(settings_paths)
        with self._lock:
            self._settings = settings
            self._curated_folders = frozenset(map(os.path.dirname, curated))
        if self._watch is not None:
            self._watch.watch(curated | settings)

    def stop(self) -> None:
        """Watch no more."""
        if self._watch is not None:
            self._watch.stop()

    def _changed(self, paths: tuple[str, ...]) -> None:
        with self._lock:
            settings, folders = self._settings, self._curated_folders
        of_settings = tuple(path for path in paths if path in settings)
        curated = tuple(path for path in paths if os.path.dirname(path) in folders)
        if of_settings:
            self._emit(SettingsFilesChanged(of_settings))
        if curated:
            self._emit(FilesChanged(curated))

    def _trouble(self, sentence: str) -> None:
        self._emit(OperationFailed("watch", sentence))
