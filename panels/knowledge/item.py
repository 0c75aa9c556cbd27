"""One item of the Knowledge panel: its words, where it came from, and the forms in which it is written."""

from __future__ import annotations

import re
from datetime import date

from core.app.forgetting.forgetting_messages import ForgetItem
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.knowledge import Category, Item, Provenance
from core.kernel.values.updates import is_under_way
from core.knowledge.evidence_rows import is_struck, item_hash
from core.knowledge.knowledge_messages import ArchiveItem, DeleteKnowledgeItem, SetTaskDone
from core.knowledge.merges import draft_mark
from core.talk.discussion.discussion_messages import SelectDiscussion, UndoDelete
from panels.base.desk import READ_ONLY, Desk
from panels.base.ui import Ui
from panels.base.view import Dialog
from panels.knowledge.history import ask_why
from panels.knowledge.knowledge_dialogs import ask_draft
from panels.knowledge.knowledge_room import (
    EDITOR_KEYS,
    Draft,
    ItemDraft,
    KnowledgeView,
    NewDraft,
    ask,
    begin_edit,
    can_ask,
    can_save,
    save,
    shown_text,
)
from panels.knowledge.rows import ItemSource, SourcePlace, source_of

LONG_CHARS = 480
PAD_PX = 10.0
"""From an icon to words that are no link: a link keeps some room around its own."""
BUTTONS_BESIDE_FROM_PX = 264
"""Width from which the buttons of an item have room beside where it came from."""

TICK_PX = 24.0
_TASKS = frozenset({Category.TASKS_OPEN, Category.TASKS_DONE})

ONE_OF = {
    Category.TASKS_OPEN: tr("open task"),
    Category.QUESTIONS: tr("question"),
    Category.DECISIONS: tr("decision"),
    Category.FACTS: tr("fact"),
    Category.PLAYBOOKS: tr("playbook"),
}
"""Kinds that can be added by hand, and how one of each is called."""

_MARKUP = re.compile(r"[`*_\[\]<>\\#~|&]|://|^\s*(?:[-+]|\d+[.)])\s", re.MULTILINE)
_PLAYBOOK = re.compile(r"\*\*(.+?)\*\*:?[ \t]*", re.DOTALL)


def item_card(desk: Desk, ui: Ui, item: Item) -> None:
    """Draw an item. Sends EditKnowledgeItem, ArchiveItem, SetTaskDone, SelectDiscussion, UndoDelete."""
    draft = desk.view.of(KnowledgeView).live.get(id(item))
    with ui.surface("card", "card", padding=(12, 8)):
        if draft is not None:
            _form(desk, ui, draft, tr("New text for this item"))
            return
        _words(desk, ui, item)
        _draft(desk, ui, item)
        is_narrow = 0 < ui.width() < BUTTONS_BESIDE_FROM_PX
        with ui.row("foot", gap=4):
            provenance(desk, ui, item.provenance)
            _other_origins(ui, item.provenance)
            if not is_narrow:
                ui.push()
                _buttons(desk, ui, item)
        if is_narrow:
            with ui.row("narrow foot", gap=4):
                ui.push()
                _buttons(desk, ui, item)


def _words(desk: Desk, ui: Ui, item: Item) -> None:
    text = shown_text(item)
    view, place = desk.view.of(KnowledgeView), (item.file, item.first_line)
    is_cut = len(text) > LONG_CHARS and place not in view.whole
    shown = _head(text) if is_cut else text
    if item.category in _TASKS:
        _task(desk, ui, item, shown)
    elif item.category is Category.PLAYBOOKS and (named := _PLAYBOOK.match(shown)) is not None:
        ui.text("name", named[1], style="strong", wraps=True)
        prose(ui, "steps", numbered_steps(shown[named.end() :]))
    else:
        prose(ui, "text", shown)
    if len(text) > LONG_CHARS:
        with ui.row("length", gap=0):
            ui.gap(TICK_PX if item.category in _TASKS else 0)
            label = tr("Show all") if is_cut else tr("Show less")
            if ui.button("whole", label, kind="link", is_small=True):
                view.whole.symmetric_difference_update({place})


def _draft(desk: Desk, ui: Ui, item: Item) -> None:
    """Draw the way to the draft that was made of a playbook."""
    if item.category is not Category.PLAYBOOKS or not desk.state.knowledge.drafts:
        return
    path = desk.state.knowledge.drafts.get(draft_mark(item_hash(item.category, item.text)), "")
    if path:
        with ui.row("draft", gap=0):
            tip = tr("Nothing reads or runs the draft until you rename it\n{path}", path=path)
            if ui.button(
                "open", tr("Open draft"), icon="up-right-from-square", kind="link", is_small=True, tip=tip
            ):
                ui.open_file(path)


def prose(ui: Ui, key: str, text: str) -> None:
    """Draw an item's words: as Markdown where they have any, else as the plain text that costs a tenth of it."""
    if _MARKUP.search(text) is None:
        ui.text(key, text, wraps=True)
    else:
        ui.markdown(key, text)


def numbered_steps(text: str) -> str:
    """Steps that are counted on one line (`1. … 2. …`), each on a line of its own."""
    if not text.startswith("1. "):
        return text
    steps, at, number = [], 0, 2
    while (end := text.find(f" {number}. ", at)) >= 0:
        steps.append(text[at:end])
        at, number = end + 1, number + 1
    return "\n".join([*steps, text[at:]])


def _head(text: str) -> str:
    """The first words of a long text."""
    return (text[:LONG_CHARS].rpartition(" ")[0].rstrip() or text[:LONG_CHARS]) + "…"


def _task(desk: Desk, ui: Ui, item: Item, shown: str) -> None:
    is_done = item.category is Category.TASKS_DONE
    with ui.row("task", gap=6):
        with ui.surface("tick", "clear", width=TICK_PX, padding=(0, 0)):
            ticked = ui.checkbox(
                "done", "", is_done, is_enabled=can_ask(desk, item),
                tip=(tr("Reopen: {task}", task=shown[:80]) if is_done else tr("Mark as done: {task}", task=shown[:80])),
            )  # fmt: skip
        if is_done:
            ui.text("text", shown, tone="muted", wraps=True)
        else:
            prose(ui, "text", shown)
    if ticked is not None:
        ask(desk, item, SetTaskDone(item=item, is_done=ticked))


def provenance(desk: Desk, ui: Ui, tag: Provenance | None) -> None:
    """Draw where something came from: a way to the conversation while there is one. Sends SelectDiscussion, UndoDelete."""
    if tag is None:
        ui.icon("icon", "user", tone="faint")
        ui.gap(PAD_PX)
        ui.text("from", tr("added by hand"), tone="faint", style="small")
        return
    source = source_of(desk.state, desk.view.memo, tag.source)
    match source.place:
        case SourcePlace.LIST | SourcePlace.ARCHIVE:
            _conversation(desk, ui, source, tag.date)
        case SourcePlace.TRASH:
            _trashed(desk, ui, source, tag)
        case SourcePlace.GONE:
            ui.icon("icon", "comments", tone="faint")
            ui.gap(PAD_PX)
            ui.text("from", tr("from {name}, {day}", name=source.name, day=_day(desk, tag.date)), tone="muted", style="small",
                    tip=tr("{source}: this conversation no longer exists", source=tag.source))  # fmt: skip


def _other_origins(ui: Ui, tag: Provenance | None) -> None:
    """Draw how many conversations a merged item came from besides, and which."""
    if tag is not None and tag.also:
        listed = "\n".join(tr("from {source}, {date}", source=one.source, date=one.date) for one in tag.also)
        ui.badge(
            "also",
            f"+{len(tag.also)}",
            tone="muted",
            tip=tr("Merged; other sources:\n{listed}", listed=listed),
        )


def _day(desk: Desk, written: str) -> str:
    """The day of a source as a person says it; as it is written where it is no day."""
    try:
        return fmt.day(date.fromisoformat(written), desk.state.now)
    except ValueError:
        return written


def _conversation(desk: Desk, ui: Ui, source: ItemSource, written: str) -> None:
    is_archived = source.place is SourcePlace.ARCHIVE
    ui.icon("icon", "box-archive" if is_archived else "comments", tone="faint")
    tip = (
        tr("Show the conversation {name}, in the archive", name=source.name)
        if is_archived
        else tr("Show the conversation {name}", name=source.name)
    )
    if ui.button(
        "from",
        tr("from {name}, {day}", name=source.name, day=_day(desk, written)),
        kind="link",
        is_small=True,
        tip=tip,
    ):
        desk.view.page = "chat"
        desk.send(SelectDiscussion(source.id))


def _trashed(desk: Desk, ui: Ui, source: ItemSource, tag: Provenance) -> None:
    tip = tr("{source}: this conversation is in the trash", source=tag.source)
    ui.icon("icon", "clock-rotate-left", tone="faint", tip=tip)
    ui.gap(PAD_PX)
    ui.text(
        "from",
        tr("from {name}, {day}, in the trash", name=source.name, day=_day(desk, tag.date)),
        tone="muted",
        style="small",
        tip=tip,
    )
    if ui.button(
        "restore",
        "",
        icon="rotate-left",
        kind="ghost",
        is_small=True,
        tip=tr(
            "Take the conversation {name} out of the trash; this item of knowledge is unchanged",
            name=source.name,
        ),
    ):
        desk.send(UndoDelete(source.id))


def _buttons(desk: Desk, ui: Ui, item: Item) -> None:
    is_free = can_ask(desk, item)
    if ui.button(
        "why", "", icon="quote-left", kind="ghost", is_small=True, tip=tr("Why the model knows this")
    ):
        ask_why(desk, item)
    why = READ_ONLY if desk.state.program.is_home_read_only else ""
    is_live = not is_struck(item.text)  # what was replaced is history: nobody edits it
    if is_live and ui.button(
        "edit", "", icon="pen", kind="ghost", is_small=True, is_enabled=is_free, tip=why or tr("Edit")
    ):
        begin_edit(desk.view.of(KnowledgeView), item)
    if is_live and item.category is Category.PLAYBOOKS and ui.button(
        "graduate", "", icon="graduation-cap", kind="ghost", is_small=True, is_enabled=is_free,
        tip=why or tr("Make a draft of a prompt or tool…"),
    ):  # fmt: skip
        ask_draft(desk, item)
    if is_live and ui.button(
        "archive", "", icon="box-archive", kind="ghost", is_small=True, is_enabled=is_free,
        tip=why or tr("Archive: requests do not contain this item until you take it back"),
    ):  # fmt: skip
        ask(desk, item, ArchiveItem(item))
    if ui.button("delete", "", icon="trash-can", kind="ghost", is_small=True, is_enabled=is_free,
                 tip=why or tr("Delete…")):  # fmt: skip
        desk.view.dialog = Dialog(kind="delete_item", command=DeleteKnowledgeItem(item))
    ui.gap(PAD_PX)  # what can be taken back stands apart from what cannot
    if ui.button("forget", "", icon="eraser", kind="ghost", is_small=True, is_enabled=is_free,
                 tip=why or tr("Forget every copy…")):  # fmt: skip
        desk.view.dialog = Dialog(kind="forget", command=ForgetItem(item=item))


def new_card(desk: Desk, ui: Ui, draft: NewDraft) -> None:
    """Draw the form for a new item. Sends AddKnowledgeItem."""
    one = ONE_OF[draft.category]
    with ui.surface("card", "card_selected", padding=(12, 10)), ui.group("lines", gap=6):
        ui.text("title", tr("New {one}", one=one), style="small_strong", tone="muted")
        if draft.category is Category.PLAYBOOKS:
            typed = ui.text_input("name", draft.name, hint=tr("Playbook name"), is_focused=draft.wants_focus)
            draft.name = draft.name if typed is None else typed
            if ui.is_focused("name"):
                desk.view.of(KnowledgeView).typing = draft
        _form(
            desk,
            ui,
            draft,
            tr("Steps that worked") if draft.category is Category.PLAYBOOKS else tr("One {one}", one=one),
        )


def lost_card(desk: Desk, ui: Ui, draft: ItemDraft) -> None:
    """Draw words for an item that changed in its file meanwhile. Sends AddKnowledgeItem."""
    item = draft.item
    with ui.surface("card", "card_selected", padding=(12, 10)), ui.group("lines", gap=6):
        with ui.row("why"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            text = tr(
                "{file} has changed and no longer holds this item as you saw it. Your text is kept here.",
                file=item.file,
            )
            ui.text("text", text, tone="warn", style="small", wraps=True)
        ui.selectable_text("words", draft.text, height=96)
        with ui.row("buttons"):
            one = ONE_OF.get(item.category)
            if one is not None and ui.button(
                "add", tr("Write a new {one}", one=one), icon="plus", kind="primary", is_small=True
            ):
                _take_over(desk, draft)
            if ui.button("copy", tr("Copy"), icon="copy", is_small=True):
                ui.copy(draft.text)
            if ui.button("discard", tr("Discard"), kind="ghost", is_small=True):
                desk.view.of(KnowledgeView).drop(draft)


def _take_over(desk: Desk, draft: ItemDraft) -> None:
    """Put the words into the form for a new item, behind what stands there."""
    view, category = desk.view.of(KnowledgeView), draft.item.category
    form = view.new.setdefault(category, NewDraft(category=category))
    named = _PLAYBOOK.match(draft.text) if category is Category.PLAYBOOKS else None
    form.name = form.name or (named[1] if named is not None else "")
    text = draft.text[named.end() :] if named is not None else draft.text
    form.text = f"{form.text}\n{text}" if form.text.strip() else text
    view.show_new = category
    view.drop(draft)


def _form(desk: Desk, ui: Ui, draft: Draft, hint: str) -> None:
    view, key = desk.view.of(KnowledgeView), ("edit", id(draft))
    is_first = draft.wants_focus and not (
        isinstance(draft, NewDraft) and draft.category is Category.PLAYBOOKS
    )
    has_moved = view.had_keyboard is draft and draft.row not in {-1, view.row}
    edited = ui.editor(key, draft.text, height=66.0, most_height=320.0, hint=hint,
                       is_focused=is_first or has_moved)  # fmt: skip
    draft.wants_focus, draft.row = False, view.row
    if edited is not None:
        draft.text = edited.text
    if ui.is_focused(key):
        view.typing = draft
    with ui.row("form buttons"):
        verb = tr("Add") if isinstance(draft, NewDraft) else tr("Save")
        can = can_save(desk.state, draft)
        if ui.button(
            "save",
            verb,
            kind="primary",
            is_small=True,
            is_enabled=can,
            tip=tr("{verb} (Ctrl+Enter)", verb=verb),
        ):
            save(desk, draft)
        if ui.button("cancel", tr("Cancel"), is_small=True, tip=tr("Cancel (Escape)")):
            view.drop(draft)
        if not draft.command_id:
            ui.text("keys", EDITOR_KEYS, tone="faint", style="small", width=0)
        if is_under_way(desk.state, draft.command_id):
            ui.text("waiting", tr("Saving…"), tone="muted", style="small")
        elif draft.command_id:
            ui.text("kept", tr("Not saved yet; your text stays here."), tone="warn", style="small", width=0,
                    wraps=True, tip=tr("A notice says why the program did not save. Press Save to try again."))  # fmt: skip
