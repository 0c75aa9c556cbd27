"""The embedded model: llama.cpp in a child process, spoken to like any compatible server; no key, no network."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import FailureKind, ProviderError
from core.providers.base import CancelToken, ReadBlob
from core.providers.compatible import CompatibleProvider
from core.providers.llama_server import MODEL_ID, Endpoint, LlamaServer
from core.text import one_line
from core.values.messages import Role
from core.values.provider import (
    ModelProfile,
    ProviderRequest,
    RequestMessage,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
)
from core.values.settings import ServerSettings
from core.values.stack import LayerId, Segment

DEFAULT_OUTPUT_TOKENS = 512
"""A small model may ramble: about ten seconds of it on two cores, unless the person asks for more."""

SAMPLING = {"temperature": 0.2, "top_p": 0.9, "repeat_penalty": 1.1, "cache_prompt": True}
"""Source: SmolLM2-135M-Instruct model card (temperature, top_p), read 2026-11-20; the penalty ends its loops."""


class EmbeddedProvider:
    """Client of the embedded model. Thread-safe; one call runs at a time, the others wait for it.

    Args:
        cache_dir: where prefixes may be saved to disk, None for nowhere.
        process: the server's process; another one only in tests.
    """

    def __init__(
        self,
        server: ServerSettings,
        models: Sequence[ModelProfile] = (),
        *,
        cache_dir: Path | None = None,
        process: LlamaServer | None = None,
    ) -> None:
        self._server = server
        self._models = tuple(models)
        self._process = process or LlamaServer(slot_save_path=str(cache_dir) if cache_dir else "")
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
        endpoint = self._process.ensure(cancel)
        if endpoint is None:
            yield Stopped(StopKind.CANCELLED)
            return
        text = ""
        stop = StopKind.CANCELLED
        try:
            for item in self._client_of(endpoint).stream(_bounded(request), read_blob, cancel):
                match item:
                    case TextDelta():
                        text += item.text
                    case Stopped():
                        stop = item.kind
                    case _:
                        pass
                yield item
        except ProviderError as error:
            raise self._explained(error, endpoint, has_text=bool(text)) from error
        if stop is not StopKind.CANCELLED:
            self._read_on(endpoint, request, text, read_blob)

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
        self._process.close()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client[1].close()

    def _client_of(self, endpoint: Endpoint) -> CompatibleProvider:
        with self._lock:
            if self._client is None or self._client[0] != endpoint:
                if self._client is not None:
                    self._client[1].close()
                server = replace(self._server, base_url=f"{endpoint.url}/v1")
                client = CompatibleProvider(server, endpoint.key, self._models, extra=SAMPLING)
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
            f"The embedded model's process ended ({one_line(death, 300)})",
            remedy="Retry: it is started anew",
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
            except ProviderError:
                return  # nothing is lost: the next call reads it

        self._reader = threading.Thread(target=read, name="embedded-read-on", daemon=True)
        self._reader.start()


def without_metadata(request: ProviderRequest, reply: str) -> ProviderRequest:
    """What the next turn will begin with: the same without layer 8, then the reply. Asks for no output."""
    messages = tuple(
        replace(message, parts=tuple(part for part in message.parts if not _is_metadata(part)))
        for message in request.messages
    )
    answer = RequestMessage(Role.ASSISTANT, (Segment(LayerId.TURNS, "11/reply", reply, ""),))
    return replace(request, messages=(*messages, answer), max_output_tokens=0, response_schema_json="")


def _is_metadata(part: object) -> bool:
    return isinstance(part, Segment) and part.layer is LayerId.METADATA


def _bounded(request: ProviderRequest) -> ProviderRequest:
    return replace(
        request,
        model=MODEL_ID,
        max_output_tokens=request.max_output_tokens or DEFAULT_OUTPUT_TOKENS,
    )
