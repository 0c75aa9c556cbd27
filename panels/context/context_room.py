"""Room of the context in the window, and the view of its panels."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.talk.context.context_messages import SavePreset
from panels.base import view
from panels.base.desk import Action, Desk, HubPanel, Room
from panels.base.view import Dialog, Typing
from panels.base.window_fields import Kept, one_of


class StructureView(msgspec.Struct):
    """The file that the structure view shows, and the item of a preset that it belongs to."""

    preset: str
    item_path: str
    path: str
    tab: str = "outline"
    lines_error: str = ""


class ContextPanelView(msgspec.Struct):
    """The room's own state.

    Args:
        order: of the layers in the Context view, `canonical` or `wire`; open_layers: numbers of those unfolded.
        open_items: unfolded items, by preset and path; notes: texts being typed, by the same.
        structure: the file in the structure view, None while it is closed.
        path_typed: a path or glob on its way into the preset; is_path_typed: its field had the keyboard in the last frame.
    """

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept(key="context_order", name="order", read=one_of("canonical", "wire")),
    )

    order: str = "canonical"
    open_layers: set[int] = msgspec.field(default_factory=set)
    open_items: set[tuple[str, str]] = msgspec.field(default_factory=set)
    notes: dict[tuple[str, str], Typing] = msgspec.field(default_factory=dict)
    structure: StructureView | None = None
    is_preview_open: bool = False
    path_typed: str = ""
    is_path_typed: bool = False

    def note(self, preset: str, path: str, kept: str) -> Typing:
        """Text being typed as the notes of a file item."""
        typing = self.notes.setdefault((preset, path), Typing())
        typing.sync(kept)
        return typing


# Actions on context presets from the menus.


def _save_preset(desk: Desk) -> None:
    if (preset := view.active_preset(desk.state)) is not None:
        desk.send(SavePreset(preset.name))


def _has_unsaved_preset(desk: Desk) -> bool:
    preset = view.active_preset(desk.state)
    return preset is not None and preset.name in desk.state.config.project.unsaved_presets


ACTIONS: tuple[Action, ...] = (
    Action(id="save_preset", menu=tr("Tools"), group=1, label=tr("Save context preset"), run=_save_preset, icon="floppy-disk", chord="Ctrl+S",
           is_enabled=_has_unsaved_preset),
)  # fmt: skip


def _presets(desk: Desk) -> None:
    from panels.context.presets_panel import presets_panel

    presets_panel(desk)


def _context(desk: Desk) -> None:
    from panels.context.context_panel import context_panel

    context_panel(desk)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.context.presets_panel import context_dialog

    context_dialog(desk, dialog)


ROOM = Room(
    actions=ACTIONS,
    view=ContextPanelView,
    panels=(
        HubPanel(
            id="presets",
            title=tr("Context presets"),
            guide="context",
            about=tr("Choose the files that the model reads. Save your choice as a preset of the project."),
            draw=_presets,
        ),
        HubPanel(
            id="context",
            title=tr("Context"),
            guide="context",
            about=tr(
                "See the next request, layer by layer, with the tokens of each. Check its price before you send."
            ),
            draw=_context,
        ),
    ),
    dialogs=dict.fromkeys(
        ("add_files", "new_preset", "duplicate_preset", "rename_preset", "delete_preset"), _dialog
    ),
)
