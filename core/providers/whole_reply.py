"""A reply as a whole, for callers that wait for its end and show nothing of it before."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from core.base.errors import ProviderError
from core.providers.endings import told_of
from core.providers.protocol import CancelToken, Provider
from core.providers.retry import stream_with_retry
from core.values.provider import (
    WHOLE_REPLY,
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.values.usage import Usage


class WholeReply(msgspec.Struct, frozen=True):
    """Reply of a call, without its reasoning and tool calls.

    Args:
        usage: empty where none was reported; told: why it is not whole, in a sentence without its stop; empty where it is.
    """

    text: str
    usage: Usage
    stop: StopKind
    told: str = ""


class CallSpent(msgspec.Struct, frozen=True):
    """Usage of a call as far as it is known, however the call ended.

    Args:
        reported: as the provider said; texts: all that the model wrote, for counting.
        is_whole: the provider ended the reply itself; is_billed: it may bill this call.
        lost: attempts before it whose answers never came.
    """

    reported: Usage
    texts: tuple[str, ...]
    is_whole: bool
    is_billed: bool
    lost: int = 0


class _Arrived:
    """The part of a reply that has come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.written: list[str] = []
        self.usage, self.stop = Usage(), Stopped(StopKind.COMPLETED)
        self.is_whole, self.is_out, self.lost = False, True, 0

    def add(self, item: StreamItem) -> None:
        match item:
            case TextDelta():
                self.texts.append(item.text)
                self.written.append(item.text)
            case ReasoningDelta():
                self.written.append(item.text)
            case ToolCallReady():
                self.written.append(item.part.arguments_json)
            case UsageUpdate():
                self.usage = item.usage
            case Stopped():
                self.stop = item
                self.is_out = item.is_sent
                self.is_whole = item.kind is not StopKind.CANCELLED

    def failed(self, error: ProviderError) -> None:
        self.lost += error.is_lost

    def spent(self) -> CallSpent:
        is_billed = self.is_out or self.usage != Usage() or bool(self.written)
        return CallSpent(self.usage, tuple(self.written), self.is_whole, is_billed, self.lost)


def whole_reply(
    provider: Provider,
    request: ProviderRequest,
    cancel: CancelToken,
    on_spent: Callable[[CallSpent], object] = lambda _spent: None,
    *,
    most_chars: int | None = None,
) -> WholeReply:
    """Send a request that has no attachments, with retries, and wait for the reply.

    Args:
        on_spent: told once how the call ended, also where it fails; most_chars: as for `stream_with_retry`.

    Raises:
        ProviderError: as `Provider.stream`; what had arrived is then dropped.
    """
    arrived = _Arrived()
    try:
        for item in stream_with_retry(
            provider,
            request,
            no_attachments,
            cancel,
            lambda _attempt, _wait_s, error: arrived.failed(error),
            most_chars=most_chars,
        ):
            arrived.add(item)
    except ProviderError as error:
        arrived.is_out = error.is_lost
        raise
    finally:
        on_spent(arrived.spent())
    kind = arrived.stop.kind
    told = "" if kind in {*WHOLE_REPLY, StopKind.CANCELLED} else told_of(arrived.stop)[0]
    return WholeReply("".join(arrived.texts), arrived.usage, kind, told)


def warmed(items: Iterable[StreamItem]) -> Usage | None:
    """Usage of a request that asks for no reply, as `Prewarms.prewarm` returns it."""
    usage = Usage()
    for item in items:
        if isinstance(item, UsageUpdate):
            usage = item.usage
        elif isinstance(item, Stopped) and not item.is_sent and usage == Usage():
            return None
    return usage


def no_attachments(sha256: str) -> bytes:
    """Read no attachment: for requests that have none."""
    raise LookupError(sha256)
