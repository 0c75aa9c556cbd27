"""Signals over HTTP: hand one in, as data for an autonomous discussion; see what waits, and put it away."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Meta

from core.front.hooks.fields import Body, Count, Data, Name, PageQuery, Rows, Time, filled, unknown
from core.front.hooks.operation import Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.mcp import McpOrigin, McpPhase, McpServer
from core.kernel.values.signals import ChannelStatus, SignalSource, SignalState
from core.mcp.approvals import where_words
from core.mcp.mcp_messages import LookAtServers, TryServer
from core.signals.signals_messages import PostSignal, SignalCommand

MAX_SENT_CHARS = 20_000


class SignalBody(Body, frozen=True, kw_only=True):
    """Something that happened. Data, never an order: what it says approves and changes nothing."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_SENT_CHARS,
            description="Its first 2,000 characters count.",
            pattern=r"\S",
        ),
    ]
    sender: Annotated[Name, Meta(description="Who says so.")] = ""
    discussion_id: Annotated[
        str, Meta(max_length=200, description="The one that it is for. Empty: whichever is autonomous.")
    ] = ""


class SignalData(Data, frozen=True):
    """A signal."""

    id: str
    source: SignalSource
    sender: str
    text: str
    at: Time
    discussion_id: str


class ChannelData(Data, frozen=True):
    """A channel of messages, and why it is not connected. `dropped`: lines that a flood took."""

    name: str
    is_connected: bool
    problem: str
    dropped: Count

    @classmethod
    def of(cls, channel: ChannelStatus) -> ChannelData:
        """The channel as it is answered with."""
        return filled(cls, channel)


class SignalsData(Data, frozen=True):
    """Signals that no turn took yet, oldest first, and those that were taken or put away.

    `dropped`: let go, since 100 are kept; `inbox_odd`: a sentence for each entry of the inbox that is passed over.
    """

    waiting: Rows[SignalData]
    seen: Rows[SignalData]
    dropped: Count
    inbox_odd: list[str]
    channels: list[ChannelData]
    is_quiet: bool
    held: Count

    @classmethod
    def of(cls, signals: SignalState, query: PageQuery) -> SignalsData:
        """Signals as they are answered with."""
        return cls(
            waiting=query.cut(signals.waiting, SignalData),
            seen=query.cut(signals.seen, SignalData),
            dropped=signals.dropped,
            inbox_odd=list(signals.inbox_odd),
            channels=[ChannelData.of(one) for one in signals.channels.values()],
            is_quiet=signals.is_quiet,
            held=len(signals.held) + signals.missed,
        )


class PostedData(Data, frozen=True):
    """Count of signals that wait now, and of those that were let go, since 100 are kept."""

    waiting: Count
    dropped: Count


async def get_signals(request: Request[PageQuery]) -> Answer:
    """Signals that wait, and the newest that were taken."""
    return Answer(data=SignalsData.of(request.state.signals, request.fields))


async def post_signal(request: Request[SignalBody]) -> Answer:
    """Hand a signal in. It may wake an autonomous discussion. It is data: never the person's words or approval."""
    fields = request.fields
    if fields.discussion_id and fields.discussion_id not in request.state.discussions.summaries:
        raise unknown("discussion", fields.discussion_id, tr("See GET /api/discussions"))
    state = await request.do(
        PostSignal(text=fields.text, sender=fields.sender, discussion_id=fields.discussion_id)
    )
    return Answer(data=PostedData(len(state.signals.waiting), state.signals.dropped), status=202)


_ALL = "/api/signals"

RESOURCE = Resource(
    operations=(
        operation("GET", _ALL, get_signals, {200: SignalsData}),
        operation("POST", _ALL, post_signal, {202: PostedData}, {404: "no such discussion"}),
    ),
    panels={"signals": get_args(SignalCommand)},
)


# MCP servers over HTTP: how each stands. A yes to one is a person's, in the window or on a terminal.


class McpToolData(Data, frozen=True):
    """Tool of a server. `name`: as models know it."""

    name: str
    description: str
    is_approved: bool


class McpServerData(Data, frozen=True):
    """An MCP server. `where`: its command or address; `changed`: what is not as it was approved; `left_out`: tools that no
    model is offered, a sentence each.
    """

    name: str
    phase: McpPhase
    origin: McpOrigin
    where: str
    problem: str
    changed: list[str]
    left_out: list[str]
    tools: list[McpToolData]

    @classmethod
    def of(cls, server: McpServer) -> McpServerData:
        """The server as it is answered with."""
        known = server.tools or (() if server.kept is None else server.kept.tools)
        tools = [
            McpToolData(
                name=tool.schema.name,
                description=tool.schema.description,
                is_approved=tool.name in server.approved,
            )
            for tool in known
        ]
        return filled(
            cls,
            server,
            name=server.settings.name,
            origin=server.settings.origin,
            where=where_words(server.settings),
            changed=list(server.changed),
            left_out=list(server.left_out),
            tools=tools,
        )


class McpServersData(Data, frozen=True):
    """All MCP servers of the settings, by name."""

    servers: list[McpServerData]


async def list_servers(request: Request[None]) -> Answer:
    """List the MCP servers."""
    servers = request.state.mcp.servers.values()
    return Answer(data=McpServersData([McpServerData.of(one) for one in servers]))


SERVERS = Resource(
    operations=(operation("GET", "/api/servers", list_servers, {200: McpServersData}),),
    panels={"mcp": (LookAtServers, TryServer)},
)
