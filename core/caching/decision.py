"""Append or rewrite: plans a stack through both views and takes the one that costs less, with its reason."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.caching.planner import PlanInputs, plan
from core.caching.view import pruned, superseded, view_for
from core.context.stack import AggregateStack
from core.context.wire import MadeMessages
from core.providers.blocks import CountTokens, Wire, WireMemo, wire_of
from core.values.cache import (
    Balance,
    CacheLedger,
    CachePlan,
    CachePrices,
    CacheSettings,
    GapStats,
    LedgerScope,
)
from core.values.provider import Effort, ProviderRequest, RequestPart
from core.values.stack import LayerId, Segment, ToolSchema
from core.values.view import ContextView

_BASE_FILES = str(int(LayerId.FILE_DETAILS))
"""Key of the base's files on the wire."""


class PlannedTurn(msgspec.Struct, frozen=True):
    """A request that is about to be made of a stack.

    Args:
        view: as the last request of this discussion showed layers 9 and 10, None for the first.
        message_id: of the user's message that the request answers.
        next_round: probability of another request in the same turn (0 without tools).
        limit_tokens: the model's room for input, None where unknown.
    """

    stack: AggregateStack
    message_id: str
    view: ContextView | None = None
    effort: Effort = Effort.AUTO
    max_output_tokens: int | None = None
    discussion_id: str = ""
    next_round: float = 0.0
    limit_tokens: int | None = None


class Market(msgspec.Struct, frozen=True):
    """What every request is planned against.

    Args:
        now: start of the request, aware; count: tokens of a part for the model in use.
        count_revision: another value wherever `count` may answer otherwise than before.
        gaps, balance: of the discussion that is planned.
    """

    scope: LedgerScope
    prices: CachePrices
    ledger: CacheLedger
    gaps: GapStats
    settings: CacheSettings
    now: datetime
    count: CountTokens
    count_revision: Hashable = None
    balance: Balance = Balance()


class Decision(msgspec.Struct, frozen=True):
    """What is to be sent, and how it is to be cached.

    Args:
        view: what the log's next `view` records lead to; wire: for the ledger, when usage comes.
    """

    request: ProviderRequest
    view: ContextView
    plan: CachePlan
    wire: Wire


@dataclass(slots=True)
class ViewMemo:
    """What was made of the last request through one view."""

    messages: MadeMessages = field(default_factory=MadeMessages)
    wire: WireMemo = field(default_factory=WireMemo)


@dataclass(slots=True)
class DecideMemo:
    """What is kept of a discussion between its turns; one thread at a time."""

    canonical: ViewMemo = field(default_factory=ViewMemo)
    appended: ViewMemo = field(default_factory=ViewMemo)


def decide(turn: PlannedTurn, market: Market, memo: DecideMemo | None = None) -> Decision:
    """Choose how layers 9 and 10 are shown, and plan the cache.

    While a turn is running (its tool results are being answered) the view stays as it is: vendors bind a running
    turn's thinking to every byte before it.
    """
    memo = memo or DecideMemo()
    fresh = turn.stack.canonical_view
    is_running = not turn.stack.layer(LayerId.USER).pieces
    if turn.view is not None and is_running:
        view = pruned(turn.view, turn.stack, turn.message_id)
        return _planned(turn, market, view, memo.appended)
    if turn.view is None or not market.settings.appends_changes or not market.settings.is_enabled:
        return _planned(turn, market, fresh, memo.canonical)
    appended = view_for(turn.view, turn.stack, turn.message_id)
    if appended == fresh:
        return _planned(turn, market, fresh, memo.canonical)
    rewritten = _planned(turn, market, fresh, memo.canonical)
    kept = _planned(turn, market, appended, memo.appended)
    if _is_too_long(turn, kept) or rewritten.plan.outlook <= kept.plan.outlook:
        return _with_sentence(rewritten, rewritten, _why_rewritten(turn, rewritten, kept))
    return _with_sentence(kept, rewritten, _why_kept(turn, kept, appended))


def _planned(turn: PlannedTurn, market: Market, view: ContextView, memo: ViewMemo) -> Decision:
    request = turn.stack.request(
        turn.effort,
        turn.max_output_tokens,
        turn.discussion_id,
        view=view,
        message_id=turn.message_id,
        made=memo.messages,
    )
    count = _counting(view, market.count)
    wire = wire_of(request, market.scope, count, memo.wire, market.count_revision)
    stale = sum(market.count(segment) for segment in superseded(view))
    inputs = PlanInputs(
        wire=wire,
        scope=market.scope,
        prices=market.prices,
        ledger=market.ledger,
        gaps=market.gaps,
        settings=market.settings,
        now=market.now,
        superseded_tokens=stale,
        next_round=turn.next_round,
        balance=market.balance,
    )
    return Decision(request, view, plan(inputs), wire)


def _counting(view: ContextView, count: CountTokens) -> CountTokens:
    """Count the files of the base one by one: together they are one segment, which nobody has counted."""
    files = view.base.files

    def counted(part: RequestPart | ToolSchema) -> int:
        if isinstance(part, Segment) and part.key == _BASE_FILES:
            return sum(count(Segment(LayerId.FILE_DETAILS, f.key, f.text, f.sha256)) for f in files)
        return count(part)

    return counted


def _with_sentence(chosen: Decision, canonical: Decision, sentence: str) -> Decision:
    """Costs without caching are those of the canonical request: nobody would append then."""
    changed = replace(
        chosen.plan,
        cost_without_usd=canonical.plan.cost_without_usd,
        outlook_without=canonical.plan.outlook_without,
        sentences=(sentence, *chosen.plan.sentences),
    )
    return replace(chosen, plan=changed)


def _is_too_long(turn: PlannedTurn, kept: Decision) -> bool:
    return turn.limit_tokens is not None and kept.wire.total_tokens > turn.limit_tokens


def _why_rewritten(turn: PlannedTurn, rewritten: Decision, kept: Decision) -> str:
    if _is_too_long(turn, kept):
        return "The context was rewritten: with the changes appended it would exceed the model's window."
    if kept.plan.read_tokens <= rewritten.plan.read_tokens:
        return "The context was rewritten with all changes in place: its cache had gone cold, so that costs nothing."
    return f"The context was rewritten: carrying {kept.plan.superseded_tokens:,} superseded tokens on would cost more."


def _why_kept(turn: PlannedTurn, kept: Decision, view: ContextView) -> str:
    fresh = [delta for delta in view.deltas if delta.message_id == turn.message_id]
    count = sum(len(delta.files) + len(delta.removed) for delta in fresh)
    carried = f"{kept.plan.superseded_tokens:,} superseded tokens are carried."
    if not fresh:
        return f"Earlier changes stay appended while the cache is warm; {carried}"
    what = "the preset" if not count else "1 changed file" if count == 1 else f"{count} changed files"
    return f"The cache is warm: {what} joined your message instead of rewriting what was sent; {carried}"
