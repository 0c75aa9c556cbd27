"""The memory part of the Usage panel: tokens that memory added, what replies used of it, and what none ever used."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.facts import DiscussionMemory, ItemWords, MemoryUse
from core.kernel.values.knowledge import Item, KnowledgeState
from core.knowledge.knowledge_messages import ArchiveItem
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
    """Items and facts that no reply used; an item has a button for the archive. Sends ArchiveItem."""
    ui = desk.ui
    text = tr(
        "No reply used these in {UNUSED_AFTER} requests. You can archive them; no request contains archived items.",
        UNUSED_AFTER=UNUSED_AFTER,
    )
    ui.text("unused", text, style="small", wraps=True)
    known = desk.state.knowledge
    standing = desk.view.memo.get("items by words", (known.categories, known.notes), lambda: _by_words(known))
    for number, one in enumerate(proposed[:SHOWN]):
        with ui.row(("unused", number)):
            ui.text("text", one_line(one.text, CHARS), tone="muted", style="small", width=0, tip=one.text)
            item = standing.get((one.category, one.text))
            if item is not None and ui.button(
                "archive",
                tr("Archive"),
                icon="box-archive",
                kind="ghost",
                is_small=True,
                is_enabled=not desk.state.program.is_home_read_only,
            ):
                desk.ask(ArchiveItem(item))
    if len(proposed) > SHOWN:
        ui.text(
            "more", tr("and {proposed:,} more", proposed=len(proposed) - SHOWN), tone="faint", style="small"
        )
    if ui.button("open", tr("Open Knowledge"), icon="book", kind="ghost", is_small=True):
        desk.view.show_hub("knowledge")


def _by_words(known: KnowledgeState) -> dict[tuple[str, str], Item]:
    return {(item.category.value, item.text): item for item in known.items}
