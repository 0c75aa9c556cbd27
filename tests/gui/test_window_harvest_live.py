"""A harvest at the real window, over the whole program: real input, a server that stands for the model, real files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.harvest import ArtifactClass
from core.kernel.values.state import AppState
from core.knowledge.knowledge_reader import digest_file
from gui.app import LastLook, WindowApp
from gui.elements.base import Element
from gui.elements.controls import Button, Checkbox, Combo, Field
from gui.elements.editor import Editor
from gui.markdown.document import load
from tests.core.app.programs import until
from tests.core.knowledge.harvest.harvests import add_discussion, item_lines, reply
from tests.core.knowledge.harvest.test_whole import World, said
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees
from tests.vendors.anthropic_server import KEY, AnthropicServer

pytestmark = pytest.mark.gui
FOUND = reply(
    "Tides follow the moon.",
    "The earth is flat.",
    decisions=[{"statement": "Six hours are assumed.", "detail": "It is simple."}],
)


class Sitting(World):
    """A person at the window of a running program, with one old conversation about tides."""

    def __init__(self, base: Path, server: AnthropicServer, screen: Screen) -> None:
        super().__init__(base, server)
        self.old = add_discussion(self.home, "Tides", "Why do they turn?", "The moon pulls.")
        self.controller = self.start()
        until(self.controller, lambda s: s.discussions.selected_id == self.now)
        self.app = WindowApp(LastLook(), lambda: self.controller)
        self.screen, self.driver = screen, screen.driver

    def sees(self, text: str) -> None:
        """Wait for a text on the screen."""
        sees(self.driver, text)

    def ends(self, holds: Callable[[AppState], bool]) -> None:
        """Wait until the program says so, between two runs; the window goes on meanwhile."""
        self.driver.step(3)
        self.driver.until(
            lambda: not self.state.harvest.is_busy and holds(self.state), "the program says that it is over"
        )
        self.driver.step(3)

    def tipped(self, tip: str, kind: type[Element]) -> list[Element]:
        """Controls in view by what they say on hover, top to bottom."""
        found = [one for one in self.driver.visible() if isinstance(one, kind) and one.tip == tip]
        return sorted(found, key=lambda one: (one.spot or (0, 0))[1])

    @property
    def state(self) -> AppState:
        """The newest snapshot."""
        return self.controller.snapshot()


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sitting]:
    load()
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
        sitting = Sitting(tmp_path, server, screen)
        with over(sitting.app, screen, monkeypatch):
            yield sitting
        sitting.stop()
    assert not screen.failures


def test_a_harvest_is_previewed_unticked_edited_applied_and_taken_back_with_the_mouse(
    sitting: Sitting, screen: Screen
) -> None:
    person = sitting.driver
    sitting.sees("Tides")
    person.key("Ctrl+5")
    sitting.ends(lambda s: s.harvest.looked_at is not None)
    sitting.sees("1 to read, 1 in use")
    assert sitting.server.bodies == []
    screen.check()

    sitting.server.replies.append(said(FOUND))
    sitting.sees("Preview 1 conversation")
    person.click("Preview 1 conversation")
    sitting.ends(lambda s: s.harvest.preview is not None)
    sitting.sees("3 of 3 ticked")
    sitting.sees("What happens to the conversations")
    screen.check()
    choice = person.find("What happens to the conversations", kind=Combo)
    assert isinstance(choice, Combo)
    assert choice.text() == "Choose one"
    person.click(choice)
    sitting.sees("Move the conversations to the trash, but keep imported ones")
    person.click("Move the conversations to the trash, but keep imported ones")
    sitting.sees("Write 3 items, move 1 conversation to the trash.")
    until(sitting.controller, lambda s: s.config.settings.knowledge.after_harvest == "trash")
    screen.check()
    assert item_lines(sitting.home) == []

    person.click(sitting.tipped("Write this item", Checkbox)[1])
    sitting.sees("2 of 3 ticked")
    person.click(sitting.tipped("Edit the text", Button)[2])
    editor = person.find("Text", kind=Editor)
    assert isinstance(editor, Editor)
    person.until(lambda: editor.is_active)
    person.click(editor)
    person.key("Ctrl+A")
    person.type("Six hours are good enough.")
    person.key("Ctrl+Enter")
    sitting.sees("Six hours are good enough.")
    sitting.sees("changed")
    screen.check()

    assert not digest_file(sitting.home).exists()
    person.click("Apply")
    sitting.ends(lambda s: s.harvest.report is not None)
    assert digest_file(sitting.home).exists()
    sitting.sees("2 items written")
    sitting.sees("1 fact · 1 decision")
    screen.check()
    facts, decisions = (
        (paths.knowledge_dir(sitting.home) / name).read_text(encoding="utf-8")
        for name in ("facts.md", "decisions.md")
    )
    assert "- Tides follow the moon. [from: 2026-10-01-tides, " in facts
    assert "flat" not in facts
    assert "- Six hours are good enough. — It is simple. [from: 2026-10-01-tides, " in decisions
    assert sitting.old not in sitting.state.discussions.summaries

    person.click("Undo last harvest")
    sitting.ends(lambda s: s.harvest.undone is not None)
    sitting.sees("Undone")
    sitting.sees("The undo removed 2 lines · 1 conversation is back")
    until(sitting.controller, lambda s: sitting.old in s.discussions.summaries)
    assert item_lines(sitting.home) == []
    assert not digest_file(sitting.home).exists()
    sitting.sees("undone ")
    screen.check()


def test_a_setting_typed_in_the_panel_is_kept_and_looked_with_at_once(
    sitting: Sitting, screen: Screen
) -> None:
    person = sitting.driver
    sitting.sees("Tides")
    person.key("Ctrl+5")
    sitting.ends(lambda s: s.harvest.looked_at is not None)
    sitting.sees("1 to read")

    person.click("Choose the model, the conversations to skip, and other folders")
    sitting.sees("Skip if changed within (days)")
    person.click(person.find("Skip if changed within (days)", kind=Field))
    person.key("Ctrl+A")
    person.type("2000")
    person.key("Enter")
    until(sitting.controller, lambda s: s.config.settings.knowledge.live_days == 2000)
    sitting.driver.step()
    sitting.ends(lambda s: all(one.kind is ArtifactClass.LIVE for one in s.harvest.look.artifacts))
    person.click("Back")
    sitting.sees("2 in use")
    sitting.sees("all unread conversations changed within")
    screen.check()
    assert "live_days = 2000" in sitting.config.read_text(encoding="utf-8")


def test_what_is_pasted_into_the_words_of_an_item_is_kept(sitting: Sitting, screen: Screen) -> None:
    person = sitting.driver
    sitting.sees("Tides")
    person.key("Ctrl+5")
    sitting.ends(lambda s: s.harvest.looked_at is not None)
    sitting.server.replies.append(said(FOUND))
    sitting.sees("Preview 1 conversation")
    person.click("Preview 1 conversation")
    sitting.ends(lambda s: s.harvest.preview is not None)
    sitting.sees("3 of 3 ticked")
    person.click(sitting.tipped("Edit the text", Button)[2])
    editors = [
        editor for editor in person.visible() if isinstance(editor, Editor) and editor.key in ("head", "body")
    ]
    head, body = sorted(editors, key=lambda editor: editor.key != "head")
    person.until(lambda: head.is_active)
    person.key("Ctrl+A")
    person.paste("Die Flut kommt — 潮 — alle sechs Stunden.")
    assert head.text == "Die Flut kommt — 潮 — alle sechs Stunden."
    person.key("Tab")
    person.until(lambda: body.is_active, "the next field")
    person.key("Ctrl+A")
    words = " ".join(f"Reason {number} of many." for number in range(400))
    person.paste(words)
    assert body.text == words
    screen.check()
    person.key("Ctrl+Enter")
    sitting.ends(lambda s: s.harvest.preview is not None)
    sitting.sees("changed")
    until(
        sitting.controller,
        lambda s: (
            s.harvest.preview is not None and any("潮" in one.item.head for one in s.harvest.preview.items)
        ),
    )
    preview = sitting.state.harvest.preview
    assert preview is not None
    assert any(one.item.body == words for one in preview.items)
