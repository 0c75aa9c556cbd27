"""Room of imports in the window: choosers, the preview, and the import."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import Room
from panels.base.view import Dialog
from panels.imports.actions import ACTIONS
from panels.imports.view import ImportView


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.imports.dialogs import import_dialog

    import_dialog(desk, dialog)


ROOM = Room(ACTIONS, ImportView, dialogs=dict.fromkeys(("import_files", "import_folder", "import"), _dialog))
