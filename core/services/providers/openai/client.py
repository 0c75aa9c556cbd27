"""OpenAI's Responses API through its SDK, also for servers that leave out deltas, and its Batches.

The requests of a batch are a file that is uploaded, the tag is in the batch's metadata and the file's name.
Source: openai 3.51.0, resources/batches.py and resources/files.py; platform.openai.com "Batch API" (read 2026-11).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from core.kernel.codecs import canonical_json, to_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.queue import Lazy
from core.kernel.values.messages import ToolCallPart
from core.kernel.values.provider import (
    ModelProfile,
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.services.providers.attachments import sent_json
from core.services.providers.batches import (
    MOST_LISTED,
    AnswerKind,
    BatchAnswer,
    BatchRequest,
    BatchStatus,
    FoundBatch,
    rows_of,
    sound_answers,
    unless_gone,
)
from core.services.providers.door import MOST_MODELS, day_of, figure, text_of, word_of
from core.services.providers.endings import stop_at
from core.services.providers.failures import provider_error
from core.services.providers.http import no_attachments, plain_address, run_call, sensible, warmed
from core.services.providers.openai.body import (
    OPTIONS,
    miss_reason,
    prewarm_body,
    prompt,
    responses_body,
    without_cache_fields,
)
from core.services.providers.openai.sdk import (
    CALL_OPTIONS,
    DONE,
    OPENAI_URL,
    done_stream,
    failure,
    openai_client,
    sdk_error,
    sdk_failures,
    stop_of,
    usage_of,
)
from core.services.providers.profiles import find_profile
from core.services.providers.protocol import CancelToken, LastIds, ReadBlob
from core.services.providers.refused_fields import RefusedFields
from core.services.providers.switches import declared_tools
from core.services.providers.wire import plain_arguments, plain_name

if TYPE_CHECKING:
    import openai
    from openai.types.batch import Batch

TAG = "manual_slop"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_KINDS = {"batch_expired": AnswerKind.EXPIRED, "batch_cancelled": AnswerKind.CANCELLED}
_OK, _BAD_REQUEST = 200, 400
_PER_PAGE = 100


class OpenAiBatches:
    """See `Batches`.

    Args:
        calling: gives the SDK's client for a path and a model, and makes ProviderErrors of its failures.
        body: of a request, as `responses.create` takes it, without a stream.
    """

    most_requests = 10_000
    """The vendor takes 50,000; a smaller batch ends sooner."""
    most_bytes = 50_000_000
    """The vendor takes 200 MB of file, in which text is escaped."""
    ends_within = timedelta(hours=24)

    def __init__(
        self,
        calling: Callable[..., AbstractContextManager[openai.OpenAI]],
        body: Callable[[ProviderRequest], dict[str, Any]],
    ) -> None:
        self._calling, self._body = calling, body

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """See `Batches.submit`."""
        model = requests[0].request.model
        lines = b"".join(to_json(self._line(one)) + b"\n" for one in requests)
        with self._calling("/files", model) as client:
            file = client.files.create(file=(_file_name(tag), lines), purpose="batch")
        with self._calling("/batches", model) as client:
            return _status(
                client.batches.create(
                    completion_window="24h",
                    endpoint="/v1/responses",
                    input_file_id=file.id,
                    metadata={TAG: tag},
                )
            )

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """See `Batches.find`."""
        del count, known  # the tag is in the list
        with self._calling("/batches") as client:
            for batch in islice(client.batches.list(limit=_PER_PAGE), MOST_LISTED):
                if (batch.metadata or {}).get(TAG) == tag:
                    return FoundBatch(text_of(batch.id))
                if datetime.fromtimestamp(batch.created_at, UTC) < since:
                    break
        return FoundBatch()

    def status(self, name: str) -> BatchStatus | None:
        """See `Batches.status`."""
        batch = self._retrieved(name)
        return None if batch is None else _status(batch)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """See `Batches.answers`. They are in two files: one of answers, one of errors."""
        return sound_answers(self._answers(name))

    def cancel(self, name: str) -> None:
        """See `Batches.cancel`."""
        with self._calling(f"/batches/{name}/cancel") as client:
            client.batches.cancel(name)

    def clean(self, tag: str, name: str) -> None:
        """See `Batches.clean`. The upload is found by its name, too: it may be there without a batch."""
        batch = self._retrieved(name) if name else None
        files = [] if batch is None else [batch.input_file_id, batch.output_file_id, batch.error_file_id]
        if batch is None:
            with self._calling("/files") as client:
                listed = islice(client.files.list(purpose="batch", order="desc"), MOST_LISTED)
                files = [file.id for file in listed if file.filename == _file_name(tag)]
        for file_id in filter(None, files):
            unless_gone(partial(self._delete, file_id))

    def _delete(self, file_id: str) -> None:
        with self._calling(f"/files/{file_id}") as client:
            client.files.delete(file_id)

    def _retrieved(self, name: str) -> Batch | None:
        def ask() -> Batch:
            with self._calling(f"/batches/{name}") as client:
                return client.batches.retrieve(name)

        return unless_gone(ask)

    def _answers(self, name: str) -> Generator[BatchAnswer]:
        batch = self._retrieved(name)
        if batch is None:
            return
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            with closing(self._lines(file_id)) as lines:
                yield from lines

    def _lines(self, file_id: str) -> Generator[BatchAnswer]:
        with (
            self._calling(f"/files/{file_id}/content") as client,
            client.files.with_streaming_response.content(file_id) as response,
        ):
            yield from rows_of(response.iter_lines(), _answer)

    def _line(self, one: BatchRequest) -> dict[str, Any]:
        return {
            "custom_id": one.custom_id,
            "method": "POST",
            "url": "/v1/responses",
            "body": self._body(one.request),
        }


def _file_name(tag: str) -> str:
    return f"{tag}.jsonl"


def _status(batch: Batch) -> BatchStatus:
    reason = ""
    if batch.status == "failed":
        faults = (batch.errors.data if batch.errors is not None else None) or []
        reason = text_of(faults[0].message) if faults else tr("the provider gives no reason")
    is_expired = batch.status == "expired"
    counts = batch.request_counts
    return BatchStatus(
        name=text_of(batch.id),
        is_ended=batch.status in _ENDED,
        is_expired=is_expired,
        reason=reason,
        answered=None if counts is None else counts.completed,
        worked_off=0 if counts is None else counts.completed + counts.failed,
    )


def _answer(row: dict[str, Any]) -> BatchAnswer:
    custom_id, error = row["custom_id"], row.get("error")
    if error:
        kind = _KINDS.get(word_of(error.get("code")), AnswerKind.ERRORED)
        return BatchAnswer(custom_id=custom_id, kind=kind, reason=text_of(error.get("message")))
    response: dict[str, Any] = row["response"]
    status, body = response["status_code"], response["body"]
    if status != _OK:
        reason = text_of((body.get("error") or {}).get("message"))
        return BatchAnswer(
            custom_id=custom_id, kind=AnswerKind.ERRORED, reason=reason, is_refused=status == _BAD_REQUEST
        )
    return _answered(custom_id, body, text_of(response.get("request_id")))


def _answered(custom_id: str, body: dict[str, Any], request_id: str) -> BatchAnswer:
    from openai.types.responses.response import Response

    reply: Any = Response.construct(**body)
    usage = usage_of(reply.usage, request_id)
    if reply.status == "failed":
        reason = text_of(getattr(reply.error, "message", ""))
        return BatchAnswer(
            custom_id=custom_id, kind=AnswerKind.ERRORED, usage=usage, reason=reason, is_billed=True
        )
    parts = [part for item in reply.output if item.type == "message" for part in item.content]
    has_refused = any(part.type == "refusal" for part in parts)
    stop = stop_of(reply, has_calls=False, has_refused=has_refused).kind
    text = "".join(text_of(part.text) for part in parts if part.type == "output_text")
    reason = (
        tr("{model} refused to read the conversation", model=text_of(reply.model))
        if stop is StopKind.REFUSED
        else ""
    )
    return BatchAnswer(
        custom_id=custom_id,
        kind=AnswerKind.ANSWERED,
        text=text,
        usage=usage,
        stop=stop,
        reason=reason,
        is_billed=True,
    )


# OpenAI's Responses API through its SDK, and the reader of its stream, for servers that leave out deltas as
# well.

# Reader of a Responses stream: OpenAI's own, and those of servers that leave out deltas, ends of items, or
# all but the end.


class ResponseReader:
    """Reads events. What stands in several of them is told once: text by its deltas, a call when it is whole.

    Args:
        tools: names that were offered.

    Attributes:
        has_begun: whether any event came; has_calls, has_refused: of what was read.
    """

    def __init__(self, tools: Collection[str] = ()) -> None:
        self.has_begun = self.has_calls = self.has_refused = False
        self._tools = tools
        self._has_text = self._has_part = False
        self._open: dict[object, Any] = {}
        """Calls that were begun, by their place, with the arguments so far."""
        self._arguments: dict[object, str] = {}
        self._called: set[str] = set()

    def read(self, event: Any) -> Iterator[StreamItem]:
        """Items of an event; the end itself is the caller's."""
        self.has_begun = True
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta":
                self.has_refused |= event.type == "response.refusal.delta"
                yield from self._text(event.delta)
            case "response.output_text.done" | "response.refusal.done":
                text = getattr(event, "text", None) or getattr(event, "refusal", None)
                if not self._has_part and isinstance(text, str) and text:
                    self.has_refused |= event.type == "response.refusal.done"
                    yield from self._text(text)
                self._has_part = False
            case "response.output_item.added":
                if event.item.type == "message" and self._has_text:
                    yield TextDelta("\n\n")
                elif event.item.type == "function_call":
                    self._open[_place(event)] = event.item
            case "response.function_call_arguments.delta":
                self._arguments[_place(event)] = self._arguments.get(_place(event), "") + event.delta
            case "response.function_call_arguments.done":
                self._arguments[_place(event)] = event.arguments
            case "response.output_item.done":
                yield from self._item(event.item, _place(event))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield ReasoningDelta(event.delta)
            case "response.reasoning_summary_part.added" if event.summary_index > 0:
                yield ReasoningDelta("\n\n")
            case _:
                pass

    def end(self, response: Any = None) -> Iterator[StreamItem]:
        """Items that only the whole response holds, and calls whose end never came."""
        for place, item in tuple(self._open.items()):
            yield from self._item(item, place)
        output = getattr(response, "output", None)
        for item in output if isinstance(output, list) else ():
            kind = getattr(item, "type", "")
            if kind == "function_call":
                yield from self._item(item, None)
            elif kind == "message" and not self._has_text and not self.has_calls:
                for part in item.content or ():
                    self.has_refused |= getattr(part, "type", "") == "refusal"
                    text = getattr(part, "text", None) or getattr(part, "refusal", None)
                    if isinstance(text, str) and text:
                        yield TextDelta(text)

    def _text(self, text: str) -> Iterator[StreamItem]:
        self._has_text = self._has_part = True
        yield TextDelta(text)

    def _item(self, item: Any, place: object) -> Iterator[StreamItem]:
        """An item that is whole."""
        if item.type == "reasoning" and getattr(item, "encrypted_content", None):
            block = item.model_dump(mode="json", warnings=False, exclude_none=True, exclude={"status"})
            yield ReasoningDelta("", canonical_json(block))
        if item.type != "function_call":
            return
        self._open.pop(place, None)
        collected = self._arguments.pop(place, "")
        if item.call_id in self._called:
            return
        self._called.add(item.call_id)
        self.has_calls = True
        name = plain_name(item.name, self._tools)
        given = "" if (item.arguments or "").strip() == "{}" else item.arguments
        arguments = plain_arguments(given or collected, name)  # LM Studio tells none in the item
        yield ToolCallReady(ToolCallPart(call_id=item.call_id, name=name, arguments_json=arguments))


def _place(event: Any) -> object:
    """The place of an item: its index, its id where servers count none."""
    index = getattr(event, "output_index", None)
    item = getattr(event, "item", None)
    return index if index is not None else getattr(event, "item_id", None) or getattr(item, "id", None)


# OpenAI's Responses API through its SDK.

if TYPE_CHECKING:
    import openai

_SPEAKS = re.compile(r"^(gpt-|o\d|chatgpt-|ft:gpt-|codex-)")
_MUTE = re.compile(r"audio|realtime|transcribe|tts|image|search|instruct|embedding|live|moderation")

_OPTIONAL: Mapping[str, Callable[[dict[str, Any]], object]] = {
    "reasoning.summary": lambda body: body["reasoning"].pop("summary", None),
    "include": lambda body: body.pop("include", None),
    OPTIONS: without_cache_fields,
    "prompt_cache_key": lambda body: body.pop("prompt_cache_key", None),
}
"""Fields that a model or an account may refuse: summaries need a verified organization. Left out once refused."""


class OpenAiProvider:
    """Client of the Responses API. Thread-safe; the SDK is imported at the first call.

    Args:
        models: known profiles; those of other providers are passed over.
        refused: as of `CompatibleProvider`.
    """

    def __init__(
        self,
        server: ServerSettings,
        key: str | None,
        models: Sequence[ModelProfile] = (),
        *,
        refused: RefusedFields | None = None,
    ) -> None:
        self._server = server
        self._key = key
        self._models = tuple(models)
        self._sdk: Lazy[openai.OpenAI] = Lazy(self._make_client, lambda client: client.close())
        self._refused = refused or RefusedFields()
        self._last_ids = LastIds()

    @property
    def base_url(self) -> str:
        """Address of requests: the settings, else the SDK's own variable, else OpenAI."""
        return self._server.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """Send a request and yield what comes back; see `Provider.stream`."""
        self._require_key()
        return run_call(lambda: self._run(request, read_blob), cancel)

    def prewarm(self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken) -> Usage | None:
        """See `Prewarms.prewarm`. Only models with breakpoints."""
        self._require_key()
        body = prewarm_body(responses_body(request, self._profile(request.model), read_blob))
        if body is None or cancel.is_cancelled:
            return None
        return warmed(run_call(lambda: self._warm(body), cancel))

    def list_models(self) -> tuple[ModelProfile, ...]:
        """The models of this account that hold a conversation; the list says their names and when they end."""
        self._require_key()
        ends = self._ask(
            "/models",
            lambda client: {
                text_of(model.id): day_of(model.shutdown_date)
                for model in islice(client.models.list(), MOST_MODELS)
            },
        )
        spoken = sorted(i for i in ends if _SPEAKS.match(i) and not _MUTE.search(i))
        return tuple(
            ModelProfile(provider=self._server.id, id=i, from_server=True, ends_on=ends[i]) for i in spoken
        )

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """Input tokens by the vendor's free endpoint."""
        self._require_key()
        body = prompt(request, self._profile(request.model), read_blob)
        body["model"] = request.model
        count = self._ask(
            "/responses/input_tokens",
            lambda client: client.responses.input_tokens.count(**body),
            request.model,
        )
        return figure(count.input_tokens)

    def batches(self) -> OpenAiBatches:
        """See `HasBatches.batches`."""
        return OpenAiBatches(self._calling, self._batch_body)

    def close(self) -> None:
        """Release connections."""
        self._sdk.close()

    def _profile(self, model: str) -> ModelProfile:
        return find_profile(self._models, self._server.id, model, kind=self._server.kind)

    def _require_key(self) -> None:
        if not self._key:
            raise provider_error(
                FailureKind.NO_KEY,
                self._server,
                remedy=tr("Set OPENAI_API_KEY, or store a key on the settings page"),
            )

    def _make_client(self) -> openai.OpenAI:
        return openai_client(self._server, self._key, self.base_url, is_vendor=True)

    def _ask(self, path: str, call: Callable[[openai.OpenAI], Any], model: str = "") -> Any:
        """One answer without a stream, its failures translated."""
        with self._calling(path, model) as client:
            return call(client)

    @contextmanager
    def _calling(self, path: str, model: str = "") -> Iterator[openai.OpenAI]:
        """The SDK's client, its failures translated."""
        self._require_key()
        client = self._sdk.get()
        try:
            yield client
        except sdk_failures() as error:
            raise self._translate(error, path, model, has_begun=False) from error

    def _batch_body(self, request: ProviderRequest) -> dict[str, Any]:
        body = responses_body(request, self._profile(request.model), no_attachments)
        del body["stream"]
        return body

    def _body(self, request: ProviderRequest, read_blob: ReadBlob) -> dict[str, Any]:
        """The body, with the question why less is read than the discussion's last reply left there."""
        body = responses_body(request, self._profile(request.model), read_blob)
        last = self._last_ids.get(request.discussion_id)
        if OPTIONS in body and last and request.cache is not None and request.cache.is_enabled:
            body[OPTIONS]["comparison_response_id"] = last
        return body

    def _warm(self, body: dict[str, Any]) -> Iterator[StreamItem]:
        from openai.types.responses.response import Response

        answer = self._ask(
            "/responses",
            lambda client: client.post(
                "/responses", content=sent_json(body), options=CALL_OPTIONS, cast_to=Response
            ),
            str(body["model"]),
        )
        if answer.usage is not None:
            yield UsageUpdate(usage_of(answer.usage, answer.id))  # what takes a prewarm has a cache
        yield Stopped(kind=StopKind.COMPLETED)

    def _run(self, request: ProviderRequest, read_blob: ReadBlob) -> Iterator[StreamItem]:
        body, has_begun = self._body(request, read_blob), False
        try:
            stream = self._open(body)
            has_begun = True
            del body  # what arrives is kept: it shall not lie between what goes
            with stream:
                heard = sensible(stream, _is_known, self._server)
                tools = frozenset(tool.name for tool in declared_tools(request))
                yield from self._read(stream, heard, request.model, request.discussion_id, tools)
        except sdk_failures() as error:
            raise self._translate(error, "/responses", request.model, has_begun=has_begun) from error

    def _open(self, body: dict[str, Any]) -> Any:
        """Send the body; without an optional field where this model has refused it. Returns a `done_stream`."""
        import openai
        from openai.types.responses.response import Response
        from openai.types.responses.response_stream_event import ResponseStreamEvent

        model = str(body["model"])
        learned: frozenset[str] = frozenset()
        while True:
            refused = self._refused.of(model) | learned
            for param, leave_out in _OPTIONAL.items():
                if param in refused:
                    leave_out(body)
            try:
                stream = self._sdk.get().post(
                    "/responses",
                    content=sent_json(body),
                    options=CALL_OPTIONS,
                    cast_to=Response,
                    stream=True,
                    stream_cls=done_stream(ResponseStreamEvent),
                )
            except openai.BadRequestError as error:
                name = _optional_field(error)
                if name not in _OPTIONAL or name in refused:
                    raise
                learned |= {name}
            else:
                self._refused.keep(model, learned)
                return stream

    def _translate(self, error: Exception, path: str, model: str, *, has_begun: bool) -> ProviderError:
        url = plain_address(self.base_url) + path
        return sdk_error(error, self._server, model=model, url=url, key=self._key, has_begun=has_begun)

    def _read(
        self, stream: Any, heard: Iterator[Any], model: str, discussion_id: str, tools: Collection[str]
    ) -> Iterator[StreamItem]:
        request_id = stream.response.headers.get("x-request-id", "")
        reader = ResponseReader(tools)
        for event in heard:
            match event.type:
                case "error":
                    raise self._stream_failure(event.message, event.code, model, request_id)
                case "response.failed":
                    code, message = _response_error(event.response)
                    raise self._stream_failure(message, code, model, request_id)
                case "response.completed" | "response.incomplete":
                    self._last_ids.put(discussion_id, event.response.id)
                    if event.response.usage is not None:
                        why = miss_reason(getattr(event.response, "prompt_cache_diagnostics", None))
                        has_cache = "prompt_cache_key" not in self._refused.of(model)
                        usage = usage_of(
                            event.response.usage, request_id or event.response.id, has_cache=has_cache
                        )
                        yield UsageUpdate(replace(usage, miss_reason=why))
                    yield from reader.end(event.response)
                    yield stop_of(event.response, has_calls=reader.has_calls, has_refused=reader.has_refused)
                    return
                case _:
                    yield from reader.read(event)
        if stream.is_done and reader.has_begun:
            yield from reader.end()
            yield stop_at(DONE, has_calls=reader.has_calls, has_refused=reader.has_refused)
            return
        kind = FailureKind.STREAM_DROPPED if _is_event_stream(stream) else FailureKind.BAD_REPLY
        raise provider_error(kind, self._server, url=self.base_url, key=self._key, request_id=request_id)

    def _stream_failure(self, message: object, code: object, model: str, request_id: str) -> ProviderError:
        return failure(
            self._server,
            message=message,
            code=code,
            request_id=request_id,
            model=model,
            url=plain_address(self.base_url) + "/responses",
            key=self._key,
        )


def _is_known(event: Any) -> bool:
    kind = getattr(event, "type", None)
    return isinstance(kind, str) and (kind.startswith("response.") or kind in {"error", "keepalive"})


def _optional_field(error: openai.BadRequestError) -> str:
    """The field that a server refused, one for all that belongs to breakpoints."""
    param = error.param or ""
    return OPTIONS if "prompt_cache_options" in param or "prompt_cache_breakpoint" in param else param


def _response_error(response: Any) -> tuple[object, object]:
    error = response.error
    return ("server_error", tr("no reason given")) if error is None else (error.code, error.message)


def _is_event_stream(stream: openai.Stream[Any]) -> bool:
    return "text/event-stream" in stream.response.headers.get("content-type", "")
