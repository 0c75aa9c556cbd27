"""Shortcuts changed and usage saved at the window, by real input, over the whole program."""

from __future__ import annotations

from pathlib import Path

from gui.elements.controls import Button
from tests.gui.sitting import sees
from tests.gui.test_window_composer import Writer
from tests.gui.test_window_templates_live import pytestmark, writer
from tests.vendors.anthropic_server import AnthropicServer

__all__ = ["AnthropicServer", "pytestmark", "writer"]


def test_a_shortcut_is_changed_and_obeyed_at_once(writer: Writer) -> None:
    driver = writer.driver
    driver.key("Shift+F1")
    sees(driver, "Click a shortcut, then press the new keys.")
    driver.click("Ctrl+N")
    driver.step(6)
    driver.key("Ctrl+A")
    driver.type("Ctrl+B")
    sees(driver, "Ctrl+B belongs to")
    driver.key("Ctrl+A")
    driver.type("Alt+N")
    driver.step(4)
    driver.key("Enter")
    writer.until(lambda s: s.config.settings.appearance.shortcuts == ("new=Alt+N",))
    driver.key("Escape")
    driver.step(6)
    before = len(writer.controller.snapshot().discussions.summaries)
    driver.key("Ctrl+N")
    driver.step(10)
    assert len(writer.controller.snapshot().discussions.summaries) == before
    driver.type("words so that a new one is another")
    driver.key("Ctrl+Enter")
    writer.hears(2)
    driver.key("Alt+N")
    writer.until(lambda s: len(s.discussions.summaries) == before + 1)


def test_a_shortcut_is_changed_by_pressing_it(writer: Writer) -> None:
    driver = writer.driver
    driver.key("Shift+F1")
    sees(driver, "Click a shortcut, then press the new keys.")
    driver.click("Ctrl+N")
    driver.step(6)
    driver.key("Ctrl+Shift+F")
    sees(driver, "Ctrl+Shift+F belongs to Search discussions")
    driver.step(6)
    driver.key("Alt+N")
    driver.until(lambda: not driver.has("belongs to"), "a chord that is free")
    driver.step(6)
    driver.key("Enter")
    writer.until(lambda s: s.config.settings.appearance.shortcuts == ("new=Alt+N",))


def test_usage_is_saved_to_a_file(writer: Writer, tmp_path: Path) -> None:
    driver = writer.driver
    driver.type("one")
    driver.key("Ctrl+Enter")
    writer.hears(2)
    driver.key("Ctrl+K")
    driver.step(6)
    driver.type("usage")
    driver.step(6)
    driver.key("Enter")
    sees(driver, "Save as CSV…")
    driver.click("Save as CSV…")
    sees(driver, "Save usage as CSV")
    driver.step(6)
    driver.click(driver.find("Save", kind=Button))
    saved = writer.until(
        lambda s: any(one.text == "The usage table is saved to a file." for one in s.program.notices)
    )
    path = Path(
        next(one.detail for one in saved.program.notices if one.text == "The usage table is saved to a file.")
    )
    assert path.suffix == ".csv"
    assert path.read_text().startswith("model,label,calls,")


def test_f1_opens_the_guide_over_a_dialog_which_comes_back_as_it_was(writer: Writer) -> None:
    driver = writer.driver
    driver.key("Shift+F1")
    sees(driver, "Click a shortcut, then press the new keys.")
    driver.click("Ctrl+N")
    driver.step(6)
    driver.key("Ctrl+A")
    driver.type("Alt+N")
    driver.step(4)
    driver.key("F1")
    sees(driver, "Choose a page of the guide")
    driver.key("Escape")
    sees(driver, "Click a shortcut, then press the new keys.")
    driver.key("Enter")
    writer.until(lambda s: s.config.settings.appearance.shortcuts == ("new=Alt+N",))
