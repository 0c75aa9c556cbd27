"""Measures the embedded model for real: how soon a second turn begins when its prefix was read before, or saved."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.provider import ProviderRequest, TextDelta, UsageUpdate
from core.kernel.values.settings import ServerSettings
from core.kernel.values.stack import DiscussionMetadata, StackInputs
from core.services.providers.embedded.client import EmbeddedProvider
from core.services.providers.embedded.server import MODEL_ID
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken
from core.talk.context.stack import build_stack
from tests.bench.__main__ import Row, row

RUNS = 3
PREFIX_RULES = 115
"""Rules in the project's context: about 2,000 tokens of the model with the rest of the stable prefix."""

REPLY_TOKENS = 128
RATIO_BAR = 0.1
CACHED_BAR = 95.0
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Turn:
    """Times of a turn: seconds to its first token, its text, tokens read from the cache."""

    first_token_s: float
    text: str
    cached_tokens: int


@dataclass(frozen=True, slots=True)
class Round:
    """Two turns of a new discussion, and the second once more in another, sent the moment the first had ended.

    Args:
        restarted: a third turn of the first discussion, asked of a program that has just started.
    """

    prefix_tokens: int
    first: Turn
    second: Turn
    at_once: float
    restarted: Turn


def rows() -> list[Row]:
    """Measure. Ratios come from one round each, values are medians; the start of the server is a row of its own."""
    with TemporaryDirectory() as folder:
        rounds, ready_s = [], []
        for number in range(RUNS):
            found, started_s = measure(Path(folder), number)
            rounds.append(found)
            ready_s += started_s
    ratio = statistics.median(r.second.first_token_s / r.first.first_token_s for r in rounds)
    restarted = statistics.median(r.restarted.first_token_s / r.first.first_token_s for r in rounds)
    at_once = statistics.median(r.at_once for r in rounds)
    cached = statistics.median(100 * r.second.cached_tokens / r.prefix_tokens for r in rounds)
    first_s = statistics.median(r.first.first_token_s for r in rounds)
    prefix = statistics.median(r.prefix_tokens for r in rounds)
    return [
        _row("embedded, ready after the start", statistics.median(ready_s), "s", runs=len(ready_s)),
        _row("embedded, stable prefix", prefix, "tokens"),
        _row("embedded, first turn, time to first token", first_s, "s"),
        _row(
            "embedded, second turn / first, time to first token",
            ratio,
            "times",
            f"at most {RATIO_BAR:g}",
            holds=ratio <= RATIO_BAR,
        ),
        _row(
            "embedded, next turn after a restart / first, time to first token",
            restarted,
            "times",
            f"at most {RATIO_BAR:g}",
            holds=restarted <= RATIO_BAR,
        ),
        _row("embedded, the same without a restart, sent as the reply ended", at_once, "times"),
        _row(
            "embedded, second turn, cached / stable prefix",
            cached,
            "%",
            f"at least {CACHED_BAR:g}",
            holds=cached >= CACHED_BAR,
        ),
    ]


def measure(folder: Path, number: int) -> tuple[Round, list[float]]:
    """Two turns, twice, in discussions whose prefix the model has never read, and a third after a restart.

    Returns:
        What they took, and what each start of the model's server took, in seconds.
    """
    one, other = 2 * number, 2 * number + 1
    asked, again = "Which of the rules matters most?", "Why is that?"
    with _started(folder) as (provider, first_ready_s):
        before = _turn(provider, _request(other, (asked,)))
        at_once = _turn(provider, _request(other, (asked, before.text, again)))
        first = _turn(provider, _request(one, (asked,)))
        assert provider.finish_reading(PATIENCE_S)
        second = _turn(provider, _request(one, (asked, first.text, again)))
        assert provider.finish_reading(PATIENCE_S)
        tokens = prefix_tokens(provider, _request(one, (asked,)))
    with _started(folder) as (provider, next_ready_s):
        restarted = _turn(provider, _request(one, (asked, first.text, again, second.text, "And then?")))
        assert provider.finish_reading(PATIENCE_S)
    found = Round(tokens, first, second, at_once.first_token_s / before.first_token_s, restarted)
    return found, [first_ready_s, next_ready_s]


@contextmanager
def _started(folder: Path) -> Iterator[tuple[EmbeddedProvider, float]]:
    """The model of a program that starts and ends, and the seconds until it could be asked."""
    server = ServerSettings("embedded", "embedded", "Embedded")
    provider = EmbeddedProvider(server, packaged_models(), cache_dir=folder)
    try:
        started = time.perf_counter()
        provider.count_tokens(_request(0, ()), _no_blob)
        yield provider, time.perf_counter() - started
    finally:
        provider.close()


def prefix_tokens(provider: EmbeddedProvider, request: ProviderRequest) -> int:
    """Tokens of the system blocks, counted with the chat template's few around them."""
    counted = provider.count_tokens(replace(request, messages=()), _no_blob)
    assert counted is not None
    return counted


def _request(salt: int, said: tuple[str, ...]) -> ProviderRequest:
    """The stack of a discussion as the program renders it: `said` alternates, the last is the new message."""
    rules = "".join(
        f"Rule {n}: item {(n * 7919 + salt * 104729) % 1000} is reported as {n}.\n"
        for n in range(PREFIX_RULES)
    )
    inputs = StackInputs(
        provider="embedded",
        model=MODEL_ID,
        role_text=f"You are a careful assistant of project {salt}.",
        project=(NamedText("rules.md", rules),),
        metadata=DiscussionMetadata("A bench", ("user", "assistant"), len(said)),
        turns=tuple(_message(number, text) for number, text in enumerate(said[:-1])),
        user_text=said[-1] if said else "Hello.",
    )
    request = build_stack(inputs).request(max_output_tokens=REPLY_TOKENS)
    return replace(request, discussion_id=f"discussion {salt}")


def _message(number: int, text: str) -> Message:
    role = Role.ASSISTANT if number % 2 else Role.USER
    return Message(f"m{number}", datetime(2026, 11, 20, tzinfo=UTC), role, (TextPart(text),))


def _turn(provider: EmbeddedProvider, request: ProviderRequest) -> Turn:
    started = time.perf_counter()
    first_token_s, text, cached = 0.0, "", 0
    for item in provider.stream(request, _no_blob, CancelToken()):
        if isinstance(item, TextDelta):
            first_token_s = first_token_s or time.perf_counter() - started
            text += item.text
        elif isinstance(item, UsageUpdate):
            cached = item.usage.cache_read_tokens or 0
    return Turn(first_token_s, text, cached)


def _no_blob(sha256: str) -> bytes:
    raise AssertionError(sha256)  # nothing is attached


def _row(name: str, value: float, unit: str, bar: str = "", *, holds: bool = True, runs: int = 0) -> Row:
    return row(name, value, unit, bar=bar, holds=holds, runs=runs or RUNS)
