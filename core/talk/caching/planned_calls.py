"""A call over the book: planned, held back while another writes the same prefix, begun, ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import count, pairwise
from operator import sub

import msgspec
from msgspec.structs import replace

from core.kernel.ids import make_id
from core.kernel.structures import with_entry
from core.kernel.tokens import within_range
from core.kernel.values.cache import (
    CacheLedger,
    CachePlan,
    DiscussionCacheState,
    ExtensionEvidence,
    LedgerScope,
    Mechanism,
)
from core.kernel.values.messages import Message, Role, ToolCallPart
from core.kernel.values.provider import (
    ContentsReport,
    Effort,
    ModelProfile,
    ProviderRequest,
    RequestPart,
    Switching,
)
from core.kernel.values.records import ViewRecord
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import LayerId, Segment, ToolSchema
from core.kernel.values.state import AppState, ProviderTotals
from core.kernel.values.usage import UNTOLD_MISS, Usage, UsageKind, add_usage
from core.kernel.values.window import base_pieces
from core.services.providers.blocks import CountTokens, MarkPlace, Wire, wire_of
from core.services.providers.switches import takes_effort
from core.services.spending.estimates import CHARS_PER_TOKEN, believable, expected_input
from core.talk.caching.accounts import after_contents, after_usage, balanced, believed
from core.talk.caching.cache_book import (
    BookedCall,
    CacheBook,
    gaps_of,
    sent_by,
    started,
    turn_answered,
    with_page,
    with_shared,
)
from core.talk.caching.cache_ledger import (
    correct,
    hits,
    is_live,
    lifted_s,
    live_entries,
    lost_extensions,
    of_discussion,
    predict,
    record,
    scale_of,
)
from core.talk.caching.content_store import freshest, reported
from core.talk.caching.contents import contents_usd
from core.talk.caching.decision import DecideMemo, Market, PlannedTurn, decide, mode_of
from core.talk.caching.keepalive import idle_entries
from core.talk.caching.offers import scope_settings, with_contents
from core.talk.caching.view import Replayed, records_for, shared_base
from core.talk.context.history_turns import is_running
from core.talk.context.stack import AggregateStack
from core.talk.context.token_scale import request_parts
from core.talk.context.wire import in_force, layer_of

# Gate for parallel calls: those wait whose prefix another is just writing.


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that is about to be sent, or was sent and has not begun its answer (`is_out`)."""

    call_id: str
    scope: LedgerScope
    plan: CachePlan
    hashes: tuple[str, ...]
    is_out: bool = False


class Gate(msgspec.Struct, frozen=True):
    """Calls that may be sent now, and those that wait for another's first byte (`waits[call] = other`)."""

    go: tuple[str, ...]
    waits: tuple[tuple[str, str], ...]


def gate(calls: Sequence[PlannedCall]) -> Gate:
    """Let the first of the calls that share a prefix not yet in the cache go, hold the others back.

    An entry can be read once the answer of the request that writes it begins.

    Args:
        calls: in the order in which they were asked for; those already out first.
    """
    leaders: list[tuple[LedgerScope, frozenset[str], str]] = []
    go: list[str] = []
    waits: list[tuple[str, str]] = []
    for call in calls:
        prefixes = frozenset(call.hashes)
        leader = next((c for s, writes, c in leaders if s == call.scope and writes & prefixes), "")
        if leader and not call.is_out:
            waits.append((call.call_id, leader))
            continue
        fresh = frozenset(write.prefix_hash for write in call.plan.writes if write.is_new)
        leaders.append((call.scope, fresh, call.call_id))
        if not call.is_out:
            go.append(call.call_id)
    return Gate(tuple(go), tuple(waits))


# Reports of caches as they arrive: what was known later stands, whichever thread's report comes first.


def with_totals(state: AppState, totals: ProviderTotals | None) -> AppState:
    """Keep a provider's totals, unless later ones are known. None: nothing is said of them."""
    if totals is None:
        return state
    known = state.caching.totals
    if totals.provider in known and known[totals.provider].booked > totals.booked:
        return state
    return replace(state, caching=replace(state.caching, totals=with_entry(known, totals.provider, totals)))


def with_cache(state: AppState, cache: DiscussionCacheState, order: int | None = None) -> AppState:
    """Keep what is known of a cache, unless a later word on it is known; whether it is on, the discussion itself says.

    Args:
        order: of the book of caches when this was so, None where it is no worker's word.
    """
    chosen, known = cache.discussion_id, state.caching.orders
    if order is not None and order < known.get(chosen, 0):
        return state
    orders = known if order is None else with_entry(known, chosen, order)
    summary = state.discussions.summaries.get(chosen)
    if summary is not None:
        cache = replace(cache, caching_enabled=summary.meta.caching_enabled)
    if orders.get(chosen) == known.get(chosen) and state.caching.caches.get(chosen) == cache:
        return state
    caches = with_entry(state.caching.caches, chosen, cache)
    return replace(state, caching=replace(state.caching, caches=caches, orders=orders))


# A call over the book: planned, held back while another writes the same prefix, begun, and held against its
# usage.

# A request of a turn as the planner takes it, with the odds of another one in the same turn.

_LOOKED_AT = 200
"""Messages from the end that tell of a discussion's habits."""

_PRIOR_CALLS, _PRIOR_REPLIES = 1.0, 2.0
"""One reply of two asks for tools, until the discussion has shown its own."""


def planned_turn(
    spec: StackSpec, stack: AggregateStack, message_id: str, profile: ModelProfile
) -> PlannedTurn:
    """The request of a stack for the planner. `message_id`: of the person's message that it answers."""
    return PlannedTurn(
        stack=stack,
        message_id=message_id,
        effort=spec.effort,
        max_output_tokens=spec.max_output_tokens,
        discussion_id=spec.discussion_id,
        next_round=next_round(spec.inputs.turns, has_tools=bool(stack.tools)),
        limit_tokens=profile.context_tokens,
        project=spec.root,
        offered=None if spec.tools is None else spec.tools.servers,
        switching=spec.switching,
        takes_reasoning=spec.takes_reasoning,
        is_paid=spec.is_paid,
    )


def begins_turn(turn: PlannedTurn) -> bool:
    """True if a request begins a turn: it answers the person, and no results of tools. Gaps are between such."""
    stack = turn.stack
    return bool(stack.layer(LayerId.USER).pieces) or not is_running(stack.layer(LayerId.TURNS))


def next_round(turns: Sequence[Message], *, has_tools: bool) -> float:
    """Probability that a reply asks for tools, so that the turn sends another request, 0 to 1.

    Who seldom uses tools may still run one turn of forty calls: in a running turn the replies to results count alone, where
    all of them together tell of less than nothing known does.

    Args:
        turns: what was said, in order; has_tools: the request offers any, else 0.
    """
    if not has_tools:
        return 0.0
    lately = turns[-_LOOKED_AT:]
    odds = _asking(lately)
    if odds >= _PRIOR_CALLS / _PRIOR_REPLIES or lately[-1].role is not Role.TOOL:
        return odds
    return max(odds, _asking([reply for before, reply in pairwise(lately) if before.role is Role.TOOL]))


def _asking(turns: Sequence[Message]) -> float:
    replies = [message.parts for message in turns if message.role is Role.ASSISTANT]
    asking = len([parts for parts in replies if ToolCallPart in map(type, parts)])
    return (asking + _PRIOR_CALLS) / (len(replies) + _PRIOR_REPLIES)


Cost = Callable[[str, str, Usage], float | None]
"""Price of a usage of a provider's model in USD, None where unknown. Raises nothing."""


class CallWait(msgspec.Struct, frozen=True):
    """A call must be planned anew: once the answer of `leader` begins, at once where that is empty."""

    leader: str = ""


class CacheReport(msgspec.Struct, frozen=True):
    """Report to the controller after a call. `lost`: models with which long marks were seen not to keep a prefix; `order`: of the book."""

    discussion_id: str
    state: DiscussionCacheState | None
    totals: ProviderTotals
    miss_reason: str = ""
    lost: tuple[ExtensionEvidence, ...] = ()
    order: int = 0


def plan_call(
    book: CacheBook, turn: PlannedTurn, market: Market, memo: DecideMemo | None = None
) -> BookedCall:
    """Plan a request as the book stands: append or rewrite, and where to mark.

    Args:
        turn: its view is taken from the discussion's page, what its mode shares from the book; market: its ledger,
            gaps, balance and edits are the book's.
        memo: of the discussion's last plans; it only saves time.
    """
    mode = mode_of(turn, market.scope)
    page = book.pages[turn.discussion_id]
    turn = replace(turn, view=page.replayed.view, shared=book.shared.get(mode))
    turn, market = _headed(turn, replace(market, ledger=book.ledger))
    gaps = gaps_of(book, turn.discussion_id)
    model = (market.scope.provider, market.scope.model)
    settings = replace(market.settings, has_answered=model in book.answered)
    market = replace(
        market,
        ledger=book.ledger,
        gaps=gaps,
        balance=page.cache.balance,
        edits=book.edits,
        settings=settings,
    )
    decision = decide(turn, market, memo)
    is_round = not begins_turn(turn)
    call = BookedCall(
        discussion_id=turn.discussion_id,
        scope=market.scope,
        prices=market.prices,
        decision=decision,
        started_at=market.now,
        mode=mode,
        is_round=is_round,
        offered=turn.offered,
    )
    if page.cache.sent is not None or page.is_task or not book.shared:
        return call
    return replace(call, is_strange=_is_strange(turn, decision.wire, market.count))


def _headed(turn: PlannedTurn, market: Market) -> tuple[PlannedTurn, Market]:
    """The turn with the effort that stays at the head of its requests while what was sent with it is warm, and its market.

    What is asked for now is added in the conversation then: caches are apart by the effort at the head alone.
    """
    view = turn.view
    if view is None or turn.switching is not Switching.ALL or view.base.effort in {None, turn.effort.value}:
        return turn, market
    now = in_force(view, turn.message_id)
    if now is None or now.effort is None:
        return turn, market
    head = Effort(view.base.effort)
    if not begins_turn(turn):
        return _at_head(turn, market, head)
    is_said = in_force(view) == replace(now, effort=turn.effort.value)
    if not (is_said or now.effort == turn.effort.value or takes_effort(Effort(now.effort), turn.effort)):
        return turn, market
    told, there = _at_head(turn, market, head)
    entries = market.ledger.entries.get(there.scope, {}).values()
    is_held = any(is_live(one, market.now) and one.discussion_id == turn.discussion_id for one in entries)
    return (told, there) if is_held else (turn, market)


def _at_head(turn: PlannedTurn, market: Market, head: Effort) -> tuple[PlannedTurn, Market]:
    scope = replace(market.scope, settings=scope_settings(head))
    return replace(turn, head=head), replace(market, scope=scope)


def _is_strange(turn: PlannedTurn, wire: Wire, count: CountTokens) -> bool:
    """True if of what a new discussion shares with others more than half is not what one of its mode sent last."""
    known, end = turn.shared, wire.last(MarkPlace.STABLE)
    now = shared_base(turn.stack.canonical_view, known.at) if known is not None else None
    if known is None or now is None or end < 0:
        return known is None
    said = {piece.sha256 for piece in known.known}
    new = (piece for piece in now.known if piece.sha256 not in said)
    changed = sum(
        count(Segment(layer=LayerId(layer_of(p.key)), key=p.key, text=p.text, sha256=p.sha256)) for p in new
    )
    return 2 * changed > wire.ends[end]


def admitted(
    book: CacheBook, call_id: str, call: BookedCall, seen: CacheLedger | None
) -> tuple[CacheBook, CallWait | None]:
    """Let a call start; or tell what the call must wait for before it is planned again.

    Looking and going are one step: of two that come at once, the second sees the first.

    Args:
        seen: the ledger that it was planned by, another one by now asks for another plan; None: it goes at once.
    """
    if seen is not None:
        out = [_at_gate(other, one) for other, one in book.calls.items() if not one.has_begun]
        waits = dict(gate((*out, _at_gate(call_id, call, is_out=False))).waits)
        if call_id in waits:
            return book, CallWait(waits[call_id])
        if seen is not book.ledger:
            return book, CallWait()
    return replace(book, calls={**book.calls, call_id: call}), None


def shown(book: CacheBook, call: BookedCall, request_id: str) -> tuple[Replayed, tuple[ViewRecord, ...]]:
    """The view that a call sends, as the log will tell it, and the records that the log needs for that."""
    before, view = book.pages[call.discussion_id].replayed, call.decision.view
    ids = (make_id(call.started_at, f"{request_id}/view/{number}") for number in count())
    records = records_for(before, view, call.started_at, ids)
    if not records:
        return before, ()
    files = (*base_pieces(view.base), *(file for delta in view.deltas for file in delta.files))
    return Replayed(view, before.told.union(file.sha256 for file in files)), records


def resent(book: CacheBook, call_id: str, request: ProviderRequest) -> CacheBook:
    """A call's request was refused and taken in another form, with the marks that it had: what that one writes is held, and
    read again to keep it.
    """
    call = book.calls.get(call_id)
    if call is None:
        return book
    planned, old = call.decision.request, call.decision.wire
    sizes = dict(zip(map(id, request_parts(planned)), map(sub, old.ends, (0, *old.ends)), strict=False))
    wire = wire_of(request, call.scope, lambda part: sizes.get(id(part)) or _about(part))
    places = {block.key: place for place, block in enumerate(wire.blocks)}
    plan, writes, marked = call.decision.plan, [], []
    for write in plan.writes:
        place = places.get(old.blocks[old.hashes.index(write.prefix_hash)].key)
        if place is not None:
            writes.append(replace(write, prefix_hash=wire.hashes[place], tokens=wire.ends[place]))
            marked.append(place)
    found = hits(live_entries(book.ledger, call.scope, call.started_at), wire)
    hit = predict(found, wire, marked, call.prices)
    written = max((write.tokens for write in writes), default=hit.tokens)
    plan = replace(
        plan,
        writes=tuple(writes),
        hit_hash=hit.prefix_hash,
        hit_ttl_s=hit.ttl_s,
        read_tokens=hit.tokens,
        write_tokens=max(0, written - hit.tokens),
        fresh_tokens=wire.total_tokens - max(written, hit.tokens),
    )
    decision = replace(call.decision, request=request, wire=wire, plan=plan)
    return replace(book, calls={**book.calls, call_id: replace(call, decision=decision)})


def _about(part: RequestPart | ToolSchema) -> int:
    """Tokens of a text that the other form made, about: the provider's count corrects it."""
    match part:
        case Segment(text=text):
            return len(text) // CHARS_PER_TOKEN
        case ToolSchema(_, description, parameters):
            return (len(description) + len(parameters)) // CHARS_PER_TOKEN
        case _:
            return 0


def begun(book: CacheBook, call_id: str) -> CacheBook:
    """The answer begins: what the request wrote can be read from now on, however the call ends, a kill included."""
    call = book.calls.get(call_id)
    if call is None or call.has_begun:
        return book
    name = call.discussion_id
    ledger = record(book.ledger, call.scope, call.decision.plan, call.started_at, name)
    if call.is_strange is not None:
        book = started(book, is_strange=call.is_strange)
    book = with_shared(book, call.mode, shared_base(call.decision.view, call.started_at))
    book = replace(book, ledger=ledger, calls={**book.calls, call_id: replace(call, has_begun=True)})
    sent = sent_by(book, call, call.started_at)
    book, changed = turn_answered(book, name, sent, is_round=call.is_round)
    page = book.pages[name]
    own = of_discussion(ledger, name)
    cache = replace(page.cache, ledger=own, sent=sent, mode=call.mode, changed=changed, offered=call.offered)
    return with_page(book, name, replace(page, cache=cache))


def ended(
    book: CacheBook,
    call_id: str,
    usage: Usage,
    contents: ContentsReport | None,
    now: datetime,
    cost: Cost,
    label: Callable[[str], str] = str,
    *,
    paid: Usage | None = None,
) -> tuple[CacheBook, CacheReport | None]:
    """A call is over: hold the ledger against its usage. Nothing changes for an unknown call.

    Args:
        label: a provider's name as the person knows it; paid: the usage as it is booked, where that holds an estimate.
    """
    book = begun(book, call_id) if usage != Usage() else book
    call = book.calls.get(call_id)
    if call is None:
        return book, None
    name, scope, plan = call.discussion_id, call.scope, call.decision.plan
    usage = believable(usage, expected_input(plan, call.decision.wire.total_tokens))
    at, wire = call.started_at, call.decision.wire
    correction = correct(book.ledger, scope, wire, plan, usage, label(scope.provider), name, at)
    ledger = correction.ledger
    rent: float | None = 0.0
    if contents is not None:
        rent = contents_usd(call.prices, contents)
        contents = freshest(book, contents)
        ledger = with_contents(ledger, scope, plan, contents)
    calls = {other: one for other, one in book.calls.items() if other != call_id}
    book = replace(book, ledger=ledger, calls=calls)
    if usage.input_tokens:
        book = replace(book, answered=book.answered | {(scope.provider, scope.model)})
    book, totals = added(
        book, scope.provider, scope.model, paid or usage, cost, rent, is_answered=call.has_begun
    )
    page = book.pages[name]
    state = after_usage(page.cache.state, name, scope.provider, plan, usage, at)
    if contents is not None:
        state = after_contents(state, contents, now)
    sent = page.cache.sent
    if call.has_begun:
        sent = sent_by(book, call, now, max(0, (usage.output_tokens or 0) - (usage.reasoning_tokens or 0)))
    cache = replace(
        page.cache,
        state=state,
        ledger=of_discussion(ledger, name),
        sent=sent,
        mode=call.mode,
        balance=balanced(page.cache.balance, plan, usage, call.prices, rent),
    )
    cache = replace(cache, state=believed(cache, ledger, name, now))
    is_stored = call.prices.mechanism is Mechanism.CONTENTS  # held for rent: no reading keeps it
    idle = (
        ()
        if is_stored or call.is_abandoned or page.is_task
        else idle_entries(wire, ledger, scope, at, lifted_s(call.prices, ledger))
    )
    reason = contents.text if contents is not None and contents.text else correction.reason
    could_hold = usage.input_tokens is None or usage.input_tokens >= call.prices.minimum_tokens
    if not reason and not usage.cache_read_tokens and usage.miss_reason != UNTOLD_MISS and could_hold:
        reason = usage.miss_reason
    off = within_range(scale_of(wire, usage))  # the provider's count over the planned one
    last = replace(call, off=off) if idle or is_stored else None  # nothing else asks for it
    page = replace(page, cache=cache, idle=idle, last_call=last)
    book = with_page(book, name, page)
    if contents is not None:
        book = reported(book, name, scope.provider, contents, at, now)
    return book, CacheReport(
        discussion_id=name,
        state=cache.state,
        totals=totals,
        miss_reason=reason,
        lost=lost_extensions(ledger),
        order=book.order,
    )


def added(
    book: CacheBook,
    provider: str,
    model: str,
    usage: Usage,
    cost: Cost,
    rent: float | None = 0.0,
    kind: UsageKind = UsageKind.TURN,
    *,
    is_answered: bool = True,
) -> tuple[CacheBook, ProviderTotals]:
    """Add a call's usage, and what it would have cost more had nothing been cached, less what storing costs.

    Without caching nobody would ping or prewarm: what these cost is lost of what caching saves. A call without a bill,
    refused or not sent, cost and saved nothing.

    Args:
        is_answered: an answer began. A request that the provider refused has no bill, and is no unknown price.
    """
    before = book.totals.get(provider, ProviderTotals(provider=provider, saved_usd=0.0))
    if usage == Usage() and not rent:
        return book, before
    fresh = replace(
        usage,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cache_write_5m_tokens=0,
        cache_write_1h_tokens=0,
        cache_write_12h_tokens=0,
    )
    paid, without = (cost(provider, model, one) for one in (usage, fresh))
    without = without if kind is UsageKind.TURN else 0.0
    saved = None
    if usage.input_tokens is None and (rent or not is_answered):  # the turn came to nothing, stored or not
        paid = without = 0.0
    if before.saved_usd is not None and paid is not None and without is not None and rent is not None:
        saved = before.saved_usd + without - paid - rent
    upkeep = before.upkeep.with_call(kind, usage)
    totals = ProviderTotals(
        provider=provider,
        usage=add_usage(before.usage, usage),
        saved_usd=saved,
        upkeep=upkeep,
        booked=before.booked + 1,
    )
    return replace(book, totals={**book.totals, provider: totals}), totals


def _at_gate(call_id: str, call: BookedCall, *, is_out: bool = True) -> PlannedCall:
    return PlannedCall(
        call_id=call_id,
        scope=call.scope,
        plan=call.decision.plan,
        hashes=call.decision.wire.hashes,
        is_out=is_out,
    )
