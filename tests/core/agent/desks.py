"""Desks that tools are tried at: over folders of a test for tools of files, over real commands for those that run them."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.agent import kept_bytes
from core.agent.commands import Commands, DiscussionCommands
from core.agent.sandbox import Confinement
from core.agent.tool import CommandDesk, CommandOrder, Judged, ShellOutcome, Tool, ToolAnswer, ToolPlaces
from core.app.tool_table import TOOLS
from core.kernel.values.agent import FileChange, Sandbox
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.retrieval import MemoryToolAnswer
from core.talk.discussion.page_text import page_text


class AnyDesk:
    """A `ToolDesk` of one call in a trusted project; it can be cancelled. What a tool of the test has no use for fails.

    Attributes:
        tails: what the call reported.
    """

    def __init__(self, root: Path, home: Path, *ids: str) -> None:
        self.root, self.home = root, home
        self.discussion_id, self.turn_id, self.call_id = ids
        self.now = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
        self.tails: list[str] = []
        self.has_yes = True
        self._cancelled = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def commands(self) -> CommandDesk:
        raise AssertionError("no tool of this desk runs a command")

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

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

    def report(self, tail: str) -> None:
        self.tails.append(tail)

    def seen(self, path: str) -> str:
        raise AssertionError(path)

    def note_seen(self, path: str, sha256: str) -> None:
        raise AssertionError(path)

    def use_memory(self, name: str, arguments_json: str) -> MemoryToolAnswer:
        raise AssertionError(name)

    def keep_before(self, change: FileChange, data: bytes | None) -> None:
        raise AssertionError(change)

    def note_written(self, change: FileChange, *, is_made: bool) -> None:
        raise AssertionError(change)

    def keep_picture(self, name: str, data: bytes) -> AttachmentPart:
        raise AssertionError(name)

    def page_text(self, data: bytes, charset: str) -> str:
        return page_text(data, charset)


class ShellDesk(AnyDesk):
    """A desk with the real commands of discussion `d`."""

    def __init__(self, commands: Commands, root: Path, home: Path, call_id: str = "call") -> None:
        super().__init__(root, home, "d", "t", call_id)
        self.every_command = commands
        self.places = ToolPlaces(str(root), home=str(home), is_trusted=True)

    @property
    def commands(self) -> DiscussionCommands:
        return self.every_command.of("d")


class Desk(AnyDesk):
    """A project `project` and a home `home` in a folder: what the model has seen, what was kept. `calls`: what memory was asked."""

    def __init__(self, folder: Path, *, allowed: tuple[Path, ...] = ()) -> None:
        super().__init__(folder / "project", folder / "home", "d1", "m1", "c1")
        self.root.mkdir(exist_ok=True)
        self.home.mkdir(exist_ok=True)
        self.tools: Mapping[str, Tool] = TOOLS
        self.allowed = allowed
        self.sha256: dict[str, str] = {}
        self.pictures: list[bytes] = []
        self.calls: list[tuple[str, str]] = []

    @property
    def places(self) -> ToolPlaces:
        return ToolPlaces(
            str(self.root),
            tuple(map(str, self.allowed)),
            str(self.home),
            journal=str(self.home / "journal.md"),
            is_trusted=True,
        )

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

    def judge(self, name: str, /, **arguments: Any) -> Judged:
        """Judge a call."""
        return self.tools[name].judge(json.dumps(arguments), self)

    def use(self, name: str, taken: tuple[int, ...] | None = None, /, **arguments: Any) -> ToolAnswer:
        """Judge a call and do it; a problem is its answer, as the worker makes it."""
        judged = self.judge(name, **arguments)
        if judged.problem:
            return ToolAnswer(judged.problem, is_error=True)
        return self.tools[name].run(judged, self, taken)


def bare() -> Confinement:
    return Confinement(Sandbox(problem="bubblewrap is not installed"))


def shell_desks(find: Callable[[], Confinement], home: Path, folder: Path) -> Iterator[ShellDesk]:
    """A desk over a project of its own, which closes behind its test."""
    root = folder / "project"
    root.mkdir()
    commands = Commands(home, lambda *_: None, lambda *_: None, find=find, most_processes=20, grace_s=0.2)
    yield ShellDesk(commands, root, home)
    commands.close()


def ran(desk: ShellDesk, command: str, *, timeout_s: float = 20.0, network: bool = False) -> ShellOutcome:
    order = CommandOrder(command, desk.places.root, network, timeout_s, sees_secrets=desk.has_yes)
    return desk.commands.run(order, desk)


def marked(marker: str) -> list[int]:
    """Processes of which the command line holds a marker."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path("/proc", name, "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in line and int(name) != os.getpid():
            found.append(int(name))
    return found


def wait_for(is_so: Callable[[], bool], timeout_s: float = 10.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(0.01)
    return True
