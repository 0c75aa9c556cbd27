"""Gemini's batches, inline: the tag is the batch's display name, each request's name is in its metadata.

Source: google-genai 3.3.0, batches.py; ai.google.dev "Batch API" (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.kernel.errors import ProviderError
from core.kernel.language import tr
from core.kernel.values.provider import ProviderRequest, StopKind, Stopped, TextDelta, UsageUpdate
from core.kernel.values.usage import Usage
from core.services.providers.batches import (
    MOST_LISTED,
    AnswerKind,
    BatchAnswer,
    BatchRequest,
    BatchStatus,
    FoundBatch,
    sound_answers,
    unless_gone,
)
from core.services.providers.door import text_of
from core.services.providers.endings import told_of
from core.services.providers.gemini.wire import reply_items

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

KEY = "key"
_INVALID, _BAD_REQUEST = 3, 400
_PER_PAGE = 100
_FAILED, _EXPIRED, _SUCCEEDED = "FAILED", "EXPIRED", "SUCCEEDED"
_ENDED = frozenset({_SUCCEEDED, "PARTIALLY_SUCCEEDED", "CANCELLED", _FAILED, _EXPIRED})


class GeminiBatches:
    """See `Batches`.

    Args:
        sdk: the SDK's client; failures: makes ProviderErrors of its own for a model and a path.
        parts: contents and config of a request, as `generate_content` takes them.
    """

    most_requests = 1_000
    most_bytes = 12_000_000
    """The vendor takes 20 MB of inline requests, in which text is escaped."""
    ends_within = timedelta(hours=48)

    def __init__(
        self,
        sdk: Callable[[], genai.Client],
        failures: Callable[[str, str], AbstractContextManager[None]],
        parts: Callable[[ProviderRequest], tuple[Sequence[types.Content], types.GenerateContentConfig]],
    ) -> None:
        self._sdk, self._failures, self._parts = sdk, failures, parts

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """See `Batches.submit`."""
        sdk, model = self._sdk(), requests[0].request.model
        sent: Any = [self._inlined(one) for one in requests]
        with self._failures(model, f"models/{model}:batchGenerateContent"):
            return _status(sdk.batches.create(model=model, src=sent, config={"display_name": tag}))

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """See `Batches.find`."""
        del count, known, since  # the tag is in the list, and its order is not documented
        sdk = self._sdk()
        with self._failures("", "batches"):
            for batch in islice(sdk.batches.list(config={"page_size": _PER_PAGE}), MOST_LISTED):
                if batch.display_name == tag:
                    return FoundBatch(text_of(batch.name))
        return FoundBatch()

    def status(self, name: str) -> BatchStatus | None:
        """See `Batches.status`."""
        batch = self._retrieved(name)
        return None if batch is None else _status(batch)

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """See `Batches.answers`."""
        return sound_answers(self._answers(name))

    def cancel(self, name: str) -> None:
        """See `Batches.cancel`."""
        sdk = self._sdk()
        with self._failures("", f"{name}:cancel"):
            sdk.batches.cancel(name=name)

    def clean(self, tag: str, name: str) -> None:
        """See `Batches.clean`. Nothing is uploaded beside the batch, which holds requests and answers."""
        del tag
        sdk = self._sdk()

        def ask() -> None:
            with self._failures("", name):
                sdk.batches.delete(name=name)

        if name:
            unless_gone(ask)

    def _inlined(self, one: BatchRequest) -> dict[str, Any]:
        contents, config = self._parts(one.request)
        return {"contents": list(contents), "config": config, "metadata": {KEY: one.custom_id}}

    def _retrieved(self, name: str) -> types.BatchJob | None:
        sdk = self._sdk()

        def ask() -> types.BatchJob:
            with self._failures("", name):
                return sdk.batches.get(name=name)

        return unless_gone(ask)

    def _answers(self, name: str) -> Iterator[BatchAnswer]:
        batch = self._retrieved(name)
        if batch is not None and batch.dest is not None:
            for row in batch.dest.inlined_responses or ():
                yield _answer(row)


def _state(batch: types.BatchJob) -> str:
    """Its last word alone: the SDK passes on unchanged what it has no name for, `BATCH_STATE_…` beside `JOB_STATE_…`."""
    return "" if batch.state is None else text_of(batch.state.value).partition("_STATE_")[2]


def _status(batch: types.BatchJob) -> BatchStatus:
    state = _state(batch)
    reason = ""
    if state == _FAILED:
        said = text_of(batch.error.message) if batch.error is not None else ""
        reason = said or tr("the provider gives no reason")
    return BatchStatus(
        name=text_of(batch.name),
        is_ended=state in _ENDED,
        is_expired=state == _EXPIRED,
        reason=reason,
        has_every_row=state == _SUCCEEDED,
    )


def _answer(row: types.InlinedResponse) -> BatchAnswer:
    custom_id = text_of((row.metadata or {}).get(KEY))
    if row.response is None:
        error = row.error
        reason = text_of(error.message) if error is not None else tr("there is no response")
        is_refused = error is not None and error.code in {_INVALID, _BAD_REQUEST}
        return BatchAnswer(custom_id=custom_id, kind=AnswerKind.ERRORED, reason=reason, is_refused=is_refused)
    texts, usage, stop, reason = list[str](), Usage(), StopKind.COMPLETED, ""
    try:
        for item in reply_items([row.response]):
            match item:
                case TextDelta(text):
                    texts.append(text)
                case UsageUpdate():
                    usage = item.usage
                case Stopped():
                    stop = item.kind
                    is_unusable = stop in {StopKind.REFUSED, StopKind.BROKEN}
                    reason = told_of(item)[0] if is_unusable else ""
                case _:
                    pass
    except ProviderError as error:
        stop, reason = StopKind.REFUSED, error.what  # it is answered, and billed
    return BatchAnswer(
        custom_id=custom_id,
        kind=AnswerKind.ANSWERED,
        text="".join(texts),
        usage=usage,
        stop=stop,
        reason=reason,
        is_billed=True,
    )
