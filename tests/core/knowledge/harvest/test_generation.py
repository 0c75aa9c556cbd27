"""Asking a provider: with the schema, without it where it is refused, and stopped when told to."""

from __future__ import annotations

import json

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.o200k import count_tokens
from core.kernel.values.knowledge import Category
from core.kernel.values.messages import Role
from core.kernel.values.provider import (
    ProviderKind,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.knowledge.harvest.distillation import (
    SMALL_OUTPUT_TOKENS,
    HarvestCancelledError,
    ProviderGenerate,
    request_for,
)
from core.knowledge.harvest.harvest_reply import SMALL_CHARS, SMALL_ITEMS, category_keys, read_reply
from core.services.providers.embedded.client import EmbeddedProvider
from core.services.providers.http import CallSpent
from core.services.providers.protocol import CancelToken
from tests.core.services.providers.script import Scripted


def spoken(*texts: str, stop: StopKind = StopKind.COMPLETED) -> list[StreamItem]:
    return [*(TextDelta(text) for text in texts), UsageUpdate(Usage(100, 20)), Stopped(stop)]


class Told:
    """A purse that lets every call go and remembers it."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.calls: list[CallSpent] = []

    def begin(self, provider: str, model: str, prompt: str) -> None:
        assert prompt == "prompt"
        self.begun.append((provider, model))

    def spent(self, provider: str, model: str, prompt: str, spent: CallSpent) -> None:
        del provider, model, prompt
        self.calls.append(spent)


def test_the_text_of_the_reply_is_returned_and_what_it_used_is_told() -> None:
    fake = Scripted([ReasoningDelta("hm"), *spoken('{"fa', 'cts": []}')], spoken("{}"))
    purse = Told()
    generate = ProviderGenerate(lambda _: fake, purse=purse)

    assert generate("prompt", "openai", "m") == '{"facts": []}'
    assert generate("prompt", "openai", "m") == "{}"
    assert purse.begun == [("openai", "m")] * 2
    assert [one.reported for one in purse.calls] == [Usage(100, 20)] * 2
    assert all(one.is_whole and one.is_billed for one in purse.calls)


def test_the_request_is_one_message_with_the_schema() -> None:
    request = request_for("prompt", "anthropic", "m")

    assert [message.role for message in request.messages] == [Role.USER]
    assert json.loads(request.response_schema_json)["required"][0] == "facts"
    assert "maxItems" not in request.response_schema_json
    assert request.tools == ()


def test_the_embedded_model_is_held_to_a_short_reply() -> None:
    request = request_for("prompt", "embedded", "SmolLM2")

    assert "maxItems" in request.response_schema_json
    assert request.max_output_tokens == 2_000


def test_the_longest_reply_that_the_small_schema_allows_fits_into_its_tokens() -> None:
    rows = {
        name: [dict.fromkeys(category_keys(name), "tide " * (SMALL_CHARS // 5))] * SMALL_ITEMS
        for name in Category
    }

    assert count_tokens(json.dumps(rows)) * 1.3 < SMALL_OUTPUT_TOKENS


@pytest.mark.model
def test_the_embedded_model_gives_a_reply_that_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the smallest model finds is poor; that it can be read is owed to the schema, whatever the prompt."""
    monkeypatch.setattr(
        "core.knowledge.harvest.harvest_reply.SMALL_ITEMS", 1
    )  # it fills each list; 500 tokens of two
    server = ServerSettings(ProviderKind.EMBEDDED, kind=ProviderKind.EMBEDDED)
    provider = EmbeddedProvider(server)
    prompt = "Every list is empty: []"  # of several prompts the one that it answers soonest
    try:
        text = ProviderGenerate(lambda _: provider)(prompt, "embedded", "SmolLM2-135M-Instruct")
    finally:
        provider.close()

    read_reply(text)
    assert set(json.loads(text)) == set(Category)
    assert {len(rows) for rows in json.loads(text).values()} <= {0, 1}, "it kept to the bound"


def test_a_server_that_refuses_the_schema_is_asked_without_it_from_then_on() -> None:
    fake = Scripted(
        [ProviderError(FailureKind.BAD_REQUEST, "no response_format")], spoken("{}"), spoken("{}")
    )
    generate = ProviderGenerate(lambda _: fake)

    generate("one", "local", "m")
    generate("two", "local", "m")

    assert [bool(request.response_schema_json) for request in fake.requests] == [True, False, False]


def test_another_failure_is_not_hidden() -> None:
    fake = Scripted([ProviderError(FailureKind.BAD_KEY, "Wrong key")])

    with pytest.raises(ProviderError, match="Wrong key"):
        ProviderGenerate(lambda _: fake)("one", "local", "m")
    assert fake.sent == 1


def test_a_refusal_is_a_failure_and_not_a_malformed_reply() -> None:
    with pytest.raises(ProviderError, match="refused"):
        ProviderGenerate(lambda _: Scripted(spoken(stop=StopKind.REFUSED)))("one", "local", "m")


def test_a_reply_that_was_cut_is_handed_on_to_be_judged() -> None:
    assert (
        ProviderGenerate(lambda _: Scripted(spoken("{", stop=StopKind.TRUNCATED)))("one", "local", "m") == "{"
    )


def test_a_stopped_harvest_asks_nobody() -> None:
    cancel = CancelToken()
    fake = Scripted(spoken("{", stop=StopKind.CANCELLED))
    generate = ProviderGenerate(lambda _: fake, cancel)

    with pytest.raises(HarvestCancelledError):
        generate("one", "local", "m")
    cancel.cancel()
    with pytest.raises(HarvestCancelledError):
        generate("one", "local", "m")
    assert fake.sent == 1
