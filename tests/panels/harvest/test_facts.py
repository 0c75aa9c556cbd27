"""What the Harvest panel says and counts, and the rows of its preview."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.harvest import HarvestEstimate, HarvestFailure, HarvestItem, HarvestPreview
from core.kernel.values.knowledge import Category
from panels.base.view import Memo
from panels.harvest import harvest_facts
from panels.harvest.preview import SHOWS, ProposalHeading, estimate_px, rows, tally
from tests.panels.harvest import harvest_states as hs
from tests.panels.states import NOW


def test_a_time_that_is_none_is_shown_as_it_stands() -> None:
    assert harvest_facts.time_text("2026-11-20T13:00:00.000001+00:00", NOW) == "13:00"
    assert harvest_facts.time_text("yesterday-ish", NOW) == "yesterday-ish"
    assert harvest_facts.time_text("", NOW) == "unknown"
    assert harvest_facts.time_text("0001-01-01T00:00:00+23:00", NOW)


def test_a_choice_counts_what_is_ticked_and_what_a_model_would_read() -> None:
    artifacts = hs.artifacts()
    whole = harvest_facts.choice(hs.look(), frozenset())
    assert (len(whole.paths), whole.candidates, whole.pruned, whole.is_all) == (4, 4, 2, True)
    assert whole.new_bytes == sum(a.facts.new_bytes for a in (*artifacts[:2], artifacts[3]))

    part = harvest_facts.choice(hs.look(), frozenset({artifacts[0].facts.path, "elsewhere"}))

    assert (len(part.paths), part.is_all) == (3, False)
    assert whole.size_bytes - part.size_bytes == artifacts[0].facts.size_bytes


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20), st.integers(0, 10**8), st.floats(0, 1e4))
def test_parts_of_an_estimate_add_up_to_the_whole(sizes: list[int], tokens: int, cost: float) -> None:
    whole = HarvestEstimate(0, 0, sum(sizes), tokens, 0, cost, piece_bytes=65_536)
    whole = replace(whole, calls=sum(map(whole.calls_for, sizes)))

    parts = [harvest_facts.part_of(whole, size, whole.calls_for(size)) for size in sizes]

    if sum(sizes):
        assert sum(part.input_tokens_est for part in parts) == pytest.approx(tokens, abs=len(sizes))
        assert sum(part.cost_usd or 0.0 for part in parts) == pytest.approx(cost)


def test_a_short_conversation_costs_a_whole_request() -> None:
    """Of a hundred short ones and a long one that is read in as many requests, all short ones cost most of it."""
    whole = HarvestEstimate(0, 0, 100 * 500 + 100 * 65_536, 0, 0, 3.0, calls=200, piece_bytes=65_536)

    assert (whole.calls_for(0), whole.calls_for(500), whole.calls_for(65_537)) == (0, 1, 2)
    short = harvest_facts.part_of(whole, 500, 1).cost_usd
    assert short == pytest.approx(3.0 * (500 + 14_400) / (100 * 66_036 + 200 * 14_400))


def test_what_failed_is_called_by_the_name_of_its_discussion_where_it_is_one() -> None:
    ours = HarvestFailure("2026-10-02-tides", "/h/discussions/d1/log.jsonl", "aa", "timed out")

    assert harvest_facts.failed_name({"d1": "Tides"}, ours) == "Tides"
    assert (
        harvest_facts.failed_name({"d1": "Tides"}, replace(ours, path="/talks/log.jsonl"))
        == "2026-10-02-tides"
    )


def test_an_unknown_price_stays_unknown_in_every_part() -> None:
    assert harvest_facts.part_of(HarvestEstimate(new_bytes=10), 3, 0).cost_usd is None


def test_the_categories_offered_are_those_that_can_be() -> None:
    def offered(head: str, body: str, category: Category = Category.FACTS) -> set[str]:
        return {option.value for option in harvest_facts.can_be(HarvestItem(category, head, body))}

    plain = {"facts", "decisions", "tasks_done", "tasks_open", "questions"}
    assert offered("It is so.", "") == plain
    assert offered("It is so.", "because") == plain | {"playbooks"}
    assert offered("/a/b", "because") == plain | {"playbooks", "files"}
    assert offered("C:\\a", "because") == plain | {"playbooks", "files"}
    assert offered("/a/../b", "because") == plain | {"playbooks"}
    assert "files" in offered("/a/b", "", Category.FILES), "what it is now is always among them"


def test_what_apply_does_is_a_sentence() -> None:
    assert harvest_facts.Outcome(12, 3, 0, 2).sentence == (
        "Write 12 items, move 3 conversations to the trash, remove 2 empty conversations"
    )
    assert (
        harvest_facts.Outcome(1, 1, 0, 1).sentence
        == "Write 1 item, move 1 conversation to the trash, remove 1 empty conversation"
    )
    assert (
        harvest_facts.Outcome(0, 0, 2, 0).sentence
        == "Write nothing, leave 2 sources of other programs unchanged"
    )


def test_what_is_known_is_not_counted_as_written_though_it_be_ticked() -> None:
    preview = hs.preview()
    items = tuple(replace(one, is_ticked=True) for one in preview.items)

    will = harvest_facts.outcome(replace(preview, items=items), hs.artifacts())

    assert will == harvest_facts.Outcome(10, 2, 1, 2)


def test_paths_are_called_by_what_the_person_knows() -> None:
    names = {"d1": "Tides"}
    assert harvest_facts.path_name(names, "/notes/d1/log.jsonl") == "Tides"
    assert harvest_facts.path_name(names, "C:\\x\\d1") == "Tides"
    assert harvest_facts.path_name(names, "/notes/d2/log.jsonl") == "d2/log.jsonl"
    assert harvest_facts.path_name(names, "") == ""


def test_names_of_discussions_reach_into_the_trash() -> None:
    state = hs.looked()
    known = harvest_facts.known_names(
        replace(state, discussions=replace(state.discussions, trash=())), Memo()
    )

    assert known["d1"] == "Cache TTL policy"


# --- rows


def test_rows_by_conversation_stand_in_the_order_of_arrival_and_show_what_had_nothing() -> None:
    preview = hs.preview()
    shown = rows(preview, "conversation", "", "")

    titles = [row.title for row in shown if isinstance(row, ProposalHeading)]
    assert titles == ["Cache TTL policy", "Harvest worker design", "claude-code-7f3a"]
    assert [row for row in shown if isinstance(row, int)] == list(range(11))
    assert shown[-1] == preview.failures[0]


def test_what_arrives_is_appended_to_the_rows() -> None:
    before = hs.previewing().harvest.preview
    assert before is not None
    about = hs.artifacts()[1].facts
    after = replace(before, sources=(*before.sources, about), items=(*before.items, *hs.items(about)))

    assert rows(after, "conversation", "", "")[: len(before.items) + 1] == rows(
        before, "conversation", "", ""
    )


def test_rows_by_category_stand_in_the_order_of_the_categories() -> None:
    shown = rows(hs.preview(), "category", "", "")

    titles = [row.title for row in shown if isinstance(row, ProposalHeading)]
    assert titles == [
        "Facts",
        "Decisions",
        "Done tasks",
        "Open tasks",
        "Questions",
        "Playbooks",
        "File notes",
    ]


@given(
    st.sampled_from([one.value for one in SHOWS]),
    st.sampled_from(["", "fork", "tide", "zz"]),
    st.sampled_from(["conversation", "category"]),
)
def test_every_item_that_passes_stands_in_the_rows_once(show: str, query: str, by: str) -> None:
    preview = hs.preview()
    shown = rows(preview, by, query, show)

    places = [row for row in shown if isinstance(row, int)]
    grouped = [place for row in shown if isinstance(row, ProposalHeading) for place in row.items]
    assert sorted(places) == sorted(set(places)) == sorted(grouped)
    other = rows(preview, "category" if by == "conversation" else "conversation", query, show)
    assert sorted(places) == sorted(row for row in other if isinstance(row, int))


def test_a_tally_counts_each_thing_once() -> None:
    counted = tally(hs.preview())

    assert (counted.items, counted.ticked, counted.known, counted.empty) == (11, 9, 1, 1)
    assert tally(HarvestPreview()).empty == 0


def test_a_longer_item_is_guessed_higher() -> None:
    short = hs.preview().items[2]
    long = replace(short, item=replace(short.item, head="word " * 200))

    assert estimate_px(long, 360) > 2 * estimate_px(short, 360)
    assert estimate_px(replace(short, near=("a", "b")), 360) > estimate_px(short, 360)
