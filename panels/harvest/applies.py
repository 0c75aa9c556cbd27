"""Applies of the harvest: the report of the last apply or undo, and every apply with its way back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import PurePath

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.harvest import ApplySummary, ArtifactClass, HarvestReport, UndoReport
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import UndoHarvest
from core.knowledge.harvest.harvest_report import apply_line, apply_title
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.desk import READ_ONLY, Desk, ListRows
from panels.base.gauge import file_button
from panels.base.ui import Style, Tone, Ui
from panels.harvest import harvest_facts

GAP_PX = 8.0


class ApplyLine(msgspec.Struct, frozen=True):
    """A line of a report. `detail`: muted, under it; `leads_to`: id of a discussion."""

    key: str
    text: str
    detail: str = ""
    tone: Tone = "text"
    style: Style = "body"
    icon: str = ""
    leads_to: str = ""


class ApplyCard(msgspec.Struct, frozen=True):
    """Card of a run's work, at a glance. `paths`: of the files that it wrote; `has_items`: there are some to look at."""

    key: str
    title: str
    icon: str
    tone: Tone
    lines: tuple[str, ...]
    paths: tuple[str, ...] = ()
    has_items: bool = False


Row = ApplyCard | ApplyLine | ApplySummary


def applied_section(desk: Desk) -> None:
    """Draw the part. O(visible)."""
    harvest = desk.state.harvest
    lines = desk.view.memo.get(
        "harvest applied",
        (
            harvest.report,
            harvest.undone,
            harvest.preview is None,
            harvest.look.applies,
            desk.state.discussions.summaries,
        ),
        lambda: _rows(desk.state, harvest_facts.known_names(desk.state, desk.view.memo)),
    )
    if not lines:
        nothing = tr("You have not applied anything yet. Applied items appear here, and you can undo them.")
        text = nothing if harvest.looked_at is not None else harvest_facts.not_looked(harvest)
        desk.ui.text("none", text, tone="muted", style="small", wraps=True)
        return
    _undo_row(desk)
    desk.ui.virtual_list("rows", AppliedRows(desk, lines))


def newest(applies: Sequence[ApplySummary]) -> ApplySummary | None:
    """The newest apply that nobody has undone."""
    return next((one for one in applies if not one.undone_at), None)


def count_words(applies: Sequence[ApplySummary]) -> str:
    """Number of harvests that stand, and of those that were undone."""
    undone = sum(bool(one.undone_at) for one in applies)
    parts = (
        fmt.count(len(applies) - undone, tr("harvest"), tr("harvests")) if len(applies) > undone else "",
        tr("{undone:,} undone", undone=undone) if undone else "",
    )
    return " · ".join(filter(None, parts))


def _undo_row(desk: Desk) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    last = newest(harvest.look.applies)
    with ui.row("head"):
        ui.text("title", tr("Applied"), style="strong")
        ui.text(
            "count",
            count_words(harvest.look.applies),
            tone="faint",
            style="small",
            width=0,
        )
        can, why = _can_undo(desk, last)
        if ui.button(
            "undo", tr("Undo last harvest"), icon="rotate-left", is_small=True, is_enabled=can, tip=why
        ):
            desk.send(UndoHarvest())


def _can_undo(desk: Desk, last: ApplySummary | None) -> tuple[bool, str]:
    state = desk.state
    if state.program.is_home_read_only:
        return False, READ_ONLY
    if state.harvest.is_busy:
        return False, tr("Wait until the current work ends")
    if state.harvest.question is not None:
        return False, tr("Answer the question above first")
    if last is None:
        return False, tr("There is nothing to undo")
    return True, tr("Removes the items and brings the conversations back; your later changes stay")


def _rows(state: AppState, names: Mapping[str, str]) -> tuple[Row, ...]:
    harvest = state.harvest
    out: list[Row] = []
    if harvest.undone is not None:
        out += _undone(state, harvest.undone)
    if harvest.report is not None:
        out += _report(harvest.report, names, has_more=harvest.preview is not None)
    if harvest.look.applies:
        out.append(ApplyLine(key="applies", text=tr("All harvests"), style="small_strong", tone="muted"))
        out += harvest.look.applies
    return tuple(out)


def _report(report: HarvestReport, names: Mapping[str, str], *, has_more: bool) -> list[Row]:
    written = sum(count for _, count in report.items)
    out: list[Row] = [_summary(report, written)]
    if report.stopped:
        out.append(
            ApplyLine(
                key="stopped",
                text=tr("The harvest stopped before it wrote every item"),
                detail=report.stopped,
                tone="error",
                icon="circle-exclamation",
            )
        )
        if has_more:
            text = tr("The preview still holds the items that were not written.")
            out.append(ApplyLine(key="more", text=text, tone="muted", icon="list-check"))
    kept = [one for one in report.artifacts if one.kind is ArtifactClass.KEEP]
    if report.failures or kept:
        out.append(
            ApplyLine(
                key="kept",
                text=tr("Kept · {count:,}", count=len(report.failures) + len(kept)),
                style="small_strong",
                tone="muted",
            )
        )
    out += [
        ApplyLine(
            key=f"failed {index}",
            text=harvest_facts.failed_name(names, one),
            detail=one.reason,
            tone="error",
            icon="circle-exclamation",
        )
        for index, one in enumerate(report.failures)
    ]
    out += [
        ApplyLine(
            key=f"kept {one.facts.path}",
            text=harvest_facts.name_of(one.facts),
            detail=one.why,
            icon="box-archive",
        )
        for one in kept
    ]
    return out


def _summary(report: HarvestReport, written: int) -> ApplyCard:
    aside = (
        tr("{reclaimed_bytes} moved to the trash", reclaimed_bytes=fmt.size(report.reclaimed_bytes))
        if report.reclaimed_bytes
        else tr("nothing was moved to the trash"),
        tr(
            "{struck} struck through, because new items replace them",
            struck=fmt.count(report.struck, tr("known item"), tr("known items")),
        )
        if report.struck
        else "",
        tr("{known:,} known already, not written again", known=report.known) if report.known else "",
        *harvest_facts.left_out_words(report.dropped, report.unfound, report.forgotten),
        tr(
            "structured facts not written yet: the program cannot read {files}",
            files=", ".join(report.held_files),
        )
        if report.held_files
        else "",
    )
    return ApplyCard(
        key="report", title=tr("{written} written", written=fmt.count(written, tr('item'), tr('items'))), icon="circle-check", tone="ok",
        lines=(harvest_facts.items_words(report.items), " · ".join(filter(None, aside))),
        paths=tuple(path for path in (report.digest_path, report.ledger_path) if path),
        has_items=written > 0,
    )  # fmt: skip


def _undone(state: AppState, report: UndoReport) -> list[Row]:
    removed = tr("The undo removed {lines}", lines=fmt.count(report.removed, tr("line"), tr("lines")))
    back = fmt.count(len(report.restored), tr("conversation is back"), tr("conversations are back"))
    out: list[Row] = [
        ApplyCard(key="undone", title=tr("Undone"), icon="rotate-left", tone="purple",
             lines=(" · ".join((removed, back) if report.restored else (removed,)),)),
    ]  # fmt: skip
    if report.left:
        kept = fmt.count(
            len(report.left),
            tr("line kept, because you changed it since"),
            tr("lines kept, because you changed them since"),
        )
        out.append(
            ApplyLine(
                key="left",
                text=kept,
                tone="warn",
                icon="pen",
            )
        )
        out += [
            ApplyLine(key=f"left {index}", text="", detail=line) for index, line in enumerate(report.left)
        ]
    for one in report.restored:
        summary = state.discussions.summaries.get(one)
        name = summary.meta.name if summary is not None else one
        leads_to = one if summary is not None else ""
        out.append(ApplyLine(key=f"back {one}", text=name, icon="comments", leads_to=leads_to))
    out += [
        ApplyLine(
            key=f"problem {index}",
            text=tr("The program could not undo this"),
            detail=text,
            tone="error",
            icon="circle-exclamation",
        )
        for index, text in enumerate(report.problems)
    ]
    return out


class AppliedRows(ListRows[Row]):
    """The rows of the list."""

    def key(self, index: int) -> Hashable:
        """A line's key, or an apply's id."""
        row = self.rows[index]
        return ("apply", row.id) if isinstance(row, ApplySummary) else ("line", row.key)

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the kind of row."""
        return {ApplyCard: 130.0, ApplyLine: 44.0, ApplySummary: 84.0}[type(self.rows[index])]

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a row."""
        row = self.rows[index]
        match row:
            case ApplyCard():
                _card(self.desk, ui, row)
            case ApplyLine():
                _line(self.desk, ui, row)
            case ApplySummary():
                _apply_card(self.desk, ui, row)
        ui.gap(GAP_PX)


def _line(desk: Desk, ui: Ui, line: ApplyLine) -> None:
    with ui.group(("line", line.key), gap=2):
        if line.text:
            with ui.row("row"):
                if line.icon:
                    ui.icon("icon", line.icon, tone="muted" if line.tone == "text" else line.tone)
                ui.text("text", line.text, tone=line.tone, style=line.style, width=0, wraps=True)
                tip = tr("Show {name}", name=line.text)
                if line.leads_to and ui.button(
                    "show", "", icon="arrow-right", kind="ghost", is_small=True, tip=tip
                ):
                    desk.view.page = "chat"
                    desk.send(SelectDiscussion(line.leads_to))
        if line.detail:
            ui.text("detail", line.detail, tone="muted", style="small", wraps=True)


def _card(desk: Desk, ui: Ui, card: ApplyCard) -> None:
    with ui.surface(("card", card.key), "card", padding=(12, 10)), ui.group("lines", gap=5):
        with ui.row("title"):
            ui.icon("icon", card.icon, tone=card.tone)
            ui.text("text", card.title, style="h3", width=0)
            if card.has_items and ui.button("items", tr("Show in Knowledge"), icon="book", is_small=True):
                desk.view.show_hub("knowledge")
        for index, line in enumerate(card.lines):
            ui.text(("line", index), line, tone="muted" if index else "text", style="small", wraps=True)
        for path in card.paths:
            with ui.row(("path", path), gap=4):
                name = PurePath(path).name
                ui.text("path", name, tone="faint", style="mono_small", width=0, tip=path)
                file_button(ui, path)


def _apply_card(desk: Desk, ui: Ui, one: ApplySummary) -> None:
    state = desk.state
    with ui.surface(("apply", one.id), "card", padding=(12, 8)), ui.row("line"):
        with ui.group("words", gap=2):
            names = harvest_facts.known_names(state, desk.view.memo)
            named = [harvest_facts.path_name(names, path) for path in one.sources]
            title = apply_title(one, named)
            ui.text("title", title, style="strong", width=0, tip="\n".join((title, *named[1:])))
            if line := apply_line(one):
                ui.text("what", line, tone="muted", style="small", width=0)
            at = harvest_facts.time_text(one.at, state.now)
            ui.text("at", at, tone="faint", style="small", width=0, tip=one.at)
        if one.undone_at:
            at = harvest_facts.time_text(one.undone_at, state.now)
            ui.badge("undone", tr("undone {at}", at=at), tone="purple", tip=one.undone_at)
            return
        if one == newest(state.harvest.look.applies):
            return  # the button above the list takes it back
        can, why = _can_undo(desk, one)
        if ui.button("undo", tr("Undo"), is_small=True, is_enabled=can, tip=why):
            desk.send(UndoHarvest(apply_id=one.id))
