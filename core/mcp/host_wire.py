"""Lines between the program and its host of MCP servers: JSON, one message a line, each of a closed union."""

from __future__ import annotations

import msgspec

from core.base.decoders import TypedReader, decoder_of
from core.values.mcp import McpPicture, McpTool, WrappedCommand


class HostStart(msgspec.Struct, frozen=True, tag="start"):
    """Start a server and list its tools. Answered by `HostStarted` or `HostFailure`.

    Args:
        id: of this run of it; command: how one over stdio is started, None for one over HTTP.
        url: of one over HTTP; bearer: sent with each request, empty for none.
        proxy: address of the person's proxy, empty for none.
        may_reach_own: this machine and its network may be connected to.
        timeout_s: until it has listed its tools; list_age_s: over HTTP, after which a call first looks at the list again.
    """

    id: int
    name: str
    command: WrappedCommand | None = None
    url: str = ""
    bearer: str = ""
    proxy: str = ""
    may_reach_own: bool = False
    timeout_s: float = 60.0
    list_age_s: float = 60.0


class HostCall(msgspec.Struct, frozen=True, tag="call"):
    """Call a tool of a run. `tool`: as the server names it; `arguments_json`: a JSON object. Answered by `HostAnswer` or `HostFailure`."""

    id: int
    run: int
    tool: str
    arguments_json: str
    timeout_s: float = 60.0


class HostGiveUp(msgspec.Struct, frozen=True, tag="cancel"):
    """Give a start or a call up. Not answered, nor is what it names from then on."""

    id: int


class HostStop(msgspec.Struct, frozen=True, tag="stop"):
    """End a run and all that it started. Answered by `HostEnd`."""

    run: int


class HostStarted(msgspec.Struct, frozen=True, tag="started"):
    """Tools of a server that runs, sorted by name. `left_out`: tools that a model cannot be offered, a sentence each."""

    id: int
    tools: tuple[McpTool, ...]
    left_out: tuple[str, ...] = ()


class HostAnswer(msgspec.Struct, frozen=True, tag="answered"):
    """Answer of a tool, bounded; fields as in `McpAnswer`."""

    id: int
    text: str
    pictures: tuple[McpPicture, ...] = ()
    is_error: bool = False


class HostFailure(msgspec.Struct, frozen=True, tag="failed"):
    """A start or a call that came to nothing. `problem`: a sentence without a full stop."""

    id: int
    problem: str


class HostChange(msgspec.Struct, frozen=True, tag="changed"):
    """A running server offers other tools now; fields as in `HostStarted`."""

    run: int
    tools: tuple[McpTool, ...]
    left_out: tuple[str, ...] = ()


class HostEnd(msgspec.Struct, frozen=True, tag="gone"):
    """A run is over. `problem`: why, a sentence without a full stop; empty where it was stopped."""

    run: int
    problem: str = ""


ToHost = HostStart | HostCall | HostGiveUp | HostStop
FromHost = HostStarted | HostAnswer | HostFailure | HostChange | HostEnd

_ENCODER = msgspec.json.Encoder()
_TO_HOST: TypedReader[ToHost] = decoder_of(ToHost)
_FROM_HOST: TypedReader[FromHost] = decoder_of(FromHost)


def line_of(message: ToHost | FromHost) -> bytes:
    """A message as its line, newline included. Text with lone surrogates raises UnicodeEncodeError: clean it before."""
    return _ENCODER.encode(message) + b"\n"


def to_host(line: bytes) -> ToHost:
    """Read a line of the program. Raises ValueError: it is none."""
    return _TO_HOST.decode(line)


def from_host(line: bytes) -> FromHost:
    """Read a line of the host. Raises ValueError: it is none."""
    return _FROM_HOST.decode(line)
