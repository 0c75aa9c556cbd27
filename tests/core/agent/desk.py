"""A desk as the tool worker offers it: real commands, and what the call reported."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from core.agent.commands import Commands, DiscussionCommands
from core.agent.tool import ToolPlaces
from core.values.agent import FileChange
from core.values.messages import AttachmentPart
from core.values.retrieval import MemoryToolAnswer


class Desk:
    """A `ToolDesk` of discussion `d`."""

    def __init__(self, commands: Commands, root: Path, home: Path, call_id: str = "call") -> None:
        self._commands = commands
        self.places = ToolPlaces(str(root), home=str(home), is_trusted=True)
        self.call_id = call_id
        self.tails: list[str] = []
        self._cancelled = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def every_command(self) -> Commands:
        return self._commands

    @property
    def commands(self) -> DiscussionCommands:
        return self._commands.of("d")

    discussion_id, turn_id = "d", "t"

    def use_memory(self, name: str, arguments_json: str) -> MemoryToolAnswer:
        raise NotImplementedError

    @property
    def now(self) -> datetime:
        return datetime(2026, 11, 23, tzinfo=UTC)

    def page_text(self, data: bytes, charset: str) -> str:
        raise NotImplementedError

    def report(self, tail: str) -> None:
        self.tails.append(tail)

    def cancel(self) -> None:
        self._cancelled.set()
        for callback in self._callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)
        if self._cancelled.is_set():
            callback()

    def wait(self, timeout_s: float) -> bool:
        return self._cancelled.wait(timeout_s)

    def seen(self, path: str) -> str:
        raise NotImplementedError

    def note_seen(self, path: str, sha256: str) -> None:
        raise NotImplementedError

    def keep_before(self, change: FileChange, data: bytes | None) -> None:
        raise NotImplementedError

    def note_written(self, change: FileChange, *, is_made: bool) -> None:
        raise NotImplementedError

    def keep_picture(self, name: str, data: bytes) -> AttachmentPart:
        raise NotImplementedError
