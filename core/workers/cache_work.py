"""What the caching worker does: forget, recall, and keep alive what providers hold, on one thread."""

from __future__ import annotations

from core.errors import SlopError
from core.values import effects as f
from core.values import events as e
from core.values.cache import DiscussionCacheState
from core.values.effects import Effect
from core.workers.caching import CacheKeeper
from core.workers.clients import Clients, Forgets
from core.workers.queue import Emit


class CacheHandler:
    """Carries out the caching worker's effects.

    Args:
        keeper: knows what providers hold; clients: delete what can be deleted; emit: the inbox.
    """

    def __init__(self, keeper: CacheKeeper, clients: Clients, emit: Emit) -> None:
        self._keeper = keeper
        self._clients = clients
        self._emit = emit

    def handle(self, effect: Effect) -> None:
        """Carry out one effect. Raises SlopError for what could not be deleted."""
        match effect:
            case f.ForgetCache():
                self._forget(effect)
            case f.ReadCaches():
                for discussion_id in effect.discussion_ids:
                    self._report(self._keeper.known(discussion_id))
            case _:
                raise AssertionError(effect)

    def _forget(self, effect: f.ForgetCache) -> None:
        """Forget first: what cannot be deleted is at least not read any more."""
        self._report(self._keeper.forget(effect.discussion_id), "Invalidated by you.")
        try:
            client = self._clients.get(effect.provider)
        except SlopError:
            return
        if isinstance(client, Forgets):
            client.forget(effect.discussion_id)

    def _report(self, state: DiscussionCacheState | None, reason: str = "") -> None:
        if state is not None:
            self._emit(e.CacheReported(state, miss_reason=reason))
