"""The harvest's preview: every proposed item to tick, edit and move, and Apply, which says what it will do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.harvest import (
    ArtifactFacts,
    HarvestFailure,
    HarvestPhase,
    HarvestPreview,
    ProposedItem,
)
from core.kernel.values.knowledge import CATEGORY_WORDS, Category
from core.kernel.values.settings import AfterHarvest
from core.knowledge.evidence_rows import QUOTE_LEFT_OUT
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    DiscardPreview,
    EditHarvestItem,
    MoveHarvestItem,
    ReplaceKnownItem,
    TickHarvestItems,
)
from core.knowledge.harvest.modes import RECALL_ONLY, is_recall_only
from core.services.settings.settings_messages import ChangeSetting
from panels.base.desk import READ_ONLY, Desk, ListRows
from panels.base.ui import Option, Tone, Ui
from panels.base.view import Dialog
from panels.harvest import harvest_facts as facts
from panels.harvest.conversations import recall_row, show_discussion
from panels.harvest.harvest_room import HarvestView, ItemEdit
from panels.knowledge.history import show_turn

# One proposed item of the harvest's preview: its tick, category, words to edit in place, and what is like
# it.

ITEM_CHAR_PX, SMALL_CHAR_PX = 7.1, 6.1
LINE_PX, SMALL_LINE_PX = 18.0, 14.0
FRAME_PX = 58.0
"""A card without its words."""
MOST_NEAR = 3
EDITOR_PX = 60.0
GAP_PX = 8.0


def estimate_px(one: ProposedItem, width: float) -> float:
    """A guess of a card's height from the length of its words."""
    room = max(60.0, width - 24)
    found = FRAME_PX + LINE_PX * _lines(one.item.head, room / ITEM_CHAR_PX)
    if one.item.body:
        found += 6 + SMALL_LINE_PX * _lines(one.item.body, room / SMALL_CHAR_PX)
    if one.item.quote.text:
        found += 6 + SMALL_LINE_PX * _lines(one.item.quote.text, room / SMALL_CHAR_PX)
    if one.item.quote.is_unfound:
        found += 6 + SMALL_LINE_PX * _lines(QUOTE_LEFT_OUT, room / SMALL_CHAR_PX)
    if one.replaces is not None:
        words = len(one.replaces.reason) + len(one.replaces.item.text)
        found += 60 + SMALL_LINE_PX * int(words // (room / SMALL_CHAR_PX))
    if one.is_known:
        return found + 21
    if one.deleted_on:
        found += 2 + SMALL_LINE_PX * _lines(facts.deleted_words(one), room / SMALL_CHAR_PX)
    for lines in filter(None, (one.near, one.near_here)):
        found += 22 + sum(
            2 + SMALL_LINE_PX * _lines(line, room / SMALL_CHAR_PX) for line in lines[:MOST_NEAR]
        )
    return found


def _lines(text: str, room: float) -> int:
    return 1 + int(len(text) // room)


def item_card(desk: Desk, ui: Ui, one: ProposedItem, *, has_source: bool) -> None:
    """Draw an item. Sends TickHarvestItems, MoveHarvestItem, EditHarvestItem."""
    edit = desk.view.of(HarvestView).edits.get(one.id)
    with ui.surface("card", "card", padding=(12, 8)), ui.group(("item", one.id), gap=6):
        _top(desk, ui, one, is_editing=edit is not None)
        if edit is None:
            _words(ui, one)
            _quote(desk, ui, one)
        else:
            _editors(desk, ui, one, edit)
        if has_source:
            ui.text(
                "source",
                tr("from {source}", source=one.source),
                tone="faint",
                style="small",
                width=0,
                tip=one.artifact_path,
            )
        _replaced(desk, ui, one)
        _near(ui, one)
    ui.gap(GAP_PX)


def _top(desk: Desk, ui: Ui, one: ProposedItem, *, is_editing: bool) -> None:
    can = desk.state.harvest.phase is not HarvestPhase.APPLYING
    with ui.row("top"):
        tip = facts.known_words(one) if one.is_known else tr("Write this item")
        ticked = ui.checkbox("tick", "", one.is_ticked, is_enabled=can and not one.is_known, tip=tip)
        if ticked is not None:
            desk.send(TickHarvestItems((one.id,), ticked))
        _category(desk, ui, one, is_enabled=can)
        ui.push()
        if one.is_edited:
            ui.badge(
                "edited",
                tr("changed"),
                tone="accent",
                tip=tr("You changed the text or the category of this item"),
            )
        if not is_editing and ui.button("edit", "", icon="pen", kind="ghost", is_small=True, is_enabled=can,
                                        tip=tr("Edit the text")):  # fmt: skip
            desk.view.of(HarvestView).edits[one.id] = ItemEdit(head=one.item.head, body=one.item.body)


def _category(desk: Desk, ui: Ui, one: ProposedItem, *, is_enabled: bool) -> None:
    now = one.item.category
    label, icon = capital(CATEGORY_WORDS[now][0]), facts.CATEGORY_ICONS[now]
    if not is_enabled:
        ui.icon("icon", icon)
        ui.text("category", label, tone="muted")
        return
    with ui.menu("category", label, icon=icon, tip=tr("Category; choose another")) as is_open:
        for option in facts.can_be(one.item) if is_open else ():
            category = Category(option.value)
            if ui.menu_item(category.value, option.label, icon=facts.CATEGORY_ICONS[category],
                            is_checked=category is now) and category is not now:  # fmt: skip
                desk.send(MoveHarvestItem(one.id, category))


def _words(ui: Ui, one: ProposedItem) -> None:
    tone: Tone = "text" if one.is_ticked else "muted"
    if one.item.category is Category.FILES:
        ui.text("head", one.item.head, tone=tone, style="mono_small", wraps=True)
    else:
        ui.text("head", one.item.head, tone=tone, wraps=True)
    if one.item.body:
        ui.text("body", one.item.body, tone="muted", style="small", wraps=True)


def _quote(desk: Desk, ui: Ui, one: ProposedItem) -> None:
    """Draw what the item stands on, and the way to the message. Sends SelectDiscussion."""
    quote = one.item.quote
    if quote.is_unfound:
        with ui.row("unquoted"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("words", QUOTE_LEFT_OUT, tone="warn", style="small", wraps=True, width=0)
    if not quote.text:
        return
    with ui.row("quote"):
        ui.icon("icon", "quote-left", tone="faint")
        ui.text("words", quote.text, tone="muted", style="small", wraps=True, width=0)
        where = facts.discussion_of(one.artifact_path)
        if where in desk.state.discussions.summaries and ui.button(
            "show", "", icon="arrow-right", kind="ghost", is_small=True, tip=tr("Show the message")
        ):
            show_turn(desk, where, quote.turns[0], quote.text)


def _editors(desk: Desk, ui: Ui, one: ProposedItem, edit: ItemEdit) -> None:
    own = desk.view.of(HarvestView)
    head, body = facts.part_words(one.item.category)
    changed = ui.editor("head", edit.head, hint=head, height=EDITOR_PX, is_focused=edit.wants_focus)
    _detail_head(ui, one, edit)
    more = ui.editor("body", edit.body, hint=body, height=EDITOR_PX, revision=edit.revision)
    edit.head = edit.head if changed is None else changed.text
    edit.body = edit.body if more is None else more.text
    edit.wants_focus = False
    if ui.is_focused("head") or ui.is_focused("body"):
        own.typing = one.id
    can = facts.says_something(one.item.category, edit.head, edit.body)
    if not can:
        ui.text("missing", facts.missing_words(one.item.category), tone="warn", style="small", wraps=True)
    with ui.row("buttons"):
        if _has_detail(one, edit) and ui.button(
            "remove",
            tr("Leave out detail"),
            icon="xmark",
            kind="ghost",
            is_small=True,
            tip=tr("Write the item without its second text, the detail"),
        ):
            edit.body, edit.revision = "", edit.revision + 1
        ui.push()
        if ui.button(
            "cancel", tr("Cancel"), is_small=True, kind="ghost", tip=tr("Keep the old text (Escape)")
        ):
            own.edits.pop(one.id, None)
        if ui.button(
            "keep",
            tr("Keep"),
            is_small=True,
            kind="primary",
            is_enabled=can,
            tip=tr("Keep your changes (Ctrl+Enter)"),
        ):
            keep_words(desk, one.id)


def keep_words(desk: Desk, item_id: str) -> None:
    """Keep the words that are being typed into an item, where they say something. Sends EditHarvestItem."""
    own, preview = desk.view.of(HarvestView), desk.state.harvest.preview
    edit = own.edits.get(item_id)
    one = next((one for one in preview.items if one.id == item_id), None) if preview is not None else None
    if edit is None or one is None or not facts.says_something(one.item.category, edit.head, edit.body):
        return
    own.edits.pop(item_id)
    desk.send(EditHarvestItem(item_id=item_id, head=edit.head, body=edit.body))


def _detail_head(ui: Ui, one: ProposedItem, edit: ItemEdit) -> None:
    """Name of the second field, which is written too: other words above it may leave it saying what is no longer meant."""
    if _has_detail(one, edit):
        ui.text("detail name", tr("Detail of this item, written after its text"), tone="muted", style="small")


def _has_detail(one: ProposedItem, edit: ItemEdit) -> bool:
    return one.item.category not in facts.PARTS and bool(edit.body)


def _replaced(desk: Desk, ui: Ui, one: ProposedItem) -> None:
    """Draw the known item that this one replaces: the reason first, then the old words. Sends ReplaceKnownItem."""
    if one.replaces is None:
        return
    can = desk.state.harvest.phase is not HarvestPhase.APPLYING
    with ui.surface("replaced", "inset"), ui.group("lines", gap=4):
        ui.text("reason", one.replaces.reason, tone="warn", style="small", wraps=True)
        ui.text(
            "old",
            tr("Your knowledge said until now: {text}", text=facts.unmarked(one.replaces.item.text)),
            tone="muted",
            style="small",
            wraps=True,
        )
        label = tr("Strike the old item through; its line stays in the file")
        changed = ui.checkbox("replace", label, one.is_replacing, is_enabled=can and one.is_ticked)
        if changed is not None:
            desk.send(ReplaceKnownItem(one.id, changed))


def _near(ui: Ui, one: ProposedItem) -> None:
    if one.is_known:
        with ui.row("known"):
            ui.icon("icon", "circle-check", tone="ok")
            ui.text("text", facts.known_words(one), tone="ok", style="small", width=0, wraps=True)
        return
    if one.deleted_on:
        ui.text("deleted", facts.deleted_words(one), tone="warn", style="small", wraps=True)
    _like_it(ui, "near", tr("Similar items in knowledge:"), one.near)
    _like_it(ui, "near here", tr("Similar items in this preview:"), one.near_here)


def _like_it(ui: Ui, key: str, title: str, lines: tuple[str, ...]) -> None:
    if not lines:
        return
    with ui.group(key, gap=2):
        ui.text("title", title, tone="warn", style="small")
        for index, line in enumerate(lines[:MOST_NEAR]):
            ui.text(("near", index), f"•  {facts.unmarked(line)}", tone="muted", style="small", wraps=True)
        if len(lines) > MOST_NEAR:
            ui.text("more", tr("and {lines} more", lines=len(lines) - MOST_NEAR), tone="faint", style="small")


# The harvest's preview: every proposed item to tick, edit and move, and Apply, which says what it will do.

# The rows of the harvest's preview: proposed items under their conversations or categories, filtered. Pure.


class ProposalHeading(msgspec.Struct, frozen=True):
    """A group of items: a conversation or a category. `items`: places in the preview; `facts`: of a conversation."""

    key: str
    title: str
    items: tuple[int, ...] = ()
    facts: ArtifactFacts | None = None


Row = ProposalHeading | HarvestFailure | int
"""A heading, a conversation that failed, or the place of an item in the preview."""


class Tally(msgspec.Struct, frozen=True):
    """Figures of a preview. `empty`: conversations in which nothing was found."""

    items: int
    ticked: int
    known: int
    empty: int


def tally(preview: HarvestPreview) -> Tally:
    """Count. O(items)."""
    items = preview.items
    ticked, known = sum(map(attrgetter("is_ticked"), items)), sum(map(attrgetter("is_known"), items))
    empty = len(preview.sources) - len(set(map(attrgetter("artifact_path"), items)))
    return Tally(items=len(items), ticked=ticked, known=known, empty=max(0, empty))


def rows(preview: HarvestPreview, by: str, query: str, show: str) -> tuple[Row, ...]:
    """Rows of the list, top to bottom. O(items).

    Args:
        by: `category`, else by conversation in the order in which they were read, so that what arrives comes last.
        query: casefolded words that an item must hold; show: one of `SHOWS`.
    """
    if show == "failed":
        return preview.failures
    passing = _passing(preview.items, query, show)
    if by == "category":
        found = _by_category(preview.items, passing)
    else:
        found = _by_conversation(preview, passing, with_empty=not query and not show)
    out: list[Row] = []
    for heading in found:
        out.append(heading)
        out += heading.items
    if not show:
        out += [one for one in preview.failures if query in f"{one.name}\n{one.reason}".casefold()]
    return tuple(out)


def _passing(items: Sequence[ProposedItem], query: str, show: str) -> Sequence[int]:
    if not query and not show:
        return range(len(items))
    return [
        index
        for index, one in enumerate(items)
        if _is_shown(one, show) and (not query or query in _preview_words(one))
    ]


def _is_shown(one: ProposedItem, show: str) -> bool:
    match show:
        case "ticked":
            return one.is_ticked
        case "left":
            return not one.is_ticked
        case "changed":
            return one.is_edited
        case "known":
            return one.is_known
        case "similar":
            return bool(one.near or one.near_here) and not one.is_known
        case "unquoted":
            return one.item.quote.is_unfound
        case _:
            return True


def _preview_words(one: ProposedItem) -> str:
    return f"{one.item.head}\n{one.item.body}\n{one.source}".casefold()


def _by_category(items: Sequence[ProposedItem], passing: Sequence[int]) -> list[ProposalHeading]:
    groups: dict[str, list[int]] = {one: [] for one in Category}
    for index in passing:
        groups[items[index].item.category].append(index)
    return [
        ProposalHeading(key=name, title=capital(CATEGORY_WORDS[Category(name)][1]), items=tuple(group))
        for name, group in groups.items()
        if group
    ]


def _by_conversation(
    preview: HarvestPreview, passing: Sequence[int], *, with_empty: bool
) -> list[ProposalHeading]:
    groups: dict[str, list[int]] = {one.path: [] for one in preview.sources}
    items = preview.items
    for index in passing:
        path = items[index].artifact_path
        if (group := groups.get(path)) is None:
            group = groups[path] = []
        group.append(index)
    known: Mapping[str, ArtifactFacts] = {one.path: one for one in preview.sources}
    return [
        ProposalHeading(
            key=path, title=_title(known.get(path), items, group), items=tuple(group), facts=known.get(path)
        )
        for path, group in groups.items()
        if group or with_empty
    ]


def _title(about: ArtifactFacts | None, items: Sequence[ProposedItem], group: Sequence[int]) -> str:
    if about is not None:
        return facts.name_of(about)
    return items[group[0]].source if group else ""


FOOT_PX = 122.0
AFTER_KEY = "ai_settings.knowledge.after_harvest"
ASK_AFTER = Option(value="", label=tr("Choose one"))
AFTER = (
    (AfterHarvest.KEEP.value, tr("Keep the conversations, marked as read")),
    (AfterHarvest.TRASH.value, tr("Move the conversations to the trash, but keep imported ones")),
    (AfterHarvest.TRASH_ALL.value, tr("Move the conversations to the trash, imported ones too")),
    (AfterHarvest.LEAVE.value, tr("Leave the conversations, and list them in the next harvest again")),
)
HEADING_PX = 32.0
CHAR_PX = 7.6
SPENT_BESIDE_FROM_PX = 340
"""Width from which what the preview cost has room beside its count and the ticks of all."""
BUTTON_PX = 250.0
"""Width of what stands beside the Apply button, and its padding."""
SHOWS = (
    Option(value="", label=tr("All")),
    Option(value="ticked", label=tr("Ticked")),
    Option(value="left", label=tr("Not ticked")),
    Option(value="changed", label=tr("Changed by you")),
    Option(value="similar", label=tr("Similar to another")),
    Option(value="known", label=tr("Already known")),
    Option(value="unquoted", label=tr("Quote left out")),
    Option(value="failed", label=tr("Failed")),
)


def preview_section(desk: Desk) -> None:
    """Draw the part. O(visible)."""
    preview = desk.state.harvest.preview
    if preview is None:
        _say_none(desk)
        return
    counted = desk.view.memo.get("harvest tally", (preview,), lambda: tally(preview))
    shown = shown_rows(desk, preview)
    _head(desk, preview, counted, shown)
    _filters(desk)
    with desk.ui.surface("rows", "clear", height=-FOOT_PX, padding=(0, 0)):
        if shown:
            desk.ui.virtual_list("items", PreviewRows(desk=desk, rows=shown, preview=preview))
        else:
            _say_empty(desk, preview)
    _foot(desk, preview)


def shown_rows(desk: Desk, preview: HarvestPreview) -> tuple[Row, ...]:
    """The rows that pass the filter. While parts arrive they stand in the order of their arrival. Remembered."""
    own = desk.view.of(HarvestView)
    by = "conversation" if desk.state.harvest.is_busy else own.by
    query = own.item_query.strip().casefold()
    return desk.view.memo.get(
        "harvest rows", (preview, by, query, own.show), lambda: rows(preview, by, query, own.show)
    )


def _say_none(desk: Desk) -> None:
    ui = desk.ui
    with ui.group("none", gap=8):
        ui.text("title", tr("No preview"), style="strong")
        if is_recall_only(desk.state.config.settings.knowledge):
            recall_row(desk)
            return
        text = tr(
            "Tick conversations and choose Preview: a model reads them and proposes items to keep. You tick, edit and move these items; only Apply writes them."
        )
        ui.text("what", text, tone="muted", wraps=True)
        with ui.row("buttons"):
            if ui.button("choose", tr("Choose conversations"), icon="list-check"):
                desk.view.of(HarvestView).tab = "conversations"


def _say_empty(desk: Desk, preview: HarvestPreview) -> None:
    own = desk.view.of(HarvestView)
    if (own.item_query.strip() or own.show) and (preview.items or preview.failures):
        text = tr("No item matches.")
    elif desk.state.harvest.phase is HarvestPhase.PREVIEWING:
        text = tr("Items appear here as the model finds them.")
    else:
        text = tr("The model has read no conversation.")
    desk.ui.text("empty", text, tone="muted", style="small", wraps=True)


def _head(desk: Desk, preview: HarvestPreview, counted: Tally, shown: Sequence[Row]) -> None:
    own = desk.view.of(HarvestView)
    ui = desk.ui
    can = desk.state.harvest.phase is not HarvestPhase.APPLYING
    with ui.row("head"):
        ui.text(
            "ticked",
            tr("{ticked:,} of {items:,} ticked", ticked=counted.ticked, items=counted.items),
            style="strong",
        )
        spent, about = _spent(desk, preview)
        is_narrow = 0 < ui.width() < SPENT_BESIDE_FROM_PX
        ui.text("spent", "" if is_narrow else spent, tone="faint", style="small", width=0, tip=about)
        is_part = bool(own.item_query.strip() or own.show)
        if ui.button("all", tr("Tick all"), kind="ghost", is_small=True, is_enabled=can and bool(counted.items),
                     tip=tr("Tick all new items that the list shows") if is_part else tr("Tick all new items")):  # fmt: skip
            _tick(desk, preview, shown, is_ticked=True)
        if ui.button("none", tr("None"), kind="ghost", is_small=True, is_enabled=can and bool(counted.items),
                     tip=tr("Untick all items that the list shows") if is_part else tr("Untick all items")):  # fmt: skip
            _tick(desk, preview, shown, is_ticked=False)
    figures = _figures(preview, counted)
    if is_narrow and spent:
        figures = f"{spent} · {figures}"
    ui.text("figures", figures, tone="muted", style="small", wraps=True, tip=about if is_narrow else "")
    if text := facts.unticked_words(preview, counted.ticked, desk.state.harvest.provider):
        ui.text("unticked", text, tone="warn", style="small", wraps=True)
    if preview.failures:
        failed = fmt.count(len(preview.failures), tr("conversation"), tr("conversations"))
        with ui.row("failed"):
            ui.icon("icon", "circle-exclamation", tone="error")
            ui.text(
                "text",
                tr("{failed} could not be read", failed=failed),
                tone="error",
                style="small",
                width=0,
                wraps=True,
            )
            is_shown = own.show == "failed"
            if ui.button("show", tr("Show all") if is_shown else tr("Show why"), kind="ghost", is_small=True):
                own.show = "" if is_shown else "failed"


def _figures(preview: HarvestPreview, counted: Tally) -> str:
    parts = (
        fmt.count(len(preview.sources), tr("conversation"), tr("conversations")),
        tr("{empty:,} without items to keep", empty=counted.empty) if counted.empty else "",
        tr("{known:,} already known", known=counted.known) if counted.known else "",
        *facts.left_out_words(preview.dropped, preview.unfound, preview.forgotten),
    )
    return " · ".join(filter(None, parts))


def _spent(desk: Desk, preview: HarvestPreview) -> tuple[str, str]:
    """Sum paid, and what that is."""
    use, every = desk.state.harvest.run_use, desk.state.harvest.use
    if not use.calls:
        return "", ""
    calls, known = fmt.count(preview.calls, tr("call"), tr("calls")), use.usage.cost_usd
    is_part = use.cost_usd is None and known is not None  # a call that broke off says no price
    usd = fmt.money(known if is_part else use.cost_usd, is_estimate=use.usage.is_estimate)
    cost = tr("over {usd}", usd=usd) if is_part else usd
    return (
        tr("{cost} for this preview", cost=cost),
        tr(
            "{calls} to the model for this preview; {calls2:,} for all harvests since program start",
            calls=calls,
            calls2=every.calls,
        ),
    )


def _tick(desk: Desk, preview: HarvestPreview, shown: Sequence[Row], *, is_ticked: bool) -> None:
    items = preview.items
    wanted = [items[row] for row in shown if isinstance(row, int)]
    ids = tuple(one.id for one in wanted if one.is_ticked != is_ticked and not (is_ticked and one.is_known))
    if ids:
        desk.send(TickHarvestItems(ids, is_ticked))


def _filters(desk: Desk) -> None:
    ui, own, is_busy = desk.ui, desk.view.of(HarvestView), desk.state.harvest.is_busy
    with ui.row("filters"):
        typed = ui.text_input("query", own.item_query, hint=tr("Find an item"), icon="magnifying-glass")
        own.item_query = own.item_query if typed is None else typed
        shown = ui.combo("show", SHOWS, own.show, width=108, tip=tr("Show only some items"))
        own.show = own.show if shown is None else shown
        is_by_category = own.by == "category"
        tip = tr("Group by conversation") if is_by_category else tr("Group by category")
        if ui.button("by", "", icon="comments" if is_by_category else "layer-group", is_enabled=not is_busy,
                     tip=tr("While replies arrive, the list is grouped by conversation") if is_busy else tip):  # fmt: skip
            own.by = "conversation" if is_by_category else "category"


class PreviewRows(ListRows[Row]):
    """The rows of the list."""

    preview: HarvestPreview

    def key(self, index: int) -> Hashable:
        """An item's id, a heading's key, or the path of what failed."""
        row = self.rows[index]
        if isinstance(row, int):
            return self.preview.items[row].id
        return ("heading", row.key) if isinstance(row, ProposalHeading) else ("failure", row.path, row.sha256)

    def estimate_px(self, index: int, width: float) -> float:
        """A guess from the length of the words."""
        row = self.rows[index]
        return estimate_px(self.preview.items[row], width) if isinstance(row, int) else HEADING_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a row."""
        row = self.rows[index]
        if isinstance(row, int):
            by_category = (
                self.desk.view.of(HarvestView).by == "category" and not self.desk.state.harvest.is_busy
            )
            item_card(self.desk, ui, self.preview.items[row], has_source=by_category)
        elif isinstance(row, ProposalHeading):
            _heading(self.desk, ui, self.preview, row)
        else:
            _failure(self.desk, ui, row)


def _heading(desk: Desk, ui: Ui, preview: HarvestPreview, row: ProposalHeading) -> None:
    can = desk.state.harvest.phase is not HarvestPhase.APPLYING
    known, chosen = desk.view.memo.get(
        ("harvest heading", row.key), (preview.items, row.items), lambda: _ticked_of(preview, row)
    )
    ui.gap(4)
    with ui.row(("heading", row.key)):
        if row.items:
            is_all = chosen == len(row.items) - known and chosen > 0
            changed = ui.checkbox("all", "", is_all, is_enabled=can and known < len(row.items),
                                  tip=tr("Tick all items of {title}", title=row.title))  # fmt: skip
            if changed is not None:
                _tick(desk, preview, row.items, is_ticked=changed)
        else:
            ui.icon("none", "inbox", tone="faint")
        ui.text("title", row.title, style="strong", width=0, tip=_about(row))
        words = (
            tr("{chosen:,} of {items:,}", chosen=chosen, items=len(row.items))
            if row.items
            else tr("no items to keep")
        )
        ui.text("count", words, tone="faint", style="small")
        if row.facts is not None and row.facts.id in desk.state.discussions.summaries:
            tip = tr("Show {name}", name=row.title)
            if ui.button("show", "", icon="arrow-right", kind="ghost", is_small=True, tip=tip):
                show_discussion(desk, row.facts.id)
    ui.gap(4)


def _ticked_of(preview: HarvestPreview, row: ProposalHeading) -> tuple[int, int]:
    """Numbers of a group: how many are known, and how many are ticked."""
    items = [preview.items[index] for index in row.items]
    return sum(one.is_known for one in items), sum(one.is_ticked for one in items)


def _about(row: ProposalHeading) -> str:
    return row.facts.path if row.facts is not None else row.title


def _failure(desk: Desk, ui: Ui, row: HarvestFailure) -> None:
    name = facts.failed_name(facts.known_names(desk.state, desk.view.memo), row)
    with ui.surface("failure", "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("line"):
            ui.icon("icon", "circle-exclamation", tone="error")
            ui.text("name", name, style="strong", width=0, tip=row.path)
            ui.text("kept", tr("kept"), tone="muted", style="small")
        ui.text("reason", row.reason, tone="error", style="small", wraps=True)
    ui.gap(GAP_PX)


def _foot(desk: Desk, preview: HarvestPreview) -> None:
    ui = desk.ui
    artifacts, after = desk.state.harvest.look.artifacts, chosen_after(desk)
    will = desk.view.memo.get(
        "harvest outcome",
        (preview, artifacts, after),
        lambda: facts.outcome(preview, artifacts, after_of(after)),
    )
    is_wide = ui.width() >= CHAR_PX * len(will.sentence) + BUTTON_PX
    why = _hindrance(desk, preview)
    is_asking = _asks_after(preview) and not after
    can = not (why or is_asking)
    with ui.group("foot", gap=6):
        _after(desk, preview, after)
        if why:
            ui.text("why", f"{why}.", tone="muted", style="small", wraps=True)
        elif can and not is_wide:
            ui.text("will", f"{will.sentence}.", tone="muted", style="small", wraps=True)
        with ui.row("buttons"):
            label = will.sentence if is_wide else tr("Apply")
            tip = why or (ASK_AFTER.label if is_asking else will.sentence)
            if ui.button("apply", label, icon="check", kind="primary", is_enabled=can, tip=tip):
                _apply(desk, preview)
            if ui.button("discard", tr("Discard"), kind="ghost", is_enabled=not desk.state.harvest.is_busy,
                         tip=tr("Drop the proposed items; the conversations stay as they are")):  # fmt: skip
                _discard(desk, preview)


def chosen_after(desk: Desk) -> str:
    """Fate of the conversations once Apply is pressed: as chosen here, else as last time; empty: not chosen yet."""
    return desk.view.of(HarvestView).after or desk.state.config.settings.knowledge.after_harvest


def after_of(after: str) -> AfterHarvest:
    """The same as a value; to leave them where nothing is chosen, which Apply waits for."""
    return AfterHarvest(after) if after else AfterHarvest.LEAVE


def _asks_after(preview: HarvestPreview) -> bool:
    """True if a conversation of ours was read: what happens to it is a person's choice."""
    return any(one.is_ours for one in preview.sources)


def _after(desk: Desk, preview: HarvestPreview, after: str) -> None:
    """The choice of what happens to the conversations. Sends ChangeSetting, so that the next time begins with it."""
    if not _asks_after(preview):
        return
    has_imported = any(one.origin for one in preview.sources)
    options = [
        Option(value=value, label=label)
        for value, label in AFTER
        if value != AfterHarvest.TRASH_ALL or has_imported or after == value
    ]
    with desk.ui.row("after"):
        desk.ui.text("label", tr("Conversations"), style="small_strong")
        chosen = desk.ui.combo(
            "choice",
            options if after else [ASK_AFTER, *options],
            after,
            width=0,
            tip=tr("What happens to the conversations"),
        )
    if chosen:
        desk.view.of(HarvestView).after = chosen
        desk.send(ChangeSetting(AFTER_KEY, chosen))


def _hindrance(desk: Desk, preview: HarvestPreview) -> str:
    """Reason why Apply cannot go, but for the choice beside it, which asks for itself; empty where there is none."""
    state, own = desk.state, desk.view.of(HarvestView)
    if state.program.is_home_read_only:
        return READ_ONLY
    if state.harvest.phase is HarvestPhase.PREVIEWING:
        return tr("Wait until everything is read, or cancel and apply the finished part")
    if state.harvest.is_busy:
        return tr("Wait until the current work ends")
    if state.harvest.question is not None:
        return tr("Answer the question above first")
    if not preview.sources:
        return tr("The model has read no conversation")
    if is_recall_only(state.config.settings.knowledge):
        return RECALL_ONLY
    if own.edits and _wordless(desk, preview):
        return tr("An item that you edit has no text: finish or cancel the edit")
    return ""


def _wordless(desk: Desk, preview: HarvestPreview) -> bool:
    edits = desk.view.of(HarvestView).edits
    return any(
        one.id in edits
        and not facts.says_something(one.item.category, edits[one.id].head, edits[one.id].body)
        for one in preview.items
    )


def _apply(desk: Desk, preview: HarvestPreview) -> None:
    """Take over what is still being typed, then write."""
    own = desk.view.of(HarvestView)
    for one in preview.items if own.edits else ():
        if (edit := own.edits.get(one.id)) is not None:
            desk.send(EditHarvestItem(item_id=one.id, head=edit.head, body=edit.body))
    own.edits.clear()
    own.tick_anew()
    own.tab = "applied"
    desk.send(ApplyHarvest(after=chosen_after(desk)))


def _discard(desk: Desk, preview: HarvestPreview) -> None:
    """Ask first where a person's work would be lost."""
    own = desk.view.of(HarvestView)
    if own.edits or any(one.is_edited or one.is_tick_changed for one in preview.items):
        desk.view.dialog = Dialog(kind="harvest_discard", command=DiscardPreview())
        return
    own.tab = "conversations"
    desk.send(DiscardPreview())
