"""End of a talk in the list: what a program that ended has left is known before anybody opens the discussion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import HAND_OVER, DiscussionSummary, is_partial
from core.kernel.values.messages import Role, Status, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.records import MessageRecord, Record, StartRecord
from core.talk.discussion import discussion_store, log
from core.talk.discussion.catalog import Catalog
from tests.core.records import ID, NOW, choose, delete, edit, meta, reply, restore, used, user, version


def asks(
    record_id: str, *call_ids: str, name: str = "bash", status: Status = Status.COMPLETE
) -> MessageRecord:
    calls = tuple(ToolCallPart(one, name, "{}") for one in call_ids)
    return MessageRecord(
        record_id, NOW, Role.ASSISTANT, (TextPart("I look."), *calls), status, "anthropic", "m"
    )


def result(record_id: str, call_id: str, *, is_error: bool = False) -> MessageRecord:
    return MessageRecord(record_id, NOW, Role.TOOL, (ToolResultPart(call_id, "it", is_error=is_error),))


def begun(record_id: str, call_id: str) -> StartRecord:
    return StartRecord(record_id, NOW, call_id)


ASKED: tuple[Record, ...] = (user("a", "one"), asks("b", "c1", "c2"), used("u", "b"))

ENDS: dict[str, tuple[tuple[Record, ...], bool, int]] = {
    "calls that nobody began": (ASKED, False, 2),
    "one has its result": ((*ASKED, begun("s", "c1"), result("r", "c1")), True, 1),
    "one was begun": ((*ASKED, begun("s", "c1")), True, 1),
    "all have results": ((*ASKED, result("r", "c1"), result("q", "c2")), True, 0),
    "the model has spoken since": ((*ASKED, result("r", "c1"), result("q", "c2"), reply("d")), False, 0),
    "the person has written on": ((*ASKED, user("d", "two")), True, 0),
    "the model handed over": ((user("a"), asks("b", "c1", name=HAND_OVER), result("r", "c1")), False, 0),
    "the hand-over failed": ((user("a"), asks("b", "c1", name=HAND_OVER), result("r", "c1", is_error=True)), True, 0),
    "a part of a reply": ((user("a"), asks("b", "c1", status=Status.PARTIAL)), True, 0),
    "the reply was taken out": ((*ASKED, delete("x", "b")), True, 0),
    "the reply is back": ((*ASKED, delete("x", "b"), restore("y", "b")), False, 2),
    "its words were edited": ((*ASKED, begun("s", "c1"), edit("e", "b", "Other")), True, 0),
    "another version says all": ((*ASKED, result("r", "c1"), result("q", "c2"), version("v", "b")), False, 0),
    "the version with calls is chosen": ((user("a"), reply("b"), replace(asks("v", "c1"), version_of="b")), False, 1),
    "the other version is chosen": (
        (user("a"), reply("b"), replace(asks("v", "c1"), version_of="b"), choose("h", "b")), False, 0),
    "no word of a person": ((reply("b"),), False, 0),
}  # fmt: skip


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    made = Catalog(tmp_path / "home", tmp_path / "cache" / "catalog.sqlite")
    yield made
    made.close()


def row_of(catalog: Catalog) -> DiscussionSummary:
    return next(row for step in catalog.refresh() for row in step.summaries if row.meta.id == ID)


@pytest.mark.parametrize("end", ENDS)
def test_the_list_knows_how_a_talk_ends_as_one_who_opens_it_does(
    catalog: Catalog, tmp_path: Path, end: str
) -> None:
    records, is_unanswered, left_calls = ENDS[end]
    home = tmp_path / "home"
    discussion_store.create(home, meta(ID), records)

    row = row_of(catalog)

    opened = discussion_store.load(home, ID, NOW).discussion
    said = {part.call_id for one in opened.messages for part in one.parts if isinstance(part, ToolCallPart)}
    assert (row.is_unanswered, row.left_calls) == (is_unanswered, left_calls)
    assert bool(opened.unanswered_id) is is_unanswered
    assert row.is_partial is is_partial(opened.entries)
    assert len(said & {*opened.left_calls}) == left_calls


PARTS: dict[str, tuple[tuple[Record, ...], bool]] = {
    "ended early": ((), True),
    "answered since": ((user("c", "go on"), reply("d")), False),
    "the person has written on": ((user("c", "go on"),), False),
    "taken out": ((delete("x", "b"),), False),
    "ended by the person": ((replace(reply("c"), status=Status.INTERRUPTED),), False),
}


@pytest.mark.parametrize("then", PARTS)
def test_the_list_knows_of_a_reply_that_is_not_whole(catalog: Catalog, tmp_path: Path, then: str) -> None:
    records, expected = PARTS[then]
    part = replace(reply("b"), status=Status.PARTIAL)
    discussion_store.create(tmp_path / "home", meta(ID), (user("a"), part, *records))

    assert row_of(catalog).is_partial is expected


def test_a_call_waits_in_the_list_until_it_is_begun_or_the_model_goes_on(
    catalog: Catalog, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    discussion_store.create(home, meta(ID), ASKED)
    seen = [row_of(catalog).left_calls]

    for record in (begun("s", "c1"), result("r", "c1"), result("q", "c2"), reply("d")):
        log.append(home, ID, [record])
        seen.append(row_of(catalog).left_calls)

    assert seen == [2, 1, 1, 0, 0]
