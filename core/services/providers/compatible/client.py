"""Any server that speaks OpenAI's Chat Completions: Ollama, LM Studio, llama.cpp, vLLM, OpenRouter and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from core.kernel.codecs import read_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.queue import Lazy
from core.kernel.values.provider import (
    ModelProfile,
    ProviderKind,
    ProviderRequest,
    Stopped,
    StreamItem,
)
from core.kernel.values.settings import ServerSettings
from core.services.providers.attachments import sent_json
from core.services.providers.compatible.body import (
    STATUSES,
    WANTED,
    chat_body,
    chat_messages,
    refused_field,
    without_refused,
)
from core.services.providers.compatible.model_list import (
    embedded,
    is_llama_cpp,
    listed_entries,
    listed_profile,
    no_list,
    ollama_profile,
)
from core.services.providers.compatible.reader import ChatReader, is_known
from core.services.providers.door import MOST_MODELS, figure
from core.services.providers.failures import provider_error
from core.services.providers.http import plain_address, run_call, sensible
from core.services.providers.openai.sdk import (
    CALL_OPTIONS,
    done_stream,
    openai_client,
    sdk_error,
    sdk_failures,
)
from core.services.providers.profiles import find_profile
from core.services.providers.protocol import CancelToken, ReadBlob
from core.services.providers.refused_fields import KEPT_DAYS, RefusedFields

if TYPE_CHECKING:
    import openai

_DEEPSEEK = "api.deepseek.com"
"""Refuses a call of the past without its reasoning. Source: DeepSeek API "Thinking Mode" (read 2026-11-23)."""

_MOST_ASKED = 50
"""Models of Ollama that are asked for their window, each with a request of its own."""


class CompatibleProvider:
    """Client of one server. Thread-safe; the SDK is imported at the first call.

    Args:
        server: its `base_url` is needed; one without a path gets `/v1`.
        key: None where the server asks for none.
        models: known profiles; those of other providers are passed over.
        extra: fields for a request's body that this server knows and others do not (`top_k`).
        takes_cache_prompt: whether it honours `cache_prompt`, None while that is unknown.
        refused: fields that this server is known to refuse; None: nothing is known, and nothing kept.
    """

    def __init__(
        self,
        server: ServerSettings,
        key: str | None,
        models: Sequence[ModelProfile] = (),
        *,
        extra: Callable[[ProviderRequest], Mapping[str, Any]] = lambda _request: {},
        takes_cache_prompt: bool | None = None,
        refused: RefusedFields | None = None,
    ) -> None:
        self._server = server
        self._key = key
        self._models = tuple(models)
        self._extra = extra
        self._sdk: Lazy[openai.OpenAI] = Lazy(self._make_client, lambda client: client.close())
        self._refused = refused or RefusedFields()
        self._learned: frozenset[tuple[str, str]] = frozenset()
        """Models and the fields that this server refused for them since the program began."""
        self._takes_cache_prompt = takes_cache_prompt
        self._said: frozenset[tuple[str, str]] = frozenset()
        """Models and remarks that the person was told."""

    @property
    def base_url(self) -> str:
        """Address of requests, with its version path."""
        return with_version_path(self._server.base_url)

    @property
    def _root(self) -> str:
        """Address beside the version path, for what servers have there."""
        return plain_address(self.base_url, "/v1")

    @property
    def takes_cache_prompt(self) -> bool:
        """True if the server is known to honour `cache_prompt` (llama.cpp); known once its models were listed."""
        return self._takes_cache_prompt is True

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """Send a request and yield what comes back; see `Provider.stream`."""
        self._require_address()
        return run_call(lambda: self._run(request, read_blob), cancel)

    def list_models(self) -> tuple[ModelProfile, ...]:
        """The server's models, with the window and abilities that it reports."""
        self._require_address()
        client = self._sdk.get()
        try:
            entries = self._list(client)
            self._learn(entries)
            found = tuple(listed_profile(self._server.id, entry) for entry in entries)
            return tuple(
                self._ask_ollama(client, profile) if _is_ollama(entry) and number < _MOST_ASKED else profile
                for number, (profile, entry) in enumerate(zip(found, entries, strict=True))
            )
        except sdk_failures() as error:
            raise self._translate(error, "/models", "", has_begun=False) from error

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """None: these servers agree on no way to count."""
        del request, read_blob
        return None

    def count_as_llama_cpp(self, request: ProviderRequest, read_blob: ReadBlob) -> int:
        """Input tokens as llama.cpp counts them, by an endpoint that only it has.

        Raises:
            ProviderError: the server does not know the endpoint, or failed.
        """
        path = "/chat/completions/input_tokens"
        body = {"messages": chat_messages(request, self._profile(request.model), read_blob)}
        try:
            answer = self._sdk.get().post(path, body=body, cast_to=object)
            return _count(answer["input_tokens"])  # type: ignore[index]
        except sdk_failures() as error:
            raise self._translate(error, path, request.model, has_begun=False) from error

    def slot_action(self, action: str, file_name: str) -> int:
        """Have llama.cpp save, restore or erase its first slot, in the folder that it was started with.

        Returns:
            Tokens saved, restored or erased.

        Raises:
            ProviderError: it cannot; a failed restore leaves the slot empty.
        """
        url = f"{self._root}/slots/0?action={action}"
        try:
            answer = self._sdk.get().post(url, body={"filename": file_name}, cast_to=object)
            return _count(answer[f"n_{action}d"])  # type: ignore[index]
        except sdk_failures() as error:
            raise self._translate(error, f"/slots/0?action={action}", "", has_begun=False) from error

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of texts; see `Embeds.embed`."""
        self._require_address()
        try:
            return embedded(self._sdk.get(), model, texts)
        except sdk_failures() as error:
            raise self._translate(error, "/embeddings", model, has_begun=False) from error

    def close(self) -> None:
        """Release connections."""
        self._sdk.close()

    def _list(self, client: openai.OpenAI) -> list[dict[str, Any]]:
        """Entries of the server's list, in whatever it lies."""
        answer = _answer(client)
        entries = list(islice(listed_entries(answer), MOST_MODELS))
        if not entries and (why := no_list(answer)):
            raise provider_error(
                FailureKind.BAD_REPLY,
                self._server,
                detail=why,
                remedy=tr("Name the model yourself, or check the address (base_url): it usually ends in /v1"),
                url=self._url("/models"),
                key=self._key,
            )
        return entries

    def _learn(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if self._takes_cache_prompt is None:
            self._takes_cache_prompt = any(is_llama_cpp(entry) for entry in entries)

    def _asks_no_cache(self) -> bool:
        """True if `cache_prompt: false` can be sent; a server that is not yet known is asked who it is."""
        if self._takes_cache_prompt is None:
            try:
                self._learn(self._list(self._sdk.get()))
            except ProviderError:
                return False
            except sdk_failures():
                return False
        return self.takes_cache_prompt

    def _profile(self, model: str) -> ModelProfile:
        """Profile of a model. Few servers say whether it takes pictures: theirs to refuse."""
        profile = self._known_profile(model)
        is_foreign = self._server.kind == ProviderKind.COMPATIBLE
        return replace(profile, takes_images=True) if is_foreign else profile

    def _known_profile(self, model: str) -> ModelProfile:
        """Profile of a model as it is known: a tool's picture goes only to one that is known to take it."""
        return find_profile(self._models, self._server.id, model, kind=self._server.kind)

    def _require_address(self) -> None:
        if not self._server.base_url:
            raise provider_error(
                FailureKind.BAD_REQUEST,
                self._server,
                detail=tr("the provider has no address"),
                remedy=tr("Enter the base_url on the settings page (http://localhost:11434/v1)"),
            )

    def _make_client(self) -> openai.OpenAI:
        return openai_client(self._server, self._key, self.base_url, is_vendor=False)

    def _run(self, request: ProviderRequest, read_blob: ReadBlob) -> Iterator[StreamItem]:
        body, has_begun = self._body(request, read_blob), False
        try:
            stream = self._open(body, self._more(request))
            has_begun = True
            del body  # what arrives is kept: it shall not lie between what goes
            with stream:
                names = frozenset(tool.name for tool in request.tools)
                reader = ChatReader(stream.response.headers.get("x-request-id", ""), names)
                for chunk in sensible(stream, is_known, self._server):
                    yield from reader.read(chunk)
            for item in reader.end(is_done=stream.is_done):
                yield self._with_remarks(item, request.model) if isinstance(item, Stopped) else item
            if not reader.has_stopped:
                kind = FailureKind.STREAM_DROPPED if reader.has_begun else FailureKind.BAD_REPLY
                raise provider_error(
                    kind,
                    self._server,
                    detail="" if reader.has_begun else tr("the answer is empty"),
                    url=self._url("/chat/completions"),
                    key=self._key,
                )
        except sdk_failures() as error:
            raise self._translate(error, "/chat/completions", request.model, has_begun=has_begun) from error

    def _with_remarks(self, stopped: Stopped, model: str) -> Stopped:
        """The end of a reply with what the person should know and was not told: each once for a model."""
        names = sorted(name for of, name in self._learned if of == model)
        refused = [
            tr(
                "The server of {model!r} wants back the reasoning that came before tool calls. The program sends the reasoning that was kept",
                model=model,
            )
            if name == WANTED
            else tr(
                "The server takes no {name!r} for {model!r}. The program sent the request again without this field or under its other name. For this model, the program does so for {KEPT_DAYS} days",
                name=name,
                model=model,
                KEPT_DAYS=KEPT_DAYS,
            )
            for name in names
        ]
        fresh = tuple(one for one in (*refused, *stopped.remarks) if (model, one) not in self._said)
        self._said |= {(model, one) for one in fresh}
        return replace(stopped, remarks=fresh)

    def _body(self, request: ProviderRequest, read_blob: ReadBlob) -> dict[str, Any]:
        return chat_body(
            request,
            self._profile(request.model),
            read_blob,
            result_profile=self._known_profile(request.model),
            needs_reasoning=_host(self.base_url) == _DEEPSEEK,
        )

    def _more(self, request: ProviderRequest) -> dict[str, Any]:
        """Fields that only this server knows."""
        is_off = request.cache is not None and not request.cache.is_enabled
        seed = {"seed": self._server.seed} if self._server.seed is not None else {}
        off = {"cache_prompt": False} if is_off and self._asks_no_cache() else {}
        return {**seed, **self._extra(request), **off}

    def _open(self, body: dict[str, Any], extra: dict[str, Any]) -> Any:
        """Send the body; without a field, or with its twin, where this server refused it. Returns a `done_stream`."""
        import openai

        model, whole = str(body["model"]), {**body, **extra}
        known = self._refused.of(model)
        learned: frozenset[str] = frozenset()
        while True:
            refused = known | learned
            sent = without_refused(whole, refused)
            more = {name: sent.pop(name) for name in extra if name in sent}
            try:
                stream = self._sdk.get().post(
                    "/chat/completions",
                    content=sent_json(sent, more),
                    options=CALL_OPTIONS,
                    cast_to=object,
                    stream=True,
                    stream_cls=done_stream(object),
                )
            except openai.APIStatusError as error:
                name = None
                if error.status_code in STATUSES:
                    name = refused_field({**sent, **more}, f"{error} {error.body}")
                if name is None or name in refused:
                    raise
                learned |= {name}
            else:
                self._refused.keep(model, learned)
                self._learned |= {(model, name) for name in learned}
                return stream

    def _ask_ollama(self, client: openai.OpenAI, profile: ModelProfile) -> ModelProfile:
        """Fill in a model's window and abilities from Ollama's own API, beside `/v1`."""
        url = f"{self._root}/api/show"
        answer = client.post(url, body={"model": profile.id}, cast_to=object)
        return ollama_profile(profile, answer)

    def _url(self, path: str) -> str:
        return plain_address(self.base_url) + path

    def _translate(self, error: Exception, path: str, model: str, *, has_begun: bool) -> ProviderError:
        url = self._url(path)
        return sdk_error(error, self._server, model=model, url=url, key=self._key, has_begun=has_begun)


def _answer(client: openai.OpenAI) -> object:
    """The answer to a question for models: JSON, or the text that it is."""
    import httpx2

    text = client.get("/models", cast_to=httpx2.Response).text
    try:
        return read_json(text)
    except ValueError:
        return text


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def with_version_path(base_url: str) -> str:
    """The address with `/v1` where a person gave only the host, as given otherwise."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        return base_url
    return urlunsplit(parts._replace(path="/v1")) if parts.path in {"", "/"} and parts.netloc else base_url


def _count(value: object) -> int:
    """A count of tokens that an answer must have. Raises ValueError."""
    if (count := figure(value)) is None:
        raise ValueError(tr("a token count is {value!r}, not a number", value=str(value)[:40]))
    return count


def _is_ollama(entry: Mapping[str, Any]) -> bool:
    """Ollama calls itself the library. Source: Ollama, openai/openai.go, `ToModel` (read 2026-11-20)."""
    return entry.get("owned_by") == "library"
