"""What is said of a request over what it is billed, with a model that thinks and shows a summary of it, or nothing.

The day is that of `cache_thinking`, in real words. The vendor counts by a tokenizer of its own and bills all that was thought,
when it is made and when it goes back; the program counts by o200k and learns from the bills, as it does when it runs.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from msgspec.structs import replace

from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Message, ReasoningPart
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.blocks import CountTokens
from core.talk.caching.keeper import FACTOR_STEP
from core.talk.context.assembly import new_texts
from core.talk.context.stack import AggregateStack
from core.talk.context.token_scale import (
    RequestCounter,
    TokenScale,
    request_parts,
    texts_to_count,
    token_counter,
    with_request,
)
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_thinking import (
    NO_GAPS,
    WITH_GAPS,
    Ours,
    make_day,
    said,
)
from tests.bench.cache_vendors import (
    VENDORS,
    Anthropic,
    Call,
    Gemini,
    OpenAI,
    Reply,
    Turn,
    Vendor,
)
from tests.vendors.billing.tokens import o200k, sealed
from tests.vendors.billing.values import Parts

FACTORS = {"claude-opus-5-5": 1.35, "gpt-6.1-sol": 1.0, "gemini-4-argon": 1.1}
"""Tokens of a vendor's model over o200k's."""
SHOWN = 0.2
"""Share of the thinking that a summary shows."""
BAR = 0.005

_LABEL = re.compile(r"\[\[(\d+) ([^\]]*)\]\]")
_TEXT = (
    "the tide height of a wave moon follows and table returns value path line error test file reads "
    "def self import None for in range if not is module record writes cache prefix token request "
    "because a later change keeps every earlier byte where it stood which costs nothing at all 0 1 27 4096 = : ( ) , ."
)
_WORDS = tuple(_TEXT.split())


def spoken(text: str) -> str:
    """A text of labels in real words, about as many tokens as the labels say."""
    return _LABEL.sub(lambda found: _words(int(found[1]), found[2]), text)


@lru_cache(maxsize=100_000)
def _words(tokens: int, name: str) -> str:
    draw = random.Random(name)
    return f"{name}: " + " ".join(draw.choice(_WORDS) for _ in range(max(1, tokens - 8)))


def spoken_day(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """A day in real words; thoughts stay labels, of which a vendor shows a summary."""

    def call(one: Call) -> Call:
        return Call(one.id, json.dumps({"path": spoken(one.arguments)[:160]}), spoken(one.result))

    def reply(one: Reply) -> Reply:
        return Reply(one.id, one.thought, spoken(one.text), tuple(map(call, one.calls)), one.after_s)

    return tuple(Turn(one.id, one.gap_s, spoken(one.words), tuple(map(reply, one.replies))) for one in turns)


def thought_tokens(reply: Reply) -> int:
    """Tokens of all that was thought."""
    found = _LABEL.search(reply.thought)
    assert found
    return int(found[1])


class HidingAnthropic(Anthropic):
    """Shows a summary."""

    def __init__(self) -> None:
        super().__init__()
        self.cache.texts.count = o200k(FACTORS[self.model])

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """See `Vendor.thought`."""
        del name, calls
        found = _LABEL.search(text)
        assert found
        tokens = int(found[1])
        shown = _words(round(tokens * SHOWN), found[2])
        block = {"type": "thinking", "thinking": shown, "signature": self.sign(shown, tokens)}
        return ReasoningPart(shown, json.dumps(block))


class HidingOpenAI(OpenAI):
    """Shows nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.cache.texts.count = o200k(FACTORS[self.model])

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """See `Vendor.thought`."""
        del calls
        found = _LABEL.search(text)
        assert found
        seal = sealed(name, int(found[1]))
        block = {"type": "reasoning", "id": f"rs_{name}", "summary": [], "encrypted_content": seal}
        return ReasoningPart("", json.dumps(block))


class HidingGemini(Gemini):
    """Shows nothing, and seals the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.cache.texts.count = o200k(FACTORS[self.model])

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """See `Vendor.thought`."""
        found = _LABEL.search(text)
        assert found
        seal = {"call_id": calls[0].id if calls else name, "thought_signature": sealed(name, int(found[1]))}
        return ReasoningPart("", json.dumps(seal))


HIDING: dict[str, type[Vendor]] = {one.model: one for one in (HidingAnthropic, HidingOpenAI, HidingGemini)}


@dataclass
class Told(Ours):
    """The program, counting as it does when it runs."""

    scale: TokenScale = field(default_factory=TokenScale)
    counter: RequestCounter = field(default_factory=RequestCounter)
    known: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._o200k = o200k()

    def inputs(self, turn: Turn, words: str) -> StackInputs:
        """See `Ours.inputs`."""
        given = super().inputs(turn, words)
        name = NamedText("system", spoken(given.system_text.text)) if given.system_text else None
        return replace(
            given,
            role_text=spoken(given.role_text),
            system_text=name,
            digest=spoken(given.digest),
            tools=tuple(
                ToolSchema(one.name, spoken(one.description), one.parameters_json) for one in given.tools
            ),
        )

    def heard(self, reply: Reply) -> list[Message]:
        """See `Ours.heard`. Its usage says what was thought."""
        answer, *results = said(reply, self.vendor)
        thought = thought_tokens(reply)
        words = self._o200k(reply.text) + sum(self._o200k(one.arguments) for one in reply.calls)
        output = round(words * FACTORS[self.vendor.model]) + thought
        usage = Usage(input_tokens=1, output_tokens=output, reasoning_tokens=thought)
        return [replace(answer, usage=usage), *results]

    def counting(self, stack: AggregateStack) -> tuple[CountTokens, Hashable]:
        """See `Ours.counting`."""
        self._count(new_texts(stack, self.known))
        step = round(self.scale.request_factor(self.vendor.profile, "d") / FACTOR_STEP)
        return token_counter(self.known, step * FACTOR_STEP, None, self.vendor.profile), step

    def billed(self, request: ProviderRequest, parts: Parts) -> None:
        """See `Ours.billed`."""
        profile = self.vendor.profile
        self._count(texts_to_count(request_parts(request), self.known))
        count = self.counter.count(request, self.known, profile)
        self.scale = with_request(self.scale, profile, "d", count, parts.total)

    def _count(self, texts: dict[str, str]) -> None:
        self.known.update({name: self._o200k(text) for name, text in texts.items()})


@dataclass(frozen=True, slots=True)
class Figures:
    """Tokens that were said and billed, of a day behind its first request; `worst`: of one request, as a share apart."""

    said: int
    billed: int
    worst: float


def played(task: tuple[str, str, int]) -> Figures:
    """One day; what a process of the bench does."""
    model, kind, seed = task
    day = Told(HIDING[model]()).play(spoken_day(make_day(seed, kind)))
    pairs = [(sum(one.said), one.parts.total) for one in day.requests[1:]]
    worst = max(abs(told / billed - 1) for told, billed in pairs)
    return Figures(sum(told for told, _ in pairs), sum(billed for _, billed in pairs), worst)


def rows(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """All figures, over held-out seeds."""
    tasks = list(product(VENDORS, (NO_GAPS, WITH_GAPS), seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        figures = dict(zip(tasks, pool.map(played, tasks), strict=True))
    found = []
    for model, kind in product(VENDORS, (NO_GAPS, WITH_GAPS)):
        part = [figures[model, kind, seed] for seed in seeds]
        name = f"tool day with hidden thinking, {model}, {kind}, said over billed"
        over = sum(one.said for one in part) / sum(one.billed for one in part)
        apart = abs(over - 1) <= BAR
        found.append(row(name, round(over, 4), "times", bar=f"1 ± {BAR}", holds=apart, runs=len(part)))
        worst = max(one.worst for one in part)
        found.append(row(f"{name}, worst request", round(worst, 4), "apart", None, runs=len(part)))
    return found
