"""OpenAI's cache through the real SDK, against a server that bills as the vendor's documents say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.cache import TOOLS_KEY, CacheMark, CachePlan
from core.kernel.values.messages import ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort
from core.kernel.values.usage import Usage
from core.services.providers.openai.client import OpenAiProvider
from core.services.providers.protocol import CancelToken, Prewarms
from tests.core.services.providers.caching_kit import (
    FILES,
    METADATA,
    SYSTEM,
    TEXT,
    both_at_once,
    plan,
    sent,
    turn,
    words,
)
from tests.core.services.providers.openai.kit import SOL, provider_at
from tests.core.services.providers.outcomes import NO_BLOBS, TOOLS, ask, assistant, tool, user
from tests.vendors.billing.clock import Clock
from tests.vendors.loopback import Answer
from tests.vendors.openai_server import OpenAiServer

OLD = "gpt-5.5"
HALF_HOUR, HALF_DAY = 1800, 43_200
FULL = plan(
    (TOOLS_KEY, HALF_DAY),
    (SYSTEM, HALF_DAY),
    (FILES, HALF_HOUR),
    (TEXT, HALF_HOUR),
    openai_mode="explicit",
    prompt_cache_key="manual-slop-abc",
)


def reading(number: int) -> CachePlan:
    """The same plan with a breakpoint at the person's words, by their number in the talk, that were sent last."""
    stable, files, head = FULL.marks[1:]
    return replace(FULL, marks=(stable, files, CacheMark(f"11/m{number}", HALF_HOUR), head))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Iterator[OpenAiServer]:
    with OpenAiServer(clock=clock) as running:
        yield running


@pytest.fixture
def client(server: OpenAiServer) -> Iterator[OpenAiProvider]:
    provider = provider_at(server)
    yield provider
    provider.close()


def breakpoints(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Start of the text and lifetime of every marked block."""
    parts = [
        part
        for item in body["input"]
        for part in (item.get("content") or item.get("output") or ())
        if isinstance(part, dict)
    ]
    return [
        (part["text"][:6], part["prompt_cache_breakpoint"]["ttl"])
        for part in parts
        if "prompt_cache_breakpoint" in part
    ]


def test_breakpoints_stand_on_content_blocks_and_never_on_tools_or_instructions(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    sent(client, turn(SOL, "Hello?", cache=FULL))

    body = server.bodies[0]
    assert breakpoints(body) == [("digest", "12h"), ("files ", "30m"), ("Hello?", "30m")]
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert body["prompt_cache_key"] == "manual-slop-abc"
    assert "instructions" not in body
    assert b"prompt_cache_breakpoint" not in json.dumps(body["tools"]).encode()
    assert body["input"][-1]["content"][-1]["text"] == METADATA


def test_the_first_turn_writes_what_the_next_one_reads(server: OpenAiServer, client: OpenAiProvider) -> None:
    first = sent(client, turn(SOL, "Hello?", cache=FULL)).usage
    request = turn(SOL, "Hello?", words(50), words(70), cache=reading(0), metadata="Other.")
    second = sent(client, request).usage

    assert first.cache_read_tokens == 0
    assert (first.cache_write_tokens or 0) > 3000
    assert second.cache_read_tokens == first.cache_write_tokens
    assert second.cache_write_tokens == 120
    assert second.input_tokens == (second.cache_read_tokens or 0) + 120 + 2
    assert second.miss_reason == ""


def test_breakpoints_stand_where_the_plan_has_them_and_nowhere_else(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    """In explicit mode an entry is found only at a breakpoint, so the plan has one at what it expects to be read."""
    said = ("First?", "Yes.", "Second", "No.", "Third?")
    for cache in (reading(2), plan((TEXT, HALF_HOUR)), plan()):
        sent(client, turn(SOL, *said, cache=cache))

    places = [[text for text, _ in breakpoints(body)] for body in server.bodies]
    assert places == [["digest", "files ", "Second", "Third?"], ["Third?"], []]


def test_in_a_running_turn_the_answers_before_are_looked_at(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    rounds = []
    usages = []
    for number in (1, 2, 3):
        call = ToolCallPart(f"c{number}", "read_file", "{}")
        rounds += [assistant(call), tool(ToolResultPart(f"c{number}", words(1500, f"found {number}")))]
        request = ask(SOL, user("Go."), *rounds, tools=TOOLS)
        marks = [(f"result/c{one}", HALF_HOUR) for one in (number - 1, number) if one]
        request = replace(request, cache=plan(*marks))
        usages.append(sent(client, request).usage)

    assert [usage.cache_read_tokens for usage in usages[1:]] == [u.input_tokens for u in usages[:2]]


def test_caching_off_is_explicit_mode_without_a_breakpoint(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    off = replace(FULL, is_enabled=False)
    usages = [sent(client, turn(SOL, "Hello?", cache=off)).usage for _ in range(2)]

    assert all(body["prompt_cache_options"] == {"mode": "explicit"} for body in server.bodies)
    assert all(breakpoints(body) == [] and "prompt_cache_key" not in body for body in server.bodies)
    assert [(u.cache_read_tokens, u.cache_write_tokens) for u in usages] == [(0, 0)] * 2


def test_without_a_plan_the_vendors_own_way_is_left_alone(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    usages = [sent(client, turn(SOL, "Hello?", metadata="Same.")).usage for _ in range(2)]

    assert b"prompt_cache" not in server.requests[0].body
    assert usages[1].cache_read_tokens == usages[0].cache_write_tokens


def test_implicit_mode_marks_the_end_as_well(server: OpenAiServer, client: OpenAiProvider) -> None:
    implicit = replace(plan((SYSTEM, HALF_HOUR)), openai_mode="implicit")
    first = sent(client, turn(SOL, "Hello?", cache=implicit)).usage

    assert server.bodies[0]["prompt_cache_options"]["mode"] == "implicit"
    assert breakpoints(server.bodies[0]) == [("digest", "30m")]
    assert first.cache_write_tokens == first.input_tokens


def test_an_older_model_is_told_only_the_key_and_reads_by_itself(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    usages = [sent(client, turn(OLD, "Hello?", cache=FULL)).usage for _ in range(2)]
    off = sent(client, turn(OLD, "Hello?", cache=replace(FULL, is_enabled=False)))

    assert [name for name in server.bodies[0] if name.startswith("prompt_cache")] == ["prompt_cache_key"]
    assert b"breakpoint" not in server.requests[0].body
    assert usages[1].cache_read_tokens == 2048
    assert b"prompt_cache" not in server.requests[2].body
    assert off.error is None


def test_an_answer_of_a_tool_can_be_marked_and_words_of_the_model_cannot(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    call = ToolCallPart("c1", "read_file", "{}")
    request = ask(
        SOL, user("Go."), assistant("Well.", call), tool(ToolResultPart("c1", words(1500))), tools=TOOLS
    )
    request = replace(request, discussion_id="d", cache=plan(("call/c1", HALF_DAY), ("result/c1", HALF_HOUR)))
    first = sent(client, request).usage
    second = sent(client, request).usage

    assert breakpoints(server.bodies[0]) == [("Go.", "12h"), (" xxxxx", "30m")]
    assert second.cache_read_tokens == first.cache_write_tokens
    assert (second.cache_read_tokens or 0) > 1500


@pytest.mark.breaks_prefix("another salt is there to miss the cache")
def test_after_a_changed_salt_the_next_turn_misses_and_the_one_after_hits(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    salted = words(2000, "epoch 1 digest")
    said = ("Hello?", "Yes.", "More.")
    sent(client, turn(SOL, said[0], cache=FULL))
    missed = sent(client, turn(SOL, *said, cache=FULL, system=salted)).usage
    hit = sent(client, turn(SOL, *said, "Here.", "On.", cache=reading(2), system=salted)).usage

    assert missed.cache_read_tokens == 0
    assert missed.miss_reason.startswith("earlier messages or the system prompt changed: ")
    assert hit.cache_read_tokens == missed.cache_write_tokens
    assert hit.miss_reason == ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tools": TOOLS[:1]}, "the tools changed"),
        ({"effort": Effort.LOW}, "the effort changed"),
        ({"response_schema_json": '{"type":"object"}'}, "the requested format of the reply changed"),
        ({"cache": replace(FULL, prompt_cache_key="other")}, "the cache key of the request changed"),
    ],
)
@pytest.mark.breaks_prefix("each row changes a part on purpose")
def test_the_vendors_own_reason_for_a_miss_comes_in_plain_words(
    client: OpenAiProvider, change: dict[str, Any], reason: str
) -> None:
    request = turn(SOL, "Hello?", cache=FULL)
    sent(client, request)

    assert sent(client, replace(request, **change)).usage.miss_reason.startswith(reason)


def test_a_reply_that_the_vendor_forgot_is_said_to_be_forgotten(clock: Clock, client: OpenAiProvider) -> None:
    sent(client, turn(SOL, "Hello?", cache=FULL))
    clock.advance(7200)
    usage = sent(client, turn(SOL, "Hello?", cache=FULL)).usage

    assert usage.miss_reason == "the provider no longer knows the last request"
    assert 0 < (usage.cache_read_tokens or 0) < 3000  # what was written for half a day


def test_each_discussion_is_compared_with_its_own_last_reply(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    for discussion in ("d1", "d2", "d1"):
        sent(client, turn(SOL, "Hello?", cache=FULL, discussion=discussion))

    asked = [body["prompt_cache_options"].get("comparison_response_id") for body in server.bodies]
    assert asked[:2] == [None, None]
    assert asked[2].startswith("resp_")


def test_of_two_discussions_with_one_prefix_at_once_both_write_and_the_third_reads(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    asks = [turn(SOL, text, cache=FULL, discussion=text) for text in ("One?", "Two?", "Three?")]
    first, second = (result.usage for result in both_at_once(server, client, asks[0], asks[1]))
    third = sent(client, asks[2]).usage

    assert (first.cache_read_tokens, second.cache_read_tokens) == (0, 0)
    assert (third.cache_read_tokens or 0) > 3000


def test_a_server_that_refuses_the_fields_gets_none_from_then_on_and_usage_says_nothing() -> None:
    with OpenAiServer(caches=False) as server:
        client = provider_at(server)
        usages = [sent(client, turn(SOL, "Hello?", cache=FULL)).usage for _ in range(2)]
        client.close()

    asked = [[name for name in body if name.startswith("prompt_cache")] for body in server.bodies]
    assert asked == [["prompt_cache_key", "prompt_cache_options"], ["prompt_cache_options"], [], []]
    assert all(breakpoints(body) == [] for body in server.bodies[2:])
    assert all((u.cache_read_tokens, u.cache_write_tokens) == (None, None) for u in usages)
    assert not any(u.is_estimate for u in usages), "it has no cache that it could tell of"


def _warm(client: OpenAiProvider, cache: CachePlan | None, model: str = SOL) -> Usage | None:
    return client.prewarm(turn(model, "Hello?", cache=cache), NO_BLOBS, CancelToken())


def test_prewarming_reads_the_prefix_ahead_so_that_the_turn_hits(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    warmed = _warm(client, replace(FULL, marks=FULL.marks[:3]))
    usage = sent(client, turn(SOL, "And now?", cache=FULL)).usage

    ping, real = server.bodies
    assert ping["prompt_cache_options"] == {"mode": "explicit", "prewarm": True}
    assert [len(item["content"]) for item in ping["input"]] == [2, 1]
    assert {name: ping[name] for name in ("tools", "reasoning", "prompt_cache_key")} == {
        name: real[name] for name in ("tools", "reasoning", "prompt_cache_key")
    }
    assert warmed is not None
    assert warmed.output_tokens == 0
    assert usage.cache_read_tokens == warmed.cache_write_tokens == warmed.input_tokens


def test_a_ping_keeps_the_prefix_alive(clock: Clock, client: OpenAiProvider) -> None:
    short = plan((TEXT, HALF_HOUR), openai_mode="explicit")
    written = sent(client, turn(SOL, "Hello?", cache=short)).usage.cache_write_tokens
    clock.advance(1700)
    ping = _warm(client, short)
    clock.advance(1700)
    kept = sent(client, turn(SOL, "Hello?", cache=short)).usage
    clock.advance(1801)
    late = _warm(client, short)

    assert ping is not None
    assert late is not None
    assert ping.cache_read_tokens == kept.cache_read_tokens == written
    assert late.cache_read_tokens == 0


def test_a_prewarm_keeps_the_answers_of_one_round_together(
    server: OpenAiServer, client: OpenAiProvider
) -> None:
    calls = [ToolCallPart(f"c{n}", "read_file", "{}") for n in (1, 2)]
    results = [ToolResultPart(f"c{n}", words(900)) for n in (1, 2)]
    request = ask(SOL, user("Go."), assistant(*calls), tool(*results), user("Well?"), tools=TOOLS)
    client.prewarm(replace(request, cache=plan(("result/c1", HALF_HOUR))), NO_BLOBS, CancelToken())

    assert [item["type"] for item in server.bodies[0]["input"]][-2:] == ["function_call_output"] * 2


def test_where_there_is_nothing_to_warm_nothing_is_sent(server: OpenAiServer, client: OpenAiProvider) -> None:
    assert isinstance(client, Prewarms)
    for cache in (None, CachePlan(), replace(FULL, is_enabled=False)):
        assert _warm(client, cache) is None
    assert _warm(client, FULL, OLD) is None
    assert server.requests == []


def test_a_prewarm_that_fails_says_why(server: OpenAiServer, client: OpenAiProvider) -> None:
    server.faults.append(Answer(server.error(429, "rate_limit_exceeded", "Slow down.")))

    with pytest.raises(ProviderError) as failure:
        _warm(client, FULL)
    assert failure.value.kind is FailureKind.RATE_LIMITED


def test_counting_speaks_of_no_cache(server: OpenAiServer, client: OpenAiProvider) -> None:
    request = turn(SOL, "Hello?", cache=FULL)

    assert client.count_tokens(request, NO_BLOBS) == sent(client, request).usage.input_tokens
    assert b"prompt_cache" not in server.requests[0].body
