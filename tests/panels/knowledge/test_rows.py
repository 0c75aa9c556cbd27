"""The rows of the Knowledge panel's list."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.knowledge import Item, NoteFile
from core.knowledge.merges import search_items
from panels.base.view import Memo
from panels.knowledge.knowledge_room import KnowledgeView
from panels.knowledge.rows import ItemSource, KnowledgeHeading, Listing, More, SourcePlace, listing, source_of
from tests.panels import states
from tests.panels.knowledge import knowledge_states as ks


def _list(query: str = "", view: KnowledgeView | None = None) -> Listing:
    view = view or KnowledgeView(closed=set())
    view.query = query
    return listing(ks.known(), view, Memo())


@pytest.mark.parametrize(
    "query", ["", "slot", "SLOT fork", '"the slot"', "2026", "ｓｌｏｔ", "zeppelin", '"', "of for"]
)
def test_a_filter_finds_what_the_search_of_the_command_line_finds(query: str) -> None:
    items = [i for file in ks.known().categories for i in file.items]

    found = {
        row.text for row in _list(query).rows if isinstance(row, Item) and not row.file.startswith("files/")
    }

    assert found == {item.text for item in search_items(items, query)}


def test_narrowing_and_widening_a_filter_forgets_nothing() -> None:
    memo, view, known = Memo(), KnowledgeView(closed=set()), ks.known()
    counts = []
    for query in ("", "s", "sl", "slot", "s", ""):
        view.query = query
        counts.append(listing(known, view, memo).found)

    assert counts[0] == counts[5] == 17
    assert counts[1] == counts[4] > counts[2] >= counts[3] > 0


def test_headings_count_all_and_what_is_found() -> None:
    headings = [row for row in _list("slot").rows if isinstance(row, KnowledgeHeading)]

    assert all(row.found for row in headings)
    assert {row.category.value: (row.found, row.count) for row in headings}["decisions"] == (1, 2)


def test_notes_stand_under_their_files_the_orphaned_first() -> None:
    rows = [row for row in _list().rows if isinstance(row, NoteFile | Item)]
    notes = rows[next(i for i, row in enumerate(rows) if isinstance(row, NoteFile)) :]

    assert [row.file_id for row in notes if isinstance(row, NoteFile)][:2] == ["1:13", "1:14"]
    for index, row in enumerate(notes):
        if isinstance(row, NoteFile):
            assert [i.text for i in notes[index + 1 : index + 1 + len(row.items)] if isinstance(i, Item)] == [
                i.text for i in reversed(row.items)
            ]


def test_a_file_without_notes_is_still_listed_without_a_filter() -> None:
    empty = ks.note("9:9", "/a/b.py")
    view = KnowledgeView(closed=set())
    known = ks.known(notes=(empty,))

    assert empty in listing(known, view, Memo()).rows
    view.query = "slot"
    assert empty not in listing(known, view, Memo()).rows


def test_only_the_first_hundred_of_a_section_are_rows() -> None:
    view = KnowledgeView()
    rows = listing(ks.many_known(10_000), view, Memo()).rows

    ends = [row for row in rows if isinstance(row, More)]
    assert [(row.section, row.listed, row.left) for row in ends][:2] == [
        ("tasks_open", 100, 900),
        ("questions", 100, 900),
    ]
    assert sum(isinstance(row, Item) and not row.file.startswith("files/") for row in rows) == 500


def test_a_source_is_found_by_the_look_by_its_name_in_the_trash_or_not_at_all() -> None:
    state, memo = ks.some(), Memo()

    assert source_of(state, memo, "2026-11-18-old-ideas") == ItemSource(
        SourcePlace.ARCHIVE, "Old ideas", "d8"
    )
    assert source_of(state, memo, "2026-11-20-cache-ttl-policy") == ItemSource(
        SourcePlace.LIST, "Cache TTL policy", "d1"
    )
    assert source_of(state, memo, "2026-11-15-tide-gauge") == ItemSource(
        SourcePlace.TRASH, "Tide gauge", ks.TRASHED.discussion_id
    )
    assert source_of(state, memo, "2026-01-01-x") == ItemSource(SourcePlace.GONE, "2026-01-01-x")


def test_a_discussion_that_was_renamed_is_found_by_the_look_and_one_that_was_purged_is_gone() -> None:
    state, memo = ks.some(), Memo()
    renamed = replace(
        state.discussions.summaries["d1"],
        meta=replace(state.discussions.summaries["d1"].meta, name="Another name"),
    )
    state = replace(state, discussions=replace(state.discussions, summaries={"d1": renamed}))

    assert source_of(state, memo, "2026-11-20-cache-ttl-policy").name == "Another name"
    assert (
        source_of(
            replace(state, discussions=replace(state.discussions, summaries={})),
            memo,
            "2026-11-20-cache-ttl-policy",
        ).place
        is SourcePlace.GONE
    )


def test_names_of_sources_are_made_again_only_where_a_discussion_changed() -> None:
    state, memo = states.many(200), Memo()
    source_of(state, memo, "x")
    known: dict[str, object] = memo.get("source metas", (), dict)
    before = dict(known)
    one = next(iter(state.discussions.summaries.values()))

    source_of(
        replace(
            state,
            discussions=replace(
                state.discussions,
                summaries={**state.discussions.summaries, one.meta.id: replace(one, turns=99)},
            ),
        ),
        memo,
        "x",
    )

    assert all(known[name] is before[name] for name in before)
