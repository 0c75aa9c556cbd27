"""Keys that a person strikes in one go, a chord and what is meant for the field that it opens, over the whole program."""

from __future__ import annotations

import pytest

from gui.elements.controls import Field
from tests.gui.sitting import sees
from tests.gui.test_window_composer import Writer
from tests.gui.test_window_templates_live import pytestmark, writer
from tests.vendors.anthropic_server import AnthropicServer

__all__ = ["AnthropicServer", "pytestmark", "writer"]


def _active(writer: Writer) -> str:
    found = [one.text for one in writer.driver.visible() if isinstance(one, Field) and one.is_active]
    return found[0] if found else ""


def _typed(writer: Writer, text: str) -> None:
    writer.driver.until(lambda: _active(writer) == text, f"{text!r} in the field that has the keyboard")


@pytest.mark.parametrize("came_from", ["composer", "another field", "the same field"])
def test_a_search_gets_every_letter_behind_its_chord(writer: Writer, came_from: str) -> None:
    driver = writer.driver
    if came_from != "composer":
        driver.key("Ctrl+F" if came_from == "another field" else "Ctrl+Shift+F")
        driver.step(10)
    driver.strike("Ctrl+Shift+f", *"bookkeepxd", "Backspace", "Backspace", *"er")
    _typed(writer, "bookkeeper")


def test_the_palette_does_what_was_struck_in_one_go(writer: Writer) -> None:
    driver = writer.driver
    driver.strike("Ctrl+k", *"usage")
    _typed(writer, "usage")
    driver.strike("Escape", *"one", "Ctrl+k", *"usage", "Enter")
    sees(driver, "Budget per month ($)")
    assert writer.composer.text == "one"
    driver.strike("Ctrl+k", *"shortcuts", "Enter", "Escape", "Ctrl+k", *"chat")
    _typed(writer, "chat")


def test_a_discussion_is_renamed_in_one_go(writer: Writer) -> None:
    driver = writer.driver
    driver.type("words")
    driver.key("Ctrl+Enter")
    writer.hears(2)
    driver.step(10)
    driver.strike("Ctrl+k", *"usage", "Escape", "F2", *"ledgers", "Backspace", "Enter", *"after")
    writer.holds("after")
    writer.until(lambda s: any(one.meta.name == "ledger" for one in s.discussions.summaries.values()))


def test_a_field_keeps_the_chords_of_its_own_text_in_their_order(writer: Writer) -> None:
    driver = writer.driver
    driver.strike("Ctrl+k", *"usage", "Ctrl+a", *"agent", "Home", *"my", "End", *"x")
    _typed(writer, "myagentx")
