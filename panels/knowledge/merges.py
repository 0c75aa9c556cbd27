"""The tab of a merge in the Knowledge panel: what goes, what takes its place, and how the file would stand then."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from core.kernel import figures as fmt
from core.kernel.errors import SlopError
from core.kernel.frame import flat
from core.kernel.language import tr
from core.kernel.values.harvest import HarvestPhase
from core.kernel.values.knowledge import Category, CategoryFile, Item, MergeGroup, MergeProposal, MergeReport
from core.knowledge.categories import FILE_OF
from core.knowledge.harvest.admission import merge_cost
from core.knowledge.harvest.harvest_messages import (
    ApplyMerge,
    CancelHarvest,
    DiscardMerge,
    EditMergeGroup,
    ProposeMerge,
    TickMergeGroups,
    UndoHarvest,
)
from core.knowledge.harvest.harvest_report import merge_undone_words
from core.knowledge.harvest.modes import RECALL_ONLY, harvest_reader, is_recall_only
from core.knowledge.merges import (
    NOTHING,
    ask_words,
    cost_words,
    item_text,
    lost_text,
    may_merge,
    merge_hunks,
    merged_item,
    offer_words,
    summary,
)
from core.knowledge.parts import patched
from core.talk.caching.rewrites import merge_price_text
from panels.base import view
from panels.base.desk import READ_ONLY, Desk, ListRows
from panels.base.gauge import file_button
from panels.base.ui import Ui
from panels.knowledge.knowledge_dialogs import refusal, removal_question
from panels.knowledge.knowledge_room import EDITOR_KEYS, KnowledgeView, MergeWords
from panels.knowledge.rows import reader_fault, source_of, where_it_goes

EDITOR_PX, GAP_PX, LINE_PX, CHAR_PX, CARD_PX = 96.0, 8.0, 19.0, 7.2, 84.0


class MergeResult(msgspec.Struct, frozen=True):
    """The file as a merge would leave it. `problem`: why it may not be written; sizes in bytes."""

    before_items: int = 0
    after_items: int = 0
    before_bytes: int = 0
    after_bytes: int = 0
    problem: str = ""


def merge_button(desk: Desk, ui: Ui, category: Category, count: int) -> None:
    """Draw the way to a merge, in the head of a section. Sends ProposeMerge."""
    state = desk.state
    why = ""
    if state.program.is_home_read_only:
        why = READ_ONLY
    elif count < 2:
        why = NOTHING
    elif is_recall_only(state.config.settings.knowledge):
        why = RECALL_ONLY
    elif state.harvest.is_busy:
        why = tr("Wait until the current work ends")
    tip = why or tr("Merge: a model proposes a shorter list; you see the price first")
    if ui.button("merge", "", icon="code-merge", kind="ghost", is_small=True, is_enabled=not why, tip=tip):
        own = desk.view.of(KnowledgeView)
        own.tab, own.merge_offer = "merge", category


def has_merge(desk: Desk) -> bool:
    """True if there is something to show: a merge under way, proposed, or just written."""
    harvest = desk.state.harvest
    return harvest.phase is HarvestPhase.MERGING or harvest.merge is not None or harvest.merged is not None


def merge_section(desk: Desk) -> None:
    """Draw the tab. O(visible). Sends TickMergeGroups, EditMergeGroup, DiscardMerge, ApplyMerge, CancelHarvest, UndoHarvest."""
    ui, harvest = desk.ui, desk.state.harvest
    refusal(desk)
    if harvest.phase is HarvestPhase.MERGING:
        _reading(desk)
        return
    if (category := desk.view.of(KnowledgeView).merge_offer) is not None:
        _offer(desk, category)
        return
    if harvest.problem:
        with ui.row("problem"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            words = " ".join(filter(None, (f"{harvest.problem.rstrip('.')}.", harvest.remedy)))
            ui.text("text", words, tone="warn", style="small", wraps=True)
    if harvest.merged is not None:
        _written(desk, harvest.merged)
    if harvest.merge is not None:
        _proposed(desk, harvest.merge)
    elif undone := merge_undone_words(harvest.undone, harvest.look.applies):
        with ui.row("undone"):
            ui.icon("icon", "rotate-left", tone="purple")
            ui.text("text", undone, wraps=True, width=0)
    elif harvest.merged is None:
        text = tr("There is no proposed merge. The head of each section has a button for one.")
        ui.text("none", text, tone="muted", wraps=True)


def _offer(desk: Desk, category: Category) -> None:
    """Say who would read what, and for how much. Sends ProposeMerge."""
    ui, own, state = desk.ui, desk.view.of(KnowledgeView), desk.state
    known = state.knowledge.categories
    cost = desk.view.memo.get(
        ("merge cost", category), (known, state.config.settings), lambda: merge_cost(state, category)
    )
    items = may_merge([item for file in known for item in file.items], category)
    who = view.model_label(state, *harvest_reader(state))
    fault = reader_fault(state)
    with ui.surface("offer", "card", padding=(12, 10)), ui.group("lines", gap=8):
        ui.text("what", offer_words(who, len(items), FILE_OF[category]), wraps=True)
        ui.text(
            "goes",
            fault or where_it_goes(state),
            tone="warn" if fault else "muted",
            style="small",
            wraps=True,
        )
        with ui.row("buttons"):
            ui.push()
            if ui.button("leave", tr("Cancel"), is_small=True):
                own.merge_offer = None
                own.tab = "merge" if has_merge(desk) else "items"
            label = ask_words(cost)
            can = not state.harvest.is_busy and not fault
            if ui.button("ask", label, kind="primary", is_small=True, is_enabled=can):
                own.merge_offer = None
                desk.send(ProposeMerge(category=category))


def _reading(desk: Desk) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    with ui.surface("progress", "card", padding=(12, 8)), ui.row("what"):
        ui.icon("icon", "code-merge", tone="warn")
        who = view.model_label(desk.state, harvest.provider, harvest.model)
        ui.text("phase", tr("{who} looks for items that mean the same", who=who), style="strong", width=0)
        label = tr("Stopping…") if harvest.is_cancelling else tr("Cancel")
        if ui.button("cancel", label, is_small=True, is_enabled=not harvest.is_cancelling):
            desk.send(CancelHarvest())


def _written(desk: Desk, report: MergeReport) -> None:
    ui = desk.ui
    with ui.surface("written", "card", padding=(12, 10)), ui.group("lines", gap=5):
        with ui.row("title"):
            ui.icon("icon", "circle-check", tone="ok")
            title = tr(
                "{items} of {file} became {merged:,}",
                items=fmt.count(report.items, tr("item"), tr("items")),
                file=report.file,
                merged=report.merged,
            )
            ui.text("text", title, style="strong", width=0, tip=title)
            is_free = not desk.state.harvest.is_busy and not desk.state.program.is_home_read_only
            if ui.button("undo", tr("Undo"), icon="rotate-left", is_small=True, is_enabled=is_free,
                         tip=tr("Restore every old item in its place")):  # fmt: skip
                desk.send(UndoHarvest(apply_id=report.apply_id))
        with ui.row("version", gap=4):
            ui.text(
                "path",
                tr("Old version: {version}", version=report.version),
                tone="faint",
                style="small",
                width=0,
                tip=report.version,
            )
            file_button(ui, report.version)


def _proposed(desk: Desk, merge: MergeProposal) -> None:
    ui, own = desk.ui, desk.view.of(KnowledgeView)
    result = desk.view.memo.get(
        "merge result", (merge, desk.state.knowledge.categories), lambda: merge_result(desk, merge)
    )
    removal_question(desk)
    with ui.group("merge head", gap=4):
        who = view.model_label(desk.state, merge.provider, merge.model)
        said = " ".join(filter(None, (summary(merge, who), cost_words(merge))))
        ui.text("summary", said, style="small", tone="muted", wraps=True)
        if result.problem:
            ui.text("refused", result.problem, tone="error", style="small", wraps=True)
        elif merge.ticked:
            text = (
                f"{merge.file}: {fmt.count(result.before_items, tr('item'), tr('items'))} → {result.after_items:,}, "
                f"{fmt.size(result.before_bytes)} → {fmt.size(result.after_bytes)}"
            )
            ui.text("result", text, style="small", wraps=True)
        if merge.ticked and (price := merge_price_text(desk.state)):
            ui.text("price", price, tone="warn", style="small", wraps=True)
        with ui.row("buttons"):
            ui.push()
            is_free = not desk.state.harvest.is_busy
            if ui.button(
                "discard",
                tr("Discard"),
                is_small=True,
                is_enabled=is_free,
                tip=tr("Every item stays as it is"),
            ):
                own.merge_edits.clear()
                desk.send(DiscardMerge())
            count = len(merge.ticked)
            is_asked = desk.state.harvest.question is not None
            can = is_free and bool(count) and not result.problem and not own.merge_edits and not is_asked
            tip = tr("The program keeps the old file")
            if is_asked:
                tip = tr("Answer the question above first")
            elif own.merge_edits:
                tip = tr("Save or cancel your edit first")
            if ui.button("write", tr("Write {count}", count=fmt.count(count, tr('merge'), tr('merges'))), kind="primary", is_small=True,
                         is_enabled=can, tip=tip):  # fmt: skip
                desk.send(ApplyMerge())
    if merge.groups:
        ui.virtual_list("merge groups", MergeRows(desk, merge.groups))


def merge_result(desk: Desk, merge: MergeProposal) -> MergeResult:
    """The file as the ticked merges would leave it, judged as it will be when it is written."""
    files = desk.state.knowledge.categories
    file = next((one for one in files if one.name == merge.file), CategoryFile(name=merge.file))
    if not merge.ticked:
        return MergeResult()
    try:
        data, _ = patched(file.data, merge_hunks(merge.file, file.data, merge.ticked))
    except SlopError as error:
        return MergeResult(problem=" ".join(filter(None, (f"{error.what}.", error.remedy))))
    gone = sum(len(group.items) - 1 for group in merge.ticked)
    return MergeResult(
        before_items=len(file.items),
        after_items=len(file.items) - gone,
        before_bytes=len(file.data),
        after_bytes=len(data),
    )


class MergeRows(ListRows[MergeGroup]):
    """The groups, for a virtual list."""

    def key(self, index: int) -> Hashable:
        """A group's id."""
        return self.rows[index].id

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        group = self.rows[index]
        texts = [group.reason, group.text, *(item_text(item) for item in group.items)]
        lines = sum(1 + len(text) * CHAR_PX // max(80.0, width - 40) for text in texts)
        return CARD_PX + LINE_PX * lines

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a group."""
        _group_card(self.desk, ui, self.rows[index])
        ui.gap(GAP_PX)


def _group_card(desk: Desk, ui: Ui, group: MergeGroup) -> None:
    own = desk.view.of(KnowledgeView)
    can = not desk.state.harvest.is_busy
    with (
        ui.surface("card", "card" if group.is_ticked else "clear", padding=(12, 8)),
        ui.group("lines", gap=5),
    ):
        with ui.row("top"):
            ticked = ui.checkbox("tick", "", group.is_ticked, is_enabled=can, tip=tr("Write this merge"))
            if ticked is not None:
                desk.send(TickMergeGroups((group.id,), ticked))
            ui.text(
                "count",
                tr("Merge {items} into one item", items=fmt.count(len(group.items), tr("item"), tr("items"))),
                style="small_strong",
            )
            ui.push()
            if group.is_edited:
                ui.badge("edited", tr("changed"), tone="accent", tip=tr("You changed the text of this merge"))
            if group.id not in own.merge_edits and ui.button(
                "edit",
                "",
                icon="pen",
                kind="ghost",
                is_small=True,
                is_enabled=can,
                tip=tr("Edit the merged text"),
            ):
                own.merge_edits[group.id] = group.text
        if group.reason:
            ui.text("reason", group.reason, tone="muted", style="small", wraps=True)
        if group.lost:
            said = tr("The merge {group}. Edit the text, or tick the merge as it is.", group=lost_text(group))
            ui.text("lost", said, tone="warn", style="small", wraps=True)
        for index, item in enumerate(group.items):
            _line(desk, ui, ("old", index), item, is_new=False)
        _line(desk, ui, "new", merged_item(group), is_new=True)
        if group.id in own.merge_edits:
            _editor(desk, ui, group)


def _line(desk: Desk, ui: Ui, key: Hashable, item: Item, *, is_new: bool) -> None:
    """Draw an item that goes, or the one that takes its place, and where it came from."""
    with ui.row(key, gap=6):
        ui.icon("icon", "plus" if is_new else "minus", tone="ok" if is_new else "error")
        with ui.group("words", gap=1):
            ui.text("text", flat(item.text), tone="text" if is_new else "muted", wraps=True)
            if item.provenance is not None:
                named = (
                    (source_of(desk.state, desk.view.memo, one.source).name, one.date)
                    for one in item.provenance.all
                )
                came = " · ".join(f"{name}, {at}" for name, at in named)
                ui.text("from", tr("from {came}", came=came), tone="faint", style="small", wraps=True)


def _editor(desk: Desk, ui: Ui, group: MergeGroup) -> None:
    own = desk.view.of(KnowledgeView)
    text = own.merge_edits[group.id]
    edited = ui.editor("words", text, hint=tr("Text of the merged item"), height=EDITOR_PX, is_focused=True)
    text = own.merge_edits[group.id] = text if edited is None else edited.text
    if ui.is_focused("words"):
        own.typing = MergeWords(group.id)
    with ui.row("edit buttons"):
        ui.text("keys", EDITOR_KEYS, tone="faint", style="small", width=0)
        if ui.button("cancel", tr("Cancel"), kind="ghost", is_small=True, tip=tr("Cancel (Escape)")):
            own.merge_edits.pop(group.id, None)
        can = bool(text.strip())
        if ui.button(
            "keep", tr("Save"), kind="primary", is_small=True, is_enabled=can, tip=tr("Save (Ctrl+Enter)")
        ):
            keep_words(desk, group.id)


def keep_words(desk: Desk, group_id: str) -> None:
    """Take over the words typed into a merged item, where they say something. Sends EditMergeGroup."""
    own = desk.view.of(KnowledgeView)
    text = own.merge_edits.get(group_id, "")
    if text.strip():
        own.merge_edits.pop(group_id, None)
        desk.send(EditMergeGroup(group_id, text))
