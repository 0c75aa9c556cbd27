"""The caching worker and what Gemini stores, over the real SDK and a server that stores and bills as the vendor does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.errors import ProviderError
from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.usage import Usage
from core.talk.caching.cache_file import Learned, save_learned
from core.talk.caching.caching_messages import (
    AdoptContents,
    CacheReported,
    ContentsDeleted,
    DeleteCache,
    DeleteContents,
    DropWithdrawn,
    OrphansFound,
    ReadCaches,
    TendContents,
)
from core.talk.context.stack import build_stack
from tests.core.services.providers.caching_kit import words
from tests.core.talk.caching.contents_kit import EFFORTS, FLASH, ID, INPUTS, RULES, World
from tests.vendors.billing.clock import Clock
from tests.vendors.gemini_server import KEY, GeminiServer, error_reply
from tests.vendors.loopback import Answer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    clock = Clock()
    with GeminiServer(clock=clock) as server:
        world = World(tmp_path / "home", server, clock)
        yield world
        world.clients.close()


def test_after_a_kill_what_is_stored_is_found_and_the_next_turn_reads_it(world: World) -> None:
    """The program was killed: nothing was deleted, and `cache.json` is lost as well."""
    _, made, _ = world.turn()
    (world.home / "discussions" / ID / "cache.json").unlink()
    world.start()

    world.handler.handle(AdoptContents("gemini", EFFORTS))
    (told,) = world.told(CacheReported)
    plan, report, usage = world.turn()

    assert made is not None
    assert made.stored is not None
    assert told.state is not None
    assert (told.state.tokens_cached, told.state.expires_at) == (made.stored.tokens, made.stored.expires_at)
    assert plan.read_tokens > 4000
    assert report is not None
    assert report.stored is not None
    assert report.stored.name == made.stored.name
    assert (usage.cache_read_tokens or 0) > 4000
    assert len(world.left) == 1


def test_what_belongs_to_no_discussion_is_orphaned_with_its_rent_and_nothing_is_deleted(world: World) -> None:
    gone = world.store(f"manual-slop/20260101-000000-gonegone/{1:032}")
    world.store("somebody else's")
    world.handler.handle(AdoptContents("gemini", EFFORTS))

    (found,) = world.told(OrphansFound)
    (orphan,) = found.orphans
    assert (orphan.name, orphan.discussion_id) == (gone, "20260101-000000-gonegone")
    assert orphan.tokens >= 5000
    assert orphan.usd_per_hour == pytest.approx(orphan.tokens * 0.5e-6)
    assert len(world.left) == 2


def test_deleting_orphans_leaves_what_is_foreign(world: World) -> None:
    gone = world.store(f"manual-slop/gone/{1:032}")
    foreign = world.store("somebody else's")
    world.handler.handle(AdoptContents("gemini", EFFORTS))

    world.handler.handle(DeleteContents("gemini", (gone,)))

    assert world.left == [foreign]
    assert world.told(ContentsDeleted) == [ContentsDeleted("gemini", (gone,))]


def test_what_could_not_be_deleted_is_said_and_stays_an_orphan(world: World) -> None:
    names = tuple(sorted((world.store("manual-slop/a/1"), world.store("manual-slop/b/2"))))
    world.server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))

    with pytest.raises(ProviderError, match="stored prefixes were not deleted"):
        world.handler.handle(DeleteContents("gemini", names))

    assert world.told(ContentsDeleted) == [ContentsDeleted("gemini", names[1:])]
    assert world.left == [names[0]]


def test_a_list_that_cannot_be_had_is_logged_and_no_more(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.server.is_faultable = lambda captured: captured.method == "GET"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))

    world.handler.handle(AdoptContents("gemini", EFFORTS))

    assert world.events == []
    assert "still stores" in caplog.text


def test_what_is_believed_and_not_stored_any_more_is_forgotten_at_the_start(world: World) -> None:
    world.turn()
    (name,) = world.left
    world.clients.get("gemini").caches.delete(name)  # type: ignore[attr-defined]
    world.start()
    assert world.keeper.known(ID) is not None
    world.keeper.stored_names(ID, "gemini")

    world.handler.handle(AdoptContents("gemini", EFFORTS))

    assert world.keeper.stored_names(ID, "gemini") == frozenset()
    plan, report, _ = world.turn()
    assert plan.read_tokens == 0
    assert report is not None
    assert report.is_new


def test_one_that_someone_else_deleted_costs_no_turn_and_is_shown_as_gone(world: World) -> None:
    world.turn()
    world.server.cache.stored.delete(world.left[0], owner=KEY)

    _, report, usage = world.turn()

    assert report is not None
    assert report.lost_name
    assert not usage.cache_read_tokens
    assert world.ended is not None
    assert world.ended.state is not None
    assert world.ended.state.tokens_cached == 0
    gone = "The provider could not use the stored prefix: the stored prefix was deleted or has expired."
    assert world.ended.miss_reason == gone, "not that the key may not"
    assert world.turn()[1].is_new  # type: ignore[union-attr]


def test_disabling_deletes_what_is_stored_and_says_so(world: World) -> None:
    world.turn()
    world.handler.handle(DeleteCache(ID, "gemini"))

    assert world.left == []
    (told,) = world.told(CacheReported)
    assert told.state is not None
    assert told.state.tokens_cached == 0
    assert world.keeper.stored_names(ID, "gemini") == frozenset()


def test_invalidating_deletes_also_what_was_stored_before_a_restart(world: World) -> None:
    world.turn()
    world.start()
    world.handler.handle(DeleteCache(ID, "gemini", forgets=True))
    assert world.left == []


def test_it_is_held_for_as_long_as_a_return_is_likely_enough_and_deleted_then(world: World) -> None:
    """Someone who answers within the minute: made once, held between the turns, let go long before an hour is over."""
    for _ in range(10):
        world.turn()
        world.later(50)
        world.tend()
    (name,) = world.left
    world.later(30)
    world.tend()
    assert world.left == [name]

    world.later(1200)
    world.tend()

    assert world.left == []
    world.later(7200)
    world.tend()
    world.rent_agrees()
    assert world.made == 1


def test_it_is_extended_between_turns_where_its_hold_outlives_it(world: World) -> None:
    """A turn after twenty minutes teaches that returns may take so long; the content had been asked for less."""
    for gap_s in (60, 60, 1500, 1500, 1500, 1500):
        world.turn()
        world.tend()
        world.later(gap_s)
    world.turn()
    (name,) = world.left
    before = world.expires_s(name)
    world.later(300)
    world.tend()
    patched = [one for one in world.server.requests if one.method == "PATCH"]
    assert patched
    assert world.expires_s(name) >= before
    world.later(7200)
    world.tend()
    world.rent_agrees()


def test_one_that_expired_while_no_program_ran_is_booked_at_the_next_start(world: World) -> None:
    world.turn()
    world.start()
    world.later(9999)

    world.handler.handle(ReadCaches((ID,)))
    world.rent_agrees()
    world.handler.handle(ReadCaches((ID,)))
    world.rent_agrees()


def test_one_that_the_last_turn_passed_by_is_let_go(world: World) -> None:
    """What stands before it has changed: nobody will read it again."""
    world.turn()
    (first,) = world.left
    world.later(30)
    world.turn("Why?", rules=NamedText("rules", words(6000, "others")))
    world.tend()
    assert len(world.left) == 1
    assert first not in world.left


def test_where_no_more_is_to_be_spent_nothing_is_held(world: World) -> None:
    world.turn()
    world.handler.handle(TendContents((ID,), CachingSettings(), (ID,)))
    assert world.left == []
    world.rent_agrees()


def test_one_that_somebody_else_extended_is_used_as_it_is(world: World) -> None:
    world.turn()
    (name,) = world.left
    world.server.cache.stored.patch(name, {"ttl": "86400s"}, owner=KEY)
    world.later(30)
    _, report, usage = world.turn()
    assert report is not None
    assert report.stored is not None
    assert (usage.cache_read_tokens or 0) > 4000
    assert world.left == [name]


def test_a_discussion_that_is_being_answered_is_not_idle(world: World) -> None:
    world.turn()
    inputs = StackInputs(provider="gemini", model=FLASH, system_text=RULES, user_text="Long?")
    call = CallToBuild("c9", "q9", "u9", StackSpec(ID, inputs, Preset(""), "/project"))
    profile = ModelProfile("gemini", FLASH, context_tokens=1_000_000)
    world.keeper.plan_call(call, build_stack(inputs), profile, 1.0)

    world.tend(gemini_enabled=False)

    assert len(world.left) == 1


def test_an_idle_one_that_cannot_be_deleted_is_logged_and_tried_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.turn()
    world.server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))

    world.tend(gemini_enabled=False)
    assert "was not deleted" in caplog.text
    world.later(29)
    world.tend(gemini_enabled=False)
    assert len(world.left) == 1
    world.later(1)
    world.tend(gemini_enabled=False)

    assert world.left == []


def test_what_an_invalidation_could_not_delete_is_booked_and_deleted_later(world: World) -> None:
    """Nothing of it is used any more, and the vendor bills it until it is gone."""
    world.turn()
    world.server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(500, "INTERNAL", "Internal error.")))
    with pytest.raises(ProviderError):
        world.handler.handle(DeleteCache(ID, "gemini", forgets=True))
    assert len(world.left) == 1

    world.later(600)
    world.handler.handle(TendContents((), CachingSettings()))

    assert world.left == []
    world.rent_agrees()


def test_the_end_of_the_program_deletes_what_is_stored_and_the_next_start_knows(world: World) -> None:
    world.turn()
    world.handler.release_held()
    assert world.left == []

    world.start()
    plan, report, _ = world.turn()
    assert plan.read_tokens == 0
    assert report is not None
    assert (report.lost_name, report.is_new) == ("", True)


def test_the_state_says_when_the_stored_prefix_ends_also_after_it_was_used(world: World) -> None:
    _, made, _ = world.turn()
    world.turn()
    assert made is not None
    assert made.stored is not None
    assert world.ended is not None
    assert world.ended.state is not None
    assert world.ended.state.expires_at == made.stored.expires_at
    assert replace(world.ended.state, hit_count=0).tokens_cached > 4000


@pytest.mark.breaks_prefix("the same first words are asked twice")
def test_a_digest_that_changes_is_said_beside_the_stored_prefix_which_stays(world: World) -> None:
    world.turn(digest="DIGEST-ONE")
    _, report, _ = world.turn(digest="DIGEST-TWO")

    assert report is None or not report.is_new
    assert len(world.left) == 1
    body = json.dumps(world.server.bodies[-1])
    assert "cachedContent" in body
    assert "DIGEST-TWO" in body


@pytest.mark.parametrize("is_on", [True, False])
@pytest.mark.breaks_prefix("what was taken out goes at once")
def test_a_stored_prefix_that_holds_what_was_taken_out_is_deleted_at_once(
    world: World, *, is_on: bool
) -> None:
    world.turn(digest="DIGEST-ONE")
    world.handler.handle(DropWithdrawn(0, True, {ID: "gemini"}))
    assert len(world.left) == 1

    world.handler.handle(DropWithdrawn(2 * is_on, is_on, {ID: "gemini"}))
    assert world.left == []
    assert world.told(ContentsDeleted)
    assert world.told(CacheReported)[-1].state is not None
    assert world.told(CacheReported)[-1].state.tokens_cached == 0  # type: ignore[union-attr]
    plan, _, _ = world.turn(digest="DIGEST-TWO" if is_on else "", withdrawals=2 * is_on)
    assert "DIGEST-ONE" not in json.dumps(world.server.bodies[-1])
    assert plan.read_tokens == 0


def test_a_stored_prefix_without_knowledge_stays_unless_it_holds_what_was_deleted(world: World) -> None:
    world.turn()
    world.handler.handle(DropWithdrawn(2, True, {ID: "gemini"}, frozenset({"another"})))
    assert len(world.left) == 1

    world.handler.handle(DropWithdrawn(2, True, {ID: "gemini"}, frozenset({ID})))
    assert world.left == []


def test_it_is_deleted_also_when_it_was_stored_before_a_restart(world: World) -> None:
    world.turn(digest="DIGEST-ONE")
    world.start()
    world.handler.handle(AdoptContents("gemini", {ID: ""}))
    world.handler.handle(DropWithdrawn(2, True, {ID: "gemini"}))
    assert world.left == []


def test_nothing_that_holds_it_is_pinged(world: World) -> None:
    world.turn(digest="DIGEST-ONE")
    world.handler.handle(DropWithdrawn(2, True, {ID: "gemini"}))
    assert world.keeper.due_pings(CachingSettings(keepalive=True)) == ()


def test_with_a_model_that_never_answered_nothing_is_stored_and_once_it_has_something_is(
    world: World,
) -> None:
    """One that is asked for by a name that its vendor does not serve costs no rent."""
    save_learned(world.home, Learned())
    world.start()
    call = CallToBuild("lost", "q", "u", StackSpec(ID, INPUTS, Preset(""), "/project"))
    world.keeper.plan_call(call, build_stack(INPUTS), ModelProfile("gemini", FLASH), 1.0)
    world.keeper.ended("lost", Usage())  # 404: no answer began
    first, _, _ = world.turn()
    assert first.contents is None
    assert "the program stores a prefix only after the model's first reply" in " ".join(first.sentences)

    second, _, _ = world.turn("And?")
    assert second.contents is not None
    world.start()
    assert world.turn("Again?")[0].contents is not None, "that outlives the program"
