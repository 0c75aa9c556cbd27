"""What providers store for rent: found again after a start, forgotten when deleted, let go when it no longer pays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.cache.accounts import adopted, released
from core.cache.contents import is_worth_rent
from core.cache.gaps import own_odds
from core.cache.ledger import adopt, drop_named, is_live, of_discussion
from core.values.cache import CachePrices, DiscussionCacheState, LedgerEntry, LedgerScope
from core.values.provider import StoredContent
from core.workers.cache_desks import CacheDesks
from core.workers.cache_settings import scope_settings


@dataclass(frozen=True, slots=True)
class Unneeded:
    """Stored prefixes of a discussion that are not worth their rent."""

    discussion_id: str
    provider: str
    names: frozenset[str]


class StoredContents:
    """Thread-safe. Asks no provider: it knows, and is told.

    Args:
        desks: what is known of each discussion; key_id: names a provider's key without telling it; clock: UTC.
        prices: of a provider's model now.
    """

    def __init__(
        self,
        desks: CacheDesks,
        key_id: Callable[[str], str],
        prices: Callable[[str, str], CachePrices],
        clock: Callable[[], datetime],
    ) -> None:
        self._desks = desks
        self._key_id = key_id
        self._prices = prices
        self._clock = clock

    def adopt(
        self, provider: str, contents: Sequence[StoredContent], efforts: Mapping[str, str]
    ) -> tuple[DiscussionCacheState, ...]:
        """Count on what a provider was found to store, and on nothing else that it was believed to.

        Args:
            contents: those of discussions that exist; efforts: of all discussions that exist, by id.

        Returns:
            The states that changed.
        """
        found = sorted(contents, key=lambda content: (content.expires_at, content.name))
        for content in found:
            self._desks.desk(content.discussion_id)  # reads its part of the ledger
        gone = self._believed(provider) - {content.name for content in found}
        changed = list(self.forget(gone))
        for discussion_id in {content.discussion_id: None for content in found}:
            own = [content for content in found if content.discussion_id == discussion_id]
            changed.append(self._hold(provider, discussion_id, own, efforts[discussion_id]))
        return tuple(changed)

    def names(self, discussion_id: str, provider: str) -> frozenset[str]:
        """What a provider is believed to store of what this discussion used last."""
        self._desks.desk(discussion_id)
        owned = (entry for scope, entry in self._named() if scope.provider == provider)
        return frozenset(entry.name for entry in owned if entry.discussion_id == discussion_id)

    def forget(self, names: Collection[str]) -> tuple[DiscussionCacheState, ...]:
        """Stored prefixes are gone: believe in them no more. Returns the states that changed."""
        with self._desks.lock:
            owners = {entry.discussion_id for _, entry in self._named() if entry.name in names}
            self._desks.ledger = drop_named(self._desks.ledger, names)
        return tuple(state for one in sorted(owners) if (state := self._released(one)) is not None)

    def unneeded(self) -> tuple[Unneeded, ...]:
        """What nobody is likely to come back to while it is stored. Never of a discussion that is being answered."""
        with self._desks.lock:
            busy = {call.discussion_id for call in self._desks.calls.values()}
        found: dict[tuple[str, str], set[str]] = {}
        for scope, entry in self._named():
            if entry.discussion_id not in busy and not self._pays(scope, entry):
                found.setdefault((entry.discussion_id, scope.provider), set()).add(entry.name)
        return tuple(Unneeded(*owner, frozenset(names)) for owner, names in found.items())

    def _pays(self, scope: LedgerScope, entry: LedgerEntry) -> bool:
        """Whether a stored prefix is worth keeping: its rent is less than what another turn is expected to save."""
        now = self._clock()
        last = self._desks.peek(entry.discussion_id).last_turn_at
        idle_s = (now - last).total_seconds() if last is not None else 0.0
        left_s = (entry.expires_at - now).total_seconds()
        prices = self._prices(scope.provider, scope.model)
        if not is_live(entry, now) or not prices.storage_usd:
            return True
        return is_worth_rent(entry.tokens, left_s, max(0.0, idle_s), prices, own_odds(self._desks.gaps))

    def _believed(self, provider: str) -> frozenset[str]:
        return frozenset(entry.name for scope, entry in self._named() if scope.provider == provider)

    def _named(self) -> tuple[tuple[LedgerScope, LedgerEntry], ...]:
        """Entries that a provider stores under a name."""
        with self._desks.lock:
            scopes = self._desks.ledger.entries.items()
            return tuple((scope, entry) for scope, found in scopes for entry in found.values() if entry.name)

    def _hold(
        self, provider: str, discussion_id: str, contents: Sequence[StoredContent], effort: str
    ) -> DiscussionCacheState:
        desk, key_id = self._desks.desk(discussion_id), self._key_id(provider)
        with desk.lock:
            with self._desks.lock:
                ledger = self._desks.ledger
                for content in contents:
                    scope = LedgerScope(provider, key_id, content.model, scope_settings(effort))
                    ledger = adopt(ledger, scope, content, discussion_id)
                self._desks.ledger = ledger
            state = adopted(desk.cache.state, provider, contents[-1])
            desk.cache = replace(desk.cache, state=state, ledger=of_discussion(ledger, discussion_id))
            self._desks.keep(discussion_id, desk.cache)
            return state

    def _released(self, discussion_id: str) -> DiscussionCacheState | None:
        desk = self._desks.desk(discussion_id)
        with desk.lock:
            state = desk.cache.state
            own = of_discussion(self._desks.ledger, discussion_id)
            state = None if state is None else released(state, self._clock())
            desk.cache = replace(desk.cache, state=state, ledger=own)
            self._desks.keep(discussion_id, desk.cache)
            return state
