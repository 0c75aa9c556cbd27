"""The public place of `DiscussionCacheState`."""

from core.values.cache import DiscussionCacheState

__all__ = ["DiscussionCacheState"]
