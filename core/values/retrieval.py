"""Retrieval as values: chunks, what is asked, what is found, and the state that front ends read."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.values.curation import LineRange


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
        heading: the section, symbol or speaker that it stands under; text: what is shown and embedded below it.
        before, after: text around it that keywords are looked for in, too.
        date: ISO 8601 day, empty where nobody says.
    """

    kind: ChunkKind
    lines: LineRange
    text: str
    heading: str = ""
    before: str = ""
    after: str = ""
    date: str = ""


class SourceHead(msgspec.Struct, frozen=True, gc=False):
    """What is known of a source as a whole: from its front matter, first lines and name.

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
    """A further passage of a source that was found."""

    lines: LineRange
    heading: str
    score: float


class Hit(msgspec.Struct, frozen=True):
    """A source that was found, by its best passage.

    Args:
        path: relative to the project, below `<home>` for knowledge, the id of a discussion; title: what a person calls it.
        keyword, vector: each retriever's normalised score, -1 where it did not find the passage; score: of both.
        also: up to two further passages of the source.
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


class SearchAnswer(msgspec.Struct, frozen=True):
    """Hits, best first, and how they came about.

    Args:
        degraded: less than was configured answered; reason: why, in a sentence; remedy: what mends it.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    mode: SearchMode = SearchMode.HYBRID
    degraded: bool = False
    reason: str = ""
    remedy: str = ""
    took_s: float = 0.0
