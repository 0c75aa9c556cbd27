"""Breaks of a discussion's warm prefix, what they cost, and what the next send would pay again: one value for every front end. Pure."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.stored_texts import retold
from core.kernel.values.cache import Rewrite
from core.kernel.values.discussion import SentBreak
from core.kernel.values.stack import ContextChange, LayerId
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.services.spending.estimates import NextRequest, change_usd, next_request
from core.talk.caching.accounts import is_alive
from core.talk.caching.rewrites import has_price


class Coming(msgspec.Struct, frozen=True):
    """A part of what was sent that the next request pays for again, or appends.

    Args:
        text: with tokens and price; costs: something is paid again, so that it is worth a warning.
    """

    text: str
    costs: bool


class CacheWhy(msgspec.Struct, frozen=True):
    """Reasons for what a discussion's cache has cost and will cost.

    Args:
        breaks: requests that parted from the one before them, the newest last; is_last: the last request is one of them.
        missed: why the last request read less than was expected; is_over: what is held now is read again.
        coming: None where the next request extends the last one, as far as is known.
        request: the next one by its one estimate; reasons: of its cache plan, a sentence each.
    """

    breaks: tuple[SentBreak, ...] = ()
    is_last: bool = False
    missed: str = ""
    is_over: bool = False
    coming: Coming | None = None
    request: NextRequest | None = None
    reasons: tuple[str, ...] = ()

    @property
    def broken(self) -> str:
        """Sentence on what the last request paid again, and why; empty where it extended the one before."""
        return self.breaks[-1].text if self.is_last else ""


def why_of(state: AppState, discussion_id: str) -> CacheWhy:
    """Reasons for a discussion, as far as its log is loaded and its next request was planned."""
    opened, plan = state.discussions.open.get(discussion_id), state.caching.plans.get(discussion_id)
    cache = state.caching.caches.get(discussion_id)
    known = () if opened is None else opened.breaks
    breaks = tuple(replace(one, text=retold(one.text)) for one in known)
    last = None if opened is None else opened.last_request
    row = state.discussions.summaries.get(discussion_id)
    is_own = last is not None and row is not None and row.meta.model in ("", last.model)
    return CacheWhy(
        breaks=breaks,
        is_last=bool(breaks) and is_own and last is not None and breaks[-1].request_id == last.id,
        missed=retold(state.caching.miss_reasons.get(discussion_id, "")),
        is_over=cache is not None and is_alive(cache, state.now),
        coming=_coming(state, discussion_id),
        request=next_request(state, discussion_id),
        reasons=() if plan is None else plan.sentences,
    )


def next_words(why: CacheWhy) -> str:
    """Sentence on the next send: tokens that it reads and pays for anew; empty where it was not planned."""
    request = why.request
    if request is None:
        return ""
    anew = request.write_tokens_est + request.fresh_tokens_est
    return tr(
        "The next message sends {tokens_est} tokens. The cache provides {read_tokens_est}, but not the other {anew}; the message costs {cost_usd}.",
        tokens_est=fmt.tokens_est(request.tokens_est, is_exact=request.is_exact),
        read_tokens_est=fmt.tokens(request.read_tokens_est),
        anew=fmt.tokens(anew),
        cost_usd=fmt.estimated(request.cost_usd),
    )


def _coming(state: AppState, discussion_id: str) -> Coming | None:
    report = state.context.reports.get(discussion_id)
    change = report.change if report is not None else None
    rewrite = state.caching.rewrites.get(discussion_id)
    if rewrite is not None and not is_busy(state, discussion_id) and not _is_before_knowledge(change):
        return _rewritten(rewrite)
    if report is None or change is None or discussion_id not in state.caching.caches:
        return None
    if not _is_rewritten(state, change):
        return None
    counted = fmt.tokens_est(change.rewritten_tokens_est, is_exact=report.is_exact)
    usd, why = change_usd(state, discussion_id), f": {change.reason}" if change.reason else ""
    text = tr(
        "Will be rewritten on the next turn{why} ({counted} tokens, {usd})",
        why=why,
        counted=counted,
        usd=fmt.money(usd),
    )
    return Coming(text=text, costs=usd != 0)


def _rewritten(rewrite: Rewrite) -> Coming:
    what = (
        tr("Goes with the next message") if rewrite.is_appended else tr("Will be rewritten on the next turn")
    )
    text = f"{what}: {rewrite.why} ({rewrite_text(rewrite)})"
    return Coming(text=text, costs=has_price(rewrite) and not rewrite.is_appended)


def rewrite_text(rewrite: Rewrite) -> str:
    """Tokens and cost of a rewrite: `≈12.3k tokens, est. $0.041`."""
    return tr(
        "{tokens} tokens, {cost_usd}",
        tokens=fmt.tokens_est(rewrite.tokens),
        cost_usd=estimate_text(rewrite.cost_usd, rewrite.most_usd),
    )


def estimate_text(cost_usd: float | None, most_usd: float | None) -> str:
    """An expected cost in words, with its upper bound."""
    if cost_usd is None:
        return fmt.money(None)
    most = (
        tr(", up to {most_usd}", most_usd=fmt.money(most_usd))
        if most_usd is not None and most_usd > cost_usd
        else ""
    )
    return f"{'free' if cost_usd <= 0 else fmt.estimated(cost_usd)}{most}"


def _is_before_knowledge(change: ContextChange | None) -> bool:
    """True if something that stands before layer 7 changed, so that it tells of all that is rewritten."""
    return change is not None and change.layer is not None and change.layer < LayerId.KNOWLEDGE


def _is_rewritten(state: AppState, change: ContextChange) -> bool:
    """True if a change voids what is cached: not what comes anew with every turn, nor what is appended.

    Of a change of knowledge `state.caching.rewrites` tells, and only while there is something to lose.
    """
    if change.layer in {None, LayerId.KNOWLEDGE, LayerId.METADATA, LayerId.USER}:
        return False
    is_curated = change.layer in {LayerId.FILE_SET, LayerId.FILE_DETAILS}
    return not (is_curated and state.config.settings.caching.appends_changes)
