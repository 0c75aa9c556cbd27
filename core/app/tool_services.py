"""Services of the outside to tools: the table, folders, kept bytes and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from core.agent import kept_bytes
from core.agent.commands import Commands
from core.agent.delegation import PARENTS_OWN
from core.agent.messages import CallTail, CommandEnded, FilesRestored, RestoreFiles
from core.agent.seen_files import SeenFiles
from core.agent.server_sandbox import ServerSandbox
from core.agent.tool import CommandDesk, Tool, ToolPlaces
from core.app.counting import read_page
from core.base import paths
from core.base.errors import SlopError
from core.discussion import attachments
from core.values.agent import ActKind, FileChange, Sandbox
from core.values.messages import AttachmentPart
from core.values.retrieval import AskedPlaces, MemoryToolAnswer
from core.values.spec import ToolOffer
from core.values.stack import ToolSchema

if TYPE_CHECKING:
    from core.agent.tools.of_servers import ServerDesk

_MEMORY = frozenset({"search_notes", "read_note"})
_PLACE_BOUND = frozenset({ActKind.READ, ActKind.EDIT, ActKind.COMMAND})
"""Kinds of tools that a folder which is not trusted gets none of."""
_READS = frozenset({ActKind.READ, ActKind.NETWORK, ActKind.OWN})


class HomeToolServices:
    """Services that tools need (`core.agent.worker.ToolServices`), from the parts of the outside.

    Args:
        home: the person's data; clock: UTC; table: all tools by name, asked for when the first is needed.
        memory: answers `search_notes` and `read_note`; emit: the controller's inbox; servers: calls of MCP servers.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        table: Callable[[], Mapping[str, Tool]],
        memory: Callable[[AskedPlaces, str, str], MemoryToolAnswer],
        emit: Callable[[CallTail | CommandEnded], None],
        servers: ServerDesk,
    ) -> None:
        self._emit, self._servers = emit, servers
        self._home, self._clock, self._table, self._memory = home, clock, table, memory
        self._commands = Commands(home, self._show, emit)
        self._server_sandbox = ServerSandbox(home, self._commands)

    def _show(self, discussion_id: str, call_id: str, tail: str) -> None:
        self._emit(CallTail(discussion_id, call_id, tail))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All tools by name, those of MCP servers among them. One that is called as ours stays ours."""
        from core.agent.tools.of_servers import server_tools

        return {**server_tools(self._servers), **self._table()}

    def offered(self, offer: ToolOffer) -> tuple[ToolSchema, ...]:
        """Schemas of what a model is given: none of files and commands where the folder is not trusted."""
        own = tuple(
            tool.schema
            for tool in self._table().values()
            if (offer.is_trusted or tool.kind not in _PLACE_BOUND)
            and (offer.has_memory or tool.schema.name not in _MEMORY)
            and (not offer.only_memory or tool.schema.name in _MEMORY)
            and not (offer.is_delegated and tool.schema.name in PARENTS_OWN)
            and (not offer.reads_only or tool.kind in _READS)
        )
        taken = {schema.name for schema in own}
        served = offer.servers if offer.is_trusted and not offer.reads_only else ()
        return (*own, *(schema for schema in served if schema.name not in taken))

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

    def page_text(self, data: bytes, charset: str, on_cancel: Callable[[Callable[[], None]], None]) -> str:
        """Text of an HTML page, read in a process of its own. Raises SlopError."""
        return read_page(data, charset, on_cancel)

    def seen_files(self, discussion_id: str) -> SeenFiles:
        """Files that the model of a discussion has seen."""
        return SeenFiles(paths.discussion_dir(self._home, discussion_id) / kept_bytes.EDITS_DIR)

    def keep_before(self, discussion_id: str, change: FileChange, data: bytes | None) -> None:
        """Keep a file's bytes before a turn's first write of it, and what is about to be written. Raises StorageError."""
        kept_bytes.keep_before(self._home, discussion_id, change, data)

    def note_written(self, discussion_id: str, change: FileChange, *, is_made: bool) -> None:
        """Note that a change is made, or failed."""
        kept_bytes.note_written(self._home, discussion_id, change, is_made=is_made)

    def changes(self, discussion_id: str) -> tuple[FileChange, ...]:
        """All that turns of a discussion did to files, those of programs that ended among them."""
        return kept_bytes.kept_changes(self._home, discussion_id)

    def restore(self, effect: RestoreFiles) -> FilesRestored:
        """Put files back."""
        about = effect.discussion_id, effect.turn_id
        done = kept_bytes.restore(self._home, *about, effect.changes, effect.places)
        return FilesRestored(*about, done.restored, done.left, effect.command_id)

    def kill(self, discussion_id: str, call_ids: tuple[str, ...]) -> None:
        """End commands of a discussion, in the background too; without ids all of them."""
        for call_id in call_ids or ("",):
            self._commands.kill(discussion_id, call_id)

    def drop_scratch(self, discussion_id: str) -> bool:
        """End the commands of a discussion that is forgotten, and remove their scratch folder. Raises OSError."""
        return self._commands.drop(discussion_id)

    @property
    def server_sandbox(self) -> ServerSandbox:
        """Sandboxes of MCP servers with a command."""
        return self._server_sandbox

    def close(self) -> None:
        """End all commands. Servers have ended before."""
        self._commands.close()
        self._server_sandbox.close()
