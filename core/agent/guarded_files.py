"""Files of a discussion's tools, and places that are kept from them: resolved, judged, then opened name by name."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from core.agent.tool import ToolPlaces
from core.agent.tool_policy import (
    IN_REPOSITORY,
    PARTS_OF_REPOSITORY,
    is_repository,
    reasons_to_ask_before_writing,
    rules_something,
)
from core.agent.toolchains import ClosedView
from core.kernel import paths
from core.kernel.disk import write_held
from core.kernel.figures import size
from core.kernel.frame import clean
from core.kernel.key_files import FileMark, KeyContents, mark_of
from core.kernel.key_names import KEY_FOLDERS, folded, is_key_name
from core.kernel.language import tr
from core.kernel.opener import (
    SHARED_MODE,
    HeldFolder,
    OddFileError,
    held_folder,
    make_folder,
    open_descriptor,
    read_file,
    read_held,
)
from core.talk.context.globs import KeyGate, Places, is_below, is_inside

# Places of a project that other programs obey, kept from commands while they run: shut where they are, and
# where not.

MOST_LOOKED_AT = 5_000
"""Entries of a project, nearest first, among which guarded places are looked for."""

_MOST_NAMED = 10
_READ_ONLY = os.strerror(errno.EROFS)
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
        note: notes names on disk before they are made. Raises nothing.
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


def kept_note(output: str, held: HeldPlaces, root: str) -> str:
    """Sentence on a place that a command tried to write though no command may, with a yes or without; empty where it did not.

    A program says no more than that the file system is read-only.
    """
    lines = [line for line in output.splitlines() if _READ_ONLY in line]
    names = (os.path.relpath(path, root) for path in held.guarded) if lines else ()
    name = next((one for one in names if any(f"{one}{end}" in line for line in lines for end in "/':\"")), "")
    if not name:
        return ""
    return (
        f"{name} is read-only for every command, whatever the person says: other programs obey it. A person makes or changes it "
        "(git init, a hook, settings) in their own terminal; write_file asks them for a file of it"
    )


def drop_left(held: Iterable[str]) -> None:
    """Take away names that were held, the last one first; what somebody has put in meanwhile stays. Raises nothing."""
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
    """Hooks and configuration of a repository and of those inside it. A folder that is no repository stands for itself."""
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


# Files of a project that may hold keys or passwords, shut to a command that no person said yes to, and to
# MCP servers.

MOST_SECRETS_LOOKED_AT = 200_000
"""Entries of a project among which they are looked for, but for folders of what was fetched or built."""
MOST_SHUT = 300
MOST_SECRETS_S = 20.0
"""Seconds of processor time that one search for keys takes, at most."""
MOST_READ_BYTES = 1_000_000_000
"""Bytes of a project's files that one search for keys reads, at most; files that were read before do not count."""
NAME_THEM = "Name a file of keys in the command (`.env`), and a person is asked"
_SECRET_PLACES_MOST_NAMED = 3
_SETTLED_NS = 100_000_000
"""Age of a change from which on another one cannot bear the same time."""

_CODE = (
    ".py", ".pyi", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".go", ".rs", ".java", ".kt", ".scala", ".rb", ".php",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".exs", ".md", ".html",
)  # fmt: skip
"""Ends of names such as `credentials.*` that are a program's own text; what stands in it is looked at as in any other."""
_KEYS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore")
_TESTS = frozenset(
    {
        "test",
        "tests",
        "testing",
        "testdata",
        "test_data",
        "__tests__",
        "spec",
        "specs",
        "fixture",
        "fixtures",
        "examples",
    }
)
"""Folders whose keys are made for tests, which fail without them."""


class _Folder(msgspec.Struct, frozen=True, gc=False):
    """Content of a folder: `stamp`: device, number and time of change, None where another change may follow within it."""

    stamp: tuple[int, int, int] | None
    is_of_tests: bool
    count: int
    folders: tuple[str, ...]
    secrets: tuple[str, ...]
    files: tuple[str, ...]


class SecretPlaces:
    """Looks for secrets of projects. It remembers each folder as long as nothing came or went in it. Thread-safe.

    Args:
        remedy: sentence without a full stop for a project in which there are too many.
        clock: seconds of processor time of the thread that looks.
    """

    def __init__(self, remedy: str = NAME_THEM, clock: Callable[[], float] = time.thread_time) -> None:
        self._remedy = remedy
        self._clock = clock
        self._known: dict[str, dict[str, _Folder]] = {}
        self._contents = KeyContents()

    @property
    def read_bytes(self) -> int:
        """Bytes of files that were read for their content so far."""
        return self._contents.read_bytes

    def below(self, root: str, shown: Collection[str] = ()) -> tuple[str, ...]:
        """Files and folders that may hold secrets by name or content, absolute, links resolved; those that a link leads to
        elsewhere among them, and every other name of the same file (a hard link) in the project.

        Args:
            shown: places that a person showed to what runs there, absolute, links resolved: files below them do not count as keys.

        Raises:
            PermissionError: there are more of them than are shut, or more in the project than is looked at: whoever asks
                for a command may have put it there.
        """
        found: dict[str, None] = {}
        before, seen = self._known.get(root, {}), dict[str, _Folder]()
        waiting, left = deque([(root, False)]), MOST_SECRETS_LOOKED_AT
        while waiting:  # by names first: of a folder that is too large for a search nothing is read
            folder, is_of_tests = waiting.popleft()
            if (known := _read(folder, before.get(folder), is_of_tests=is_of_tests)) is None:
                continue
            seen[folder] = known
            left -= known.count
            found |= _places(known.secrets, shown)
            if left < 0 or len(found) > MOST_SHUT:
                raise self._too_many(left)
            waiting += (
                (path, is_of_tests or folded(os.path.basename(path)) in _TESTS) for path in known.folders
            )
        self._known[root] = seen
        most_bytes, latest = self._contents.read_bytes + MOST_READ_BYTES, self._clock() + MOST_SECRETS_S
        for known in seen.values():
            found |= _places(filter(self._contents.reasons, known.files), shown)
            if len(found) > MOST_SHUT or self._contents.read_bytes > most_bytes:
                raise self._too_many(left)
            if self._clock() > latest:
                raise PermissionError(
                    f"the search for keys takes over {MOST_SECRETS_S:.0f} seconds here. The program remembers what it has read: try again. {self._remedy}"
                )
        found |= dict.fromkeys(_other_names(root, tuple(found), lambda: self._too_many(-1)))
        if len(found) > MOST_SHUT:
            raise self._too_many(left)
        return tuple(
            path for path in found if os.path.exists(path) and path != root and not is_inside(root, path)
        )

    def _too_many(self, left: int) -> PermissionError:
        what = (
            f"more than {MOST_SECRETS_LOOKED_AT:,} files are here"
            if left < 0
            else f"more than {MOST_SHUT} files here may hold keys or passwords, or {size(MOST_READ_BYTES)} would have to be looked through"
        )
        return PermissionError(
            f"{what}, too many to shut those with secrets to what nobody said yes to. {self._remedy}"
        )


def _places(paths: Iterable[str], shown: Collection[str]) -> dict[str, None]:
    """The places, links resolved, that are not below one that a person showed."""
    return {path: None for path in map(os.path.realpath, paths) if not is_below(path, shown)}


def _other_names(root: str, secrets: Sequence[str], too_many: Callable[[], PermissionError]) -> Iterator[str]:
    """Names in a project of files that may hold secrets and have more names than one, in what was fetched or built too.

    Raises:
        PermissionError: more is there than is looked at, and names are missing still.
    """
    files = (file for place in secrets for file in (place, *_files_below(place)))
    missing = {
        (status.st_dev, status.st_ino): status.st_nlink for status in _statuses(files) if status.st_nlink > 1
    }
    numbers = {number for _, number in missing}
    waiting, left = deque([root]), MOST_SECRETS_LOOKED_AT
    while waiting and any(missing.values()):
        try:
            entries = list(os.scandir(waiting.popleft()))
        except OSError:
            continue
        left -= len(entries)
        if left < 0:
            raise too_many()
        waiting += (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        for path in (entry.path for entry in entries if entry.inode() in numbers):
            for status in _statuses([path]):
                if (key := (status.st_dev, status.st_ino)) in missing:
                    missing[key] -= 1
                    yield path


def _files_below(place: str) -> Iterator[str]:
    if not os.path.isdir(place):
        return iter(())
    files = (os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
    return islice(files, MOST_SECRETS_LOOKED_AT)


def _statuses(files: Iterable[str]) -> Iterator[os.stat_result]:
    """States of those that are files."""
    for file in files:
        with suppress(OSError):
            status = os.stat(file, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                yield status


def shut_note(shut: Sequence[str], root: str) -> str:
    """Sentence on what was shut to a command, for its result; empty where nothing was."""
    if not shut:
        return ""
    them = "it" if len(shut) == 1 else "them"
    return (
        f"{_named(shut, root)} to this command, which a rule let run, as it began; what is made or replaced meanwhile is open to "
        f"it. A command that names {them} asks the person"
    )


def server_note(shut: Sequence[str], root: str) -> str:
    """Sentence on what is shut to an MCP server, for the result of a call; empty where nothing is."""
    if not shut:
        return ""
    them = "it" if len(shut) == 1 else "them"
    return f"{_named(shut, root)} to this server since it started: the yes to it does not name {them}."


def _named(shut: Sequence[str], root: str) -> str:
    names = [os.path.relpath(path, root) if is_inside(path, root) else path for path in shut]
    more = (
        f" and {len(names) - _SECRET_PLACES_MOST_NAMED:,} more"
        if len(names) > _SECRET_PLACES_MOST_NAMED
        else ""
    )
    were = "was" if len(names) == 1 else "were"
    return f"{', '.join(names[:_SECRET_PLACES_MOST_NAMED])}{more} may hold keys or passwords and {were} shut"


def _read(folder: str, known: _Folder | None, *, is_of_tests: bool) -> _Folder | None:
    """Content of a folder, None where it cannot be read. `known`: as it was read before."""
    try:
        status = os.stat(folder, follow_symlinks=False)
        stamp = status.st_dev, status.st_ino, status.st_mtime_ns
        if known is not None and known.stamp == stamp and known.is_of_tests is is_of_tests:
            return known
        is_settled = time.time_ns() - status.st_mtime_ns > _SETTLED_NS
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return None
    folders, secrets, files = _sorted(entries, is_of_tests=is_of_tests)
    return _Folder(
        stamp=stamp if is_settled else None,
        is_of_tests=is_of_tests,
        count=len(entries),
        folders=folders,
        secrets=secrets,
        files=files,
    )


def _sorted(
    entries: Iterable[os.DirEntry[str]], *, is_of_tests: bool
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Folders to be looked into, places that may hold secrets by their names, and files of which the content tells."""
    folders, secrets, files = [], [], []
    for entry in entries:
        name = folded(entry.name)
        if entry.is_dir(follow_symlinks=False):
            if name in KEY_FOLDERS:
                secrets.append(entry.path)
            elif name != ".git" and name not in PASSED_OVER:
                folders.append(entry.path)
        elif is_key_name(name) and not _is_harmless(name, is_of_tests=is_of_tests):
            secrets.append(entry.path)
        elif not is_of_tests and entry.is_file(follow_symlinks=False):
            files.append(entry.path)
    return tuple(folders), tuple(secrets), tuple(files)


def _is_harmless(name: str, *, is_of_tests: bool) -> bool:
    return name.endswith(_CODE) or (is_of_tests and name.endswith(_KEYS))


# Files of a discussion's tools: resolved, judged, then opened name by name, so that nothing can be swapped
# in between.

MAX_FILE_BYTES = 16_000_000
"""Most of a file that is read or written; a larger one is for `grep` and commands."""
_SYSTEM = ("/proc", "/sys", "/dev")


class ToolPath(msgspec.Struct, frozen=True):
    """A path that was judged.

    Args:
        path: absolute, links resolved; root: the folder of the tools that it is in; shown: as people and models see it.
        problem: why it may not be reached, a sentence; empty where it may.
    """

    path: str
    root: str = ""
    shown: str = ""
    problem: str = ""

    @property
    def relative(self) -> str:
        """Path below the root, with `/`; `.` for the root itself."""
        return self.path[len(self.root) :].lstrip(os.sep).replace(os.sep, "/") or "."

    @property
    def folders(self) -> tuple[str, ...]:
        """Names of the folders between the root and the file."""
        return tuple(self.relative.split("/")[:-1])

    @property
    def name(self) -> str:
        """Its last name."""
        return os.path.basename(self.path)

    @property
    def write_reasons(self) -> tuple[str, ...]:
        """Reasons to ask before it is written, whatever was granted."""
        reasons = reasons_to_ask_before_writing(self.relative)
        return (*reasons, IN_REPOSITORY) if not reasons and self._is_in_repository() else reasons

    def _is_in_repository(self) -> bool:
        """True if a folder of its way, named as it may be, is a repository of git."""
        names = self.folders
        return any(_holds_repository(os.path.join(self.root, *names[:at])) for at in range(len(names) + 1))


class GuardedBytes(msgspec.Struct, frozen=True):
    """Bytes of a file with what tells it apart.

    Args:
        data: None where there is no file; mode: permission bits; mark: of the file as it was opened.
        problem: why it could not be read, a sentence.
    """

    data: bytes | None = None
    mode: int = 0
    mark: FileMark | None = None
    problem: str = ""

    @property
    def sha256(self) -> str:
        """Sha256 of the bytes (hex), empty where there is no file."""
        return "" if self.data is None else hashlib.sha256(self.data).hexdigest()

    @property
    def has_other_names(self) -> bool:
        """True if it has hard links."""
        return self.mark is not None and self.mark.links > 1


def key_reasons(place: ToolPath, found: GuardedBytes, gate: KeyGate) -> tuple[str, ...]:
    """Reasons to ask before a file that was read is shown, whatever was granted."""
    if found.data is None or found.mark is None:
        return ()
    return gate.reasons(place.path, found.mark, found.data)


class Fence:
    """The folders that tools may reach and the forbidden ones, resolved once. `core.agent.tool_policy` judges trust.

    One instance serves one call and is then dropped: links may lead elsewhere by the next.
    """

    def __init__(self, places: ToolPlaces) -> None:
        self._folders = Places(places.root, places.allowed_roots)
        self._has_root = os.path.isabs(
            places.root
        )  # an empty one would be the folder that the program stands in
        self._closed = (*_SYSTEM, *_own_folders(places))

    def judge(self, path: str) -> ToolPath:
        """Resolve a path as a model gave it, and judge it. Raises nothing.

        Args:
            path: relative to the project's root, or absolute.
        """
        if not self._has_root:
            return ToolPath(path="", problem="No project is open: there are no files to work with.")
        if not path.strip() or "\0" in path or len(path) > 4_000:
            return ToolPath(path="", problem="The path is empty or holds characters that no path has.")
        try:
            resolved = os.path.realpath(self._folders.absolute(path))
        except (OSError, ValueError) as error:
            return ToolPath(path="", problem=f"The path {path[:200]!r} cannot be followed: {error}.")
        if not _is_utf8(resolved):
            return ToolPath(path="", problem="The path is not UTF-8.")
        if not self._folders.is_allowed(resolved):
            return ToolPath(path=resolved, problem=f"{clean(path)!r} is outside the project, links resolved.")
        return self.entry(resolved)

    def entry(self, path: str) -> ToolPath:
        """Judge a path below a folder that was judged. Where it is a link by now, it is not followed."""
        shown = self._folders.shown(path)
        if any(is_inside(path, folder) for folder in self._closed):
            return ToolPath(path=path, problem=f"{shown!r} belongs to the system or to this program itself.")
        return ToolPath(path=path, root=self._folders.root_of(path), shown=shown)


def judge_path(path: str, places: ToolPlaces) -> ToolPath:
    """Resolve a path as a model gave it, and judge it, as `Fence.judge`."""
    return Fence(places).judge(path)


def read_guarded(place: ToolPath, most_bytes: int = MAX_FILE_BYTES) -> GuardedBytes:
    """Read a file whole, by its judged path, following no link. Raises nothing: what is wrong with it is its `problem`."""
    try:
        with held_folder(place.root, place.folders) as folder:
            return _read_in(folder, place, most_bytes)
    except FileNotFoundError:
        return GuardedBytes()
    except OSError as error:
        return GuardedBytes(problem=f"{place.shown} cannot be read: {_reason(error)}.")


def write_guarded(place: ToolPath, data: bytes, base_sha256: str) -> str:
    """Write a file whole, atomically, if it is still as it was judged. Folders that are missing are made.

    Args:
        base_sha256: of the bytes that must stand there; empty: no file may.

    Returns:
        Why it was not written, a sentence; empty where it was.
    """
    try:
        with held_folder(place.root, place.folders, made_mode=None if base_sha256 else SHARED_MODE) as folder:
            before = folder.status(place.name)
            old = _read_in(folder, place, MAX_FILE_BYTES)
            if old.problem:
                return old.problem

            def is_unchanged() -> bool:
                return _marks(folder.status(place.name)) == _marks(before)

            mode = None if old.data is None else old.mode
            if old.sha256 == base_sha256 and write_held(folder, place.name, data, is_unchanged, mode=mode):
                return ""
    except OSError as error:
        return f"{place.shown} cannot be written: {_reason(error)}."
    return f"{place.shown} has changed since it was judged: nothing was written. Read it again."


def remove_guarded(place: ToolPath, base_sha256: str) -> str:
    """Remove a file that still has these bytes. Returns why it was not, a sentence; empty where it was."""
    try:
        with held_folder(place.root, place.folders) as folder:
            if _read_in(folder, place, MAX_FILE_BYTES).sha256 != base_sha256:
                return tr("{shown} has changed: the program did not remove the file.", shown=place.shown)
            folder.unlink(place.name)
    except OSError as error:
        return tr("The program cannot remove {shown}: {error}.", shown=place.shown, error=_reason(error))
    return ""


def remove_empty_folder(place: ToolPath) -> None:
    """Remove an empty folder, by its judged path, following no link. Anything else stays. Raises nothing."""
    with suppress(OSError), held_folder(place.root, place.folders) as folder:
        folder.remove_folder(place.name)


def _read_in(folder: HeldFolder, place: ToolPath, most_bytes: int) -> GuardedBytes:
    try:
        descriptor = folder.open(place.name, os.O_RDONLY)
    except FileNotFoundError:
        return GuardedBytes()
    status = os.fstat(descriptor)
    if status.st_size > most_bytes:
        os.close(descriptor)
        return GuardedBytes(problem=_too_large(place, status.st_size, most_bytes))
    data = read_held(descriptor, most_bytes)
    if len(data) > most_bytes:  # it grew
        return GuardedBytes(problem=_too_large(place, len(data), most_bytes))
    return GuardedBytes(data=data, mode=stat.S_IMODE(status.st_mode), mark=mark_of(status))


def _holds_repository(folder: str) -> bool:
    return is_repository(name for name in PARTS_OF_REPOSITORY if os.path.lexists(os.path.join(folder, name)))


def _too_large(place: ToolPath, size_bytes: int, most_bytes: int) -> str:
    return f"{place.shown} has {size_bytes:,} bytes; at most {most_bytes:,} are read."


def _marks(status: os.stat_result | None) -> tuple[int, ...] | None:
    if status is None:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode


def _own_folders(places: ToolPlaces) -> tuple[str, ...]:
    """Folders of this program, which no tool reaches wherever the project stands."""
    own = [Path(places.home)] if places.home else []
    with suppress(RuntimeError):  # no home of the person is known
        own += [paths.config_dir(), paths.cache_dir(), paths.log_dir()]
    return tuple(os.path.realpath(folder) for folder in own)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: OSError) -> str:
    if isinstance(error, OddFileError):
        return str(error.strerror)
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return "a folder on its path is a link or no folder"
    if error.errno == errno.EISDIR:
        return "it is a folder; glob lists what is in it"
    return error.strerror or type(error).__name__
