"""Keys that a person strikes in one go, a chord and what is meant for the field that it opens, over the whole program."""

from __future__ import annotations

import pytest

from gui.elements.controls import Field
from gui.elements.text import Text
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


BURSTS = {
    "the palette closes before it has the keyboard": ("Ctrl+k", "Escape", *"one"),
    "Escape in the middle of a word": ("Ctrl+k", *"usa", "Escape", *"one"),
    "from one field to the next": ("Ctrl+k", *"us", "Escape", "Ctrl+Shift+f", *"book", "Escape", *"after"),
    "capitals and signs": ("Ctrl+k", "Shift+u", "Shift+s", *"age", "space", "minus", "Shift+minus"),
    "the list before the word": ("Ctrl+k", "Down", "Down", "Up", *"agent", "Enter"),
    "a word that nothing has": ("Ctrl+k", *"qqxzzqq", "Enter", "Escape", *"one"),
    "Tab on the way": ("Ctrl+k", *"usage", "Tab", "Escape", *"one"),
    "marked and written over": (*"one", "Ctrl+k", *"abc", "Shift+Home", *"usage", "Enter"),
    "cut here, pasted there": (*"usage", "Ctrl+a", "Ctrl+x", "Ctrl+Shift+f", *"ab", "Ctrl+a", *"usage"),
    "lines of a message": (
        *"one",
        "Shift+Enter",
        *"two",
        "Enter",
        "Ctrl+k",
        *"theme",
        "Escape",
        "Home",
        *"x",
    ),
    "a find bar": ("Ctrl+f", *"word", "Enter", "Escape", *"one"),
    "a dialog between": ("F1", "Escape", "Ctrl+k", *"shortc", "BackSpace", "BackSpace", "Enter"),
}


def _stands(writer: Writer) -> tuple[object, ...]:
    """What a person sees: the composer's words, the field that has the keyboard, and all texts that are no counts."""
    driver = writer.driver
    driver.step(40)
    texts = [one.label() for one in driver.visible() if isinstance(one, Text)]
    shown = [text for text in texts if not any(map(str.isdigit, text))]
    return writer.composer.text, writer.editor.is_active, _active(writer), shown


@pytest.mark.parametrize("name", BURSTS)
def test_keys_in_one_go_do_what_they_do_one_at_a_time(writer: Writer, name: str) -> None:
    driver, keys = writer.driver, BURSTS[name]
    driver.strike(*keys, overlaps=list(BURSTS).index(name) % 2 == 0)
    at_once = _stands(writer)
    for key in ("Escape", "Escape", "Escape"):
        driver.key(key)
    driver.until(lambda: writer.editor.is_active, "the composer")
    driver.key("Ctrl+a")
    driver.key("Delete")
    for key in keys:
        driver.key(key)
        driver.step(6)
    assert at_once == _stands(writer)


def test_a_letter_held_behind_a_chord_goes_on_in_the_field(writer: Writer) -> None:
    driver = writer.driver
    driver.strike("Ctrl+k", *"us")
    driver.hold("a", repeats=True)
    driver.until(lambda: _active(writer).startswith("usaa"), "the letter that is held, again")
    driver.let_go("a")
    length = len(_active(writer))
    driver.step(40)
    assert len(_active(writer)) == length
    assert writer.composer.text == ""


def test_a_dead_key_behind_a_chord_joins_its_letter(writer: Writer) -> None:
    driver = writer.driver
    with driver.keyboard_has("dead_acute"):
        driver.strike("Ctrl+k", "c", "a", "f", "dead_acute", "e")
        _typed(writer, "caf\N{LATIN SMALL LETTER E WITH ACUTE}")
