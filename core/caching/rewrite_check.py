"""Compares layer 7 of warm discussions with what was sent of it last, between two assemblies."""

from __future__ import annotations

from collections.abc import Callable

from core.caching.messages import CheckRewrites, RewritesChecked
from core.values.cache import Rewrite
from core.values.spec import StackSpec


class RewriteCheck:
    """Carries out `CheckRewrites` on the context worker's thread.

    Args:
        rewrite: what a discussion's next turn writes anew, None for nothing; emit: the inbox.
    """

    def __init__(
        self, rewrite: Callable[[StackSpec], Rewrite | None], emit: Callable[[RewritesChecked], None]
    ) -> None:
        self._rewrite = rewrite
        self._emit = emit

    def handle(self, effect: CheckRewrites) -> None:
        """Report which of the discussions will be rewritten."""
        due = [self._rewrite(spec) for spec in effect.specs]
        ids = tuple(spec.discussion_id for spec in effect.specs)
        self._emit(RewritesChecked(ids, tuple(one for one in due if one is not None)))


def supersedes(newer: CheckRewrites, older: CheckRewrites) -> bool:
    """A later check of the same discussions makes an earlier one needless."""
    ids = {spec.discussion_id for spec in newer.specs}
    return all(spec.discussion_id in ids for spec in older.specs)
