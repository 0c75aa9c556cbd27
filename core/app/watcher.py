"""Watches curated files, settings files, discussions, reserves, the inbox and searched folders, and tells them apart."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from core.app.app_messages import (
    Event,
    WatchFiles,
)
from core.kernel import paths as home_paths
from core.kernel.language import tr
from core.kernel.queue import at_once
from core.kernel.values.updates import OperationFailed, PathsChanged, Watched
from core.knowledge import merges
from core.knowledge.mcp_server.proposal_worker import proposals_file
from core.retrieval.sources import wakes_index

# Watches files for change on a thread: survives deleted folders and editors that save by renaming.

MAX_FOLDERS = 4_000
"""Folders that are watched at once; the files of further ones are not."""

_CHECK_MS = 5_000
"""Folders are looked at so often for what the system tells nothing of, such as a move of a folder above them."""
_DEBOUNCE_MS = 200
_STEP_MS = 750
"""The library looks for news so often, although the system tells it of them: each look wakes the machine."""
_POLL_MS = 1_000
_RETRY_S, _GONE_S = 2.0, 0.05

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Wanted:
    """Watch asked for: `paths` as asked, `whole` folders among them, `new` those not told of yet, `extra` folders that
    appeared since. `stop` ends the round.
    """

    paths: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    extra: set[str] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)


class FileWatch:
    """Reports changes of files and of the folders that they lie in.

    Reported are: a change of a watched path, in any way; and an entry that appears in or goes from a watched
    folder, since a glob may take it. Changes are gathered for a fifth of a second. A folder that is deleted
    and made again is found again within about a second, one whose parent moves within five, and its files are reported.

    Args:
        on_change: called on the watching thread with absolute paths, sorted; must return at once.
        on_trouble: called with a sentence when watching falls back to polling, or sees only a part.
        on_watching: called once for every `watch`, when it has taken effect, with the paths that are new: they may
            have changed since they were read.
    """

    def __init__(
        self,
        on_change: Callable[[tuple[str, ...]], None],
        on_trouble: Callable[[str], None] = log.warning,
        on_watching: Callable[[tuple[str, ...]], None] = lambda _paths: None,
    ) -> None:
        self._on_change = on_change
        self._on_trouble = on_trouble
        self._on_watching = on_watching
        self._lock = threading.Lock()
        self._wanted = _Wanted()
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._is_polling = False
        self._is_partial = False
        self._watching = threading.Event()
        self._marks: dict[str, tuple[int, int, int]] = {}

    def watch(self, paths: Iterable[str], whole: Iterable[str] = ()) -> None:
        """Watch these absolute paths (files or folders, there or not yet) instead of the earlier ones.

        Args:
            whole: folders in which an edit of any file counts. When watching begins anew, for whatever reason, they
                are told once more: what was edited in between left no mark on them.
        """
        with self._lock:
            folders = frozenset(whole)
            wanted = frozenset(paths) | folders
            if (wanted, folders) == (self._wanted.paths, self._wanted.whole) or self._is_stopped:
                return
            self._watching.clear()
            self._wanted.stop.set()
            self._wanted = _Wanted(
                paths=wanted, whole=folders, new=(wanted - self._wanted.paths) | self._wanted.new
            )
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="file-watch", daemon=True)
                self._thread.start()

    def wait_until_watching(self, timeout_s: float) -> bool:
        """Wait until what `watch` asked for last is watched. For tests and for a command that runs once."""
        return self._watching.wait(timeout_s)

    def stop(self) -> None:
        """End the thread. Idempotent."""
        with self._lock:
            self._is_stopped = True
            self._wanted.stop.set()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5)

    def _run(self) -> None:
        while not self._is_stopped:
            with self._lock:
                wanted = self._wanted
            try:
                self._round(wanted)
            except FileNotFoundError:
                wanted.stop.wait(_GONE_S)
            except OSError as fault:
                self._fall_back(wanted, fault)
            except Exception as fault:  # noqa: BLE001 (the edge of a worker)
                self._on_trouble(
                    tr(
                        "The program cannot watch files: {fault}. It sees changes at the next send.",
                        fault=fault,
                    )
                )
                wanted.stop.wait(_RETRY_S)

    def _fall_back(self, wanted: _Wanted, fault: OSError) -> None:
        """The system watches no more files: look at them every second instead."""
        if not self._is_polling:
            self._is_polling = True
            self._on_trouble(
                tr(
                    "The system cannot watch more files ({fault}); the program checks them every second.",
                    fault=fault,
                )
            )
        else:
            wanted.stop.wait(_RETRY_S)

    def _round(self, wanted: _Wanted) -> None:
        """Watch until the wish changes, or the folders do."""
        folders = self._folders(wanted)
        if not folders:
            self._watching.set()
            wanted.stop.wait()
            return
        from watchfiles import watch

        seen = _identities(folders)
        present = _present(wanted.paths)
        changes = watch(
            *sorted(folders),
            watch_filter=None,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            stop_event=wanted.stop,
            rust_timeout=_CHECK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=self._is_polling,
            poll_delay_ms=_POLL_MS,
            recursive=False,
        )
        is_first = True
        for batch in changes:
            found = {(change.name, path) for change, path in batch}
            # One that was made anew may have the number of the one that went, and is watched by nobody.
            is_gone = any(kind == "deleted" and path in folders for kind, path in found)
            self._report(wanted, found)
            if is_first:
                self._watching.set()
                self._tell_new(wanted)
                self._tell_missed(wanted)
                is_first = False
            if is_gone or self._folders(wanted) != folders or _identities(folders) != seen:
                self._report_moved(wanted, present)
                return

    def _tell_new(self, wanted: _Wanted) -> None:
        new, wanted.new = wanted.new, frozenset()
        if new:
            self._on_watching(tuple(sorted(new)))

    def _tell_missed(self, wanted: _Wanted) -> None:
        """Report now what changed between two rounds, when nobody watched."""
        now = {path: _mark(path) for path in wanted.paths}
        missed = [path for path, mark in now.items() if self._marks.get(path, mark) != mark]
        missed += [path for path in wanted.whole if path in self._marks and path not in missed]
        self._marks = now
        if missed and not self._is_stopped:
            self._on_change(tuple(sorted(missed)))

    def _folders(self, wanted: _Wanted) -> frozenset[str]:
        """Folders to watch: of each path the nearest that exists."""
        folders = {_nearest_folder(path) for path in {*wanted.paths, *wanted.extra}} - {""}
        if len(folders) <= MAX_FOLDERS:
            return frozenset(folders)
        if not self._is_partial:
            self._is_partial = True
            self._on_trouble(
                tr(
                    "The program should watch {folders:,} folders; it watches only {MAX_FOLDERS:,}.",
                    folders=len(folders),
                    MAX_FOLDERS=MAX_FOLDERS,
                )
            )
        return frozenset(sorted(folders)[:MAX_FOLDERS])

    def _report(self, wanted: _Wanted, batch: Iterable[tuple[str, str]]) -> None:
        changed = {
            path
            for kind, path in batch
            if path in wanted.paths or kind != "modified" or os.path.dirname(path) in wanted.whole
        }
        wanted.extra |= {path for path in changed if os.path.isdir(path) and not os.path.islink(path)}
        self._marks |= {path: _mark(path) for path in changed if path in self._marks}
        if changed:
            self._on_change(tuple(sorted(changed)))

    def _report_moved(self, wanted: _Wanted, before: frozenset[str]) -> None:
        """Folders came or went: whatever could have happened in between is reported."""
        after = _present(wanted.paths)
        moved = {*(before ^ after), *(path for path in wanted.extra if os.path.isdir(path))}
        if moved and not self._is_stopped:
            self._on_change(tuple(sorted(moved)))


def _nearest_folder(path: str) -> str:
    """The folder itself, or the nearest one above that exists; empty where there is none."""
    while path and not os.path.isdir(path):
        above = os.path.dirname(path)
        path = "" if above == path else above
    return path


def _identities(folders: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Device and inode of each folder: a folder that was made anew is another one."""
    found = {}
    for folder in folders:
        try:
            status = os.stat(folder)
        except OSError:
            continue
        found[folder] = (status.st_dev, status.st_ino)
    return found


def _mark(path: str) -> tuple[int, int, int]:
    """Mark that tells a file from a changed one; zeros where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino


def _present(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path for path in paths if os.path.lexists(path))


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
            # The folder of reserves too: the lock of a program that ended goes, perhaps between two rounds of the watch.
            own = {folder, self._proposals, self._inbox_dir, self._reserves_dir} - {""}
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
            self._emit(PathsChanged(Watched.PROPOSALS))

    def _sources_changed(self, paths: tuple[str, ...]) -> None:
        if any(wakes_index(path) for path in paths):
            self._emit(PathsChanged(Watched.SOURCES))

    def _changed(self, paths: tuple[str, ...]) -> None:
        self._looked_again(paths)
        with self._lock:
            curated = tuple(path for path in paths if path in self._curated)
        if curated:
            self._emit(PathsChanged(Watched.CURATED, curated))

    def _looked_again(self, paths: tuple[str, ...]) -> None:
        """Tell of paths that changed, or may have since they were read: what is newly watched."""
        with self._lock:
            settings, folders, home = self._settings, self._curated_folders, self._discussions_dir
            known, reserves, proposals = self._knowledge, self._reserves_dir, self._proposals
            inbox = self._inbox_dir
        of_settings = tuple(path for path in paths if path in settings or os.path.dirname(path) in settings)
        curated = tuple(path for path in paths if os.path.dirname(path) in folders)
        if home:
            self._tell_discussions(paths, home)
        if reserves and any(path == reserves or os.path.dirname(path) == reserves for path in paths):
            self._emit(PathsChanged(Watched.RESERVES))
        if proposals in paths:
            self._tell_proposals(proposals)
        if inbox and any(path == inbox or os.path.dirname(path) == inbox for path in paths):
            self._emit(PathsChanged(Watched.INBOX))
        of_knowledge = tuple(path for path in paths if path in known or _is_note(path, known))
        if of_knowledge:
            self._emit(PathsChanged(Watched.KNOWLEDGE, of_knowledge))
        if of_settings:
            self._emit(PathsChanged(Watched.SETTINGS, of_settings))
        if curated:
            self._emit(PathsChanged(Watched.CONTEXT, curated))

    def _tell_discussions(self, paths: tuple[str, ...], home: str) -> None:
        touched = _discussions_of(paths, home, *_CONTENT, home_paths.REPLY_FILE)
        if any(path == home or os.path.dirname(path) == home for path in paths):
            touched |= self._came_and_went(home)  # also where its name was told: it may come back unseen
        if touched:
            self._emit(PathsChanged(Watched.DISCUSSIONS, tuple(sorted(touched))))
        if cached := _discussions_of(paths, home, home_paths.CACHE_FILE) - touched:
            self._emit(PathsChanged(Watched.CACHES, tuple(sorted(cached))))

    def _came_and_went(self, folder: str) -> frozenset[str]:
        """Discussions that appeared or vanished since the folder was listed last."""
        now = _entries(folder)
        with self._lock:
            before, self._listed = self._listed, now
        return now ^ before

    def _trouble(self, sentence: str) -> None:
        self._emit(OperationFailed(subject="watch", text=sentence, is_standing=True))


def _is_note(path: str, known: frozenset[str]) -> bool:
    """True if it is a Markdown or YAML file or a draft in a watched folder, and no temporary one."""
    folder, name = os.path.split(path)
    return (
        folder in known
        and name.endswith((".md", ".yaml", ".yml", merges.SUFFIX))
        and not name.startswith(".")
    )


def _entries(folder: str) -> frozenset[str]:
    try:
        return frozenset(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return frozenset()


_CONTENT = (home_paths.LOG_FILE, home_paths.META_FILE)


def _files_of(home: Path, discussion_id: str) -> list[str]:
    folder = home_paths.discussion_dir(home, discussion_id)
    return [str(folder / name) for name in (*_CONTENT, home_paths.CACHE_FILE)]


def _discussions_of(paths: Iterable[str], discussions_dir: str, *names: str) -> set[str]:
    """Ids of the discussions whose folder, or a file of one of these names in it, is among the paths."""
    found = set[str]()
    for folder, name in map(os.path.split, paths):
        if folder == discussions_dir and not name.startswith("."):
            found.add(name)
        elif name in names and os.path.dirname(folder) == discussions_dir:
            found.add(os.path.basename(folder))
    return found


WORK = at_once("files", WatchFiles)
