"""Bounds of what is run for a model, what its sandbox shows, and what ends it with us, as values."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class CommandBounds(msgspec.Struct, frozen=True):
    """Bounds of one command, or one MCP server over stdio, as `[tools]` sets them.

    Args:
        memory_mib: of all its processes together, 0: three quarters of the machine's.
        file_mib: of one file that it writes; free_disk_mib: that it must leave on the disks that it writes to.
    """

    memory_mib: int = 0
    file_mib: int = 32_768
    free_disk_mib: int = 512


class SandboxMounts(msgspec.Struct, frozen=True):
    """Places of a sandbox, absolute, links resolved, that are looked at before its command begins.

    Args:
        scratch: its `/tmp`; kept: they show there what they show here; masked: they show something else.
    """

    scratch: str
    kept: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


class Keeper(StrEnum):
    """Keeper of a process: it ends it, and all that it started, when we are gone."""

    NONE = "none"
    """Nothing but its own standard input, as on Windows."""
    SANDBOX = "sandbox"
    """Its sandbox, a PID namespace that dies with its parent."""
    GUARD = "guard"
    """A guard above it (`core/kernel/command_guard.py`)."""
