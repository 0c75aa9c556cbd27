"""Calls that a log tells of, in order: who was paid, and for what kind of work."""

from __future__ import annotations

from collections.abc import Callable

from core.kernel.values.messages import Role, ToolCallPart
from core.kernel.values.records import MessageRecord, Record, RequestRecord, UsageRecord
from core.kernel.values.usage import UPKEEP_KINDS, UsageKind
from core.kernel.values.usage_report import PaidKind
from core.services.spending.paid_calls import pack_call

PayerNumber = Callable[[str, str], int]
"""Number of a provider and its model."""


class PaidCalls:
    """Packs the calls of one log.

    Args:
        discussion: its number; mark: as of `mark` when its beginning was read, 0 for none; is_task: a model gave it.
    """

    def __init__(self, discussion: int, mark: int, number_of: PayerNumber, *, is_task: bool) -> None:
        self._discussion, self._number_of, self._is_task = discussion, number_of, is_task
        self._payer, self._with_tools = mark >> 1, bool(mark & 1)
        self._packed: list[bytes] = []

    def take(self, record: Record) -> None:
        """Read the next record."""
        if isinstance(record, RequestRecord | MessageRecord) and record.model:
            self._payer = self._number_of(record.provider, record.model)
        match record:
            case MessageRecord():
                asks = any(isinstance(part, ToolCallPart) for part in record.parts)
                self._with_tools = asks or (self._with_tools and record.role is not Role.USER)
            case UsageRecord(is_inherited=False):
                self._packed.append(
                    pack_call(record.at, self._payer, self._discussion, self._kind(record), record.usage)
                )
            case _:
                pass

    def _kind(self, record: UsageRecord) -> PaidKind:
        if record.kind in UPKEEP_KINDS:
            return PaidKind.UPKEEP
        if record.kind is UsageKind.COMPACTION:
            return PaidKind.SUMMARY
        if self._is_task:
            return PaidKind.DELEGATION
        return PaidKind.TOOLS if self._with_tools else PaidKind.CHAT

    @property
    def mark(self) -> int:
        """The last payer, and whether tools were used since the person's last words: what the next part needs to know."""
        return self._payer << 1 | self._with_tools

    def packed(self) -> bytes:
        """All that was read, as bytes of the table."""
        return b"".join(self._packed)
