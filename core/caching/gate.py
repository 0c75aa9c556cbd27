"""Gate for parallel calls: those wait whose prefix another is just writing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.values.cache import CachePlan, LedgerScope


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that is about to be sent, or was sent and has not begun its answer (`is_out`)."""

    call_id: str
    scope: LedgerScope
    plan: CachePlan
    hashes: tuple[str, ...]
    is_out: bool = False


class Gate(msgspec.Struct, frozen=True):
    """Calls that may be sent now, and those that wait for another's first byte (`waits[call] = other`)."""

    go: tuple[str, ...]
    waits: tuple[tuple[str, str], ...]


def gate(calls: Sequence[PlannedCall]) -> Gate:
    """Let the first of the calls that share a prefix not yet in the cache go, hold the others back.

    An entry can be read once the answer of the request that writes it begins.

    Args:
        calls: in the order in which they were asked for; those already out first.
    """
    leaders: list[tuple[LedgerScope, frozenset[str], str]] = []
    go: list[str] = []
    waits: list[tuple[str, str]] = []
    for call in calls:
        prefixes = frozenset(call.hashes)
        leader = next((c for s, writes, c in leaders if s == call.scope and writes & prefixes), "")
        if leader and not call.is_out:
            waits.append((call.call_id, leader))
            continue
        fresh = frozenset(write.prefix_hash for write in call.plan.writes if write.is_new)
        leaders.append((call.scope, fresh, call.call_id))
        if not call.is_out:
            go.append(call.call_id)
    return Gate(tuple(go), tuple(waits))
