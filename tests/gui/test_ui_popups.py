"""Menus, lists of options and dialogs: they open above, take the mouse and the keyboard, and go."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from gui.elements.popups import PopupItem, anchor_of
from gui.ui_lists import PAGE_OPTIONS, matches
from panels.base.ui import Option, Ui
from tests.gui.conftest import SIZE, Screen, field_named

pytestmark = pytest.mark.gui
FEW = (
    Option("a", "Alpha", group="Near"),
    Option("b", "Beta", "200k", group="Near"),
    Option("c", "Gamma", group="Far"),
)
MANY = tuple(Option(str(n), f"model-{n}", f"{n}k") for n in range(40))


@dataclass
class View:
    """What a small panel remembers."""

    value: str = "a"
    is_open: bool = False
    seen: list[str] = field(default_factory=list)


def draw_menu(ui: Ui, view: View) -> None:
    with ui.menu("menu", "Actions", tip="All actions") as is_open:
        if not is_open:
            return
        for name in ("Rename", "Pin"):
            if ui.menu_item(name, name):
                view.seen.append(name)
        with ui.menu("export", "Export") as is_sub:
            if is_sub and ui.menu_item("md", "Markdown"):
                view.seen.append("Markdown")
        if ui.menu_item("off", "Never", is_enabled=False):
            view.seen.append("Never")


def test_a_menu_opens_and_closes_with_the_choice(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_menu(ui, view))
    assert not person.has("Rename")
    person.click("Actions")
    screen.check()
    person.click("Pin")
    person.step(3)
    assert view.seen == ["Pin"]
    assert not person.has("Rename")


def test_a_disabled_item_keeps_the_menu_open(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_menu(ui, view))
    person.click("Actions")
    person.click("Never")
    assert view.seen == []
    assert person.has("Rename")
    person.key("Escape")


@pytest.mark.parametrize("how", ["Escape", "outside"])
def test_a_menu_goes_without_a_choice(screen: Screen, how: str) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        draw_menu(ui, view)
        ui.gap(300)
        if ui.button("below", "Below"):
            view.seen.append("below")

    person = screen.show(draw)
    below = person.center(person.find("Below"))
    person.click("Actions")
    person.key("Escape") if how == "Escape" else person.click_at(*below)
    person.step(3)
    assert not person.has("Rename")
    assert view.seen == []
    person.click("Below")
    assert view.seen == ["below"]


def test_a_submenu_opens_on_hover_beside_its_item_and_goes_with_the_next(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_menu(ui, view))
    person.click("Actions")
    person.hover("Export")
    person.until(lambda: person.has("Markdown"))
    screen.check()
    export, markdown = (anchor_of(person.find(name, kind=PopupItem)) for name in ("Export", "Markdown"))
    assert markdown[0] > export[0] + export[2]
    person.hover("Rename")
    person.until(lambda: not person.has("Markdown"))
    person.hover("Export")
    person.until(lambda: person.has("Markdown"))
    person.click("Markdown")
    person.step(3)
    assert view.seen == ["Markdown"]
    assert not person.has("Rename")


def test_a_menu_at_the_corner_stays_inside(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        ui.gap(SIZE[1] - 40)
        with ui.row("row"):
            ui.push()
            draw_menu(ui, view)

    person = screen.show(draw)
    person.click("Actions")
    x, y, w, h = anchor_of(person.find("Never"))
    assert x + w <= SIZE[0]
    assert y + h <= SIZE[1]
    person.key("Escape")


def test_the_keyboard_walks_a_menu(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_menu(ui, view))
    person.click("Actions")
    person.step(3)
    person.key("Down")
    person.key("Enter")
    person.step(3)
    assert view.seen == ["Pin"]


def draw_combo(ui: Ui, view: View, options: tuple[Option, ...]) -> None:
    chosen = ui.combo("combo", options, view.value, label="Model")
    if chosen is not None:
        view.value = chosen
        view.seen.append(chosen)


def test_a_combo_shows_headings_and_details_and_gives_the_choice(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_combo(ui, view, FEW))
    person.click("Model")
    assert person.has("Near")
    assert person.has("Far")
    screen.check()
    person.click("Beta")
    person.step(2)
    assert view.seen == ["b"]
    assert not person.has("Gamma")


def test_choosing_what_is_chosen_already_says_nothing(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_combo(ui, view, FEW))
    person.click("Model")
    person.click(person.find("Alpha", kind=PopupItem))
    person.step(3)
    assert view.seen == []


def test_a_long_combo_is_filtered_by_typing_and_enter_takes_the_first(screen: Screen) -> None:
    view = View(value="0")
    person = screen.show(lambda ui: draw_combo(ui, view, MANY))
    person.click("Model")
    person.until(lambda: field_named(person, "Filter").is_active)
    screen.check()
    person.type("37")
    person.until(lambda: not person.has("model-12"))
    person.key("Enter")
    person.step(3)
    assert view.seen == ["37"]


def test_of_ten_thousand_options_a_combo_places_a_page_and_finds_and_adds_the_rest(screen: Screen) -> None:
    options = tuple(Option(value=f"{n}", label=f"model-{n:05}") for n in range(10_000))
    view = View(value="0")
    person = screen.show(lambda ui: draw_combo(ui, view, options))

    def placed() -> list[str]:
        return [e.label() for e in person.visible() if isinstance(e, PopupItem)]

    person.click("Model")
    person.until(lambda: field_named(person, "Filter").is_active)
    assert placed() == [*(f"model-{n:05}" for n in range(PAGE_OPTIONS)), "Show more (9,800 left)"]
    person.click("Show more (9,800 left)")
    person.until(lambda: person.has("Show more (9,600 left)"))
    assert len(placed()) == 2 * PAGE_OPTIONS + 1
    person.click("Filter")
    person.type("09876")
    person.until(lambda: placed() == ["model-09876"])
    person.key("Enter")
    person.step(3)
    assert view.seen == ["9876"]


def test_filter_words_match_in_any_order_and_case() -> None:
    option = Option("id-7", "Claude Opus", "200k")
    assert matches(option, "OPUS cla")
    assert matches(option, "200 opus")
    assert not matches(option, "opus 9")


def draw_dialog(ui: Ui, view: View) -> None:
    if ui.button("open", "Open"):
        view.is_open = True
    if ui.shortcut("Escape"):
        view.seen.append("outer escape")
    if view.is_open:
        with ui.dialog("dialog", "Really?") as closed:
            ui.text("why", "Because. " * 30, wraps=True)
            draw_combo(ui, view, FEW)
            if ui.button("yes", "Yes"):
                view.seen.append("yes")
        if closed.clicked:
            view.is_open = False


def test_a_dialog_keeps_the_mouse_and_the_keyboard_from_what_is_below(screen: Screen) -> None:
    view = View()
    person = screen.show(lambda ui: draw_dialog(ui, view))
    person.click("Open")
    screen.check()
    view.is_open = True
    person.click(person.find("Open"))
    person.click("Yes")
    assert view.seen == ["yes"]
    person.key("Escape")
    person.until(lambda: not view.is_open)
    person.step(3)
    assert view.seen == ["yes"]
    person.key("Escape")
    assert view.seen == ["yes", "outer escape"]


def test_a_combo_opens_above_a_dialog_and_escape_closes_one_at_a_time(screen: Screen) -> None:
    view = View(is_open=True)
    person = screen.show(lambda ui: draw_dialog(ui, view))
    person.click("Model")
    person.until(lambda: person.has("Gamma"))
    person.key("Escape")
    person.until(lambda: not person.has("Gamma"))
    assert view.is_open
    person.click("Close")
    person.until(lambda: not view.is_open)


def test_a_dialog_higher_than_the_window_scrolls(screen: Screen) -> None:
    def draw(ui: Ui) -> None:
        with ui.dialog("dialog", "Long"):
            for index in range(60):
                ui.text(index, f"line {index}")

    screen.show(draw)
    screen.check()
    card = screen.ui.tree.top.order[0].order[0]
    assert card.y + card.h <= SIZE[1]


def test_a_right_click_opens_the_menu_of_its_card_where_the_pointer_is(screen: Screen) -> None:
    view = View()

    def draw(ui: Ui) -> None:
        for name in ("one", "two"):
            with ui.clickable(name, "card"):
                ui.text("title", name)
                with ui.context_menu("menu") as is_open:
                    if is_open and ui.menu_item("drop", f"Drop {name}"):
                        view.seen.append(name)

    person = screen.show(draw)
    x, y = person.center(person.find("two"))
    person.click("two", button=3)
    person.until(lambda: person.has("Drop two"))
    left, top, _, _ = anchor_of(person.find("Drop two"))
    assert abs(left - x) < 30
    assert 0 < top - y < 30
    person.click("Drop two")
    person.step(3)
    assert view.seen == ["two"]
    assert not person.has("Drop two")


def test_tooltips_appear_when_the_mouse_rests_and_show_texts_that_were_cut(screen: Screen) -> None:
    long = "A title that does not fit " * 5

    def draw(ui: Ui) -> None:
        ui.button("go", "", icon="gear", tip="Settings")
        ui.text("cut", long, width=120)

    person = screen.show(draw)
    hover = screen.loop._hover
    person.hover("Settings")
    assert hover.drawn[0] == ""
    person.until(lambda: hover.drawn[0] == "Settings", most=5000)
    person.key("B")
    assert hover.drawn[0] == "", "it does not lie over what a person types for"
    person.hover("A title that")
    person.until(lambda: hover.drawn[0] == long, most=5000)
    person.move(SIZE[0] - 3, SIZE[1] - 3)
    person.until(lambda: hover.drawn[0] == "")
