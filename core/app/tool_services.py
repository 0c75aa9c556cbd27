"""Services of the outside to tools: the table, folders, kept bytes and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from core.agent import kept_bytes
from core.agent.commands import Commands
from core.agent.messages import CallTail, CommandEnded, FilesRestored, RestoreFiles
from core.agent.tool import CommandDesk, Tool, ToolPlaces
from core.base import paths
from core.base.errors import SlopError
from core.discussion import attachments
from core.values.agent import ActKind, Sandbox
from core.values.messages import AttachmentPart
from core.values.retrieval import AskedPlaces, MemoryToolAnswer
from core.values.spec import ToolOffer
from core.values.stack import ToolSchema

_MEMORY = frozenset({"search_notes", "read_note"})
_PLACE_BOUND = frozenset({ActKind.READ, ActKind.EDIT, ActKind.COMMAND})
"""Kinds of tools that a folder which is not trusted gets none of."""


class HomeToolServices:
    """Services that tools need (`core.agent.worker.ToolServices`), from the parts of the outside.

    Args:
        home: the person's data; clock: UTC; table: all tools by name, asked for when the first is needed.
        memory: answers `search_notes` and `read_note`; emit: the controller's inbox.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        table: Callable[[], Mapping[str, Tool]],
        memory: Callable[[AskedPlaces, str, str], MemoryToolAnswer],
        emit: Callable[[CallTail | CommandEnded], None],
    ) -> None:
        self._emit = emit
        self._home, self._clock, self._table, self._memory = home, clock, table, memory
        self._commands = Commands(home, self._show, self._ended)

    def _show(self, discussion_id: str, call_id: str, tail: str) -> None:
        self._emit(CallTail(discussion_id, call_id, tail))

    def _ended(self, discussion_id: str, call_id: str, exit_code: int | None, tail: str) -> None:
        self._emit(CommandEnded(discussion_id, call_id, exit_code, tail))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All tools by name."""
        return self._table()

    def offered(self, offer: ToolOffer) -> tuple[ToolSchema, ...]:
        """Schemas of what a model is given: none of files and commands where the folder is not trusted."""
        return tuple(
            tool.schema
            for tool in self.tools.values()
            if (offer.is_trusted or tool.kind not in _PLACE_BOUND)
            and (offer.has_memory or tool.schema.name not in _MEMORY)
        )

    def now(self) -> datetime:
        """The time, UTC."""
        return self._clock()

    def sandbox(self) -> Sandbox:
        """The confinement of commands here; tried at the first question."""
        return self._commands.sandbox

    def commands(self, discussion_id: str) -> CommandDesk:
        """Commands of a discussion."""
        return self._commands.of(discussion_id)

    def places(self, places: ToolPlaces) -> ToolPlaces:
        """The folders, with the journal."""
        return replace(places, journal=str(self._home / paths.JOURNAL_FILE))

    def use_memory(self, searched: AskedPlaces | None, name: str, arguments_json: str) -> MemoryToolAnswer:
        """Answer a call of `search_notes` or `read_note`."""
        if searched is None:
            return MemoryToolAnswer("Search is switched off here.", is_error=True)
        return self._memory(searched, name, arguments_json)

    def keep_picture(self, discussion_id: str, name: str, data: bytes) -> AttachmentPart:
        """Keep a picture among the discussion's attachments. Raises SlopError: it is none."""
        if not attachments.sniff(data).startswith("image/"):
            raise SlopError(f"{name!r} is no picture that a model could be shown")
        return attachments.save(self._home, discussion_id, data, name)

    def keep_before(self, discussion_id: str, turn_id: str, path: str, data: bytes | None) -> None:
        """Keep a file's bytes before a turn's first write of it. Raises StorageError."""
        kept_bytes.keep_before(self._home, discussion_id, turn_id, path, data)

    def restore(self, effect: RestoreFiles) -> FilesRestored:
        """Put files back."""
        about = effect.discussion_id, effect.turn_id
        done = kept_bytes.restore(self._home, *about, effect.changes, effect.places)
        return FilesRestored(*about, done.restored, done.left, effect.command_id)

    def kill(self, discussion_id: str, call_ids: tuple[str, ...]) -> None:
        """End commands of a discussion, in the background too; without ids all of them."""
        for call_id in call_ids or ("",):
            self._commands.kill(discussion_id, call_id)

    def close(self) -> None:
        """End all commands."""
        self._commands.close()
