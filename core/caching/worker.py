"""What the caching worker does: forget, recall, keep alive, find and delete what providers hold, on one thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import assert_never

from core.base.errors import SlopError, StorageError
from core.base.reports import Report
from core.caching.content_store import Unneeded
from core.caching.contents import orphan_of
from core.caching.keeper import CacheKeeper
from core.caching.messages import (
    AdoptContents,
    CacheEffect,
    CacheRead,
    CacheReported,
    CachingEvent,
    ContentsDeleted,
    DeleteContents,
    ForgetCache,
    OrphansFound,
    PingCaches,
    Prewarm,
    ReadCaches,
    ReleaseCache,
    ReleaseIdle,
    RewritesChecked,
)
from core.caching.pings import Ping
from core.providers.clients import Clients, Forgets, Stores
from core.providers.protocol import CancelToken, Prewarms, ReadBlob, check_deleted
from core.values.cache import CachePrices, DiscussionCacheState
from core.values.provider import ProviderKind, ProviderRequest
from core.values.spec import StackSpec

Emit = Callable[[CachingEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

log = logging.getLogger(__name__)


class CacheHandler:
    """Carries out the caching worker's effects.

    Args:
        keeper: knows what providers hold; clients: delete what can be deleted; emit: the inbox.
        prices: of a provider's model now.
        prewarm_request: what to read of a discussion; read_blob: reader of its attachments.
    """

    def __init__(
        self,
        keeper: CacheKeeper,
        clients: Clients,
        emit: Emit,
        prewarm_request: Callable[[StackSpec], ProviderRequest | None],
        read_blob: Callable[[StackSpec], ReadBlob],
        prices: Callable[[str, str], CachePrices],
    ) -> None:
        self._keeper = keeper
        self._prices = prices
        self._clients = clients
        self._emit = emit
        self._prewarm_request = prewarm_request
        self._read_blob = read_blob
        self._cancel = CancelToken()
        self._pinging = CancelToken()
        self._closing = threading.Event()

    def cancel(self) -> None:
        """End a prewarming that runs: a call is about to be made. Thread-safe."""
        self._cancel.cancel()

    def close(self) -> None:
        """The program ends: no prewarming or ping goes on, nor do those that still wait begin. Thread-safe."""
        self._closing.set()
        self._cancel.cancel()
        self._pinging.cancel()

    def handle(self, effect: CacheEffect) -> None:
        """Carry out one effect. Raises SlopError for what could not be deleted."""
        match effect:
            case ForgetCache():
                self._forget(effect)
            case ReleaseCache():
                self._release(
                    effect.provider, self._keeper.stored_names(effect.discussion_id, effect.provider)
                )
            case ReleaseIdle():
                for unneeded in self._keeper.unneeded():
                    log.info("what is stored for %s is not worth its rent", unneeded.discussion_id)
                    self._release_quietly(unneeded)
            case AdoptContents():
                self._adopt(effect)
            case DeleteContents():
                self._release(effect.provider, frozenset(effect.names))
            case ReadCaches():
                for discussion_id in effect.discussion_ids:
                    self._report(discussion_id, self._keeper.known(discussion_id))
            case Prewarm():
                self._prewarm(effect.spec)
            case PingCaches():
                for ping in self._keeper.due_pings(effect.settings, effect.off):
                    self._ping(ping)
            case _:
                assert_never(effect)

    def _prewarm(self, spec: StackSpec) -> None:
        """Read the prefix. Nobody asked for it, so a failure is logged and no more."""
        self._cancel = CancelToken()
        if self._closing.is_set():
            return
        provider = spec.inputs.provider
        try:
            client = self._clients.get(provider)
            request = self._prewarm_request(spec) if isinstance(client, Prewarms) else None
            if request is None or not isinstance(client, Prewarms):
                return
            usage = client.prewarm(request, self._read_blob(spec), self._cancel)
        except SlopError as error:
            log.warning("prewarming of %s failed: %s", spec.discussion_id, error)
            return
        if usage is None:
            return
        self._keeper.prewarmed(spec.discussion_id)
        self._emit(RewritesChecked((spec.discussion_id,)))
        if self._clients.kind(provider) is not ProviderKind.EMBEDDED:
            self._emit(CacheRead(spec.discussion_id, usage, is_ping=False))

    def _ping(self, ping: Ping) -> None:
        self._pinging = CancelToken()
        if self._closing.is_set():
            return
        usage = None
        try:
            client = self._clients.get(ping.provider)
            if isinstance(client, Prewarms):
                usage = client.prewarm(ping.request, _no_blob, self._pinging)
        except SlopError as error:
            log.warning("a ping of %s failed: %s", ping.discussion_id, error)
        totals = self._keeper.pinged(ping, usage)
        if usage is not None:
            self._emit(CacheRead(ping.discussion_id, usage, is_ping=True, totals=totals))

    def _forget(self, effect: ForgetCache) -> None:
        """Forget first: what cannot be deleted is at least not read any more."""
        names = self._keeper.stored_names(effect.discussion_id, effect.provider)
        self._report(effect.discussion_id, self._keeper.forget(effect.discussion_id), "Invalidated by you.")
        try:
            client = self._clients.get(effect.provider)
        except SlopError:
            return
        held = set(client.stored_names) if isinstance(client, Stores) else set()
        if isinstance(client, Forgets):
            client.forget(effect.discussion_id)
        if isinstance(client, Stores):
            gone = held.difference(client.stored_names)
            check_deleted(client.delete_stored(sorted(names - gone)))

    def _adopt(self, effect: AdoptContents) -> None:
        """Find what is still stored. Nobody asked for it, so a failure is logged and no more."""
        try:
            client = self._clients.get(effect.provider)
            found = client.adopt(effect.efforts) if isinstance(client, Stores) else ()
        except SlopError as error:
            log.warning("what %s still stores is not known: %s", effect.provider, error)
            return
        own = [content for content in found if content.discussion_id in effect.efforts]
        for state in self._keeper.adopt(effect.provider, own, effect.efforts):
            self._emit(CacheReported(state.discussion_id, state))
        orphans = [content for content in found if content.discussion_id not in effect.efforts]
        prices = self._prices
        rows = (orphan_of(one, effect.provider, prices(effect.provider, one.model)) for one in orphans)
        self._emit(OrphansFound(effect.provider, tuple(rows)))

    def _release(self, provider: str, names: frozenset[str]) -> None:
        """Delete stored prefixes. Raises ProviderError where the provider did not delete all of them."""
        if not names:
            return
        client = self._clients.get(provider)
        if not isinstance(client, Stores):
            return
        left = client.delete_stored(sorted(names))
        gone = names.difference(left)
        for state in self._keeper.forget_stored(gone):
            self._emit(CacheReported(state.discussion_id, state))
        self._emit(ContentsDeleted(provider, tuple(sorted(gone))))
        check_deleted(left)

    def _release_quietly(self, unneeded: Unneeded) -> None:
        """As `_release`. Nobody asked for it, so a failure is logged and no more."""
        try:
            self._release(unneeded.provider, unneeded.names)
        except SlopError as error:
            log.warning("what is stored for %s was not deleted: %s", unneeded.discussion_id, error)

    def _report(self, discussion_id: str, state: DiscussionCacheState | None, reason: str = "") -> None:
        if state is not None:
            lost = self._keeper.lost_extensions()
            self._emit(CacheReported(discussion_id, state, miss_reason=reason, lost=lost))


def supersedes(newer: CacheEffect, older: CacheEffect) -> bool:
    """Only the discussion that was opened last is prewarmed; one look for pings is enough."""
    return type(newer) is type(older) and isinstance(newer, Prewarm | PingCaches | ReleaseIdle)


def _no_blob(sha256: str) -> bytes:
    """A ping ends before any attachment of the current turn; an earlier one cannot be read again here."""
    raise StorageError(f"The attachment {sha256!r} is not at hand for a ping")
