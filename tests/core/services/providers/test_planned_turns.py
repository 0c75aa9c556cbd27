"""The planner, the real stack, the real SDKs and the vendors' bills together: what is planned is what is billed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CachePlan,
    CachePrices,
    CacheSettings,
    GapStats,
    LedgerScope,
    Mechanism,
    TtlPrice,
    TurnGap,
)
from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Role
from core.kernel.values.provider import RequestPart
from core.kernel.values.stack import DiscussionMetadata, Segment, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.blocks import wire_of
from core.services.providers.clients import make_provider
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import Provider
from core.talk.caching.cache_ledger import record
from core.talk.caching.planner import PlanInputs, plan
from core.talk.context.stack import build_stack
from tests.core.services.providers.caching_kit import sent, words
from tests.core.services.providers.outcomes import server_settings
from tests.core.stacks import curated, full_inputs, said
from tests.vendors import anthropic_server, openai_server
from tests.vendors.billing.clock import Clock, moment

OPUS, SOL = "claude-opus-5-5", "gpt-6.1-sol"
PRICES = {
    "anthropic": CachePrices(
        "anthropic", OPUS, Mechanism.MARKS, 4e-6, 0.05, (TtlPrice(300, 1.25), TtlPrice(3600, 2.0)), 512, 20, 4
    ),
    "openai": CachePrices(
        "openai",
        SOL,
        Mechanism.BREAKPOINTS,
        2e-6,
        0.05,
        (TtlPrice(1800, 1.25), TtlPrice(43_200, 2.5)),
        1024,
        0,
        4,
    ),
}


def tokens(part: RequestPart | ToolSchema) -> int:
    """As the servers count: four characters are one."""
    assert isinstance(part, Segment)
    return (len(part.text) + 3) // 4 if part.text.strip() else 0


@dataclass
class Talk:
    """A discussion whose turns are planned, sent and noted in the ledger."""

    provider: Provider
    prices: CachePrices
    clock: Clock
    ledger: CacheLedger = field(default_factory=CacheLedger)
    settings: CacheSettings = field(default_factory=CacheSettings)

    def turn(self, inputs: StackInputs, gap_s: float = 120.0) -> tuple[CachePlan, Usage]:
        request = build_stack(inputs).request(discussion_id="d1")
        request = replace(request, provider=self.prices.provider, model=self.prices.model)
        scope = LedgerScope(self.prices.provider, "key", self.prices.model)
        now = self.now
        gaps = GapStats((TurnGap(gap_s),) * 8, turns=9)
        wire = wire_of(request, scope, tokens)
        made = plan(PlanInputs(wire, scope, self.prices, self.ledger, gaps, self.settings, now))
        usage = sent(self.provider, replace(request, cache=made)).usage
        self.ledger = record(self.ledger, scope, made, now, "d1")
        self.clock.advance(gap_s)
        return made, usage

    @property
    def now(self) -> datetime:
        return moment(self.clock())


@pytest.fixture(params=["anthropic", "openai"])
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    clock = Clock()
    kind: str = request.param
    server = (
        anthropic_server.AnthropicServer(clock=clock)
        if kind == "anthropic"
        else openai_server.OpenAiServer(clock=clock)
    )
    key = anthropic_server.KEY if kind == "anthropic" else openai_server.KEY
    with server:
        url = server.url + ("/v1" if kind == "openai" else "")
        provider = make_provider(server_settings(kind, url), key, packaged_models())
        yield Talk(provider, PRICES[kind], clock)
        provider.close()


def inputs(number: int, *, digest: str = "digest", files: str = "files") -> StackInputs:
    """Turn `number` of a discussion: history grows, metadata changes each time."""
    turns = tuple(
        message
        for n in range(number)
        for message in (
            said(f"q{n}", Role.USER, words(60, f"q{n}")),
            said(f"a{n}", Role.ASSISTANT, words(90, f"a{n}")),
        )
    )
    return replace(
        full_inputs(),
        tools=(),
        retrieved="",
        persona=NamedText("Pat", words(300, "persona")),
        digest=words(2000, digest),
        items=(curated("src/a.py", words(1500, files) + "\n"),),
        turns=turns,
        user_text=words(60, f"q{number}"),
        metadata=DiscussionMetadata(f"Talk {number}", ("user", "assistant"), 2 * number),
    )


def test_every_turn_reads_and_writes_what_its_plan_said(talk: Talk) -> None:
    billed = [talk.turn(inputs(number)) for number in range(6)]

    for made, usage in billed:
        assert (usage.cache_read_tokens, usage.cache_write_tokens) == (made.read_tokens, made.write_tokens)
        assert usage.input_tokens == made.read_tokens + made.write_tokens + made.fresh_tokens
        assert usage.miss_reason in {"", "the provider could not tell"}
    assert billed[0][0].read_tokens == 0
    assert all(made.read_tokens > 3500 for made, _ in billed[1:])


@pytest.mark.breaks_prefix("a file and the digest are others")
def test_a_changed_layer_costs_what_was_foretold(talk: Talk) -> None:
    for number in range(2):
        talk.turn(inputs(number))
    edited, usage = talk.turn(inputs(2, files="other"))
    salted, missed = talk.turn(inputs(3, digest="epoch 1", files="other"))
    _, hit = talk.turn(inputs(4, digest="epoch 1", files="other"))

    assert 0 < edited.read_tokens == usage.cache_read_tokens
    assert edited.read_tokens < 2600
    assert salted.read_tokens == missed.cache_read_tokens == 0
    assert (hit.cache_read_tokens or 0) > 3500
    assert missed.miss_reason


def test_after_a_long_pause_all_is_written_again_as_foretold(talk: Talk) -> None:
    talk.turn(inputs(0))
    talk.clock.advance(100_000)
    made, usage = talk.turn(inputs(1))

    assert usage.cache_read_tokens == made.read_tokens == 0
    assert usage.cache_write_tokens == made.write_tokens > 3500


def test_caching_that_is_off_is_billed_in_full(talk: Talk) -> None:
    talk.turn(inputs(0))
    talk.settings = CacheSettings(is_enabled=False)
    made, usage = talk.turn(inputs(1))

    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (0, 0)
    assert usage.input_tokens == made.fresh_tokens
