"""Messages of caching: commands, effects, and events of what is known of caches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.kernel.values.cache import CacheOrphan, DiscussionCacheState, ExtensionEvidence, Rewrite
from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import ToolSchema
from core.kernel.values.state import ProviderTotals
from core.kernel.values.usage import Usage, UsageKind


class InvalidateCache(msgspec.Struct, frozen=True):
    """Let a discussion's next request share no prefix with what was sent before."""

    discussion_id: str
    command_id: str = ""


class DisableCaching(msgspec.Struct, frozen=True):
    """Ask the provider to cache nothing more of a discussion, where it lets itself be asked."""

    discussion_id: str
    command_id: str = ""


class EnableCaching(msgspec.Struct, frozen=True):
    """Let the planner cache a discussion again."""

    discussion_id: str
    command_id: str = ""


class DeleteOrphanedCaches(msgspec.Struct, frozen=True):
    """Delete stored prefixes whose discussions are gone: the one that is named, or all. Others are never touched."""

    name: str = ""


class DeleteCache(msgspec.Struct, frozen=True):
    """Delete what a provider stores for rent for a discussion: it is not needed any more.

    `forgets`: believe nothing of it to be cached any more either, and have deleted what the provider lets us delete.
    """

    discussion_id: str
    provider: str
    forgets: bool = False


class TendContents(msgspec.Struct, frozen=True):
    """Hold stored prefixes for as long as their rent is expected to pay, delete the rest, and book the rent.

    Args:
        discussion_ids: those that something is believed to be stored for, or was until it expired.
        settings: the person's; off: discussions for which no more is to be spent.
    """

    discussion_ids: tuple[str, ...]
    settings: CachingSettings
    off: tuple[str, ...] = ()


class AdoptContents(msgspec.Struct, frozen=True):
    """Find what a provider still stores for this program, and bills: what to hold on to, and what is orphaned.

    `efforts`: of every discussion that exists, by its id.
    """

    provider: str
    efforts: Mapping[str, str]


class DeleteContents(msgspec.Struct, frozen=True):
    """Delete stored prefixes by their names and report `ContentsDeleted`."""

    provider: str
    names: tuple[str, ...]


class DropWithdrawn(msgspec.Struct, frozen=True):
    """Something was taken out of knowledge or deleted: delete what is stored and may hold it, and keep nothing of it warm.

    Args:
        withdrawals: how often something was taken out until now; is_on: layer 7 is sent at all.
        providers: of discussions of which something may be stored, by their ids.
        deleted: discussions whose last request sent what was deleted since.
    """

    withdrawals: int
    is_on: bool
    providers: Mapping[str, str]
    deleted: frozenset[str] = frozenset()


class CheckRewrites(msgspec.Struct, frozen=True):
    """Compare layers 6 and 7 of warm discussions with what was sent of them last; report `RewritesChecked`."""

    specs: tuple[StackSpec, ...]


class DropOffered(msgspec.Struct, frozen=True):
    """Forget the tools that a discussion's last request offered: the person wants those that are approved by now."""

    discussion_id: str


class ReadCaches(msgspec.Struct, frozen=True):
    """Report what is kept of these discussions' caches, from before a restart."""

    discussion_ids: tuple[str, ...]


class Prewarm(msgspec.Struct, frozen=True):
    """Read the prefix of a discussion that was opened, so that its first answer starts at once.

    `record_id`: of the record that will tell what it cost, empty where it is free.
    """

    spec: StackSpec
    record_id: str = ""


class PingCaches(msgspec.Struct, frozen=True):
    """Look for prefixes that are worth keeping and about to expire; report `PingsDue` where there are any.

    Args:
        off: discussions whose caching is off, which are left alone; settings: the person's.
    """

    settings: CachingSettings
    off: tuple[str, ...] = ()


class PaceCache(msgspec.Struct, frozen=True):
    """Count on a discussion's next turn after so many seconds: it is autonomous. None: the person's gaps tell it again."""

    discussion_id: str
    interval_s: float | None = None


class SendPing(msgspec.Struct, frozen=True):
    """Read a discussion's prefix again, where that is still due: there is money for it. Report `CacheRead`.

    `record_id`: of the record that will tell what it cost.
    """

    discussion_id: str
    settings: CachingSettings
    record_id: str = ""


class StopPings(msgspec.Struct, frozen=True):
    """Keep nothing of these discussions warm until their next turn: their last request is not asked for again."""

    discussion_ids: tuple[str, ...]


class DuePing(msgspec.Struct, frozen=True):
    """A ping that would pay. `cost_usd`: what it is expected to cost, 0 where that is not known."""

    discussion_id: str
    cost_usd: float


class PingsDue(msgspec.Struct, frozen=True):
    """Prefixes that are worth keeping and about to expire."""

    pings: tuple[DuePing, ...]


class CacheReported(msgspec.Struct, frozen=True):
    """A provider's cache of a discussion was reported, after a call, an invalidation or a restart.

    `state` is None where nothing was ever cached, `totals` where nothing was called.
    `miss_reason`: why the last request read less than expected, empty where it did not; None: no request was made, and what
    is known of the last one stays.
    `lost`: models with which long marks behind short-lived hits are not counted on, with the evidence.
    `offered`: tools of servers that the last request offered, as the disk knows; None: nothing is said of them.
    `order`: of the book when `state` was so: of two reports the higher is the later, whichever comes first.
    `asked`: provider and model of the call that it is after; empty for no call.
    """

    discussion_id: str
    state: DiscussionCacheState | None
    totals: ProviderTotals | None = None
    miss_reason: str | None = None
    lost: tuple[ExtensionEvidence, ...] | None = None
    offered: tuple[ToolSchema, ...] | None = None
    order: int | None = None
    asked: tuple[str, str] = ("", "")


class CacheRead(msgspec.Struct, frozen=True):
    """A prefix was read without asking for a reply, or that was tried.

    Args:
        usage: with its cost, None where nothing is billed; kind: why it was read.
        totals: of its provider, None where nothing is new; state: of the cache, None where nothing is known of it.
        record_id: of the record that tells it, as the effect said; order: as of `CacheReported`.
    """

    discussion_id: str
    usage: Usage | None
    kind: UsageKind
    totals: ProviderTotals | None = None
    state: DiscussionCacheState | None = None
    record_id: str = ""
    order: int | None = None


class RentPaid(msgspec.Struct, frozen=True):
    """A provider billed for storing a discussion's prefix. `cost_usd`: None where the price is unknown.

    Args:
        record_id: of the record that tells it, which may have been told before; at: when it was settled.
        is_estimate: the provider did not say when the storing ended.
    """

    discussion_id: str
    cost_usd: float | None
    totals: ProviderTotals | None = None
    record_id: str = ""
    at: datetime | None = None
    is_estimate: bool = False


class OrphansFound(msgspec.Struct, frozen=True):
    """Stored prefixes of discussions that are gone were found at a provider."""

    provider: str
    orphans: tuple[CacheOrphan, ...]


class ContentsDeleted(msgspec.Struct, frozen=True):
    """Stored prefixes are deleted, or were gone already."""

    provider: str
    names: tuple[str, ...]


class RewritesChecked(msgspec.Struct, frozen=True):
    """Rewrites of the discussions' next turns were checked, as layers 6 and 7 stand now.

    `withdrawals`: what that would be if something were taken out of knowledge; `switch_offs`: if all of it were.
    """

    discussion_ids: tuple[str, ...]
    rewrites: tuple[Rewrite, ...] = ()
    withdrawals: tuple[Rewrite, ...] = ()
    switch_offs: tuple[Rewrite, ...] = ()


CachingCommand = InvalidateCache | DisableCaching | EnableCaching | DeleteOrphanedCaches
"""Commands that a front end may give this room."""

CachingEvent = (
    CacheReported | CacheRead | RentPaid | PingsDue | OrphansFound | ContentsDeleted | RewritesChecked
)
"""Events of this room."""

CacheEffect = (
    DeleteCache
    | TendContents
    | AdoptContents
    | DeleteContents
    | DropWithdrawn
    | DropOffered
    | ReadCaches
    | Prewarm
    | PingCaches
    | SendPing
    | StopPings
    | PaceCache
)
"""The cache worker's, on one thread."""

CachingEffect = CacheEffect | CheckRewrites
"""`CheckRewrites` is carried out between two assemblies, by the context worker."""
