"""Room of knowledge in the window."""

from __future__ import annotations

from core.knowledge.knowledge_messages import RegenerateDigest
from panels.base.desk import LEAST_PX, Action, Desk, HubPanel, Room
from panels.base.view import Dialog
from panels.knowledge.knowledge_view import KnowledgeView

# Actions on the knowledge from the menus.

ACTIONS: tuple[Action, ...] = (
    Action(id="regenerate_digest", menu="Tools", group=2, label="Regenerate digest", run=lambda d: d.send(RegenerateDigest()), icon="book-open",
           is_enabled=lambda d: not d.state.program.is_home_read_only),
)  # fmt: skip


FACTS_PX = 500.0


def _panel(desk: Desk) -> None:
    from panels.knowledge.knowledge_panel import knowledge_panel

    knowledge_panel(desk)


def _least_px(desk: Desk) -> float:
    """More where filters and what is broken stand over the facts."""
    return FACTS_PX if desk.view.of(KnowledgeView).tab == "facts" else LEAST_PX


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.knowledge.knowledge_dialogs import knowledge_dialog

    knowledge_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    """Ctrl+Enter belongs to what is being written in the panel, before it sends a message."""
    own = desk.view.of(KnowledgeView)
    own.begin_frame()
    draft = own.had_keyboard
    if draft is not None and desk.view.dialog is None and desk.ui.shortcut("Ctrl+Enter"):
        from panels.knowledge.save_key import save_typed  # loaded with the panel

        save_typed(desk, draft)


def _escape(desk: Desk) -> bool:
    own = desk.view.of(KnowledgeView)
    if own.had_keyboard is None:
        return False
    own.drop(own.had_keyboard)
    return True


ROOM = Room(
    actions=ACTIONS,
    view=KnowledgeView,
    panels=(
        HubPanel(
            id="knowledge",
            title="Knowledge",
            label="Knowledge",
            icon="book",
            place=3,
            guide="knowledge",
            draw=_panel,
            least_px=_least_px,
        ),
    ),
    dialogs=dict.fromkeys(("delete_item", "attach_notes", "item_history", "graduate_playbook"), _dialog),
    begin=_begin,
    escape=_escape,
)
