"""The program's side of its MCP servers: started in their host, called from any thread, started again when they died."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from core.kernel import figures
from core.kernel.child_process import find_program, start_child
from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.language import as_sentences, spliced, tr
from core.kernel.values.mcp import McpAnswer, McpOrigin, McpServerSettings, McpTool, WrappedCommand
from core.mcp import bounds
from core.mcp.approvals import BackOff, is_own_machine, remote_problem
from core.mcp.pasted_servers import fetcher_of

GRACE_S = 30.0
"""Seconds after a server's time in which the host says that it is over. A host that says nothing is ended, and all servers."""
START_S, LOAD_S = 60.0, 60.0
"""Seconds that a server has to start, whatever its time for a call (npx may fetch it), and the host to load the SDK."""
LIST_AGE_S = 60.0
_CLOSE_S = 5.0
_HOST = Path(__file__).with_name("mcp_host.py")

Wrap = Callable[[tuple[str, ...], bool], WrappedCommand]
"""Takes a server's command, its program absolute, and whether it may open the network; gives what is started. Called at
every start, so that it can see whether the program is still the one that was approved. Raises SlopError."""


OnCancel = Callable[[Callable[[], None]], None]
"""Takes what gives a call up, as `ToolDesk.on_cancel` does."""


def _no_cancel(_cancel: Callable[[], None]) -> None:
    """Nobody gives it up."""


class McpError(SlopError):
    """A server could not be started or called; the words name it."""


class ServerNews(msgspec.Struct, frozen=True):
    """Change of a running server that nobody asked for.

    Args:
        tools: that it offers now, None where it is gone; left_out: as `McpClient.left_out` gives it.
        problem: why it is gone, a sentence without a full stop; empty where it is not.
    """

    name: str
    tools: tuple[McpTool, ...] | None = None
    left_out: tuple[str, ...] = ()
    problem: str = ""


class _StartedServer:
    """A server that was started once. Its lock is held by who starts it."""

    def __init__(self, settings: McpServerSettings, wrap: Wrap, environment: Mapping[str, str]) -> None:
        self.settings = settings
        self.wrap = wrap
        self.environment = dict(environment)
        self.lock = threading.Lock()
        self.run = 0
        """Id of its run, 0 while it does not run."""
        self.tools: tuple[McpTool, ...] = ()
        self.left_out: tuple[str, ...] = ()
        self.problem = ""
        self.back_off = BackOff()


class McpClient:
    """All MCP servers of this program. Thread-safe; a call holds the thread that made it and no other.

    Args:
        tell: takes what happens to a server that runs, on a thread of ours; it must not wait.
        clock: seconds of a monotonic clock.

    Attributes:
        start_s: seconds that a server has at least to start and list its tools.
        list_age_s: seconds for which the list of one over HTTP, which cannot tell of a change, is taken as it was.
    """

    def __init__(
        self,
        tell: Callable[[ServerNews], None] = lambda _news: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell = tell
        self._clock = clock
        self.start_s, self.list_age_s = START_S, LIST_AGE_S
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._entries: dict[str, _StartedServer] = {}
        self._runs: dict[int, _StartedServer] = {}
        self._waiting: dict[int, Future[bounds.FromHost]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._next_id = 0
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """Process id of the host, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(
        self,
        settings: McpServerSettings,
        wrap: Wrap,
        environment: Mapping[str, str],
        on_cancel: OnCancel = _no_cancel,
    ) -> tuple[McpTool, ...]:
        """Start a server, or start it anew, and list its tools. A person's or a rule's act: no back-off holds it.

        Args:
            wrap: as `Wrap`; it is not called for a server over HTTP.
            environment: values of the names in `settings.environment`, and under `settings.key` the bearer.

        Returns:
            Tools that a model can be offered, sorted by name. `left_out` tells of the others.

        Raises:
            McpError: it does not start, in words. SlopError of `wrap`.
        """
        self.stop(settings.name)
        entry = _StartedServer(settings, wrap, environment)
        with self._lock:
            self._entries[settings.name] = entry
        with entry.lock:
            self._begin(entry, on_cancel)
            return entry.tools

    def left_out(self, name: str) -> tuple[str, ...]:
        """Tools of a server that no model is offered, a sentence each; empty for one that was never started."""
        entry = self._entries.get(name)
        return entry.left_out if entry is not None else ()

    def call(
        self,
        name: str,
        tool: str,
        arguments_json: str,
        on_cancel: OnCancel = _no_cancel,
    ) -> McpAnswer:
        """Call a tool and wait for its answer. A server that died is started again, not sooner than its back-off allows.

        Args:
            tool: as the server names it; arguments_json: a JSON object.

        Raises:
            McpError: it was cancelled, took too long, the server is gone, or it offers other tools since it was
                started again.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise McpError(f"The MCP server {name} was not started")
        run = self._running(entry, on_cancel)
        arguments = clean(arguments_json) or "{}"
        answer = self._asked(
            entry,
            lambda number: bounds.HostCall(
                id=number, run=run, tool=tool, arguments_json=arguments, timeout_s=entry.settings.timeout_s
            ),
            on_cancel,
        )
        if not isinstance(answer, bounds.HostAnswer):
            raise McpError(f"The MCP server {name} gave no answer to {tool}: {_problem(answer)}")
        entry.back_off = BackOff()
        return McpAnswer(text=answer.text, pictures=answer.pictures, is_error=answer.is_error)

    def stop(self, name: str) -> None:
        """End a server and forget how it was started. Idempotent; does not wait."""
        with self._lock:
            entry = self._entries.pop(name, None)
            if entry is None:
                return
            run, entry.run = entry.run, 0
            self._runs.pop(run, None)
        if run:
            self._send(bounds.HostStop(run))

    def close(self) -> None:
        """End all servers and their host; calls under way fail. Idempotent."""
        with self._lock:
            self._is_closed = True
            process = self._process
        if process is None:
            return
        with suppress(OSError, ValueError):
            cast("BinaryIO", process.stdin).close()
        try:
            process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _running(self, entry: _StartedServer, on_cancel: OnCancel) -> int:
        """Id of its run, started again if need be. Raises McpError."""
        with entry.lock:
            if entry.run:
                return entry.run
            name, wait_s = entry.settings.name, entry.back_off.left_s(self._clock())
            if wait_s > 0:
                raise McpError(
                    spliced("The MCP server {} does not run: {}", name, entry.problem or "it ended"),
                    remedy=f"It is started again at the next call after {figures.span(wait_s)}",
                )
            before = entry.tools
            self._begin(entry, on_cancel)
            if entry.tools != before:
                self._tell(ServerNews(name=name, tools=entry.tools, left_out=entry.left_out))
                raise McpError(f"The MCP server {name} was started again and offers other tools than before")
            return entry.run

    def _begin(self, entry: _StartedServer, on_cancel: OnCancel = _no_cancel) -> None:
        """Start a run, its lock held. Raises SlopError."""
        settings = entry.settings
        try:
            order = self._order(entry)
            answer = self._asked(entry, lambda number: msgspec.structs.replace(order, id=number), on_cancel)
        except SlopError as error:
            with self._lock:
                run, entry.run = entry.run, 0
                self._runs.pop(run, None)
            entry.problem = error.what
            entry.back_off = entry.back_off.failed(self._clock())
            raise
        if isinstance(answer, bounds.HostStarted):
            entry.tools, entry.left_out, entry.problem = answer.tools, answer.left_out, ""
            return
        entry.problem = as_sentences(_problem(answer), _shut(settings))
        entry.back_off = entry.back_off.failed(self._clock())
        raise McpError(spliced("The MCP server {} does not start: {}", settings.name, entry.problem))

    def _order(self, entry: _StartedServer) -> bounds.HostStart:
        settings = entry.settings
        start_s = max(settings.timeout_s, self.start_s)
        if settings.url:
            bearer = entry.environment.get(settings.key, "") if settings.key else ""
            is_own = settings.origin is McpOrigin.USER
            problem = remote_problem(settings.url, has_key=bool(bearer), may_reach_own=is_own)
            if problem:
                raise McpError(f"The MCP server {settings.name} is not asked: {problem}", where=settings.url)
            return bounds.HostStart(
                id=0,
                name=settings.name,
                url=settings.url,
                bearer=bearer,
                proxy=_proxy(settings.url),
                may_reach_own=is_own,
                timeout_s=start_s,
                list_age_s=self.list_age_s,
            )
        if not settings.command:
            raise McpError(f"The MCP server {settings.name} has neither a command nor a url")
        program = settings.command[0]
        place = Path(program) if os.path.isabs(program) else find_program(program)
        if place is None:
            raise McpError(f"The program {program!r} of the MCP server {settings.name} is not installed")
        wrapped = entry.wrap((str(place), *settings.command[1:]), settings.network)
        own = {name: entry.environment[name] for name in settings.environment if name in entry.environment}
        return bounds.HostStart(
            id=0,
            name=settings.name,
            command=msgspec.structs.replace(wrapped, environment={**wrapped.environment, **own}),
            timeout_s=start_s,
        )

    def _asked(
        self,
        entry: _StartedServer,
        message: Callable[[int], bounds.HostStart | bounds.HostCall],
        on_cancel: OnCancel = _no_cancel,
    ) -> bounds.FromHost:
        """Send what has an answer and wait for it. Raises McpError."""
        name = entry.settings.name
        future: Future[bounds.FromHost] = Future()
        with self._lock:
            self._host()
            self._next_id += 1
            number = self._next_id
            self._waiting[number] = future
            order = message(number)
            if isinstance(order, bounds.HostStart):
                entry.run = number
                self._runs[number] = entry
        try:
            try:
                self._send(order)
            except UnicodeEncodeError as error:
                raise McpError(f"A value for the MCP server {name} is no UTF-8 text") from error
            on_cancel(lambda: _give_up(future))
            load_s = LOAD_S if isinstance(order, bounds.HostStart) else 0.0
            return future.result(order.timeout_s + GRACE_S + load_s)
        except CancelledError:
            self._send(bounds.HostGiveUp(number))
            raise McpError(f"The call of the MCP server {name} was cancelled") from None
        except TimeoutError:
            self._end_host()
            raise McpError(f"The MCP server {name} and the host of all servers do not answer") from None
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def _host(self) -> None:
        """See that the host runs. Raises McpError."""
        if self._is_closed:
            raise McpError("The program is ending")
        if self._process is not None and self._process.poll() is None:
            return
        try:
            self._process = process = start_child(_HOST, is_private=False)
        except OSError as error:
            raise McpError(f"The host of MCP servers does not start ({error.strerror or error})") from error
        threading.Thread(target=self._read, args=(process,), name="mcp host", daemon=True).start()

    def _end_host(self) -> None:
        process = self._process
        if process is not None:
            process.kill()

    def _send(self, message: bounds.ToHost) -> None:
        """Write to the host. Raises UnicodeEncodeError."""
        process = self._process
        if process is None:
            return
        line = bounds.line_of(message)
        # A host that is gone is told by its reader, to all who wait.
        with self._write_lock, suppress(OSError, ValueError):
            stdin = cast("BinaryIO", process.stdin)
            stdin.write(line)
            stdin.flush()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Thread of a host: its lines to who waits for them, then its end."""
        with suppress(OSError, ValueError):
            for line in cast("BinaryIO", process.stdout):
                self._take(bounds.from_host(line))
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError, ValueError):
                cast("BinaryIO", stream).close()
        self._lose_all(process)

    def _take(self, message: bounds.FromHost) -> None:
        match message:
            case bounds.HostStarted() | bounds.HostAnswer() | bounds.HostFailure():
                with self._lock:
                    future = self._waiting.get(message.id)
                    failed = (
                        self._runs.pop(message.id, None) if isinstance(message, bounds.HostFailure) else None
                    )
                if failed is not None and failed.run == message.id:
                    failed.run = 0
                if future is not None and future.set_running_or_notify_cancel():
                    future.set_result(message)
            case bounds.HostChange():
                with self._lock:
                    entry = self._runs.get(message.run)
                if entry is not None:
                    entry.tools, entry.left_out = message.tools, message.left_out
                    self._tell(
                        ServerNews(name=entry.settings.name, tools=message.tools, left_out=message.left_out)
                    )
            case bounds.HostEnd():
                with self._lock:
                    entry = self._runs.pop(message.run, None)
                if entry is not None:
                    self._lose(entry, message.run, message.problem or "it was stopped")

    def _lose(self, entry: _StartedServer, run: int, problem: str) -> None:
        if entry.run != run:
            return
        entry.run = 0
        entry.problem = problem
        entry.back_off = entry.back_off.failed(self._clock())
        self._tell(ServerNews(name=entry.settings.name, problem=problem))

    def _lose_all(self, process: subprocess.Popen[bytes]) -> None:
        """The host is gone, and all servers with it."""
        problem = "the host of all servers ended"
        with self._lock:
            if self._process is process:
                self._process = None
            waiting, self._waiting = dict(self._waiting), {}
            runs, self._runs = dict(self._runs), {}
        for number, future in waiting.items():
            if future.set_running_or_notify_cancel():
                future.set_result(bounds.HostFailure(number, problem))
        for run, entry in runs.items():
            if not self._is_closed:
                self._lose(entry, run, problem)


def _proxy(url: str) -> str:
    """The person's proxy for an address, empty where it is asked directly."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_own_machine(host) or proxy_bypass(host):
        return ""
    found = getproxies()
    return found.get(parts.scheme) or found.get("all") or ""


def _shut(settings: McpServerSettings) -> str:
    """Words for a server that cannot be fetched, with what helps; empty for any other."""
    fetcher = "" if settings.network else fetcher_of(settings.command)
    key = f"mcp.servers.{settings.name}.network"
    if not fetcher:
        return ""
    return tr(
        "The server's network is off, so {fetcher} cannot download anything: set {key} = true",
        fetcher=fetcher,
        key=key,
    )


def _problem(answer: bounds.FromHost) -> str:
    return (
        answer.problem
        if isinstance(answer, bounds.HostFailure | bounds.HostEnd)
        else "its answer is of another kind"
    )


def _give_up(future: Future[bounds.FromHost]) -> None:
    future.cancel()
