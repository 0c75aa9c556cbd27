"""Button that leads from a path to the person's own program: a text file is opened there, of another the path is copied."""

from __future__ import annotations

from collections.abc import Hashable

from panels.base.ui import Ui

OPENED = frozenset({".md", ".toml", ".txt", ".yaml", ".draft"})
"""Endings of the files that the program keeps for a person: a desktop edits them, and runs none."""


def file_button(ui: Ui, path: str, *, key: Hashable = "open", label: str = "") -> None:
    """Draw the button.

    Args:
        path: absolute, of a file that is there; label: words on the button, none for the icon alone.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if name[name.rfind(".") :] in OPENED:
        tip = f"Open {name} in editor" if not label else path
        if ui.button(key, label, icon="up-right-from-square", kind="ghost", is_small=True, tip=tip):
            ui.open_file(path)
    elif ui.button(key, "", icon="copy", kind="ghost", is_small=True, tip=f"Copy the path {path}"):
        ui.copy(path)
