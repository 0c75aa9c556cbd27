"""Programs that would be started for MCP servers on this machine: resolved, with hashes of what runs."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from core.base.child_process import find_program
from core.base.errors import ConfigError
from core.base.opener import open_file
from core.values.mcp import McpApproval, McpServerSettings

_PIECE = 1 << 20
MOST_FILE_BYTES = 50_000_000
"""Of a file among the arguments: a script is smaller. A larger one is not what runs."""


class ServerFinder:
    """Finds what servers would start. A file is hashed again when it is another one by size, time or place. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}

    def find(self, settings: McpServerSettings, root: str) -> McpApproval:
        """Find what would be started. Its tools are left empty.

        Args:
            root: of the project, in which a server with a command works; empty for none.

        Raises:
            ConfigError: the program is not there, or it cannot be read.
        """
        name, command = settings.name, settings.command
        if not command:
            return McpApproval(name, url=settings.url, key=settings.key)
        place = Path(command[0]) if os.path.isabs(command[0]) else find_program(command[0])
        if place is None or not place.is_file():
            raise ConfigError(
                f"The program {command[0]!r} of the MCP server {name} is not installed",
                remedy="Install it, or name it by its whole path",
            )
        program = str(place.absolute())
        try:
            sha256 = self._sha256(program)
            files = {path: self._sha256(path) for path in _files(command[1:], root)}
        except OSError as error:
            raise ConfigError(
                f"What the MCP server {name} runs cannot be read ({error.strerror or error})",
                where=str(error.filename or program),
            ) from error
        environment = tuple(sorted(set(settings.environment)))
        return McpApproval(
            name, program, sha256, command[1:], environment, network=settings.network, files=files
        )

    def _sha256(self, path: str) -> str:
        with open_file(path) as file:
            about = os.fstat(file.fileno())
            mark = about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
            with self._lock:
                known = self._known.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            digest = hashlib.sha256()
            while piece := file.read(_PIECE):
                digest.update(piece)
        with self._lock:
            self._known[path] = mark, digest.hexdigest()
        return digest.hexdigest()


def _files(arguments: tuple[str, ...], root: str) -> tuple[str, ...]:
    """Regular files that arguments name, absolute, from the folder in which the server works."""
    found: list[str] = []
    for argument in arguments:
        path = os.path.join(root or os.sep, argument)
        if "\0" in argument or not (root or os.path.isabs(argument)):
            continue
        if os.path.isfile(path) and os.path.getsize(path) <= MOST_FILE_BYTES:
            found.append(os.path.realpath(path))
    return tuple(dict.fromkeys(found))
