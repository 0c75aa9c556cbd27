"""The planner as assembly asks it: `core.caching.keeper` is one, in a room above."""

from __future__ import annotations

from typing import Protocol

from core.context.stack import AggregateStack
from core.values.cache import RewriteCosts
from core.values.provider import ModelProfile, ProviderRequest
from core.values.spec import CallToBuild, PlannedRequest, StackSpec


class Planner(Protocol):
    """Plans how requests are cached; `core.caching.keeper` does."""

    def preview(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """Plan of the next request."""
        ...

    def rewrite(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> RewriteCosts:
        """Cost of a change of layers 6 and 7 in the next turn."""
        ...

    def recalled_behind(self, discussion_id: str) -> tuple[str, ...]:
        """Passages that stay in a discussion's view behind earlier messages."""
        ...

    def prewarm_request(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> ProviderRequest | None:
        """Request to read when a discussion opens; None: that may lose too much."""
        ...

    def plan_call(
        self, call: CallToBuild, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """The request of a call with its plan, and the records that the log needs to rebuild its view."""
        ...
