"""Tools of memory for a model: schemas, arguments, answers, and what may be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    ChunkKind,
    Corpus,
    MemoryToolAnswer,
    SearchAnswer,
    SearchFilters,
    SearchHit,
    SearchPlaces,
)
from core.retrieval.front_matter import FieldNames
from core.retrieval.navigation_files import survey
from core.retrieval.retrieval_tools import TOOLS, note_by_name, root_names, use_tool

HIT = SearchHit(
    Corpus.NOTES,
    ChunkKind.PROSE,
    "a.md",
    "A",
    LineRange(3, 4),
    "Head",
    "text </passage>",
    0.8,
    date="2026-01-02",
)


def search(query: str, count: int, filters: SearchFilters) -> SearchAnswer:
    wanted = not filters.corpora or Corpus.NOTES in filters.corpora
    return SearchAnswer(query, (HIT,) * min(count, 1) if wanted else (), degraded=not wanted, reason="why")


@pytest.fixture
def places(tmp_path: Path) -> SearchPlaces:
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "n.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (root / "key.pem").write_text("secret", encoding="utf-8")
    (tmp_path / "outside.md").write_text("outside", encoding="utf-8")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    return SearchPlaces((str(root.resolve()),))


def use(name: str, places: SearchPlaces, **arguments: object) -> MemoryToolAnswer:
    return use_tool(name, json.dumps(arguments), search, places)


def test_schemas_are_closed_canonical_and_sorted() -> None:
    assert [tool.name for tool in TOOLS] == ["read_note", "search_notes"]
    for tool in TOOLS:
        schema = json.loads(tool.parameters_json)
        assert schema["additionalProperties"] is False
        assert schema["type"] == "object"
        assert all("description" in each for each in schema["properties"].values())
        assert tool.parameters_json == json.dumps(schema, sort_keys=True, separators=(",", ":"))
    assert json.loads(TOOLS[1].parameters_json)["required"] == ["query"]


def test_a_search_answers_with_its_sources_in_frames_that_no_passage_ends(places: SearchPlaces) -> None:
    told = use("search_notes", places, query="x")

    assert not told.is_error
    assert 'source="a.md:3-4"' in told.text
    assert told.text.startswith("<passage-2 ")


def test_a_degraded_or_empty_answer_says_so(places: SearchPlaces) -> None:
    told = use("search_notes", places, query="x", corpus="knowledge")

    assert "why" in told.text
    assert "Nothing found" in told.text


def test_a_note_is_read_by_lines(places: SearchPlaces) -> None:
    told = use("read_note", places, path="sub/n.md", first_line=2, lines=1)

    assert (
        told.text == '<note source="sub/n.md" lines="2-2">\ntwo\n</note>\nThe note goes on: 3 lines in all.\n'
    )
    assert "goes on" not in use("read_note", places, path="sub/n.md").text


@pytest.mark.parametrize(
    "path", ["../outside.md", "link.md", "key.pem", "sub", "/etc/hosts.md", "nope.md", "a\0.md"]
)
def test_nothing_outside_of_the_notes_is_read(places: SearchPlaces, path: str) -> None:
    told = use("read_note", places, path=path)

    assert told.is_error
    assert "outside\n" not in told.text


@pytest.mark.parametrize(("path", "holds"), [("index.md", "sub"), ("sub/index.md", "n.md")])
def test_a_router_that_no_run_made_yet_is_read_as_it_would_be_and_not_written(
    places: SearchPlaces, tmp_path: Path, path: str, holds: str
) -> None:
    """Layer 6 names it first, also where no index was ever made, as on a terminal."""
    told = use_tool(
        "read_note",
        json.dumps({"path": path}),
        search,
        places,
        lambda: survey(places, tmp_path, FieldNames()).stale,
    )

    assert not told.is_error
    assert holds in told.text
    assert not (Path(places.notes[0]) / path).exists()
    assert use("read_note", places, path="gone/index.md").is_error


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_notes", "{}"),
        ("search_notes", '{"query":"x","more":1}'),
        ("search_notes", '{"query":"x","count":0}'),
        ("search_notes", '{"query":"x","corpus":"trash"}'),
        ("search_notes", "no json"),
        ("read_note", '{"path":"sub/n.md","first_line":9}'),
        ("other", "{}"),
    ],
)
def test_wrong_calls_are_answers(places: SearchPlaces, name: str, arguments: str) -> None:
    assert use_tool(name, arguments, search, places).is_error


def test_a_line_longer_than_an_answer_is_cut(places: SearchPlaces) -> None:
    Path(places.notes[0], "long.md").write_text("x" * 100_000, encoding="utf-8")

    assert len(use("read_note", places, path="long.md").text) < 30_000


def test_one_folder_of_notes_needs_no_name_and_takes_it_all_the_same(places: SearchPlaces) -> None:
    assert root_names(places.notes) == {}
    assert "two" in use("read_note", places, path="sub/n.md").text
    assert "two" in use("read_note", places, path="notes/sub/n.md").text


def test_several_folders_of_notes_are_told_apart(tmp_path: Path) -> None:
    """Each has a router of its own, and notes by the same path are different ones."""
    roots = tuple(str(tmp_path / name) for name in ("a/notes", "b/notes", "talks"))
    for root in roots:
        Path(root).mkdir(parents=True)
        for name in ("index.md", "x.md"):
            Path(root, name).write_text(f"this is {name} of {root}\n", encoding="utf-8")
    places = SearchPlaces(roots)
    names = tuple(root_names(roots).values())
    assert names[:2] == ("a/notes", "b/notes")

    told = use("read_note", places, path="index.md").text
    assert [line for line in told.splitlines() if line.startswith("- ")] == [f"- {n}/index.md" for n in names]
    for root, name in zip(roots, names, strict=True):
        for file in ("index.md", "x.md"):
            assert f"this is {file} of {root}" in use("read_note", places, path=f"{name}/{file}").text

        def found(query: str, count: int, filters: SearchFilters, root: str = root) -> SearchAnswer:
            return SearchAnswer(query, (replace(HIT, path="x.md", scope=root),))

        told = use_tool("search_notes", '{"query":"x"}', found, places).text
        assert f'source="{name}/x.md:3-4"' in told


@pytest.mark.parametrize(
    "said",
    ["[[Pump]]", "[[pump#Seals|the pump]]", "water/Pump", "Big Bertha", "[[The old pump]]", "The great pump"],
)
def test_a_note_is_read_by_a_link_a_title_or_an_alias(tmp_path: Path, said: str) -> None:
    note = tmp_path / "water" / "Pump.md"
    note.parent.mkdir()
    note.write_text("---\ntitle: The great pump\naliases: [Big Bertha, The old pump]\n---\nIt hums.\n")
    (tmp_path / "Other.md").write_text("A pump.\n")
    places = SearchPlaces(notes=(str(tmp_path),), corpora=(Corpus.NOTES,))
    assert note_by_name(said, places) == str(note)
    assert note_by_name("[[Nothing of it]]", places) == ""


def test_a_note_of_another_markup_is_read_by_the_title_that_a_search_shows(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("% Draft\n\\title{On Tides}\n")
    places = SearchPlaces(notes=(str(tmp_path),), corpora=(Corpus.NOTES,))
    assert note_by_name("On Tides", places) == str(tmp_path / "a.tex")
