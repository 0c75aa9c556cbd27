"""Dues of the caches that come unasked: prefixes of discussions that are gone, and coming rewrites."""

from __future__ import annotations

from collections.abc import Sequence

from core.base import figures as fmt
from core.base.ids import time_of_id
from core.caching.contents import living
from core.caching.messages import DeleteOrphanedCaches
from core.caching.rewrites import has_price
from core.values.cache import CacheOrphan, Rewrite
from core.values.state import AppState
from core.values.updates import is_busy
from panels.base import selection
from panels.base.desk import Desk
from panels.base.ui import Ui

MOST_ROWS = 5
"""Rows that are shown of each, the dearest first."""
THEIRS = (
    "They were stored under this key by Manual Slop and are billed until they expire."
    " Another home or computer with the same key may still use them."
)


def due_rewrites(state: AppState) -> tuple[Rewrite, ...]:
    """Rewrites of discussions that are not being answered, the largest first."""
    due = (
        one
        for name, one in state.caching.rewrites.items()
        if name in state.discussions.summaries and not is_busy(state, name)
    )
    return tuple(sorted(due, key=lambda one: (-one.tokens, one.discussion_id)))


def rewrite_text(rewrite: Rewrite) -> str:
    """Tokens and cost of a rewrite: `≈12.3k tokens, est. $0.041`."""
    return f"{fmt.tokens_est(rewrite.tokens)} tokens, {_estimate(rewrite.cost_usd, rewrite.most_usd)}"


def rewrites_section(desk: Desk) -> None:
    """Draw which discussions pay for a change of knowledge on their next turn."""
    state = desk.state
    due = due_rewrites(state)
    _section(desk, "rewrites", "Will be rewritten on the next turn", [r for r in due if not r.is_appended])
    _section(desk, "appended", "Joins the next message", [r for r in due if r.is_appended])


def _section(desk: Desk, key: str, title: str, due: Sequence[Rewrite]) -> None:
    ui, state = desk.ui, desk.state
    if not due:
        return
    with ui.surface(key, "card", padding=(12, 10)), ui.group("lines", gap=8):
        with ui.row("title"):
            if key == "rewrites" and any(map(has_price, due)):
                ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("title", title, style="strong", width=0)
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
    cost = _estimate(sum(known) if known else None, most)
    more = " and more at an unknown price" if known and len(known) < len(due) else ""
    return f"Together {tokens} tokens, {cost}{more}"


def _estimate(usd: float | None, most_usd: float | None) -> str:
    if usd is None:
        return fmt.money(None)
    most = f", up to {fmt.money(most_usd)}" if most_usd is not None and most_usd > usd else ""
    return f"{'free' if usd <= 0 else f'est. {fmt.money(usd)}'}{most}"


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
    label = "Delete" if count == 1 else "Delete all"
    if desk.ui.button("delete", label, icon="trash", is_small=True, is_enabled=can, tip=tip):
        desk.send(DeleteOrphanedCaches())


def orphans_text(state: AppState, orphans: Sequence[CacheOrphan]) -> str:
    """`2 Gemini caches of discussions that are gone, 40.0k tokens, ~$0.020 an hour until 15:32`."""
    labels = {selection.provider_label(state, one.provider) for one in orphans}
    known = [one.usd_per_hour for one in orphans if one.usd_per_hour is not None]
    rent = f"~{fmt.money(sum(known))} an hour" if known else "at an unknown price"
    if known and len(known) < len(orphans):
        rent += " and more at an unknown price"
    last = fmt.clock(max(one.expires_at for one in orphans))
    count = fmt.count(len(orphans), f"{' and '.join(sorted(labels))} cache")
    whose = "of a discussion that is gone" if len(orphans) == 1 else "of discussions that are gone"
    return f"{count} {whose}, {fmt.tokens(sum(one.tokens for one in orphans))} tokens, {rent} until {last}"


def _orphan(desk: Desk, orphan: CacheOrphan) -> None:
    ui = desk.ui
    with ui.group(("orphan", orphan.name), gap=0):
        _orphan_line(desk, orphan)
        rent = "" if orphan.usd_per_hour is None else f", {fmt.money(orphan.usd_per_hour)} an hour"
        figures = f"{fmt.tokens(orphan.tokens)}{rent}, until {fmt.clock(orphan.expires_at)}"
        ui.text("figures", figures, tone="muted", style="small", width=0)


def _orphan_line(desk: Desk, orphan: CacheOrphan) -> None:
    ui, state = desk.ui, desk.state
    with ui.row("line"):
        name = orphan_name(state, orphan)
        tip = "\n".join(filter(None, (name, orphan.discussion_id, orphan.name, orphan.model)))
        ui.text("name", name, style="small", width=0, tip=tip)
        can = not state.program.is_home_read_only
        if ui.button(
            "delete", "", icon="trash", kind="ghost", is_small=True, is_enabled=can, tip=f"Delete {name}"
        ):
            desk.send(DeleteOrphanedCaches(orphan.name))


def orphan_name(state: AppState, orphan: CacheOrphan) -> str:
    """The discussion's name while it is in the trash, else when it began, else the vendor's name of the cache."""
    trashed = next((t.name for t in state.discussions.trash if t.discussion_id == orphan.discussion_id), "")
    if trashed:
        return f"{trashed} (in the trash)"
    began = time_of_id(orphan.discussion_id)
    return (
        f"Begun {fmt.moment(began, state.now)}" if began is not None else orphan.discussion_id or orphan.name
    )


def _rest(ui: Ui, found: Sequence[object]) -> None:
    if len(found) > MOST_ROWS:
        ui.text("rest", f"and {len(found) - MOST_ROWS} more", tone="muted", style="small")
