"""Anthropic's Messages API. `cache_prefix_blocks` is the name that people know."""

from core.services.providers.anthropic.wire import cache_prefix_blocks

__all__ = ["cache_prefix_blocks"]
