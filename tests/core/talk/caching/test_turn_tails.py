"""Layer 8 of a turn with tools, and what was recalled for it, stay where they stood: the turns behind repeat what was sent."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from core.kernel.tokens import estimate_tokens
from core.kernel.values.cache import (
    CacheLedger,
    CacheSettings,
    DiscussionCache,
    DiscussionCacheState,
    Mechanism,
)
from core.kernel.values.messages import Message, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import LayerId, Segment
from core.kernel.values.window import ContextView, TurnTail
from core.talk.caching.cache_ledger import live_entries, record
from core.talk.caching.decision import Decision, Market, PlannedTurn, decide
from core.talk.caching.rewrites import rewrite_costs
from core.talk.caching.sent_request import sent_knowledge
from core.talk.caching.view import TAKEN_OUT, Replayed, pruned, records_for, replay
from core.talk.context.difference import first_break
from tests.core.stacks import said
from tests.core.talk.caching.requests import ANTHROPIC, NOW, QUICK, SCOPE, SLOW, after, count, stack_of

FILES = {"a.py": "4000 ALPHA\n"}
WORDS = said("m0", Role.USER, "200 look")
CALL = said("m0a", Role.ASSISTANT, ToolCallPart("c", "read", "{}"))
RESULT = said("m0b", Role.TOOL, ToolResultPart("c", "2000 found"))
DONE = said("m0c", Role.ASSISTANT, "100 done")
RECALLED = "A passage on tides."
MARKET = Market(SCOPE, ANTHROPIC, CacheLedger(), QUICK, CacheSettings(), NOW, count)


class Talk:
    """A discussion whose requests are sent one after another."""

    def __init__(self, market: Market = MARKET) -> None:
        self.market = market
        self.view: ContextView | None = None
        self.withdrawals = 0
        self.cut_id = ""
        self.limit_tokens: int | None = None
        self.is_paid = False

    def send(
        self,
        turns: tuple[Message, ...],
        words: str,
        message_id: str,
        at_s: float,
        odds: float = 0.5,
        retrieved: str = "",
    ) -> Decision:
        """The request of a turn, or of a round where there are no words."""
        name = f"named for {message_id}"
        stack = stack_of(FILES, turns, words, name, retrieved, self.withdrawals, self.cut_id)
        now = replace(self.market, now=after(at_s))
        turn = PlannedTurn(stack, message_id, self.view, discussion_id="d", next_round=odds)
        decision = decide(replace(turn, limit_tokens=self.limit_tokens, is_paid=self.is_paid), now)
        ledger = record(now.ledger, now.scope, decision.plan, now.now, "d")
        self.market, self.view = replace(now, ledger=ledger), decision.view
        return decision

    def turn(self, *rounds: Message, retrieved: str = "") -> list[Decision]:
        """The first turn: its request, and that of its round."""
        return [
            self.send((), "200 look", "m0", 0, retrieved=retrieved),
            self.send((WORDS, *rounds), "", "m0", 10, retrieved=retrieved),
        ]


def blocks(request: ProviderRequest) -> list[object]:
    """All that a vendor reads, in its order; by what it says."""
    return [
        (message.role, part.text if isinstance(part, Segment) else part)
        for message in request.messages
        for part in message.parts
    ]


def test_the_next_turn_repeats_a_turn_with_tools_as_it_was_sent_and_reads_it() -> None:
    talk = Talk()
    first, round_ = talk.turn(CALL, RESULT)
    later = talk.send((WORDS, CALL, RESULT, DONE), "50 more", "m1", 60)

    assert blocks(round_.request)[: len(blocks(first.request))] == blocks(first.request)
    assert blocks(later.request)[: len(blocks(round_.request))] == blocks(round_.request)
    assert later.plan.read_tokens == round_.wire.total_tokens
    assert [tail.message_id for tail in later.view.tails] == ["m0"]
    last = later.request.messages[-1].parts[-1]
    assert isinstance(last, Segment)
    assert (last.layer, "named for m1" in last.text) == (LayerId.METADATA, True)


def test_a_cold_prefix_is_rewritten_without_it() -> None:
    talk = Talk()
    talk.turn(CALL, RESULT)
    later = talk.send((WORDS, CALL, RESULT, DONE), "50 more", "m1", 90_000)

    assert later.view.tails == ()
    assert "named for m0" not in str(blocks(later.request))


def test_who_asks_another_model_once_finds_all_of_it_on_the_way_back() -> None:
    talk = Talk()
    round_ = talk.turn(CALL, RESULT)[1]
    turns: tuple[Message, ...] = (WORDS, CALL, RESULT, DONE)
    talk.market = replace(talk.market, scope=replace(SCOPE, model="other"))
    elsewhere = talk.send(turns, "50 more", "m1", 60)
    more = (*turns, said("m1", Role.USER, "50 more"), said("m1a", Role.ASSISTANT, "40 well"))
    talk.market = replace(talk.market, scope=SCOPE)
    back = talk.send(more, "30 so?", "m2", 120)

    assert (elsewhere.plan.read_tokens, len(elsewhere.view.tails)) == (0, 1)
    assert back.plan.read_tokens == round_.wire.total_tokens
    talk.market = replace(talk.market, scope=replace(SCOPE, model="third"))
    assert talk.send(more, "30 so?", "m2", 90_000).view.tails == (), "nobody holds it any more"


def test_what_was_recalled_for_a_turn_with_tools_stays_until_its_prefix_is_cold() -> None:
    talk = Talk()
    first, round_ = talk.turn(CALL, RESULT, retrieved=RECALLED)
    turns: tuple[Message, ...] = (WORDS, CALL, RESULT, DONE)
    later = talk.send(turns, "50 more", "m1", 60, retrieved="Another passage.")
    more = (*turns, said("m1", Role.USER, "50 more"), said("m1a", Role.ASSISTANT, "40 well"))
    after_it = talk.send(more, "30 so?", "m2", 120)
    cold = talk.send(more, "30 so?", "m2", 90_000)

    assert blocks(round_.request)[: len(blocks(first.request))] == blocks(first.request)
    assert blocks(later.request)[: len(blocks(round_.request))] == blocks(round_.request)
    assert later.plan.read_tokens == round_.wire.total_tokens
    assert [str(blocks(one.request)).count(RECALLED) for one in (round_, later, after_it, cold)] == [
        1,
        1,
        1,
        0,
    ]
    assert "Another passage." not in str(blocks(after_it.request)), "a turn without tools repeats nothing"


def test_what_was_recalled_goes_when_the_turns_are_cut_also_where_its_own_stays() -> None:
    """All turns are sent anew behind a cut. What was recalled since, and for the turn that runs, stays until the next."""
    turns: tuple[Message, ...] = (WORDS, CALL, RESULT, DONE)
    more, later = said("m1", Role.USER, "50 more"), said("m2", Role.USER, "30 so?")
    asks, gets = (
        said("m1a", Role.ASSISTANT, ToolCallPart("d", "read", "{}")),
        said("m1b", Role.TOOL, ToolResultPart("d", "2000 b")),
    )
    talk, running = Talk(), Talk()
    talk.turn(CALL, RESULT, retrieved=RECALLED)
    talk.cut_id = "cut"
    talk.send(turns, "50 more", "m1", 60, retrieved="Another passage.")
    talk.send((*turns, more, asks, gets), "", "m1", 70, retrieved="Another passage.")
    since = talk.send((*turns, more, asks, gets, replace(DONE, id="m1c")), "30 so?", "m2", 80)
    talk.cut_id = "next"
    gone = talk.send(
        (*turns, more, asks, gets, replace(DONE, id="m1c"), later, replace(DONE, id="m2a")), "9 ?", "m3", 90
    )
    running.turn(CALL, RESULT, retrieved=RECALLED)
    running.cut_id = "overflow"
    again = running.send((WORDS, CALL, RESULT), "", "m0", 20, retrieved=RECALLED)
    behind = running.send(turns, "50 more", "m1", 60)

    told = [str(blocks(one.request)) for one in (since, gone, again, behind)]
    assert [one.count(RECALLED) for one in told] == [0, 0, 1, 1]
    assert [one.count("Another passage.") for one in told] == [1, 0, 0, 0]
    assert blocks(behind.request)[: len(blocks(again.request))] == blocks(again.request)
    assert replay(records_for(Replayed(), again.view, NOW, ["a", "b", "c"])).view == again.view


def test_it_goes_when_something_was_taken_out_of_what_is_known() -> None:
    """Nobody knows what of it stands there. What was taken out while the turn ran goes with the turn."""
    turns: tuple[Message, ...] = (WORDS, CALL, RESULT, DONE)
    talk, meanwhile = Talk(), Talk()
    talk.turn(CALL, RESULT, retrieved=RECALLED)
    talk.withdrawals = 1
    later = talk.send(turns, "50 more", "m1", 60)
    meanwhile.send((), "200 look", "m0", 0, retrieved=RECALLED)
    meanwhile.withdrawals = 1
    meanwhile.send((WORDS, CALL, RESULT), "", "m0", 10, retrieved=RECALLED)

    assert RECALLED not in str(blocks(later.request))
    assert later.plan.read_tokens > 0, "all before it stays as it was sent"
    assert RECALLED not in str(blocks(meanwhile.send(turns, "50 more", "m1", 60).request))


def test_what_stands_behind_it_is_in_the_price_of_taking_something_out() -> None:
    """The judge is the request that follows. Layer 7 is not sent at all: recall alone may tell what was taken out."""
    turns: tuple[Message, ...] = (WORDS, CALL, RESULT, DONE)
    talk = Talk()
    talk.turn(CALL, RESULT, retrieved=RECALLED)
    last = talk.send(turns, "50 more", "m1", 60)
    live = live_entries(talk.market.ledger, SCOPE, after(61))
    sent = sent_knowledge(last.wire, last.view, live, SCOPE)
    state = DiscussionCacheState(
        "d", "anthropic", after(60), after(3600), tokens_cached=last.wire.total_tokens
    )
    cache = DiscussionCache(state, talk.market.ledger, sent=sent)
    market = replace(talk.market, now=after(61))
    now, taken = (stack_of(FILES, (*turns, said("m1", Role.USER, "50 more")), withdrawals=n) for n in (0, 1))
    asked, after_it = (rewrite_costs(cache, "d", stack, market, is_kept=False) for stack in (now, taken))
    more = (*turns, said("m1", Role.USER, "50 more"))
    plans = []
    for withdrawals in (0, 1):
        one = stack_of(FILES, more, "0 next", "named", "", withdrawals)
        plans.append(decide(PlannedTurn(one, "m2", last.view, discussion_id="d"), market).plan)
    same, anew = plans
    billed = anew.write_tokens + anew.fresh_tokens - same.write_tokens - same.fresh_tokens

    assert billed > 2_000, "all that the turn's tools found stands behind it"
    assert (asked.due, asked.switch_off) == (None, None)
    assert asked.withdrawal is not None
    assert after_it.due is not None
    assert after_it.due.why == TAKEN_OUT
    assert asked.withdrawal.tokens == after_it.due.tokens == pytest.approx(billed, abs=30)
    assert asked.withdrawal.cost_usd == pytest.approx((anew.cost_usd or 0) - (same.cost_usd or 0), rel=0.05)


def test_thinking_that_a_round_held_stays_with_its_tail_and_nothing_does_where_nothing_is_appended() -> None:
    thought = said("m0a", Role.ASSISTANT, ReasoningPart("hm", "{}"), ToolCallPart("c", "read", "{}"))
    off = Talk(replace(MARKET, settings=CacheSettings(appends_changes=False)))
    view = Talk().turn(thought, RESULT)[1].view

    assert [tail.message_id for tail in view.tails] == ["m0"]
    assert view.reasoned == ("m0a",)
    records = records_for(Replayed(), view, NOW, ["a", "b", "c"])
    assert [one.kind for one in records] == ["base", "tail", "reasoned"]
    assert replay(records).view == view
    left = off.turn(thought, RESULT)[1].view
    assert (left.tails, left.reasoned) == ((), ())


def test_a_message_that_is_sent_again_or_gone_takes_its_own_along() -> None:
    talk = Talk()
    view = talk.turn(CALL, RESULT)[1].view

    assert talk.send((), "200 look", "m0", 30).view.tails == ()
    assert pruned(view, stack_of(FILES, (said("other", Role.USER, "words"),), "now"), "m1").tails == ()


@pytest.mark.parametrize("retrieved", ["", RECALLED])
def test_a_log_tells_it(retrieved: str) -> None:
    talk = Talk()
    first, round_ = talk.turn(CALL, RESULT, retrieved=retrieved)
    records = records_for(Replayed(), first.view, NOW, ["a", "b"])
    more = records_for(replay(records), round_.view, NOW, ["c", "d"])
    gone = records_for(replay((*records, *more)), first.view, NOW, ["e", "f"])

    assert [one.kind for one in more] == ["tail"]
    assert replay((*records, *more)).view == round_.view
    assert replay((*records, *more, *gone)).view == first.view
    two = replace(round_.view, tails=(*round_.view.tails, TurnTail("m9", "x")))
    assert replay(records_for(Replayed(), two, NOW, ["g", "h", "i"])).view == two


def test_words_behind_results_that_nobody_answered_have_layer_8_behind_them_and_their_round_extends_it() -> (
    None
):
    """A kill, or a call of a tool that is off, ends a turn at results: thinking of the next one is bound to what it saw."""
    talk = Talk()
    talk.send((), "200 look", "m0", 0)
    talk.send((WORDS, CALL, RESULT), "", "m0", 10)
    begun = talk.send((WORDS, CALL, RESULT), "50 more", "m1", 60)
    more = (said("m1", Role.USER, "50 more"), replace(CALL, id="m1a"), replace(RESULT, id="m1b"))
    round_ = talk.send((WORDS, CALL, RESULT, *more), "", "m1", 70)

    assert "named for m1" in str(blocks(begun.request)[-1])
    assert blocks(round_.request)[: len(blocks(begun.request))] == blocks(begun.request)


def test_who_is_likely_to_ask_again_at_once_writes_for_as_short_as_the_prices_allow() -> None:
    """The next request reads what this one wrote, and makes all of it live for long by what it writes itself."""
    alone, likely = (
        Talk(replace(MARKET, gaps=SLOW)).send((), "200 look", "m0", 0, odds) for odds in (0, 0.9)
    )

    assert {mark.ttl_s for mark in alone.plan.marks} == {3600}
    assert {mark.ttl_s for mark in likely.plan.marks} == {300}


HOLDS = replace(MARKET, prices=replace(ANTHROPIC, mechanism=Mechanism.IMPLICIT, holds_replies=True))
"""A server that holds its replies, as it computed them."""


def test_a_turn_without_tools_keeps_layer_8_only_where_the_server_holds_its_replies() -> None:
    held, marked = Talk(HOLDS), Talk()
    first = held.send((), "200 look", "m0", 0)
    later = held.send((WORDS, said("m0a", Role.ASSISTANT, "400 so")), "50 more", "m1", 60)
    cold = held.send((WORDS, said("m0a", Role.ASSISTANT, "400 so")), "50 more", "m1", 90_000)

    assert blocks(later.request)[: len(blocks(first.request))] == blocks(first.request)
    assert later.plan.read_tokens == first.wire.total_tokens
    assert [tail.message_id for tail in later.view.tails] == ["m0", "m1"]
    assert [tail.message_id for tail in cold.view.tails] == ["m1"]
    assert marked.send((), "200 look", "m0", 0).view.tails == ()


def test_what_was_recalled_stays_there_too_in_a_quarter_of_the_models_room() -> None:
    """A passage takes a tenth of the smaller room: two of them stay in it, and none where the room is not known, or reading
    costs, or may cost: a price that nobody knows counts as none on this machine alone.
    """
    passage = RECALLED * 2_000
    free = replace(HOLDS, prices=replace(HOLDS.prices, input_usd=0.0, read=0.0))
    tenth = estimate_tokens(len(passage))
    hosted, own = (
        replace(HOLDS, prices=replace(HOLDS.prices, input_usd=None, is_local=is_own))
        for is_own in (False, True)
    )
    cases = (
        (None, free, 0),
        (10 * tenth, free, 2),
        (100 * tenth, free, 3),
        (100 * tenth, HOLDS, 0),
        (100 * tenth, hosted, 0),
        (100 * tenth, own, 3),
    )
    for room, market, stays in cases:
        talk, sent = Talk(market), list[Decision]()
        turns: tuple[Message, ...] = ()
        talk.limit_tokens = room
        for number in range(3):
            sent.append(talk.send(turns, "200 look", f"m{number}", 60 * number, retrieved=passage))
            words = said(f"m{number}", Role.USER, "200 look")
            turns = (*turns, words, said(f"m{number}a", Role.ASSISTANT, "400 so"))
        assert [tail.message_id for tail in sent[-1].view.tails] == ["m0", "m1", "m2"][:stays]
        extends = [
            blocks(b.request)[: len(blocks(a.request))] == blocks(a.request) for a, b in pairwise(sent)
        ]
        assert extends == [stays > 0] * 2


def test_nothing_more_that_was_recalled_stays_once_a_server_of_this_machine_told_what_it_costs() -> None:
    """Also in the middle of a turn: its round repeats what was sent."""
    own = replace(HOLDS, prices=replace(HOLDS.prices, input_usd=None, is_local=True))
    talk = Talk(own)
    talk.limit_tokens = 100_000
    first = talk.send((), "200 look", "m0", 0, retrieved=RECALLED)
    talk.is_paid = True
    again = talk.send((WORDS, CALL, RESULT), "", "m0", 10, retrieved=RECALLED)
    later = talk.send((WORDS, CALL, RESULT, DONE), "50 more", "m1", 60, retrieved="Another passage.")

    for one, two in ((first, again), (again, later)):
        assert blocks(two.request)[: len(blocks(one.request))] == blocks(one.request)
    assert str(blocks(again.request)).count(RECALLED) == 1
    assert [tail.message_id for tail in later.view.tails] == ["m0"]


def test_nothing_that_was_recalled_stays_where_something_was_taken_out_meanwhile() -> None:
    talk = Talk(replace(HOLDS, prices=replace(HOLDS.prices, input_usd=0.0, read=0.0)))
    talk.limit_tokens = 100_000
    talk.send((), "200 look", "m0", 0, retrieved=RECALLED)
    talk.withdrawals = 1
    later = talk.send((WORDS, said("m0a", Role.ASSISTANT, "400 so")), "50 more", "m1", 60)
    assert RECALLED not in str(blocks(later.request))


def test_a_break_names_what_the_program_had_added_and_left_out() -> None:
    """Layer 8, recalled passages and told changes of an earlier turn: no word of a message that anybody changed."""
    free = replace(HOLDS, prices=replace(HOLDS.prices, input_usd=0.0, read=0.0))
    found = []
    for retrieved in ("", RECALLED):
        talk = Talk(free)
        talk.limit_tokens = 100_000
        talk.send((), "200 look", "m0", 0, retrieved=retrieved)
        warm = talk.send((WORDS, DONE), "50 more", "m1", 60)
        more = said("m1", Role.USER, "50 more")
        turns = (WORDS, DONE, more, said("m1a", Role.ASSISTANT, "40 well"))
        cold = talk.send(turns, "60 and", "m2", 90_000)
        place = first_break(warm.request, cold.request)
        assert place is not None
        found.append((place.layer, place.reason))
    assert found == [
        (LayerId.METADATA, "the program left out its notes behind an earlier message"),
        (LayerId.TURNS, "the program left out what it had recalled for an earlier message"),
    ]
