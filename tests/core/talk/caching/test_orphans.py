"""Stored prefixes as the controller decides it: asked for once, orphans told and deleted, others never touched."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import HomeOpened
from core.kernel.values.cache import CacheOrphan, DiscussionCacheState
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.state import TrashItem
from core.kernel.values.updates import Tick
from core.services.settings.settings_messages import SettingsLoaded, StoreKey
from core.talk.caching.caching_messages import (
    AdoptContents,
    CacheReported,
    ContentsDeleted,
    DeleteCache,
    DeleteContents,
    DeleteOrphanedCaches,
    DisableCaching,
    OrphansFound,
    TendContents,
)
from core.talk.discussion.discussion_messages import ChangeDiscussion, DiscussionTrashed, SummariesLoaded
from tests.core.app.playbook import START, Playbook, of, settings_loaded

GEMINI = ProviderStatus("gemini", ProviderKind.GEMINI, "Gemini", KeySource.ENVIRONMENT)
ORPHAN = CacheOrphan(
    "gemini", "cachedContents/1", "gone", "gemini-3.8-flash", 20_000, START + timedelta(hours=1), 0.01
)
SECOND = replace(ORPHAN, name="cachedContents/2")


def loaded(status: ProviderStatus | None = GEMINI) -> SettingsLoaded:
    """Settings on disk, with Gemini's key or without."""
    found = settings_loaded()
    providers = {**found.providers, "gemini": status} if status is not None else found.providers
    return replace(found, settings_paths=("/home/person/.manual_slop/config.toml",), providers=providers)


@pytest.fixture
def book() -> Playbook:
    book = Playbook()
    book.play(HomeOpened("/home/person/.manual_slop"))
    book.play(loaded())
    book.play(SummariesLoaded((), True))
    return book


def test_what_is_stored_is_asked_for_once_when_nothing_else_is_to_be_done(book: Playbook) -> None:
    chosen = book.discussion("Tides")
    (ask,) = of(book.play(Tick()), AdoptContents)

    assert (ask.provider, dict(ask.efforts)) == ("gemini", {chosen: "auto"})
    assert not of(book.play(Tick()), AdoptContents)


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
    book.play(HomeOpened("/home/person/.manual_slop"))
    book.play(loaded(status))
    book.play(SummariesLoaded((), True))
    assert not of(book.play(Tick()), AdoptContents)


def test_nobody_is_asked_before_the_list_of_discussions_is_known() -> None:
    """With half a list everything else would look orphaned."""
    book = Playbook()
    book.play(HomeOpened("/home/person/.manual_slop"))
    book.play(loaded())
    book.play(SummariesLoaded((), False))
    assert not of(book.play(Tick()), AdoptContents)
    book.play(SummariesLoaded((), True))
    assert of(book.play(Tick()), AdoptContents)


def test_another_key_is_asked_again_and_the_olds_orphans_are_out_of_reach(book: Playbook) -> None:
    book.play(Tick())
    book.play(OrphansFound("gemini", (ORPHAN,)))
    book.play(StoreKey("gemini", "another"))
    assert not book.state.caching.orphans
    assert of(book.play(Tick()), AdoptContents)


def test_what_is_found_replaces_what_was_known_of_that_provider(book: Playbook) -> None:
    other = replace(SECOND, provider="gemini-eu")
    book.play(OrphansFound("gemini-eu", (other,)))
    book.play(OrphansFound("gemini", (ORPHAN,)))
    book.play(OrphansFound("gemini", ()))
    assert book.state.caching.orphans == (other,)


def test_all_are_deleted_or_the_one_that_is_named(book: Playbook) -> None:
    book.play(OrphansFound("gemini", (ORPHAN, SECOND)))

    everything = book.play(DeleteOrphanedCaches())
    one = book.play(DeleteOrphanedCaches("cachedContents/2"))

    assert everything == (DeleteContents("gemini", ("cachedContents/1", "cachedContents/2")),)
    assert one == (DeleteContents("gemini", ("cachedContents/2",)),)


def test_a_content_that_is_no_orphan_is_never_deleted_whoever_names_it(book: Playbook) -> None:
    book.play(OrphansFound("gemini", (ORPHAN,)))
    assert book.play(DeleteOrphanedCaches("cachedContents/foreign")) == ()


def test_what_is_deleted_is_told_no_more_and_the_rest_is(book: Playbook) -> None:
    book.play(OrphansFound("gemini", (ORPHAN, SECOND)))
    book.play(ContentsDeleted("gemini", ("cachedContents/1",)))
    assert book.state.caching.orphans == (SECOND,)


def test_what_has_expired_is_billed_and_told_no_more(book: Playbook) -> None:
    book.play(OrphansFound("gemini", (ORPHAN,)))
    book.later(3599).play(Tick())
    assert book.state.caching.orphans == (ORPHAN,)
    book.later(1).play(Tick())
    assert not book.state.caching.orphans


def test_disabling_and_deleting_a_discussion_ends_the_rent_of_its_prefix(book: Playbook) -> None:
    chosen = book.discussion("Tides")
    book.play(
        ChangeDiscussion(discussion_id=chosen, changes={"provider": "gemini", "model": "gemini-3.8-flash"})
    )

    disabled = of(book.play(DisableCaching(chosen)), DeleteCache)
    trashed = of(
        book.play(DiscussionTrashed(TrashItem(chosen, "Tides", book.at, "deleted", ""))), DeleteCache
    )

    assert disabled == trashed == (DeleteCache(chosen, "gemini"),)


def test_what_is_stored_and_idle_is_looked_for_while_something_is_stored_or_may_be(book: Playbook) -> None:
    chosen = book.discussion("Tides")
    assert not of(book.play(Tick()), TendContents)
    held = DiscussionCacheState(chosen, "gemini", START, START + timedelta(hours=1), tokens_cached=20_000)
    book.play(CacheReported(chosen, held))
    assert of(book.play(Tick()), TendContents)
    asked = of(book.later(3600).play(Tick()), TendContents)
    assert [one.discussion_ids for one in asked] == [(chosen,)]  # its rent is to be booked to its end
    book.play(CacheReported(chosen, replace(held, tokens_cached=0)))
    asked = of(book.play(Tick()), TendContents)
    assert [one.discussion_ids for one in asked] == [()], "what could not be deleted is billed on"
