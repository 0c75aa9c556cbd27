"""A reply as a whole, for callers that wait for its end and show nothing of it before."""

from __future__ import annotations

import msgspec

from core.providers.protocol import CancelToken, Provider
from core.providers.retry import stream_with_retry
from core.values.provider import ProviderRequest, StopKind, Stopped, TextDelta, UsageUpdate
from core.values.usage import Usage


class WholeReply(msgspec.Struct, frozen=True):
    """What a call gave, without its reasoning and tool calls. `usage` is empty where none was reported."""

    text: str
    usage: Usage
    stop: StopKind


def whole_reply(provider: Provider, request: ProviderRequest, cancel: CancelToken) -> WholeReply:
    """Send a request that has no attachments, with retries, and wait for the reply.

    Raises:
        ProviderError: as `Provider.stream`; what had arrived is then dropped.
    """
    texts: list[str] = []
    usage, stop = Usage(), StopKind.COMPLETED
    for item in stream_with_retry(provider, request, _no_attachments, cancel, lambda *_: None):
        match item:
            case TextDelta():
                texts.append(item.text)
            case UsageUpdate():
                usage = item.usage
            case Stopped():
                stop = item.kind
            case _:
                pass
    return WholeReply("".join(texts), usage, stop)


def _no_attachments(sha256: str) -> bytes:
    raise LookupError(sha256)
