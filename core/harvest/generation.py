"""Asks a provider for the items of a conversation, in the reply's schema where the provider can hold to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

from core.base.errors import FailureKind, ProviderError, SlopError
from core.harvest.reply import reply_schema
from core.providers.protocol import CancelToken, Provider
from core.providers.whole_reply import whole_reply
from core.values.messages import Role
from core.values.provider import ProviderKind, ProviderRequest, RequestMessage, StopKind
from core.values.stack import LayerId, Segment
from core.values.usage import Usage

SMALL_OUTPUT_TOKENS = 2_000
"""Of the embedded model: more than the bounded schema lets it write, so that its JSON is never cut."""

OUTPUT_TOKENS = 16_000
"""Of any other: a reply that is longer was led astray by its text."""


class HarvestCancelledError(SlopError):
    """The person stopped the harvest."""


class Generate(Protocol):
    """Sends a prompt to a model and returns the text of its reply. Raises SlopError."""

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        """Ask once."""
        ...


class ProviderGenerate:
    """A `Generate` over the providers' clients. One harvest's.

    Args:
        client: gives a provider's client, raises ProviderError where there is none.
        cancel: stops the call under way, and all that would follow.
        on_call: told of every call that was answered: provider, model and what it used.
    """

    def __init__(
        self,
        client: Callable[[str], Provider],
        cancel: CancelToken | None = None,
        on_call: Callable[[str, str, Usage], object] = lambda _provider, _model, _usage: None,
    ) -> None:
        self._client = client
        self._cancel = cancel or CancelToken()
        self._on_call = on_call
        self._without_schema: set[tuple[str, str]] = set()

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        """Ask once; without the schema where the provider refuses it.

        Raises:
            HarvestCancelledError: it was stopped. ProviderError: the call failed, or the model refused.
        """
        has_schema = (provider, model) not in self._without_schema
        try:
            return self._ask(request_for(prompt, provider, model, has_schema=has_schema))
        except ProviderError as error:
            if not has_schema or error.kind is not FailureKind.BAD_REQUEST:
                raise
        self._without_schema.add((provider, model))
        return self._ask(request_for(prompt, provider, model, has_schema=False))

    def _ask(self, request: ProviderRequest) -> str:
        if self._cancel.is_cancelled:
            raise HarvestCancelledError("The harvest was stopped")
        reply = whole_reply(self._client(request.provider), request, self._cancel)
        self._on_call(request.provider, request.model, reply.usage)
        if reply.stop is StopKind.CANCELLED:
            raise HarvestCancelledError("The harvest was stopped")
        if reply.stop is StopKind.REFUSED:
            raise ProviderError(
                FailureKind.BAD_REPLY,
                f"{request.model} refused to read the conversation",
                remedy="Choose another model, or pin the conversation to keep it",
            )
        return reply.text


def request_for(prompt: str, provider: str, model: str, *, has_schema: bool = True) -> ProviderRequest:
    """The request that asks for a harvest: one message of the user, and the schema of the reply."""
    is_small = provider == ProviderKind.EMBEDDED
    sha256 = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
    segment = Segment(LayerId.USER, "12/harvest", prompt, sha256)
    return ProviderRequest(
        provider=provider,
        model=model,
        system=(),
        messages=(RequestMessage(Role.USER, (segment,)),),
        max_output_tokens=SMALL_OUTPUT_TOKENS if is_small else OUTPUT_TOKENS,
        response_schema_json=reply_schema(is_small=is_small) if has_schema else "",
    )
