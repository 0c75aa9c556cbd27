"""The status bar."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.errors import FailureKind
from core.kernel.values.agent import CallState
from core.kernel.values.state import AppState, ProgramState
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.caching import cache_states
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _words(state: AppState) -> list[str]:
    screen = Screen(state)
    (bar,) = [n for n in screen.ui.nodes("surface") if n.path[-1] == "status"]
    return bar.texts()


def test_model_tokens_cost_and_project_are_in_view() -> None:
    assert _words(states.working()) == ["Claude Opus 4.8", "≈12.4k / 200k", "$0.42", "cachelab"]


def test_a_provider_that_is_not_ready_says_why() -> None:
    row = states.summary("d1", "X", provider="openai", model="gpt-5.6")

    words = _words(with_fields(states.working(), summaries={"d1": row}))

    assert "No key for OpenAI. Enter a key in Settings, Providers and keys." in words


def test_a_provider_that_is_gone_is_named() -> None:
    row = states.summary("d1", "X", provider="box2", model="m")

    assert "There is no provider named 'box2'" in _words(with_fields(states.working(), summaries={"d1": row}))


def test_a_discussion_without_a_provider_asks_for_a_model() -> None:
    row = states.summary("d1", "X", provider="", model="")

    assert "Choose a model for this discussion" in _words(
        with_fields(states.working(), summaries={"d1": row})
    )


def test_workers_show_while_they_work_or_fail_and_not_while_idle() -> None:
    words = _words(states.busy())

    assert "Counting tokens" in words
    assert "Cannot watch files" in words
    assert "search" not in words
    assert "read-only data folder" in words


def test_replies_under_way_are_counted_wherever_they_are() -> None:
    state = states.streaming()
    calls = {**state.turns.calls, "d2": replace(state.turns.calls["d1"], id="c2", discussion_id="d2")}

    assert "2 replies in progress" in _words(replace(state, turns=replace(state.turns, calls=calls)))


def test_the_price_of_a_discussion_that_nobody_knows_is_not_zero() -> None:
    row = states.summary("d1", "X", cost_usd=None)

    assert "price unknown" in _words(with_fields(states.working(), summaries={"d1": row}))


def test_without_a_discussion_the_bar_says_so() -> None:
    assert _words(AppState(program=ProgramState(home="/h", is_loading=False))) == ["No discussion"]


def _light(state: AppState) -> tuple[str, str]:
    icon = next(n for n in Screen(state).ui.nodes("icon") if n.path[-2:] == ("connection", "icon"))
    return str(icon.props["tone"]), icon.tip


def test_the_light_is_green_only_where_nothing_stands_against_the_provider() -> None:
    assert _light(states.working()) == ("ok", "Ready")
    assert _light(states.failed(FailureKind.BAD_KEY))[0] == "error"
    assert _light(states.failed(FailureKind.SPEND_LIMIT))[0] == "ok", "no provider failed"


def test_before_the_settings_are_read_nobody_says_that_a_provider_is_missing() -> None:
    words = _words(with_fields(states.working(), providers={}))

    assert not any("There is no provider" in word for word in words)
    assert _light(with_fields(states.working(), providers={}))[0] == "faint"


def test_a_cache_is_called_warm_only_where_the_next_request_reads_it() -> None:
    state = cache_states.caching()
    assert any(word.startswith("cache warm until") for word in _words(state))

    missing = with_fields(state, plans={"d1": cache_states.plan(read_tokens=0, write_tokens=12_800)})

    assert "next message misses the cache" in _words(missing)
    assert not any("cache warm" in word for word in _words(missing))


def test_a_discussion_that_waits_for_a_person_alone_is_no_reply_under_way() -> None:
    state = ags.asking_edit()

    assert not any("in progress" in one for one in _words(state))
    calls = tuple(replace(one, state=CallState.RUNNING) for one in state.agent.turns["d1"].calls)
    running = replace(state.agent.turns["d1"], calls=calls)
    assert "1 reply in progress" in _words(replace(state, agent=replace(state.agent, turns={"d1": running})))
