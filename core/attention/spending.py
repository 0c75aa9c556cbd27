"""Money of autonomy: what stands against one more turn that nobody asks for."""

from __future__ import annotations

from core.base.loopback import is_loopback
from core.settings.messages import FindPrices
from core.spending.limits import limit_reached
from core.values.provider import ProviderKind
from core.values.state import AppState


def is_local(state: AppState, provider: str) -> bool:
    """True if a provider's models run on this machine, so that nobody is paid for them."""
    status = state.config.providers.get(provider)
    kind = status.kind if status is not None else None
    server = state.config.settings.servers.get(provider)
    is_here = kind is ProviderKind.COMPATIBLE and server is not None and is_loopback(server.base_url)
    return kind is ProviderKind.EMBEDDED or is_here


def refusal(state: AppState, discussion_id: str) -> str:
    """Reason why autonomy spends no more in a discussion, in a sentence; empty while it may."""
    reached = limit_reached(state, discussion_id)
    meta = state.discussions.summaries[discussion_id].meta
    return reached or unpriced(state, meta.provider, meta.model)


def unpriced(state: AppState, provider: str, model: str) -> str:
    """Sentence that a model's price is known to nobody, so that no limit would hold; empty where it is, or was not
    looked up yet, or nobody is paid.
    """
    known = state.config.prices
    if is_local(state, provider) or known.get((provider, model), ...) is not None:
        return ""
    return f"No price is known of {model!r}, so no limit would hold: autonomy stops."


def price_wanted(state: AppState, provider: str, model: str) -> tuple[FindPrices, ...]:
    """The price that must be looked up before autonomy may spend, none where it is known or nobody is paid."""
    is_asked = not is_local(state, provider) and (provider, model) not in state.config.prices
    return (FindPrices(((provider, model),)),) if is_asked else ()
