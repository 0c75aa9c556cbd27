"""Answers of a batch that count, out of rows that come in any order, twice, torn, or for what nobody asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.harvest.batch_book import owner
from core.providers.batches import AnswerKind, BatchAnswer, BatchStatus
from core.values.batches import HarvestBatch


@dataclass(slots=True)
class RowTally:
    """RowTally of the rows of one reading.

    Args:
        rows, billed: numbers of the requests that have a row, and one that the provider bills; torn: rows that cannot be
            read.
    """

    rows: set[int] = field(default_factory=set)
    billed: set[int] = field(default_factory=set)
    torn: int = 0


def answers_that_count(
    batch: HarvestBatch, answers: Iterable[BatchAnswer], tally: RowTally
) -> Iterator[tuple[int, BatchAnswer]]:
    """One answer to each request of a batch, by the request's number: its first reply, before any other row of it.

    Replies come as they are read, all others behind them. Answers to what nobody asked are passed over.

    Args:
        tally: counts every row, as it is read.
    """
    replied: set[int] = set()
    without: dict[int, BatchAnswer] = {}
    for answer in answers:
        if answer.kind is AnswerKind.TORN:
            tally.torn += 1
            continue
        index = owner(answer.custom_id, batch)
        if index is None:
            continue
        tally.rows.add(index)
        if answer.is_billed:
            tally.billed.add(index)
        if index in replied:
            continue
        if answer.kind is AnswerKind.ANSWERED:
            replied.add(index)
            yield index, answer
        elif index not in without or (answer.is_billed and not without[index].is_billed):
            without[index] = answer
    yield from ((index, answer) for index, answer in without.items() if index not in replied)


def missing_rows(batch: HarvestBatch, tally: RowTally, status: BatchStatus) -> int:
    """Number of requests whose answers the provider has, by its own word, and did not hand over whole.

    A torn row may be anybody's: it counts while a request has none.
    """
    unread = len(batch.items) - len(tally.rows)
    unbilled = min(status.answered or 0, len(batch.items)) - len(tally.billed)
    return max(unbilled, unread if status.has_every_row else 0, min(unread, tally.torn), 0)
