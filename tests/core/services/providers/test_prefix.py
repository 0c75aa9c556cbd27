"""The byte contract on the wire: the bodies that the real SDKs send, over turns of the real stack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Role
from core.kernel.values.stack import DiscussionMetadata, StackInputs, ToolSchema
from core.services.providers.clients import make_provider
from core.services.providers.model_data import packaged_models
from core.talk.context.stack import AggregateStack, build_stack
from tests.core.services.providers.outcomes import run, server_settings
from tests.core.stacks import curated, full_inputs, said
from tests.prefix_guard import Body, PrefixParts, Recorded, check_prefixes
from tests.vendors import anthropic_server, gemini_server
from tests.vendors.loopback import Json, LoopbackServer

TOOLS = (
    ToolSchema("write", "Writes", '{"type":"object","properties":{"z":{},"a":{}}}'),
    ToolSchema("read", "Reads", '{"type":"object"}'),
)


@dataclass(frozen=True, slots=True)
class Vendor:
    """A provider with its test server, and where a body of its holds the prefix."""

    kind: str
    model: str
    key: str
    server: type[LoopbackServer]
    system: str
    messages: str
    parts: str

    def prefix(self, head: int) -> PrefixParts:
        """Tools, system and the first `head` parts of the first message."""

        def found(body: Body) -> object:
            messages = body[self.messages]
            assert isinstance(messages, list)
            return [body.get("tools"), body.get(self.system), messages[0][self.parts][:head]]

        return found


VENDORS = [
    Vendor(
        "anthropic",
        "claude-opus-5-5",
        anthropic_server.KEY,
        anthropic_server.AnthropicServer,
        "system",
        "messages",
        "content",
    ),
    Vendor(
        "gemini",
        "gemini-4-argon",
        gemini_server.KEY,
        gemini_server.GeminiServer,
        "systemInstruction",
        "contents",
        "parts",
    ),
]


@dataclass(slots=True)
class Talk:
    """Turns sent one after another, each with what it should share with the one before."""

    vendor: Vendor
    server: LoopbackServer
    recorded: list[Recorded]

    def turn(self, inputs: StackInputs, reason: str = "") -> AggregateStack:
        stack = build_stack(replace(inputs, provider=self.vendor.kind, model=self.vendor.model))
        settings = server_settings(self.vendor.kind, self.server.url)
        provider = make_provider(settings, self.vendor.key, packaged_models())
        assert run(provider, stack.request()).error is None
        stable = tuple(
            segment.text for n in stack.wire_layers if n.is_stable for segment in stack.layer(n).segments
        )
        self.recorded.append(Recorded(self.bodies[-1], stable, reason))
        return stack

    @property
    def bodies(self) -> list[Json]:
        return self.server.bodies


@contextmanager
def talk_with(vendor: Vendor) -> Iterator[Talk]:
    with vendor.server() as server:
        yield Talk(vendor, server, [])


def turns(long_system: bool) -> Iterator[StackInputs]:
    """A discussion that goes on: history grows, files and metadata change, the stable layers do not."""
    base = replace(full_inputs(), tools=TOOLS, takes_long_system=long_system)
    yield base
    history = (*base.turns, said("m3", Role.USER, "MESSAGE"), said("m4", Role.ASSISTANT, "REPLY"))
    yield replace(base, turns=history, user_text="NEXT", metadata=DiscussionMetadata("Talk", ("user",), 3))
    yield replace(base, turns=history, user_text="THIRD", items=(curated("src/c.py", "OTHER FILE\n"),))
    yield replace(base, turns=(), user_text="FOURTH", retrieved="", preset_name="", items=())


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
@pytest.mark.parametrize("long_system", [True, False])
@pytest.mark.breaks_prefix("layers 9 to 11 are others, 1 to 7 are held")
def test_consecutive_turns_send_the_same_bytes_up_to_the_end_of_layer_7(
    vendor: Vendor, *, long_system: bool
) -> None:
    with talk_with(vendor) as talk:
        for inputs in turns(long_system):
            talk.turn(inputs)

    head = 0 if long_system else 1  # layer 6, moved, is one text at the head of the first message
    assert check_prefixes(talk.recorded, vendor.prefix(head)) == 3


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
@pytest.mark.breaks_prefix("the digest and the persona change")
def test_a_change_of_the_prefix_shows_on_the_wire_and_needs_its_reason(vendor: Vendor) -> None:
    base = replace(full_inputs(), tools=TOOLS)
    with talk_with(vendor) as talk:
        talk.turn(base)
        talk.turn(replace(base, digest="NEW DIGEST"), "digest regenerated")
        talk.turn(replace(base, digest="NEW DIGEST", user_text="NEXT"))
        talk.turn(replace(base, digest="NEW DIGEST", persona=NamedText("Kim", "OTHER")))

    assert check_prefixes(talk.recorded[:3], vendor.prefix(0)) == 1
    with pytest.raises(AssertionError, match="request 3: the prefix differs"):
        check_prefixes(talk.recorded, vendor.prefix(0))


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_everything_but_the_tail_of_a_turn_comes_again_in_the_next(vendor: Vendor) -> None:
    """The files, the history and the person's words; only layer 8 and what was recalled leave."""
    base = replace(full_inputs(), tools=TOOLS, retrieved="")
    after = (*base.turns, said("m3", Role.USER, "MESSAGE"), said("m4", Role.ASSISTANT, "REPLY"))
    with talk_with(vendor) as talk:
        talk.turn(base)
        talk.turn(replace(base, turns=after, user_text="NEXT", metadata=DiscussionMetadata("Renamed", (), 3)))

    first, second = (body[vendor.messages] for body in talk.bodies)
    sent = [part for message in first for part in message[vendor.parts]]
    again = [part for message in second for part in message[vendor.parts]]
    assert again[: len(sent) - 1] == sent[:-1]
    assert "Talk" in sent[-1]["text"]
