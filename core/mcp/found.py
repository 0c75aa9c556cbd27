"""Programs that would be started for MCP servers on this machine: resolved, with hashes of what runs."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.base.child_process import find_program
from core.base.errors import ConfigError
from core.base.opener import open_file
from core.mcp.runners import runner_files
from core.values.mcp import McpApproval, McpOrigin, McpServerSettings

_PIECE = 1 << 20
MOST_FILE_BYTES = 50_000_000
"""Of a file among the arguments: a script is smaller. A larger one is not what runs."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?(?:\.exe)?", re.IGNORECASE)
_PYTHON_CODE = re.compile(r"-[bBdEiIOPqRsSuvx]*([mc])(.*)", re.DOTALL)
"""Option of Python behind which a module's name stands, or code."""
_MODULE = ("{}.py", "{}/__init__.py", "{}/__main__.py")
_INTERPRETER = re.compile(r"(?:python|pypy|node|nodejs|deno|bun|tsx)[\d.]*w?(?:\.exe)?", re.IGNORECASE)
_COMPLETED = ("{}.js", "{}.cjs", "{}.mjs", "{}/package.json", "{}/index.js", "{}/__main__.py")
"""Files that interpreters run for a name that is none itself, or a folder's."""


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
            files = {path: self._sha256(path) for path in _files(command, root)}
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


def kept_apart(settings: McpServerSettings, root: str) -> Mapping[str, str]:
    """Variables that keep a person's own server from code of the project in which it works, where that is not what it runs.

    Python looks there first for what `-m` and `-c` import: a `json.py` of any project would run with the server's keys.
    """
    code = _python_code(settings.command)
    if settings.origin is not McpOrigin.USER or code is None or any(_module_files(*code, root)):
        return {}
    return {"PYTHONSAFEPATH": "1"}


def _files(command: tuple[str, ...], root: str) -> tuple[str, ...]:
    """Regular files that a command's arguments name, and those that an interpreter or a package runner finds by them,
    absolute, from the folder in which the server works.
    """
    named = (_file(root, one) for one in (*command[1:], *runner_files(command, root)))
    return tuple(dict.fromkeys(filter(None, (*named, *_found_files(command, root)))))


def _found_files(command: tuple[str, ...], root: str) -> Iterator[str]:
    """Files that an interpreter finds by its arguments: a module, behind a `=`, by a name without its ending, in a folder."""
    if _INTERPRETER.fullmatch(os.path.basename(command[0])) is None:
        return
    if (code := _python_code(command)) is not None:
        yield from _module_files(*code, root)
        return
    is_value = False
    for one in command[1:]:
        if one.startswith("-"):
            yield _file(root, one.partition("=")[2])
            is_value = "=" not in one
            continue
        found = [] if _file(root, one) else [_file(root, form.format(one)) for form in _COMPLETED]
        yield from found
        if not is_value or any(found):  # the script: what comes behind it is its own
            return
        is_value = False


def _python_code(command: tuple[str, ...]) -> tuple[str, str] | None:
    """Option and its value by which Python runs a module (`m`) or code (`c`); None for another program, or a script."""
    if not command or _PYTHON.fullmatch(os.path.basename(command[0])) is None:
        return None
    for number, one in enumerate(command[1:], 2):
        if (found := _PYTHON_CODE.fullmatch(one)) is not None:
            return found[1], found[2] or "".join(command[number : number + 1])
        if not one.startswith("-") and command[number - 2] not in {"-W", "-X"}:
            return None
    return None


def _module_files(option: str, name: str, root: str) -> Iterator[str]:
    """Files of the working folder that Python would take for a module."""
    for form in _MODULE if option == "m" else ():
        if path := _file(root, form.format(name.replace(".", os.sep))):
            yield path


def _file(root: str, name: str) -> str:
    """Absolute path of the regular file that a name means there, empty where there is none of a script's size."""
    path = os.path.join(root or os.sep, name)
    if not name or "\0" in name or not (root or os.path.isabs(name)):
        return ""
    is_script = os.path.isfile(path) and os.path.getsize(path) <= MOST_FILE_BYTES
    return os.path.realpath(path) if is_script else ""
