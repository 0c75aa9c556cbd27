"""The dialog of forgetting: the things to remove, the warning, the progress and the receipt."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.forgetting.forgetting_messages import DismissReceipt, ForgetDiscussion, ForgetItem, LookAtForget
from core.app.forgetting.forgetting_places import (
    CANNOT,
    CANNOT_SAYS,
    FORGET_SAYS,
    HOLDERS,
    WARNING,
    found_lines,
    headline,
    nothing_found,
    preview_text,
    receipt_text,
)
from core.app.forgetting.forgetting_step import branches_of, target_of
from core.kernel.figures import count, first_of
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.values.knowledge import ForgetReceipt
from panels.base.desk import Desk
from panels.base.ui import Tone
from panels.base.view import Dialog
from panels.discussion.view import DiscussionView, FindView

WIDTH_PX, RECEIPT_WIDTH_PX, PLACES_PX = 480, 660, 300
SHOWN_CHARS, SHOWN_NAMES, MOST_LINES = 400, 6, 13
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
    title = tr("Forget this item?") if is_item else tr("Forget this conversation?")
    with ui.dialog("forget", title, width=WIDTH_PX) as closed:
        if isinstance(command, ForgetItem):
            with ui.surface("words", "inset"):
                ui.text("text", one_line(command.item.text, SHOWN_CHARS), wraps=True)
            ui.text("what", FORGET_SAYS, tone="muted", wraps=True)
        else:
            command = _conversation(desk, dialog, command)
        _preview(desk, dialog, command)
        ui.text("warning", WARNING, tone="warn", wraps=True)
        with ui.row("buttons"):
            ui.push()
            is_cancelled = ui.button("cancel", tr("Cancel"))
            is_asked = ui.button("forget", tr("Forget"), kind="danger")
    if is_asked:
        dialog.at = ASKED
        own = desk.view.of(DiscussionView)
        own.find, own.landing = FindView(), None  # a quote may stand in them
        desk.send(replace(command, is_confirmed=True))
    elif is_cancelled or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _preview(desk: Desk, dialog: Dialog, command: ForgetDiscussion | ForgetItem) -> None:
    """Say how much goes with it, and which conversations keep words of it. Sends LookAtForget."""
    ui, wanted = desk.ui, target_of(desk.state, command)
    if dialog.subject != repr(wanted):
        dialog.subject = repr(wanted)
        desk.send(_look(command))
    preview = desk.state.forgetting.preview
    if preview is None or preview.target != wanted:
        ui.text("looking", tr("Looking for everything to forget…"), tone="muted")
    elif preview.problem:
        ui.text("problem", preview.problem, tone="error", wraps=True)
    else:
        ui.text("goes", preview_text(preview), wraps=True)
        if preview.holders:
            names = first_of([_name(desk, one) for one in preview.holders], SHOWN_NAMES)
            stay = (
                tr("Some of the words also stay in the conversation")
                if len(preview.holders) == 1
                else tr("Some of the words also stay in the conversations")
            )
            ui.text("holders", f"{stay}: {names}.", wraps=True)


def _look(command: ForgetDiscussion | ForgetItem) -> LookAtForget:
    if isinstance(command, ForgetItem):
        return LookAtForget(item=command.item)
    return LookAtForget(discussion_id=command.discussion_id, with_branches=command.with_branches)


def _name(desk: Desk, discussion_id: str) -> str:
    """Name of a conversation, in the list or in the trash."""
    rows = desk.state.discussions.summaries
    if discussion_id in rows:
        return rows[discussion_id].meta.name
    binned = (item for item in desk.state.discussions.trash if item.discussion_id == discussion_id)
    item = next(binned, None)
    return discussion_id if item is None else tr("{value} (in the trash)", value=item.name or discussion_id)


def _conversation(desk: Desk, dialog: Dialog, command: ForgetDiscussion) -> ForgetDiscussion:
    """Say what goes with a conversation, and ask about its branches. Returns the command as it was chosen."""
    ui, chosen = desk.ui, command.discussion_id
    with ui.surface("words", "inset"):
        ui.text("name", one_line(_name(desk, chosen), SHOWN_CHARS), wraps=True)
    what = tr(
        "This removes the messages, draft, files, caches, and items harvested only from this conversation."
    )
    ui.text("what", what, tone="muted", wraps=True)
    branches = branches_of(desk.state, chosen)
    if branches:
        which = count(len(branches), tr("branch that begins"), tr("branches that begin"))
        label = tr("Also forget its branches: {which} with its messages", which=which)
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
    title = tr("Forgetting") if receipt is None else tr("Forgotten")
    with ui.dialog("forgotten", title, width=width) as closed:
        if receipt is not None:
            _receipt(desk, receipt)
        elif now.problem:
            ui.text("problem", as_sentences(now.problem, now.remedy), tone="error", wraps=True)
        elif now.is_running:
            ui.text("doing", tr("Searching every place…"), tone="muted")
        else:
            ui.text(
                "not begun", tr("Forgetting did not start; the notice says why."), tone="muted", wraps=True
            )
        with ui.row("buttons"):
            ui.push()
            if receipt is not None and ui.button("copy", tr("Copy receipt"), icon="copy", kind="ghost"):
                ui.copy(receipt_text(receipt, {one: _name(desk, one) for one in receipt.holders}))
            is_closed = ui.button("close", tr("Close"))
    if is_closed or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
        desk.send(DismissReceipt())


def _receipt(desk: Desk, receipt: ForgetReceipt) -> None:
    """Tell what was found and done, what holds words still, and what nobody here can reach."""
    ui = desk.ui
    ui.text("sum", headline(receipt), style="strong", wraps=True)
    lines = found_lines(receipt)
    is_long = len(lines) > MOST_LINES
    height = PLACES_PX if is_long else None
    with ui.surface("places", "inset", height=height, padding=(12, 8), scrolls=is_long):
        for index, (line, is_problem) in enumerate(lines):
            tone: Tone = "warn" if is_problem else "text"
            ui.text(("line", index), line, tone=tone, style="small", wraps=True)
        if bare := nothing_found(receipt):
            ui.text("bare", bare, tone="muted", style="small", wraps=True)
    if receipt.holders:
        ui.text("holders", HOLDERS, style="small_strong", wraps=True)
        for one in receipt.holders[:SHOWN_NAMES]:
            ui.text(("holder", one), _name(desk, one), style="small", wraps=True)
        if len(receipt.holders) > SHOWN_NAMES:
            ui.text(
                "more",
                tr("and {holders:,} more of the conversations", holders=len(receipt.holders) - SHOWN_NAMES),
                style="small",
            )
    ui.text("cannot", CANNOT_SAYS, style="small_strong")
    for index, line in enumerate(CANNOT):
        ui.text(("cannot", index), line, tone="muted", style="small", wraps=True)
