"""OpenAI's cache and bill since GPT-5.6, held against the examples of its guide."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.vendors.billing.clock import Clock
from tests.vendors.billing.labels import count_label, label
from tests.vendors.billing.openai import OpenAICache, OpenAIRules, generation
from tests.vendors.billing.openai_render import error_body
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts, Refused

MINUTE = 60.0
MARK: Json = {"mode": "explicit"}
LONG: Json = {"mode": "explicit", "ttl": "12h"}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> OpenAICache:
    return OpenAICache(clock, Texts(count_label))


def part(tokens: int, name: str = "", mark: Json | None = None) -> Json:
    block: Json = {"type": "input_text", "text": label(tokens, name)}
    return block if mark is None else {**block, "prompt_cache_breakpoint": mark}


def message(role: str, *parts: Json) -> Json:
    if role == "assistant":
        return {"role": role, "content": [{"type": "output_text", "text": item["text"]} for item in parts]}
    return {"role": role, "content": list(parts)}


def ask(*items: Json, mode: str = "", **more: object) -> Json:
    body: Json = {"model": "gpt-6.1-sol", "input": list(items), **more}
    if mode:
        body["prompt_cache_options"] = {"mode": mode, **body.get("prompt_cache_options", {})}
    return body


# --- The guide's worked examples ------------------------------------------------------------------------------------------


def test_the_guide_s_two_requests(cache: OpenAICache) -> None:
    """12,000 tokens written; then 15,000 of which 12,000 are read and 3,000 written."""
    shared = {
        "model": "gpt-5.6",
        "reasoning": {"effort": "medium", "context": "all_turns"},
        "text": {"verbosity": "medium"},
        "prompt_cache_key": "shared-workflow-v1",
        "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
        "instructions": label(2_000, "stands for the tools"),
    }
    first = [message("developer", part(8_000, "developer")), message("user", part(2_000, "first"))]

    one = cache.send({**shared, "input": first})
    two = cache.send({**shared, "input": [*first, message("user", part(3_000, "second"))]})

    assert one.usage()["input_tokens"] == 12_000
    assert one.usage()["input_tokens_details"]["cached_tokens"] == 0
    assert one.usage()["input_tokens_details"]["cache_write_tokens"] == 12_000
    assert two.usage()["input_tokens"] == 15_000
    assert two.usage()["input_tokens_details"]["cached_tokens"] == 12_000
    assert two.usage()["input_tokens_details"]["cache_write_tokens"] == 3_000


@pytest.mark.parametrize(
    ("model", "requests", "expected"),
    [("gpt-5.6-sol", 2, "1.35"), ("gpt-5.6-sol", 10, "2.15"), ("gpt-6.1-sol", 2, "1.3")],
)
def test_one_write_and_full_reads_cost_what_the_guide_says(
    cache: OpenAICache, model: str, requests: int, expected: str
) -> None:
    prices, usd = Prices(), Decimal(0)
    for _ in range(requests):
        parts = cache.send(ask(message("user", part(10_000))) | {"model": model}).parts
        usd += prices.cost("openai", model, parts, cache.clock())

    assert usd / prices.cost("openai", model, Parts(10_000), cache.clock()) == Decimal(expected)


@pytest.mark.parametrize(("tokens", "pays"), [(220, False), (221, True)])
def test_filling_a_short_prefix_up_pays_from_221_tokens_on_for_ten_requests(
    cache: OpenAICache, tokens: int, pays: bool
) -> None:
    """The guide's cost trap: M = 1,024, r = 0.1, w = 1.25, N = 10."""
    prices, filled, short = Prices(), Decimal(0), Decimal(0)
    for _ in range(10):
        wide = cache.send(
            ask(message("user", part(1_024, "filled", MARK)), mode="explicit") | {"model": "gpt-6-astra"}
        )
        small = cache.send(
            ask(message("user", part(tokens, "short", MARK)), mode="explicit") | {"model": "gpt-6-astra"}
        )
        filled += prices.cost("openai", "gpt-6-astra", wide.parts, cache.clock())
        short += prices.cost("openai", "gpt-6-astra", small.parts, cache.clock())

    assert (filled < short) is pays


def test_switching_from_implicit_to_explicit_misses(cache: OpenAICache) -> None:
    turns = [message("developer", part(1_000, "d")), message("user", part(1_000, "u"))]
    cache.send(ask(*turns, mode="implicit"))
    follow = message("user", part(500, "follow", MARK))

    assert cache.begin(ask(*turns, follow, mode="explicit")).parts == Parts(plain=0, write=2_500)
    assert cache.begin(ask(*turns, follow, mode="implicit")).parts == Parts(plain=0, read=2_000, write=500)


def test_an_explicit_mark_at_the_old_end_finds_the_implicit_prefix(cache: OpenAICache) -> None:
    developer = message("developer", part(1_000, "d"))
    cache.send(ask(developer, message("user", part(1_000, "u"))))
    marked = message("user", part(1_000, "u", MARK))

    body = ask(developer, marked, message("user", part(500, "follow")), mode="explicit")
    assert cache.send(body).parts == Parts(plain=500, read=2_000)


def test_extending_a_message_in_place_loses_its_end(cache: OpenAICache) -> None:
    developer = message("developer", part(2_000, "d"))
    cache.send(ask(developer, message("user", part(1_000, "A"))))

    extended = ask(developer, message("user", part(1_000, "A"), part(1_000, "B")))
    assert cache.begin(extended).parts == Parts(plain=0, write=4_000)
    marked = ask(developer, message("user", part(1_000, "A", MARK), part(1_000, "B")))
    assert cache.begin(marked).parts == Parts(plain=0, read=3_000, write=1_000)


def test_later_developer_messages_are_no_automatic_boundaries(cache: OpenAICache) -> None:
    head = [message("developer", part(1_000, "d")), message("user", part(1_000, "u"))]

    assert cache.send(ask(*head, message("developer", part(700, "later")))).parts == Parts(
        plain=700, write=2_000
    )


def test_a_judge_with_a_mark_after_its_rubric_never_writes_what_it_judges(cache: OpenAICache) -> None:
    """The guide's single-turn judge."""
    parts = [
        cache.send(
            ask(
                message("developer", part(1_500, "rubric", MARK)),
                message("user", part(600, f"case {n}")),
                mode="explicit",
            )
        ).parts
        for n in range(3)
    ]

    assert parts == [Parts(plain=600, write=1_500), *[Parts(plain=600, read=1_500)] * 2]


def test_without_a_mark_the_shared_start_of_other_questions_is_written_again_each_time(
    cache: OpenAICache,
) -> None:
    """What the guide warns of, and what was measured at 0 % hits: a default breakpoint on what changes."""
    for number in range(3):
        body = ask(message("developer", part(9_000, "d")), message("user", part(60, f"q{number}")))
        assert cache.send(body).parts == Parts(plain=0, write=9_060)


def test_one_explicit_mark_on_the_shared_start_mends_it(cache: OpenAICache) -> None:
    body = [message("developer", part(9_000, "d", MARK))]
    cache.send(ask(*body, message("user", part(60, "q0"))))

    assert cache.send(ask(*body, message("user", part(60, "q1")))).parts == Parts(
        plain=0, read=9_000, write=60
    )


def test_an_agent_that_marks_its_tool_results_can_fork_there(cache: OpenAICache) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": [part(800, "result", MARK)]}
    head = [message("developer", part(1_000, "d")), message("user", part(100, "q")), call, output]
    first = cache.send(ask(*head, message("assistant", part(50, "a")), message("user", part(20, "u1")))).parts

    fork = cache.send(ask(*head, message("assistant", part(50, "a")), message("user", part(20, "u2")))).parts

    assert fork.read == first.total - 70
    assert fork.write == 70


# --- Modes and limits --------------------------------------------------------------------------------------------------------


def test_explicit_mode_without_marks_is_no_caching_at_all(cache: OpenAICache) -> None:
    body = ask(message("user", part(5_000, "u")))
    cache.send(body)
    for _ in range(2):
        assert cache.send({**body, "prompt_cache_options": {"mode": "explicit"}}).parts == Parts(plain=5_000)


def test_what_follows_the_last_mark_is_plain_in_explicit_mode(cache: OpenAICache) -> None:
    body = ask(message("user", part(2_000, "a", MARK), part(300, "b")), mode="explicit")

    assert cache.send(body).parts == Parts(plain=300, write=2_000)


@pytest.mark.parametrize(
    ("mode", "written"),
    [("explicit", [4_000, 5_000, 6_000, 7_000]), ("implicit", [5_000, 6_000, 7_000, 7_500])],
)
def test_a_request_writes_four_entries_at_most_the_latest(
    cache: OpenAICache, mode: str, written: list[int]
) -> None:
    marked = [part(1_000, f"b{n}", MARK) for n in range(7)]

    cache.send(ask(message("developer", *marked), message("user", part(500, "q")), mode=mode))

    assert cache.live_tokens() == written


def test_the_implicit_entry_keeps_its_place_among_the_four(cache: OpenAICache) -> None:
    later = message("developer", *[part(1_000, f"b{n}", MARK) for n in range(4)])

    cache.send(ask(message("user", part(2_000, "q")), later, mode="implicit"))

    assert cache.live_tokens() == [2_000, 4_000, 5_000, 6_000]


@pytest.mark.parametrize("upgrades", [False, True])
def test_a_mark_before_the_hit_is_free_and_lives_no_longer_than_the_hit(clock: Clock, upgrades: bool) -> None:
    rules = OpenAIRules(upgrades_free_marks=upgrades)
    cache = OpenAICache(clock, Texts(count_label), rules=rules)
    tail = message("user", part(500, "u"))
    cache.send(ask(message("developer", part(2_000, "d")), tail))
    assert cache.send(ask(message("developer", part(2_000, "d", LONG)), tail)).parts == Parts(
        plain=0, read=2_500
    )
    clock.advance(60 * MINUTE)

    read = cache.send(ask(message("developer", part(2_000, "d", LONG)), tail)).parts.read
    assert read == (2_000 if upgrades else 0)


@pytest.mark.parametrize("refreshes", [False, True])
def test_whether_a_deep_hit_refreshes_unmarked_shallow_entries_can_be_chosen(
    clock: Clock, refreshes: bool
) -> None:
    cache = OpenAICache(clock, Texts(count_label), rules=OpenAIRules(refreshes_unmarked=refreshes))
    shallow, deep = message("user", part(2_000, "a")), message("user", part(500, "b"))
    cache.send(ask(shallow))
    cache.send(ask(shallow, deep))
    for _ in range(3):
        clock.advance(20 * MINUTE)
        assert cache.send(ask(shallow, deep)).parts.read == 2_500

    assert (cache.send(ask(shallow, message("user", part(1, "c")))).parts.read == 2_000) is refreshes


def test_the_lookup_sees_the_first_two_and_the_latest_fifty_marks(cache: OpenAICache) -> None:
    def request(marks: set[int]) -> Json:
        parts = [part(1_024, f"b{n}", MARK if n in marks else None) for n in range(70)]
        return ask(message("developer", *parts), mode="explicit")

    everything = request(set(range(70)))
    for unseen in (2, 10, 19):
        cache.send(request({unseen}))
        assert cache.begin(everything).parts.read == 0
    for seen in (0, 1, 20, 69):
        cache.send(request({seen}))
        assert cache.begin(everything).parts.read == (seen + 1) * 1_024


def test_the_sdk_s_eighty_marks_can_be_chosen(clock: Clock) -> None:
    cache = OpenAICache(clock, Texts(count_label), rules=OpenAIRules(lookup=80))
    parts = [part(1_024, f"b{n}", MARK) for n in range(70)]
    cache.send(ask(message("developer", *[*parts[:5], part(1_024, "b5", MARK)]), mode="explicit"))

    assert cache.begin(ask(message("developer", *parts), mode="explicit")).parts.read == 6 * 1_024


def test_implicit_lookup_reaches_back_twenty_message_ends(cache: OpenAICache) -> None:
    def talk(users: int) -> Json:
        return ask(*(message("user", part(1_100, f"u{n}")) for n in range(users)))

    cache.send(talk(1))
    assert cache.begin(talk(21)).parts.read == 1_100
    assert cache.begin(talk(22)).parts.read == 0


@pytest.mark.parametrize(("tokens", "written"), [(1_023, 0), (1_024, 1_024)])
def test_the_smallest_prefix_is_1024_exactly(cache: OpenAICache, tokens: int, written: int) -> None:
    assert cache.send(ask(message("user", part(tokens)))).parts.write == written


def test_the_last_of_a_group_of_tool_outputs_is_a_boundary_and_the_others_are_not(cache: OpenAICache) -> None:
    def output(name: str, size: int) -> Json:
        return {"type": "function_call_output", "call_id": name, "output": label(size, name)}

    head = message("user", part(1_100, "u"))
    cache.send(ask(head, output("a", 500)))
    assert cache.begin(ask(head, output("a", 500), output("b", 400))).parts == Parts(plain=0, write=2_000)

    cache.send(ask(head, output("a", 500), output("b", 400)))
    more = ask(
        head,
        output("a", 500),
        output("b", 400),
        message("assistant", part(9, "x")),
        message("user", part(1, "y")),
    )
    assert cache.begin(more).parts == Parts(plain=0, read=2_000, write=10)


def test_a_plain_string_is_one_user_message(cache: OpenAICache) -> None:
    cache.send(ask(message("user", part(2_000, "u"))))

    assert cache.send({"model": "gpt-6.1-sol", "input": label(2_000, "u")}).parts.read == 2_000


def test_chat_completions_are_cached_alike(cache: OpenAICache) -> None:
    messages = [
        {"role": "system", "content": label(2_000, "s")},
        {
            "role": "user",
            "content": [{"type": "text", "text": label(500, "u"), "prompt_cache_breakpoint": MARK}],
        },
    ]
    body = {"model": "gpt-5.6-luna", "messages": messages}
    cache.send(body)

    assert cache.send(body).chat_usage(output_tokens=7, reasoning_tokens=3) == {
        "prompt_tokens": 2_500,
        "completion_tokens": 7,
        "total_tokens": 2_507,
        "prompt_tokens_details": {"cached_tokens": 2_500, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }


# --- What is part of the prefix ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"model": "gpt-6.1-terra"},
        {"prompt_cache_key": "other"},
        {"service_tier": "flex"},
        {"tools": [{"type": "function", "name": "g"}]},
        {"text": {"format": {"type": "json_object"}}},
        {"text": {"verbosity": "low"}},
        {"reasoning": {"effort": "high"}},
        {"parallel_tool_calls": False},
    ],
)
def test_a_change_of_these_misses_everything(cache: OpenAICache, change: Json) -> None:
    body = ask(message("user", part(2_000, "u")), tools=[{"type": "function", "name": "f"}])
    cache.send(body)

    assert cache.send({**body, **change}).parts.read == 0


@pytest.mark.parametrize(
    "change",
    [
        {"max_output_tokens": 5},
        {"stream": True},
        {"tool_choice": "none"},
        {"service_tier": "auto"},
        {"metadata": {"a": "b"}},
        {"store": False},
    ],
)
def test_a_change_of_those_misses_nothing(cache: OpenAICache, change: Json) -> None:
    body = ask(message("user", part(2_000, "u")))
    cache.send(body)

    assert cache.send({**body, **change}).parts.read == 2_000


def test_an_appended_configuration_update_keeps_the_prefix(cache: OpenAICache) -> None:
    head = [message("user", part(2_000, "u")), message("assistant", part(30, "a"))]
    cache.send(ask(*head[:1]))
    update = {"type": "configuration_update", "reasoning": {"effort": "high"}}

    assert cache.send(ask(*head, update, message("user", part(20, "u2")))).parts.read == 2_000


def test_organisations_share_nothing(cache: OpenAICache) -> None:
    body = ask(message("user", part(2_000, "u")))
    cache.send(body, organisation="a")

    assert cache.send(body, organisation="b").parts.read == 0


# --- Lifetimes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl", "minutes"), [("30m", 30), ("12h", 720), (None, 30)])
def test_an_entry_lives_from_its_latest_use(
    cache: OpenAICache, clock: Clock, ttl: str | None, minutes: int
) -> None:
    body = ask(message("user", part(2_000, "u")), prompt_cache_options={"ttl": ttl} if ttl else {})
    cache.send(body)
    for _ in range(3):
        clock.advance(minutes * MINUTE - 1)
        assert cache.send(body).parts == Parts(plain=0, read=2_000)
    clock.advance(minutes * MINUTE)
    assert cache.send(body).parts.read == 0


def test_a_mark_may_have_its_own_lifetime_and_usage_says_which(cache: OpenAICache, clock: Clock) -> None:
    body = ask(message("developer", part(2_000, "d", LONG)), message("user", part(500, "u")))
    ticket = cache.send(body)

    assert ticket.parts == Parts(plain=0, write=500, write_long=2_000)
    assert ticket.usage(9, 4) == {
        "input_tokens": 2_500,
        "input_tokens_details": {
            "cached_tokens": 0,
            "cache_write_tokens": 2_500,
            "cache_write_tokens_details": {"ttl_30m_tokens": 500, "ttl_12h_tokens": 2_000},
        },
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 2_509,
    }
    clock.advance(60 * MINUTE)
    assert cache.send(body).parts == Parts(plain=0, read=2_000, write=500)


def test_an_entry_is_read_once_the_first_answer_has_begun(cache: OpenAICache) -> None:
    body = ask(message("user", part(2_000, "u")))
    ticket = cache.begin(body)
    assert cache.begin(body).parts.read == 0
    cache.first_byte(ticket)
    assert cache.begin(body).parts.read == 2_000


def test_a_prewarm_is_billed_as_a_write_and_has_no_output(cache: OpenAICache) -> None:
    shared = message("developer", part(3_000, "instructions"))
    ticket = cache.send(ask(shared, prompt_cache_options={"prewarm": True}))

    assert ticket.is_prewarm
    assert ticket.usage(55, 5)["output_tokens"] == 0
    assert ticket.parts == Parts(plain=0, write=3_000)
    real = cache.send(ask(shared, message("user", part(40, "question"))))
    assert real.parts == Parts(plain=0, read=3_000, write=40)


# --- Refusals ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (ask(message("user", part(5)), prompt_cache_options={"mode": "auto"}), "prompt_cache_options.mode"),
        (ask(message("user", part(5)), prompt_cache_options={"ttl": "1h"}), "prompt_cache_options.ttl"),
        (
            ask(
                {
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "a", "prompt_cache_breakpoint": MARK}],
                }
            ),
            "input[0].content[0].prompt_cache_breakpoint",
        ),
        (
            ask(message("user", part(5, "", {"mode": "implicit"}))),
            "input[0].content[0].prompt_cache_breakpoint.mode",
        ),
        (
            ask(message("user", part(5, "", {"mode": "explicit", "ttl": "5m"}))),
            "input[0].content[0].prompt_cache_breakpoint.ttl",
        ),
    ],
)
def test_wrong_cache_settings_are_refused(cache: OpenAICache, body: Json, param: str) -> None:
    with pytest.raises(Refused) as caught:
        cache.begin(body)

    error = error_body(caught.value)["error"]
    assert caught.value.status == 400
    assert (error["type"], error["param"]) == ("invalid_request_error", param)


# --- Diagnostics -------------------------------------------------------------------------------------------------------------


def compared(body: Json, with_id: str) -> Json:
    return {**body, "prompt_cache_options": {"comparison_response_id": with_id}}


def base() -> Json:
    tools = [{"type": "function", "name": "get_time"}]
    return ask(message("user", part(2_000, "policy")), tools=tools, instructions=label(50, "i"))


def test_appending_to_a_conversation_is_a_hit(cache: OpenAICache) -> None:
    """The guide's 2,500 tokens of which 2,000 are reused."""
    first = ask(message("user", part(2_000, "u")))
    cache.send(first, response_id="resp_1")
    ticket = cache.send(compared(ask(*first["input"], message("user", part(500, "v"))), "resp_1"))

    assert ticket.parts == Parts(plain=0, read=2_000, write=500)
    assert ticket.diagnostics == {"type": "cache_hit"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "gpt-6-astra"}, "model_changed"),
        ({"prompt_cache_key": "other"}, "prompt_cache_key_changed"),
        ({"service_tier": "flex"}, "service_tier_changed"),
        ({"tools": [{"type": "function", "name": "get_date"}]}, "tools_changed"),
        ({"text": {"format": {"type": "json_object"}}}, "text_format_changed"),
        ({"reasoning": {"effort": "low"}}, "reasoning_effort_changed"),
        ({"text": {"verbosity": "high"}}, "verbosity_changed"),
        ({"instructions": label(50, "now: 12:01")}, "input_changed"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]}, "context_compacted"),
    ],
)
def test_a_miss_is_explained_by_what_changed(cache: OpenAICache, change: Json, reason: str) -> None:
    reusable = cache.send(base(), response_id="resp_1").parts.total

    assert cache.send(compared({**base(), **change}, "resp_1")).diagnostics == {
        "type": "cache_miss",
        "reason": reason,
        "comparison_reusable_tokens": reusable,
        "cache_missed_tokens": reusable,
    }


def test_a_comparison_with_nothing_remembered_is_not_found(cache: OpenAICache, clock: Clock) -> None:
    missing = {"type": "comparison_response_not_found"}
    assert cache.send(compared(base(), "resp_0")).diagnostics == missing
    cache.send(base(), response_id="resp_1")
    clock.advance(120 * MINUTE)
    assert cache.send(compared(base(), "resp_1")).diagnostics == missing


def test_a_response_of_another_organisation_is_not_found(cache: OpenAICache) -> None:
    cache.send(base(), response_id="resp_1", organisation="a")

    found = cache.send(compared(base(), "resp_1"), organisation="b").diagnostics
    assert found == {"type": "comparison_response_not_found"}


def test_small_or_expired_or_unfinished_comparisons_are_unavailable(cache: OpenAICache, clock: Clock) -> None:
    small = ask(message("user", part(100, "u")))
    cache.send(small, response_id="small")
    cache.begin(base(), response_id="unfinished")
    for name, body in (("small", small), ("unfinished", base())):
        assert cache.begin(compared(body, name)).diagnostics == {"type": "unavailable"}
    cache.send(base(), response_id="expired")
    clock.advance(40 * MINUTE)
    assert cache.begin(compared(base(), "expired")).diagnostics == {"type": "unavailable"}


def test_diagnostics_come_only_where_they_were_asked_for(cache: OpenAICache) -> None:
    assert cache.send(base()).diagnostics is None


def test_generations_are_read_from_names() -> None:
    names = ["gpt-6.1-sol", "gpt-6-astra", "gpt-5.6-luna", "gpt-5.5", "gpt-5-mini", "gpt-4o", "o3"]

    assert [generation(name) for name in names] == [(6, 1), (6, 0), (5, 6), (5, 5), (5, 0), (4, 0), (0, 0)]
