"""Worker of caching: forget, recall, keep alive, find and delete what providers hold, on one thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from typing import assert_never

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.queue import queued
from core.kernel.values.cache import CachePrices, RewriteCosts
from core.kernel.values.provider import ProviderKind, ProviderRequest
from core.kernel.values.spec import StackSpec
from core.kernel.values.updates import Report
from core.kernel.values.usage import Usage, UsageKind
from core.services.providers.clients import Clients, Forgets, Stores
from core.services.providers.failures import is_answer_lost
from core.services.providers.protocol import CancelToken, Prewarms, ReadBlob, check_deleted
from core.services.spending.limits import upkeep_key
from core.talk.caching.caching_messages import (
    AdoptContents,
    CacheEffect,
    CacheRead,
    CacheReported,
    CachingEvent,
    CheckRewrites,
    ContentsDeleted,
    DeleteCache,
    DeleteContents,
    DropOffered,
    DropWithdrawn,
    DuePing,
    OrphansFound,
    PaceCache,
    PingCaches,
    PingsDue,
    Prewarm,
    ReadCaches,
    RentPaid,
    RewritesChecked,
    SendPing,
    StopPings,
    TendContents,
)
from core.talk.caching.content_store import Extension, Unneeded
from core.talk.caching.contents import RentDue, orphan_of
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.pings import ping_usd

Emit = Callable[[CachingEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

log = logging.getLogger(__name__)


class CacheHandler:
    """Carries out the caching worker's effects.

    Args:
        keeper: knows what providers hold; clients: delete what can be deleted; emit: the inbox.
        prices: of a provider's model now; note_out: notes that a ping or a prewarm leaves, by the key of its reserve;
            False where it cannot.
        prewarm_request: what to read of a discussion; read_blob: reader of a discussion's attachments that a request names.
    """

    def __init__(
        self,
        keeper: CacheKeeper,
        clients: Clients,
        emit: Emit,
        prewarm_request: Callable[[StackSpec], ProviderRequest | None],
        read_blob: Callable[[str, ProviderRequest], ReadBlob],
        prices: Callable[[str, str], CachePrices],
        note_out: Callable[[str], bool],
    ) -> None:
        self._keeper = keeper
        self._prices = prices
        self._note_out = note_out
        self._clients = clients
        self._emit = emit
        self._prewarm_request = prewarm_request
        self._read_blob = read_blob
        self._cancel = CancelToken()
        self._pinging = CancelToken()
        self._closing = threading.Event()
        self._recalling = threading.Lock()

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
            case DeleteCache(forgets=True):
                self._forget(effect.discussion_id, effect.provider)
            case DeleteCache():
                self._release(
                    effect.provider, self._keeper.stored_names(effect.discussion_id, effect.provider)
                )
            case TendContents():
                self._tend(effect)
            case AdoptContents():
                self._adopt(effect)
            case DeleteContents():
                self._release(effect.provider, frozenset(effect.names))
            case DropWithdrawn():
                self._drop(effect)
            case DropOffered():
                self._keeper.drop_offered(effect.discussion_id)
            case ReadCaches():
                for discussion_id in effect.discussion_ids:
                    self.recall(discussion_id)
                    self._paid(self._keeper.overdue(discussion_id))
            case Prewarm():
                self._prewarm(effect)
            case PingCaches():
                due = self._keeper.due_pings(effect.settings, effect.off)
                if due:
                    self._emit(PingsDue(tuple(DuePing(ping.discussion_id, ping_usd(ping)) for ping in due)))
            case SendPing():
                self._send_ping(effect)
            case StopPings():
                self._keeper.stop_pings(effect.discussion_ids)
            case PaceCache():
                self._keeper.pace(effect.discussion_id, effect.interval_s)
            case _:
                assert_never(effect)

    def recall(self, discussion_id: str) -> None:
        """Report what is kept of a discussion's cache, and of the tools that it offered. On any thread.

        Reports of what another program wrote have the order of one book: they are told as they were read.
        """
        with self._recalling:
            order, offered = self._keeper.order, self._keeper.offered(discussion_id)
            known, lost = self._keeper.known(discussion_id), self._keeper.lost_extensions()
            if known is not None:
                self._emit(
                    CacheReported(
                        discussion_id=discussion_id, state=known, lost=lost, offered=offered, order=order
                    )
                )

    def _prewarm(self, effect: Prewarm) -> None:
        """Read the prefix. Nobody asked for it, so a failure is logged and no more."""
        self._cancel = CancelToken()
        if self._closing.is_set():
            return
        self._emit(replace(self._prewarmed(effect.spec, effect.record_id), record_id=effect.record_id))

    def _prewarmed(self, spec: StackSpec, record_id: str) -> CacheRead:
        name, provider, has_failed = spec.discussion_id, spec.inputs.provider, False
        request = usage = None
        try:
            client = self._clients.get(provider)
            request = self._prewarm_request(spec) if isinstance(client, Prewarms) else None
            if request is not None and isinstance(client, Prewarms):
                blobs = self._read_blob(name, request)
                if self._may_leave(UsageKind.PREWARM, record_id):
                    usage = client.prewarm(request, blobs, self._cancel)
        except SlopError as error:
            log.warning("prewarming of %s failed: %s", name, error)
            usage, has_failed = _unsaid(error), True
        if request is None or usage is None:
            return CacheRead(discussion_id=name, usage=None, kind=UsageKind.PREWARM)
        if not has_failed and usage != Usage():
            self._keeper.prewarmed(name)
            self._emit(RewritesChecked(discussion_ids=(name,)))
        if self._clients.kind(provider) is ProviderKind.EMBEDDED:
            return CacheRead(discussion_id=name, usage=None, kind=UsageKind.PREWARM)
        is_whole = not (has_failed or _is_cut(usage, self._cancel))
        paid = self._keeper.prewarm_paid(request, usage, is_whole=is_whole)
        return CacheRead(discussion_id=name, usage=paid.usage, kind=UsageKind.PREWARM, totals=paid.totals)

    def _send_ping(self, effect: SendPing) -> None:
        """Send it if it is still due: a turn may have come before it."""
        due = self._keeper.due_pings(effect.settings)
        ping = next((one for one in due if one.discussion_id == effect.discussion_id), None)
        self._pinging = CancelToken()
        name, record_id = effect.discussion_id, effect.record_id
        if ping is None or self._closing.is_set():
            self._emit(
                CacheRead(discussion_id=name, usage=None, kind=UsageKind.KEEPALIVE, record_id=record_id)
            )
            return
        usage, has_failed = None, False
        try:
            client = self._clients.get(ping.provider)
            if isinstance(client, Prewarms):
                blobs = self._read_blob(name, ping.request)
                if self._may_leave(UsageKind.KEEPALIVE, record_id):
                    usage = client.prewarm(ping.request, blobs, self._pinging)
        except SlopError as error:
            log.warning("a ping of %s failed: %s", name, error)
            usage, has_failed = _unsaid(error), True
        is_cut = _is_cut(usage, self._pinging)
        paid = self._keeper.pinged(ping, usage, has_failed=has_failed, is_cut=is_cut)
        state, order = self._keeper.standing(name) if paid.state is not None else (None, 0)
        self._emit(
            CacheRead(
                discussion_id=name,
                usage=paid.usage,
                kind=UsageKind.KEEPALIVE,
                totals=paid.totals,
                state=state,
                record_id=record_id,
                order=order,
            )
        )

    def _may_leave(self, kind: UsageKind, record_id: str) -> bool:
        """Note on disk that a ping or a prewarm leaves, so that a kill loses none. One that is free needs no note."""
        return not record_id or self._note_out(upkeep_key(kind, record_id))

    def _forget(self, discussion_id: str, provider: str) -> None:
        """Forget first: what cannot be deleted is at least not read any more."""
        names = self._keeper.stored_names(discussion_id, provider)
        self._keeper.forget(discussion_id)
        self._report(discussion_id, tr("You invalidated the cache."))
        try:
            client = self._clients.get(provider)
        except SlopError:
            return
        held = set(client.stored_names) if isinstance(client, Stores) else set()
        if isinstance(client, Forgets):
            client.forget(discussion_id)
        if isinstance(client, Stores):
            gone = held.difference(client.stored_names)
            left = client.delete_stored(sorted(names - gone))
            _, due = self._keeper.forget_stored((gone | names).difference(left), client.absent_names)
            self._paid(due)
            check_deleted(left)

    def forget_all(self, discussion_id: str, provider: str) -> str:
        """Have nothing of a discussion held any more at a provider. On any thread.

        Returns:
            Why something may be held still, empty where it is not.
        """
        names = self._keeper.stored_names(discussion_id, provider)
        try:
            self._clients.get(provider)
        except SlopError as error:
            return str(error) if names else ""
        self._forget(discussion_id, provider)
        return ""

    def _drop(self, effect: DropWithdrawn) -> None:
        """Delete what is stored of discussions that sent what was withdrawn. The first failure is raised at the end."""
        failure: SlopError | None = None
        held = self._keeper.withdrawn(
            effect.withdrawals, effect.providers, effect.deleted, is_on=effect.is_on
        )
        for name in held:
            provider = effect.providers.get(name)
            if provider is None:
                continue
            try:
                client = self._clients.get(provider)
                self._release(provider, self._keeper.stored_names(name, provider))
                if isinstance(client, Forgets):
                    client.forget(name)
            except SlopError as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _adopt(self, effect: AdoptContents) -> None:
        """Find what is still stored. Nobody asked for it, so a failure is logged and no more."""
        try:
            client = self._clients.get(effect.provider)
            found = client.adopt(effect.efforts) if isinstance(client, Stores) else ()
        except SlopError as error:
            log.warning("what %s still stores is not known: %s", effect.provider, error)
            return
        own = [content for content in found if content.discussion_id in effect.efforts]
        states, due = self._keeper.adopt(effect.provider, own, effect.efforts)
        for state in states:
            self._report(state.discussion_id)
        self._paid(due)
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
        self._gone(gone, client.absent_names)
        self._emit(ContentsDeleted(provider, tuple(sorted(gone))))
        check_deleted(left)

    def release_held(self) -> None:
        """The program ends: delete what is stored for rent, as far as the network lets it, and book its rent.

        That it was asked for is noted first: whether one ended whose deletion is not answered in time, the next start asks.
        """
        asked = self._clients.stored_names
        self._keeper.ending(asked)
        deleted = frozenset(self._clients.release())
        self._keeper.ending(deleted.union(self._clients.refused), is_answered=True)
        self._gone(deleted, self._clients.absent_names)

    def _tend(self, effect: TendContents) -> None:
        tending = self._keeper.tended(effect.discussion_ids, effect.settings, effect.off)
        for discussion_id, _ in tending.changed:
            self._report(discussion_id)
        self._paid(tending.due)
        for extension in tending.extend:
            self._extend(extension)
        for unneeded in tending.release:
            log.info("what is stored for %s is not worth its rent", unneeded.discussion_id)
            self._release_quietly(unneeded)

    def _extend(self, extension: Extension) -> None:
        """Let a stored prefix live on. Nobody asked for it, so a failure is logged and no more."""
        if self._closing.is_set():
            return
        try:
            client = self._clients.get(extension.provider)
            if not isinstance(client, Stores):
                return
            content = client.extend_stored(extension.name, extension.ttl_s)
        except SlopError as error:
            log.warning("what is stored for %s was not kept: %s", extension.discussion_id, error)
            return
        if content is None:
            self._gone(frozenset({extension.name}), {extension.name})
            return
        self._keeper.extended(extension.discussion_id, extension.provider, content)
        self._report(extension.discussion_id)

    def _gone(self, names: frozenset[str], absent: Collection[str]) -> None:
        states, due = self._keeper.forget_stored(names, absent)
        for state in states:
            self._report(state.discussion_id)
        self._paid(due)

    def _paid(self, due: Sequence[RentDue]) -> None:
        for rent in due:
            totals = self._keeper.totals(rent.provider)
            self._emit(
                RentPaid(
                    discussion_id=rent.discussion_id,
                    cost_usd=rent.cost_usd,
                    totals=totals,
                    record_id=rent.record_id,
                    at=rent.at,
                    is_estimate=rent.is_estimate,
                )
            )

    def _release_quietly(self, unneeded: Unneeded) -> None:
        """As `_release`. Nobody asked for it, so a failure is logged and no more."""
        try:
            self._release(unneeded.provider, unneeded.names)
        except SlopError as error:
            log.warning("what is stored for %s was not deleted: %s", unneeded.discussion_id, error)

    def _report(self, discussion_id: str, reason: str | None = None) -> None:
        """Tell how a discussion's cache stands now: a call may have ended since it was changed."""
        state, order = self._keeper.standing(discussion_id)
        if state is not None:
            lost = self._keeper.lost_extensions()
            self._emit(
                CacheReported(
                    discussion_id=discussion_id, state=state, miss_reason=reason, lost=lost, order=order
                )
            )


def supersedes(newer: CacheEffect, older: CacheEffect) -> bool:
    """Only the discussion that was opened last is prewarmed; one look for pings is enough."""
    return type(newer) is type(older) and isinstance(newer, Prewarm | PingCaches | TendContents)


def _unsaid(error: SlopError) -> Usage | None:
    """Usage of a call that failed: nothing is said, or nothing is billed (None)."""
    return Usage() if is_answer_lost(error) else None


def _is_cut(usage: Usage | None, cancel: CancelToken) -> bool:
    """True if a call was given up by us before its provider could say anything of it."""
    return usage == Usage() and cancel.is_cancelled


# Compares layers 6 and 7 of warm discussions with what was sent of it last, between two assemblies.


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
        self._emit(
            RewritesChecked(
                discussion_ids=ids, rewrites=due, withdrawals=withdrawals, switch_offs=switch_offs
            )
        )


def supersedes_check(newer: CheckRewrites, older: CheckRewrites) -> bool:
    """A later check of the same discussions makes an earlier one needless."""
    ids = {spec.discussion_id for spec in newer.specs}
    return all(spec.discussion_id in ids for spec in older.specs)


WORK = queued("cache", CacheEffect, supersedes)
