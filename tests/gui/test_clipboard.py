"""The clipboard at the real window: pasted and copied by keys and menus, whatever it holds and whoever holds it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import Future

import dearpygui.dearpygui as dpg
import pytest
from PIL import Image

from gui import clipboard
from gui.clipboard import ClipboardContent, Paste
from gui.driver import Driver
from gui.elements.editor import Editor
from panels.base.ui import Ui
from panels.base.widgets import Edited
from tests.gui.conftest import Screen, copied, field_named
from tests.gui.other_program import RED, copy_nothing, copy_picture, copy_text


class Form:
    """An editor that takes pictures, one that takes none, and the fields of a line."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.edits: list[Edited] = []
        self.person: Driver = screen.show(self.draw)

    def draw(self, ui: Ui) -> None:
        for name, takes in (("message", True), ("prompt", False)):
            edited = ui.editor(
                name, "", hint=f"Write a {name}", paste_limit_chars=50_000 * takes, takes_pictures=takes
            )
            if edited is not None:
                self.edits.append(edited)
        ui.text_input("name", "", label="Name")
        ui.text_input("search", "", hint="Search", icon="magnifying-glass", submits=True)
        ui.text_input("key", "", label="Key", is_secret=True)

    def editor(self, name: str) -> Editor:
        found = self.person.find(f"Write a {name}", kind=Editor)
        assert isinstance(found, Editor)
        return found

    def hears(self, words: str) -> None:
        """Wait until the window says something beside the mouse."""
        self.person.until(lambda: self.screen.loop._hover.drawn[0] == words, words)


@pytest.fixture
def form(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[Form]:
    def forbidden() -> str:
        raise AssertionError("the toolkit's getter was asked")

    monkeypatch.setattr(dpg, "get_clipboard_text", forbidden)
    yield Form(screen)
    assert not screen.failures


def test_a_paste_of_nothing_says_so_and_changes_nothing_in_any_kind_of_field(form: Form) -> None:
    person = form.person
    copy_nothing()
    for name in ("message", "prompt"):
        person.click(form.editor(name))
        person.type("tide")
        for paste in ("Ctrl+v", "Shift+Insert"):
            person.key(paste)
            form.hears(clipboard.NO_TEXT)
        person.click(form.editor(name), button=3)
        person.click("Paste")
        form.hears(clipboard.NO_TEXT)
        assert form.editor(name).text == "tide"
    for name in ("Name", "Search", "Key"):
        person.click(field_named(person, name))
        person.type("moon")
        for paste in ("Ctrl+v", "Shift+Insert"):
            person.key(paste)
            form.hears(clipboard.NO_TEXT)
        assert field_named(person, name).text == "moon"


def test_a_picture_goes_to_the_editor_that_takes_pictures_and_is_named_elsewhere(form: Form) -> None:
    person = form.person
    copy_picture()
    person.click(form.editor("message"))
    person.key("Ctrl+v")
    person.until(lambda: any(edit.picture for edit in form.edits), "the picture")
    person.click(form.editor("message"), button=3)
    person.click("Paste")
    person.until(lambda: sum(bool(edit.picture) for edit in form.edits) == 2, "the picture, from the menu")
    (picture, _) = (edit.picture for edit in form.edits if edit.picture)
    with Image.open(io.BytesIO(picture)) as image:
        assert (image.format, image.size, image.getpixel((5, 5))) == ("PNG", (60, 40), RED[:3])
    for field in (form.editor("prompt"), field_named(person, "Name")):
        person.click(field)
        person.key("Ctrl+v")
        form.hears(clipboard.IS_PICTURE)
    assert {form.editor(name).text for name in ("message", "prompt")} == {""}


def test_text_of_another_program_comes_into_every_kind_of_field_in_order(form: Form) -> None:
    person = form.person
    lines = "\n".join(f"{n} 潮" for n in range(5_000))
    copy_text(lines)
    for name in ("message", "prompt"):
        person.click(form.editor(name))
        person.strike("a", "Ctrl+v", "b")
        person.until(lambda: form.editor(name).text.endswith("b"), "the text")  # noqa: B023
        assert form.editor(name).text == f"a{lines}b"
    copy_text("潮 tide")
    for name in ("Name", "Search", "Key"):
        person.click(field_named(person, name))
        person.key("Ctrl+v")
        person.until(lambda: field_named(person, name).text == "潮 tide", name)  # noqa: B023


def test_a_text_too_long_for_a_field_stays_out_of_it_and_says_so(form: Form) -> None:
    copy_text("x" * (clipboard.MOST_FIELD_CHARS + 1))
    form.person.click(field_named(form.person, "Name"))
    form.person.key("Ctrl+v")
    form.hears("The clipboard holds 100,001 characters: this field takes at most 100,000")
    assert field_named(form.person, "Name").text == ""


def test_a_clipboard_that_answers_late_is_waited_for_beside_what_is_typed(
    form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: Future[ClipboardContent] = Future()
    monkeypatch.setattr(clipboard.Clipboard, "ask", lambda _: Paste(late))
    monkeypatch.setattr("gui.elements.editor.AT_ONCE_S", 0.0)
    person = form.person
    person.click(form.editor("prompt"))
    person.key("Ctrl+v")
    form.hears(clipboard.IS_WAITING)
    person.type("tide ")
    late.set_result(ClipboardContent("moon"))
    person.until(lambda: form.editor("prompt").text == "tide moon", "the late text")
    person.key("Ctrl+z")
    person.until(lambda: form.editor("prompt").text == "tide ", "the paste undone")


def test_a_clipboard_process_that_fails_ends_no_window(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed() -> Future[ClipboardContent]:
        broken: Future[ClipboardContent] = Future()
        broken.set_exception(OSError("ended"))
        return broken

    monkeypatch.setattr(clipboard.Clipboard, "ask", lambda _: Paste(failed()))
    person = form.person
    for field in (form.editor("message"), field_named(person, "Name")):
        person.click(field)
        person.key("Ctrl+v")
        form.hears(clipboard.NO_ANSWER)
    own = form.screen.ui.tree.clipboard
    own._copying = failed()  # type: ignore[assignment]
    person.step(3)
    form.hears(clipboard.NOT_COPIED)


def test_what_is_copied_and_cut_is_given_to_others_while_the_window_draws_nothing(form: Form) -> None:
    person = form.person
    person.click(form.editor("prompt"))
    person.type("tide")
    person.key("Ctrl+a")
    person.key("Ctrl+x")
    assert copied() == "tide"
    assert form.editor("prompt").text == ""
    field = field_named(person, "Name")
    person.click(field)
    person.type("moon")
    person.key("Ctrl+a")
    person.key("Ctrl+c")
    assert copied() == "moon"


def test_the_middle_button_pastes_nowhere(form: Form) -> None:
    copy_text("tide")
    person = form.person
    for field in (form.editor("message"), field_named(person, "Name")):
        person.click(field, button=2)
        person.step(5)
    assert form.editor("message").text == field_named(person, "Name").text == ""


def test_the_toolkit_goes_to_the_clipboard_by_our_functions_alone(screen: Screen) -> None:
    assert screen.ui.toolkit_clipboard.is_ours
