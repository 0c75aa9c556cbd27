"""Panels in a window too low for them scroll as a whole, by one bar."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest

from core.services.settings.settings_messages import ChangeSetting
from gui.elements.base import Element
from gui.elements.surfaces import Surface
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.shell.rooms import PANELS
from tests.core.app.programs import Programs
from tests.gui.conftest import Screen
from tests.gui.sitting import over
from tests.gui.test_window_composer import Writer

pytestmark = pytest.mark.gui
LOW = (1024, 700)


@pytest.fixture
def writer(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writer]:
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
    programs = Programs(tmp_path)
    writer = Writer(programs.start(), screen.driver)
    with over(writer.app, screen, monkeypatch):
        writer.enter()
        yield writer
    programs.stop()
    assert not screen.failures


def bars(element: Element) -> Iterator[Surface]:
    """What scrolls, the outermost first."""
    for one in element.walk():
        if isinstance(one, Surface) and one.spot is not None and one.can_scroll():
            yield one


def bars_in_bars(screen: Screen) -> list[str]:
    """What has a bar inside of what has one."""
    outer = bars(screen.ui.tree.root)
    return [f"{other.path()} in {one.path()}" for one in outer for other in bars(one) if other is not one]


@pytest.mark.parametrize("scale", [1.5, 2.0])
def test_a_panel_in_a_low_window_has_one_bar(writer: Writer, screen: Screen, scale: float) -> None:
    view = writer.app.view
    writer.controller.send(ChangeSetting("appearance.ui_scale", scale))
    screen.driver.until(lambda: screen.ui.tree.m.scale == scale, "the scale")
    for panel in PANELS:
        view.panel = panel.id
        view.show_side("hub")
        for _ in range(4):
            screen.ui.frame(writer.app._describe, *LOW)
        assert not bars_in_bars(screen)
    assert view.is_hub_low == (scale == 2.0)


class Lines:
    """Many rows of a line."""

    revision = 0

    def __len__(self) -> int:
        return 30

    def key(self, index: int) -> Hashable:
        return index

    def estimate_px(self, index: int, width: float) -> float:
        return 20

    def draw(self, index: int, ui: Ui) -> None:
        ui.text("line", f"line {index}")


def test_a_list_that_stands_whole_in_what_scrolls_is_led_to_a_row_by_that(screen: Screen) -> None:
    wanted: list[int] = []

    def describe(ui: Ui) -> None:
        with (
            ui.surface("all", "clear", height=300, padding=(0, 0), scrolls=True),
            ui.surface("whole", "clear", least_height=400, padding=(0, 0)),
        ):
            ui.text("head", "Head")
            ui.virtual_list("lines", Lines(), scroll_to=wanted.pop() if wanted else None)

    driver = screen.show(describe)
    screen.settle(8)
    (bar,) = bars(screen.ui.tree.root)
    assert bar.key == "all"
    line = driver.find("line 25")
    assert driver.rect(line)[1] > driver.rect(line)[3]
    wanted.append(25)
    screen.settle(8)
    line = driver.find("line 25")
    assert driver.rect(line)[3] - driver.rect(line)[1] == pytest.approx(line.h, abs=1)
    driver.wheel(line, -20)
    _, top, _, bottom = driver.rect(driver.find("Head"))
    assert bottom - top > 10
