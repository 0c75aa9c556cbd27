"""Batches at the provider in the Harvest panel: what waits there, since when, and what stood against it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import datetime

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.harvest import BatchReport
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus
from core.knowledge.harvest.batch_step import POLL, batch_line, polling_words
from core.knowledge.harvest.harvest_messages import BatchHarvest, CancelBatches, LeaveBatch
from panels.base.desk import Desk, ListRows
from panels.base.ui import Column, Option, Tone, Ui
from panels.base.view import Dialog, Same
from panels.harvest import harvest_facts
from panels.harvest.harvest_room import SHOWN_PROBLEMS, HarvestView

POLLS = tr("The program asks for results every {minutes} minutes", minutes=POLL.seconds // 60)
POLLS_PX = 330.0
"""Width from which that is said to its end beside the buttons, in two lines."""


def batches_section(desk: Desk) -> None:
    """Draw a line for each open batch, the ways to collect and to stop them, and what became of the last ones.

    Sends BatchHarvest, CancelBatches, LeaveBatch.
    """
    ui, harvest = desk.ui, desk.state.harvest
    _untick_unanswered(desk)
    if harvest.look.batches:
        _open_batches(desk)
    if harvest.is_past_limit and harvest.batch is not None:
        _past_limit(desk)
    told = harvest.batched or BatchReport()
    for one in told.batches:
        if not one.is_open:
            with ui.row(("closed", one.tag)):
                ui.icon("icon", "clock-rotate-left", tone="muted")
                line = batch_line(one, desk.state.now)
                ui.text("text", line, tone="muted", style="small", wraps=True, width=0)
    for index, problem in enumerate(told.problems[:SHOWN_PROBLEMS]):
        ui.text(("batch problem", index), problem, tone="warn", style="small", wraps=True)
    if (more := len(told.problems) - SHOWN_PROBLEMS) > 0:
        ui.text(
            "more batch problems",
            tr("and 1 more problem") if more == 1 else tr("and {more:,} more problems", more=more),
            tone="warn",
            style="small",
        )


def _open_batches(desk: Desk) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    is_free = not harvest.is_busy and not desk.state.program.is_home_read_only
    with ui.row("batches"):
        ui.icon("icon", "clock", tone="accent")
        with ui.group("lines", gap=2):
            for one in harvest.look.batches:
                line = batch_line(one, desk.state.now)
                ui.text(("line", one.tag), line, style="small", wraps=True, tip=polling_words())
    with ui.row("batch buttons"):
        wraps = ui.width() >= POLLS_PX
        ui.text("polls", POLLS, tone="muted", style="small", width=0, wraps=wraps, tip=polling_words())
        tip = tr("Ask the provider for results now; previewing them costs nothing more")
        if ui.button("collect", tr("Collect"), is_small=True, is_enabled=is_free, tip=tip):
            desk.view.of(HarvestView).waits_for_batch = True
            desk.send(BatchHarvest(submits=False, previews=True))
        tip = tr("Stop the batches at the provider; finished answers are kept and billed")
        can = is_free and not all(one.is_unwanted for one in harvest.look.batches)
        if ui.button("stop", tr("Cancel…"), kind="ghost", is_small=True, is_enabled=can, tip=tip):
            desk.view.dialog = Dialog(kind="harvest_cancel_batches", command=CancelBatches())


def _untick_unanswered(desk: Desk) -> None:
    """Untick what a batch did not answer: who chose it for its price is not led to the dear way. Show what came."""
    own, harvest = desk.view.of(HarvestView), desk.state.harvest
    if harvest.batched is own.batched_seen:
        return
    own.batched_seen = harvest.batched
    told = harvest.batched or BatchReport()
    own.left_out |= {path for one in told.batches if not one.is_open for path in one.unanswered}
    if own.waits_for_batch and harvest.preview is not None:
        own.tab = "preview"
    own.waits_for_batch = False


def _past_limit(desk: Desk) -> None:
    """Ask about a batch that would go past the day's limit. Sends BatchHarvest, LeaveBatch."""
    ui, harvest = desk.ui, desk.state.harvest
    assert isinstance(harvest.batch, BatchHarvest)
    with ui.row("past limit"):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        ui.text(
            "text", tr("The batch waits for your approval."), tone="warn", style="small", wraps=True, width=0
        )
        is_free = not harvest.is_busy and not desk.state.program.is_home_read_only
        if ui.button(
            "agree", tr("Send the batch anyway"), is_small=True, is_enabled=is_free, tip=harvest.problem
        ):
            desk.send(harvest.batch)
        if ui.button("leave", tr("Do not send the batch"), kind="ghost", is_small=True):
            desk.send(LeaveBatch())


def cancel_dialog(desk: Desk, dialog: Dialog) -> None:
    """Ask before batches are stopped. Sends CancelBatches."""
    ui, command = desk.ui, dialog.command
    waiting = desk.state.harvest.look.batches
    if not isinstance(command, CancelBatches) or not waiting:
        desk.view.dialog = None
        return
    several = fmt.count(len(waiting), tr("batch"), tr("batches"))
    with ui.dialog("cancel batches", tr("Cancel {several}?", several=several), width=460) as closed:
        for one in waiting:
            ui.text(("what", one.tag), f"{batch_line(one, desk.state.now)}.", wraps=True)
        ui.text("means", tr("Finished answers are kept and billed. The rest is not read. The conversations stay, and the provider deletes the sent data."), tone="muted", wraps=True)  # fmt: skip
        with ui.row("buttons"):
            ui.push()
            if ui.button("keep", tr("Keep batch") if len(waiting) == 1 else tr("Keep batches")):
                desk.view.dialog = None
            if ui.button("stop", tr("Cancel {several}", several=several), kind="danger"):
                desk.view.dialog = None
                desk.send(command)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


# The harvest's ledger as a table: what became of every conversation, newest first.

WIDE_PX = 640.0
ROW_PX = 42.0
TONES: dict[LedgerStatus, Tone] = {
    LedgerStatus.HARVESTED: "ok",
    LedgerStatus.HARVEST_FAILED: "error",
    LedgerStatus.TOO_LARGE: "warn",
}
WORDS = {
    LedgerStatus.HARVESTED: tr("harvested"),
    LedgerStatus.HARVEST_FAILED: tr("failed"),
    LedgerStatus.DELETED_UNHARVESTED: tr("trashed"),
    LedgerStatus.TOO_LARGE: tr("too large"),
    LedgerStatus.PRUNED: tr("empty, trashed"),
}
STATUSES = (
    Option(value="", label=tr("All")),
    *(Option(value=one.value, label=capital(words), detail=one.value) for one, words in WORDS.items()),
)
STATUS_PX = 164.0
NARROW = (Column(label=tr("Conversation")),)
WIDE = (Column(label=tr("Status"), width=STATUS_PX), Column(label=tr("Conversation")), Column(label=tr("Items or error"), weight=0.7),
        Column(label=tr("Size"), width=72, is_number=True), Column(label=tr("When"), width=104, is_number=True))  # fmt: skip


def ledger_section(desk: Desk) -> None:
    """Draw the table. O(visible)."""
    ui, own = desk.ui, desk.view.of(HarvestView)
    ledger = desk.state.harvest.look.ledger
    shown = shown_entries(desk)
    with ui.row("head"):
        ui.text("title", tr("Ledger"), style="strong")
        count = fmt.count(len(ledger), tr("entry"), tr("entries"))
        said = (
            count if len(shown) == len(ledger) else tr("{shown:,} of {count}", shown=len(shown), count=count)
        )
        ui.text("count", said, tone="faint", style="small")
    with ui.row("filters"):
        typed = ui.text_input("query", own.ledger_query, hint=tr("Find an entry"), icon="magnifying-glass")
        own.ledger_query = own.ledger_query if typed is None else typed
        chosen = ui.combo("status", STATUSES, own.status, width=128, tip=tr("Show only one status"))
        own.status = own.status if chosen is None else chosen
    if shown:
        is_wide = ui.width() >= WIDE_PX
        ui.table(
            "table",
            WIDE if is_wide else NARROW,
            LedgerRows(
                desk=desk,
                rows=shown,
                names=harvest_facts.known_names(desk.state, desk.view.memo),
                is_wide=is_wide,
            ),
        )
        return
    is_filtered = bool(ledger)
    text = (
        tr("No entry matches.")
        if is_filtered
        else tr("Nothing is harvested yet. This list shows the result for each conversation.")
        if desk.state.harvest.looked_at is not None
        else harvest_facts.not_looked(desk.state.harvest)
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
    names = harvest_facts.known_names(desk.state, memo)
    parts = (ordered, names)
    words = memo.get("ledger words", parts, lambda: tuple(
        f"{harvest_facts.path_name(names, one.path)}\n{one.path}\n{one.error}\n{one.status}".casefold() for one in ordered
    ))  # fmt: skip
    return memo.get("ledger shown", (words, query, own.status), lambda: tuple(
        one for one, said in zip(ordered, words, strict=True)
        if query in said and (not own.status or one.status == own.status)
    ))  # fmt: skip


def _when(entry: HarvestLedgerEntry) -> tuple[str, str]:
    return entry.at, entry.sha256


class LedgerRows(ListRows[HarvestLedgerEntry]):
    """The rows of the table."""

    names: Mapping[str, str]
    is_wide: bool

    @property
    def revision(self) -> Hashable:
        """Differs when the rows do: only then are they laid out again."""
        return Same(self.rows), self.is_wide

    def key(self, index: int) -> Hashable:
        """A hash."""
        return self.rows[index].sha256

    def estimate_px(self, index: int, width: float) -> float:
        """Two lines where the window is narrow."""
        return 34.0 if self.is_wide else ROW_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one call for each column."""
        entry, state = self.rows[index], self.desk.state
        name = harvest_facts.path_name(self.names, entry.path)
        when, came = harvest_facts.time_text(entry.at, state.now), _became(entry)
        tone: Tone = "error" if entry.error else "muted"
        if not self.is_wide:
            with ui.group("name", gap=2):
                ui.text("name", name, width=0, tip=entry.path)
                line = f"{when} · {fmt.size(entry.size_bytes)} · {came}"
                with ui.row("state", gap=8):
                    ui.text("items", line, tone=tone, style="small", width=0, wraps=True)
                    _status(ui, entry, state.now)
            return
        _status(ui, entry, state.now)
        ui.text("name", name, width=0, tip=entry.path)
        ui.text("items", came, tone=tone, style="small", width=0, tip=came)
        ui.text(
            "size", fmt.size(entry.size_bytes), tip=tr("{size_bytes:,} bytes", size_bytes=entry.size_bytes)
        )
        ui.text("when", when, tone="muted", tip=entry.at)


def _status(ui: Ui, entry: HarvestLedgerEntry, now: datetime | None) -> None:
    words = WORDS.get(entry.status, str(entry.status))
    if entry.undone_at:
        undone = harvest_facts.time_text(entry.undone_at, now)
        ui.text(
            "status",
            tr("undone"),
            tone="purple",
            tip=tr("{result}, then undone: {undone}", result=capital(words), undone=undone),
        )
        return
    tip = str(entry.status)
    if entry.deleted:
        tip = tr("{status}; the conversation is in the trash", status=tip)
    ui.text("status", words, tone=TONES.get(entry.status, "muted"), tip=tip)


def _became(entry: HarvestLedgerEntry) -> str:
    if entry.error:
        return entry.error
    if entry.status is LedgerStatus.HARVESTED:
        return harvest_facts.items_words([(one.value, entry.items.get(one.value, 0)) for one in Category])
    return tr("in the trash") if entry.deleted else tr("kept")
