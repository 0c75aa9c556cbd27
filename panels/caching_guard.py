"""Asks before money is lost: a warm prefix that a change would leave, and the spend limits."""

from __future__ import annotations

from core.values import commands as c
from core.values.state import AppState
from panels import format as fmt
from panels.actions import Desk, sending_from
from panels.answers import answers
from panels.caching_warnings import limits_reached, warm_loss
from panels.ui import Send
from panels.view import Dialog, WindowView


def guarded(state: AppState, view: WindowView, send: Send) -> Send:
    """A `send` that opens a dialog in place of a command that should be asked for first."""

    def ask_first(command: c.Command) -> None:
        is_confirmed, view.confirmed = command is view.confirmed, None
        dialog = None if is_confirmed else question(state, view, command)
        if dialog is None:
            send(command)
            return
        view.dialog = dialog
        if isinstance(command, c.SendPrompt):
            view.composer(command.discussion_id).sent_from = None

    return ask_first


def question(state: AppState, view: WindowView, command: c.Command) -> Dialog | None:
    """The dialog that a command needs first, None where it can be sent as it is."""
    if limits_reached(state, command):
        return Dialog("spend_limit", getattr(command, "discussion_id", ""), command=command)
    loss = warm_loss(state, command)
    if loss is None or loss.discussion_id in view.unasked:
        return None
    return Dialog("lose_cache", loss.discussion_id, command=command)


def lose_cache_dialog(desk: Desk, dialog: Dialog) -> None:
    """Say what a change costs; do it only after a yes."""
    ui, command = desk.ui, dialog.command
    loss = warm_loss(desk.state, command) if command is not None else None
    with ui.dialog("lose cache", "Leave the warm cache?", width=440) as closed:
        said = loss.sentence if loss else "Nothing of it is warm any more: the change costs nothing."
        ui.text("what", said, wraps=True)
        is_on = ui.checkbox("unasked", "Do not ask again for this discussion", dialog.at == 1)
        dialog.at = dialog.at if is_on is None else int(is_on)
        answer = answers(desk.ui, "Keep it", loss.verb if loss else "Change it")
    if answer == "yes" and dialog.at:
        desk.view.unasked.add(dialog.subject)
    _close(desk, dialog, answer, is_closed=closed.clicked)


def spend_limit_dialog(desk: Desk, dialog: Dialog) -> None:
    """Say which limit is reached, with its sums; send only after a yes."""
    ui, command = desk.ui, dialog.command
    reached = limits_reached(desk.state, command) if command is not None else ()
    with ui.dialog("spend limit", "Spend limit reached", width=440) as closed:
        for spent in reached:
            with ui.row(("sum", spent.what)):
                ui.icon("icon", "circle-exclamation", tone="warn")
                ui.text("line", spent.line, style="strong")
        if not reached:
            ui.text("free", "No limit is reached any more.")
        report = desk.state.reports.get(dialog.subject)
        cost = fmt.cost(report.cost_usd) if report is not None else fmt.PRICE_UNKNOWN
        note = f"The next request: {cost}, and its reply. The limits stand in Caching, Settings."
        ui.text("next", note, tone="muted", wraps=True)
        answer = answers(desk.ui, "Do not send", "Send anyway")
    _close(desk, dialog, answer, is_closed=closed.clicked)


def _close(desk: Desk, dialog: Dialog, answer: str, *, is_closed: bool) -> None:
    """Take an answer: close the dialog, and after a yes do what was asked for."""
    if not answer and not is_closed and not desk.ui.shortcut("Escape"):
        return
    desk.view.dialog = None
    command = dialog.command
    if answer != "yes" or command is None:
        return
    if isinstance(command, c.SendPrompt):
        desk.view.composer(command.discussion_id).sent_from = sending_from(desk)
        desk.view.scroll_to = -1
    desk.view.confirmed = command
    desk.send(command)
