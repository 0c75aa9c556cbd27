"""The public place of `DiscussionCacheState`."""

from core.kernel.values.cache import DiscussionCacheState

__all__ = ["DiscussionCacheState"]
