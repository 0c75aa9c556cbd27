"""Requests to send to a provider in a test, and what to do with what comes back."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.kernel.errors import ProviderError, StorageError
from core.kernel.values.messages import AttachmentPart, Role
from core.kernel.values.provider import (
    ProviderRequest,
    ReasoningDelta,
    RequestMessage,
    RequestPart,
    Stopped,
    StreamItem,
    TextDelta,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.stack import LayerId, Segment, ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.protocol import CancelToken, Provider, ReadBlob
from tests.patience import PATIENCE_S

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


def seg(text: str, layer: LayerId = LayerId.TURNS, key: str = "") -> Segment:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Segment(layer, key or f"{int(layer)}/{sha256[:6]}", text, sha256)


def user(*parts: str | RequestPart) -> RequestMessage:
    return RequestMessage(Role.USER, _parts(parts))


def assistant(*parts: str | RequestPart) -> RequestMessage:
    return RequestMessage(Role.ASSISTANT, _parts(parts))


def tool(*parts: str | RequestPart) -> RequestMessage:
    return RequestMessage(Role.TOOL, _parts(parts))


def _parts(parts: tuple[str | RequestPart, ...]) -> tuple[RequestPart, ...]:
    return tuple(seg(part) if isinstance(part, str) else part for part in parts)


TOOLS = (
    ToolSchema("write_file", "Write.", '{"properties":{"path":{"type":"string"}},"type":"object"}'),
    ToolSchema(
        "read_file", "Read.", '{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}'
    ),
)


def ask(
    model: str,
    *messages: RequestMessage,
    system: tuple[str, ...] = ("You help.", "The project is X."),
    **rest: object,
) -> ProviderRequest:
    """A request whose messages are a greeting unless others are given."""
    layers = (LayerId.ROLE, LayerId.PROJECT, LayerId.KNOWLEDGE)
    segments = tuple(seg(text, layer) for text, layer in zip(system, layers, strict=False))
    return ProviderRequest("", model, segments, messages or (user("Hi."),), **rest)  # type: ignore[arg-type]


def picture(media_type: str = "image/png", name: str = "shot.png") -> AttachmentPart:
    return AttachmentPart(hashlib.sha256(PNG).hexdigest(), media_type, name, len(PNG))


def document(data: bytes, name: str, media_type: str = "text/plain") -> AttachmentPart:
    return AttachmentPart(hashlib.sha256(data).hexdigest(), media_type, name, len(data))


def blobs(*contents: bytes) -> ReadBlob:
    """Reads these contents by their sha256."""
    kept: Mapping[str, bytes] = {hashlib.sha256(data).hexdigest(): data for data in contents}

    def read(sha256: str) -> bytes:
        if sha256 not in kept:
            raise StorageError("It is gone", where=f"attachments/{sha256}")
        return kept[sha256]

    return read


NO_BLOBS = blobs()


def server_settings(kind: str, url: str = "", **rest: Any) -> ServerSettings:
    return ServerSettings(kind, kind, kind.title(), url, **rest)


@dataclass(slots=True)
class Outcome:
    """All that a call yielded, and how it failed if it did."""

    items: list[StreamItem] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def text(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, ReasoningDelta))

    @property
    def vendor_blocks(self) -> list[str]:
        return [
            item.vendor_json for item in self.items if isinstance(item, ReasoningDelta) and item.vendor_json
        ]

    @property
    def usage(self) -> Usage:
        return [item.usage for item in self.items if isinstance(item, UsageUpdate)][-1]

    @property
    def stopped(self) -> Stopped:
        last = self.items[-1]
        assert isinstance(last, Stopped)
        return last

    @property
    def failure(self) -> ProviderError:
        assert self.error is not None, self.items
        return self.error


def outcome(stream: Iterator[StreamItem]) -> Outcome:
    result = Outcome()
    try:
        result.items.extend(stream)
    except ProviderError as error:
        result.error = error
    return result


def run(
    provider: Provider,
    request: ProviderRequest,
    read_blob: ReadBlob = NO_BLOBS,
    cancel: CancelToken | None = None,
) -> Outcome:
    """Stream a request to its end."""
    result = Outcome()
    try:
        for item in provider.stream(request, read_blob, cancel or CancelToken()):
            result.items.append(item)
    except ProviderError as error:
        result.error = error
    finally:
        provider.close()
    return result


def run_beside(work: Callable[[], Outcome]) -> Callable[[], Outcome]:
    """Start work on another thread. Returns what waits for its outcome."""
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()

    def wait() -> Outcome:
        thread.join(PATIENCE_S)
        assert found, "the call did not end"
        return found[0]

    return wait
