"""Services of the outside to calls of providers: the assembled request, the client, the journal, the accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

import msgspec

from core.agent.leaked_calls import elsewhere, shown_texts, with_recovered
from core.caching.keeper import CacheKeeper
from core.caching.messages import CacheReported
from core.context.assembly import Assembler, BuiltCall
from core.discussion import attachments
from core.discussion.journals import Journals
from core.discussion.reply_journal import ReplyHead, ReplyJournal
from core.providers.clients import Clients
from core.providers.protocol import Provider, ReadBlob
from core.turn.messages import CallProvider
from core.values.messages import AttachmentPart, Part, files_of
from core.values.provider import ContentsReport, ProviderRequest
from core.values.spec import CallToBuild, StackSpec
from core.values.usage import Usage


class HomeCallServices(msgspec.Struct, frozen=True):
    """Services that calls need (`core.turn.worker.CallServices`), from the parts of the outside."""

    home: Path
    assembler: Assembler
    clients: Clients
    journals: Journals
    keeper: CacheKeeper
    price: Callable[[str, str, Usage], float | None]
    clock: Callable[[], datetime]

    def build(self, effect: CallProvider) -> BuiltCall:
        """Read the files and assemble. Raises ProviderError."""
        return self.assembler.build(
            CallToBuild(effect.call_id, effect.request_id, effect.user_message_id, effect.spec)
        )

    def provider(self, provider_id: str) -> Provider:
        """The client of a provider. Raises ProviderError."""
        return self.clients.get(provider_id)

    def journal(self, effect: CallProvider, expected: Usage, factor: float) -> ReplyJournal:
        """The reply's journal."""
        inputs, known = effect.spec.inputs, None if expected == Usage() else expected
        return self.journals.journal(
            effect.spec.discussion_id,
            lambda: ReplyHead(
                effect.reply_id,
                self.clock(),
                inputs.provider,
                inputs.model,
                version_of=effect.version_of,
                call_id=effect.call_id,
                expected=known,
                factor=factor,
            ),
        )

    def read_blob(self, spec: StackSpec) -> ReadBlob:
        """Reader of the attachments that the stack names."""
        return attachment_reader(self.home, spec)

    def recovered(
        self, request: ProviderRequest, parts: tuple[Part, ...], spec: StackSpec
    ) -> tuple[Part, ...]:
        """The parts of a whole reply, calls that it leaked as text made real ones."""
        return with_recovered(parts, request.tools, elsewhere(shown_texts(request, self.read_blob(spec))))

    def reply_tokens(self, spec: StackSpec, texts: Sequence[str]) -> int:
        """Tokens of a reply's texts with its model, about."""
        return self.assembler.reply_tokens(spec, texts)

    def recounted(self, spec: StackSpec, expected: Usage) -> Usage:
        """The expected input with every text of it counted."""
        return self.assembler.recounted(spec, expected)

    def note_usage(self, spec: StackSpec, usage: Usage, texts: Sequence[str]) -> None:
        """Note what a provider said of a call."""
        self.assembler.note_usage(spec, usage, texts)

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
        about = report.totals, report.miss_reason, report.lost
        return CacheReported(spec.discussion_id, report.state, *about, order=report.order)

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
