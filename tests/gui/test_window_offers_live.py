"""An export with memories on the real window: the dialog says what is offered, and a person's yes makes it known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gui.app import WindowApp
from tests.core.imports.test_export_knowledge import export
from tests.core.imports.test_memory import session
from tests.gui.conftest import Screen
from tests.gui.sitting import misfits, sees, watching
from tests.gui.test_window_unknown_price import seen

pytestmark = pytest.mark.gui


@pytest.fixture
def app(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowApp]:
    folder = export(tmp_path)
    (folder / "a.jsonl").write_text(session("When does the tide turn?", "At six.", key="a"))
    with watching(tmp_path, screen, monkeypatch) as app:
        yield app


def test_memories_of_an_export_wait_in_knowledge_and_are_added_by_a_person(
    app: WindowApp, screen: Screen, tmp_path: Path
) -> None:
    person = screen.driver
    program = app.controller
    assert program is not None
    sees(person, "Sky")
    person.click("File")
    person.click("Import a folder of conversations…")
    sees(person, "Cancel")
    person.type(f"{tmp_path}/")
    sees(person, "export")
    person.click("export")
    person.click("Choose")
    sees(person, "the import offers 4 proposals")
    assert misfits(screen, app) == []
    seen(screen, "a.png")
    person.click("Import")
    sees(person, "Add or refuse each proposal in Knowledge, Proposed.")
    assert misfits(screen, app) == []
    seen(screen, "b.png")
    person.click("Close")
    person.until(lambda: len(program.snapshot().proposals.waiting) == 4, "the proposals")

    person.key("Ctrl+3")
    sees(person, "Proposed")
    person.click("Proposed")
    sees(person, "An import (instructions of Pumps), ")
    assert misfits(screen, app) == []
    seen(screen, "c.png")
