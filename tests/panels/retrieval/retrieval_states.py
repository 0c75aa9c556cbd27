"""States of retrieval: off, indexed, running, degraded, and what went with messages."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    AskedPlaces,
    ChunkKind,
    Corpus,
    CorpusCount,
    IndexProgress,
    IndexReport,
    NavigationReport,
    Passage,
    RecalledPassage,
    RetrievalState,
    Retriever,
    Router,
    SearchAnswer,
    SearchHit,
    SearchMode,
    SearchPlaces,
    SentRecall,
    SourcesPreview,
)
from core.kernel.values.settings import RetrievalSettings
from core.kernel.values.state import AppState
from tests.panels import states
from tests.state_fields import with_fields

ROOT = "/home/person/work/cachelab"
NOTES = f"{ROOT}/notes"
BOTH = (Retriever.KEYWORD, Retriever.VECTOR)
ASKED = AskedPlaces(("notes",), ROOT, corpora=(Corpus.NOTES, Corpus.KNOWLEDGE, Corpus.DISCUSSIONS))
PLACES = SearchPlaces((NOTES,), "", ASKED.corpora)
COUNTS = (
    CorpusCount(Corpus.NOTES, 42, 1_180, 12),
    CorpusCount(Corpus.KNOWLEDGE, 7, 96),
    CorpusCount(Corpus.DISCUSSIONS, 310, 9_402),
)
SEEN = (
    CorpusCount(Corpus.NOTES, 42),
    CorpusCount(Corpus.KNOWLEDGE, 7),
    CorpusCount(Corpus.DISCUSSIONS, 310),
    CorpusCount(Corpus.PROJECT, 1_204),
)
REPORT = IndexReport(3, 356, 1, 40, (("notes/huge.md", "the file has 90,000,000 bytes"),), counts=COUNTS)
SURGE = SearchHit(
    Corpus.NOTES, ChunkKind.PROSE, "sea/surge.md", "Storm surge", LineRange(3, 9), "What pushes the water up",
    "A gale pushes the sea against the coast, and the water climbs above the table. " * 6,
    0.87, 0.61, 0.92, BOTH, "2026-06-01", ("sea",), (Passage(LineRange(12, 20), "At the harbour", 0.71),), 0.66, NOTES,
)  # fmt: skip
TALK = SearchHit(
    Corpus.DISCUSSIONS, ChunkKind.CONVERSATION, "d2", "", LineRange(4, 4), "You", "Why did the harbour flood that night?",
    0.55, -1.0, 0.55, (Retriever.VECTOR,), "2026-10-02", scope="",
)  # fmt: skip
KNOWN = SearchHit(
    Corpus.KNOWLEDGE, ChunkKind.KNOWLEDGE, "decisions.md", "decisions", LineRange(7, 7), "", "The gauge of pier K7 counts.",
    0.5, 0.5, -1.0, (Retriever.KEYWORD,),
)  # fmt: skip
ANSWER = SearchAnswer("why did the harbour flood", (SURGE, TALK, KNOWN), took_s=0.02)
DEGRADED = replace(
    ANSWER,
    hits=(KNOWN,),
    mode=SearchMode.KEYWORD,
    degraded=True,
    reason="The embedding model needed more than 2 s",
    remedy="Try again",
)
PASSAGE = RecalledPassage(
    "discussions:d2",
    Corpus.DISCUSSIONS,
    "Harvest worker, and its design, message 4",
    "Harvest worker design",
    "the passage contains harbour, flood",
    "2026-10-02",
    0.7,
)
SENT = SentRecall("d1", "m1", states.NOW - timedelta(minutes=4), "Why did it flood?", (PASSAGE,), 210)
ROUTER = Router(
    f"{NOTES}/index.md",
    "# notes\n\n42 notes here and below.\n\n## Folders\n\n- [sea/](sea/index.md): 12 notes; tags: sea, weather; "
    "notes: Instruments at the pier, Storm surge\n- [office/](office/index.md): 30 notes; tags: office\n",
)
NAVIGATION = NavigationReport(
    5,
    (f"{NOTES}/sea/index.md",),
    (f"{ROOT}/old/index.md",),
    (f"{NOTES}/own/index.md",),
    routers=(ROUTER, Router("/home/person/shared/talks of all of us/index.md", "# talks\n")),
)


def with_retrieval(
    retrieval: RetrievalState, *, sent: tuple[SentRecall, ...] = (), **settings: object
) -> AppState:
    """A normal day with retrieval as it is said."""
    state = states.working()
    changed = replace(state.config.settings, retrieval=RetrievalSettings(**settings))  # type: ignore[arg-type]
    return with_fields(replace(state, retrieval=retrieval), settings=changed, sent_recall=sent)


def off() -> AppState:
    """Not switched on; what would be read is known, and one folder does not count."""
    problem = "../secrets: it is outside the project and its allowed roots; add it to `allowed_roots`"
    places = SearchPlaces((NOTES,), ROOT, tuple(Corpus), (problem,))
    return with_retrieval(RetrievalState(preview=SourcesPreview(places, SEEN)), roots=("notes", "../secrets"))


def indexed(**changes: object) -> AppState:
    """Switched on and up to date."""
    made: dict[str, object] = {
        "asked": ASKED,
        "places": PLACES,
        "report": REPORT,
        "indexed_at": states.NOW - timedelta(minutes=9),
        "preview": SourcesPreview(PLACES, SEEN),
        "navigation": NAVIGATION,
    }
    retrieval = RetrievalState(**(made | changes))  # type: ignore[arg-type]
    kept_out = ("knowledge:concepts.md", "discussions:d5")
    return with_retrieval(
        retrieval, sent=(SENT,), enabled=True, roots=("notes",), ambient=True, kept_out=kept_out
    )


def running() -> AppState:
    """A first run is under way."""
    return indexed(
        report=None,
        indexed_at=None,
        navigation=None,
        progress=IndexProgress(12, 340, doing="sea/a long name of a note that nobody reads to its end.md"),
    )


def answered() -> AppState:
    """A question was answered."""
    return indexed(answer=ANSWER)


def degraded() -> AppState:
    """A question was answered by keywords alone."""
    return indexed(answer=DEGRADED, report=replace(REPORT, no_vectors="The embedding model failed"))


def faulty() -> AppState:
    """The index cannot be kept."""
    return indexed(
        problem="The program cannot use the search index: disk full",
        remedy="Delete the folder of the index; the program rebuilds it from the files",
    )
