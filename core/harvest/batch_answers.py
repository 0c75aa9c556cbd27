"""Answers of a batch that count, out of rows that come in any order, twice, or for what nobody asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.harvest.batch_book import owner
from core.providers.batches import AnswerKind, BatchAnswer
from core.values.batches import HarvestBatch


def answers_that_count(
    batch: HarvestBatch, answers: Iterable[BatchAnswer]
) -> Iterator[tuple[int, BatchAnswer]]:
    """One answer to each request of a batch, by the request's number: its first reply, before any other row of it.

    Replies come as they are read, all others behind them. Answers to what nobody asked are passed over.
    """
    replied: set[int] = set()
    without: dict[int, BatchAnswer] = {}
    for answer in answers:
        index = owner(answer.custom_id, batch)
        if index is None or index in replied:
            continue
        if answer.kind is AnswerKind.ANSWERED:
            replied.add(index)
            yield index, answer
        else:
            without.setdefault(index, answer)
    yield from ((index, answer) for index, answer in without.items() if index not in replied)
