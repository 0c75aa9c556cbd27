"""The mark where the model's view begins: how much stands above it, and what the model is told of that."""

from __future__ import annotations

from core.base import figures as fmt
from core.values.discussion import OpenDiscussion
from core.values.window import ViewCut
from panels.base.ui import Ui
from panels.discussion.view import DiscussionView

SHORTER = "The model's view was made shorter"
"""Title where every message is in it."""


def view_mark(own: DiscussionView, ui: Ui, opened: OpenDiscussion, cut: ViewCut) -> None:
    """Draw it above the first message that the model sees. What left stands above, whole."""
    place = (opened.id, cut.id)
    is_open, has_words = place in own.open_views, bool(cut.summary.strip() or cut.journal.strip())
    with ui.surface("view", "inset", padding=(12, 6)), ui.group("parts", gap=6):
        with ui.row("line", gap=6):
            ui.icon("icon", "scissors", tone="accent")
            title = "The model's view begins here" if cut.left_messages else SHORTER
            ui.text("title", title, style="small_strong", width=0)
            label = "Hide it" if is_open else "What it is told of them"
            if has_words and ui.button("fold", label, kind="link", is_small=True):
                own.open_views ^= {place}
        ui.text("left", left_words(cut, " above"), tone="muted", style="small", wraps=True)
        if is_open:
            for key, title, text in (
                ("summary", "A summary", cut.summary),
                ("journal", "Its journal", cut.journal),
            ):
                if text.strip():
                    ui.text((key, "title"), title, tone="faint", style="small")
                    ui.markdown(key, text)


def left_words(cut: ViewCut, where: str = "") -> str:
    """Words of what left: `12 messages above, ≈3.4k tokens, left it; the log keeps them`. `where`: as ` above`."""
    left = fmt.count(cut.left_messages, "message")
    tokens = fmt.tokens_est(cut.left_tokens_est)
    said = [f"{left}{where}, {tokens} tokens, left it; the log keeps them"] if cut.left_messages else []
    said += [f"{fmt.count(len(cut.calls), 'tool call')} left with it"] if cut.calls else []
    said += [f"{fmt.count(len(cut.shrunk), 'long result')} shown by head and tail"] if cut.shrunk else []
    is_told = not cut.left_messages or cut.summary.strip() or cut.journal.strip()
    words = "; ".join(said) or "No message left it"
    return f"{words}." + ("" if is_told else " Nothing tells of them.")
