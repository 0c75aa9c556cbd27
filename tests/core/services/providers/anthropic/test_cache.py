"""Anthropic's cache through the real SDK, against a server that bills as the vendor's documents say."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.cache import TOOLS_KEY, CachePlan
from core.kernel.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort
from core.kernel.values.stack import LayerId
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.protocol import CancelToken, Prewarms
from tests.core.services.providers.anthropic.kit import HAIKU_OLD, OPUS, provider_at
from tests.core.services.providers.caching_kit import (
    FILES,
    HOUR,
    METADATA,
    MINUTES_5,
    SYSTEM,
    TEXT,
    both_at_once,
    marked,
    plan,
    sent,
    turn,
    words,
)
from tests.core.services.providers.outcomes import NO_BLOBS, TOOLS, ask, assistant, outcome, seg, tool, user
from tests.vendors.anthropic_server import AnthropicServer
from tests.vendors.billing.clock import Clock
from tests.vendors.loopback import Answer

FULL = plan((TOOLS_KEY, HOUR), (SYSTEM, HOUR), (FILES, MINUTES_5), (TEXT, MINUTES_5))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Iterator[AnthropicServer]:
    with AnthropicServer(clock=clock) as running:
        yield running


@pytest.fixture
def client(server: AnthropicServer) -> Iterator[AnthropicProvider]:
    provider = provider_at(server)
    yield provider
    provider.close()


def test_marks_stand_on_exactly_the_blocks_of_the_plan_and_metadata_follows_the_last(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    sent(client, turn(OPUS, "Hello?", cache=FULL))

    body = server.bodies[0]
    assert marked(body) == [("write_file", "1h"), ("digest", "1h"), ("files ", "5m"), ("Hello?", "5m")]
    assert body["messages"][-1]["content"][-1] == {"type": "text", "text": METADATA}


def test_the_first_turn_writes_what_the_next_one_reads(client: AnthropicProvider) -> None:
    first = sent(client, turn(OPUS, "Hello?", cache=FULL)).usage
    second = sent(client, turn(OPUS, "Hello?", words(50), words(70), cache=FULL, metadata="Other.")).usage

    assert first.cache_read_tokens == 0
    assert first.cache_write_tokens == (first.cache_write_1h_tokens or 0) + (first.cache_write_5m_tokens or 0)
    assert (first.cache_write_5m_tokens or 0) > 1000
    assert (first.cache_write_1h_tokens or 0) > 2000
    assert second.cache_read_tokens == first.cache_write_tokens
    assert (second.cache_write_tokens, second.cache_write_1h_tokens) == (120, 0)
    assert second.input_tokens == (second.cache_read_tokens or 0) + 120 + 2  # metadata is plain input


def test_without_a_plan_or_with_caching_off_no_byte_speaks_of_caching(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    off = replace(FULL, is_enabled=False)
    usages = [sent(client, turn(OPUS, "Hello?", cache=cache)).usage for cache in (None, off, off)]

    assert all(b"cache_control" not in r.body and b"diagnostics" not in r.body for r in server.requests)
    assert [(u.cache_read_tokens, u.cache_write_tokens) for u in usages] == [(0, 0)] * 3


def test_a_mark_never_falls_on_thinking_or_blank_text_but_on_the_block_before(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    blank = seg("  \n", LayerId.KNOWLEDGE, "7/blank")
    thought = ReasoningPart("Hm.", '{"type":"redacted_thinking","data":"eA=="}')
    call = ToolCallPart("c1", "read_file", "{}")
    request = replace(
        ask(
            OPUS,
            user("Go."),
            assistant(seg("Well.", key="11/well"), thought, call),
            tool(ToolResultPart("c1", "found")),
            tools=TOOLS,
            discussion_id="d",
        ),
        cache=plan(
            ("7/blank", HOUR), ("reasoning", MINUTES_5), ("result/c1", MINUTES_5), ("no such key", HOUR)
        ),
    )
    request = replace(request, system=(*request.system, blank))
    sent(client, request)

    assert marked(server.bodies[0]) == [("The pr", "1h"), ("Well.", "5m"), ("tool_r", "5m")]
    assert [b["type"] for b in server.bodies[0]["messages"][1]["content"]][1] == "redacted_thinking"


def test_a_plan_that_the_vendor_would_refuse_is_brought_into_its_rules(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    """Five marks, a long one behind a short one, two on one block: still taken."""
    wild = plan(
        (TOOLS_KEY, MINUTES_5),
        ("1/role", HOUR),
        (SYSTEM, HOUR),
        (FILES, HOUR),
        (TEXT, HOUR),
        (TEXT, MINUTES_5),
    )
    sent(client, turn(OPUS, "Hello?", cache=wild))

    assert [ttl for _, ttl in marked(server.bodies[0])] == ["5m"] * 4
    assert marked(server.bodies[0])[-1][0] == "Hello?"


@pytest.mark.breaks_prefix("another salt is there to miss the cache")
def test_after_a_changed_salt_the_next_turn_misses_and_the_one_after_hits(client: AnthropicProvider) -> None:
    salted = words(2000, "epoch 1 digest")
    said = ("Hello?", "Yes.", "More.")
    before = sent(client, turn(OPUS, said[0], cache=FULL)).usage
    missed = sent(client, turn(OPUS, *said, cache=FULL, system=salted)).usage
    hit = sent(client, turn(OPUS, *said, "Here.", "On.", cache=FULL, system=salted)).usage

    assert missed.miss_reason.startswith("the system prompt changed: ")
    assert missed.cache_read_tokens == 0
    assert (hit.cache_read_tokens or 0) > (before.cache_write_tokens or 0)
    assert hit.miss_reason == ""


@pytest.mark.parametrize(
    ("change", "words_"),
    [
        ({"files": "other files"}, "earlier messages changed"),
        ({"tools": TOOLS[:1]}, "the tools changed"),
        ({"model": "claude-sonnet-5-5"}, "the model changed"),
        ({"effort": Effort.LOW}, "the provider could not tell"),
    ],
)
@pytest.mark.breaks_prefix("each row changes a part on purpose")
def test_the_vendors_own_reason_for_a_miss_comes_in_plain_words(
    client: AnthropicProvider, change: dict[str, object], words_: str
) -> None:
    request = turn(OPUS, "Hello?", cache=FULL)
    sent(client, request)
    changed = {name: value for name, value in change.items() if name != "files"}
    other = turn(OPUS, "Hello?", cache=FULL, files=str(change.get("files", "")))
    missed = sent(client, replace(other, **changed)).usage  # type: ignore[arg-type]

    assert missed.miss_reason.startswith(words_)


def test_a_change_that_missed_no_token_is_no_miss(client: AnthropicProvider) -> None:
    sent(client, turn(OPUS, "Hello?", cache=plan()))
    changed = sent(client, turn(OPUS, "Another.", cache=plan()))

    assert (changed.usage.cache_read_tokens, changed.usage.miss_reason) == (0, "")


def test_each_discussion_is_compared_with_its_own_last_request(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    for discussion in ("d1", "d2", "d1"):
        sent(client, turn(OPUS, "Hello?", cache=FULL, discussion=discussion))

    asked = [body["diagnostics"]["previous_message_id"] for body in server.bodies]
    assert asked[:2] == [None, None]
    assert asked[2].startswith("msg_")


def test_a_request_that_the_vendor_forgot_is_said_to_be_forgotten(
    server: AnthropicServer, clock: Clock, client: AnthropicProvider
) -> None:
    sent(client, turn(OPUS, "Hello?", cache=FULL))
    clock.advance(2 * HOUR)

    usage = sent(client, turn(OPUS, "Hello?", cache=FULL)).usage
    assert usage.miss_reason == "the provider no longer knows the last request"
    assert usage.cache_read_tokens == 0
    assert server.cache.live_tokens()


def test_an_hour_outlives_five_minutes(clock: Clock, client: AnthropicProvider) -> None:
    first = sent(client, turn(OPUS, "Hello?", cache=FULL)).usage
    clock.advance(600)
    second = sent(client, turn(OPUS, "Hello?", cache=FULL)).usage

    assert second.cache_read_tokens == first.cache_write_1h_tokens
    assert second.cache_write_5m_tokens == first.cache_write_5m_tokens


def test_another_provider_in_between_costs_nothing_while_the_entry_lives(
    clock: Clock, client: AnthropicProvider
) -> None:
    first = sent(client, turn(OPUS, "Hello?", cache=FULL)).usage
    with AnthropicServer(clock=clock) as other:  # nothing of it is known here
        elsewhere = provider_at(other)
        assert sent(elsewhere, turn(OPUS, "Hello?", cache=FULL)).usage.cache_read_tokens == 0
        elsewhere.close()
    clock.advance(200)
    back = sent(client, turn(OPUS, "Hello?", "From elsewhere.", "Go on.", cache=FULL)).usage

    assert back.cache_read_tokens == first.cache_write_tokens


def test_of_two_discussions_with_one_prefix_at_once_both_write_and_the_third_reads(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    asks = [turn(OPUS, text, cache=FULL, discussion=text) for text in ("One?", "Two?", "Three?")]
    first, second = (result.usage for result in both_at_once(server, client, asks[0], asks[1]))
    third = sent(client, asks[2]).usage

    assert (first.cache_read_tokens, second.cache_read_tokens) == (0, 0)
    assert (third.cache_read_tokens or 0) > 3000
    assert (third.cache_write_tokens or 0) < 10


def test_a_server_without_a_cache_reports_nothing_and_is_asked_for_a_reason_only_once() -> None:
    with AnthropicServer(caches=False) as server:
        client = provider_at(server)
        usages = [sent(client, turn(OPUS, "Hello?", cache=FULL)).usage for _ in range(2)]
        client.close()

    assert ["diagnostics" in body for body in server.bodies] == [True, False, False]
    assert all((u.cache_read_tokens, u.cache_write_tokens, u.miss_reason) == (None, None, "") for u in usages)
    assert all(u.input_tokens for u in usages)


def _warm(client: AnthropicProvider, cache: CachePlan | None, **rest: object) -> Usage | None:
    return client.prewarm(turn(OPUS, "Hello?", cache=cache, **rest), NO_BLOBS, CancelToken())  # type: ignore[arg-type]


def test_prewarming_reads_the_prefix_ahead_so_that_the_turn_hits(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    warmed = _warm(client, plan((SYSTEM, HOUR), (FILES, MINUTES_5)), effort=Effort.LOW)
    turn_usage = sent(client, turn(OPUS, "And now?", cache=FULL, effort=Effort.LOW)).usage

    ping, real = server.bodies
    assert (ping["max_tokens"], "stream" in ping) == (0, False)
    assert ping["messages"] == [{"role": "user", "content": [real["messages"][0]["content"][0]]}]
    assert {name: ping[name] for name in ("system", "thinking", "output_config")} == {
        name: real[name] for name in ("system", "thinking", "output_config")
    }
    assert warmed is not None
    assert (warmed.output_tokens, warmed.cache_read_tokens) == (0, 0)
    assert warmed.request_id.startswith("req_")
    assert turn_usage.cache_read_tokens == warmed.cache_write_tokens


def test_a_ping_keeps_the_prefix_alive_and_shows_when_it_came_too_late(
    clock: Clock, client: AnthropicProvider
) -> None:
    cache = plan((SYSTEM, MINUTES_5), (TEXT, MINUTES_5))
    written = sent(client, turn(OPUS, "Hello?", cache=cache)).usage.cache_write_tokens
    clock.advance(280)
    in_time = _warm(client, cache)
    clock.advance(280)
    kept = sent(client, turn(OPUS, "Hello?", cache=cache)).usage
    clock.advance(301)
    late = _warm(client, cache)

    assert in_time is not None
    assert late is not None
    assert in_time.cache_read_tokens == kept.cache_read_tokens == written
    assert in_time.input_tokens == written  # nothing behind the last mark is paid for
    assert late.cache_read_tokens == 0


def test_a_prefix_of_system_alone_is_warmed_with_a_word_to_answer(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    warmed = _warm(client, plan((SYSTEM, HOUR)))
    second = _warm(client, plan((SYSTEM, HOUR)))

    assert server.bodies[0]["messages"] == [{"role": "user", "content": [{"type": "text", "text": "."}]}]
    assert warmed is not None
    assert second is not None
    assert warmed.cache_write_1h_tokens == second.cache_read_tokens


def test_a_prewarm_keeps_the_results_of_a_tool_turn_together(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    calls = [ToolCallPart(f"c{n}", "read_file", "{}") for n in (1, 2)]
    results = [ToolResultPart(f"c{n}", words(900)) for n in (1, 2)]
    request = replace(
        ask(OPUS, user("Go."), assistant(*calls), tool(*results), user("Well?"), tools=TOOLS),
        cache=plan(("result/c1", MINUTES_5)),
    )
    warmed = client.prewarm(request, NO_BLOBS, CancelToken())
    on_call = replace(request, cache=plan(("call/c1", MINUTES_5)))

    assert warmed is not None
    assert [b["tool_use_id"] for b in server.bodies[0]["messages"][-1]["content"]] == ["c1", "c2"]
    assert client.prewarm(on_call, NO_BLOBS, CancelToken()) is None
    assert len(server.requests) == 1


def test_where_there_is_nothing_to_warm_nothing_is_sent(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    assert isinstance(client, Prewarms)
    assert _warm(client, None) is None
    assert _warm(client, plan()) is None
    assert _warm(client, replace(FULL, is_enabled=False)) is None
    assert _warm(client, FULL, response_schema_json='{"type":"object"}') is None
    old = turn(HAIKU_OLD, "Hello?", cache=FULL, effort=Effort.HIGH)
    assert client.prewarm(old, NO_BLOBS, CancelToken()) is None
    cancelled = CancelToken()
    cancelled.cancel()
    assert client.prewarm(turn(OPUS, "Hello?", cache=FULL), NO_BLOBS, cancelled) is None
    assert server.requests == []


def test_a_prewarm_that_fails_says_why(server: AnthropicServer, client: AnthropicProvider) -> None:
    server.faults.append(Answer(server.error(529, "overloaded_error", "Overloaded")))

    with pytest.raises(ProviderError) as failure:
        _warm(client, FULL)
    assert failure.value.kind is FailureKind.OVERLOADED


def test_a_bad_request_that_is_not_about_diagnostics_is_not_sent_twice(
    server: AnthropicServer, client: AnthropicProvider
) -> None:
    server.faults.append(Answer(server.error(400, "invalid_request_error", "prompt is too long")))
    failed = outcome(client.stream(turn(OPUS, "Hello?", cache=FULL), NO_BLOBS, CancelToken()))

    assert failed.failure.kind is FailureKind.CONTEXT_TOO_LONG
    assert len(server.requests) == 1


def test_marks_change_no_byte_of_what_is_marked(server: AnthropicServer, client: AnthropicProvider) -> None:
    sent(client, turn(OPUS, "Hello?", cache=FULL))
    sent(client, turn(OPUS, "Hello?", cache=None))

    def bare(value: object) -> object:
        if isinstance(value, dict):
            return {k: bare(v) for k, v in value.items() if k not in {"cache_control", "diagnostics"}}
        return [bare(v) for v in value] if isinstance(value, list) else value

    assert json.dumps(bare(server.bodies[0])) == json.dumps(bare(server.bodies[1]))
