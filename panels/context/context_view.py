"""View of the context panels: the file in the structure view, what is unfolded, notes being typed."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.view import Kept, Typing, one_of


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
