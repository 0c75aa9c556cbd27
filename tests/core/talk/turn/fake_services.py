"""Services of a call that stand for the program: a provider that plays what it is given, a journal, a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from queue import SimpleQueue

from msgspec.structs import replace

from core.app.app_messages import Event
from core.kernel.errors import ProviderError
from core.kernel.values.curation import Preset
from core.kernel.values.messages import Part, ToolCallPart
from core.kernel.values.provider import (
    ContentsReport,
    ModelProfile,
    ProviderRequest,
    StopKind,
    Stopped,
    StreamItem,
)
from core.kernel.values.records import RequestRecord
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.state import ProviderTotals
from core.kernel.values.usage import Usage
from core.services.providers.protocol import CancelToken, ReadBlob
from core.services.providers.refused_fields import RefusedFields
from core.talk.caching.caching_messages import CacheReported
from core.talk.context.assembly import BuiltCall
from core.talk.discussion.reply_journal import ReplyJournal
from core.talk.turn.turn_messages import CallEnded, CallFailed, CallProvider, RequestBuilt
from core.talk.turn.turn_worker import CallServices, CallWorker
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S
AT = datetime(2026, 11, 20, tzinfo=UTC)
EFFECT = CallProvider(
    "call",
    "reply",
    "request",
    "message",
    StackSpec("d", StackInputs(provider="p", model="m"), Preset(""), "/project"),
)
DONE = Stopped(StopKind.COMPLETED)


class FakeProvider:
    """Yields what it is given, raises what it is given, and can wait until it is cancelled."""

    def __init__(self, *items: StreamItem | ProviderError | Callable[[CancelToken], None]) -> None:
        self.items = items

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        del request, read_blob
        for item in self.items:
            if isinstance(item, ProviderError):
                raise item
            if callable(item):
                item(cancel)
                if cancel.is_cancelled:
                    yield Stopped(StopKind.CANCELLED)
                    return
            else:
                yield item

    def list_models(self) -> tuple[ModelProfile, ...]:
        return ()

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        del request, read_blob
        return None

    def close(self) -> None:
        """Nothing to release."""


class FakeJournal(ReplyJournal):
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def begin(self) -> None:
        self.notes.append("begun")

    def note_attempt(self, *, is_out: bool, lost: int) -> None:
        self.notes.append(f"{'out' if is_out else 'not out'}, {lost} lost")

    def add_usage(self, usage: Usage) -> None:
        self.notes.append(f"{usage.input_tokens} said")

    def add_text(self, text: str) -> None:
        self.kept.append((text, ""))

    def add_reasoning(self, text: str, vendor_json: str = "") -> None:
        self.kept.append((vendor_json, text))

    def add_call(self, part: ToolCallPart) -> None:
        self.kept.append((part.name, part.arguments_json))


class FakeServices(CallServices):
    """A provider, a journal and a price."""

    def __init__(self, provider: FakeProvider, journal: ReplyJournal | None = None) -> None:
        self.fake = provider
        self.kept = FakeJournal()
        self.written = journal or self.kept
        self.refusal: ProviderError | None = None
        self.steps: list[str] = []
        self.expected: Usage | None = None
        self.refusals: dict[str, RefusedFields] = {}

    def recovered(
        self, request: ProviderRequest, parts: tuple[Part, ...], spec: StackSpec
    ) -> tuple[Part, ...]:
        return parts

    def build(self, effect: CallProvider) -> BuiltCall:
        if self.refusal is not None:
            raise self.refusal
        record = RequestRecord("request", AT, effect.user_message_id, "p", "m", "auto", (), (), 0)
        record = replace(record, estimate=self.expected)
        return BuiltCall(ProviderRequest("p", "m", (), ()), record, "")

    def provider(self, provider_id: str) -> FakeProvider:
        assert provider_id == "p"
        return self.fake

    def journal(self, effect: CallProvider, expected: Usage, factor: float) -> ReplyJournal:
        del effect, expected, factor
        return self.written

    def read_blob(self, spec: StackSpec) -> ReadBlob:
        return lambda sha256: f"{spec.discussion_id}/{sha256}".encode()

    def price(self, provider: str, model: str, usage: Usage) -> float | None:
        del provider, model
        return (usage.input_tokens or 0) / 100

    def reply_tokens(self, spec: StackSpec, texts: Sequence[str]) -> int:
        del spec
        return sum(len(text.split()) for text in texts)

    def refused(self, provider_id: str) -> RefusedFields:
        return self.refusals.setdefault(provider_id, RefusedFields())

    def recounted(self, spec: StackSpec, expected: Usage) -> Usage:
        del spec
        return expected

    def note_usage(self, spec: StackSpec, usage: Usage, texts: Sequence[str]) -> None:
        del spec, texts
        self.steps.append(f"noted {usage.input_tokens}")

    def resent(self, call_id: str, request: ProviderRequest) -> None:
        del request
        self.steps.append(f"resent {call_id}")

    def begun(self, call_id: str) -> None:
        self.steps.append(f"begun {call_id}")

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
        del contents, paid
        self.steps.append(f"ended {call_id} {usage.input_tokens}" + (", kept later" if is_kept_later else ""))
        return CacheReported(spec.discussion_id, None, ProviderTotals("p")) if is_kept_later else None

    def keep(self, discussion_id: str) -> None:
        self.steps.append(f"kept {discussion_id}")


def run(services: FakeServices, *, stops_after: type[Event] | None = None) -> list[Event]:
    """Make one call; all its events up to the one that ends it."""
    inbox: SimpleQueue[Event] = SimpleQueue()
    worker = CallWorker(services, inbox.put)
    worker.begin(EFFECT)
    events: list[Event] = []
    while not events or not isinstance(events[-1], CallEnded | CallFailed):
        events.append(inbox.get(timeout=WAIT_S))
        if isinstance(events[-1], RequestBuilt):
            worker.send("call")
        if stops_after is not None and isinstance(events[-1], stops_after):
            worker.cancel("call")
    worker.stop(WAIT_S)
    return events
