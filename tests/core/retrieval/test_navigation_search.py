"""Notes found by title, tags, description and place alone."""

from __future__ import annotations

import pytest

from core.kernel.values.retrieval import Corpus, Retriever, SearchFilters, SourceHead
from core.retrieval.navigation import heads_found

HEADS = (
    (
        "/notes",
        "net/retry.md",
        SourceHead("Retry policy", ("http",), "2026-02-01", "How the gateway gives up."),
    ),
    ("/notes", "net/gateway.md", SourceHead("The gateway", ("net",), "2026-03-01", "Ports and names.")),
    ("/notes", "ops/disks.md", SourceHead("Disks", ("gateway",), "", "Which are where.")),
    ("/notes", "ops/other.md", SourceHead("Other", (), "2026-01-01", "Nothing of it.")),
)


def found(query: str, filters: SearchFilters = SearchFilters()) -> list[str]:  # noqa: B008 (frozen)
    return [hit.path for hit in heads_found(HEADS, query, filters, 10)]


def test_a_title_counts_more_than_a_tag_and_a_tag_more_than_a_description() -> None:
    assert found("gateway") == ["net/gateway.md", "ops/disks.md", "net/retry.md"]


def test_other_forms_of_a_word_are_found_after_the_word_itself() -> None:
    assert found("retrying policies")[0] == "net/retry.md"


def test_what_says_nothing_finds_nothing() -> None:
    assert found("the of and") == found("zebra") == found("") == []


def test_a_hit_says_that_navigation_found_it() -> None:
    hit = heads_found(HEADS, "disks", SearchFilters(), 1)[0]
    assert (hit.corpus, hit.title, hit.text, hit.found_by) == (
        Corpus.NOTES,
        "Disks",
        "Which are where.",
        (Retriever.NAVIGATION,),
    )
    assert hit.score == 1.0


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        (SearchFilters(folder="ops"), ["ops/disks.md"]),
        (SearchFilters(folder="notes/ops"), ["ops/disks.md"]),
        (SearchFilters(tag="HTTP"), ["net/retry.md"]),
        (SearchFilters(after="2026-02-15"), ["net/gateway.md"]),
        (SearchFilters(before="2026-02-15"), ["net/retry.md"]),
        (SearchFilters(but=("net/gateway.md",)), ["ops/disks.md", "net/retry.md"]),
        (SearchFilters(corpora=(Corpus.KNOWLEDGE,)), []),
    ],
)
def test_filters_hold_here_too(filters: SearchFilters, paths: list[str]) -> None:
    assert found("gateway", filters) == paths


def test_at_most_as_many_as_are_wanted_ties_by_path() -> None:
    heads = [("/notes", f"{name}.md", SourceHead("Tides")) for name in "cab"]
    assert [hit.path for hit in heads_found(heads, "tides", SearchFilters(), 2)] == ["a.md", "b.md"]


def test_a_note_of_a_folder_within_another_is_one_hit() -> None:
    heads = (*HEADS, ("/notes/net", "retry.md", HEADS[0][2]), ("/notes/net", "gateway.md", HEADS[1][2]))
    hits = heads_found(heads, "gateway retry", SearchFilters(), 10)
    assert len({f"{hit.scope}/{hit.path}" for hit in hits}) == len(hits) == 3
