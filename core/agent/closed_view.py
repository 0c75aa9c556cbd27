"""View of what runs without a yes for this very call: the project, the system, toolchains, an empty home, git without keys."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from glob import iglob
from itertools import islice
from pathlib import Path

from core.agent import toolchains
from core.agent.guarded_files import SecretPlaces
from core.agent.toolchains import ClosedView
from core.kernel.disk import write_file
from core.kernel.errors import StorageError
from core.kernel.key_files import KeyContents
from core.kernel.key_names import folded, is_key_name
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.run_words import first_line
from core.kernel.secrets import named_secrets
from core.talk.context.globs import is_below, is_inside

# Settings of git without keys: helpers of credentials, headers, passwords in addresses, and all that looks
# like a secret go.

_SECTION = late(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\](.*)")
_LEFT_OUT = frozenset(
    {
        "credential",
        "http",
        "https",
        "sendemail",
        "imap",
        "smtp",
        "github",
        "gitlab",
        "hub",
        "bitbucket",
        "oauth",
        "svn-remote",
    }
)
"""Sections that hold credentials, or name what gives them out."""
_PASSWORD = late(r"https?://[^/\s\"']*@|://[^/\s\"'@]*:[^/\s\"'@]*@", re.IGNORECASE)
"""A user in an address: a token is one as often as a name."""


def without_keys(text: str) -> str:
    """The settings, without the lines that could hold a key. Those that go on over a line's end go whole.

    Lines are kept as they are: their order and sections are git's business.
    """
    kept: list[str] = []
    is_left = False
    secret_lines = _secret_lines(text)
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        last = number
        while lines[last].endswith("\\") and last + 1 < len(lines):
            last += 1
        whole = "\n".join(lines[number : last + 1])
        if (found := _SECTION.match(whole)) is not None:
            is_left = found[1].casefold().partition(".")[0] in _LEFT_OUT
        holds_key = _PASSWORD.search(whole) is not None or not secret_lines.isdisjoint(
            range(number, last + 1)
        )
        if holds_key and found is not None:
            is_left = True
        if not is_left and not holds_key:
            kept.append(whole)
        number = last + 1
    return "\n".join(kept)


def _secret_lines(text: str) -> set[int]:
    found: set[int] = set()
    for start, end, _ in named_secrets(text):
        first = text.count("\n", 0, start)
        found |= set(range(first, first + text.count("\n", start, end) + 1))
    return found


# View of what runs without a yes for this very call: the project, the system, toolchains, an empty home.
# All else is not there.

MOST_ENTRIES = 2_000
"""Entries of one folder that are looked at."""
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims", "scripts"})
_VENV = "pyvenv.cfg"
_SCRIPTS = (".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".sh", ".jar")
"""Ends of programs' texts, which import what stands beside them; another file is seen by itself."""
_BASE = late(r"^\s*home\s*=\s*(\S.*?)\s*$", re.MULTILINE)
_COMMON = late(r"gitdir:\s*(.+?)\s*")
_SETTINGS_DEPTH = 4
"""Floors of a toolchain that are looked through: a plugin or a global package keeps its settings within three folders."""
_MOST_POINTER_BYTES = 100_000


class ClosedViews:
    """Makes views; keeps what it found of files as long as they are as they were. Thread-safe.

    Args:
        secrets: looks for keys in folders that are shown.
    """

    def __init__(self, secrets: SecretPlaces) -> None:
        self._secrets = secrets
        self._contents = KeyContents()
        self._lock = threading.Lock()

    def view(
        self,
        root: str,
        copies: str,
        shown: Collection[str] = (),
        own: Collection[str] = (),
        named: Collection[str] = (),
    ) -> ClosedView:
        """The view of one command or server.

        Args:
            root: of the project, absolute, links resolved; empty for none.
            copies: folder of ours, out of its reach, for settings that are shown as a copy.
            shown: places that a person showed to what runs in the project; own: those that a yes to it names, absolute.
            named: files of them that are open whatever they hold.

        Raises:
            PermissionError: the project holds the person's own folder; or there are too many keys in what is shown.
            OSError: a copy cannot be written.
        """
        home = os.path.realpath(Path.home())
        if root and is_inside(home, root):
            raise PermissionError(
                "the project holds your own folder, so that all of it would be seen. A person is asked about each command "
                "there; open a folder below it as a project of its own"
            )
        with self._lock:
            made = _Making(home, root, self._contents)
            made.add_system()
            made.add_toolchains()
            made.add_settings(copies)
            made.add_environments()
            made.add_repository(copies)
            for place in own:
                made.add_own(place)
            for place in shown:
                made.add(place, is_wide_enough=True)
            for place in (*own, *shown):
                if os.path.isdir(place) and not os.path.isfile(os.path.join(place, _VENV)):
                    folder = os.path.realpath(place)
                    files = [one for one in (*shown, *named) if os.path.isfile(one)]
                    found = self._secrets.below(folder, files)
                    made.masked |= dict.fromkeys(one for one in found if one not in named)
            return made.view()


def own_places(command: tuple[str, ...], root: str) -> tuple[str, ...]:
    """Places that a server's command names, which a person approved: its program and what that leads to, the interpreter of its
    first line, each with the virtual environment or npm's packages around it, and of its arguments files with the folder that they stand in, a package of npm with those beside it, and folders.
    """
    program = Path(command[0])
    real = Path(os.path.realpath(program))
    interpreter = [Path(one) for one in first_line(str(real))[:1] if os.path.isabs(one)]
    programs = map(_around, dict.fromkeys((program, real, *interpreter)))
    arguments = (Path(one.partition("=")[2] if one.startswith("--") else one) for one in command[1:])
    named = [_with_folder(one) for one in arguments if one.is_absolute() and one.exists()]
    return tuple(
        str(one) for one in dict.fromkeys((*programs, *named)) if not (root and is_inside(str(one), root))
    )


def _around(program: Path) -> Path:
    """Surroundings that a program is installed with: its virtual environment, npm's packages, the folder of a script; else it alone."""
    around = program.parent.parent
    return around if (around / _VENV).is_file() else _packages(program) or _with_folder(program)


def _with_folder(path: Path) -> Path:
    """The folder of a script, in which it finds what it imports, or of npm's packages around it; else the path itself."""
    if packages := _packages(path):
        return packages
    is_script = path.is_file() and path.name.endswith(_SCRIPTS)
    return path.parent if is_script and not _is_wide(os.path.realpath(path.parent)) else path


def _packages(path: Path) -> Path | None:
    """The outermost folder of npm's packages that a path stands in: what is installed together finds each other there."""
    inner_first = [folder for folder in path.parents if folder.name == "node_modules"]
    return inner_first[-1] if inner_first else None


class _Making:
    """A view as it is made."""

    def __init__(self, home: str, root: str, contents: KeyContents) -> None:
        self.home, self.root, self.contents = home, root, contents
        self.mounts: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.masked: dict[str, None] = {}
        self._moved = toolchains.moved(os.environ)

    def view(self) -> ClosedView:
        mounts = sorted(self.mounts.items(), key=lambda one: (one[0].count("/"), one[0]))
        links = {place: target for place, target in self.links.items() if not self._is_mounted(place)}
        return ClosedView(
            home=self.home,
            mounts=tuple((source, place) for place, source in mounts),
            links=tuple(sorted(links.items())),
            masked=tuple(sorted(place for place in self.masked if self._is_mounted(place))),
        )

    def _is_mounted(self, path: str) -> bool:
        return is_below(path, self.mounts.keys())

    def add(self, place: str, *, is_wide_enough: bool) -> None:
        """Show a place, and what it leads to; nothing for one that is not there, or that holds the person's own folder.

        Args:
            is_wide_enough: a person named it outright, however much it holds.
        """
        real = os.path.realpath(place)
        if not os.path.lexists(real) or real == "/" or (_is_wide(real) and not is_wide_enough):
            return
        self._follow(place)
        if not (self._is_mounted(real) or (self.root and is_inside(real, self.root))):
            self.mounts[real] = real

    def _follow(self, place: str) -> None:
        """Show the links on the way to a place."""
        way = ""
        for name in place.strip("/").split("/"):
            way = f"{way}/{name}"
            if os.path.islink(way):
                if way not in self.links and not self._is_mounted(way):
                    self.links[way] = target = os.path.normpath(
                        os.path.join(os.path.dirname(way), os.readlink(way))
                    )
                    self._follow(target + place[len(way) :])
                return

    def add_system(self) -> None:
        """Show the system."""
        self._follow(str(Path.home()))
        for place in toolchains.SYSTEM:
            if os.path.islink(place):
                self.links[place] = os.readlink(place)
            elif os.path.exists(place):
                self.mounts[place] = place
        self.masked |= dict.fromkeys(filter(os.path.isdir, toolchains.NOT_OF_SYSTEM))
        for folder in _entries(toolchains.OPTIONAL):
            if any(os.path.isdir(os.path.join(folder, name)) for name in toolchains.PROGRAM_FOLDERS):
                self.add(folder, is_wide_enough=False)
                self._mask_keys_in(folder)
        names = list(toolchains.ETC)
        names += [os.path.basename(one) for one in _entries("/etc") if os.path.basename(one).startswith(toolchains.ETC_BEGINNINGS)]  # fmt: skip
        for name in names:
            place = f"/etc/{name}"
            if os.path.islink(place):
                self.links[place] = os.readlink(place)
            elif os.path.exists(place):
                self.mounts[place] = place
        for name in toolchains.ETC_SETTINGS:
            self._add_keyless(f"/etc/{name}")

    def add_toolchains(self) -> None:
        """Show the person's toolchains, without the keys that stand in them."""
        wanted = [place for name in toolchains.TOOLCHAINS for place in self._places(name)]
        search_path = os.environ.get("PATH", "").split(os.pathsep)
        wanted += (folder for folder in search_path if os.path.basename(folder) in _PROGRAM_FOLDERS)
        for place in dict.fromkeys(wanted):
            if os.path.isabs(place) and os.path.isdir(place):
                self.add(place, is_wide_enough=False)
                self._mask_keys_in(os.path.realpath(place))
            elif os.path.isabs(place):
                self._add_keyless(place)
        for pattern in toolchains.NOT_OF_TOOLCHAINS:
            for place in self._places(pattern):
                self.masked |= dict.fromkeys(os.path.realpath(one) for one in iglob(place))
        for folder in (*search_path, os.path.join(self.home, ".local/bin")):
            if not is_inside(folder, "/usr/bin") and os.path.realpath(folder) != "/usr/bin":
                self._add_targets(folder)

    def _places(self, name: str) -> tuple[str, ...]:
        return toolchains.places_of(name, self.home, self._moved)

    def _add_targets(self, folder: str) -> None:
        """Show what programs of a folder are links to, each by itself; a virtual environment that one stands in whole."""
        for entry in _entries(folder):
            if not os.path.islink(entry) or self._is_mounted(real := os.path.realpath(entry)):
                continue
            around = os.path.dirname(os.path.dirname(real))
            if os.path.isfile(os.path.join(around, _VENV)):
                self.add_environment(around)
            else:
                self._add_keyless(real)

    def add_settings(self, copies: str) -> None:
        """Show settings of tools, those of git as a copy without keys."""
        for name in toolchains.SETTINGS_OF_TOOLS:
            for place in self._places(name):
                self._add_keyless(place)
        for name in toolchains.GIT_SETTINGS:
            place = os.path.join(self.home, name)
            if os.path.isfile(place):
                self._add_copy(place, copies, is_always=True)

    def add_environments(self) -> None:
        """Show the outside parts of the project's virtual environments: environments elsewhere, and their Python."""
        for entry in _entries(self.root) if self.root else ():
            if os.path.isfile(os.path.join(entry, _VENV)):
                self.add_environment(entry)
        active = os.environ.get("VIRTUAL_ENV", "")
        if os.path.isabs(active) and os.path.isfile(os.path.join(active, _VENV)):
            self.add_environment(active)

    def add_environment(self, place: str) -> None:
        """Show a virtual environment and its Python. What runs in the project could name any folder there, so one counts that is
        a Python.
        """
        real = os.path.realpath(place)
        if os.path.isfile(os.path.join(real, "bin", "python")) or os.path.islink(
            os.path.join(real, "bin", "python")
        ):
            self.add(place, is_wide_enough=False)
            self._mask_keys_in(real)
        with suppress(OSError):
            told = read_file(os.path.join(real, _VENV), _MOST_POINTER_BYTES).decode("utf-8", "replace")
            named = [found[1] for found in _BASE.finditer(told)]
            named.append(os.path.dirname(os.path.realpath(os.path.join(real, "bin", "python"))))
            for folder in dict.fromkeys(named):
                prefix = os.path.realpath(os.path.dirname(folder))
                if os.path.isabs(folder) and _is_python(prefix):
                    self.add(prefix, is_wide_enough=False)

    def add_own(self, place: str) -> None:
        """Show a place that a person approved as a part of a server, with the Python that it stands on and the sources that it is
        installed from.
        """
        if not os.path.isfile(os.path.join(place, _VENV)):
            self.add(place, is_wide_enough=False)
            prefix = os.path.dirname(os.path.dirname(os.path.realpath(place)))
            if os.path.isfile(place) and _is_python(prefix):
                self.add(prefix, is_wide_enough=False)
            return
        self.add_environment(place)
        for file in islice(
            iglob(os.path.join(place, "lib", "python3*", "site-packages", "*.pth")), MOST_ENTRIES
        ):
            for line in _lines(file):
                if os.path.isabs(line) and os.path.isdir(line):
                    self.add(line, is_wide_enough=False)

    def add_repository(self, copies: str) -> None:
        """Show the repository of a project that is a worktree or submodule of git, where that says so itself, and settings of a
        repository without the keys in them.
        """
        if not self.root:
            return
        folders = [os.path.join(self.root, ".git")]
        if os.path.isfile(folders[0]):
            folders = list(_repository_of(self.root))
            for folder in folders:
                self.add(folder, is_wide_enough=False)
        for folder in folders:
            place = os.path.join(folder, "config")
            if os.path.isfile(place) and not os.path.islink(place):
                self._add_copy(place, copies, is_always=False)

    def _add_copy(self, place: str, copies: str, *, is_always: bool) -> None:
        """Show a copy of git's settings without keys. `is_always`: it is not seen else."""
        real = os.path.realpath(place)
        copy = os.path.join(copies, hashlib.sha256(os.fsencode(place)).hexdigest())
        with suppress(OSError):
            text = read_file(real).decode("utf-8", "surrogateescape")
            said = without_keys(text)
            if said != text or is_always:
                _write(copy, said.encode("utf-8", "surrogateescape"))
                self.mounts[place] = copy

    def _add_keyless(self, place: str) -> None:
        """Show a file or a folder's files, unless it is not there or is one of keys."""
        if os.path.isdir(place):
            self.add(place, is_wide_enough=False)
            self._mask_keys_in(os.path.realpath(place))
            return
        real = os.path.realpath(place)
        if os.path.isfile(real) and not self._is_key(real):
            self.add(place, is_wide_enough=False)

    def _is_key(self, path: str) -> bool:
        return is_key_name(folded(os.path.basename(path))) or bool(self.contents.reasons(path))

    def _mask_keys_in(self, folder: str) -> None:
        """Empty them where they really stand: bubblewrap begins nothing where a link that leads out of the view would be emptied."""
        found = [one for one in _entries(folder) if os.path.isfile(one) and self._is_key(one)]
        self.masked |= dict.fromkeys(map(os.path.realpath, (*found, *_settings_in(folder))))


def _write(path: str, data: bytes) -> None:
    try:
        write_file(Path(path), data)
    except StorageError as error:
        raise OSError(error.what) from error


def _entries(folder: str) -> Iterator[str]:
    """Paths of what is in a folder, in order, bounded; none where it cannot be read."""
    try:
        with os.scandir(folder) as found:
            yield from sorted(entry.path for entry in islice(found, MOST_ENTRIES))
    except OSError:
        return


def _settings_in(folder: str) -> Iterator[str]:
    """Files of settings that tools keep tokens in, in the folders of a folder and theirs, bounded: what stands deeper is a package's."""
    waiting, left = [folder], MOST_ENTRIES
    for _ in range(_SETTINGS_DEPTH):
        deeper: list[str] = []
        for one in waiting:
            with suppress(OSError), os.scandir(one) as found:
                for entry in islice(found, max(0, left)):
                    left -= 1
                    if entry.is_dir(follow_symlinks=False):
                        deeper.append(entry.path)
                    elif entry.name in toolchains.SETTINGS_WITH_KEYS and entry.is_file():
                        yield entry.path
        waiting = sorted(deeper)


def _is_wide(real: str) -> bool:
    """True for a folder that holds far more than code of a tool: a person's own, what is around that, the first of a path."""
    home = os.path.realpath(Path.home())
    return is_inside(home, real) or (os.path.dirname(real) == "/" and real not in toolchains.SYSTEM)


def _is_python(prefix: str) -> bool:
    """True for a folder in which a Python is installed, with its library."""
    libraries: Iterable[str] = iglob(os.path.join(prefix, "lib", "python3*", "os.py"))
    return any(True for _ in libraries) and any(
        os.access(one, os.X_OK) for one in iglob(os.path.join(prefix, "bin", "python3*"))
    )


def _repository_of(root: str) -> Iterator[str]:
    """Folders of git that a project's file `.git` names, where they name the project in turn: anybody may write such a file."""
    folder = _pointed(os.path.join(root, ".git"), root)
    if not folder or not os.path.isfile(os.path.join(folder, "HEAD")):
        return
    back = _first_line(os.path.join(folder, "gitdir"))
    common = _first_line(os.path.join(folder, "commondir"))
    if back and os.path.realpath(os.path.join(folder, back)) == os.path.realpath(os.path.join(root, ".git")):
        if common:
            yield os.path.realpath(os.path.join(folder, common))
        yield folder
    elif _worktree(folder) == root:
        yield folder


def _pointed(file: str, root: str) -> str:
    found = _COMMON.fullmatch(_first_line(file))
    return os.path.realpath(os.path.join(root, found[1])) if found else ""


def _worktree(folder: str) -> str:
    """The folder that a submodule's repository says to be checked out in, empty where it says none."""
    try:
        text = read_file(os.path.join(folder, "config"), _MOST_POINTER_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(r"^\s*worktree\s*=\s*(.+?)\s*$", text, re.MULTILINE)
    return os.path.realpath(os.path.join(folder, found[1].strip('"'))) if found else ""


def _first_line(file: str) -> str:
    return next(iter(_lines(file)), "")


def _lines(file: str) -> list[str]:
    """Lines of a small file, without what is around them; none where it cannot be read."""
    try:
        return [
            line.strip()
            for line in read_file(file, _MOST_POINTER_BYTES).decode("utf-8", "replace").split("\n")
        ]
    except OSError:
        return []
