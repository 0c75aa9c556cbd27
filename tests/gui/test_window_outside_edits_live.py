"""Items and facts that an editor saves while their panel is open: the whole program, real files, a real watcher."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.facts import Fact, FactCategory, Quote
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus, NewItem, Provenance
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.facts.fact_checks import new_file, place_of
from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.ledger import timestamp
from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.app import LastLook, WindowApp
from gui.driver import Driver
from gui.markdown.document import load
from tests.core.app.programs import until
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees

pytestmark = pytest.mark.gui

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ASK, QUOTE = "Ask Ana about the gauge by the gate", "Ana knows the gauge."
MOON, SUN = "The moon makes the tides.", "The sun helps."


def facts_file(*texts: str, confidence: float = 0.7, domain: str = "tides") -> str:
    """A file of facts of a repository, as the program writes it."""
    place = place_of(f"repos/{domain}.yaml")
    assert place is not None
    items = [
        item_text(Fact(f"{domain}:fact:{n:03d}", text, FactCategory.FACT, domain, confidence, ("sea",)))
        for n, text in enumerate(texts, 1)
    ]
    return f"{new_file(place, '2026-11-23')}\n## Facts\n\n{''.join(items)}"


def saved_by_rename(path: Path, text: str) -> None:
    """Save a file as most editors do: a new one takes the old one's place."""
    beside = path.with_name(f"{path.name}~")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    knowledge = tmp_path / "home" / "knowledge"
    (knowledge / "repos").mkdir(parents=True)
    with begin_apply(knowledge.parent, NOW, seed="seed") as apply:
        origin = Provenance("2026-11-20-sky", "2026-11-20")
        item = NewItem(Category.FACTS, ASK, provenance=origin, quote=Quote(("m1",), QUOTE))
        entry = HarvestLedgerEntry("a" * 64, "/p/sky.md", LedgerStatus.HARVESTED, timestamp(NOW))
        apply.append([item], entry)
        finish_apply(apply, makes_digest=False)
    (knowledge / "repos" / "tides.yaml").write_text(facts_file(MOON, SUN), encoding="utf-8")
    return knowledge


@pytest.fixture
def person(folder: Path, screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """A person with the Knowledge panel open."""
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "project").mkdir()
    options = OutsideOptions(home=tmp_path / "home", start=tmp_path / "project", watches=True)
    controller = AppController(LocalOutside(options))
    controller.start()
    until(controller, lambda s: bool(s.config.providers) and bool(s.knowledge.facts.facts))
    controller.send(CreateDiscussion("Sky", "embedded"))
    until(controller, lambda s: bool(s.discussions.selected_id))
    app = WindowApp(LastLook(), lambda: controller)
    with over(app, screen, monkeypatch):
        driver = screen.driver
        driver.until(lambda: driver.has("Sky"), "the window over the program")
        driver.key("Ctrl+3")
        sees(driver, ASK)
        yield driver
    controller.stop()
    assert not screen.failures


def test_facts_edited_in_an_editor_are_shown_by_themselves_however_they_were_saved(
    person: Driver, folder: Path, screen: Screen
) -> None:
    path = folder / "repos" / "tides.yaml"
    person.click("Structured facts")
    sees(person, MOON)
    path.write_text(facts_file("The moon pulls twice a day.", SUN), encoding="utf-8")
    sees(person, "The moon pulls twice a day.")
    assert not person.has(MOON)

    saved_by_rename(path, facts_file("Renamed into place.", SUN))
    sees(person, "Renamed into place.")
    saved_by_rename(path, facts_file("Renamed into place.", "The sun helps less.", confidence=0.95))
    sees(person, "The sun helps less.")
    sees(person, "0.95")

    (folder / "repos" / "docks.yaml").write_text(facts_file("A dock is dry.", domain="docks"), "utf-8")
    sees(person, "A dock is dry.")
    path.unlink()
    person.until(lambda: not person.has("Renamed into place."), "the facts of a deleted file to go")
    screen.check()


def test_a_dialog_on_a_fact_tells_the_words_that_an_editor_saves(person: Driver, folder: Path) -> None:
    path = folder / "repos" / "tides.yaml"
    person.click("Structured facts")
    sees(person, MOON)
    person.click("Why the model knows tides:fact:001")
    sees(person, "Why the model knows this")
    saved_by_rename(path, facts_file("The moon pulls.", SUN))
    person.until(lambda: not person.has(MOON), "the words of before to leave dialog and list")
    assert person.has("The moon pulls.")


def test_a_dialog_on_an_item_tells_the_words_that_an_editor_saves_and_says_when_it_is_gone(
    person: Driver, folder: Path, screen: Screen
) -> None:
    path = folder / "facts.md"
    person.click("Why the model knows this")
    sees(person, QUOTE)
    saved_by_rename(path, path.read_text("utf-8").replace(ASK, "Ask Ben about the gauge by the gate"))
    sees(person, "in its file, outside the program")
    assert person.has(QUOTE), "it stands on what it stood on before"

    path.write_text("# Facts\n", encoding="utf-8")
    sees(person, "The file no longer holds this item as shown here.")
    screen.check()
