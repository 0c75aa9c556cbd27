"""The memory part of the Usage panel: tokens that memory added, what replies used of it, and what none ever used."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.facts import DiscussionMemory, ItemWords, MemoryUse
from core.knowledge.memory_use import UNUSED_AFTER
from panels.base.desk import Desk

SHOWN = 8
CHARS = 120


def memory_section(desk: Desk) -> None:
    """Draw the part; nothing before a reply came with memory on. O(discussions)."""
    use = desk.state.evidence.use
    if use is None or not use.discussions:
        return
    ui = desk.ui
    rows = desk.view.memo.get("memory use", (use,), lambda: _most(use))
    with ui.group("memory", gap=6):
        ui.text("title", tr("Knowledge"), style="strong")
        ui.text("total", total_line(use), tone="muted", style="small", wraps=True)
        for one in rows:
            summary = desk.state.discussions.summaries.get(one.discussion)
            with ui.row(("memory of", one.discussion)):
                name = (
                    one_line(summary.meta.name, CHARS)
                    if summary is not None
                    else tr("a discussion that no longer exists")
                )
                ui.text("name", name, style="small", width=0, tip=name)
                ui.text("words", row_line(one), tone="muted", style="small")
        if use.proposed:
            _proposed(desk, use.proposed)


def total_line(use: MemoryUse) -> str:
    """Sum over all discussions in a sentence."""
    tokens = sum(one.tokens_est for one in use.discussions)
    requests = sum(one.requests for one in use.discussions)
    quoted = sum(one.quoted for one in use.discussions)
    times = tr("once") if quoted == 1 else tr("{quoted:,} times", quoted=quoted)
    added = tr(
        "Knowledge added {tokens} tokens to {requests}.",
        tokens=fmt.tokens_est(tokens),
        requests=fmt.count(requests, tr("request"), tr("requests")),
    )
    return tr("{added} Replies used its items {times}.", added=added, times=times if quoted else tr("never"))


def row_line(one: DiscussionMemory) -> str:
    """Memory of one discussion: `≈1.2k tok · 3 requests · 2 used`."""
    return tr(
        "{tokens_est} tok · {requests} · {quoted:,} used",
        tokens_est=fmt.tokens_est(one.tokens_est),
        requests=fmt.count(one.requests, tr("request"), tr("requests")),
        quoted=one.quoted,
    )


def _most(use: MemoryUse) -> tuple[DiscussionMemory, ...]:
    return tuple(sorted(use.discussions, key=lambda one: (-one.tokens_est, one.discussion))[:SHOWN])


def _proposed(desk: Desk, proposed: tuple[ItemWords, ...]) -> None:
    """Items that no reply used, each with a way to where it can be deleted."""
    ui = desk.ui
    text = tr(
        "No reply used these in {UNUSED_AFTER} requests. Delete what you no longer need.",
        UNUSED_AFTER=UNUSED_AFTER,
    )
    ui.text("unused", text, style="small", wraps=True)
    for number, one in enumerate(proposed[:SHOWN]):
        with ui.row(("unused", number)):
            ui.text("text", one_line(one.text, CHARS), tone="muted", style="small", width=0, tip=one.text)
    if ui.button("open", tr("Open Knowledge"), icon="book", kind="ghost", is_small=True):
        desk.view.show_hub("knowledge")
    if len(proposed) > SHOWN:
        ui.text(
            "more", tr("and {proposed:,} more", proposed=len(proposed) - SHOWN), tone="faint", style="small"
        )
