"""The recording Ui itself: it refuses what a person could not do and what the protocol forbids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from panels.base.ui import Edited, ListView, Option, Share, Ui
from tests.recording_nodes import ProtocolError
from tests.recording_ui import RecordingUi


@dataclass
class Drawn:
    """A window made of one function, and what it was told."""

    draw: Callable[[Ui, list[object]], None]
    heard: list[object] = field(default_factory=list)

    def open(self) -> RecordingUi:
        ui = RecordingUi(lambda ui: self.draw(ui, self.heard))
        ui.settle()
        return ui


def _open(draw: Callable[[Ui, list[object]], None]) -> tuple[RecordingUi, list[object]]:
    drawn = Drawn(draw)
    return drawn.open(), drawn.heard


def _two_buttons(ui: Ui, heard: list[object]) -> None:
    for name in ("left", "right"):
        with ui.row(name):
            ui.text("label", name)
            if ui.button("go", "Go", tip=f"Go {name}"):
                heard.append(name)
            if ui.button("off", "Off", is_enabled=False):
                heard.append("off")


def test_a_click_is_told_once_and_only_to_what_was_clicked() -> None:
    ui, heard = _open(_two_buttons)

    ui.click("Go right")
    ui.settle()

    assert heard == ["right"]


def test_two_things_of_one_name_must_be_told_apart_as_a_person_would() -> None:
    ui, heard = _open(_two_buttons)
    with pytest.raises(AssertionError, match="2 items are called 'Go'"):
        ui.click("Go")

    ui.click("Go", within="left")

    assert heard == ["left"]


def test_what_is_disabled_or_not_there_cannot_be_clicked() -> None:
    ui, heard = _open(_two_buttons)

    with pytest.raises(AssertionError, match="disabled"):
        ui.click("Off", within="left")
    with pytest.raises(AssertionError, match="called 'Away'"):
        ui.click("Away")
    assert heard == []


def _bad_key(ui: Ui) -> None:
    ui.text("same", "a")
    ui.text("same", "b")


def _menu_item_outside(ui: Ui) -> None:
    ui.menu_item("a", "A")


def _push_outside(ui: Ui) -> None:
    ui.push()


def _closed_menu(ui: Ui) -> None:
    with ui.menu("m", "Menu"):
        ui.menu_item("a", "A")


def _two_wastebaskets(ui: Ui) -> None:
    with ui.row("row"):
        ui.button("delete", "", icon="trash-can", tip="Delete")
        ui.button("restore", "", icon="trash-arrow-up", tip="Restore")


def _overfull(ui: Ui) -> None:
    ui.stacked_bar("bar", [Share(0.7, "ok"), Share(0.7, "ok")])


@pytest.mark.parametrize(
    "draw",
    [
        _bad_key,
        _menu_item_outside,
        _push_outside,
        _closed_menu,
        _overfull,
        lambda ui: ui.button("x", "", icon="plus"),
        lambda ui: ui.icon("x", "no-such-icon"),
        lambda ui: ui.text("x", "y", tone="pink"),
        lambda ui: ui.text_input("x", ""),
        lambda ui: ui.combo("x", [Option("a", "A")], "b", tip="X"),
        lambda ui: ui.combo("x", [Option("a", "A"), Option("a", "B")], "a", tip="X"),
        lambda ui: ui.tabs("x", [Option("a", "A")], "b"),
        lambda ui: ui.gap(-1),
        _two_wastebaskets,
    ],
)
def test_what_the_protocol_forbids_fails(draw: Callable[[Ui], None]) -> None:
    with pytest.raises(ProtocolError):
        RecordingUi(draw).frame()


def test_the_same_key_may_be_used_in_different_containers() -> None:
    ui, _ = _open(_two_buttons)

    assert [node.path for node in ui.nodes("text")] == [("left", "label"), ("right", "label")]


def _menus(ui: Ui, heard: list[object]) -> None:
    with ui.group("box"):
        ui.text("words", "Here")
        with ui.menu("file", "File") as is_open:
            if is_open:
                with ui.menu("more", "More") as is_more:
                    if is_more and ui.menu_item("a", "Deep"):
                        heard.append("deep")
        with ui.context_menu("context") as is_open:
            if is_open and ui.menu_item("b", "Pin"):
                heard.append("pin")


def test_menus_open_one_inside_the_other_and_close_after_a_choice() -> None:
    ui, heard = _open(_menus)
    assert not ui.has("Deep")

    ui.click("File")
    ui.click("More")
    ui.click("Deep")

    assert heard == ["deep"]
    assert not ui.has("More")


def test_a_right_click_opens_the_menu_of_the_innermost_container() -> None:
    ui, heard = _open(_menus)

    ui.right_click("Here")
    ui.click("Pin")

    assert heard == ["pin"]


def _dialog(ui: Ui, heard: list[object]) -> None:
    if ui.button("behind", "Behind"):
        heard.append("behind")
    with ui.dialog("d", "Question") as closed:
        ui.text("q", "Sure?")
    if closed.clicked:
        heard.append("closed")


def test_what_lies_behind_a_dialog_cannot_be_reached() -> None:
    ui, heard = _open(_dialog)

    with pytest.raises(AssertionError, match="called 'Behind'"):
        ui.click("Behind")
    assert ui.texts() == ["Question", "Sure?"]
    ui.close_dialog()

    assert heard == ["closed"]


def _fields(ui: Ui, heard: list[object]) -> None:
    if (text := ui.text_input("name", "", hint="Name")) is not None:
        heard.append(text)
    if (
        edited := ui.editor("text", "abc", hint="Text", paste_limit_chars=5, submits_on_enter=True)
    ) is not None:
        heard.append(edited)
    if ui.shortcut("Up"):
        heard.append("up")
    if ui.shortcut("Down", while_typing=True):
        heard.append("down")
    if ui.shortcut("Ctrl+N"):
        heard.append("new")


def test_what_is_typed_into_an_editor_stands_there_although_the_value_did_not_change() -> None:
    ui, heard = _open(_fields)

    ui.type("Text", "typed")

    assert ui.find("Text").value == "typed"
    assert heard == [Edited("typed")]


def test_a_paste_over_the_limit_does_not_enter_the_text() -> None:
    ui, heard = _open(_fields)

    ui.paste("Text", "123456")
    ui.paste("Text", "12345")

    assert heard == [Edited("abc", pasted="123456"), Edited("abc12345")]


def test_plain_keys_go_to_the_field_that_has_the_keyboard_and_chords_do_not() -> None:
    ui, heard = _open(_fields)
    ui.press("Up")
    ui.focus_on("Name")

    with pytest.raises(AssertionError, match="Nothing answers Up"):
        ui.press("Up")
    ui.press("Down")
    ui.press("Ctrl+N")

    assert heard == ["up", "down", "new"]


def test_enter_submits_an_editor_that_submits() -> None:
    ui, heard = _open(_fields)
    ui.focus_on("Text")

    ui.press("Enter")

    assert heard == [Edited("abc", is_submitted=True)]


@dataclass
class Numbers:
    """Rows for a list; `revision` and `shift` are set by the test."""

    count: int
    revision: int = 0
    shift: int = 0
    drawn: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return self.count

    def key(self, index: int) -> int:
        return index + self.shift

    def estimate_px(self, index: int, width: float) -> float:
        return 100.0

    def draw(self, index: int, ui: Ui) -> None:
        self.drawn.append(index)
        ui.text("n", str(index))


def test_a_list_draws_only_what_is_in_view_and_knows_where_it_stands() -> None:
    rows, seen = Numbers(1_000), []
    ui = RecordingUi(lambda ui: seen.append(ui.virtual_list("list", rows)))
    ui.settle()

    assert ui.texts() == [str(n) for n in range(7)]
    ui.scroll("list", 995)

    assert seen[-1] == ListView(995, is_at_end=True)
    assert len(rows.drawn) < 40


def _show(ui: Ui, rows: Numbers, *, follows_end: bool = False) -> None:
    ui.virtual_list("list", rows, follows_end=follows_end)


def test_a_list_that_follows_its_end_stays_there_until_the_person_leaves() -> None:
    rows = Numbers(100)
    ui = RecordingUi(lambda ui: _show(ui, rows, follows_end=True))
    ui.settle()
    ui.scroll("list")
    rows.count, rows.revision = 101, 1
    ui.settle()
    assert ui.texts()[-1] == "100"

    ui.scroll("list", 3)
    rows.count, rows.revision = 102, 2
    ui.settle()

    assert ui.texts()[0] == "3"


@pytest.mark.parametrize("change", ["count", "shift"])
def test_rows_that_change_without_their_revision_fail(change: str) -> None:
    rows = Numbers(100)
    ui = RecordingUi(lambda ui: _show(ui, rows))
    ui.settle()

    setattr(rows, change, getattr(rows, change) + 1)

    with pytest.raises(ProtocolError, match="revision"):
        ui.frame()


def test_a_click_that_nothing_takes_fails() -> None:
    """A panel that draws a button and forgets it two frames later has lost a click of the person."""
    frames = [0]

    def draw(ui: Ui) -> None:
        frames[0] += 1
        if frames[0] < 3:
            ui.button("once", "Once")

    ui = RecordingUi(draw)
    ui.settle()

    with pytest.raises(ProtocolError, match="Nothing took the click"):
        ui.click("Once")
