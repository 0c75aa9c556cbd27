"""Room of imports in the window: choosers, the preview, the import, and which conversations the person left out."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.kernel.values.imports import ImportReport
from panels.base.desk import Action, Desk, Room
from panels.base.view import Dialog
from panels.base.window_fields import Kept

# View of the import dialog: which conversations the person left out.


class ImportView(msgspec.Struct):
    """The dialog's own state.

    Args:
        left_out: discussions that the unticked conversations would become; of: the report that they were unticked in.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    left_out: frozenset[str] = frozenset()
    of: ImportReport | None = None


# Room of imports in the window: choosers, the preview, and the import.

# Actions of imports from the menus.


def _open(desk: Desk, kind: str) -> None:
    """Open the chooser, or the report of the run that is under way or was not read yet."""
    imports = desk.state.imports
    is_shown = imports.is_running or imports.report is not None
    desk.view.dialog = Dialog(kind="import" if is_shown else kind)


def _files(desk: Desk) -> None:
    _open(desk, "import_files")


def _folder(desk: Desk) -> None:
    _open(desk, "import_folder")


ACTIONS: tuple[Action, ...] = (
    Action(
        id="import_files",
        menu=tr("File"),
        group=1,
        label=tr("Import conversations…"),
        run=_files,
        icon="file-import",
    ),
    Action(
        id="import_folder",
        menu=tr("File"),
        group=1,
        label=tr("Import a folder of conversations…"),
        run=_folder,
        icon="folder-open",
    ),
)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.imports.import_dialogs import import_dialog

    import_dialog(desk, dialog)


ROOM = Room(
    actions=ACTIONS,
    view=ImportView,
    dialogs=dict.fromkeys(("import_files", "import_folder", "import", "import_follow"), _dialog),
)
