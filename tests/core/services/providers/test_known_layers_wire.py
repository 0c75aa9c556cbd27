"""Layers 6 and 7 that change under a warm prefix, over the wire: no vendor gets another system block while it is warm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CacheSettings, LedgerScope
from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import ProviderKind, RequestPart
from core.kernel.values.stack import DiscussionMetadata, Segment, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.kernel.values.window import ContextView
from core.services.providers.protocol import Provider
from core.talk.caching.cache_ledger import record
from core.talk.caching.decision import Decision, Market, PlannedTurn, decide
from core.talk.caching.offers import cache_prices
from core.talk.context.stack import build_stack
from tests.core.services.providers.caching_kit import sent, words
from tests.core.services.providers.vendors import VENDORS, Vendor
from tests.core.stacks import curated, said
from tests.core.talk.caching.requests import gap_stats
from tests.prefix_guard import Body
from tests.vendors.billing.clock import Clock, moment
from tests.vendors.loopback import LoopbackServer

LONG = curated("long.py", words(20_000, "LONG") + "\n")
MARKS = {"cache_control", "prompt_cache_breakpoint"}
"""Keys of marks, which wander."""


def tokens(part: RequestPart | ToolSchema) -> int:
    text = getattr(part, "text", "") if isinstance(part, Segment) else ""
    return (len(text) + 3) // 4


def strings(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a body with the way to each, marks left out."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in MARKS:
                yield from strings(one, f"{path}/{key}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from strings(one, f"{path}/{number}")


def places(body: Body, word: str) -> list[int]:
    """Where a body says something: characters of its texts before it, in the order of the wire."""
    head = [text for path, text in strings(body) if path.startswith(("/system", "/instructions"))]
    rest = [text for path, text in strings(body) if path.startswith(("/messages", "/contents", "/input"))]
    whole = "\0".join((*head, *rest))
    return [found.start() for found in re.finditer(word, whole)]


@dataclass
class Wire:
    """A discussion that is decided, planned and sent to one vendor."""

    vendor: Vendor
    server: LoopbackServer
    provider: Provider
    long_system: bool
    clock: Clock
    view: ContextView | None = None
    ledger: CacheLedger = field(default_factory=CacheLedger)
    turns: tuple[Message, ...] = ()
    count: int = 0

    def turn(self, *, gap_s: float = 60.0, **changes: object) -> tuple[Decision, Usage, Body]:
        self.count += 1
        message_id = f"m{self.count}"
        now = moment(self.clock())
        prices = cache_prices(self.vendor.kind, ProviderKind(self.vendor.kind), self.vendor.model, now)
        scope = LedgerScope(self.vendor.kind, "key", self.vendor.model)
        inputs = StackInputs(
            provider=self.vendor.kind,
            model=self.vendor.model,
            role_text="You help.",
            project=(NamedText("AGENTS.md", words(600, "RULES-ONE")),),
            digest=words(500, "DIGEST-ONE"),
            preset_name="core",
            items=(LONG, curated("a.py", words(300, "FILE-ONE") + "\n")),
            metadata=DiscussionMetadata("Talk", (), self.count),
            turns=self.turns,
            user_text=f"words {message_id}",
            takes_long_system=self.long_system,
        )
        gaps = gap_stats(*[60.0] * 50, turns=51)
        market = Market(scope, prices, self.ledger, gaps, CacheSettings(), now, tokens)
        stack = build_stack(replace(inputs, **changes))  # type: ignore[arg-type]
        decision = decide(PlannedTurn(stack, message_id, self.view, discussion_id="d1"), market)
        usage = sent(self.provider, replace(decision.request, cache=decision.plan)).usage
        self.view = decision.view
        self.ledger = record(self.ledger, scope, decision.plan, now, "d1")
        answer = (
            said(message_id, Role.USER, f"words {message_id}"),
            said(f"{message_id}r", Role.ASSISTANT, words(2000, "answer")),
        )
        self.turns = (*self.turns, *answer)
        self.clock.advance(gap_s)
        return decision, usage, self.server.bodies[-1]


@pytest.fixture(params=[True, False], ids=["long system", "short system"])
def long_system(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.kind)
def wire(request: pytest.FixtureRequest, *, long_system: bool) -> Iterator[Wire]:
    vendor: Vendor = request.param
    with vendor.make_server() as server:
        provider = vendor.client(server)
        yield Wire(vendor, server, provider, long_system, Clock())
        provider.close()


def test_no_system_block_changes_while_the_prefix_is_warm(wire: Wire) -> None:
    _, _, first = wire.turn()
    at = {word: places(first, word) for word in ("RULES-ONE", "DIGEST-ONE", "FILE-ONE")}
    body = first
    changed: dict[str, object] = {}
    for key, value in {
        "digest": words(500, "DIGEST-TWO"),
        "project": (NamedText("AGENTS.md", words(500, "RULES-TWO")),),
        "items": (LONG, curated("a.py", words(300, "FILE-TWO") + "\n")),
    }.items():
        changed[key] = value
        decision, _, body = wire.turn(**changed)  # type: ignore[arg-type]
        assert decision.plan.read_tokens > 20_000
        assert {word: places(body, word) for word in at} == at
    for word in ("DIGEST-TWO", "RULES-TWO", "FILE-TWO"):
        assert len(places(body, word)) == 1
    assert places(body, "FILE-TWO") > places(body, "RULES-TWO") > places(body, "DIGEST-TWO") > at["FILE-ONE"]


@pytest.mark.breaks_prefix("what was deleted goes at once")
def test_deleted_words_are_nowhere_in_the_next_body(wire: Wire) -> None:
    wire.turn()
    wire.turn(digest=words(500, "DIGEST-TWO"))
    _, _, body = wire.turn(digest=words(900, "DIGEST-THREE"), withdrawals=2)

    text = json.dumps(body)
    assert "DIGEST-THREE" in text
    assert "DIGEST-ONE" not in text
    assert "DIGEST-TWO" not in text
