"""The host of MCP servers: one process that speaks with all of them through the SDK, and with the program in lines."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Any, BinaryIO

from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import (
    PARSE_ERROR,
    BlobResourceContents,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    Implementation,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolListChangedNotification,
)
from pydantic import TypeAdapter, ValidationError

from core.kernel import figures
from core.kernel.child_process import adopt_orphans, end_below
from core.kernel.codecs import read_json
from core.kernel.command_start import hold_host_lifeline
from core.kernel.frame import clean, flat, one_line
from core.kernel.language import tr
from core.kernel.values.mcp import McpPicture, McpTool
from core.mcp import bounds
from core.mcp.bounds import (
    FromHost,
    HostAnswer,
    HostCall,
    HostChange,
    HostEnd,
    HostFailure,
    HostGiveUp,
    HostStart,
    HostStarted,
    HostStop,
    ListedTool,
    ToHost,
    line_of,
    to_host,
)
from core.mcp.http_door import HttpDoor, http_client
from core.mcp.server_process import ServerProcess

_NICENESS = 5
_END_S = 4.0
"""Seconds that servers have to end with the host."""
_RELIST_S = 2.0
"""Between two looks at a list that its server says is another."""
_WORDS_CHARS = 400
_SDK_CANNOT_READ = "Failed to parse "
"""Beginning of the SDK's own words for an answer that it cannot read: what follows is of its insides."""
_ANSWER: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)


def main() -> None:
    """Serve the program over standard input and output. The end of the input ends all servers and this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    logging.disable(logging.CRITICAL)
    if sys.platform == "linux":
        adopt_orphans()
    if sys.platform != "win32":
        hold_host_lifeline()
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    asyncio.run(Host(lines).run(sys.stdin.buffer))
    end_below(os.getpid(), 0.0)


class Host:
    """All servers of a program. Of one event loop. `out`: takes lines to the program."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._servers: dict[int, ServerRun] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ended = asyncio.Event()

    async def run(self, source: BinaryIO) -> None:
        """Obey lines until they end, then end all servers."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(source, loop), name="mcp host read", daemon=True).start()
        await self._ended.wait()
        tasks = [server.task for server in self._servers.values() if server.task is not None]
        for task in (*tasks, *self._tasks.values()):
            task.cancel()
        await asyncio.gather(*tasks, *self._tasks.values(), return_exceptions=True)

    def _read(self, source: BinaryIO, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for line in source:
                loop.call_soon_threadsafe(self._obey, to_host(line))
        finally:
            watch = threading.Timer(_END_S, os._exit, (1,))
            watch.daemon = True
            watch.start()
            loop.call_soon_threadsafe(self._ended.set)

    def _obey(self, message: ToHost) -> None:
        match message:
            case HostStart():
                server = ServerRun(message, self.say)
                self._servers[message.id] = server
                server.task = asyncio.create_task(self._serve(server))
            case HostCall():
                called = self._servers.get(message.run)
                if called is None:
                    self.say(HostFailure(message.id, "the server does not run"))
                else:
                    self._begin(message.id, called.call(message))
            case HostGiveUp():
                if message.id in self._servers:
                    self._servers[message.id].stop()
                elif message.id in self._tasks:
                    self._tasks[message.id].cancel()
            case HostStop():
                if message.run in self._servers:
                    self._servers[message.run].stop()
                else:
                    self.say(HostEnd(message.run))

    def _begin(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks[number] = task
        task.add_done_callback(lambda _done: self._tasks.pop(number, None))

    async def _serve(self, server: ServerRun) -> None:
        try:
            await server.run()
        finally:
            self._servers.pop(server.order.id, None)

    def say(self, message: FromHost) -> None:
        """Write a line to the program."""
        try:
            self._out.write(line_of(message))
            self._out.flush()
        except OSError:  # the program is gone, and its end of our input as well
            self._ended.set()


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    """End tasks and wait for it."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class ServerRun:
    """One run of one server."""

    def __init__(self, order: HostStart, say: Callable[[FromHost], None]) -> None:
        self.order = order
        self.task: asyncio.Task[None] | None = None
        self._say = say
        self._client: Client | None = None
        self._process: ServerProcess | None = None
        self._door: HttpDoor | None = None
        self._is_stopped = False
        self._is_started = False
        self._stopping = asyncio.Event()
        self._changed = asyncio.Event()
        self._tools: tuple[McpTool, ...] = ()
        self._listed_at = 0.0

    def stop(self) -> None:
        """End it; a start under way is given up."""
        self._is_stopped = True
        self._stopping.set()
        if not self._is_started and self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        """Start, list, and stay until it ends or is stopped. Says all of it; raises nothing but a cancelling."""
        problem = ""
        try:
            try:
                await self._live("auto")
            except Exception:
                if self._is_started or self._process is None or not self._process.problem():
                    raise
                # Servers of the protocol before 2026 may end over a first message that they do not know.
                await self._live("legacy")
            problem = "" if self._is_stopped else self._why_gone()
        except asyncio.CancelledError:
            problem = "it was stopped"
        except Exception as error:  # noqa: BLE001  the edge of a server, whatever it does to the SDK
            problem = self._why(_words(error))
        finally:
            self._client = None
        if self._is_started:
            self._say(HostEnd(self.order.id, "" if self._is_stopped else problem or self._why_gone()))
        else:
            self._say(HostFailure(self.order.id, problem or self._why_gone()))

    async def _live(self, mode: str) -> None:
        async with self._connected(mode) as client:
            self._client = client
            listens = asyncio.create_task(self._listen(client))
            try:
                async with asyncio.timeout(self.order.timeout_s):
                    tools, left_out = await self._listed(client)
                self._tools, self._listed_at = tools, time.monotonic()
                self._is_started = True
                self._say(HostStarted(id=self.order.id, tools=tools, left_out=left_out))
                await self._stay(client)
            finally:
                await _ended(listens)

    @asynccontextmanager
    async def _connected(self, mode: str) -> AsyncIterator[Client]:
        order = self.order
        async with AsyncExitStack() as stack:
            limit = await stack.enter_async_context(asyncio.timeout(order.timeout_s))
            transport: AbstractAsyncContextManager[Any]
            if order.command is None:
                way, self._door = http_client(order.bearer, order.proxy, may_reach_own=order.may_reach_own)
                await stack.enter_async_context(way)
                transport = streamable_http_client(
                    order.url, http_client=way, max_sse_event_size=bounds.MOST_MESSAGE_BYTES
                )
            else:
                self._process = transport = ServerProcess(order.command)
            client = Client(
                transport,
                message_handler=self._hear,
                client_info=Implementation(name="manual-slop", version="1"),
                cache=None,
                mode=mode,
            )
            await stack.enter_async_context(client)
            limit.reschedule(None)
            yield client

    async def _hear(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    async def _stay(self, client: Client) -> None:
        """Wait for the end, and look at the list again when the server says that it changed, not more than it bears."""
        waits = [asyncio.create_task(self._stopping.wait())]
        if self._process is not None:
            waits.append(asyncio.create_task(self._process.ended.wait()))
        if self._door is not None:
            waits.append(asyncio.create_task(self._door.session_over.wait()))
        looks = asyncio.create_task(self._look_again(client))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _ended(*waits, looks)

    async def _listen(self, client: Client) -> None:
        """Hear of a changed list as the protocol of 2026 has it; older servers tell of it without being asked.

        Not over HTTP, where a stream that only listens is ended as silent: such a list is looked at before a call.
        """
        if self._process is None:
            return
        with suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            async with client.listen(tools_list_changed=True) as heard:
                async for _ in heard:
                    self._changed.set()

    async def _look_again(self, client: Client) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            with suppress(MCPError, ValidationError, TimeoutError):
                await self._is_other(client)
            await asyncio.sleep(_RELIST_S)

    async def _is_other(self, client: Client) -> bool:
        """Look at the list. True if it is another, which is told. Raises MCPError, ValidationError or TimeoutError."""
        async with asyncio.timeout(self.order.timeout_s):
            fresh, left_out = await self._listed(client)
        self._listed_at = time.monotonic()
        if fresh == self._tools:
            return False
        self._tools = fresh
        self._say(HostChange(run=self.order.id, tools=fresh, left_out=left_out))
        return True

    async def _listed(self, client: Client) -> tuple[tuple[McpTool, ...], tuple[str, ...]]:
        listed: list[ListedTool] = []
        cursor: str | None = None
        size = 0
        for _ in range(bounds.MOST_PAGES):
            page: ListToolsResult = await client.session.list_tools(
                params=PaginatedRequestParams(cursor=cursor)
            )
            listed += [
                ListedTool(
                    name=tool.name,
                    description=tool.description or "",
                    schema=tool.input_schema,
                    says_read_only=bool(tool.annotations and tool.annotations.read_only_hint),
                    is_task=bool(tool.execution and tool.execution.task_support == "required"),
                )
                for tool in page.tools
            ]
            # a cursor that stays would bring the same page for ever
            cursor = page.next_cursor if page.next_cursor != cursor else None
            size += len(page.model_dump_json())
            if cursor is None or len(listed) > bounds.MOST_LISTED or size > bounds.MOST_LISTED_BYTES:
                break
        tools, left_out = bounds.offered_tools(self.order.name, listed[: bounds.MOST_LISTED])
        if cursor is not None or len(listed) > bounds.MOST_LISTED:
            looked_at = min(len(listed), bounds.MOST_LISTED)
            left_out = (
                *left_out,
                tr(
                    "the server's list goes on; the program looked at the first {looked_at:,} tools",
                    looked_at=looked_at,
                ),
            )
        return tools, left_out

    async def call(self, order: HostCall) -> None:
        """Call a tool and say what came of it."""
        client = self._client
        if client is None or not self._is_started:
            self._say(HostFailure(order.id, "the server does not run"))
            return
        try:
            arguments = read_json(order.arguments_json)
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            self._say(HostFailure(order.id, "the arguments are no JSON object"))
            return
        request = CallToolRequest(params=CallToolRequestParams(name=order.tool, arguments=arguments))
        junk_before = self._process.junk_lines if self._process is not None else 0
        try:
            is_old = time.monotonic() - self._listed_at > self.order.list_age_s
            if self._door is not None and is_old and await self._is_other(client):
                self._say(HostFailure(order.id, "it offers other tools than before"))
                return
            # The session's own call would check the answer by the server's schema, whose patterns can cost minutes.
            async with asyncio.timeout(order.timeout_s):
                result = await client.session.send_request(request, _ANSWER)
            answer = _answered(order.id, result)
        except TimeoutError:
            self._say(
                HostFailure(
                    order.id,
                    self._why(f"it did not answer in {figures.time_limit(order.timeout_s)}", junk_before),
                )
            )
            return
        except Exception as error:  # noqa: BLE001  the edge of a server
            self._say(HostFailure(order.id, self._why(_words(error), junk_before)))
            return
        self._say(answer)

    def _why(self, words: str, junk_before: int = 0) -> str:
        """Reason of a failure: what became of the process, else the words, and what it wrote since that nobody asked for."""
        if self._process is None:
            return words
        last = self._process.last_words() if words == _SLOW else ""
        said = f"it said {last!r}" if last else ""
        return self._process.problem() or ", and ".join(
            part for part in (words, said, self._process.junk(junk_before)) if part
        )

    def _why_gone(self) -> str:
        return (self._process.problem() if self._process is not None else "") or "it closed the connection"


_SLOW = "it did not answer in time"


def _words(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _words(error.exceptions[0])
    if isinstance(error, TimeoutError):
        return _SLOW
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, found["loc"]))
        return one_line(flat(f"its answer is not of the protocol ({place}: {found['msg']})"), _WORDS_CHARS)
    if isinstance(error, OSError):
        return one_line(flat(error.strerror or type(error).__name__), _WORDS_CHARS)
    if isinstance(error, MCPError) and error.code == PARSE_ERROR and str(error).startswith(_SDK_CANNOT_READ):
        return "its answer is not of the protocol"
    return one_line(flat(clean(str(error))), _WORDS_CHARS) or type(error).__name__


def _answered(number: int, result: CallToolResult | InputRequiredResult) -> HostAnswer | HostFailure:
    if isinstance(result, InputRequiredResult):
        return HostFailure(
            number,
            "the server asks for more than arguments (sampling, a question to you or folders), which is refused",
        )
    texts: list[str] = []
    notes: list[str] = []
    pictures: list[McpPicture] = []
    for block in result.content:
        match block:
            case TextContent():
                texts.append(block.text)
            case ImageContent():
                _take_picture(block.mime_type, block.data, pictures, notes)
            case ResourceLink():
                texts.append(f"{block.name}: {block.uri}")
            case EmbeddedResource(resource=TextResourceContents() as inner):
                texts.append(inner.text)
            case EmbeddedResource(resource=BlobResourceContents() as blob) if (
                blob.mime_type or ""
            ).startswith("image/"):
                _take_picture(blob.mime_type or "", blob.blob, pictures, notes)
            case _:
                notes.append(f"a part of the kind {block.type} was left out")
    if not texts and not pictures and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return HostAnswer(
        id=number,
        text=bounds.bounded_text(texts, _counted(notes)),
        pictures=tuple(pictures),
        is_error=result.is_error,
    )


def _take_picture(media_type: str, data: str, pictures: list[McpPicture], notes: list[str]) -> None:
    import base64

    size = len(data) * 3 // 4
    if len(pictures) == bounds.MOST_PICTURES:
        notes.append(f"a picture over the bound of {bounds.MOST_PICTURES} was left out")
    elif size > bounds.MOST_PICTURE_BYTES:
        notes.append(f"a picture of {figures.size(size)} was left out")
    else:
        try:
            pictures.append(McpPicture(one_line(flat(media_type), 60), base64.b64decode(data, validate=True)))
        except ValueError:
            notes.append("a picture that is not base64 was left out")


def _counted(notes: list[str]) -> list[str]:
    """The same note once, with how often."""
    return [
        note if notes.count(note) == 1 else f"{note} ({notes.count(note)} times)"
        for note in dict.fromkeys(notes)
    ]


if __name__ == "__main__":
    main()
