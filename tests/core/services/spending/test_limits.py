"""The spend limits of a discussion and of the day."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, LiveCall
from core.kernel.values.records import UsageRecord
from core.kernel.values.settings import AiSettings, CachingSettings, Settings
from core.kernel.values.state import AppState, ConfigState, DiscussionsState, ProgramState, SpendingState
from core.kernel.values.usage import LimitScope, Payment, ReachedLimit, Usage
from core.services.spending.limits import (
    add_spent,
    has_room,
    is_counted,
    limit_reached,
    loosens,
    reached,
    reached_limits,
    release,
    reserve,
)
from core.services.spending.spending_messages import PaymentsSeen, SpentCounted
from core.services.spending.spending_step import HANDLERS
from tests.core.app.playbook import START
from tests.state_fields import with_fields


def state(*, spent: float | None = None, today: float | None = None, own: float | None = None) -> AppState:
    summary = DiscussionSummary(
        DiscussionMeta("a", "Tides", START, "anthropic", "claude-opus-5-5", spend_limit_usd=own), START
    )
    settings = replace(
        Settings(), ai=AiSettings(spend_limit_usd=2.0), caching=CachingSettings(day_limit_usd=5.0)
    )
    return AppState(
        discussions=DiscussionsState(summaries={"a": replace(summary, usage=Usage(cost_usd=spent))}),
        config=ConfigState(settings=settings),
        spending=SpendingState(spent_today_usd=today),
        program=ProgramState(is_loading=False),
    )


def test_a_limit_of_a_discussion_waits_until_all_of_its_tasks_are_listed() -> None:
    listed = state(spent=0.0, today=0.0)
    listing = replace(listed, program=ProgramState(is_loading=True))
    free = with_fields(listing, settings=Settings())

    assert [is_counted(one, "a") for one in (listed, listing, free)] == [True, False, True]
    assert not has_room(listing, 0.1, "a")


def test_where_the_persons_settings_cannot_be_read_nothing_is_paid_for_unasked() -> None:
    """A typo lifted every limit, and words for a local server went to a vendor that has a key."""
    now = with_fields(state(spent=0.0, today=0.0), settings=Settings(unread="Line 7: a typo: config.toml"))

    assert [(one.scope, one.sentence) for one in reached_limits(now, "a")] == [
        (LimitScope.UNKNOWN, "Line 7: a typo: config.toml")
    ]
    assert limit_reached(now) == "Line 7: a typo: config.toml"
    assert not has_room(now, 0.0, "a")

    ours = now.discussions.summaries["a"]
    ours = replace(ours, meta=replace(ours.meta, provider="embedded"))
    now = replace(now, discussions=replace(now.discussions, summaries={"a": ours}))
    assert not limit_reached(now, "a")
    assert has_room(now, 0.0, "a")


@pytest.mark.parametrize(
    ("now", "discussion", "day"),
    [
        (state(), "", ""),
        (state(spent=1.99, today=4.99), "", ""),
        (state(spent=2.0), "$2.00 for this discussion", ""),
        (state(spent=2.5, own=3.0), "", ""),
        (state(spent=0.5, own=0.25), "$0.25 for this discussion", ""),
        (state(today=5.0), "$5.00 for today", "$5.00 for today"),
    ],
)
def test_a_limit_is_reached_when_so_much_is_spent_and_an_own_one_stands_before_the_general(
    now: AppState, discussion: str, day: str
) -> None:
    for found, expected in ((limit_reached(now, "a"), discussion), (limit_reached(now), day)):
        assert expected in found
        assert bool(found) is bool(expected)


@pytest.mark.parametrize(
    ("key", "value", "is_looser"),
    [
        ("ai_settings.caching.day_limit_usd", 5.01, True),
        ("ai_settings.caching.day_limit_usd", None, True),
        ("ai_settings.caching.day_limit_usd", "6", True),
        ("ai_settings.caching.day_limit_usd", float("nan"), True),
        ("ai_settings.caching.day_limit_usd", 5, False),
        ("ai_settings.spend_limit_usd", 2.5, True),
        ("ai_settings.spend_limit_usd", 0.0, False),
        ("ai_settings.caching.keepalive", True, False),
    ],
)
def test_a_limit_is_loosened_by_more_and_by_none(key: str, value: object, is_looser: bool) -> None:
    assert loosens(state().config.settings, key, value) is is_looser
    assert not loosens(Settings(), key, value), "there is no limit yet"


def test_without_limits_nothing_stops() -> None:
    assert not limit_reached(with_fields(state(spent=99.0, today=99.0), settings=Settings()), "a")


def test_every_limit_that_is_reached_is_told_with_its_sums_the_discussions_first() -> None:
    assert reached_limits(state(spent=2.5, today=5.5), "a") == (
        ReachedLimit(LimitScope.DISCUSSION, 2.0, 2.5),
        ReachedLimit(LimitScope.DAY, 5.0, 5.5),
    )
    assert reached_limits(state(spent=2.5, today=5.5), "nobody") == (ReachedLimit(LimitScope.DAY, 5.0, 5.5),)


def test_a_sum_that_nobody_knows_stops_nothing() -> None:
    assert reached_limits(state(spent=None, today=None), "a") == ()


def test_calls_under_way_count_with_what_they_reserve_all_of_them_for_the_day() -> None:
    calls = {name: LiveCall("c", name, "u", "r", "p", "m", START, reserved_usd=0.5) for name in ("a", "b")}
    now = with_fields(state(spent=1.6, today=4.1), calls=calls)

    assert reached_limits(now, "a") == (
        ReachedLimit(LimitScope.DISCUSSION, 2.0, 1.6, 0.5),
        ReachedLimit(LimitScope.DAY, 5.0, 4.1, 1.0),
    )
    assert (
        reached_limits(
            replace(
                now,
                turns=replace(now.turns, calls={"a": calls["a"]}),
                spending=replace(now.spending, spent_today_usd=4.4),
            )
        )
        == ()
    )


def test_background_work_waits_while_a_call_is_out_whose_cost_nobody_knows() -> None:
    call = LiveCall("c", "b", "u", "r", "p", "m", START, reserved_usd=None, is_out=True)
    now = with_fields(state(spent=0.0, today=0.0), calls={"b": call})

    assert not has_room(now, 0.01)
    assert has_room(with_fields(now, settings=Settings()), 0.01), "no limit asks for it"
    held = with_fields(now, calls={"b": replace(call, is_out=False)})
    assert has_room(held, 0.01), "what was not let go is judged when its cost is known"


def test_what_is_under_way_is_said_beside_what_is_spent() -> None:
    said = ReachedLimit(LimitScope.DAY, 5.0, 4.0, 1.1).sentence

    assert (
        said
        == "You have reached the limit of $5.00 for today: $4.00 spent. Running requests may add about $1.10."
    )


def test_what_is_counted_on_disk_and_what_is_paid_meanwhile_count_once() -> None:
    """A turn ends while the logs are read: before the look at its log, or behind it."""
    used = [UsageRecord(name, START, "m", Usage(cost_usd=1.0)) for name in ("read", "missed")]
    now = add_spent(state(), tuple(used))
    assert now.spending.spent_today_usd is None

    now, _ = HANDLERS(now, SpentCounted(START, 3.0, ids=frozenset({"read", "old"})))
    assert now.spending.spent_today_usd == 4.0
    now, _ = HANDLERS(now, PaymentsSeen({"old": Payment(2.0), "other": Payment(0.5, is_estimate=True)}))
    assert now.spending.spent_today_usd == 4.5
    assert now.spending.has_estimate


def test_what_is_held_back_counts_towards_both_limits_and_nothing_in_the_background_goes_past_one() -> None:
    held = reserve(state(spent=1.0, today=4.0), "keepalive/a", 0.5, "a")
    assert [has_room(held, usd, "a") for usd in (0.5, 0.6)] == [True, False]
    assert [has_room(held, usd) for usd in (0.5, 0.6)] == [True, False]
    assert [has_room(held, usd, "a", besides="keepalive/a") for usd in (1.0, 1.1)] == [True, False]
    assert [has_room(held, 0.25, elsewhere_usd=usd) for usd in (0.25, 0.3)] == [True, False]

    full = reserve(held, "harvest", 0.6)
    assert "Running requests may add about $1.10" in limit_reached(full)
    assert not limit_reached(full, besides="harvest")
    assert release(release(full, "harvest"), "keepalive/a").spending.reserved == {}


def test_what_is_spent_at_our_estimate_says_so_in_every_sentence_about_the_limit() -> None:
    told = reached(LimitScope.DAY, 0.01, 0.0246, 0.0, is_estimate=True)

    assert told is not None
    assert told.spent == "≈$0.025"
    assert told.sentence.endswith("today: ≈$0.025 spent.")
