"""Refusals of a field, as servers word them, and lists of models, as servers give them: a report is a row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.services.providers.compatible.body import (
    DEVELOPER,
    MAX_COMPLETION_TOKENS,
    MAX_TOKENS,
    SYSTEM,
    refused_field,
    without_refused,
)
from core.services.providers.compatible.model_list import listed_entries, listed_profile
from tests.core.services.providers.vendors import VENDORS
from tests.vendors.loopback import Captured, LoopbackServer, Reply
from tests.vendors.world.fifteenth_round import FIFTEENTH_LISTS, FIFTEENTH_REFUSALS
from tests.vendors.world.later_rounds import LATER_LISTS, LATER_REFUSALS
from tests.vendors.world.nineteenth_round import NINETEENTH_LISTS
from tests.vendors.world.rounds import ROUND_LISTS, ROUND_REFUSALS
from tests.vendors.world.seventeenth_round import SEVENTEENTH_LISTS, SEVENTEENTH_REFUSALS
from tests.vendors.world.table import HTML, JSON, TEXT
from tests.vendors.world.thirteenth_round import THIRTEENTH_LISTS, THIRTEENTH_REFUSALS
from tests.vendors.world.twentyfirst_round import TWENTY_FIRST_LISTS
from tests.vendors.world.twentysecond_round import TWENTY_SECOND_LISTS

SENT: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, {"role": "assistant", "content": "a", "reasoning_content": "r"}],
    "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 500, "temperature": 0.2, "reasoning_effort": "high",
    "parallel_tool_calls": True, "response_format": {"type": "json_schema"}, "seed": 1, "tools": [{}], "cache_prompt": False,
}  # fmt: skip

REFUSALS: list[tuple[str, str | None, str]] = [
    ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", MAX_TOKENS, "OpenAI"),
    ("max_tokens is too large: 500. This model supports at most 400 completion tokens", None, "OpenAI, a value"),
    ("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window`", None, "Groq, a value"),
    ("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", "temperature", "OpenAI"),
    ("`temperature` is deprecated for this model.", "temperature", "Anthropic behind gateways"),
    ("invalid temperature: only 1 is allowed for this model", "temperature", "Moonshot"),
    ("Unrecognized request argument supplied: stream_options", "stream_options", "Azure OpenAI"),
    ('json: unknown field "stream_options"', "stream_options", "servers of Go"),
    ("Failed to deserialize the JSON body into the target type: unknown field `stream_options`, expected one of `model`", "stream_options", "servers of Rust"),
    ("[{'type': 'extra_forbidden', 'loc': ['body', 'stream_options'], 'msg': 'Extra inputs are not permitted'}]", "stream_options", "FastAPI servers"),
    ("Stream option \"include_usage\" not supported", "stream_options", "anomalyco/opencode#4698"),
    ("Extra inputs are not permitted, field: 'parallel_tool_calls', value: True", "parallel_tool_calls", "Fireworks"),
    ("litellm.UnsupportedParamsError: x does not support parameters: ['parallel_tool_calls'], for model=y", "parallel_tool_calls", "LiteLLM"),
    ("Validation: Unsupported parameter(s): `parallel_tool_calls`", "parallel_tool_calls", "NVIDIA"),
    ("Model grok-4 does not support parameter reasoningEffort.", "reasoning_effort", "BerriAI/litellm#16265"),
    ("`reasoning_effort` is not supported with this model", "reasoning_effort", "Groq"),
    ('"gemma3:4b" does not support thinking', "reasoning_effort", "Ollama"),
    ('think value "high" is not supported for this model', "reasoning_effort", "Ollama"),
    ("reasoning effort is not enabled for this model", "reasoning_effort", "Mistral"),
    ("Unrecognized key(s) in object: 'reasoningEffort'", "reasoning_effort", "gateways of JavaScript"),
    ("This response_format type is unavailable now", "response_format", "DeepSeek"),
    ("'response_format.type' must be 'json_object' or 'text': json_schema is not supported", "response_format", "Moonshot"),
    ("This model does not support structured outputs", "response_format", "Together"),
    ("'messages.2' : for 'role:assistant' the following must be satisfied: property 'reasoning_content' is unsupported", "reasoning_content", "Groq"),
    ("[{'type': 'extra_forbidden', 'loc': ['body', 'messages', 2, 'assistant', 'reasoning_content'], 'msg': 'Extra inputs are not permitted'}]", "reasoning_content", "Mistral"),
    ("Unsupported value: 'messages[0].role' does not support 'system' with this model.", SYSTEM, "OpenAI"),
    ("System role not supported", SYSTEM, "chat templates of Gemma"),
    ("Error rendering prompt with jinja template: System role not supported", SYSTEM, "LM Studio"),
    ("Invalid 'seed': not supported", "seed", "gateways"),
    ("does not support tools", None, "Ollama: for a person to decide"),
    ("maximum context length is 9 tokens", None, "for a person to decide"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "field", "source"),
    REFUSALS
    + ROUND_REFUSALS
    + LATER_REFUSALS
    + THIRTEENTH_REFUSALS
    + FIFTEENTH_REFUSALS
    + SEVENTEENTH_REFUSALS
    + SEVENTEENTH_REFUSALS,
)
def test_a_refused_field_is_told_by_its_name_in_any_spelling(
    words: str, field: str | None, source: str
) -> None:
    assert refused_field(SENT, words) == field, source


def test_what_was_refused_is_left_out_or_goes_under_its_twin() -> None:
    sent = without_refused(SENT, {MAX_TOKENS, "temperature", "stream_options"})

    assert sent[MAX_COMPLETION_TOKENS] == 500
    assert not {MAX_TOKENS, "temperature", "stream_options"} & sent.keys()


def test_a_role_that_is_refused_has_a_twin_too() -> None:
    roles = [
        without_refused(SENT, refused)["messages"][0]["role"] for refused in ({SYSTEM}, {SYSTEM, DEVELOPER})
    ]

    assert roles == ["developer", "user"]


class Lister(LoopbackServer):
    """Answers everything with one body."""

    def __init__(self, body: str, content_type: str, status: int) -> None:
        super().__init__()
        self._reply = Reply(status, body.encode(), {"content-type": content_type})

    def answer(self, captured: Captured) -> Reply:
        del captured
        return self._reply


TWO: dict[str, int | None] = {"m1": None, "m2": None}
LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("plain", {"object": "list", "data": [{"id": "m1", "object": "model"}, {"id": "m2"}]}, TWO, "what must stay right"),
    ("array", [{"id": "m1"}, {"id": "m2"}], TWO, "odysseus#2202; Together"),
    ("names", ["m1", "m2"], TWO, "servers of names"),
    ("models", {"models": [{"id": "m1"}, {"id": "m2"}]}, TWO, "gateways"),
    ("slugs", {"models": [{"slug": "m1"}, {"slug": "m2"}]}, TWO, "friuns2/codex-mobile#188"),
    ("names-in-models", {"models": [{"name": "m1", "context_length": 128000}, {"name": "m2"}]}, {"m1": 128000, "m2": None}, "Cohere"),
    ("success", {"success": True, "data": {"models": [{"id": "m1"}, {"id": "m2"}]}}, TWO, "gateways"),
    ("data-in-data", {"code": 0, "data": {"data": [{"id": "m1"}, {"id": "m2"}]}}, TWO, "gateways"),
    ("data-list", {"code": 0, "msg": "ok", "data": {"list": [{"id": "m1"}, {"id": "m2"}]}}, TWO, "gateways"),
    ("by-name", {"data": {"m1": {"context_length": 8192}, "m2": {}}}, {"m1": 8192, "m2": None}, "gateways"),
    ("both", {"object": "list", "models": [{"name": "m1", "model": "m1"}], "data": [{"id": "m1", "meta": {"n_ctx": 4096, "n_ctx_train": 131072}}]}, {"m1": 4096}, "llama.cpp"),
    ("trained", {"data": [{"id": "m1", "meta": {"n_ctx_train": 131072}}]}, {"m1": 131072}, "llama.cpp, turnstonelabs/turnstone#252"),
    ("without-ids", {"data": [{"object": "model"}, {"id": ""}, {"id": None}, None, 7, {"id": "m1"}]}, {"m1": None}, "agegr/pi-web#243"),
    ("twice", {"data": [{"id": "m1"}, {"id": "m1"}]}, {"m1": None}, "gateways of several keys"),
    ("null", {"object": "list", "data": None}, {}, "Ollama without a model"),
    ("empty", {"object": "list", "data": []}, {}, "servers without a model"),
    ("empty-array", [], {}, "servers without a model"),
    ("context_length", {"data": [{"id": "m1", "context_length": 8192}]}, {"m1": 8192}, "OpenRouter, Together"),
    ("max_model_len", {"data": [{"id": "m1", "max_model_len": 8192}]}, {"m1": 8192}, "vLLM, SGLang"),
    ("context_window", {"data": [{"id": "m1", "context_window": 8192}]}, {"m1": 8192}, "Groq"),
    ("max_context_length", {"data": [{"id": "m1", "max_context_length": 8192}]}, {"m1": 8192}, "Mistral"),
    ("loaded", {"data": [{"id": "m1", "max_context_length": 131072, "loaded_context_length": 4096}]}, {"m1": 4096}, "LM Studio"),
    ("loaded-instances", {"models": [{"key": "m1", "max_context_length": 131072, "loaded_instances": [{"config": {"context_length": 4096}}]}]}, {"m1": 4096}, "NousResearch/hermes-agent#2091"),
    ("max_context", {"data": [{"id": "m1", "max_context": 524288}]}, {"m1": 524288}, "NousResearch/hermes-agent#81442"),
    ("positions", {"data": [{"id": "m1", "max_position_embeddings": 8192}]}, {"m1": 8192}, "ml-explore/mlx-lm#1183"),
    ("in-limits", {"data": [{"id": "m1", "limits": {"max_input_tokens": 8192}}]}, {"m1": 8192}, "GitHub Models"),
    ("of-capabilities", {"data": [{"id": "m1", "capabilities": {"limits": {"max_context_window_tokens": 8192}}}]}, {"m1": 8192}, "GitHub Copilot"),
    ("window-object", {"data": [{"id": "m1", "context_window": {"context_length": 8192, "max_output_tokens": 400}}]}, {"m1": 8192}, "Poe"),
    ("model_spec", {"data": [{"id": "m1", "model_spec": {"availableContextTokens": 8192}}]}, {"m1": 8192}, "Venice"),
    ("providers", {"data": [{"id": "m1", "providers": [{"provider": "a", "context_length": 131072}, {"provider": "b", "context_length": 8192}]}]}, {"m1": 8192}, "Hugging Face: the smallest, for nobody knows which is used"),
    ("as-text", {"data": [{"id": "m1", "context_length": "8192"}]}, {"m1": 8192}, "gateways"),
    ("no-figure", {"data": [{"id": "m1", "context_length": -1}, {"id": "m2", "context_length": "many"}]}, TWO, "gateways"),
    ("zero", {"data": [{"id": "m1", "context_length": 0, "max_model_len": None}]}, {"m1": None}, "gateways"),
]  # fmt: skip


def listed(body: str, content_type: str = JSON, status: int = 200) -> dict[str, int | None]:
    vendor = next(one for one in VENDORS if one.kind == "compatible")
    with Lister(body, content_type, status) as server:
        client = vendor.client(server)
        try:
            return {one.id: one.context_tokens for one in client.list_models()}
        finally:
            client.close()


ALL_LISTS = (
    LISTS
    + ROUND_LISTS
    + LATER_LISTS
    + THIRTEENTH_LISTS
    + FIFTEENTH_LISTS
    + SEVENTEENTH_LISTS
    + NINETEENTH_LISTS
    + TWENTY_FIRST_LISTS
    + TWENTY_SECOND_LISTS
)


@pytest.mark.parametrize(("name", "body", "right", "source"), ALL_LISTS, ids=[row[0] for row in ALL_LISTS])
def test_a_list_of_models_is_read_in_any_shape(
    name: str, body: object, right: dict[str, int | None], source: str
) -> None:
    assert listed(json.dumps(body)) == right, (name, source)


@pytest.mark.parametrize("name", ["shutdown_date", "deprecation", "expiration_date", "retires_at"])
def test_a_list_tells_when_a_model_ends(name: str) -> None:
    """Source: OpenAI, Mistral, OpenRouter and Anthropic, lists of models (read 2026-11)."""
    (entry,) = listed_entries({"data": [{"id": "m1", name: "2026-12-20T00:00:00Z"}]})

    assert listed_profile("lab", entry).ends_on == "2026-12-20"


NO_LISTS: list[tuple[str, str, str, int, str]] = [
    ("page", "<!DOCTYPE html><html><head><title>Sign in</title></head></html>", HTML, 200, "Sign in"),
    ("page-as-json", "<html><title>Sign in</title></html>", JSON, 200, "Sign in"),
    ("nothing", "", JSON, 200, "no list of models"),
    ("text", "ok", TEXT, 200, "no list of models"),
    ("words", '{"error": "the engine died"}', JSON, 200, "the engine died"),
    ("code-and-msg", '{"code": 401, "msg": "no access", "data": null}', JSON, 200, "no access"),
    ("figure", "7", JSON, 200, "no list of models"),
    ("cut", '{"data": [{"id": "m1"', JSON, 200, "no list of models"),
    ("bad-escape", '{"data": [{"id": "m1", "description": "a\\q"}]}', JSON, 200, "no list of models"),
    ("not-found", '{"detail": "Not Found"}', JSON, 404, "Not Found"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "body", "content_type", "status", "words"), NO_LISTS, ids=[row[0] for row in NO_LISTS]
)
def test_what_is_no_list_of_models_is_said_in_words(
    name: str, body: str, content_type: str, status: int, words: str
) -> None:
    with pytest.raises(ProviderError) as failed:
        listed(body, content_type, status)

    told = f"{failed.value.what} {failed.value.remedy}"
    assert words in told, name
    assert "object has no attribute" not in told
    assert "<html" not in told
    assert "base_url" in failed.value.remedy
    assert failed.value.kind in {FailureKind.BAD_REPLY, FailureKind.BAD_REQUEST}
