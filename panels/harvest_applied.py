"""What the harvest wrote: the report of the last apply or undo, and every apply with its way back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from core.knowledge_text.harvest_report import size_text
from core.values import commands as c
from core.values.harvest import (
    ApplySummary,
    ArtifactClass,
    HarvestReport,
    UndoReport,
)
from core.values.state import AppState
from panels import format as fmt
from panels import harvest_facts as facts
from panels.actions import Desk
from panels.memo import Same
from panels.ui import Style, Tone, Ui


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a report. `detail`: muted, under it; `leads_to`: id of a discussion."""

    key: str
    text: str
    detail: str = ""
    tone: Tone = "text"
    style: Style = "body"
    icon: str = ""
    leads_to: str = ""


Row = Line | ApplySummary


def applied_section(desk: Desk) -> None:
    """Draw the part. O(visible)."""
    harvest = desk.state.harvest
    lines = desk.view.memo.get(
        "harvest applied",
        (harvest.report, harvest.undone, harvest.look.applies, desk.state.summaries),
        lambda: _rows(desk.state),
    )
    if not lines:
        text = "Nothing was applied yet. What is written stands here, and can be taken back."
        desk.ui.text("none", text, tone="muted", style="small", wraps=True)
        return
    _undo_row(desk)
    desk.ui.virtual_list("rows", AppliedRows(desk, lines))


def newest(applies: Sequence[ApplySummary]) -> ApplySummary | None:
    """The newest apply that stands."""
    return next((one for one in applies if not one.undone_at), None)


def _undo_row(desk: Desk) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    last = newest(harvest.look.applies)
    with ui.row("head"):
        ui.text("title", "Applied", style="strong")
        ui.text(
            "count",
            fmt.count(len(harvest.look.applies), "apply", "applies"),
            tone="faint",
            style="small",
            width=0,
        )
        can, why = _can_undo(desk, last)
        if ui.button("undo", "Undo the last", icon="rotate-left", is_small=True, is_enabled=can, tip=why):
            desk.send(c.UndoHarvest())


def _can_undo(desk: Desk, last: ApplySummary | None) -> tuple[bool, str]:
    state = desk.state
    if state.is_home_read_only:
        return False, "This home is read-only: nothing can be saved"
    if state.harvest.is_busy:
        return False, "Wait for the end of what is under way"
    if last is None:
        return False, "There is nothing to take back"
    return True, "Takes its items out and brings its conversations back; what you changed since is left"


def _rows(state: AppState) -> tuple[Row, ...]:
    harvest = state.harvest
    out: list[Row] = []
    if harvest.undone is not None:
        out += _undone(state, harvest.undone)
    if harvest.report is not None:
        out += _report(harvest.report)
    if harvest.look.applies:
        out.append(Line("applies", "All applies", style="small_strong", tone="muted"))
        out += harvest.look.applies
    return tuple(out)


def _report(report: HarvestReport) -> list[Row]:
    names = fmt.count(sum(count for _, count in report.items), "item")
    out: list[Row] = [
        Line(
            "wrote",
            f"{names} written",
            facts.items_words(report.items),
            style="strong",
            icon="circle-check",
            tone="ok",
        ),
        Line("reclaimed", f"{size_text(report.reclaimed_bytes)} reclaimed", "moved to the trash"),
    ]
    if report.known:
        out.append(Line("known", f"{fmt.count(report.known, 'item')} known already", "not written again"))
    if report.dropped:
        out.append(
            Line("dropped", fmt.count(report.dropped, "malformed row dropped", "malformed rows dropped"))
        )
    if report.stopped:
        out.append(Line("stopped", "It ended early", report.stopped, tone="error", icon="circle-exclamation"))
    out += [
        Line(f"failed {index}", f"Kept: {one.name}", one.reason, tone="error", icon="circle-exclamation")
        for index, one in enumerate(report.failures)
    ]
    kept = [one for one in report.artifacts if one.kind is ArtifactClass.KEEP]
    out += [Line(f"kept {one.facts.path}", f"Kept: {facts.name_of(one.facts)}", one.why) for one in kept]
    if report.digest_path:
        out.append(Line("digest", "Digest", report.digest_path))
    if report.ledger_path:
        out.append(Line("ledger", "Ledger", report.ledger_path))
    return out


def _undone(state: AppState, report: UndoReport) -> list[Row]:
    out: list[Row] = [
        Line("undone", "Taken back", f"{fmt.count(report.removed, 'line')} taken out", style="strong",
             icon="rotate-left", tone="purple"),
    ]  # fmt: skip
    if report.left:
        count = fmt.count(len(report.left), "line")
        out.append(Line("left", f"{count} left, because you changed them since", tone="warn", icon="pen"))
        out += [Line(f"left {index}", "", line) for index, line in enumerate(report.left)]
    for one in report.restored:
        summary = state.summaries.get(one)
        name = summary.meta.name if summary is not None else one
        out.append(Line(f"back {one}", name, "is back", leads_to=one if summary is not None else ""))
    out += [
        Line(f"problem {index}", "Could not be taken back", text, tone="error", icon="circle-exclamation")
        for index, text in enumerate(report.problems)
    ]
    return out


@dataclass(slots=True)
class AppliedRows:
    """The rows of the list."""

    desk: Desk
    rows: Sequence[Row]

    @property
    def revision(self) -> Hashable:
        """The rows themselves."""
        return Same(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> Hashable:
        """A line's key, or an apply's id."""
        row = self.rows[index]
        return ("line", row.key) if isinstance(row, Line) else ("apply", row.id)

    def estimate_px(self, index: int, width: float) -> float:
        """Two lines."""
        return 44.0 if isinstance(self.rows[index], Line) else 60.0

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a row."""
        row = self.rows[index]
        if isinstance(row, Line):
            _line(self.desk, ui, row)
        else:
            _apply_card(self.desk, ui, row)


def _line(desk: Desk, ui: Ui, line: Line) -> None:
    with ui.group(("line", line.key), gap=2):
        if line.text:
            with ui.row("row"):
                if line.icon:
                    ui.icon("icon", line.icon, tone=line.tone)
                ui.text("text", line.text, tone=line.tone, style=line.style, width=0, tip=line.text)
                tip = f"Show {line.text}"
                if line.leads_to and ui.button(
                    "show", "", icon="arrow-right", kind="ghost", is_small=True, tip=tip
                ):
                    desk.view.page = "chat"
                    desk.send(c.SelectDiscussion(line.leads_to))
        if line.detail:
            style: Style = "mono_small" if line.key in {"digest", "ledger"} else "small"
            ui.text("detail", line.detail, tone="muted", style=style, wraps=True)


def _apply_card(desk: Desk, ui: Ui, one: ApplySummary) -> None:
    state = desk.state
    with ui.surface(("apply", one.id), "card", padding=(12, 8)), ui.row("line"):
        with ui.group("words", gap=2):
            ui.text("at", facts.time_text(one.at, state.now), style="strong", width=0, tip=one.at)
            parts = (
                fmt.count(one.items, "item"),
                fmt.count(one.conversations, "conversation"),
                f"{one.reclaimed:,} in the trash" if one.reclaimed and not one.undone_at else "",
            )
            ui.text("what", " · ".join(filter(None, parts)), tone="muted", style="small", width=0)
        if one.undone_at:
            at = facts.time_text(one.undone_at, state.now)
            ui.badge("undone", f"undone {at}", tone="purple", tip=one.undone_at)
            return
        can, why = _can_undo(desk, one)
        if ui.button("undo", "Undo", is_small=True, is_enabled=can, tip=why):
            desk.send(c.UndoHarvest(one.id))
