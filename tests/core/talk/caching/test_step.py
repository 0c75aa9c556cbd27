"""Caching as the controller decides it: pings, prewarming, what is forgotten and what is shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.curation import Preset
from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion
from core.kernel.values.provider import KeySource, ModelPrice, ModelProfile, ProviderKind, ProviderStatus
from core.kernel.values.records import UsageRecord
from core.kernel.values.settings import AiSettings, CachingSettings, Project, Settings
from core.kernel.values.state import AppState, ProviderTotals
from core.kernel.values.updates import PathsChanged, Tick, Watched
from core.kernel.values.usage import Payment, SpentElsewhere, Usage, UsageKind
from core.services.settings.settings_messages import ChangeSetting, ModelsListed, PricesFound, SettingsSettled
from core.services.spending.limits import limit_reached
from core.services.spending.spending_messages import (
    ClaimReserve,
    ReserveClaimed,
    SettleReserve,
    SpentCounted,
    TakeCutUpkeep,
    UpkeepCut,
)
from core.talk.caching.caching_messages import (
    CacheRead,
    CacheReported,
    DeleteCache,
    DisableCaching,
    DuePing,
    EnableCaching,
    InvalidateCache,
    PingCaches,
    PingsDue,
    Prewarm,
    ReadCaches,
    RentPaid,
    SendPing,
    TendContents,
)
from core.talk.context.context_messages import AssembleContext
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    CreateDiscussion,
    CreateOnDisk,
    DiscussionCreated,
    DiscussionLoaded,
    UpkeepToken,
    WriteMeta,
)
from tests.core.app.playbook import START, Playbook, of, settings_loaded


def with_limit(state: AppState, usd: float) -> AppState:
    caching = replace(state.config.settings.caching, day_limit_usd=usd)
    settings = replace(state.config.settings, caching=caching)
    return replace(state, config=replace(state.config, settings=settings))


CODE = Project(root="/project", name="project", presets={"code": Preset("code")})


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def with_caching(book: Playbook, **fields: object) -> None:
    caching = CachingSettings(**fields)  # type: ignore[arg-type]
    book.play(settings_loaded(settings=replace(Settings(), caching=caching)))


def test_pings_are_looked_for_only_while_keepalive_is_on(book: Playbook) -> None:
    assert not of(book.play(Tick()), PingCaches)
    with_caching(book, keepalive=True)
    assert of(book.play(Tick()), PingCaches)


def test_at_the_days_limit_no_ping_is_sent(book: Playbook) -> None:
    with_caching(book, keepalive=True, day_limit_usd=1.0)
    book.play(SpentCounted(START, 1.0))
    assert not of(book.play(Tick()), PingCaches)


def test_a_discussion_whose_caching_is_off_is_not_pinged_and_not_shown_as_cached(book: Playbook) -> None:
    with_caching(book, keepalive=True)
    chosen = book.discussion()
    held = DiscussionCacheState(chosen, "anthropic", START, START, 3, 900)
    book.play(CacheReported(chosen, held))

    book.play(DisableCaching(chosen))
    assert book.state.caching.caches[chosen] == replace(held, caching_enabled=False)
    assert of(book.play(Tick()), PingCaches) == (PingCaches(book.state.config.settings.caching, (chosen,)),)
    book.play(CacheReported(chosen, held))  # as a worker knows it, which does not know of the switch
    assert not book.state.caching.caches[chosen].caching_enabled

    book.play(EnableCaching(chosen))
    assert book.state.caching.caches[chosen] == held
    assert of(book.play(Tick()), PingCaches) == (PingCaches(book.state.config.settings.caching),)


def test_switching_the_caching_of_a_discussion_that_never_was_cached_claims_no_cache(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(DisableCaching(chosen))
    book.play(EnableCaching(chosen))
    assert chosen not in book.state.caching.caches


def test_a_ping_that_a_kill_cut_off_is_asked_for_at_the_next_start_and_booked_at_its_estimate(
    book: Playbook,
) -> None:
    chosen = book.discussion()
    book.play(SpentCounted(START, 0.5))
    assert book.takes_over == [TakeCutUpkeep()], "once the discussions are known"
    cut = UpkeepCut("20261120-120000-abcdef", UsageKind.KEEPALIVE, chosen, 0.0043, START)

    (write,) = of(book.play(cut), AppendRecords)

    (record,) = write.records
    assert isinstance(record, UsageRecord)
    assert (record.id, record.message_id, record.at) == (cut.id, "keepalive", START)
    assert record.usage == Usage(cost_usd=0.0043, is_estimate=True)
    book.append(write)
    assert book.state.spending.spent_today_usd == pytest.approx(0.5043)
    assert book.state.spending.has_estimate
    gone = replace(cut, id="20261120-120001-abcdef", discussion_id="gone")
    assert not of(book.play(gone), AppendRecords)
    assert book.shared[-1] == SettleReserve(f"keepalive/{gone.id}", {gone.id: Payment(0.0043, True)})
    assert book.state.spending.spent_today_usd == pytest.approx(0.5086)


def test_what_a_ping_used_is_logged_and_added_up(book: Playbook) -> None:
    book.play(SpentCounted(START, 0.0))
    chosen = book.discussion()
    usage = Usage(input_tokens=100, cache_read_tokens=100, cost_usd=0.25)
    totals = ProviderTotals("anthropic", usage, 1.0)

    (write,) = of(book.play(CacheRead(chosen, usage, UsageKind.KEEPALIVE, totals)), AppendRecords)
    book.append(write)

    assert isinstance(write.records[0], UsageRecord)
    assert write.records[0].message_id == "keepalive"
    assert book.state.caching.totals["anthropic"] == totals
    assert book.state.spending.spent_today_usd == 0.25
    assert book.state.discussions.summaries[chosen].usage.cost_usd == 0.25


def test_pings_that_are_due_together_go_only_as_far_as_the_days_money_reaches(book: Playbook) -> None:
    with_caching(book, keepalive=True, day_limit_usd=1.0)
    book.play(SpentCounted(START, 0.5))
    first, second, third = (book.discussion() for _ in range(3))
    due = PingsDue((DuePing(first, 0.3), DuePing(second, 0.3), DuePing(third, 0.1)))

    sent = of(book.play(due), SendPing)
    assert [ping.discussion_id for ping in sent] == [first, third]
    assert len({ping.record_id for ping in sent}) == 2
    assert of(book.play(due), SendPing) == ()
    assert "Running requests may add about $0.40" in limit_reached(with_limit(book.state, 0.9))

    book.play(CacheRead(first, None, UsageKind.KEEPALIVE, record_id=sent[0].record_id))
    assert [ping.discussion_id for ping in of(book.play(due), SendPing)] == [first]
    with_caching(book, keepalive=True)
    assert [ping.discussion_id for ping in of(book.play(due), SendPing)] == [second]


def test_a_ping_that_other_programs_left_no_money_for_is_not_sent_and_holds_nothing_back(
    book: Playbook,
) -> None:
    with_caching(book, keepalive=True, day_limit_usd=1.0)
    book.play(SpentCounted(START, 0.25))
    chosen = book.discussion()
    book.elsewhere = SpentElsewhere(0.25, {"theirs": Payment(0.25)})
    due = PingsDue((DuePing(chosen, 0.25),))

    (ping,) = of(book.play(due), SendPing)  # a quarter is left
    usage = Usage(input_tokens=9, cost_usd=0.125)
    key, read = f"keepalive/{ping.record_id}", CacheRead(chosen, usage, UsageKind.KEEPALIVE)
    (write,) = of(book.play(replace(read, record_id=ping.record_id)), AppendRecords)
    assert (write.token, [one.id for one in write.records]) == (UpkeepToken(key), [ping.record_id])
    assert book.shared[-1] == SettleReserve(key, None), "it has left: the write of its record settles it"
    assert book.state.spending.spent_today_usd == 0.625, "what was paid counts before the log has it"

    assert of(book.play(due), SendPing) == ()
    assert book.state.spending.reserved == {}
    assert book.shared[-1].payments is None


def test_a_limit_that_is_lowered_or_a_turn_that_begins_while_a_ping_waits_keeps_it_back(
    book: Playbook,
) -> None:
    with_caching(book, keepalive=True)
    book.play(SpentCounted(START, 0.5))
    book.elsewhere = None
    first, second = book.discussion(), book.discussion()
    assert book.play(PingsDue((DuePing(first, 0.2), DuePing(second, 0.2)))) == ()
    claims = [
        ReserveClaimed(one.key, one.reservation, SpentElsewhere())
        for one in book.shared
        if isinstance(one, ClaimReserve)
    ]

    book.ask(first, "one")
    with_caching(book, keepalive=True, day_limit_usd=0.6)
    assert [of(book.play(claim), SendPing) for claim in claims] == [(), ()]
    assert book.state.spending.reserved == {}


def test_no_ping_is_sent_while_a_turn_is_under_way_or_when_keepalive_was_switched_off(book: Playbook) -> None:
    with_caching(book, keepalive=True)
    chosen = book.discussion()
    due = PingsDue((DuePing(chosen, 0.1),))
    book.ask(chosen, "one")
    assert of(book.play(due), SendPing) == ()

    other = book.discussion()
    with_caching(book)
    assert of(book.play(PingsDue((DuePing(other, 0.1),))), SendPing) == ()


def test_what_was_paid_for_a_discussion_that_is_gone_counts_towards_the_day(book: Playbook) -> None:
    book.play(SpentCounted(START, 0.0))
    usage = Usage(cost_usd=0.25, is_estimate=True)
    assert book.play(CacheRead("gone", usage, UsageKind.KEEPALIVE)) == ()
    assert isinstance(book.shared[-1], SettleReserve), "no log will tell of it"
    assert book.state.spending.spent_today_usd == 0.25
    assert book.state.spending.has_estimate


def test_the_embedded_models_prefix_is_read_when_its_discussion_opens(book: Playbook) -> None:
    book.play(settings_loaded(CODE))
    (create,) = of(book.play(CreateDiscussion(preset="code")), CreateOnDisk)

    made = DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id))
    (warm,) = of(book.play(made), Prewarm)

    assert warm.spec.discussion_id == create.meta.id
    assert not of(book.play(Tick()), Prewarm)


def test_a_discussion_with_nothing_to_read_calls_nobody(book: Playbook) -> None:
    (create,) = of(book.play(CreateDiscussion()), CreateOnDisk)

    made = DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id))
    assert not of(book.play(made), Prewarm)


@pytest.mark.parametrize("is_on", [False, True])
def test_a_vendors_prefix_is_read_only_when_the_person_asks_for_it(book: Playbook, is_on: bool) -> None:
    loaded = settings_loaded(CODE, replace(Settings(), caching=CachingSettings(prewarm=is_on)))
    ready = ProviderStatus("anthropic", ProviderKind.ANTHROPIC, "Anthropic", KeySource.ENVIRONMENT)
    book.play(replace(loaded, providers={**loaded.providers, "anthropic": ready}))
    (create,) = of(book.play(CreateDiscussion(provider="anthropic", preset="code")), CreateOnDisk)

    made = DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id))
    assert bool(of(book.play(made), Prewarm)) is is_on


def test_nothing_that_is_paid_for_is_read_ahead_before_the_day_was_counted_and_then_it_is(
    book: Playbook,
) -> None:
    """The window opens with a discussion shown, and the logs of the day are still being read."""
    caching = CachingSettings(prewarm=True, keepalive=True, day_limit_usd=1.0)
    loaded = settings_loaded(CODE, replace(Settings(), caching=caching))
    ready = ProviderStatus("anthropic", ProviderKind.ANTHROPIC, "Anthropic", KeySource.ENVIRONMENT)
    book.play(replace(loaded, providers={**loaded.providers, "anthropic": ready}))
    (create,) = of(book.play(CreateDiscussion(provider="anthropic", preset="code")), CreateOnDisk)
    made = DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id))

    before = (*book.play(made), *book.play(PingsDue((DuePing(create.meta.id, 0.1),))))
    claims = list(book.shared)
    meta = book.state.discussions.summaries[create.meta.id].meta
    before = (*before, *book.play(SpentCounted(START, 0.2)))
    counted = book.play(PricesFound({(meta.provider, meta.model): ModelPrice(4.0, 20.0)}))
    again = book.play(Tick())

    assert not of(before, Prewarm)
    assert not of(before, SendPing)
    assert not claims
    assert [warm.spec.discussion_id for warm in of(counted, Prewarm)] == [create.meta.id]
    assert not of(again, Prewarm)


def test_a_stored_prefix_is_not_held_for_longer_before_the_day_was_counted_nor_let_go(book: Playbook) -> None:
    loaded = settings_loaded(settings=replace(Settings(), caching=CachingSettings(day_limit_usd=1.0)))
    gemini = ProviderStatus("gemini", ProviderKind.GEMINI, "Gemini", KeySource.ENVIRONMENT)
    book.play(replace(loaded, providers={**loaded.providers, "gemini": gemini}))
    chosen = book.discussion()
    until = book.at + timedelta(hours=1)
    held = DiscussionCacheState(chosen, "gemini", book.at, until, tokens_cached=9_000)

    before = (*book.play(CacheReported(chosen, held)), *book.play(Tick()))
    book.play(SpentCounted(START, 0.2))

    assert not of(before, TendContents)
    assert of(book.play(Tick()), TendContents)


def test_what_may_still_be_stored_is_looked_after_when_nothing_of_it_is_used_any_more(book: Playbook) -> None:
    """Invalidated while the vendor deleted nothing: it was never asked for again, and its rent was not booked."""
    loaded = settings_loaded()
    gemini = ProviderStatus("gemini", ProviderKind.GEMINI, "Gemini", KeySource.ENVIRONMENT)
    book.play(replace(loaded, providers={**loaded.providers, "gemini": gemini}))
    chosen = book.discussion()
    assert not of(book.play(Tick()), TendContents)
    book.play(CacheReported(chosen, DiscussionCacheState(chosen, "gemini", book.at, None)))

    assert [effect.discussion_ids for effect in of(book.play(Tick()), TendContents)] == [()]


def test_no_ping_goes_while_a_switch_is_on_its_way(book: Playbook) -> None:
    with_caching(book, keepalive=True)
    chosen = book.discussion()
    book.settles = False
    book.play(ChangeSetting("ai_settings.caching.keepalive", False))

    assert not of(book.play(PingsDue((DuePing(chosen, 0.1),))), SendPing)
    book.play(SettingsSettled(book.state.config.asked))
    assert of(book.play(PingsDue((DuePing(chosen, 0.1),))), SendPing), "it could not be written"


def test_invalidate_salts_the_prefix_and_forgets_what_is_held(book: Playbook) -> None:
    chosen = book.discussion()
    effects = book.play(InvalidateCache(chosen))

    assert of(effects, DeleteCache) == (DeleteCache(chosen, "embedded", forgets=True),)
    assert of(effects, WriteMeta)[0].meta.cache_epoch == 1
    assert book.ask(chosen, "one").spec.inputs.epoch == 1


def test_a_disabled_discussion_says_so_to_every_call_until_it_is_enabled(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(DisableCaching(chosen))
    assert not book.ask(chosen, "one").spec.caching_enabled


def test_what_is_held_is_asked_for_when_a_log_is_read(book: Playbook) -> None:

    assert of(book.play(DiscussionLoaded(OpenDiscussion("a"))), ReadCaches) == (ReadCaches(("a",)),)


def test_what_is_held_of_an_open_discussion_is_asked_for_at_each_touch_unless_a_call_of_ours_uses_it(
    book: Playbook,
) -> None:
    chosen = book.discussion()
    assert of(book.play(PathsChanged(Watched.DISCUSSIONS, (chosen, "closed"))), ReadCaches) == (
        ReadCaches((chosen,)),
    )
    assert book.play(PathsChanged(Watched.CACHES, (chosen, "closed"))) == (ReadCaches((chosen,)),)
    held = DiscussionCacheState(chosen, "anthropic", START, None, 1, 500)
    book.play(CacheReported(chosen, held, order=1))
    before = book.state
    book.play(CacheReported(chosen, held, order=1))
    assert book.state.caching is before.caching, "nothing new is nothing to draw"
    book.ask(chosen, "one")
    assert not of(book.play(PathsChanged(Watched.DISCUSSIONS, (chosen,))), ReadCaches)


def test_a_report_shows_state_totals_and_the_reason_of_a_miss(book: Playbook) -> None:
    chosen = book.discussion()
    held = DiscussionCacheState(chosen, "anthropic", START, None, 1, 500)
    totals = ProviderTotals("anthropic", Usage(input_tokens=600))
    book.play(CacheReported(chosen, held, totals, "tools changed"))

    assert book.state.caching.caches[chosen] == held
    assert book.state.caching.totals["anthropic"] == totals
    assert book.state.caching.miss_reasons[chosen] == "tools changed"
    book.play(CacheReported(chosen, replace(held, tokens_cached=0)))  # of rent, a restart, another program
    assert book.state.caching.miss_reasons[chosen] == "tools changed"
    book.play(CacheReported(chosen, held, totals, ""))  # of a request that read what was expected
    assert book.state.caching.miss_reasons[chosen] == ""


def test_what_another_model_was_asked_in_a_comparison_says_nothing_of_the_discussions_cache(
    book: Playbook,
) -> None:
    chosen = book.discussion()
    meta = book.state.discussions.summaries[chosen].meta
    held = DiscussionCacheState(chosen, meta.provider, START, None, 1, 500)
    book.play(CacheReported(chosen, held, miss_reason="", asked=(meta.provider, meta.model)))
    other, totals = (
        DiscussionCacheState(chosen, "gemini", START),
        ProviderTotals("gemini", Usage(input_tokens=600)),
    )
    book.play(CacheReported(chosen, other, totals, "the model changed", asked=("gemini", "gemini-4-argon")))

    assert book.state.caching.caches[chosen] == held
    assert book.state.caching.miss_reasons[chosen] == ""
    assert book.state.caching.totals["gemini"] == totals


def test_totals_that_were_overtaken_on_their_way_take_nothing_back(book: Playbook) -> None:
    """A call's own thread reports it, the cache worker the rent: what was paid once stays in the sum."""
    chosen = book.discussion()
    call = ProviderTotals("gemini", Usage(cost_usd=0.01), 0.5, booked=1)
    rent = ProviderTotals("gemini", Usage(cost_usd=0.03), 0.3, booked=2)
    book.play(RentPaid(chosen, 0.02, rent))
    book.play(CacheReported(chosen, None, call))
    assert book.state.caching.totals["gemini"] == rent


def test_a_first_call_that_cached_nothing_still_counts(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(CacheReported(chosen, None, ProviderTotals("embedded", Usage(input_tokens=600))))
    assert chosen not in book.state.caching.caches
    assert book.state.caching.totals["embedded"].usage.input_tokens == 600


def test_at_its_own_limit_a_discussion_is_not_pinged_and_others_are(book: Playbook) -> None:
    with_caching(book, keepalive=True)
    chosen = book.discussion()
    book.play(CacheReported(chosen, DiscussionCacheState(chosen, "anthropic", START, START, 3, 900)))
    book.play(
        settings_loaded(settings=replace(book.state.config.settings, ai=AiSettings(spend_limit_usd=0.5)))
    )
    assert of(book.play(Tick()), PingCaches) == (PingCaches(book.state.config.settings.caching),)

    (write,) = of(book.play(CacheRead(chosen, Usage(cost_usd=0.5), UsageKind.KEEPALIVE)), AppendRecords)
    book.append(write)
    assert of(book.play(Tick()), PingCaches) == (PingCaches(book.state.config.settings.caching, (chosen,)),)


def test_at_a_limit_a_vendors_prefix_is_not_read_ahead_and_a_free_one_is(book: Playbook) -> None:
    book.play(SpentCounted(START, 1.0))
    caching = CachingSettings(prewarm=True, day_limit_usd=1.0)
    loaded = settings_loaded(CODE, replace(Settings(), caching=caching))
    ready = ProviderStatus("anthropic", ProviderKind.ANTHROPIC, "Anthropic", KeySource.ENVIRONMENT)
    book.play(replace(loaded, providers={**loaded.providers, "anthropic": ready}))

    warmed = {}
    for provider in ("anthropic", "embedded"):
        (create,) = of(book.play(CreateDiscussion(provider=provider, preset="code")), CreateOnDisk)
        made = DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id))
        warmed[provider] = len(of(book.play(made), Prewarm))

    assert warmed == {"anthropic": 0, "embedded": 1}


def test_a_server_that_says_that_it_takes_cache_prompt_can_be_told_to_cache_nothing(book: Playbook) -> None:
    local = ProviderStatus("local", ProviderKind.COMPATIBLE, "Local", KeySource.NOT_NEEDED)
    loaded = settings_loaded()
    book.play(replace(loaded, providers={**loaded.providers, "local": local}))
    (create,) = of(book.play(CreateDiscussion(provider="local", model="qwen")), CreateOnDisk)
    book.play(DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id)))
    chosen = create.meta.id

    book.play(DisableCaching(chosen))
    assert book.state.discussions.summaries[chosen].meta.caching_enabled
    assert any("no known setting turns this off" in notice.text for notice in book.state.program.notices)

    book.play(ModelsListed("local", (ModelProfile("local", "qwen", takes_cache_prompt=True),)))
    book.play(DisableCaching(chosen))
    assert not book.state.discussions.summaries[chosen].meta.caching_enabled


def test_the_next_request_is_planned_anew_when_a_lifetime_of_what_is_cached_ends() -> None:
    """Its price beside the cold cache was that of a warm one until somebody typed."""
    book = Playbook().ready()
    chosen = book.discussion()
    held = DiscussionCacheState(
        chosen,
        "anthropic",
        book.at,
        book.at + timedelta(minutes=5),
        tokens_cached=9_000,
        long_until=book.at + timedelta(hours=1),
        long_tokens=8_000,
    )
    caching = replace(book.state.caching, caches={chosen: held})
    book.state = replace(book.state, caching=caching)
    book.play(Tick())

    planned = [
        bool(of(book.later(seconds).play(Tick()), AssembleContext)) for seconds in (200, 101, 60, 3_300, 60)
    ]

    assert planned == [False, True, False, True, False]
