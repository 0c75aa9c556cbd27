"""The list's worker: discussions, trash and what was spent since midnight, from a real home."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app import home as store_home
from core.app.app_messages import Event
from core.kernel import paths
from core.kernel.figures import midnight
from core.kernel.values.discussion import DiscussionMeta, Draft
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord, Record, UsageRecord
from core.kernel.values.updates import OperationFailed
from core.kernel.values.usage import Usage, UsageBy, UsageKind, UsageQuery, UsageReport
from core.services.spending.harvest_costs import HarvestCall, note_spent
from core.services.spending.spending_messages import CountUsage, SpentCounted, UsageCounted
from core.talk.discussion import discussion_store, log, log_codec, trash
from core.talk.discussion.discussion_messages import (
    EmptyTrash,
    IndexDiscussion,
    ListEffect,
    LoadSummaries,
    LookForChanges,
    SearchDiscussions,
    SearchFound,
    SummariesChanged,
    SummariesLoaded,
    TrashListed,
)
from core.talk.discussion.discussion_meta import write_draft
from core.talk.discussion.discussion_worker import ListingHandler, supersedes_list
from core.talk.discussion.log import paid_since

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def meta(number: int) -> DiscussionMeta:
    return DiscussionMeta(f"20261120-12000{number}-abcdef", f"Sky {number}", NOW, "embedded", "m")


def said(number: int, at: datetime, cost: float | None) -> tuple[MessageRecord, UsageRecord]:
    words = MessageRecord(f"m{number}", at, Role.USER, (TextPart(f"tide {number}"),))
    return words, UsageRecord(f"u{number}", at, f"m{number}", Usage(input_tokens=1, cost_usd=cost))


def harvested(at: datetime, usd: float) -> HarvestCall:
    return HarvestCall(at=at, provider="anthropic", model="m", usage=Usage(cost_usd=usd))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    store_home.open_home(home, NOW)
    for number in (1, 2):
        discussion_store.create(home, meta(number))
    log.append(
        home, meta(1).id, (*said(1, NOW - timedelta(days=2), 5.0), *said(2, NOW, 0.25), *said(3, NOW, None))
    )
    log.append(home, meta(2).id, said(4, NOW, 0.5))
    return home


def handled(home: Path, *effects: ListEffect, is_read_only: bool = False) -> list[Event]:
    events: list[Event] = []
    worker = ListingHandler(home, lambda: NOW, events.append, is_read_only=is_read_only)
    for effect in effects:
        worker.handle(effect)
    return events


def test_all_discussions_are_listed_at_the_end(home: Path) -> None:
    listed = [event for event in handled(home, LoadSummaries()) if isinstance(event, SummariesLoaded)]
    assert listed[-1].is_complete
    assert {row.meta.name for row in listed[-1].summaries} == {"Sky 1", "Sky 2"}


def test_the_one_that_a_person_looks_at_is_told_first_with_its_tasks(home: Path) -> None:
    task = replace(meta(3), delegated_by="m1", parent_id=meta(1).id)
    discussion_store.create(home, task)
    handled(home, LoadSummaries())

    told = [event for event in handled(home, LoadSummaries(meta(1).id)) if isinstance(event, SummariesLoaded)]

    assert {row.meta.id for row in told[0].summaries} == {meta(1).id, task.id}
    assert not told[0].is_complete
    assert len(told[-1].summaries) == 3


@pytest.mark.parametrize("wrong", ["..", "a/b", "20261120"])
def test_what_a_broken_file_of_the_window_names_keeps_nothing_from_the_list(home: Path, wrong: str) -> None:
    told = [event for event in handled(home, LoadSummaries(wrong)) if isinstance(event, SummariesLoaded)]

    assert [(len(event.summaries), event.is_complete) for event in told] == [(0, False), (2, True)]


def test_one_that_is_gone_is_not_told_first(home: Path) -> None:
    handled(home, LoadSummaries())
    trash.delete(home, meta(1).id, NOW, "")

    told = [event for event in handled(home, LoadSummaries(meta(1).id)) if isinstance(event, SummariesLoaded)]

    assert {row.meta.id for row in told[-1].summaries} == {meta(2).id}
    assert [event.is_complete for event in told] == [False, True]


def test_a_list_read_in_many_slices_is_told_in_few_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each telling copies all rows: with one for each slice, a long list would take time by the square of its length."""
    monkeypatch.setattr("core.talk.discussion.catalog.Catalog.refresh.__defaults__", (0.0,))
    for number in range(200):
        discussion_store.create(tmp_path, meta(number))

    first, again = handled(tmp_path, LoadSummaries()), handled(tmp_path, LoadSummaries())

    sizes = [len(event.summaries) for event in first if isinstance(event, SummariesLoaded)]
    assert sizes[:2] == [0, 1]
    assert (sizes[-1], sum(sizes[:-1]) <= 200, len(sizes) < 30) == (200, True, True)
    assert [len(one.summaries) for one in again if isinstance(one, SummariesLoaded)] == [200, 200]


def test_drafts_are_told_with_the_whole_list_and_an_empty_one_is_none(home: Path) -> None:
    write_draft(home, meta(2).id, Draft("half a thought"))
    write_draft(home, meta(1).id, Draft())

    listed = [event for event in handled(home, LoadSummaries()) if isinstance(event, SummariesLoaded)]

    assert listed[-1].drafted == {meta(2).id}


def test_what_was_spent_today_is_added_up_and_older_money_is_not(home: Path) -> None:
    (counted,) = [event for event in handled(home, LoadSummaries()) if isinstance(event, SpentCounted)]
    assert counted.usd == pytest.approx(0.75)
    assert counted.day_start == midnight(NOW)


def test_upkeep_counts_on_its_day_and_makes_no_discussion_the_one_used_last(home: Path) -> None:
    used, spent = NOW - timedelta(days=2), counted_usd(home)
    discussion_store.create(home, meta(3))
    ping = UsageRecord("p1", NOW, UsageKind.KEEPALIVE.value, Usage(input_tokens=1, cost_usd=2.0))
    log.append(home, meta(3).id, (*said(5, used, 1.0), ping))

    events = handled(home, LoadSummaries())

    listed = [event for event in events if isinstance(event, SummariesLoaded)][-1].summaries
    (row,) = (row for row in listed if row.meta.id == meta(3).id)
    assert (row.updated_at, row.upkept_at) == (used, NOW)
    assert counted_usd(home) == pytest.approx(spent + 2.0)


def test_a_log_that_breaks_its_reader_hides_no_other_s_money_and_no_list(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(home, meta(2).id, said(9, NOW, 0.5))
    path = paths.log_file(home, meta(2).id)
    path.write_bytes(path.read_bytes().replace(b"tide 9", b"poison"))
    decode = log_codec.decode

    def breaking(line: bytes, number: int) -> Record | log_codec.ForeignLine:
        if b"poison" in line:
            raise TypeError("a record of tomorrow")
        return decode(line, number)

    monkeypatch.setattr(log_codec, "decode", breaking)
    events = handled(home, LoadSummaries())

    (counted,) = [event for event in events if isinstance(event, SpentCounted)]
    assert counted.usd == pytest.approx(0.25)
    listed = [event for event in events if isinstance(event, SummariesLoaded)][-1]
    assert {row.meta.id: bool(row.problem) for row in listed.summaries} == {
        meta(1).id: False,
        meta(2).id: True,
    }


def test_what_harvests_cost_today_counts_with_it(home: Path) -> None:
    note_spent(home, harvested(NOW, 0.5))
    note_spent(home, harvested(NOW - timedelta(days=2), 8.0))

    (counted,) = [event for event in handled(home, LoadSummaries()) if isinstance(event, SpentCounted)]

    assert counted.usd == pytest.approx(1.25)


def test_midnight_is_at_most_a_day_ago() -> None:
    assert timedelta(0) <= NOW - midnight(NOW) < timedelta(days=1)


def counted_usd(home: Path) -> float:
    (counted,) = [event for event in handled(home, LoadSummaries()) if isinstance(event, SpentCounted)]
    assert counted.usd is not None
    return counted.usd


def test_what_was_spent_in_a_discussion_that_is_in_the_trash_was_spent(home: Path) -> None:
    trash.delete(home, meta(2).id, NOW, "deleted by you")

    assert counted_usd(home) == pytest.approx(0.75)


def test_what_a_branch_copied_from_its_parent_was_paid_once(home: Path) -> None:
    discussion_store.branch(home, meta(2).id, "m4", meta(3))

    assert counted_usd(home) == pytest.approx(0.75)


def test_what_was_paid_since_a_moment_counts_from_that_moment_on(home: Path) -> None:
    file = paths.log_file(home, meta(1).id)

    assert sum(one.usd for one in paid_since(file, NOW - timedelta(days=3)).values()) == pytest.approx(5.25)
    assert paid_since(file, NOW + timedelta(seconds=1)) == {}


def test_the_trash_is_listed_the_last_deleted_at_the_end(home: Path) -> None:
    for number in (1, 2):
        trash.delete(home, meta(number).id, NOW + timedelta(seconds=number), "deleted")
    (listed,) = [event for event in handled(home, LoadSummaries()) if isinstance(event, TrashListed)]
    assert [item.name for item in listed.items] == ["Sky 1", "Sky 2"]


def test_a_trash_that_cannot_be_aged_empties_nothing_and_keeps_no_command_from_its_work(home: Path) -> None:
    trash.delete(home, meta(1).id, NOW, "deleted")
    (paths.trash_dir(home) / paths.AGES_FILE).mkdir()

    events = handled(home, EmptyTrash(30))

    (listed,) = [event for event in events if isinstance(event, TrashListed)]
    assert [item.name for item in listed.items] == ["Sky 1"]
    (failed,) = [event for event in events if isinstance(event, OperationFailed)]
    assert (failed.subject, paths.AGES_FILE in failed.text) == ("trash", True)


def test_a_search_finds_words_of_messages(home: Path) -> None:
    events: list[Event] = []
    handler = ListingHandler(home, lambda: NOW, events.append, is_read_only=False)
    handler.handle(LoadSummaries())
    handler.handle(SearchDiscussions("tide"))
    found = events[-1]
    assert isinstance(found, SearchFound)
    assert set(found.hits.ids) == {meta(1).id, meta(2).id}


def test_only_the_last_search_is_worth_an_answer() -> None:
    assert supersedes_list(SearchDiscussions("b"), SearchDiscussions("a"))
    assert not supersedes_list(SearchDiscussions("b"), IndexDiscussion("a"))


def test_what_another_program_wrote_and_indexed_is_told_once(home: Path) -> None:
    events: list[Event] = []
    handler = ListingHandler(home, lambda: NOW, events.append, is_read_only=False)
    handler.handle(LoadSummaries())
    events.clear()
    log.append(home, meta(2).id, said(5, NOW, 0.5))
    ListingHandler(home, lambda: NOW, lambda _event: None, is_read_only=False).handle(
        IndexDiscussion(meta(2).id)
    )

    handler.handle(LookForChanges())
    handler.handle(LookForChanges())

    (changed,) = events
    assert isinstance(changed, SummariesChanged)
    assert [(row.meta.id, row.turns) for row in changed.summaries] == [(meta(2).id, 2)]


def counted(home: Path, query: UsageQuery) -> UsageReport:
    events = handled(home, LoadSummaries(), CountUsage(query))
    (one,) = [event for event in events if isinstance(event, UsageCounted)]
    return one.report


def test_usage_is_told_apart_by_discussion_also_in_the_trash_and_by_kind(home: Path) -> None:
    note_spent(home, harvested(NOW, 0.5))
    log.append(
        home, meta(2).id, (UsageRecord("p1", NOW, "keepalive", Usage(input_tokens=9, cost_usd=0.125)),)
    )
    trash.delete(home, meta(1).id, NOW, "deleted by you")

    by_discussion = counted(home, UsageQuery(by=UsageBy.DISCUSSION))
    by_kind = counted(home, UsageQuery(by=UsageBy.KIND))

    assert {row.label: (row.sum.calls, row.sum.cost_usd, row.sum.unpriced) for row in by_discussion.rows} == {
        "Sky 1 (in the trash)": (3, 5.25, 1),
        "Sky 2": (2, 0.625, 0),
        "Requests outside any discussion": (1, 0.5, 0),
    }
    assert {row.key: row.sum.cost_usd for row in by_kind.rows} == {
        "chat": 5.75,
        "harvest": 0.5,
        "upkeep": 0.125,
    }
    assert (by_kind.total.cost_usd, by_kind.total.calls, by_kind.total.unpriced) == (6.375, 6, 1)


def test_a_call_that_was_stopped_counts_for_the_model_that_it_asked(home: Path) -> None:
    """Found in a comparison of three: what the second had cost, stopped without a word, stood beside the third."""
    stopped = UsageRecord(
        id="u-stop",
        at=NOW,
        message_id="call",
        usage=Usage(input_tokens=9, cost_usd=0.25),
        paid_provider="openai",
        paid_model="gpt-9",
    )
    log.append(home, meta(2).id, (*said(5, NOW, 0.5), stopped, *said(6, NOW, 0.75)))

    rows = {row.key: row.sum.cost_usd for row in counted(home, UsageQuery(by=UsageBy.MODEL)).rows}

    assert rows["openai/gpt-9"] == 0.25
    assert 0.25 not in [usd for key, usd in rows.items() if key != "openai/gpt-9"]


def test_one_more_call_is_added_and_a_rewritten_log_is_read_anew(home: Path) -> None:
    events: list[Event] = []
    worker = ListingHandler(home, lambda: NOW, events.append, is_read_only=False)
    query = UsageQuery(by=UsageBy.PROVIDER)
    worker.handle(LoadSummaries())
    worker.handle(CountUsage(query))
    log.append(home, meta(2).id, said(7, NOW, 1.0))
    worker.handle(IndexDiscussion(meta(2).id))
    worker.handle(CountUsage(query))
    path = paths.log_file(home, meta(2).id)
    path.write_bytes(path.read_bytes().split(b"\n", 2)[2])
    worker.handle(IndexDiscussion(meta(2).id))
    worker.handle(CountUsage(query))

    totals = [event.report.total for event in events if isinstance(event, UsageCounted)]
    assert [(one.calls, one.cost_usd) for one in totals] == [(4, 5.75), (5, 6.75), (4, 6.25)]
