"""Compares layers 6 and 7 of warm discussions with what was sent of it last, between two assemblies."""

from __future__ import annotations

from collections.abc import Callable

from core.caching.messages import CheckRewrites, RewritesChecked
from core.values.cache import RewriteCosts
from core.values.spec import StackSpec


class RewriteCheck:
    """Carries out `CheckRewrites` on the context worker's thread.

    Args:
        costs: what changes cost a discussion's next turn; emit: the inbox.
    """

    def __init__(
        self, costs: Callable[[StackSpec], RewriteCosts], emit: Callable[[RewritesChecked], None]
    ) -> None:
        self._costs = costs
        self._emit = emit

    def handle(self, effect: CheckRewrites) -> None:
        """Report what the discussions' next turns pay for changes, and would pay for a deletion."""
        found = [self._costs(spec) for spec in effect.specs]
        due = tuple(one.due for one in found if one.due is not None)
        withdrawals = tuple(one.withdrawal for one in found if one.withdrawal is not None)
        switch_offs = tuple(one.switch_off for one in found if one.switch_off is not None)
        ids = tuple(one.discussion_id for one in found)
        self._emit(RewritesChecked(ids, due, withdrawals, switch_offs))


def supersedes(newer: CheckRewrites, older: CheckRewrites) -> bool:
    """A later check of the same discussions makes an earlier one needless."""
    ids = {spec.discussion_id for spec in newer.specs}
    return all(spec.discussion_id in ids for spec in older.specs)
