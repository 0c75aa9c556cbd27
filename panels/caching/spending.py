"""Spending and caches in figures: hit rates, savings, and what this discussion and the day cost, each with its limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.ids import time_of_id
from core.kernel.language import all_of, as_sentences, capital, tr
from core.kernel.values.cache import CacheOrphan, Rewrite, has_price
from core.kernel.values.messages import Entry, Message, Role
from core.kernel.values.provider import ProviderKind
from core.kernel.values.settings import CachingSettings
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.kernel.values.usage import UNPRICED_REMEDY, LimitScope, Upkeep, Usage
from core.services.settings.settings_messages import ChangeSetting
from core.services.spending.limits import discussion_limit_usd, reached_limits
from core.talk.caching import accounts
from core.talk.caching.caching_messages import DeleteOrphanedCaches
from core.talk.caching.contents import living
from core.talk.caching.warmth import CacheStanding, CacheStatus, estimate_text, rewrite_text, standing_of
from panels.base import view
from panels.base.desk import Desk
from panels.base.gauge import Figure
from panels.base.ui import Option, Series, Tone, Ui
from panels.base.view import Memo
from panels.caching.caching_room import CachingView

MANAGED = {
    ProviderKind.COMPATIBLE: tr("Cached by {}; TTL: server-managed"),
    ProviderKind.EMBEDDED: tr("Cached by {}; kept until deleted, within its disk limit"),
    ProviderKind.CLAUDE_CODE: tr("Cached by {}, which decides the TTL itself"),
}
"""The specification's lines, for the tooltip."""
KEEPERS = {
    ProviderKind.COMPATIBLE: tr("The server decides how long the cache lasts"),
    ProviderKind.EMBEDDED: tr("The cache stays on disk until deleted, within its disk limit"),
}


class CacheLook(msgspec.Struct, frozen=True):
    """Every sentence about one discussion's cache, derived from its one standing.

    Args:
        headline: who holds something, or that nothing is held; words: until when; both as a person says it.
        ttl_text: the same as the specification has it, for the tooltip.
        next_words: what the next request reads; empty where none was planned.
        short: the line in the status bar; empty where nothing is known.
        ttl_s: how long most of it still lives, None where that is not ours.
    """

    standing: CacheStanding
    headline: str
    provider: str = ""
    words: str = ""
    ttl_text: str = ""
    next_words: str = ""
    short: str = ""
    ttl_s: float | None = None

    @property
    def is_warm(self) -> bool:
        """True if a provider holds a prefix of it now."""
        return self.standing.status is CacheStatus.HELD

    @property
    def is_read(self) -> bool:
        """True if something is held and the next request reads of it, as far as is known."""
        return self.is_warm and self.standing.is_on and not self.standing.is_missed


def look_of(state: AppState, discussion_id: str) -> CacheLook:
    """Look of a discussion's cache at `state.now`."""
    standing = standing_of(state, discussion_id)
    label = view.provider_label(state, standing.provider) if standing.provider else ""
    base = CacheLook(
        standing=standing,
        headline=tr("Not cached"),
        provider=label,
        next_words=_next_words(standing),
        short=_short(standing),
    )
    if standing.status is CacheStatus.NONE:
        return base
    if standing.ended_at is not None:
        words = tr("Expired {moment}", moment=fmt.at_moment(standing.ended_at, state.now))
        return replace(
            base, ttl_text=tr("expired: {ended_at}", ended_at=_stamp(standing.ended_at)), words=words
        )
    base = replace(base, headline=tr("Cached by {label}", label=label))
    if not standing.ends:
        text, words = managed_text(state, standing.provider), keeper_words(state, standing.provider)
        return replace(base, ttl_text=text, words=words)
    first, *rest = standing.ends
    left = _left(state, first.at)
    ends, said = [_until(first.at, left)], [tr("Expires {moment}", moment=_end_words(state, first.at, left))]
    for one in rest:
        more = _left(state, one.at)
        part = tr(
            "{tokens} of {tokens2} tokens", tokens=fmt.tokens(one.tokens), tokens2=fmt.tokens(standing.tokens)
        )
        said.append(f"{part} {_end_words(state, one.at, more)}")
        ends.append(tr("{tokens} tokens until {at}", tokens=fmt.tokens(one.tokens), at=_until(one.at, more)))
    return replace(
        base, ttl_s=left, ttl_text=tr("expires: {ends}", ends="; ".join(ends)), words="; ".join(said)
    )


def _left(state: AppState, at: datetime) -> float:
    return (at - state.now).total_seconds() if state.now else 0.0


def _next_words(standing: CacheStanding) -> str:
    """Sentence on what the next request reads from a cache, one for all views."""
    if not standing.is_planned or standing.request is None:
        return ""
    if standing.read_tokens:
        read_tokens = fmt.tokens(standing.read_tokens)
        if standing.status is CacheStatus.HELD:
            return tr("The next message reads {read_tokens} tokens from the cache.", read_tokens=read_tokens)
        return tr(
            "The next message reads {read_tokens} tokens from a cache that other discussions keep warm.",
            read_tokens=read_tokens,
        )
    if standing.is_missed:
        return tr("The next message misses the cache: something before the cached text changed.")
    return tr("The next message reads nothing from the cache.")


def _short(standing: CacheStanding) -> str:
    if not standing.is_on:
        return tr("caching is off")
    if standing.status is not CacheStatus.HELD:
        return tr("cache cold") if standing.status is CacheStatus.ENDED else ""
    if standing.is_missed:
        return tr("next message misses the cache")
    if not standing.ends:
        return tr("cache warm")
    return tr("cache warm until {at}", at=fmt.clock(standing.ends[0].at))


def _end_words(state: AppState, at: datetime, left_s: float) -> str:
    """`in 4 minutes, at 14:09`."""
    return f"{fmt.in_time(left_s)}, {fmt.at_moment(at, state.now)}"


def keeper_words(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours, in words."""
    status = state.config.providers.get(provider)
    known = KEEPERS.get(status.kind) if status is not None else None
    return known or tr(
        "{provider} decides how long the cache lasts", provider=view.provider_label(state, provider)
    )


def _until(at: datetime, left_s: float) -> str:
    return tr("{at} (in {left})", at=_stamp(at), left=fmt.countdown(left_s))


def _stamp(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%dT%H:%M}"


def managed_text(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours: `Cached by OpenAI; TTL: provider-managed`."""
    status = state.config.providers.get(provider)
    form = MANAGED.get(status.kind) if status is not None else None
    return (form or tr("Cached by {}; TTL: provider-managed")).format(view.provider_label(state, provider))


def used_providers(state: AppState, memo: Memo) -> tuple[str, ...]:
    """Providers that were called since the start, or that hold something, in the order of the settings."""
    return accounts.used_providers(state, _newest_expiries(state, memo))


def provider_line(state: AppState, memo: Memo, provider: str) -> str:
    """A provider's summary in the specification's form, for the tooltip."""
    return accounts.provider_line(state, _newest_expiries(state, memo), provider)


def _newest_expiries(state: AppState, memo: Memo) -> accounts.Expiries:
    caches = state.caching.caches
    return memo.get("cache expiries", (caches,), lambda: accounts.newest_expiries(caches))


def saved_text(saved_usd: float | None) -> str:
    """Worth of caching, in words."""
    if saved_usd is None:
        return tr("Savings unknown: {PRICE_UNKNOWN}", PRICE_UNKNOWN=fmt.PRICE_UNKNOWN)
    if saved_usd < 0:
        return tr("Caching cost you {usd} more than no caching", usd=fmt.money(-saved_usd))
    if saved_usd == 0:
        return tr("Caching has saved nothing so far")
    return tr("Caching saved you {usd}", usd=fmt.money(saved_usd))


def upkeep_text(upkeep: Upkeep) -> str:
    """Sum of pings, prewarms and storage, apart from turns: `3 keepalive pings, 1 prewarm: $0.012`; empty for none."""
    calls = [
        fmt.count(upkeep.pings, tr("keepalive request"), tr("keepalive requests")) if upkeep.pings else "",
        fmt.count(upkeep.prewarms, tr("prewarm"), tr("prewarms")) if upkeep.prewarms else "",
    ]
    calls.append(tr("storage") if upkeep.rent_usd else "")
    said = ", ".join(call for call in calls if call)
    usage = upkeep.usage
    return f"{said}: {fmt.money(usage.cost_usd, is_estimate=usage.is_estimate)}" if said else ""


def figures(state: AppState) -> tuple[Figure, Figure, Figure]:
    """Hit rate, money saved, time left."""
    return _hit_figure(state), _saved_figure(state), _ttl_figure(state)


def _hit_figure(state: AppState) -> Figure:
    rates = [t.usage for t in state.caching.totals.values() if accounts.hit_percent(t.usage) is not None]
    label, whose = tr("hit rate"), tr("sent since the program started")
    if not rates:
        row = view.selected(state)
        rates = [row.usage] if row and accounts.hit_percent(row.usage) is not None else []
        whose = tr("sent in this discussion")
    if not rates:
        return Figure(
            value="–", label=label, tone="faint", tip=tr("No provider has reported a cache read yet")
        )
    read = sum(usage.cache_read_tokens or 0 for usage in rates)
    sent = sum(usage.input_tokens or 0 for usage in rates)
    tip = tr("{read:,} of {sent:,} tokens {scope} came from a cache", read=read, sent=sent, scope=whose)
    return Figure(
        value=fmt.share(read, sent, digits=1), label=label, tone="ok" if 2 * read >= sent else "text", tip=tip
    )


LEAST_LOSS_USD = 0.001
"""Losses below this are not shown as figures: their tip tells of them."""


def _saved_figure(state: AppState) -> Figure:
    known = [t.saved_usd for t in state.caching.totals.values() if t.saved_usd is not None]
    if not known:
        return Figure(
            value="–",
            label=tr("saved"),
            tone="faint",
            tip=tr("You have sent nothing since the program started, or the price is unknown"),
        )
    saved = sum(known)
    is_loss = saved <= -LEAST_LOSS_USD
    left_out = tr("This leaves out requests of unknown price")
    tip = as_sentences(
        tr("{result}, since the program started", result=saved_text(saved)),
        left_out if len(known) < len(state.caching.totals) else "",
    )
    return Figure(
        value=fmt.money(-saved if is_loss else saved),
        label=tr("extra cost") if is_loss else tr("saved"),
        tone="warn" if is_loss else "accent",
        tip=tip,
    )


def _ttl_figure(state: AppState) -> Figure:
    look = look_of(state, state.discussions.selected_id)
    if look.ttl_s is not None:
        tone: Tone = "warn" if look.ttl_s < 60 else "text"
        return Figure(
            value=fmt.left(look.ttl_s),
            label=tr("time left"),
            tone=tone,
            tip=f"{look.provider}: {look.words}\n{look.ttl_text}",
        )
    if look.is_warm:
        return Figure(
            value=tr("no fixed end"),
            label=tr("time left"),
            tone="muted",
            tip=f"{look.words}\n{look.ttl_text}",
        )
    return Figure(
        value="–",
        label=tr("time left"),
        tone="faint",
        tip=look.words or look.headline,
    )


def turn_series(entries: Iterable[Entry]) -> tuple[Series, ...]:
    """Hit rate and cost of each reply of a discussion, each only where some reply told it; cost not where all is free."""
    replies = [e for e in entries if isinstance(e, Message) and e.role is Role.ASSISTANT and not e.is_deleted]
    told = [(float(turn), m.usage) for turn, m in enumerate(replies, 1) if m.usage is not None]
    turns = tuple(turn for turn, _ in told)
    rates = tuple(_rate(usage) for _, usage in told)
    costs = tuple(usage.cost_usd for _, usage in told)
    found: list[Series] = []
    if any(rate is not None for rate in rates):
        found.append(Series(label=tr("hit rate"), xs=turns, ys=rates, kind="area", tone="accent", unit="%"))
    if any(costs):
        found.append(Series(label=tr("cost"), xs=turns, ys=costs, kind="bars", tone="warn", unit="$"))
    return tuple(found)


def _rate(usage: Usage) -> float | None:
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens / usage.input_tokens


# Spending: what this discussion and the day have cost, each with its limit beside it.

# Global settings of prompt caching.

TABLE = "ai_settings.caching"
LONG_FROM_MINUTES = 60
NUMBER_PX = 88.0
CHOICE_PX = 152.0
CHARGES_FROM_PX = 340
"""Width from which what longer Gemini caches cost has room behind their switch; else it stands below."""
ANTHROPIC_TTLS = (
    Option(value="auto", label=tr("Automatic")),
    Option(value="5m", label=tr("5 minutes")),
    Option(value="1h", label=tr("1 hour")),
)
OPENAI_TTLS = (
    Option(value="auto", label=tr("Automatic")),
    Option(value="30m", label=tr("30 minutes")),
    Option(value="12h", label=tr("12 hours")),
)


class Amount(msgspec.Struct, frozen=True):
    """A number that the person types.

    Args:
        high: the largest that is taken; is_whole: no part after the point; may_be_empty: empty stands for none, which `hint` says.
    """

    key: str
    label: str
    tip: str
    high: float
    is_whole: bool = False
    may_be_empty: bool = False
    hint: str = tr("No limit")


GEMINI_TTL = Amount(
    key=f"{TABLE}.gemini_ttl_minutes",
    label=tr("Gemini TTL (minutes)"),
    tip=tr("Longest time that Gemini keeps an explicit cache after a turn"),
    high=10_080,
    is_whole=True,
)
CAP = Amount(
    key=f"{TABLE}.keepalive_cap_usd",
    label=tr("Keepalive limit ($)"),
    tip=tr("Most that keepalive may cost per discussion and idle period"),
    high=1_000,
)
COLD = Amount(
    key=f"{TABLE}.cold_send_usd",
    label=tr("Warn of a cold cache from ($)"),
    tip=tr("Warns before a message that rewrites the cache above this cost. 0: never"),
    high=1_000_000,
    may_be_empty=True,
    hint=tr("Not set"),
)
DISK = Amount(
    key=f"{TABLE}.embedded_disk_mb",
    label=tr("Disk space for the built-in cache (MB)"),
    tip=tr("Most disk space for the cache of the built-in model"),
    high=1_000_000,
    is_whole=True,
)


def settings_section(desk: Desk) -> None:
    """Draw the switches and lifetimes. Sends ChangeSetting."""
    ui, now = desk.ui, desk.state.config.settings.caching
    with ui.group("global settings", gap=8):
        ui.text("title", tr("Global settings"), style="strong")
        _vendors(desk, now)
        ui.divider("keeping")
        _keeping(desk, now)


def _vendors(desk: Desk, now: CachingSettings) -> None:
    _switch(desk, "anthropic_enabled", tr("Enable Anthropic ephemeral caching"), now.anthropic_enabled,
            tr("Requests to Anthropic carry cache breakpoints"))  # fmt: skip
    _choice(desk, "anthropic_ttl", "Anthropic TTL", ANTHROPIC_TTLS, now.anthropic_ttl)
    _switch(desk, "gemini_enabled", tr("Enable Gemini explicit caching"), now.gemini_enabled,
            tr("Gemini 2.5 to 3.x stores files and turns for rent, if that saves money"))  # fmt: skip
    label, charges = tr("Allow >1h Gemini caches"), tr("charges may apply")
    is_wide = not 0 < desk.ui.width() < CHARGES_FROM_PX
    _switch(desk, "gemini_allow_long", f"{label} ({charges})" if is_wide else label, now.gemini_allow_long,
            tr("Google charges for storage as long as it keeps the cache"))  # fmt: skip
    if not is_wide:
        desk.ui.text("charges", capital(charges), tone="muted", style="small")
    amount_row(desk, GEMINI_TTL, now.gemini_ttl_minutes)
    if now.gemini_ttl_minutes > LONG_FROM_MINUTES and not now.gemini_allow_long:
        note = tr(
            "The program uses {LONG_FROM_MINUTES} minutes: longer caches are not allowed.",
            LONG_FROM_MINUTES=LONG_FROM_MINUTES,
        )
        desk.ui.text("gemini note", note, tone="warn", style="small", wraps=True)
    _choice(desk, "openai_ttl", "OpenAI TTL", OPENAI_TTLS, now.openai_ttl)


def _keeping(desk: Desk, now: CachingSettings) -> None:
    _switch(desk, "appends_changes", tr("Append changes while the cache is warm"), now.appends_changes,
            tr("The program adds changed files after a warm prefix instead of rewriting the prefix"))  # fmt: skip
    _switch(desk, "prewarm", tr("Fill the cache when a discussion opens"), now.prewarm,
            tr("Opening a discussion fills its cache. With the built-in model, that is always on and free"))  # fmt: skip
    _switch(desk, "keepalive", tr("Keepalive"), now.keepalive,
            tr("Small requests keep an idle prefix cached when that is expected to save money"))  # fmt: skip
    amount_row(desk, CAP, now.keepalive_cap_usd)
    amount_row(desk, COLD, now.cold_send_usd)
    amount_row(desk, DISK, now.embedded_disk_mb)


def _switch(desk: Desk, name: str, label: str, value: bool, tip: str) -> None:
    changed = desk.ui.checkbox(name, label, value, tip=tip)
    if changed is not None:
        desk.send(ChangeSetting(f"{TABLE}.{name}", changed))


def _choice(desk: Desk, name: str, label: str, options: tuple[Option, ...], value: str) -> None:
    ui = desk.ui
    with ui.row(name):
        ui.text("label", label, tone="muted")
        ui.push()
        chosen = ui.combo(
            "choice",
            options,
            value,
            width=CHOICE_PX,
            tip=tr("{provider}: how long a discussion's cache lasts by default", provider=label),
        )
    if chosen is not None:
        desk.send(ChangeSetting(f"{TABLE}.{name}", chosen))


def amount_row(desk: Desk, amount: Amount, value: float | None) -> None:
    """Draw a number that the person types, and why it is not taken. Sends ChangeSetting."""
    ui, own = desk.ui, desk.view.of(CachingView)
    with ui.row(amount.key):
        ui.text("label", amount.label, tone="muted", tip=amount.tip, width=0, wraps=True)
        shown = "" if value is None else f"{value:g}"
        typed = ui.text_input("value", shown, hint=amount.hint if amount.may_be_empty else "", width=NUMBER_PX,
                              submits=True, tip=amount.label)  # fmt: skip
    if typed is not None and typed.strip() != shown:
        found = _parsed(desk, amount, typed.strip())
        own.error = (amount.key, found) if isinstance(found, str) else ("", "")
        if not isinstance(found, str):
            desk.send(ChangeSetting(amount.key, found))
    if own.error[0] == amount.key:
        ui.text((amount.key, "error"), own.error[1], tone="error", style="small", wraps=True)


def _parsed(desk: Desk, amount: Amount, text: str) -> float | int | str | None:
    """The number that was typed, None for no limit, or why it is not taken."""
    if not text and amount.may_be_empty:
        return None
    digits = text.removeprefix("$").replace(",", "").replace("_", "")
    whole, _, part = digits.partition(".")
    is_number = whole.isdecimal() and len(whole) < 16 and (not part or (part.isdecimal() and len(part) < 10))
    if not is_number or (amount.is_whole and part):
        return (
            tr("{text!r} is not a whole number", text=text)
            if amount.is_whole
            else tr("{text!r} is not a number", text=text)
        )
    value = float(digits)
    if value > amount.high or (amount is GEMINI_TTL and value < 1):
        return tr(
            "{text} is out of range: enter {amount} to {high:,.0f}",
            text=text,
            amount=1 if amount is GEMINI_TTL else 0,
            high=amount.high,
        )
    if (
        amount is GEMINI_TTL
        and value > LONG_FROM_MINUTES
        and not desk.state.config.settings.caching.gemini_allow_long
    ):
        return tr("For more than 60 minutes, allow longer Gemini caches above")
    return int(value) if amount.is_whole else value


PER_DISCUSSION = Amount(
    key="ai_settings.spend_limit_usd",
    label=tr("Limit per discussion ($)"),
    tip=tr("Above this cost per discussion, the program asks before it sends"),
    high=1_000_000,
    may_be_empty=True,
)
PER_DAY = Amount(
    key=f"{TABLE}.day_limit_usd",
    label=tr("Limit per day ($)"),
    tip=tr("Above this daily cost, the program asks before each send and stops background work"),
    high=1_000_000,
    may_be_empty=True,
)


BUDGET = Amount(
    key="ai_settings.month_budget_usd",
    label=tr("Budget per month ($)"),
    tip=tr("Above this monthly cost, the program warns you; nothing stops"),
    high=1_000_000,
    may_be_empty=True,
    hint=tr("No budget"),
)


def spending_section(desk: Desk) -> None:
    """Draw what was spent, against its limits, which are typed here. Sends ChangeSetting."""
    ui, settings = desk.ui, desk.state.config.settings
    with ui.group("spending", gap=6):
        ui.text("title", tr("Spending"), style="strong")
        if (line := _discussion_line(desk)) is not None:
            text, tone = line
            ui.text("spent", text, tone=tone, style="small", wraps=True)
        day_line(desk)
        amount_row(desk, PER_DISCUSSION, settings.ai.spend_limit_usd)
        amount_row(desk, PER_DAY, settings.caching.day_limit_usd)
        amount_row(desk, BUDGET, settings.ai.month_budget_usd)
        if unpriced := _unpriced(desk):
            text = tr(
                "{unpriced} The program asks before each send and does no background work. {UNPRICED_REMEDY}.",
                unpriced=unpriced,
                UNPRICED_REMEDY=UNPRICED_REMEDY,
            )
            ui.text("unpriced", text, tone="warn", style="small", wraps=True)
        note = tr("At a limit, the program asks before each send and stops background work. Empty: no limit.")
        ui.text("limits note", note, tone="muted", style="small", wraps=True)


def _unpriced(desk: Desk) -> str:
    """Sentence that a limit cannot hold because nobody knows the price of this discussion's model; empty where it can."""
    reached = reached_limits(desk.state, desk.summary.meta.id) if desk.summary is not None else ()
    return next((one.sentence for one in reached if one.scope is LimitScope.UNPRICED), "")


def _limit_tone(spent_usd: float | None, limit_usd: float | None) -> Tone:
    """Tone of what was spent: a warning once it reaches its limit."""
    return "warn" if limit_usd is not None and spent_usd is not None and spent_usd >= limit_usd else "text"


def _discussion_line(desk: Desk) -> tuple[str, Tone] | None:
    """`This discussion: $0.42, limit $5.00` and its tone; None where none is selected."""
    summary = desk.summary
    if summary is None:
        return None
    used = summary.usage
    spent = fmt.money(0.0 if used == Usage() else used.cost_usd, is_estimate=used.is_estimate)
    limit = discussion_limit_usd(desk.state, summary.meta)
    if limit is None:
        return tr("This discussion: {spent}, no limit", spent=spent), "text"
    said = tr("This discussion: {spent}, limit {limit}", spent=spent, limit=fmt.dollars(limit))
    return said, _limit_tone(used.cost_usd, limit)


def day_line(desk: Desk) -> None:
    """Draw `Today: $1.20, no limit`: a warning once it reaches its limit."""
    spending, limit = desk.state.spending, desk.state.config.settings.caching.day_limit_usd
    if spending.spent_today_usd is None:
        spent = tr("not added up yet")
    else:
        spent = fmt.money(spending.spent_today_usd, is_estimate=spending.has_estimate)
    text = (
        tr("Today: {spent}, no limit", spent=spent)
        if limit is None
        else tr("Today: {spent}, limit {limit}", spent=spent, limit=fmt.dollars(limit))
    )
    tone = _limit_tone(spending.spent_today_usd, limit)
    desk.ui.text("today", text, tone=tone, style="small", wraps=True)


# Dues of the caches that come unasked: prefixes of discussions that are gone, and coming rewrites.

MOST_ROWS = 5
"""Rows that are shown of each, the dearest first."""
THEIRS = tr(
    "Manual Slop stored these caches with this key. The provider bills them until they expire. Another data folder or computer with the same key may still use them."
)


def due_rewrites(state: AppState) -> tuple[Rewrite, ...]:
    """Rewrites of discussions that are not being answered, the largest first."""
    due = (
        one
        for name, one in state.caching.rewrites.items()
        if name in state.discussions.summaries and not is_busy(state, name)
    )
    return tuple(sorted(due, key=lambda one: (-one.tokens, one.discussion_id)))


def rewrites_section(desk: Desk) -> None:
    """Draw which discussions pay for a change of knowledge on their next turn."""
    state = desk.state
    due = due_rewrites(state)
    _section(desk, "rewrites", tr("The next turn rewrites the cache"), [r for r in due if not r.is_appended])
    _section(desk, "appended", tr("The next message carries this change"), [r for r in due if r.is_appended])


def _section(desk: Desk, key: str, title: str, due: Sequence[Rewrite]) -> None:
    ui, state = desk.ui, desk.state
    if not due:
        return
    with ui.surface(key, "card", padding=(12, 10)), ui.group("lines", gap=8):
        with ui.row("title"):
            if key == "rewrites" and any(map(has_price, due)):
                ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("title", title, style="strong", width=0, wraps=True)
        for one in due[:MOST_ROWS]:
            _rewrite(ui, state.discussions.summaries[one.discussion_id].meta.name, one)
        _rest(ui, due)
        if len(due) > 1:
            ui.text("sum", _sum(due), tone="muted", style="small", wraps=True)


def _rewrite(ui: Ui, name: str, rewrite: Rewrite) -> None:
    with ui.group(("rewrite", rewrite.discussion_id), gap=1):
        ui.text("name", f"«{name}»", style="small", width=0, tip=name)
        line = f"{rewrite_text(rewrite)}: {rewrite.why}"
        ui.text("line", line, tone="muted", style="small", wraps=True)


def _sum(due: Sequence[Rewrite]) -> str:
    """All of them together; what has no price is said, not counted as nothing."""
    known = [one.cost_usd for one in due if one.cost_usd is not None]
    tokens = fmt.tokens_est(sum(one.tokens for one in due))
    most = sum(one.cost_usd or 0.0 if one.most_usd is None else one.most_usd for one in due)
    cost = estimate_text(sum(known) if known else None, most)
    if known and len(known) < len(due):
        return tr("Together {tokens} tokens, {cost} and more at an unknown price", tokens=tokens, cost=cost)
    return tr("Together {tokens} tokens, {cost}", tokens=tokens, cost=cost)


def orphans_section(desk: Desk) -> None:
    """Draw what is stored of discussions that are gone. Sends DeleteOrphanedCaches."""
    ui, state = desk.ui, desk.state
    orphans = sorted(living(state.caching.orphans, state.now), key=lambda one: (-one.tokens, one.name))
    if not orphans:
        return
    with ui.surface("orphans", "card", padding=(12, 10)), ui.group("lines", gap=6):
        ui.text("text", orphans_text(state, orphans), style="small", wraps=True, tip=THEIRS)
        if len(orphans) > 1:
            for one in orphans[:MOST_ROWS]:
                _orphan(desk, one)
            _rest(ui, orphans)
        ui.gap(8)
        _delete_all(desk, len(orphans))


def _delete_all(desk: Desk, count: int) -> None:
    can, tip = not desk.state.program.is_home_read_only, THEIRS
    label = tr("Delete") if count == 1 else tr("Delete all")
    if desk.ui.button("delete", label, icon="trash-can", is_small=True, is_enabled=can, tip=tip):
        desk.send(DeleteOrphanedCaches())


def orphans_text(state: AppState, orphans: Sequence[CacheOrphan]) -> str:
    """`2 Gemini caches of discussions that are gone, 40.0k tokens, ~$0.020 an hour until 15:32`."""
    labels = {view.provider_label(state, one.provider) for one in orphans}
    known = [one.usd_per_hour for one in orphans if one.usd_per_hour is not None]
    rent = tr("~{known} per hour", known=fmt.money(sum(known))) if known else tr("at an unknown price")
    if known and len(known) < len(orphans):
        rent = tr("~{known} per hour and more at an unknown price", known=fmt.money(sum(known)))
    caches = fmt.count(len(orphans), tr("{labels} cache", labels=all_of(sorted(labels))))
    tokens, end = (
        fmt.tokens(sum(one.tokens for one in orphans)),
        fmt.clock(max(one.expires_at for one in orphans)),
    )
    if len(orphans) == 1:
        return tr(
            "{caches} of a deleted discussion, {tokens} tokens, {rent} until {end}",
            caches=caches,
            tokens=tokens,
            rent=rent,
            end=end,
        )
    return tr(
        "{caches} of deleted discussions, {tokens} tokens, {rent} until {end}",
        caches=caches,
        tokens=tokens,
        rent=rent,
        end=end,
    )


def _orphan(desk: Desk, orphan: CacheOrphan) -> None:
    ui = desk.ui
    with ui.group(("orphan", orphan.name), gap=0):
        _orphan_line(desk, orphan)
        tokens, end = fmt.tokens(orphan.tokens), fmt.clock(orphan.expires_at)
        figures = (
            tr("{tokens} tokens, stored until {end}", tokens=tokens, end=end)
            if orphan.usd_per_hour is None
            else tr(
                "{tokens} tokens, {usd} per hour for storage until {end}",
                tokens=tokens,
                usd=fmt.money(orphan.usd_per_hour),
                end=end,
            )
        )
        ui.text("figures", figures, tone="muted", style="small", wraps=True)


def _orphan_line(desk: Desk, orphan: CacheOrphan) -> None:
    ui, state = desk.ui, desk.state
    with ui.row("line"):
        name = orphan_name(state, orphan)
        tip = "\n".join(filter(None, (name, orphan.discussion_id, orphan.name, orphan.model)))
        ui.text("name", name, style="small", width=0, tip=tip)
        can = not state.program.is_home_read_only
        if ui.button(
            "delete",
            "",
            icon="trash-can",
            kind="ghost",
            is_small=True,
            is_enabled=can,
            tip=tr("Delete {name}", name=name),
        ):
            desk.send(DeleteOrphanedCaches(orphan.name))


def orphan_name(state: AppState, orphan: CacheOrphan) -> str:
    """The discussion's name while it is in the trash, else when it began, else the vendor's name of the cache."""
    trashed = next((t.name for t in state.discussions.trash if t.discussion_id == orphan.discussion_id), "")
    if trashed:
        return tr("{trashed} (in the trash)", trashed=trashed)
    began = time_of_id(orphan.discussion_id)
    return (
        tr("Begun {moment}", moment=fmt.moment(began, state.now))
        if began is not None
        else orphan.discussion_id or orphan.name
    )


def _rest(ui: Ui, found: Sequence[object]) -> None:
    if len(found) > MOST_ROWS:
        ui.text("rest", tr("and {found} more", found=len(found) - MOST_ROWS), tone="muted", style="small")
