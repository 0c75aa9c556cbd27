"""The Caching panel as a person meets it."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, ValuesView
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.structures import with_entry
from core.kernel.values.cache import ExtensionEvidence
from core.kernel.values.settings import CachingSettings, Settings
from core.kernel.values.state import AppState, ProgramState
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import ChangeSetting
from core.talk.caching.caching_messages import DisableCaching, EnableCaching, InvalidateCache
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.caching.caching_room import CachingView
from panels.shell.rooms import to_toml
from tests.panels import states
from tests.panels.caching import cache_states
from tests.panels.caching.cache_states import cached
from tests.panels.screen import Screen
from tests.panels.views import restored, view_of
from tests.recording_nodes import Node
from tests.state_fields import with_fields


def _screen(state: AppState | None = None, tab: str = "overview") -> Screen:
    return Screen(state or cache_states.caching(), view_of(CachingView(tab=tab), panel="caching"))


def _panel(screen: Screen) -> list[str]:
    """The words of the hub alone."""
    (hub,) = [node for node in screen.ui.nodes("surface") if node.path[-1] == "hub" and node.props["height"] == 0
              and node.props["surface"] == "clear"]  # fmt: skip
    return hub.texts()


def _button(screen: Screen, label: str, words: str) -> Node:
    return screen.ui.find(label, kind="button", within=words)


# --- where it is


def _from_menu(screen: Screen) -> None:
    screen.ui.click("View")
    screen.ui.click("Caching", within="Switch theme")


def test_it_is_reached_from_the_rail_the_menu_and_its_chord() -> None:
    acts: tuple[Callable[[Screen], None], ...] = (
        lambda s: s.ui.press("Ctrl+4"),
        lambda s: s.ui.click("Caching (Ctrl+4)"),
        _from_menu,
    )
    for act in acts:
        screen = Screen(cache_states.caching())
        act(screen)
        assert screen.view.panel == "caching"
        assert screen.ui.shows("Hit rate and cost")


def test_its_part_in_front_comes_back_after_a_restart() -> None:
    screen = _screen()
    screen.ui.click("Settings", within="Overview")

    assert restored(to_toml(screen.view)).of(CachingView).tab == "settings"


# --- overview


def test_what_was_learned_of_a_vendor_is_said_with_its_evidence() -> None:
    state = cache_states.caching()
    provider = next(iter(state.caching.totals))
    at = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
    lost = ExtensionEvidence(provider, "claude-opus-5-5", 0, 1, at, "20261120-120000-abcdef", 90_000, 12)
    screen = _screen(replace(state, caching=replace(state.caching, lost_extensions=(lost,))))

    (said,) = [text for text in _panel(screen) if text.startswith("claude-opus-5-5: a breakpoint with")]
    assert "2026-11-20 12:30 UTC" in said
    assert "20261120-120000-abcdef" in said
    assert "expected about 90,000 tokens from the cache; the provider read 12." in said


def test_the_overview_shows_figures_summaries_the_discussion_its_turns_and_the_plan() -> None:
    words = _panel(_screen())

    for expected in (
        "23.5 %", "$1.94", "4 min",
        "Anthropic: 80 of 340 tokens from the cache", "Caching saved you $1.94",
        "Cached by Anthropic", "11.9k tokens · 14 hits · 1.2k superseded", f"Cache miss last time: {cache_states.MISSED}",
        "hit rate · cost", "11.2k from the cache, 847 written to the cache, 302 new", "Without caching: $0.066",
        "•  The breakpoint after your message (13,100 tokens) writes the cache for 5 min.",
    ):  # fmt: skip
        assert expected in words
    assert any(re.fullmatch(r"Expires in 4 minutes, at \d\d:\d\d", word) for word in words)


def test_a_provider_that_tells_no_hits_has_none_counted() -> None:
    state = cache_states.caching()
    told = state.caching.totals["anthropic"]
    silent = replace(told, usage=replace(told.usage, cache_read_tokens=None))
    totals = with_entry(state.caching.totals, "anthropic", silent)

    words = _panel(_screen(replace(state, caching=replace(state.caching, totals=totals))))
    assert "11.9k tokens · 1.2k superseded" in words


def test_the_specification_s_line_stands_in_view_and_the_other_is_said_on_hover() -> None:
    screen = _screen()
    tips = screen.ui.tips()

    assert "[Anthropic] in:340 cache:80 hit:23% ttl:4:32" in _panel(screen)
    assert any(
        tip.startswith("cached: yes (Anthropic)\nexpires: 2026-11-20T") and tip.endswith("(in 4:32)")
        for tip in tips
    )


def test_the_time_left_runs() -> None:
    screen = _screen()

    screen.show(cache_states.caching(now=states.NOW + timedelta(minutes=1, seconds=31)))

    assert "3 min" in _panel(screen)
    assert any(word.startswith("Expires in 3 minutes") for word in _panel(screen))
    assert "[Anthropic] in:340 cache:80 hit:23% ttl:3:01" in _panel(screen)


def test_when_the_time_is_over_the_discussion_is_not_cached() -> None:
    screen = _screen(cache_states.caching(now=states.NOW + timedelta(minutes=10)))

    assert "Not cached" in _panel(screen)
    assert any(word.startswith("Expired at ") for word in _panel(screen))


def test_openai_keeps_its_own_time() -> None:
    words = _panel(_screen(cache_states.caching(selected_id="d5")))

    assert "Cached by OpenAI" in words
    assert "OpenAI decides how long the cache lasts" in words
    assert not any("Expires" in word for word in words)


def test_the_plot_shows_every_turn_of_the_selected_discussion() -> None:
    (plot,) = _screen().ui.nodes("plot")

    assert [one.label for one in plot.props["series"]] == ["hit rate", "cost"]
    assert plot.props["series"][0].xs[-1] == 24
    assert plot.props["x_label"] == "turn"


def test_curves_are_not_made_anew_while_nothing_was_said() -> None:
    screen = _screen()
    (before,) = screen.ui.nodes("plot")
    screen.show(
        cache_states.caching(open=screen.state.discussions.open, now=states.NOW + timedelta(seconds=5))
    )
    (after,) = screen.ui.nodes("plot")

    assert all(a is b for a, b in zip(before.props["series"], after.props["series"], strict=True))


def test_a_change_that_voids_the_prefix_is_said_with_its_reason_and_cost() -> None:
    assert "The next turn rewrites the cache: AGENTS.md was edited (≈10.0k tokens, $0.013)" in _panel(
        _screen()
    )


def test_a_changed_file_that_is_appended_is_not_said_to_be_rewritten() -> None:
    report = states.report()
    assert report.change is not None
    change = replace(report.change, layer=report.layers[9].layer)
    state = cache_states.caching(reports={"d1": replace(report, change=change)})

    assert not any("The next turn rewrites" in word for word in _panel(_screen(state)))
    edits_in = replace(
        state, config=replace(state.config, settings=Settings(caching=CachingSettings(appends_changes=False)))
    )
    assert any("The next turn rewrites" in word for word in _panel(_screen(edits_in)))


def test_before_anything_was_sent_it_shows_what_would_be_cached_and_the_settings() -> None:
    words = _panel(_screen(cache_states.fresh()))

    assert "Not cached" in words
    assert "12.1k written to the cache, 301 new" in words
    assert "Enable Anthropic ephemeral caching" in words
    assert not any("hit rate" in word for word in words)


def test_without_a_plan_the_stable_layers_are_what_can_be_cached() -> None:
    state = with_fields(cache_states.fresh(), plans={})

    assert "≈5.5k of ≈12.4k tokens (layers 1 to 7) repeat each turn and are cacheable." in _panel(
        _screen(state)
    )


def test_with_no_discussion_the_settings_are_there_all_the_same() -> None:
    words = _panel(_screen(AppState(program=ProgramState(home="/h", is_loading=False))))

    assert "No discussion is selected." in words
    assert "Global settings" in words


# --- active discussions


def test_active_discussions_say_how_each_is_cached() -> None:
    screen = _screen(tab="discussions")

    assert "Active discussions" in _panel(screen)
    assert _panel(screen).count("Cached by Anthropic") == 1
    assert "Cached by Gemini" in _panel(screen)
    assert "Cached by OpenAI" in _panel(screen)
    assert "OpenAI decides how long the cache lasts" in _panel(screen)
    assert any(tip.endswith("Cached by OpenAI; TTL: provider-managed") for tip in screen.ui.tips())
    assert "3 discussions have a cache" in _panel(screen)


def test_the_selected_discussion_comes_first_then_what_else_holds_something() -> None:
    names = _names(_screen(tab="discussions"))

    assert names[0] == "Cache TTL policy"
    assert set(names[1:]) == {"Harvest worker design", "Parser regressions"}


def test_what_holds_nothing_folds_and_unfolds() -> None:
    screen = _screen(tab="discussions")
    assert "Fork: TTL policy / lazy" not in _names(screen)

    screen.ui.click("4 discussions that have no cache now")

    assert "Fork: TTL policy / lazy" in _names(screen)
    assert "Old ideas" not in _names(screen)


def test_a_search_unfolds_what_is_called_so() -> None:
    screen = _screen(tab="discussions")

    screen.ui.type("Find a discussion", "fork")

    assert _names(screen) == ["Fork: TTL policy / lazy"]
    assert not screen.ui.has("1 discussion that has no cache now")


def _names(screen: Screen) -> list[str]:
    return [n.value for n in screen.ui.nodes("text") if n.path[-2:] == ("name row", "name")]


def test_invalidate_disable_and_enable_ask_for_their_discussion() -> None:
    screen = _screen(tab="discussions")

    screen.ui.click("4 discussions that have no cache now")

    screen.ui.click("Invalidate cache", within="Expired at")
    screen.ui.click("Disable caching here", within="Expired at")

    assert screen.asked == [InvalidateCache("d3"), DisableCaching("d3")]


def test_a_discussion_that_is_off_can_be_enabled() -> None:
    state = cache_states.caching()
    row = state.discussions.summaries["d1"]
    off = replace(row, meta=replace(row.meta, caching_enabled=False))
    screen = _screen(
        replace(
            state,
            discussions=replace(
                state.discussions, summaries=with_entry(state.discussions.summaries, "d1", off)
            ),
        )
    )

    assert "caching is off" in _panel(screen)
    assert not screen.ui.has("Disable caching here")
    screen.ui.click("Enable caching again")
    assert screen.asked == [EnableCaching("d1")]


def test_what_a_provider_cannot_do_is_disabled_with_the_reason() -> None:
    screen = _screen(tab="discussions")

    off = _button(screen, "Disable caching here", "Cached by Gemini")

    assert not off.is_enabled
    assert "caches by itself" in off.tip
    assert _button(screen, "Invalidate cache", "Cached by Gemini").is_enabled
    assert "begins with a different line" in _button(screen, "Invalidate cache", "Cached by Gemini").tip


def test_invalidate_is_off_before_anything_was_sent_and_says_where_no_cache_is_known() -> None:
    row = replace(states.summary("d1", "X"), usage=Usage())
    screen = _screen(with_fields(states.working(), summaries={"d1": row}))
    button = screen.ui.find("Invalidate cache", kind="button")
    assert not button.is_enabled
    assert button.tip == "You have sent nothing in this discussion: it has no cache of its own."

    screen = _screen(with_fields(states.working(), summaries={"d1": states.summary("d1", "X")}))
    button = screen.ui.find("Invalidate cache", kind="button")
    assert not button.is_enabled
    assert button.tip == "Nothing of this discussion is cached."

    row = states.summary("d1", "X", provider="gemini", model="gemini-4-pro")
    screen = _screen(with_fields(states.working(), summaries={"d1": row}))
    button = screen.ui.find("Invalidate cache", kind="button")
    assert button.is_enabled, "it caches by itself"
    assert button.tip.startswith("The program knows of no cache, but the provider may have one. The next")


def test_in_a_home_that_can_only_be_read_nothing_can_be_changed() -> None:
    screen = _screen(cache_states.caching(is_home_read_only=True))

    for label in ("Invalidate cache", "Disable caching here"):
        assert not screen.ui.find(label, kind="button").is_enabled
        assert "read-only" in screen.ui.find(label, kind="button").tip


def test_a_provider_that_is_gone_is_named_on_the_buttons() -> None:
    row = states.summary("d1", "X", provider="box2", model="m")
    screen = _screen(with_fields(states.working(), summaries={"d1": row}))

    assert screen.ui.find("Invalidate cache", kind="button").tip == "There is no provider named 'box2'"


def test_a_discussion_of_the_list_can_be_shown() -> None:
    screen = _screen(tab="discussions")

    screen.ui.click("Show Harvest worker design")

    assert screen.asked == [SelectDiscussion("d2")]


def test_the_list_can_be_searched() -> None:
    screen = _screen(tab="discussions")

    screen.ui.type("Find a discussion", "harvest")

    assert "Harvest worker design" in _panel(screen)
    assert "Cache TTL policy" not in _panel(screen)
    screen.ui.type("Find a discussion", "no such")
    assert "No discussion has this name." in _panel(screen)


@pytest.mark.parametrize("tab", ["overview", "discussions", "settings"])
def test_ten_thousand_discussions_are_gone_through_once_not_each_frame(tab: str) -> None:
    class Counted(UserDict[str, Any]):
        walks = 0

        def values(self) -> ValuesView[Any]:
            self.walks += 1
            return super().values()

    state = cache_states.many()
    held, rows = Counted(state.caching.caches), Counted(state.discussions.summaries)
    screen = _screen(
        replace(
            state,
            caching=replace(state.caching, caches=held),
            discussions=replace(state.discussions, summaries=rows),
        ),
        tab=tab,
    )
    before = held.walks, rows.walks

    for _ in range(5):
        screen.show(replace(screen.state, now=states.NOW + timedelta(seconds=1)))

    assert held.walks <= 1
    assert (held.walks, rows.walks) == before


def test_of_ten_thousand_discussions_only_those_in_view_are_drawn() -> None:
    screen = _screen(cache_states.many(), tab="discussions")
    (rows,) = [n for n in screen.ui.nodes("virtual_list") if n.path[-1] == "rows" and "hub" in n.path]

    assert rows.value == 10_000
    assert len(rows.children) < 10


# --- settings


@pytest.mark.parametrize(
    ("label", "key", "value"),
    [
        ("Enable Anthropic ephemeral caching", "anthropic_enabled", False),
        ("Enable Gemini explicit caching", "gemini_enabled", False),
        ("Allow >1h Gemini caches (charges may apply)", "gemini_allow_long", True),
        ("Append changes while the cache is warm", "appends_changes", False),
        ("Fill the cache when a discussion opens", "prewarm", True),
        ("Keepalive", "keepalive", True),
    ],
)
def test_every_switch_changes_its_setting(label: str, key: str, value: bool) -> None:
    screen = _screen(tab="settings")

    screen.ui.click(label)
    if key in {
        "anthropic_enabled",
        "appends_changes",
    }:  # a warm discussion would lose by it: that is asked first
        assert screen.asked == []
        screen.ui.click("Turn off anyway")

    assert screen.asked == [ChangeSetting(f"ai_settings.caching.{key}", value)]


@pytest.mark.parametrize(
    ("label", "option", "key", "value"),
    [
        ("Anthropic TTL: how long a discussion's cache lasts by default", "1 hour", "anthropic_ttl", "1h"),
        ("OpenAI TTL: how long a discussion's cache lasts by default", "12 hours", "openai_ttl", "12h"),
    ],
)
def test_default_lifetimes_are_chosen(label: str, option: str, key: str, value: str) -> None:
    screen = _screen(tab="settings")

    screen.ui.choose(label, option)

    assert screen.asked == [ChangeSetting(f"ai_settings.caching.{key}", value)]


@pytest.mark.parametrize(
    ("label", "typed", "key", "value"),
    [
        ("Gemini TTL (minutes)", "30", "ai_settings.caching.gemini_ttl_minutes", 30),
        ("Keepalive limit ($)", "2.50", "ai_settings.caching.keepalive_cap_usd", 2.5),
        ("Disk space for the built-in cache (MB)", "1,024", "ai_settings.caching.embedded_disk_mb", 1_024),
    ],
)
def test_every_amount_is_typed(label: str, typed: str, key: str, value: float | None) -> None:
    screen = _screen(tab="settings")

    screen.ui.type(label, typed)

    assert screen.asked == [ChangeSetting(key, value)]


@pytest.mark.parametrize(
    ("label", "typed", "why"),
    [
        ("Gemini TTL (minutes)", "soon", "'soon' is not a whole number"),
        ("Gemini TTL (minutes)", "1.5", "'1.5' is not a whole number"),
        ("Gemini TTL (minutes)", "0", "0 is out of range: enter 1 to 10,080"),
        ("Gemini TTL (minutes)", "", "'' is not a whole number"),
        ("Keepalive limit ($)", "-1", "'-1' is not a number"),
        ("Keepalive limit ($)", "99999", "99999 is out of range: enter 0 to 1,000"),
        ("Keepalive limit ($)", "nan", "'nan' is not a number"),
    ],
)
def test_an_amount_that_cannot_be_is_not_taken_and_the_reason_stands_below(
    label: str, typed: str, why: str
) -> None:
    screen = _screen(tab="settings")

    screen.ui.type(label, typed)

    assert screen.asked == []
    assert screen.ui.shows(why)


def test_gemini_caches_over_an_hour_need_the_allowance() -> None:
    screen = _screen(tab="settings")

    screen.ui.type("Gemini TTL (minutes)", "120")

    assert screen.asked == []
    assert screen.ui.shows("For more than 60 minutes, allow longer Gemini caches above")
    allowed = Settings(caching=CachingSettings(gemini_allow_long=True))
    screen = _screen(cache_states.caching(settings=allowed), tab="settings")
    screen.ui.type("Gemini TTL (minutes)", "120")
    assert screen.asked == [ChangeSetting("ai_settings.caching.gemini_ttl_minutes", 120)]


def test_a_long_lifetime_whose_allowance_was_taken_away_says_what_is_used() -> None:
    settings = Settings(caching=CachingSettings(gemini_ttl_minutes=240))
    screen = _screen(cache_states.caching(settings=settings), tab="settings")

    assert screen.ui.shows("The program uses 60 minutes: longer caches are not allowed.")


# --- status bar


def _status(state: AppState) -> list[str]:
    (bar,) = [n for n in Screen(state).ui.nodes("surface") if n.path[-1] == "status"]
    return bar.texts()


def test_the_status_bar_says_until_when_the_cache_is_warm_and_what_was_reused() -> None:
    (words,) = [word for word in _status(cache_states.caching()) if "cache" in word and "lab" not in word]

    assert words.startswith("cache warm until ")
    assert words.endswith(" · 15.7k tokens reused")


def test_the_status_bar_tells_the_end_of_what_lives_not_of_what_is_over() -> None:
    over, until = states.NOW - timedelta(minutes=7), states.NOW + timedelta(minutes=48)
    held = cached("d1", "anthropic", expires_at=over, long_until=until, long_tokens=11_000)
    (words,) = [word for word in _status(cache_states.caching(caches={"d1": held})) if "cache warm" in word]

    assert words.startswith(f"cache warm until {fmt.clock(until)}")


def test_the_status_bar_tells_cold_off_and_managed_apart() -> None:
    assert "cache cold" in _status(cache_states.caching(now=states.NOW + timedelta(hours=1)))
    managed = cache_states.caching(caches={"d1": cached("d1", "anthropic", expires_at=None)})
    assert "cache warm · 15.7k tokens reused" in _status(managed)
    state = cache_states.caching()
    off = replace(
        state.discussions.summaries["d1"],
        meta=replace(state.discussions.summaries["d1"].meta, caching_enabled=False),
    )
    assert "caching is off" in _status(
        replace(
            state,
            discussions=replace(
                state.discussions, summaries=with_entry(state.discussions.summaries, "d1", off)
            ),
        )
    )
