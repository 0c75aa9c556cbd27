"""Gemini's explicit and implicit caches, held against its documents and against recorded live answers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.vendors.billing.clock import Clock
from tests.vendors.billing.gemini import (
    GeminiCache,
    GeminiRules,
    error_body,
    implicit_minimum,
    takes_explicit,
)
from tests.vendors.billing.labels import count_label, label
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts, Refused

HOUR = 3600.0
LITE = "gemini-3.5-flash-lite"
FLASH = "gemini-3.8-flash"
GONE = "CachedContent not found (or permission denied)"


def cache_of(clock: Clock, **rules: object) -> GeminiCache:
    return GeminiCache(clock, Texts(count_label), rules=GeminiRules(**rules))  # type: ignore[arg-type]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> GeminiCache:
    return cache_of(clock, implicit_hit=0.0)


def user(tokens: int, name: str = "") -> Json:
    return {"role": "user", "parts": [{"text": label(tokens, name)}]}


def system(tokens: int) -> Json:
    return {"parts": [{"text": label(tokens, "system")}]}


def stored(tokens: int = 7_000, model: str = LITE, **more: object) -> Json:
    return {"model": f"models/{model}", "contents": [user(tokens, "document")], **more}


def refused(caught: pytest.ExceptionInfo[Refused]) -> tuple[int, str, str]:
    error = error_body(caught.value)["error"]
    assert error["code"] == caught.value.status
    return error["code"], error["status"], error["message"]


# --- Live answers that others recorded (2026-09-07, gemini-3.5-flash-lite) ---------------------------------------------------


def test_too_small_a_content_is_refused_with_both_numbers(cache: GeminiCache) -> None:
    with pytest.raises(Refused) as caught:
        cache.stored.create(stored(16))

    words = "Cached content is too small. total_token_count=16, min_total_token_count=1024"
    assert refused(caught) == (400, "INVALID_ARGUMENT", words)


def test_a_created_cache_shows_its_size_and_an_hour_and_nothing_of_its_content(cache: GeminiCache) -> None:
    made = cache.stored.create(stored(7_021, systemInstruction=system(21)))

    assert made["name"].startswith("cachedContents/")
    assert made["usageMetadata"] == {"totalTokenCount": 7_042}
    assert (made["createTime"], made["expireTime"]) == (
        "2026-11-20T09:00:00.000000Z",
        "2026-11-20T10:00:00.000000Z",
    )
    assert set(made) == {
        "name",
        "model",
        "displayName",
        "createTime",
        "updateTime",
        "expireTime",
        "usageMetadata",
    }


def test_a_request_over_the_cache_counts_it_inside_the_prompt(cache: GeminiCache) -> None:
    name = cache.stored.create(stored(7_021))["name"]

    ticket = cache.send({"cachedContent": name, "contents": [user(15, "new")]}, LITE)

    assert ticket.usage(candidates=19) == {
        "promptTokenCount": 7_036,
        "candidatesTokenCount": 19,
        "totalTokenCount": 7_055,
        "cachedContentTokenCount": 7_021,
        "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 7_021}],
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 7_036}],
    }


@pytest.mark.parametrize(
    "beside",
    [
        {"systemInstruction": system(5)},
        {"tools": [{"functionDeclarations": [{"name": "f"}]}]},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
    ],
)
def test_nothing_that_belongs_inside_may_stand_beside(cache: GeminiCache, beside: Json) -> None:
    name = cache.stored.create(stored(**beside))["name"]

    with pytest.raises(Refused) as caught:
        cache.begin({"cachedContent": name, "contents": [user(5)], **beside}, LITE)

    status, kind, words = refused(caught)
    assert (status, kind) == (400, "INVALID_ARGUMENT")
    assert words == (
        "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config."
        "\n\nProposed fix: move those values to CachedContent from GenerateContent request."
    )


def test_cached_contents_that_are_sent_again_are_billed_again(cache: GeminiCache) -> None:
    body = stored(6_948)
    name = cache.stored.create(body)["name"]

    parts = cache.send({"cachedContent": name, "contents": [*body["contents"], user(15)]}, LITE).parts

    assert parts == Parts(plain=6_963, read=6_948)


def test_a_deleted_cache_is_403_everywhere(cache: GeminiCache) -> None:
    name = cache.stored.create(stored())["name"]
    assert cache.stored.delete(name) == {}

    for use in (
        lambda: cache.begin({"cachedContent": name, "contents": [user(5)]}, LITE),
        lambda: cache.stored.get(name),
        lambda: cache.stored.delete(name),
        lambda: cache.stored.patch(name, {"ttl": "60s"}),
    ):
        with pytest.raises(Refused) as caught:
            use()
        assert refused(caught) == (403, "PERMISSION_DENIED", GONE)
    assert cache.stored.page() == {}


# --- Expiry ------------------------------------------------------------------------------------------------------------------


def test_use_does_not_extend_the_life_of_a_cache(cache: GeminiCache, clock: Clock) -> None:
    name = cache.stored.create(stored())["name"]
    body = {"cachedContent": name, "contents": [user(5)]}
    for _ in range(5):
        clock.advance(11 * 60)
        assert cache.send(body, LITE).parts.read == 7_000
    clock.advance(5 * 60)
    with pytest.raises(Refused, match="permission denied"):
        cache.begin(body, LITE)


def test_a_patch_sets_the_expiry_anew_from_now(cache: GeminiCache, clock: Clock) -> None:
    name = cache.stored.create(stored(ttl="300s"))["name"]
    clock.advance(200)
    patched = cache.stored.patch(name, {"ttl": "600s"})

    assert patched["expireTime"] == "2026-11-20T09:13:20.000000Z"
    assert patched["updateTime"] == "2026-11-20T09:03:20.000000Z"
    clock.advance(599)
    assert cache.stored.get(name)["name"] == name
    clock.advance(1)
    with pytest.raises(Refused):
        cache.stored.get(name)


def test_an_expiry_can_be_a_moment(cache: GeminiCache, clock: Clock) -> None:
    name = cache.stored.create(stored(expireTime="2026-11-20T09:30:00Z"))["name"]
    clock.advance(1_799)
    assert cache.stored.patch(name, {"expireTime": "2026-11-20T10:31:00+01:00"})["expireTime"].startswith(
        "2026-11-20T09:31"
    )


@pytest.mark.parametrize(
    "body",
    [{"ttl": "5m"}, {"ttl": "-1s"}, {"ttl": "0s"}, {"expireTime": "soon"}, {"ttl": "9s", "expireTime": "x"}],
)
def test_a_wrong_expiry_is_refused(cache: GeminiCache, body: Json) -> None:
    with pytest.raises(Refused) as caught:
        cache.stored.create(stored(**body))
    assert refused(caught)[:2] == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("body", [{}, {"displayName": "other"}, {"contents": []}])
def test_a_patch_changes_the_expiry_and_nothing_else(cache: GeminiCache, body: Json) -> None:
    name = cache.stored.create(stored())["name"]
    with pytest.raises(Refused) as caught:
        cache.stored.patch(name, body)
    assert refused(caught)[:2] == (400, "INVALID_ARGUMENT")


def test_unknown_fields_are_refused(cache: GeminiCache) -> None:
    with pytest.raises(Refused, match='Unknown name "temperature"'):
        cache.stored.create(stored(temperature=1))


# --- Whose, which model, which version ---------------------------------------------------------------------------------------


def test_a_foreign_cache_looks_like_none(cache: GeminiCache) -> None:
    name = cache.stored.create(stored(), owner="a")["name"]

    with pytest.raises(Refused) as caught:
        cache.begin({"cachedContent": name, "contents": [user(5)]}, LITE, owner="b")
    assert refused(caught) == (403, "PERMISSION_DENIED", GONE)
    assert cache.stored.page(owner="b") == {}


def test_the_model_must_be_the_one_of_the_cache(cache: GeminiCache) -> None:
    name = cache.stored.create(stored())["name"]

    with pytest.raises(Refused) as caught:
        cache.begin({"cachedContent": name, "contents": [user(5)]}, FLASH)
    assert refused(caught) == (
        400,
        "INVALID_ARGUMENT",
        f"Model used by GenerateContent request (models/{FLASH}) and CachedContent (models/{LITE}) has to be the same.",
    )


@pytest.mark.parametrize(
    ("model", "explicit", "minimum"),
    [
        ("gemini-2.5-flash", True, 2_048),
        ("gemini-2.5-pro", True, 2_048),
        ("gemini-3.1-pro-preview", True, 4_096),
        ("gemini-3.8-flash", True, 4_096),
        ("gemini-4-argon", False, 4_096),
        ("gemini-4-hydrogen", False, 4_096),
        ("gemini-2.0-flash", False, 2_048),
    ],
)
def test_models_have_explicit_caching_and_a_minimum(model: str, explicit: bool, minimum: int) -> None:
    assert takes_explicit(model) is explicit
    assert implicit_minimum(model) == minimum


def test_argon_refuses_to_store(cache: GeminiCache) -> None:
    with pytest.raises(Refused) as caught:
        cache.stored.create(stored(model="gemini-4-argon"))
    assert refused(caught)[:2] == (400, "INVALID_ARGUMENT")


def test_the_server_s_minimum_can_be_set(clock: Clock) -> None:
    with pytest.raises(Refused, match="min_total_token_count=4096"):
        cache_of(clock, explicit_minimum=4_096).stored.create(stored(2_000))


@pytest.mark.parametrize("serves_v1", [False, True])
def test_stored_contents_are_sure_on_v1beta_only(clock: Clock, serves_v1: bool) -> None:
    cache = cache_of(clock, serves_v1=serves_v1, implicit_hit=0.0)
    name = cache.stored.create(stored())["name"]
    body = {"cachedContent": name, "contents": [user(5)]}
    cache.check_version("v1beta", is_stored=True)
    cache.check_version("v1", is_stored=False)

    if serves_v1:
        cache.check_version("v1", is_stored=True)
        assert cache.begin(body, LITE, version="v1").parts.read == 7_000
        return
    with pytest.raises(Refused) as caught:
        cache.check_version("v1", is_stored=True)
    assert caught.value.status == 404
    with pytest.raises(Refused, match='Unknown name "cachedContent"'):
        cache.begin(body, LITE, version="v1")


def test_the_free_tier_stores_nothing(clock: Clock) -> None:
    with pytest.raises(Refused) as caught:
        cache_of(clock, is_free_tier=True).stored.create(stored(7_021))
    status, kind, words = refused(caught)
    assert (status, kind) == (429, "RESOURCE_EXHAUSTED")
    assert "limit=0, requested=7021" in words


# --- Pages -------------------------------------------------------------------------------------------------------------------


def test_a_long_list_comes_in_pages_without_the_expired(cache: GeminiCache, clock: Clock) -> None:
    cache.stored.create(stored(ttl="60s", displayName="short"))
    for number in range(5):
        cache.stored.create(stored(displayName=f"slop-{number}"))
    clock.advance(61)
    names, token = [], ""
    for _ in range(9):
        page = cache.stored.page(page_size=2, page_token=token)
        names += [resource["displayName"] for resource in page["cachedContents"]]
        token = page.get("nextPageToken", "")
        if not token:
            break

    assert names == [f"slop-{number}" for number in range(5)]
    with pytest.raises(Refused):
        cache.stored.page(page_token="nonsense")


def test_names_are_told_apart(cache: GeminiCache) -> None:
    names = {cache.stored.create(stored())["name"] for _ in range(20)}

    assert len(names) == 20


# --- Storage -------------------------------------------------------------------------------------------------------------------


def test_storing_is_metered_until_expiry_or_deletion(cache: GeminiCache, clock: Clock) -> None:
    kept = cache.stored.create(stored(4_000))["name"]
    dropped = cache.stored.create(stored(8_000, FLASH))["name"]
    clock.advance(HOUR / 2)
    cache.stored.delete(dropped)
    clock.advance(10 * HOUR)

    assert cache.stored.token_hours(clock()) == {LITE: 4_000.0, FLASH: 4_000.0}
    with pytest.raises(Refused):
        cache.stored.get(kept)


def test_an_extended_cache_is_billed_for_all_of_its_time(cache: GeminiCache, clock: Clock) -> None:
    name = cache.stored.create(stored(6_000))["name"]
    for _ in range(3):
        clock.advance(HOUR / 2)
        cache.stored.patch(name, {"ttl": "3600s"})
    clock.advance(5 * HOUR)

    assert cache.stored.token_hours(clock()) == {LITE: 15_000.0}


@pytest.mark.parametrize(
    ("model", "requests_an_hour"),
    [("gemini-3.8-flash", "0.74"), ("gemini-2.5-pro", "4.0"), ("gemini-3.1-pro-preview", "2.5")],
)
def test_an_explicit_cache_pays_from_so_many_requests_an_hour_on(
    clock: Clock, model: str, requests_an_hour: str
) -> None:
    """Storage over what a read saves; without implicit hits and without the creation."""
    prices = Prices()
    rates = prices.rates("google", model, clock(), 100_000)
    an_hour = prices.storage(model, 1_000_000.0, clock())

    saved = (rates.plain - rates.read) * 1_000_000

    assert round(an_hour / saved, 2) == Decimal(requests_an_hour)


# --- Implicit ------------------------------------------------------------------------------------------------------------------


def turn(number: int, *, model_says: str = "ok") -> Json:
    contents = []
    for n in range(number):
        contents += [user(1_000, f"u{n}"), {"role": "model", "parts": [{"text": label(10, model_says)}]}]
    return {"systemInstruction": system(4_000), "contents": [*contents, user(1_000, f"u{number}")]}


def test_implicit_hits_are_as_probable_as_the_rules_say_and_repeat_with_the_seed(clock: Clock) -> None:
    def reads(seed: int) -> list[int]:
        cache = cache_of(clock, implicit_hit=0.5, seed=seed)
        return [cache.send(turn(1), FLASH).parts.read for _ in range(400)]

    assert reads(1) == reads(1) != reads(2)
    hits = sum(1 for read in reads(1) if read)
    assert 150 < hits < 250


def test_a_sure_implicit_cache_reads_what_was_sent_before(clock: Clock) -> None:
    cache = cache_of(clock, implicit_hit=1.0)

    assert cache.send(turn(0), FLASH).parts == Parts(plain=5_000)
    assert cache.send(turn(1), FLASH).parts == Parts(plain=1_010, read=5_000)
    assert cache.send(turn(1), FLASH).parts == Parts(plain=0, read=6_010)


@pytest.mark.parametrize(("model", "read"), [(FLASH, 0), ("gemini-2.5-flash", 3_000)])
def test_implicit_hits_have_a_minimum(clock: Clock, model: str, read: int) -> None:
    cache = cache_of(clock, implicit_hit=1.0)
    cache.send({"contents": [user(3_000)]}, model)

    assert cache.send({"contents": [user(3_000)]}, model).parts.read == read


def test_implicit_prefixes_go_when_they_idle(clock: Clock) -> None:
    cache = cache_of(clock, implicit_hit=1.0, implicit_s=300.0)
    cache.send(turn(1), FLASH)
    clock.advance(299)
    assert cache.send(turn(1), FLASH).parts.read > 0
    clock.advance(301)
    assert cache.send(turn(1), FLASH).parts.read == 0


@pytest.mark.parametrize("other", [{"owner": "b"}, {"model": "gemini-3.6-flash"}])
def test_implicit_prefixes_are_apart_by_owner_and_model(clock: Clock, other: dict[str, str]) -> None:
    cache = cache_of(clock, implicit_hit=1.0)
    cache.send(turn(1), FLASH)

    assert cache.send(turn(1), **{"model": FLASH, **other}).parts.read == 0


def test_with_an_explicit_cache_only_its_block_is_reported(clock: Clock) -> None:
    cache = cache_of(clock, implicit_hit=1.0)
    name = cache.stored.create(stored())["name"]
    body = {"cachedContent": name, "contents": [user(5_000)]}
    cache.send(body, LITE)

    assert cache.send(body, LITE).parts == Parts(plain=5_000, read=7_000)


def test_argon_has_implicit_hits(clock: Clock) -> None:
    cache = cache_of(clock, implicit_hit=1.0)
    cache.send(turn(1), "gemini-4-argon")

    assert cache.send(turn(1), "gemini-4-argon").parts.read == 6_010


def test_implicit_hits_can_be_whole_blocks(clock: Clock) -> None:
    cache = cache_of(clock, implicit_hit=1.0, implicit_block=256)
    cache.send(turn(1), FLASH)

    assert cache.send(turn(1), FLASH).parts.read == 6_010 // 256 * 256


def test_usage_in_every_chunk_carries_the_prompt_and_the_output_so_far(cache: GeminiCache) -> None:
    ticket = cache.send(turn(0), FLASH)
    chunks = [ticket.usage(candidates=n, thoughts=40) for n in (0, 5, 9)]

    assert [chunk["promptTokenCount"] for chunk in chunks] == [5_000] * 3
    assert [chunk.get("candidatesTokenCount") for chunk in chunks] == [None, 5, 9]
    assert [chunk["totalTokenCount"] for chunk in chunks] == [5_040, 5_045, 5_049]
    assert "cachedContentTokenCount" not in chunks[-1]


def test_counting_says_what_is_billed(cache: GeminiCache) -> None:
    assert cache.count_tokens(turn(2)) == cache.send(turn(2), FLASH).parts.total
