"""The last word of the spend limits: a call is let go once its cost is known, whatever was expected before."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.app.app_messages import Effect
from core.kernel.errors import FailureKind
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.records import RequestRecord
from core.kernel.values.settings import AiSettings, CachingSettings, Settings
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Payment, Reservation, SpentElsewhere, Usage
from core.services.settings.settings_messages import SettingsLoaded
from core.services.spending.limits import call_key
from core.services.spending.spending_messages import ClaimReserve, ReserveClaimed, SettleReserve, SpentCounted
from core.talk.discussion.discussion_messages import AppendRecords
from core.talk.turn.turn_messages import (
    CallEnded,
    CallProvider,
    CancelCall,
    CancelReply,
    RequestBuilt,
    RetrySend,
    SendPrompt,
    SendRequest,
)
from tests.core.app.playbook import START, Playbook, of, settings_loaded

COST = 0.377
STOPPED = Stopped(StopKind.CANCELLED)


def limited(usd: float | None = 1.0) -> SettingsLoaded:
    return settings_loaded(settings=replace(Settings(), caching=CachingSettings(day_limit_usd=usd)))


@pytest.fixture
def book() -> Playbook:
    """A day with a limit of one dollar, of which nothing is spent."""
    book = Playbook().ready()
    book.play(limited())
    book.play(SpentCounted(START, 0.0))
    return book


def built(
    book: Playbook,
    call: CallProvider,
    usd: float | None = COST,
    elsewhere: SpentElsewhere = SpentElsewhere(),  # noqa: B008 (a value)
) -> tuple[Effect, ...]:
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)
    book.elsewhere = elsewhere
    return book.play(RequestBuilt(call.call_id, record, usd=usd))


def test_what_other_programs_have_under_way_and_paid_counts_against_a_call(book: Playbook) -> None:
    calls = [book.ask(book.discussion(), text) for text in ("one", "two", "three")]
    paid = SpentElsewhere(0.0, {"their record": Payment(0.7)})

    busy = built(book, calls[0], elsewhere=SpentElsewhere(1.0))
    first, again = (built(book, call, elsewhere=paid) for call in calls[1:])

    assert [bool(of(effects, SendRequest)) for effects in (busy, first, again)] == [False, True, False]
    assert book.state.spending.spent_today_usd == 0.7, "once"
    assert [bool(of(effects, CancelCall)) for effects in (busy, again)] == [True, True]


def test_a_call_goes_and_is_logged_as_sent_only_once_other_programs_have_seen_what_it_reserves(
    book: Playbook,
) -> None:
    call = book.ask(book.discussion(), "text")
    key = call_key(call.call_id)
    book.elsewhere = None
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)

    waits = (*book.play(RequestBuilt(call.call_id, record, usd=COST)), *book.play(Tick()))
    held = Reservation(COST, call.spec.discussion_id)
    counted = book.play(SpentCounted(START, 0.1))
    goes = book.play(ReserveClaimed(key, held, SpentElsewhere()))

    assert book.shared == [ClaimReserve(key, held)]
    assert not of((*waits, *counted), SendRequest)
    assert not of((*waits, *counted), AppendRecords)
    assert [effect.records for effect in of(goes, AppendRecords)] == [(record,)]
    assert of(goes, SendRequest) == (SendRequest(call.call_id),)


@pytest.mark.parametrize("limit", [None, "day", "discussion"])
def test_a_call_that_costs_nothing_asks_other_programs_only_where_a_limit_needs_them(
    limit: str | None,
) -> None:
    book = Playbook().ready()
    book.play(SpentCounted(START, 0.0))
    chosen = book.discussion()
    if limit == "day":
        book.play(limited())
    elif limit == "discussion":
        book.play(settings_loaded(settings=Settings(ai=AiSettings(spend_limit_usd=1.0))))
    call = book.ask(chosen, "text")
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)
    effects = book.play(RequestBuilt(call.call_id, record, usd=0.0))

    assert of(effects, SendRequest) == (SendRequest(call.call_id),)
    assert [effect.records for effect in of(effects, AppendRecords)] == [(record,)]
    claim = ClaimReserve(call_key(call.call_id), Reservation(0.0, chosen))
    assert book.shared == ([] if limit is None else [claim])


@pytest.mark.parametrize("is_over", [True, False])
def test_a_call_that_is_stopped_before_they_have_never_goes_and_reserves_no_more(
    book: Playbook, is_over: bool
) -> None:
    """The disk may have come to its end before the claim: what is claimed late is given back."""
    call = book.ask(book.discussion(), "text")
    book.elsewhere = None
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)
    book.play(RequestBuilt(call.call_id, record, usd=COST))
    book.play(CancelReply(call.spec.discussion_id))
    if is_over:
        (write,) = of(book.play(CallEnded(call.call_id, STOPPED, (), Usage())), AppendRecords)
        book.append(write)
    key = call_key(call.call_id)

    effects = book.play(ReserveClaimed(key, Reservation(COST, call.spec.discussion_id), SpentElsewhere()))

    assert not of(effects, SendRequest)
    assert (SettleReserve(key, {}) in book.shared) == is_over, "else the write of its end settles it"


def test_first_sends_at_once_are_let_go_as_far_as_the_day_reaches(book: Playbook) -> None:
    """Eight new discussions, of which nothing was known when they were asked for, went to three times the limit."""
    calls = [book.ask(book.discussion(), f"text {number}") for number in range(8)]

    sent = [bool(of(built(book, call), SendRequest)) for call in calls]

    assert sent == [True] * 3 + [False] * 5
    assert (
        sum(call.reserved_usd or 0.0 for call in book.state.turns.calls.values() if call.is_out) == 3 * COST
    )


def test_what_is_stopped_keeps_its_words_says_why_and_goes_with_a_yes(book: Playbook) -> None:
    before = [book.ask(book.discussion(), "before") for _ in range(3)]
    chosen = book.discussion()
    call = book.ask(chosen, "a long story")
    for one in before:
        built(book, one)

    effects = built(book, call)
    assert of(effects, CancelCall) == (CancelCall(call.call_id),)
    assert not of(effects, AppendRecords), "what is not sent is not logged as sent"
    (end,) = of(book.play(CallEnded(call.call_id, STOPPED, (), Usage())), AppendRecords)
    book.append(end)

    opened = book.state.discussions.open[chosen]
    assert [message.text for message in opened.messages] == ["a long story"]
    assert opened.failure is not None
    assert opened.failure.kind is FailureKind.SPEND_LIMIT
    assert "$1.00 for today" in opened.failure.what
    assert opened.refusal is not None
    assert opened.refusal.confirmed == RetrySend(chosen, over_limit=True)
    assert chosen not in book.state.turns.calls

    (again,) = of(book.play(opened.refusal.confirmed), CallProvider)
    assert of(built(book, again), SendRequest)


def test_while_nobody_has_added_up_the_day_a_call_is_held_and_then_let_go_in_order() -> None:
    book = Playbook().ready()
    book.play(limited())
    calls = [book.later(1).ask(book.discussion(), f"text {number}") for number in range(4)]
    assert not [effect for call in reversed(calls) for effect in of(built(book, call), SendRequest)]

    effects = book.play(SpentCounted(START, 0.3))

    assert of(effects, SendRequest) == (SendRequest(calls[0].call_id), SendRequest(calls[1].call_id))
    assert of(effects, CancelCall) == (CancelCall(calls[2].call_id), CancelCall(calls[3].call_id))
    assert not of(book.play(Tick()), SendRequest)


def test_what_is_held_goes_when_the_limit_does_or_ends_when_the_person_stops_it() -> None:
    book = Playbook().ready()
    book.play(limited())
    goes, ends = (book.ask(book.discussion(), "text") for _ in range(2))
    for call in (goes, ends):
        built(book, call)
    (stop,) = of(book.play(CancelReply(ends.spec.discussion_id)), CancelCall)
    assert stop.call_id == ends.call_id

    book.play(limited(None))

    assert of(book.play(Tick()), SendRequest) == (SendRequest(goes.call_id),)


def test_without_a_limit_or_past_it_by_a_yes_a_call_goes_at_once() -> None:
    book = Playbook().ready()
    assert of(built(book, book.ask(book.discussion(), "text")), SendRequest)

    book.play(limited(0.01))
    book.play(SpentCounted(START, 5.0))
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "text", over_limit=True)), AppendRecords)
    (call,) = of(book.append(write), CallProvider)
    assert of(built(book, call), SendRequest)


def test_a_cost_that_nobody_knows_reserves_what_was_expected(book: Playbook) -> None:
    call = book.ask(book.discussion(), "text")
    before = book.state.turns.calls[call.spec.discussion_id].reserved_usd

    assert of(built(book, call, None), SendRequest)
    assert book.state.turns.calls[call.spec.discussion_id].reserved_usd == before
