"""Active discussions of the Caching panel: each with the state of its cache and what can be done to it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import msgspec

from core.base import figures as fmt
from core.caching.messages import DisableCaching, EnableCaching, InvalidateCache
from core.caching.rewrites import has_price
from core.caching.step import abilities_for
from core.caching.warmth import is_alive
from core.discussion.messages import SelectDiscussion
from core.providers.abilities import Abilities
from core.spending.estimates import change_usd
from core.values.cache import DiscussionCacheState
from core.values.discussion import DiscussionMeta, DiscussionSummary
from core.values.stack import ContextChange, LayerId
from core.values.state import AppState
from core.values.updates import is_busy
from panels.base import selection
from panels.base.desk import Desk
from panels.base.memo import Same
from panels.base.ui import Tone, Ui
from panels.caching import facts
from panels.caching.dues import rewrite_text
from panels.caching.view import CachingView

CARD_PX = 112
WARM_PX = 170
GAP_PX = 8
REST_PX = 32
BUTTONS_PX = 268
"""Narrower, the buttons stand under each other."""
MISS_TIP = "The last time that a request read less from the cache than was expected, and why. It is paid; nothing is to be done."


class RestHeading(msgspec.Struct, frozen=True):
    """Folds the discussions that hold nothing: how many they are."""

    count: int


CacheRow = str | RestHeading
"""A discussion's id, or the fold."""


def discussions_section(desk: Desk) -> None:
    """Draw the list. O(visible)."""
    ui, own = desk.ui, desk.view.of(CachingView)
    holding, rest = active_ids(desk)
    with ui.row("head"):
        ui.text("title", "Active discussions", style="strong")
        some = fmt.count(len(holding), "holds something", "hold something")
        ui.text("count", some if holding else "none holds anything", tone="faint", style="small")
    typed = ui.text_input("filter", own.query, hint="Find a discussion", icon="magnifying-glass")
    own.query = own.query if typed is None else typed
    if not holding and not rest:
        text = "Nothing is called that." if own.query.strip() else "Nothing was sent yet."
        ui.text("empty", text, tone="muted", style="small")
        return
    parts = (holding, rest, own.is_rest_open)
    ui.virtual_list("rows", CacheRows(desk, desk.view.memo.get("cache rows", parts, lambda: _rows(*parts))))


def _rows(holding: tuple[str, ...], rest: tuple[str, ...], is_open: bool) -> tuple[CacheRow, ...]:
    if not rest:
        return holding
    return (*holding, RestHeading(len(rest)), *(rest if is_open else ()))


def active_ids(desk: Desk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Discussions that something is held of or due, the selected first, then the newest; and the others that were used.

    The same tuples while nothing that they depend on changed.
    """
    state, query = desk.state, desk.view.of(CachingView).query.strip().casefold()
    caching = state.caching
    minute = 0 if state.now is None else state.now.replace(second=0, microsecond=0)
    chosen = state.discussions.selected_id
    parts = (state.discussions.summaries, caching.caches, caching.rewrites, chosen, query, minute)
    return desk.view.memo.get("active discussions", parts, lambda: _active(state, query))


def _active(state: AppState, query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A search unfolds: what is called so is wanted, whether it holds something or not."""
    found = [
        summary
        for summary in state.discussions.summaries.values()
        if (query in summary.meta.name.casefold())
        and (_holds(state, summary) or (summary.turns and not summary.meta.archived))
    ]
    found.sort(key=lambda summary: _rank(state.caching.caches, state.discussions.selected_id, summary))
    holding = tuple(one.meta.id for one in found if query or _holds(state, one))
    return holding, tuple(one.meta.id for one in found if not query and not _holds(state, one))


def _holds(state: AppState, summary: DiscussionSummary) -> bool:
    """True if there is something to see or to take back: a cache that lives, a rewrite to come, caching that was turned off."""
    meta, cache = summary.meta, state.caching.caches.get(summary.meta.id)
    is_held = cache is not None and is_alive(cache, state.now)
    return is_held or meta.id in state.caching.rewrites or not meta.caching_enabled


def _rank(
    caches: Mapping[str, DiscussionCacheState], selected_id: str, summary: DiscussionSummary
) -> tuple[bool, bool, float, str]:
    cache = caches.get(summary.meta.id)
    newest = cache.cached_at if cache is not None else summary.updated_at
    return summary.meta.id != selected_id, cache is None, -newest.timestamp(), summary.meta.id


class CacheRows(msgspec.Struct):
    """The rows of the list, for a virtual list."""

    desk: Desk
    rows: tuple[CacheRow, ...]

    @property
    def revision(self) -> Hashable:
        """The rows themselves."""
        return Same(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> Hashable:
        """A discussion's id, or the fold."""
        return self.rows[index]

    def estimate_px(self, index: int, width: float) -> float:
        """A card's height."""
        row = self.rows[index]
        if isinstance(row, RestHeading):
            return REST_PX
        return WARM_PX if row in self.desk.state.caching.caches else CARD_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a card, or the fold."""
        row = self.rows[index]
        if isinstance(row, RestHeading):
            _rest(self.desk.view.of(CachingView), ui, row)
            return
        summary = self.desk.state.discussions.summaries.get(row)
        if summary is not None:
            cache_card(self.desk, ui, summary)
        ui.gap(GAP_PX)


def _rest(own: CachingView, ui: Ui, heading: RestHeading) -> None:
    icon = "chevron-down" if own.is_rest_open else "chevron-right"
    label = fmt.count(heading.count, "discussion holds nothing", "discussions hold nothing")
    if ui.button("rest", label, icon=icon, kind="ghost", is_small=True, tip="Nothing of them is cached now"):
        own.is_rest_open = not own.is_rest_open
    ui.gap(GAP_PX)


def cache_card(desk: Desk, ui: Ui, summary: DiscussionSummary, *, has_name: bool = True) -> None:
    """Draw the cache of one discussion. Sends InvalidateCache, DisableCaching, EnableCaching, SelectDiscussion."""
    state, meta = desk.state, summary.meta
    is_selected = has_name and meta.id == state.discussions.selected_id
    look = facts.look_of(state, meta.id)
    with (
        ui.surface("card", "card_selected" if is_selected else "card", padding=(12, 10)),
        ui.group("lines", gap=5),
    ):
        if has_name:
            _name(desk, ui, summary, look)
        _cached(ui, meta, look)
        _figures(state, ui, meta, look)
        _misses(state, ui, meta)
        _buttons(desk, ui, meta)


def _name(desk: Desk, ui: Ui, summary: DiscussionSummary, look: facts.CacheLook) -> None:
    meta = summary.meta
    with ui.row("name row"):
        tone: Tone = "ok" if look.is_warm else "faint"
        ui.icon("icon", "bolt", tone=tone, tip="warm" if look.is_warm else "cold")
        ui.text("name", meta.name, style="strong", width=0, tip=meta.name)
        if meta.id != desk.state.discussions.selected_id and ui.button(
            "show", "", icon="arrow-right", kind="ghost", is_small=True, tip=f"Show {meta.name}"
        ):
            desk.view.page = "chat"
            desk.send(SelectDiscussion(meta.id))


def _cached(ui: Ui, meta: DiscussionMeta, look: facts.CacheLook) -> None:
    with ui.row("cached"):
        tip = "\n".join(
            filter(None, (f"cached: yes ({look.provider})" if look.is_warm else "cached: no", look.ttl_text))
        )
        if look.is_warm:
            ui.text("cached", f"Cached by {look.provider}", tone="ok", tip=tip)
        else:
            ui.text("cached", "Not cached", tone="muted", tip=tip)
        ui.push()
        if not meta.caching_enabled:
            ui.badge("off", "caching is off", tone="warn", tip="Nothing more of this discussion is cached")
    if look.words:
        is_short = look.ttl_s is not None and look.ttl_s < 60
        tone: Tone = "warn" if is_short else "text" if look.is_warm else "muted"
        ui.text("ttl", look.words, tone=tone, style="small", wraps=True, tip=look.ttl_text)


def _figures(state: AppState, ui: Ui, meta: DiscussionMeta, look: facts.CacheLook) -> None:
    known = [fmt.count(look.hits, "hit")] if look.provider else []
    if look.provider:
        known.insert(0, f"{fmt.tokens(look.tokens)} tokens")
    plan = state.caching.plans.get(meta.id)
    if plan is not None and plan.superseded_tokens:
        known.append(f"{fmt.tokens(plan.superseded_tokens)} superseded")
    if known:
        tip = "Tokens of the prefix, requests that read it, and text still carried that newer text replaces"
        ui.text("figures", " · ".join(known), tone="muted", style="small", width=0, tip=tip)


def _misses(state: AppState, ui: Ui, meta: DiscussionMeta) -> None:
    reason = state.caching.miss_reasons.get(meta.id)
    if reason:
        is_over = facts.look_of(state, meta.id).is_warm  # it was paid, and what is held now is read again
        tone: Tone = "muted" if is_over else "warn"
        ui.text("miss", f"Missed last time: {reason}", tone=tone, style="small", wraps=True, tip=MISS_TIP)
    report = state.context.reports.get(meta.id)
    change = report.change if report is not None else None
    rewrite = state.caching.rewrites.get(meta.id)
    if rewrite is not None and not is_busy(state, meta.id) and not _is_before_knowledge(change):
        what = "Joins the next message" if rewrite.is_appended else "Will be rewritten on the next turn"
        text = f"{what}: {rewrite.why} ({rewrite_text(rewrite)})"
        tone = "warn" if has_price(rewrite) and not rewrite.is_appended else "muted"
        ui.text("rewrite", text, tone=tone, style="small", wraps=True)
        return
    if (
        report is None
        or change is None
        or meta.id not in state.caching.caches
        or not _is_rewritten(state, change)
    ):
        return
    counted = fmt.tokens_est(change.rewritten_tokens_est, is_exact=report.is_exact)
    cost_usd = change_usd(state, meta.id)
    why = f": {change.reason}" if change.reason else ""
    text = f"Will be rewritten on the next turn{why} ({counted} tokens, {fmt.money(cost_usd)})"
    tone = "muted" if cost_usd == 0 else "warn"
    ui.text("rewrite", text, tone=tone, style="small", wraps=True)


def _is_before_knowledge(change: ContextChange | None) -> bool:
    """True if something that stands before layer 7 changed, so that it tells of all that is rewritten."""
    return change is not None and change.layer is not None and change.layer < LayerId.KNOWLEDGE


def _is_rewritten(state: AppState, change: ContextChange) -> bool:
    """True if a change voids what is cached: not what comes anew with every turn, nor what is appended.

    Of a change of knowledge `state.caching.rewrites` tells, and only while there is something to lose.
    """
    if change.layer in {None, LayerId.KNOWLEDGE, LayerId.METADATA, LayerId.USER}:
        return False
    is_curated = change.layer in {LayerId.FILE_SET, LayerId.FILE_DETAILS}
    return not (is_curated and state.config.settings.caching.appends_changes)


def _buttons(desk: Desk, ui: Ui, meta: DiscussionMeta) -> None:
    about = abilities_for(desk.state, meta)
    ui.gap(8)
    with ui.row("buttons") if ui.width() >= BUTTONS_PX else ui.group("stacked", gap=6):
        can, why = _can_invalidate(desk.state, meta, about)
        if ui.button("invalidate", "Invalidate cache", is_small=True, is_enabled=can, tip=why):
            desk.send(InvalidateCache(meta.id))
        if meta.caching_enabled:
            can, why = _can_disable(desk.state, meta, about)
            if ui.button("disable", "Disable caching for this", is_small=True, is_enabled=can, tip=why):
                desk.send(DisableCaching(meta.id))
            return
        can, why = (
            not desk.state.program.is_home_read_only,
            "The next request is cached again where that pays.",
        )
        if ui.button("enable", "Enable caching for this", is_small=True, is_enabled=can, tip=why):
            desk.send(EnableCaching(meta.id))


def _can_invalidate(state: AppState, meta: DiscussionMeta, about: Abilities | None) -> tuple[bool, str]:
    if (why := _cannot(state, meta, about)) or about is None:
        return False, why
    return about.can_invalidate, about.invalidate_text


def _can_disable(state: AppState, meta: DiscussionMeta, about: Abilities | None) -> tuple[bool, str]:
    if (why := _cannot(state, meta, about)) or about is None:
        return False, why
    return about.can_disable, about.disable_text


def _cannot(state: AppState, meta: DiscussionMeta, about: Abilities | None) -> str:
    """Reason why nothing can be done, whatever the provider could."""
    if state.program.is_home_read_only:
        return "This home is read-only: nothing can be saved"
    if about is None:
        return f"No provider called {selection.provider_label(state, meta.provider)!r}"
    return ""
