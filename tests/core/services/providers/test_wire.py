"""Whatever is asked, the wire format keeps the vendors' rules, loses no text and is the same bytes each time."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.codecs import canonical_json
from core.kernel.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort, ModelProfile, ProviderRequest, RequestMessage
from core.kernel.values.stack import Segment, ToolSchema
from core.services.providers.anthropic import wire as anthropic_wire
from core.services.providers.gemini import wire as gemini_wire
from core.services.providers.model_data import packaged_models
from core.services.providers.profiles import find_profile
from core.services.providers.wire import sorted_object
from tests.core.services.providers.outcomes import NO_BLOBS, TOOLS, ask, assistant, seg, tool, user
from tests.vendors import anthropic_rules, gemini_rules
from tests.vendors.loopback import Json

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=20)
SPOKEN = st.lists(TEXT.map(seg), min_size=1, max_size=4)
JSON_TEXT = st.one_of(
    st.dictionaries(st.text("ab", max_size=2), st.integers(), max_size=3).map(json.dumps),
    st.sampled_from(["", "nope", "[1]", '{"a":']),
)


@st.composite
def tool_steps(draw: st.DrawFn) -> list[RequestMessage]:
    """Calls of an assistant and what the tools answered, for as many steps as drawn."""
    steps = []
    for number in range(draw(st.integers(0, 2))):
        ids = [f"call:{number}/{place}" for place in range(draw(st.integers(1, 2)))]
        thought = ReasoningPart(
            "Hm.", draw(st.sampled_from(["", "{}", '{"call_id":"x","thought_signature":"AA=="}']))
        )
        calls = [ToolCallPart(call_id, "read_file", draw(JSON_TEXT)) for call_id in ids]
        steps.append(assistant(thought, *draw(st.lists(TEXT.map(seg), max_size=1)), *calls))
        steps.append(tool(*(ToolResultPart(call_id, draw(TEXT), draw(st.booleans())) for call_id in ids)))
    return steps


@st.composite
def requests(draw: st.DrawFn, model: str) -> ProviderRequest:
    """A request as the stack renders it: the user speaks first, and last unless a tool turn is open."""
    messages = []
    for _ in range(draw(st.integers(0, 3))):
        messages += [user(seg("Asked."), *draw(SPOKEN)), *draw(tool_steps()), assistant(*draw(SPOKEN))]
    messages += [user(seg("Now."), *draw(SPOKEN)), *draw(tool_steps())]
    return ask(
        model,
        *messages,
        system=tuple(draw(st.lists(TEXT, max_size=3))),
        tools=draw(st.sampled_from([(), TOOLS])),
        effort=draw(st.sampled_from(Effort)),
        max_output_tokens=draw(st.none() | st.integers(1, 500)),
    )


def profile_of(provider: str, model: str) -> ModelProfile:
    return find_profile(packaged_models(), provider, model)


def texts(request: ProviderRequest) -> list[str]:
    """Every text that must arrive, in wire order."""
    parts = [*request.system, *(part for message in request.messages for part in message.parts)]
    found = [p.text for p in parts if isinstance(p, Segment | ToolResultPart)]
    return [text for text in found if text.strip()]


ANTHROPIC = st.sampled_from(sorted(anthropic_rules.MODELS)).flatmap(requests)
GEMINI = st.sampled_from(sorted(set(gemini_rules.MODELS) - {"gemini-embedding-2"})).flatmap(requests)


@given(ANTHROPIC)
def test_anthropic_takes_whatever_the_stack_may_render(request: ProviderRequest) -> None:
    body = anthropic_wire.request_body(request, profile_of("anthropic", request.model), NO_BLOBS)

    anthropic_rules.check(body)
    blocks = [
        *body.get("system", []),
        *(block for message in body["messages"] for block in message["content"]),
    ]
    inner = [piece for block in blocks for piece in (block.get("content") or [block])]
    assert [piece["text"] for piece in inner if piece["type"] == "text"] == texts(request)


@given(GEMINI)
def test_gemini_takes_whatever_the_stack_may_render(request: ProviderRequest) -> None:
    body = gemini_body(request)

    gemini_rules.check(body, gemini_rules.MODELS[request.model])
    parts = [
        part
        for content in [body.get("systemInstruction", {"parts": []}), *body["contents"]]
        for part in content["parts"]
    ]
    answers = [
        next(iter(p["functionResponse"]["response"].values())) for p in parts if "functionResponse" in p
    ]
    assert [p["text"] for p in parts if "text" in p] == [
        part.text
        for part in [*request.system, *(p for m in request.messages for p in m.parts)]
        if isinstance(part, Segment) and part.text.strip()
    ]
    assert answers == [p.text for m in request.messages for p in m.parts if isinstance(p, ToolResultPart)]


def gemini_body(request: ProviderRequest) -> Json:
    """The request as the REST interface spells it."""
    profile = profile_of("gemini", request.model)
    config = gemini_wire.request_config(request, profile)
    contents = gemini_wire.request_contents(request, profile, NO_BLOBS)
    body: Json = {"contents": [_dump(content) for content in contents]}
    if config.system_instruction is not None:
        body["systemInstruction"] = _dump(config.system_instruction)
    generation = {
        "maxOutputTokens": config.max_output_tokens,
        "thinkingConfig": _dump(config.thinking_config) if config.thinking_config else None,
    }
    body["generationConfig"] = {name: value for name, value in generation.items() if value is not None}
    return body


def _dump(value: object) -> dict[str, object]:
    found: dict[str, object] = value.model_dump(mode="json", by_alias=True, exclude_none=True)  # type: ignore[attr-defined]
    return found


@given(ANTHROPIC)
def test_the_same_request_is_the_same_bytes(request: ProviderRequest) -> None:
    profile = profile_of("anthropic", request.model)
    first, second = (json.dumps(anthropic_wire.request_body(request, profile, NO_BLOBS)) for _ in range(2))

    assert first == second


@given(ANTHROPIC, SPOKEN, SPOKEN)
def test_what_was_sent_stays_a_prefix_when_the_turn_goes_on(
    request: ProviderRequest, reply: list[Segment], question: list[Segment]
) -> None:
    """Thinking apart, which leaves with its turn: here none is sent, since no block is Anthropic's."""
    profile = profile_of("anthropic", request.model)
    later = (*request.messages, assistant(seg("Done."), *reply), user(seg("Next."), *question))
    before = anthropic_wire.request_body(request, profile, NO_BLOBS)
    after = anthropic_wire.request_body(_with(request, later), profile, NO_BLOBS)

    assert json.dumps(after.get("system")) == json.dumps(before.get("system"))
    assert json.dumps(after.get("tools")) == json.dumps(before.get("tools"))
    kept = after["messages"][: len(before["messages"])]
    assert json.dumps(kept) == json.dumps(before["messages"])


def _with(request: ProviderRequest, messages: tuple[RequestMessage, ...]) -> ProviderRequest:
    return ProviderRequest(
        request.provider, request.model, request.system, messages, request.tools, request.effort
    )


@given(
    st.recursive(
        st.none() | st.integers() | st.text("äb"),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    )
)
def test_json_has_one_spelling(value: object) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


def test_an_objects_keys_are_sorted_at_every_depth() -> None:
    assert json.dumps(sorted_object('{"b":{"d":1,"c":2},"a":3}')) == '{"a": 3, "b": {"c": 2, "d": 1}}'
    assert sorted_object("[1]") is None
    assert sorted_object("{") is None
    assert sorted_object("") == {}


def test_a_schema_that_is_no_object_becomes_an_empty_one() -> None:
    request = ask("claude-opus-5-5", tools=(ToolSchema("f", "F.", "nonsense"),))
    body = anthropic_wire.request_body(request, profile_of("anthropic", "claude-opus-5-5"), NO_BLOBS)

    assert body["tools"][0]["input_schema"] == {"type": "object"}
