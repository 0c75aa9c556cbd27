"""The harvest's ledger as a table: what became of every conversation, newest first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime

import msgspec

from core.base import figures as fmt
from core.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus
from panels.base.desk import Desk
from panels.base.memo import Same
from panels.base.ui import Column, Option, Tone, Ui
from panels.harvest import facts
from panels.harvest.view import HarvestView

WIDE_PX = 640.0
ROW_PX = 42.0
TONES: dict[LedgerStatus, Tone] = {
    LedgerStatus.HARVESTED: "ok",
    LedgerStatus.HARVEST_FAILED: "error",
    LedgerStatus.TOO_LARGE: "warn",
}
WORDS = {
    LedgerStatus.HARVESTED: "harvested",
    LedgerStatus.HARVEST_FAILED: "failed",
    LedgerStatus.DELETED_UNHARVESTED: "given up",
    LedgerStatus.TOO_LARGE: "too large",
    LedgerStatus.PRUNED: "pruned",
}
STATUSES = (
    Option("", "All"),
    *(Option(one.value, words.capitalize(), one.value) for one, words in WORDS.items()),
)
NARROW = (Column("Conversation"), Column("Status", width=92, is_number=True))
WIDE = (Column("Status", width=92), Column("Conversation"), Column("Items or error", weight=0.7),
        Column("Size", width=72, is_number=True), Column("When", width=104, is_number=True))  # fmt: skip


def ledger_section(desk: Desk) -> None:
    """Draw the table. O(visible)."""
    ui, own = desk.ui, desk.view.of(HarvestView)
    ledger = desk.state.harvest.look.ledger
    shown = shown_entries(desk)
    with ui.row("head"):
        ui.text("title", "Ledger", style="strong")
        count = fmt.count(len(ledger), "entry", "entries")
        said = count if len(shown) == len(ledger) else f"{len(shown):,} of {count}"
        ui.text("count", said, tone="faint", style="small")
    with ui.row("filters"):
        typed = ui.text_input("query", own.ledger_query, hint="Find an entry", icon="magnifying-glass")
        own.ledger_query = own.ledger_query if typed is None else typed
        chosen = ui.combo("status", STATUSES, own.status, width=128, tip="Show one status")
        own.status = own.status if chosen is None else chosen
    if shown:
        is_wide = ui.width() >= WIDE_PX
        ui.table(
            "table",
            WIDE if is_wide else NARROW,
            LedgerRows(desk, shown, facts.known_names(desk.state, desk.view.memo), is_wide),
        )
        return
    is_filtered = bool(ledger)
    text = (
        "No entry is like that."
        if is_filtered
        else "Nothing was harvested yet. What becomes of a conversation stands here."
        if desk.state.harvest.looked_at is not None
        else facts.not_looked(desk.state.harvest)
    )
    ui.text("empty", text, tone="muted", style="small", wraps=True)


def shown_entries(desk: Desk) -> tuple[HarvestLedgerEntry, ...]:
    """Entries that pass the filter, newest first. Remembered."""
    memo, own = desk.view.memo, desk.view.of(HarvestView)
    ledger = desk.state.harvest.look.ledger
    ordered = memo.get("ledger", (ledger,), lambda: tuple(sorted(ledger, key=_when, reverse=True)))
    query = own.ledger_query.strip().casefold()
    if not query and not own.status:
        return ordered
    names = facts.known_names(desk.state, memo)
    parts = (ordered, names)
    words = memo.get("ledger words", parts, lambda: tuple(
        f"{facts.path_name(names, one.path)}\n{one.path}\n{one.error}\n{one.status}".casefold() for one in ordered
    ))  # fmt: skip
    return memo.get("ledger shown", (words, query, own.status), lambda: tuple(
        one for one, said in zip(ordered, words, strict=True)
        if query in said and (not own.status or one.status == own.status)
    ))  # fmt: skip


def _when(entry: HarvestLedgerEntry) -> tuple[str, str]:
    return entry.at, entry.sha256


class LedgerRows(msgspec.Struct):
    """The rows of the table."""

    desk: Desk
    entries: Sequence[HarvestLedgerEntry]
    names: Mapping[str, str]
    is_wide: bool

    @property
    def revision(self) -> Hashable:
        """The rows themselves."""
        return Same(self.entries), self.is_wide

    def __len__(self) -> int:
        return len(self.entries)

    def key(self, index: int) -> Hashable:
        """A hash."""
        return self.entries[index].sha256

    def estimate_px(self, index: int, width: float) -> float:
        """Two lines where the window is narrow."""
        return 34.0 if self.is_wide else ROW_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one call for each column."""
        entry, state = self.entries[index], self.desk.state
        name = facts.path_name(self.names, entry.path)
        when, came = facts.time_text(entry.at, state.now), _became(entry)
        tone: Tone = "error" if entry.error else "muted"
        if not self.is_wide:
            with ui.group("name", gap=2):
                ui.text("name", name, width=0, tip=entry.path)
                line = f"{when} · {fmt.size(entry.size_bytes)} · {came}"
                ui.text("items", line, tone=tone, style="small", width=0, tip=came)
            _status(ui, entry, state.now)
            return
        _status(ui, entry, state.now)
        ui.text("name", name, width=0, tip=entry.path)
        ui.text("items", came, tone=tone, style="small", width=0, tip=came)
        ui.text("size", fmt.size(entry.size_bytes), tip=f"{entry.size_bytes:,} bytes")
        ui.text("when", when, tone="muted", tip=entry.at)


def _status(ui: Ui, entry: HarvestLedgerEntry, now: datetime | None) -> None:
    words = WORDS.get(entry.status, str(entry.status))
    if entry.undone_at:
        undone = facts.time_text(entry.undone_at, now)
        ui.text("status", "undone", tone="purple", tip=f"{words.capitalize()}, and taken back: {undone}")
        return
    where = "; the conversation is in the trash" if entry.deleted else ""
    ui.text("status", words, tone=TONES.get(entry.status, "muted"), tip=f"{entry.status}{where}")


def _became(entry: HarvestLedgerEntry) -> str:
    if entry.error:
        return entry.error
    if entry.status is LedgerStatus.HARVESTED:
        return facts.items_words([(one.value, entry.items.get(one.value, 0)) for one in Category])
    return "in the trash" if entry.deleted else "kept"
