"""Programs that would be started for MCP servers on this machine: resolved, with hashes of what runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from core.base.child_process import find_program
from core.base.errors import ConfigError
from core.base.run_code import CodeHashes
from core.base.run_files import PYTHON_ENDINGS, file_at
from core.base.run_interpreters import module_files, python_code
from core.base.run_words import run_words
from core.mcp.runners import runner_files
from core.values.mcp import McpApproval, McpOrigin, McpServerSettings


class ServerFinder:
    """Finds what servers would start. Thread-safe."""

    def __init__(self) -> None:
        self._hashes = CodeHashes()

    def find(self, settings: McpServerSettings, root: str) -> McpApproval:
        """Find what would be started: its program, the code that it runs, the files of data that its arguments name.

        Its tools are left empty.

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
        words = run_words((program, *command[1:]), root)
        settled = filter(None, (file_at(root, one) for one in runner_files(command, root)))
        try:
            sha256 = self._hashes.sha256(program)
            code = self._hashes.whole(words, settled, root)
        except OSError as error:
            raise ConfigError(
                f"What the MCP server {name} runs cannot be read ({error.strerror or error})",
                where=str(error.filename or program),
            ) from error
        environment = tuple(sorted(set(settings.environment)))
        return McpApproval(
            name, program, sha256, command[1:], environment, network=settings.network, files=code.files,
            data=words.data, unbound=code.unbound,
        )  # fmt: skip


def kept_apart(settings: McpServerSettings, root: str, found: McpApproval, scratch: str) -> Mapping[str, str]:
    """Variables that keep a server from code that no yes was bound to.

    Python looks first in the folder in which it works for what `-m` and `-c` import: a `json.py` of any project would run
    with a person's own server's keys. And it runs what `__pycache__` holds in place of a file beside it: where commands
    may write there, it keeps such files in a folder of its own.

    Args:
        found: what is started; scratch: a folder of the server's own, empty for none.
    """
    code = python_code(settings.command)
    apart = {}
    if settings.origin is McpOrigin.USER and code is not None and not any(module_files(*code, root)):
        apart["PYTHONSAFEPATH"] = "1"
    inside = root and any(path.startswith(root.rstrip(os.sep) + os.sep) for path in found.files)
    if scratch and inside and any(path.endswith(PYTHON_ENDINGS) for path in found.files):
        apart["PYTHONPYCACHEPREFIX"] = os.path.join(scratch, "pycache")
    return apart
