"""Places of a project that other programs obey, kept from commands while they run: shut where they are, and where not."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import msgspec

from core.agent.seen_places import ClosedView
from core.agent.sensitive_paths import is_repository, rules_something
from core.kernel.key_names import folded
from core.kernel.opener import SHARED_MODE, make_folder, open_descriptor, read_file

MOST_LOOKED_AT = 5_000
"""Entries of a project, nearest first, among which guarded places are looked for."""

_MOST_NAMED = 10
CAME_TO_BE = "came to be: look at it before you go there, other programs obey it"
_HELD = (".vscode", ".claude", ".envrc", ".mcp.json", "CLAUDE.md", "AGENTS.md", "POC.md")
_HELD_IN_GIT = (".git/hooks", ".git/config.worktree", ".git/commondir")
"""Names in the project's own folder of which none may be made by a command. Not `manual_slop.toml`: an empty one would
count as one, and what a new one may say is asked for by the program itself."""
_OF_FILES = frozenset({".git", ".envrc", ".mcp.json", "CLAUDE.md", "AGENTS.md", "POC.md", "config.worktree"})
_CONTENT = {".git/commondir": b".\n"}
"""Content that holds a name for which a folder would be an error: it names the repository itself."""
_SETTINGS_IN = {".hg": "hgrc", ".jj": "repo/config.toml"}
"""Repositories that commands write in, with what alone is shut in them."""
_IN_GIT = ("hooks", "config", "config.worktree", "commondir")
PASSED_OVER = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", "site-packages", "target", "build", "dist"}
)
"""Folders of what was fetched or built, in which nothing is looked for."""


class HeldPlaces(msgspec.Struct, frozen=True):
    """Places that are kept from one command.

    Args:
        guarded: read-only, they are there, folders that hold a name among them.
        open_links: guarded places that are links, which no mount can shut.
        shut: files that may hold secrets, empty for it.
        view: what it sees beside the project; None: the whole machine, but for what is hidden.
    """

    guarded: tuple[str, ...] = ()
    open_links: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()
    view: ClosedView | None = None


class GuardedPlaces:
    """Holds names that are not there by empty folders of ours, as long as a command runs in the project.

    An empty folder is passed over by git, by searches and by those who look for a file. They are taken away behind the last one; what the person has put in meanwhile stays. A kill leaves them; those that can
    be nobody else's go behind the next command, all that were noted with the next start. Thread-safe.

    Args:
        note: notes names on disk before they are made. Total.
    """

    def __init__(self, note: Callable[[Iterable[str]], None] = lambda _names: None) -> None:
        self._note = note
        self._lock = threading.Lock()
        self._runs: Counter[str] = Counter()
        self._made: dict[str, dict[str, bytes | None]] = {}

    def hold(self, root: str) -> HeldPlaces:
        """Keep the places of a project for one more command; ended by `release`."""
        with self._lock:
            names = tuple(_to_hold(root))
            self._note(path for path, _ in names if not os.path.lexists(path))
            self._runs[root] += 1
            made = self._made.setdefault(root, {})
            for path, content in names:
                is_made = _is_left(path, content) or (not os.path.lexists(path) and _make(path, content))
                if is_made and path not in made:
                    made[path] = content
            there = dict.fromkeys(_ruling(root))
            links = tuple(path for path in there if os.path.islink(path))
            return HeldPlaces(guarded=tuple(path for path in there if path not in links), open_links=links)

    def look(self, root: str) -> HeldPlaces:
        """The places of a project for what runs as long as the program does: nothing is made for it, or the person would
        find folders of ours where they want to write a file. Where a path alone can be shut, names that are not there are.
        """
        with self._lock:
            there = dict.fromkeys(_ruling(root))
            links = tuple(path for path in there if os.path.islink(path))
            shut = [path for path in there if path not in links and path not in self._made.get(root, ())]
            if sys.platform == "darwin":
                shut += [path for path, _ in _to_hold(root) if path not in there]
            return HeldPlaces(guarded=tuple(shut), open_links=links)

    def came_to_be(self, root: str, held: HeldPlaces) -> tuple[str, ...]:
        """Names in the project's own folder that were not there at the `look`, and are now; not those that hold a name."""
        with self._lock:
            known = {*held.guarded, *held.open_links, *self._made.get(root, ())}
            names = (path for path, _ in _to_hold(root))
            return tuple(path for path in names if path not in known and os.path.lexists(path))

    def release(self, root: str, held: HeldPlaces) -> tuple[str, ...]:
        """One command less. Returns guarded places that came to be meanwhile, deeper than names are held."""
        with self._lock:
            known = {*held.guarded, *held.open_links, *self._made.get(root, ())}
            fresh = tuple(path for path in _ruling(root) if path not in known)
            self._runs[root] -= 1
            if self._runs[root] > 0:
                return fresh
            del self._runs[root]
            drop_left(self._made.pop(root, {}))
            return fresh


def notes_of(held: HeldPlaces, fresh: tuple[str, ...]) -> tuple[str, ...]:
    """Sentences for the person on places that could not be shut, and on those that came to be meanwhile."""
    return (
        *(f"{path} is a link and could be replaced: other programs obey it" for path in held.open_links),
        *(f"{path} {CAME_TO_BE}" for path in fresh[:_MOST_NAMED]),
    )


def drop_left(held: Iterable[str]) -> None:
    """Take away names that were held, the last one first; what somebody has put in meanwhile stays. Total."""
    for path in reversed(tuple(held)):
        content = next((words for name, words in _CONTENT.items() if path.endswith(f"/{name}")), None)
        with suppress(OSError, ValueError):
            if content is None:
                os.rmdir(path)
            elif os.lstat(path).st_size == len(content):
                os.unlink(path)


def _to_hold(root: str) -> Iterator[tuple[str, bytes | None]]:
    """Names that must not come to be, with the content that holds them; None: a folder."""
    git = os.path.join(root, ".git")
    if not os.path.lexists(git):
        yield git, None  # an empty folder is no repository to git
    is_repository = not os.path.islink(git) and os.path.isfile(os.path.join(git, "HEAD"))
    for name in (*_HELD, *(_HELD_IN_GIT if is_repository else ())):
        yield os.path.join(root, name), _CONTENT.get(name)


def _is_left(path: str, content: bytes | None) -> bool:
    """True if a kill left it: an empty folder with the name of a file, or a file with our words."""
    try:
        if content is None:
            is_named_like_file = os.path.basename(path) in _OF_FILES
            return (
                is_named_like_file
                and not os.path.islink(path)
                and os.path.isdir(path)
                and not os.listdir(path)
            )
        return not os.path.islink(path) and read_file(path, follows_links=False) == content
    except OSError:
        return False


def _make(path: str, content: bytes | None) -> bool:
    """Make a file or folder. False where that may not be: then no command can make it either."""
    try:
        if content is None:
            make_folder(path, SHARED_MODE)
        else:
            _make_whole(path, content)
    except OSError:
        return False
    return True


def _make_whole(path: str, content: bytes) -> None:
    """Make a file that is never seen half written."""
    aside = f"{path}.{os.getpid()}"
    descriptor = open_descriptor(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, follows_links=False)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
    try:
        os.link(aside, path)
    finally:
        os.unlink(aside)


def _ruling(root: str) -> Iterator[str]:
    """Guarded places that are there, nearest first, links among them; deeper than `MOST_LOOKED_AT` entries, none."""
    waiting = deque([root])
    left = MOST_LOOKED_AT
    while waiting and left > 0:
        try:
            entries = sorted(os.scandir(waiting.popleft()), key=lambda entry: entry.name)
        except OSError:
            continue
        if is_repository(entry.name for entry in entries):  # one without a folder `.git`
            yield from _settings_of_git(os.path.dirname(entries[0].path))
        for entry in entries:
            left -= 1
            name = folded(entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if name == ".git" and is_folder:
                yield from _ruling_in_git(entry.path)
            elif is_folder and name in _SETTINGS_IN:
                yield from filter(os.path.lexists, [os.path.join(entry.path, _SETTINGS_IN[name])])
            elif rules_something(name):
                yield entry.path
            elif is_folder and name not in PASSED_OVER:
                waiting.append(entry.path)


def _ruling_in_git(git: str) -> Iterator[str]:
    """Hooks and configuration of a repository and of those inside it; of a folder that is none, itself."""
    if not os.path.isfile(os.path.join(git, "HEAD")):
        yield git
        return
    yield from _settings_of_git(git)


def _settings_of_git(git: str) -> Iterator[str]:
    folders = [git]
    for group in ("modules", "worktrees"):
        with suppress(OSError):
            folders += [
                os.path.join(git, group, name) for name in sorted(os.listdir(os.path.join(git, group)))
            ]
    for folder in folders[:200]:
        yield from filter(os.path.lexists, (os.path.join(folder, name) for name in _IN_GIT))
