"""What a call is expected to cost before it is made, so that calls under way count against the limits."""

from __future__ import annotations

from core.values.discussion import OpenDiscussion
from core.values.messages import Message
from core.values.stack import ContextReport
from core.values.state import AppState
from core.values.usage import Usage

TYPICAL_REPLY_TOKENS = 1_000
"""Reasoning included; taken where the discussion has no reply to go by."""

CHARS_PER_TOKEN = 4


def next_call_usd(state: AppState, discussion_id: str, text: str = "") -> float:
    """What the next call of a discussion is expected to cost, input and reply, in US dollars.

    Args:
        text: of the message to be sent; what it has over the draft was not assembled yet.

    Returns:
        From the assembled request, else what the last call of the discussion cost, else the last one of the same
        model; 0.0 where no price is known: what is unknown reserves nothing.
    """
    report, opened = state.context.reports.get(discussion_id), state.discussions.open.get(discussion_id)
    last = _last_usage(opened)
    if report is not None and report.cost_usd is not None:
        more = len(text) - len(opened.draft.text) if opened is not None else len(text)
        return _input_usd(state, discussion_id, report, max(0, more)) + _reply_usd(state, report, last)
    return last.cost_usd or _last_of_model_usd(state, discussion_id)


def next_input_usd(state: AppState, discussion_id: str) -> float | None:
    """What the input of the next request is expected to cost in US dollars, by its cache plan; None where unknown.

    The one figure that the composer, the Context and the Caching panel show.
    """
    plan, report = state.caching.plans.get(discussion_id), state.context.reports.get(discussion_id)
    if plan is not None and plan.cost_usd is not None:
        return plan.cost_usd
    return report.cost_usd if report is not None else None


def _input_usd(state: AppState, discussion_id: str, report: ContextReport, more_chars: int) -> float:
    per_token = (report.cost_usd or 0.0) / max(1, report.total_tokens_est)
    return (next_input_usd(state, discussion_id) or 0.0) + per_token * more_chars / CHARS_PER_TOKEN


def _reply_usd(state: AppState, report: ContextReport, last: Usage) -> float:
    """A reply as long as the last one, at most as long as the settings let it be."""
    tokens = last.output_tokens or TYPICAL_REPLY_TOKENS
    most = state.config.settings.ai.max_output_tokens
    return (report.output_usd_per_token or 0.0) * (tokens if most is None else min(tokens, most))


def _last_usage(opened: OpenDiscussion | None, model: tuple[str, str] | None = None) -> Usage:
    """Of the newest reply that reported one, of a model or of any."""
    messages = (entry for entry in reversed(opened.entries if opened else ()) if isinstance(entry, Message))
    for message in messages:
        if message.usage is not None and model in {None, (message.provider, message.model)}:
            return message.usage
    return Usage()


def _last_of_model_usd(state: AppState, discussion_id: str) -> float:
    """What the last call of the same model in another discussion cost, the discussion used last first."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None:
        return 0.0
    model = summary.meta.provider, summary.meta.model
    rows = sorted(
        (row for row in state.discussions.summaries.values() if row.meta.id in state.discussions.open),
        key=lambda row: (row.updated_at, row.meta.id),
        reverse=True,
    )
    costs = (_last_usage(state.discussions.open[row.meta.id], model).cost_usd for row in rows)
    return next((cost for cost in costs if cost is not None), 0.0)
