"""The tour's retrieval: switched on, a question in other words, a name, and the answer while the model of meanings is away."""

from __future__ import annotations

from pathlib import Path

from core.base import figures
from core.base.disk import write_file
from core.values.retrieval import Retriever, SearchAnswer, SearchHit
from core.values.state import AppState
from gui.tour_walk import Tour, TourError

FOLDER = "notes"
NOTES = {
    "sea/surge.md": "# When a gale piles up the water\n\n**Tags:** sea\n**Date:** 2026-03-02\n\n"
    "Strong onshore wind lifts the level at the quay well above the printed table. The calculation knows only sun and moon.\n",
    "sea/gauge.md": "# Instruments at the pier\n\n**Tags:** instruments\n\n"
    "The float gauge KX-4711 was replaced in spring. Its successor sends a reading every minute.\n",
    "office/printing.md": "# Printing the almanac\n\n**Tags:** office\n\nPaper of 90 grams, two columns, Friday before the new year.\n",
    "office/rota.md": "# Who is on duty\n\n**Tags:** office\n\nTwo people a week; the list hangs beside the door of the harbour office.\n",
    "code/epoch.md": "# Why everything starts in 1992\n\n**Tags:** code\n\nPhases count from that first of January, as in the tables that we were given.\n",
}
MEANT, MEANT_NOTE = "storm flooding nobody predicted", "When a gale piles up the water"
NAMED, NAMED_NOTE = "kx 4711", "Instruments at the pier"
RUN_S = 120.0


def retrieval(tour: Tour, project: Path) -> None:
    """Walk through it, in the panel."""
    for name, text in NOTES.items():
        path = project / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text.encode())
    _switch_on(tour, project)
    answer = _ask(tour, MEANT, "search-by-meaning")
    _require(answer, MEANT_NOTE, Retriever.VECTOR, not_by=Retriever.KEYWORD)
    answer = _ask(tour, NAMED, "search-by-name")
    _require(answer, NAMED_NOTE, Retriever.KEYWORD)
    _look_at_index(tour)


def _switch_on(tour: Tour, project: Path) -> None:
    driver = tour.driver
    driver.key("Ctrl+6")
    driver.until(lambda: driver.has("Search is off in this project"), "the panel")
    driver.until(lambda: tour.state.retrieval.preview is not None, "what would be read")
    driver.click("Add a folder of notes")
    driver.type(FOLDER)
    driver.key("Enter")
    tour.wait(lambda s: s.config.settings.retrieval.roots == (FOLDER,), "the folder of notes")
    driver.step(4)
    tour.shot("retrieval-off")
    driver.click("Switch on for this project")
    took = tour.wait(_is_indexed, "the index", RUN_S)
    report = tour.state.retrieval.report
    assert report is not None
    said = f"{figures.count(sum(one.chunks for one in report.counts), 'passage')}, {figures.count(report.vectors, 'vector')}"
    tour.say(f"{took:7.2f} s  retrieval: switched on for this project, {said}")
    router = project / FOLDER / "index.md"
    tour.say(f"          the notes' router: {router.name}, {router.stat().st_size:,} bytes")
    tour.dismiss_notices()


def _is_indexed(state: AppState) -> bool:
    return state.retrieval.indexed_at is not None and state.retrieval.progress is None


def _ask(tour: Tour, query: str, name: str) -> SearchAnswer:
    """Type a question into the box; the answer, once it is there."""
    driver = tour.driver
    driver.click("Search in your own words")
    driver.key("Ctrl+a")
    driver.type(query)
    driver.key("Enter")
    took = tour.wait(
        lambda s: s.retrieval.answer is not None and s.retrieval.answer.query == query, "the answer"
    )
    answer = tour.state.retrieval.answer
    assert answer is not None
    driver.step(4)
    best = _line(answer.hits[0]) if answer.hits else "nothing"
    tour.say(f"{took:7.2f} s  search {query!r}: {best}")
    tour.shot(name)
    return answer


def _line(hit: SearchHit) -> str:
    by = " and ".join(one.value for one in hit.found_by)
    return (
        f"{hit.title!r} {hit.score:.2f} (keyword {hit.keyword:.2f}, vector {hit.vector:.2f}, found by {by})"
    )


def _require(answer: SearchAnswer, title: str, by: Retriever, *, not_by: Retriever | None = None) -> None:
    best = answer.hits[0] if answer.hits else None
    if best is None or best.title != title or by not in best.found_by or not_by in best.found_by:
        raise TourError(f"The search for {answer.query!r} found something else", remedy=repr(best))


def _look_at_index(tour: Tour) -> None:
    driver = tour.driver
    driver.click("Index")
    driver.until(lambda: driver.has("Index files of your notes"), "the index")
    tour.wait(lambda s: s.retrieval.navigation is not None, "the check of index files")
    driver.step(4)
    tour.shot("retrieval-index")
