"""Choice of files by a person: a dialog of our own, the same on every desktop."""

from __future__ import annotations

import time
from collections.abc import Hashable
from pathlib import Path

import dearpygui.dearpygui as dpg

from core.kernel.language import tr
from gui.canvas import glyph
from gui.describe import DOUBLE_S, MOST_ENTRIES, Chooser, Entry, Tree, first_folder
from gui.elements.lists import ListHand, VirtualList
from gui.elements.popups import PopupItem
from gui.text_buffer import visible
from panels.base import widgets as w
from panels.base.ui import Ui

_STEP_KEYS = frozenset({"Up", "Down", "PageUp", "PageDown"})
_WALK_KEYS = _STEP_KEYS | {"Home", "End", "Right", "Left", "Backspace"}
_VERBS = {"files": tr("Choose"), "folder": tr("Choose this folder"), "save": tr("Save")}


class EntryRows:
    """The shown entries as rows of a list."""

    def __init__(self, tree: Tree, chooser: Chooser) -> None:
        self._tree = tree
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
        return PopupItem.HEIGHT_PX

    def draw(self, index: int, ui: Ui) -> None:
        """One entry."""
        entry = self._shown[index]
        item = self._tree.take(PopupItem, "entry")
        is_picked = entry.name in self._chooser.picked
        kind = "item_on" if is_picked else "item"
        icon = glyph("folder" if entry.is_folder else "file")
        item.update(
            (icon, visible(entry.name), kind, True, False, "", None, is_picked, entry.detail, "text", False)
        )
        if item.is_clicked:
            item.is_clicked = False
            self.pressed = entry


def _file_dialog(tree: Tree, it: w.FileDialogWidget) -> tuple[str, ...] | None:
    place = (*tree.at.path(), it.key)
    chooser = tree.choosers.get(place)
    if chooser is None:
        folder, named = first_folder(it.start)
        chooser = tree.choosers[place] = Chooser(folder=folder, picks=it.picks, name=it.name or named)
        chooser.open(folder)
    chosen: tuple[str, ...] | None = None
    with tree.ui.dialog(it.key, it.title, width=720, height=560) as closed:
        hand = tree.take(ListHand, "hand")
        hand.keyboard, hand.uppermost = tree.keyboard, tree.now_uppermost
        is_entered = tree.hears("Enter", while_typing=True)
        typed, has_keyboard = _head(tree, chooser)
        _walk(tree, chooser, hand)
        opened = _list(tree, chooser, hand, is_entered=is_entered)
        accepted = _foot(tree, chooser, hand, is_entered=is_entered and not has_keyboard)
        if accepted is not None:
            chosen = accepted
        if taken := typed or opened:
            chosen = taken
    if closed.clicked:
        chosen = ()
    if chosen is not None:
        del tree.choosers[place]
    return chosen


def _head(tree: Tree, chooser: Chooser) -> tuple[tuple[str, ...], bool]:
    """Draw path and filter. Returns the choice that was typed, and whether Enter is for the path's row."""
    ui = tree.ui
    chosen: tuple[str, ...] = ()
    with ui.row("path"):
        if ui.button("up", "", icon="arrow-up", tip=tr("Parent folder"), shortcut="Alt+Up"):
            chooser.go_up()
        if ui.button("home", "", icon="house", tip=tr("Home folder")):
            chooser.open(Path.home())
        typed = ui.text_input("typed", str(chooser.folder), hint=tr("Path"), submits=True)
        if typed is not None and typed != str(chooser.folder):
            chosen = chooser.go(typed)
        has_keyboard = typed is not None or any(ui.is_focused(key) for key in ("typed", "up", "home"))
    with ui.row("filter"):
        wanted = ui.text_input(
            "filter",
            chooser.wanted,
            hint=tr("Filter by name, or type a path from /"),
            icon="magnifying-glass",
            is_focused=chooser.picks != "save",
        )
        if wanted is not None:
            chooser.filter(wanted)
        if chooser.wants_filter:
            chooser.wants_filter = False
            if chooser.picks != "save":
                ui.focus("filter")
        hidden = ui.checkbox("hidden", tr("Hidden files"), chooser.shows_hidden)
        if hidden is not None:
            chooser.shows_hidden = hidden
    return chosen, has_keyboard


def _walk(tree: Tree, chooser: Chooser, hand: ListHand) -> None:
    """Let keys walk through the entries: all of them where the list has the keyboard, from a field the ones that mean
    nothing to it, which call the list.
    """
    if not tree.is_reachable():
        return
    typed = tree.keyboard.take(hand)
    if hand.is_waiting:
        typed = "".join(chord.casefold() for chord in tree.keys.chords() if len(chord) == 1)
    if typed:
        chooser.find(typed, time.perf_counter())
    is_walking = hand.has_keyboard or hand.is_waiting
    strokes = tree.keys.take_strokes(_WALK_KEYS if is_walking else _STEP_KEYS)
    row_px = tree.m.px(PopupItem.HEIGHT_PX)
    box = _entries_box(tree)
    page = max(1, int(box.h // row_px) - 1) if box is not None else 1
    steps = {
        "Up": -1,
        "Down": 1,
        "PageUp": -page,
        "PageDown": page,
        "Home": -MOST_ENTRIES,
        "End": MOST_ENTRIES,
    }
    for stroke in strokes:
        if stroke in steps:
            chooser.step(steps[stroke])
        elif stroke == "Right":
            chooser.open_selected()
        else:
            chooser.go_up()
    if (strokes or typed) and not hand.has_keyboard:
        hand.claim()
    if (strokes or typed) and box is not None and 0 <= chooser.row < len(box.view.keys):
        box.view.reveal(chooser.row)
    if strokes:
        chooser.wants_filter = False


def _entries_box(tree: Tree) -> VirtualList | None:
    """The list of the entries as it stands on the screen."""
    surface = tree.at.kids.get("files")
    box = surface.kids.get("rows") if surface is not None else None
    return box if isinstance(box, VirtualList) else None


def _list(tree: Tree, chooser: Chooser, hand: ListHand, *, is_entered: bool) -> tuple[str, ...]:
    ui = tree.ui
    chosen: tuple[str, ...] = ()
    with ui.surface("files", "inset", height=0, padding=(4, 4)):
        rows = EntryRows(tree, chooser)
        if len(rows):
            ui.virtual_list("rows", rows)
        else:
            none = tr("No file or folder has this name") if chooser.wanted else tr("This folder is empty")
            ui.text("none", none, tone="faint")
    if rows.pressed is not None and not is_entered:  # the toolkit presses a row with Enter, too
        is_adding = any(dpg.is_key_down(key) for key in (dpg.mvKey_LControl, dpg.mvKey_RControl))
        folder = chooser.folder
        chosen = chooser.press(rows.pressed, time.perf_counter(), made_s=tree.still_s, is_adding=is_adding)
        if chooser.folder == folder:
            hand.claim_later(DOUBLE_S)
        else:
            hand.release()
    if chooser.problem:
        ui.text("problem", chooser.problem, tone="error", style="small")
    return chosen


def _foot(tree: Tree, chooser: Chooser, hand: ListHand, *, is_entered: bool) -> tuple[str, ...] | None:
    ui = tree.ui
    accepted: tuple[str, ...] | None = None
    with ui.row("foot"):
        if chooser.picks == "save":
            name = ui.text_input("name", chooser.name, hint=tr("File name"), width=0, is_focused=True)
            if name is not None and name != chooser.name:
                chooser.rename(name)
        elif chooser.picks == "files":
            ui.text("picked", tr("{result} chosen", result=len(chooser.result())), tone="muted", style="small",
                    tip=tr("Ctrl+click chooses more than one file"))  # fmt: skip
        ui.push()
        if ui.button("cancel", tr("Cancel")):
            accepted = ()
        result = chooser.result()
        verb = _VERBS[chooser.picks]
        if chooser.opens_folder or chooser.is_replacing:
            verb = tr("Open folder") if chooser.opens_folder else tr("Replace")
        is_enabled = bool(result) or chooser.opens_folder or chooser.has_typed_path
        if ui.button("accept", verb, kind="primary", is_enabled=is_enabled, shortcut="Enter"):
            accepted = chooser.accept() or None
        elif is_entered and accepted is None and not ui.is_focused("cancel"):
            accepted = chooser.enter() or None
            chooser.wants_filter = chooser.wants_filter and not hand.has_keyboard
    return accepted


HANDLERS = w.table(w.FileDialogWidget.handled_by(_file_dialog))
