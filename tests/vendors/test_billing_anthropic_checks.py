"""What the emulated Claude API refuses: marks, lifetimes, automatic caching, turns, prewarm, thinking out of place."""

from __future__ import annotations

import pytest

from tests.vendors.billing.anthropic import AnthropicCache, AnthropicRules
from tests.vendors.billing.anthropic_checks import error_body
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.labels import FIVE_MINUTES, ONE_HOUR, ask, count_label, label, text
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts, Refused

CLEAR_AT = frozenset({"mid-conversation-system-clear-at-2026-08-21"})
EFFORT = frozenset({"mid-conversation-output-config-2026-07-01"})


@pytest.fixture
def cache() -> AnthropicCache:
    return AnthropicCache(Clock(), Texts(count_label))


def refused(cache: AnthropicCache, body: Json, betas: frozenset[str] = frozenset()) -> str:
    """The words of the 400; and nothing was cached."""
    with pytest.raises(Refused) as caught:
        cache.begin(body, betas=betas)
    assert (caught.value.status, caught.value.kind) == (400, "invalid_request_error")
    assert cache.live_tokens() == []
    return caught.value.message


def accepted(cache: AnthropicCache, body: Json, betas: frozenset[str] = frozenset()) -> Parts:
    ticket = cache.begin(body, betas=betas)
    cache.first_byte(ticket)
    return ticket.parts


def marked(count: int, **more: object) -> Json:
    return ask(*(text(1_000, f"b{n}", FIVE_MINUTES) for n in range(count)), text(5, "end"), **more)  # type: ignore[arg-type]


def test_four_marks_are_taken_and_five_are_not(cache: AnthropicCache) -> None:
    assert refused(cache, marked(5)) == "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert accepted(cache, marked(4)) == Parts(plain=5, write=4_000)


def test_marks_in_tools_system_and_messages_count_together(cache: AnthropicCache) -> None:
    tool = {"name": "t", "input_schema": {}, "cache_control": FIVE_MINUTES}
    body = marked(2, tools=[tool], system=[text(9, "a", FIVE_MINUTES), text(9, "b", FIVE_MINUTES)])

    assert refused(cache, body).endswith("Found 5.")


def test_automatic_caching_takes_one_of_the_four(cache: AnthropicCache) -> None:
    assert refused(cache, marked(4, cache_control=FIVE_MINUTES)).endswith("Found 5.")
    assert accepted(cache, marked(3, cache_control=FIVE_MINUTES)) == Parts(plain=0, write=3_005)


def test_automatic_caching_with_four_marks_is_refused_even_where_the_last_block_has_one(
    cache: AnthropicCache,
) -> None:
    body = ask(*(text(1_000, f"b{n}", FIVE_MINUTES) for n in range(4)), cache_control=FIVE_MINUTES)

    assert refused(cache, body).endswith("Found 5.")


def test_automatic_caching_on_a_marked_last_block_does_nothing(cache: AnthropicCache) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES), cache_control=FIVE_MINUTES)

    assert accepted(cache, body) == Parts(plain=0, write=1_000)


def test_automatic_caching_must_agree_with_the_mark_on_its_block(cache: AnthropicCache) -> None:
    message = refused(cache, ask(text(1_000, "a", FIVE_MINUTES), cache_control=ONE_HOUR))

    assert message == (
        "Top-level cache_control has ttl='1h' but the target block already has cache_control with ttl='5m'. When both"
        " are specified on the same block, they must have matching TTLs."
    )


def test_automatic_caching_walks_back_to_a_block_that_can_be_marked(cache: AnthropicCache) -> None:
    body = ask(text(1_000, "a"), {"type": "text", "text": " "}, cache_control=FIVE_MINUTES)

    assert accepted(cache, body).write == 1_000


def test_automatic_caching_with_nothing_to_mark_is_skipped(cache: AnthropicCache) -> None:
    assert accepted(cache, ask({"type": "text", "text": " "}, cache_control=FIVE_MINUTES)).write == 0


def test_an_automatic_hour_is_written_at_the_hour(cache: AnthropicCache) -> None:
    assert accepted(cache, ask(text(1_000, "a"), cache_control=ONE_HOUR)) == Parts(plain=0, write_long=1_000)


def test_the_hour_must_come_before_the_five_minutes(cache: AnthropicCache) -> None:
    message = refused(cache, ask(text(1_000, "a", FIVE_MINUTES), text(1_000, "b", ONE_HOUR)))

    assert message == (
        "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'"
        " cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    )


def test_the_order_of_lifetimes_runs_through_tools_and_system(cache: AnthropicCache) -> None:
    tool = {"name": "t", "input_schema": {}, "cache_control": FIVE_MINUTES}
    body = ask(text(1_000, "a"), tools=[tool], system=[text(1_000, "s", ONE_HOUR)])

    assert refused(cache, body).startswith("system.0.cache_control.ttl:")


def test_an_automatic_hour_after_a_five_minute_mark_is_refused(cache: AnthropicCache) -> None:
    assert "must not come after" in refused(cache, marked(1, cache_control=ONE_HOUR))


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ({"type": "permanent"}, "cache_control.type: Input should be 'ephemeral'"),
        ({"type": "ephemeral", "ttl": "30m"}, "cache_control.ttl: Input should be '5m' or '1h'"),
        ({"type": "ephemeral", "scope": "global"}, "cache_control.scope: Extra inputs are not permitted"),
    ],
)
def test_a_mark_has_two_keys_with_known_values(cache: AnthropicCache, control: Json, words: str) -> None:
    assert refused(cache, ask(text(1_000, "a", control))) == f"messages.0.content.0.{words}"
    assert refused(cache, ask(text(1_000, "a"), cache_control=control)) == words


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_an_empty_text_cannot_be_marked(cache: AnthropicCache, nothing: str) -> None:
    block = {"type": "text", "text": nothing, "cache_control": FIVE_MINUTES}

    assert refused(cache, ask(text(5), system=[block])) == (
        "system.0.text: cache_control cannot be set for empty text blocks"
    )
    assert "messages.0.content.1.text" in refused(cache, ask(text(5), block))


@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking"])
def test_thinking_cannot_be_marked(cache: AnthropicCache, kind: str) -> None:
    block = {"type": kind, "thinking": "hm", "data": "x", "signature": "", "cache_control": FIVE_MINUTES}
    body = ask(text(1_000, "a"))
    body["messages"] += [{"role": "assistant", "content": [block]}, {"role": "user", "content": "b"}]

    assert (
        refused(cache, body) == f"messages.1.content.0.{kind}.cache_control: Extra inputs are not permitted"
    )


def test_marks_inside_a_tool_result_are_no_marks(cache: AnthropicCache) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [text(1_000, "r", FIVE_MINUTES)]}
    body = ask(text(1_000, "a"))
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [result]},
    ]

    assert accepted(cache, body).write == 0


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
def test_sampling_parameters_are_gone(cache: AnthropicCache, name: str) -> None:
    assert refused(cache, ask(text(5), **{name: 1})) == f"{name}: Extra inputs are not permitted"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "is_taken"),
    [
        ("claude-opus-5-5", False),
        ("claude-opus-4-6", False),
        ("claude-opus-4-5", True),
        ("claude-haiku-4-5", True),
    ],
)
def test_prefill_ended_with_4_6(cache: AnthropicCache, model: str, is_taken: bool) -> None:
    body = ask(text(5), model=model)
    body["messages"].append({"role": "assistant", "content": "Sure, "})

    if is_taken:
        assert accepted(cache, body).total > 5
    else:
        assert "does not support assistant message prefill" in refused(cache, body)


@pytest.mark.parametrize(
    ("model", "is_taken"),
    [
        ("claude-opus-5-5", False),
        ("claude-sonnet-5-5", False),
        ("claude-fable-5-1", False),
        ("claude-opus-5", True),
        ("claude-haiku-4-5", True),
    ],
)
@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "t"}])
def test_forced_tools_by_model(cache: AnthropicCache, model: str, is_taken: bool, choice: Json) -> None:
    body = ask(text(5), model=model, tool_choice=choice)
    if is_taken:
        assert accepted(cache, body).plain == 5
    else:
        assert "tool_choice" in refused(cache, body)


@pytest.mark.parametrize(("model", "is_taken"), [("claude-opus-5-5", False), ("claude-haiku-5-5", True)])
def test_thinking_cannot_be_switched_off_everywhere(
    cache: AnthropicCache, model: str, is_taken: bool
) -> None:
    body = ask(text(5), model=model, thinking={"type": "disabled"})
    if is_taken:
        assert accepted(cache, body).plain == 5
    else:
        assert "thinking.type.disabled" in refused(cache, body)


# --- Prewarm -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {"stream": True},
        {"thinking": {"type": "enabled", "budget_tokens": 2_000}},
        {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"tool_choice": {"type": "any"}},
        {"tool_choice": {"type": "tool", "name": "t"}},
    ],
)
def test_a_prewarm_refuses_what_only_an_answer_needs(cache: AnthropicCache, more: Json) -> None:
    body = ask(text(1_000, "a", FIVE_MINUTES), model="claude-haiku-4-5", **more)

    assert "max_tokens: 0" in refused(cache, {**body, "max_tokens": 0})
    assert accepted(cache, body).total == 1_000


# --- System messages in the conversation ----------------------------------------------------------------------------------


def turns(*roles: str) -> Json:
    messages = [{"role": role, "content": label(5, f"{role} {n}")} for n, role in enumerate(roles)]
    return {"model": "claude-opus-5-5", "max_tokens": 5, "messages": messages}


@pytest.mark.parametrize(
    "roles",
    [("user", "system"), ("user", "system", "assistant", "user"), ("user", "assistant", "user", "system")],
)
def test_a_system_message_may_follow_a_user_turn(cache: AnthropicCache, roles: tuple[str, ...]) -> None:
    assert accepted(cache, turns(*roles)).total == 5 * len(roles)


@pytest.mark.parametrize(
    "roles",
    [
        ("system", "user"),
        ("user", "system", "user"),
        ("user", "assistant", "system"),
        ("user", "system", "system"),
    ],
)
def test_a_system_message_may_stand_nowhere_else(cache: AnthropicCache, roles: tuple[str, ...]) -> None:
    assert "system messages must follow a user turn" in refused(cache, turns(*roles))


def test_a_system_message_may_follow_the_result_of_a_server_tool(cache: AnthropicCache) -> None:
    body = turns("user", "assistant", "system")
    body["messages"][1]["content"] = [{"type": "web_search_tool_result", "tool_use_id": "x", "content": []}]

    assert accepted(cache, body).total > 10


@pytest.mark.parametrize(
    ("model", "is_taken"),
    [
        ("claude-opus-4-8", True),
        ("claude-opus-5", True),
        ("claude-haiku-5-5", True),
        ("claude-sonnet-5-5", True),
        ("claude-fable-5-1", True),
        ("claude-sonnet-5", False),
        ("claude-opus-4-7", False),
        ("claude-haiku-4-5", False),
    ],
)
def test_system_messages_by_model(cache: AnthropicCache, model: str, is_taken: bool) -> None:
    body = {**turns("user", "system"), "model": model}
    if is_taken:
        assert accepted(cache, body).total == 10
    else:
        assert refused(cache, body) == "role 'system' is not supported on this model"


def test_a_system_message_has_text_only(cache: AnthropicCache) -> None:
    body = turns("user", "system")
    body["messages"][1]["content"] = [{"type": "image", "source": {}}]

    assert "text only" in refused(cache, body)


def test_clear_at_needs_its_beta_and_a_system_message(cache: AnthropicCache) -> None:
    body = turns("user", "system")
    body["messages"][1]["clear_at"] = "next_user_message"

    assert refused(cache, body) == "messages.1.clear_at: Extra inputs are not permitted"
    assert accepted(cache, body, CLEAR_AT).total == 10
    wrong = turns("user")
    wrong["messages"][0]["clear_at"] = "next_user_message"
    assert "clear_at" in refused(AnthropicCache(Clock()), wrong, CLEAR_AT)


def test_a_message_that_clears_cannot_be_marked(cache: AnthropicCache) -> None:
    body = turns("user", "system")
    body["messages"][1] |= {"clear_at": "next_user_message", "content": [text(5, "x", FIVE_MINUTES)]}

    assert "clear_at" in refused(cache, body, CLEAR_AT)


def test_effort_alone_may_stand_anywhere_with_its_beta(cache: AnthropicCache) -> None:
    body = turns("user", "assistant", "system", "user")
    body["messages"][2] |= {"content": [], "output_config": {"effort": "low"}}

    assert "content" in refused(cache, body)
    assert accepted(cache, body, EFFORT).total == 15


def test_no_messages_is_refused(cache: AnthropicCache) -> None:
    assert "at least one message" in refused(cache, {"model": "claude-opus-5", "messages": []})


def test_the_body_of_an_error_has_the_vendor_s_shape(cache: AnthropicCache) -> None:
    with pytest.raises(Refused) as caught:
        cache.begin(marked(5))

    assert error_body(caught.value, "req_1") == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": caught.value.message},
        "request_id": "req_1",
    }


# --- Thinking and what it is bound to ---------------------------------------------------------------------------------------


def spoken(cache: AnthropicCache, model: str = "claude-opus-5-5", control: Json | None = None) -> Json:
    """A conversation whose second message thinks, signed by the cache, and a follow-up."""
    body = ask(text(1_000, "question"), model=model, system=label(50, "system"))
    signature = cache.begin(body).signer("300|hm")
    thought = {"type": "thinking", "thinking": "300|hm", "signature": signature}
    body["messages"] += [
        {"role": "assistant", "content": [thought, text(20, "answer")]},
        {"role": "user", "content": [text(10, "more", FIVE_MINUTES)]},
    ]
    if control is not None:
        body["thinking"] = {"type": "adaptive", "block_binding": control}
    return body


def edited(body: Json) -> Json:
    messages = [{"role": "user", "content": [text(1_000, "another question")]}, *body["messages"][1:]]
    return {**body, "messages": messages}


def test_thinking_that_returns_unchanged_is_input(cache: AnthropicCache) -> None:
    assert accepted(cache, spoken(cache)) == Parts(plain=0, write=1_380)


@pytest.mark.parametrize(
    "model",
    ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-1", "claude-fable-5-2"],
)
def test_thinking_after_an_edited_history_is_refused(cache: AnthropicCache, model: str) -> None:
    message = refused(cache, edited(spoken(cache, model)))

    assert message.startswith("messages.1.content.0:")
    assert "bound to a different conversation" in message


@pytest.mark.parametrize("level", [{"system": "other"}, {"tools": [{"name": "t", "input_schema": {}}]}])
def test_thinking_is_bound_to_system_and_tools_too(cache: AnthropicCache, level: Json) -> None:
    assert "bound" in refused(cache, {**spoken(cache), **level})


def test_settings_and_marks_do_not_part_thinking_from_its_conversation(cache: AnthropicCache) -> None:
    body = {**spoken(cache), "output_config": {"effort": "low"}}
    body["messages"][0] = {"role": "user", "content": [text(1_000, "question", FIVE_MINUTES)]}

    assert accepted(cache, body).write == 1_380


@pytest.mark.parametrize("model", ["claude-opus-5", "claude-haiku-4-5"])
def test_older_models_do_not_mind(cache: AnthropicCache, model: str) -> None:
    assert accepted(cache, edited(spoken(cache, model))).total > 1_000


def test_thinking_can_be_dropped_instead(cache: AnthropicCache) -> None:
    ticket = cache.begin(edited(spoken(cache, control={"prefix_mismatch_behavior": "drop_block"})))

    assert ticket.parts.total == 1_080
    assert ticket.transformations == (
        {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"},
    )


def test_history_without_its_thinking_is_taken(cache: AnthropicCache) -> None:
    body = edited(spoken(cache))
    body["messages"][1] = {"role": "assistant", "content": [text(20, "answer")]}

    assert accepted(cache, body).total == 1_080


def test_thinking_of_another_model_is_dropped_in_silence(cache: AnthropicCache) -> None:
    ticket = cache.begin({**spoken(cache), "model": "claude-sonnet-5-5"})

    assert [found["reason"] for found in ticket.transformations] == ["model_binding_mismatch"]
    assert ticket.parts.total == 1_080


@pytest.mark.parametrize("signature", ["", "bm9uc2Vuc2U=", "not base64!"])
def test_a_false_signature_is_refused(cache: AnthropicCache, signature: str) -> None:
    body = spoken(cache)
    body["messages"][1]["content"][0]["signature"] = signature

    assert refused(cache, body) == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_changed_thinking_is_refused(cache: AnthropicCache) -> None:
    body = spoken(cache)
    body["messages"][1]["content"][0]["thinking"] = "300|something else"

    assert "Invalid `signature`" in refused(cache, body)


@pytest.mark.parametrize("binds_to_thinking", [True, False])
def test_whether_earlier_thinking_is_part_of_the_conversation_can_be_chosen(binds_to_thinking: bool) -> None:
    rules = AnthropicRules(binds_to_thinking=binds_to_thinking)
    cache = AnthropicCache(Clock(), Texts(count_label), rules=rules)
    body = spoken(cache)
    second = {"type": "thinking", "thinking": "7|yes", "signature": cache.begin(body).signer("7|yes")}
    body["messages"] += [
        {"role": "assistant", "content": [second, text(3, "b")]},
        {"role": "user", "content": "x"},
    ]
    body["messages"][1] = {"role": "assistant", "content": [text(20, "answer")]}

    if binds_to_thinking:
        assert "messages.3.content.0" in refused(cache, body)
    else:
        assert cache.begin(body).transformations == ()
