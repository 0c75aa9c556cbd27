"""The status bar: model, tokens against the window, cost, workers, connection, where the data lies."""

from __future__ import annotations

from itertools import islice

from core.agent.delegation import is_at_work
from core.base import figures as fmt
from core.base.errors import FailureKind
from core.caching.warmth import warm_until
from core.discussion.messages import SelectDiscussion
from core.spending.estimates import next_request
from core.values.discussion import DiscussionSummary
from core.values.state import AppState
from core.values.usage import Usage
from panels.agent.actions import show_autonomy
from panels.agent.autonomy_words import MEANINGS, autonomy_words
from panels.base import selection
from panels.base.desk import Desk
from panels.base.gauge import estimate_tip, gauge, gauge_tone
from panels.base.ui import Tone, Ui
from panels.caching.facts import RECENT, is_of_model, look_of
from panels.discussion.approvals import go_to_question, questions

STATUS_PX, LINE_PX = 28, 24
TIGHT_PX, CROWDED_PX = 640, 1_000
"""Width under which what is money and tokens stays, and the rest gives way; while something is at work beside them."""


def status_bar(desk: Desk) -> None:
    """Draw the line at the foot of the window. O(workers)."""
    state, ui = desk.state, desk.ui
    is_at_work = bool(state.turns.calls or state.agent.turns) or any(
        one.status != "idle" for one in state.program.workers.values()
    )
    is_tight = 0 < ui.width() < (CROWDED_PX if is_at_work else TIGHT_PX)
    with (
        ui.surface("status", "base", height=STATUS_PX, padding=(12, 2)),
        ui.row("line", gap=16, height=LINE_PX),
    ):
        _model(state, ui)
        request = next_request(state, state.discussions.selected_id)
        if request is not None:
            tip = estimate_tip(request)
            ui.text("tokens", gauge(request), tone=gauge_tone(request), style="small", tip=tip)
        summary = selection.selected(state)
        if summary is not None and summary.usage != Usage():
            ui.text("cost", fmt.money(summary.usage.cost_usd, is_estimate=summary.usage.is_estimate), tone="muted", style="small",
                    tip="Cost of this discussion so far")  # fmt: skip
        if summary is not None:
            _cache(state, ui, summary, is_tight=is_tight)
        ui.push()
        _autonomy(desk, is_tight=is_tight)
        _questions(desk, is_tight=is_tight)
        _workers(state, ui, is_tight=is_tight)
        if state.program.holder:
            tip = f"Another program owns this home ({state.program.holder}): no inbox, no channels and no autonomy in this one until it ends"
            if is_tight:
                ui.icon("home elsewhere", "lock", tone="warn", tip=tip)
            else:
                ui.badge("home elsewhere", "home is another program's", tone="warn", tip=tip)
        if state.program.is_home_read_only:
            tip = f"This home is read-only: nothing can be saved in {state.program.home}"
            if is_tight:
                ui.icon("read only", "lock", tone="warn", tip=tip)
            else:
                ui.badge("read only", "read-only home", tone="warn", tip=tip)
        if state.config.project.root and not is_tight:
            ui.text("project", state.config.project.name or state.config.project.root, tone="faint", style="small",
                    tip=state.config.project.root)  # fmt: skip


def _model(state: AppState, ui: Ui) -> None:
    summary = selection.selected(state)
    if summary is None:
        ui.text("model", "No discussion", tone="muted", style="small")
        return
    meta = summary.meta
    status = state.config.providers.get(meta.provider)
    is_ready = status is not None and status.is_ready
    icon, tone, problem = _light(state, meta.provider)
    with ui.row("connection", gap=6):
        ui.icon("icon", icon, tone=tone, tip=problem or "Ready")
        label = f"{selection.model_label(state, meta.provider, meta.model)}"
        ui.text(
            "model", label, tone="muted", style="small", tip=selection.provider_label(state, meta.provider)
        )
        if tone == "warn" and not is_ready:
            ui.text("problem", problem, tone="warn", style="small", tip=problem)


def _light(state: AppState, provider: str) -> tuple[str, Tone, str]:
    """Icon of a provider, its tone, and what stands against it: green only where nothing is known to."""
    if not state.config.providers:
        return "circle", "faint", "Reading the settings…"
    status, opened = state.config.providers.get(provider), selection.opened(state)
    if status is None or not status.is_ready:
        problem = status.advice if status else f"No provider called {provider!r}"
        return "plug-circle-xmark", "warn", problem
    failure = opened.failure if opened is not None else None
    if failure is not None and failure.kind is not FailureKind.SPEND_LIMIT:
        return "circle-exclamation", "error", f"The last call failed: {failure.what}"
    return "circle", "ok", ""


def _cache(state: AppState, ui: Ui, summary: DiscussionSummary, *, is_tight: bool) -> None:
    """State of the prefix: warm or not, until when, and where there is room what the last reply read from it."""
    words = cache_words(state, summary)
    if is_tight:
        words = words.partition(" · ")[0]
    if words:
        look = look_of(state, summary.meta.id)
        tip = f"{look.provider}: {look.words}" if look.words else "Nothing is cached"
        is_read = look.is_warm and not misses_cache(state, summary.meta.id)
        with ui.row("cache", gap=6):
            ui.icon("icon", "bolt", tone="ok" if is_read else "faint")
            ui.text("text", words, tone="ok" if is_read else "muted", style="small", tip=tip)


def cache_words(state: AppState, summary: DiscussionSummary) -> str:
    """`cache warm until 14:12 · 11.9k reused`; empty where its model never cached anything of it."""
    cache = state.caching.caches.get(summary.meta.id)
    if not summary.meta.caching_enabled:
        return "caching is off"
    if cache is None or not is_of_model(state, summary.meta.id):
        return ""
    look = look_of(state, summary.meta.id)
    if not look.is_warm:
        return "cache cold"
    if misses_cache(state, summary.meta.id):
        return "cache not read by the next message"
    at = warm_until(cache, state.now)
    until = f" until {fmt.clock(at)}" if at is not None else ""
    opened = selection.opened(state)
    recent = islice(selection.latest(opened), RECENT) if opened is not None else iter(())
    used = next((message.usage for message in recent if message.usage is not None), None)
    reused = used.cache_read_tokens if used is not None else None
    return f"cache warm{until}" + (f" · {fmt.tokens(reused)} reused" if reused else "")


def misses_cache(state: AppState, discussion_id: str) -> bool:
    """True if the next request, by its one estimate, reads nothing of what is held: effort, tools or text changed."""
    request = next_request(state, discussion_id)
    return discussion_id in state.caching.plans and request is not None and not request.read_tokens_est


def _workers(state: AppState, ui: Ui, *, is_tight: bool) -> None:
    """Draw what is at work; where room is short by its sign alone, unless it failed."""
    for name, worker in state.program.workers.items():
        if worker.status == "idle":
            continue
        tone: Tone = "error" if worker.status == "failed" else "muted"
        with ui.row(("worker", name), gap=6):
            words, has_failed = worker.detail or worker.name, worker.status == "failed"
            tip = words if is_tight else ""
            ui.icon("icon", "circle-exclamation" if has_failed else "gear", tone=tone, tip=tip)
            if has_failed or not is_tight:
                ui.text("detail", words, tone=tone, style="small", tip=worker.name)
            if worker.fraction is not None:
                ui.progress("fraction", worker.fraction, width=28 if is_tight else 64)
    calls = sum(is_at_work(state, name) for name in state.turns.calls.keys() | state.agent.turns.keys())
    if calls:
        words = fmt.count(calls, "reply under way", "replies under way")
        if is_tight:
            ui.icon("calls", "comments", tone="accent", tip=words)
        else:
            ui.text("calls", words, tone="accent", style="small")


def _autonomy(desk: Desk, *, is_tight: bool) -> None:
    """State of the autonomous discussion and the time to its next turn; a click goes there."""
    autonomy = desk.state.attention.autonomy
    if autonomy is None:
        return
    icon, _, words = autonomy_words(autonomy, desk.state.now)
    row = desk.state.discussions.summaries.get(autonomy.discussion_id)
    name = f"“{row.meta.name}”" if row is not None else "A discussion"
    label = words.rpartition(" · ")[2] if is_tight else words
    tip = f"{name} goes on alone: {words}. {autonomy.stopped or MEANINGS[autonomy.state]}"
    if desk.ui.button("autonomy", label, icon=icon, kind="ghost", is_small=True, tip=tip):
        desk.send(SelectDiscussion(autonomy.discussion_id))
        show_autonomy(desk)


def _questions(desk: Desk, *, is_tight: bool) -> None:
    """Say that tool calls wait for a yes, in whatever discussion; a click goes there."""
    waiting = questions(desk)
    if not waiting:
        return
    count = sum(number for _, number in waiting)
    words = f"{fmt.count(count, 'tool call')} {'waits' if count == 1 else 'wait'} for you"
    label = f"{count:,}" if is_tight else words
    if desk.ui.button(
        "questions", label, icon="shield-halved", kind="ghost", is_small=True, tip=f"{words}: go there"
    ):
        go_to_question(desk, waiting[0][0])
