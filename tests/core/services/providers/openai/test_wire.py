"""The byte contract and the vendors' rules for OpenAI, compatible servers and Claude Code, over the real stack."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.messages import Role
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import DiscussionMetadata, LayerId, StackInputs
from core.services.providers.claude_code.client import claude_input, claude_system
from core.services.providers.clients import make_provider
from core.services.providers.compatible.body import chat_body
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.body import responses_body
from core.services.providers.profiles import find_profile
from core.talk.context.stack import build_stack
from tests.core.services.providers.outcomes import NO_BLOBS, run, server_settings
from tests.core.services.providers.test_wire import requests, texts
from tests.core.stacks import curated, full_inputs, said
from tests.prefix_guard import Body, Recorded, canonical_bytes, check_prefixes
from tests.vendors import compatible_server, openai_rules, openai_server
from tests.vendors.loopback import Json

SOL = "gpt-6.1-sol"
OPENAI = st.sampled_from([SOL, "gpt-5.5", "gpt-4o"]).flatmap(requests)


def turns(*, long_system: bool) -> Iterator[StackInputs]:
    """A discussion that goes on: history, files and metadata change, the stable layers do not."""
    base = replace(full_inputs(), takes_long_system=long_system)
    history = (*base.turns, said("m3", Role.USER, "MESSAGE"), said("m4", Role.ASSISTANT, "REPLY"))
    yield base
    yield replace(base, turns=history, user_text="NEXT", metadata=DiscussionMetadata("Talk", ("user",), 3))
    yield replace(base, turns=history, user_text="THIRD", items=(curated("src/c.py", "OTHER FILE\n"),))


def recorded(body: Body, inputs: StackInputs) -> Recorded:
    """A body with the stable texts that it must carry; tools go out in a shape of their own."""
    stack = build_stack(inputs)
    layers = [n for n in stack.wire_layers if n.is_stable and n not in {LayerId.TOOL_FORMAT, LayerId.TOOLS}]
    return Recorded(body, tuple(s.text for n in layers for s in stack.layer(n).segments))


@pytest.mark.parametrize("long_system", [True, False])
@pytest.mark.breaks_prefix("layers 9 to 11 are others, 1 to 7 are held")
def test_consecutive_turns_send_openai_the_same_bytes_up_to_the_end_of_layer_7(*, long_system: bool) -> None:
    kept = []
    with openai_server.OpenAiServer() as server:
        settings = server_settings("openai", f"{server.url}/v1")
        for inputs in turns(long_system=long_system):
            request = replace(build_stack(inputs).request(), model=SOL)
            assert run(make_provider(settings, openai_server.KEY, packaged_models()), request).error is None
            kept.append(recorded(server.bodies[-1], inputs))

    head = 0 if long_system else 1

    def prefix(body: Body) -> object:
        items = body["input"]
        assert isinstance(items, list)
        return [body.get("tools"), items[0], items[1]["content"][:head]]

    assert check_prefixes(kept, prefix) == 2


@pytest.mark.breaks_prefix("layers 9 to 11 are others, 1 to 7 are held")
def test_consecutive_turns_send_a_compatible_server_the_same_beginning() -> None:
    with compatible_server.CompatibleServer() as server:
        settings = server_settings("compatible", f"{server.url}/v1")
        for inputs in turns(long_system=False):
            request = replace(build_stack(inputs).request(), model=compatible_server.MODEL)
            assert run(make_provider(settings, None, packaged_models()), request).error is None

    systems = [body["messages"][0] for body in server.bodies]
    firsts = [body["messages"][1]["content"] for body in server.bodies]
    project = build_stack(next(turns(long_system=False))).layer(LayerId.PROJECT).segments
    assert systems[0] == systems[1] == systems[2]
    assert project
    assert all(text.startswith(project[0].text.rstrip("\n")) for text in firsts)
    assert canonical_bytes(server.bodies[0].get("tools")) == canonical_bytes(server.bodies[1].get("tools"))


@given(OPENAI)
def test_openai_takes_whatever_the_stack_may_render(request: ProviderRequest) -> None:
    limit = request.max_output_tokens
    body = responses_body(
        replace(request, max_output_tokens=limit and max(limit, 16)),
        find_profile(packaged_models(), "openai", request.model),
        NO_BLOBS,
    )

    openai_rules.check(body)
    sent = [part["text"] for item in body["input"] if "content" in item for part in item["content"]]
    outputs = [item["output"] for item in body["input"] if item["type"] == "function_call_output"]
    assert sorted(text for text in (*sent, *outputs) if text.strip()) == sorted(texts(request))


RENDERERS: dict[str, Callable[[ProviderRequest], str]] = {
    "responses": lambda r: json.dumps(
        responses_body(r, find_profile(packaged_models(), "openai", r.model), NO_BLOBS)
    ),
    "chat": lambda r: json.dumps(
        chat_body(r, find_profile(packaged_models(), "x", r.model, kind="compatible"), NO_BLOBS)
    ),
    "claude": lambda r: (
        claude_system(r) + claude_input(r, find_profile(packaged_models(), "claude_code", "opus"), NO_BLOBS)
    ),
}


@pytest.mark.parametrize("name", RENDERERS)
@given(request=OPENAI)
def test_the_same_request_is_the_same_bytes(name: str, request: ProviderRequest) -> None:
    assert RENDERERS[name](request) == RENDERERS[name](request)


@given(OPENAI)
def test_every_text_reaches_a_compatible_server_in_its_order(request: ProviderRequest) -> None:
    body = chat_body(request, find_profile(packaged_models(), "x", "y", kind="compatible"), NO_BLOBS)

    _assert_in_order(texts(request), "\0".join(_contents(body)))
    roles = [message["role"] for message in body["messages"] if message["role"] in {"user", "assistant"}]
    assert "user" in roles


@given(OPENAI)
def test_every_text_reaches_claude_code_in_its_order(request: ProviderRequest) -> None:
    line = claude_input(request, find_profile(packaged_models(), "claude_code", "opus"), NO_BLOBS)

    blocks = json.loads(line)["message"]["content"]
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert len(blocks) == len(request.messages)
    _assert_in_order(texts(request), claude_system(request) + "\0".join(block["text"] for block in blocks))


def _contents(body: Json) -> list[str]:
    return [message["content"] for message in body["messages"]]


def _assert_in_order(wanted: list[str], found: str) -> None:
    start = 0
    for text in wanted:
        place = found.find(text, start)
        assert place >= 0, f"{text!r} is missing or out of its order"
        start = place + len(text)
