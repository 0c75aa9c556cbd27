"""What was said and what took its place, as discussions, notes, items and facts of one index."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchAnswer, SearchHit, SourceHead
from core.retrieval.chunker import embedded_text
from core.retrieval.embedding import instruction_of
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.remote_embedder import Embedder
from core.retrieval.search import SearchRequest, search
from tests.patience import PATIENCE_S

DATA = Path(__file__).parents[2] / "data" / "retrieval" / "updates.toml"
FORMS = ("discussions", "notes", "items", "facts")
DAYS = "2026-02-03", "2026-04-14", "2026-05-02"
LATER = DATA.with_name("later.toml")
Statements = Sequence[tuple[str, ...]]
"""What was said of one thing, as one statement a day."""


class Update(msgspec.Struct, frozen=True):
    """A statement and its successor, with a later one about another thing."""

    kind: str
    language: str
    old: str
    again: str
    new: str
    ask: str
    beside: str


class Later(msgspec.Struct, frozen=True):
    """A statement and what was said later of the same thing."""

    language: str
    old: str
    new: str
    ask: str
    takes_place: bool


class Seen(msgspec.Struct, frozen=True):
    """How an answer tells of an update: which came first, and whether the old one and the other thing are marked as older."""

    first: str
    is_old_marked: bool
    is_beside_taken: bool


def updates() -> tuple[Update, ...]:
    """All of the file."""
    return msgspec.convert(tomllib.loads(DATA.read_text("utf-8"))["changed"], tuple[Update, ...])


def later() -> tuple[Later, ...]:
    """All of the file."""
    return msgspec.convert(tomllib.loads(LATER.read_text("utf-8"))["pair"], tuple[Later, ...])


def made(folder: Path, form: str, known: Statements, model: Embedder | None) -> LocalStore:
    """An index with all statements in one form."""
    name, size = (model.name, model.dimension) if model else ("none", 8)
    store = LocalStore(folder, name, size)
    if form in {"items", "facts"}:
        _put_lines(store, form, known)
    else:
        _put_sources(store, form, known)
    while model and (bare := store.bare(64)):
        before = instruction_of(model.name).passage
        vectors = model.embed([before + embedded_text(chunk) for _, chunk in bare], timeout_s=PATIENCE_S)
        store.give({place: row.tobytes() for (place, _), row in zip(bare, vectors, strict=True)})
    store.note_whole()
    return store


def _put_lines(store: LocalStore, form: str, known: Statements) -> None:
    """Items of one category, facts of files by year: the older ones stand wherever."""
    is_facts = form == "facts"
    chunks = [
        Chunk(
            kind=ChunkKind.KNOWLEDGE,
            lines=LineRange(number, number),
            text=text,
            heading="world fact" if is_facts else "facts",
            date=day,
        )
        for number, (text, day) in enumerate(_dated(known), 1)
    ]
    path = "facts/world/facts.yaml" if is_facts else "facts.md"
    store.put(SourceKey(Corpus.KNOWLEDGE, "", path), SourceState("1", "1", SourceHead(title="facts")), chunks)


def _put_sources(store: LocalStore, form: str, known: Statements) -> None:
    is_note = form == "notes"
    for number, (text, day) in enumerate(_dated(known), 1):
        kind = ChunkKind.PROSE if is_note else ChunkKind.CONVERSATION
        chunk = Chunk(
            kind=kind,
            lines=LineRange(1, 1),
            text=text,
            heading=f"Log {number}" if is_note else "user",
            date="" if is_note else day,
        )
        key = SourceKey(
            Corpus.NOTES if is_note else Corpus.DISCUSSIONS, "/n" if is_note else "", f"{number}.md"
        )
        store.put(key, SourceState("1", "1", SourceHead(title=f"Log {number}", date=day)), [chunk])


def _dated(known: Statements) -> list[tuple[str, str]]:
    """All that was said first, then all that was said next."""
    said = zip(*known, strict=True)
    return [(text, day) for texts, day in zip(said, DAYS, strict=False) for text in texts]


CORPUS: Mapping[str, Corpus] = {
    "discussions": Corpus.DISCUSSIONS,
    "notes": Corpus.NOTES,
    "items": Corpus.KNOWLEDGE,
    "facts": Corpus.KNOWLEDGE,
}


def answered(store: LocalStore, form: str, question: str, model: Embedder | None) -> SearchAnswer:
    """The passages that answer a question, by evidence."""
    asked = SearchRequest(query=question, corpora=(CORPUS[form],), scopes=("/n",), count=10, by_evidence=True)
    return search(store, model, asked)


def seen(one: Update, answer: SearchAnswer) -> Seen:
    """What of an update an answer shows."""
    by_text: dict[str, SearchHit] = {hit.text: hit for hit in answer.hits}
    first = next((hit.text for hit in answer.hits if hit.text in {one.old, one.new}), "")
    old, beside = by_text.get(one.old), by_text.get(one.beside)
    return Seen(
        first={one.old: "old", one.new: "new"}.get(first, ""),
        is_old_marked=old is None or bool(old.newer),
        is_beside_taken=bool(beside and beside.newer)
        or bool(old and beside and old.newer and old.newer.endswith(_place(beside))),
    )


def _place(hit: SearchHit) -> str:
    return f"{hit.title}:{hit.lines.first}"
