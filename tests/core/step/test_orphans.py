"""Stored prefixes as the controller decides it: asked for once, orphans told and deleted, others never touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.values import commands as c
from core.values import effects as f
from core.values import events as e
from core.values.cache import CacheOrphan, DiscussionCacheState
from core.values.provider import KeySource, ProviderKind, ProviderStatus
from core.values.state import TrashItem
from tests.core.step.playbook import START, Playbook, of, settings_loaded

GEMINI = ProviderStatus("gemini", ProviderKind.GEMINI, "Gemini", KeySource.ENVIRONMENT)
ORPHAN = CacheOrphan(
    "gemini", "cachedContents/1", "gone", "gemini-3.8-flash", 20_000, START + timedelta(hours=1), 0.01
)
SECOND = replace(ORPHAN, name="cachedContents/2")


def loaded(status: ProviderStatus | None = GEMINI) -> e.SettingsLoaded:
    """Settings on disk, with Gemini's key or without."""
    found = settings_loaded()
    providers = {**found.providers, "gemini": status} if status is not None else found.providers
    return replace(found, settings_paths=("/home/person/.manual_slop/config.toml",), providers=providers)


@pytest.fixture
def book() -> Playbook:
    book = Playbook()
    book.play(e.HomeOpened("/home/person/.manual_slop"))
    book.play(loaded())
    book.play(e.SummariesLoaded((), True))
    return book


def test_what_is_stored_is_asked_for_once_when_nothing_else_is_to_be_done(book: Playbook) -> None:
    chosen = book.discussion("Tides")
    (ask,) = of(book.play(e.Tick()), f.AdoptContents)

    assert (ask.provider, dict(ask.efforts)) == ("gemini", {chosen: "auto"})
    assert not of(book.play(e.Tick()), f.AdoptContents)


@pytest.mark.parametrize(
    "status",
    [
        None,
        replace(GEMINI, key_source=KeySource.MISSING, is_ready=False),
        replace(GEMINI, key_source=KeySource.NOT_NEEDED),
        replace(GEMINI, kind=ProviderKind.ANTHROPIC),
    ],
)
def test_without_a_key_of_gemini_nobody_is_asked(status: ProviderStatus | None) -> None:
    book = Playbook()
    book.play(e.HomeOpened("/home/person/.manual_slop"))
    book.play(loaded(status))
    book.play(e.SummariesLoaded((), True))
    assert not of(book.play(e.Tick()), f.AdoptContents)


def test_nobody_is_asked_before_the_list_of_discussions_is_known() -> None:
    """With half a list everything else would look orphaned."""
    book = Playbook()
    book.play(e.HomeOpened("/home/person/.manual_slop"))
    book.play(loaded())
    book.play(e.SummariesLoaded((), False))
    assert not of(book.play(e.Tick()), f.AdoptContents)
    book.play(e.SummariesLoaded((), True))
    assert of(book.play(e.Tick()), f.AdoptContents)


def test_another_key_is_asked_again_and_the_olds_orphans_are_out_of_reach(book: Playbook) -> None:
    book.play(e.Tick())
    book.play(e.OrphansFound("gemini", (ORPHAN,)))
    book.play(c.StoreKey("gemini", "another"))
    assert not book.state.orphans
    assert of(book.play(e.Tick()), f.AdoptContents)


def test_what_is_found_replaces_what_was_known_of_that_provider(book: Playbook) -> None:
    other = replace(SECOND, provider="gemini-eu")
    book.play(e.OrphansFound("gemini-eu", (other,)))
    book.play(e.OrphansFound("gemini", (ORPHAN,)))
    book.play(e.OrphansFound("gemini", ()))
    assert book.state.orphans == (other,)


def test_all_are_deleted_or_the_one_that_is_named(book: Playbook) -> None:
    book.play(e.OrphansFound("gemini", (ORPHAN, SECOND)))

    everything = book.play(c.DeleteOrphanedCaches())
    one = book.play(c.DeleteOrphanedCaches("cachedContents/2"))

    assert everything == (f.DeleteContents("gemini", ("cachedContents/1", "cachedContents/2")),)
    assert one == (f.DeleteContents("gemini", ("cachedContents/2",)),)


def test_a_content_that_is_no_orphan_is_never_deleted_whoever_names_it(book: Playbook) -> None:
    book.play(e.OrphansFound("gemini", (ORPHAN,)))
    assert book.play(c.DeleteOrphanedCaches("cachedContents/foreign")) == ()


def test_what_is_deleted_is_told_no_more_and_the_rest_is(book: Playbook) -> None:
    book.play(e.OrphansFound("gemini", (ORPHAN, SECOND)))
    book.play(e.ContentsDeleted("gemini", ("cachedContents/1",)))
    assert book.state.orphans == (SECOND,)


def test_what_has_expired_is_billed_and_told_no_more(book: Playbook) -> None:
    book.play(e.OrphansFound("gemini", (ORPHAN,)))
    book.later(3599).play(e.Tick())
    assert book.state.orphans == (ORPHAN,)
    book.later(1).play(e.Tick())
    assert not book.state.orphans


def test_disabling_and_deleting_a_discussion_ends_the_rent_of_its_prefix(book: Playbook) -> None:
    chosen = book.discussion("Tides")
    book.play(c.SetModel(chosen, "gemini", "gemini-3.8-flash"))

    disabled = of(book.play(c.DisableCaching(chosen)), f.ReleaseCache)
    trashed = of(
        book.play(e.DiscussionTrashed(TrashItem(chosen, "Tides", book.at, "deleted", ""))), f.ReleaseCache
    )

    assert disabled == trashed == (f.ReleaseCache(chosen, "gemini"),)


def test_what_is_stored_and_idle_is_looked_for_while_something_is_stored(book: Playbook) -> None:
    chosen = book.discussion("Tides")
    assert not of(book.play(e.Tick()), f.ReleaseIdle)
    held = DiscussionCacheState(chosen, "gemini", START, START + timedelta(hours=1), tokens_cached=20_000)
    book.play(e.CacheReported(chosen, held))
    assert of(book.play(e.Tick()), f.ReleaseIdle)
    assert not of(book.later(3600).play(e.Tick()), f.ReleaseIdle)
