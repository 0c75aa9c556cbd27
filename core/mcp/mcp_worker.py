"""MCP servers at work: started as they were approved, called from any thread, ended. Each is waited for by itself."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import assert_never

import msgspec
from msgspec.structs import replace

from core.kernel import figures
from core.kernel.errors import SlopError
from core.kernel.language import as_sentences, tr
from core.kernel.queue import at_once
from core.kernel.values.mcp import (
    CommandBounds,
    McpAnswer,
    McpApproval,
    McpServerSettings,
    McpTool,
    WrappedCommand,
)
from core.mcp.approvals import BackOff, differences, may_start, tool_sha256, where_words
from core.mcp.found_programs import ServerFinder, kept_apart
from core.mcp.mcp_client import McpClient, ServerNews
from core.mcp.mcp_messages import (
    BeginServer,
    EndServer,
    FindServers,
    McpEffect,
    McpEvent,
    ServedServer,
    ServerFailed,
    ServerListed,
    ServersLookedAt,
    ServerStarting,
    ServeServers,
    WriteRefused,
)
from core.mcp.mcp_step import MOST_PLACES, refused_writes, write_note
from core.services.providers.keys import KeyStore

Emit = Callable[[McpEvent], None]
OnCancel = Callable[[Callable[[], None]], None]

log = logging.getLogger(__name__)

_LOOK_S = 0.05
"""Seconds after which who waits for a start of a server looks whether it still shall."""


class ServerServices(msgspec.Struct, frozen=True):
    """Services of the outside to servers.

    Args:
        client: makes what runs them, at the first start; it is told where news go.
        wrap: takes a server's name, the project's root, a command, whether it may reach the network, its bounds, and the files that
            the yes names, and places that the person showed; gives it in the sandbox, raises OSError. news: sentences on what came to be in the project beside a server, after its call; soon_lost: files that it wrote and that end with its sandbox.
        secrets: values of the variables that a server's settings name, and of its key, by name.
    """

    client: Callable[[Callable[[ServerNews], None]], McpClient]
    wrap: Callable[
        [str, str, tuple[str, ...], bool, CommandBounds, Collection[str], Collection[str]], WrappedCommand
    ]
    news: Callable[[str], tuple[str, ...]]
    soon_lost: Callable[[str], tuple[str, ...]]
    secrets: Callable[[McpServerSettings], Mapping[str, str]]


class ServerTool(msgspec.Struct, frozen=True):
    """A tool that a person approved. `where`: the command or the address of its server, for a person."""

    server: str
    tool: McpTool
    where: str
    is_remote: bool = False


class ServerError(SlopError):
    """A call cannot go to its server, in words for the model."""


class McpHandler:
    """Carries out the room's effects, and takes calls. Thread-safe.

    Args:
        emit: the controller's inbox; clock: seconds of a monotonic clock.
    """

    def __init__(
        self,
        services: ServerServices,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._services = services
        self._emit = emit
        self._finder = ServerFinder()
        self._lock = threading.Lock()
        self._client: McpClient | None = None
        self._root = ""
        self._bounds = CommandBounds()
        self._shown: tuple[str, ...] = ()
        self._rows: Mapping[str, ServedServer] = {}
        self._starts: dict[str, threading.Lock] = {}
        self._running: dict[str, tuple[McpTool, ...]] = {}
        self._failed: dict[str, tuple[BackOff, str]] = {}
        self._lost: set[str] = set()
        """Servers that died: the next call starts them again."""
        self._soon_lost: dict[str, set[str]] = {}
        """Files that each server wrote and that end with its sandbox, as it was told."""
        self._is_closed = False

    def begin(self, effect: McpEffect) -> None:
        """Begin an effect; returns at once."""
        match effect:
            case ServeServers():
                self._serve(effect)
            case FindServers():
                self._thread("find", lambda: self.look(effect.servers, effect.root, begins=effect.begins))
            case BeginServer():
                self._thread(effect.name, lambda: self._begin(effect.name))
            case EndServer():
                self._end(effect.name)
            case _:
                assert_never(effect)

    @property
    def tools(self) -> Mapping[str, ServerTool]:
        """Tools that a person approved, by the name that a model knows."""
        rows = self._rows
        return {
            tool.schema.name: ServerTool(
                server=name, tool=tool, where=where_words(row.settings), is_remote=bool(row.settings.url)
            )
            for name, row in rows.items()
            if row.kept is not None
            for tool in row.kept.tools
        }

    def call(
        self, server: str, tool: str, sha256: str, arguments_json: str, on_cancel: OnCancel
    ) -> McpAnswer:
        """Call a tool of a server, which is started if need be.

        Args:
            tool: as the server names it; sha256: of the tool as it was approved.

        Raises:
            ServerError: it is not approved as it is now. SlopError: it does not start, or gives no answer.
        """
        with self._alone(server, on_cancel):
            tools = self._running.get(server)
            if tools is None:
                self._check_back_off(server)
                tools = self._start(server, on_cancel)
        known = next((one for one in tools if one.name == tool), None)
        if known is None:
            raise ServerError(f"The MCP server {server} has no tool {tool!r} any more")
        if tool_sha256(known) != sha256:
            raise ServerError(
                f"Not called: the MCP server {server} describes {tool!r} otherwise than when the person approved it. "
                "They are asked again"
            )
        row = self._rows.get(server)
        if row is None or row.kept is None or row.kept.approval.tools.get(tool) != sha256:
            raise ServerError(f"The person does not allow {tool!r} of the MCP server {server}")
        client = self._servers()
        answer = client.call(server, tool, arguments_json, on_cancel)
        if server in self._lost:
            self._lost.discard(server)
            self._emit(ServerListed(name=server, tools=tools, left_out=client.left_out(server)))
        notes = [*self._refused(row.settings, answer), *self._ended(server), *self._services.news(server)]
        return replace(answer, text="\n".join((answer.text, *notes)))

    def _refused(self, settings: McpServerSettings, answer: McpAnswer) -> Iterator[str]:
        """Words for the model on writes that the sandbox refused, of which the person is told too."""
        places = () if settings.url else refused_writes(answer.text, self._root)
        if places:
            self._emit(WriteRefused(name=settings.name, places=places, root=self._root))
            yield write_note(settings.name, places, self._root)[0]

    def _ended(self, server: str) -> Iterator[str]:
        """Words for the model on files in the server's home or beside its program, which end with its sandbox; each is told once."""
        told = self._soon_lost.setdefault(server, set())
        places = tuple(one for one in self._services.soon_lost(server) if one not in told)
        told.update(places)
        if places := places[:MOST_PLACES]:
            self._emit(WriteRefused(name=server, places=places, root=self._root, is_lost=True))
            yield write_note(server, places, self._root, is_lost=True)[0]

    def close(self) -> None:
        """End all servers; calls under way fail."""
        with self._lock:
            self._is_closed = True
            client = self._client
        if client is not None:
            client.close()

    def _thread(self, name: str, work: Callable[[], None]) -> None:
        threading.Thread(target=work, name=f"servers/{name}", daemon=True).start()

    def _serve(self, effect: ServeServers) -> None:
        with self._lock:
            before, was_root = self._rows, self._root
            self._rows, self._root = effect.servers, effect.root
            self._bounds, self._shown = effect.bounds, effect.shown
        for name, row in before.items():
            now = effect.servers.get(name)
            if (
                now is None
                or now.settings != row.settings
                or was_root != effect.root
                or now.kept is None
                or (row.kept is not None and differences(row.kept.approval, now.kept.approval))
            ):
                self._end(name)

    def look(self, servers: Sequence[McpServerSettings], root: str, *, begins: bool = False) -> None:
        """Tell what would be started for these. `begins`: as in `FindServers`."""
        found: dict[str, McpApproval] = {}
        problems: dict[str, str] = {}
        for settings in servers:
            try:
                found[settings.name] = self._finder.find(settings, root)
            except SlopError as error:
                problems[settings.name] = _words(error)
        self._emit(ServersLookedAt(found=found, problems=problems, begins=begins))

    def _begin(self, name: str) -> None:
        with self._alone(name, _no_cancel):
            if name in self._running:
                return
            try:
                self._start(name, _no_cancel)
            except SlopError:
                pass  # it is told
            except Exception as error:  # the edge of a worker: the person must hear of it
                log.exception("MCP server %s", name)
                self._emit(
                    ServerFailed(
                        name=name,
                        problem=tr(
                            "Manual Slop has a fault ({kind}): {error}",
                            kind=type(error).__name__,
                            error=error,
                        ),
                    )
                )

    def _start(self, name: str, on_cancel: OnCancel) -> tuple[McpTool, ...]:
        """Start a server, its lock held. Raises SlopError; either way the controller is told."""
        gave_up = threading.Event()
        on_cancel(gave_up.set)
        row, root = self._rows.get(name), self._root
        if row is None:
            raise ServerError(f"There is no MCP server {name!r} here that may be called")
        found = None
        try:
            found = self._finder.find(row.settings, root)
            if not may_start(row.kept, found):
                raise ServerError(
                    f"The MCP server {name} is not started: it is not as the person approved it. They are asked again"
                )
            self._emit(ServerStarting(name))

            def wrap(command: tuple[str, ...], needs_network: bool) -> WrappedCommand:
                again = self._finder.find(row.settings, root)
                if again.program != command[0] or not may_start(row.kept, again):
                    raise ServerError(f"The MCP server {name} is not as the person approved it")
                try:
                    named = (*again.files, *again.data.values())
                    wrapped = self._services.wrap(
                        name, root, command, needs_network, self._bounds, named, self._shown
                    )
                    scratch = wrapped.environment.get("TMPDIR", "")
                    apart = kept_apart(row.settings, root, again, scratch)
                    return replace(wrapped, environment={**wrapped.environment, **apart})
                except OSError as error:
                    raise SlopError(
                        tr(
                            "The MCP server {name} has no folder to work in ({value})",
                            name=name,
                            value=error.strerror or error,
                        )
                    ) from error

            tools = self._servers().start(row.settings, wrap, self._services.secrets(row.settings), on_cancel)
            now = self._rows.get(name)
            if now is None or now.settings != row.settings or self._root != root:
                self._servers().stop(name)
                raise ServerError(tr("The program stopped the MCP server {name} while it started", name=name))
        except SlopError as error:
            if gave_up.is_set():  # the person stopped the turn: no fault of the server's
                self._emit(ServerFailed(name=name, problem="", found=found))
                raise
            self._failed[name] = self._failed.get(name, (BackOff(), ""))[0].failed(self._clock()), error.what
            self._emit(
                ServerFailed(name=name, problem="" if _is_asked(error) else _words(error), found=found)
            )
            raise
        self._failed.pop(name, None)
        self._running[name] = tools
        self._emit(ServerListed(name=name, tools=tools, left_out=self._servers().left_out(name), found=found))
        return tools

    def _check_back_off(self, name: str) -> None:
        """Raise where a server failed to start just now: a turn does not wait for it at every call."""
        back_off, problem = self._failed.get(name, (BackOff(), ""))
        if (wait_s := back_off.left_s(self._clock())) > 0:
            again = f"It is tried again at the first call after {figures.span(wait_s)}"
            raise ServerError(f"The MCP server {name} does not run: {problem}", remedy=again)

    def _end(self, name: str) -> None:
        self._running.pop(name, None)
        self._failed.pop(name, None)
        self._lost.discard(name)
        client = self._client
        if client is not None:
            client.stop(name)

    def _news(self, news: ServerNews) -> None:
        """A running server changed by itself."""
        if news.tools is None:
            self._lost.add(news.name)
            self._emit(
                ServerFailed(
                    name=news.name, problem=tr("The server no longer runs: {problem}", problem=news.problem)
                )
            )
            return
        if news.name in self._running:
            self._running[news.name] = news.tools
            self._emit(ServerListed(name=news.name, tools=news.tools, left_out=news.left_out))

    def _servers(self) -> McpClient:
        with self._lock:
            if self._is_closed:
                raise ServerError(tr("The program is ending"))
            if self._client is None:
                self._client = self._services.client(self._news)
            return self._client

    @contextmanager
    def _alone(self, name: str, on_cancel: OnCancel) -> Iterator[None]:
        """Hold the lock of a server's starts; who waits for another's start may be told to stop. Raises ServerError."""
        gave_up = threading.Event()
        on_cancel(gave_up.set)
        with self._lock:
            lock = self._starts.setdefault(name, threading.Lock())
        while not lock.acquire(timeout=_LOOK_S):
            if gave_up.is_set():
                raise ServerError(f"The call of the MCP server {name} was cancelled")
        try:
            yield
        finally:
            lock.release()


def _no_cancel(_cancel: Callable[[], None]) -> None:
    """Nobody gives it up."""


def _is_asked(error: SlopError) -> bool:
    """True where the person is asked: what was found says so, and nothing failed."""
    return isinstance(error, ServerError)


def _words(error: SlopError) -> str:
    return as_sentences(error.what, error.remedy)


# Secrets of MCP servers: values of the variables and keys that settings name, from the environment or the
# keyring.

PREFIX = "mcp."
"""Prefix of the names under which servers' keys are kept; no provider's id holds a dot."""


def key_of(name: str) -> str:
    """Name under which a variable's value, or a key, is kept: `mcp.github-token` for `GITHUB_TOKEN`."""
    return PREFIX + name.lower().replace("_", "-")


def named_keys(servers: Mapping[str, McpServerSettings]) -> tuple[str, ...]:
    """Names of all keys that servers use, as `key_of` gives them, in order."""
    names = (name for one in servers.values() for name in (*one.environment, *filter(None, (one.key,))))
    return tuple(sorted(set(map(key_of, names))))


def mcp_secrets(keys: KeyStore, environ: Mapping[str, str], settings: McpServerSettings) -> Mapping[str, str]:
    """Values by the names in `environment`, and of `key`. What is set nowhere is left out.

    A variable's value is the person's own where it is set, else what is kept for it; a key is only what is kept.
    """
    found = {
        name: environ.get(name, "") or keys.find(key_of(name), ()).value for name in settings.environment
    }
    if settings.key:
        found[settings.key] = keys.find(key_of(settings.key), ()).value
    return {name: value for name, value in found.items() if value}


WORK = at_once("servers", McpEffect)
