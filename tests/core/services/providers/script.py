"""A provider whose answers are written down beforehand, for tests of what calls providers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.kernel.errors import ProviderError
from core.kernel.values.provider import ModelProfile, ProviderRequest, StreamItem
from core.services.providers.protocol import CancelToken, ReadBlob


class Scripted:
    """Answers each request with the next of `attempts`: items that it yields, errors that it raises."""

    def __init__(self, *attempts: Sequence[StreamItem | ProviderError]) -> None:
        self.attempts = attempts
        self.requests: list[ProviderRequest] = []

    @property
    def sent(self) -> int:
        """How many requests came."""
        return len(self.requests)

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        self.requests.append(request)
        for item in self.attempts[self.sent - 1]:
            if isinstance(item, ProviderError):
                raise item
            yield item

    def list_models(self) -> tuple[ModelProfile, ...]:
        return ()

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        return None

    def close(self) -> None:
        """Nothing to release."""
