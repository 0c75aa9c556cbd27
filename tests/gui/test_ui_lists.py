"""Lists, tables, tabs and sorting on the screen."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import dearpygui.dearpygui as dpg
import pytest

from gui.elements.lists import Handle, RowPane, VirtualList
from gui.elements.surfaces import Surface
from gui.elements.tabs import Tab
from panels.base.ui import Column, ListView, Option, Ui
from tests.gui.conftest import Screen
from tests.gui.gallery_pages import COLUMNS, Rows, conversation

pytestmark = pytest.mark.gui


@dataclass
class Names:
    """Rows with a button each."""

    count: int
    high: float = 40.0
    revision: Hashable = 0
    pressed: list[int] = field(default_factory=list)
    drawn: int = 0

    def __len__(self) -> int:
        return self.count

    def key(self, index: int) -> Hashable:
        return index, self.high

    def estimate_px(self, index: int, width: float) -> float:
        return 40

    def draw(self, index: int, ui: Ui) -> None:
        self.drawn += 1
        with ui.surface("card", "card", height=self.high):
            if ui.button("press", f"Press {index}", is_small=True):
                self.pressed.append(index)


def the_list(screen: Screen) -> VirtualList:
    return next(element for element in screen.ui.tree.root.walk() if isinstance(element, VirtualList))


def test_only_rows_in_view_exist(screen: Screen) -> None:
    rows = Names(100_000)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    live = [element for element in person.visible() if isinstance(element, RowPane)]
    assert 15 < len(live) < 45
    assert len(dpg.get_all_items()) < 1200
    screen.check()


def test_rows_react_wherever_the_list_was_scrolled_to(screen: Screen) -> None:
    rows = Names(500)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    person.click("Press 3")
    person.wheel(the_list(screen), 36)
    person.click("Press 80")
    assert rows.pressed == [3, 80]


@dataclass
class Kept(Names):
    """Rows that are described again only where what they show has changed."""

    words: dict[int, str] = field(default_factory=dict)
    described: list[int] = field(default_factory=list)

    def drawn_from(self, index: int) -> Hashable | None:
        return self.words.get(index, ""), self.high

    def draw(self, index: int, ui: Ui) -> None:
        self.described.append(index)
        with ui.row("line"):
            ui.text("words", self.words.get(index, f"Row {index}"))
            with ui.menu("menu", f"Menu {index}") as is_open:
                if is_open and ui.menu_item("take", f"Take {index}"):
                    self.pressed.append(index)


def test_a_row_is_described_again_only_where_what_it_shows_has_changed(screen: Screen) -> None:
    rows = Kept(20)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    person.click("Menu 1")
    assert person.has("Take 1"), "a row that opened a menu stays described, or its menu would go"
    person.click("Take 1")
    assert rows.pressed == [1]
    screen.settle(10)

    rows.described.clear()
    screen.loop.wake()
    screen.settle(5)
    below = set(rows.described)
    assert len(below) <= 1, "nothing but the row below the mouse"
    rows.words[4] = "Another word"
    screen.loop.wake()
    screen.settle(5)
    assert person.has("Another word")
    assert set(rows.described) <= {4, *below}
    screen.check()


def test_rows_far_lower_than_they_were_guessed_to_be_fill_the_view(screen: Screen) -> None:
    class Guessed(Names):
        def estimate_px(self, index: int, width: float) -> float:
            return 700

    screen.show(lambda ui: ui.virtual_list("list", Guessed(500, high=8.0)))
    screen.settle(40)

    box = the_list(screen)
    assert box.order[-1].y + box.order[-1].h >= box.h


def test_where_it_stands_is_told_and_rows_can_be_brought_into_view(screen: Screen) -> None:
    rows, views, wish = Names(1000), [], [700]

    def draw(ui: Ui) -> None:
        views.append(ui.virtual_list("list", rows, scroll_to=wish.pop() if wish else None))

    person = screen.show(draw)
    high, foot = the_list(screen).view.heights, the_list(screen).view.height
    assert views[-1] == ListView(700, is_at_end=False, left_px=high.total - high.top(700) - foot)
    assert person.has("Press 700")
    wish.append(-1)
    screen.settle()
    assert views[-1].is_at_end
    assert person.has("Press 999")


def test_the_last_row_grows_in_view_while_the_reader_is_at_the_end(screen: Screen) -> None:
    rows = conversation(30)
    rows.is_streaming = True
    screen.show(lambda ui: ui.virtual_list("list", rows, follows_end=True))
    view = the_list(screen).view
    for _ in range(40):
        rows.texts[-1] += " and on it goes"
        screen.settle(1)
        last = the_list(screen).order[-1]
        assert last.key == 29
        assert last.y + last.h == pytest.approx(the_list(screen).h, abs=1)
    assert view.is_at_end


def test_a_reader_who_scrolled_up_is_left_alone(screen: Screen) -> None:
    rows = conversation(60)
    person = screen.show(lambda ui: ui.virtual_list("list", rows, follows_end=True))
    person.wheel(the_list(screen), -6)
    before = {row.key: row.y for row in the_list(screen).order}
    rows.texts.append("another message " * 20)
    rows.revision = 1
    screen.settle()
    assert {row.key: row.y for row in the_list(screen).order} == before


def test_the_thumb_is_dragged_over_everything(screen: Screen) -> None:
    rows = Names(2000)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    box = the_list(screen)
    x, y = person.center(box.thumb)
    person.drag((x, y), (x, y + 5000))
    assert box.view.scroll == box.view.most
    assert person.has("Press 1999")


def test_a_press_beside_the_thumb_brings_it_there_and_it_can_be_dragged_on(screen: Screen) -> None:
    rows = Names(2000)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    box = the_list(screen)
    _, top, right, bottom = person.rect(box)
    x, middle = round(right) - 4, round((top + bottom) / 2)

    person.move(x, middle)
    person.press()
    assert box.view.scroll == pytest.approx(box.view.most / 2, rel=0.02)
    person.move(x - 300, round(bottom) + 50)
    assert box.view.is_at_end
    person.release()
    person.move(x, middle)
    assert box.view.is_at_end

    person.drag((x - 200, middle), (x, round(top) + 30))
    assert box.view.is_at_end, "a drag that began elsewhere moves nothing"


def test_a_press_in_the_track_of_a_surface_scrolls_it(screen: Screen) -> None:
    def draw(ui: Ui) -> None:
        with ui.surface("page", "pane", scrolls=True, height=0):
            for index in range(200):
                ui.text(index, f"Line {index}")

    person = screen.show(draw)
    page = next(el for el in screen.ui.tree.root.walk() if isinstance(el, Surface))
    _, _, right, bottom = person.rect(page)
    person.click_at(round(right) - 4, round(bottom) - 30)
    person.step(4)
    assert page.inner is not None
    assert page.inner.scroll[1] > page.h / 2


def test_a_frame_in_which_nothing_changed_describes_nothing(screen: Screen) -> None:
    rows = Names(100)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    person.step(4)
    rows.drawn = 0
    calls = screen.ui.canvas.calls
    person.step(30)
    assert rows.drawn == 0
    assert screen.ui.canvas.calls == calls


def test_a_frame_described_without_a_change_writes_nothing(screen: Screen) -> None:
    rows = Names(100)
    screen.show(lambda ui: ui.virtual_list("list", rows))
    screen.settle()
    calls = screen.ui.canvas.calls
    screen.settle()
    assert screen.ui.canvas.calls == calls


def test_tab_into_a_row_below_scrolls_to_it(screen: Screen) -> None:
    rows = Names(200)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    person.click("Press 1")
    for _ in range(40):
        person.key("Tab")
    assert the_list(screen).view.scroll > 0
    person.key("Space")
    assert rows.pressed[-1] > 30


def test_tab_through_a_list_that_fits_moves_nothing_aside(screen: Screen) -> None:
    """The keyboard walked to the hidden thumb beside the list, and all rows stood cut off at the left."""
    rows = Names(2)
    person = screen.show(lambda ui: ui.virtual_list("list", rows))
    person.click("Press 0")
    for _ in range(3):
        person.key("Tab")
        inner = the_list(screen).inner
        assert inner is not None
        assert dpg.get_x_scroll(inner.item) == 0


def test_a_table_aligns_its_cells_with_its_heads(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.table("table", COLUMNS, Rows()))
    screen.check()
    head, cell = person.find("Items"), person.find("259")
    right = [element.x + element.w for element in (head, cell)]
    assert right[0] == pytest.approx(right[1], abs=1)
    assert person.find("Job").x == person.find("Extract decisions 3").x


def test_a_table_with_a_fixed_height_scrolls_within_it(screen: Screen) -> None:
    def draw(ui: Ui) -> None:
        ui.table("table", (*COLUMNS[:3], Column("More")), Rows(50), height=200)
        ui.button("below", "Below")

    person = screen.show(draw)
    assert person.center(person.find("Below"))[1] < 300
    screen.check()


def test_tabs_tell_which_was_pressed(screen: Screen) -> None:
    seen: list[str] = []

    def draw(ui: Ui) -> None:
        chosen = ui.tabs("tabs", (Option("a", "First"), Option("b", "Second")), "a")
        if chosen:
            seen.append(chosen)

    person = screen.show(draw)
    person.click("First")
    person.click("Second")
    assert seen == ["b"]
    screen.check()


@pytest.mark.parametrize("width", [600, 260, 200, 120])
def test_a_count_in_its_words_moves_no_tab_and_turns_none_into_its_icon(screen: Screen, width: int) -> None:
    """At any width of the strip: with room, with little, in icons, and in icons alone."""
    labels, shown = {"asks": "Waiting", "files": "Files"}, "calls"

    def draw(ui: Ui) -> None:
        with ui.surface("box", "clear", width=width, padding=(0, 0)):
            ui.tabs(
                "tabs",
                (
                    Option("calls", "Activity", icon="bolt"),
                    Option("asks", labels["asks"], icon="shield-halved", widest="Waiting 9"),
                    Option("files", labels["files"], icon="code-compare", widest="Files 99"),
                    Option("alone", "Alone", icon="moon"),
                ),
                shown,
            )

    person = screen.show(draw)

    def places() -> list[tuple[object, float, bool]]:
        tabs = [one for one in person.visible() if isinstance(one, Tab)]
        return [(one.key, person.rect(one)[0], one.is_collapsed) for one in tabs]

    before = places()
    labels.update(asks="Waiting 3", files="Files 12")
    screen.settle()
    assert places() == before
    screen.check()
    has_words = not any(is_icon for _, _, is_icon in before)
    assert has_words == (width >= 260)
    if has_words:
        shown = "files"
        screen.settle()
        assert places() == before, "being opened moves none"


def test_rows_are_dragged_by_their_handle(screen: Screen) -> None:
    order = list("abcde")

    def draw_row(ui: Ui, index: int) -> None:
        with ui.surface("card", "card"):
            ui.text("name", f"row {order[index]}")

    def draw(ui: Ui) -> None:
        moved = ui.sortable("sort", len(order), lambda index: draw_row(ui, index))
        if moved:
            order.insert(moved[1], order.pop(moved[0]))

    person = screen.show(draw)
    screen.check()

    def drag(start: int, end: int, beyond: int) -> None:
        handles = [element for element in person.visible() if isinstance(element, Handle)]
        x, y = person.center(handles[end])
        person.drag(person.center(handles[start]), (x, y + beyond))
        person.step(4)

    drag(0, 2, 12)
    assert "".join(order) == "bcade"
    drag(4, 0, -12)
    assert "".join(order) == "ebcad"
    drag(2, 2, 8)
    assert "".join(order) == "ebcad"


def test_the_grip_of_a_tall_card_stands_beside_its_first_line(screen: Screen) -> None:
    def draw(ui: Ui) -> None:
        def row(index: int) -> None:
            with ui.surface("card", "card", height=40 if not index else 300):
                ui.text("name", f"Row {index}")

        ui.sortable("rows", 2, row)

    person = screen.show(draw)
    short, tall = [element for element in person.visible() if isinstance(element, Handle)]
    assert short.y == pytest.approx((40 - short.h) / 2, abs=3)
    assert tall.y < 20
    screen.check()
