"""Asks a provider for the items of a conversation, in the reply's schema where the provider can hold to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

from core.base.errors import FailureKind, ProviderError, SlopError
from core.harvest.reply import MAX_REPLY_CHARS, reply_schema
from core.providers.protocol import CancelToken, Provider
from core.providers.whole_reply import CallSpent, whole_reply
from core.values.messages import Role
from core.values.provider import ProviderKind, ProviderRequest, RequestMessage, StopKind
from core.values.stack import LayerId, Segment

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


class Schema(Protocol):
    """Gives the JSON Schema of a reply."""

    def __call__(self, *, is_small: bool) -> str:
        """The schema, bounded for the built-in model."""
        ...


class Purse(Protocol):
    """The money of a run's calls: asked before each, told after it."""

    def begin(self, provider: str, model: str, prompt: str) -> None:
        """A call is about to be made. Raises HarvestCancelledError where there is no money for it."""
        ...

    def spent(self, provider: str, model: str, prompt: str, spent: CallSpent) -> None:
        """The call is over, however it ended."""
        ...


class ProviderGenerate:
    """A `Generate` over the providers' clients. One harvest's.

    Args:
        client: gives a provider's client, raises ProviderError where there is none.
        cancel: stops the call under way, and all that would follow; purse: None where money is no matter.
        schema: gives the schema of the reply, told whether it is for the built-in model.
    """

    def __init__(
        self,
        client: Callable[[str], Provider],
        cancel: CancelToken | None = None,
        purse: Purse | None = None,
        *,
        schema: Schema = reply_schema,
    ) -> None:
        self._client = client
        self._cancel = cancel or CancelToken()
        self._purse = purse
        self._schema = schema
        self._without_schema: set[tuple[str, str]] = set()

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        """Ask once; without the schema where the provider refuses it.

        Raises:
            HarvestCancelledError: it was stopped. ProviderError: the call failed, or the model refused.
        """
        has_schema = (provider, model) not in self._without_schema
        try:
            return self._ask(prompt, self._request(prompt, provider, model, has_schema=has_schema))
        except ProviderError as error:
            if not has_schema or error.kind is not FailureKind.BAD_REQUEST:
                raise
        self._without_schema.add((provider, model))
        return self._ask(prompt, self._request(prompt, provider, model, has_schema=False))

    def _request(self, prompt: str, provider: str, model: str, *, has_schema: bool) -> ProviderRequest:
        return request_for(prompt, provider, model, has_schema=has_schema, schema=self._schema)

    def _ask(self, prompt: str, request: ProviderRequest) -> str:
        if self._cancel.is_cancelled:
            raise HarvestCancelledError("The harvest was stopped")
        client, purse = self._client(request.provider), self._purse
        if purse is None:
            reply = whole_reply(client, request, self._cancel, most_chars=MAX_REPLY_CHARS)
        else:
            provider, model = request.provider, request.model
            purse.begin(provider, model, prompt)
            reply = whole_reply(
                client,
                request,
                self._cancel,
                lambda spent: purse.spent(provider, model, prompt, spent),
                most_chars=MAX_REPLY_CHARS,
            )
        if reply.stop is StopKind.CANCELLED:
            raise HarvestCancelledError("The harvest was stopped")
        if reply.stop is StopKind.BROKEN:
            raise ProviderError(
                FailureKind.BAD_REPLY, reply.told, remedy="Look again, or choose another model"
            )
        if reply.stop is StopKind.REFUSED:
            raise ProviderError(
                FailureKind.BAD_REPLY,
                f"{request.model} refused to read the conversation",
                remedy="Choose another model, or pin the conversation to keep it",
            )
        return reply.text


def request_for(
    prompt: str, provider: str, model: str, *, has_schema: bool = True, schema: Schema = reply_schema
) -> ProviderRequest:
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
        response_schema_json=schema(is_small=is_small) if has_schema else "",
    )
