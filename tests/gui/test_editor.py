"""Our own editor at the real window: keys, mouse, clipboard, and what is never lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

import dearpygui.dearpygui as dpg
import pytest

from gui.driver import Driver
from gui.elements.editor import Editor, SelectableText
from panels.base.ui import Ui
from tests.gui.conftest import Screen, copied

pytestmark = pytest.mark.gui
LETTERS = "etaoin shrdlu cmfwyp vbgkjqxz ee tt ll"


@dataclass
class Writing:
    """A composer and a second editor, with what was sent."""

    text: str = ""
    revision: int = 0
    sent: list[str] = field(default_factory=list)
    other: str = "other words"
    discussion: int = 0
    is_home: bool = False
    is_enabled: bool = True

    def draw(self, ui: Ui) -> None:
        with ui.surface(("composer", self.discussion), "card"):
            edited = ui.editor(
                "text", self.text, hint="Write", revision=self.revision, most_height=200,
                is_home=self.is_home, is_enabled=self.is_enabled,
            )  # fmt: skip
            self.text = self.text if edited is None else edited.text
            if ui.button("send", "Send", shortcut="Ctrl+Enter"):
                self.sent.append(self.text)
                self.put("")
        changed = ui.editor("other", self.other, hint="Other", height=60)
        self.other = self.other if changed is None else changed.text
        ui.button("beside", "Beside")
        ui.selectable_text("read", "Words to be read, marked and copied")

    def put(self, text: str) -> None:
        """Replace the text as the program does."""
        self.text, self.revision = text, self.revision + 1


def editor_of(person: Driver, label: str = "Write") -> Editor:
    """The editor with that label."""
    found = person.find(label, kind=Editor)
    assert isinstance(found, Editor)
    return found


def point(editor: Editor, offset: int) -> tuple[int, int]:
    """Middle of the row at an offset, in pixels of the screen, one pixel right of its place."""
    assert editor.inner is not None
    assert editor.m is not None
    x, y = editor.inner.origin()
    left, top = editor.pads(editor.m)
    row = editor.layout_.row_of(offset)
    view_x, view_y = dpg.get_viewport_pos()
    return (
        round(view_x + x + left + editor.layout_.x_of(offset) + 1),
        round(view_y + y + top + (row + 0.5) * editor.row_px(editor.m) - editor.scroll),
    )


@pytest.fixture
def writing() -> Writing:
    return Writing()


def test_many_keys_at_once_arrive_all_and_in_order(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    text = (LETTERS * 12)[:400]
    for start in range(0, len(text), 4):
        person.strike(*text[start : start + 4])
        person.step(1)
    person.until(lambda: len(writing.text) >= len(text), "all letters", most=2000)
    assert writing.text == text


def test_what_is_struck_right_behind_ctrl_enter_is_the_next_message(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.strike(*"one", "Ctrl+Enter", *"two", "Ctrl+Enter", "Ctrl+Enter", *"three", "Enter", *"four")
    person.until(lambda: writing.text == "three\nfour", "the last message")
    assert writing.sent == ["one", "two", ""]


def test_another_discussion_loses_no_key_and_each_has_its_own_caret(screen: Screen, writing: Writing) -> None:
    writing.is_home = True
    person = screen.show(writing.draw)
    person.until(lambda: editor_of(person).is_active, "the keyboard at the start")
    person.type("first ground")
    person.key("Ctrl+Left")
    texts = {0: writing.text, 1: ""}
    writing.discussion, writing.text = 1, ""
    screen.settle(1)
    person.strike(*"second")
    person.until(lambda: writing.text == "second", "keys in the other discussion")
    writing.discussion, writing.text = 0, texts[0]
    screen.settle(2)
    person.strike(*"x")
    person.until(lambda: writing.text == "first xground", "the caret where it was")
    person.key("Ctrl+z")
    person.key("Ctrl+z")
    person.until(lambda: writing.text == "first ", "undo of what was typed before the switch")


def test_long_lines_are_wrapped_and_the_field_grows_to_its_most(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    editor = editor_of(person)
    person.click("Write")
    least = editor.h
    person.paste("words to be wrapped " * 20)
    assert editor.layout_.rows > 2
    assert all("\n" not in spec[3] for spec in editor.prims if spec[0] == "text")
    person.paste("words to be wrapped " * 200)
    assert least < editor.h <= 200
    assert editor.scroll == pytest.approx(editor.most_scroll(screen.ui.tree.m))
    screen.check()
    person.wheel(editor, -4)
    assert editor.scroll < editor.most_scroll(screen.ui.tree.m)


def test_a_paste_keeps_tabs_and_is_undone_and_redone_as_a_whole(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.type("see ")
    person.paste("def f():\n\treturn 漢字 👩\u200d👩\u200d👧 e\u0301")
    whole = "see def f():\n\treturn 漢字 👩\u200d👩\u200d👧 e\u0301"
    assert writing.text == whole
    person.key("Ctrl+z")
    assert writing.text == "see "
    person.key("Ctrl+Shift+z")
    assert writing.text == whole
    person.key("Backspace")
    person.key("Backspace")
    person.key("Backspace")
    assert writing.text == whole.removesuffix("👩\u200d👩\u200d👧 e\u0301")
    person.key("Ctrl+z")
    person.key("Ctrl+y")
    assert writing.text == whole.removesuffix("👩\u200d👩\u200d👧 e\u0301")


def test_the_mouse_selects_and_what_is_selected_is_copied_cut_and_typed_over(
    screen: Screen, writing: Writing
) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.paste("one two three\nfour five")
    editor = editor_of(person)
    person.drag(point(editor, 4), point(editor, 18))
    person.key("Ctrl+c")
    assert copied() == "two three\nfour"
    person.key("Ctrl+x")
    assert writing.text == "one  five"
    person.key("Ctrl+v")
    assert writing.text == "one two three\nfour five"
    for count, marked in ((1, ""), (2, "three"), (3, "one two three")):
        person.click_at(*point(editor, 10))
        assert editor.buffer.selection == marked, count
    person.type("x")
    assert writing.text == "x\nfour five"
    person.move(*point(editor, 3))
    person.press()
    person.release()
    person.key("Shift+End")
    assert editor.buffer.selection == "our five"


def test_a_click_with_shift_selects_up_to_it(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.paste("one two three")
    editor = editor_of(person)
    person.key("Home")
    person.hold("Shift")
    person.click_at(*point(editor, 7))
    person.let_go("Shift")
    assert editor.buffer.selection == "one two"


def test_the_menu_of_the_right_button_cuts_pastes_and_selects_all(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.type("words")
    editor = editor_of(person)
    for choice in ("Select all", "Cut", "Paste", "Select all", "Copy"):
        person.click(editor, button=3)
        person.until(lambda: person.has("Select all"), "the menu")
        person.click(choice)
        person.step(4)
    assert (writing.text, editor.buffer.selection) == ("words", "words")
    person.until(lambda: editor.is_active)
    person.type("new")
    assert writing.text == "new"


def test_one_text_of_the_window_is_selected_at_a_time(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.type("words")
    person.key("Ctrl+a")
    editor = editor_of(person)
    read = person.find("Words to be read", kind=SelectableText)
    assert isinstance(read, SelectableText)
    person.click_at(*point(read, 9))
    person.click_at(*point(read, 9))
    assert (read.buffer.selection, editor.buffer.selection) == ("be", "")
    person.key("Ctrl+c")
    assert copied() == "be"
    person.type("x")
    assert (read.text, writing.text) == ("Words to be read, marked and copied", "words")


def test_a_paste_whose_keys_are_held_comes_once(screen: Screen, writing: Writing) -> None:
    """The input item below pastes again while they are held: nobody typed that."""
    writing.is_home = True
    person = screen.show(writing.draw)
    person.until(lambda: editor_of(person).is_active)
    person.type("a")
    dpg.set_clipboard_text("Pasted")
    person.hold("Ctrl")
    person.hold("v")
    person.until(lambda: "Pasted" in writing.text)
    again = monotonic() + 0.5
    person.until(lambda: monotonic() > again, "the repeats of a held key")
    person.let_go("v")
    person.let_go("Ctrl")
    person.type("b")
    person.until(lambda: writing.text.endswith("b"))
    assert writing.text == "aPastedb"


def test_tab_leads_on_and_back(screen: Screen, writing: Writing) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.key("Tab")
    person.until(lambda: not editor_of(person).is_active)
    person.step(40)
    person.key("Tab")
    person.until(lambda: editor_of(person, "Other").is_active, "the editor behind the button")
    person.type("!")
    assert writing.other == "other words!"
    person.key("Shift+Tab")
    person.until(lambda: not editor_of(person, "Other").is_active)
    person.key("Shift+Tab")
    person.until(lambda: editor_of(person).is_active, "the editor before the button")


def rings(screen: Screen) -> list[object]:
    """Places of the frames in the colour of the focus."""
    stops, focus = screen.ui._walk, screen.ui.canvas.color("focus")
    return [spec[1:5] for spec in stops._ring.prims if spec[6] == focus]


def test_every_tab_leads_one_control_on_which_is_framed_and_which_space_presses_once(
    screen: Screen, writing: Writing
) -> None:
    pressed: list[str] = []
    is_on = False

    def draw(ui: Ui) -> None:
        nonlocal is_on
        writing.draw(ui)
        for name in ("First", "Off", "Second"):
            if ui.button(name, name, is_enabled=name != "Off"):
                pressed.append(name)  # noqa: PERF401
        changed = ui.checkbox("third", "Third", is_on)
        if changed is not None:
            is_on = changed
            pressed.append("Third")
        with ui.clickable("fourth", "card") as clicks:
            ui.text("words", "Fourth")
        if clicks.clicked:
            pressed.append("Fourth")

    writing.is_home = True
    person = screen.show(draw)
    person.click("Words to be read")
    for name in ("First", "Second", "Third", "Fourth"):
        person.key("Tab")
        person.step(4)
        assert len(rings(screen)) == 1
        person.key("Space")
        person.step(4)
        assert pressed[-1] == name
    person.key("Shift+Tab")
    person.key("Enter")
    person.step(4)
    assert pressed == ["First", "Second", "Third", "Fourth", "Third"]
    assert not is_on
    person.click("Second")
    person.type("typed")
    person.until(lambda: writing.text == "typed", "what was typed after a click, at home")
    assert rings(screen) == []


def test_what_is_typed_over_a_text_to_read_goes_home(screen: Screen, writing: Writing) -> None:
    writing.is_home = True
    person = screen.show(writing.draw)
    read = person.find("Words to be read", kind=SelectableText)
    assert isinstance(read, SelectableText)
    person.drag(point(read, 0), point(read, 5))
    person.key("Ctrl+c")
    person.step()
    assert copied() == "Words"
    person.type("typed")
    person.until(lambda: writing.text == "typed")


def test_a_caret_in_the_middle_and_repeated_letters_lose_nothing(screen: Screen, writing: Writing) -> None:
    """The hidden item that hears the keys has a caret and a selection too: they must not tell lies."""
    person = screen.show(writing.draw)
    person.click("Write")
    person.type("aaaa")
    for _ in range(2):
        person.key("Left")
    person.type("aa")
    person.key("Ctrl+a")
    person.step(4)
    person.type("a")
    assert writing.text == "a"
    person.type("aa")
    person.key("Shift+Home")
    person.step(4)
    person.type("aaab")
    assert writing.text == "aaab"


def test_the_caret_blinks_for_a_while_and_then_rests(
    screen: Screen, writing: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = screen.show(writing.draw)
    person.click("Write")
    person.type("a")
    editor, keyboard = editor_of(person), screen.ui.tree.keyboard
    described = screen.loop.described
    shown = []
    for seconds in (0.1, 0.6, 1.2, 7.8, 20.0, 21.0):
        monkeypatch.setattr(keyboard, "clock", lambda at=seconds: keyboard.typed_s + at)
        screen.ui.poll()
        shown.append(bool(editor.caret.prims))
    assert shown == [True, False, True, True, True, True]
    assert screen.loop.described == described
    assert editor.rest_s() == float("inf")


def test_a_disabled_editor_takes_nothing(screen: Screen, writing: Writing) -> None:
    writing.is_enabled = False
    writing.put("as it is")
    person = screen.show(writing.draw)
    person.click(editor_of(person))
    person.type("x")
    assert writing.text == "as it is"
    assert not editor_of(person).is_active


def test_a_field_that_the_tab_key_led_to_gives_the_keyboard_to_the_editor_that_is_asked_for(
    screen: Screen,
) -> None:
    typed = {"one": "", "two": "", "editor": ""}

    def draw(ui: Ui) -> None:
        for name in ("one", "two"):
            text = ui.text_input(name, typed[name], hint=name)
            typed[name] = typed[name] if text is None else text
        is_wanted = ui.shortcut("Ctrl+L", while_typing=True)
        edited = ui.editor("text", typed["editor"], hint="Write", height=60, is_focused=is_wanted)
        typed["editor"] = typed["editor"] if edited is None else edited.text

    person = screen.show(draw)
    person.click("one")
    person.key("Tab")
    person.type("a")
    assert typed["two"] == "a"
    person.key("Ctrl+l")
    person.step(6)
    person.type("bc")
    person.until(lambda: typed["editor"] == "bc")
    assert typed["two"] == "a"
