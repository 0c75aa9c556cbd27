"""Connections to IRC channels over TLS: one thread for all, tried again with a growing pause, ended with the program."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from core.kernel.figures import span
from core.kernel.frame import flat, one_line
from core.kernel.language import tr
from core.kernel.opener import SETTINGS_BYTES, read_file, reason_of
from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus
from core.signals.irc_session import (
    PROBLEM_CHARS,
    IrcSession,
    LineBuffer,
    SessionPhase,
    backoff_s,
    flaw_of,
    parse_line,
)
from core.signals.signals_messages import ChannelChanged, ChannelSaid

CONNECT_S, JOIN_S, SILENT_S = 20.0, 60.0, 120.0
"""Seconds that connecting and joining may take, and after which a silent server is asked whether it is there."""
STEADY_S = 60.0
"""Seconds after which a connection counts as good, and the pauses begin anew."""
FLOOD_TOLD_S = 1.0
"""Seconds after which it is told how many lines a flood took."""
PIECE_BYTES, PIECE_S = 4_096, 0.01
"""Bytes that are taken at once, and a pause after them: a server that pours keeps the window's thread from nothing."""
CLOSE_S = 2.0
CHANGED = ChannelChanged | ChannelSaid


class _Lost(Exception):  # noqa: N818  the end of a connection, with its reason
    """The connection is over, and why."""


class Channels:
    """The channels that are connected. Thread-safe.

    Args:
        emit: the controller's inbox; first_wait_s: pause after the first failure.
    """

    def __init__(self, emit: Callable[[CHANGED], None], first_wait_s: float = 5.0) -> None:
        self._emit, self._first_wait_s = emit, first_wait_s
        self._lock = threading.Lock()
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: dict[str, tuple[ChannelSettings, asyncio.Task[None]]] = {}
        self._writers: dict[str, tuple[IrcSession, asyncio.StreamWriter]] = {}

    def set(self, channels: tuple[ChannelSettings, ...]) -> None:
        """Be connected to these and no others; those that are as they were stay connected."""
        with self._lock:
            if self._loop is None and channels and not self._is_closed:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="channels", daemon=True)
                self._thread.start()
        self._run(self._set(channels))

    def say(self, name: str, words: str) -> None:
        """Say words of ours in a channel; where it is not connected nobody hears them."""
        self._run(self._say(name, words))

    def close(self) -> None:
        """End all connections and the thread. Idempotent."""
        self._run(self._set(()))
        with self._lock:
            loop, self._loop, self._is_closed = self._loop, None, True
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(CLOSE_S)
            if not self._thread.is_alive():
                loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the thread of the channels and wait for it; nothing while there is none."""
        with self._lock:
            loop = self._loop
        if loop is None:
            work.close()
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(work, loop).result(CLOSE_S)

    async def _set(self, channels: tuple[ChannelSettings, ...]) -> None:
        wanted = {one.name: one for one in channels}
        gone = [name for name, (known, _) in self._tasks.items() if wanted.get(name) != known]
        ended = [self._tasks.pop(name)[1] for name in gone]
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)
        for name, channel in wanted.items():
            if name not in self._tasks:
                self._tasks[name] = channel, asyncio.create_task(self._keep(channel))

    async def _say(self, name: str, words: str) -> None:
        session, writer = self._writers.get(name, (None, None))
        if session is not None and writer is not None and session.phase is SessionPhase.JOINED:
            _send(writer, [session.say(words)])

    async def _keep(self, channel: ChannelSettings) -> None:
        """Be connected, again and again, with a growing pause after each failure."""
        if problem := flaw_of(channel):
            self._tell(channel, problem)
            return
        failures = 0
        while True:
            began = time.monotonic()
            try:
                await self._connect(channel)
            except _Lost as lost:
                problem = str(lost)
            except OSError as error:
                problem = _reason(error)
            except ValueError as error:  # certificates or names that TLS does not take
                problem = one_line(flat(str(error)), PROBLEM_CHARS)
            failures = 1 if time.monotonic() - began > STEADY_S else failures + 1
            wait_s = backoff_s(failures, self._first_wait_s)
            self._tell(
                channel,
                tr("{problem}; the program tries again in {wait_s}", problem=problem, wait_s=span(wait_s)),
            )
            await asyncio.sleep(wait_s)

    async def _connect(self, channel: ChannelSettings) -> None:
        """Connect, join and listen until it is over. Raises _Lost, OSError, ValueError."""
        context = await asyncio.to_thread(_context, channel.certificates)
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    channel.host, channel.port, ssl=context, limit=PIECE_BYTES
                )
        except TimeoutError as error:
            raise _Lost(tr("The server does not answer")) from error
        session = IrcSession(channel)
        self._writers[channel.name] = session, writer
        try:
            await self._listen(channel, session, reader, writer)
        finally:
            self._writers.pop(channel.name, None)
            writer.transport.abort()

    async def _listen(
        self,
        channel: ChannelSettings,
        session: IrcSession,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        lines, is_asked, joined = LineBuffer(), False, False
        told_s = 0.0
        _send(writer, session.opening())
        while True:
            wait_s = FLOOD_TOLD_S if session.has_dropped else SILENT_S if joined else JOIN_S
            try:
                async with asyncio.timeout(wait_s):
                    data = await reader.read(PIECE_BYTES)
            except TimeoutError as error:
                if session.has_dropped:
                    self._said(channel, "", "", session.take_dropped())
                    continue
                if is_asked or not joined:
                    raise _Lost(tr("The server went silent")) from error
                is_asked = True
                _send(writer, ["PING :manual-slop"])
                continue
            if not data:
                raise _Lost(tr("The server closed the connection"))
            is_asked = False
            for raw in lines.feed(data):
                line = parse_line(raw)
                if line is None:
                    continue
                answers, said = session.received(line, time.monotonic())
                _send(writer, answers)
                if said is not None:
                    self._said(channel, said.sender, said.text, said.dropped)
            if session.has_dropped and time.monotonic() - told_s >= FLOOD_TOLD_S:
                told_s = time.monotonic()
                self._said(channel, "", "", session.take_dropped())
            if session.phase is SessionPhase.FAILED:
                raise _Lost(session.problem)
            if session.phase is SessionPhase.JOINED and not joined:
                joined = True
                self._emit(ChannelChanged(ChannelStatus(name=channel.name, is_connected=True)))
            async with asyncio.timeout(CONNECT_S):
                await writer.drain()
            await asyncio.sleep(PIECE_S)

    def _said(self, channel: ChannelSettings, sender: str, text: str, dropped: int) -> None:
        if text or dropped:
            self._emit(ChannelSaid(name=channel.name, sender=sender, text=text, dropped=dropped))

    def _tell(self, channel: ChannelSettings, problem: str) -> None:
        self._emit(ChannelChanged(ChannelStatus(name=channel.name, problem=problem)))


def _send(writer: asyncio.StreamWriter, lines: list[str]) -> None:
    """Send lines. One holds no end of a line inside: whatever it stands for, it stays one."""
    for line in lines:
        plain = line.replace("\r", " ").replace("\n", " ").replace("\0", " ")
        writer.write(plain.encode("utf-8", "replace")[:510] + b"\r\n")


def _context(certificates: str) -> ssl.SSLContext:
    """Trust that counts for every server, or of a file alone. Raises OSError, ValueError."""
    if not certificates:
        import httpx2

        return httpx2.create_ssl_context()
    return ssl.create_default_context(cadata=read_file(certificates, SETTINGS_BYTES).decode("ascii"))


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return tr(
            "The server's certificate is not trusted: {verify_message}",
            verify_message=one_line(flat(error.verify_message), PROBLEM_CHARS),
        )
    if isinstance(error, ssl.SSLError):
        return tr(
            "The server offers no TLS that the program accepts: {flat}",
            flat=one_line(flat(error.reason or str(error)), PROBLEM_CHARS),
        )
    return one_line(flat(reason_of(error)), PROBLEM_CHARS)
