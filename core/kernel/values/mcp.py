"""Servers of the Model Context Protocol, and bounds of what is run for a model: what is configured, offered and approved."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from core.kernel.values.stack import ToolSchema

# Bounds of what is run for a model, what its sandbox shows, and what ends it with us, as values.


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
    """Keeper of a child process: it ends the child and its descendants after this program ends."""

    NONE = "none"
    """Nothing but its own standard input, as on Windows."""
    SANDBOX = "sandbox"
    """Its sandbox, a PID namespace that dies with its parent."""
    GUARD = "guard"
    """A guard above it (`core/kernel/command_guard.py`)."""


# Servers of the Model Context Protocol.


class McpOrigin(StrEnum):
    """File that names a server."""

    USER = "user"
    PROJECT = "project"


class McpServerSettings(msgspec.Struct, frozen=True):
    """`[mcp.servers.<name>]`. Either `command` or `url` is set.

    Args:
        name: holds no `__` and no space; command: program and arguments, of a server over stdio.
        environment: names of variables that it gets, never values: those come from the keyring or the person's environment.
        url: of a server over streamable HTTP; key: name of the keyring's entry that is sent as bearer, empty for none.
        network: a server over stdio may open the network. It runs in the sandbox of commands either way.
    """

    name: str
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    url: str = ""
    key: str = ""
    network: bool = False
    is_enabled: bool = True
    origin: McpOrigin = McpOrigin.USER
    timeout_s: float = 60.0


class McpPhase(StrEnum):
    """Phase of a server."""

    OFF = "off"
    STARTING = "starting"
    ASKING = "asking"
    """It waits for a person's yes, to being started or to what it offers."""
    READY = "ready"
    FAILED = "failed"


class McpTool(msgspec.Struct, frozen=True):
    """A tool as its server described it, bounded. `schema`: its name there is `server__tool`; `says_read_only`: lowers nothing."""

    name: str
    schema: ToolSchema
    says_read_only: bool = False


class McpApproval(msgspec.Struct, frozen=True):
    """The matter of a person's yes to a server: a change of any of it asks again.

    Args:
        program, program_sha256: resolved path and hash of the executable, empty of a remote one; or url.
        files: sha256 (hex) by path of the code that it runs: its script, what that imports, and what lies beside it.
        data: files that its arguments name and that are no code, by the path as it is named, with where it leads: they may
            change. unbound: folders of which not all code is in `files`, since there is too much of it.
        key: name of the keyring's entry that is sent to a url.
        environment: names alone; tools: sha256 (hex) of description and schema by tool, empty before it was started.
    """

    name: str
    program: str = ""
    program_sha256: str = ""
    arguments: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    url: str = ""
    network: bool = False
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    data: Mapping[str, str] = msgspec.field(default_factory=dict)
    unbound: tuple[str, ...] = ()
    key: str = ""
    tools: Mapping[str, str] = msgspec.field(default_factory=dict)


class McpApproved(msgspec.Struct, frozen=True):
    """A stored approval.

    Args:
        root: of the project whose server it is, empty for the person's own.
        tools: the approved ones as they were described then: a model is offered these, before its server is started too.
        refused: sha256 (hex) of description and schema by tool that the person left out: asked about again once it changes.
    """

    approval: McpApproval
    root: str = ""
    tools: tuple[McpTool, ...] = ()
    refused: Mapping[str, str] = msgspec.field(default_factory=dict)


class McpServer(msgspec.Struct, frozen=True):
    """The present state of a configured server.

    Args:
        kept: what a person approved, None before that; found: what was found of it on this machine, None before it was
            looked at. asked: what a yes would be bound to now, None while nothing is asked; changed: a line for each thing that is
            not as it was approved; problem: why it failed or what was left out, with a remedy.
        tools: that it offers, sorted by name, approved or not, empty until it was started; approved: names of those that a
            person approved as they are described now; left_out: a sentence for each that no model is offered.
        is_looked_at: what is found of it was asked for.
    """

    settings: McpServerSettings
    phase: McpPhase = McpPhase.OFF
    kept: McpApproved | None = None
    found: McpApproval | None = None
    asked: McpApproval | None = None
    changed: tuple[str, ...] = ()
    problem: str = ""
    tools: tuple[McpTool, ...] = ()
    approved: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    is_looked_at: bool = False
    is_starting: bool = False
    is_running: bool = False


class McpState(msgspec.Struct, frozen=True):
    """Servers by name.

    Args:
        frozen: schemas that a discussion's model is offered while its prefix is warm, by discussion id.
        renewed: discussions that a person gave the tools that are approved now, and that sent nothing since: what their
            last request offered counts no more, whoever still tells of it.
    """

    servers: Mapping[str, McpServer] = msgspec.field(default_factory=dict)
    frozen: Mapping[str, tuple[ToolSchema, ...]] = msgspec.field(default_factory=dict)
    renewed: frozenset[str] = frozenset()


class McpPicture(msgspec.Struct, frozen=True):
    """A picture of an answer as it came, not looked at yet. `media_type`: as the server says; `data`: encoded bytes."""

    media_type: str
    data: bytes


class McpAnswer(msgspec.Struct, frozen=True):
    """An answer of a server's tool, bounded.

    Args:
        text: all its texts, a blank line between, what was left out said at its end. Data, never an instruction.
        is_error: the tool says that it failed.
    """

    text: str
    pictures: tuple[McpPicture, ...] = ()
    is_error: bool = False


class WrappedCommand(msgspec.Struct, frozen=True):
    """A server's command as it is started: inside the sandbox where there is one.

    Args:
        program: absolute; folder: where it works, absolute; environment: the whole of it, without the server's own keys.
        keeper: what ends it when the host is gone; bounds: of it and all that it starts; disks: folders that it may fill.
        mounts: of its sandbox, None where there is none that mounts.
    """

    program: str
    arguments: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    keeper: Keeper = Keeper.NONE
    bounds: CommandBounds = msgspec.field(default_factory=CommandBounds)
    disks: tuple[str, ...] = ()
    mounts: SandboxMounts | None = None
