"""Prompt templates and the person's own editor, at the window by real input, over the whole program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.services.settings.prompts import template_folders
from gui.elements.controls import Button, Field
from gui.markdown.document import load
from gui.screen import screenshot
from tests.core.app.programs import Programs
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees
from tests.gui.test_window_composer import Writer
from tests.vendors.anthropic_server import KEY, AnthropicServer

pytestmark = pytest.mark.gui

EDITOR = """
import pathlib, sys
path = pathlib.Path(sys.argv[-1])
path.write_text(path.read_text() + " and its reason")
"""
PICTURES = os.environ.get("WINDOW_PICTURES", "")
"""A folder that pictures are kept in, for whoever looks at them."""


def picture(screen: Screen, name: str) -> None:
    if PICTURES:
        screenshot(Path(PICTURES) / f"{name}.png", screen.loop.frame)


@pytest.fixture
def writer(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writer]:
    load()
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        script = tmp_path / "editor.py"
        script.write_text(EDITOR)
        monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
        programs = Programs(tmp_path)
        folder = template_folders(programs.home, "")[0]
        folder.mkdir(parents=True)
        (folder / "review.md").write_text("Review {{what}} as {{who}}.\n")
        (folder / "thanks.md").write_text("Thank you.\n")
        writer = Writer(programs.start(), screen.driver)
        with over(writer.app, screen, monkeypatch):
            writer.enter()
            yield writer
        programs.stop()
    assert not screen.failures


def test_a_template_from_the_palette_asks_for_its_variables_and_keeps_what_is_typed(
    writer: Writer, screen: Screen
) -> None:
    driver = writer.driver
    driver.type("Look here.")
    writer.holds("Look here.")
    driver.key("Ctrl+K")
    driver.step(6)
    driver.type("review")
    sees(driver, "template")
    picture(screen, "palette")
    driver.key("Enter")
    sees(driver, "Insert template")
    assert [one.hint for one in driver.visible() if isinstance(one, Field)][:1] == [
        "Text in place of {{what}}"
    ]
    driver.step(6)
    driver.type("the parser")
    driver.key("Tab")
    driver.step(4)
    sees(driver, "'who' is empty.")
    driver.type("a poet")
    driver.step(6)
    picture(screen, "template")
    driver.click(driver.find("Insert", kind=Button))
    writer.holds("Look here.\nReview the parser as a poet.")


def test_a_slash_command_gives_way_to_the_template(writer: Writer, screen: Screen) -> None:
    writer.driver.type("/template th")
    sees(writer.driver, "/template thanks")
    picture(screen, "slash")
    writer.driver.key("Tab")
    writer.driver.key("Enter")
    writer.holds("Thank you.")


def test_the_draft_goes_through_the_persons_editor_and_comes_back(writer: Writer, screen: Screen) -> None:
    driver = writer.driver
    driver.type("The tide")
    writer.holds("The tide")
    driver.click(driver.find("Insert a prompt template, or write the message in your own editor"))
    sees(driver, "Edit message in your editor")
    picture(screen, "menu")
    driver.click("Edit message in your editor")
    writer.holds("The tide and its reason")


def test_no_editor_is_said_in_one_sentence(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, screen: Screen
) -> None:
    driver = writer.driver
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR", raising=False)
    driver.type("The tide")
    driver.key("Ctrl+K")
    driver.step(6)
    driver.type("Edit message in your")
    driver.step(6)
    driver.key("Enter")
    sees(driver, "No editor is set")
    picture(screen, "no-editor")
    writer.holds("The tide")
