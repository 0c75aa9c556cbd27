"""A model's reasoning that a request gives back: a vendor that refuses it is asked once more without it, and from then on."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from core.kernel.errors import ProviderError
from core.kernel.values.messages import ReasoningPart
from core.kernel.values.provider import ProviderRequest, StreamItem

_REFUSAL = re.compile(
    r"(?i)signature|prefix_binding|bound to a different|redacted_thinking|thinking` block|thinking block"
    r"|encrypted[_ ]content|reasoning (?:item|block|content)"
)
"""Words of a refusal that is about reasoning that came back: expired, of another model, or behind another conversation.

Source: Anthropic "Extended thinking"; OpenAI `invalid_encrypted_content`; Gemini "Thought signatures" (read 2026-11).
"""
_BAD_REQUEST = 400

Stream = Callable[[ProviderRequest], Iterator[StreamItem]]


class ReasoningRefusals:
    """Models that refused reasoning given back, for as long as the program runs. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: set[tuple[str, str]] = set()

    def stream(
        self, request: ProviderRequest, stream: Stream, on_refusal: Callable[[ProviderError], None]
    ) -> Iterator[StreamItem]:
        """Stream a request with the reasoning that it gives back, without it where its model refuses that.

        The model is remembered only when it takes the same request without: else something else was wrong.

        Args:
            stream: sends a request; on_refusal: told of a refusal once for each model, when the answer to the other begins.

        Raises:
            ProviderError: of the last attempt.
        """
        bare = without_reasoning(request)
        if bare is request or self._holds(request):
            yield from stream(bare)
            return
        has_begun = False
        try:
            for item in stream(request):
                has_begun = True
                yield item
        except ProviderError as error:
            if has_begun or not is_reasoning_refused(error):
                raise
            refusal = error
        else:
            return
        for item in stream(bare):
            if self._take(request):
                on_refusal(refusal)
            yield item

    def _holds(self, request: ProviderRequest) -> bool:
        with self._lock:
            return (request.provider, request.model) in self._models

    def _take(self, request: ProviderRequest) -> bool:
        """Remember a model. Returns whether that is new."""
        model = (request.provider, request.model)
        with self._lock:
            is_new = model not in self._models
            self._models.add(model)
        return is_new


def is_reasoning_refused(error: ProviderError) -> bool:
    """True if a vendor refused a request for the reasoning in it."""
    return error.status == _BAD_REQUEST and _REFUSAL.search(error.what) is not None


def without_reasoning(request: ProviderRequest) -> ProviderRequest:
    """The request without any reasoning; the same object where it has none. A message of nothing else goes with it."""
    if not any(isinstance(part, ReasoningPart) for message in request.messages for part in message.parts):
        return request
    messages = (
        replace(message, parts=tuple(one for one in message.parts if not isinstance(one, ReasoningPart)))
        for message in request.messages
    )
    return replace(request, messages=tuple(message for message in messages if message.parts))
