"""The dialogs of imports: choosers of files and of a folder, the preview of what they hold, and its import."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

from core.imports.import_plan import (
    KEY,
    LABELS,
    fault_text,
    left_out,
    sum_text,
    whole,
    with_place,
    without_place,
)
from core.imports.imports_messages import CancelImport, DismissImport, ImportConversations
from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.values.imports import ImportReport, ImportRow, KnownPlace
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.desk import READ_ONLY, Desk, answers
from panels.base.ui import Column, Tone, Ui
from panels.base.view import Dialog
from panels.imports.imports_room import ImportView

WIDTH_PX, HEIGHT_PX = 760, 560
NOTE_PX, SWITCH_PX, NOTES_PX, MOST_NOTES_PX, GAP_PX = 26, 34, 24, 150, 8
"""Height of the notes on what is not taken: of a line, of a switch, around them, and of all of them; the gap above."""
LOW_SHARE = 0.27
"""Part of the dialog that the notes take at most: in a low window the conversations have the rest."""
ROW_PX = 24.0
TICK = Column(label="", width=40)
BRANCHES = Column(label=tr("Branches"), width=88, is_number=True)
COLUMNS = (
    Column(label=tr("Day"), width=108),
    Column(label=tr("From"), width=96),
    Column(label=tr("Conversation")),
    Column(label=tr("New"), width=64, is_number=True),
)
WHY = Column(label=tr("New"), width=176, is_number=True)
"""The last one where it says why a conversation adds nothing."""
NARROW_PX = 560.0
"""Below this width rows have two columns, and the note is left to the documents."""
SHOWN_FAULTS = 100


def import_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog that is open, one of imports'."""
    match dialog.kind:
        case "import_files":
            _choose(desk, tr("Import conversations"), "files")
        case "import_folder":
            _choose(desk, tr("Import a folder of conversations"), "folder")
        case "import_follow":
            _ask_to_follow(desk, dialog)
        case _:
            _import(desk)


def _choose(desk: Desk, title: str, picks: Literal["files", "folder"]) -> None:
    picked = desk.ui.file_dialog(f"import {picks}", title, start=desk.state.config.project.root, picks=picks)
    if picked is None:
        return
    desk.view.dialog = Dialog(kind="import") if picked else None
    if picked:
        desk.send(ImportConversations(paths=tuple(picked)))


def _import(desk: Desk) -> None:
    """Show how far the run is, what an import would do, or what it did."""
    ui, imports = desk.ui, desk.state.imports
    report = imports.report
    title = tr("Imported") if report is not None and not report.is_dry else tr("Import conversations")
    with ui.dialog("import", title, width=WIDTH_PX, height=None if report is None else HEIGHT_PX) as closed:
        if report is not None:
            _report(desk, report)
        elif imports.is_running:
            done = fmt.count(imports.count, tr("conversation"), tr("conversations"))
            doing = tr("Reading") if imports.is_dry else tr("Importing")
            ui.text(
                "doing",
                tr(
                    "{action}: {conversations} so far. {file}",
                    action=doing,
                    conversations=done,
                    file=one_line(imports.doing, 80),
                ),
                tone="muted",
                wraps=True,
            )
        elif imports.problem:
            ui.text("problem", as_sentences(imports.problem, imports.remedy), tone="error", wraps=True)
        else:
            ui.text("begins", tr("Reading your selection…"), tone="muted")
        answer = _foot(desk, report)
    if answer == "import" and report is not None:
        desk.send(
            ImportConversations(paths=imports.paths, is_dry=False, without=desk.view.of(ImportView).left_out)
        )
    elif answer == "stop":
        desk.send(CancelImport())
    elif answer == "close" or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
        desk.send(DismissImport())


def _report(desk: Desk, report: ImportReport) -> None:
    ui, own = desk.ui, desk.view.of(ImportView)
    if own.of is not report:
        own.of, own.left_out = report, frozenset()
    ui.text("sum", f"{sum_text(report).removesuffix('.')}.", style="strong", wraps=True)
    is_wide = not 0 < ui.width() < NARROW_PX
    if is_wide and report.is_dry and report.new_count:
        text = tr(
            "The import takes only text. Nothing acts on old calls, approvals or system texts; no file is opened."
        )
        ui.text("note", text, tone="muted", style="small", wraps=True)
    notes = desk.view.memo.get("import notes", (report,), lambda: _notes(report))
    most_px = min(MOST_NOTES_PX, LOW_SHARE * ui.height()) if ui.height() > 0 else MOST_NOTES_PX
    lines_px = SWITCH_PX * len(report.places) + NOTE_PX * len(notes)
    notes_px = min(most_px, NOTES_PX + lines_px) if lines_px else 0
    if _can_choose(report):
        _choosers(desk, report)
    with ui.surface("rows", "clear", height=0, padding=(0, 0)):
        if report.rows:
            rows = _Rows(desk, report, is_wide=is_wide)
            ui.table("table", rows.columns, rows)
    if notes_px:
        with ui.surface("notes", "inset", height=notes_px - GAP_PX, padding=(12, 8), scrolls=True):
            for place in report.places:
                _follow_switch(desk, place)
            for index, (tone, line) in enumerate(notes):
                ui.text(("note", index), line, tone="warn" if tone else "muted", style="small", wraps=True)


# Following: a person's yes to each place, asked with its path.


def _follow_switch(desk: Desk, place: KnownPlace) -> None:
    """Draw the switch of one place. On asks first; off is done at once."""
    followed, is_read_only = desk.state.config.settings.imports.follow, desk.state.program.is_home_read_only
    places = desk.view.memo.get("followed places", (followed,), lambda: frozenset(map(whole, followed)))
    label = tr("Let the program import new sessions of {label} by itself", label=place.label)
    tip = READ_ONLY if is_read_only else place.path
    changed = desk.ui.checkbox(
        ("follow", place.name), label, place.path in places, is_enabled=not is_read_only, tip=tip
    )
    if changed is True:
        desk.view.dialog = Dialog(kind="import_follow", subject=place.label, text=place.path)
    elif changed is False:
        desk.send(ChangeSetting(KEY, without_place(followed, place.path) or None))


def _ask_to_follow(desk: Desk, dialog: Dialog) -> None:
    ui, followed = desk.ui, desk.state.config.settings.imports.follow
    title = tr("Should Manual Slop import new sessions of {program} by itself?", program=dialog.subject)
    with ui.dialog("follow", title, width=520) as closed:
        ui.text("place", dialog.text, style="mono", wraps=True)
        text = tr(
            "While this program runs, new sessions there become discussions, and their later messages follow. You can turn this off here or in the settings."
        )
        ui.text("what", text, tone="muted", wraps=True)
        answer = answers(ui, tr("Not now"), tr("Import sessions"))
    if answer == "yes":
        desk.send(ChangeSetting(KEY, with_place(followed, dialog.text)))
    if answer or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = Dialog(kind="import")


def _can_choose(report: ImportReport) -> bool:
    """True if there is something to choose from. Of what the list does not hold all is taken."""
    return report.is_dry and report.new_count > 1


def _choosers(desk: Desk, report: ImportReport) -> None:
    ui, own = desk.ui, desk.view.of(ImportView)
    new = frozenset(row.discussion_id for row in report.rows if not row.why)
    with ui.row("choose"):
        words = tr(
            "{ticked:,} of {new_count} ticked",
            ticked=_ticked(desk, report),
            new_count=fmt.count(report.new_count, tr("new conversation"), tr("new conversations")),
        )
        more = report.count - len(report.rows)
        rest = tr("The import also takes {more:,} that the list does not show", more=more) if more > 0 else ""
        ui.text("ticked", as_sentences(words, rest), tone="muted", style="small", width=0)
        if ui.button("all", tr("Tick all"), kind="ghost", is_small=True, is_enabled=bool(own.left_out)):
            own.left_out = frozenset()
        if ui.button("none", tr("None"), kind="ghost", is_small=True, is_enabled=own.left_out != new):
            own.left_out = new


def _ticked(desk: Desk, report: ImportReport) -> int:
    left_out = desk.view.of(ImportView).left_out
    return report.new_count - sum(row.discussion_id in left_out for row in report.rows if not row.why)


def _notes(report: ImportReport) -> tuple[tuple[bool, str], ...]:
    """Notes on what is not taken, each with whether it is a fault."""
    faults = [(True, fault_text(one)) for one in report.faults[:SHOWN_FAULTS]]
    stopped = (
        [(True, tr("The import ended early: {stopped}", stopped=report.stopped))] if report.stopped else []
    )
    return (*stopped, *faults, *((False, line) for line in left_out(report)))


def _foot(desk: Desk, report: ImportReport | None) -> str:
    """Draw the buttons. Returns `import`, `stop`, `close` or nothing."""
    ui, imports = desk.ui, desk.state.imports
    with ui.row("foot"):
        ui.push()
        if imports.is_running:
            return "stop" if ui.button("stop", tr("Stop")) else ""
        found = "close" if ui.button("close", tr("Close")) else ""
        if report is not None and report.is_dry and (report.new_count or report.offered):
            ticked = _ticked(desk, report)
            offers = (
                tr("Offer {proposals}", proposals=fmt.count(report.offered, tr("proposal"), tr("proposals")))
                if report.offered
                else tr("Import")
            )
            label = (
                tr(
                    "Import {conversations}",
                    conversations=fmt.count(ticked, tr("conversation"), tr("conversations")),
                )
                if ticked
                else offers
            )
            can = not desk.state.program.is_home_read_only and bool(ticked or report.offered)
            tip = "" if can else READ_ONLY if ticked or report.offered else tr("Tick a conversation first")
            if ui.button("import", label, kind="primary", is_enabled=can, tip=tip):
                found = "import"
    return found


class _Rows:
    """Conversations of a report as rows of a table."""

    def __init__(self, desk: Desk, report: ImportReport, *, is_wide: bool) -> None:
        self._desk, self._rows, self._is_wide = desk, report.rows, is_wide
        self._has_ticks = _can_choose(report)
        self._has_branches = is_wide and any(row.branches for row in report.rows)

    @property
    def columns(self) -> Sequence[Column]:
        """Columns that have something to say."""
        last = WHY if any(row.why for row in self._rows) else COLUMNS[-1]
        middle = (*(COLUMNS[:-1] if self._is_wide else COLUMNS[2:-1]), last)
        ticks = (TICK,) if self._has_ticks else ()
        return (*ticks, *middle, *((BRANCHES,) if self._has_branches else ()))

    @property
    def revision(self) -> Hashable:
        """Rows are the same as long as the report is."""
        return id(self._rows), self._is_wide, self._has_ticks

    def __len__(self) -> int:
        return len(self._rows)

    def key(self, index: int) -> Hashable:
        """The row's place."""
        return index

    def estimate_px(self, index: int, width: float) -> float:
        """Rows are of one line."""
        del index, width
        return ROW_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one conversation; one that is here leads to its discussion."""
        row = self._rows[index]
        tone: Tone = "muted" if row.why else "text"
        if self._has_ticks:
            self._tick(row, ui)
        if self._is_wide:
            day = fmt.day(row.at.astimezone().date(), self._desk.state.now) if row.at is not None else ""
            ui.text("day", day, tone="muted", style="small")
            origin = LABELS.get(row.kind, row.kind.value)
            ui.text("from", origin, tone="muted", style="small", width=0, tip=f"{origin}: {row.path}")
        is_here = row.discussion_id in self._desk.state.discussions.summaries
        with ui.row("title"):
            if is_here and ui.button(
                "show", "", icon="chevron-right", kind="ghost", is_small=True, tip=tr("Show the discussion")
            ):
                self._desk.view.page, self._desk.view.dialog = "chat", None
                self._desk.send(DismissImport())
                self._desk.send(SelectDiscussion(row.discussion_id))
            ui.text("name", row.title, tone=tone, width=0, tip=row.why or row.title)
        ui.text("new", f"{row.new:,}" if row.new else row.why, tone=tone, style="small", tip=row.why)
        if self._has_branches:
            ui.text("branches", f"{row.branches:,}" if row.branches else "", tone="muted", style="small")

    def _tick(self, row: ImportRow, ui: Ui) -> None:
        own = self._desk.view.of(ImportView)
        if row.why:
            ui.text("tick", "")
            return
        changed = ui.checkbox(
            "tick", "", row.discussion_id not in own.left_out, tip=tr("Import {title}", title=row.title)
        )
        if changed is not None:
            one = {row.discussion_id}
            own.left_out = own.left_out - one if changed else own.left_out | one
