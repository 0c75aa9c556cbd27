"""Payments for calls, as the disk tells them: in logs, in the trash, and in the harvest's notes."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from core.base import paths
from core.base.days import midnight
from core.base.errors import SlopError
from core.discussion import log, trash
from core.discussion.leftover_cost import paid_for, unlogged
from core.discussion.reply_journal import leftovers
from core.spending.harvest_costs import harvest_payments
from core.values.records import MessageRecord, UsageRecord
from core.values.spending import Payment

logger = logging.getLogger(__name__)


def paid_since(log_file: Path, start: datetime) -> dict[str, Payment]:
    """Costs of a log's calls since then, by the record's id: a branch repeats its parent's.

    Unknown prices add nothing. Raises StorageError.
    """
    found = (line.content for line in log.scan(log_file))
    return {
        record.id: Payment(record.usage.cost_usd, record.usage.is_estimate)
        for record in found
        if isinstance(record, UsageRecord) and record.at >= start and record.usage.cost_usd
    }


def is_booked(home: Path, discussion_id: str, record_id: str) -> bool:
    """True if a discussion's log holds the record of a payment. O(bytes). Raises StorageError."""
    lines = log.scan(paths.log_file(home, discussion_id), holding=record_id.encode("utf-8", "replace"))
    return any(isinstance(line.content, UsageRecord) and line.content.id == record_id for line in lines)


def left_since(home: Path, log_file: Path, start: datetime) -> dict[str, Payment]:
    """Estimates of calls that a killed process had under way: paid for, and in the log only once it is read.

    By the id that the record will have then. Raises StorageError.
    """
    with leftovers(home, log_file.parent.name) as left:
        pass  # what is counted below takes a while, and who opens the discussion waits for the lock
    if not left:
        return {}
    records = [
        line.content for line in log.scan(log_file) if isinstance(line.content, MessageRecord | UsageRecord)
    ]
    return {
        one.id: Payment(one.usage.cost_usd, one.usage.is_estimate)
        for one in (record for reply in unlogged(left, records) for record in paid_for(reply))
        if one.at >= start and one.usage.cost_usd
    }


def all_paid_since(home: Path, logs: Iterable[Path], start: datetime) -> dict[str, Payment]:
    """Payments since then for turns, pings, prewarms and harvests, also of what was deleted since.

    Args:
        logs: those that may hold something; what cannot be read counts nothing.
    """
    paid: dict[str, Payment] = {}
    files = list(logs)
    with suppress(SlopError):
        files += [Path(one.path) / paths.LOG_FILE for one in trash.items(home) if one.deleted_at >= start]
    for path in files:
        try:
            if path.parent.parent == paths.discussions_dir(home):
                paid |= left_since(home, path, start)
            paid |= paid_since(path, start)  # after them: one may come into the log meanwhile
        except Exception as fault:  # noqa: BLE001 (one log that cannot be read hides no other's money)
            logger.warning("What was paid in %s does not count today: %s", path, fault)
    with suppress(SlopError):
        paid |= harvest_payments(home, start)
    return paid


def spent_today_usd(home: Path, now: datetime) -> float:
    """US dollars spent since the person's midnight by all programs on this home. For a command that keeps no
    list.
    """
    start = midnight(now)
    return sum(paid.usd for paid in all_paid_since(home, _logs_since(home, start), start).values())


def _logs_since(home: Path, start: datetime) -> list[Path]:
    found = []
    for path in paths.discussions_dir(home).glob(f"*/{paths.LOG_FILE}"):
        with suppress(OSError):
            if path.stat().st_mtime >= start.timestamp():
                found.append(path)
    return found
