"""What a change of layers 6 and 7 costs: appended what it says, rewritten all behind what is still cached."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePrices,
    CacheSettings,
    DiscussionCache,
    DiscussionCacheState,
    LedgerScope,
    Mechanism,
    Rewrite,
    RewriteCosts,
    SentKnowledge,
    SentPart,
    TtlPrice,
)
from core.kernel.values.provider import ProviderRequest, RequestPart
from core.kernel.values.stack import LayerId, Segment, StackInputs, ToolSchema
from core.kernel.values.window import BaseFile, ContextView, FrozenBase
from core.services.providers.blocks import wire_of
from core.talk.caching.accounts import is_warm
from core.talk.caching.cache_ledger import live_entries, record
from core.talk.caching.decision import Decision, Market
from core.talk.caching.planner import PlanInputs, plan
from core.talk.caching.rewrites import holds_withdrawn, rewrite_costs, why_changed
from core.talk.caching.sent_request import sent_knowledge, sent_parts
from core.talk.context.pieces import AS_TEXT, Piece, make_layer
from core.talk.context.stack import AggregateStack, build_stack
from tests.core.talk.caching.requests import ANTHROPIC, NOW, QUICK, SCOPE, after, count, json_of, request, seg
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts

DIGEST, NOTE = seg(7, "1000 digest", "digest"), seg(7, "200 note", "src/tides.py")
AGAIN = seg(7, "1300 digest", "digest")
WARM = DiscussionCacheState("d1", "anthropic", NOW, after(300), tokens_cached=12_300)
IMPLICIT = replace(
    ANTHROPIC, mechanism=Mechanism.IMPLICIT, writes=(TtlPrice(300, 1.0),), max_marks=0, lookback=0
)


def asked(*layer: Segment) -> ProviderRequest:
    """3,000 tokens of layer 1, then layer 7, 8,000 of files, 100 of words, a tail of 50."""
    one = request()
    return replace(one, system=(*one.system, *layer))


LEDGERS: dict[str, CacheLedger] = {}
"""What a request wrote, by the hash of its last block."""


def held(before: SentKnowledge) -> CacheLedger:
    return LEDGERS[before.places[-1].prefix_hash] if before.places else CacheLedger()


def entry(prefix: str, tokens: int, ttl_s: int) -> CacheLedgerEntry:
    return CacheLedgerEntry(prefix, tokens, ttl_s, after(ttl_s), "d1")


def sent(*layer: Segment, prices: CachePrices = ANTHROPIC) -> SentKnowledge:
    """A request that was planned, answered and noted in the ledger."""
    one = decision(*layer, prices=prices)
    ledger = record(CacheLedger(), SCOPE, one.plan, NOW, "d1")
    LEDGERS[one.wire.hashes[-1]] = ledger
    return sent_knowledge(one.wire, one.view, live_entries(ledger, SCOPE, NOW), SCOPE)


def decision(*layer: Segment, prices: CachePrices = ANTHROPIC) -> Decision:
    """A request with this layer 7 as it is planned cold."""
    asks = asked(*layer)
    wire = wire_of(asks, SCOPE, count)
    chosen = plan(PlanInputs(wire, SCOPE, prices, CacheLedger(), QUICK, CacheSettings(), NOW))
    known = tuple(BaseFile(one.key, one.sha256, one.text) for one in layer)
    return Decision(asks, ContextView(FrozenBase(known=known)), chosen, wire)


def known_now(*pieces: Segment, withdrawals: int = 0) -> AggregateStack:
    """Layers 6 and 7 as the next request would send them."""
    stack = build_stack(StackInputs(withdrawals=withdrawals))
    layers = list(stack.layers)
    for number in (LayerId.PROJECT, LayerId.KNOWLEDGE):
        own = [Piece(one.key, (one.text,), one.sha256, AS_TEXT) for one in pieces if one.layer is number]
        layers[number - 1] = make_layer(number, own)
    return replace(stack, layers=tuple(layers))


def costs(
    before: SentKnowledge,
    *pieces: Segment,
    cache: DiscussionCacheState = WARM,
    prices: CachePrices = ANTHROPIC,
    scope: LedgerScope = SCOPE,
    settings: CacheSettings | None = None,
    withdrawals: int = 0,
    ledger: CacheLedger | None = None,
) -> RewriteCosts:
    ledger = held(before) if ledger is None else ledger
    market = Market(scope, prices, ledger, QUICK, settings or CacheSettings(), NOW, count)
    now = known_now(*pieces, withdrawals=withdrawals)
    return rewrite_costs(DiscussionCache(cache, sent=before), "d1", now, market, is_kept=False)


def due(before: SentKnowledge, *layer: Segment, **changes: object) -> Rewrite | None:
    """What a change costs where something was taken out of knowledge: all from the layer on is written anew."""
    return costs(before, *layer, **{"withdrawals": 1, **changes}).due  # type: ignore[arg-type]


def test_the_same_layer_rewrites_nothing() -> None:
    assert due(sent(DIGEST, NOTE), DIGEST, NOTE) is None
    assert costs(sent(DIGEST, NOTE), DIGEST, NOTE).due is None


def test_nothing_is_weighed_where_nothing_changed_and_nothing_can_be_taken_away() -> None:
    document = seg(6, "1000 rules", "AGENTS.md")
    before = sent(document)
    counted: list[object] = []

    def counting(part: RequestPart | ToolSchema) -> int:
        counted.append(part)
        return count(part)

    market = Market(SCOPE, ANTHROPIC, held(before), QUICK, CacheSettings(), NOW, counting)

    found = rewrite_costs(
        DiscussionCache(WARM, sent=before), "d1", known_now(document), market, is_kept=False
    )

    assert (found, counted) == (RewriteCosts(discussion_id="d1"), [])


def test_another_digest_joins_the_next_message_at_the_price_of_writing_it_alone() -> None:
    found = costs(sent(DIGEST, NOTE), AGAIN, NOTE).due

    assert found is not None
    assert (found.why, found.is_appended, found.until) == ("the digest changed", True, after(300))
    assert 1_300 < found.tokens < 1_400
    assert found.cost_usd == pytest.approx(found.tokens * 1.25 * 4e-6)


def letters(part: RequestPart | ToolSchema) -> int:
    return len(getattr(part, "text", ""))


def test_a_small_edit_of_a_large_digest_costs_what_its_difference_does() -> None:
    old = "".join(f"- fact {number} is known\n" for number in range(200))
    before, now = (
        known_now(seg(7, f"{{knowledge}}\n{text}{{/knowledge}}\n", "digest"))
        for text in (old, old + "- one more\n")
    )
    told = sent(*before.layer(LayerId.KNOWLEDGE).segments)
    cache = DiscussionCache(WARM, sent=told)
    market = Market(SCOPE, ANTHROPIC, held(told), QUICK, CacheSettings(), NOW, letters)
    known, unknown = (
        rewrite_costs(cache, "d1", now, market, view, is_kept=False).due
        for view in (before.canonical_view, None)
    )

    assert known is not None
    assert unknown is not None
    assert known.is_appended
    assert known.tokens < unknown.tokens / 2


def test_a_change_that_costs_more_appended_than_written_in_place_is_written() -> None:
    """What stands before it alone is held."""
    before = sent(DIGEST, prices=IMPLICIT)
    first = before.places[0]
    ledger = CacheLedger({SCOPE: {first.prefix_hash: entry(first.prefix_hash, first.tokens, 300)}})
    found = costs(before, AGAIN, ledger=ledger, prices=IMPLICIT).due

    assert found is not None
    assert not found.is_appended


def test_where_changes_are_not_appended_the_rest_is_written_anew() -> None:
    found = costs(sent(DIGEST), AGAIN, settings=CacheSettings(appends_changes=False)).due
    assert found is not None
    assert (found.is_appended, found.why) == (False, "the digest changed")


def test_an_identity_file_that_changed_is_appended_and_one_that_is_gone_is_not() -> None:
    rules, again = seg(6, "400 rules", "AGENTS.md"), seg(6, "500 rules", "AGENTS.md")
    before = replace(sent(DIGEST), documents=sent_parts([rules]))

    changed, gone = costs(before, again, DIGEST).due, costs(before, DIGEST).due

    assert changed is not None
    assert gone is not None
    assert (changed.why, changed.is_appended) == ("AGENTS.md changed", True)
    assert (gone.why, gone.is_appended) == ("AGENTS.md is gone", False)


def test_layer_6_of_a_request_that_an_older_version_sent_is_not_compared() -> None:
    before = replace(sent(DIGEST), documents=None)
    assert costs(before, seg(6, "400 rules", "AGENTS.md"), DIGEST).due is None


def test_what_a_deletion_would_cost_is_known_before_it_is_asked_for() -> None:
    found = costs(sent(DIGEST, NOTE), DIGEST, NOTE)

    assert found.due is None
    assert found.withdrawal is not None
    assert found.withdrawal.tokens == 12_300
    assert costs(sent(), DIGEST).withdrawal is None


def test_text_that_was_superseded_goes_too_when_something_is_taken_out() -> None:
    old = replace(sent(DIGEST), parts=sent_parts([AGAIN]), superseded=sent_parts([DIGEST]))
    assert costs(old, AGAIN).due is None
    found = costs(old, AGAIN, withdrawals=1).due
    assert found is not None
    assert not found.is_appended


@pytest.mark.parametrize(
    ("parts", "withdrawals", "is_on", "held"),
    [
        ((DIGEST,), 0, True, False),
        ((DIGEST,), 1, True, True),
        ((DIGEST,), 0, False, True),
        ((), 1, False, False),
    ],
)
def test_what_may_hold_something_that_was_taken_out(
    parts: tuple[Segment, ...], withdrawals: int, is_on: bool, held: bool
) -> None:
    assert holds_withdrawn(sent(*parts), withdrawals, is_on=is_on) is held


@pytest.mark.parametrize("withdrawals", [0, 1])
def test_what_was_recalled_may_hold_it_too_whether_layer_7_is_sent_or_not(withdrawals: int) -> None:
    recalled = replace(sent(), has_recalled=True)
    assert holds_withdrawn(recalled, withdrawals, is_on=False) is (withdrawals == 1)


def test_taking_something_out_rewrites_all_that_was_marked_from_the_layer_on() -> None:
    """No mark stands before layer 7: nothing of the request can be read any more, layer 1 neither."""
    found = due(sent(DIGEST, NOTE), AGAIN, NOTE)

    assert found is not None
    assert found.tokens == 12_300 - 1_200 + 1_500
    assert found.why == "a part of your knowledge was removed"
    assert found.until == after(300)
    assert found.cost_usd == pytest.approx((12_600 * 1.25 - 12_300 * 0.05) * 4e-6)


def test_the_cost_is_what_the_vendor_bills_more_than_for_an_unchanged_turn() -> None:
    """The judge is the vendor's billing: the same second turn with and without the change."""
    bills = {layer.text: _bill(layer) for layer in (DIGEST, AGAIN)}
    cached = bills[DIGEST.text][1]
    state = replace(WARM, tokens_cached=cached)

    found = due(sent(DIGEST), AGAIN, cache=state)

    assert found is not None
    assert found.cost_usd is not None
    more = bills[AGAIN.text][0] - bills[DIGEST.text][0]
    assert found.cost_usd == pytest.approx(more * 4e-6, rel=0.02)


def _bill(layer: Segment) -> tuple[float, int]:
    """What a second turn with this layer costs in fresh tokens, and what the first had cached."""
    server = AnthropicCache(Clock(NOW.timestamp()), Texts(lambda text: int(text.split(" ")[0])))
    ledger, total, cached = CacheLedger(), 0.0, 0
    turns = (("100 words",), DIGEST), (("100 words", "100 answer", "90 more"), layer)
    for said, knows in turns:
        one = request(*said, words="")
        one = replace(one, system=(*one.system, knows))
        wire = wire_of(one, SCOPE, count)
        chosen = plan(PlanInputs(wire, SCOPE, ANTHROPIC, ledger, QUICK, CacheSettings(), NOW))
        ledger = record(ledger, SCOPE, chosen, NOW, "d1")
        parts = server.send(json_of(one, chosen.marks)).parts
        total = parts.plain + parts.read * 0.05 + parts.write * 1.25 + parts.write_long * 2.0
        cached = cached or parts.write + parts.write_long
    return total, cached


def test_a_provider_that_caches_by_itself_keeps_what_stands_before_the_layer() -> None:
    found = due(sent(DIGEST, prices=IMPLICIT), AGAIN, prices=IMPLICIT)

    assert found is not None
    assert found.tokens == (12_100 - 3_000) - 1_000 + 1_300


def test_an_entry_that_ends_before_the_layer_is_still_read() -> None:
    one = decision(DIGEST)
    head, deep = entry(one.wire.hashes[0], 3_000, 300), entry(one.wire.hashes[-2], 12_100, 3600)
    live = {entry.prefix_hash: entry for entry in (head, deep)}

    before = sent_knowledge(one.wire, one.view, live, SCOPE)
    found = due(before, AGAIN, ledger=CacheLedger({SCOPE: live}))

    assert (before.ttl_s, before.expires_at) == (3600, after(3600))
    assert found is not None
    assert found.tokens == 12_100 - 3_000 + 300


def test_an_unknown_price_gives_an_unknown_cost() -> None:
    unpriced = replace(ANTHROPIC, input_usd=None)
    found = due(sent(DIGEST), AGAIN, prices=unpriced)
    assert found is not None
    assert found.cost_usd is None
    assert found.tokens > 0


def test_a_model_that_costs_nothing_rewrites_for_nothing() -> None:
    free = replace(IMPLICIT, input_usd=0.0)
    found = due(sent(DIGEST, prices=free), AGAIN, prices=free)
    assert found is not None
    assert found.cost_usd == 0.0


def test_what_another_model_or_effort_answers_is_not_rewritten_by_knowledge() -> None:
    other = replace(SCOPE, settings='{"effort":"high"}')
    assert due(sent(DIGEST), AGAIN, scope=other) is None


def test_nothing_is_lost_where_nothing_behind_the_layer_is_cached() -> None:
    before = sent(DIGEST, prices=IMPLICIT)
    first = before.places[0]
    ledger = CacheLedger({SCOPE: {first.prefix_hash: entry(first.prefix_hash, first.tokens, 300)}})
    found = due(before, AGAIN, ledger=ledger, prices=IMPLICIT)
    assert found is not None
    assert found.cost_usd == pytest.approx(300 * 4e-6)  # the new words alone


def test_turning_knowledge_off_writes_the_rest_anew_without_it() -> None:
    found = due(sent(DIGEST, NOTE))
    assert found is not None
    assert (found.tokens, found.why) == (12_300 - 1_200, "the program no longer sends knowledge")


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ((), (DIGEST,), "knowledge is on"),
        ((DIGEST, NOTE), (NOTE,), "the digest is gone"),
        ((DIGEST,), (DIGEST, NOTE), "notes on tides.py count now"),
        ((DIGEST, NOTE), (AGAIN,), "the digest changed and notes on tides.py are gone"),
        ((NOTE,), (seg(7, "other words", NOTE.key.partition("/")[2]),), "notes on tides.py changed"),
        ((DIGEST,), (DIGEST, NOTE, seg(7, "1 b", "b.py")), "notes on 2 files count now"),
        ((DIGEST, seg(7, "1 b", "b.py")), (DIGEST, NOTE), "notes on 2 files changed"),
        ((), (seg(6, "rules", "AGENTS.md"),), "AGENTS.md counts now"),
        ((seg(6, "rules", "AGENTS.md"),), (seg(6, "others", "AGENTS.md"),), "AGENTS.md changed"),
        ((seg(6, "rules", "AGENTS.md"),), (), "AGENTS.md is gone"),
        ((), (seg(6, "a", "AGENTS.md"), seg(6, "b", "POC.md")), "2 identity files count now"),
        ((seg(6, "a", "AGENTS.md"), seg(6, "b", "POC.md")), (), "2 identity files are gone"),
        ((NOTE, DIGEST), (DIGEST, NOTE), "knowledge changed"),
    ],
)
def test_the_reason_names_what_is_different(
    before: tuple[Segment, ...], now: tuple[Segment, ...], why: str
) -> None:
    assert why_changed(sent_parts(before), sent_parts(now)) == why


def test_parts_tell_what_a_segment_says() -> None:
    assert sent_parts([DIGEST]) == (SentPart("7/digest", DIGEST.sha256),)


@pytest.mark.parametrize(
    ("changes", "warm"),
    [
        ({}, True),
        ({"expires_at": None}, True),
        ({"expires_at": NOW}, False),
        ({"tokens_cached": 0}, False),
        ({"caching_enabled": False}, False),
    ],
)
def test_warm_is_what_lives_and_is_wanted(changes: dict[str, object], warm: bool) -> None:
    assert is_warm(replace(WARM, **changes), NOW) is warm  # type: ignore[arg-type]


def test_a_request_without_a_cache_keeps_nothing() -> None:
    one = decision(DIGEST)
    before = sent_knowledge(one.wire, one.view, {}, SCOPE)
    assert (before.ttl_s, before.expires_at) == (0, None)
    assert costs(before, AGAIN, ledger=CacheLedger()) == RewriteCosts("d1")


def test_a_change_is_priced_while_the_part_that_lives_longer_is_held() -> None:
    before = sent(DIGEST, NOTE)
    over = replace(WARM, expires_at=after(-60), long_until=after(3000), long_tokens=1_000)

    found = due(before, AGAIN, NOTE, cache=over)

    assert found is not None
    assert found.until == after(3000)
