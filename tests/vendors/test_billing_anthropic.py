"""Anthropic's cache and bill, held against the examples of its own documents and against recorded live answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.vendors.billing.anthropic import AnthropicCache, AnthropicRules
from tests.vendors.billing.anthropic_models import model_of
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.labels import FIVE_MINUTES, ONE_HOUR, ask, count_label, label, text
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

MINUTE = 60.0
HOUR = 3600.0


def cache_of(clock: Clock, **rules: bool) -> AnthropicCache:
    return AnthropicCache(clock, Texts(count_label), rules=AnthropicRules(**rules))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> AnthropicCache:
    return cache_of(clock)


def blocks(count: int, *marked: int, size: int = 1000, ttl: Json = FIVE_MINUTES) -> Json:
    """A request of so many blocks; the marked ones are counted from 1, as the documents do."""
    return ask(*(text(size, f"block {n}", ttl if n in marked else None) for n in range(1, count + 1)))


# --- The documents' worked examples -------------------------------------------------------------------------------


def test_a_growing_conversation_hits_within_twenty_blocks(cache: AnthropicCache) -> None:
    """The example of lookback in a growing conversation, turns 1 and 2."""
    first = cache.send(blocks(10, 10))
    second = cache.send(blocks(15, 15))

    assert first.parts == Parts(plain=0, write=10_000)
    assert second.parts == Parts(plain=0, read=10_000, write=5_000)


def test_a_mark_twenty_blocks_past_the_last_write_misses(cache: AnthropicCache) -> None:
    """Turn 3: blocks 35 to 16 are looked at; the entry at block 15 is one position outside."""
    cache.send(blocks(15, 15))

    assert cache.send(blocks(35, 35)).parts == Parts(plain=0, write=35_000)


def test_a_mark_nineteen_blocks_past_the_last_write_hits(cache: AnthropicCache) -> None:
    cache.send(blocks(15, 15))

    assert cache.send(blocks(34, 34)).parts == Parts(plain=0, read=15_000, write=19_000)


def test_a_second_mark_starts_a_second_window(cache: AnthropicCache) -> None:
    """Turn 3 with a second breakpoint at block 15."""
    cache.send(blocks(15, 15))

    assert cache.send(blocks(35, 15, 35)).parts == Parts(plain=0, read=15_000, write=20_000)


def test_the_window_goes_on_from_the_next_mark_even_where_that_one_was_never_written(
    cache: AnthropicCache,
) -> None:
    cache.send(blocks(15, 15))

    assert cache.send(blocks(50, 34, 50)).parts.read == 15_000
    assert cache_of(cache.clock).send(blocks(50, 34, 50)).parts.read == 0  # type: ignore[arg-type]


def test_a_mark_on_what_changes_each_time_pays_for_writing_and_never_reads(cache: AnthropicCache) -> None:
    """The common mistake: five static blocks, the sixth holds a timestamp and the mark."""
    static = [text(4_000, f"static {n}") for n in range(5)]
    for moment in range(5):
        parts = cache.send(ask(*static, text(500, f"at {moment}", FIVE_MINUTES))).parts
        assert parts == Parts(plain=0, write=20_500)


def test_that_mistake_costs_exactly_five_quarters_of_no_caching(cache: AnthropicCache) -> None:
    prices, usd, usd_without = Prices(), Decimal(0), Decimal(0)
    for turn in range(20):
        parts = cache.send(ask(text(9_000, "static"), text(500, f"at {turn}", FIVE_MINUTES))).parts
        usd += prices.cost("anthropic", "claude-opus-5-5", parts, cache.clock())
        usd_without += prices.cost("anthropic", "claude-opus-5-5", Parts(parts.total), cache.clock())

    assert usd / usd_without == Decimal("1.25")


def test_moving_the_mark_to_the_last_static_block_reads_from_the_second_request_on(
    cache: AnthropicCache,
) -> None:
    static = [text(4_000, f"static {n}", FIVE_MINUTES if n == 4 else None) for n in range(5)]
    cache.send(ask(*static, text(500, "at 0")))

    assert cache.send(ask(*static, text(500, "at 1"))).parts == Parts(plain=500, read=20_000)


def test_automatic_caching_falls_into_the_same_trap(cache: AnthropicCache) -> None:
    for moment in range(2):
        body = ask(text(4_000, "static"), text(500, f"at {moment}"), cache_control=FIVE_MINUTES)
        assert cache.send(body).parts == Parts(plain=0, write=4_500)


def test_the_token_breakdown_of_the_documents(cache: AnthropicCache) -> None:
    """100,000 tokens cached, 50 after the mark: 100,050 in all."""
    cached = text(100_000, "document", FIVE_MINUTES)
    cache.send(ask(cached, text(50, "first question")))

    ticket = cache.send(ask(cached, text(50, "second question")))

    usage = ticket.usage(output_tokens=503)
    assert (usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]) == (100_000, 0)
    assert usage["input_tokens"] == 50
    assert ticket.parts.total == 100_050


def test_automatic_caching_moves_forward_with_the_conversation(cache: AnthropicCache) -> None:
    """The table of three requests: everything written; then read through User(2); then read through User(3)."""

    def request(users: int) -> Json:
        turns: list[Json] = []
        for number in range(1, users + 1):
            turns += [
                {"role": "user", "content": label(100, f"user {number}")},
                {"role": "assistant", "content": label(200, f"assistant {number}")},
            ]
        return {
            "model": "claude-opus-5-5",
            "max_tokens": 10,
            "cache_control": FIVE_MINUTES,
            "system": label(1_000, "system"),
            "messages": turns[:-1],
        }

    assert cache.send(request(2)).parts == Parts(plain=0, write=1_400)
    assert cache.send(request(3)).parts == Parts(plain=0, read=1_400, write=300)
    assert cache.send(request(4)).parts == Parts(plain=0, read=1_700, write=300)


@pytest.mark.parametrize(
    ("hit", "expected"),
    [
        (0, Parts(plain=1_000, read=0, write=5_000, write_long=10_000)),  # A = 0, B = 10,000, C = 15,000
        (1, Parts(plain=1_000, read=4_000, write=5_000, write_long=6_000)),  # A below B
        (2, Parts(plain=1_000, read=10_000, write=5_000)),  # A = B
        (3, Parts(plain=1_000, read=15_000)),  # A = C
    ],
)
def test_mixed_lifetimes_are_billed_at_a_b_and_c(cache: AnthropicCache, hit: int, expected: Parts) -> None:
    """On mixed lifetimes: B - A at the hour's price, C - B at the five minutes' price, A is read."""

    def request(marked: tuple[Json | None, Json | None, Json | None]) -> Json:
        sizes = (4_000, 6_000, 5_000)
        segments = [
            text(size, f"part {n}", mark) for n, (size, mark) in enumerate(zip(sizes, marked, strict=True))
        ]
        return ask(*segments, text(1_000, "question"))

    warm: dict[int, tuple[Json | None, Json | None, Json | None]] = {
        1: (ONE_HOUR, None, None),
        2: (None, ONE_HOUR, None),
        3: (None, ONE_HOUR, FIVE_MINUTES),
    }
    if hit:
        cache.send(request(warm[hit]))

    assert cache.send(request((None, ONE_HOUR, FIVE_MINUTES))).parts == expected


def test_usage_splits_creation_by_lifetime_and_the_parts_add_up(cache: AnthropicCache) -> None:
    ticket = cache.send(ask(text(600, "a", ONE_HOUR), text(400, "b", FIVE_MINUTES), text(7, "c")))

    assert ticket.usage(output_tokens=3) == {
        "input_tokens": 7,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 1_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 600},
        "output_tokens": 3,
        "service_tier": "standard",
        "inference_geo": "not_available",
    }


@pytest.mark.parametrize(
    ("model", "ttl", "requests", "expected"),
    [
        ("claude-opus-5", FIVE_MINUTES, 2, "1.35"),  # against 2 without caching
        ("claude-opus-5", ONE_HOUR, 3, "2.2"),  # against 3
        ("claude-opus-5", FIVE_MINUTES, 10, "2.15"),
        ("claude-opus-5-5", FIVE_MINUTES, 2, "1.30"),  # read at 0.05
        ("claude-fable-5-2", FIVE_MINUTES, 2, "1.275"),  # read at 0.025
    ],
)
def test_the_break_even_arithmetic_of_the_documents(
    cache: AnthropicCache, model: str, ttl: Json, requests: int, expected: str
) -> None:
    prices, usd = Prices(), Decimal(0)
    for _ in range(requests):
        parts = cache.send(ask(text(10_000, "all", ttl), model=model)).parts
        usd += prices.cost("anthropic", model, parts, cache.clock())
    once = prices.cost("anthropic", model, Parts(10_000), cache.clock())

    assert usd / once == Decimal(expected)


# --- Live answers that others recorded (2026-09-07, claude-haiku-4-5) -----------------------------------------------


def live(question_tokens: int, marked: int) -> Json:
    sizes = (12, 8, 6_602)
    system = [text(size, f"s{n}", FIVE_MINUTES if n == marked else None) for n, size in enumerate(sizes)]
    return {
        "model": "claude-haiku-4-5",
        "max_tokens": 50,
        "tools": [{"name": "read_file", "description": "x" * 266, "input_schema": {"type": "object"}}],
        "system": system,
        "messages": [{"role": "user", "content": label(question_tokens, str(question_tokens))}],
    }


def test_a_mark_on_the_last_system_block_is_written_and_read_with_other_questions(
    cache: AnthropicCache,
) -> None:
    first, second = cache.send(live(330, 2)), cache.send(live(331, 2))

    written = first.parts.write
    assert first.parts == Parts(plain=330, write=written)
    assert second.parts == Parts(plain=331, read=written)
    assert written > 6_622  # the uncached tool ahead of it is part of the prefix


def test_a_prefix_below_the_minimum_is_ignored_in_silence(cache: AnthropicCache) -> None:
    for _ in range(2):
        parts = cache.send(live(330, 1)).parts
        assert (parts.read, parts.write) == (0, 0)
        assert parts.plain == parts.total
    assert cache.live_tokens() == []


# --- Minimum sizes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5-5", 512),
        ("claude-sonnet-5-5", 512),
        ("claude-haiku-5-5", 512),
        ("claude-fable-5-2", 512),
        ("claude-opus-4-8", 1_024),
        ("claude-sonnet-5", 1_024),
        ("claude-sonnet-4-5-20250929", 1_024),
        ("claude-opus-4-7", 2_048),
        ("claude-opus-4-6", 4_096),
        ("claude-haiku-4-5-20251001", 4_096),
        ("claude-novel-6", 512),
    ],
)
def test_each_model_has_its_smallest_prefix(cache: AnthropicCache, model: str, minimum: int) -> None:
    assert cache.send(ask(text(minimum - 1, "a", FIVE_MINUTES), model=model)).parts.write == 0
    assert cache.send(ask(text(minimum, "b", FIVE_MINUTES), model=model)).parts.write == minimum


def test_a_mark_below_the_minimum_leaves_the_deeper_one_to_write_everything(cache: AnthropicCache) -> None:
    cache.send(ask(text(100, "small", FIVE_MINUTES), text(900, "rest", FIVE_MINUTES)))

    assert cache.live_tokens() == [1_000]


# --- Lifetimes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl", "seconds"), [(FIVE_MINUTES, 5 * MINUTE), (ONE_HOUR, HOUR)])
def test_an_entry_lives_its_time_and_no_longer(
    cache: AnthropicCache, clock: Clock, ttl: Json, seconds: float
) -> None:
    body = ask(text(1_000, "a", ttl))
    cache.send(body)
    clock.advance(seconds - 1)
    assert cache.send(body).parts.read == 1_000
    clock.advance(seconds)
    assert cache.send(body).parts.read == 0


def test_the_time_runs_from_the_start_of_the_request_not_from_its_answer(
    cache: AnthropicCache, clock: Clock
) -> None:
    """A generation of four minutes leaves one minute."""
    body = ask(text(1_000, "a", FIVE_MINUTES))
    ticket = cache.begin(body)
    clock.advance(4 * MINUTE)
    cache.first_byte(ticket)
    clock.advance(59)
    assert cache.begin(body).parts.read == 1_000


def test_an_answer_that_begins_after_the_entry_would_have_ended_leaves_nothing(
    cache: AnthropicCache, clock: Clock
) -> None:
    ticket = cache.begin(ask(text(1_000, "a", FIVE_MINUTES)))
    clock.advance(5 * MINUTE)
    cache.first_byte(ticket)

    assert cache.live_tokens() == []


def test_every_use_refreshes_for_nothing(cache: AnthropicCache, clock: Clock) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES))
    cache.send(body)
    for _ in range(20):
        clock.advance(4 * MINUTE)
        assert cache.send(body).parts == Parts(plain=0, read=1_000)


def test_a_hit_behind_the_mark_refreshes_the_entry_that_was_read(cache: AnthropicCache, clock: Clock) -> None:
    cache.send(blocks(10, 10))
    clock.advance(4 * MINUTE)
    cache.begin(blocks(15, 15))  # its own entry never becomes visible
    clock.advance(4 * MINUTE)

    assert cache.begin(blocks(12, 12)).parts.read == 10_000


def test_a_use_refreshes_at_the_lifetime_of_the_entry(cache: AnthropicCache, clock: Clock) -> None:
    """Marking a live entry of five minutes for an hour does not make it one of an hour."""
    cache.send(ask(text(1_000, "a", FIVE_MINUTES)))
    clock.advance(MINUTE)
    assert cache.send(ask(text(1_000, "a", ONE_HOUR))).parts == Parts(plain=0, read=1_000)
    clock.advance(6 * MINUTE)
    assert cache.send(ask(text(1_000, "a", ONE_HOUR))).parts.read == 0


def test_a_mark_before_the_hit_is_written_again_for_nothing(cache: AnthropicCache, clock: Clock) -> None:
    """The documents' reason to keep shallow marks: they come back when they were lost."""
    deep = ask(text(1_000, "a"), text(1_000, "b", FIVE_MINUTES))
    cache.send(deep)
    both = ask(text(1_000, "a", FIVE_MINUTES), text(1_000, "b", FIVE_MINUTES))

    assert cache.send(both).parts == Parts(plain=0, read=2_000)
    assert cache.send(ask(text(1_000, "a", FIVE_MINUTES), text(5, "other"))).parts.read == 1_000


@pytest.mark.parametrize("upgrades", [False, True])
def test_a_free_mark_gets_an_hour_only_where_the_rules_say_so(clock: Clock, upgrades: bool) -> None:
    cache = cache_of(clock, upgrades_free_marks=upgrades)
    cache.send(ask(text(1_000, "a"), text(1_000, "b", FIVE_MINUTES)))
    cache.send(ask(text(1_000, "a", ONE_HOUR), text(1_000, "b", FIVE_MINUTES)))
    clock.advance(30 * MINUTE)

    assert (cache.send(ask(text(1_000, "a", ONE_HOUR), text(1, "c"))).parts.read == 1_000) is upgrades


@pytest.mark.parametrize("refreshes", [False, True])
def test_whether_a_deep_hit_refreshes_unmarked_shallow_entries_can_be_chosen(
    clock: Clock, refreshes: bool
) -> None:
    cache = cache_of(clock, refreshes_unmarked=refreshes)
    cache.send(ask(text(1_000, "a", FIVE_MINUTES), text(1_000, "b", FIVE_MINUTES)))
    for _ in range(3):
        clock.advance(4 * MINUTE)
        assert cache.send(ask(text(1_000, "a"), text(1_000, "b", FIVE_MINUTES))).parts.read == 2_000

    shallow = cache.send(ask(text(1_000, "a", FIVE_MINUTES), text(1, "other")))
    assert (shallow.parts.read == 1_000) is refreshes


def test_marked_shallow_entries_are_refreshed_with_every_request(cache: AnthropicCache, clock: Clock) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES), text(1_000, "b", FIVE_MINUTES))
    cache.send(body)
    for _ in range(3):
        clock.advance(4 * MINUTE)
        cache.send(body)

    assert cache.send(ask(text(1_000, "a", FIVE_MINUTES), text(1, "other"))).parts.read == 1_000


def test_a_clock_that_jumps_back_does_not_end_an_entry(cache: AnthropicCache, clock: Clock) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES))
    cache.send(body)
    clock.advance(-HOUR)

    assert cache.send(body).parts.read == 1_000


# --- Requests at the same time -----------------------------------------------------------------------------------------


def test_an_entry_is_read_only_once_the_first_answer_has_begun(cache: AnthropicCache) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES))
    first, second = cache.begin(body), cache.begin(body)
    cache.first_byte(first)
    third = cache.begin(body)

    assert [ticket.parts.read for ticket in (first, second, third)] == [0, 0, 1_000]


def test_a_request_that_fails_before_its_answer_leaves_no_entry(cache: AnthropicCache) -> None:
    cache.begin(ask(text(1_000, "a", FIVE_MINUTES)))

    assert cache.live_tokens() == []


def test_two_that_write_the_same_leave_the_longer_life(cache: AnthropicCache, clock: Clock) -> None:
    hour, minutes = ask(text(1_000, "a", ONE_HOUR)), ask(text(1_000, "a", FIVE_MINUTES))
    for bodies in ((hour, minutes), (minutes, hour)):
        tickets = [cache.begin(body) for body in bodies]
        for ticket in tickets:
            cache.first_byte(ticket)
        for _ in range(2):
            clock.advance(50 * MINUTE)
            assert cache.begin(hour).parts.read == 1_000
        clock.advance(HOUR)


# --- What is one prefix, and what is another ---------------------------------------------------------------------------


def full(**change: object) -> Json:
    """A request with entries after tools, after system and after messages."""
    body: Json = {
        "model": "claude-opus-5",
        "max_tokens": 10,
        "tools": [
            {"name": "t", "description": "x" * 4_000, "input_schema": {}, "cache_control": FIVE_MINUTES}
        ],
        "system": [text(1_000, "system", FIVE_MINUTES)],
        "messages": [{"role": "user", "content": [text(1_000, "words", FIVE_MINUTES)]}],
    }
    return {**body, **change}


def levels_read(cache: AnthropicCache, body: Json) -> str:
    cache.send(full())
    read, levels = cache.send(body).parts.read, cache.live_tokens()
    return {0: "none", levels[0]: "tools", levels[1]: "system"}.get(read, "messages")


@pytest.mark.parametrize(
    ("change", "survives"),
    [
        ({}, "messages"),
        ({"model": "claude-opus-4-8"}, "none"),
        ({"tools": []}, "none"),
        ({"speed": "fast"}, "tools"),
        ({"system": [text(1_000, "another", FIVE_MINUTES)]}, "tools"),
        ({"tool_choice": {"type": "none"}}, "system"),
        ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, "system"),
        ({"thinking": {"type": "disabled"}}, "system"),
        ({"output_config": {"effort": "low"}}, "system"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "system"),
        ({"thinking": {"type": "adaptive"}}, "messages"),  # the default, said aloud
        ({"output_config": {"effort": "high"}}, "messages"),
        ({"tool_choice": {"type": "auto"}}, "messages"),
        ({"max_tokens": 5_000, "stream": True, "metadata": {"user_id": "x"}}, "messages"),
    ],
)
def test_a_change_costs_its_level_and_those_after_it(
    cache: AnthropicCache, change: Json, survives: str
) -> None:
    """The table of what invalidates the cache."""
    assert levels_read(cache, full(**change)) == survives


@pytest.mark.parametrize(
    ("field", "change", "survives"),
    [
        ("is_effort_free", {"output_config": {"effort": "low"}}, "messages"),
        ("is_effort_early", {"output_config": {"effort": "low"}}, "none"),
        ("is_thinking_early", {"thinking": {"type": "disabled"}}, "none"),
        ("is_thinking_early", {"output_config": {"effort": "low"}}, "system"),
    ],
)
def test_where_effort_and_thinking_are_rendered_can_be_chosen_by_model(
    clock: Clock, field: str, change: Json, survives: str
) -> None:
    """Model-specific, say the documents; not which models."""
    model = replace(model_of("claude-opus-5"), **{field: True})  # type: ignore[arg-type]
    cache = AnthropicCache(clock, Texts(count_label), models=lambda _: model)

    assert levels_read(cache, full(**change)) == survives


def test_fields_that_are_null_are_as_if_absent(cache: AnthropicCache) -> None:
    cache.send(full())
    body = full(
        thinking=None, output_config=None, tool_choice=None, cache_control=None, diagnostics=None, speed=None
    )
    body["messages"][0]["content"][0]["citations"] = None

    parts = cache.send(body).parts

    assert parts == Parts(plain=0, read=parts.total)


def test_an_image_anywhere_costs_the_messages(cache: AnthropicCache) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    body = full()
    body["messages"][0]["content"].append(image)

    assert levels_read(cache, body) == "system"


def test_a_web_search_toggle_costs_system_and_messages_but_not_tools_before_it(cache: AnthropicCache) -> None:
    body = full()
    body["tools"] = [*body["tools"], {"type": "web_search_20260301", "name": "web_search"}]

    assert levels_read(cache, body) == "tools"


def test_marks_are_no_part_of_the_prefix(cache: AnthropicCache) -> None:
    cache.send(ask(text(1_000, "a", FIVE_MINUTES), text(1_000, "b", FIVE_MINUTES)))

    assert cache.send(ask(text(1_000, "a"), text(1_000, "b", FIVE_MINUTES))).parts.read == 2_000


def test_a_string_is_one_text_block(cache: AnthropicCache) -> None:
    cache.send(ask(text(1_000, "a", FIVE_MINUTES)))
    body = ask(cache_control=FIVE_MINUTES)
    body["messages"][0]["content"] = label(1_000, "a")

    assert cache.send(body).parts.read == 1_000


def test_messages_of_one_role_in_a_row_are_one_message(cache: AnthropicCache) -> None:
    cache.send(ask(text(600, "a"), text(600, "b", FIVE_MINUTES)))
    body = ask(text(600, "a"))
    body["messages"].append({"role": "user", "content": [text(600, "b", FIVE_MINUTES)]})

    assert cache.send(body).parts.read == 1_200


def test_the_same_text_of_the_other_role_is_another_prefix(cache: AnthropicCache) -> None:
    def spoken(role: str) -> Json:
        turns = [
            {"role": "user", "content": "x"},
            {"role": role, "content": [text(1_000, "a", FIVE_MINUTES)]},
        ]
        return {
            "model": "claude-opus-5",
            "max_tokens": 1,
            "messages": [*turns, {"role": "user", "content": "y"}],
        }

    cache.send(spoken("assistant"))

    assert cache.send(spoken("user")).parts.read == 0


def test_the_order_of_keys_in_tool_input_counts_and_that_of_the_block_does_not(cache: AnthropicCache) -> None:
    """Keys inside `tool_use` need a stable order, say the documents: some languages shuffle them."""

    def used(tool_input: Json, *, backwards: bool = False) -> Json:
        use: Json = {"type": "tool_use", "id": "t1", "name": "f", "input": tool_input}
        use = dict(reversed(use.items())) if backwards else use
        result = {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": "1000|r",
            "cache_control": FIVE_MINUTES,
        }
        turns = [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]
        return {"model": "claude-opus-5", "max_tokens": 1, "messages": turns}

    cache.send(used({"a": 1, "b": 2}))

    assert cache.send(used({"a": 1, "b": 2}, backwards=True)).parts.read > 1_000
    assert cache.send(used({"b": 2, "a": 1})).parts.read == 0


@pytest.mark.parametrize("other", ["other", "default"])
def test_workspaces_share_nothing(cache: AnthropicCache, other: str) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES))
    cache.send(body)

    assert (cache.send(body, workspace=other).parts.read > 0) is (other == "default")


def test_runs_of_tool_uses_and_of_tool_results_are_one_position_each(cache: AnthropicCache) -> None:
    """Thirty parallel calls do not push the last entry out of the window."""

    def request(calls: int, *, mark_end: bool) -> Json:
        names = [f"t{n}" for n in range(calls)]
        uses = [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in names]
        results: list[Json] = [{"type": "tool_result", "tool_use_id": n, "content": "10|r"} for n in names]
        turns: list[Json] = [{"role": "user", "content": [text(1_000, "a", FIVE_MINUTES)]}]
        if mark_end:
            results[-1]["cache_control"] = FIVE_MINUTES
            turns += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
            turns[0]["content"][0].pop("cache_control")
        return {"model": "claude-opus-5", "max_tokens": 1, "messages": turns}

    cache.send(request(30, mark_end=False))

    assert cache.send(request(30, mark_end=True)).parts.read == 1_000


# --- Stripped thinking, cleared system messages --------------------------------------------------------------------------


def test_on_older_models_a_new_question_strips_thinking_and_what_follows_it_is_lost(
    cache: AnthropicCache,
) -> None:
    """Caching with thinking blocks, requests 2 and 3 of the example with the weather in Paris."""
    signer = cache.begin({**ask(text(1_100, "weather?")), "model": "claude-sonnet-4-5"}).signer
    thought: Json = {"type": "thinking", "thinking": "300|hm", "signature": signer("300|hm")}
    use: Json = {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
    result: Json = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "1000|sun",
        "cache_control": FIVE_MINUTES,
    }
    question: Json = {"role": "user", "content": [text(1_100, "weather?", FIVE_MINUTES)]}
    loop: list[Json] = [
        question,
        {"role": "assistant", "content": [thought, use]},
        {"role": "user", "content": [result]},
    ]
    more: list[Json] = [
        {"role": "assistant", "content": label(50)},
        {"role": "user", "content": [text(20, "thanks")]},
    ]

    def send(model: str, turns: list[Json]) -> Parts:
        return cache.send({"model": model, "max_tokens": 1, "messages": turns}).parts

    with_thinking = send("claude-sonnet-4-5", loop)
    stripped = send("claude-sonnet-4-5", [*loop, *more])

    assert stripped.total == with_thinking.total - 300 + 70
    assert stripped.read == 1_100  # the question, ahead of the thinking


def test_a_cleared_system_message_costs_nothing_and_keeps_the_prefix(cache: AnthropicCache) -> None:
    betas = frozenset({"mid-conversation-system-clear-at-2026-08-21"})
    note = {"role": "system", "content": label(400, "status"), "clear_at": "next_user_message"}
    first: list[Json] = [{"role": "user", "content": [text(1_000, "q1", FIVE_MINUTES)]}, note]
    second = [
        *first,
        {"role": "assistant", "content": label(100, "a1")},
        {"role": "user", "content": [text(50, "q2", FIVE_MINUTES)]},
    ]

    def send(turns: list[Json]) -> Parts:
        ticket = cache.begin({"model": "claude-opus-5-5", "max_tokens": 1, "messages": turns}, betas=betas)
        cache.first_byte(ticket)
        return ticket.parts

    assert send(first) == Parts(plain=400, write=1_000)
    assert send(second) == Parts(plain=0, read=1_000, write=150)
    assert send([*second, note]) == Parts(plain=400, read=1_150)


def test_a_system_message_that_stays_is_ordinary_input(cache: AnthropicCache) -> None:
    body = ask(text(1_000, "q", FIVE_MINUTES))
    body["messages"].append({"role": "system", "content": label(30, "note")})

    assert cache.send(body).parts == Parts(plain=30, write=1_000)


# --- Prewarm and counting --------------------------------------------------------------------------------------------------


def test_a_prewarm_writes_what_the_real_request_reads_and_has_no_output(cache: AnthropicCache) -> None:
    warm = ask(text(3, "warmup"), system=[text(1_000, "system", FIVE_MINUTES)])
    real = ask(text(40, "question"), system=[text(1_000, "system", FIVE_MINUTES)])

    ticket = cache.send({**warm, "max_tokens": 0})

    assert ticket.is_prewarm
    assert ticket.usage(output_tokens=99)["output_tokens"] == 0
    assert ticket.parts == Parts(plain=3, write=1_000)
    assert cache.send(real).parts == Parts(plain=40, read=1_000)


def test_counting_ignores_caching(cache: AnthropicCache) -> None:
    body = full()
    parts = cache.send(body).parts

    assert cache.count_tokens(body) == parts.total
    assert cache.send(body).parts.total == parts.total


# --- Diagnostics -------------------------------------------------------------------------------------------------------------


def asked(previous: str | None, **change: object) -> Json:
    return full(diagnostics={"previous_message_id": previous}, **change)


def test_without_the_field_there_is_no_diagnosis(cache: AnthropicCache) -> None:
    assert cache.send(full(), message_id="msg_1").diagnostics is None


def test_a_request_without_the_object_is_not_remembered(cache: AnthropicCache) -> None:
    cache.send(full(), message_id="msg_1")

    assert cache.send(asked("msg_1"), message_id="msg_2").diagnostics == {
        "cache_miss_reason": {"type": "previous_message_not_found"}
    }


def test_null_means_no_divergence_even_where_the_entry_has_expired(
    cache: AnthropicCache, clock: Clock
) -> None:
    assert cache.send(asked(None), message_id="msg_1").diagnostics is None
    clock.advance(10 * MINUTE)
    ticket = cache.send(asked("msg_1"), message_id="msg_2")

    assert ticket.parts.read == 0
    assert ticket.diagnostics is None


def test_appending_is_no_divergence(cache: AnthropicCache) -> None:
    cache.send(asked(None), message_id="msg_1")
    body = asked("msg_1")
    body["messages"] = [
        *body["messages"],
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
    ]

    assert cache.send(body, message_id="msg_2").diagnostics is None


@pytest.mark.parametrize(
    ("change", "reason", "read"),
    [
        ({"model": "claude-opus-4-8"}, "model_changed", ""),
        ({"speed": "fast"}, "model_changed", "tools"),
        ({"tools": []}, "tools_changed", ""),
        ({"system": "1000|other"}, "system_changed", "tools"),
        (
            {"messages": [{"role": "user", "content": [text(999, "edited", FIVE_MINUTES)]}]},
            "messages_changed",
            "system",
        ),
    ],
)
def test_a_divergence_is_named_with_the_tokens_that_were_not_read(
    cache: AnthropicCache, change: Json, reason: str, read: str
) -> None:
    written = cache.send(asked(None), message_id="msg_1").parts.total
    levels = cache.live_tokens()

    found = cache.send(asked("msg_1", **change), message_id="msg_2").diagnostics

    read_tokens = {"": 0, "tools": levels[0], "system": levels[1]}[read]
    assert found == {
        "cache_miss_reason": {"type": reason, "cache_missed_input_tokens": written - read_tokens}
    }


@pytest.mark.parametrize("change", [{"tool_choice": {"type": "none"}}, {"thinking": {"type": "disabled"}}])
def test_other_parameters_are_unavailable(cache: AnthropicCache, change: Json) -> None:
    cache.send(asked(None), message_id="msg_1")

    assert cache.send(asked("msg_1", **change)).diagnostics == {"cache_miss_reason": {"type": "unavailable"}}


def test_a_comparison_with_an_answer_that_has_not_begun_is_pending(cache: AnthropicCache) -> None:
    cache.begin(asked(None), message_id="msg_1")

    assert cache.begin(asked("msg_1")).diagnostics == {"cache_miss_reason": None}


def test_records_are_kept_a_limited_time(cache: AnthropicCache, clock: Clock) -> None:
    cache.send(asked(None), message_id="msg_1")
    clock.advance(2 * HOUR)

    found: Callable[[], Json | None] = lambda: cache.send(asked("msg_1")).diagnostics  # noqa: E731
    assert found() == {"cache_miss_reason": {"type": "previous_message_not_found"}}
