"""The price that is said before a deletion against what the vendor's engine then bills more than for an untouched turn."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Protocol

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import (
    CachePrices,
    CacheSettings,
    DiscussionCache,
    GapStats,
    LedgerScope,
    Rewrite,
    RewriteCosts,
)
from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import ContentsReport, ProviderKind, RequestPart
from core.kernel.values.stack import DiscussionMetadata, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.talk.caching import cache_book as books
from core.talk.caching import content_store, planned_calls
from core.talk.caching.cache_book import CacheBook
from core.talk.caching.decision import Decision, Market, PlannedTurn
from core.talk.caching.offers import cache_prices
from core.talk.caching.rewrites import rewrite_costs
from core.talk.caching.view import Replayed
from core.talk.context.stack import build_stack
from tests.bench.cache_gemini import Gemini
from tests.bench.cache_openai import OpenAI
from tests.bench.cache_policies import body_of
from tests.core.stacks import curated, said
from tests.core.talk.caching.requests import QUICK, SLOW, habits_of
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.anthropic_render import Rendered
from tests.vendors.billing.clock import START_S, Clock, moment
from tests.vendors.billing.gemini import GeminiCache, GeminiRules
from tests.vendors.billing.openai import OpenAICache
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts, chars4
from tests.vendors.billing.values import Refused, Write

FILES = (curated("src/tides.py", "height = 1\n" * 15_000), curated("src/sky.py", "blue = 1\n" * 300))
EDITED = (FILES[0], curated("src/sky.py", "grey = 2\n" * 300))
RULES = (NamedText("AGENTS.md", "Check units. " * 1200),)
DIGEST = "".join(f"- DIGEST-{n} says that tides are M{n} and that they come again\n" for n in range(60))
LESS = DIGEST.partition("\n")[2]
MORE = f"{DIGEST}- DIGEST-60 says that tides are M60\n"

ANSWER = "ok " * 600

Change = dict[str, object]


class Vendor(Protocol):
    """Bills a request in US dollars. `contents` are what it stores for rent."""

    clock: Clock

    def bill(self, decision: Decision) -> tuple[float, Usage, ContentsReport | None]: ...

    def delete(self, name: str) -> None: ...


class Anthropic:
    """Anthropic's engine."""

    def __init__(self, model: str) -> None:
        self.clock, self.model = Clock(), model
        self.cache = AnthropicCache(self.clock, Texts(chars4))

    def bill(self, decision: Decision) -> tuple[float, Usage, ContentsReport | None]:
        parts = self.cache.send(body_of(decision.request, decision.plan.marks, self.model)).parts
        written = parts.write + parts.write_long
        usage = Usage(
            input_tokens=parts.total,
            cache_read_tokens=parts.read,
            cache_write_tokens=written,
            cache_write_1h_tokens=parts.write_long,
        )
        return float(Prices().cost("anthropic", self.model, parts, START_S)), usage, None

    def delete(self, name: str) -> None:
        raise AssertionError(name)


class OpenAIBilled(OpenAI):
    """OpenAI's engine, counted by characters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.cache = OpenAICache(self.clock, Texts(chars4))

    def bill(self, decision: Decision) -> tuple[float, Usage, ContentsReport | None]:
        before = self.usd
        usage, report = self.send(None, decision)  # type: ignore[arg-type]
        return self.usd - before, usage, report


class GeminiBilled(Gemini):
    """Gemini's engine, counted by characters; rent is no cost of a turn."""

    def __post_init__(self) -> None:
        self.cache = GeminiCache(self.clock, Texts(chars4), rules=GeminiRules(implicit_hit=0.0))

    def bill(self, decision: Decision) -> tuple[float, Usage, ContentsReport | None]:
        before = self.usd() - self.rent_usd()
        usage, report = self.send(_Ask, decision)  # type: ignore[arg-type]
        return self.usd() - self.rent_usd() - before, usage, report


class _Ask:
    discussion = "d"


KINDS = {
    "anthropic": (ProviderKind.ANTHROPIC, "claude-opus-5-5", Anthropic),
    "openai": (ProviderKind.OPENAI, "gpt-6.1-sol", OpenAIBilled),
    "openai, old": (ProviderKind.OPENAI, "gpt-5", OpenAIBilled),
    "gemini": (ProviderKind.GEMINI, "gemini-3.8-flash", GeminiBilled),
}


class Desk:
    """One discussion that is planned over a book and billed by its vendor."""

    def __init__(self, name: str, gap_s: float) -> None:
        kind, self.model, make = KINDS[name]
        self.provider = name.partition(",")[0]
        self.vendor: Vendor = make(self.model)
        self.prices: CachePrices = cache_prices(self.provider, kind, self.model, moment(START_S))
        self.scope = LedgerScope(self.provider, "key", self.model)
        self.gap_s, self.gaps = gap_s, SLOW if gap_s > 300 else QUICK
        self.book = replace(CacheBook(), habits=habits_of(gap_s))
        self.book = books.opened(self.book, "d", DiscussionCache(), Replayed())
        self.turns: tuple[Message, ...] = ()
        self.count = 0
        self.bills: list[float] = []

    @property
    def now(self) -> datetime:
        return moment(self.vendor.clock())

    def market(self) -> Market:
        gaps: GapStats = books.gaps_of(self.book, "d")
        return Market(self.scope, self.prices, self.book.ledger, gaps, CacheSettings(), self.now, tokens)

    def turn(self, **changes: object) -> None:
        self.count += 1
        message_id = f"m{self.count}"
        facts = DiscussionMetadata(f"d {self.count}")
        inputs = replace(
            self.inputs(**changes), turns=self.turns, metadata=facts, user_text=f"words {message_id}"
        )
        self.book = books.turn_begun(self.book, "d", self.now)
        asked = PlannedTurn(build_stack(inputs), message_id, discussion_id="d", project="/project")
        call = planned_calls.plan_call(self.book, asked, self.market())
        self.book, _ = planned_calls.admitted(self.book, message_id, call, None)
        replayed, _ = planned_calls.shown(self.book, call, f"q{message_id}")
        self.book = books.with_page(self.book, "d", replace(self.book.pages["d"], replayed=replayed))
        usd, usage, report = self.vendor.bill(call.decision)
        usage = replace(usage, output_tokens=chars4(ANSWER))
        self.bills.append(usd)
        self.book = planned_calls.begun(self.book, message_id)
        self.book, _ = planned_calls.ended(self.book, message_id, usage, report, self.now, lambda *_: 0.0)
        answer = said(f"{message_id}r", Role.ASSISTANT, ANSWER)
        self.turns = (*self.turns, said(message_id, Role.USER, f"words {message_id}"), answer)
        self.vendor.clock.advance(self.gap_s)

    def inputs(self, **changes: object) -> StackInputs:
        known: Change = {"project": RULES, "items": FILES, "digest": "", **changes}
        return StackInputs(
            provider=self.provider,
            model=self.model,
            role_text="You help.",
            preset_name="core",
            **known,  # type: ignore[arg-type]
        )

    def costs(self, **changes: object) -> RewriteCosts:
        page = self.book.pages["d"]
        stack = build_stack(self.inputs(**changes))
        return rewrite_costs(page.cache, "d", stack, self.market(), page.replayed.view, is_kept=False)

    def drop_stored(self) -> None:
        """Something was taken out of knowledge: what is stored for rent goes."""
        names = content_store.stored_names(self.book, "d", self.provider)
        for name in names:
            with contextlib.suppress(Refused):  # it is gone by itself
                self.vendor.delete(name)
        self.book, _ = content_store.contents_gone(self.book, names, lambda *_: self.prices, self.now)


def tokens(part: RequestPart | ToolSchema) -> int:
    return chars4(getattr(part, "text", "") or "")


IN_BASE = [{"digest": DIGEST}] * 4
IN_DELTAS = [{}, {}, {"digest": DIGEST}, {"digest": DIGEST}]
EDITED_SINCE = [{"digest": DIGEST}, {"digest": DIGEST}, {"digest": MORE}, {"digest": MORE}]
WITH_FILES = [{}, {"items": EDITED}, {"digest": DIGEST, "items": EDITED}, {"digest": DIGEST, "items": EDITED}]
FILES_SINCE = [{"digest": DIGEST}, {"digest": DIGEST, "items": EDITED}, {"digest": DIGEST, "items": EDITED}]
NO_RULES: Change = {"project": ()}
RULES_LATER = [NO_RULES, NO_RULES, {}, {}]
RULES_EDITED = [{}, {}, {"project": (NamedText("AGENTS.md", "Check all. " * 1200),)}]


@pytest.mark.parametrize(
    ("vendor", "gap_s"),
    [
        ("anthropic", 60.0),
        ("anthropic", 1200.0),
        ("openai", 60.0),
        ("openai", 1200.0),
        ("openai, old", 60.0),
        ("gemini", 60.0),
        ("gemini", 1200.0),
    ],
)
@pytest.mark.parametrize(
    ("script", "after", "kind"),
    [
        (IN_BASE, {"digest": LESS, "withdrawals": 1}, "withdrawal"),
        (IN_BASE, {"withdrawals": 1}, "switch_off"),
        (IN_DELTAS, {"digest": LESS, "withdrawals": 1}, "withdrawal"),
        (IN_DELTAS, {"withdrawals": 1}, "switch_off"),
        (EDITED_SINCE, {"digest": MORE.partition("\n")[2], "withdrawals": 1}, "withdrawal"),
        (EDITED_SINCE, {"withdrawals": 1}, "switch_off"),
        (WITH_FILES, {"items": EDITED, "withdrawals": 1}, "switch_off"),
        (FILES_SINCE, {"items": EDITED, "withdrawals": 1}, "switch_off"),
        (IN_BASE, {"digest": DIGEST, **NO_RULES}, "due"),
        (RULES_LATER, NO_RULES, "due"),
        (RULES_EDITED, NO_RULES, "due"),
    ],
    ids=[
        "item, digest in the base",
        "off, digest in the base",
        "item, digest in an update",
        "off, digest in an update",
        "item, digest edited since",
        "off, digest edited since",
        "off, a file changed before",
        "off, a file changed after",
        "identity file in the base",
        "identity file in an update",
        "identity file edited since",
    ],
)
def test_the_price_before_a_deletion_is_what_the_vendor_bills_more(
    vendor: str, gap_s: float, script: list[Change], after: Change, kind: str
) -> None:
    touched, untouched = Desk(vendor, gap_s), Desk(vendor, gap_s)
    for desk in (touched, untouched):
        for change in script:
            desk.turn(**change)
    price: Rewrite | None
    if kind == "due":
        price = touched.costs(**after).due
    else:
        price = getattr(touched.costs(**script[-1]), kind)
    touched.drop_stored()
    touched.turn(**after)
    untouched.turn(**script[-1])

    more = touched.bills[-1] - untouched.bills[-1]
    assert price is None or price.cost_usd is not None
    told = 0.0 if price is None or price.cost_usd is None else price.cost_usd
    print(f"{vendor} {gap_s:g} {kind}: said {told:.5f}, billed {more:.5f} of {touched.bills[-1]:.5f}")
    step = 128 * (touched.prices.input_usd or 0.0) if vendor == "openai, old" else 1e-6
    assert told == pytest.approx(max(0.0, more), rel=0.02, abs=step)


NOTES = (NamedText("src/sky.py", "- The sky is grey at noon.\n" * 40),)
WITH_NOTES = [{"digest": DIGEST, "notes": NOTES}] * 3


@pytest.mark.parametrize("vendor", KINDS)
@pytest.mark.parametrize(
    ("script", "since", "after", "kind"),
    [
        (IN_BASE, {}, {"withdrawals": 1}, "switch_off"),
        (IN_DELTAS, {}, {"withdrawals": 1}, "switch_off"),
        (WITH_NOTES, {"notes": NOTES}, {"withdrawals": 1}, "switch_off"),
        (IN_BASE, {"digest": MORE}, {"withdrawals": 1}, "switch_off"),
        (IN_BASE, {"digest": MORE}, {"digest": MORE.partition("\n")[2], "withdrawals": 1}, "withdrawal"),
        (IN_BASE, {"digest": DIGEST, **NO_RULES}, {**NO_RULES, "withdrawals": 1}, "switch_off"),
        ([*WITH_NOTES, {"notes": NOTES}], {"notes": NOTES}, {"withdrawals": 1}, "switch_off"),
        ([*IN_BASE, {}, {"digest": LESS}], {"digest": LESS}, {"withdrawals": 1}, "switch_off"),
        ([*IN_BASE, {}, {"digest": LESS}], {}, {"withdrawals": 1}, "switch_off"),
    ],
    ids=[
        "emptied",
        "emptied, digest in an update",
        "emptied, notes left",
        "edited",
        "edited, an item",
        "identity file deleted",
        "emptied and sent, notes left",
        "emptied and filled again",
        "emptied twice",
    ],
)
def test_what_the_next_turn_pays_anyway_is_no_part_of_the_price_of_a_deletion(
    vendor: str, script: list[Change], since: Change, after: Change, kind: str
) -> None:
    """Something was changed or deleted and not sent yet; now something is to go, too."""
    touched, untouched = Desk(vendor, 60.0), Desk(vendor, 60.0)
    for desk in (touched, untouched):
        for change in script:
            desk.turn(**change)
    told = touched.costs(**since)
    price: Rewrite = getattr(told, kind)
    if told.due is not None and told.due.is_deletion:
        untouched.drop_stored()
    touched.drop_stored()
    touched.turn(**after)
    untouched.turn(**since)

    more = touched.bills[-1] - untouched.bills[-1]
    assert price.cost_usd is not None
    print(f"{vendor}: said {price.cost_usd:.5f}, billed {more:.5f} of {touched.bills[-1]:.5f}")
    step = 128 * (touched.prices.input_usd or 0.0) if vendor == "openai, old" else 1e-6
    assert price.cost_usd == pytest.approx(max(0.0, more), rel=0.02, abs=step)


class NoFreeEntries(AnthropicCache):
    """A vendor that writes nothing for a mark in front of what it reads: the documents leave it open."""

    def _use(
        self, run: Rendered, places: list[tuple[int, float]], hit: int, start_s: float
    ) -> tuple[Write, ...]:
        in_front = set(run.prefixes[: max(0, hit)])
        return tuple(w for w in super()._use(run, places, hit, start_s) if w.prefix not in in_front)


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("script", [EDITED_SINCE, IN_DELTAS, [*EDITED_SINCE, {"digest": MORE}]])
def test_a_mark_that_may_have_written_nothing_makes_the_price_a_range(
    script: list[Change], is_kept: bool
) -> None:
    """What is billed lies in it, whichever way the vendor takes such marks."""
    touched, untouched = Desk("anthropic", 60.0), Desk("anthropic", 60.0)
    for desk in (touched, untouched):
        if not is_kept:
            assert isinstance(desk.vendor, Anthropic)
            desk.vendor.cache = NoFreeEntries(desk.vendor.clock, Texts(chars4))
        for change in script:
            desk.turn(**change)
    price = touched.costs(**script[-1]).switch_off
    touched.turn(withdrawals=1)
    untouched.turn(**script[-1])

    more = touched.bills[-1] - untouched.bills[-1]
    assert price is not None
    assert price.cost_usd is not None
    most = price.cost_usd if price.most_usd is None else price.most_usd
    assert (price.cost_usd if is_kept else most) == pytest.approx(more, rel=0.02)
    assert (price.most_usd is None) == (script is IN_DELTAS), (
        "there all that is read was written behind every hit"
    )


def test_an_entry_that_was_read_once_makes_no_range() -> None:
    desk = Desk("anthropic", 60.0)
    for change in EDITED_SINCE:
        desk.turn(**change)
    before = desk.costs(digest=MORE).switch_off
    assert before is not None
    assert before.most_usd is not None
    desk.turn(withdrawals=1)  # reads what the mark in front wrote
    read = desk.book.pages["d"].last_call
    assert read is not None
    assert not desk.book.ledger.entries[desk.scope][read.decision.plan.hit_hash].is_unsure


@pytest.mark.parametrize("vendor", KINDS)
def test_nothing_is_said_of_what_is_cold(vendor: str) -> None:
    desk = Desk(vendor, 60.0)
    desk.turn(digest=DIGEST)
    desk.vendor.clock.advance(13 * 3600.0)

    assert desk.costs(digest=DIGEST) == RewriteCosts("d")
    assert desk.costs() == RewriteCosts("d")


LONG = "".join(f"- DIGEST-{n} says that tides are M{n} and that they come again\n" for n in range(600))
ONCE = LONG.replace("DIGEST-7 says", "DIGEST-7 holds")
TWICE = ONCE.replace("DIGEST-9 says", "DIGEST-9 holds")


@pytest.mark.parametrize("vendor", KINDS)
@pytest.mark.parametrize(
    ("script", "after"),
    [
        (IN_BASE, {"digest": MORE}),
        ([{"digest": LONG}] * 3, {"digest": ONCE}),
        ([{"digest": LONG}, {"digest": LONG}, {"digest": ONCE}], {"digest": LONG}),
        ([{"digest": LONG, "items": FILES}, {"digest": ONCE}, {"digest": ONCE}], {"digest": TWICE}),
    ],
    ids=["a line more", "a word of a long digest", "as it was again", "a second edit"],
)
def test_the_price_before_a_small_edit_is_what_the_vendor_bills_more(
    vendor: str, script: list[Change], after: Change
) -> None:
    """All that is sent of it counts: what tells how to read it, and the frame around both."""
    touched, untouched = Desk(vendor, 60.0), Desk(vendor, 60.0)
    for desk in (touched, untouched):
        for change in script:
            desk.turn(**change)
    price = touched.costs(**after).due
    touched.turn(**after)
    untouched.turn(**script[-1])

    more = touched.bills[-1] - untouched.bills[-1]
    assert price is not None
    print(f"{vendor}: said {price.cost_usd}, billed {more:.6f}, appended {price.is_appended}")
    step = 128 * (touched.prices.input_usd or 0.0) if vendor == "openai, old" else 1e-6
    assert price.cost_usd == pytest.approx(max(0.0, more), rel=0.01, abs=step)
