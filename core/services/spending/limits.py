"""The spend limits: what has been spent against them, and whether the next send must ask and background work stops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from core.kernel.figures import SHORTEST_DAY, dollars, midnight, money
from core.kernel.language import all_of, as_sentences, tr
from core.kernel.structures import with_entry, without
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.provider import ProviderKind
from core.kernel.values.records import Record, UsageRecord
from core.kernel.values.settings import Settings
from core.kernel.values.state import AppState
from core.kernel.values.usage import (
    UNPRICED_REMEDY,
    LimitScope,
    MonthSpent,
    Payment,
    ReachedLimit,
    Reservation,
    UsageKind,
)
from core.services.spending.estimates import last_usage
from core.services.spending.spending_messages import SpentCounted


def counted(state: AppState, event: SpentCounted) -> AppState:
    """Take in the sum since the person's midnight; what this program paid while it was counted comes on top."""
    spending = state.spending
    own = {key: paid for key, paid in spending.own.items() if key not in event.ids}
    return replace(
        state,
        spending=replace(
            spending,
            day_start=event.day_start,
            spent_today_usd=event.usd + sum(paid.usd for paid in own.values()),
            has_estimate=event.has_estimate or any(paid.is_estimate for paid in own.values()),
            own=own,
            counted=event.ids,
        ),
    )


def add_spent(state: AppState, records: tuple[Record, ...]) -> AppState:
    """Add what calls cost to the day's sum; unknown prices add nothing, nor does what was paid before the day began.

    Where the clock was put back before the day's begin, all counts: a limit must not wait for it to come again.
    """
    start, now = state.spending.day_start, state.now
    has_begun = start is not None and now is not None and now >= start
    of_the_day = (one for one in records if start is None or not has_begun or one.at >= start)
    return add_payments(state, payments_of(of_the_day))


def payments_of(records: Iterable[Record]) -> dict[str, Payment]:
    """Payments that records tell of, by the record's id. One of nothing that is an estimate says that what was paid
    before it is one.
    """
    usages = {
        r.id: r.usage
        for r in records
        if isinstance(r, UsageRecord)
        and (r.usage.cost_usd or (r.usage.cost_usd == 0 and r.usage.is_estimate))
    }
    return {key: Payment(usage.cost_usd or 0.0, usage.is_estimate) for key, usage in usages.items()}


def add_payments(state: AppState, payments: Mapping[str, Payment]) -> AppState:
    """Add to the day's sum what is not in it yet."""
    spending = state.spending
    new = {
        key: paid for key, paid in payments.items() if key not in spending.counted and key not in spending.own
    }
    if not new:
        return state
    spent = spending.spent_today_usd
    return replace(
        state,
        spending=replace(
            spending,
            spent_today_usd=None if spent is None else spent + sum(paid.usd for paid in new.values()),
            has_estimate=spending.has_estimate or any(paid.is_estimate for paid in new.values()),
            own={**spending.own, **new},
            month=_month_with(spending.month, new),
        ),
    )


def _month_with(month: MonthSpent | None, new: Mapping[str, Payment]) -> MonthSpent | None:
    if month is None or month.usd is None:
        return month
    return replace(month, usd=month.usd + sum(paid.usd for paid in new.values()))


def call_key(call_id: str) -> str:
    """Key under which the call of a message reserves."""
    return f"{UsageKind.TURN}/{call_id}"


def call_of(key: str) -> str:
    """Id of the call of a message that reserves under a key, empty where it is another kind of call's."""
    kind, _, call_id = key.partition("/")
    return call_id if kind == UsageKind.TURN else ""


def upkeep_key(kind: UsageKind, record_id: str) -> str:
    """Key under which programs share the reserve of a ping or a prewarm, each its own."""
    return f"{kind}/{record_id}"


def shared_key(key: str, held: Reservation) -> str:
    """Key under which programs share a reserve."""
    return upkeep_key(UsageKind(key.partition("/")[0]), held.record_id) if held.record_id else key


def reserve(
    state: AppState, key: str, usd: float, discussion_id: str = "", *, record_id: str = ""
) -> AppState:
    """A call that no message asked for is about to be made: until it is paid for it counts as expected.

    Args:
        record_id: as of `Reservation`.
    """
    reserved = with_entry(
        state.spending.reserved, key, Reservation(usd=usd, discussion_id=discussion_id, record_id=record_id)
    )
    return replace(state, spending=replace(state.spending, reserved=reserved))


def release(state: AppState, key: str) -> AppState:
    """Such a call is over."""
    if key not in state.spending.reserved:
        return state
    return replace(state, spending=replace(state.spending, reserved=without(state.spending.reserved, key)))


def settle_later(state: AppState, key: str, payments: Mapping[str, Payment]) -> AppState:
    """A call is over whose turn goes on: other programs are told with the turn's next call, or at the next tick."""
    unsettled = with_entry(state.spending.unsettled, key, payments)
    return replace(state, spending=replace(state.spending, unsettled=unsettled))


def is_shared(state: AppState, discussion_id: str, usd: float | None) -> bool:
    """True if other programs must see a call before it goes: it is expected to cost, or a limit asks what they spend."""
    if usd or state.config.settings.caching.day_limit_usd is not None or _unread(state, discussion_id):
        return True
    summary = state.discussions.summaries.get(discussion_id)
    own = None if summary is None else summary.meta.spend_limit_usd
    return own is not None or paid_limit_usd(state, discussion_id) is not None


def new_day(state: AppState) -> AppState:
    """Begin the day's sum anew past the person's midnight."""
    start, now = state.spending.day_start, state.now
    if start is not None and now is not None and start <= now < start + SHORTEST_DAY:
        return state
    today = None if now is None else midnight(now)
    if start is None or today is None or today <= start:
        return state
    return replace(
        state,
        spending=replace(
            state.spending,
            day_start=today,
            spent_today_usd=0.0,
            has_estimate=False,
            own={},
            counted=frozenset(),
        ),
    )


def discussion_limit_usd(state: AppState, meta: DiscussionMeta) -> float | None:
    """A discussion's own limit, else the one of the settings."""
    return (
        meta.spend_limit_usd if meta.spend_limit_usd is not None else state.config.settings.ai.spend_limit_usd
    )


def loosens(settings: Settings, key: str, value: object) -> bool:
    """True if a value for a dotted key would raise a limit of the person's, or take it away."""
    limits = {
        "ai_settings.caching.day_limit_usd": settings.caching.day_limit_usd,
        "ai_settings.spend_limit_usd": settings.ai.spend_limit_usd,
        "ai_settings.caching.keepalive_cap_usd": settings.caching.keepalive_cap_usd,
    }
    now = limits.get(key)
    return now is not None and not (isinstance(value, int | float) and value <= now)


def paid_limit_usd(state: AppState, discussion_id: str) -> float | None:
    """Limit that a discussion's calls come against: its parent's where it was delegated. None: there is none."""
    payer = _payer(state, state.discussions.summaries.get(discussion_id))
    return None if payer is None else discussion_limit_usd(state, payer.meta)


def payer_id(meta: DiscussionMeta) -> str:
    """Id of the discussion whose limit pays for this one: its parent where it was delegated, else itself."""
    return meta.parent_id if meta.delegated_by and meta.parent_id else meta.id


def family(state: AppState, discussion_id: str) -> frozenset[str]:
    """A discussion and those that it gave tasks to: one limit holds them together. O(discussions)."""
    rows = state.discussions.summaries
    return frozenset(
        name for name, row in rows.items() if name == discussion_id or payer_id(row.meta) == discussion_id
    )


def under_way_usd(state: AppState, *, besides: str = "") -> float:
    """US dollars that this program's calls under way are expected to cost. `besides`: as of `limit_reached`."""
    others = (one.usd for key, one in state.spending.reserved.items() if key != besides)
    return sum(call.reserved_usd or 0.0 for call in state.turns.calls.values()) + sum(others)


def limit_reached(
    state: AppState, discussion_id: str = "", *, besides: str = "", model: tuple[str, str] | None = None
) -> str:
    """Reason why no more is to be spent without asking, in a sentence; empty while there is money left.

    Args:
        discussion_id: whose own limit counts beside the day's, none where empty. A sum that is not known stops nothing.
        besides: a reservation that does not count, the asker's own; model: as of `reached_limits`.
    """
    return limit_words(reached_limits(state, discussion_id, besides=besides, model=model))


def limit_words(reached: tuple[ReachedLimit, ...]) -> str:
    """The first of these limits in a sentence, with the remedy where it is a price; empty where there is none."""
    if not reached:
        return ""
    remedy = UNPRICED_REMEDY if reached[0].scope is LimitScope.UNPRICED else ""
    return as_sentences(reached[0].sentence, remedy)


def is_counted(state: AppState, discussion_id: str = "") -> bool:
    """True if what is spent today and by a discussion with its tasks is known, or no limit asks for it: before, nothing that
    costs money goes unasked.
    """
    has_limit = state.config.settings.caching.day_limit_usd is not None
    if has_limit and state.spending.spent_today_usd is None:
        return False
    return not (
        state.program.is_loading and dict(_limits_of(state, discussion_id))[LimitScope.DISCUSSION] is not None
    )


def has_room(
    state: AppState, usd: float, discussion_id: str = "", *, besides: str = "", elsewhere_usd: float = 0.0
) -> bool:
    """True if so much more stays within the limits: background work asks nobody, it never goes past one, and it waits
    until the day is counted, and while a call is out whose cost nobody knows.

    Args:
        besides, elsewhere_usd: as of `reached_limits`.
    """
    if not is_counted(state, discussion_id):
        return False
    sums = _sums(state, discussion_id, besides=besides, elsewhere_usd=elsewhere_usd)
    if _unread(state, discussion_id) or _unpriced(state, discussion_id, None, is_priced=usd > 0):
        return False
    if _is_unsure(state, discussion_id):
        return False
    return all(reached(*one) is None and (one[1] is None or one[2] + one[3] + usd <= one[1]) for one in sums)


def _is_unsure(state: AppState, discussion_id: str) -> bool:
    """True if a call is out whose cost nobody knows, and that a limit of this discussion or of the day counts."""
    out = {
        call.discussion_id for call in state.turns.calls.values() if call.is_out and call.reserved_usd is None
    }
    if not out:
        return False
    (_, own), (_, day) = _limits_of(state, discussion_id)
    payer = _payer(state, state.discussions.summaries.get(discussion_id))
    return day is not None or (
        own is not None and payer is not None and bool(out & family(state, payer.meta.id))
    )


def reached_limits(
    state: AppState,
    discussion_id: str = "",
    *,
    besides: str = "",
    elsewhere_usd: float = 0.0,
    model: tuple[str, str] | None = None,
    is_priced: bool = True,
) -> tuple[ReachedLimit, ...]:
    """The limits that stand against spending more, the discussion's own before the day's. As `limit_reached`.

    Where the person's settings cannot be read, no limit of theirs would hold: that stands against it first. Calls under way count with what they are expected to cost, so that many at once stop where as many in a row would.
    Where nobody knows what the call costs, a limit that it comes under cannot hold: that stands against it last.

    Args:
        elsewhere_usd: what other programs on this home have under way.
        model: provider and model of a call that is no discussion's own; is_priced: whether its request has a price, which
            counts while nobody has looked the model's up.
    """
    unread = _unread(state, discussion_id)
    if not unread and all(usd is None for _scope, usd in _limits_of(state, discussion_id)):
        return ()
    sums = _sums(state, discussion_id, besides=besides, elsewhere_usd=elsewhere_usd)
    first = (
        (ReachedLimit(scope=LimitScope.UNKNOWN, limit_usd=0.0, spent_usd=0.0, why=unread),) if unread else ()
    )
    unpriced = _unpriced(state, discussion_id, model, is_priced=is_priced)
    return (
        *first,
        *(limit for one in sums if (limit := reached(*one)) is not None),
        *unpriced,
    )


def _unpriced(
    state: AppState, discussion_id: str, model: tuple[str, str] | None, *, is_priced: bool
) -> tuple[ReachedLimit, ...]:
    """The limit that cannot hold because nobody knows a call's price; none where one knows it, or there is no limit.

    A vendor that told what the last call of the model cost in this discussion is believed to tell it again.
    """
    summary = state.discussions.summaries.get(discussion_id)
    if model is None and summary is not None:
        model = summary.meta.provider, summary.meta.model
    if model is None or _is_embedded(state, model[0]):
        return ()
    price = state.config.prices.get(model, ...)
    if is_priced if price is ... else price is not None:
        return ()
    if last_usage(state.discussions.open.get(discussion_id), model).is_told:
        return ()
    return unpriced_limits(model[1] or model[0], _limits_of(state, discussion_id))


def unpriced_limits(name: str, limits: Iterable[tuple[LimitScope, float | None]]) -> tuple[ReachedLimit, ...]:
    """Limits that cannot hold because nobody knows what a call of a model costs, as one."""
    told = [(scope, usd) for scope, usd in limits if usd is not None]
    if not told:
        return ()
    which = all_of(
        tr("the limit of {usd} for {scope}", usd=dollars(usd), scope=scope)
        for scope, usd in dict.fromkeys(told)
    )
    why = tr(
        "The price of {name!r} is unknown, so the program cannot enforce {which}.", name=name, which=which
    )
    return (ReachedLimit(scope=LimitScope.UNPRICED, limit_usd=told[0][1], spent_usd=0.0, why=why),)


def _limits_of(state: AppState, discussion_id: str) -> tuple[tuple[LimitScope, float | None], ...]:
    """Limits that a call comes under: of a discussion or of those that pay for it, and the day's."""
    summary = state.discussions.summaries.get(discussion_id)
    own = None if summary is None else summary.meta.spend_limit_usd
    paid = paid_limit_usd(state, discussion_id)
    return (
        (LimitScope.DISCUSSION, paid if own is None else own),
        (LimitScope.DAY, state.config.settings.caching.day_limit_usd),
    )


def _is_embedded(state: AppState, provider: str) -> bool:
    """True if a provider's models run inside this program."""
    status = state.config.providers.get(provider)
    return provider == ProviderKind.EMBEDDED or (status is not None and status.kind is ProviderKind.EMBEDDED)


def is_looked_up(state: AppState, discussion_id: str) -> bool:
    """True if the price of a discussion's model was looked up, or no limit asks for it."""
    row = state.discussions.summaries.get(discussion_id)
    return row is None or (row.meta.provider, row.meta.model) not in wanted_prices(state, ())


def wanted_prices(state: AppState, readers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Models whose prices a limit asks for and that nobody has looked up. O(open discussions).

    Args:
        readers: providers and models that background work would pay for now, under the day's limit.
    """
    settings, rows, known = state.config.settings, state.discussions.summaries, state.config.prices
    is_day, is_all = settings.caching.day_limit_usd is not None, settings.ai.spend_limit_usd is not None
    metas = (rows[name].meta for name in state.discussions.open if name in rows)
    wanted = {
        (meta.provider, meta.model)
        for meta in metas
        if is_day or is_all or meta.spend_limit_usd is not None or meta.delegated_by
    }
    if is_day:
        wanted |= set(readers)
    return tuple(sorted(key for key in wanted - known.keys() if not _is_embedded(state, key[0])))


def _unread(state: AppState, discussion_id: str) -> str:
    """Sentence about settings of the person that cannot be read. What stays on this machine and is free goes on."""
    summary = state.discussions.summaries.get(discussion_id)
    is_ours = summary is not None and summary.meta.provider == ProviderKind.EMBEDDED
    return "" if is_ours else state.config.settings.unread


def reached(
    scope: LimitScope,
    limit_usd: float | None,
    spent_usd: float,
    reserved_usd: float,
    is_estimate: bool,
) -> ReachedLimit | None:
    """The limit, where what is spent and what is under way reach it; None where they do not, or there is none.

    Args:
        is_estimate: of some of what is spent the provider did not say what it cost.
    """
    if limit_usd is None or spent_usd + reserved_usd < limit_usd:
        return None
    return ReachedLimit(
        scope=scope,
        limit_usd=limit_usd,
        spent_usd=spent_usd,
        reserved_usd=reserved_usd,
        is_estimate=is_estimate,
    )


def past_limit(limit_usd: float | None, spent_usd: float, reserved_usd: float, batch_usd: float) -> str:
    """Sentence that a batch would go past the day's limit, empty where it stays within: a batch asks before it is sent.

    Args:
        batch_usd: its expected cost, all of it; the rest as of `reached`.
    """
    if limit_usd is None or spent_usd + reserved_usd + batch_usd <= limit_usd:
        return ""
    return tr(
        "This batch may cost {batch_usd} and go past the limit of {limit_usd} for today.",
        batch_usd=money(batch_usd, "terminal", is_estimate=True),
        limit_usd=money(limit_usd, "terminal"),
    )


def batch_past_limit(
    state: AppState, usd: float, model: tuple[str, str], *, besides: str = "", elsewhere_usd: float = 0.0
) -> str:
    """As `past_limit`, by the program's state, or that its price is not known. `besides`, `elsewhere_usd`: as of `reached_limits`."""
    if unpriced := _unpriced(state, "", model, is_priced=usd > 0):
        return limit_words(unpriced)
    _, limit, spent, under_way, _ = _sums(state, "", besides=besides, elsewhere_usd=elsewhere_usd)[1]
    return past_limit(limit, spent, under_way, usd)


def _sums(
    state: AppState, discussion_id: str, *, besides: str = "", elsewhere_usd: float = 0.0
) -> tuple[tuple[LimitScope, float | None, float, float, bool], ...]:
    """Each limit with what is spent, what is under way, and whether some of what is spent is our estimate."""
    summary = state.discussions.summaries.get(discussion_id)
    payer = _payer(state, summary)
    limit = None if payer is None else discussion_limit_usd(state, payer.meta)
    members = family(state, payer.meta.id) if payer is not None and limit is not None else frozenset()
    own = summary.meta.spend_limit_usd if summary is not None and summary is not payer else None
    return (
        (LimitScope.DISCUSSION, limit, *_spent(state, members, besides)),
        (
            LimitScope.DAY,
            state.config.settings.caching.day_limit_usd,
            state.spending.spent_today_usd or 0.0,
            under_way_usd(state, besides=besides) + elsewhere_usd,
            state.spending.has_estimate,
        ),
        (LimitScope.DISCUSSION, own, *_spent(state, frozenset({discussion_id}), besides)),
    )


def _payer(state: AppState, summary: DiscussionSummary | None) -> DiscussionSummary | None:
    """The discussion whose limit pays; one whose parent is gone pays for itself."""
    return None if summary is None else state.discussions.summaries.get(payer_id(summary.meta), summary)


def _spent(state: AppState, members: frozenset[str], besides: str) -> tuple[float, float, bool]:
    """US dollars that discussions spent, and that they have under way; True if some of the first are our estimate."""
    rows = [row for row in map(state.discussions.summaries.get, members) if row is not None]
    calls = state.turns.calls.values()
    under_way = sum(call.reserved_usd or 0.0 for call in calls if call.discussion_id in members)
    held = (
        one.usd
        for key, one in state.spending.reserved.items()
        if one.discussion_id in members and key != besides
    )
    spent = sum(row.usage.cost_usd or 0.0 for row in rows)
    return spent, under_way + sum(held), any(row.usage.is_estimate for row in rows)
