"""The two files by which other programs of the same person find the Hook API: its address and its token."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from core.base import paths
from core.base.disk import reported, write_file
from core.base.json_text import read_json
from core.base.opener import read_file


class Address(msgspec.Struct, frozen=True):
    """Address of a running program, and the token that every request to it needs."""

    url: str
    pid: int
    token: str

    def __repr__(self) -> str:
        return f"Address(url={self.url!r}, pid={self.pid}, token=<hidden>)"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("url", self.url)]


def new_token() -> str:
    """A fresh token: 256 bits, safe in a header."""
    return secrets.token_urlsafe(32)


def publish(home: Path, address: Address) -> None:
    """Write the token (mode 0600), then the address: who finds the address finds its token.

    Raises:
        StorageError: neither file is left.
    """
    token_file = home / paths.HOOK_TOKEN_FILE
    try:
        with reported("replace", token_file):
            token_file.unlink(missing_ok=True)  # never follow a link with a secret
        write_file(token_file, address.token.encode(), mode=0o600)
        data = json.dumps({"pid": address.pid, "url": address.url}, sort_keys=True)
        write_file(home / paths.HOOK_FILE, data.encode(), mode=0o600)
    except BaseException:
        withdraw(home, address)
        raise


def withdraw(home: Path, address: Address) -> None:
    """Remove both files, but not those of a program that owns the home by now.

    What cannot be removed is of no use: its token ends with the program.
    """
    left = find(home)
    if left is not None and (left.pid, left.token) != (address.pid, address.token):
        return
    for name in (paths.HOOK_FILE, paths.HOOK_TOKEN_FILE):
        with suppress(OSError):
            (home / name).unlink()


def find(home: Path) -> Address | None:
    """The address that a program has left in the home, None where there is none. It may be one that was killed."""
    try:
        data = read_json(read_file(home / paths.HOOK_FILE))
        token = read_file(home / paths.HOOK_TOKEN_FILE).decode("ascii").strip()
        url, pid = data["url"], data["pid"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    is_sound = isinstance(url, str) and url.startswith("http://127.0.0.1:") and type(pid) is int
    return Address(url, pid, token) if is_sound and token else None


def own_pid() -> int:
    """The process that listens."""
    return os.getpid()
