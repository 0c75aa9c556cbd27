"""Caching's part of the step: invalidate, disable, enable; what providers hold, and what is kept warm."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from msgspec.structs import replace

from core.kernel.ids import Stamp
from core.kernel.structures import with_entry
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.records import UsageRecord
from core.kernel.values.state import AppState
from core.kernel.values.updates import (
    Handlers,
    Result,
    decline,
    follow,
    follow_effects,
    is_busy,
    on,
    on_stamped,
)
from core.kernel.values.usage import SpentElsewhere, Usage, UsageKind
from core.services.providers.profiles import Abilities, cache_abilities
from core.services.spending.estimates import next_input_usd
from core.services.spending.limits import (
    add_spent,
    has_room,
    is_counted,
    is_looked_up,
    limit_reached,
    payments_of,
    release,
    reserve,
    upkeep_key,
)
from core.services.spending.spending_messages import SettleReserve, TakeCutUpkeep, UpkeepCut
from core.talk.caching import rewrites
from core.talk.caching.caching_messages import (
    AdoptContents,
    CacheEffect,
    CacheRead,
    CacheReported,
    ContentsDeleted,
    DeleteCache,
    DeleteContents,
    DeleteOrphanedCaches,
    DisableCaching,
    EnableCaching,
    InvalidateCache,
    OrphansFound,
    PingCaches,
    PingsDue,
    Prewarm,
    ReadCaches,
    RentPaid,
    RewritesChecked,
    SendPing,
    TendContents,
)
from core.talk.caching.contents import living
from core.talk.caching.planned_calls import with_cache, with_totals
from core.talk.context.context_spec import stack_spec
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    DiscussionChangedOutside,
    DiscussionLoaded,
    DiscussionTrashed,
    RentToken,
    SummariesChanged,
    SummariesLoaded,
    UpkeepToken,
)
from core.talk.discussion.lifecycle import change_meta

WARM_FOR = timedelta(hours=12)
"""Longest that a provider is asked to hold a prefix (OpenAI), but for Gemini's where the person allows more."""


MOST_WARM = 50
"""Discussions whose caches are recalled at the start, the newest."""


LATELY = timedelta(minutes=10)
"""A call of another program that ended now was logged within this time."""


def _cache_reported(state: AppState, happened: CacheReported) -> Result:
    state = rewrites.over(reported(state, happened))
    return state, tend_effects(state)


Recalling = (
    DiscussionLoaded | DiscussionTrashed | SummariesLoaded | SummariesChanged | DiscussionChangedOutside
)
"""Events of discussions after which what is known of their caches may be another."""


def recall(before: AppState, after: AppState, happened: Recalling) -> tuple[CacheEffect | TakeCutUpkeep, ...]:
    """Recall the caches of discussions that were read, listed or changed outside; let go of one that is deleted."""
    match happened:
        case SummariesChanged():
            return (ReadCaches(tuple(row.meta.id for row in happened.summaries)),)
        case DiscussionChangedOutside():
            return (ReadCaches((happened.summary.meta.id,)),)
        case DiscussionLoaded():
            return (ReadCaches((happened.discussion.id,)),)
        case DiscussionTrashed():
            summary = before.discussions.summaries.get(happened.item.discussion_id)
            return (
                ()
                if summary is None
                else (DeleteCache(discussion_id=summary.meta.id, provider=summary.meta.provider),)
            )
        case SummariesLoaded():
            return (*_read_recent(after), *_cut(after)) if happened.is_complete else ()
        case _:
            assert_never(happened)


def read_touched(state: AppState, discussion_ids: tuple[str, ...]) -> tuple[ReadCaches, ...]:
    """Recall the caches of open discussions that no call of ours uses: another program writes a cache after its log."""
    busy, shown = state.turns.calls, state.discussions.open
    ids = tuple(key for key in discussion_ids if key in shown and key not in busy)
    return (ReadCaches(ids),) if ids else ()


def _cut(state: AppState) -> tuple[TakeCutUpkeep, ...]:
    """Ask what a kill cut off, now that the discussions are known: whose it was."""
    return () if state.program.is_home_read_only else (TakeCutUpkeep(),)


def _read_recent(state: AppState) -> tuple[ReadCaches, ...]:
    """Recall the caches of discussions that may still be warm: a change of knowledge says what it costs of them.

    And those that may owe rent since a kill, however long ago: it is booked to where it ended.
    """
    now, kinds = state.now, state.config.providers
    rows = [row for row in state.discussions.summaries.values() if row.turns]
    rows.sort(key=lambda row: (row.paid_at, row.meta.id), reverse=True)
    warm = [row for row in rows if now is not None and now - row.paid_at < WARM_FOR]
    renting = [
        row
        for row in rows
        if row.meta.provider in kinds and kinds[row.meta.provider].kind is ProviderKind.GEMINI
    ]
    known = state.caching.caches
    ids = {row.meta.id: None for row in (*warm[:MOST_WARM], *renting[:MOST_WARM]) if row.meta.id not in known}
    return (ReadCaches(tuple(ids)),) if ids else ()


def recall_recent(state: AppState) -> tuple[ReadCaches, ...]:
    """Recall the caches of discussions that were used lately: another program ended a call, of one of them perhaps."""
    rows, now = state.discussions.summaries.values(), state.now
    used = [row for row in rows if row.turns and now is not None and now - row.paid_at < LATELY]
    newest = sorted(used, key=lambda row: (row.paid_at, row.meta.id), reverse=True)[:MOST_WARM]
    return (ReadCaches(tuple(row.meta.id for row in newest)),) if newest else ()


def abilities_of(state: AppState, discussion_id: str) -> Abilities | None:
    """Abilities of the provider of a discussion, None where either is unknown."""
    summary = state.discussions.summaries.get(discussion_id)
    return None if summary is None else abilities_for(state, summary.meta)


def abilities_for(state: AppState, meta: DiscussionMeta) -> Abilities | None:
    """As `abilities_of`, for what stands in a discussion's head."""
    status = state.config.providers.get(meta.provider)
    if status is None:
        return None
    takes_it = any(model.takes_cache_prompt for model in state.config.models.get(meta.provider, ()))
    return cache_abilities(status.kind, meta.model, takes_cache_prompt=takes_it)


def adopt_effects(state: AppState) -> Result:
    """Ask once, when nothing else is to be done, what a provider with a key still stores and bills."""
    if state.program.is_loading or not state.config.settings_paths:
        return state, ()
    asked = [
        name
        for name, status in state.config.providers.items()
        if _may_store(status) and name not in state.caching.adopted
    ]
    if not asked:
        return state, ()
    efforts = {name: summary.meta.effort for name, summary in state.discussions.summaries.items()}
    state = replace(state, caching=replace(state.caching, adopted=state.caching.adopted.union(asked)))
    return state, tuple(AdoptContents(name, efforts) for name in asked)


def _may_store(status: ProviderStatus) -> bool:
    has_key = status.key_source not in {KeySource.MISSING, KeySource.NOT_NEEDED}
    return status.kind is ProviderKind.GEMINI and status.is_ready and has_key


def orphans_found(state: AppState, event: OrphansFound) -> AppState:
    """Take in what a provider stores of discussions that are gone."""
    others = tuple(one for one in state.caching.orphans if one.provider != event.provider)
    return replace(state, caching=replace(state.caching, orphans=(*others, *event.orphans)))


def contents_deleted(state: AppState, event: ContentsDeleted) -> AppState:
    """Stored prefixes are gone; of orphans none is left to be told of."""
    kept = tuple(
        o for o in state.caching.orphans if o.provider != event.provider or o.name not in event.names
    )
    return (
        state
        if len(kept) == len(state.caching.orphans)
        else replace(state, caching=replace(state.caching, orphans=kept))
    )


def delete_orphans(state: AppState, command: DeleteOrphanedCaches) -> Result:
    """Delete what is known to be orphaned, and nothing else, whatever is named."""
    names: dict[str, list[str]] = {}
    for orphan in state.caching.orphans:
        if command.name in {"", orphan.name}:
            names.setdefault(orphan.provider, []).append(orphan.name)
    return state, tuple(DeleteContents(provider, tuple(found)) for provider, found in names.items())


def forget_adopted(state: AppState, provider: str) -> AppState:
    """The provider's key changes: what another one stores is to be asked, and what this one does is out of reach."""
    kept = tuple(one for one in state.caching.orphans if one.provider != provider)
    return replace(
        state, caching=replace(state.caching, adopted=state.caching.adopted - {provider}, orphans=kept)
    )


def tick(state: AppState) -> Result:
    """Time passed: what has expired goes, and the providers are asked for what they store."""
    state, effects = adopt_effects(expire_orphans(rewrites.over(state)))
    return state, (*effects, *ping_effects(state), *tend_effects(state))


def expire_orphans(state: AppState) -> AppState:
    """Drop orphans that have expired: they are billed no more."""
    kept = living(state.caching.orphans, state.now)
    return (
        state
        if len(kept) == len(state.caching.orphans)
        else replace(state, caching=replace(state.caching, orphans=kept))
    )


def tend_effects(state: AppState) -> tuple[CacheEffect, ...]:
    """Look after what is stored for rent, until it is booked to its end: hold what pays, for whom money may be spent.

    Also of discussions that use none of it any more: what could not be deleted is asked for again, and billed.
    """
    kinds = {name: status.kind for name, status in state.config.providers.items()}
    known = [
        (name, cache)
        for name, cache in state.caching.caches.items()
        if kinds.get(cache.provider) is ProviderKind.GEMINI
    ]
    stored = [name for name, cache in known if cache.expires_at is not None and cache.tokens_cached > 0]
    if not known or not is_counted(state):
        return ()
    off = tuple(name for name in stored if limit_reached(state, name))
    return (TendContents(discussion_ids=tuple(stored), settings=state.config.settings.caching, off=off),)


def _invalidate(state: AppState, command: InvalidateCache) -> Result:
    """Count the epoch on: it salts the head of the prefix, so that the next request shares none."""
    summary = state.discussions.summaries.get(command.discussion_id)
    if summary is None:
        return state, ()
    state, effects = change_meta(state, command.discussion_id, cache_epoch=summary.meta.cache_epoch + 1)
    return state, (
        *effects,
        DeleteCache(discussion_id=command.discussion_id, provider=summary.meta.provider, forgets=True),
    )


def reported(state: AppState, event: CacheReported) -> AppState:
    """Take in what a provider holds for a discussion; of a model that a comparison asked, only what was spent."""
    chosen = event.discussion_id
    row = state.discussions.summaries.get(chosen)
    if (
        event.asked[0]
        and row is not None
        and event.asked != (row.meta.provider, row.meta.model or event.asked[1])
    ):
        return with_totals(state, event.totals)
    if event.miss_reason is not None:
        reasons = with_entry(state.caching.miss_reasons, chosen, event.miss_reason)
        state = replace(state, caching=replace(state.caching, miss_reasons=reasons))
    if event.lost is not None and event.lost != state.caching.lost_extensions:
        state = replace(state, caching=replace(state.caching, lost_extensions=event.lost))
    if event.state is not None:
        state = with_cache(state, event.state, event.order)
    return with_totals(state, event.totals)


def rent_paid(state: AppState, given: Stamp, event: RentPaid) -> Result:
    """Log what storing a prefix cost: it was paid for. Of a discussion that is gone it counts for the day alone."""
    state = with_totals(state, event.totals)
    if event.cost_usd is None:
        return state, ()
    usage = Usage(cost_usd=event.cost_usd, is_estimate=event.is_estimate)
    record = UsageRecord(
        id=event.record_id or given.make_id(),
        at=event.at or given.at,
        message_id=UsageKind.RENT.value,
        usage=usage,
    )
    if event.discussion_id not in state.discussions.summaries:
        settle = SettleReserve(f"{UsageKind.RENT}/{record.id}", payments_of((record,)))
        return add_spent(state, (record,)), (settle,)
    return state, (
        AppendRecords(discussion_id=event.discussion_id, records=(record,), token=RentToken(record.id)),
    )


def upkeep_cut(state: AppState, event: UpkeepCut) -> Result:
    """Log a ping, a prewarm or a summary that a kill cut off, at its estimate. Of a discussion that is gone it counts for the day alone."""
    record = UsageRecord(
        id=event.id,
        at=event.at,
        message_id=event.kind.value,
        usage=Usage(cost_usd=event.usd, is_estimate=True),
    )
    state = add_spent(state, (record,))
    return state, (_booked(state, event.discussion_id, event.kind, record),)


def _booked(
    state: AppState, discussion_id: str, kind: UsageKind, record: UsageRecord
) -> AppendRecords | SettleReserve:
    """Write what a ping or a prewarm cost, and settle then. Of a discussion that is gone there is no log: settle now."""
    key = upkeep_key(kind, record.id)
    if discussion_id not in state.discussions.summaries:
        return SettleReserve(key, payments_of((record,)))
    return AppendRecords(discussion_id=discussion_id, records=(record,), token=UpkeepToken(key))


def read(state: AppState, given: Stamp, event: CacheRead) -> Result:
    """Log what a ping or a prewarming used: it was paid for, and what it was expected to cost is free again."""
    state = _released(state, event)
    state = with_totals(state, event.totals)
    if event.state is not None:
        state = with_cache(state, event.state, event.order)
    if event.usage is None or event.usage == Usage():
        key = upkeep_key(event.kind, event.record_id)
        return state, (SettleReserve(key, {}),) if event.record_id else ()
    record = UsageRecord(
        id=event.record_id or given.make_id(), at=given.at, message_id=event.kind.value, usage=event.usage
    )
    state = add_spent(
        state, (record,)
    )  # in the day from here on, whenever the log has it: it is held back no more
    return state, (_booked(state, event.discussion_id, event.kind, record),)


def _released(state: AppState, event: CacheRead) -> AppState:
    key = _key(event.kind, event.discussion_id)
    held = state.spending.reserved.get(key)
    is_its_own = held is not None and held.record_id == event.record_id
    return release(state, key) if is_its_own else state


def _key(kind: UsageKind, discussion_id: str) -> str:
    """Key of the money held back: each ping's, and that of the one prewarm that counts, the newest."""
    return f"{kind}/{discussion_id}" if kind is UsageKind.KEEPALIVE else kind.value


def pings_due(state: AppState, given: Stamp, event: PingsDue) -> Result:
    """Hold the money of pings back while there is some beside all that is under way, in the order given.

    They go when other programs have been seen.
    """
    for number, ping in enumerate(event.pings if state.config.settings.caching.keepalive else ()):
        chosen = ping.discussion_id
        key = _key(UsageKind.KEEPALIVE, chosen)
        is_under_way = key in state.spending.reserved or is_busy(state, chosen)
        if is_under_way or not has_room(state, ping.cost_usd, chosen):
            continue
        state = reserve(state, key, ping.cost_usd, chosen, record_id=given.make_id(number))
    return state, ()


def claimed(state: AppState, key: str, elsewhere: SpentElsewhere) -> Result:
    """Let a ping or a prewarm go, whose money is held back where other programs see it; or give it free again.

    The last word of the limits and the switches as they are now, beside what others had under way before it.
    """
    held, settings = state.spending.reserved[key], state.config.settings.caching
    chosen, is_ping = held.discussion_id, key != UsageKind.PREWARM
    is_wanted = settings.keepalive if is_ping else _may_prewarm(state, chosen)
    is_settled = state.config.is_settled  # a switch may be on its way to off
    others = elsewhere.reserved_usd
    if (
        not (is_wanted and is_settled)
        or is_busy(state, chosen)
        or not has_room(state, held.usd, chosen, besides=key, elsewhere_usd=others)
    ):
        return release(state, key), ()
    if is_ping:
        return state, (SendPing(discussion_id=chosen, settings=settings, record_id=held.record_id),)
    return state, (Prewarm(stack_spec(state, chosen), held.record_id),)


def _may_prewarm(state: AppState, discussion_id: str) -> bool:
    """True if the discussion is still the one that the person looks at, and prewarming on."""
    is_shown = discussion_id == state.discussions.selected_id and discussion_id in state.discussions.open
    is_known = discussion_id in state.discussions.summaries
    return state.config.settings.caching.prewarm and is_shown and is_known


def ping_effects(state: AppState) -> tuple[CacheEffect, ...]:
    """Look for prefixes worth keeping, while keepalive is on and the day's limit is not reached.

    Never of a discussion whose own limit is reached, nor of one whose caching is off: a ping is a request with marks.
    """
    if not state.config.settings.caching.keepalive or limit_reached(state):
        return ()
    off = (
        n for n, cache in state.caching.caches.items() if not cache.caching_enabled or limit_reached(state, n)
    )
    return (PingCaches(state.config.settings.caching, tuple(off)),)


def prewarm(before: AppState, after: AppState, given: Stamp) -> Result:
    """Read the prefix of a discussion that has just been opened, where that is free, or asked for and within the limits.

    Nothing that is paid for is read before the day was counted and the price that a limit asks for is known, and all of it
    then.

    A discussion that says nothing yet and shows nothing to the model has no prefix worth the memory that
    calling a provider takes: the greeting of a first start costs nothing.
    """
    chosen = after.discussions.selected_id
    if (
        chosen not in after.discussions.open
        or chosen not in after.discussions.summaries
        or not after.config.providers
    ):
        return after, ()
    status = after.config.providers.get(after.discussions.summaries[chosen].meta.provider)
    is_free = status is not None and status.kind is ProviderKind.EMBEDDED
    if not is_free and not after.config.settings.caching.prewarm:
        return after, ()
    was_open = (
        before.discussions.selected_id == chosen
        and chosen in before.discussions.open
        and bool(before.config.providers)
        and (is_free or (is_counted(before) and is_looked_up(before, chosen)))
    )
    if was_open or status is None or not status.is_ready or is_busy(after, chosen):
        return after, ()
    if not (after.discussions.open[chosen].messages or after.discussions.summaries[chosen].meta.preset):
        return after, ()
    if is_free:
        free = release(after, _key(UsageKind.PREWARM, chosen))  # it takes the place of one that waits
        return free, (Prewarm(stack_spec(after, chosen)),)
    usd = next_input_usd(after, chosen) or 0.0
    if not has_room(after, usd, chosen):
        return after, ()
    record_id = Stamp(given.at, f"{given.seed}/prewarm").make_id()
    return reserve(after, _key(UsageKind.PREWARM, chosen), usd, chosen, record_id=record_id), ()


def _disable(state: AppState, command: DisableCaching) -> Result:
    """Cache nothing more of a discussion; a provider that cannot be told so is named."""
    abilities = abilities_of(state, command.discussion_id)
    if abilities is not None and not abilities.can_disable:
        chosen, why = command.discussion_id, abilities.disable_text
        return decline(state, command.command_id, f"caching/{chosen}", why), ()
    summary = state.discussions.summaries.get(command.discussion_id)
    state, effects = _switched(state, command.discussion_id, is_enabled=False)
    if summary is None:
        return state, effects
    return state, (*effects, DeleteCache(discussion_id=command.discussion_id, provider=summary.meta.provider))


def _switched(state: AppState, discussion_id: str, *, is_enabled: bool) -> Result:
    """Switch the cache of a discussion: what the provider holds stays known until it expires, but is none while off."""
    state, effects = change_meta(state, discussion_id, caching_enabled=is_enabled)
    cache = state.caching.caches.get(discussion_id)
    return (state if cache is None else with_cache(state, cache)), effects


HANDLERS = Handlers(
    on(InvalidateCache, _invalidate),
    on(DisableCaching, _disable),
    on(EnableCaching, lambda state, asked: _switched(state, asked.discussion_id, is_enabled=True)),
    on(DeleteOrphanedCaches, delete_orphans),
    on_stamped(CacheRead, read),
    on_stamped(PingsDue, pings_due),
    on(CacheReported, _cache_reported),
    on_stamped(RentPaid, rent_paid),
    on(OrphansFound, lambda state, happened: (orphans_found(state, happened), ())),
    on(ContentsDeleted, lambda state, happened: (contents_deleted(state, happened), ())),
    on(RewritesChecked, lambda state, happened: (rewrites.checked(state, happened), ())),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS_BEGINNING = follow(
    "config discussions turns agent caching spending",
    lambda before, after, moment: prewarm(before, after, moment.given),
)
FOLLOWS_KNOWLEDGE = follow_effects(
    "program.is_loading config.settings_paths knowledge caching.adopted caching.rewrites",
    rewrites.withdrawal_effects,
)
FOLLOWS_ENDS = follow_effects(
    "agent.delegations discussions.summaries discussions.open", rewrites.stop_effects
)
