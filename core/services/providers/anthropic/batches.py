"""Anthropic's Message Batches. A batch has no name of ours there: the tag is in each request's `custom_id`.

Source: anthropic 2.10.0, resources/messages/batches.py; platform.claude.com "Batch processing" (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.kernel.language import tr
from core.kernel.values.provider import ProviderRequest, StopKind
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.wire import merge_usage, stop_of
from core.services.providers.batches import (
    MOST_LISTED,
    AnswerKind,
    BatchAnswer,
    BatchRequest,
    BatchStatus,
    FoundBatch,
    rows_of,
    sound_answers,
    unless_gone,
)
from core.services.providers.door import text_of

if TYPE_CHECKING:
    import anthropic
    from anthropic.types.messages import MessageBatch

_PATH = "v1/messages/batches"
_PER_PAGE = 100
_KINDS = {
    "succeeded": AnswerKind.ANSWERED,
    "canceled": AnswerKind.CANCELLED,
    "expired": AnswerKind.EXPIRED,
}


class AnthropicBatches:
    """See `Batches`.

    Args:
        client: the SDK's; failures: makes ProviderErrors of its own; body: of a request, as `messages.create` takes it.
    """

    most_requests = 10_000
    """The vendor takes 100,000; a smaller batch ends sooner."""
    most_bytes = 100_000_000
    """The vendor takes 256 MB with everything around the prompts."""
    ends_within = timedelta(hours=24)

    def __init__(
        self,
        client: Callable[[], anthropic.Anthropic],
        failures: Callable[[str, str], AbstractContextManager[object]],
        body: Callable[[ProviderRequest], dict[str, Any]],
    ) -> None:
        self._client, self._failures, self._body = client, failures, body

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """See `Batches.submit`."""
        client, model = self._client(), requests[0].request.model
        sent: list[Any] = [
            {"custom_id": one.custom_id, "params": self._body(one.request)} for one in requests
        ]
        with self._failures(model, _PATH):
            return _status(client.messages.batches.create(requests=sent))

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """See `Batches.find`. What works still tells no `custom_id`: one of the same size may be it."""
        client = self._client()
        is_unsure = False
        with self._failures("", _PATH):
            for batch in islice(client.messages.batches.list(limit=_PER_PAGE), MOST_LISTED):
                if _made_at(batch) < since:
                    break
                if batch.id in known or _count(batch) != count:
                    continue
                if batch.processing_status != "ended":
                    is_unsure = True
                elif self._has_tag(batch, tag):
                    return FoundBatch(text_of(batch.id))
        return FoundBatch(is_unsure=is_unsure)

    def status(self, name: str) -> BatchStatus | None:
        """See `Batches.status`."""
        client = self._client()

        def ask() -> BatchStatus:
            with self._failures("", f"{_PATH}/{name}"):
                return _status(client.messages.batches.retrieve(name))

        return unless_gone(ask)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """See `Batches.answers`."""
        return sound_answers(self._answers(name))

    def cancel(self, name: str) -> None:
        """See `Batches.cancel`."""
        client = self._client()
        with self._failures("", f"{_PATH}/{name}/cancel"):
            client.messages.batches.cancel(name)

    def clean(self, tag: str, name: str) -> None:
        """See `Batches.clean`."""
        del tag
        client = self._client()

        def ask() -> None:
            with self._failures("", f"{_PATH}/{name}"):
                client.messages.batches.delete(name)

        if name:
            unless_gone(ask)

    def _answers(self, name: str) -> Generator[BatchAnswer]:
        from anthropic.types.messages import MessageBatchIndividualResponse

        client = self._client()
        with self._failures("", f"{_PATH}/{name}"):
            if not client.messages.batches.retrieve(name).results_url:
                return  # the SDK raises an error of its own for it, which is no failure of a request
        with (
            self._failures("", f"{_PATH}/{name}/results"),
            client.messages.batches.with_streaming_response.results(name) as response,
        ):
            yield from rows_of(
                response.iter_lines(), lambda row: _answer(MessageBatchIndividualResponse.construct(**row))
            )

    def _has_tag(self, batch: MessageBatch, tag: str) -> bool:
        if not batch.results_url:
            return False
        with closing(self._answers(batch.id)) as answers:
            first = next((one for one in answers if one.kind is not AnswerKind.TORN), None)
        return first is not None and first.custom_id.startswith(f"{tag}-")


def _status(batch: MessageBatch) -> BatchStatus:
    is_ended = batch.processing_status == "ended"
    counts = batch.request_counts
    return BatchStatus(
        name=text_of(batch.id),
        is_ended=is_ended,
        is_gone=batch.archived_at is not None,
        answered=counts.succeeded if is_ended else None,
        has_every_row=is_ended,
        worked_off=_count(batch) - counts.processing,
    )


def _made_at(batch: MessageBatch) -> datetime:
    made: object = batch.created_at
    if not isinstance(made, datetime):
        return datetime.max.replace(tzinfo=UTC)
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _count(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _answer(row: Any) -> BatchAnswer:
    result = row.result
    kind = _KINDS.get(text_of(result.type), AnswerKind.ERRORED)
    if kind is AnswerKind.ANSWERED:
        message = result.message
        blocks = [block.text for block in message.content if block.type == "text"]
        text = "".join(map(text_of, blocks))
        usage, stop = merge_usage(Usage(), message.usage), stop_of(message)
        reason = (
            tr("{model} refused to read the conversation", model=message.model)
            if stop is StopKind.REFUSED
            else ""
        )
        return BatchAnswer(
            custom_id=row.custom_id,
            kind=kind,
            text=text,
            usage=usage,
            stop=stop,
            reason=reason,
            is_billed=True,
        )
    if kind is AnswerKind.ERRORED:
        fault = result.error.error
        is_refused = text_of(fault.type) == "invalid_request_error"
        return BatchAnswer(
            custom_id=row.custom_id, kind=kind, reason=text_of(fault.message), is_refused=is_refused
        )
    return BatchAnswer(
        custom_id=row.custom_id,
        kind=kind,
        reason=tr("the provider reports the request as {value}", value=kind.value),
    )
