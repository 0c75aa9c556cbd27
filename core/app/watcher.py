"""Watches curated files, settings files, discussions, reserves, the inbox and searched folders, and tells them apart."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from core.app.messages import Event
from core.app.watch import FileWatch
from core.base import paths as home_paths
from core.base.reports import OperationFailed
from core.context.messages import FilesChanged
from core.discussion.messages import DiscussionsTouched
from core.knowledge import drafts
from core.knowledge.messages import KnowledgeFilesChanged
from core.mcp_server.messages import ProposalsTouched
from core.mcp_server.proposal_file import proposals_file
from core.retrieval.messages import SourcesChanged
from core.retrieval.sources import wakes_index
from core.settings.messages import SettingsFilesChanged
from core.signals.messages import InboxTouched, WatchedFilesChanged
from core.spending.messages import ReservesTouched

Emit = Callable[[Event], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class Watcher:
    """Reports which of curated files, settings, discussions, knowledge and sources changed, each with its event.

    Thread-safe. Searched folders have a watch of their own: however many they are, they take no other's place.

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
        self._curated: frozenset[str] = frozenset()
        self._curated_folders: frozenset[str] = frozenset()
        self._discussions_dir = ""
        self._reserves_dir = self._inbox_dir = ""
        self._proposals, self._has_proposals = "", False
        self._listed: frozenset[str] = frozenset()
        self._knowledge: frozenset[str] = frozenset()
        self._make = make_watch
        self._watch = make_watch(self._changed, self._trouble, self._looked_again) if is_on else None
        self._source_watch: FileWatch | None = None

    def watch(
        self,
        paths: Iterable[str],
        settings_paths: Iterable[str],
        home: str = "",
        discussion_ids: Iterable[str] = (),
        knowledge_paths: Iterable[str] = (),
        source_folders: Iterable[str] = (),
    ) -> None:
        """Watch these absolute paths instead of the earlier ones.

        Args:
            paths: curated files; a file that appears beside one counts too, since a glob may take it.
            settings_paths: settings, prompts and identity files.
            home: whose list of discussions, reserves, proposals and inbox are watched, empty for none; discussion_ids: whose
                content
                is watched.
            knowledge_paths: its files; in a folder among them every Markdown and YAML file and every draft counts.
            source_folders: folders whose files are searched, each by its own name.
        """
        curated, settings, knowledge = frozenset(paths), frozenset(settings_paths), frozenset(knowledge_paths)
        folder = str(home_paths.discussions_dir(Path(home))) if home else ""
        logs = {path for key in discussion_ids for path in _files_of(Path(home), key)} if home else set()
        with self._lock:
            if folder != self._discussions_dir:
                self._listed = _entries(folder)
            self._discussions_dir = folder
            self._knowledge = knowledge
            self._settings = settings
            self._curated = curated
            self._curated_folders = frozenset(map(os.path.dirname, curated))
            self._reserves_dir = str(Path(home) / home_paths.RESERVES_DIR) if home else ""
            self._inbox_dir = str(home_paths.inbox_dir(Path(home))) if home else ""
            self._proposals = str(proposals_file(Path(home))) if home else ""
            reserves = {os.path.join(self._reserves_dir, home_paths.RESERVES_FILE)} if home else set()
        if self._watch is not None:
            own = {folder, self._proposals, self._inbox_dir} - {""}
            self._watch.watch(curated | settings | logs | knowledge | reserves | own)
            self._watch_sources(frozenset(source_folders))

    def stop(self) -> None:
        """Watch no more."""
        for watch in (self._watch, self._source_watch):
            if watch is not None:
                watch.stop()

    def _watch_sources(self, folders: frozenset[str]) -> None:
        if self._source_watch is None and folders:
            self._source_watch = self._make(self._sources_changed, self._trouble, self._sources_changed)
        if self._source_watch is not None:
            self._source_watch.watch((), folders)

    def _tell_proposals(self, file: str) -> None:
        """Tell of the file, where it is there or was."""
        had, self._has_proposals = self._has_proposals, os.path.lexists(file)
        if had or self._has_proposals:
            self._emit(ProposalsTouched())

    def _sources_changed(self, paths: tuple[str, ...]) -> None:
        if any(wakes_index(path) for path in paths):
            self._emit(SourcesChanged())

    def _changed(self, paths: tuple[str, ...]) -> None:
        self._looked_again(paths)
        with self._lock:
            curated = tuple(path for path in paths if path in self._curated)
        if curated:
            self._emit(WatchedFilesChanged(curated))

    def _looked_again(self, paths: tuple[str, ...]) -> None:
        """Tell of paths that changed, or may have since they were read: what is newly watched."""
        with self._lock:
            settings, folders, home = self._settings, self._curated_folders, self._discussions_dir
            known, reserves, proposals = self._knowledge, self._reserves_dir, self._proposals
            inbox = self._inbox_dir
        of_settings = tuple(path for path in paths if path in settings)
        curated = tuple(path for path in paths if os.path.dirname(path) in folders)
        touched = {_discussion_of(path, home) for path in paths} - {""} if home else set()
        if home in paths:
            touched |= self._came_and_went(home)
        if touched:
            self._emit(DiscussionsTouched(tuple(sorted(touched))))
        if reserves and any(path == reserves or os.path.dirname(path) == reserves for path in paths):
            self._emit(ReservesTouched())
        if proposals in paths:
            self._tell_proposals(proposals)
        if inbox and any(path == inbox or os.path.dirname(path) == inbox for path in paths):
            self._emit(InboxTouched())
        of_knowledge = tuple(path for path in paths if path in known or _is_note(path, known))
        if of_knowledge:
            self._emit(KnowledgeFilesChanged(of_knowledge))
        if of_settings:
            self._emit(SettingsFilesChanged(of_settings))
        if curated:
            self._emit(FilesChanged(curated))

    def _came_and_went(self, folder: str) -> frozenset[str]:
        """Discussions that appeared or vanished since the folder was listed last."""
        now = _entries(folder)
        with self._lock:
            before, self._listed = self._listed, now
        return now ^ before

    def _trouble(self, sentence: str) -> None:
        self._emit(OperationFailed("watch", sentence, is_standing=True))


def _is_note(path: str, known: frozenset[str]) -> bool:
    """True if it is a Markdown or YAML file or a draft in a watched folder, and no temporary one."""
    folder, name = os.path.split(path)
    return (
        folder in known
        and name.endswith((".md", ".yaml", ".yml", drafts.SUFFIX))
        and not name.startswith(".")
    )


def _entries(folder: str) -> frozenset[str]:
    try:
        return frozenset(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return frozenset()


def _files_of(home: Path, discussion_id: str) -> tuple[str, str]:
    return str(home_paths.log_file(home, discussion_id)), str(home_paths.meta_file(home, discussion_id))


def _discussion_of(path: str, discussions_dir: str) -> str:
    """Id of the discussion whose folder, log, meta or reply under way a path is, empty for any other."""
    folder, name = os.path.split(path)
    if folder == discussions_dir:
        return "" if name.startswith(".") else name
    is_content = name in (home_paths.LOG_FILE, home_paths.META_FILE, home_paths.REPLY_FILE)
    return os.path.basename(folder) if is_content and os.path.dirname(folder) == discussions_dir else ""
