"""OpenAI's Batches: the requests are a file that is uploaded, the tag is in the batch's metadata and the file's name.

Source: openai 3.51.0, resources/batches.py and resources/files.py; platform.openai.com "Batch API" (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.kernel.encoders import to_json
from core.kernel.language import tr
from core.kernel.values.provider import ProviderRequest, StopKind
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
from core.services.providers.door import text_of, word_of
from core.services.providers.openai.sdk import stop_of, usage_of

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

TAG = "manual_slop"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_KINDS = {"batch_expired": AnswerKind.EXPIRED, "batch_cancelled": AnswerKind.CANCELLED}
_OK, _BAD_REQUEST = 200, 400
_PER_PAGE = 100


class OpenAiBatches:
    """See `Batches`.

    Args:
        calling: gives the SDK's client for a path and a model, and makes ProviderErrors of its failures.
        body: of a request, as `responses.create` takes it, without a stream.
    """

    most_requests = 10_000
    """The vendor takes 50,000; a smaller batch ends sooner."""
    most_bytes = 50_000_000
    """The vendor takes 200 MB of file, in which text is escaped."""
    ends_within = timedelta(hours=24)

    def __init__(
        self,
        calling: Callable[..., AbstractContextManager[openai.OpenAI]],
        body: Callable[[ProviderRequest], dict[str, Any]],
    ) -> None:
        self._calling, self._body = calling, body

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """See `Batches.submit`."""
        model = requests[0].request.model
        lines = b"".join(to_json(self._line(one)) + b"\n" for one in requests)
        with self._calling("/files", model) as client:
            file = client.files.create(file=(_file_name(tag), lines), purpose="batch")
        with self._calling("/batches", model) as client:
            return _status(
                client.batches.create(
                    completion_window="24h",
                    endpoint="/v1/responses",
                    input_file_id=file.id,
                    metadata={TAG: tag},
                )
            )

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """See `Batches.find`."""
        del count, known  # the tag is in the list
        with self._calling("/batches") as client:
            for batch in islice(client.batches.list(limit=_PER_PAGE), MOST_LISTED):
                if (batch.metadata or {}).get(TAG) == tag:
                    return FoundBatch(text_of(batch.id))
                if datetime.fromtimestamp(batch.created_at, UTC) < since:
                    break
        return FoundBatch()

    def status(self, name: str) -> BatchStatus | None:
        """See `Batches.status`."""
        batch = self._retrieved(name)
        return None if batch is None else _status(batch)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """See `Batches.answers`. They are in two files: one of answers, one of errors."""
        return sound_answers(self._answers(name))

    def cancel(self, name: str) -> None:
        """See `Batches.cancel`."""
        with self._calling(f"/batches/{name}/cancel") as client:
            client.batches.cancel(name)

    def clean(self, tag: str, name: str) -> None:
        """See `Batches.clean`. The upload is found by its name, too: it may be there without a batch."""
        batch = self._retrieved(name) if name else None
        files = [] if batch is None else [batch.input_file_id, batch.output_file_id, batch.error_file_id]
        if batch is None:
            with self._calling("/files") as client:
                listed = islice(client.files.list(purpose="batch", order="desc"), MOST_LISTED)
                files = [file.id for file in listed if file.filename == _file_name(tag)]
        for file_id in filter(None, files):
            unless_gone(partial(self._delete, file_id))

    def _delete(self, file_id: str) -> None:
        with self._calling(f"/files/{file_id}") as client:
            client.files.delete(file_id)

    def _retrieved(self, name: str) -> Batch | None:
        def ask() -> Batch:
            with self._calling(f"/batches/{name}") as client:
                return client.batches.retrieve(name)

        return unless_gone(ask)

    def _answers(self, name: str) -> Generator[BatchAnswer]:
        batch = self._retrieved(name)
        if batch is None:
            return
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            with closing(self._lines(file_id)) as lines:
                yield from lines

    def _lines(self, file_id: str) -> Generator[BatchAnswer]:
        with (
            self._calling(f"/files/{file_id}/content") as client,
            client.files.with_streaming_response.content(file_id) as response,
        ):
            yield from rows_of(response.iter_lines(), _answer)

    def _line(self, one: BatchRequest) -> dict[str, Any]:
        return {
            "custom_id": one.custom_id,
            "method": "POST",
            "url": "/v1/responses",
            "body": self._body(one.request),
        }


def _file_name(tag: str) -> str:
    return f"{tag}.jsonl"


def _status(batch: Batch) -> BatchStatus:
    reason = ""
    if batch.status == "failed":
        faults = (batch.errors.data if batch.errors is not None else None) or []
        reason = text_of(faults[0].message) if faults else tr("the provider gives no reason")
    is_expired = batch.status == "expired"
    counts = batch.request_counts
    return BatchStatus(
        name=text_of(batch.id),
        is_ended=batch.status in _ENDED,
        is_expired=is_expired,
        reason=reason,
        answered=None if counts is None else counts.completed,
        worked_off=0 if counts is None else counts.completed + counts.failed,
    )


def _answer(row: dict[str, Any]) -> BatchAnswer:
    custom_id, error = row["custom_id"], row.get("error")
    if error:
        kind = _KINDS.get(word_of(error.get("code")), AnswerKind.ERRORED)
        return BatchAnswer(custom_id=custom_id, kind=kind, reason=text_of(error.get("message")))
    response: dict[str, Any] = row["response"]
    status, body = response["status_code"], response["body"]
    if status != _OK:
        reason = text_of((body.get("error") or {}).get("message"))
        return BatchAnswer(
            custom_id=custom_id, kind=AnswerKind.ERRORED, reason=reason, is_refused=status == _BAD_REQUEST
        )
    return _answered(custom_id, body, text_of(response.get("request_id")))


def _answered(custom_id: str, body: dict[str, Any], request_id: str) -> BatchAnswer:
    from openai.types.responses import Response

    reply: Any = Response.construct(**body)
    usage = usage_of(reply.usage, request_id)
    if reply.status == "failed":
        reason = text_of(getattr(reply.error, "message", ""))
        return BatchAnswer(
            custom_id=custom_id, kind=AnswerKind.ERRORED, usage=usage, reason=reason, is_billed=True
        )
    parts = [part for item in reply.output if item.type == "message" for part in item.content]
    has_refused = any(part.type == "refusal" for part in parts)
    stop = stop_of(reply, has_calls=False, has_refused=has_refused).kind
    text = "".join(text_of(part.text) for part in parts if part.type == "output_text")
    reason = (
        tr("{model} refused to read the conversation", model=text_of(reply.model))
        if stop is StopKind.REFUSED
        else ""
    )
    return BatchAnswer(
        custom_id=custom_id,
        kind=AnswerKind.ANSWERED,
        text=text,
        usage=usage,
        stop=stop,
        reason=reason,
        is_billed=True,
    )
