"""Programs that would be started for MCP servers on this machine: resolved, with hashes of what runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from core.kernel.child_process import find_program
from core.kernel.codecs import from_json
from core.kernel.errors import ConfigError, SlopError
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.run_code import PYTHON_ENDINGS, CodeHashes, file_at
from core.kernel.run_words import module_files, python_code, run_words
from core.kernel.values.mcp import McpApproval, McpOrigin, McpServerSettings

# Files of a project that decide which code a package runner (`npx`, `bunx`, `uv run`) starts in it.

MOST_PACKAGE_BYTES = 1_000_000

_NPM, _BUN = (".npmrc",), (".npmrc", "bunfig.toml")
_PNPM = (".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs")
_YARN = (".npmrc", ".yarnrc", ".yarnrc.yml")
_SETTINGS = {
    **dict.fromkeys(("npx", "npm"), _NPM),
    **dict.fromkeys(("pnpx", "pnpm"), _PNPM),
    **dict.fromkeys(("yarn", "yarnpkg"), _YARN),
    **dict.fromkeys(("bunx", "bun"), _BUN),
    "deno": (".npmrc", "deno.json", "deno.jsonc"),
    "uv": ("uv.toml", "pyproject.toml", "uv.lock"),
}
_LIKE_PACKAGE = late(r"(?:npm:)?((?:@[\w.~-]+/)?[A-Za-z0-9_][\w.~-]*)(?:@.*)?")
_OWN_WORDS = frozenset({"exec", "x", "dlx", "run", "tool"})
_MODULES = "node_modules"
_PACKAGE = "package.json"
_PLACES = ("{}/package.json", ".bin/{}", ".bin/{}.cmd")


class _Package(msgspec.Struct, frozen=True):
    """A `package.json`, as far as it says what it is; `bin`: commands by name, or the one of the package's name."""

    name: object = None
    bin: object = None


def runner_files(command: tuple[str, ...], root: str) -> Iterator[str]:
    """Paths in a project, and in folders around it up to the person's own, from which a package runner takes settings or code.
    They need not be there; none for another program.

    Args:
        root: of the project, in which the program works; empty for none.
    """
    program = re.sub(r"\.(?:cmd|exe|ps1)$", "", os.path.basename(command[0]).lower()) if command else ""
    settings = _SETTINGS.get(program)
    if settings is None or not root or (program == "uv" and "run" not in command):
        return
    packages = () if program == "uv" else tuple(_packages(command))
    for folder in _around(Path(root)):
        yield from (str(folder / name) for name in settings)
        for package in packages:
            yield from (str(folder / _MODULES / place.format(package)) for place in _PLACES)
            if "/" in package:  # its command's name is the part without the scope
                yield str(folder / _MODULES / _PLACES[1].format(package.rpartition("/")[2]))
        if packages and _is_named(own := folder / _PACKAGE, packages):
            yield str(own)


def _packages(command: tuple[str, ...]) -> Iterator[str]:
    """Names of packages among the arguments: the first that is no option, and those of `--package`."""
    for one in command[1:]:
        said = one.partition("=")[2] if one.startswith(("--package=", "-p=")) else one
        if said.startswith("-") or said in _OWN_WORDS:
            continue
        if (found := _LIKE_PACKAGE.fullmatch(said)) is not None:
            yield found[1]


def _is_named(path: Path, packages: tuple[str, ...]) -> bool:
    """True if a folder is itself the package that is asked for, or has its command: then that is run."""
    try:
        package = from_json(read_file(path, most_bytes=MOST_PACKAGE_BYTES), _Package)
    except (OSError, SlopError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    commands = package.bin if isinstance(package.bin, dict) else {}
    return any(name == package.name or name in commands for name in packages)


def _around(root: Path) -> Iterator[Path]:
    """A folder and those that it stands in, without the person's own and what is above that."""
    own = Path.home()
    for folder in (root, *root.parents):
        if folder == own or own.is_relative_to(folder):
            return
        yield folder


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
            return McpApproval(name=name, url=settings.url, key=settings.key)
        place = Path(command[0]) if os.path.isabs(command[0]) else find_program(command[0])
        if place is None or not place.is_file():
            raise ConfigError(
                tr(
                    "The program {command!r} of the MCP server {name} is not installed",
                    command=command[0],
                    name=name,
                ),
                remedy=tr("Install the program, or give its full path"),
            )
        program = str(place.absolute())
        words = run_words((program, *command[1:]), root)
        settled = filter(None, (file_at(root, one) for one in runner_files(command, root)))
        try:
            sha256 = self._hashes.sha256(program)
            code = self._hashes.whole(words, settled, root)
        except OSError as error:
            raise ConfigError(
                tr(
                    "The program cannot read the code of the MCP server {name} ({reason})",
                    name=name,
                    reason=error.strerror or error,
                ),
                where=str(error.filename or program),
            ) from error
        environment = tuple(sorted(set(settings.environment)))
        return McpApproval(
            name=name, program=program, program_sha256=sha256, arguments=command[1:], environment=environment, network=settings.network, files=code.files,
            data=words.data, unbound=code.unbound,
        )  # fmt: skip


def kept_apart(settings: McpServerSettings, root: str, found: McpApproval, scratch: str) -> Mapping[str, str]:
    """Environment variables by which Python loads no code that the person's approval of the server did not cover.

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
