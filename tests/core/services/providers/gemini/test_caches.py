"""Gemini's stored prefixes through the real SDK, against a server that stores and bills as the vendor does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.cache import CachePlan, ContentsPlan, ContentsUse
from core.kernel.values.provider import ContentsReport, ProviderKind, StoredContent, UsageUpdate
from core.services.providers.gemini.client import GeminiProvider
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken
from core.talk.caching.contents import contents_usd
from core.talk.caching.offers import cache_prices
from tests.core.services.providers.caching_kit import FILES, METADATA, SYSTEM, sent, turn, words
from tests.core.services.providers.gemini.kit import ARGON, FLASH
from tests.core.services.providers.outcomes import NO_BLOBS, Outcome, outcome, run_beside, server_settings
from tests.vendors.billing.clock import Clock, moment
from tests.vendors.billing.gemini import GeminiRules
from tests.vendors.gemini_server import KEY, GeminiServer
from tests.vendors.loopback import Answer, Captured, HangUp, Reply, json_reply

HASH = "a1" * 16


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Iterator[GeminiServer]:
    with GeminiServer(clock=clock) as running:
        yield running


@pytest.fixture
def client(server: GeminiServer, clock: Clock) -> Iterator[GeminiProvider]:
    provider = client_at(server, clock)
    yield provider
    provider.close()


def client_at(server: GeminiServer, clock: Clock) -> GeminiProvider:
    settings = server_settings("gemini", server.url)
    return GeminiProvider(settings, KEY, packaged_models(), clock=lambda: moment(clock()))


def store(
    use: ContentsUse = ContentsUse.CREATE, *, through: str = FILES, ttl_s: int = 3600, name: str = ""
) -> CachePlan:
    return CachePlan(contents=ContentsPlan(use, through, HASH, ttl_s, name))


def say(*said: str, cache: CachePlan | None = None, model: str = FLASH, **rest: Any) -> Any:
    return turn(model, *said, cache=cache or store(), **rest)


def reports(result: Outcome) -> list[ContentsReport]:
    found = [item.contents for item in result.items if isinstance(item, UsageUpdate)]
    return [report for report in found if report is not None]


def calls(server: GeminiServer) -> list[tuple[str, str]]:
    """Method and last words of the path of each request."""
    return [(r.method, r.path.rpartition("/")[2].rpartition(":")[2]) for r in server.requests]


def test_the_first_turn_stores_the_prefix_and_is_sent_by_it(
    server: GeminiServer, client: GeminiProvider
) -> None:
    result = sent(client, say("Hello?"))

    made, spoken = (request.json for request in server.requests)
    assert made["displayName"] == f"manual-slop/d1/{HASH}"
    assert made["ttl"] == "3600s"
    assert len(made["systemInstruction"]["parts"]) == 2
    assert made["tools"]
    assert [len(content["parts"]) for content in made["contents"]] == [1]
    assert not {"systemInstruction", "tools", "toolConfig"} & spoken.keys()
    assert [part["text"] for part in spoken["contents"][0]["parts"]] == ["Hello?", METADATA]
    report = reports(result)[0]
    assert report.is_new
    assert report.stored is not None
    assert (report.stored.discussion_id, report.stored.prefix_hash) == ("d1", HASH)
    assert result.usage.cache_read_tokens == report.stored.tokens > 3000
    assert result.usage.input_tokens == report.stored.tokens + 2 + (len(METADATA) + 3) // 4


def test_a_later_turn_uses_it_by_name_and_stores_nothing(
    server: GeminiServer, client: GeminiProvider
) -> None:
    first = reports(sent(client, say("Hello?")))[0].stored
    assert first is not None
    use = store(ContentsUse.USE, name=first.name)
    second = sent(client, say("Hello?", "Yes.", "And?", cache=use))

    assert calls(server).count(("POST", "cachedContents")) == 1
    assert server.bodies[-1]["cachedContent"] == first.name
    assert [c["role"] for c in server.bodies[-1]["contents"]] == ["user", "model", "user"]
    assert second.usage.cache_read_tokens == first.tokens
    assert not reports(second)[-1].is_new


def test_a_prefix_of_system_and_tools_alone_can_be_stored(
    server: GeminiServer, client: GeminiProvider
) -> None:
    result = sent(client, say("Hello?", cache=store(through=SYSTEM)))

    assert "contents" not in server.requests[0].json
    assert len(server.bodies[-1]["contents"][0]["parts"]) == 3
    assert (result.usage.cache_read_tokens or 0) > 2000


def test_a_prefix_that_ends_inside_the_conversation_is_cut_there(
    server: GeminiServer, client: GeminiProvider
) -> None:
    said = ("Hello?", "Yes.", "And?", "This.", "Then?")
    whole = sent(client, say(*said, cache=CachePlan())).usage.input_tokens
    stored = sent(client, say(*said, cache=store(through="11/m1")))

    made = server.requests[1].json["contents"]
    assert [[p["text"][:6] for p in c["parts"]] for c in made] == [["files ", "Hello?"], ["Yes."]]
    assert [c["role"] for c in server.bodies[-1]["contents"]] == ["user", "model", "user"]
    assert stored.usage.input_tokens == whole


def test_the_time_is_extended_when_half_of_it_has_passed(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    sent(client, say("Hello?"))
    clock.advance(1700)
    sent(client, say("Hello?"))
    assert ("PATCH", client.caches.held[0].name.rpartition("/")[2]) not in calls(server)
    clock.advance(200)
    result = sent(client, say("Hello?"))

    patched = [request.json for request in server.requests if request.method == "PATCH"]
    assert patched == [{"ttl": "3600s"}]
    stored = reports(result)[-1].stored
    assert stored is not None
    assert stored.expires_at == moment(clock()) + timedelta(hours=1)


@pytest.mark.parametrize("cache", [store(ContentsUse.NONE), CachePlan(), replace(store(), is_enabled=False)])
def test_without_a_content_in_the_plan_all_goes_inline(
    server: GeminiServer, client: GeminiProvider, cache: CachePlan
) -> None:
    result = sent(client, say("Hello?", cache=cache))

    assert calls(server) == [("POST", "streamGenerateContent")]
    assert "systemInstruction" in server.bodies[0]
    assert reports(result) == []


def test_a_model_without_stored_prefixes_is_never_asked_for_one(
    server: GeminiServer, client: GeminiProvider
) -> None:
    sent(client, say("Hello?", model=ARGON))

    assert calls(server) == [("POST", "streamGenerateContent")]


def test_a_prefix_that_is_too_small_is_sent_inline_said_and_not_tried_again(
    server: GeminiServer, client: GeminiProvider
) -> None:
    small: dict[str, Any] = {"system": "Small.", "files": "small"}
    first = sent(client, say("Hello?", **small))
    second = sent(client, say("Hello?", "Yes.", "So?", **small))

    assert "too small" in first.usage.miss_reason
    assert reports(first)[-1].stored is None
    assert client.caches.minimum_tokens(FLASH) == 2048
    assert calls(server).count(("POST", "cachedContents")) == 1
    assert second.usage.miss_reason == ""
    assert (first.text, second.text) == ("Hello there.", "Hello there.")


def test_a_free_account_cannot_store_and_is_not_asked_again(clock: Clock) -> None:
    with GeminiServer(clock=clock, rules=GeminiRules(implicit_hit=0.0, is_free_tier=True)) as server:
        client = client_at(server, clock)
        first = sent(client, say("Hello?"))
        other = replace(store().contents, prefix_hash="b2" * 16)  # type: ignore[type-var]
        sent(client, say("Hello?", cache=CachePlan(contents=other)))
        client.close()

    assert "limit=0" in first.usage.miss_reason
    assert calls(server).count(("POST", "cachedContents")) == 1


@pytest.mark.parametrize(
    "reply",
    [
        json_reply(500, {"error": {"code": 500, "status": "INTERNAL", "message": "Internal error."}}),
        json_reply(404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "Not Found"}}),
        Reply(200, b"no json", {"content-type": "application/json"}),
        json_reply(200, {"name": "cachedContents/x"}),
    ],
)
def test_a_creation_that_fails_in_any_way_leaves_the_turn_alone(
    clock: Clock, server: GeminiServer, client: GeminiProvider, reply: Reply
) -> None:
    server.is_faultable = lambda captured: captured.path.endswith("cachedContents")  # type: ignore[method-assign]
    server.faults.append(Answer(reply))
    result = sent(client, say("Hello?"))

    assert result.text == "Hello there."
    assert result.usage.miss_reason.startswith("The provider could not use the stored prefix: ")
    assert result.usage.cache_read_tokens is None
    assert client.caches.held == ()


def test_a_network_that_breaks_while_storing_leaves_the_turn_alone(
    server: GeminiServer, client: GeminiProvider
) -> None:
    server.is_faultable = lambda captured: captured.path.endswith("cachedContents")  # type: ignore[method-assign]
    server.faults.append(HangUp())

    assert sent(client, say("Hello?")).text == "Hello there."


def test_one_that_was_made_although_its_answer_was_lost_is_found_used_and_paid_for(
    clock: Clock, server: GeminiServer, client: GeminiProvider
) -> None:
    """It was stored, and billed, to its end, and the next turn made a second one."""

    def made_and_gone(captured: Captured) -> bool:
        is_making = (captured.method, captured.path.endswith("cachedContents")) == ("POST", True)
        if is_making:
            server.cache.stored.create(captured.json, owner=KEY)
        return is_making

    server.is_faultable = made_and_gone  # type: ignore[method-assign]
    server.faults.append(HangUp())

    first, second = sent(client, say("Hello?")), sent(client, say("Hello?", "Yes.", "And?"))

    assert [report.is_new for report in reports(first)][:1] == [True]
    assert (first.text, second.text) == ("Hello there.", "Hello there.")
    assert second.usage.cache_read_tokens
    assert [path for method, path in calls(server) if (method, path) == ("POST", "cachedContents")] == [
        "cachedContents"
    ]


def test_one_that_could_not_be_looked_for_is_looked_for_before_another_is_made(
    clock: Clock, server: GeminiServer, client: GeminiProvider
) -> None:
    def made_and_gone(captured: Captured) -> bool:
        is_contents = captured.path.endswith("cachedContents")
        if is_contents and captured.method == "POST":
            server.cache.stored.create(captured.json, owner=KEY)
        return is_contents

    server.is_faultable = made_and_gone  # type: ignore[method-assign]
    failed = json_reply(500, {"error": {"code": 500, "status": "INTERNAL", "message": "Internal error."}})
    server.faults.extend([HangUp(), Answer(failed)])

    first = sent(client, say("Hello?"))
    second = sent(client, say("Hello?", "Yes.", "And?"))

    assert first.usage.miss_reason.startswith("The provider could not use the stored prefix: ")
    assert [report.is_new for report in reports(second)][:1] == [True]
    assert calls(server).count(("POST", "cachedContents")) == 1


def _deleted(server: GeminiServer, clock: Clock, name: str) -> None:
    server.cache.stored.delete(name, owner=KEY)


def _expired(server: GeminiServer, clock: Clock, name: str) -> None:
    server.cache.stored.patch(name, {"ttl": "1s"}, owner=KEY)
    clock.advance(2)


@pytest.mark.parametrize("ending", [_deleted, _expired])
def test_a_content_that_is_gone_in_use_is_sent_inline_said_and_made_anew(
    server: GeminiServer, clock: Clock, client: GeminiProvider, ending: Any
) -> None:
    made = reports(sent(client, say("Hello?")))[0].stored
    assert made is not None
    ending(server, clock, made.name)
    use = store(ContentsUse.USE, name=made.name)
    lost = sent(client, say("Hello?", cache=use))
    again = sent(client, say("Hello?"))

    assert lost.text == "Hello there."
    assert reports(lost)[-1].lost_name == made.name
    assert "the stored prefix was deleted or has expired." in lost.usage.miss_reason
    assert lost.usage.cache_read_tokens is None
    assert "systemInstruction" in server.bodies[-2]
    assert reports(again)[0].is_new


def test_a_content_of_another_model_or_another_key_is_not_used(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    made = reports(sent(client, say("Hello?")))[0].stored
    assert made is not None
    use = store(ContentsUse.USE, name=made.name)
    other_model = sent(client, say("Hello?", model="gemini-3.8-flash", cache=use))
    foreign = sent(
        client, say("Hello?", cache=replace_hash(store(ContentsUse.USE, name="cachedContents/abc")))
    )

    assert "has to be the same" in other_model.usage.miss_reason
    assert "the stored prefix was deleted or has expired." in foreign.usage.miss_reason
    assert (other_model.text, foreign.text) == ("Hello there.", "Hello there.")


def replace_hash(plan: CachePlan) -> CachePlan:
    assert plan.contents is not None
    return replace(plan, contents=replace(plan.contents, prefix_hash="c3" * 16))


def test_a_failure_that_is_not_the_contents_is_raised_as_ever(
    server: GeminiServer, client: GeminiProvider
) -> None:
    sent(client, say("Hello?"))
    busy = json_reply(503, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}})
    server.faults.append(Answer(busy))
    failed = outcome(client.stream(say("Hello?"), NO_BLOBS, CancelToken()))

    assert failed.failure.kind is FailureKind.OVERLOADED
    assert len(client.caches.held) == 1


def test_a_turn_that_is_refused_either_way_keeps_what_is_stored(
    server: GeminiServer, client: GeminiProvider
) -> None:
    sent(client, say("Hello?"))
    bad = json_reply(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Bad."}})
    server.faults.extend([Answer(bad), Answer(bad)])
    failed = outcome(client.stream(say("Hello?"), NO_BLOBS, CancelToken()))

    assert failed.failure.kind is FailureKind.BAD_REQUEST
    assert len(client.caches.held) == 1


def test_two_discussions_with_one_prefix_at_once_store_it_once(
    server: GeminiServer, client: GeminiProvider
) -> None:
    waits = [
        run_beside(
            lambda name=name: outcome(  # type: ignore[misc]
                client.stream(say("Hello?", discussion=name), NO_BLOBS, CancelToken())
            )
        )
        for name in ("d1", "d2")
    ]
    results = [wait() for wait in waits]

    assert calls(server).count(("POST", "cachedContents")) == 1
    assert all((result.usage.cache_read_tokens or 0) > 3000 for result in results)
    assert sum(report.is_new for result in results for report in reports(result)[:1]) == 1


@pytest.mark.breaks_prefix("two discussions begin with the same words")
def test_after_a_start_the_live_ones_are_found_again_and_the_orphans_are_named(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    for number, discussion in enumerate(("kept", "gone")):
        plan = CachePlan(contents=ContentsPlan(ContentsUse.CREATE, FILES, f"{number}" * 32, 3600))
        sent(client, say("Hello?", cache=plan, discussion=discussion, files=words(1000, discussion)))
    foreign = {"model": f"models/{FLASH}", "displayName": "theirs"}
    parts = [{"parts": [{"text": words(3000)}]}]
    server.cache.stored.create({**foreign, "contents": parts}, owner=KEY)
    later = client_at(server, clock)
    orphans = later.caches.adopt({"kept"})
    before = len(server.requests)
    result = sent(later, say("Hello?", cache=_of("0" * 32), discussion="kept", files=words(1000, "kept")))
    later.caches.delete(orphans[0].name)
    left = later.caches.list_own()
    later.close()

    assert [(c.discussion_id, c.prefix_hash) for c in orphans] == [("gone", "1" * 32)]
    assert [c.discussion_id for c in left] == ["kept"]
    assert calls(server)[before] == ("POST", "streamGenerateContent")
    assert (result.usage.cache_read_tokens or 0) > 3000


def _of(prefix_hash: str) -> CachePlan:
    return CachePlan(contents=ContentsPlan(ContentsUse.CREATE, FILES, prefix_hash, 3600))


def test_a_list_of_many_pages_is_read_to_its_end(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    text = [{"parts": [{"text": words(2100)}]}]
    for number in range(205):
        name = f"manual-slop/d{number}/{number:032}"
        body = {"model": f"models/{FLASH}", "displayName": name, "contents": text}
        server.cache.stored.create(body, owner=KEY)

    assert len(client.caches.list_own()) == 205
    assert len(server.requests) == 3


def test_deleting_ends_the_rent_and_one_that_is_gone_is_no_failure(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    stored = reports(sent(client, say("Hello?")))[0].stored
    assert stored is not None
    clock.advance(1800)
    assert client.caches.delete_held("another") == ()
    assert len(client.caches.held) == 1
    assert client.caches.delete_held("d1") == ()
    clock.advance(36_000)

    hours = server.cache.stored.token_hours(clock())[FLASH]
    assert hours == pytest.approx(stored.tokens / 2)
    assert not client.caches.delete_held()
    client.caches.delete(stored.name)


def test_what_cannot_be_deleted_stays_known(server: GeminiServer, client: GeminiProvider) -> None:
    sent(client, say("Hello?"))
    server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    busy = json_reply(503, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}})
    server.faults.append(Answer(busy))

    assert client.caches.delete_held() == (client.caches.held[0].name,)
    assert client.caches.delete_held() == ()
    assert not client.caches.held


def test_extending_what_is_gone_says_so_and_forgets_it(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    stored = reports(sent(client, say("Hello?")))[0].stored
    assert stored is not None
    _deleted(server, clock, stored.name)

    with pytest.raises(ProviderError) as failure:
        client.caches.extend(stored.name, 600)
    assert failure.value.status == 403
    assert client.caches.held == ()


def test_a_server_without_stored_prefixes_answers_the_turn_all_the_same(clock: Clock) -> None:
    with GeminiServer(clock=clock, caches=False) as server:
        client = client_at(server, clock)
        result = sent(client, say("Hello?"))
        client.close()

    assert result.text == "Hello there."
    assert result.usage.cache_read_tokens is None


def test_making_one_costs_its_tokens_and_using_it_nothing_and_unknown_where_the_price_is() -> None:
    made = moment(0.0)
    stored = StoredContent("n", FLASH, HASH, "d1", 20_000, made, made + timedelta(hours=2))
    prices = cache_prices("gemini", ProviderKind.GEMINI, FLASH, made)
    new = ContentsReport(stored=stored, is_new=True)

    assert contents_usd(prices, None) == 0.0
    assert contents_usd(prices, ContentsReport("It failed.")) == 0.0
    assert contents_usd(prices, ContentsReport(stored=stored)) == 0.0
    assert contents_usd(prices, new) == pytest.approx(20_000 * (prices.input_usd or 0.0))
    assert contents_usd(replace(prices, input_usd=None), new) is None


def test_one_that_has_expired_is_not_named_in_a_request(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    """By the program's clock, whatever the machine's says: the request begins after its end."""
    stored = reports(sent(client, say("Hello?")))[0].stored
    assert stored is not None
    clock.advance(3601)
    use = store(ContentsUse.USE, ttl_s=0, name=stored.name)

    result = sent(client, say("Hello?", cache=use))

    assert result.text == "Hello there."
    assert reports(result)[-1].lost_name == stored.name
    assert "cachedContent" not in server.bodies[-1]
    assert [call for call in calls(server) if call[1] == "streamGenerateContent"] == [
        ("POST", "streamGenerateContent")
    ] * 2


def test_one_that_is_gone_cannot_be_extended_and_that_is_no_failure(
    server: GeminiServer, clock: Clock, client: GeminiProvider
) -> None:
    stored = reports(sent(client, say("Hello?")))[0].stored
    assert stored is not None
    longer = client.extend_stored(stored.name, 7200)
    assert longer is not None
    assert longer.expires_at == moment(clock()) + timedelta(hours=2)

    _deleted(server, clock, stored.name)
    assert client.extend_stored(stored.name, 7200) is None
