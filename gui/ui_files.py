"""The `Ui` call that lets a person choose files: a dialog of our own, the same on every desktop."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Literal

from gui.chooser import Chooser, Entry, first_folder
from gui.elements.popups import Item
from gui.icons import glyph
from gui.ui_prose import Prose
from gui.visible import visible
from panels.ui import Ui

_VERBS = {"files": "Choose", "folder": "Choose this folder", "save": "Save"}


class EntryRows:
    """The shown entries as rows of a list."""

    def __init__(self, ui: Files, chooser: Chooser) -> None:
        self._ui = ui
        self._chooser = chooser
        self._shown = chooser.shown()
        self.pressed: Entry | None = None

    @property
    def revision(self) -> Hashable:
        """Changes with what is shown or picked."""
        chooser = self._chooser
        return chooser.revision, chooser.wanted, chooser.shows_hidden

    def __len__(self) -> int:
        return len(self._shown)

    def key(self, index: int) -> Hashable:
        """The entry's name."""
        return self._shown[index].name

    def estimate_px(self, index: int, width: float) -> float:
        """Every row is as high."""
        return Item.HEIGHT_PX

    def draw(self, index: int, ui: Ui) -> None:
        """One entry."""
        entry = self._shown[index]
        item = self._ui.take(Item, "entry")
        is_picked = entry.name in self._chooser.picked
        kind = "item_on" if is_picked else "item"
        icon = glyph("folder" if entry.is_folder else "file")
        item.update(
            (icon, visible(entry.name), kind, True, False, "", None, is_picked, entry.detail, "text", False)
        )
        if item.is_clicked:
            item.is_clicked = False
            self.pressed = entry


class Files(Prose):
    """The file chooser."""

    def file_dialog(
        self,
        key: Hashable,
        title: str,
        *,
        start: str = "",
        picks: Literal["files", "folder", "save"] = "files",
        name: str = "",
    ) -> tuple[str, ...] | None:
        """A file chooser, shown while it is drawn. () when it was closed, paths when chosen, else None."""
        place = (*self.at.path(), key)
        chooser = self.choosers.get(place)
        if chooser is None:
            folder, named = first_folder(start)
            chooser = self.choosers[place] = Chooser(folder, picks, name=name or named)
            chooser.open(folder)
        chosen: tuple[str, ...] | None = None
        with self.dialog(key, title, width=720, height=560) as closed:
            typed = self._chooser_head(chooser)
            self._chooser_list(chooser)
            accepted = self._chooser_foot(chooser)
            if accepted is not None:
                chosen = accepted
            if typed:
                chosen = typed
        if closed.clicked:
            chosen = ()
        if chosen is not None:
            del self.choosers[place]
        return chosen

    def _chooser_head(self, chooser: Chooser) -> tuple[str, ...]:
        chosen: tuple[str, ...] = ()
        with self.row("path"):
            if self.button("up", "", icon="arrow-up", tip="Parent folder", shortcut="Alt+Up"):
                chooser.open(chooser.folder.parent)
            if self.button("home", "", icon="house", tip="Home folder"):
                chooser.open(Path.home())
            typed = self.text_input("typed", str(chooser.folder), hint="Path", submits=True)
            if typed is not None and typed != str(chooser.folder):
                chosen = chooser.go(typed)
        with self.row("filter"):
            wanted = self.text_input(
                "filter", chooser.wanted, hint="Filter by name", icon="magnifying-glass", is_focused=True
            )
            if wanted is not None:
                chooser.wanted = wanted
            if chooser.wants_filter:
                chooser.wants_filter = False
                self.focus("filter")
            hidden = self.checkbox("hidden", "Hidden files", chooser.shows_hidden)
            if hidden is not None:
                chooser.shows_hidden = hidden
        return chosen

    def _chooser_list(self, chooser: Chooser) -> None:
        with self.surface("files", "inset", height=0, padding=(4, 4)):
            rows = EntryRows(self, chooser)
            self.virtual_list("rows", rows)
            if not len(rows):
                self.text("none", "Nothing here", tone="faint")
        if rows.pressed is not None:
            chooser.press(rows.pressed)
            if rows.pressed.is_folder:
                chooser.wants_filter = True
        if chooser.problem:
            self.text("problem", chooser.problem, tone="error", style="small")

    def _chooser_foot(self, chooser: Chooser) -> tuple[str, ...] | None:
        accepted: tuple[str, ...] | None = None
        with self.row("foot"):
            if chooser.picks == "save":
                name = self.text_input("name", chooser.name, hint="File name", width=0)
                chooser.name = chooser.name if name is None else name
            elif chooser.picks == "files":
                self.text("picked", f"{len(chooser.picked)} chosen", tone="muted", style="small")
            self.push()
            if self.button("cancel", "Cancel"):
                accepted = ()
            result = chooser.result()
            verb = _VERBS[chooser.picks]
            if self.button("accept", verb, kind="primary", is_enabled=bool(result), shortcut="Ctrl+Enter"):
                accepted = result
        return accepted
