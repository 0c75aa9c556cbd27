"""Services of the outside to tools: the table, folders, kept bytes and pictures."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from core.agent.messages import FilesRestored, RestoreFiles
from core.agent.tool import Tool
from core.base.errors import SlopError
from core.discussion import attachments
from core.values.agent import ActKind, Sandbox
from core.values.messages import AttachmentPart
from core.values.spec import StackSpec
from core.values.stack import ToolSchema

_PLACE_BOUND = frozenset({ActKind.READ, ActKind.EDIT, ActKind.COMMAND})
"""Kinds of tools that a folder which is not trusted gets none of."""


class HomeToolServices:
    """Services that tools need (`core.agent.worker.ToolServices`), from the parts of the outside.

    Args:
        home: the person's data; clock: UTC; table: all tools by name, asked for when the first is needed.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        table: Callable[[], Mapping[str, Tool]],
    ) -> None:
        self._home, self._clock, self._table = home, clock, table
        self._lock = threading.Lock()
        self._scratch: dict[str, str] = {}

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All tools by name."""
        return self._table()

    def offered(self, spec: StackSpec) -> tuple[ToolSchema, ...]:
        """Tools that a discussion's model is given: none of files and commands where the folder is not trusted."""
        return tuple(
            tool.schema for tool in self.tools.values() if spec.is_trusted or tool.kind not in _PLACE_BOUND
        )

    def now(self) -> datetime:
        """The time, UTC."""
        return self._clock()

    def sandbox(self) -> Sandbox:
        """How commands are confined here."""
        return Sandbox()

    def scratch(self, discussion_id: str) -> str:
        """A private temporary folder of a discussion, absolute, made when it is first asked for."""
        with self._lock:
            if discussion_id not in self._scratch:
                self._scratch[discussion_id] = tempfile.mkdtemp(prefix="slop-tools-")
            return self._scratch[discussion_id]

    def keep_picture(self, discussion_id: str, name: str, data: bytes) -> AttachmentPart:
        """Keep a picture among the discussion's attachments. Raises SlopError: it is none."""
        if not attachments.sniff(data).startswith("image/"):
            raise SlopError(f"{name!r} is no picture that a model could be shown")
        return attachments.save(self._home, discussion_id, data, name)

    def keep_before(self, discussion_id: str, turn_id: str, path: str, data: bytes | None) -> None:
        """Keep a file's bytes before a turn's first write of it."""

    def restore(self, effect: RestoreFiles) -> FilesRestored:
        """Put files back."""
        return FilesRestored(
            effect.discussion_id, effect.turn_id, (), ("Nothing was kept.",), effect.command_id
        )

    def kill(self, discussion_id: str, call_ids: tuple[str, ...]) -> None:
        """End background commands of a discussion, empty: all of them."""

    def close(self) -> None:
        """End all commands, remove temporary folders."""
        with self._lock:
            folders, self._scratch = tuple(self._scratch.values()), {}
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
