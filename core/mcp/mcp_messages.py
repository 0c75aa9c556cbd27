"""Messages of MCP servers: commands, effects and events."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from core.kernel.values.mcp import CommandBounds, McpApproval, McpApproved, McpServerSettings, McpTool

NOTICE = "mcp"
"""Subject of the notices of this room."""


class ApproveServer(msgspec.Struct, frozen=True):
    """A person's yes to a server being started. `shown`: id of the question that they saw (`approvals.question_id`)."""

    name: str
    shown: str
    command_id: str = ""


class ApproveTools(msgspec.Struct, frozen=True):
    """A person's yes to tools of a server as they are described now. `names`: None for all; those left out are not offered."""

    name: str
    shown: str
    names: tuple[str, ...] | None = None
    command_id: str = ""


class WithdrawApproval(msgspec.Struct, frozen=True):
    """Forget what was approved of a server: it ends, and is asked about anew."""

    name: str
    command_id: str = ""


class SetMcpServer(msgspec.Struct, frozen=True):
    """Add or change a server of user settings. It is asked about before it starts.

    `is_new`: one by that name which is there already is not written over.
    """

    server: McpServerSettings
    command_id: str = ""
    is_new: bool = False


class RemoveMcpServer(msgspec.Struct, frozen=True):
    """Take a server out of user settings."""

    name: str
    command_id: str = ""


class TryServer(msgspec.Struct, frozen=True):
    """Start a server anew, as far as it is approved."""

    name: str


class LookAtServers(msgspec.Struct, frozen=True):
    """Find the programs that would start, and their differences from the approval."""


class OfferServerTools(msgspec.Struct, frozen=True):
    """Give a discussion the tools that are approved now, though what its provider has cached is read anew for them."""

    discussion_id: str
    command_id: str = ""


class ServedServer(msgspec.Struct, frozen=True):
    """A server that calls can use: its settings, and the parts that a person approved."""

    settings: McpServerSettings
    kept: McpApproved | None = None


# servers worker: a thread each for what waits
class ServeServers(msgspec.Struct, frozen=True):
    """Let calls go to these servers and no others. Those that are gone end.

    `root`: of the project, in which those with a command work, empty where the folder is not trusted: then none starts.
    `bounds`: of each that starts from now on; `shown`: places that the person showed to what runs in the project.
    """

    root: str
    servers: Mapping[str, ServedServer]
    bounds: CommandBounds = msgspec.field(default_factory=CommandBounds)
    shown: tuple[str, ...] = ()


class FindServers(msgspec.Struct, frozen=True):
    """Find what would be started for these; answered by `ServersLookedAt`. `begins`: what is approved starts then."""

    servers: tuple[McpServerSettings, ...]
    root: str
    begins: bool = False


class BeginServer(msgspec.Struct, frozen=True):
    """Start a server anew; answered by `ServerListed` or `ServerFailed`."""

    name: str


class EndServer(msgspec.Struct, frozen=True):
    """End a server."""

    name: str


class ServersLookedAt(msgspec.Struct, frozen=True):
    """Finding of what would be started. `problems`: why a server cannot be, a sentence with its remedy, by name."""

    found: Mapping[str, McpApproval]
    problems: Mapping[str, str]
    begins: bool = False


class ServerStarting(msgspec.Struct, frozen=True):
    """A server is being started."""

    name: str


class ServerListed(msgspec.Struct, frozen=True):
    """A server runs and has told its tools. `found`: what was started, None where it runs on."""

    name: str
    tools: tuple[McpTool, ...]
    left_out: tuple[str, ...] = ()
    found: McpApproval | None = None


class ServerFailed(msgspec.Struct, frozen=True):
    """A server does not run. `found`: what would be started, where that is why."""

    name: str
    problem: str
    found: McpApproval | None = None


class WriteRefused(msgspec.Struct, frozen=True):
    """A server's sandbox kept it from writing these files, and its answer says so. `root`: as in `ServeServers`.

    `is_lost`: it wrote them into the home of its sandbox or beside its program there, with which they end.
    """

    name: str
    places: tuple[str, ...]
    root: str
    is_lost: bool = False


McpCommand = (
    ApproveServer
    | ApproveTools
    | WithdrawApproval
    | SetMcpServer
    | RemoveMcpServer
    | TryServer
    | LookAtServers
    | OfferServerTools
)
"""Commands that a front end may give this room."""

McpEffect = ServeServers | FindServers | BeginServer | EndServer
"""The servers worker's."""

McpEvent = ServersLookedAt | ServerStarting | ServerListed | ServerFailed | WriteRefused
"""Events of this room."""
