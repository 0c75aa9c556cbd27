"""The Caching panel: what providers hold and what it was worth, each discussion's cache, the global settings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import all_of, capital, joined, tr
from core.kernel.values.cache import CachePlan, DiscussionCacheState
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.stack import ContextReport
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.services.providers.profiles import Abilities
from core.services.spending.estimates import NextRequest, next_request
from core.talk.caching.accounts import extension_text, is_alive, provider_sentence, tells_no_hits
from core.talk.caching.caching_messages import DisableCaching, EnableCaching, InvalidateCache
from core.talk.caching.caching_step import abilities_for
from core.talk.caching.warmth import CacheStatus, why_of
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base import view
from panels.base.desk import READ_ONLY, Desk, ListRows
from panels.base.gauge import figure_cards, titled_estimate
from panels.base.ui import Option, Series, Share, Tone, Ui
from panels.caching import spending
from panels.caching.caching_room import CachingView
from panels.caching.spending import (
    orphans_section,
    rewrites_section,
    settings_section,
)

# Active discussions of the Caching panel: each with the state of its cache and what can be done to it.

CARD_PX = 112
WARM_PX = 170
GAP_PX = 8
REST_PX = 32
BUTTONS_PX = 268
"""Narrower, the buttons stand under each other."""
MISS_TIP = tr(
    "The last request that missed the cache, and why. The cost is already paid; you need do nothing."
)


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
        ui.text("title", tr("Active discussions"), style="strong")
        some = fmt.count(len(holding), tr("discussion has a cache"), tr("discussions have a cache"))
        ui.text("count", some if holding else tr("no discussion has a cache"), tone="faint", style="small")
    typed = ui.text_input("filter", own.query, hint=tr("Find a discussion"), icon="magnifying-glass")
    own.query = own.query if typed is None else typed
    if not holding and not rest:
        text = (
            tr("No discussion has this name.") if own.query.strip() else tr("You have not sent anything yet.")
        )
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


class CacheRows(ListRows[CacheRow]):
    """The rows of the list, for a virtual list."""

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
    label = fmt.count(
        heading.count, tr("discussion that has no cache now"), tr("discussions that have no cache now")
    )
    if ui.button(
        "rest", label, icon=icon, kind="ghost", is_small=True, tip=tr("These discussions have no cache now")
    ):
        own.is_rest_open = not own.is_rest_open
    ui.gap(GAP_PX)


def cache_card(desk: Desk, ui: Ui, summary: DiscussionSummary, *, has_name: bool = True) -> None:
    """Draw the cache of one discussion. Sends InvalidateCache, DisableCaching, EnableCaching, SelectDiscussion."""
    state, meta = desk.state, summary.meta
    is_selected = has_name and meta.id == state.discussions.selected_id
    look = spending.look_of(state, meta.id)
    with (
        ui.surface("card", "card_selected" if is_selected else "card", padding=(12, 10)),
        ui.group("lines", gap=5),
    ):
        if has_name:
            _name(desk, ui, summary, look)
        _cached(ui, meta, look)
        if look.next_words:
            ui.text("next", look.next_words, tone="muted", style="small", wraps=True)
        _figures(state, ui, meta, look)
        _misses(state, ui, meta)
        _buttons(desk, ui, summary, look)


def _name(desk: Desk, ui: Ui, summary: DiscussionSummary, look: spending.CacheLook) -> None:
    meta = summary.meta
    with ui.row("name row"):
        tone: Tone = "ok" if look.is_read else "faint"
        ui.icon("icon", "bolt", tone=tone, tip=look.headline)
        ui.text("name", meta.name, style="strong", width=0, tip=meta.name)
        if meta.id != desk.state.discussions.selected_id and ui.button(
            "show", "", icon="arrow-right", kind="ghost", is_small=True, tip=tr("Show {name}", name=meta.name)
        ):
            desk.view.page = "chat"
            desk.send(SelectDiscussion(meta.id))


def _cached(ui: Ui, meta: DiscussionMeta, look: spending.CacheLook) -> None:
    with ui.row("cached"):
        said = tr("cached: yes ({provider})", provider=look.provider) if look.is_warm else tr("cached: no")
        tone: Tone = "ok" if look.is_read else "muted"
        ui.text("cached", look.headline, tone=tone, tip="\n".join(filter(None, (said, look.ttl_text))))
        ui.push()
        if not meta.caching_enabled:
            ui.badge(
                "off",
                tr("caching is off"),
                tone="warn",
                tip=tr("New requests of this discussion are not cached"),
            )
    if look.words:
        is_short = look.ttl_s is not None and look.ttl_s < 60
        tone = "warn" if is_short else "text" if look.is_warm else "muted"
        ui.text("ttl", look.words, tone=tone, style="small", wraps=True, tip=look.ttl_text)


def _figures(state: AppState, ui: Ui, meta: DiscussionMeta, look: spending.CacheLook) -> None:
    known = (
        [
            *(
                [tr("{tokens} tokens", tokens=fmt.tokens(look.standing.tokens))]
                if look.standing.tokens
                else []
            ),
            *(
                []
                if tells_no_hits(state, look.standing.provider)
                else [fmt.count(look.standing.hits, tr("hit"), tr("hits"))]
            ),
        ]
        if look.provider
        else []
    )
    plan = state.caching.plans.get(meta.id)
    if plan is not None and plan.superseded_tokens:
        known.append(
            tr("{superseded_tokens} superseded", superseded_tokens=fmt.tokens(plan.superseded_tokens))
        )
    if known:
        tip = tr("Tokens of the prefix, requests that read it, and outdated text in the prefix")
        ui.text("figures", " · ".join(known), tone="muted", style="small", width=0, tip=tip)


def _misses(state: AppState, ui: Ui, meta: DiscussionMeta) -> None:
    why = why_of(state, meta.id)
    if why.missed:  # over: it was paid, and what is held now is read again
        tone: Tone = "muted" if why.is_over else "warn"
        ui.text(
            "miss",
            tr("Cache miss last time: {missed}", missed=why.missed),
            tone=tone,
            style="small",
            wraps=True,
            tip=MISS_TIP,
        )
    if why.broken:
        text = tr("The last request differed from the one before: {change}", change=why.broken)
        ui.text("broken", text, tone="muted", style="small", wraps=True)
    if why.coming is not None:
        tone = "warn" if why.coming.costs else "muted"
        ui.text("rewrite", why.coming.text, tone=tone, style="small", wraps=True)


def _buttons(desk: Desk, ui: Ui, summary: DiscussionSummary, look: spending.CacheLook) -> None:
    meta = summary.meta
    about = abilities_for(desk.state, meta)
    ui.gap(8)
    with ui.row("buttons") if ui.width() >= BUTTONS_PX else ui.group("stacked", gap=6):
        can, why = _can_invalidate(desk.state, summary, look, about)
        if ui.button("invalidate", tr("Invalidate cache"), is_small=True, is_enabled=can, tip=why):
            desk.send(InvalidateCache(meta.id))
        if meta.caching_enabled:
            can, why = _can_disable(desk.state, meta, about)
            if ui.button("disable", tr("Disable caching here"), is_small=True, is_enabled=can, tip=why):
                desk.send(DisableCaching(meta.id))
            return
        can, why = (
            not desk.state.program.is_home_read_only,
            tr("The program then caches requests of this discussion again where that saves money."),
        )
        if ui.button("enable", tr("Enable caching again"), is_small=True, is_enabled=can, tip=why):
            desk.send(EnableCaching(meta.id))


def _can_invalidate(
    state: AppState, summary: DiscussionSummary, look: spending.CacheLook, about: Abilities | None
) -> tuple[bool, str]:
    if (why := _cannot(state, summary.meta, about)) or about is None:
        return False, why
    if look.standing.status is not CacheStatus.NONE:
        return about.can_invalidate, about.invalidate_text
    if summary.usage == Usage():
        return False, tr("You have sent nothing in this discussion: it has no cache of its own.")
    if about.keeps_marked_only:
        return False, tr("Nothing of this discussion is cached.")
    unknown = tr("The program knows of no cache, but the provider may have one.")
    return about.can_invalidate, joined(" ", (unknown, about.invalidate_text))


def _can_disable(state: AppState, meta: DiscussionMeta, about: Abilities | None) -> tuple[bool, str]:
    if (why := _cannot(state, meta, about)) or about is None:
        return False, why
    return about.can_disable, about.disable_text


def _cannot(state: AppState, meta: DiscussionMeta, about: Abilities | None) -> str:
    """Reason why nothing can be done, whatever the provider could."""
    if state.program.is_home_read_only:
        return READ_ONLY
    if about is None:
        return view.without_provider(view.provider_label(state, meta.provider))
    return ""


TABS = (
    Option(value="overview", label=tr("Overview"), icon="chart-bar"),
    Option(value="discussions", label=tr("Discussions"), icon="comments"),
    Option(value="settings", label=tr("Settings"), icon="gear"),
)
PLOT_PX = 208.0
SECTION_GAP_PX = 16


def caching_panel(desk: Desk) -> None:
    """Draw the panel. O(visible) for any number of discussions.

    Sends InvalidateCache, DisableCaching, EnableCaching, DeleteOrphanedCaches, ChangeSetting.
    """
    ui, own = desk.ui, desk.view.of(CachingView)
    own.tab = ui.tabs("parts", TABS, own.tab) or own.tab
    if own.tab == "discussions":
        discussions_section(desk)
        return
    with ui.surface(("part", own.tab), "clear", height=0, padding=(0, 0), scrolls=True):
        if own.tab == "settings":
            settings_section(desk)
        else:
            with ui.group("overview", gap=SECTION_GAP_PX):
                _overview(desk)


def _overview(desk: Desk) -> None:
    series = _turns(desk)
    is_used = bool(series) or bool(spending.used_providers(desk.state, desk.view.memo))
    if is_used:
        figure_cards(desk.ui, spending.figures(desk.state))
    orphans_section(desk)
    rewrites_section(desk)
    if series:
        _plot(desk, series)
    if is_used:
        _providers(desk)
    _selected(desk)
    _next_request(desk)
    if not is_used:
        settings_section(desk)


def _turns(desk: Desk) -> tuple[Series, ...]:
    opened = desk.opened
    if opened is None:
        return ()
    entries = opened.entries
    return desk.view.memo.get("cache turns", (entries,), lambda: spending.turn_series(entries))


def _providers(desk: Desk) -> None:
    ui, state = desk.ui, desk.state
    names = spending.used_providers(state, desk.view.memo)
    if not names:
        return
    with ui.group("providers", gap=6):
        _title(ui, tr("Providers"), tr("since the program started"))
        for name in names:
            totals = state.caching.totals.get(name)
            with ui.group(("provider", name), gap=2):
                line = spending.provider_line(state, desk.view.memo, name)
                ui.text("line", line, style="mono", wraps=True)
                ui.text("sentence", provider_sentence(state, name), tone="muted", style="small", wraps=True)
                saved = totals.saved_usd if totals is not None else None
                if totals is not None and totals.usage != Usage():
                    tone: Tone = "ok" if saved is not None and saved > 0 else "muted"
                    ui.text("saved", spending.saved_text(saved), tone=tone, style="small", wraps=True)
                if totals is not None and (upkeep := spending.upkeep_text(totals.upkeep)):
                    ui.text("upkeep", upkeep, tone="muted", style="small")
        for lost in state.caching.lost_extensions:
            if lost.provider in names:
                text = extension_text(lost)
                ui.text(("lost", lost.provider, lost.model), text, tone="muted", style="small", wraps=True)


def _selected(desk: Desk) -> None:
    summary = desk.summary
    if summary is None:
        text = (
            tr("No discussion is selected.")
            if not desk.state.program.is_loading
            else tr("Opening your discussions…")
        )
        desk.ui.text("none", text, tone="muted", style="small")
        return
    with desk.ui.group("this", gap=6):
        _title(desk.ui, tr("This discussion"))
        cache_card(desk, desk.ui, summary, has_name=False)
        if upkeep := spending.upkeep_text(summary.upkeep):
            desk.ui.text(
                "upkeep",
                upkeep,
                tone="muted",
                style="small",
                tip=tr("This is a part of the discussion's cost so far"),
            )


def _plot(desk: Desk, series: tuple[Series, ...]) -> None:
    with desk.ui.group("turns", gap=6):
        title = capital(all_of(one.label for one in series))
        _title(desk.ui, title, tr("per turn of this discussion"))
        desk.ui.plot("plot", series, height=PLOT_PX, x_label=tr("turn"))


def _next_request(desk: Desk) -> None:
    ui, summary = desk.ui, desk.summary
    request = next_request(desk.state, summary.meta.id) if summary is not None else None
    if summary is None or request is None:
        return
    report, plan = view.report_of(desk.state), desk.state.caching.plans.get(summary.meta.id)
    with ui.group("next", gap=6):
        titled_estimate(ui, request)
        if plan is not None:
            _plan(ui, request, plan)
        elif report is not None:
            _without_plan(ui, report)
        about = abilities_for(desk.state, summary.meta)
        if about is not None and not about.can_disable:
            ui.text("theirs", about.disable_text, tone="muted", style="small", wraps=True)


def _plan(ui: Ui, request: NextRequest, plan: CachePlan) -> None:
    parts = (
        (request.read_tokens_est, tr("from the cache"), 8),
        (request.write_tokens_est, tr("written to the cache"), 0),
        (request.fresh_tokens_est, tr("new"), 11),
    )
    whole = request.tokens_est
    if whole:
        ui.stacked_bar("bar", [
            Share(fraction=count / whole, tone="accent", tip=f"{fmt.tokens(count)} {words}, {fmt.share(count, whole)}", fill=fill)
            for count, words, fill in parts
            if count
        ])  # fmt: skip
    line = ", ".join(f"{fmt.tokens(count)} {words}" for count, words, _ in parts if count)
    if line:
        ui.text("line", line, style="small", wraps=True)
    if plan.cost_without_usd and plan.cost_usd is not None:
        text = tr("Without caching: {cost_without_usd}", cost_without_usd=fmt.money(plan.cost_without_usd))
        ui.text("without", text, tone="muted", style="small")
    for index, sentence in enumerate(plan.sentences):
        ui.text(("sentence", index), f"•  {sentence}", tone="muted", style="small", wraps=True)


def _without_plan(ui: Ui, report: ContextReport) -> None:
    stable = sum(layer.tokens_est for layer in report.layers if layer.layer.is_stable)
    counted = fmt.tokens_est(stable, is_exact=report.is_exact)
    total = fmt.tokens_est(report.total_tokens_est, is_exact=report.is_exact)
    text = tr(
        "{counted} of {total} tokens (layers 1 to 7) repeat each turn and are cacheable.",
        counted=counted,
        total=total,
    )
    ui.text("stable", text, style="small", wraps=True)
    if report.total_tokens_est > 0:
        share = stable / report.total_tokens_est
        ui.stacked_bar("bar", [Share(fraction=share, tone="accent", tip=text, fill=0)])


def _title(ui: Ui, title: str, note: str = "") -> None:
    with ui.row(("title", title)):
        ui.text("title", title, style="strong")
        if note:
            ui.text("note", note, tone="faint", style="small")
