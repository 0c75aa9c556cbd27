"""A person selects text of messages with the mouse, and copies it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count

import dearpygui.dearpygui as dpg
import pytest
from Xlib import X, display
from Xlib.ext import xtest

from gui.driver import Driver
from gui.elements.lists import VirtualList
from gui.elements.popups import anchor_of
from gui.elements.prose import BarHit, FoldHit, Markdown, WrapHit
from gui.markdown.document import load
from panels.base.ui import Ui
from tests.gui.conftest import Screen, copied

pytestmark = pytest.mark.gui
STARTS = count(1e6, 1000.0)
"""Of each test's clock: the window outlives them."""
TABLE = "Look **here** first:\n\n| a | b |\n|--|--|\n| one | two |\n\n```py\nx = 1\ny = 2\n```\n\nthe end"


@pytest.fixture(autouse=True)
def _loaded() -> None:
    load()


@dataclass
class Talk:
    """Messages as the rows of a list."""

    texts: list[str]

    @property
    def revision(self) -> Hashable:
        return len(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def key(self, index: int) -> Hashable:
        return index

    def estimate_px(self, index: int, width: float) -> float:
        return 80

    def text(self, index: int) -> str:
        return self.texts[index]

    def draw(self, index: int, ui: Ui) -> None:
        with ui.surface("card", "card"):
            ui.text("head", f"Number {index}")
            ui.markdown("text", self.texts[index], is_written=index % 2 == 1)
            with ui.context_menu("menu") as is_open:
                if is_open and ui.menu_item("copy", "Take the selection"):
                    ui.copy(f"<{ui.selected_text()}>")


class Reader:
    """A person in front of a talk."""

    def __init__(self, screen: Screen, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.screen, self.person = screen, screen.show(lambda ui: ui.virtual_list("talk", talk))
        self.now_s = next(STARTS)
        monkeypatch.setattr(screen.loop, "_clock", lambda: self.now_s)
        self.list = next(e for e in self.person.visible() if isinstance(e, VirtualList))

    def text(self, number: int) -> Markdown:
        """The words of a message."""
        row = next(row for row in self.list.order if row.key == number)
        return next(e for e in row.walk() if isinstance(e, Markdown))

    def at(self, number: int, words: str, *, is_end: bool = False) -> tuple[int, int]:
        """The point before (or behind) some words of a message."""
        text = self.text(number)
        for block, one in enumerate(text.document.blocks):
            start = one.shown().find(words)
            if start >= 0:
                box = text.document.boxes(self.screen.ui.tree.m, (block, start), (block, start + len(words)))[
                    0
                ]
                x, y, *_ = anchor_of(text)
                return round(x + box[0] + (box[2] - 1 if is_end else 1)), round(y + box[1] + box[3] / 2)
        raise LookupError(words)

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        self.now_s += 10
        self.person.drag(start, end)

    def clicks(self, point: tuple[int, int], count: int) -> None:
        self.now_s += 10
        for _ in range(count):
            self.person.click_at(*point)

    def copied(self) -> str:
        dpg.set_clipboard_text("nothing")
        self.person.key("Ctrl+c")
        self.person.step(2)
        return copied()


@pytest.fixture
def reader(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Reader:
    return Reader(
        screen, Talk([TABLE, "as *written*\n  __init__\n```\nz\n```", *["filler text"] * 400]), monkeypatch
    )


def test_a_drag_over_a_table_and_code_into_the_next_message_copies_markdown(reader: Reader) -> None:
    reader.drag(reader.at(0, "here"), reader.at(1, "__init__", is_end=True))
    assert reader.copied() == (
        "**here** first:\n\n| a | b |\n|--|--|\n| one | two |\n\n```py\nx = 1\ny = 2\n```\n\nthe end\n\n"
        "as *written*\n  __init__"
    )
    assert reader.person.has("Number 0")
    reader.screen.check()


def test_a_copy_says_that_it_did(reader: Reader) -> None:
    reader.drag(reader.at(0, "Look"), reader.at(0, "first", is_end=True))
    assert reader.copied() == "Look **here** first"
    hover = reader.screen.loop._hover
    assert hover.drawn[0] == "Copied"
    reader.now_s += 5
    reader.person.step(3)
    assert hover.drawn[0] == ""


def test_code_alone_is_copied_without_its_fence(reader: Reader) -> None:
    reader.drag(reader.at(0, "x = 1"), reader.at(0, "y = 2", is_end=True))
    assert reader.copied() == "x = 1\ny = 2"


def test_two_clicks_take_the_word_and_three_the_paragraph(reader: Reader) -> None:
    reader.clicks(reader.at(0, "first"), 2)
    assert reader.copied() == "first"
    reader.clicks(reader.at(0, "first"), 3)
    assert reader.copied() == "Look **here** first:"
    reader.clicks(reader.at(1, "__init__"), 2)
    assert reader.copied() == "__init__"
    reader.clicks(reader.at(0, "y = 2"), 3)
    assert reader.copied() == "y = 2"


def test_clicks_count_together_by_when_they_were_made_however_slow_the_frames_are(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(screen, Talk([TABLE]), monkeypatch)
    frame_s, point, pointer = 0.0, reader.at(0, "first"), display.Display()
    described = screen.describe

    def slow(ui: Ui) -> None:
        reader.now_s += frame_s
        described(ui)

    reader.now_s += 10
    reader.person.move(*point)
    monkeypatch.setattr(screen, "describe", slow)
    frame_s = 0.3
    for _ in range(3):
        for kind in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(pointer, kind, 1)
    pointer.sync()
    screen.settle(12)
    assert reader.copied() == "Look **here** first:"

    for _ in range(2):
        reader.now_s += 10
        reader.person.click_at(*point)
        screen.settle(4)
    assert reader.copied() == "nothing"
    pointer.close()


def test_a_click_with_shift_draws_the_selection_to_it(reader: Reader) -> None:
    reader.clicks(reader.at(0, "Look"), 1)
    reader.now_s += 10
    reader.person.hold("Shift")
    reader.person.click_at(*reader.at(0, "here", is_end=True))
    reader.person.let_go("Shift")
    assert reader.copied() == "Look **here**"


def test_a_click_ends_a_selection(reader: Reader) -> None:
    reader.drag(reader.at(0, "Look"), reader.at(0, "first", is_end=True))
    assert reader.text(0).selected is not None
    reader.clicks(reader.at(0, "here"), 1)
    assert reader.copied() == "nothing"
    assert reader.text(0).selected is None


def test_another_owner_of_the_windows_selection_ends_it(reader: Reader) -> None:
    reader.drag(reader.at(0, "Look"), reader.at(0, "first", is_end=True))

    class Other:
        def clear_selection(self) -> None: ...

    reader.screen.ui.tree.selection.claim(Other())
    reader.screen.settle()
    assert reader.copied() == "nothing"


def test_a_press_in_a_field_or_an_editor_ends_the_selection_and_copying_is_theirs(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(["some words to be read"])
    reader = Reader(screen, talk, monkeypatch)

    def draw(ui: Ui) -> None:
        ui.text_input("field", "", hint="Look for")
        ui.editor("editor", "", hint="Write")
        with ui.surface("below", "clear", height=300):
            ui.virtual_list("talk", talk)

    person = screen.show(draw)
    reader.list = next(e for e in person.visible() if isinstance(e, VirtualList))
    for label in ("Look for", "Write"):
        reader.drag(reader.at(0, "some"), reader.at(0, "words", is_end=True))
        assert reader.copied() == "some words"
        person.click(label)
        person.until(lambda: screen.ui.tree.prose.span() is None, "nothing selected")
        person.type("own")
        person.key("Ctrl+a")
        assert reader.copied() == "own"


def test_a_menu_at_a_right_click_knows_the_selection(reader: Reader) -> None:
    reader.drag(reader.at(0, "Look"), reader.at(0, "first", is_end=True))
    reader.person.move(*reader.at(0, "here"))
    reader.person.press(3)
    reader.person.release(3)
    reader.person.until(lambda: reader.person.has("Take the selection"))
    reader.person.click("Take the selection")
    reader.person.step(3)
    assert copied() == "<Look **here** first>"
    assert reader.text(0).selected is not None


def test_a_drag_to_the_edge_scrolls_and_rows_out_of_view_are_copied(reader: Reader) -> None:
    person = reader.person
    person.move(*reader.at(0, "Look"))
    person.press()
    x, y, w, h = anchor_of(reader.list)
    person.move(round(x + w / 2), round(y + h - 2))
    person.until(lambda: reader.list.view.first > 60)
    assert all(row.key > 50 for row in reader.list.order)  # type: ignore[operator]
    person.release()
    person.step(2)
    selected = [row.key for row in reader.list.order if reader.text(row.key).selected]  # type: ignore[arg-type]
    text = reader.copied()
    assert text.startswith("Look **here** first:\n\n| a | b |")
    assert "as *written*\n  __init__" in text
    assert text.count("filler text") >= len(selected) + 50
    assert len(selected) >= 3


@pytest.mark.parametrize("is_lower", [False, True])
def test_a_press_at_the_edge_scrolls_nothing_until_it_is_dragged(reader: Reader, *, is_lower: bool) -> None:
    """The page moved under a double click, which took another word; Shift and a click took in another block."""
    reader.list.scroll_by(900)
    reader.person.step(3)
    _, y, _, h = anchor_of(reader.list)
    row = reader.list.order[len(reader.list.order) // 2].key
    assert isinstance(row, int)
    _, words_y = reader.at(row, "filler")
    reader.list.scroll_by(words_y - (y + h - 10 if is_lower else y + 10))
    reader.person.step(3)
    left, words_y = reader.at(row, "filler")
    where, before = (left + 8, words_y), reader.list.view.scroll

    reader.now_s += 10
    reader.person.move(*where)
    for _ in range(2):
        reader.person.press()
        reader.person.step(4)
        reader.person.release()

    assert reader.list.view.scroll == before
    assert reader.copied() == "filler"


def test_long_code_scrolls_by_its_bar_and_wraps_by_its_button(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(screen, Talk([f"```\n{'abc ' * 90}end\n```"]), monkeypatch)
    person = reader.person
    text = reader.text(0)
    height = text.h
    bar = next(e for e in person.visible() if isinstance(e, BarHit))
    x, y = person.center(bar)
    person.drag((x, y), (x + 2000, y))
    person.step(3)
    assert reader.at(0, "end")[0] > 0
    reader.clicks(reader.at(0, "end"), 2)
    assert reader.copied() == "end"
    screen.check()
    person.click(next(e for e in person.visible() if isinstance(e, WrapHit)))
    person.step(3)
    assert text.h > height
    assert not text.bars
    assert any("Scroll" in spec for spec in text.wraps[0].prims), "the button says what it does next"
    screen.check()


def test_what_is_folded_opens_and_closes(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(
        screen, Talk(["<details>\n<summary>More</summary>\n\ninside\n\n</details>\n\nafter"]), monkeypatch
    )
    text, person = reader.text(0), reader.person
    closed = text.h
    person.click(person.find("More", kind=FoldHit))
    person.step(3)
    assert text.h > closed
    reader.clicks(reader.at(0, "inside"), 2)
    assert reader.copied() == "inside"
    person.click(person.find("More", kind=FoldHit))
    person.step(3)
    assert text.h == closed


def test_an_occurrence_that_a_search_stands_on_is_brought_into_view(screen: Screen) -> None:
    long = "\n\n".join(f"paragraph {n}" for n in range(200))
    talk = Talk([f"{long} needle\n\n{long}", "other"])
    at = [-1]

    def draw(ui: Ui) -> None:
        class Found(Talk):
            def draw(self, index: int, ui: Ui) -> None:
                ui.markdown("text", self.texts[index], terms=("needle",), found_at=at[0] if not index else -1)

        ui.virtual_list("talk", Found(talk.texts))

    person: Driver = screen.show(draw)
    view = next(e for e in person.visible() if isinstance(e, VirtualList))
    assert view.view.scroll == 0
    at[0] = 0
    screen.settle(8)
    text = next(e for e in view.walk() if isinstance(e, Markdown))
    box = text.found_box(screen.ui.tree.m)
    assert box is not None
    y = anchor_of(text)[1] + box[1]
    _, top, _, height = anchor_of(view)
    assert top < y < top + height
