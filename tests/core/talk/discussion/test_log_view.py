"""What a log stands for: edits, deletions, usage and marks in place, and what a model sees of it."""

from __future__ import annotations

from functools import reduce

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.errors import FailureKind
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Mark, Message, Role, Status, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Failure
from core.kernel.values.records import EditRecord, MessageRecord, Record, StartRecord
from core.kernel.values.usage import Usage, add_usage
from core.talk.discussion.log_content import apply, branch_records, fold, message_of, model_view
from tests.core.records import (
    ID,
    NOW,
    delete,
    edit,
    mark,
    records,
    reply,
    request,
    restore,
    used,
    user,
)
from tests.operations import FLAT, TIMES, growth

few_ids = st.sampled_from(["a", "b", "c", "a~2"])
logs = st.lists(records(few_ids), max_size=25)


def everything(discussion: OpenDiscussion) -> list[Message]:
    """What is seen, and what was put aside."""
    aside = (run for one in discussion.versions.values() for run in one.aside.values())
    entries = (*discussion.entries, *(entry for run in aside for entry in run))
    return [entry for entry in entries if isinstance(entry, Message)]


def seen(discussion: OpenDiscussion) -> list[str]:
    return [message.text for message in discussion.messages]


@given(logs)
def test_reading_a_log_at_once_and_record_by_record_is_the_same(log: list[Record]) -> None:
    assert fold(ID, log) == reduce(apply, log, OpenDiscussion(ID))


@given(logs)
def test_nothing_that_was_said_leaves_the_entries(log: list[Record]) -> None:
    """Deleted messages stay, twice-used ids stay apart: as many messages as there are different ones."""
    said = {(r.id, r.at, r.role, r.parts, r.status) for r in log if isinstance(r, MessageRecord)}
    ids = [message.id for message in everything(fold(ID, log))]

    assert len(ids) == len(set(ids))
    assert len({i.partition("~")[0] for i in ids}) == len({s[0].partition("~")[0] for s in said})


@given(logs)
def test_a_model_sees_a_part_of_what_the_person_sees_in_the_same_order(log: list[Record]) -> None:
    discussion = fold(ID, log)
    shown = list(discussion.messages)
    positions = [shown.index(message) for message in model_view(discussion)]

    assert positions == sorted(positions)


def test_messages_come_in_the_order_of_the_log() -> None:
    found = fold(ID, [user("a", "one"), reply("b", "two"), user("c", "three")])

    assert seen(found) == ["one", "two", "three"]
    assert found.record_count == 3
    assert found.id == ID


def test_an_edit_changes_a_message_anywhere_and_the_last_edit_wins() -> None:
    log: list[Record] = [
        user("a", "one"),
        reply("b", "two"),
        user("c"),
        edit("d", "a", "ONE"),
        edit("e", "b", "x"),
        edit("f", "b", "TWO"),
    ]

    found = fold(ID, log)

    assert seen(found) == ["ONE", "TWO", "hello"]
    assert [m.is_edited for m in found.messages] == [True, True, False]


def test_a_deleted_message_is_kept_out_of_sight_and_comes_back() -> None:
    log: list[Record] = [user("a", "one"), reply("b", "two"), delete("d", "a")]
    gone = fold(ID, log)

    assert seen(gone) == ["two"]
    assert len(gone.entries) == 2
    assert seen(apply(gone, restore("e", "a"))) == ["one", "two"]


def test_a_deleted_message_that_is_edited_comes_back_edited() -> None:
    assert seen(fold(ID, [user("a"), delete("d", "a"), edit("e", "a", "new"), restore("r", "a")])) == ["new"]


def test_usage_belongs_to_its_message_and_a_second_one_is_added() -> None:
    found = fold(ID, [user("a"), reply("b"), used("u", "b", cost=0.25)])
    assert found.messages[1].usage == Usage(10, 5, cost_usd=0.25)

    again = apply(found, used("v", "b", tokens_in=1, tokens_out=1, cost=0.5))
    assert again.messages[1].usage == Usage(11, 6, cost_usd=0.75)


def test_marks_stand_where_they_happened() -> None:
    found = fold(ID, [mark("m0"), user("a"), mark("m1"), mark("m2"), reply("b")])

    assert [e.id for e in found.entries] == ["m0", "a", "m1", "m2", "b"]
    assert [e.after_id for e in found.entries if isinstance(e, Mark)] == ["", "a", "a"]


def test_changes_to_what_is_not_there_change_nothing() -> None:
    before = fold(ID, [user("a"), mark("m")])

    for record in (
        edit("x", "zz", "?"),
        delete("y", "zz"),
        restore("z", "zz"),
        edit("w", "m", "?"),
    ):
        assert replace(apply(before, record), record_count=2) == before


def test_usage_of_no_message_is_paid_all_the_same_and_pings_are_told_from_turns() -> None:
    """A call that failed before its first word, a keepalive ping: no message holds what they cost."""
    paid = used("u", "b")
    records: list[Record] = [user("a"), reply("b"), paid, used("v", "call"), used("k", "keepalive")]
    folded = fold(ID, records)
    one = paid.usage

    assert folded.usage == add_usage(add_usage(one, one), one)
    assert (folded.upkeep.pings, folded.upkeep.prewarms) == (1, 0)
    assert folded.upkeep.usage == add_usage(Usage(), one)
    assert apply(fold(ID, records[:-1]), records[-1]) == folded


def test_the_newest_request_is_kept() -> None:
    found = fold(ID, [request("r1", "a"), user("a"), request("r2", "a")])

    assert found.last_request is not None
    assert found.last_request.id == "r2"


def test_a_last_message_without_a_reply_can_be_sent_again() -> None:
    assert fold(ID, [user("a"), reply("b")]).failed_message_id == ""
    assert fold(ID, [user("a"), reply("b"), user("c"), mark("m")]).failed_message_id == "c"
    assert fold(ID, [user("a"), reply("b"), delete("d", "b")]).failed_message_id == "a"
    assert fold(ID, [user("a"), user("c"), delete("d", "c")]).failed_message_id == "a"
    assert fold(ID, []).failed_message_id == ""


def test_a_model_that_handed_over_had_the_last_word() -> None:
    def log(name: str, *, is_error: bool = False) -> list[Record]:
        call = MessageRecord("b", NOW, Role.ASSISTANT, (ToolCallPart("c1", name, "{}"),))
        result = ToolResultPart("c1", "It is the person's turn.", is_error=is_error)
        return [user("a"), call, MessageRecord("r", NOW, Role.TOOL, (result,))]

    assert fold(ID, log("yield_to_user")).failed_message_id == ""
    assert fold(ID, log("grep")).failed_message_id == "a"
    assert fold(ID, log("yield_to_user", is_error=True)).failed_message_id == "a"


def test_the_failure_goes_when_the_reply_comes() -> None:
    failure = Failure(FailureKind.NO_NETWORK, "No network")
    failed = replace(fold(ID, [user("a")]), failure=failure)

    assert apply(failed, mark("m")).failure == failure
    assert apply(failed, reply("b")).failure is None


def test_a_record_that_came_twice_is_shown_once() -> None:
    """A retried append, or two copies of a file merged by a sync program."""
    log: list[Record] = [user("a"), reply("b"), user("a"), edit("e", "b", "x"), reply("b")]

    assert seen(fold(ID, log)) == ["hello", "x"]


def test_two_messages_of_one_id_are_both_shown() -> None:
    found = fold(ID, [user("a", "mine"), user("a", "yours"), user("a", "theirs")])

    assert [(m.id, m.text) for m in found.messages] == [("a", "mine"), ("a~2", "yours"), ("a~3", "theirs")]


def test_a_model_sees_what_arrived_of_a_cut_off_reply_but_nothing_empty() -> None:
    log: list[Record] = [
        user("a"),
        reply("b", "half a", status=Status.INTERRUPTED),
        user("c", "  \n"),
        reply("d", "", reasoning="hm", status=Status.INTERRUPTED),
        reply("e", "part", status=Status.PARTIAL),
        MessageRecord("f", NOW, Role.ASSISTANT, (ToolCallPart("1", "read", "{}"),)),
        user("g"),
        delete("h", "g"),
    ]

    assert [m.id for m in model_view(fold(ID, log))] == ["a", "b", "e", "f"]


def test_a_branch_starts_as_the_person_sees_the_parent_up_to_the_message() -> None:
    log: list[Record] = [
        user("a", "one"),
        reply("b", "two"),
        used("u", "b"),
        user("c", "three"),
        edit("e", "a", "ONE"),
        edit("f", "c", "THREE"),
        mark("m"),
    ]

    copied = branch_records(log, "b")

    assert copied == (log[0], log[1], replace(used("u", "b"), is_inherited=True), log[4])
    assert seen(fold("new", copied)) == ["ONE", "two"]


@given(st.lists(records(few_ids, has_versions=False), max_size=25), few_ids)
def test_a_branch_shows_exactly_the_parents_messages_up_to_the_point(log: list[Record], target: str) -> None:
    first = list({r.id: r for r in reversed(log) if isinstance(r, MessageRecord)}.values())
    unique = [r for r in log if not isinstance(r, MessageRecord) or r in first]
    parent = fold(ID, unique)
    copied = branch_records(unique, target)
    messages = [e for e in parent.entries if isinstance(e, Message)]
    ids = [m.id for m in messages]

    if target not in ids:
        assert copied is None
        return
    assert copied is not None
    made = [e for e in fold(ID, copied).entries if isinstance(e, Message)]
    assert made == messages[: ids.index(target) + 1]


def test_a_branch_from_a_message_that_is_not_there_is_none() -> None:
    assert branch_records([user("a"), mark("m")], "m") is None


@pytest.mark.parametrize(
    "added", [user("new"), edit("e", "17", "x"), delete("d", "900"), used("u", "998"), mark("m")]
)
def test_one_more_record_takes_the_same_steps_however_many_messages_there_are(added: Record) -> None:
    """Its row in `tests.bench.app_log` says how long: 0.3 ms on ten thousand messages."""
    discussions = {
        size: fold(ID, [user(f"{n}", minute=n) if n % 2 else reply(f"{n}") for n in range(size)])
        for size in (1_000, 1_000 * TIMES)
    }

    def add(size: int) -> None:  # to the newest value, as a program does: an older one makes its places anew
        discussions[size] = apply(discussions[size], added)

    assert growth(add, 1_000) <= FLAT
    for discussion in discussions.values():
        assert discussion.entries[16] is apply(discussion, added).entries[16]


def test_an_edit_keeps_attachments_only_where_it_says_so() -> None:
    """The record carries all parts: what it leaves out is gone from sight, and still in the log."""
    found = fold(ID, [user("a"), edit("e", "a", "only words")])

    assert found.messages[0].parts == (TextPart("only words"),)


def test_a_value_that_was_gone_on_from_can_be_gone_on_from_again() -> None:
    records = [MessageRecord(f"m{n}", NOW, Role.USER, (TextPart(f"{n}"),)) for n in range(3)]
    before = fold("d", records[:1])
    one = apply(apply(before, records[1]), records[2])
    other = apply(before, records[2])

    assert [message.id for message in one.messages] == ["m0", "m1", "m2"]
    assert [message.id for message in other.messages] == ["m0", "m2"]
    changed = apply(other, EditRecord("e", NOW, "m2", (TextPart("two"),)))
    assert [message.text for message in changed.messages] == ["0", "two"]


def test_what_changes_no_entry_leaves_the_very_same_ones_with_all_that_was_made_of_them() -> None:
    """A turn with tools asks for the messages many times a round, in discussions of thousands."""
    talk = fold("d", [MessageRecord("m1", NOW, Role.USER, (TextPart("Hi."),))])
    said = talk.messages
    later = apply(talk, StartRecord("s1", NOW, "c1", "", "policy"))

    assert later.entries is talk.entries
    assert replace(later, queue_hold="waits").messages is said
    assert len(apply(later, MessageRecord("m2", NOW, Role.ASSISTANT, (TextPart("Yes."),))).messages) == 2
    assert later.messages is said


def test_a_message_has_all_that_its_record_tells_but_what_it_is_a_version_of() -> None:
    record = MessageRecord(
        "m1", NOW, Role.ASSISTANT, (TextPart("x"),), Status.INTERRUPTED, "anthropic", "claude", "m0", is_autonomous=True, asks_rest=True
    )  # fmt: skip
    told = set(MessageRecord.__struct_fields__) - {"version_of"}

    message = message_of(record)

    assert {name: getattr(message, name) for name in told} == {name: getattr(record, name) for name in told}
    assert all(getattr(record, field.name) != field.default for field in msgspec.structs.fields(record))
    assert message.version_of == ""
