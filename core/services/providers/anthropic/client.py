"""Anthropic's client: streams over the official SDK, usage and failures in our one meaning, and Message Batches.

A batch has no name of ours there: the tag is in each request's `custom_id`.
Source: anthropic 2.10.0, resources/messages/batches.py; platform.claude.com "Batch processing" (read 2026-11).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.queue import Lazy
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    StopKind,
    Stopped,
    StreamItem,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.wire import (
    add_blank_thinking,
    betas_of,
    is_known,
    merge_usage,
    prewarm_body,
    reply_items,
    request_body,
    stop_of,
)
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
from core.services.providers.door import FOREIGN, MOST_MODELS, day_of, figure, text_of
from core.services.providers.failures import (
    checked_key,
    kind_of_status,
    provider_error,
    redirect_error,
    retry_after_s,
    transport_error,
)
from core.services.providers.http import (
    http_client,
    no_attachments,
    plain_address,
    run_call,
    sensible,
    warmed,
)
from core.services.providers.profiles import find_profile
from core.services.providers.protocol import CancelToken, LastIds, ReadBlob
from core.services.providers.server_words import (
    ServerWords,
    is_reasoning_missed,
    meaning,
    remedy_of,
    words_of,
)
from core.services.providers.switches import declared_tools

if TYPE_CHECKING:
    import anthropic
    from anthropic.types.messages import MessageBatch

_PATH = "v1/messages/batches"
_PER_PAGE = 100
_KINDS = {
    "succeeded": AnswerKind.ANSWERED,
    "canceled": AnswerKind.CANCELLED,
    "expired": AnswerKind.EXPIRED,
}


class AnthropicBatches:
    """See `Batches`.

    Args:
        client: the SDK's; failures: makes ProviderErrors of its own; body: of a request, as `messages.create` takes it.
    """

    most_requests = 10_000
    """The vendor takes 100,000; a smaller batch ends sooner."""
    most_bytes = 100_000_000
    """The vendor takes 256 MB with everything around the prompts."""
    ends_within = timedelta(hours=24)

    def __init__(
        self,
        client: Callable[[], anthropic.Anthropic],
        failures: Callable[[str, str], AbstractContextManager[object]],
        body: Callable[[ProviderRequest], dict[str, Any]],
    ) -> None:
        self._client, self._failures, self._body = client, failures, body

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """See `Batches.submit`."""
        client, model = self._client(), requests[0].request.model
        sent: list[Any] = [
            {"custom_id": one.custom_id, "params": self._body(one.request)} for one in requests
        ]
        with self._failures(model, _PATH):
            return _status(client.messages.batches.create(requests=sent))

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """See `Batches.find`. What works still tells no `custom_id`: one of the same size may be it."""
        client = self._client()
        is_unsure = False
        with self._failures("", _PATH):
            for batch in islice(client.messages.batches.list(limit=_PER_PAGE), MOST_LISTED):
                if _made_at(batch) < since:
                    break
                if batch.id in known or _count(batch) != count:
                    continue
                if batch.processing_status != "ended":
                    is_unsure = True
                elif self._has_tag(batch, tag):
                    return FoundBatch(text_of(batch.id))
        return FoundBatch(is_unsure=is_unsure)

    def status(self, name: str) -> BatchStatus | None:
        """See `Batches.status`."""
        client = self._client()

        def ask() -> BatchStatus:
            with self._failures("", f"{_PATH}/{name}"):
                return _status(client.messages.batches.retrieve(name))

        return unless_gone(ask)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """See `Batches.answers`."""
        return sound_answers(self._answers(name))

    def cancel(self, name: str) -> None:
        """See `Batches.cancel`."""
        client = self._client()
        with self._failures("", f"{_PATH}/{name}/cancel"):
            client.messages.batches.cancel(name)

    def clean(self, tag: str, name: str) -> None:
        """See `Batches.clean`."""
        del tag
        client = self._client()

        def ask() -> None:
            with self._failures("", f"{_PATH}/{name}"):
                client.messages.batches.delete(name)

        if name:
            unless_gone(ask)

    def _answers(self, name: str) -> Generator[BatchAnswer]:
        from anthropic.types.messages import MessageBatchIndividualResponse

        client = self._client()
        with self._failures("", f"{_PATH}/{name}"):
            if not client.messages.batches.retrieve(name).results_url:
                return  # the SDK raises an error of its own for it, which is no failure of a request
        with (
            self._failures("", f"{_PATH}/{name}/results"),
            client.messages.batches.with_streaming_response.results(name) as response,
        ):
            yield from rows_of(
                response.iter_lines(), lambda row: _answer(MessageBatchIndividualResponse.construct(**row))
            )

    def _has_tag(self, batch: MessageBatch, tag: str) -> bool:
        if not batch.results_url:
            return False
        with closing(self._answers(batch.id)) as answers:
            first = next((one for one in answers if one.kind is not AnswerKind.TORN), None)
        return first is not None and first.custom_id.startswith(f"{tag}-")


def _status(batch: MessageBatch) -> BatchStatus:
    is_ended = batch.processing_status == "ended"
    counts = batch.request_counts
    return BatchStatus(
        name=text_of(batch.id),
        is_ended=is_ended,
        is_gone=batch.archived_at is not None,
        answered=counts.succeeded if is_ended else None,
        has_every_row=is_ended,
        worked_off=_count(batch) - counts.processing,
    )


def _made_at(batch: MessageBatch) -> datetime:
    made: object = batch.created_at
    if not isinstance(made, datetime):
        return datetime.max.replace(tzinfo=UTC)
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _count(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _answer(row: Any) -> BatchAnswer:
    result = row.result
    kind = _KINDS.get(text_of(result.type), AnswerKind.ERRORED)
    if kind is AnswerKind.ANSWERED:
        message = result.message
        blocks = [block.text for block in message.content if block.type == "text"]
        text = "".join(map(text_of, blocks))
        usage, stop = merge_usage(Usage(), message.usage), stop_of(message)
        reason = (
            tr("{model} refused to read the conversation", model=message.model)
            if stop is StopKind.REFUSED
            else ""
        )
        return BatchAnswer(
            custom_id=row.custom_id,
            kind=kind,
            text=text,
            usage=usage,
            stop=stop,
            reason=reason,
            is_billed=True,
        )
    if kind is AnswerKind.ERRORED:
        fault = result.error.error
        is_refused = text_of(fault.type) == "invalid_request_error"
        return BatchAnswer(
            custom_id=row.custom_id, kind=kind, reason=text_of(fault.message), is_refused=is_refused
        )
    return BatchAnswer(
        custom_id=row.custom_id,
        kind=kind,
        reason=tr("the provider reports the state {state} for this request", state=kind.value),
    )


# Anthropic's client: streams over the official SDK, usage and failures in our one meaning.

if TYPE_CHECKING:
    import anthropic
    from anthropic._types import RequestOptions
    from anthropic.types import ModelInfo, RawMessageStreamEvent

KEY_VARIABLE = "ANTHROPIC_API_KEY"
URL_VARIABLE = "ANTHROPIC_BASE_URL"
MODELS_PER_PAGE = 1000

_KIND_OF_TYPE: Mapping[str, FailureKind] = {
    "authentication_error": FailureKind.BAD_KEY,
    "billing_error": FailureKind.NO_QUOTA,
    "permission_error": FailureKind.FORBIDDEN,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "request_too_large": FailureKind.REQUEST_TOO_LARGE,
    "timeout_error": FailureKind.TIMED_OUT,
    "api_error": FailureKind.SERVER_FAULT,
    "overloaded_error": FailureKind.OVERLOADED,
}
"""Source: anthropic 2.10.0, types/shared/error_type.py; platform.claude.com "Errors" (read 2026-11)."""

_NO_QUOTA = re.compile(
    r"(?i)credit balance is too low|usage limits?|spend_limit_reached|billing_unavailable|not_billable"
)


class AnthropicProvider:
    """Speaks to Anthropic, or to whatever keeps its protocol at `base_url` or `ANTHROPIC_BASE_URL`."""

    def __init__(self, server: ServerSettings, key: str | None, models: Sequence[ModelProfile] = ()) -> None:
        self._server = server
        self._key = key
        self._models = tuple(models)
        self._client = Lazy(self._connect, _release)
        self._last_ids = LastIds()
        self._takes_diagnostics = True
        self._wants_thinking: set[str] = set()

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """See `Provider.stream`."""
        return run_call(lambda: self._produce(request, read_blob), cancel)

    def prewarm(self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken) -> Usage | None:
        """See `Prewarms.prewarm`. Models with a thinking budget cannot: the vendor refuses it."""
        body = prewarm_body(request_body(request, self._profile(request.model), read_blob))
        if body is None or cancel.is_cancelled:
            return None
        return warmed(run_call(lambda: self._warm(request.model, body), cancel))

    def list_models(self) -> tuple[ModelProfile, ...]:
        """See `Provider.list_models`. What the server says of windows, pictures and effort is taken over."""
        client = self._client.get()
        with self._failures("", "v1/models"):
            listed = islice(client.models.list(limit=MODELS_PER_PAGE), MOST_MODELS)
            return tuple(_listed(info, self._server.id) for info in listed)

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """See `Provider.count_tokens`."""
        client = self._client.get()
        body = request_body(request, self._profile(request.model), read_blob)
        del body["max_tokens"]
        with self._failures(request.model, "v1/messages/count_tokens"):
            headers = _options(body).get("headers")
            return figure(client.messages.count_tokens(**body, extra_headers=headers).input_tokens)

    def batches(self) -> AnthropicBatches:
        """See `HasBatches.batches`."""
        return AnthropicBatches(self._client.get, self._failures, self._batch_body)

    def close(self) -> None:
        """See `Provider.close`."""
        self._client.close()

    def _produce(self, request: ProviderRequest, read_blob: ReadBlob) -> Iterator[StreamItem]:
        client = self._client.get()
        body = request_body(request, self._profile(request.model), read_blob)
        with (
            self._failures(request.model, "v1/messages") as progress,
            self._open(client, body, request) as events,
        ):
            del body  # what arrives is kept: it shall not lie between what goes
            progress.has_begun = True
            progress.request_id = events.response.headers.get("request-id", "")
            progress.is_stream = "event-stream" in events.response.headers.get("content-type", "")
            known = self._last_ids
            heard = sensible(events, is_known, self._server, is_named=False)
            yield from reply_items(
                heard,
                progress.request_id,
                lambda name: known.put(request.discussion_id, name),
                frozenset(tool.name for tool in declared_tools(request)),
            )

    def _open(
        self, client: anthropic.Anthropic, body: dict[str, Any], request: ProviderRequest
    ) -> anthropic.Stream[RawMessageStreamEvent]:
        """Send the body, with the question why less is read than expected; without it where a server refuses it.

        A server that keeps the protocol by half may miss thinking beside a call of the past: there it goes along, blank.
        """
        import anthropic

        if request.model in self._wants_thinking:
            add_blank_thinking(body)
        asks = request.cache is not None and request.cache.is_enabled and bool(request.discussion_id)
        if asks and self._takes_diagnostics:
            body["diagnostics"] = {"previous_message_id": self._last_ids.get(request.discussion_id)}
        try:
            return _opened(client, body)
        except anthropic.BadRequestError as error:
            if "diagnostics" in str(error) and body.pop("diagnostics", None) is not None:
                self._takes_diagnostics = False
                return _opened(client, body)
            if not (is_reasoning_missed(words_of(error.body).message) and add_blank_thinking(body)):
                raise
        opened = _opened(client, body)
        self._wants_thinking.add(request.model)
        return opened

    def _warm(self, model: str, body: dict[str, Any]) -> Iterator[StreamItem]:
        client = self._client.get()
        with self._failures(model, "v1/messages"):
            from anthropic.types import Message

            options = _options(body)
            answer = client.post("/v1/messages", content=sent_json(body), cast_to=Message, options=options)
            request_id = answer._request_id or ""  # noqa: SLF001  (public by the SDK's own words)
            yield UsageUpdate(merge_usage(Usage(request_id=request_id), answer.usage))
        yield Stopped(kind=StopKind.COMPLETED)

    def _batch_body(self, request: ProviderRequest) -> dict[str, Any]:
        return request_body(request, self._profile(request.model), no_attachments)

    def _profile(self, model: str) -> ModelProfile:
        return find_profile(self._models, self._server.id, model, kind=self._server.kind)

    def _connect(self) -> anthropic.Anthropic:
        key = checked_key(self._server, self._key, KEY_VARIABLE)
        import anthropic

        base_url = self._server.base_url or os.environ.get(URL_VARIABLE, "")
        return anthropic.Anthropic(
            api_key=key,
            base_url=plain_address(base_url, "/v1") or None,
            max_retries=0,
            http_client=http_client(self._server, base_url),
        )

    @contextmanager
    def _failures(self, model: str, path: str) -> Iterator[_Progress]:
        import anthropic
        import httpx2

        progress = _Progress()
        url = f"{str(self._client.get().base_url).rstrip('/')}/{path}"
        try:
            yield progress
        except anthropic.APIStatusError as error:
            raise self._status_error(error, model, url) from error
        except (anthropic.APIError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            known = transport_error(error, self._server, url=url, key=self._key, has_begun=progress.has_begun)
            raise known or self._bad_reply(str(error), url, progress) from error
        except FOREIGN as error:  # no JSON, no UTF-8, or another shape
            raise self._bad_reply(str(error), url, progress) from error
        except ProviderError as error:
            if error.where:
                raise
            raise provider_error(
                error.kind,
                self._server,
                detail=error.what,
                url=url,
                key=self._key,
                request_id=progress.request_id,
                is_lost=progress.is_stream,
            ) from error

    def _bad_reply(self, detail: str, url: str, progress: _Progress) -> ProviderError:
        return provider_error(
            FailureKind.BAD_REPLY,
            self._server,
            detail=detail,
            url=url,
            key=self._key,
            request_id=progress.request_id,
            is_lost=progress.is_stream,
        )

    def _status_error(self, error: anthropic.APIStatusError, model: str, url: str) -> ProviderError:
        headers = error.response.headers
        if error.response.is_redirect:
            return redirect_error(self._server, error.status_code, headers, url=url, key=self._key)
        is_in_stream = error.response.is_success
        words = words_of(error.body)
        return provider_error(
            _kind(error, words, model),
            self._server,
            model=model,
            detail=words.message or text_of(error.api_message),
            remedy=remedy_of(words, None if is_in_stream else error.status_code),
            url=url,
            key=self._key,
            status=None if is_in_stream else error.status_code,
            request_id=text_of(error.request_id),
            retry_after_s=None if is_in_stream else retry_after_s(headers),
        )


class _Progress:
    """Progress of a call, for telling a dropped stream from a server that was never reached.

    `is_stream`: a stream of events was begun, which a page of something between does not do: it may be billed.
    """

    def __init__(self) -> None:
        self.has_begun = False
        self.is_stream = False
        self.request_id = ""


def _release(client: anthropic.Anthropic) -> None:
    client.close()


def _kind(error: anthropic.APIStatusError, words: ServerWords, model: str) -> FailureKind:
    kind, message = text_of(error.type), words.message
    if _NO_QUOTA.search(f"{error.error_code or ''} {message}"):
        return FailureKind.NO_QUOTA
    status = None if error.response.is_success else error.status_code
    if told := meaning(words, status, is_sure=kind in _KIND_OF_TYPE):
        return told
    if kind == "not_found_error":
        return FailureKind.UNKNOWN_MODEL if model else FailureKind.BAD_REQUEST
    if kind in _KIND_OF_TYPE:
        return _KIND_OF_TYPE[kind]
    if error.response.is_success:
        number = words.code
        if number.isdecimal() and 400 <= int(number[:4]) < 600:
            return kind_of_status(int(number))
        return FailureKind.BAD_REQUEST if kind == "invalid_request_error" else FailureKind.SERVER_FAULT
    return kind_of_status(error.status_code)


def _opened(client: anthropic.Anthropic, body: Mapping[str, Any]) -> anthropic.Stream[RawMessageStreamEvent]:
    from anthropic import Stream
    from anthropic.types import Message, RawMessageStreamEvent

    return client.post(
        "/v1/messages",
        content=sent_json(body, {"stream": True}),
        cast_to=Message,
        options=_options(body),
        stream=True,
        stream_cls=Stream[RawMessageStreamEvent],
    )


def _options(body: Mapping[str, Any]) -> RequestOptions:
    """Options of a request: the betas that its body asks for."""
    betas = betas_of(body)
    return {"headers": {"anthropic-beta": ",".join(betas)}} if betas else {}


def _listed(info: ModelInfo, provider: str) -> ModelProfile:
    """A model as the server lists it. A missing part of its capabilities says nothing."""
    can = info.capabilities
    return ModelProfile(
        provider=provider,
        id=info.id,
        label=info.display_name or "",
        context_tokens=info.max_input_tokens,
        max_output_tokens=info.max_tokens,
        efforts=_listed_efforts(can),
        takes_images=_supported(can, "image_input"),
        family="claude",
        from_server=True,
        ends_on=day_of(info.retires_at),
        thinking=next((kind for word, kind in _THINKING if _supported(can, "thinking", "types", word)), ""),
        thinking_off=next((word for word in _OFF if _supported(can, "thinking", "types", word)), ""),
    )


_THINKING = (("adaptive", "adaptive"), ("enabled", "budget"))
_OFF = ("disabled", "between_tools")


def _listed_efforts(can: object) -> tuple[Effort, ...]:
    levels = [Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.XHIGH, Effort.MAX]
    found = tuple(level for level in levels if _supported(can, "effort", level.value))
    is_off = any(_supported(can, "thinking", "types", word) for word in _OFF)
    return (Effort.NONE, *found) if found and is_off else found


def _supported(can: object, *path: str) -> bool:
    for name in path:
        can = getattr(can, name, None)
    return getattr(can, "supported", None) is True
