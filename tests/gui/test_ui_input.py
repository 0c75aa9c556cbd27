"""Buttons, fields and the keyboard, as a person at the window uses them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import dearpygui.dearpygui as dpg
import pytest

from gui.canvas import FOCUS_FRAMES
from gui.driver import Driver
from gui.elements.base import Element
from gui.elements.controls import Checkbox, Field
from gui.elements.editor import Editor
from panels.base.ui import Edited, Ui
from tests.gui.conftest import Screen, copied

pytestmark = pytest.mark.gui


@dataclass
class View:
    """What a small panel remembers."""

    text: str = ""
    value: str = "start"
    is_on: bool = False
    level: float = 0.0
    revision: int = 0
    edits: list[Edited] = field(default_factory=list)
    seen: list[object] = field(default_factory=list)


def test_a_button_is_pressed_once_by_a_click(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: view.seen.append(1) if ui.button("go", "Go") else None)
    person.click("Go")
    person.step(5)
    assert view.seen == [1]


def test_a_disabled_button_does_nothing(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: view.seen.append(1) if ui.button("go", "Go", is_enabled=False) else None)
    person.click("Go")
    assert view.seen == []


def test_the_chord_of_a_button_presses_it_also_while_typing(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        ui.text_input("field", "", hint="Field")
        if ui.button("send", "Send", shortcut="Ctrl+Enter"):
            view.seen.append("sent")

    person = screen.show(draw)
    person.click("Field")
    person.key("Ctrl+Enter")
    assert view.seen == ["sent"]


def test_tab_and_space_reach_every_control_in_the_order_described(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        for name in view.edits or ("one", "two", "three"):
            if ui.button(name, str(name)):
                view.seen.append(name)

    person = screen.show(draw)
    person.click("one")
    view.edits = ["one", "new", "two", "three"]  # type: ignore[list-item]
    screen.settle()
    for _ in range(4):  # the first Tab after the mouse shows where the keyboard is
        person.key("Tab")
        person.key("Space")
    assert view.seen == ["one", "one", "new", "two", "three"]


def test_a_checkbox_tells_its_new_value(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        changed = ui.checkbox("on", "Include files", view.is_on)
        if changed is not None:
            view.is_on = changed

    person = screen.show(draw)
    person.click("Include files")
    assert view.is_on
    person.click("Include files")
    assert not view.is_on


def test_a_long_label_of_a_checkbox_stands_in_two_lines_that_both_press_it(screen: Screen) -> None:
    seen: list[bool] = []
    label, longer = "Append changes while the cache is warm", "Append changes " * 8

    def draw(ui: Ui) -> None:
        with ui.surface("narrow", "card", width=240):
            for key, words in (("on", label), ("more", longer)):
                changed = ui.checkbox(key, words, False)
                seen.extend([changed] if changed is not None else [])

    person = screen.show(draw)
    box, cut = person.find(label, kind=Checkbox), person.find(longer, kind=Checkbox)
    assert isinstance(box, Checkbox)
    assert isinstance(cut, Checkbox)
    assert box.shown.splitlines() == ["Append changes while the", "cache is warm"]
    assert not box.is_cut
    assert box.h > 1.8 * screen.ui.canvas.m.sizes["body"]
    assert len(cut.shown.splitlines()) == 2
    assert cut.is_cut
    screen.check()
    left, top, _, bottom = person.rect(box)
    person.click_at(round(left + 60), round(bottom - (bottom - top) / 5))
    assert seen == [True]


def test_a_checkbox_that_is_not_taken_goes_back(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.checkbox("on", "Include", False))
    person.click("Include")
    person.step(4)
    box = person.find("Include")
    assert dpg.get_value(box.items()[0]) is False


def test_a_slider_is_dragged(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        level = ui.slider("level", view.level, 0, 10, label="Level", width=200)
        view.level = view.level if level is None else level

    person = screen.show(draw)
    x, y = person.center(person.find("Level", kind=type(person.find("Level"))))
    person.drag((x, y), (x + 60, y))
    assert 5 < view.level <= 10


def test_a_field_tells_the_text_after_each_key(screen: Screen) -> None:
    view = View(value="")

    def draw(ui: Ui) -> None:
        typed = ui.text_input("name", view.value, hint="Name")
        if typed is not None:
            view.value = typed
            view.seen.append(typed)

    person = screen.show(draw)
    person.click("Name")
    person.type("abc")
    assert view.seen == ["a", "ab", "abc"]


def test_a_field_that_submits_tells_on_enter_and_on_leaving(screen: Screen) -> None:
    view = View(value="")

    def draw(ui: Ui) -> None:
        typed = ui.text_input("name", view.value, hint="Name", submits=True)
        if typed is not None:
            view.value = typed
            view.seen.append(typed)
        ui.button("other", "Other")

    person = screen.show(draw)
    person.click("Name")
    person.type("ab")
    assert view.seen == []
    person.key("Enter")
    person.step(3)
    assert view.seen == ["ab"]
    person.click("Name")
    person.key("End")
    person.type("c")
    person.click("Other")
    assert view.seen == ["ab", "abc"]


def test_a_form_hears_the_enter_by_which_a_field_is_left(screen: Screen) -> None:
    view = View(value="")

    def draw(ui: Ui) -> None:
        typed = ui.text_input("name", view.value, hint="Name")
        view.value = view.value if typed is None else typed
        if ui.is_focused("name") and ui.shortcut("Enter", while_typing=True):
            view.seen.append(view.value)
        ui.button("other", "Other")

    person = screen.show(draw)
    person.click("Name")
    person.type("ab")
    person.key("Enter")
    person.step(3)
    assert view.seen == ["ab"]
    person.key("Enter")
    person.step(3)
    assert view.seen == ["ab"], "it is in no field now"


def test_a_value_from_outside_waits_until_the_field_is_left(screen: Screen) -> None:
    view = View(value="mine")

    def draw(ui: Ui) -> None:
        ui.text_input("name", view.value, hint="Name")
        ui.button("other", "Other")

    person = screen.show(draw)
    person.click("Name")
    view.value = "theirs"
    screen.settle()
    element = person.find("Name", kind=Field)
    assert dpg.get_value(element.items()[0]) == "mine"
    person.click("Other")
    screen.settle()
    assert dpg.get_value(element.items()[0]) == "theirs"


def test_a_secret_is_not_drawn(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.text_input("key", "sk-123", label="Key", is_secret=True))
    item = person.find("Key", kind=Field).items()[0]
    assert dpg.get_item_configuration(item)["password"] is True


def draw_editor(ui: Ui, view: View, **more: object) -> None:
    edited = ui.editor("text", view.text, hint="Write", revision=view.revision, **more)  # type: ignore[arg-type]
    if edited is not None:
        view.text = edited.text
        view.edits.append(edited)


def drawn(editor: Element) -> list[str]:
    """The texts that an element draws."""
    return [spec[3] for spec in editor.prims if spec[0] == "text"]


def editor_named(person: Driver, label: str) -> Editor:
    """The editor on the screen with that label."""
    found = person.find(label, kind=Editor)
    assert isinstance(found, Editor)
    return found


def test_an_editor_keeps_line_feeds_and_any_script(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_editor(ui, view))
    person.click("Write")
    person.type("one")
    person.key("Enter")
    person.paste("zwei 漢字 é")
    person.until(lambda: view.text == "one\nzwei 漢字 é")


def test_the_hint_of_an_editor_stays_until_something_is_typed(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_editor(ui, view))
    person.click("Write")
    editor = person.find("Write", kind=Editor)
    assert drawn(editor) == ["Write"]
    person.type("a")
    assert drawn(editor) == ["a"]
    person.key("Backspace")
    assert drawn(editor) == ["Write"]


def test_a_new_revision_replaces_the_text_while_the_person_is_in_it(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_editor(ui, view))
    person.click("Write")
    person.type("draft")
    view.text, view.revision = "", 1
    screen.settle(12)
    person.type("next")
    person.until(lambda: view.text == "next")


def test_without_a_new_revision_the_typed_text_wins(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_editor(ui, view))
    person.click("Write")
    person.type("mine")
    view.text = "theirs"
    screen.settle(8)
    assert (editor_named(person, "Write").text, view.text) == ("mine", "theirs")


def test_a_long_paste_comes_back_and_does_not_enter_the_text(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_editor(ui, view, paste_limit_chars=100))
    person.click("Write")
    person.type("before")
    person.paste("y" * 5000)
    person.until(lambda: any(edit.pasted for edit in view.edits))
    assert (view.edits[-1].text, view.edits[-1].pasted) == ("before", "y" * 5000)
    person.step(12)
    person.key("End")
    person.type("x")
    person.until(lambda: view.text == "beforex")


def test_enter_submits_where_it_should_and_keeps_the_keyboard(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        edited = ui.editor("text", view.text, hint="Write", revision=view.revision, submits_on_enter=True)
        if edited is None:
            return
        view.text = edited.text
        if edited.is_submitted:
            view.seen.append(edited.text)
            view.text, view.revision = "", view.revision + 1

    person = screen.show(draw)
    person.click("Write")
    person.type("hi")
    person.key("Enter")
    person.until(lambda: view.seen == ["hi"])
    person.step(12)
    person.type("again")
    person.until(lambda: view.text == "again")


def test_focus_can_be_given_and_is_told(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        ui.text_input("a", "", label="First")
        ui.text_input("b", "", label="Second")
        if ui.button("go", "Go"):
            ui.focus("b")
        view.seen = [ui.is_focused("a"), ui.is_focused("b")]

    person = screen.show(draw)
    person.click("Go")
    person.until(lambda: view.seen == [False, True])


def test_a_button_deep_inside_can_be_given_the_focus_which_does_not_press_it(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        with ui.surface("outer", "card"), ui.surface("middle", "card"), ui.surface("inner", "card"):
            if ui.button("go", "Go"):
                view.seen.append("pressed")
            if ui.shortcut("Ctrl+K"):
                ui.focus("go")
            view.is_on = ui.is_focused("go")

    person = screen.show(draw)
    person.key("Ctrl+k")
    person.until(lambda: view.is_on)
    person.step(FOCUS_FRAMES + 10)
    assert (view.is_on, view.seen) == (True, [])


def test_plain_keys_are_no_shortcuts_while_typing(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        ui.text_input("a", "", hint="Field")
        for chord in ("Up", "Escape", "Ctrl+K"):
            if ui.shortcut(chord):
                view.seen.append(chord)

    person = screen.show(draw)
    person.key("Up")
    assert view.seen == ["Up"]
    person.click("Field")
    person.key("Up")
    person.key("Ctrl+k")
    assert view.seen == ["Up", "Ctrl+K"]


def test_a_card_is_pressed_anywhere_but_on_its_own_buttons(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        with ui.clickable("card", "card") as clicks:
            with ui.row("row"):
                ui.text("title", "Title")
                ui.push()
                if ui.button("more", "More"):
                    view.seen.append("more")
            ui.text("body", "A body that is part of the card", wraps=True)
            ui.progress("bar", 0.5)
        if clicks.clicked:
            view.seen.append("card")

    person = screen.show(draw)
    person.click("A body that")
    person.click("More")
    person.click("Title")
    assert view.seen == ["card", "more", "card"]
    screen.check()


def test_hovering_a_card_is_told(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        with ui.clickable("card", "card") as clicks:
            ui.text("title", "Title")
        view.is_on = clicks.is_hovered

    person = screen.show(draw)
    assert not view.is_on
    person.hover("Title")
    assert view.is_on


def test_pane_edges_are_dragged(screen: Screen) -> None:
    view = View()
    widths: list[tuple[float, ...]] = [(300, 0, 300)]

    def draw(ui: Ui) -> None:
        with ui.split("split", widths[0]) as split:
            for index in range(3):
                with split.pane(index), ui.surface("pane", "pane", height=0):
                    ui.text("name", f"pane {index}")
        if split.dragged:
            widths[0] = split.dragged
            view.seen.append(split.dragged)

    person = screen.show(draw)
    from gui.elements.controls import Hit

    edge = next(element for element in person.visible() if isinstance(element, Hit))
    x, y = person.center(edge)
    person.drag((x, y), (x + 90, y))
    assert widths[0] == (390, 0, 300)
    screen.check()


def test_duplicate_keys_draw_both(screen: Screen) -> None:
    def draw(ui: Ui) -> None:
        ui.text("same", "first")
        ui.text("same", "second")

    person = screen.show(draw)
    assert person.has("first")
    assert person.has("second")


def test_effects_happen_after_the_click(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(screen.ui.tree, "open_address", opened.append)

    def draw(ui: Ui) -> None:
        if ui.button("go", "Go"):
            ui.copy("copied text")
            ui.open_url("https://example.org/a")
            ui.open_url("file:///etc/passwd")
            ui.open_url("javascript:alert(1)")

    person = screen.show(draw)
    person.click("Go")
    assert copied() == "copied text"
    assert opened == ["https://example.org/a"]


def test_a_text_file_is_opened_by_the_desktop_and_its_path_copied_where_nothing_opens_it(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own words.md").write_text("words")
    (tmp_path / "run.desktop").write_text("[Desktop Entry]")
    opened: list[str] = []
    has_program = True

    def open_address(address: str) -> bool:
        opened.append(address)
        return has_program

    monkeypatch.setattr(screen.ui.tree, "open_address", open_address)

    def draw(ui: Ui) -> None:
        for name in ("own words.md", "run.desktop", "gone.md"):
            if ui.button(name, name):
                ui.open_file(str(tmp_path / name))

    person = screen.show(draw)
    dpg.set_clipboard_text("before")
    person.click("own words.md")
    person.until(lambda: screen.loop._hover.drawn[0] == "Opened own words.md", "what was done")
    assert opened == [(tmp_path / "own words.md").as_uri()]
    assert copied() == "before"

    has_program = False
    for name in ("own words.md", "run.desktop", "gone.md"):
        person.click(name)
        person.until(lambda: copied() == str(tmp_path / name), name)  # noqa: B023
    assert len(opened) == 2, "a program would run what is no text"


def test_text_that_the_toolkit_cannot_take_ends_no_window(screen: Screen) -> None:
    """A lone surrogate (from a file's name, from a model) would end the process; a NUL would cut the text off."""
    bad = "a\ud800b\0c"
    view = View()

    def draw(ui: Ui) -> None:
        ui.text_input("field", view.value, hint=bad)
        ui.editor("editor", view.value, hint=bad, revision=view.revision)
        ui.text("text", bad, tip=bad)
        ui.selectable_text("select", bad)
        ui.checkbox("box", bad, False, tip=bad)
        ui.badge("badge", bad, tip=bad)
        if ui.button("copy", "Copy", tip=bad):
            ui.copy(bad)

    person = screen.show(draw)
    view.value, view.revision = bad, 1
    screen.settle()
    person.click("Copy")
    person.step(60)

    assert copied() == "a\ufffdb\ufffdc"
    assert {el.text for el in person.visible() if isinstance(el, Field | Editor)} == {"a\ufffdb\ufffdc"}
