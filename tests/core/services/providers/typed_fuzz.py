"""Vendors' recorded streams with a field of another type, taken through the whole way from the wire to the log.

A stream is recorded once from the vendor's loopback server, changed in one place, and sent again by a transport of the
HTTP client: the vendor's own SDK, our client, the call's worker, the step and the log's format see what came.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2
import msgspec

from core.app.app_messages import Event
from core.kernel.values.discussion import CallPhase
from core.kernel.values.messages import Part, TextPart
from core.kernel.values.provider import ContentsReport, ModelProfile, ProviderRequest, StreamItem
from core.kernel.values.records import RequestRecord
from core.kernel.values.spec import StackSpec
from core.kernel.values.usage import Usage, usage_data
from core.services.providers import failures
from core.services.providers.claude_code.client import ClaudeReader, claude_failure
from core.services.providers.http import run_call
from core.services.providers.protocol import CancelToken, Provider, ReadBlob
from core.services.providers.refused_fields import RefusedFields
from core.services.spending.pricing import cost
from core.talk.context.assembly import BuiltCall
from core.talk.discussion.discussion_export import export_json
from core.talk.discussion.discussion_messages import AppendRecords
from core.talk.discussion.log_codec import ForeignLine, decode, encode
from core.talk.discussion.reply_journal import ReplyHead, ReplyJournal
from core.talk.turn.turn_messages import CallEnded, CallFailed, CallProvider
from core.talk.turn.turn_worker import CallServices, CallWorker
from tests.core.app.playbook import START, Playbook, of
from tests.core.knowledge.harvest.fault_runs import memory_folder
from tests.core.services.providers.outcomes import NO_BLOBS, ask, run, server_settings
from tests.core.services.providers.vendors import VENDORS, Vendor
from tests.patience import PATIENCE_S
from tests.vendors import anthropic_server, compatible_server, gemini_server, openai_server
from tests.vendors.loopback import Rewrite

Path_ = tuple[int | str, ...]

DEEP = "deep"
"""Stands for a list in lists, deeper than any reader goes."""

WRONG: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    5,
    10**30,
    1.5,
    -0.5,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "text",
    "12",
    "a\ud800b\u0000",
    [],
    [5],
    [None],
    {},
    {"a": 1},
    {"type": "text", "text": 5},
    DEEP,
)

REPLIES: Mapping[str, tuple[Any, ...]] = {
    "anthropic": (
        anthropic_server.Said(
            (
                {"type": "thinking", "thinking": "So."},
                {"type": "text", "text": "Hello there."},
                {"type": "tool_use", "name": "read_file", "input": {"a": 1, "b": "c"}},
            ),
            stop_reason="tool_use",
        ),
        anthropic_server.Said(stop_reason="refusal", stop_details={"type": "refusal", "explanation": "No."}),
    ),
    "gemini": (
        gemini_server.Said(
            (
                {"text": "So.", "thought": True},
                {"text": "Hello there."},
                {"functionCall": {"name": "read_file", "args": {"a": 1}}},
            )
        ),
        gemini_server.Said((), block_reason="SAFETY"),
    ),
    "openai": (
        openai_server.Said(
            (
                {"type": "reasoning", "summary": ["So."]},
                {"type": "message", "text": "Hello there."},
                {"type": "function_call", "name": "read_file", "arguments": '{"a":1}'},
            )
        ),
        openai_server.Said(({"type": "message", "refusal": "No."},)),
        openai_server.Said(failed=("server_error", "It broke.")),
        openai_server.Said(incomplete="max_output_tokens"),
    ),
    "compatible": (
        compatible_server.Said(reasoning="So.", calls=(("read_file", '{"a":1}'),), finish="tool_calls"),
        compatible_server.Said(finish="content_filter"),
    ),
}

CLAUDE_LINES: tuple[dict[str, Any], ...] = (
    {"type": "system", "subtype": "init", "tools": [], "model": "opus"},
    {"type": "stream_event", "event": {"type": "message_start", "message": {"usage": {
        "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 5}}}}},
    {"type": "stream_event", "event": {"type": "content_block_start", "content_block": {"type": "thinking"}}},
    {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "So."}}},
    {"type": "stream_event", "event": {"type": "content_block_start", "content_block": {"type": "text"}}},
    {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hello"}}},
    {"type": "assistant", "request_id": "req_1", "error": None, "message": {"content": []}},
    {"type": "stream_event", "event": {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}},
    {"type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "result": "Hello",
     "stop_reason": "end_turn", "total_cost_usd": 0.01, "terminal_reason": "completed", "usage": {
        "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 12}},
)  # fmt: skip

CLAUDE_FAILED: tuple[dict[str, Any], ...] = (
    *CLAUDE_LINES[:2],
    {"type": "assistant", "request_id": "req_1", "error": "rate_limit", "message": {"content": []}},
    {"type": "result", "subtype": "error_during_execution", "is_error": True, "api_error_status": 429,
     "result": "limit reached", "stop_reason": None, "total_cost_usd": 0.0, "usage": {}},
)  # fmt: skip

ERRORS: tuple[tuple[int, dict[str, Any]], ...] = (
    (400, {"error": {"message": "bad", "type": "invalid_request_error", "code": "x", "param": "include"}}),
    (429, {"error": {"message": "slow", "code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}]}}),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}, "request_id": "req_1"}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recording:
    """A vendor's stream, an event an entry, or (with a status of 400 and more) the body of an error."""

    kind: str
    model: str
    events: tuple[dict[str, Any], ...]
    status: int = 200
    content_type: str = ""
    data: bytes | None = None
    """Bytes of a whole answer, where it is sent as it stands and has no events."""

    def places(self) -> list[Path_]:
        """Every value of it: the index of its event, then names and indexes."""
        return [place for n, event in enumerate(self.events) for place in _places(event, (n,))]

    def changed(self, place: Path_, value: Any) -> tuple[Any, ...]:
        """The events with another value at a place."""
        return tuple(_changed(list(self.events), place, value))

    def without(self, place: Path_) -> tuple[Any, ...]:
        """The events without a field."""
        return tuple(_changed(list(self.events), place, ...))

    def wire(self, events: Sequence[Any]) -> bytes:
        """Bytes of these events as the vendor sends them."""
        if self.data is not None:
            return self.data
        texts = [_text(event) for event in events]
        if self.status != 200:
            return texts[0].encode("utf-8", "surrogatepass") if texts else b""
        if self.kind == "claude_code":
            return "\n".join(texts).encode("utf-8", "surrogatepass") + b"\n"
        blocks = [f"{_name(event)}data: {text}\n\n" for event, text in zip(events, texts, strict=True)]
        end = "data: [DONE]\n\n" if self.kind == "compatible" else ""
        return ("".join(blocks) + end).encode("utf-8", "surrogatepass")


def recordings() -> tuple[Recording, ...]:
    """Streams of all vendors, from their loopback servers, and the bodies of their errors."""
    found = [
        Recording(vendor.kind, vendor.model, _recorded(vendor, said))
        for vendor in VENDORS
        for said in REPLIES[vendor.kind]
    ]
    found += [Recording("claude_code", "opus", lines) for lines in (CLAUDE_LINES, CLAUDE_FAILED)]
    found += [
        Recording(vendor.kind, vendor.model, (body,), status) for vendor in VENDORS for status, body in ERRORS
    ]
    return tuple(found)


class Bench:
    """The whole way, for one stream after another. Used by one thread; `close` ends the clients."""

    def __init__(self) -> None:
        self._canned = _Canned()
        self._patches = (
            patch.object(httpx2, "HTTPTransport", lambda **_: self._canned),
            patch.object(
                failures, "retry_wait_s", lambda *_: None
            ),  # what is tried again is not another stream
        )
        for one in self._patches:
            one.start()
        self._clients: dict[str, Provider] = {
            vendor.kind: vendor.at(f"http://127.0.0.1:9{vendor.path}") for vendor in VENDORS
        }
        self._folder = tempfile.TemporaryDirectory(dir=memory_folder())
        book = Playbook().ready()
        self._discussion = book.discussion("fuzz")
        self._call = book.ask(self._discussion, "Hi.")
        self._state = book.state

    def close(self) -> None:
        """Let go of all."""
        for one in self._patches:
            one.stop()
        for client in self._clients.values():
            client.close()
        self._folder.cleanup()

    def problem(self, recording: Recording, events: Sequence[Any]) -> str:
        """Take a stream through. Returns what went wrong, empty where the program stands as it should."""
        self._canned.status, self._canned.data, self._canned.times = (
            recording.status,
            recording.wire(events),
            0,
        )
        self._canned.content_type = recording.content_type
        is_cli = recording.kind == "claude_code"
        client = _ClaudeLines(self._canned) if is_cli else self._clients[recording.kind]
        try:
            wrong = self._through(client, recording)
        except Exception as error:  # noqa: BLE001 - what this looks for
            return f"{type(error).__name__}: {error}"
        return wrong or ("" if self._canned.times else "nobody asked the vendor")

    def _through(self, client: Provider, recording: Recording) -> str:
        book = Playbook(self._state)
        told: list[Event] = []
        over = threading.Event()

        def emit(event: Event) -> None:
            told.append(event)
            if type(event).__name__ == "RequestBuilt":
                worker.send(self._call.call_id)
            if isinstance(event, CallEnded | CallFailed):
                over.set()

        services = _Services(client, recording, Path(self._folder.name))
        worker = CallWorker(services, emit)
        worker.begin(self._call)
        if not over.wait(PATIENCE_S):
            return "the call did not end"
        worker.stop(PATIENCE_S)
        writes = [write for event in told for write in of(book.play(event), AppendRecords)]
        ends = [event for event in told if isinstance(event, CallEnded | CallFailed)]
        if len(ends) != 1 or not writes:
            return f"{len(ends)} ends, {len(writes)} writes"
        for write in writes:
            for record in write.records:
                if isinstance(decode(encode(record), 1), ForeignLine):
                    return f"a record cannot be read again: {record!r}"
            book.append(write)
        for journal in (
            services.opened
        ):  # the reply is in the log; what stays is set aside by the next, in more and more time
            journal.finish()
        return (
            self._judged(book)
            or _own_fault(ends[0])
            or _lost(ends[0], is_priced=recording.kind != "compatible")
        )

    def _judged(self, book: Playbook) -> str:
        phases = {one.phase for one in book.state.turns.calls.values()}
        if phases - {CallPhase.COMPACTING}:  # which nobody does here
            return "the call is still under way"
        opened = book.state.discussions.open[self._discussion]
        for value in (*opened.entries, *filter(None, (opened.failure, opened.usage))):
            msgspec.convert(msgspec.to_builtins(value), type(value))
        json.dumps(usage_data(opened.usage), allow_nan=False)
        export_json(book.state.discussions.summaries[self._discussion].meta, opened)
        figures = [v for v in usage_data(opened.usage).values() if isinstance(v, int | float)]
        return "a negative figure" if any(value < 0 for value in figures) else ""


def _lost(end: CallEnded | CallFailed, *, is_priced: bool) -> str:
    """Words for a reply that came and is not paid: it has a figure, the server's or ours; without a price it may stay unknown."""
    has_text = any(isinstance(part, TextPart) and part.text.strip() for part in end.parts)
    usage = end.usage
    is_unknown = usage.output_tokens is None and not is_priced
    is_booked = usage.output_tokens or usage.cost_usd or usage.is_estimate or is_unknown
    return "a reply came, and nothing is booked for it" if has_text and not is_booked else ""


def _own_fault(end: CallEnded | CallFailed) -> str:
    """A vendor's fault must be told as one: an error of ours behind it is what the door is there for."""
    what = end.failure.what if isinstance(end, CallFailed) else ""
    return what if "The program failed" in what else ""


class _Canned(httpx2.BaseTransport):
    """Answers every request with the same bytes, and counts them: what never reached a vendor's client tried nothing."""

    def __init__(self) -> None:
        self.status, self.data, self.times, self.content_type = 200, b"", 0, ""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.times += 1
        if (trace := request.extensions.get("trace")) is not None:
            trace("http11.send_request_body.started", {})
            trace("http11.receive_response_headers.complete", {})
        usual = "text/event-stream" if self.status == 200 else "application/json"
        kind = self.content_type or usual
        return httpx2.Response(
            self.status, headers={"content-type": kind}, content=self.data, request=request
        )


class _ClaudeLines:
    """The CLI's reader over its lines, without its process."""

    def __init__(self, canned: _Canned) -> None:
        self._canned = canned

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        return run_call(self._read, cancel, is_sent=True)

    def _read(self) -> Iterator[StreamItem]:
        self._canned.times += 1
        reader = ClaudeReader()
        for line in self._canned.data.decode("utf-8", "replace").split("\n"):
            yield from reader.read(line)
            if reader.stop is not None:
                yield reader.stop
                return
        raise claude_failure(server_settings("claude_code"), reader, "exit code 1", model="opus", key=None)

    def list_models(self) -> tuple[ModelProfile, ...]:
        return ()

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        return None

    def close(self) -> None:
        """Nothing is held."""


class _Services(CallServices):
    """The outside of a call: a client, a journal on disk, prices."""

    def __init__(self, client: Provider, recording: Recording, folder: Path) -> None:
        self.client, self.recording, self.folder = client, recording, folder
        self.paid: list[Usage] = []
        self.opened: list[ReplyJournal] = []

    def build(self, effect: CallProvider) -> BuiltCall:
        record = RequestRecord("request", START, effect.user_message_id, "p", "m", "auto", (), (), 0)
        return BuiltCall(ask(self.recording.model), record, "")

    def provider(self, provider_id: str) -> Provider:
        return self.client

    def journal(self, effect: CallProvider, expected: Usage, factor: float) -> ReplyJournal:
        directory = self.folder / "discussions" / effect.spec.discussion_id
        directory.mkdir(parents=True, exist_ok=True)
        head = ReplyHead(effect.reply_id, START, "p", "m")
        journal = ReplyJournal(self.folder, effect.spec.discussion_id, lambda: head)
        self.opened.append(journal)
        return journal

    def refused(self, provider_id: str) -> RefusedFields:
        return RefusedFields()

    def recovered(
        self, request: ProviderRequest, parts: tuple[Part, ...], spec: StackSpec
    ) -> tuple[Part, ...]:
        del request, spec
        return parts

    def read_blob(self, spec: StackSpec) -> ReadBlob:
        return NO_BLOBS

    def price(self, provider: str, model: str, usage: Usage) -> float | None:
        kind = self.recording.kind.replace("claude_code", "anthropic")
        return cost(kind, self.recording.model, usage, START)

    def reply_tokens(self, spec: StackSpec, texts: Sequence[str]) -> int:
        return sum(len(text.split()) for text in texts)

    def recounted(self, spec: StackSpec, expected: Usage) -> Usage:
        return expected

    def note_usage(self, spec: StackSpec, usage: Usage, texts: Sequence[str]) -> None:
        self.paid.append(usage)

    def resent(self, call_id: str, request: ProviderRequest) -> None:
        """Nothing is cached."""

    def begun(self, call_id: str) -> None:
        """Nobody waits for it."""

    def ended(
        self,
        call_id: str,
        spec: StackSpec,
        usage: Usage,
        contents: ContentsReport | None,
        paid: Usage,
        *,
        is_kept_later: bool,
    ) -> None:
        self.paid.append(paid)

    def keep(self, discussion_id: str) -> None:
        """Nothing is known of a cache."""


def random_change(recording: Recording, chance: random.Random) -> tuple[Any, ...]:
    """The events with one to three changes: a value of another type, a field too few or too many, an event twice."""
    events: tuple[Any, ...] = recording.events
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        current = Recording(recording.kind, recording.model, events, recording.status)
        places = current.places()
        if not places:
            return events
        place = chance.choice(places)
        match chance.randrange(10):
            case 0:
                events = current.without(place)
            case 1:
                events = (*events, chance.choice(events)) if recording.status == 200 else events
            case 2:
                events = current.changed((*place, "unknown"), chance.choice(WRONG))
            case _:
                events = current.changed(place, chance.choice(WRONG))
        events = tuple(event for event in events if isinstance(event, dict)) or events
    return events


def _recorded(vendor: Vendor, said: Any) -> tuple[dict[str, Any], ...]:
    parts: list[bytes] = []

    def keep(part: bytes) -> bytes:
        parts.append(part)
        return part

    with vendor.make_server() as server:
        server.replies.append(said)  # type: ignore[attr-defined]
        server.faults.append(Rewrite(keep))
        run(vendor.client(server), ask(vendor.model))
    lines = [
        line.removeprefix(b"data: ") for line in b"".join(parts).split(b"\n") if line.startswith(b"data: ")
    ]
    return tuple(json.loads(line) for line in lines if line != b"[DONE]")


def _places(value: Any, at: Path_) -> Iterator[Path_]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in inner:
        yield from _places(child, (*at, name))


def _changed(value: Any, place: Path_, new: Any) -> Any:
    if not place:
        return new
    name, rest = place[0], place[1:]
    if isinstance(value, dict):
        copy = dict(value)
        if new is ... and not rest:
            copy.pop(name, None)
        else:
            copy[str(name)] = _changed(value.get(name), rest, new)
        return copy
    if isinstance(value, list) and isinstance(name, int) and name < len(value):
        if new is ... and not rest:
            return [*value[:name], *value[name + 1 :]]
        return [*value[:name], _changed(value[name], rest, new), *value[name + 1 :]]
    return value


def _text(value: Any) -> str:
    return json.dumps(value).replace(f'"{DEEP}"', "[" * 20_000 + "]" * 20_000)


def _name(event: Any) -> str:
    kind = event.get("type") if isinstance(event, dict) else None
    return f"event: {kind}\n" if isinstance(kind, str) and kind.isprintable() else ""


@contextmanager
def bench() -> Iterator[Callable[[Recording, Sequence[Any]], str]]:
    """What takes a stream through the whole way and says what went wrong."""
    made = Bench()
    try:
        yield made.problem
    finally:
        made.close()
