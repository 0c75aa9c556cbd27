"""Other models for a reply: which are offered first, and the reply asked for again of one of them."""

from __future__ import annotations

import msgspec

from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion
from core.kernel.values.messages import Message
from core.kernel.values.state import AppState
from core.talk.turn.turn_messages import RegenerateReply
from panels.base import selection
from panels.base.desk import Desk
from panels.base.gauge import option_parts, remembered_options
from panels.base.ui import Option
from panels.base.view import Dialog

MOST_OFFERED = 6
"""Models in a menu; the rest are in the dialog."""


class OtherModel(msgspec.Struct, frozen=True):
    """A model that could answer."""

    provider: str
    model: str


def other_models(state: AppState, meta_provider: str, meta_model: str) -> tuple[OtherModel, ...]:
    """Models of providers that are ready, those that the person used last first, without the one that answers now."""
    ready = {name for name, status in state.config.providers.items() if status.is_ready}
    rows = sorted(state.discussions.summaries.values(), key=_updated, reverse=True)
    used = (OtherModel(row.meta.provider, row.meta.model) for row in rows if row.meta.model)
    known = (
        OtherModel(provider, one.id) for provider, models in state.config.models.items() for one in models
    )
    now = OtherModel(meta_provider, meta_model)
    offered = (one for one in (*used, *known) if one.provider in ready and one != now)
    return tuple(dict.fromkeys(offered))


def _updated(row: DiscussionSummary) -> float:
    return row.updated_at.timestamp()


def offered_models(desk: Desk) -> tuple[OtherModel, ...]:
    """The same for the discussion that is shown, remembered."""
    state, summary = desk.state, desk.summary
    if summary is None:
        return ()
    now = (summary.meta.provider, summary.meta.model)
    parts = (state.discussions.summaries, *option_parts(state), *now)
    return desk.view.memo.get("other models", parts, lambda: other_models(state, *now))


def regenerate_with(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Draw the menu of models that this reply can be asked of anew. Sends RegenerateReply."""
    ui, models = desk.ui, offered_models(desk)
    if not models or desk.is_replying:
        return
    with ui.menu("regenerate with", "Regenerate with", icon="arrows-rotate") as is_open:
        if not is_open:
            return
        for one in models[:MOST_OFFERED]:
            label = selection.model_label(desk.state, one.provider, one.model)
            if ui.menu_item(("with", one.provider, one.model), label):
                _again(desk, opened.id, message.id, one)
        if ui.menu_item("another", "Another model…", icon="ellipsis"):
            desk.view.dialog = Dialog(kind="regenerate_with", subject=message.id)


def regenerate_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the choice among all models for the reply. Sends RegenerateReply."""
    ui, opened = desk.ui, desk.opened
    if opened is None:
        desk.view.dialog = None
        return
    options = (Option(value="", label="Choose a model"), *remembered_options(desk.state, desk.view.memo))
    with ui.dialog("regenerate with", "Regenerate with another model", width=520) as closed:
        chosen = ui.combo("model", options, dialog.text, width=0, tip="Model that answers from now on")
        if chosen is not None:
            dialog.text = chosen
        words = (
            "It answers from now on in this discussion. The reply that stands there stays as another version."
        )
        ui.text("what", words, tone="muted", style="small", wraps=True)
        with ui.row("buttons"):
            ui.push()
            is_closed = ui.button("cancel", "Cancel")
            can = bool(dialog.text) and not desk.is_replying
            if ui.button("do", "Regenerate", icon="arrows-rotate", kind="primary", is_enabled=can):
                provider, _, model = dialog.text.partition("\n")
                _again(desk, opened.id, dialog.subject, OtherModel(provider, model))
                is_closed = True
    if is_closed or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _again(desk: Desk, discussion_id: str, message_id: str, one: OtherModel) -> None:
    desk.send(
        RegenerateReply(
            discussion_id=discussion_id, message_id=message_id, provider=one.provider, model=one.model
        )
    )
