"""Both stores behind one interface: the same content, the same scores, the same order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchFilters, SearchMode, SourceHead
from core.kernel.words import query_terms
from core.retrieval.chunker import embedded_text
from core.retrieval.fusion import ChunkPlace
from core.retrieval.index_store import SHELVES, Scan, Shelf, SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.postgres_connection import ServerAddress
from core.retrieval.postgres_store import PostgresStore
from core.retrieval.retrieval_report import degraded_text
from core.retrieval.search import SearchRequest, search

DIMENSION = 32
NOTES = Shelf(Corpus.NOTES, ChunkKind.PROSE)
SCOPE = "/home/person/project"
EVERYTHING = SearchFilters()
SCOPES = (SCOPE, "")
MOST = 1_000

Store = LocalStore | PostgresStore
_numbers = itertools.count()


def vector_of(text: str) -> bytes:
    """A vector that only the text decides."""
    return np.random.default_rng(list(text.encode())).integers(-127, 128, DIMENSION, np.int8).tobytes()


class TextEmbedder:
    name, dimension, is_warm = "text", DIMENSION, True

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return np.stack([np.frombuffer(vector_of(text), np.int8) for text in texts])


def local(folder: Path) -> LocalStore:
    return LocalStore(folder, "test", DIMENSION)


def on_server(url: str, name: str = "") -> PostgresStore:
    return PostgresStore(ServerAddress(url), name or f"test-{next(_numbers)}", DIMENSION, owner="one")


@pytest.fixture(params=["local", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = (
        local(tmp_path / "index")
        if request.param == "local"
        else on_server(request.getfixturevalue("postgres_url"))
    )
    yield made
    made.close()


def key(path: str, corpus: Corpus = Corpus.NOTES, scope: str = SCOPE) -> SourceKey:
    return SourceKey(corpus, scope, path)


def prose(text: str, line: int = 1, date: str = "", heading: str = "") -> Chunk:
    return Chunk(ChunkKind.PROSE, LineRange(line, line), text, heading, date=date)


def state(title: str = "", *tags: str, date: str = "") -> SourceState:
    return SourceState("stamp", "0" * 64, SourceHead(title, tags, date, "about"))


def give_all(store: Store) -> int:
    given = 0
    while bare := store.bare(64):
        store.give({place: vector_of(embedded_text(chunk)) for place, chunk in bare})
        given += len(bare)
    return given


def words_of(store: Store, query: str, filters: SearchFilters = EVERYTHING) -> dict[tuple[str, int], float]:
    found = store.keyword(NOTES, query_terms(query), SCOPES, filters, MOST)
    return {(one.path.rsplit("\0", 1)[-1], one.line): score for one, score in found.items()}


def scan(store: Store, shelf: Shelf, text: str, filters: SearchFilters, count: int = MOST) -> Scan:
    query = np.frombuffer(vector_of(text), np.int8)
    return store.vector(shelf, query, SCOPES, filters, count, ())


# What each store keeps


def test_a_source_is_read_back_as_it_was_put(store: Store) -> None:
    chunk = Chunk(
        ChunkKind.PROSE, LineRange(3, 7), "It's a 'quoted' \\ text", "Head", "be", "af", "2026-01-02"
    )
    store.put(key("a.md"), state("A", "x", "y", date="2026-01-01"), [chunk])
    known = store.sources(Corpus.NOTES, SCOPE)
    assert known["a.md"] == SourceState(
        "stamp", "0" * 64, SourceHead("A", ("x", "y"), "2026-01-01", "about"), 1, 1
    )
    (place,) = store.keyword(NOTES, ["quoted"], SCOPES, EVERYTHING, 5)
    stored = store.read([place])[place]
    assert (stored.chunk, stored.source, stored.head) == (chunk, key("a.md"), known["a.md"].head)
    assert store.count(NOTES) == 1
    assert store.read([ChunkPlace(NOTES.name, place.row + 1, place.path, 1)]) == {}


def test_a_replaced_source_keeps_the_vectors_of_the_texts_that_it_kept(store: Store) -> None:
    store.put(key("a.md"), state(), [prose("first one", 1, heading="H"), prose("second one", 2)])
    assert give_all(store) == 2
    store.put(
        key("a.md"),
        state("B"),
        [prose("new one", 1), prose("first one", 5, heading="H"), prose("last one", 6)],
    )
    assert sorted(chunk.text for _, chunk in store.bare(9)) == ["last one", "new one"]
    assert store.is_bare([Shelf(Corpus.KNOWLEDGE, ChunkKind.KNOWLEDGE), NOTES], SCOPES)
    assert not store.is_bare([Shelf(Corpus.KNOWLEDGE, ChunkKind.KNOWLEDGE)], SCOPES)
    assert not store.is_bare([NOTES], ("/another/project", "")), "what waits in one project degrades no other"
    answer = search(store, TextEmbedder(), SearchRequest("first", (Corpus.NOTES,), (SCOPE,)))
    assert (answer.mode, answer.degraded) == (SearchMode.HYBRID, True)
    assert (
        degraded_text(answer)
        == "Found by keywords, and in part by meaning: Some passages have no vector yet. The program makes the vectors while it updates the index"
    )
    assert not search(store, TextEmbedder(), SearchRequest("first", (Corpus.KNOWLEDGE,), (SCOPE,))).degraded
    assert not search(store, None, SearchRequest("first", (Corpus.NOTES,), (SCOPE,))).degraded, (
        "none is wanted"
    )
    assert store.sources(Corpus.NOTES, SCOPE)["a.md"].bare == 2
    found = scan(store, NOTES, "H\nfirst one", EVERYTHING)
    assert [one.line for one in found.scores] == [5]
    assert words_of(store, "second") == {}
    assert store.count(NOTES) == 3


def test_what_is_removed_or_forgotten_is_found_by_nobody(store: Store) -> None:
    for name in ("a.md", "b.md", "c.md"):
        store.put(key(name), state(), [prose(f"zebra {name}")])
    give_all(store)
    assert store.remove([key("a.md"), key("nowhere.md")]) == 1
    assert store.forget([key("b.md")]) == 1
    assert set(words_of(store, "zebra")) == {("c.md", 1)}
    assert [one.path.rsplit("\0", 1)[-1] for one in scan(store, NOTES, "x", EVERYTHING).scores] == ["c.md"]
    assert set(store.sources(Corpus.NOTES, SCOPE)) == {"c.md"}
    assert store.count(NOTES) == 1


def test_a_vector_for_a_chunk_that_is_gone_is_passed_over(store: Store) -> None:
    store.put(key("a.md"), state(), [prose("one")])
    ((place, _),) = store.bare(1)
    store.remove([key("a.md")])
    store.give({place: vector_of("one")})
    assert scan(store, NOTES, "one", EVERYTHING) == Scan({}, 0.0)


def test_a_source_that_was_only_touched_has_its_new_stamp(store: Store) -> None:
    store.put(key("a.md"), state(), [prose("one")])
    store.touch(key("a.md"), "later")
    assert store.sources(Corpus.NOTES, SCOPE)["a.md"].stamp == "later"


def test_filters_narrow_both_retrievers_alike(store: Store) -> None:
    rows = [
        ("in/a.md", SCOPE, ("red",), "2026-01-01"),
        ("in/deep/b.md", SCOPE, ("red", "blue"), "2026-02-01"),
        ("inner.md", SCOPE, ("redder",), "2026-03-01"),
        ("in/c.md", "/home/person/other", ("red",), "2026-01-01"),
        ("d.md", SCOPE, (), ""),
    ]
    for path, scope, tags, date in rows:
        store.put(key(path, scope=scope), state(path, *tags), [prose("word", date=date)])
    noted = state("e.md")  # a note says its day once for all of it
    noted = replace(noted, head=replace(noted.head, date="2027-05-01"))
    store.put(key("e.md"), noted, [prose("word"), prose("word", 2, date="2027-07-01")])
    give_all(store)
    for filters, expected in [
        (EVERYTHING, {"in/a.md", "in/deep/b.md", "inner.md", "d.md", "e.md"}),
        (SearchFilters(folder="in/"), {"in/a.md", "in/deep/b.md"}),
        (SearchFilters(folder="./in"), {"in/a.md", "in/deep/b.md"}),
        (SearchFilters(folder="project/in"), {"in/a.md", "in/deep/b.md"}),
        (SearchFilters(folder=f"{SCOPE}/in/deep"), {"in/deep/b.md"}),
        (SearchFilters(folder="project", tag="red"), {"in/a.md", "in/deep/b.md"}),
        (SearchFilters(folder="ject/in"), set()),
        (SearchFilters(folder="project/a.md"), set()),
        (SearchFilters(tag="Red"), {"in/a.md", "in/deep/b.md"}),
        (SearchFilters(after="2026-02-01"), {"in/deep/b.md", "inner.md", "e.md"}),
        (SearchFilters(before="2026-02-01"), {"in/a.md", "in/deep/b.md"}),
        (SearchFilters(after="2027-01-01", before="2027-06-01"), {"e.md"}),
        (SearchFilters(after="2027-06-01"), {"e.md"}),
        (SearchFilters(after="2027-08-01"), set()),
        (SearchFilters(but=("in/a.md", "d.md")), {"in/deep/b.md", "inner.md", "e.md"}),
        (SearchFilters(folder="in", tag="blue", after="2026-01-31", before="2026-02-02"), {"in/deep/b.md"}),
        (SearchFilters(tag="%"), set()),
    ]:
        assert {path for path, _ in words_of(store, "word", filters)} == expected, filters
        scanned = scan(store, NOTES, "word", filters).scores
        assert {one.path.rsplit("\0", 1)[-1] for one in scanned} == expected, filters


def test_chunks_with_a_term_are_counted_up_to_the_most(store: Store) -> None:
    store.put(key("a.md"), state(), [prose("the tides run", n) for n in range(1, 6)] + [prose("a moon", 9)])
    counted = [
        store.frequency(NOTES, *asked) for asked in (("tide", 9), ("tide", 3), ("moon", 9), ("sun", 9))
    ]
    assert counted == [5, 3, 1, 0]
    assert store.frequency(Shelf(Corpus.PROJECT, ChunkKind.PROSE), "tide", 9) == 0


def test_of_kinds_that_share_a_common_word_the_one_that_holds_the_rare_one_comes_first(store: Store) -> None:
    talk = Chunk(ChunkKind.CONVERSATION, LineRange(1, 1), "the bread was good bread, more bread")
    store.put(key("rye.md"), state(), [prose("sourdough is a bread of rye")])
    store.put(key("long.md"), state(), [prose("bread and butter", n) for n in range(1, 5)])
    store.put(SourceKey(Corpus.DISCUSSIONS, "", "a"), state(), [talk])
    asked = SearchRequest("sourdough bread", (Corpus.NOTES, Corpus.DISCUSSIONS), SCOPES)
    answer = search(store, None, asked)
    scores = {hit.path: hit.score for hit in answer.hits}
    assert next(iter(scores)) == "rye.md"
    assert scores["rye.md"] == 1.0
    assert 0.1 < scores["a"] < 0.7


# Both against each other


VOCABULARY = [
    "run",
    "running",
    "runner",
    "runs",
    "cache",
    "cached",
    "caches",
    "caching",
    "prefix",
    "prefixes",
    "token",
    "tokens",
    "rewrite",
    "rewrote",
    "writer",
    "budget",
    "budgets",
    "relational",
    "national",
    "ponies",
    "ties",
    "dies",
    "agreed",
    "plastered",
    "hopping",
    "falling",
    "happy",
    "sky",
    "electricity",
    "don't",
    "naïve",
    "Größe",
    "café",
    "ångström",
    "東京",
    "данные",
    "snake_case",
    "CamelCase",
    "readFile",
    "x1",
    "v2.0",
    "42",
    "3.14",
    "caching's",
    "e-mail",
]


def corpus(seed: int = 5) -> list[tuple[SourceKey, SourceState, list[Chunk]]]:
    """Some hundred chunks on all shelves, with ties, empty ones, odd characters, and words many times over."""
    rng = random.Random(seed)
    kinds = [
        (shelf.corpus, shelf.kind, "" if shelf.corpus in {Corpus.KNOWLEDGE, Corpus.DISCUSSIONS} else SCOPE)
        for shelf in SHELVES
    ]
    made = []
    for number in range(120):
        place, kind, scope = kinds[number % len(kinds)]
        chunks = [
            Chunk(
                kind,
                LineRange(line * 10 + 1, line * 10 + 9),
                " ".join(rng.choices(VOCABULARY, k=rng.choice((0, 3, 12, 80)))),
                rng.choice(("", "Caching", "Budget of tokens")),
                rng.choice(("", "before that")),
                rng.choice(("", "and after")),
                rng.choice(("", "2026-01-05", "2026-06-01")),
            )
            for line in range(rng.randint(1, 6))
        ]
        tags = tuple(rng.sample(("red", "blue"), rng.randint(0, 2)))
        made.append((key(f"d{number % 7}/{number:03}.md", place, scope), state(f"N{number}", *tags), chunks))
    twins = [prose("cache the prefix twice"), prose("cache the prefix twice", 20)]
    made += [(key(f"twin/{name}.md"), state(), twins) for name in "bca"]
    made.append((key("odd.md"), state(), [prose("often " * 300 + "x y " + "q" * 5_000), prose("", 9)]))
    return made


@pytest.fixture(scope="module")
def both(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    pair = local(tmp_path_factory.mktemp("index")), on_server(postgres_url)
    for one in pair:
        for source in corpus():
            one.put(*source)
        # Some are replaced and some are taken out: statistics follow.
        for source, again in zip(corpus()[:20], corpus(6)[:20], strict=True):
            one.put(source[0], again[1], again[2])
        one.remove(source[0] for source in corpus()[100:110])
        give_all(one)
    yield pair
    for one in pair:
        one.close()


QUERIES = (
    "running the cache",
    "prefixes",
    "cache cached caching rewriting",
    "often",
    "café ANGSTROM größe naive 東京 данные",
    "read file snake_case v2.0",
    "q" * 5_000,
    "x y don't",
    "nowhere",
    "twice prefix",
    "nationally tied pony electrical",
)
FILTERS = (
    EVERYTHING,
    SearchFilters(folder="d3"),
    SearchFilters(tag="red", after="2026-02-01"),
    SearchFilters(but=("d0/000.md", "twin/a.md")),
)


@pytest.mark.parametrize("filters", FILTERS)
def test_keyword_scores_are_the_same(both: tuple[Store, Store], filters: SearchFilters) -> None:
    for shelf, query in itertools.product(SHELVES, QUERIES):
        ours, theirs = (
            {
                (one.path, one.line): score
                for one, score in store.keyword(shelf, query_terms(query), SCOPES, filters, MOST).items()
            }
            for store in both
        )
        assert theirs == pytest.approx(ours, abs=1e-6, rel=1e-9), (shelf, query)


@pytest.mark.parametrize("filters", FILTERS)
def test_cosines_and_the_least_are_the_same(both: tuple[Store, Store], filters: SearchFilters) -> None:
    for shelf, query in itertools.product(SHELVES, QUERIES[:3]):
        ours, theirs = (scan(store, shelf, query, filters) for store in both)
        assert {(one.path, one.line): score for one, score in theirs.scores.items()} == {
            (one.path, one.line): score for one, score in ours.scores.items()
        }
        assert theirs.least == ours.least
    best, again = (scan(store, SHELVES[0], "cache", filters, 5) for store in both)
    assert sorted(best.scores.values()) == sorted(again.scores.values())
    assert len(best.scores) == 5
    assert best.least == again.least


@pytest.mark.parametrize("filters", FILTERS)
def test_one_search_gives_one_order(both: tuple[Store, Store], filters: SearchFilters) -> None:
    for query in QUERIES:
        asked = SearchRequest(query, tuple(Corpus), (SCOPE,), 40, filters)
        ours, theirs = (search(store, TextEmbedder(), asked) for store in both)
        assert ours.mode is theirs.mode is SearchMode.HYBRID
        assert theirs.hits == ours.hits
        assert ours.hits


@pytest.mark.parametrize("filters", FILTERS)
def test_the_best_few_are_the_first_of_all(both: tuple[Store, Store], filters: SearchFilters) -> None:
    """Words that are too common to matter are looked up by nobody, and no chunk is lost for it."""
    server = both[1]
    for shelf, query in itertools.product(SHELVES, QUERIES):
        every = list(server.keyword(shelf, query_terms(query), SCOPES, filters, MOST).items())
        for count in (1, 3):
            few = server.keyword(shelf, query_terms(query), SCOPES, filters, count)
            assert list(few.items()) == every[:count], (shelf, query)


def test_ties_go_by_path_and_line(store: Store) -> None:
    for source in corpus()[-4:-1]:
        store.put(*source)
    answer = search(store, None, SearchRequest("cache", (Corpus.NOTES,), (SCOPE,)))
    assert [(hit.path, hit.lines.first, hit.also[0].lines.first) for hit in answer.hits] == [
        ("twin/a.md", 1, 20),
        ("twin/b.md", 1, 20),
        ("twin/c.md", 1, 20),
    ]


@pytest.mark.parametrize("count", [1, 4, 150, 250])
def test_of_more_ties_than_are_wanted_the_first_by_path_and_line_are_found(store: Store, count: int) -> None:
    """Rows are numbered as files came: the numbers say nothing."""
    paths = [f"{number:03}.md" for number in range(300)]
    random.Random(3).shuffle(paths)
    for path in paths:
        store.put(key(path), state(), [prose("a zebra", 1), prose("a zebra", 9)])
    store.put(key("zz.md"), state(), [prose("zebra zebra")])
    give_all(store)
    tied = [(path, line) for path in sorted(paths) for line in (1, 9)]

    def places(found: Iterable[ChunkPlace]) -> set[tuple[str, int]]:
        return {(one.path.rsplit("\0", 1)[-1], one.line) for one in found}

    by_words = store.keyword(NOTES, ["zebra"], SCOPES, EVERYTHING, count)
    narrowed = store.keyword(NOTES, ["zebra"], SCOPES, SearchFilters(but=("000.md",)), count)
    assert places(by_words) == {("zz.md", 1), *tied[: count - 1]}
    assert places(narrowed) == {("zz.md", 1), *tied[2 : count + 1]}
    assert places(scan(store, NOTES, "a zebra", EVERYTHING, count).scores) == set(tied[:count])
    query = np.frombuffer(vector_of("a zebra"), np.int8)
    (other,) = store.keyword(NOTES, ["zebra"], SCOPES, EVERYTHING, 1)
    assert places(store.vector(NOTES, query, SCOPES, EVERYTHING, count, [other]).scores) == {
        ("zz.md", 1),
        *tied[:count],
    }


@given(text=st.text(max_size=200), query=st.text(max_size=40))
def test_any_text_scores_the_same(both: tuple[Store, Store], text: str, query: str) -> None:
    place = key("any.md")
    found = []
    for store in both:
        store.put(place, state(), [prose(text + " " + query)])
        found.append(words_of(store, query))
    assert found[1] == pytest.approx(found[0], abs=1e-6, rel=1e-9)
    for store in both:
        store.remove([place])


def test_what_a_server_forgot_stands_in_no_table(postgres_url: str) -> None:
    import psycopg

    name = "forgetting"
    store = on_server(postgres_url, name)
    store.put(key("a.md"), state("Unsayable"), [prose("unspeakable words")])
    store.put(key("b.md"), state(), [prose("other words")])
    store.analyse(Corpus.NOTES)  # as the server does by itself, too
    store.forget([key("a.md")])
    store.close()
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("CHECKPOINT")
        rows = db.execute(
            "SELECT pg_relation_filepath(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE (n.nspname LIKE 'manual_slop%' OR c.relname = 'pg_statistic') AND c.relkind IN ('r', 'i', 't')"
        ).fetchall()
        data = [db.execute("SELECT pg_read_binary_file(%s)", row).fetchone() for row in rows]
    assert data
    assert not any(b"unspeak" in bytes(one[0]) or b"Unsay" in bytes(one[0]) for one in data if one)


def test_on_a_shared_server_knowledge_and_discussions_are_their_owner_s(postgres_url: str) -> None:
    shelf = Shelf(Corpus.DISCUSSIONS, ChunkKind.CONVERSATION)
    address = ServerAddress(postgres_url)
    mine, yours = (PostgresStore(address, "shared", DIMENSION, owner=owner) for owner in ("me", "you"))
    place = key("discussion", Corpus.DISCUSSIONS, "")
    mine.put(place, state(), [Chunk(ChunkKind.CONVERSATION, LineRange(1, 1), "secret plan")])
    assert len(mine.keyword(shelf, ["plan"], SCOPES, EVERYTHING, 5)) == 1
    assert yours.keyword(shelf, ["plan"], SCOPES, EVERYTHING, 5) == {}
    assert yours.sources(Corpus.DISCUSSIONS, "") == {}
    assert yours.remove([place]) == 0
    mine.close()
    yours.close()
