"""The dialog of forgetting: what goes and that nothing brings it back; then how far it is, and the receipt."""

from __future__ import annotations

from msgspec.structs import replace

from core.base.figures import count
from core.base.text import one_line
from core.forgetting.messages import DismissReceipt, ForgetDiscussion, ForgetItem
from core.forgetting.places import CANNOT, place
from core.forgetting.report import WARNING, headline
from core.forgetting.step import branches_of
from core.values.forgetting import ForgetReceipt
from panels.base.desk import Desk
from panels.base.ui import Tone
from panels.base.view import Dialog
from panels.discussion.view import DiscussionView, FindView

WIDTH_PX, RECEIPT_WIDTH_PX, RECEIPT_HEIGHT_PX, FOOT_PX = 480, 680, 560, 44
SHOWN_CHARS = 400
ASKED = 1
"""Mark of a dialog whose question was answered with yes (`Dialog.at`)."""


def forget_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog. Sends ForgetDiscussion or ForgetItem, confirmed, and DismissReceipt."""
    if dialog.at == ASKED:
        _ended(desk)
    elif isinstance(dialog.command, ForgetDiscussion | ForgetItem):
        _question(desk, dialog, dialog.command)
    else:
        desk.view.dialog = None


def _question(desk: Desk, dialog: Dialog, command: ForgetDiscussion | ForgetItem) -> None:
    ui = desk.ui
    is_item = isinstance(command, ForgetItem)
    title = "Forget this item?" if is_item else "Forget this conversation?"
    with ui.dialog("forget", title, width=WIDTH_PX) as closed:
        if isinstance(command, ForgetItem):
            with ui.surface("words", "inset"):
                ui.text("text", one_line(command.item.text, SHOWN_CHARS), wraps=True)
            what = "It leaves knowledge, facts, logs and caches; no harvest proposes it again. Conversations keep it."
            ui.text("what", what, tone="muted", wraps=True)
        else:
            command = _conversation(desk, dialog, command)
        ui.text("warning", WARNING, tone="warn", wraps=True)
        with ui.row("buttons"):
            ui.push()
            is_cancelled = ui.button("cancel", "Cancel")
            is_asked = ui.button("forget", "Forget", kind="danger")
    if is_asked:
        dialog.at = ASKED
        own = desk.view.of(DiscussionView)
        own.find, own.landing = FindView(), None  # a quote may stand in them
        desk.send(replace(command, is_confirmed=True))
    elif is_cancelled or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _conversation(desk: Desk, dialog: Dialog, command: ForgetDiscussion) -> ForgetDiscussion:
    """Say what goes with a conversation, and ask about its branches. Returns the command as it was chosen."""
    ui, chosen = desk.ui, command.discussion_id
    row = desk.state.discussions.summaries.get(chosen)
    with ui.surface("words", "inset"):
        ui.text("name", one_line(row.meta.name if row is not None else chosen, SHOWN_CHARS), wraps=True)
    what = "It goes with drafts, files, trash, caches, and all that was harvested from it and nowhere else."
    ui.text("what", what, tone="muted", wraps=True)
    branches = branches_of(desk.state, chosen)
    if branches:
        which = count(len(branches), "branch that begins", "branches that begin")
        label = f"Its branches too: {which} with its records"
        ticked = ui.checkbox("branches", label, command.with_branches)
        if ticked is not None:
            command = replace(command, with_branches=ticked)
            dialog.command = command
    return command


def _ended(desk: Desk) -> None:
    """Say that it runs; at its end show the receipt, or why there is none."""
    ui, now = desk.ui, desk.state.forgetting
    receipt = now.receipt
    width = WIDTH_PX if receipt is None else RECEIPT_WIDTH_PX
    height = None if receipt is None else RECEIPT_HEIGHT_PX
    title = "Forgetting" if receipt is None else "Forgotten"
    with ui.dialog("forgotten", title, width=width, height=height) as closed:
        if receipt is not None:
            _receipt(desk, receipt)
        elif now.problem:
            ui.text("problem", f"{now.problem}. {now.remedy}", tone="error", wraps=True)
        elif now.is_running:
            ui.text("doing", "Going through every place…", tone="muted")
        else:
            ui.text("not begun", "It was not begun; the notice says why.", tone="muted", wraps=True)
        with ui.row("buttons"):
            ui.push()
            is_closed = ui.button("close", "Close")
    if is_closed or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
        desk.send(DismissReceipt())


def _receipt(desk: Desk, receipt: ForgetReceipt) -> None:
    ui, rows = desk.ui, desk.state.discussions.summaries
    ui.text("sum", headline(receipt), style="strong", wraps=True)
    with ui.surface("places", "inset", height=-FOOT_PX, padding=(12, 8), scrolls=True):
        for row in receipt.places:
            said = f"may be left: {row.problem}" if row.problem else row.checked
            label = place(row.place).label
            line = f"{label[:1].upper()}{label[1:]}: {row.removed:,}; {said}"
            tone: Tone = "warn" if row.problem else "text" if row.removed else "muted"
            ui.text(("place", row.place), line, tone=tone, style="small", wraps=True)
        if receipt.holders:
            ui.text("holders", "Conversations that may still hold it:", style="small_strong")
        for one in receipt.holders:
            name = rows[one].meta.name if one in rows else one
            ui.text(("holder", one), name, style="small", wraps=True)
        ui.text("cannot", "Cannot be reached from here:", style="small_strong")
        for index, line in enumerate(CANNOT):
            ui.text(("cannot", index), line, tone="muted", style="small", wraps=True)
