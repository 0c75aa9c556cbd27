"""The file chooser on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.driver import Driver
from gui.elements.controls import Button, Field
from gui.elements.popups import PopupItem, anchor_of
from panels.base.ui import Ui
from tests.gui.conftest import Screen, field_named

pytestmark = pytest.mark.gui


class View:
    """Whether the chooser is open, and what it gave."""

    def __init__(self, start: Path, picks: str = "files") -> None:
        self.start, self.picks, self.is_open = start, picks, True
        self.chosen: tuple[str, ...] | None = None

    def draw(self, ui: Ui) -> None:
        if self.is_open:
            chosen = ui.file_dialog("files", "Choose", start=str(self.start), picks=self.picks)  # type: ignore[arg-type]
            if chosen is not None:
                self.is_open, self.chosen = False, chosen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for number in range(120):
        (tmp_path / "src" / f"file_{number:03}.py").write_text("x" * number)
    (tmp_path / "read me.txt").write_text("hello")
    return tmp_path


def double(person: Driver, name: str) -> None:
    """Two clicks of a person on an entry."""
    person.hover(person.find(name, kind=PopupItem))
    person.read()
    for _ in range(2):
        person.press()
        person.release()


def test_a_click_selects_a_file_and_two_choose_it(screen: Screen, folder: Path) -> None:
    view = View(folder)
    person = screen.show(view.draw)
    screen.check()
    person.click(person.find("src", kind=PopupItem))
    person.until(lambda: person.has("Open folder"))
    assert person.has("read me.txt")
    screen.check()
    person.click("Open folder")
    person.until(lambda: person.has("file_000.py"))
    person.click(person.find("file_003.py", kind=PopupItem))
    person.until(lambda: person.has("1 chosen"))
    assert view.is_open
    double(person, "file_001.py")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "src" / "file_001.py"),)


def test_more_than_one_file_is_chosen_with_ctrl(screen: Screen, folder: Path) -> None:
    view = View(folder / "src")
    person = screen.show(view.draw)
    person.click(person.find("file_003.py", kind=PopupItem))
    person.hold("Ctrl")
    person.click(person.find("file_001.py", kind=PopupItem))
    person.let_go("Ctrl")
    person.until(lambda: person.has("2 chosen"))
    screen.check()
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == tuple(str(folder / "src" / name) for name in ("file_003.py", "file_001.py"))


def test_a_folder_is_entered_and_filtered_with_the_keyboard(screen: Screen, folder: Path) -> None:
    view = View(folder)
    person = screen.show(view.draw)
    double(person, "src")
    person.until(lambda: field_named(person, "Filter by name").is_active)
    person.type("117")
    person.until(lambda: not person.has("file_003.py"))
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "src" / "file_117.py"),)


def test_a_typed_path_is_taken(screen: Screen, folder: Path) -> None:
    view = View(folder)
    person = screen.show(view.draw)
    person.click(person.find("Path", kind=Field))
    person.key("Ctrl+a")
    person.paste(str(folder / "read me.txt"))
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "read me.txt"),)


def test_a_path_that_leads_nowhere_is_said(screen: Screen, folder: Path) -> None:
    view = View(folder)
    person = screen.show(view.draw)
    person.click(person.find("Path", kind=Field))
    person.key("Ctrl+a")
    person.paste("/no/such/place")
    person.key("Enter")
    person.until(lambda: person.has("There is no file or folder"))
    screen.check()
    person.key("Escape")
    person.until(lambda: not view.is_open)
    assert view.chosen == ()


def test_saving_asks_for_a_name(screen: Screen, folder: Path) -> None:
    view = View(folder, "save")
    person = screen.show(view.draw)
    person.click(person.find("File name", kind=Field))
    person.type("out.md")
    person.until(lambda: field_named(person, "File name").text == "out.md")
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "out.md"),)


def test_the_parent_is_one_chord_away(screen: Screen, folder: Path) -> None:
    view = View(folder / "src", "folder")
    person = screen.show(view.draw)
    person.key("Alt+Up")
    person.until(lambda: person.has("src"))
    person.click("Choose this folder")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder),)


def picked(person: Driver) -> list[str]:
    """Names of the entries that are selected."""
    items = [el for el in person.visible() if isinstance(el, PopupItem) and el.spot is not None]
    return [el.label() for el in items if el.props[2] == "item_on"]


def test_arrows_pages_and_ends_walk_through_the_entries_and_enter_takes_the_one(
    screen: Screen, folder: Path
) -> None:
    view = View(folder / "src")
    person = screen.show(view.draw)
    person.until(lambda: field_named(person, "Filter by name").is_active)
    for keys, name in (
        (("Down",), "file_000.py"),
        (("Down", "Down"), "file_002.py"),
        (("Up",), "file_001.py"),
        (("End",), "file_119.py"),
        (("PageUp", "PageDown"), "file_119.py"),
        (("Home",), "file_000.py"),
    ):
        for key in keys:
            person.key(key)
        person.until(lambda: picked(person) == [name], f"{name} after {keys}")  # noqa: B023
        top, bottom = (person.rect(person.find(name, kind=PopupItem))[at] for at in (1, 3))
        assert bottom - top > 20
    person.key("PageDown")
    person.until(lambda: picked(person) not in ([], ["file_000.py"]))
    [name] = picked(person)
    assert 5 < int(name[5:8]) < 20
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "src" / name),)


def test_letters_find_an_entry_and_backspace_leads_to_the_parent(screen: Screen, folder: Path) -> None:
    for name in ("alpha", "beta", "berry"):
        (folder / name).mkdir()
    view = View(folder, "folder")
    person = screen.show(view.draw)
    person.click(person.find("src", kind=PopupItem))
    person.type("ber")
    person.until(lambda: picked(person) == ["berry"])
    person.key("Right")
    person.until(lambda: not person.has("alpha"))
    person.key("Backspace")
    person.until(lambda: person.has("alpha"), "the folder around it")
    assert picked(person) == []
    person.key("Down")
    person.until(lambda: picked(person) == ["beta"], "the one behind it")
    person.key("Up")
    person.key("Up")
    person.until(lambda: picked(person) == ["alpha"])
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "alpha"),)


def test_keys_walk_from_the_name_to_save_under_and_a_typed_name_is_no_entry(
    screen: Screen, folder: Path
) -> None:
    view = View(folder, "save")
    person = screen.show(view.draw)
    person.until(lambda: field_named(person, "File name").is_active)
    person.key("Down")
    person.key("Down")
    person.until(lambda: field_named(person, "File name").text == "read me.txt")
    person.key("Up")
    person.until(lambda: picked(person) == ["src"])
    person.click(person.find("File name", kind=Field))
    person.key("Ctrl+a")
    person.type("new.md")
    person.until(lambda: picked(person) == [])
    person.key("Enter")
    person.until(lambda: not view.is_open)
    assert view.chosen == (str(folder / "new.md"),)


def test_the_dialog_fits_a_small_window_at_twice_the_size(screen: Screen, folder: Path) -> None:
    view = View(folder)

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 2.0)
        view.draw(ui)

    person = screen.show(draw)
    for _ in range(3):
        screen.ui.frame(draw, 1024, 700)
    _, top, _, height = anchor_of(person.find("Cancel", kind=Button))
    assert top + height < 700
    screen.loop.wake()
