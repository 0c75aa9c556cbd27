"""Append or rewrite: plans a stack through each view worth it and takes the one that costs least, with its reason."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.frame import size_bytes
from core.kernel.language import all_of, as_sentences, tr
from core.kernel.tokens import estimate_tokens
from core.kernel.values.cache import (
    Balance,
    CacheLedger,
    CachePlan,
    CachePrices,
    CacheSettings,
    ContentsUse,
    GapStats,
    LedgerScope,
)
from core.kernel.values.provider import Effort, ProviderRequest, RequestPart, Switching
from core.kernel.values.spec import PREVIEW_ID
from core.kernel.values.stack import LayerId, Segment, ToolSchema
from core.kernel.values.window import ContextView, base_pieces
from core.services.providers.blocks import CountTokens, Wire, WireMemo, scope_hash, wire_of
from core.services.providers.switches import without_reasoning
from core.talk.caching.cache_ledger import is_live
from core.talk.caching.economy import Outlook
from core.talk.caching.planner import PlanInputs, outlooks_of, plan
from core.talk.caching.view import (
    DIGEST_KEY,
    SharedBase,
    pruned,
    reasoning_tokens,
    recalled_text,
    shared_view,
    spared_view,
    superseded_tokens,
    view_for,
    with_held,
    with_own_tail,
    with_reasoned,
    with_tail,
    withdrawn,
)
from core.talk.context.history_turns import is_running
from core.talk.context.stack import AggregateStack
from core.talk.context.wire import MadeMessages, Wanted, layer_of, wanted_of, with_switches

_JOINED = (str(int(LayerId.PROJECT)), str(int(LayerId.FILE_DETAILS)))
"""Keys of the base's pieces that go over the wire as one segment."""


_SHARED = tr(
    "An earlier state of project context and knowledge (layers 6 and 7) is warm. The request reads that state, and your message carries the later changes. Everything else stays in its place."
)


_ELSEWHERE = tr(
    "Another model still caches the sent context. The program leaves the context unchanged, so that you can switch back cheaply."
)
_THOUGHTS_LEFT = tr("The program leaves out earlier thinking: its cache was cold, so that is free.")
_RECALLED_SHARE = 0.25
"""Recalled passages that stay behind earlier turns, as a share of the model's room."""

_CARRIED_SHARE = 0.1
"""Superseded tokens that are carried for that, as a share of those that are held."""


class PlannedTurn(msgspec.Struct, frozen=True):
    """A request that is about to be made of a stack.

    Args:
        view: as the last request of this discussion showed layers 6, 7, 9 and 10, None for the first.
        project: whose layer 6 it is, part of the mode; shared: what discussions of the mode sent of 6 and 7a last.
        message_id: of the user's message that the request answers.
        next_round: probability of another request in the same turn (0 without tools).
        limit_tokens: the model's room for input, None where unknown.
        offered: tools of servers that it offers, None where it offers no tools.
        switching: what its model takes of switches in the conversation; head: effort that stands at the head of
            its requests, None: the one that it asks for.
        takes_reasoning: its model has not refused its own earlier thinking.
        is_paid: its server said that the model's last reply cost something.
    """

    stack: AggregateStack
    message_id: str
    view: ContextView | None = None
    effort: Effort = Effort.AUTO
    max_output_tokens: int | None = None
    discussion_id: str = ""
    next_round: float = 0.0
    limit_tokens: int | None = None
    project: str = ""
    shared: SharedBase | None = None
    offered: tuple[ToolSchema, ...] | None = None
    switching: Switching = Switching.NONE
    head: Effort | None = None
    takes_reasoning: bool = True
    is_paid: bool = False


class Market(msgspec.Struct, frozen=True):
    """Market that every request is planned in.

    Args:
        now: start of the request, aware; count: tokens of a part for the model in use.
        count_revision: another value wherever `count` may answer otherwise than before.
        gaps, balance: of the discussion that is planned; edits: how many of the turns find layers 6 or 7 changed, 0 to 1.
    """

    scope: LedgerScope
    prices: CachePrices
    ledger: CacheLedger
    gaps: GapStats
    settings: CacheSettings
    now: datetime
    count: CountTokens
    count_revision: Hashable = None
    edits: float = 0.0
    balance: Balance = Balance()


class Decision(msgspec.Struct, frozen=True):
    """Decision of what is to be sent, and how it is to be cached.

    Args:
        view: what the log's next `view` records lead to; wire: for the ledger, when usage comes.
    """

    request: ProviderRequest
    view: ContextView
    plan: CachePlan
    wire: Wire


class ViewMemo(msgspec.Struct):
    """Memory of the last request through one view.

    Args:
        view, superseded: as last counted, and how many tokens of it a rewrite would leave out; thoughts: of the reasoning
            that goes back, by message.
    """

    messages: MadeMessages = msgspec.field(default_factory=MadeMessages)
    wire: WireMemo = msgspec.field(default_factory=WireMemo)
    view: ContextView | None = None
    superseded: int = 0
    thoughts: Mapping[str, int] = msgspec.field(default_factory=dict)


class DecideMemo(msgspec.Struct):
    """Memory of a discussion between its turns; one thread at a time.

    Args:
        market, outlooks: of the last plan: every candidate of a turn is weighed by the same.
    """

    canonical: ViewMemo = msgspec.field(default_factory=ViewMemo)
    appended: ViewMemo = msgspec.field(default_factory=ViewMemo)
    shared: ViewMemo = msgspec.field(default_factory=ViewMemo)
    market: Market | None = None
    outlooks: tuple[Outlook, Outlook] | None = None

    def copied(self) -> DecideMemo:
        """The same for another thread, but for the market, which no other plan shares.

        Each plan swaps the values of its memo, and changes none of them.
        """
        views = [
            replace(one, messages=replace(one.messages), wire=replace(one.wire))
            for one in (self.canonical, self.appended, self.shared)
        ]
        return DecideMemo(canonical=views[0], appended=views[1], shared=views[2])


def decide(turn: PlannedTurn, market: Market, memo: DecideMemo | None = None) -> Decision:
    """Choose how a request shows its context, and plan the cache: see `_decided`.

    Where a server holds its reply behind the very request, layer 8 and what was recalled stay where they are sent, so that the
    next turn repeats all of it and the reply is not read in anew.
    """
    decision = _decided(turn, market, memo or DecideMemo())
    if not _keeps_tail(turn, market):
        return decision
    return replace(decision, view=with_own_tail(decision.view, turn.stack, turn.message_id))


def _keeps_tail(turn: PlannedTurn, market: Market) -> bool:
    """True if layer 8 of a request stays in its place, and what was recalled for it as far as there is room.

    What was recalled in all the turns takes a quarter of a model's room at most, and goes with its turn where that room is not
    known: a server cuts off, or refuses, what is longer. It goes, too, where input has a price, or may have one: a server on
    this machine may pass requests on to one that is paid, and tells so by its replies.
    """
    if not (market.prices.holds_replies and market.settings.appends_changes and market.settings.is_enabled):
        return False
    recalled = recalled_text(turn.stack)
    if not recalled:
        return True
    is_unknown = market.prices.input_usd is None
    if market.prices.input_usd or (is_unknown and (turn.is_paid or not market.prices.is_local)):
        return False
    before = () if turn.view is None else turn.view.tails
    kept = sum(estimate_tokens(size_bytes(tail.retrieved)) for tail in before)
    return _RECALLED_SHARE * (turn.limit_tokens or 0) >= kept + estimate_tokens(size_bytes(recalled))


def _decided(turn: PlannedTurn, market: Market, memo: DecideMemo) -> Decision:
    """Choose how layers 6, 7, 9 and 10 are shown, and plan the cache.

    Candidates are the canonical view, the discussion's own with what changed appended, and the canonical one over
    the mode's warm layers 6 and 7a. What a person deleted is in none of them, whatever that costs: the discussion's own
    is left without the messages' updates that told it, and is none where its base did.

    While a turn is running (its tool results are being answered) the view stays as it is, deleted text included:
    vendors bind a running turn's thinking to every byte before it and refuse it behind another prefix, so that a
    deletion would end the turn that it falls into, with all that was paid for it. It takes hold with the next message.
    Layer 8 and what was recalled stay in it where the turn began, so that the turns behind it repeat what was sent.
    Where nothing is said there is no message to append to: what changed waits for it. A preview is of the next message,
    which will tell it, whether its words are written yet or not.
    """
    if not turn.takes_reasoning and turn.view is not None:
        turn = replace(turn, view=replace(turn.view, reasoned=()))
    wanted = _wanted(turn)
    fresh = with_switches(turn.stack.canonical_view, wanted, turn.message_id)
    is_silent = not turn.stack.layer(LayerId.USER).pieces
    appends = market.settings.appends_changes and market.settings.is_enabled
    if turn.view is not None and is_silent and is_running(turn.stack.layer(LayerId.TURNS)):
        view = with_switches(pruned(turn.view, turn.stack, turn.message_id), wanted, turn.message_id)
        if appends:
            view = with_tail(view, turn.stack)
            view = with_reasoned(view, turn.stack) if turn.takes_reasoning else view
        return _planned(turn, market, view, memo, memo.appended)
    if not appends:
        fresh = with_switches(fresh, replace(wanted, switching=Switching.NONE), turn.message_id)
        return _planned(turn, market, fresh, memo, memo.canonical)
    gone = withdrawn(turn.view, turn.stack) if turn.view is not None else ""
    own = spared_view(turn.view, turn.stack) if turn.view is not None and gone else turn.view
    appended = None
    if own is not None:
        show = pruned if _tells_nothing(turn) else view_for
        appended = with_switches(show(own, turn.stack, turn.message_id), wanted, turn.message_id)
        if appended == fresh:
            return _planned(turn, market, fresh, memo, memo.canonical)
    rewritten = _planned(turn, market, fresh, memo, memo.canonical)
    whole = rewritten.wire.total_tokens
    kept = None if appended is None else _held(turn, market, appended, memo, whole)
    is_left = kept is not None and kept.view == fresh
    kept = None if is_left else kept
    best = _cheapest(turn, rewritten, kept, _shared(turn, market, fresh, memo, whole))
    if gone:
        return _with_sentence(
            best, rewritten, tr("The program rewrote the context at once: {reason}.", reason=gone)
        )
    if kept is None:
        if best is not rewritten:
            return _with_sentence(best, rewritten, _SHARED)
        return _with_sentence(best, rewritten, _THOUGHTS_LEFT) if is_left else best
    if best is kept:
        return _with_sentence(kept, rewritten, _why_kept(turn, kept, appended))
    if _is_held_elsewhere(turn, market, kept, best):
        return _with_sentence(kept, rewritten, _ELSEWHERE)
    if best is not rewritten:
        return _with_sentence(best, rewritten, _SHARED)
    return _with_sentence(rewritten, rewritten, _why_rewritten(turn, rewritten, kept))


def _wanted(turn: PlannedTurn) -> Wanted:
    return wanted_of(
        turn.stack.layers,
        turn.effort,
        turn.head or turn.effort,
        switching=turn.switching,
        tells=not _tells_nothing(turn),
    )


def _held(turn: PlannedTurn, market: Market, view: ContextView, memo: DecideMemo, whole: int) -> Decision:
    """The plan over the discussion's own view, with the reasoning of finished turns as far as it is read from a cache."""
    kept = _planned(turn, market, view, memo, memo.appended, whole)
    held = with_held(view, turn.stack, kept.wire, kept.plan.read_tokens)
    return kept if held is view else _planned(turn, market, held, memo, memo.appended, whole)


def mode_of(turn: PlannedTurn, scope: LedgerScope) -> str:
    """Names the mode of a discussion: those of one mode send the same layers 1 to 5, for one project, to one cache."""
    layers = turn.stack.layers[: LayerId.PROJECT - 1]
    hashes = "".join(f"{layer.sha256}\0" for layer in layers)
    text = f"{scope_hash(scope)}\0{turn.project}\0{turn.stack.takes_long_system}\0{hashes}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _tells_nothing(turn: PlannedTurn) -> bool:
    """True if the request answers no message that could tell what changed: it prewarms, or a turn goes on."""
    return not turn.stack.layer(LayerId.USER).pieces and turn.message_id != PREVIEW_ID


def _shared(
    turn: PlannedTurn, market: Market, fresh: ContextView, memo: DecideMemo, whole: int
) -> Decision | None:
    """The plan over the mode's warm layers 6 and 7a, None where they say what the canonical ones do."""
    if turn.shared is None:
        return None
    view = shared_view(turn.shared, turn.stack, turn.message_id)
    view = None if view is None else with_switches(view, _wanted(turn), turn.message_id)
    if view is not None and _tells_nothing(turn):
        view = replace(view, deltas=())
    return None if view is None or view == fresh else _planned(turn, market, view, memo, memo.shared, whole)


def _is_held_elsewhere(turn: PlannedTurn, market: Market, kept: Decision, best: Decision) -> bool:
    """True if what was sent is kept though it is cold here: another model, or another effort, still holds it.

    Who asks another model once goes back, and would find all of it rewritten. So little may be carried for that.
    """
    others = (entries for scope, entries in market.ledger.entries.items() if scope != market.scope)
    held = (one for entries in others for one in entries.values() if is_live(one, market.now))
    tokens = max((one.tokens for one in held if one.discussion_id == turn.discussion_id), default=0)
    is_little = tokens > 0 and kept.plan.superseded_tokens <= _CARRIED_SHARE * tokens
    return is_little and not _is_too_long(turn, kept) and kept.plan.read_tokens >= best.plan.read_tokens


def _cheapest(
    turn: PlannedTurn, rewritten: Decision, kept: Decision | None, *others: Decision | None
) -> Decision:
    """The plan that costs least; the canonical one where that is as cheap."""
    others = (kept, *others)
    fits = [other for other in others if other is not None and not _is_too_long(turn, other)]
    best = min((rewritten, *fits), key=lambda one: one.plan.outlook)
    return kept if kept in fits and _stays(kept, best) else best


def _stays(kept: Decision | None, best: Decision) -> bool:
    """True if what was sent stays for its reasoning, for tools and effort that were added behind it, or for the replies that a
    server holds behind layer 8: a warm prefix is not paid for twice to be rid of them.

    What a rewrite saves comes with later turns, which may not come; when the prefix is cold it costs nothing. Where texts
    were superseded, too, the price decides.
    """
    if kept is None or kept.view.deltas:
        return False
    holds_replies = kept.plan.prices is not None and kept.plan.prices.holds_replies
    if not (kept.view.reasoned or kept.view.switches or (kept.view.tails and holds_replies)):
        return False
    stored = kept.plan.contents
    if kept.view.switches and stored is not None and stored.use is ContentsUse.USE:
        # Either way all that is stored is read, and what stands behind it the vendor may hold by itself.
        return kept.plan.read_tokens >= best.plan.read_tokens
    return kept.plan.read_tokens > best.plan.read_tokens


def _planned(
    turn: PlannedTurn,
    market: Market,
    view: ContextView,
    memo: DecideMemo,
    last: ViewMemo,
    whole: int | None = None,
) -> Decision:
    """Plan a view.

    Args:
        whole: tokens of the canonical request: no more than what is over them is superseded. None: not known.
    """
    request = turn.stack.request(
        turn.effort,
        turn.max_output_tokens,
        turn.discussion_id,
        view=view,
        message_id=turn.message_id,
        made=last.messages,
    )
    if not turn.takes_reasoning:
        request = without_reasoning(request)
    count, counted_by = _counting(view, market.count), (last.wire.scope, last.wire.revision)
    settings = market.settings
    wire = wire_of(
        request,
        market.scope,
        count,
        last.wire,
        market.count_revision,
        keeps_reasoning=settings.appends_changes and settings.is_enabled,
        keeps_tail=_keeps_tail(turn, market),
    )
    if view is not last.view or counted_by != (last.wire.scope, last.wire.revision):
        last.view, last.superseded = view, superseded_tokens(view, market.count)
        last.thoughts = {} if counted_by != (last.wire.scope, last.wire.revision) else last.thoughts
    last.thoughts = reasoning_tokens(view, turn.stack, market.count, last.thoughts)
    superseded = last.superseded + sum([last.thoughts.get(one, 0) for one in view.reasoned])
    if whole is not None:
        superseded = min(superseded, max(0, wire.total_tokens - whole))
    inputs = PlanInputs(
        wire=wire,
        scope=market.scope,
        prices=market.prices,
        ledger=market.ledger,
        gaps=market.gaps,
        settings=market.settings,
        now=market.now,
        superseded_tokens=superseded,
        next_round=turn.next_round,
        edits=market.edits,
        balance=market.balance,
    )
    if memo.market is not market or memo.outlooks is None:
        memo.market, memo.outlooks = market, outlooks_of(inputs)
    return Decision(request=request, view=view, plan=plan(replace(inputs, outlooks=memo.outlooks)), wire=wire)


def _counting(view: ContextView, count: CountTokens) -> CountTokens:
    """Count the pieces of the base one by one: together they are one segment, which nobody has counted."""
    pieces = base_pieces(view.base)
    if not pieces:
        return count

    def counted(part: RequestPart | ToolSchema) -> int:
        if isinstance(part, Segment) and part.key in _JOINED:
            own = (p for p in pieces if layer_of(p.key) == part.layer)
            return sum(count(Segment(layer=part.layer, key=p.key, text=p.text, sha256=p.sha256)) for p in own)
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
        return tr("The program rewrote the context: with the changes added at its end, it was too long.")
    if kept.plan.read_tokens <= rewritten.plan.read_tokens:
        return tr(
            "The program rewrote the context with all changes in place. With them at its end, no more would be read from the cache."
        )
    return tr(
        "The program rewrote the context: keeping {superseded_tokens:,} outdated tokens would cost more.",
        superseded_tokens=kept.plan.superseded_tokens,
    )


def _why_kept(turn: PlannedTurn, kept: Decision, asked: ContextView | None) -> str:
    """The reason why what was sent stays. `asked`: the discussion's own view with all thinking that was sent."""
    view = kept.view
    fresh = [delta for delta in view.deltas if delta.message_id == turn.message_id]
    keys = [key for delta in fresh for key in (*(file.key for file in delta.files), *delta.removed)]
    carried = tr(
        "{superseded_tokens:,} tokens of outdated text stay in the request.",
        superseded_tokens=kept.plan.superseded_tokens,
    )
    if asked is not None and len(view.reasoned) < len(asked.reasoned) and not view.deltas:
        said = tr(
            "The cached part stays unchanged; the program leaves out earlier thinking that is not cached."
        )
        return as_sentences(said, carried)
    if view.reasoned and not view.deltas:
        return tr(
            "The cache is warm: the program sends the context and earlier thinking unchanged. A rewrite would leave out {outdated_tokens:,} outdated tokens.",
            outdated_tokens=kept.plan.superseded_tokens,
        )
    if not fresh:
        return as_sentences(
            tr("Earlier changes stay at the end of the request while the cache is warm."), carried
        )
    files = sum(layer_of(key) == LayerId.FILE_DETAILS for key in keys)
    words = [tr("changed knowledge")] if DIGEST_KEY in keys else []
    others = len(keys) - files - len(words)
    words += (
        [count(others, tr("changed note or identity file"), tr("changed notes or identity files"))]
        if others
        else []
    )
    words += [count(files, tr("changed file"), tr("changed files"))] if files else []
    what = all_of(words) or tr("the preset")
    said = tr(
        "The cache is warm: your message carries {what}, and the sent context stays unchanged.", what=what
    )
    return as_sentences(said, carried)
