"""The Retrieval panel on a real window: it fits in every state, and a person switches it on, asks and takes a hit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel.values.curation import FileMode
from core.kernel.values.state import AppState
from panels.retrieval.retrieval_room import RetrievalView
from tests.core.app.programs import until
from tests.core.retrieval.test_navigation_worker import WordModel
from tests.gui.conftest import Screen
from tests.gui.sitting import misfits_of, sees, watching
from tests.panels.retrieval import retrieval_states as rs
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
STATES: dict[str, tuple[Callable[[], AppState], str]] = {
    "off": (rs.off, "search"),
    "running": (rs.running, "search"),
    "answered": (rs.answered, "search"),
    "degraded": (rs.degraded, "search"),
    "index": (rs.degraded, "index"),
    "faulty": (rs.faulty, "index"),
    "recall": (rs.indexed, "recall"),
}
SIZES = (((1600, 1000), 1.0), ((1280, 800), 1.0), ((1024, 700), 1.0), ((1024, 700), 2.0))


@pytest.mark.parametrize("name", sorted(STATES))
def test_every_state_fits(screen: Screen, name: str) -> None:
    make, tab = STATES[name]
    state = make()
    own = RetrievalView(
        tab=tab,
        are_filters_open=True,
        unfolded={("notes", rs.NOTES, "sea/surge.md"), ("router", rs.ROUTER.path, "")},
    )
    view = view_of(own, panel="retrieval")
    view.show_hub("retrieval")

    assert misfits_of(screen, state, view, SIZES) == []


def test_a_person_switches_it_on_asks_and_takes_a_hit_into_the_preset(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("core.app.outside.LocalEmbedder", WordModel)
    with watching(tmp_path, screen, monkeypatch) as app:
        project, controller, person = tmp_path / "project", app.controller, screen.driver
        assert controller is not None
        (project / "notes").mkdir()
        (project / "notes" / "surge.md").write_text(
            "# Storm surge\n\nA gale pushes the sea against the coast.\n"
        )

        person.key("Ctrl+6")
        sees(person, "Search is off in this project")
        person.click("Add a folder of notes")
        person.type("notes")
        person.key("Enter")
        until(controller, lambda s: s.config.settings.retrieval.roots == ("notes",))
        person.click("Turn search on in this project")
        until(controller, lambda s: s.retrieval.indexed_at is not None and s.retrieval.progress is None)
        screen.check()

        person.click("Search in your own words")
        person.type("gale coast")
        person.key("Enter")
        sees(person, "Storm surge")
        screen.check()
        person.key("End")
        person.type(" sea")
        person.key("Enter")
        until(
            controller,
            lambda s: s.retrieval.answer is not None and s.retrieval.answer.query == "gale coast sea",
        )
        screen.settle()
        before = controller.snapshot().retrieval.answer
        person.key("Enter")
        until(controller, lambda s: s.retrieval.answer is not before)
        assert (
            controller.snapshot().discussions.open[controller.snapshot().discussions.selected_id].draft.text
            == ""
        )
        person.click("Add lines 1 to 3 to a new preset")
        state = until(controller, lambda s: "default" in s.config.project.presets)
        (item,) = state.config.project.presets["default"].items
        assert (item.path, item.mode) == ("notes/surge.md", FileMode.SLICES)

        person.click("Index")
        sees(person, "1 up to date")
        while not person.has("Hide notes/index.md"):  # the run after a change moves the row under the pointer
            person.click("Read notes/index.md: a model sees this file first")
            screen.settle()
        sees(person, "A gale pushes the sea against the coast")
        screen.check()
        person.click("Add notes/index.md to “default”, so that a model without tools can read it")
        screen.settle()  # the button works once a frame shows that it does
        until(controller, lambda s: len(s.config.project.presets["default"].items) == 2)
        person.click("Turn off")
        until(controller, lambda s: s.retrieval.asked is None)
        sees(person, "Search is off in this project")
        screen.check()
        text = (project / "manual_slop.toml").read_text()
        assert "enabled = false" in text
        assert 'roots = ["notes"]' in text
