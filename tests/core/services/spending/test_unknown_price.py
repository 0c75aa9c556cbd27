"""A limit that cannot be checked: a call whose price nobody knows asks, and what nobody can be asked about is not done."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import ModelPrice
from core.kernel.values.records import RequestRecord
from core.kernel.values.settings import AiSettings, CachingSettings, Settings
from core.kernel.values.state import AppState, ConfigState, DiscussionsState, SpendingState
from core.kernel.values.updates import outcome_of
from core.kernel.values.usage import LimitScope, Usage
from core.services.providers.claude_code.client import claude_usage
from core.services.providers.door import counted_usage
from core.services.settings.settings_messages import FindCallPrices, PricesFound
from core.services.spending.estimates import booked
from core.services.spending.limits import batch_past_limit, has_room, limit_reached, reached_limits
from core.talk.discussion.discussion_messages import ChangeDiscussion
from core.talk.turn.turn_messages import CallProvider, CancelCall, RequestBuilt, SendPrompt, SendRequest
from tests.core.app.playbook import START, Playbook, of, settings_loaded

KEY, NEW = ("openai", "gpt-6.2-sol"), ("anthropic", "claude-new")
DAY = CachingSettings(day_limit_usd=0.001)
KNOWN: dict[tuple[str, str], ModelPrice | None] = {KEY: ModelPrice(2.0, 10.0)}


def state(
    settings: Settings, prices: dict[tuple[str, str], ModelPrice | None], **meta: float | str
) -> AppState:
    row = DiscussionSummary(DiscussionMeta("a", "Tides", START, *KEY, **meta), START)  # type: ignore[arg-type]
    return AppState(
        discussions=DiscussionsState(summaries={"a": row}, open={"a": OpenDiscussion("a")}),
        config=ConfigState(settings=settings, prices=prices),
        spending=SpendingState(spent_today_usd=0.0),
    )


@pytest.mark.parametrize(
    ("settings", "own", "words"),
    [
        (Settings(caching=DAY), None, "cannot enforce the limit of $0.001 for today."),
        (
            Settings(ai=AiSettings(spend_limit_usd=2.0)),
            None,
            "cannot enforce the limit of $2.00 for this discussion.",
        ),
        (Settings(), 3.0, "cannot enforce the limit of $3.00 for this discussion."),
        (
            Settings(caching=DAY),
            3.0,
            "cannot enforce the limit of $3.00 for this discussion and the limit of $0.001 for today.",
        ),
    ],
)
def test_with_any_limit_a_price_that_nobody_knows_stands_against_a_call(
    settings: Settings, own: float | None, words: str
) -> None:
    now = state(settings, {KEY: None})
    row = now.discussions.summaries["a"]
    row = replace(row, meta=replace(row.meta, spend_limit_usd=own))
    now = replace(now, discussions=replace(now.discussions, summaries={"a": row}))

    (reached,) = reached_limits(now, "a")

    assert reached.scope is LimitScope.UNPRICED
    assert reached.sentence.startswith("The price of 'gpt-6.2-sol' is unknown, so ")
    assert words in reached.sentence
    assert not has_room(now, 0.0, "a")
    assert not has_room(now, 0.0005, "a"), "an estimate of another day is none"


def test_without_a_limit_or_with_a_price_nothing_is_asked() -> None:
    assert not limit_reached(state(Settings(), {KEY: None}), "a")
    priced = state(Settings(caching=DAY), KNOWN)
    assert not limit_reached(priced, "a")
    assert has_room(priced, 0.0005, "a")
    free = state(Settings(caching=DAY), {KEY: ModelPrice(0.0, 0.0)})
    assert has_room(free, 0.0, "a"), "a price of nothing is a price"


def test_a_price_that_nobody_has_looked_up_lets_nothing_go_that_is_asked_of_nobody() -> None:
    assert not has_room(state(Settings(caching=DAY), {}), 0.0, "a")


def test_a_harvest_and_a_batch_are_judged_by_the_model_that_reads() -> None:
    now = state(Settings(caching=DAY), {KEY: None, ("openai", "gpt-5.5"): ModelPrice(5.0, 30.0)})

    assert "cannot enforce" in limit_reached(now, model=KEY)
    assert not limit_reached(now, model=("openai", "gpt-5.5"))
    assert "cannot enforce" in batch_past_limit(now, 0.0, KEY)
    assert "go past the limit of $0.0010 for today" in batch_past_limit(now, 1.0, ("openai", "gpt-5.5"))
    assert not limit_reached(now, model=("embedded", "smollm2"))


def test_a_vendor_that_told_what_the_last_call_cost_is_asked_about_no_more() -> None:
    now = state(Settings(caching=DAY), {KEY: None})

    def after(usage: Usage) -> AppState:
        said = Message("m", START, Role.ASSISTANT, (), provider=KEY[0], model=KEY[1], usage=usage)
        opened = replace(now.discussions.open["a"], entries=(said,))
        return replace(now, discussions=replace(now.discussions, open={"a": opened}))

    assert not limit_reached(after(counted_usage(cost_usd=0.0001)), "a")
    guess = booked(
        claude_usage({"input_tokens": 9, "output_tokens": 9}, 0.0001, "r"),
        Usage(),
        9,
        lambda _: None,
        is_whole=True,
    )
    assert not limit_reached(after(guess), "a"), "a program told it, though it guesses"
    own = booked(counted_usage(input_tokens=9, output_tokens=9), Usage(), 9, lambda _: 0.0001, is_whole=True)
    assert own.cost_usd == 0.0001
    assert "cannot enforce" in limit_reached(after(own), "a"), "we told it, by a price that is gone"


@pytest.fixture
def book() -> Playbook:
    made = Playbook().ready()
    made.play(settings_loaded(settings=Settings(caching=DAY)))
    made.state = replace(made.state, spending=replace(made.state.spending, spent_today_usd=0.0))
    return made


def unpriced(book: Playbook) -> tuple[str, tuple[FindCallPrices, ...]]:
    chosen = book.discussion()
    return chosen, of(
        book.play(
            ChangeDiscussion(discussion_id=chosen, changes=dict(zip(("provider", "model"), NEW, strict=True)))
        ),
        FindCallPrices,
    )


def test_a_send_is_refused_each_time_and_goes_once_with_the_persons_yes(book: Playbook) -> None:
    chosen, _ = unpriced(book)
    book.play(PricesFound({NEW: None}))

    refusals = []
    for command_id in ("one", "two"):
        assert not of(book.play(SendPrompt(chosen, "tides", command_id=command_id)), CallProvider)
        outcome = outcome_of(book.state, command_id)
        assert outcome is not None
        assert outcome.refusal is not None
        assert outcome.refusal.is_unpriced
        assert chosen not in book.state.turns.calls
        refusals.append(outcome.refusal)
    book.play(refusals[-1].confirmed)  # type: ignore[arg-type]
    assert book.state.turns.calls[chosen].over_limit


def test_the_price_is_looked_up_before_the_call_that_it_decides_about(book: Playbook) -> None:
    book.settles = False
    chosen, asked = unpriced(book)
    assert [one.models for one in asked] == [(NEW,)]

    book.play(SendPrompt(chosen, "tides"))

    assert chosen not in book.state.turns.calls, "it waits"
    assert len(book.state.config.held_commands) == 1


def test_a_request_without_a_price_is_not_sent_whatever_was_thought_before(book: Playbook) -> None:
    chosen, _ = unpriced(book)
    call = book.ask(chosen, "tides")
    about = call.user_message_id, "anthropic", "claude-new", "auto"
    record = RequestRecord(call.request_id, START, *about, (), (), 0)

    effects = book.play(RequestBuilt(call.call_id, record, usd=None))

    assert not of(effects, SendRequest)
    assert of(effects, CancelCall)
    assert book.state.turns.calls[chosen].refused[0].scope is LimitScope.UNPRICED


def test_prices_are_asked_for_anew_when_their_data_have_changed(book: Playbook) -> None:
    unpriced(book)
    book.play(PricesFound({NEW: None}))
    loaded = settings_loaded(settings=Settings(caching=DAY))
    assert not of(book.play(loaded), FindCallPrices)

    source = replace(loaded.price_source, mark="newer")
    assert NEW in of(book.play(replace(loaded, price_source=source)), FindCallPrices)[0].models
