"""A request as blocks: what its hashes depend on, where marks may stand, and that the memo changes nothing."""

from __future__ import annotations

from operator import is_

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import ToolSchema
from core.services.providers.blocks import MarkPlace, WireMemo, part_key, wire_of
from tests.core.talk.caching.requests import SCOPE, count, request, seg, wire

TEXTS = st.lists(st.sampled_from(["100 a", "200 b", "300 c", "400 d"]), max_size=7)


def with_tools(*rounds: int) -> ProviderRequest:
    """A turn under way: rounds of so many parallel calls each, then their results."""
    messages = list(request(words="100 ask", tail="").messages)
    for number, calls in enumerate(rounds):
        ids = [f"c{number}{n}" for n in range(calls)]
        messages.append(RequestMessage(Role.ASSISTANT, tuple(ToolCallPart(i, "read", "{}") for i in ids)))
        messages.append(RequestMessage(Role.TOOL, tuple(ToolResultPart(i, "500 found") for i in ids)))
    return replace(request(), messages=(*messages, RequestMessage(Role.USER, (seg(8, "50 tail"),))))


def test_requests_share_hashes_exactly_as_far_as_they_share_blocks() -> None:
    one, two = wire("100 a", "100 b"), wire("100 a", "100 OTHER")

    same = [a == b for a, b in zip(one.hashes, two.hashes, strict=True)]
    assert same == [True, True, True, False, False, False]


def test_another_model_or_setting_shares_nothing() -> None:
    for scope in (
        replace(SCOPE, model="other"),
        replace(SCOPE, settings="effort=high"),
        replace(SCOPE, key_id="x"),
    ):
        other = wire_of(request(), scope, count)
        assert not set(other.hashes) & set(wire().hashes)


def test_the_words_of_a_turn_hash_alike_as_message_and_as_history() -> None:
    now = wire(words="100 hello")
    later = wire("100 hello", "300 answer", words="100 more")

    assert now.hashes[: now.head + 1] == later.hashes[: now.head + 1]


def test_the_head_is_the_last_block_before_metadata() -> None:
    laid = wire("100 a", "100 b")

    assert laid.blocks[laid.head].key == "12/text"
    assert laid.blocks[-1].place is MarkPlace.TAIL


def test_metadata_in_a_running_turn_ends_what_the_next_turn_repeats_and_not_what_this_one_does() -> None:
    messages = (
        RequestMessage(Role.USER, (seg(10, "900 files"), seg(11, "10 hi", "m"), seg(8, "50 meta"))),
        RequestMessage(Role.TOOL, (ToolResultPart("c", "found"),)),
    )
    laid = wire_of(replace(request(), messages=messages), SCOPE, count)

    assert laid.blocks[laid.head].key == "11/m"
    assert laid.blocks[laid.turn_head].key == "result/c"


def test_retrieved_text_ends_what_the_next_turn_repeats() -> None:
    parts = (seg(10, "900 files"), seg(12, "70 rag", "rag"), seg(12, "10 hi", "text"))
    laid = wire_of(replace(request(), messages=(RequestMessage(Role.USER, parts),)), SCOPE, count)

    assert laid.blocks[laid.head].key == "10"
    assert laid.blocks[laid.turn_head].key == "12/text"


def test_thinking_cannot_be_marked_and_ends_it_only_where_the_next_turn_does_not_repeat_it() -> None:
    asked = with_tools(1)
    thought = RequestMessage(Role.ASSISTANT, (ReasoningPart("hm"),))
    asked = replace(asked, messages=(*asked.messages[:1], thought, *asked.messages[1:]))
    memo = WireMemo()
    kept = wire_of(asked, SCOPE, count, memo)
    laid = wire_of(asked, SCOPE, count, memo, keeps_reasoning=False)

    assert kept.blocks[kept.head].key == "result/c00"
    assert laid.blocks[laid.head].key == "12/text"
    assert laid.blocks[laid.turn_head].key == "8"
    assert not laid.blocks[laid.head + 1].can_be_marked


def test_a_run_of_calls_or_of_results_is_one_position() -> None:
    laid = wire_of(with_tools(3, 2), SCOPE, count)
    by_key = {block.key: place for block, place in zip(laid.blocks, laid.positions, strict=True)}

    assert by_key["call/c00"] == by_key["call/c02"]
    assert by_key["result/c00"] == by_key["call/c00"] + 1
    assert by_key["result/c11"] == by_key["call/c00"] + 3


def test_every_kind_of_part_has_a_key() -> None:
    picture = AttachmentPart("ab", "image/png", "a.png", 3)
    parts: list[RequestPart] = [
        seg(11, "x", "m1"),
        ToolCallPart("1", "n", "{}"),
        ToolResultPart("1", "t"),
        picture,
    ]

    assert [part_key(part) for part in parts] == ["11/m1", "call/1", "result/1", "attachment/ab"]


def test_tools_come_first_and_tell_each_other_apart() -> None:
    tools = (ToolSchema("a", "500 reads", "{}"), ToolSchema("b", "500 writes", "{}"))
    one = wire_of(replace(request(), tools=tools), SCOPE, count)
    two = wire_of(replace(request(), tools=tools[:1]), SCOPE, count)

    assert [block.key for block in one.blocks[:3]] == ["3", "3", "1"]
    assert one.ends[:2] == (500, 1000)
    assert one.hashes[0] == two.hashes[0]
    assert one.hashes[1] != two.hashes[1]


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_a_memo_changes_no_row(turns: list[list[str]]) -> None:
    memo = WireMemo()
    for talk in turns:
        asked = request(*talk)
        assert wire_of(asked, SCOPE, count, memo) == wire_of(asked, SCOPE, count)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=2, max_size=5))
def test_a_memo_changes_no_row_where_the_head_grows_or_shrinks(turns: list[tuple[list[str], ...]]) -> None:
    """The last of the system is the digest, which a person deletes; tools come and go."""
    memo = WireMemo()
    for tools, system, talk in turns:
        asked = replace(
            request(*talk),
            tools=tuple(ToolSchema(text, text, "{}") for text in tools),
            system=tuple(seg(7, text, f"{number}") for number, text in enumerate(system)),
        )
        assert wire_of(asked, SCOPE, count, memo) == wire_of(asked, SCOPE, count)


@given(TEXTS, TEXTS)
def test_a_memo_of_another_scope_changes_no_row(one: list[str], two: list[str]) -> None:
    memo = WireMemo()
    wire_of(request(*one), replace(SCOPE, model="other"), count, memo)

    assert wire_of(request(*two), SCOPE, count, memo) == wire_of(request(*two), SCOPE, count)


def test_parts_that_were_counted_anew_get_their_new_tokens() -> None:
    memo, asked = WireMemo(), request()
    before = wire_of(asked, SCOPE, count, memo, revision=1)
    after = wire_of(asked, SCOPE, lambda part: 2 * count(part), memo, revision=2)

    assert after.total_tokens == 2 * before.total_tokens
    assert after.hashes == before.hashes
    assert all(map(is_, after.blocks, before.blocks)), "counting anew lays nothing out anew"
    longer = replace(
        asked, messages=(*asked.messages, RequestMessage(Role.ASSISTANT, asked.messages[0].parts))
    )
    assert wire_of(longer, SCOPE, count, memo, revision=3) == wire_of(longer, SCOPE, count)
