"""Two models side by side at the window, over the whole program and two vendors: kept, skipped, failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gui.elements.controls import Button, Combo
from gui.markdown.document import load
from tests.core.app.programs import Programs
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees
from tests.gui.test_window_composer import Writer
from tests.vendors import anthropic_server, openai_server
from tests.vendors.anthropic_server import AnthropicServer
from tests.vendors.openai_server import OpenAiServer

pytestmark = pytest.mark.gui


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[AnthropicServer, OpenAiServer]]:
    with AnthropicServer() as one, OpenAiServer() as other:
        monkeypatch.setenv("ANTHROPIC_API_KEY", anthropic_server.KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", one.url)
        monkeypatch.setenv("OPENAI_API_KEY", openai_server.KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{other.url}/v1")
        yield one, other


@pytest.fixture
def writer(
    screen: Screen,
    servers: tuple[AnthropicServer, OpenAiServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Writer]:
    load()
    programs = Programs(tmp_path)
    writer = Writer(programs.start(), screen.driver)
    with over(writer.app, screen, monkeypatch):
        writer.enter()
        yield writer
    programs.stop()
    assert not screen.failures


def choose(writer: Writer, number: int, model: str) -> None:
    """Choose a model in a row of the dialog."""
    driver = writer.driver
    combos = [
        e
        for e in driver.visible()
        if isinstance(e, Combo) and e.parent and e.parent.key == ("choice", number)
    ]
    driver.click(combos[0])
    driver.step(4)
    driver.type(model)
    driver.step(4)
    driver.click(model)
    driver.step(4)


def compare(writer: Writer, words: str) -> None:
    """Type words, choose two models of two vendors, and press Compare."""
    driver = writer.driver
    driver.type(words)
    driver.until(lambda: writer.composer.text == words)
    driver.key("Ctrl+K")
    driver.step(6)
    driver.type("Compare models")
    driver.step(6)
    driver.key("Enter")
    sees(driver, "Compare models")
    choose(writer, 1, "gpt-6.1")
    driver.until(lambda: driver.has("Compare"))
    driver.click(driver.find("Compare", kind=Button))


def test_two_models_answer_side_by_side_and_the_one_that_is_kept_stands(
    writer: Writer, servers: tuple[AnthropicServer, OpenAiServer], screen: Screen
) -> None:
    anthropic, openai = servers
    anthropic.replies.append(anthropic_server.Said(({"type": "text", "text": "From Anthropic."},)))
    openai.replies.append(openai_server.Said(({"type": "message", "text": "From OpenAI."},)))
    driver = writer.driver
    compare(writer, "why is the sky blue?")
    sees(driver, "From Anthropic.")
    sees(driver, "From OpenAI.")
    writer.until(lambda s: writer.chosen not in s.turns.calls)
    driver.step(6)
    screen.check()
    assert writer.composer.text == ""
    driver.click(driver.find("Keep this reply", kind=Button, index=0))
    writer.until(lambda s: s.discussions.open[writer.chosen].messages[-1].text == "From Anthropic.")
    driver.until(lambda: driver.has("1/2") or driver.has("2/2"), "versions, in the order in which they came")
    assert not driver.has("From OpenAI.")
    driver.click("Show the versions side by side")
    sees(driver, "From OpenAI.")
    driver.click("Back to the discussion")
    driver.until(lambda: not driver.has("From OpenAI."))


def test_one_that_fails_is_said_in_its_column_and_can_be_asked_again_while_the_other_stays(
    writer: Writer, servers: tuple[AnthropicServer, OpenAiServer], screen: Screen
) -> None:
    anthropic, openai = servers
    right, openai.key = openai.key, "another"
    anthropic.replies.append(anthropic_server.Said(({"type": "text", "text": "Only one."},)))
    driver = writer.driver
    compare(writer, "why?")
    sees(driver, "Only one.")
    writer.until(lambda s: writer.chosen not in s.turns.calls and bool(_problems(writer)[1]))
    driver.step(6)
    assert any("key" in text.lower() for text in _problems(writer))
    screen.check()
    assert writer.said() == ["why?", "Only one."]

    openai.key = right
    openai.replies.append(openai_server.Said(({"type": "message", "text": "Now from OpenAI."},)))
    driver.click(driver.find("Ask again", kind=Button))
    sees(driver, "Now from OpenAI.")
    writer.until(lambda s: writer.chosen not in s.turns.calls and not any(_problems(writer)))
    assert driver.has("Only one.")
    driver.until(lambda: writer.said() == ["why?", "Only one."], "the reply that was chosen before")


def _problems(writer: Writer) -> list[str]:
    comparison = writer.controller.snapshot().discussions.open[writer.chosen].comparison
    assert comparison is not None
    return [one.problem for one in comparison.replies]
