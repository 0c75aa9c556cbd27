"""What a change of layer 7 rewrites: the tokens behind what is still cached, at the price of writing them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.caching.ledger import live_entries, record
from core.caching.planner import PlanInputs, plan
from core.caching.rewrite import rewrite_due, sent_knowledge, sent_parts, why_changed
from core.caching.warmth import is_warm
from core.providers.blocks import wire_of
from core.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePrices,
    CacheSettings,
    DiscussionCacheState,
    Mechanism,
    Rewrite,
    SentKnowledge,
    SentPart,
)
from core.values.provider import ProviderRequest
from core.values.stack import Segment
from tests.core.caching.requests import ANTHROPIC, NOW, QUICK, SCOPE, after, count, json_of, request, seg
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts

DIGEST, NOTE = seg(7, "1000 digest", "digest"), seg(7, "200 note", "src/tides.py")
AGAIN = seg(7, "1300 digest", "digest")
WARM = DiscussionCacheState("d1", "anthropic", NOW, after(300), tokens_cached=12_300)
IMPLICIT = replace(ANTHROPIC, mechanism=Mechanism.IMPLICIT, writes=())


def asked(*layer: Segment) -> ProviderRequest:
    """3,000 tokens of layer 1, then layer 7, 8,000 of files, 100 of words, a tail of 50."""
    one = request()
    return replace(one, system=(*one.system, *layer))


def sent(*layer: Segment, prices: CachePrices = ANTHROPIC) -> SentKnowledge:
    """A request that was planned, answered and noted in the ledger."""
    wire = wire_of(asked(*layer), SCOPE, count)
    chosen = plan(PlanInputs(wire, SCOPE, prices, CacheLedger(), QUICK, CacheSettings(), NOW))
    ledger = record(CacheLedger(), SCOPE, chosen, NOW, "d1")
    return sent_knowledge(asked(*layer), wire, live_entries(ledger, SCOPE, NOW), SCOPE, prices)


def due(
    before: SentKnowledge,
    *layer: Segment,
    cache: DiscussionCacheState = WARM,
    prices: CachePrices = ANTHROPIC,
) -> Rewrite | None:
    return rewrite_due(before, cache, layer, SCOPE, prices, count, cache.expires_at)


def test_the_same_layer_rewrites_nothing() -> None:
    assert due(sent(DIGEST, NOTE), DIGEST, NOTE) is None


def test_another_digest_rewrites_all_that_was_marked_from_the_layer_on() -> None:
    """No mark stands before layer 7: nothing of the request can be read any more, layer 1 neither."""
    found = due(sent(DIGEST, NOTE), AGAIN, NOTE)

    assert found is not None
    assert found.tokens == 12_300 - 1_200 + 1_500
    assert found.why == "the digest changed"
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
    assert found.tokens == (12_300 - 3_000) - 1_000 + 1_300


def test_an_entry_that_ends_before_the_layer_is_still_read() -> None:
    wire = wire_of(asked(DIGEST), SCOPE, count)
    head = CacheLedgerEntry(wire.hashes[0], 3_000, 300, after(300), "d1")
    deep = CacheLedgerEntry(wire.hashes[-2], 12_100, 3600, after(3600), "d1")
    live = {entry.prefix_hash: entry for entry in (head, deep)}

    before = sent_knowledge(asked(DIGEST), wire, live, SCOPE, ANTHROPIC)

    assert (before.tokens, before.kept_tokens) == (1_000, 3_000)
    assert (before.ttl_s, before.expires_at) == (3600, after(3600))


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
    assert rewrite_due(sent(DIGEST), WARM, (AGAIN,), other, ANTHROPIC, count, None) is None


def test_nothing_is_lost_where_nothing_behind_the_layer_is_cached() -> None:
    before = sent(DIGEST, prices=IMPLICIT)
    assert due(before, AGAIN, cache=replace(WARM, tokens_cached=3_000), prices=IMPLICIT) is None


def test_turning_knowledge_off_writes_the_rest_anew_without_it() -> None:
    found = due(sent(DIGEST, NOTE))
    assert found is not None
    assert (found.tokens, found.why) == (12_300 - 1_200, "knowledge is off")


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ((), (DIGEST,), "knowledge is on"),
        ((DIGEST, NOTE), (NOTE,), "the digest is gone"),
        ((DIGEST,), (DIGEST, NOTE), "notes on tides.py changed"),
        ((DIGEST, NOTE), (AGAIN,), "the digest changed and notes on tides.py changed"),
        ((DIGEST,), (DIGEST, NOTE, seg(7, "1 b", "b.py")), "notes on 2 files changed"),
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
    wire = wire_of(asked(DIGEST), SCOPE, count)
    before = sent_knowledge(asked(DIGEST), wire, {}, SCOPE, ANTHROPIC)
    assert (before.kept_tokens, before.ttl_s, before.expires_at) == (0, 0, None)
