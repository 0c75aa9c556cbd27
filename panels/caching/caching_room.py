"""Room of caching in the window, and the view of its panel and questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from core.app.app_messages import Command
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.usage import UNPRICED_REMEDY, LimitScope, ReachedLimit, SpendRefusal
from core.knowledge.knowledge_messages import DeleteKnowledgeItem
from core.services.settings.settings_messages import UpdatePrices
from core.services.spending.estimates import next_input_usd
from core.services.spending.limits import reached_limits
from core.talk.discussion.discussion_messages import EditMessage
from core.talk.turn.turn_messages import PaidCommand, ResendMessage, SendPrompt
from panels.base.desk import Desk, HubPanel, Room, answers
from panels.base.ui import Send
from panels.base.view import Dialog, WindowView
from panels.base.window_fields import Kept, one_of
from panels.discussion.view import DiscussionView

# View of the Caching panel and its questions: the part in front, the filter, answers given before.


class CachingView(msgspec.Struct):
    """The room's own state.

    Args:
        query: filter of the discussions; is_rest_open: those that hold nothing are unfolded; error: key of a setting and why what was typed is not taken.
        unasked: discussions whose warm cache may be left without a question.
        confirmed: the command that the person has just said yes to.
        refusals: of sends, by discussion id, that the person was asked about; refusals_of: the open discussions that
            were looked through for them. asked: limits that were asked about so far.
    """

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept(key="caching_tab", name="tab", read=one_of("overview", "discussions", "settings")),
    )

    tab: str = "overview"
    query: str = ""
    is_rest_open: bool = False
    error: tuple[str, str] = ("", "")
    unasked: set[str] = msgspec.field(default_factory=set)
    confirmed: Command | None = None
    refusals: dict[str, SpendRefusal] = msgspec.field(default_factory=dict)
    refusals_of: Mapping[str, OpenDiscussion] | None = None
    asked: int = 0


# Asks before money is lost: a warm prefix that a change would leave, and a send that a spend limit stands
# against.


def guarded(state: AppState, view: WindowView, send: Send) -> Send:
    """A `send` that opens a dialog in place of a command that should be asked for first."""
    own = view.of(CachingView)

    def ask_first(command: Command) -> None:
        is_confirmed, own.confirmed = command is own.confirmed, None
        dialog = None if is_confirmed else question(state, view, command)
        if dialog is None:
            send(command)
            return
        view.dialog = dialog

    return ask_first


def question(state: AppState, view: WindowView, command: Command) -> Dialog | None:
    """The dialog that a command needs first, None where it can be sent as it is. An item has its own, with the price."""
    from core.app.warm_loss import warm_loss  # loaded behind the first frame

    loss = None if isinstance(command, DeleteKnowledgeItem) else warm_loss(state, command)
    if loss is None or loss.discussion_id in view.of(CachingView).unasked:
        return None
    return Dialog(kind="lose_cache", subject=loss.discussion_id, command=command)


def ask_past_limit(state: AppState, view: WindowView) -> None:
    """Ask once about each send that the step has refused for a spend limit."""
    own, composers = view.of(CachingView), view.of(DiscussionView).composers
    if view.dialog is not None:
        return
    for name, composer in composers.items():
        if composer.refusal is not None:
            view.dialog, composer.refusal = _past_limit(own, name, composer.refusal), None
            return
    if own.refusals_of is state.discussions.open:
        return
    own.refusals_of = state.discussions.open
    refusals = {one.id: one.refusal for one in state.discussions.open.values() if one.refusal is not None}
    new = [name for name, refusal in refusals.items() if own.refusals.get(name) is not refusal]
    own.refusals = refusals
    if new:
        view.dialog = _past_limit(own, new[0], refusals[new[0]])


def _past_limit(own: CachingView, name: str, refusal: SpendRefusal) -> Dialog:
    own.asked += 1
    confirmed = refusal.confirmed
    return Dialog(
        kind="spend_limit", subject=name, command=confirmed if isinstance(confirmed, Command) else None
    )


def lose_cache_dialog(desk: Desk, dialog: Dialog) -> None:
    """Show the price of a change and make the change after a yes."""
    from core.app.warm_loss import warm_loss

    ui, command = desk.ui, dialog.command
    loss = warm_loss(desk.state, command) if command is not None else None
    title = loss.title if loss else tr("Lose the cache?")
    with ui.dialog("lose cache", title, width=440) as closed:
        said = loss.sentence if loss else tr("The cache is already cold: this change costs nothing.")
        ui.text("what", said, wraps=True)
        if dialog.subject:
            is_on = ui.checkbox("unasked", tr("Do not ask again for this discussion"), dialog.at == 1)
            dialog.at = dialog.at if is_on is None else int(is_on)
        answer = answers(desk.ui, tr("Keep"), loss.verb if loss else tr("Change it"))
    if answer == "yes" and dialog.at:
        desk.view.of(CachingView).unasked.add(dialog.subject)
    _close(desk, dialog, answer, is_closed=closed.clicked)


def spend_limit_dialog(desk: Desk, dialog: Dialog) -> None:
    """Say which limit is reached, with its sums; send only after a yes."""
    ui = desk.ui
    reached = reached_limits(desk.state, dialog.subject)
    is_unpriced = bool(reached) and all(one.scope is LimitScope.UNPRICED for one in reached)
    title = tr("The program cannot check the limit") if is_unpriced else tr("Spend limit reached")
    key = ("spend limit", desk.view.of(CachingView).asked)  # one that follows at once stands anew first
    with ui.dialog(key, title, width=440) as closed:
        for limit in reached:
            if limit.why:
                ui.text(("why", limit.scope), limit.why, wraps=True)
                continue
            with ui.row(("sum", limit.scope)):
                ui.icon("icon", "circle-exclamation", tone="warn")
                ui.text("line", _line(limit), style="strong")
        if not reached:
            ui.text("free", tr("You are below every limit again."))
        cost = fmt.estimated(next_input_usd(desk.state, dialog.subject))
        note = tr(
            "Next request: {cost}, plus the reply. Raise a limit in Usage to send the waiting message.",
            cost=cost,
        )
        if is_unpriced:
            note = tr(
                "“Send anyway” covers this request only, whatever the cost. {UNPRICED_REMEDY}; then the program stops asking.",
                UNPRICED_REMEDY=UNPRICED_REMEDY,
            )
        ui.text("next", note, tone="muted", wraps=True)
        other = tr("Update prices") if is_unpriced else tr("Raise limit")
        answer = answers(desk.ui, tr("Do not send"), tr("Send anyway"), costs=True, other=other)
    if answer == "other" and is_unpriced:
        desk.view.dialog = None
        desk.send(UpdatePrices())
        return
    if answer == "other":
        _wait_for_limit(desk, dialog)
        return
    _close(desk, dialog, answer, is_closed=closed.clicked)


def _wait_for_limit(desk: Desk, dialog: Dialog) -> None:
    """Lead to the limits; what was asked for waits until they are raised."""
    desk.view.dialog = None
    desk.view.show_hub("usage")
    if isinstance(dialog.command, PaidCommand):
        if isinstance(dialog.command, ResendMessage):
            desk.view.of(DiscussionView).editing.pop((dialog.subject, dialog.command.message_id), None)
        _give(desk, replace(dialog.command, over_limit=False, awaits_limit=True))


def _line(limit: ReachedLimit) -> str:
    """`This discussion: $5.02 of $5.00`."""
    what = tr("This discussion") if limit.scope is LimitScope.DISCUSSION else tr("Today")
    limit_usd = fmt.dollars(limit.limit_usd)
    if not limit.reserved_usd:
        return tr("{scope}: {spent} of {limit_usd}", scope=what, spent=limit.spent, limit_usd=limit_usd)
    return tr(
        "{scope}: {spent} of {limit_usd}, about {reserved_usd} more in progress",
        scope=what,
        spent=limit.spent,
        limit_usd=limit_usd,
        reserved_usd=fmt.dollars(limit.reserved_usd),
    )


def _close(desk: Desk, dialog: Dialog, answer: str, *, is_closed: bool) -> None:
    """Take an answer: close the dialog, and after a yes do what was asked for."""
    own = desk.view.of(DiscussionView)
    if not answer and not is_closed and not desk.ui.shortcut("Escape"):
        return
    desk.view.dialog = None
    command = dialog.command
    if answer != "yes" and isinstance(command, EditMessage):
        own.editing[command.discussion_id, command.message_id] = command.text  # what was typed stays
    if answer != "yes" or command is None:
        return
    _give(desk, command)


def _give(desk: Desk, command: Command) -> None:
    """Send what was asked for; words that stand in the composer leave it."""
    own = desk.view.of(DiscussionView)
    if isinstance(command, SendPrompt):
        command = replace(command, command_id="")
        composer = own.composer(command.discussion_id)
        if command.text == composer.text:
            command = replace(command, command_id=desk.view.next_id())
            composer.hand_over(command.command_id)
        own.scroll_to = -1
    desk.view.of(CachingView).confirmed = command
    desk.send(command)


# Room of caching in the window.


def _panel(desk: Desk) -> None:
    from panels.caching.caching_panel import caching_panel

    caching_panel(desk)


ROOM = Room(
    view=CachingView,
    panels=(
        HubPanel(
            id="caching",
            words=tr("prompt cache TTL keepalive hit rate"),
            title=tr("Caching"),
            guide="caching",
            about=tr(
                "See the part of your discussion that the provider has cached. Set limits for your spending here."
            ),
            draw=_panel,
        ),
    ),
    dialogs={"lose_cache": lose_cache_dialog, "spend_limit": spend_limit_dialog},
)
