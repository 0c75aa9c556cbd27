"""Gemini's client: streams over the official SDK, usage and failures in our one meaning, and inline batches.

The tag of a batch is the batch's display name, each request's name is in its metadata.
Source: google-genai 3.3.0, batches.py; ai.google.dev "Batch API" (read 2026-11).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.queue import Lazy
from core.kernel.values.cache import ContentsPlan, ContentsUse
from core.kernel.values.provider import (
    ContentsReport,
    ModelProfile,
    ProviderRequest,
    StopKind,
    Stopped,
    StoredContent,
    StreamItem,
    TextDelta,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.services.providers.batches import (
    MOST_LISTED,
    AnswerKind,
    BatchAnswer,
    BatchRequest,
    BatchStatus,
    FoundBatch,
    sound_answers,
    unless_gone,
)
from core.services.providers.door import FOREIGN, MOST_MODELS, figure, status_of, text_of
from core.services.providers.endings import told_of
from core.services.providers.failures import (
    checked_key,
    kind_of_status,
    provider_error,
    redirect_error,
    retry_after_s,
    transport_error,
)
from core.services.providers.gemini.contents import GONE, GeminiCaches, Prefix, unusable
from core.services.providers.gemini.wire import (
    is_known,
    reply_items,
    request_config,
    request_contents,
    sound_chunk,
    split_contents,
)
from core.services.providers.http import (
    current_call,
    http_client,
    no_attachments,
    plain_address,
    run_call,
    sensible,
)
from core.services.providers.profiles import find_profile, has_gemini_contents
from core.services.providers.protocol import CancelToken, ReadBlob, check_deleted
from core.services.providers.server_words import (
    ServerWords,
    meaning,
    remedy_of,
    words_of,
)

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

KEY = "key"
_INVALID, _BAD_REQUEST = 3, 400
_PER_PAGE = 100
_FAILED, _EXPIRED, _SUCCEEDED = "FAILED", "EXPIRED", "SUCCEEDED"
_ENDED = frozenset({_SUCCEEDED, "PARTIALLY_SUCCEEDED", "CANCELLED", _FAILED, _EXPIRED})


class GeminiBatches:
    """See `Batches`.

    Args:
        sdk: the SDK's client; failures: makes ProviderErrors of its own for a model and a path.
        parts: contents and config of a request, as `generate_content` takes them.
    """

    most_requests = 1_000
    most_bytes = 12_000_000
    """The vendor takes 20 MB of inline requests, in which text is escaped."""
    ends_within = timedelta(hours=48)

    def __init__(
        self,
        sdk: Callable[[], genai.Client],
        failures: Callable[[str, str], AbstractContextManager[None]],
        parts: Callable[[ProviderRequest], tuple[Sequence[types.Content], types.GenerateContentConfig]],
    ) -> None:
        self._sdk, self._failures, self._parts = sdk, failures, parts

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """See `Batches.submit`."""
        sdk, model = self._sdk(), requests[0].request.model
        sent: Any = [self._inlined(one) for one in requests]
        with self._failures(model, f"models/{model}:batchGenerateContent"):
            return _status(sdk.batches.create(model=model, src=sent, config={"display_name": tag}))

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """See `Batches.find`."""
        del count, known, since  # the tag is in the list, and its order is not documented
        sdk = self._sdk()
        with self._failures("", "batches"):
            for batch in islice(sdk.batches.list(config={"page_size": _PER_PAGE}), MOST_LISTED):
                if batch.display_name == tag:
                    return FoundBatch(text_of(batch.name))
        return FoundBatch()

    def status(self, name: str) -> BatchStatus | None:
        """See `Batches.status`."""
        batch = self._retrieved(name)
        return None if batch is None else _status(batch)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """See `Batches.answers`."""
        return sound_answers(self._answers(name))

    def cancel(self, name: str) -> None:
        """See `Batches.cancel`."""
        sdk = self._sdk()
        with self._failures("", f"{name}:cancel"):
            sdk.batches.cancel(name=name)

    def clean(self, tag: str, name: str) -> None:
        """See `Batches.clean`. Nothing is uploaded beside the batch, which holds requests and answers."""
        del tag
        sdk = self._sdk()

        def ask() -> None:
            with self._failures("", name):
                sdk.batches.delete(name=name)

        if name:
            unless_gone(ask)

    def _inlined(self, one: BatchRequest) -> dict[str, Any]:
        contents, config = self._parts(one.request)
        return {"contents": list(contents), "config": config, "metadata": {KEY: one.custom_id}}

    def _retrieved(self, name: str) -> types.BatchJob | None:
        sdk = self._sdk()

        def ask() -> types.BatchJob:
            with self._failures("", name):
                return sdk.batches.get(name=name)

        return unless_gone(ask)

    def _answers(self, name: str) -> Iterator[BatchAnswer]:
        batch = self._retrieved(name)
        if batch is not None and batch.dest is not None:
            for row in batch.dest.inlined_responses or ():
                yield _answer(row)


def _state(batch: types.BatchJob) -> str:
    """Its last word alone: the SDK passes on unchanged what it has no name for, `BATCH_STATE_…` beside `JOB_STATE_…`."""
    return "" if batch.state is None else text_of(batch.state.value).partition("_STATE_")[2]


def _status(batch: types.BatchJob) -> BatchStatus:
    state = _state(batch)
    reason = ""
    if state == _FAILED:
        said = text_of(batch.error.message) if batch.error is not None else ""
        reason = said or tr("the provider gives no reason")
    return BatchStatus(
        name=text_of(batch.name),
        is_ended=state in _ENDED,
        is_expired=state == _EXPIRED,
        reason=reason,
        has_every_row=state == _SUCCEEDED,
    )


def _answer(row: types.InlinedResponse) -> BatchAnswer:
    custom_id = text_of((row.metadata or {}).get(KEY))
    if row.response is None:
        error = row.error
        reason = text_of(error.message) if error is not None else tr("there is no response")
        is_refused = error is not None and error.code in {_INVALID, _BAD_REQUEST}
        return BatchAnswer(custom_id=custom_id, kind=AnswerKind.ERRORED, reason=reason, is_refused=is_refused)
    texts, usage, stop, reason = list[str](), Usage(), StopKind.COMPLETED, ""
    try:
        for item in reply_items([row.response]):
            match item:
                case TextDelta(text):
                    texts.append(text)
                case UsageUpdate():
                    usage = item.usage
                case Stopped():
                    stop = item.kind
                    is_unusable = stop in {StopKind.REFUSED, StopKind.BROKEN}
                    reason = told_of(item)[0] if is_unusable else ""
                case _:
                    pass
    except ProviderError as error:
        stop, reason = StopKind.REFUSED, error.what  # it is answered, and billed
    return BatchAnswer(
        custom_id=custom_id,
        kind=AnswerKind.ANSWERED,
        text="".join(texts),
        usage=usage,
        stop=stop,
        reason=reason,
        is_billed=True,
    )


# Gemini's client: streams over the official SDK, usage and failures in our one meaning.

if TYPE_CHECKING:
    import httpx2
    from google import genai
    from google.genai import errors, types

KEY_VARIABLE = "GEMINI_API_KEY"
URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL"
API_VERSION = "v1beta"
"""The SDK's own default is v1, which has no caches and no `*-latest` names. Source: caching-facts B (2026-11)."""

MODELS_PER_PAGE = 1000

_KIND_OF_STATUS: Mapping[str, FailureKind] = {
    "UNAUTHENTICATED": FailureKind.BAD_KEY,
    "PERMISSION_DENIED": FailureKind.FORBIDDEN,
    "NOT_FOUND": FailureKind.UNKNOWN_MODEL,
    "RESOURCE_EXHAUSTED": FailureKind.RATE_LIMITED,
    "DEADLINE_EXCEEDED": FailureKind.TIMED_OUT,
    "UNAVAILABLE": FailureKind.OVERLOADED,
    "INTERNAL": FailureKind.SERVER_FAULT,
    "UNKNOWN": FailureKind.SERVER_FAULT,
}
"""Source: google.rpc.Code; ai.google.dev "Troubleshooting guide" (read 2026-11)."""

_BY_TEXT: Sequence[tuple[FailureKind, re.Pattern[str]]] = (
    (
        FailureKind.BAD_KEY,
        re.compile(r"(?i)api key (?:not valid|expired|not found)|API_KEY_INVALID|reported as leaked"),
    ),
    (FailureKind.CONTEXT_TOO_LONG, re.compile(r"(?i)token count.*exceeds the maximum number of tokens")),
    (FailureKind.REQUEST_TOO_LARGE, re.compile(r"(?i)request payload size exceeds")),
    (FailureKind.FORBIDDEN, re.compile(r"(?i)user location is not supported")),
    (
        FailureKind.NO_QUOTA,
        re.compile(r"(?i)limit: 0\b|PerDay|credits? (?:are|is) depleted|spend(?:ing)? cap|enable billing"),
    ),
)
"""Texts that say more than the status. Source: error bodies quoted in public issues of gemini-cli (read 2026-11)."""

_CONTENT_FAULTS = frozenset({400, 403, 404})
"""Answers to a request by a stored prefix that is gone, foreign, or of another model."""

_SECONDS = re.compile(r"^(\d+(?:\.\d+)?)s$")


class GeminiProvider:
    """Speaks to Gemini, or to whatever keeps its protocol at `base_url` or `GOOGLE_GEMINI_BASE_URL`.

    Attributes:
        caches: the prefixes that it stores for this key. `close` leaves them: `caches.delete_held` ends their rent.
    """

    def __init__(
        self,
        server: ServerSettings,
        key: str | None,
        models: Sequence[ModelProfile] = (),
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._server = server
        self._key = key
        self._models = tuple(models)
        self._client = Lazy(self._connect, _release)
        self.caches = GeminiCaches(lambda: self._client.get().sdk, self._failures, clock)

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """See `Provider.stream`."""
        return run_call(lambda: self._produce(request, read_blob), cancel)

    def list_models(self) -> tuple[ModelProfile, ...]:
        """See `Provider.list_models`. Only models that generate content."""
        client = self._client.get().sdk
        with self._failures("", "models"):
            found = client.models.list(config={"page_size": MODELS_PER_PAGE})
            return tuple(
                _listed(model, self._server.id) for model in islice(found, MOST_MODELS) if _speaks(model)
            )

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """See `Provider.count_tokens`.

        The SDK counts messages alone; the endpoint counts a whole request when it stands in
        `generateContentRequest`, beside which the messages are ignored. Source: ai.google.dev "Counting tokens".
        """
        client = self._client.get().sdk
        profile = self._profile(request.model)
        contents = request_contents(request, profile, read_blob)
        whole = _as_json(contents, request_config(request, profile), request.model)
        options: Any = {"http_options": {"extra_body": {"generateContentRequest": whole}}}
        with self._failures(request.model, f"models/{request.model}:countTokens"):
            counted = client.models.count_tokens(model=request.model, contents=contents[:1], config=options)
            return figure(counted.total_tokens)

    def forget(self, discussion_id: str) -> None:
        """Delete what is stored for a discussion: it was invalidated, or is not needed any more.

        Raises:
            ProviderError: something could not be deleted; it is billed until it expires.
        """
        check_deleted(self.caches.delete_held(discussion_id))

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Names of what is known to be stored, as the vendor gives them."""
        return tuple(content.name for content in self.caches.held)

    @property
    def absent_names(self) -> frozenset[str]:
        """Names of what was gone already when it was to be deleted."""
        return self.caches.absent

    def adopt(self, discussion_ids: Collection[str]) -> tuple[StoredContent, ...]:
        """Find what is still stored and billed; contents of these discussions are held from now on.

        Returns:
            Every live content that this program made, those of other discussions too.

        Raises:
            ProviderError: the list cannot be had; nothing changed.
        """
        orphans = self.caches.adopt(discussion_ids)
        return (*self.caches.held, *orphans)

    def extend_stored(self, name: str, ttl_s: int) -> StoredContent | None:
        """Extend a content to so many seconds from now. None: it has expired. Raises ProviderError."""
        try:
            return self.caches.extend(name, ttl_s)
        except ProviderError as error:
            if error.status in GONE:
                return None
            raise

    def delete_stored(self, names: Collection[str]) -> tuple[str, ...]:
        """Delete contents by their names. Returns those that could not be; one that is gone already is deleted."""
        return self.caches.delete_all(names)

    def batches(self) -> GeminiBatches:
        """See `HasBatches.batches`."""
        return GeminiBatches(lambda: self._client.get().sdk, self._failures, self._batch_parts)

    def close(self) -> None:
        """See `Provider.close`."""
        self._client.close()

    def _batch_parts(
        self, request: ProviderRequest
    ) -> tuple[Sequence[types.Content], types.GenerateContentConfig]:
        profile = self._profile(request.model)
        return request_contents(request, profile, no_attachments), request_config(request, profile)

    def _produce(self, request: ProviderRequest, read_blob: ReadBlob) -> Iterator[StreamItem]:
        """Send by a stored prefix where the plan has one, and inline where that fails before a reply begins."""
        report = yield from self._by_stored(request, read_blob)
        if report is not None and report.stored is not None:
            return
        profile = self._profile(request.model)
        contents = request_contents(request, profile, read_blob)
        for item in self._speak(request.model, contents, request_config(request, profile)):
            if report is not None and report.lost_name:
                self.caches.forget(report.lost_name)
            yield _with_report(item, report)

    def _by_stored(
        self, request: ProviderRequest, read_blob: ReadBlob
    ) -> Generator[StreamItem, None, ContentsReport | None]:
        """Returns a report with `stored` where the reply came by it, without where all is to be sent inline."""
        plan = _contents_plan(request)
        if plan is None:
            return None
        profile = self._profile(request.model)
        config = request_config(request, profile)
        head, tail = split_contents(request, profile, read_blob, plan.through_key)
        if not tail:
            return None
        report = self.caches.ready(plan, request.model, request.discussion_id, _prefix(head, config))
        if report is None or report.stored is None:
            return report
        if report.is_new:
            yield UsageUpdate(Usage(), report)  # it is paid for, whatever becomes of the turn
        name = report.stored.name
        beside = {"cached_content": name, "system_instruction": None, "tools": None}
        has_begun = False
        try:
            for item in self._speak(request.model, tail, config.model_copy(update=beside)):
                has_begun = True
                yield _with_report(item, report)
        except ProviderError as error:
            if has_begun or error.status not in _CONTENT_FAULTS:
                raise
            return ContentsReport(text=unusable(error), lost_name=name)
        return report

    def _speak(
        self, model: str, contents: Sequence[types.Content], config: types.GenerateContentConfig
    ) -> Iterator[StreamItem]:
        sdk = self._client.get().sdk
        with self._failures(model, f"models/{model}:streamGenerateContent"):
            said: Any = list(contents)
            chunks = sdk.models.generate_content_stream(model=model, contents=said, config=config)
            heard = sensible(chunks, is_known, self._server, is_named=False)
            yield from reply_items(heard, _names(config))

    def _profile(self, model: str) -> ModelProfile:
        return find_profile(self._models, self._server.id, model, kind=self._server.kind)

    def _connect(self) -> _Client:
        key = checked_key(self._server, self._key, KEY_VARIABLE)
        base_url = self._base_url()
        http = http_client(self._server, base_url)
        from google import genai
        from google.genai import types

        options = types.HttpOptions(
            base_url=self._address() or None, api_version=API_VERSION, httpx_client=http
        )
        sdk = genai.Client(api_key=key, vertexai=False, http_options=options)
        _take_any_usage(sdk)
        return _Client(sdk, http)

    def _base_url(self) -> str:
        return self._server.base_url or os.environ.get(URL_VARIABLE, "")

    def _address(self) -> str:
        return plain_address(self._base_url(), "/openai", "/v1beta", "/v1")

    @contextmanager
    def _failures(self, model: str, path: str) -> Iterator[None]:
        import httpx2
        from google.genai import errors

        base_url = self._address() or "https://generativelanguage.googleapis.com"
        url = f"{base_url.rstrip('/')}/{API_VERSION}/{path}"
        try:
            yield
        except errors.APIError as error:
            raise self._api_error(error, model, url) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            call = current_call()
            has_begun = call is not None and call.has_begun
            known = transport_error(error, self._server, url=url, key=self._key, has_begun=has_begun)
            raise known or self._bad_reply(str(error), url) from error
        except FOREIGN as error:  # no JSON, or another shape
            raise self._bad_reply(str(error), url) from error
        except ProviderError as error:
            raise provider_error(
                error.kind, self._server, detail=error.what, url=url, key=self._key
            ) from error

    def _bad_reply(self, detail: str, url: str) -> ProviderError:
        return provider_error(FailureKind.BAD_REPLY, self._server, detail=detail, url=url, key=self._key)

    def _api_error(self, error: errors.APIError, model: str, url: str) -> ProviderError:
        headers = getattr(error.response, "headers", None) or {}
        status = _client_status(error)
        if status is not None and 300 <= status < 400:
            return redirect_error(self._server, status, headers, url=url, key=self._key)
        details = _details(error.details)
        words = words_of(error.details) if error.details else ServerWords(message=text_of(error.message))
        message = words.message or text_of(error.message)
        return provider_error(
            _kind(error, words, details, model),
            self._server,
            model=model,
            detail=words_of(message).message,
            remedy=remedy_of(words, status),
            url=url,
            key=self._key,
            status=status,
            retry_after_s=_retry_delay_s(details) or retry_after_s(headers),
        )


class _Client(NamedTuple):
    """The SDK's client, kept for as long as its calls last: it closes when it is let go of; and what it sends through."""

    sdk: genai.Client
    http: httpx2.Client


def _names(config: types.GenerateContentConfig) -> frozenset[str]:
    """Names of the tools that a request offers."""
    declared: Any = [getattr(tool, "function_declarations", None) or () for tool in config.tools or ()]
    return frozenset(one.name for several in declared for one in several if one.name)


def _take_any_usage(sdk: genai.Client) -> None:
    """Clean each chunk of a stream before the SDK checks it: it has no other place for that."""
    inner: Any = sdk._api_client  # noqa: SLF001 (it offers no hook)
    streamed = inner.request_streamed

    def cleaned(*args: Any, **rest: Any) -> Iterator[Any]:
        for response in streamed(*args, **rest):
            if response.body:
                response.body = sound_chunk(response.body)
            yield response

    inner.request_streamed = cleaned


def _release(client: _Client) -> None:
    client.sdk.close()
    client.http.close()


def _contents_plan(request: ProviderRequest) -> ContentsPlan | None:
    plan = request.cache
    if plan is None or not plan.is_enabled or plan.contents is None or not has_gemini_contents(request.model):
        return None
    return None if plan.contents.use is ContentsUse.NONE else plan.contents


def _prefix(head: Sequence[types.Content], config: types.GenerateContentConfig) -> Prefix:
    system: Any = config.system_instruction
    tools: Any = config.tools or ()
    return Prefix(contents=tuple(head), system_instruction=system, tools=tuple(tools))


def _with_report(item: StreamItem, report: ContentsReport | None) -> StreamItem:
    """Usage with what became of the stored prefix; what went wrong is the reason of the miss."""
    if report is None or not isinstance(item, UsageUpdate):
        return item
    return UsageUpdate(replace(item.usage, miss_reason=report.text), report)


def _kind(
    error: errors.APIError, words: ServerWords, details: Sequence[Mapping[str, Any]], model: str
) -> FailureKind:
    text = f"{words.message} {details}"
    for kind, pattern in _BY_TEXT:
        if pattern.search(text):
            return kind
    if told := meaning(words, _client_status(error), is_sure=str(error.status) in _KIND_OF_STATUS):
        return FailureKind.BAD_REQUEST if told is FailureKind.UNKNOWN_MODEL and not model else told
    kind = _KIND_OF_STATUS.get(str(error.status)) or kind_of_status(_client_status(error) or 500)
    return FailureKind.BAD_REQUEST if kind is FailureKind.UNKNOWN_MODEL and not model else kind


def _client_status(error: errors.APIError) -> int | None:
    return status_of(error.code)  # whatever the body said


def _details(body: object) -> list[Mapping[str, Any]]:
    """The `details` of an error's body, empty where it has none."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    found = inner.get("details") if isinstance(inner, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _retry_delay_s(details: Sequence[Mapping[str, Any]]) -> float | None:
    """Seconds of a `google.rpc.RetryInfo` ("34.07s")."""
    delays = [str(entry.get("retryDelay", "")) for entry in details]
    return next((float(found[1]) for found in map(_SECONDS.match, delays) if found), None)


def _as_json(
    contents: Sequence[types.Content], config: types.GenerateContentConfig, model: str
) -> dict[str, Any]:
    """A request as the REST interface spells it, for what the SDK has no words for."""
    body: dict[str, Any] = {
        "model": f"models/{model}",
        "contents": [_dumped(content) for content in contents],
    }
    if config.system_instruction is not None:
        body["systemInstruction"] = _dumped(config.system_instruction)
    if config.tools:
        body["tools"] = [_dumped(tool) for tool in config.tools]
    return body


def _dumped(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def _speaks(model: types.Model) -> bool:
    return "generateContent" in (model.supported_actions or ["generateContent"])


def _listed(model: types.Model, provider: str) -> ModelProfile:
    return ModelProfile(
        provider=provider,
        id=(model.name or "").removeprefix("models/"),
        label=model.display_name or "",
        context_tokens=model.input_token_limit,
        max_output_tokens=model.output_token_limit,
        family="gemini",
        from_server=True,
    )
