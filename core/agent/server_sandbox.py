"""MCP servers in the sandbox of commands: what is started in place of a server's own command, and what is held for it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

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

    A server may write into a scratch folder of its own, which is its `/tmp`, and into the project where it is started
    for one; there files with secrets are shut to it, unless the yes to it names them. Beside that it sees what its command
    names, the system, toolchains, and an empty home. Where nothing confines commands, nothing
    confines a server: `Commands.sandbox` says so.

    Args:
        home: ours, hidden from servers; commands: its confinement, mark and guarded places are shared.
    """

    def __init__(self, home: Path, commands: Commands) -> None:
        self._home = home
        self._commands = commands
        self._lock = threading.Lock()
        self._scratch: dict[str, str] = {}
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
        disks = (root, scratch) if root else (scratch,)
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
        hidden = (*hidden_places(self._home), *held.shut)
        places = CommandPlaces(
            root=root or scratch,
            folder=root or tmp,
            scratch=scratch,
            hidden=hidden,
            guarded=held.guarded,
            view=view,
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
            disks=disks,
            mounts=mounts,
        )

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

    def written_beside(self, name: str) -> tuple[str, ...]:
        """Files that a server wrote beside its program where npx fetched that into its scratch folder: they end with that.

        Each as the server names it.
        """
        scratch = self.scratch(name)
        tmp = scratch if self._has_own_tmp() else _TMP
        return tuple(f"{tmp}/{os.path.relpath(path, scratch)}" for path in _written_beside(scratch))

    def _has_own_tmp(self) -> bool:
        return self._commands.confinement.sandbox.name != BUBBLEWRAP or sys.platform == "darwin"

    def close(self) -> None:
        """Remove the scratch folders, when no server runs. Idempotent."""
        with self._lock:
            folders, self._scratch = tuple(self._scratch.values()), {}
        for folder in folders:
            with suppress(OSError):
                remove_whole(folder)


_TMP = "/tmp"  # noqa: S108
_PACKAGE = late(r"(?:@[\w.-]{1,100}/)?\w[\w.-]{0,200}")
_MOST_FILES = 2_000
"""Files of a package that are looked at."""


def _written_beside(scratch: str) -> Iterator[str]:
    """Files in packages that npx fetched, newer than the list that npm writes last.

    Source: npm 11, `_npx/HASH/package.json` and `node_modules/.package-lock.json` (seen 2026-11-30).
    """
    for fetched in Path(scratch, ".npm", "_npx").glob("*") if scratch else ():
        modules = fetched / "node_modules"
        try:
            installed_ns = (modules / ".package-lock.json").lstat().st_mtime_ns
            asked = read_json(read_file(fetched / "package.json", _MOST_BYTES)).get("dependencies", {})
            folders = [modules / name for name in asked if _PACKAGE.fullmatch(name)]
        except (OSError, ValueError, AttributeError, TypeError):
            continue
        for folder in folders:
            if os.path.realpath(folder) == os.path.join(
                os.path.realpath(scratch), folder.relative_to(scratch)
            ):
                yield from _newer(folder, installed_ns)


_MOST_BYTES = 1_000_000


def _newer(folder: Path, since_ns: int) -> Iterator[str]:
    for path in islice(_files(folder), _MOST_FILES):
        with suppress(OSError):
            if os.lstat(path).st_mtime_ns > since_ns:
                yield path


def _files(folder: Path) -> Iterator[str]:
    for place, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if name != "node_modules"]
        yield from (os.path.join(place, name) for name in names)
