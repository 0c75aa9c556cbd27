"""The embedded model: llama.cpp in a child process, spoken to like any compatible server; no key, no network."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.messages import Role
from core.kernel.values.provider import (
    ModelProfile,
    ProviderRequest,
    RequestMessage,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.stack import LayerId, Segment
from core.kernel.values.usage import Usage
from core.services.providers.compatible.client import CompatibleProvider
from core.services.providers.embedded.server import (
    DEFAULT_BUDGET_BYTES,
    MODEL_ID,
    Endpoint,
    LlamaServer,
    SavedPrefixes,
    WarmSlot,
    library_version,
)
from core.services.providers.protocol import CancelToken, ReadBlob

DEFAULT_OUTPUT_TOKENS = 512
"""A small model may ramble: about ten seconds of it on two cores, unless the person asks for more."""

SAVED = "embedded-prefixes"
"""The folder of saved prefixes inside the cache directory."""

SAMPLING = {"temperature": 0.2, "top_p": 0.9, "repeat_penalty": 1.1, "cache_prompt": True}
"""Source: SmolLM2-135M-Instruct model card (temperature, top_p), read 2026-11-20; the penalty ends its loops."""

EXTRACTION = {**SAMPLING, "seed": 1}
"""For a reply in a schema: the same text gives the same reply."""


class EmbeddedProvider:
    """Client of the embedded model. Thread-safe; one call runs at a time, the others wait for it.

    Args:
        cache_dir: where prefixes of discussions are saved, in a folder of their own, None for nowhere.
        disk_bytes: what they may take together; 0 saves none.
        process: the server's process; another one only in tests, with the folder that it saves to in `cache_dir`.
    """

    def __init__(
        self,
        server: ServerSettings,
        models: Sequence[ModelProfile] = (),
        *,
        cache_dir: Path | None = None,
        disk_bytes: int = DEFAULT_BUDGET_BYTES,
        process: LlamaServer | None = None,
    ) -> None:
        self._server = server
        self._models = tuple(models)
        folder = cache_dir / SAVED if cache_dir is not None else None
        self._process = process or LlamaServer(slot_save_path=str(folder) if folder else "")
        self._slot = WarmSlot(SavedPrefixes(folder, f"{MODEL_ID} {library_version()}", disk_bytes))
        self._lock = threading.Lock()
        self._client: tuple[Endpoint, CompatibleProvider] | None = None
        self._reading_on = CancelToken()
        self._reader: threading.Thread | None = None

    def start(self) -> None:
        """Start the server in the background, so that the first answer need not wait for it. Returns at once."""
        self._process.prewarm()

    def finish_reading(self, timeout_s: float) -> bool:
        """Wait until it has read its own last reply. Returns whether it has, within `timeout_s` seconds."""
        reader = self._reader
        if reader is not None:
            reader.join(timeout_s)
        return reader is None or not reader.is_alive()

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """Send a request and yield what comes back; see `Provider.stream`."""
        self._reading_on.cancel()
        is_cached = _is_cached(request)
        holder = request.discussion_id if is_cached else ""
        endpoint = self._enter(holder, cancel)
        if endpoint is None:
            yield Stopped(kind=StopKind.CANCELLED)
            return
        text, tokens = "", None
        stop = StopKind.CANCELLED
        try:
            for item in self._client_of(endpoint).stream(_bounded(request), read_blob, cancel):
                match item:
                    case TextDelta():
                        text += item.text
                    case UsageUpdate():
                        tokens = item.usage.input_tokens
                    case Stopped():
                        stop = item.kind
                    case _:
                        pass
                yield item
        except ProviderError as error:
            raise self._explained(error, endpoint, has_text=bool(text)) from error
        finally:
            self._slot.leave(endpoint.pid, holder, tokens)
        if stop is not StopKind.CANCELLED and is_cached and not request.response_schema_json:
            self._read_on(endpoint, request, text, read_blob)

    def prewarm(self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken) -> Usage | None:
        """See `Prewarms.prewarm`: all but layer 8 is read, ended at once by the next call. Starts the model."""
        self._reading_on.cancel()
        until_next = self._reading_on = CancelToken()
        cancel.on_cancel(until_next.cancel)
        endpoint = self._enter(request.discussion_id, until_next) if _is_cached(request) else None
        if endpoint is None:
            return None
        usage = None
        try:
            for item in self._client_of(endpoint).stream(
                _silent(_without_layer_8(request)), read_blob, until_next
            ):
                usage = item.usage if isinstance(item, UsageUpdate) else usage
        except ProviderError as error:
            raise self._explained(error, endpoint, has_text=False) from error
        finally:
            self._slot.leave(endpoint.pid, request.discussion_id, usage.input_tokens if usage else None)
        return usage

    def forget(self, discussion_id: str) -> None:
        """Delete what is saved of a discussion and what the model holds of it: it was invalidated or deleted."""
        client = self._client
        is_up = client is not None and not self._process.death(client[0].pid, patience_s=0)
        self._slot.forget(discussion_id, client[1].slot_action if client is not None and is_up else None)

    def list_models(self) -> tuple[ModelProfile, ...]:
        """Empty: the one model is known beforehand."""
        return ()

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """Input tokens as the model itself counts them; starts it where it does not run."""
        endpoint = self._process.ensure(CancelToken())
        if endpoint is None:
            return None
        return self._client_of(endpoint).count_as_llama_cpp(_bounded(request), read_blob)

    def close(self) -> None:
        """End the server. Idempotent."""
        self._reading_on.cancel()
        with self._lock:
            client, self._client = self._client, None
        if client is not None and not self._process.death(client[0].pid, patience_s=0):
            self._slot.keep(client[1].slot_action, 1)
        self._process.close()
        if client is not None:
            client[1].close()

    def _enter(self, discussion_id: str, cancel: CancelToken) -> Endpoint | None:
        """The running server with its slot made ready for a call, None when cancelled. `leave` must follow.

        A saved prefix that ended the process is gone by then: the next one starts without it.
        """
        endpoint = self._process.ensure(cancel)
        if endpoint is None:
            return None
        try:
            self._slot.enter(endpoint.pid, discussion_id, self._client_of(endpoint).slot_action)
        except ProviderError:
            self._process.stop()
            endpoint = self._process.ensure(cancel)
            if endpoint is not None:
                self._slot.enter(endpoint.pid, discussion_id, self._client_of(endpoint).slot_action)
        return endpoint

    def _client_of(self, endpoint: Endpoint) -> CompatibleProvider:
        with self._lock:
            if self._client is None or self._client[0] != endpoint:
                if self._client is not None:
                    self._client[1].close()
                server = replace(self._server, base_url=f"{endpoint.url}/v1")
                client = CompatibleProvider(
                    server, endpoint.key, self._models, extra=_sampling, takes_cache_prompt=True
                )
                self._client = endpoint, client
            return self._client[1]

    def _explained(self, error: ProviderError, endpoint: Endpoint, *, has_text: bool) -> ProviderError:
        """The error as the person should read it: a process that died is not a network that failed."""
        if error.kind is FailureKind.CONTEXT_TOO_LONG:
            what = error.what.replace(", try increasing it", "")
            return ProviderError(error.kind, what, remedy=error.remedy, status=error.status)
        if error.kind not in {FailureKind.NO_NETWORK, FailureKind.STREAM_DROPPED, FailureKind.BAD_REPLY}:
            return error
        death = self._process.death(endpoint.pid)
        if not death:
            return error
        return ProviderError(
            FailureKind.STREAM_DROPPED if has_text else FailureKind.SERVER_FAULT,
            tr("The process of the built-in model ended ({death})", death=one_line(death, 300)),
            remedy=tr("Retry: the program starts the process again"),
        )

    def _read_on(self, endpoint: Endpoint, request: ProviderRequest, reply: str, read_blob: ReadBlob) -> None:
        """Let the model read its own reply in its place in the next turn, while the person reads it too.

        The reply was written behind layer 8, which the next turn does not hold: without this, the next turn would
        wait for the reply to be read again. The next call ends this at once.
        """
        cancel = self._reading_on = CancelToken()
        ahead = without_metadata(request, reply)
        client = self._client_of(endpoint)

        def read() -> None:
            try:
                for _ in client.stream(ahead, read_blob, cancel):
                    continue
                if not cancel.is_cancelled:
                    self._slot.keep(client.slot_action)
            except ProviderError:
                return  # nothing is lost: the next call reads it

        self._reader = threading.Thread(target=read, name="embedded-read-on", daemon=True)
        self._reader.start()


def without_metadata(request: ProviderRequest, reply: str) -> ProviderRequest:
    """Start of the next turn: the same without layer 8, then the reply. Asks for no output."""
    ahead = _without_layer_8(request)
    answer = RequestMessage(
        Role.ASSISTANT, (Segment(layer=LayerId.TURNS, key="11/reply", text=reply, sha256=""),)
    )
    return _silent(replace(ahead, messages=(*ahead.messages, answer)))


def _without_layer_8(request: ProviderRequest) -> ProviderRequest:
    kept = (
        replace(message, parts=tuple(part for part in message.parts if not _is_metadata(part)))
        for message in request.messages
    )
    return replace(request, messages=tuple(message for message in kept if message.parts))


def _sampling(request: ProviderRequest) -> Mapping[str, Any]:
    sampling = EXTRACTION if request.response_schema_json else SAMPLING
    chosen = {"temperature": request.temperature, "top_p": request.top_p}
    return {**sampling, **{name: value for name, value in chosen.items() if value is not None}}


def _silent(request: ProviderRequest) -> ProviderRequest:
    return replace(request, model=MODEL_ID, max_output_tokens=0, response_schema_json="")


def _is_cached(request: ProviderRequest) -> bool:
    return request.cache is None or request.cache.is_enabled


def _is_metadata(part: object) -> bool:
    return isinstance(part, Segment) and part.layer is LayerId.METADATA


def _bounded(request: ProviderRequest) -> ProviderRequest:
    return replace(
        request,
        model=MODEL_ID,
        max_output_tokens=request.max_output_tokens or DEFAULT_OUTPUT_TOKENS,
    )
