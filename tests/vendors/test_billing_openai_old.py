"""OpenAI's models before GPT-5.6, and servers that only speak its protocol."""

from __future__ import annotations

import pytest

from tests.vendors.billing.clock import Clock
from tests.vendors.billing.compatible import CompatibleCache, CompatibleProfile
from tests.vendors.billing.openai import OpenAICache, OpenAIRules
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts, Refused

MINUTE = 60.0


def four(text: str) -> int:
    """A token for four characters, exactly."""
    return (len(text) + 3) // 4


def words(tokens: int, salt: str = "a") -> str:
    return (salt * 4) * tokens


def ask(*texts: str, model: str = "gpt-5.5", **more: object) -> Json:
    return {"model": model, "input": [{"role": "user", "content": text} for text in texts], **more}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> OpenAICache:
    return OpenAICache(clock, Texts(four))


def test_5_5_reads_up_to_the_last_of_its_boundaries(cache: OpenAICache) -> None:
    """2,048 tokens apart: of 5,000 tokens 4,096 are read."""
    body = ask(words(5_000))

    assert cache.send(body).parts == Parts(plain=5_000)
    assert cache.send(body).parts == Parts(plain=904, read=4_096)


def test_writing_costs_nothing_and_usage_says_so(cache: OpenAICache) -> None:
    cache.send(ask(words(5_000)))

    assert cache.send(ask(words(5_000))).usage(3)["input_tokens_details"] == {
        "cached_tokens": 4_096,
        "cache_write_tokens": 0,
    }


@pytest.mark.parametrize(("tokens", "read"), [(2_047, 0), (2_048, 2_048)])
@pytest.mark.parametrize("model", ["gpt-5.5", "gpt-5.4", "gpt-4o"])
def test_the_smallest_prefix_is_2048(cache: OpenAICache, tokens: int, read: int, model: str) -> None:
    cache.send(ask(words(tokens), model=model))

    assert cache.send(ask(words(tokens), model=model)).parts.read == read


def test_hidden_tokens_are_taken_off_and_the_rest_rounded_down_to_128(clock: Clock) -> None:
    """Breakpoints count from the start of the hidden message: 3,000 hidden, the last boundary at 14,336."""
    cache = OpenAICache(clock, Texts(four), rules=OpenAIRules(hidden=3_000))
    cache.send(ask(words(12_000)))

    assert cache.send(ask(words(12_000))).parts.read == (14_336 - 3_000) // 128 * 128


def test_earlier_models_have_finer_boundaries(cache: OpenAICache) -> None:
    cache.send(ask(words(5_000), model="gpt-5.4"))

    assert cache.send(ask(words(5_000), model="gpt-5.4")).parts.read == 5_000 // 128 * 128


def test_a_prefix_that_ends_inside_a_message_is_found(cache: OpenAICache) -> None:
    """No message ends matter here: the same first tokens are enough."""
    cache.send(ask(words(4_500) + words(4_500, "b")))

    assert cache.send(ask(words(4_500) + words(4_500, "c"))).parts.read == 4_096


def test_an_edit_at_the_head_loses_everything(cache: OpenAICache) -> None:
    cache.send(ask(words(5_000)))

    assert cache.send(ask("x" + words(5_000))).parts.read == 0


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_cache_key": "k"},
        {"reasoning": {"effort": "high"}},
        {"tools": [{"type": "function", "name": "f"}]},
    ],
)
def test_settings_are_part_of_the_prefix(cache: OpenAICache, change: Json) -> None:
    cache.send(ask(words(5_000)))

    assert cache.send(ask(words(5_000), **change)).parts.read == 0


@pytest.mark.parametrize(
    "more",
    [
        {"prompt_cache_options": {"mode": "explicit"}},
        {
            "input": [
                {
                    "role": "user",
                    "content": [{"type": "input_text", "text": "a", "prompt_cache_breakpoint": {}}],
                }
            ]
        },
    ],
)
def test_there_is_nothing_to_set(cache: OpenAICache, more: Json) -> None:
    with pytest.raises(Refused) as caught:
        cache.begin({**ask("a"), **more})

    assert (caught.value.status, caught.value.code) == (400, "unsupported_parameter")


def test_retention_of_a_day_is_about_half_an_hour_idle(cache: OpenAICache, clock: Clock) -> None:
    body = ask(words(5_000))
    cache.send(body)
    for _ in range(5):
        clock.advance(29 * MINUTE)
        assert cache.send(body).parts.read == 4_096
    clock.advance(31 * MINUTE)
    assert cache.send(body).parts.read == 0


def test_retention_ends_after_a_day_whatever_happens(cache: OpenAICache, clock: Clock) -> None:
    body = ask(words(5_000))
    reads = []
    for _ in range(75):
        reads.append(cache.send(body).parts.read)
        clock.advance(20 * MINUTE)

    assert reads.count(0) == 2
    assert reads.index(0, 1) == 72


@pytest.mark.parametrize("seed", range(5))
def test_memory_lasts_five_to_ten_idle_minutes(clock: Clock, seed: int) -> None:
    cache = OpenAICache(clock, Texts(four), rules=OpenAIRules(seed=seed))
    body = ask(words(5_000), model="gpt-5.4", prompt_cache_retention="in_memory")
    cache.send(body)
    clock.advance(5 * MINUTE - 1)
    assert cache.send(body).parts.read > 0
    clock.advance(10 * MINUTE + 1)
    assert cache.send(body).parts.read == 0


def test_organisations_without_retention_default_to_memory(clock: Clock) -> None:
    cache = OpenAICache(clock, Texts(four), rules=OpenAIRules(zero_retention=True))
    body = ask(words(5_000), model="gpt-5.4")
    cache.send(body)
    clock.advance(12 * MINUTE)

    assert cache.send(body).parts.read == 0


def test_5_5_has_no_retention_in_memory(cache: OpenAICache) -> None:
    with pytest.raises(Refused, match="in_memory"):
        cache.begin(ask("a", prompt_cache_retention="in_memory"))


def test_nothing_is_held_before_the_first_byte(cache: OpenAICache) -> None:
    cache.begin(ask(words(5_000)))

    assert cache.begin(ask(words(5_000))).parts.read == 0


# --- Compatible servers ----------------------------------------------------------------------------------------------------


def talk(*texts: str, **more: object) -> Json:
    roles = ("user", "assistant")
    return {
        "model": "m",
        "messages": [{"role": roles[n % 2], "content": t} for n, t in enumerate(texts)],
        **more,
    }


def local(**profile: int) -> CompatibleCache:
    return CompatibleCache(Texts(four), profile=CompatibleProfile(**profile))  # type: ignore[arg-type]


def test_a_local_server_reuses_the_longest_common_run_and_computes_one_token_at_least() -> None:
    server = local()

    assert server.send(talk(words(100))).parts == Parts(plain=100)
    assert server.send(talk(words(100))).parts == Parts(plain=1, read=99)
    assert server.send(talk(words(60) + words(40, "b"))).parts == Parts(plain=40, read=60)


def test_a_reply_that_returns_in_the_next_turn_is_reused_too() -> None:
    server = local()
    server.finish(server.send(talk(words(100))), words(30, "r"))

    assert server.send(talk(words(100), words(30, "r"), words(10, "q"))).parts == Parts(plain=10, read=130)


def test_one_slot_holds_one_prompt_and_two_hold_two() -> None:
    def reads(slots: int) -> list[int]:
        server = local(slots=slots)
        return [
            server.send(talk(words(100, salt) + "end" + str(n))).parts.read for n, salt in enumerate("abab")
        ]

    assert reads(1) == [0, 0, 0, 0]
    assert reads(2)[2:] == [100, 100]


def test_reuse_is_a_whole_number_of_blocks() -> None:
    server = local(block=16)
    server.send(talk(words(100)))

    assert server.send(talk(words(100) + "b")).parts.read == 96


def test_cache_prompt_false_reuses_nothing() -> None:
    server = local()
    server.send(talk(words(100)))

    assert server.send(talk(words(100), cache_prompt=False)).parts.read == 0


def test_a_restart_forgets() -> None:
    server = local()
    server.send(talk(words(100)))
    server.restart()

    assert server.send(talk(words(100))).parts.read == 0


def test_a_server_may_leave_out_the_details() -> None:
    server = local(reports_details=False)
    assert server.send(talk(words(100))).chat_usage(5) == {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "total_tokens": 105,
    }
    assert local().send(talk(words(8))).chat_usage()["prompt_tokens_details"] == {"cached_tokens": 0}
