"""The words of a message, and the menu at a right click on them."""

from __future__ import annotations

from core.discussion.messages import BranchDiscussion, DeleteMessage, SetDraft
from core.turn.messages import RegenerateReply
from core.values.discussion import LiveCall, OpenDiscussion
from core.values.messages import Message, Role, ToolResultPart
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.discussion.view import DiscussionView


def message_text(ui: Ui, message: Message, terms: tuple[str, ...] = (), found_at: int = -1) -> None:
    """Draw what a message says: a person's words as they wrote them, a reply as Markdown."""
    if message.text:
        is_written = message.role is Role.USER
        ui.markdown("text", message.text, is_written=is_written, terms=terms, found_at=found_at)


def copied_text(message: Message) -> str:
    """Markdown of a message; of results of tools their text."""
    results = (part.text for part in message.parts if isinstance(part, ToolResultPart))
    return message.text or "\n\n".join(results)


def message_menu(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Menu of a message and of what is selected of it."""
    ui = desk.ui
    with ui.context_menu("context menu") as is_open:
        if not is_open:
            return
        _text_items(desk, opened.id, copied_text(message))
        ui.divider("message group")
        is_own = not message.is_of_tools
        if is_own and ui.menu_item("edit", "Edit", icon="pen"):
            desk.view.of(DiscussionView).editing[opened.id, message.id] = message.text
        if ui.menu_item("fork", "Fork here", icon="code-branch"):
            desk.send(BranchDiscussion(opened.id, message.id))
        if message.role is Role.ASSISTANT and ui.menu_item(
            "regenerate", "Regenerate", icon="arrows-rotate", is_enabled=not desk.is_replying
        ):
            desk.send(RegenerateReply(opened.id, message.id))
        ui.divider("delete group")
        if is_own and ui.menu_item("delete", "Delete", icon="trash-can", tone="error"):
            desk.send(DeleteMessage(opened.id, message.id))


def live_menu(desk: Desk, call: LiveCall) -> None:
    """Menu of the words of a reply that is on its way."""
    with desk.ui.context_menu("context menu") as is_open:
        if is_open:
            _text_items(desk, call.discussion_id, call.text)


def _text_items(desk: Desk, discussion_id: str, text: str) -> None:
    ui = desk.ui
    selected = ui.selected_text()
    if ui.menu_item("copy", "Copy", icon="copy", shortcut="Ctrl+C", is_enabled=bool(selected)):
        ui.copy(selected)
    if ui.menu_item("copy all", "Copy message as Markdown", icon="copy", is_enabled=bool(text)):
        ui.copy(text)
    label = "Quote selection" if selected else "Quote message"
    if ui.menu_item("quote", label, icon="quote-left", is_enabled=bool(selected or text)):
        quote(desk, discussion_id, selected or text)


def quote(desk: Desk, discussion_id: str, text: str) -> None:
    """Put a text into the composer as a quotation, behind what stands there."""
    composer = desk.view.of(DiscussionView).composer(discussion_id)
    quoted = "\n".join(f"> {line}".rstrip() for line in text.strip("\n").split("\n"))
    before = composer.text.rstrip()
    written = f"{before}\n\n{quoted}\n\n" if before else f"{quoted}\n\n"
    composer.replace(written)
    composer.pending.append(written)
    desk.send(SetDraft(discussion_id, written))
    desk.view.focus, desk.view.focus_not = "composer", ""
