"""One proposed item of the harvest's preview: its tick, category, words to edit in place, and what is like it."""

from __future__ import annotations

from core.kernel.values.harvest import HarvestPhase, ProposedItem
from core.kernel.values.knowledge import CATEGORY_WORDS, Category
from core.knowledge.evidence.evidence_rows import QUOTE_LEFT_OUT
from core.knowledge.harvest.harvest_messages import (
    EditHarvestItem,
    MoveHarvestItem,
    ReplaceKnownItem,
    TickHarvestItems,
)
from panels.base.desk import Desk
from panels.base.ui import Tone, Ui
from panels.harvest import harvest_facts
from panels.harvest.harvest_view import HarvestView, ItemEdit
from panels.knowledge.history import show_turn

CHAR_PX, SMALL_CHAR_PX = 7.1, 6.1
LINE_PX, SMALL_LINE_PX = 18.0, 14.0
FRAME_PX = 58.0
"""A card without its words."""
MOST_NEAR = 3
EDITOR_PX = 60.0
GAP_PX = 8.0


def estimate_px(one: ProposedItem, width: float) -> float:
    """A guess of a card's height from the length of its words."""
    room = max(60.0, width - 24)
    found = FRAME_PX + LINE_PX * _lines(one.item.head, room / CHAR_PX)
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
        found += 2 + SMALL_LINE_PX * _lines(harvest_facts.deleted_words(one), room / SMALL_CHAR_PX)
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
                "source", f"from {one.source}", tone="faint", style="small", width=0, tip=one.artifact_path
            )
        _replaced(desk, ui, one)
        _near(ui, one)
    ui.gap(GAP_PX)


def _top(desk: Desk, ui: Ui, one: ProposedItem, *, is_editing: bool) -> None:
    can = desk.state.harvest.phase is not HarvestPhase.APPLYING
    with ui.row("top"):
        tip = harvest_facts.known_words(one) if one.is_known else "Write this"
        ticked = ui.checkbox("tick", "", one.is_ticked, is_enabled=can and not one.is_known, tip=tip)
        if ticked is not None:
            desk.send(TickHarvestItems((one.id,), ticked))
        _category(desk, ui, one, is_enabled=can)
        ui.push()
        if one.is_edited:
            ui.badge("edited", "changed", tone="accent", tip="You changed its words or its category")
        if not is_editing and ui.button("edit", "", icon="pen", kind="ghost", is_small=True, is_enabled=can,
                                        tip="Edit its words"):  # fmt: skip
            desk.view.of(HarvestView).edits[one.id] = ItemEdit(head=one.item.head, body=one.item.body)


def _category(desk: Desk, ui: Ui, one: ProposedItem, *, is_enabled: bool) -> None:
    now = one.item.category
    label, icon = CATEGORY_WORDS[now][0].capitalize(), harvest_facts.CATEGORY_ICONS[now]
    if not is_enabled:
        ui.icon("icon", icon)
        ui.text("category", label, tone="muted")
        return
    with ui.menu("category", label, icon=icon, tip="Its category; choose another") as is_open:
        for option in harvest_facts.can_be(one.item) if is_open else ():
            category = Category(option.value)
            if ui.menu_item(category.value, option.label, icon=harvest_facts.CATEGORY_ICONS[category],
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
        where = harvest_facts.discussion_of(one.artifact_path)
        if where in desk.state.discussions.summaries and ui.button(
            "show", "", icon="arrow-right", kind="ghost", is_small=True, tip="Show the message"
        ):
            show_turn(desk, where, quote.turns[0], quote.text)


def _editors(desk: Desk, ui: Ui, one: ProposedItem, edit: ItemEdit) -> None:
    own = desk.view.of(HarvestView)
    head, body = harvest_facts.part_words(one.item.category)
    changed = ui.editor("head", edit.head, hint=head, height=EDITOR_PX, is_focused=edit.wants_focus)
    _detail_head(ui, one, edit)
    more = ui.editor("body", edit.body, hint=body, height=EDITOR_PX, revision=edit.revision)
    edit.head = edit.head if changed is None else changed.text
    edit.body = edit.body if more is None else more.text
    edit.wants_focus = False
    if ui.is_focused("head") or ui.is_focused("body"):
        own.typing = one.id
    can = harvest_facts.says_something(one.item.category, edit.head, edit.body)
    if not can:
        ui.text(
            "missing", harvest_facts.missing_words(one.item.category), tone="warn", style="small", wraps=True
        )
    with ui.row("buttons"):
        if _has_detail(one, edit) and ui.button(
            "remove",
            "Leave it out",
            icon="xmark",
            kind="ghost",
            is_small=True,
            tip="Write it without its detail",
        ):
            edit.body, edit.revision = "", edit.revision + 1
        ui.push()
        if ui.button(
            "cancel", "Cancel", is_small=True, kind="ghost", tip="Leave its words as they were (Escape)"
        ):
            own.edits.pop(one.id, None)
        if ui.button("keep", "Keep", is_small=True, kind="primary", is_enabled=can, tip="Keep (Ctrl+Enter)"):
            keep_words(desk, one.id)


def keep_words(desk: Desk, item_id: str) -> None:
    """Keep the words that are being typed into an item, where they say something. Sends EditHarvestItem."""
    own, preview = desk.view.of(HarvestView), desk.state.harvest.preview
    edit = own.edits.get(item_id)
    one = next((one for one in preview.items if one.id == item_id), None) if preview is not None else None
    if (
        edit is None
        or one is None
        or not harvest_facts.says_something(one.item.category, edit.head, edit.body)
    ):
        return
    own.edits.pop(item_id)
    desk.send(EditHarvestItem(item_id=item_id, head=edit.head, body=edit.body))


def _detail_head(ui: Ui, one: ProposedItem, edit: ItemEdit) -> None:
    """Name of the second field, which is written too: other words above it may leave it saying what is no longer meant."""
    if _has_detail(one, edit):
        ui.text("detail name", "Detail, written behind it", tone="muted", style="small")


def _has_detail(one: ProposedItem, edit: ItemEdit) -> bool:
    return one.item.category not in harvest_facts.PARTS and bool(edit.body)


def _replaced(desk: Desk, ui: Ui, one: ProposedItem) -> None:
    """Draw the known item that this one replaces: the reason first, then the old words. Sends ReplaceKnownItem."""
    if one.replaces is None:
        return
    can = desk.state.harvest.phase is not HarvestPhase.APPLYING
    with ui.surface("replaced", "inset"), ui.group("lines", gap=4):
        ui.text("reason", one.replaces.reason, tone="warn", style="small", wraps=True)
        ui.text("old", f"Known until now: {one.replaces.item.text}", tone="muted", style="small", wraps=True)
        label = "Strike the old one through; it stays in its file"
        changed = ui.checkbox("replace", label, one.is_replacing, is_enabled=can and one.is_ticked)
        if changed is not None:
            desk.send(ReplaceKnownItem(one.id, changed))


def _near(ui: Ui, one: ProposedItem) -> None:
    if one.is_known:
        with ui.row("known"):
            ui.icon("icon", "circle-check", tone="ok")
            ui.text("text", harvest_facts.known_words(one), tone="ok", style="small", width=0)
        return
    if one.deleted_on:
        ui.text("deleted", harvest_facts.deleted_words(one), tone="warn", style="small", wraps=True)
    _like_it(ui, "near", "Nearly the same is known:", one.near)
    _like_it(ui, "near here", "Nearly the same is proposed in this preview:", one.near_here)


def _like_it(ui: Ui, key: str, title: str, lines: tuple[str, ...]) -> None:
    if not lines:
        return
    with ui.group(key, gap=2):
        ui.text("title", title, tone="warn", style="small")
        for index, line in enumerate(lines[:MOST_NEAR]):
            ui.text(("near", index), f"•  {line}", tone="muted", style="small", wraps=True)
        if len(lines) > MOST_NEAR:
            ui.text("more", f"and {len(lines) - MOST_NEAR} more", tone="faint", style="small")
