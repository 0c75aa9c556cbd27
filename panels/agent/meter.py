"""The context meter: how much of the model's window is used, where something happens, and what left its view."""

from __future__ import annotations

from core.base import figures as fmt
from core.context.budget import FULL_PERCENT, TOLD_PERCENT, USED_PERCENT, is_full, is_told
from core.context.window_use import context_window
from core.values.window import ContextWindow
from panels.base.desk import Desk
from panels.base.ui import Tone

MARKS = tuple(percent / 100 for percent in (USED_PERCENT, TOLD_PERCENT, FULL_PERCENT))
METER_TIP = (
    f"{USED_PERCENT} %: a view that is made anew fills no more. {TOLD_PERCENT} %: the model is told to write its journal. "
    f"{FULL_PERCENT} %: older turns leave what it sees; the log keeps all"
)
ASSUMED = "Nobody knows the window of this model: {:,} tokens are assumed."


def meter(desk: Desk) -> None:
    """Draw the meter of the selected discussion, nothing where none is open."""
    ui, window = desk.ui, _window(desk)
    if window is None:
        return
    tone = window_tone(window)
    with ui.row("meter"):
        ui.text("name", "Context", style="small", tone="muted")
        ui.text("figure", window_words(window), style="small", tone=tone, width=0, tip=window_tip(window))
    ui.progress("bar", window.share, tone="accent" if tone == "muted" else tone, height=4, marks=MARKS)
    if window.is_assumed and not _is_asked(desk):
        said = ASSUMED.format(window.limit_tokens)
        ui.text("assumed", said, tone="warn", style="small", wraps=True)
    if window.left_messages:
        ui.text("left", left_line(window), tone="muted", style="small", wraps=True,
                tip="The conversation marks where its view begins")  # fmt: skip


def _window(desk: Desk) -> ContextWindow | None:
    """Use of the window, made anew when something that it is made from is another."""
    state, chosen = desk.state, desk.state.discussions.selected_id
    parts = (
        desk.opened,
        desk.summary,
        state.context.reports.get(chosen),
        state.agent.compactions.get(chosen),
        state.config,
    )
    return desk.view.memo.get("context window", parts, lambda: context_window(state, chosen))


def _is_asked(desk: Desk) -> bool:
    """True while a server still tells of its models, and their windows with them."""
    asking = desk.state.program.workers.get("models")
    return asking is not None and asking.status == "busy"


def window_words(window: ContextWindow) -> str:
    """Used tokens against the window: `≈18.4k / 200k · 9 %`."""
    used = fmt.tokens_est(window.used_tokens, is_exact=window.is_reported)
    assumed = " assumed" if window.is_assumed else ""
    return f"{used} / {fmt.tokens(window.limit_tokens)}{assumed} · {fmt.share(window.used_tokens, window.limit_tokens)}"


def window_tip(window: ContextWindow) -> str:
    """Meaning of the figure and of the marks."""
    how = "as its provider told" if window.is_reported else "counted here"
    return f"{window.used_tokens:,} of {window.limit_tokens:,} tokens: the last request and its reply, {how}\n{METER_TIP}"


def window_tone(window: ContextWindow) -> Tone:
    """Amber from where the model is told, red from where the view is made anew."""
    if is_full(window.used_tokens, window.limit_tokens):
        return "error"
    return "warn" if is_told(window.used_tokens, window.limit_tokens) else "muted"


def left_line(window: ContextWindow) -> str:
    """Messages that left the model's view."""
    messages = fmt.count(window.left_messages, "message")
    return f"{messages}, {fmt.tokens_est(window.left_tokens_est)} tokens, left its view; the log keeps them."
