"""Orphaned prefixes and coming rewrites in the Caching panel, as a person meets them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.values.discussion import LiveCall
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState, TrashItem
from core.talk.caching.caching_messages import DeleteOrphanedCaches
from core.talk.caching.warmth import rewrite_text
from panels.caching.caching_room import CachingView
from panels.caching.spending import due_rewrites, orphan_name, orphans_text
from tests.panels import states
from tests.panels.caching import cache_states
from tests.panels.screen import Screen
from tests.panels.views import view_of


def _screen(state: AppState | None = None, tab: str = "overview") -> Screen:
    return Screen(state or cache_states.due(), view_of(CachingView(tab=tab), panel="caching"))


def _words(screen: Screen) -> str:
    return "\n".join(screen.ui.texts())


def test_orphans_are_told_with_tokens_rent_and_end() -> None:
    orphans = cache_states.orphans()
    until = fmt.clock(orphans[0].expires_at)
    text = orphans_text(cache_states.due(), orphans[:2])
    assert text == f"2 Gemini caches of deleted discussions, 47.6k tokens, ~$0.024 per hour until {until}"
    assert text in _words(_screen(cache_states.due(orphans=orphans[:2])))


def test_a_rent_without_a_price_is_said_to_be_unknown_and_never_nought() -> None:
    state, orphans = cache_states.due(), cache_states.orphans()
    assert "~$0.024 per hour and more at an unknown price until" in orphans_text(state, orphans)
    assert ", at an unknown price until" in orphans_text(state, orphans[2:])
    assert orphans_text(state, orphans[2:]).startswith("1 Gemini cache of a deleted discussion")


def test_delete_all_asks_for_all_of_them() -> None:
    screen = _screen()
    screen.ui.click("Delete all")
    assert screen.only(DeleteOrphanedCaches) == DeleteOrphanedCaches()


def test_one_of_many_can_be_deleted_by_itself() -> None:
    screen = _screen()
    screen.ui.click("Delete cachedContents/77ab")
    assert screen.only(DeleteOrphanedCaches) == DeleteOrphanedCaches("cachedContents/77ab")


def test_a_single_orphan_has_one_button_and_no_list() -> None:
    screen = _screen(cache_states.due(orphans=cache_states.orphans()[:1]))
    screen.ui.click("Delete")
    assert screen.only(DeleteOrphanedCaches) == DeleteOrphanedCaches()
    assert not screen.ui.shows("20261118-091204-tidesx")


def test_an_orphan_in_the_trash_has_its_name() -> None:
    (first, unnamed, _) = cache_states.orphans()
    item = TrashItem(first.discussion_id, "Tides", states.NOW, "deleted", "")
    state = cache_states.due(trash=(item,))
    assert orphan_name(state, first) == "Tides (in the trash)"
    assert (
        orphan_name(replace(state, discussions=replace(state.discussions, trash=())), first) == "Begun 18 Nov"
    )
    assert orphan_name(state, unnamed) == "cachedContents/77ab"


def test_what_has_expired_is_not_offered() -> None:
    later = states.NOW + timedelta(minutes=48)
    assert not _screen(cache_states.due(now=later)).ui.shows("of deleted discussions")


def test_in_a_read_only_home_nothing_is_deleted() -> None:
    screen = _screen(cache_states.due(is_home_read_only=True))
    assert not screen.ui.find("Delete all", kind="button").is_enabled


def test_many_orphans_are_counted_behind_the_first() -> None:
    first = cache_states.orphans()[0]
    many = tuple(replace(first, name=f"cachedContents/{n}") for n in range(12))
    assert _screen(cache_states.due(orphans=many)).ui.shows("and 7 more")


def test_rewrites_are_told_by_name_tokens_cost_and_reason() -> None:
    state = cache_states.due()
    words = _words(_screen(state))

    assert "The next turn rewrites the cache" in words
    name = state.discussions.summaries["d1"].meta.name
    assert f"«{name}»\n≈12.3k tokens, est. $0.041: the digest changed" in words
    assert "≈9.4k tokens, price unknown: the digest changed and notes on tides.py changed" in words
    assert "≈3.5k tokens, free: notes on 3 files changed" in words
    assert "Together ≈25.2k tokens, est. $0.041 and more at an unknown price" in words


def test_a_discussion_that_is_being_answered_is_not_due() -> None:
    state = cache_states.due()
    call = LiveCall("c", "d1", "u", "r", "anthropic", "claude", states.NOW)
    assert [
        one.discussion_id
        for one in due_rewrites(replace(state, turns=replace(state.turns, calls={"d1": call})))
    ] == ["d2", "d5"]


@pytest.mark.parametrize("tab", ["overview", "discussions"])
def test_the_card_of_the_discussion_says_it_too(tab: str) -> None:
    words = _words(_screen(tab=tab))
    assert "The next turn rewrites the cache: the digest changed (≈12.3k tokens, est. $0.041)" in words


def test_what_changed_before_knowledge_tells_of_all_that_is_rewritten() -> None:
    state = cache_states.due(reports={"d1": states.report()})
    words = _words(_screen(state))
    assert "The next turn rewrites the cache: AGENTS.md was edited" in words
    assert "The next turn rewrites the cache: the digest changed" not in words


def test_a_change_of_knowledge_that_loses_nothing_is_not_told() -> None:
    report = states.report()
    assert report.change is not None
    change = replace(report.change, layer=LayerId.KNOWLEDGE, reason="digest regenerated")
    state = cache_states.caching(reports={"d1": replace(report, change=change)})
    assert "The next turn rewrites" not in _words(_screen(state))


def test_without_either_nothing_stands_there() -> None:
    words = _words(_screen(cache_states.caching(reports={})))
    assert "The next turn rewrites" not in words
    assert "of deleted discussions" not in words


def test_a_free_rewrite_costs_nothing_and_an_unknown_one_is_unknown() -> None:
    found = cache_states.rewrites()
    assert rewrite_text(found["d5"]) == "≈3.5k tokens, free"
    assert rewrite_text(found["d2"]) == "≈9.4k tokens, price unknown"


@pytest.mark.parametrize(("usd", "tone"), [(0.0, "muted"), (0.04, "warn"), (None, "warn")])
def test_only_what_may_cost_something_is_shown_as_a_warning(usd: float | None, tone: str) -> None:
    (one,) = [replace(r, cost_usd=usd) for n, r in cache_states.rewrites().items() if n == "d1"]
    screen = _screen(cache_states.due(rewrites={"d1": one}))

    (line,) = [n for n in screen.ui.nodes("text") if n.value.startswith("The next turn rewrites the cache:")]
    assert line.props["tone"] == tone
    icons = [n for n in screen.ui.nodes("icon") if "rewrites" in n.path]
    assert len(icons) == (tone == "warn")


def test_what_joins_the_next_message_is_told_apart_from_rewrites() -> None:
    found = cache_states.rewrites()
    found["d1"] = replace(found["d1"], tokens=135, cost_usd=0.0002, is_appended=True)
    words = _words(_screen(cache_states.due(rewrites=found)))

    first, _, second = words.partition("The next message carries this change")
    assert "The next turn rewrites the cache" in first
    assert "135 tokens" in second
    assert "The next message carries this change" not in _words(_screen())
