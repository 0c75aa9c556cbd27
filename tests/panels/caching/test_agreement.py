"""No two sentences of one view contradict, whatever a cache's state and the plan of the next request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.front.cli.cache_price import why_lines
from core.kernel.structures import with_entry
from core.kernel.values.cache import CachePlan, DiscussionCacheState
from core.kernel.values.messages import Message, Status
from core.kernel.values.state import AppState, ProviderTotals
from core.kernel.values.usage import Upkeep, Usage
from core.talk.caching.warmth import why_of
from panels.base.view import WindowView
from panels.caching.caching_room import CachingView
from panels.caching.spending import look_of
from panels.shell.status_bar import cache_words
from tests.panels import states
from tests.panels.caching.cache_states import caching, plan
from tests.panels.screen import Screen

HELD = re.compile(r"^Cached by |^cache warm|^Expires |not read what is cached|cache not read by the next")
NOT_HELD = re.compile(r"^Not cached|^cache cold|^Expired |nothing of .* is cached", re.IGNORECASE)
READ = re.compile(r"reads [\d.]+k? tokens|^[\d.]+k? from the cache|^cache warm")
NOT_READ = re.compile(
    r"reads nothing|does not read|cache not read|^Nothing .* in the cache|none of them from the cache"
)
ENDS = re.compile(r"([\d.]+k?) of [\d.]+k? tokens")

_seconds = st.none() | st.integers(-7_200, 7_200)
_tokens = st.integers(0, 50_000)
_usd = st.none() | st.floats(0, 2)


@st.composite
def _worlds(draw: st.DrawFn) -> AppState:
    """Any cache, plan and switch of the selected discussion."""
    ends, longer, tokens = draw(_seconds), draw(_seconds), draw(_tokens)
    cache = DiscussionCacheState(
        discussion_id="d1",
        provider=draw(st.sampled_from(["anthropic", "gemini", "openai"])),
        cached_at=states.NOW - timedelta(hours=3),
        expires_at=None if ends is None else states.NOW + timedelta(seconds=ends),
        hit_count=draw(st.integers(0, 3)),
        tokens_cached=tokens,
        long_until=None if longer is None or ends is None else states.NOW + timedelta(seconds=longer),
        long_tokens=0 if longer is None else draw(st.integers(0, tokens)),
        last_invalidated_at=draw(st.sampled_from([None, states.NOW - timedelta(minutes=1)])),
    )
    planned: CachePlan | None = draw(st.none() | st.builds(_plan, _tokens, _tokens, _tokens, _usd))
    state = caching(
        caches=draw(st.sampled_from([{}, {"d1": cache}])),
        plans={} if planned is None else {"d1": planned},
        reports={},
        totals=draw(st.sampled_from([{}, {cache.provider: _totals(draw(_seconds), draw(_usd))}])),
        miss_reasons=draw(st.sampled_from([{}, {"d1": "the tools changed"}])),
    )
    state = _talked(state, draw(st.sampled_from(Status)), draw(st.booleans()))
    row = state.discussions.summaries["d1"]
    chosen = draw(st.sampled_from([cache.provider, cache.provider, "anthropic", "openai"]))
    meta = replace(row.meta, provider=chosen, caching_enabled=draw(st.booleans()))
    rows = with_entry(state.discussions.summaries, "d1", replace(row, meta=meta))
    return replace(state, discussions=replace(state.discussions, summaries=rows))


def _totals(pinged: int | None, saved_usd: float | None) -> ProviderTotals:
    """Of a provider that was pinged or not, at a price that is known or not."""
    upkeep = Upkeep() if pinged is None else Upkeep(pings=abs(pinged), usage=Usage(cost_usd=saved_usd))
    return ProviderTotals(
        provider="anthropic",
        usage=Usage(input_tokens=600, cost_usd=saved_usd),
        saved_usd=saved_usd,
        upkeep=upkeep,
    )


def _talked(state: AppState, status: Status, by_another: bool) -> AppState:
    """Whose last reply is whole or not, and of the model or of one that was chosen before."""
    opened = state.discussions.open["d1"]
    *before, last = opened.entries
    assert isinstance(last, Message)
    last = replace(last, status=status, model="another" if by_another else last.model)
    opened = replace(opened, entries=(*before, last))
    return replace(
        state, discussions=replace(state.discussions, open=with_entry(state.discussions.open, "d1", opened))
    )


def _plan(read: int, write: int, fresh: int, usd: float | None) -> CachePlan:
    return plan(
        read_tokens=read,
        write_tokens=write,
        fresh_tokens=fresh,
        read_cost_usd=0.0,
        cost_usd=usd,
        sentences=(),
    )


def _sentences(state: AppState, tab: str) -> list[str]:
    view = WindowView(panel="caching")
    view.of(CachingView).tab = tab
    screen = Screen(state, view)
    told = cache_words(state, state.discussions.summaries["d1"], look_of(state, "d1"))
    return [*screen.ui.texts(), told, *why_lines(state, why_of(state, "d1"))]


def _any(pattern: re.Pattern[str], said: Iterable[str]) -> list[str]:
    return [text for text in said if pattern.search(text)]


@settings(max_examples=120, deadline=None)
@given(_worlds(), st.sampled_from(["overview", "discussions"]))
def test_no_two_sentences_of_a_view_contradict(state: AppState, tab: str) -> None:
    said = _sentences(state, tab)

    assert not (_any(HELD, said) and _any(NOT_HELD, said)), said
    assert not (_any(READ, said) and _any(NOT_READ, said)), said
    for text in said:
        told = ENDS.findall(text)
        assert len(told) == len({*told}) or len(told) < 2, text
