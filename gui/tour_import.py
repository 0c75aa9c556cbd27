"""The tour's import: an export of another program becomes discussions, and a second import of it adds nothing."""

from __future__ import annotations

import json
from pathlib import Path

from core.base.disk import write_file
from core.base.figures import count
from gui.tour_walk import Tour, TourError

FOLDER = "old talks"
NAME = "Springs and neaps"
_SAID = (
    ("q1", "", "user", "Why are some tides higher than others?"),
    ("a1", "q1", "assistant", "Sun and moon pull together twice a month: spring tides."),
    ("q2", "a1", "user", "And in between?"),
    ("a2", "q2", "assistant", "They pull across each other: neap tides."),
    ("a3", "q2", "assistant", "Then the range is smallest, at the quarters of the moon: neap tides."),
)


def import_talk(tour: Tour, project: Path) -> None:
    """Choose a folder, see what it holds, import it, open it; then once more."""
    export = project / FOLDER / "conversations.json"
    export.parent.mkdir()
    write_file(export, json.dumps([_conversation()]).encode())
    driver, before = tour.driver, len(tour.state.discussions.summaries)
    _look(tour)
    report = tour.state.imports.report
    if report is None or report.new_count != 1:
        raise TourError("The import found no conversation", remedy=repr(report))
    tour.shot("import-preview")
    driver.click("Import 1 conversation")
    took = tour.wait(lambda s: len(s.discussions.summaries) == before + 2, "a discussion and its branch")
    tour.say(
        f"{took:7.2f} s  imported: {count(report.new_messages, 'message')}, and the reply that was replaced as a branch"
    )
    driver.until(lambda: driver.has("Show the discussion"), "the way to it")
    driver.click("Show the discussion")
    tour.wait(
        lambda s: (row := s.discussions.summaries.get(s.discussions.selected_id)) and row.meta.name == NAME,
        "the imported discussion",
    )
    driver.step(6)
    tour.shot("imported")
    _look(tour)
    report = tour.state.imports.report
    if report is None or report.new_count:
        raise TourError("A second import added something", remedy=repr(report))
    tour.say("          a second import of the same folder would add nothing")
    driver.click("Close")
    driver.until(lambda: not driver.has("nothing new"), "the dialog to close")
    tour.dismiss_notices()


def _look(tour: Tour) -> None:
    """A dry run over the folder."""
    driver = tour.driver
    driver.click("File")
    driver.until(lambda: driver.has("Import a folder of conversations…"), "the menu")
    driver.click("Import a folder of conversations…")
    driver.until(lambda: driver.has(FOLDER), "the chooser")
    driver.click(FOLDER)
    driver.step(4)
    driver.click("Choose")
    tour.wait(lambda s: s.imports.report is not None and not s.imports.is_running, "what the folder holds")
    driver.step(6)


def _conversation() -> dict[str, object]:
    """A conversation as ChatGPT exports it, with a reply that was replaced."""
    mapping = {
        key: {
            "id": key,
            "parent": parent or None,
            "message": {
                "author": {"role": role},
                "create_time": 1.76e9,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        for key, parent, role, text in _SAID
    }
    return {"id": "tour", "title": NAME, "create_time": 1.76e9, "current_node": "a3", "mapping": mapping}
