"""The Caching panel: what providers hold and what it was worth, each discussion's cache, the global settings."""

from __future__ import annotations

from core.base import figures as fmt
from core.caching.step import abilities_for
from core.caching.summary import provider_sentence
from core.caching.wording import extension_text
from core.spending.estimates import NextRequest, next_request
from core.values.cache import CachePlan
from core.values.stack import ContextReport
from core.values.usage import Usage
from panels.base import selection
from panels.base.desk import Desk
from panels.base.gauge import titled_estimate
from panels.base.ui import Option, Series, Share, Tone, Ui
from panels.caching import facts
from panels.caching.discussion_list import cache_card, discussions_section
from panels.caching.dues import orphans_section, rewrites_section
from panels.caching.settings_tab import settings_section
from panels.caching.spending import spending_section
from panels.caching.view import CachingView

TABS = (
    Option("overview", "Overview", icon="chart-bar"),
    Option("discussions", "Discussions", icon="comments"),
    Option("settings", "Settings", icon="gear"),
)
PLOT_PX = 208.0
SECTION_GAP_PX = 16
FIGURES_PX, USUAL_CHARS = 256, 5
"""Three figures stand side by side from this width on, where the longest has so many characters at most; longer ones from more."""


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
    is_used = bool(series) or bool(facts.used_providers(desk.state, desk.view.memo))
    if is_used:
        _figures(desk)
    orphans_section(desk)
    rewrites_section(desk)
    if series:
        _plot(desk, series)
    if is_used:
        _providers(desk)
    _selected(desk)
    _next_request(desk)
    spending_section(desk)
    if not is_used:
        settings_section(desk)


def _turns(desk: Desk) -> tuple[Series, ...]:
    opened = desk.opened
    if opened is None:
        return ()
    entries = opened.entries
    return desk.view.memo.get("cache turns", (entries,), lambda: facts.turn_series(entries))


def _figures(desk: Desk) -> None:
    """Side by side, or one below the other where the figures would be cut."""
    ui, figures = desk.ui, facts.figures(desk.state)
    longest = max(len(figure.value) for figure in figures)
    if ui.width() < FIGURES_PX * max(USUAL_CHARS, longest) // USUAL_CHARS:
        with ui.group("figures", gap=4):
            for figure in figures:
                with ui.row(figure.label):
                    ui.text("value", figure.value, tone=figure.tone, style="strong", tip=figure.tip)
                    ui.text("label", figure.label, tone="muted", style="small", tip=figure.tip)
        return
    with ui.row("figures"):
        for figure in figures:
            with ui.surface(figure.label, "card", padding=(12, 10)), ui.group("lines", gap=4):
                ui.text("value", figure.value, tone=figure.tone, style="h1", tip=figure.tip)
                ui.text("label", figure.label, tone="muted", style="small", tip=figure.tip)


def _providers(desk: Desk) -> None:
    ui, state = desk.ui, desk.state
    names = facts.used_providers(state, desk.view.memo)
    if not names:
        return
    with ui.group("providers", gap=6):
        _title(ui, "Providers", "since the program started")
        for name in names:
            totals = state.caching.totals.get(name)
            with ui.group(("provider", name), gap=2):
                line = facts.provider_line(state, desk.view.memo, name)
                ui.text("line", provider_sentence(state, name), style="small", wraps=True, tip=line)
                saved = totals.saved_usd if totals is not None else None
                if totals is not None and totals.usage != Usage():
                    tone: Tone = "ok" if saved is not None and saved > 0 else "muted"
                    ui.text("saved", facts.saved_text(saved), tone=tone, style="small", wraps=True)
                if totals is not None and (upkeep := facts.upkeep_text(totals.upkeep)):
                    ui.text("upkeep", upkeep, tone="muted", style="small")
        for lost in state.caching.lost_extensions:
            if lost.provider in names:
                text = extension_text(lost)
                ui.text(("lost", lost.provider, lost.model), text, tone="muted", style="small", wraps=True)


def _selected(desk: Desk) -> None:
    summary = desk.summary
    if summary is None:
        text = (
            "No discussion is selected." if not desk.state.program.is_loading else "Opening your discussions…"
        )
        desk.ui.text("none", text, tone="muted", style="small")
        return
    with desk.ui.group("this", gap=6):
        _title(desk.ui, "This discussion")
        cache_card(desk, desk.ui, summary, has_name=False)
        if upkeep := facts.upkeep_text(summary.upkeep):
            desk.ui.text("upkeep", upkeep, tone="muted", style="small", tip="Part of what it cost so far")


def _plot(desk: Desk, series: tuple[Series, ...]) -> None:
    with desk.ui.group("turns", gap=6):
        title = " and ".join(one.label for one in series).capitalize()
        _title(desk.ui, title, "by turn of this discussion")
        desk.ui.plot("plot", series, height=PLOT_PX, x_label="turn")


def _next_request(desk: Desk) -> None:
    ui, summary = desk.ui, desk.summary
    request = next_request(desk.state, summary.meta.id) if summary is not None else None
    if summary is None or request is None:
        return
    report, plan = selection.report_of(desk.state), desk.state.caching.plans.get(summary.meta.id)
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
        (request.read_tokens_est, "from the cache", 8),
        (request.write_tokens_est, "written to it", 0),
        (request.fresh_tokens_est, "new", 11),
    )
    whole = request.tokens_est
    if whole:
        ui.stacked_bar("bar", [
            Share(count / whole, "accent", f"{fmt.tokens(count)} {words}, {fmt.share(count, whole)}", fill=fill)
            for count, words, fill in parts
            if count
        ])  # fmt: skip
    line = ", ".join(f"{fmt.tokens(count)} {words}" for count, words, _ in parts if count)
    if line:
        ui.text("line", line, style="small", wraps=True)
    if plan.cost_without_usd and plan.cost_usd is not None:
        text = f"Without caching {fmt.money(plan.cost_without_usd)}"
        ui.text("without", text, tone="muted", style="small")
    for index, sentence in enumerate(plan.sentences):
        ui.text(("sentence", index), f"•  {sentence}", tone="muted", style="small", wraps=True)


def _without_plan(ui: Ui, report: ContextReport) -> None:
    stable = sum(layer.tokens_est for layer in report.layers if layer.layer.is_stable)
    counted = fmt.tokens_est(stable, is_exact=report.is_exact)
    total = fmt.tokens_est(report.total_tokens_est, is_exact=report.is_exact)
    text = f"{counted} of {total} tokens, layers 1 to 7, are the same for every turn and can be cached."
    ui.text("stable", text, style="small", wraps=True)
    if report.total_tokens_est > 0:
        share = stable / report.total_tokens_est
        ui.stacked_bar("bar", [Share(share, "accent", text, fill=0)])


def _title(ui: Ui, title: str, note: str = "") -> None:
    with ui.row(("title", title)):
        ui.text("title", title, style="strong")
        if note:
            ui.text("note", note, tone="faint", style="small")
