"""Retrieval as values: chunks, what is asked, what is found, and the state that front ends read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.values.curation import LineRange


class Corpus(StrEnum):
    """Corpus that a chunk belongs to, as a person names it."""

    NOTES = "notes"
    KNOWLEDGE = "knowledge"
    DISCUSSIONS = "discussions"
    PROJECT = "project"


class ChunkKind(StrEnum):
    """Kind of a chunk's text: it says how far vectors are trusted over keywords."""

    CODE = "code"
    PROSE = "prose"
    CONVERSATION = "conversation"
    KNOWLEDGE = "knowledge"


class Retriever(StrEnum):
    """Retriever that found a passage."""

    KEYWORD = "keyword"
    VECTOR = "vector"
    NAVIGATION = "navigation"


class SearchMode(StrEnum):
    """Mode in which a search was answered."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    NAVIGATION_ONLY = "degraded_navigation_only"
    OFF = "off"


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """A passage as it is indexed.

    Args:
        lines: of the file; for a turn, its number in the conversation, counted from 1.
        heading: the section, symbol or role that it stands under; text: what is shown and embedded below it.
        before, after: text around it that keywords are looked for in, too; of a turn `after` is the beginning of the next one.
        date: ISO 8601 day, empty where nobody says.
        speaker: name before a turn in a talk of several people (`core.retrieval.chunker.speakers_of`), empty elsewhere.
    """

    kind: ChunkKind
    lines: LineRange
    text: str
    heading: str = ""
    before: str = ""
    after: str = ""
    date: str = ""
    speaker: str = ""


class SourceHead(msgspec.Struct, frozen=True, gc=False):
    """Head of a source, what is known of it as a whole: from its front matter, first lines and name.

    Args:
        tags: in lower case; date: ISO 8601 day, empty where nobody says; description: one sentence.
    """

    title: str = ""
    tags: tuple[str, ...] = ()
    date: str = ""
    description: str = ""


class SearchFilters(msgspec.Struct, frozen=True):
    """Filters that narrow a search. Empty fields let everything through.

    Args:
        folder: POSIX path, everything below it; tag: one of a source's; after, before: ISO 8601 days, both included.
        but: paths of sources that are left out, such as the discussion that asks.
    """

    corpora: tuple[Corpus, ...] = ()
    folder: str = ""
    tag: str = ""
    after: str = ""
    before: str = ""
    but: tuple[str, ...] = ()


class Passage(msgspec.Struct, frozen=True):
    """A further passage of a source that was found.

    Args:
        date: its own day, ISO 8601, empty where it has none; newer: place of the passage that took its place, empty for none.
    """

    lines: LineRange
    heading: str
    score: float
    text: str = ""
    date: str = ""
    newer: str = ""


class SearchHit(msgspec.Struct, frozen=True):
    """A source that was found, by its best passage.

    Args:
        path: below `scope`, for knowledge below its folder, the id of a discussion; title: what a person calls it.
        keyword, vector: each retriever's normalised score, -1 where it did not find the passage; score: of both.
        also: up to three further passages of the source; cosine: of its vector and the query's, on the scale of
            the model that comes with the program (`core.retrieval.nearness`), -1 where there is none.
        scope: the absolute folder that it counts in, empty for what belongs to the home.
        reply: beginning of the turn after it, where the passage is a person's turn in a discussion.
        newer: place of a newer passage that says the like, which stands before it; empty where there is none.
        speaker: name before a turn in a talk of several people, empty elsewhere.
    """

    corpus: Corpus
    kind: ChunkKind
    path: str
    title: str
    lines: LineRange
    heading: str
    text: str
    score: float
    keyword: float = -1.0
    vector: float = -1.0
    found_by: tuple[Retriever, ...] = ()
    date: str = ""
    tags: tuple[str, ...] = ()
    also: tuple[Passage, ...] = ()
    cosine: float = -1.0
    scope: str = ""
    reply: str = ""
    newer: str = ""
    speaker: str = ""


class SearchAnswer(msgspec.Struct, frozen=True):
    """Hits, best first, and how they came about.

    Args:
        degraded: less than was configured answered; reason: why, in a sentence; remedy: what mends it.
        is_of_this_machine: its index answered in place of a server's; needs_run: an indexing run would let it know more.
    """

    query: str
    hits: tuple[SearchHit, ...] = ()
    mode: SearchMode = SearchMode.HYBRID
    degraded: bool = False
    reason: str = ""
    remedy: str = ""
    took_s: float = 0.0
    is_of_this_machine: bool = False
    needs_run: bool = False


class EmbeddingServer(msgspec.Struct, frozen=True):
    """A server that makes vectors: id of its provider, name of its model, components of a vector.

    `is_limited`: a limit of money holds, so that a price that nobody knows counts as one.
    """

    provider: str
    model: str
    dimension: int
    is_limited: bool = False


class AskedPlaces(msgspec.Struct, frozen=True):
    """Places as settings and project name them, before any of them was looked at.

    Args:
        roots: folders of notes, relative to `project` or absolute; project: absolute root, empty for none.
        allowed: absolute folders outside of it that count, too; corpora: those that are switched on.
        tag_fields, date_fields: names under which notes say their tags and their date.
        server: PostgreSQL that holds the index, too; empty for none.
        embedder: None for the model that comes with the program.
        shown: places that the person said hold no keys, absolute, links resolved.
    """

    roots: tuple[str, ...] = ()
    project: str = ""
    allowed: tuple[str, ...] = ()
    corpora: tuple[Corpus, ...] = ()
    tag_fields: tuple[str, ...] = ("tags",)
    date_fields: tuple[str, ...] = ("date", "data")
    server: str = ""
    embedder: EmbeddingServer | None = None
    shown: tuple[str, ...] = ()


class SearchPlaces(msgspec.Struct, frozen=True):
    """Places that are searched for one project, links resolved and judged.

    Args:
        notes: absolute folders; project: absolute, empty for none; corpora: those that are switched on.
        problems: folders that are named and do not count, in sentences.
        shown: as in `AskedPlaces`: files of keys stay out of the index, but for those.
    """

    notes: tuple[str, ...] = ()
    project: str = ""
    corpora: tuple[Corpus, ...] = ()
    problems: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """Folders whose files are searched, beside the home's own."""
        return (*self.notes, self.project) if self.project else self.notes


class IndexProgress(msgspec.Struct, frozen=True):
    """Progress of a run. `doing`: the file in work; vectors: chunks that have got theirs, of `bare` that have none."""

    files: int = 0
    total: int = 0
    vectors: int = 0
    bare: int = 0
    doing: str = ""


class CorpusCount(msgspec.Struct, frozen=True):
    """Content of the index for a corpus: files, chunks, and chunks without a vector."""

    corpus: Corpus
    files: int = 0
    chunks: int = 0
    bare: int = 0


class IndexReport(msgspec.Struct, frozen=True):
    """Outcome of a run.

    Args:
        passed_over: files that gave nothing, or not all of what they are, with the reason; no_vectors: why vectors are missing, empty where none are.
        stopped: it was cancelled, and goes on where it was with the next one.
        server: why the index on the server is behind, empty where it is not.
        is_part: it looked at some corpora alone, for their files had changed; counts are of all.
        left_out: files in the folders of notes that are no notes, by the ending of their names, most first; None where it did
            not look there.
    """

    read: int = 0
    unchanged: int = 0
    removed: int = 0
    vectors: int = 0
    passed_over: tuple[tuple[str, str], ...] = ()
    no_vectors: str = ""
    counts: tuple[CorpusCount, ...] = ()
    stopped: bool = False
    server: str = ""
    is_part: bool = False
    left_out: tuple[tuple[str, int], ...] | None = None


class MemoryToolAnswer(msgspec.Struct, frozen=True):
    """Answer of a tool of memory, for a model."""

    text: str
    is_error: bool = False


class SourcesPreview(msgspec.Struct, frozen=True):
    """Files that would be read if every corpus were on, as they were found. `places`: the same, judged."""

    places: SearchPlaces
    counts: tuple[CorpusCount, ...] = ()


class Router(msgspec.Struct, frozen=True):
    """The first index file of a folder of notes, which says which folder holds what.

    Args:
        path: absolute; text: as a model reads it, without the marker.
    """

    path: str
    text: str


class NavigationReport(msgspec.Struct, frozen=True):
    """Index files of notes as a check found them. Paths are absolute.

    Args:
        fresh: how many say what they list; stale: those that do not, or are missing.
        orphans: made by us, for a folder that has no notes or is not searched any more; own: a person's, left alone.
        problems: what could not be looked at or mended, in sentences; routers: of the first folders of notes.
    """

    fresh: int = 0
    stale: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    routers: tuple[Router, ...] = ()


ANSWERS_KEPT = 16
"""Answers that are kept for those who wait for them: many programs may ask at once."""


class RetrievalState(msgspec.Struct, frozen=True):
    """Search and its index as front ends read them.

    Args:
        asked: what is searched, None while retrieval is off here; places: the same once it was looked at.
        progress: of the run under way, None for none; is_paused: it waits; report: of the last one that ended.
        answer: to the last question, None before one; is_searching: an answer is under way.
        answers: to questions that somebody waits for, by the command's id, the newest first, `ANSWERS_KEPT` at most.
        tool_answer: of the tool of memory that was used last.
        problem, remedy: why the index cannot be kept, empty where it can.
        indexed_at: when a run came to its end last, None before one.
        preview: what would be read, None before a look; navigation: index files of notes, None before a check.
        folders: absolute, whose files are searched: a change in one calls for another run.
        is_stopped: a person stopped the run; changes begin none until one is asked for.
        recall_problems: why less went along with a discussion's last message than is configured, by its id.
    """

    asked: AskedPlaces | None = None
    places: SearchPlaces | None = None
    progress: IndexProgress | None = None
    is_paused: bool = False
    report: IndexReport | None = None
    answer: SearchAnswer | None = None
    answers: tuple[tuple[str, SearchAnswer], ...] = ()
    is_searching: bool = False
    tool_answer: MemoryToolAnswer | None = None
    problem: str = ""
    remedy: str = ""
    indexed_at: datetime | None = None
    preview: SourcesPreview | None = None
    navigation: NavigationReport | None = None
    folders: tuple[str, ...] = ()
    is_stopped: bool = False
    recall_problems: Mapping[str, str] = msgspec.field(default_factory=dict)

    def answer_to(self, command_id: str) -> SearchAnswer | None:
        """Answer to the question of a command; None if a later question has replaced it."""
        return next((answer for asked, answer in self.answers if asked == command_id), None)


# Ambient recall as values: what may be recalled for a message, what was, and why.


class RecallSpec(msgspec.Struct, frozen=True):
    """Limits of what is recalled for a message.

    Args:
        asked: the places that are searched; tokens: most of the block.
        kept_out: names of sources (`RecalledPassage.source`) that the person keeps out, once or for good.
    """

    asked: AskedPlaces
    tokens: int = 800
    kept_out: tuple[str, ...] = ()


class RecallQuestion(msgspec.Struct, frozen=True):
    """A question that recall answers.

    Args:
        text: the person's message; discussion_id: the one that asks, never an answer itself.
        told: what the model is told anyway (the digest, and what was said: a branch's beginning is its parent's, too), not
            told twice.
    """

    text: str
    discussion_id: str
    spec: RecallSpec
    told: str = ""


class RecalledPassage(msgspec.Struct, frozen=True, gc=False):
    """A passage that goes with a message.

    Args:
        source: name by which it is kept out; place: file and lines; why: in words; date: ISO 8601 day or empty.
        words: those that go along.
    """

    source: str
    corpus: Corpus
    place: str
    title: str
    why: str
    date: str = ""
    score: float = 0.0
    words: str = ""


class Recalled(msgspec.Struct, frozen=True):
    """Recall for a message.

    Args:
        text: inside of the block `{rag-context}`, empty where nothing fits; tokens_est: of it.
        problem: why less was asked than is configured, in a sentence, empty where all was.
    """

    text: str = ""
    passages: tuple[RecalledPassage, ...] = ()
    tokens_est: int = 0
    problem: str = ""


class SentRecall(msgspec.Struct, frozen=True):
    """Recall that went out with a message. `words`: the message's beginning, one line."""

    discussion_id: str
    message_id: str
    at: datetime
    words: str
    passages: tuple[RecalledPassage, ...]
    tokens_est: int = 0
