"""The whole program at one and a half and twice its size: written in, selected, scrolled, its menus and dialogs used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.services.settings.settings_messages import ChangeSetting
from gui.elements.lists import VirtualList
from gui.elements.prose import Markdown
from gui.markdown.document import load
from tests.core.app.programs import Programs
from tests.gui.conftest import Screen, copied, field_named
from tests.gui.sitting import over, sees
from tests.gui.test_window_composer import Writer
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said

pytestmark = pytest.mark.gui


@pytest.fixture
def writer(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writer]:
    load()
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
        server.replies.append(Said(({"type": "text", "text": "\n\n".join(f"tide {n}" for n in range(60))},)))
        programs = Programs(tmp_path)
        writer = Writer(programs.start(), screen.driver)
        with over(writer.app, screen, monkeypatch):
            writer.enter()
            yield writer
        programs.stop()
    assert not screen.failures


@pytest.mark.parametrize("scale", [1.5, 2.0])
def test_a_window_at_a_larger_scale_is_used(writer: Writer, screen: Screen, scale: float) -> None:
    driver = writer.driver
    writer.controller.send(ChangeSetting("appearance.ui_scale", scale))
    driver.until(lambda: screen.ui.tree.m.scale == scale, "the scale")
    writer.enter()
    driver.type("one tide")
    writer.holds("one tide")
    screen.check()
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    sees(driver, "tide 59")

    talk = next(
        e for e in driver.visible() if isinstance(e, VirtualList) and e.parent and e.parent.key == "messages"
    )
    end = talk.view.scroll
    driver.wheel(talk, -3)
    driver.until(lambda: talk.view.scroll < end, "scrolled up")
    driver.key("Ctrl+End")
    driver.wheel(talk, 40)
    driver.until(lambda: talk.view.is_at_end, "at the end again")

    reply = next(e for e in driver.visible() if isinstance(e, Markdown) and "tide 59" in e.label())
    left, top, _, bottom = driver.rect(reply)
    middle = round((top + bottom) / 2)
    driver.drag(
        (round(left + 2), middle - round(12 * scale)), (round(left + 60 * scale), middle + round(12 * scale))
    )
    driver.key("Ctrl+c")
    driver.until(lambda: "tide" in copied(), "the selection on the clipboard")

    driver.click("File")
    sees(driver, "New discussion")
    screen.check()
    driver.key("Escape")
    driver.until(lambda: not driver.has("Open project folder"), "the menu gone")
    driver.key("Ctrl+Shift+P")
    driver.until(lambda: driver.has("Type a command, a name, or words to find"), "the palette")
    driver.type("shortcuts")
    driver.until(lambda: field_named(driver, "Type a command, a name, or words to find").text == "shortcuts")
    screen.check()
    driver.key("Escape")
    driver.until(lambda: not driver.has("Type a command, a name, or words to find"), "the palette gone")
    driver.type("two")
    writer.holds("two")
