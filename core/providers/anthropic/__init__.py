"""Anthropic's Messages API. `cache_prefix_blocks` is the name that people know."""

from core.providers.anthropic.prefix_blocks import cache_prefix_blocks

__all__ = ["cache_prefix_blocks"]
