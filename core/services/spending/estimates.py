"""Estimates: the expected cost of a call, and what it is booked at where its provider did not say."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import CachePlan, CachePrices
from core.kernel.values.discussion import OpenDiscussion, message_text_of
from core.kernel.values.messages import Message, Part, ReasoningPart, TextPart, ToolCallPart
from core.kernel.values.stack import ContextReport
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage, add_usage

Price = Callable[[Usage], float | None]
"""Price of a usage with the call's model, in US dollars; None where it is unknown."""

TYPICAL_REPLY_TOKENS = 1_000
"""Reasoning included; taken where the discussion has no reply to go by."""

CHARS_PER_TOKEN = 4

_SURE_TOKENS = 1_000
"""From so many on an estimate of the input is not five times too high."""

_SHORT_S, _HOUR_S, _LONG_S = 300, 3_600, 43_200
"""Lifetimes whose writes have prices of their own: Anthropic's two, and OpenAI's longer one."""


def expected_input(plan: CachePlan | None, total_tokens: int) -> Usage:
    """The input of a request as it is expected to be billed: by the plan's split, all fresh without one.

    Args:
        total_tokens: of the whole request, where nothing was planned.
    """
    total = 0 if plan is None else plan.read_tokens + plan.write_tokens + plan.fresh_tokens
    if plan is None or not total:
        return Usage(input_tokens=total_tokens)
    written = plan.write_tokens
    usage = Usage(input_tokens=total, cache_read_tokens=plan.read_tokens, cache_write_tokens=written)
    lifetimes = {write.ttl_s for write in plan.writes}
    if not plan.write_tokens or not lifetimes:
        return usage
    if _LONG_S in lifetimes:
        return replace(usage, cache_write_12h_tokens=_written(plan, _LONG_S))
    if lifetimes - {_SHORT_S, _HOUR_S}:
        return usage
    hour = _written(plan, _HOUR_S)
    return replace(usage, cache_write_5m_tokens=written - hour, cache_write_1h_tokens=hour)


def _written(plan: CachePlan, ttl_s: int) -> int:
    """Tokens of a plan's write that are to live so long."""
    end = max((write.tokens for write in plan.writes if write.ttl_s == ttl_s), default=0)
    return max(0, min(end, plan.read_tokens + plan.write_tokens) - plan.read_tokens)


def booked(reported: Usage, expected: Usage, reply_tokens_est: int, price: Price, *, is_whole: bool) -> Usage:
    """A call's usage as it goes into the books: what the provider said, and our estimate of what it did not, marked.

    Args:
        reported: marked an estimate where its cost is the provider's guess, or where it has no cost and some of its
            parts are absurd, or were to be told and are not: those are taken as expected. Input or reply far below what
            was sent or arrived says nothing.
        expected: as from `expected_input`, empty where it is not known; reply_tokens_est: of what arrived.
        is_whole: the provider ended the reply itself, so that what it said is its last word; where that says nothing of
            the input, no hit is taken for granted, unless it told of it in malformed figures (marked an estimate).

    Returns:
        The usage with its cost. An estimate is for money: where there is no price, or nothing to pay, what was not
        reported stays so.
    """
    reported = believable(reported, expected)
    is_garbled = reported.is_estimate and reported.output_tokens is not None
    if is_far_below(reported.output_tokens, reply_tokens_est):
        reported = replace(reported, output_tokens=None, reasoning_tokens=None, cost_usd=None)
    if reported.is_estimate and reported.cost_usd is None:
        filled = _with_parts(reported, expected)
        reported = filled if price(filled) else replace(reported, is_estimate=False)
    has_cost = reported.cost_usd is not None and not reported.is_estimate
    has_reply = reported.output_tokens is not None or not reply_tokens_est
    if is_whole and (has_cost or (reported.input_tokens is not None and has_reply)):
        return _priced(reported, price)
    is_silent = reported.input_tokens is None and reported.cache_read_tokens is None and not is_garbled
    expected = uncached(expected) if is_whole and is_silent else expected
    usage = _priced(_filled(reported, expected, reply_tokens_est), price)
    return usage if usage.cost_usd else _priced(reported, price)


def uncached(expected: Usage) -> Usage:
    """Input at its full price: a vendor that ends its reply and says nothing of its input told of no cache hit either."""
    return replace(expected, cache_read_tokens=None if expected.cache_read_tokens is None else 0)


def _with_parts(reported: Usage, expected: Usage) -> Usage:
    """Usage whose absurd parts are those that were expected, in proportion to the whole that is known."""
    sent = reported.input_tokens
    if sent is None or not expected.input_tokens or expected.cache_read_tokens is None:
        return reported
    share = sent / expected.input_tokens
    read, written = reported.cache_read_tokens, reported.cache_write_tokens
    if read is None:
        read = min(round((expected.cache_read_tokens or 0) * share), sent - (written or 0))
    if written is None:
        written = min(round((expected.cache_write_tokens or 0) * share), sent - read)
    filled = replace(reported, cache_read_tokens=read, cache_write_tokens=written)
    lives = (filled.cache_write_5m_tokens, filled.cache_write_1h_tokens, filled.cache_write_12h_tokens)
    if lives != (None, None, None) or not expected.cache_write_tokens:
        return filled
    five, hour, half_day = (
        None if tokens is None else int(tokens * written / expected.cache_write_tokens)
        for tokens in (
            expected.cache_write_5m_tokens,
            expected.cache_write_1h_tokens,
            expected.cache_write_12h_tokens,
        )
    )
    return replace(
        filled, cache_write_5m_tokens=five, cache_write_1h_tokens=hour, cache_write_12h_tokens=half_day
    )


def believable(reported: Usage, expected: Usage) -> Usage:
    """Usage as far as it can be true: where the input cannot be what was sent, neither it nor its parts are reported.

    Args:
        expected: as from `expected_input`, empty where it is not known.
    """
    sent = expected.input_tokens or 0
    if sent < _SURE_TOKENS or not is_far_below(reported.input_tokens, sent):
        return reported
    return replace(
        reported,
        input_tokens=None,
        cache_read_tokens=None,
        cache_write_tokens=None,
        cache_write_5m_tokens=None,
        cache_write_1h_tokens=None,
        cache_write_12h_tokens=None,
        cost_usd=None,
    )


def is_far_below(reported: int | None, counted: int) -> bool:
    """True if a reported count of tokens is so far below ours that no way of counting explains it."""
    return reported is not None and reported * 5 < counted


def with_lost(usage: Usage, expected: Usage, lost: int, price: Price) -> Usage:
    """A call's usage with that of the attempts before it whose answers never came: each was sent, and may be billed."""
    again = _priced(replace(expected, is_estimate=True), price) if lost else Usage()
    for _ in range(lost if again.cost_usd else 0):
        told = usage
        usage = replace(add_usage(told, again), request_id=told.request_id, miss_reason=told.miss_reason)
    return usage


def reply_texts(parts: Iterable[Part]) -> tuple[str, ...]:
    """Texts that a model wrote, for counting: text, reasoning and the arguments of calls."""
    found: list[str] = []
    for part in parts:
        match part:
            case TextPart() | ReasoningPart():
                found.append(part.text)
            case ToolCallPart():
                found.append(part.name + part.arguments_json)
            case _:
                pass
    return tuple(text for text in found if text)


def _filled(reported: Usage, expected: Usage, reply_tokens_est: int) -> Usage:
    """Usage of a broken reply: the length that it reports is what had come by then, so the longer counts."""
    usage = reported
    if usage.input_tokens is None:
        usage = replace(
            usage,
            input_tokens=expected.input_tokens,
            cache_read_tokens=expected.cache_read_tokens,
            cache_write_tokens=expected.cache_write_tokens,
            cache_write_5m_tokens=expected.cache_write_5m_tokens,
            cache_write_1h_tokens=expected.cache_write_1h_tokens,
            cache_write_12h_tokens=expected.cache_write_12h_tokens,
        )
    length = max(usage.output_tokens or 0, reply_tokens_est)
    return replace(usage, output_tokens=length, cost_usd=None, is_estimate=True)


def _priced(usage: Usage, price: Price) -> Usage:
    """Usage with its cost: the provider's own, ours where it said none or said that it guesses."""
    if usage.cost_usd is None:
        return replace(usage, cost_usd=price(usage), is_told=False)
    own = price(replace(usage, cost_usd=None)) if usage.is_estimate else None
    return usage if own is None else replace(usage, cost_usd=own, is_estimate=False)


def next_call_usd(state: AppState, discussion_id: str, text: str = "") -> float | None:
    """Expected cost of a discussion's next call, input and reply, in US dollars.

    Args:
        text: of the message to be sent; what it has over the draft was not assembled yet.

    Returns:
        From the assembled request, else what the last call of the discussion cost, else the last one of the same
        model; None where neither is known: what is unknown is not nothing.
    """
    report, opened = state.context.reports.get(discussion_id), state.discussions.open.get(discussion_id)
    last = last_usage(opened)
    if report is not None and report.cost_usd is not None:
        more = _more_chars(opened, text)
        return _input_usd(state, discussion_id, report, more) + _reply_usd(state, discussion_id, report, last)
    return last.cost_usd if last.cost_usd is not None else _last_of_model_usd(state, discussion_id)


def _more_chars(opened: OpenDiscussion | None, text: str) -> int:
    """Characters of a message over those of the draft, which was assembled."""
    return max(0, len(text) - (len(message_text_of(opened.draft.text)) if opened is not None else 0))


def other_call_usd(
    state: AppState, discussion_id: str, provider: str, model: str, text: str = ""
) -> float | None:
    """Expected cost of a discussion's next call at another model, nothing of it cached, in US dollars.

    Args:
        text: of the message, where it is not the draft that was assembled.

    Returns:
        For all that is sent, system and tools too, and a reply; None where its size or its price is unknown.
    """
    price = state.config.prices.get((provider, model))
    tokens = _whole_tokens(state, discussion_id, text)
    if price is None or tokens is None:
        return None
    return (tokens * price.input_usd + reply_tokens(state, discussion_id) * price.output_usd) / 1_000_000


def _whole_tokens(state: AppState, discussion_id: str, text: str) -> int | None:
    """Tokens of the next request: as assembled, else by what the last one was billed and what follows it; None where
    neither is known.
    """
    opened, request = state.discussions.open.get(discussion_id), next_request(state, discussion_id)
    if request is not None and request.tokens_est:
        return request.tokens_est + _more_chars(opened, text) // CHARS_PER_TOKEN
    messages = opened.messages if opened is not None else ()
    at = next((at for at in reversed(range(len(messages))) if messages[at].usage is not None), -1)
    usage = messages[at].usage if at >= 0 else None
    if usage is None or usage.input_tokens is None:
        return None
    later = sum(len(one.text) for one in messages[at + (usage.output_tokens is not None) :])
    return usage.input_tokens + (usage.output_tokens or 0) + (later + len(text)) // CHARS_PER_TOKEN


class NextRequest(msgspec.Struct, frozen=True):
    """Next request of a discussion as it would be sent now: the one estimate that every front end shows.

    Args:
        tokens_est: of all of it, without the reply; limit_tokens: the model's window, None where unknown.
        is_exact: counted and not estimated; fits: into the window.
        cost_usd: of its input, by the cache plan; new_cost_usd: of the part that no cache holds; cost_without_usd: without any cache; None where the price is unknown.
        read_tokens_est, write_tokens_est, fresh_tokens_est: its parts as they are expected to be billed, which add up
            to `tokens_est`; all fresh where nothing was planned.
    """

    tokens_est: int
    limit_tokens: int | None = None
    is_exact: bool = False
    fits: bool = True
    cost_usd: float | None = None
    new_cost_usd: float | None = None
    cost_without_usd: float | None = None
    read_tokens_est: int = 0
    write_tokens_est: int = 0
    fresh_tokens_est: int = 0


def next_request(state: AppState, discussion_id: str) -> NextRequest | None:
    """The estimate of a discussion's next request; None while it was neither assembled nor planned."""
    plan, report = state.caching.plans.get(discussion_id), state.context.reports.get(discussion_id)
    if report is None and plan is None:
        return None
    planned = 0 if plan is None else plan.read_tokens + plan.write_tokens + plan.fresh_tokens
    tokens = planned if report is None else report.total_tokens_est
    without = report.cost_usd if report is not None else None
    read = written = 0
    cost = new_cost = without
    if plan is not None and plan.cost_usd is not None:
        new_cost = plan.cost_usd - (plan.read_cost_usd or 0.0)
        cost, without = plan.cost_usd, plan.cost_without_usd if plan.cost_without_usd is not None else without
    if plan is not None and planned:
        read, written = (round(tokens * part / planned) for part in (plan.read_tokens, plan.write_tokens))
    return NextRequest(
        tokens_est=tokens,
        limit_tokens=report.limit_tokens if report is not None else None,
        is_exact=report is not None and report.is_exact,
        fits=report is None or report.fits,
        cost_usd=cost,
        new_cost_usd=new_cost,
        cost_without_usd=without,
        read_tokens_est=read,
        write_tokens_est=min(written, tokens - read),
        fresh_tokens_est=tokens - read - min(written, tokens - read),
    )


def next_input_usd(state: AppState, discussion_id: str) -> float | None:
    """Expected cost of the next request's input in US dollars, by its cache plan; None where unknown."""
    request = next_request(state, discussion_id)
    return request.cost_usd if request is not None else None


def sent_again_usd(
    state: AppState, discussion_id: str, kept: int, tokens: int, prices: CachePrices | None = None
) -> float | None:
    """Cost of tokens of the next request that a cache held and that it reads no more: written as its plan writes them.

    Args:
        kept: tokens before them that are read still; prices: of a model that is switched to, None for the plan's own.

    Returns:
        US dollars; what stands behind the plan's last mark is fresh, all is where nothing is planned. None where the
        price is unknown.
    """
    plan, fresh = state.caching.plans.get(discussion_id), fresh_token_usd(state, discussion_id)
    if prices is not None:
        fresh = prices.input_usd
    prices = prices or (plan.prices if plan is not None else None)
    if plan is None or prices is None or fresh is None:
        return None if fresh is None else tokens * fresh
    total, start, end = 0.0, kept, kept + tokens
    for write in plan.writes:
        part = max(0, min(write.tokens, end) - start)
        # a write of a few tokens may carry what is held over to a longer life: by itself that would not pay
        ttl_s = min(write.ttl_s, plan.hit_ttl_s) if write.is_extended else write.ttl_s
        total, start = total + part * prices.write_at(ttl_s), start + part
    return (total + end - start) * fresh


def fresh_token_usd(state: AppState, discussion_id: str) -> float | None:
    """Cost of a token of the next request without a cache, None where that is not known."""
    plan, report = state.caching.plans.get(discussion_id), state.context.reports.get(discussion_id)
    if plan is not None and plan.cost_without_usd is not None:
        total = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
        if total > 0:
            return plan.cost_without_usd / total
    if report is None or report.cost_usd is None or report.total_tokens_est <= 0:
        return None
    return report.cost_usd / report.total_tokens_est


def change_usd(state: AppState, discussion_id: str) -> float | None:
    """Expected cost of what the last request did not have, in US dollars, as part of `next_request`; None where unknown.

    Its tokens are among those that no cache holds, which are more where the cache is cold, and cost what those cost.
    """
    request, report = next_request(state, discussion_id), state.context.reports.get(discussion_id)
    if request is None or report is None or report.change is None or request.new_cost_usd is None:
        return None
    new = request.write_tokens_est + request.fresh_tokens_est
    return request.new_cost_usd * min(1.0, report.change.rewritten_tokens_est / max(1, new))


def _input_usd(state: AppState, discussion_id: str, report: ContextReport, more_chars: int) -> float:
    per_token = (report.cost_usd or 0.0) / max(1, report.total_tokens_est)
    return (next_input_usd(state, discussion_id) or 0.0) + per_token * more_chars / CHARS_PER_TOKEN


def _reply_usd(state: AppState, discussion_id: str, report: ContextReport, last: Usage) -> float:
    return (report.output_usd_per_token or 0.0) * _reply_tokens(state, discussion_id, last)


def reply_tokens(state: AppState, discussion_id: str) -> int:
    """Expected length of the next reply: as the last one, at most as long as the settings let it be."""
    return _reply_tokens(state, discussion_id, last_usage(state.discussions.open.get(discussion_id)))


def _reply_tokens(state: AppState, discussion_id: str, last: Usage) -> int:
    tokens = last.output_tokens or TYPICAL_REPLY_TOKENS
    row = state.discussions.summaries.get(discussion_id)
    own = row.meta.max_output_tokens if row is not None else None
    most = own or state.config.settings.ai.max_output_tokens
    return tokens if most is None else min(tokens, most)


def last_usage(opened: OpenDiscussion | None, model: tuple[str, str] | None = None) -> Usage:
    """Usage of the newest reply that reported one, of a model or of any."""
    messages = (entry for entry in reversed(opened.entries if opened else ()) if isinstance(entry, Message))
    for message in messages:
        if message.usage is not None and model in {None, (message.provider, message.model)}:
            return message.usage
    return Usage()


def is_paid(opened: OpenDiscussion, model: tuple[str, str]) -> bool:
    """True if the server said that the last reply of a model in a discussion cost something."""
    last = last_usage(opened, model)
    return last.is_told and bool(last.cost_usd)


def _last_of_model_usd(state: AppState, discussion_id: str) -> float | None:
    """Cost of the same model's last call in another discussion, the one used last first."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None:
        return None
    model = summary.meta.provider, summary.meta.model
    rows = sorted(
        (row for row in state.discussions.summaries.values() if row.meta.id in state.discussions.open),
        key=lambda row: (row.updated_at, row.meta.id),
        reverse=True,
    )
    costs = (last_usage(state.discussions.open[row.meta.id], model).cost_usd for row in rows)
    return next((cost for cost in costs if cost is not None), None)
