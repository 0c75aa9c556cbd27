"""History of an item in the window: its quotes, the turns that they stand in, its history, and the requests it entered."""

from __future__ import annotations

from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.facts import IndexedFact, ItemHistory, TurnPlace, Witness
from core.kernel.values.knowledge import Item
from core.knowledge.evidence_rows import is_struck, item_hash, unstruck
from core.knowledge.history_text import (
    day,
    line_text,
    no_evidence,
    quote_in,
    quote_words,
    role_words,
    source_names,
    witness_line,
)
from core.knowledge.knowledge_messages import ExplainFact, ExplainItem
from core.talk.discussion.discussion_messages import SelectDiscussion, UndoDelete
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.base.view import Dialog, Same
from panels.discussion.view import DiscussionView, Landing
from panels.knowledge.knowledge_room import KnowledgeView, items_in

WIDTH_PX, HEIGHT_PX, SHORT_PX, TURN_PX = 600, 420, 160, 110
MOST_REQUESTS = 5
SHOWN_CHARS, LONG_CHARS = 400, 240
"""Characters of the item that are shown, and of a turn from which it scrolls."""

GONE = tr("The file no longer holds this item as shown here.")


def ask_why(desk: Desk, item: Item) -> None:
    """Open the dialog. Sends ExplainItem."""
    command = ExplainItem(item)
    desk.view.dialog = Dialog(kind="item_history", command=command)
    _ask(desk, command)


def ask_why_fact(desk: Desk, fact: IndexedFact) -> None:
    """Open the dialog. Sends ExplainFact."""
    command = ExplainFact(fact.id)
    desk.view.dialog = Dialog(kind="item_history", command=command, text=fact.text)
    _ask(desk, command)


def _ask(desk: Desk, command: ExplainItem | ExplainFact) -> None:
    """Ask for a history, once for what is known now."""
    desk.view.of(KnowledgeView).asked_of = _known(desk)
    desk.send(command)


def _known(desk: Desk) -> Same:
    known = desk.state.knowledge
    return Same(known.categories, known.notes, known.facts.facts)


def _is_of(told: ItemHistory, item: Item) -> bool:
    """True for the history of an item, and of the one that stands in its place by now."""
    asked = item_hash(item.category, item.text)
    return told.asked == asked or (told.category, told.text) == (item.category.value, item.text)


def _stands(desk: Desk, item: Item, words: str) -> bool:
    """True if an item with these words stands in the file. O(items) once after a change, then O(1)."""
    items = items_in(desk.state.knowledge, item.file)
    return desk.view.memo.get(
        "history item",
        (items, item.category, words),
        lambda: any(one.category is item.category and one.text == words for one in items),
    )


def _is_fact(desk: Desk, fact_id: str) -> bool:
    """True if the index has a fact. O(facts) once after a change, then O(1)."""
    facts = desk.state.knowledge.facts.facts
    return desk.view.memo.get(
        "history fact", (facts, fact_id), lambda: any(one.id == fact_id for one in facts)
    )


def show_turn(desk: Desk, discussion_id: str, message_id: str, quote: str) -> None:
    """Go to a message in its conversation, the quote marked. Sends SelectDiscussion."""
    desk.view.of(DiscussionView).landing = Landing(
        discussion_id=discussion_id, message_id=message_id, query=quote, is_phrase=True
    )
    desk.view.page = "chat"
    desk.view.dialog = None
    desk.send(SelectDiscussion(discussion_id))


def history_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog. Sends ExplainItem, ExplainFact, SelectDiscussion, UndoDelete."""
    ui, asked = desk.ui, dialog.command
    told = desk.state.evidence.shown
    match asked:
        case ExplainItem(item):
            is_it = told is not None and not told.fact and _is_of(told, item)
            words = told.text if told is not None and is_it else item.text
            is_there = _stands(desk, item, words)
            may_ask = True
        case ExplainFact(fact_id):
            is_it = told is not None and told.fact == fact_id
            words = told.text if told is not None and is_it else dialog.text
            is_there = may_ask = _is_fact(desk, fact_id)
        case _:
            desk.view.dialog = None
            return
    if may_ask and desk.view.of(KnowledgeView).asked_of != _known(desk):
        _ask(desk, asked)
    with ui.dialog("item history", tr("Why the model knows this"), width=WIDTH_PX) as closed:
        with ui.surface("words", "inset"):
            ui.text("text", one_line(unstruck(words), SHOWN_CHARS), wraps=True)
            if is_struck(words):
                ui.text(
                    "struck",
                    tr("Replaced: this item is struck through in its file."),
                    tone="warn",
                    style="small",
                    wraps=True,
                )
        if not is_there:
            ui.text("gone", GONE, tone="warn", style="small", wraps=True)
        is_short = told is not None and is_it and not told.witnesses and not told.events
        height = SHORT_PX if is_short else HEIGHT_PX
        with ui.surface("history", "clear", height=height, padding=(0, 4), scrolls=True):
            if told is None or not is_it:
                ui.text("wait", tr("Reading the logs…"), tone="muted")
            else:
                _history(desk, ui, told)
        with ui.row("buttons"):
            ui.push()
            if ui.button("close", tr("Close")):
                desk.view.dialog = None
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _history(desk: Desk, ui: Ui, told: ItemHistory) -> None:
    with ui.group("lines", gap=8):
        if not told.witnesses:
            ui.text(
                "none",
                tr("No source of this item is known: {reason}.", reason=no_evidence(told)),
                tone="muted",
                wraps=True,
            )
        for index, witness in enumerate(told.witnesses):
            with ui.group(("witness", index), gap=4):
                _witness(desk, ui, witness)
        names = source_names(told)
        for index, line in enumerate(told.lines):
            ui.text(("event", index), line_text(line, names), tone="muted", style="small", wraps=True)
        _requests(ui, told)
        if told.torn:
            text = tr("The program skipped {torn:,} unreadable lines of the logs.", torn=told.torn)
            ui.text("torn", text, tone="warn", style="small", wraps=True)


def _witness(desk: Desk, ui: Ui, witness: Witness) -> None:
    row = witness.row
    ui.text("where", tr("From {witness}", witness=witness_line(witness)), style="small_strong", wraps=True)
    if row.quote:
        with ui.surface("quote", "inset"):
            ui.text("words", f"“{row.quote}”", wraps=True)
    else:
        ui.text(
            "no quote",
            quote_words(witness),
            tone="warn" if row.is_unfound else "muted",
            style="small",
            wraps=True,
        )
    if witness.turn:
        _turn(ui, witness)
    with ui.row("ways"):
        if witness.place is TurnPlace.LIST and ui.button(
            "show",
            tr("Show the message") if row.turns else tr("Show the conversation"),
            icon="comments",
            is_small=True,
        ):
            show_turn(desk, row.discussion, row.turns[0] if row.turns else "", row.quote)
        if witness.place is TurnPlace.TRASH and ui.button(
            "restore", tr("Restore from trash"), icon="clock-rotate-left", is_small=True
        ):
            desk.view.dialog = None
            desk.send(UndoDelete(row.discussion))


def _turn(ui: Ui, witness: Witness) -> None:
    """Draw who said it and the whole turn, the quote in it marked."""
    if said := role_words(witness.role):
        ui.text("said", said, tone="muted", style="small")
    is_long = len(witness.turn) > LONG_CHARS or witness.turn.count("\n") > 2
    marked = quote_in(witness.turn, witness.row.quote)
    with ui.surface("turn", "clear", height=TURN_PX if is_long else None, padding=(0, 0), scrolls=is_long):
        ui.markdown("words", witness.turn, is_written=True, terms=(marked,) if marked else ())


def _requests(ui: Ui, told: ItemHistory) -> None:
    if not told.injected:
        ui.text(
            "requests", tr("No recorded request to a model contained this item."), tone="muted", style="small"
        )
        return
    text = tr("Requests contained this item from {at} on:", at=day(told.injected[-1].at))
    ui.text("requests", text, tone="muted", style="small", wraps=True)
    for index, event in enumerate(told.injected[:MOST_REQUESTS]):
        words = tr(
            "{at}  {model}, discussion {discussion}",
            at=day(event.at),
            model=event.model,
            discussion=event.discussion,
        )
        ui.text(("request", index), words, tone="faint", style="small", wraps=True)
