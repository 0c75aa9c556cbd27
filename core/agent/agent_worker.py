"""Calls of tools, a thread each: judged, and done as they were judged; undo of what a turn changed."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from core.agent import kept_bytes
from core.agent.agent_messages import (
    AgentEffect,
    AgentEvent,
    CallDone,
    CallJudged,
    CallPutOff,
    CallTail,
    ChangesFound,
    CommandEnded,
    FilesRestored,
    FindChanges,
    JudgeCall,
    LookForSandbox,
    RestoreFiles,
    RunCall,
    SandboxFound,
    StopCalls,
)
from core.agent.command_places import changed_words
from core.agent.commands import Commands
from core.agent.delegation import PARENTS_OWN
from core.agent.kept_bytes import SeenFiles
from core.agent.server_sandbox import ServerSandbox
from core.agent.tool import CommandDesk, Judged, Tool, ToolAnswer, ToolPlaces
from core.agent.tool_policy import approval_id
from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.language import english, in_english, tr, translation_of
from core.kernel.machine import trim_heaps
from core.kernel.queue import (
    KeptThreads,
    at_once,
)
from core.kernel.values.agent import Act, ActKind, Approval, FileChange, Sandbox
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.retrieval import AskedPlaces, MemoryToolAnswer
from core.kernel.values.spec import ToolOffer
from core.kernel.values.stack import ToolSchema
from core.mcp.mcp_worker import McpHandler
from core.services.providers.protocol import CancelToken
from core.talk.discussion import attachments

Emit = Callable[[AgentEvent], None]

TAIL_CHARS = 4_000
"""Characters of a command's latest output that are shown while it runs."""

log = logging.getLogger(__name__)

_MEMORY = frozenset({"search_notes", "read_note"})
_PLACE_BOUND = frozenset({ActKind.READ, ActKind.EDIT, ActKind.COMMAND})
"""Kinds of tools that a folder which is not trusted gets none of."""
_READS = frozenset({ActKind.READ, ActKind.NETWORK, ActKind.OWN})


class ToolServices:
    """Services of the outside to tools.

    Args:
        home: the person's data; clock: UTC; table: all tools by name, asked for when the first is needed.
        memory: answers `search_notes` and `read_note`; emit: the controller's inbox; servers: calls of MCP servers.
        read_page: reads an HTML page of a charset in a process of its own, until it is cancelled.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        table: Callable[[], Mapping[str, Tool]],
        memory: Callable[[AskedPlaces, str, str], MemoryToolAnswer],
        emit: Callable[[CallTail | CommandEnded], None],
        servers: McpHandler,
        read_page: Callable[[bytes, str, Callable[[Callable[[], None]], None]], str],
    ) -> None:
        self._emit, self._servers, self._read_page = emit, servers, read_page
        self._home, self._clock, self._table, self._memory = home, clock, table, memory
        self._commands = Commands(home, self._show, emit)
        self._server_sandbox = ServerSandbox(home, self._commands)

    def _show(self, discussion_id: str, call_id: str, tail: str) -> None:
        self._emit(CallTail(discussion_id=discussion_id, call_id=call_id, tail=tail))

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
        """Keep a picture among the discussion's attachments. Raises SlopError: the data are no picture."""
        if not attachments.sniff(data).startswith("image/"):
            raise SlopError(f"{name!r} is no picture that a model could be shown")
        return attachments.save(self._home, discussion_id, data, name)

    def page_text(self, data: bytes, charset: str, on_cancel: Callable[[Callable[[], None]], None]) -> str:
        """Text of an HTML page, read in a process of its own. Raises SlopError."""
        return self._read_page(data, charset, on_cancel)

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
        return FilesRestored(
            discussion_id=effect.discussion_id,
            turn_id=effect.turn_id,
            restored=done.restored,
            left=done.left,
            command_id=effect.command_id,
        )

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


class CallDesk:
    """Desk of one call (`core.agent.tool.ToolDesk`).

    Args:
        seen: what the model has seen in the discussion, shared by its calls.
    """

    def __init__(
        self,
        services: ToolServices,
        effect: JudgeCall | RunCall,
        cancel: CancelToken,
        seen: SeenFiles,
        emit: Emit,
    ) -> None:
        self._services, self._effect, self._cancel = services, effect, cancel
        self._seen, self._emit = seen, emit

    @property
    def places(self) -> ToolPlaces:
        """Folders of the discussion."""
        return self._services.places(self._effect.places)

    @property
    def now(self) -> datetime:
        """The time, UTC."""
        return self._services.now()

    @property
    def call_id(self) -> str:
        """Id of the call."""
        return self._effect.call_id

    @property
    def discussion_id(self) -> str:
        """Id of the discussion."""
        return self._effect.discussion_id

    @property
    def turn_id(self) -> str:
        """Id of the person's message that began the turn."""
        return self._effect.turn_id

    @property
    def commands(self) -> CommandDesk:
        """Commands of the discussion."""
        return self._services.commands(self._effect.discussion_id)

    @property
    def has_yes(self) -> bool:
        """True if a person approved this very call, and no rule did."""
        return isinstance(self._effect, RunCall) and self._effect.has_yes

    def use_memory(self, name: str, arguments_json: str) -> MemoryToolAnswer:
        """Answer a call of `search_notes` or `read_note`."""
        return self._services.use_memory(self._effect.searched, name, arguments_json)

    def seen(self, path: str) -> str:
        """Sha256 (hex) of a file as the model saw it last, empty where it did not."""
        return self._seen.get(path)

    def note_seen(self, path: str, sha256: str) -> None:
        """The model has read a file, or written it, as these bytes."""
        self._seen.note(path, sha256)

    def keep_before(self, change: FileChange, data: bytes | None) -> None:
        """Keep a file's bytes before the turn's first write of it, and what is about to be written."""
        self._services.keep_before(self._effect.discussion_id, change, data)

    def note_written(self, change: FileChange, *, is_made: bool) -> None:
        """Note that a change is made, or failed."""
        self._services.note_written(self._effect.discussion_id, change, is_made=is_made)

    def keep_picture(self, name: str, data: bytes) -> AttachmentPart:
        """Keep a picture among the discussion's attachments. Raises SlopError."""
        return self._services.keep_picture(self._effect.discussion_id, name, data)

    def page_text(self, data: bytes, charset: str) -> str:
        """Text of an HTML page, read in a process of its own. Raises SlopError."""
        return self._services.page_text(data, charset, self._cancel.on_cancel)

    def report(self, tail: str) -> None:
        """Show the end of the output so far."""
        self._emit(
            CallTail(
                discussion_id=self._effect.discussion_id,
                call_id=self._effect.call_id,
                tail=tail[-TAIL_CHARS:],
            )
        )

    def wait(self, timeout_s: float) -> bool:
        """Wait. Returns True as soon as the call is cancelled."""
        return self._cancel.wait(timeout_s)

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run a callback when the call is cancelled, at once if it is."""
        self._cancel.on_cancel(callback)


class ToolWorker:
    """Carries out the agent's effects. A call has its own thread; what it raises is its result."""

    def __init__(self, services: ToolServices, emit: Emit) -> None:
        self._services = services
        self._emit = emit
        self._lock = threading.Lock()
        self._threads = KeptThreads()
        self._running: dict[tuple[str, str], tuple[CancelToken, threading.Event]] = {}
        self._seen: dict[str, SeenFiles] = {}
        self._sandbox_lock = threading.Lock()
        self._has_told_sandbox = False

    def begin(self, effect: AgentEffect) -> None:
        """Begin an effect; returns at once."""
        match effect:
            case JudgeCall():
                self._start(effect, self._judge)
            case RunCall():
                self._start(effect, self._run)
            case StopCalls():
                self._stop(effect)
            case RestoreFiles():
                threading.Thread(target=self._restore, args=(effect,), name="undo", daemon=True).start()
            case FindChanges():
                threading.Thread(target=self._find, args=(effect,), name="changes", daemon=True).start()
            case LookForSandbox():
                threading.Thread(target=self._tell_sandbox, name="sandbox", daemon=True).start()
            case _:
                assert_never(effect)

    def stop(self, timeout_s: float) -> None:
        """Cancel every call, and wait until each has told its result, `timeout_s` seconds in all at most."""
        with self._lock:
            running = tuple(self._running.values())
        for cancel, _ in running:
            cancel.cancel()
        self._services.close()
        for _, over in running:
            over.wait(timeout_s)

    def _start(
        self,
        effect: JudgeCall | RunCall,
        work: Callable[[JudgeCall | RunCall, CallDesk, CancelToken], CallJudged | CallPutOff | CallDone],
    ) -> None:
        cancel = CancelToken()
        key = effect.discussion_id, effect.call_id
        with self._lock:
            if (seen := self._seen.get(effect.discussion_id)) is None:
                seen = self._seen[effect.discussion_id] = self._services.seen_files(effect.discussion_id)
        desk = CallDesk(self._services, effect, cancel, seen, self._emit)

        def run() -> None:
            try:
                event = work(effect, desk, cancel)
            finally:
                with self._lock:
                    if self._running.get(key, (None,))[0] is cancel:
                        del self._running[key]
            self._emit(event)

        with self._lock:
            self._running[key] = cancel, self._threads.run(f"tool-{effect.name}", run)

    def _stop(self, effect: StopCalls) -> None:
        with self._lock:
            found = [
                cancel
                for (discussion_id, call_id), (cancel, _) in self._running.items()
                if discussion_id == effect.discussion_id
                and (not effect.call_ids or call_id in effect.call_ids)
            ]

        def stop() -> None:
            for cancel in found:
                cancel.cancel()
            if effect.kills:
                self._services.kill(effect.discussion_id, effect.call_ids)

        if found or effect.kills:  # ending a process may take a while
            threading.Thread(target=stop, name="stop-tools", daemon=True).start()

    def _judge(
        self, effect: JudgeCall | RunCall, desk: CallDesk, _cancel: CancelToken
    ) -> CallJudged | CallPutOff:
        assert isinstance(effect, JudgeCall)
        self._tell_sandbox()
        tool = self._services.tools.get(effect.name)
        keeps_order = tool is not None and tool.keeps_order
        if keeps_order and not effect.is_next:
            return CallPutOff(effect.discussion_id, effect.call_id)
        judged = self._judged(effect, desk)
        return CallJudged(
            discussion_id=effect.discussion_id,
            call_id=effect.call_id,
            approval=approval_of(effect, judged),
            problem=judged.problem,
            must_ask=bool(judged.reasons),
            keeps_order=keeps_order,
        )

    def _judged(self, effect: JudgeCall | RunCall, desk: CallDesk) -> Judged:
        tool = self._services.tools.get(effect.name)
        if tool is None:
            offer = effect.offer if isinstance(effect, JudgeCall) else None
            names = [schema.name for schema in self._services.offered(offer)] if offer is not None else []
            known = f" There are: {', '.join(sorted(names))}." if names else ""
            return Judged(
                kind=ActKind.OWN, title=effect.name, problem=f"There is no tool {effect.name!r}.{known}"
            )
        try:
            judged = tool.judge(effect.arguments_json, desk)
            if judged.problem and translation_of() is not None:
                with in_english():  # a model reads why it cannot be done; a person reads all else
                    judged = replace(judged, problem=tool.judge(effect.arguments_json, desk).problem)
            return judged
        except SlopError as error:
            return Judged(kind=tool.kind, title=effect.name, problem=english(error))
        except Exception as error:  # the edge of a tool: the model must hear of it, and the turn go on
            log.exception("tool %s could not judge a call", effect.name)
            return Judged(
                kind=tool.kind, title=effect.name, problem=f"The tool failed: {type(error).__name__}: {error}"
            )

    def _run(self, effect: JudgeCall | RunCall, desk: CallDesk, cancel: CancelToken) -> CallDone:
        assert isinstance(effect, RunCall)
        answer = self._answer(effect, desk)
        if answer.is_yield:
            trim_heaps()  # the turn ends here, with no reply after it
        return CallDone(
            discussion_id=effect.discussion_id,
            call_id=effect.call_id,
            answer=answer,
            is_interrupted=cancel.is_cancelled,
        )

    def _answer(self, effect: RunCall, desk: CallDesk) -> ToolAnswer:
        """Judge once more: what was let run counts for exactly that."""
        judged = self._judged(effect, desk)
        if judged.problem:
            return ToolAnswer(text=judged.problem, is_error=True)
        if approval_of(effect, judged).id != effect.approval_id:
            root = os.path.realpath(effect.places.root)
            words = changed_words(effect.files, judged.files, root)
            other = (
                "Not done: what this would do has changed since it was judged. Look again, then ask again."
            )
            return ToolAnswer(text=words or other, is_error=True)
        try:
            with in_english():
                answer = self._services.tools[effect.name].run(judged, desk, effect.hunks)
            return replace(answer, text=english(answer.text))
        except SlopError as error:
            return ToolAnswer(text=english(error), is_error=True)
        except Exception as error:  # the edge of a tool, as above
            log.exception("tool %s failed", effect.name)
            return ToolAnswer(text=f"The tool failed: {type(error).__name__}: {error}", is_error=True)

    def _restore(self, effect: RestoreFiles) -> None:
        try:
            event = self._services.restore(effect)
        except Exception as error:  # the edge of the worker: who waits for it must hear of it
            log.exception("files of a turn could not be put back")
            left = (tr("The program restored no file: {error}.", error=error),)
            event = FilesRestored(
                discussion_id=effect.discussion_id,
                turn_id=effect.turn_id,
                restored=(),
                left=left,
                command_id=effect.command_id,
            )
        self._emit(event)

    def _find(self, effect: FindChanges) -> None:
        try:
            changes = self._services.changes(effect.discussion_id)
        except Exception:  # the edge of the worker, as above
            log.exception("what turns changed could not be read")
            return
        self._emit(ChangesFound(effect.discussion_id, changes))

    def _tell_sandbox(self) -> None:
        """Tell once, before any call is said to be judged."""
        with self._sandbox_lock:
            if not self._has_told_sandbox:
                self._emit(SandboxFound(self._services.sandbox()))
                self._has_told_sandbox = True


def approval_of(effect: JudgeCall | RunCall, judged: Judged) -> Approval:
    """Question for a judged call, as a person sees it. Its id binds tool, arguments, folder, base and all that is shown."""
    bound = effect.name, effect.arguments_json, effect.places.root, judged.base_sha256
    shown = judged.path, judged.title, judged.detail, judged.grant
    code = (part for row in sorted(judged.files.items()) for part in row)
    act = {name: getattr(judged, name) for name in Act.__struct_fields__}
    return Approval(id=approval_id(*bound, *shown, *judged.reasons, *code), **act)


WORK = at_once("tools", AgentEffect)
