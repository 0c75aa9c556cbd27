"""The price of asking for a merge, before anybody is asked. Pure."""

from __future__ import annotations

from core.base.text import size_bytes
from core.base.tokens import estimate_tokens
from core.harvest.classes import OUTPUT_TOKENS_EST, PROMPT_BYTES, piece_bytes_for
from core.harvest.reader import harvest_reader
from core.knowledge.merges import may_merge
from core.settings.models import profile_of
from core.spending.pricing import cost
from core.values.knowledge import Category
from core.values.state import AppState
from core.values.usage import Usage

LINE_BYTES = 8
"""Of an item's id and what stands around it."""


def merge_cost(state: AppState, category: Category) -> float | None:
    """Estimate of one call that reads a category's items, in US dollars; None where the price is unknown. O(items)."""
    provider, model = harvest_reader(state)
    known = [item for file in state.knowledge.categories for item in file.items]
    size = sum(size_bytes(item.text) + LINE_BYTES for item in may_merge(known, category))
    read = min(size, piece_bytes_for(profile_of(state, provider, model)))
    used = Usage(input_tokens=estimate_tokens(read + PROMPT_BYTES), output_tokens=OUTPUT_TOKENS_EST)
    return None if state.now is None else cost(provider, model, used, state.now)
