"""What can be asked of caches, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from core.values.cache import CacheOrphan, DiscussionCacheState, Extension, Rewrite
from core.values.settings import CachingSettings
from core.values.spec import StackSpec
from core.values.state import ProviderTotals
from core.values.usage import Usage


class InvalidateCache(msgspec.Struct, frozen=True):
    """Let a discussion's next request share no prefix with what was sent before. Source: 20-caching.md."""

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


class ForgetCache(msgspec.Struct, frozen=True):
    """Believe nothing of a discussion to be cached any more, and delete what its provider lets us delete."""

    discussion_id: str
    provider: str


class ReleaseCache(msgspec.Struct, frozen=True):
    """Delete what a provider stores for rent for a discussion: it is not needed any more."""

    discussion_id: str
    provider: str


class ReleaseIdle(msgspec.Struct, frozen=True):
    """Delete stored prefixes whose rent is no longer expected to pay."""


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


class CheckRewrites(msgspec.Struct, frozen=True):
    """Compare layer 7 of warm discussions with what was sent of it last; report `RewritesChecked`."""

    specs: tuple[StackSpec, ...]


class ReadCaches(msgspec.Struct, frozen=True):
    """Report what is kept of these discussions' caches, from before a restart."""

    discussion_ids: tuple[str, ...]


class Prewarm(msgspec.Struct, frozen=True):
    """Read the prefix of a discussion that was opened, so that its first answer starts at once."""

    spec: StackSpec


class PingCaches(msgspec.Struct, frozen=True):
    """Read again the prefixes that are worth keeping and about to expire.

    Args:
        off: discussions whose caching is off, which are left alone; settings: the person's.
    """

    settings: CachingSettings
    off: tuple[str, ...] = ()


class CacheReported(msgspec.Struct, frozen=True):
    """What a provider holds for a discussion, after a call, an invalidation or a restart.

    `state` is None where nothing was ever cached, `totals` where nothing was called. `miss_reason`: why the last request read less than expected.
    `lost`: models with which long marks behind short-lived hits are not counted on, with the evidence.
    """

    discussion_id: str
    state: DiscussionCacheState | None
    totals: ProviderTotals | None = None
    miss_reason: str = ""
    lost: tuple[Extension, ...] | None = None


class CacheRead(msgspec.Struct, frozen=True):
    """A prefix was read without asking for a reply: to keep it (`is_ping`), or because its discussion was opened."""

    discussion_id: str
    usage: Usage
    is_ping: bool
    totals: ProviderTotals | None = None


class OrphansFound(msgspec.Struct, frozen=True):
    """What a provider stores for discussions that are gone."""

    provider: str
    orphans: tuple[CacheOrphan, ...]


class ContentsDeleted(msgspec.Struct, frozen=True):
    """Stored prefixes are deleted, or were gone already."""

    provider: str
    names: tuple[str, ...]


class RewritesChecked(msgspec.Struct, frozen=True):
    """Which of the discussions will be rewritten on their next turn, as layer 7 stands now."""

    discussion_ids: tuple[str, ...]
    rewrites: tuple[Rewrite, ...] = ()


CachingCommand = InvalidateCache | DisableCaching | EnableCaching | DeleteOrphanedCaches
"""What a front end may ask of this room."""

CachingEvent = CacheReported | CacheRead | OrphansFound | ContentsDeleted | RewritesChecked
"""What has happened in this room."""

CacheEffect = (
    ForgetCache
    | ReleaseCache
    | ReleaseIdle
    | AdoptContents
    | DeleteContents
    | ReadCaches
    | Prewarm
    | PingCaches
)
"""The cache worker's, on one thread."""

CachingEffect = CacheEffect | CheckRewrites
"""`CheckRewrites` is carried out between two assemblies, by the context worker."""
