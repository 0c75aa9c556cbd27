"""MCP servers in the sandbox of commands: what is started in place of a server's own command, and what is held for it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from msgspec.structs import replace

from core.agent.closed_view import own_places
from core.agent.commands import Commands
from core.agent.guarded_files import CAME_TO_BE, HeldPlaces, SecretPlaces, server_note
from core.agent.sandbox import (
    BUBBLEWRAP,
    CommandPlaces,
    check_root,
    confined,
    hidden_places,
    mounts_of,
    system_program,
)
from core.kernel.codecs import read_json
from core.kernel.command_start import HOST_LIFELINE, MOST_PROCESSES, bounded, counts_by_namespace
from core.kernel.disk import remove_whole
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.values.mcp import CommandBounds, Keeper, WrappedCommand

_NO_REMEDY = "The server would have to be started for a smaller project"

_CERTIFICATES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
)
"""Variables that name files of trusted certificates: behind a firm's proxy a server that opens the network needs them."""


class ServerSandbox:
    """Sandboxes of all MCP servers over stdio. Thread-safe.

    A server may write into a scratch folder of its own, which is its `/tmp`, into an empty home that ends with it, and into
    the project where it is started for one; there files with secrets are shut to it, unless the yes to it names them. Beside that it sees what its command
    names, the system and toolchains. Where nothing confines commands, nothing
    confines a server: `Commands.sandbox` says so.

    Args:
        home: ours, hidden from servers; commands: its confinement, mark and guarded places are shared.
    """

    def __init__(self, home: Path, commands: Commands) -> None:
        self._home = home
        self._commands = commands
        self._lock = threading.Lock()
        self._scratch: dict[str, str] = {}
        self._homes: dict[str, tuple[str, str]] = {}
        """By server: the folder that is its home, and the place where it sees it."""
        self._fetched: dict[str, _Fetched] = {}
        self._places: dict[str, tuple[str, HeldPlaces]] = {}
        self._secrets = SecretPlaces(_NO_REMEDY)

    def wrap(
        self,
        name: str,
        root: str,
        command: tuple[str, ...],
        needs_network: bool,
        bounds: CommandBounds = CommandBounds(),  # noqa: B008 (frozen)
        named: Collection[str] = (),
        shown: Collection[str] = (),
    ) -> WrappedCommand:
        """Put a server's command into its sandbox; `functools.partial` over name and root makes a `Wrap`.

        Args:
            root: of the trusted project that it is started for, absolute, links resolved; empty for none.
            command: its program absolute; bounds: as of a command of the agent.
            named: files that the yes to it names, absolute, links resolved: they are open to it whatever they hold.
            shown: places that the person showed to what runs in the project, absolute, links resolved.

        Raises:
            OSError: there is no place for its scratch folder, it could write everywhere, or the project's secrets are too many.
        """
        check_root(root)
        with self._lock:
            self._places.pop(name, None)
            if name not in self._scratch:
                self._scratch[name] = self._commands.new_scratch("server")
            scratch = self._scratch[name]
        confinement = self._commands.confinement
        tmp = scratch if self._has_own_tmp() else _TMP
        passed = {one: os.environ[one] for one in _CERTIFICATES if needs_network and one in os.environ}
        environment = {**self._commands.marked_environment(tmp), "npm_config_cache": f"{tmp}/.npm", **passed}
        is_bubble = confinement.sandbox.name == BUBBLEWRAP
        started = self._bounded(command, bounds, is_bubble=is_bubble)
        keeper = Keeper.SANDBOX if is_bubble else Keeper.NONE if sys.platform == "win32" else Keeper.GUARD
        disks = tuple(filter(None, (root, scratch)))
        if confinement.program is None:
            return WrappedCommand(
                program=started[0],
                arguments=started[1:],
                folder=root or scratch,
                environment=environment,
                keeper=keeper,
                bounds=bounds,
                disks=disks,
            )
        held = HeldPlaces()
        if root:
            shut = tuple(path for path in self._secrets.below(root, shown) if path not in named)
            held = replace(self._commands.guarded.look(root), shut=shut)
            with self._lock:
                self._places[name] = (root, held)
        own = (*own_places(command, root), *named)
        view = self._commands.closed_view(root, shown, own, named)
        home = self._new_home(name, view.home) if is_bubble and view is not None else ""
        hidden = (*hidden_places(self._home), *held.shut)
        places = CommandPlaces(
            root=root or scratch,
            folder=root or tmp,
            scratch=scratch,
            hidden=hidden,
            guarded=held.guarded,
            view=view,
            home=home,
        )
        arguments = confined(confinement, started, places, needs_network=needs_network)
        mounts = mounts_of(places) if is_bubble else None
        return WrappedCommand(
            program=str(confinement.program),
            arguments=arguments,
            folder=scratch,
            environment=environment,
            keeper=keeper,
            bounds=bounds,
            disks=tuple(filter(None, (*disks, home))),
            mounts=mounts,
        )

    def _new_home(self, name: str, place: str) -> str:
        """A fresh folder for a server's home: bubblewrap leaves links in it, on which another start would end. Raises OSError."""
        home = self._commands.new_scratch("home")
        with self._lock:
            before, self._homes[name] = self._homes.get(name), (home, place)
        if before is not None:
            with suppress(OSError):
                remove_whole(before[0])
        return home

    def _bounded(
        self, command: tuple[str, ...], bounds: CommandBounds, *, is_bubble: bool
    ) -> tuple[str, ...]:
        """The command under the bounds of the kernel, as those of the agent start."""
        bash = system_program("bash")
        if bash is None:
            return command
        most = MOST_PROCESSES if is_bubble and counts_by_namespace() else None
        return bounded(
            bash, command, bounds, most_processes=most, lifeline=HOST_LIFELINE if is_bubble else None
        )

    def news(self, name: str) -> tuple[str, ...]:
        """Sentences on guarded names of the project that came to be since a server was started, or since the last look:
        by it or by anybody else. The first look tells what is shut to it, too.
        """
        with self._lock:
            if name not in self._places:
                return ()
            root, held = self._places[name]
            fresh = self._commands.guarded.came_to_be(root, held)
            self._places[name] = root, replace(held, open_links=(*held.open_links, *fresh), shut=())
        told = filter(None, [server_note(held.shut, root)])
        return (*told, *(f"{path} {CAME_TO_BE}." for path in fresh))

    def scratch(self, name: str) -> str:
        """The folder that is a server's `/tmp`; empty for none."""
        with self._lock:
            return self._scratch.get(name, "")

    def soon_lost(self, name: str) -> tuple[str, ...]:
        """Files that a server wrote and that end with its sandbox: into its home, and beside its program where npx fetched that
        into its scratch folder. Each as the server names it.
        """
        with self._lock:
            scratch, (home, place) = self._scratch.get(name, ""), self._homes.get(name, ("", ""))
            fetched = self._fetched.setdefault(name, _Fetched())
        tmp = scratch if self._has_own_tmp() else _TMP
        beside = (f"{tmp}/{os.path.relpath(path, scratch)}" for path in _written_beside(scratch, fetched))
        return (*(f"{place}/{os.path.relpath(path, home)}" for path in _written_home(home)), *beside)

    def _has_own_tmp(self) -> bool:
        return self._commands.confinement.sandbox.name != BUBBLEWRAP or sys.platform == "darwin"

    def close(self) -> None:
        """Remove the scratch folders, when no server runs. Idempotent."""
        with self._lock:
            folders = (*self._scratch.values(), *(home for home, _ in self._homes.values()))
            self._scratch, self._homes = {}, {}
        for folder in folders:
            with suppress(OSError):
                remove_whole(folder)


_TMP = "/tmp"  # noqa: S108
_PACKAGE = late(r"(?:@[\w.-]{1,100}/)?\w[\w.-]{0,200}")
_MOST_FILES = 2_000
"""Files of a package, or of a home, that are looked at."""
_OF_TOOLS = (".cache", ".npm", ".local/share/uv", ".local/state", ".pki")
"""Folders of a home in which tools keep what they fetched and their own records: nobody's words."""


class _Fetched:
    """Packages that npx fetched for a server, found once for each list that npm wrote: folders, and the list's time."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[int, tuple[str, ...]]] = {}


def _written_home(home: str) -> Iterator[str]:
    """Files with something in them in a home: empty ones are places of mounts, or hold no words."""
    own = tuple(os.path.join(home, one) for one in _OF_TOOLS)
    for entry in _files(home, own) if home else ():
        with suppress(OSError):
            found = entry.stat(follow_symlinks=False)
            if S_ISREG(found.st_mode) and found.st_size:
                yield entry.path


def _written_beside(scratch: str, fetched: _Fetched) -> Iterator[str]:
    """Files in packages that npx fetched, newer than the list that npm writes last.

    Source: npm 11, `_npx/HASH/package.json` and `node_modules/.package-lock.json` (seen 2026-11-30).
    """
    for place in Path(scratch, ".npm", "_npx").glob("*") if scratch else ():
        try:
            installed_ns = (place / "node_modules" / ".package-lock.json").lstat().st_mtime_ns
        except OSError:
            continue
        known = fetched.known.get(str(place))
        if known is None or known[0] != installed_ns:
            known = fetched.known[str(place)] = installed_ns, tuple(_packages(scratch, place))
        for folder in known[1]:
            for entry in _files(folder):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime_ns > installed_ns:
                        yield entry.path


def _packages(scratch: str, place: Path) -> Iterator[str]:
    """Folders of the packages that npx was asked for, without one that a link leads elsewhere."""
    modules = place / "node_modules"
    try:
        asked = read_json(read_file(place / "package.json", _MOST_BYTES)).get("dependencies", {})
        folders = [modules / name for name in asked if _PACKAGE.fullmatch(name)]
    except (OSError, ValueError, AttributeError, TypeError):
        return
    for folder in folders:
        inside = os.path.join(os.path.realpath(scratch), folder.relative_to(scratch))
        if os.path.realpath(folder) == inside:
            yield inside


_MOST_BYTES = 1_000_000


def _files(folder: str, left_out: Collection[str] = ()) -> Iterator[os.DirEntry[str]]:
    """Files of a folder, at most so many, without those of packages inside and of folders that are left out; no link is followed."""
    left, folders = _MOST_FILES, [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != "node_modules" and entry.path not in left_out:
                            folders.append(entry.path)
                    elif left:
                        left -= 1
                        yield entry
        except OSError:
            continue
