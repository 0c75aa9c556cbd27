"""Memory that a reply uses is told in Usage and in the item's history, at the window, over the whole program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.kernel.values.knowledge import Category
from core.knowledge.knowledge_messages import AddKnowledgeItem, RegenerateDigest
from gui.markdown.document import load
from tests.core.app.programs import Programs
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees
from tests.gui.test_window_composer import Writer
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said

pytestmark = pytest.mark.gui
FACT = "The tide at Bensersiel turns every six hours."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def test_what_a_reply_quotes_of_memory_is_told_as_used(
    screen: Screen, server: AnthropicServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    programs = Programs(tmp_path)
    controller = programs.start()
    controller.send(AddKnowledgeItem(category=Category.FACTS, text=FACT))
    controller.send(RegenerateDigest())
    writer = Writer(controller, screen.driver)
    writer.until(lambda s: FACT in s.knowledge.digest)
    server.replies.append(Said(({"type": "text", "text": f"As you know, {FACT.lower()}"},)))
    with over(writer.app, screen, monkeypatch):
        writer.enter()
        writer.driver.type("When can I go?")
        writer.driver.key("Ctrl+Enter")
        writer.hears(2)
        writer.driver.key("Ctrl+K")
        writer.driver.step(6)
        writer.driver.type("usage")
        writer.driver.step(6)
        writer.driver.key("Enter")
        sees(writer.driver, "tokens to 1 request. Replies used items of your knowledge once.")
        sees(writer.driver, "1 request · 1 item used")
        writer.driver.key("Ctrl+3")
        sees(writer.driver, FACT)
    programs.stop()
    assert not screen.failures
