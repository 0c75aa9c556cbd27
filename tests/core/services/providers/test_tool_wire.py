"""Tool turns on the wire of every provider: pictures in results, names and ids of other models, wordings of errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.messages import ToolCallPart, ToolResultPart
from core.kernel.values.provider import ModelProfile, ProviderRequest
from core.services.providers.anthropic.wire import request_body
from core.services.providers.claude_code.client import claude_input
from core.services.providers.compatible.body import chat_body
from core.services.providers.gemini.wire import request_contents
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.body import responses_body
from core.services.providers.profiles import find_profile
from core.services.providers.protocol import ReadBlob
from tests.core.services.providers.outcomes import NO_BLOBS, PNG, ask, assistant, blobs, picture, tool, user
from tests.vendors import anthropic_rules, compatible_rules, gemini_rules, openai_rules
from tests.vendors.loopback import Json

DATA = base64.b64encode(PNG).decode()
MODELS = {"anthropic": "claude-opus-5-5", "openai": "gpt-6.1-sol", "gemini": "gemini-4-argon", "own": "qwen"}


def profile_of(provider: str, model: str) -> ModelProfile:
    found = find_profile(packaged_models(), provider, model)
    return replace(found, takes_images=True) if provider == "own" else found


def anthropic_body(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> Json:
    body = request_body(request, profile, read_blob)
    anthropic_rules.check(body)
    return body


def openai_body(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> Json:
    body = responses_body(request, profile, read_blob)
    openai_rules.check(body)
    return body


def gemini_body(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> Json:
    contents = request_contents(request, profile, read_blob)
    body: Json = {"contents": [c.model_dump(mode="json", by_alias=True, exclude_none=True) for c in contents]}
    gemini_rules.check(body, gemini_rules.MODELS[request.model])
    return body


def compatible_body(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> Json:
    body = chat_body(request, profile, read_blob)
    compatible_rules.check(body["messages"])
    return body


Body = Callable[[ProviderRequest, ModelProfile, ReadBlob], Json]
BODIES: dict[str, Body] = {
    "anthropic": anthropic_body,
    "openai": openai_body,
    "gemini": gemini_body,
    "own": compatible_body,
}


def body_of(provider: str, *results: ToolResultPart, read_blob: ReadBlob = NO_BLOBS, model: str = "") -> Json:
    """A request with a call for each of these results."""
    model = model or MODELS[provider]
    calls = (ToolCallPart(result.call_id, "view_image", "{}") for result in results)
    request = ask(model, user("Look."), assistant("I look.", *calls), tool(*results))
    return BODIES[provider](request, profile_of(provider, model), read_blob)


def shown(call_id: str = "c1", *, is_error: bool = False) -> ToolResultPart:
    return ToolResultPart(call_id, "16 bytes", is_error, (picture(),))


def test_a_picture_goes_inside_the_result_where_the_vendor_takes_it_there() -> None:
    read_blob = blobs(PNG)

    content = body_of("anthropic", shown(), read_blob=read_blob)["messages"][2]["content"][0]["content"]
    assert [block["type"] for block in content] == ["text", "image"]
    assert content[1]["source"]["data"] == DATA
    output = body_of("openai", shown(), read_blob=read_blob)["input"][-1]["output"]
    assert [block["type"] for block in output] == ["input_text", "input_image"]
    answer = body_of("gemini", shown(), read_blob=read_blob)["contents"][-1]["parts"][0]["functionResponse"]
    assert answer["response"] == {"output": "16 bytes"}
    assert answer["parts"][0]["inlineData"] == {"mimeType": "image/png", "data": DATA}


def test_pictures_stand_behind_all_results_where_a_result_is_text_alone() -> None:
    read_blob = blobs(PNG)
    results = shown("c1"), shown("c2")

    parts = body_of("gemini", *results, read_blob=read_blob, model="gemini-2.5-pro")["contents"][-1]["parts"]
    assert [next(iter(part)) for part in parts] == [
        "functionResponse",
        "functionResponse",
        "inlineData",
        "inlineData",
    ]
    *_, first, second, last = body_of("own", *results, read_blob=read_blob)["messages"]
    assert (first["content"], second["content"], last["role"]) == ("16 bytes", "16 bytes", "user")
    assert [part["type"] for part in last["content"]] == ["text", "image_url"] * 2


@pytest.mark.parametrize("provider", sorted(BODIES))
def test_a_picture_that_is_gone_or_not_taken_is_told_in_words_and_stops_no_request(provider: str) -> None:
    gone = json.dumps(body_of(provider, shown()))
    request = ask(MODELS[provider], user("Look."), assistant(ToolCallPart("c1", "f", "{}")), tool(shown()))
    blind = replace(profile_of(provider, MODELS[provider]), takes_images=False)
    not_taken = json.dumps(BODIES[provider](request, blind, blobs(PNG)))

    assert all("shot.png" in body and "cannot be shown" in body for body in (gone, not_taken))
    assert DATA not in not_taken


def test_an_error_of_a_tool_holds_no_picture_where_the_vendor_refuses_that() -> None:
    result = body_of("anthropic", shown(is_error=True), read_blob=blobs(PNG))["messages"][2]["content"][0]

    assert [block["type"] for block in result["content"]] == ["text", "text"]


def test_claude_code_gets_the_picture_behind_the_words_of_its_result() -> None:
    request = ask("opus", user("Look."), assistant(ToolCallPart("c1", "f", "{}")), tool(shown()))
    line = json.loads(claude_input(request, profile_of("anthropic", "claude-opus-5-5"), blobs(PNG)))

    assert [block["type"] for block in line["message"]["content"]] == ["text", "text", "text", "image"]


@pytest.mark.parametrize("provider", sorted(BODIES))
@pytest.mark.parametrize("name", ["", "toolbox.web answer()", "ä", "1st", "x" * 300])
def test_a_call_of_any_name_id_and_arguments_goes_back_as_one_that_the_vendor_takes(
    provider: str, name: str
) -> None:
    call_id = "call:1/" + "z" * 90
    turn = (
        user("Go."),
        assistant(ToolCallPart(call_id, name, "not json")),
        tool(ToolResultPart(call_id, "No.")),
    )
    body = BODIES[provider](ask(MODELS[provider], *turn), profile_of(provider, MODELS[provider]), NO_BLOBS)

    assert "not json" in json.dumps(body)
