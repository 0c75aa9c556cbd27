"""A server's process inside the host: its lines bounded, its end seen, all that it started ended with it."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, cast

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from core.kernel import figures
from core.kernel.child_process import END_S, LastWords, descendants, end_below, end_tree, signal_each
from core.kernel.codecs import read_json
from core.kernel.command_start import BoundWatch, start_server
from core.kernel.frame import clean, flat, one_line
from core.kernel.values.mcp import WrappedCommand
from core.mcp.bounds import (
    MOST_JUNK_LINES,
    MOST_MESSAGE_BYTES,
    MOST_PARTS,
    MOST_WAITING,
    has_too_many_parts,
)
from core.mcp.sound_results import sound_result

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.client._transport import TransportStreams

GRACE_S = 1.0
"""Seconds that a server has between the end of its input and its own."""
_PIECE = 1 << 16
_LAST_WORDS_CHARS = 300
_BUSY_S, _BUSY_LOOK_S, _IDLE_LOOK_S = 5.0, 0.25, 2.0
"""For so long after a word from it or to it a server counts as busy; seconds between two looks at what it takes."""
_FAULT = re.compile(r"error|exception|denied|cannot|not found", re.IGNORECASE)
_HEARD = frozenset({"notifications/tools/list_changed", "notifications/subscriptions/acknowledged"})
"""Notifications that are passed on: all others would only cost time."""


class ServerProcess:
    """Transport of the SDK over a process that `start_program` started.

    The SDK's own transport starts the process itself and holds a line of any length. Ends when the process does, when a
    line is over its bound, or on `__aexit__`, which ends the process and all of its group. Of one event loop.
    """

    def __init__(self, command: WrappedCommand) -> None:
        self._command = command
        self._watch = BoundWatch(command.bounds, command.disks)
        self._problem = ""
        self._junk = ""
        self.junk_lines = 0
        self._last_words: LastWords | None = None
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._sender: asyncio.Task[None] | None = None
        self._is_ending = False
        self._heard_at = time.monotonic()
        self._gone = threading.Event()
        self.ended = asyncio.Event()

    async def __aenter__(self) -> TransportStreams:
        """Start it. Raises OSError."""
        command = self._command
        self._process = process = start_server(
            Path(command.program),
            command.arguments,
            command.environment,
            command.folder,
            command.keeper,
            command.mounts,
        )
        self._loop = asyncio.get_running_loop()
        self._arriving, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, leaving = anyio.create_memory_object_stream[SessionMessage](0)
        self._streams = (read, write, leaving)
        stdin, stdout, stderr = (
            cast("BinaryIO", each) for each in (process.stdin, process.stdout, process.stderr)
        )
        self._sender = asyncio.create_task(self._send_all(leaving))
        self._last_words = LastWords(stderr, "mcp words")
        for name, target, argument in (
            ("read", self._read_all, stdout), ("write", self._write_all, stdin), ("bounds", self._hold_to_bounds, process),
        ):  # fmt: skip
            threading.Thread(target=target, args=(argument,), name=f"mcp {name}", daemon=True).start()
        return read, write

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not self.problem():
            self._is_ending = True  # what it does from now on is our doing
        if self._sender is not None:
            self._sender.cancel()
        process = self._process
        if process is not None:
            with anyio.CancelScope(shield=True):
                await asyncio.to_thread(self._end, process)
        self._arriving.close()
        for stream in self._streams:
            stream.close()

    def problem(self) -> str:
        """Reason of its end as a sentence without a full stop, with what it said last; empty while it runs as it should."""
        if self._problem:
            return self._problem
        process = self._process
        code = process.poll() if process is not None and not self._is_ending else None
        if code is None:
            return ""
        how = f"it was ended by signal {-code}" if code < 0 else f"it ended with code {code}"
        how = "; ".join(filter(None, (how, self._watch.note(code))))
        words = self.last_words()
        return f"{how} and said: {words}" if words else how

    def junk(self, lines_before: int = 0) -> str:
        """Words for what it wrote to standard output beside the protocol, empty where it did not.

        Args:
            lines_before: such lines by then, `junk_lines` at that time, are passed over: another call was told of them.
        """
        if self.junk_lines <= lines_before:
            return ""
        return f"it wrote to standard output what is not of the protocol: {self._junk!r}"

    def last_words(self) -> str:
        """Line of its standard error that tells of the last fault, else the last line."""
        said = self._last_words.lines() if self._last_words is not None else []
        told = [line for line in said if _FAULT.search(line) and not line.startswith((" ", "\t"))]
        return one_line(flat((told or said or [""])[-1]), _LAST_WORDS_CHARS)

    async def _send_all(self, leaving: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with suppress(anyio.ClosedResourceError):
            async for each in leaving:
                if self._waiting.qsize() > MOST_WAITING:
                    self._give_up("it does not read what it is asked")
                    return
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._waiting.put(text.encode("utf-8", "replace") + b"\n")

    def _write_all(self, stdin: BinaryIO) -> None:
        """Thread: a server that does not read holds nobody but this."""
        with suppress(OSError, ValueError):
            while (line := self._waiting.get()) is not None:
                self._heard_at = time.monotonic()
                stdin.write(line)
                stdin.flush()
        with suppress(OSError, ValueError):
            stdin.close()

    def _read_all(self, stdout: BinaryIO) -> None:
        """Thread: messages to the session, each handed over before the next is read."""
        with suppress(OSError, ValueError, RuntimeError):
            self._read_lines(stdout.fileno())
        self._say_ended()

    def _read_lines(self, descriptor: int) -> None:
        parts: list[bytes] = []
        size = 0
        while data := os.read(descriptor, _PIECE):
            self._heard_at = time.monotonic()
            *lines, rest = data.split(b"\n")
            for line in lines:
                parts.append(line)
                if not self._take(b"".join(parts)):
                    return
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > MOST_MESSAGE_BYTES:
                self._problem = f"it wrote a message of more than {figures.size(MOST_MESSAGE_BYTES)}"
                return

    def _take(self, line: bytes) -> bool:
        """Hand a line on. False where nothing more is read."""
        if not line.strip():
            return True
        if has_too_many_parts(line):
            self._problem = f"it wrote a message of more than {MOST_PARTS:,} values"
            return False
        try:
            message = _message(line)
        except (ValueError, RecursionError):
            refusal = _refusal_of_answer(line)
            if refusal is None:
                return self._pass_over(line)
            message = refusal
        if isinstance(message, JSONRPCError) and message.id is None and not self._pass_over(line):
            return False
        if isinstance(message, JSONRPCNotification) and message.method not in _HEARD:
            return True
        sent = asyncio.run_coroutine_threadsafe(self._arriving.send(SessionMessage(message)), self._loop)
        try:
            sent.result()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    def _pass_over(self, line: bytes) -> bool:
        """Note a line that answers nothing. False where nothing more is read: there were too many."""
        self._junk = _shown(line)
        self.junk_lines += 1
        if self.junk_lines > MOST_JUNK_LINES:
            self._problem = self.junk()
        return not self._problem

    def _hold_to_bounds(self, process: subprocess.Popen[bytes]) -> None:
        """Thread: end it where it goes over a bound. Looked at often while it has something to do, seldom while it is idle."""
        while not self._gone.wait(
            _BUSY_LOOK_S if time.monotonic() - self._heard_at < _BUSY_S else _IDLE_LOOK_S
        ):
            if exceeded := self._watch.exceeded(descendants(process.pid)):
                self._problem = self._problem or exceeded
                end_below(process.pid, 0.0)
                process.kill()
                return

    def _say_ended(self) -> None:
        """The server said its last: wait for its code and for the end of its standard error, since the reason is told with
        both, and let the session know.
        """
        process = self._process
        if process is not None and not self._problem:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
            if self._last_words is not None:
                self._last_words.lines(END_S)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self._arriving.close()
        self.ended.set()

    def _give_up(self, problem: str) -> None:
        self._problem = self._problem or problem
        self._close()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End it as the protocol asks: its input ends, it has a moment, then it and all below it are killed."""
        below = descendants(process.pid)  # orphans, once it is gone, that nobody could tell apart
        self._waiting.put(None)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        end_below(process.pid, 0.0)
        end_tree(process)
        signal_each(below, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        process.wait()
        self._gone.set()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError, ValueError):
                    stream.close()


def _shown(line: bytes) -> str:
    return one_line(flat(line[:400].decode("utf-8", "replace")), 80)


def _refusal_of_answer(line: bytes) -> JSONRPCError | None:
    """An error in the place of an answer that is not of the protocol, so that its call ends at once; None for what is no answer."""
    try:
        said = read_json(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    number = said.get("id") if isinstance(said, dict) and "method" not in said else None
    if isinstance(number, bool) or not isinstance(number, int | str):
        return None
    fault = ErrorData(code=INVALID_REQUEST, message=f"its answer is not of the protocol: {_shown(line)!r}")
    return JSONRPCError(jsonrpc="2.0", id=number, error=fault)


def _message(line: bytes) -> JSONRPCMessage:
    """Read a message. Raises ValueError or RecursionError for any other line."""
    try:
        message = jsonrpc_message_adapter.validate_json(line.removeprefix(_BOM), by_name=False)
    except ValueError:
        if not line.lstrip().startswith(b"{"):
            raise
        # Half an emoji, or bytes that are no UTF-8, make the rest no worse.
        mended = json.dumps(read_json(line.decode("utf-8", "replace")), ensure_ascii=False)
        message = jsonrpc_message_adapter.validate_json(clean(mended).encode(), by_name=False)
    if isinstance(message, JSONRPCResponse) and isinstance(message.result, dict):
        return message.model_copy(update={"result": sound_result(message.result)})
    return message


_BOM = b"\xef\xbb\xbf"
