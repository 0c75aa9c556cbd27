"""The context worker: stacks are assembled, and what a change of knowledge rewrites is checked, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from core.caching import rewrite_check
from core.caching.messages import CheckRewrites
from core.caching.rewrite_check import RewriteCheck
from core.context import worker as context
from core.context.messages import ContextEffect
from core.context.worker import ContextHandler

ContextWork = ContextEffect | CheckRewrites


class ContextWorker:
    """Carries out the context worker's effects. Both parts read the same files; on one thread each is read once.

    Args:
        is_asked: whether other effects wait.
    """

    def __init__(
        self, assembling: ContextHandler, checking: RewriteCheck, is_asked: Callable[[], bool]
    ) -> None:
        self._is_asked = is_asked
        self._assembling = assembling
        self._checking = checking

    def handle(self, effect: ContextWork) -> None:
        """Carry out one effect."""
        if isinstance(effect, ContextEffect):
            self._assembling.handle(effect)
        elif isinstance(effect, CheckRewrites):
            self._checking.handle(effect)
        else:
            assert_never(effect)
        self._assembling.count_on(self._is_asked)


def supersedes(newer: ContextWork, older: ContextWork) -> bool:
    """Each part says of its own."""
    if isinstance(newer, ContextEffect) and isinstance(older, ContextEffect):
        return context.supersedes(newer, older)
    if isinstance(newer, CheckRewrites) and isinstance(older, CheckRewrites):
        return rewrite_check.supersedes(newer, older)
    return False
