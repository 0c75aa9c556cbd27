"""Files of a project that decide which code a package runner (`npx`, `bunx`, `uv run`) starts in it.

Where a package of that name stands in `node_modules` it runs instead of the registry's; a file of settings names another
registry, or a hook. Sources: npm's `npm-exec` and `config` pages, those of pnpm, Yarn, Bun, Deno and uv.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.base.decoders import from_json
from core.base.errors import SlopError
from core.base.opener import read_file

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
_LIKE_PACKAGE = re.compile(r"(?:npm:)?((?:@[\w.~-]+/)?[A-Za-z0-9_][\w.~-]*)(?:@.*)?")
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
