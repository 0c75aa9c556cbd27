"""Reasoning that a vendor refuses is left out once and from then on; what arrives is whole, and it is told once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest, ReasoningDelta, StreamItem, TextDelta
from core.services.providers.protocol import CancelToken, Provider
from core.services.providers.refused_fields import RefusedFields, stream_reasoned
from core.services.providers.switches import REASONING, without_reasoning
from tests.core.services.providers.anthropic import kit as anthropic_kit
from tests.core.services.providers.openai import kit as openai_kit
from tests.core.services.providers.outcomes import NO_BLOBS, TOOLS, ask, assistant, tool, user
from tests.vendors.anthropic_server import AnthropicServer, Said
from tests.vendors.loopback import Answer, json_reply
from tests.vendors.openai_server import OpenAiServer

OPUS, SOL = "claude-opus-5-5", "gpt-6.1-sol"
CALL = ToolCallPart("toolu_1", "read_file", "{}")


def turns(model: str, thought: ReasoningPart, first: str = "Go.") -> ProviderRequest:
    said = (user(first), assistant(thought, CALL), tool(ToolResultPart("toolu_1", "x")), assistant("Done."))
    return ask(model, *said, user("Next."), tools=TOOLS)


class Asker:
    """Asks a provider as a call does."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.refused = RefusedFields()
        self.told: list[str] = []
        self.blocks: list[str] = []

    def ask(self, request: ProviderRequest) -> str:
        def stream(one: ProviderRequest) -> Iterator[StreamItem]:
            return self.provider.stream(one, NO_BLOBS, CancelToken())

        def tell(error: ProviderError) -> None:
            self.told.append(error.what)
            self.refused.keep(request.model, [REASONING])

        is_refused = REASONING in self.refused.of(request.model)
        items = list(stream_reasoned(request, stream, tell, is_refused=is_refused))
        self.blocks += [i.vendor_json for i in items if isinstance(i, ReasoningDelta) and i.vendor_json]
        return "".join(item.text for item in items if isinstance(item, TextDelta))


@pytest.mark.parametrize("kind", ["another conversation", "a false signature", "half a block"])
def test_thinking_that_anthropic_refuses_is_left_out_and_told_once(kind: str) -> None:
    with AnthropicServer() as server:
        asker = Asker(anthropic_kit.provider_at(server))
        server.replies.append(
            Said(
                (
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "tool_use", "name": "read_file", "input": {}},
                )
            )
        )
        asker.ask(ask(OPUS, user("Go."), tools=TOOLS))
        signatures = {"a false signature": "c2lnbmVk", "half a block": ""}
        block = json.loads(asker.blocks[0])
        block["signature"] = signatures.get(kind, block["signature"])
        thought = ReasoningPart("Hm.", json.dumps(block))

        answers = [asker.ask(turns(OPUS, thought, "Edited.")) for _ in range(2)]

        assert answers == ["Hello there."] * 2
        assert len(asker.told) == 1
        assert len(server.bodies) == 4, "one try more, and none the second time"
        assert "thinking" in json.dumps(server.bodies[1]["messages"])
        assert all("thinking" not in json.dumps(body["messages"]) for body in server.bodies[2:])


def test_encrypted_reasoning_that_openai_cannot_verify_is_left_out_and_told_once() -> None:
    with OpenAiServer() as server:
        asker = Asker(openai_kit.provider_at(server))
        block = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "foreign"}

        answers = [asker.ask(turns(SOL, ReasoningPart("", json.dumps(block)))) for _ in range(2)]

        assert answers == ["Hello there."] * 2
        assert len(asker.told) == 1
        kinds = [[item["type"] for item in body["input"]] for body in server.bodies]
        assert ["reasoning" in one for one in kinds] == [True, False, False]


@pytest.mark.parametrize(
    "words",
    [
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.",
    ],
)
def test_reasoning_that_openai_wants_whole_or_not_at_all_is_left_out_and_told_once(words: str) -> None:
    with OpenAiServer() as server:
        asker = Asker(openai_kit.provider_at(server))
        refusal = {"message": words, "type": "invalid_request_error", "param": "input", "code": None}
        server.faults.append(Answer(json_reply(400, {"error": refusal})))
        block = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "foreign"}

        answers = [asker.ask(turns(SOL, ReasoningPart("", json.dumps(block)))) for _ in range(2)]

        assert answers == ["Hello there."] * 2
        assert len(asker.told) == 1
        kinds = [[item["type"] for item in body["input"]] for body in server.bodies]
        assert ["reasoning" in one for one in kinds] == [True, False, False]
        rest = [[kind for kind in one if kind != "reasoning"] for one in kinds]
        assert rest == [rest[0]] * 3, "words, calls and results stay"


def test_a_refusal_for_another_reason_is_told_as_it_is_and_nothing_is_remembered() -> None:
    sent, told = list[ProviderRequest](), list[ProviderError]()
    request = turns(OPUS, ReasoningPart("Hm.", "{}"))

    reasons = iter(("max_tokens is too large", "the signature is false", "the model is gone", "no credit"))

    def stream(one: ProviderRequest) -> Iterator[StreamItem]:
        sent.append(one)
        raise ProviderError(FailureKind.BAD_REQUEST, next(reasons), status=400)

    for _ in range(3):
        with pytest.raises(ProviderError):
            list(stream_reasoned(request, stream, told.append, is_refused=False))

    assert told == []
    assert [one is request for one in sent] == [True, True, False, True]


def test_a_request_without_reasoning_is_the_same_object_and_an_empty_message_goes() -> None:
    bare = ask(OPUS, user("Go."))
    only = ask(OPUS, user("Go."), assistant(ReasoningPart("Hm.")), user("On."))

    assert without_reasoning(bare) is bare
    assert [len(message.parts) for message in without_reasoning(only).messages] == [1, 1]
