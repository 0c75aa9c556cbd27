"""The Knowledge panel on the real window, over the whole program: real input, real files, a real watcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.app import LastLook, WindowApp
from gui.driver import Driver
from gui.markdown.document import load
from panels.knowledge.knowledge_room import KnowledgeView
from tests.core.app.programs import until
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees

pytestmark = pytest.mark.gui
TASKS = """# Tasks

My own words, which nobody touches.

## Open

- Measure the tide [from: 2026-11-20-sky, 2026-11-20]
- Ask Ana

## Done
"""


class Sitting:
    """A person at the window of a running program that knows something."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "home" / "knowledge"
        self.folder.mkdir(parents=True)
        (self.folder / "tasks.md").write_text(TASKS, encoding="utf-8")
        (base / "project").mkdir()
        options = OutsideOptions(home=base / "home", start=base / "project", watches=True)
        self.controller = AppController(LocalOutside(options))
        self.controller.start()
        self.until(
            lambda s: bool(s.config.providers) and not s.program.is_loading and bool(s.knowledge.categories)
        )
        self.controller.send(CreateDiscussion("Sky", "embedded"))
        self.until(lambda s: bool(s.discussions.selected_id))
        self.app = WindowApp(LastLook(), lambda: self.controller)

    def until(self, holds: Callable[[AppState], bool]) -> AppState:
        """Wait for the program."""
        return until(self.controller, holds)

    def sit(self, driver: Driver) -> None:
        """Open the panel with the keyboard."""
        self.driver = driver
        driver.until(lambda: driver.has("Sky"), "the window over the program")
        driver.key("Ctrl+3")
        self.sees("Ask Ana")

    def sees(self, text: str) -> None:
        """Wait for a text on the screen."""
        sees(self.driver, text)

    def reads(self, name: str, holds: Callable[[str], bool]) -> str:
        """Wait until a file reads like that."""
        path = self.folder / name

        def there() -> bool:
            return path.is_file() and holds(path.read_text(encoding="utf-8"))

        self.driver.until(there, f"{name} as expected")
        return path.read_text(encoding="utf-8")


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sitting]:
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
    sitting = Sitting(tmp_path)
    with over(sitting.app, screen, monkeypatch):
        sitting.sit(screen.driver)
        yield sitting
    sitting.controller.stop()
    assert not screen.failures


def test_a_tick_an_edit_and_a_new_item_reach_the_files(sitting: Sitting, screen: Screen) -> None:
    person = sitting.driver
    person.click("Done: Ask Ana")
    text = sitting.reads("tasks.md", lambda text: text.index("Ask Ana") > text.index("## Done"))
    assert "My own words, which nobody touches.\n" in text

    person.click("Edit", index=1)  # the first is the menu
    person.until(lambda: sitting.app.view.of(KnowledgeView).typing is not None, "the form")
    person.type(" again")
    person.key("Ctrl+Enter")
    sitting.sees("Measure the tide again")
    person.until(lambda: not sitting.app.view.of(KnowledgeView).edits, "the form to close")
    sitting.reads(
        "tasks.md", lambda text: "- Measure the tide again [from: 2026-11-20-sky, 2026-11-20]\n" in text
    )

    person.click("New fact")
    person.until(lambda: sitting.app.view.of(KnowledgeView).typing is not None, "the form")
    person.type("the moon pulls")
    person.click("Add")
    sitting.sees("the moon pulls")
    person.until(lambda: not sitting.app.view.of(KnowledgeView).new, "the form to close")
    assert sitting.reads("facts.md", bool) == "# Facts\n\n- the moon pulls\n"
    screen.check()


def test_words_are_kept_when_the_file_changes_under_the_form(sitting: Sitting, screen: Screen) -> None:
    person = sitting.driver
    person.click("Edit", index=1)
    person.until(lambda: sitting.app.view.of(KnowledgeView).typing is not None, "the form")
    person.type(" today")

    changed = (sitting.folder / "tasks.md").read_text(encoding="utf-8").replace("Ask Ana", "Ask Ben")
    (sitting.folder / "tasks.md").write_text(changed, encoding="utf-8")

    sitting.sees("tasks.md has changed")
    sitting.sees("Ask Ana today")
    sitting.sees("Ask Ben")
    screen.check()
    person.click("Write a new open task")
    person.until(lambda: sitting.app.view.of(KnowledgeView).typing is not None, "the form")
    person.key("Ctrl+Enter")
    sitting.reads("tasks.md", lambda text: "- Ask Ana today\n" in text and "- Ask Ben\n" in text)


def test_the_digest_is_switched_on_and_off_and_rm_shows_by_itself(sitting: Sitting, screen: Screen) -> None:
    person, digest = sitting.driver, sitting.folder / "digest.md"
    sitting.sees("Knowledge is off")

    person.click("Regenerate digest")
    sitting.sees("Knowledge is on")
    person.click("Digest")
    sitting.sees(str(digest))
    screen.check()

    person.click("Turn off")
    sitting.sees("Knowledge is off")
    assert not digest.exists()

    person.click("Regenerate digest")
    sitting.sees("Knowledge is on")
    digest.unlink()
    sitting.sees("Knowledge is off")

    person.click("Regenerate digest")
    sitting.sees("Knowledge is on")
    person.click("Send the digest while digest.md exists")
    sitting.sees("The program does not send digest.md now")
    assert digest.is_file()
    assert sitting.controller.snapshot().config.settings.knowledge.digest_enabled is False


def test_an_item_is_deleted_after_a_yes(sitting: Sitting) -> None:
    person = sitting.driver
    person.click("Delete…")
    sitting.sees("Delete this item?")
    person.click("Delete item")

    text = sitting.reads("tasks.md", lambda text: "Ask Ana" not in text)
    assert "- Measure the tide" in text
    sitting.sees("Deleted: ")

    person.click("Undo")
    assert "Ask Ana" in sitting.reads("tasks.md", lambda text: "Ask Ana" in text)
