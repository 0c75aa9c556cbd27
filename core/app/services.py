"""Services of the outside to calls of providers and to tools: requests, clients, journal, accounts, tables, folders, pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import msgspec
from msgspec.structs import replace

from core.agent import kept_bytes
from core.agent.agent_messages import CallTail, CommandEnded, FilesRestored, RestoreFiles
from core.agent.commands import Commands
from core.agent.delegation import PARENTS_OWN
from core.agent.kept_bytes import SeenFiles
from core.agent.leaked_calls import elsewhere, shown_texts, with_recovered
from core.agent.server_sandbox import ServerSandbox
from core.agent.tool import CommandDesk, Tool, ToolPlaces
from core.app import home
from core.app.app_messages import WriteWindow
from core.app.crunch import read_page
from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.queue import queued
from core.kernel.values.agent import ActKind, FileChange, Sandbox
from core.kernel.values.messages import AttachmentPart, Part, files_of
from core.kernel.values.provider import ContentsReport, ProviderRequest
from core.kernel.values.retrieval import AskedPlaces, MemoryToolAnswer
from core.kernel.values.spec import CallToBuild, StackSpec, ToolOffer
from core.kernel.values.stack import ToolSchema
from core.kernel.values.usage import Usage
from core.knowledge.harvest.harvest_messages import WriteReview
from core.knowledge.harvest.preview import folded
from core.knowledge.harvest.replies import keep_review
from core.services.providers.clients import Clients
from core.services.providers.protocol import Provider, ReadBlob
from core.services.providers.refused_fields import RefusedFields
from core.services.providers.switches import REASONING, SWITCHES, tools_in_force
from core.talk.caching import caching_worker
from core.talk.caching.caching_messages import CacheReported, CheckRewrites
from core.talk.caching.caching_worker import RewriteCheck
from core.talk.caching.keeper import CacheKeeper
from core.talk.context import context_worker as context
from core.talk.context.assembly import Assembler, BuiltCall
from core.talk.context.context_messages import ContextEffect
from core.talk.context.context_worker import ContextHandler
from core.talk.discussion import attachments, discussion_worker
from core.talk.discussion.discussion_messages import DiskEffect, ReadDiscussion
from core.talk.discussion.reply_journal import Journals, ReplyHead, ReplyJournal
from core.talk.turn.turn_messages import CallProvider

# Services of the outside to calls of providers: the assembled request, the client, the journal, the
# accounts.


class HomeCallServices(msgspec.Struct, frozen=True):
    """Services that calls need (`core.talk.turn.turn_worker.CallServices`), from the parts of the outside."""

    home: Path
    assembler: Assembler
    clients: Clients
    journals: Journals
    keeper: CacheKeeper
    price: Callable[[str, str, Usage], float | None]
    clock: Callable[[], datetime]

    def build(self, effect: CallProvider) -> BuiltCall:
        """Read the files and assemble, without what the model refused in an earlier run. Raises ProviderError."""
        spec = effect.spec
        refused = self.refused(spec.inputs.provider).of(spec.inputs.model)
        return self.assembler.build(
            CallToBuild(
                call_id=effect.call_id,
                request_id=effect.request_id,
                user_message_id=effect.user_message_id,
                spec=replace(
                    spec,
                    takes_switches=spec.takes_switches and SWITCHES not in refused,
                    takes_reasoning=spec.takes_reasoning and REASONING not in refused,
                ),
            )
        )

    def refused(self, provider_id: str) -> RefusedFields:
        """Parameters that a provider's server has refused."""
        return self.clients.refusals(provider_id)

    def provider(self, provider_id: str) -> Provider:
        """The client of a provider. Raises ProviderError."""
        return self.clients.get(provider_id)

    def journal(self, effect: CallProvider, expected: Usage, factor: float) -> ReplyJournal:
        """The reply's journal."""
        inputs, known = effect.spec.inputs, None if expected == Usage() else expected
        return self.journals.journal(
            effect.spec.discussion_id,
            effect.call_id,
            lambda: ReplyHead(
                reply_id=effect.reply_id,
                at=self.clock(),
                provider=inputs.provider,
                model=inputs.model,
                version_of=effect.version_of,
                call_id=effect.call_id,
                expected=known,
                factor=factor,
            ),
            beside=effect.reply_id if effect.is_compared else "",
        )

    def read_blob(self, spec: StackSpec) -> ReadBlob:
        """Reader of the attachments that the stack names."""
        return attachment_reader(self.home, spec)

    def recovered(
        self, request: ProviderRequest, parts: tuple[Part, ...], spec: StackSpec
    ) -> tuple[Part, ...]:
        """The parts of a whole reply, calls that it leaked as text made real ones."""
        shown = elsewhere(shown_texts(request, self.read_blob(spec)))
        return with_recovered(parts, tools_in_force(request), shown, request.model)

    def reply_tokens(self, spec: StackSpec, texts: Sequence[str]) -> int:
        """Tokens of a reply's texts with its model, about."""
        return self.assembler.reply_tokens(spec, texts)

    def recounted(self, spec: StackSpec, expected: Usage) -> Usage:
        """The expected input with every text of it counted."""
        return self.assembler.recounted(spec, expected)

    def note_usage(self, spec: StackSpec, usage: Usage, texts: Sequence[str]) -> None:
        """Note the usage that a provider reports for a call."""
        self.assembler.note_usage(spec, usage, texts)

    def resent(self, call_id: str, request: ProviderRequest) -> None:
        """A request was refused, and is answered in another form."""
        self.keeper.resent(call_id, request)

    def begun(self, call_id: str) -> None:
        """The answer begins."""
        self.keeper.begun(call_id)

    def ended(
        self,
        call_id: str,
        spec: StackSpec,
        usage: Usage,
        contents: ContentsReport | None,
        paid: Usage,
        *,
        is_kept_later: bool,
    ) -> CacheReported | None:
        """The call is over: what became known of the cache."""
        self.assembler.learn()
        report = self.keeper.ended(call_id, usage, contents, paid, is_kept_later=is_kept_later)
        if report is None:
            return None
        return CacheReported(
            discussion_id=spec.discussion_id,
            state=report.state,
            totals=report.totals,
            miss_reason=report.miss_reason,
            lost=report.lost,
            order=report.order,
            asked=(spec.inputs.provider, spec.inputs.model),
        )

    def keep(self, spec: StackSpec) -> None:
        """Write what became known of the cache."""
        self.keeper.keep(spec.discussion_id)


def attachment_reader(home: Path, spec: StackSpec) -> ReadBlob:
    """Reads the attachments that a stack names."""
    inputs = spec.inputs

    def parts() -> Iterator[AttachmentPart]:
        yield from inputs.attachments
        for turn in inputs.turns:
            yield from files_of(turn.parts)

    return _reader(home, spec.discussion_id, parts)


def request_reader(home: Path, discussion_id: str, request: ProviderRequest) -> ReadBlob:
    """Reads the attachments that a request of a discussion names, as a ping and a prewarm send them again."""
    return _reader(
        home, discussion_id, lambda: files_of(part for message in request.messages for part in message.parts)
    )


def _reader(home: Path, discussion_id: str, parts: Callable[[], Iterable[AttachmentPart]]) -> ReadBlob:
    """Looks for the files when the first is read: most requests of many messages have none."""

    @cache
    def by_hash() -> dict[str, AttachmentPart]:
        return {part.sha256: part for one in parts() for part in (one, one.as_text) if part is not None}

    return lambda sha256: attachments.load(home, discussion_id, by_hash()[sha256])


# Services of the outside to tools: the table, folders, kept bytes and pictures.

if TYPE_CHECKING:
    from core.agent.tools.of_servers import ServerDesk

_MEMORY = frozenset({"search_notes", "read_note"})
_PLACE_BOUND = frozenset({ActKind.READ, ActKind.EDIT, ActKind.COMMAND})
"""Kinds of tools that a folder which is not trusted gets none of."""
_READS = frozenset({ActKind.READ, ActKind.NETWORK, ActKind.OWN})


class HomeToolServices:
    """Services that tools need (`core.agent.agent_worker.ToolServices`), from the parts of the outside.

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


# The disk worker: what is written to and read from the home, in the order asked for, on one thread.

DiskWork = DiskEffect | WriteReview | WriteWindow

STATE_HEAD = "selected = "


class DiskHandler:
    """Carries out the disk worker's effects.

    Args:
        root: the home; discussions: carries out those of discussions.
        recall: reports the stored cache of a discussion. It runs before the log is read, so that no request goes out before
            the tools of the last request are known.
    """

    def __init__(
        self, root: Path, discussions: discussion_worker.DiscussionHandler, recall: Callable[[str], None]
    ) -> None:
        self._root = root
        self._discussions = discussions
        self._recall = recall

    def handle(self, effect: DiskWork) -> None:
        """Carry out one effect. Raises StorageError for what has no event of its own."""
        if isinstance(effect, ReadDiscussion):
            self._recall(effect.discussion_id)
        if isinstance(effect, DiskEffect):
            self._discussions.handle(effect)
        elif isinstance(effect, WriteReview):
            keep_review(self._root, folded(effect.review, effect.preview))
        elif isinstance(effect, WriteWindow):
            home.write_state(self._root, join_state(effect.window_toml, effect.selected_id))
        else:
            assert_never(effect)


def supersedes(newer: DiskWork, older: DiskWork) -> bool:
    """The window's state and a review make any earlier one needless; of discussions that room says."""
    if isinstance(newer, DiskEffect) and isinstance(older, DiskEffect):
        return discussion_worker.supersedes(newer, older)
    return type(newer) is type(older)


def keeps(effect: DiskWork) -> bool:
    """True if an effect is written again until it is on disk: it says how things stand, whenever that is."""
    return isinstance(effect, WriteReview | WriteWindow) or discussion_worker.keeps(effect)


def about(effect: DiskWork) -> str:
    """The discussion that a failed reading is about: it says nothing of the home. Empty for all that is written."""
    return effect.discussion_id if isinstance(effect, ReadDiscussion) else ""


def join_state(window_toml: str, selected_id: str) -> str:
    """`state.toml`: the selected discussion, then the window's own tables."""
    return f'{STATE_HEAD}"{selected_id}"\n{window_toml}'


def split_state(text: str) -> tuple[str, str]:
    """The window's tables and the selected discussion of a `state.toml`; a foreign one is all window's."""
    head, _, rest = text.partition("\n")
    if not head.startswith(STATE_HEAD):
        return text, ""
    return rest, head.removeprefix(STATE_HEAD).strip().strip('"')


# The context worker: stacks are assembled, and what a change of knowledge rewrites is checked, on one
# thread.

ContextWork = ContextEffect | CheckRewrites


class ContextWorker:
    """Carries out the context worker's effects. Both parts read the same files; on one thread each is read once.

    Args:
        is_asked: whether other effects wait.
    """

    def __init__(
        self, assembling: ContextHandler, checking: RewriteCheck, is_asked: Callable[[], bool]
    ) -> None:
        self._is_asked = is_asked
        self._assembling = assembling
        self._checking = checking

    def handle(self, effect: ContextWork) -> None:
        """Carry out one effect."""
        if isinstance(effect, ContextEffect):
            self._assembling.handle(effect)
        elif isinstance(effect, CheckRewrites):
            self._checking.handle(effect)
        else:
            assert_never(effect)
        self._assembling.count_on(self._is_asked)


def supersedes_context(newer: ContextWork, older: ContextWork) -> bool:
    """Each part says of its own."""
    if isinstance(newer, ContextEffect) and isinstance(older, ContextEffect):
        return context.supersedes(newer, older)
    if isinstance(newer, CheckRewrites) and isinstance(older, CheckRewrites):
        return caching_worker.supersedes_check(newer, older)
    return False


DISK_WORK = queued("disk", DiskWork, supersedes, keeps, about)
CONTEXT_WORK = queued("context", ContextWork, supersedes_context)
