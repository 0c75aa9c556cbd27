"""A desk that tools are tried at: folders of a test, what the model has seen, what was kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.agent import kept_bytes
from core.agent.page_text import page_text
from core.agent.tool import CommandDesk, Judged, Tool, ToolAnswer, ToolPlaces
from core.agent.tools.table import TOOLS
from core.values.agent import FileChange
from core.values.messages import AttachmentPart
from core.values.retrieval import MemoryToolAnswer


class Desk:
    """A project `project` and a home `home` in a folder. `calls`: what memory was asked."""

    def __init__(self, folder: Path, *, allowed: tuple[Path, ...] = ()) -> None:
        self.root, self.home = folder / "project", folder / "home"
        self.root.mkdir(exist_ok=True)
        self.home.mkdir(exist_ok=True)
        self.tools: Mapping[str, Tool] = TOOLS
        self.allowed = allowed
        self.sha256: dict[str, str] = {}
        self.pictures: list[bytes] = []
        self.calls: list[tuple[str, str]] = []
        self.is_cancelled = False
        self.discussion_id, self.turn_id, self.call_id = "d1", "m1", "c1"
        self.now = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)

    @property
    def places(self) -> ToolPlaces:
        return ToolPlaces(
            str(self.root),
            tuple(map(str, self.allowed)),
            str(self.home),
            journal=str(self.home / "journal.md"),
            is_trusted=True,
        )

    @property
    def commands(self) -> CommandDesk:
        raise AssertionError("no tool of files runs a command")

    def seen(self, path: str) -> str:
        return self.sha256.get(path, "")

    def note_seen(self, path: str, sha256: str) -> None:
        self.sha256[path] = sha256

    def use_memory(self, name: str, arguments_json: str) -> MemoryToolAnswer:
        self.calls.append((name, arguments_json))
        return MemoryToolAnswer("a note")

    def keep_before(self, change: FileChange, data: bytes | None) -> None:
        kept_bytes.keep_before(self.home, self.discussion_id, change, data)

    def note_written(self, change: FileChange, *, is_made: bool) -> None:
        kept_bytes.note_written(self.home, self.discussion_id, change, is_made=is_made)

    def keep_picture(self, name: str, data: bytes) -> AttachmentPart:
        self.pictures.append(data)
        return AttachmentPart(hashlib.sha256(data).hexdigest(), "image/png", name, len(data))

    def page_text(self, data: bytes, charset: str) -> str:
        return page_text(data, charset)

    def report(self, tail: str) -> None:
        raise AssertionError(tail)

    def wait(self, timeout_s: float) -> bool:
        return self.is_cancelled

    def on_cancel(self, callback: Callable[[], None]) -> None:
        if self.is_cancelled:
            callback()

    def judge(self, name: str, /, **arguments: Any) -> Judged:
        """Judge a call."""
        return self.tools[name].judge(json.dumps(arguments), self)

    def use(self, name: str, taken: tuple[int, ...] | None = None, /, **arguments: Any) -> ToolAnswer:
        """Judge a call and do it; a problem is its answer, as the worker makes it."""
        judged = self.judge(name, **arguments)
        if judged.problem:
            return ToolAnswer(judged.problem, is_error=True)
        return self.tools[name].run(judged, self, taken)
