"""Tools that a discussion's model is offered, as far as its provider can pass them on."""

from __future__ import annotations

from core.providers.abilities import takes_tools
from core.values.discussion import DiscussionMeta
from core.values.state import AppState

TAKES_NONE = "This model gets no tools: its provider does not pass them on. Choose another model for them."


def gets_tools(state: AppState, meta: DiscussionMeta) -> bool:
    """True if the discussion has tools and they reach its model."""
    return meta.has_tools and can_take_tools(state, meta.provider)


def can_take_tools(state: AppState, provider: str) -> bool:
    """True if a provider passes tools on to its models; of one that is not known it is taken that it does."""
    status = state.config.providers.get(provider)
    return status is None or takes_tools(status.kind)
