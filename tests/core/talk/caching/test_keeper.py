"""The keeper of caches over real stacks: hits predicted and corrected, kept over a restart, forgotten when asked."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from msgspec.structs import replace

from core.app import home as store_home
from core.kernel import paths
from core.kernel.disk import take_lock
from core.kernel.values.cache import CachePlan, OwedRent, Rewrite, StoredRent
from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.provider import ModelProfile, ProviderKind
from core.kernel.values.records import ViewRecord
from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import DiscussionMetadata, StackInputs
from core.kernel.values.usage import Usage
from core.services.providers.blocks import WireMemo
from core.talk.caching.cache_file import HomeCacheStore
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.offers import CacheSetup, cache_prices
from core.talk.context.stack import build_stack
from core.talk.discussion import discussion_store, log
from tests.patience import PATIENCE_S

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODEL = "claude-opus-5"
PROFILE = ModelProfile("anthropic", MODEL, context_tokens=200_000, family="claude")
META = DiscussionMeta("20261120-120000-abcdef", "Sky", START, "anthropic", MODEL)
RULES = NamedText("rules", "Answer in one sentence. " * 400)


class World:
    """A home with a discussion, a clock, and keepers that come and go."""

    def __init__(self, home: Path, *, is_new: bool = True) -> None:
        self.home = home
        self.now = START
        if is_new:
            store_home.open_home(home, START)
            discussion_store.create(home, META)
        self.settings = CachingSettings()
        self.turns: tuple[Message, ...] = ()
        self.factor = 1.0
        self.counted: Callable[[], dict[str, int]] = dict
        self.keeper = self.start()
        self.count = 0

    def start(self) -> CacheKeeper:
        """A program that starts: a keeper that knows only what is on disk."""
        setup = CacheSetup(
            prices=lambda kind, provider, model, at: cache_prices(provider, kind, model, at),
            kind=lambda _provider: ProviderKind.ANTHROPIC,
            key_id=lambda _provider: "key",
            cost=lambda _provider, _model, usage: self.cost(usage),
            counted=self.counted,
            label=str.title,
        )
        self.keeper = CacheKeeper(HomeCacheStore(self.home), setup, lambda: self.now)
        return self.keeper

    @staticmethod
    def cost(usage: Usage) -> float:
        """A dollar a token, a tenth for reads."""
        return (usage.input_tokens or 0) - 0.9 * (usage.cache_read_tokens or 0)

    def spec(self, text: str, digest: str = "", **changes: object) -> StackSpec:
        inputs = StackInputs(
            provider="anthropic", model=MODEL, role_text="You help.", system_text=RULES,
            metadata=DiscussionMetadata("Sky", (), len(self.turns)), turns=self.turns, user_text=text, digest=digest,
        )  # fmt: skip
        return replace(StackSpec(META.id, inputs, Preset(""), "/project", caching=self.settings), **changes)  # type: ignore[arg-type]

    def turn(self, number: int, text: str = "When?") -> tuple[Message, Message]:
        """A question and its reply."""
        return (
            Message(f"u{number}", self.now, Role.USER, (TextPart(text),)),
            Message(f"r{number}", self.now, Role.ASSISTANT, (TextPart("Soon."),)),
        )

    def said(self, count: int) -> tuple[Message, ...]:
        """The messages of so many turns."""
        return tuple(message for number in range(1, count + 1) for message in self.turn(number))

    def call(
        self, text: str = "When?", *, read: int | None = None, digest: str = "", **changes: object
    ) -> CachePlan:
        """Plan a call, let it answer as planned (or with another read), and go on a minute."""
        self.count += 1
        spec = self.spec(text, digest, **changes)
        effect = CallToBuild(f"c{self.count}", f"q{self.count}", f"u{self.count}", spec)
        planned = self.keeper.plan_call(effect, build_stack(spec.inputs), PROFILE, self.factor)
        plan = planned.plan
        log.append(self.home, META.id, planned.records)
        reads = plan.read_tokens if read is None else read
        usage = Usage(
            input_tokens=plan.read_tokens + plan.write_tokens + plan.fresh_tokens,
            cache_read_tokens=reads,
            cache_write_tokens=plan.write_tokens,
        )
        self.report = self.keeper.ended(effect.call_id, usage)
        self.turns = (*self.turns, *self.turn(self.count, text))
        self.now += timedelta(minutes=1)
        return plan


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads interrupt each other everywhere."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


def test_the_first_call_writes_and_the_second_is_expected_to_read_it(world: World) -> None:
    first = world.call()
    second = world.call()

    assert first.marks
    assert (first.read_tokens, first.write_tokens > 0) == (0, True)
    assert second.read_tokens >= 0.9 * first.write_tokens


def test_the_state_tells_hits_tokens_and_when_it_ends(world: World) -> None:
    world.call()
    world.call()

    assert world.report is not None
    state = world.report.state
    assert state is not None
    assert (state.provider, state.hit_count) == ("anthropic", 1)
    assert state.tokens_cached > 0
    assert state.expires_at is not None
    assert state.expires_at > world.now


def test_money_saved_is_what_the_same_calls_would_have_cost_without_a_cache(world: World) -> None:
    world.call()
    plan = world.call()
    assert world.report is not None
    assert world.report.totals.saved_usd == pytest.approx(0.9 * plan.read_tokens)


def test_after_a_restart_what_the_provider_holds_is_still_known(world: World) -> None:
    first = world.call()
    world.start()
    assert world.call().read_tokens >= 0.9 * first.write_tokens


def test_what_was_learned_of_a_model_outlives_the_discussion_and_the_program(world: World) -> None:
    """An hour was marked behind a hit that lived five minutes; half an hour later nothing of it was read."""
    for _ in range(60):
        if world.call().marks[-1].ttl_s == 3600:
            break
        world.now += timedelta(minutes=2)
    world.now += timedelta(minutes=30)
    missed = world.call(read=0)
    assert missed.tests_extension
    (seen,) = world.keeper.lost_extensions()
    assert (seen.provider, seen.model, seen.lost, seen.discussion_id) == ("anthropic", MODEL, 1, META.id)
    assert (seen.at, seen.read_tokens) == (world.now - timedelta(minutes=1), 0)
    assert seen.expected_tokens == missed.read_tokens

    shutil.rmtree(paths.discussion_dir(world.home, META.id))
    assert world.start().lost_extensions() == (seen,)


def test_when_the_provider_reads_nothing_it_is_right_and_the_reason_is_kept(world: World) -> None:
    world.call()
    world.call(read=0)

    assert world.report is not None
    assert "0 tokens" in world.report.miss_reason


@pytest.mark.parametrize("attempt", range(5))
def test_of_calls_that_come_at_once_one_writes_and_the_others_wait_until_it_answers(
    world: World, quick_switches: None, attempt: int
) -> None:
    """Each in a discussion of its own, planned on a thread of its own, as the program does."""
    metas = [replace(META, id=f"20261120-13000{n}-abcdef") for n in range(4)]
    for meta in metas:
        discussion_store.create(world.home, meta)
    planned: SimpleQueue[tuple[str, CachePlan]] = SimpleQueue()
    together = threading.Barrier(len(metas))

    def call(meta: DiscussionMeta) -> None:
        spec = replace(world.spec("When?"), discussion_id=meta.id)
        effect = CallToBuild(f"c{meta.id}", "q", "u", spec)
        together.wait(PATIENCE_S)
        found = world.keeper.plan_call(effect, build_stack(spec.inputs), PROFILE, 1.0)
        planned.put((effect.call_id, found.plan))

    threads = [threading.Thread(target=call, args=(meta,)) for meta in metas]
    for thread in threads:
        thread.start()
    call_id, first = planned.get(timeout=PATIENCE_S)
    assert planned.empty()
    world.keeper.begun(call_id)
    others = [planned.get(timeout=PATIENCE_S)[1] for _ in metas[1:]]
    for thread in threads:
        thread.join(PATIENCE_S)

    assert (first.read_tokens, first.write_tokens > 1000) == (0, True)
    assert [plan.read_tokens > 0.9 * first.write_tokens for plan in others] == [True] * 3


def test_a_call_that_failed_before_it_answered_holds_nobody_up(world: World) -> None:
    spec = world.spec("When?")
    world.keeper.plan_call(CallToBuild("c0", "q", "u", spec), build_stack(spec.inputs), PROFILE, 1.0)
    world.keeper.ended("c0", Usage())

    assert world.call().read_tokens == 0


def test_an_expired_entry_is_not_counted_on(world: World) -> None:
    world.call()
    world.now += timedelta(hours=3)
    assert world.call().read_tokens == 0


def test_after_invalidate_the_next_call_reads_nothing_and_the_one_after_hits(world: World) -> None:
    world.call()
    state = world.keeper.forget(META.id)
    assert state is not None
    assert (state.tokens_cached, state.last_invalidated_at) == (0, world.now)

    assert world.call().read_tokens == 0
    assert world.call().read_tokens > 0


def test_a_discussion_that_may_not_cache_sends_no_mark(world: World) -> None:
    plan = world.call(caching_enabled=False)
    assert not plan.is_enabled
    assert plan.marks == ()


def test_the_global_switch_turns_anthropics_marks_off(world: World) -> None:
    world.settings = CachingSettings(anthropic_enabled=False)
    assert world.call().marks == ()


def test_a_preview_decides_nothing_and_takes_over_what_the_last_one_laid_out(world: World) -> None:
    spec = world.spec("When?")
    stack = build_stack(spec.inputs)
    first, again = (world.keeper.preview(spec, stack, PROFILE, 1.0) for _ in range(2))
    assert (again, again.request.messages[0] is first.request.messages[0]) == (first, True)
    assert world.keeper.known(META.id) is None


def test_plans_of_discussions_that_were_left_are_given_back_and_made_alike(world: World) -> None:
    spec = world.spec("When?")
    stack = build_stack(spec.inputs)
    first = world.keeper.preview(spec, stack, PROFILE, 1.0)
    before = sum(isinstance(one, WireMemo) and bool(one.parts) for one in gc.get_objects())
    for number in range(40):
        meta = replace(META, id=f"20261120-1300{number:02}-abcdef")
        discussion_store.create(world.home, meta)
        world.keeper.preview(replace(spec, discussion_id=meta.id), stack, PROFILE, 1.0)

    after = sum(isinstance(one, WireMemo) and bool(one.parts) for one in gc.get_objects())
    assert after - before < 12 * before
    again = world.keeper.preview(spec, stack, PROFILE, 1.0)
    assert (again, again.request.messages[0] is first.request.messages[0]) == (first, False)


def test_what_the_model_sees_can_be_rebuilt_from_the_log(world: World) -> None:
    world.call()
    kinds = [r.kind for r in log.read(world.home, META.id).records if isinstance(r, ViewRecord)]
    assert kinds == ["base"]


def test_a_torn_cache_file_costs_a_miss_and_no_turn(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.call()
    path = world.home / "discussions" / META.id / "cache.json"
    path.write_bytes(path.read_bytes()[:50])
    world.start()

    assert world.call().read_tokens == 0
    assert "dropped" in caplog.text


def test_a_ping_is_due_before_the_entry_ends_and_ends_behind_it(world: World) -> None:
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    for _ in range(6):
        world.call()
    assert world.keeper.due_pings(world.settings) == ()

    world.now += timedelta(minutes=3, seconds=50)
    (ping,) = world.keeper.due_pings(world.settings)
    assert (ping.discussion_id, ping.provider) == (META.id, "anthropic")
    assert ping.request.cache is not None
    assert ping.request.cache.marks[-1].after_key == ping.idle.after_key


def test_a_discussion_whose_caching_is_off_is_not_pinged(world: World) -> None:
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    for _ in range(6):
        world.call()
    world.now += timedelta(minutes=3, seconds=50)

    assert world.keeper.due_pings(world.settings, (META.id,)) == ()
    assert len(world.keeper.due_pings(world.settings, ("another",))) == 1


def test_a_ping_that_read_nothing_is_the_last(world: World) -> None:
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    for _ in range(6):
        world.call()
    world.now += timedelta(minutes=3, seconds=50)
    (ping,) = world.keeper.due_pings(world.settings)

    world.keeper.pinged(ping, Usage(input_tokens=100, cache_read_tokens=0))

    world.now += timedelta(minutes=4)
    assert world.keeper.due_pings(world.settings) == ()


def _beside(world: World) -> CacheKeeper:
    """A window whose ping would soon be due, and a command's turn in the same discussion since. Returns the window's keeper."""
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    window = world.keeper
    for _ in range(6):
        world.call()
    world.start()
    world.call("And by the command?")
    return window


def test_a_turn_that_a_command_went_on_with_is_not_pinged_as_it_was_before(world: World) -> None:
    window = _beside(world)
    world.now += timedelta(minutes=2, seconds=50)

    assert window.due_pings(world.settings) == ()
    state, known = window.known(META.id), world.keeper.known(META.id)
    assert state is not None
    assert known is not None
    assert state.expires_at == known.expires_at


def test_what_a_command_kept_is_known_also_while_it_is_taken_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the file and its reading, the window's older page passed for what the file holds."""
    window = _beside(world)
    expected = world.keeper.known(META.id)
    views, told = HomeCacheStore.views, []

    def read_beside(store: HomeCacheStore, discussion_id: str) -> tuple[ViewRecord, ...]:
        told.append(window.known(META.id))
        return views(store, discussion_id)

    monkeypatch.setattr(HomeCacheStore, "views", read_beside)
    window.stored_names(META.id, "anthropic")  # takes it up

    assert told == [expected]
    assert window.known(META.id) == expected


def test_a_ping_under_way_while_a_command_took_a_turn_does_not_write_over_what_that_one_kept(
    world: World,
) -> None:
    """The window wrote its older state over the command's, and planned its next turn without that one's."""
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    window = world.keeper
    for _ in range(6):
        world.call()
    world.now += timedelta(minutes=3, seconds=50)
    (ping,) = window.due_pings(world.settings)
    command = world.start()
    world.call("And by the command?")
    held = HomeCacheStore(world.home).load(META.id)

    window.pinged(ping, Usage(input_tokens=ping.idle.tokens, cache_read_tokens=ping.idle.tokens))

    left = HomeCacheStore(world.home).load(META.id)
    assert (left.state, left.sent, left.turns) == (held.state, held.sent, held.turns)
    expected = command.known(META.id)
    world.keeper = window
    plan = world.call("And by the window?")
    assert expected is not None
    assert plan.read_tokens >= expected.tokens_cached


def test_a_turn_of_a_command_between_the_look_and_the_write_is_taken_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    window, held = world.keeper, HomeCacheStore.held
    for _ in range(6):
        world.call()
    world.now += timedelta(minutes=3, seconds=50)
    (ping,) = window.due_pings(world.settings)

    def late(store: HomeCacheStore, discussion_id: str) -> AbstractContextManager[None]:
        monkeypatch.setattr(HomeCacheStore, "held", held)
        world.start()
        world.call("And by the command?")
        return held(store, discussion_id)

    monkeypatch.setattr(HomeCacheStore, "held", late)
    window.pinged(ping, Usage(input_tokens=ping.idle.tokens, cache_read_tokens=ping.idle.tokens))

    left = HomeCacheStore(world.home).load(META.id)
    assert (left.turns, left.state) == (7, world.keeper.known(META.id))


@pytest.mark.parametrize("begins", [False, True])
def test_what_another_program_owes_or_invalidated_during_a_turn_of_ours_stays(
    world: World, begins: bool
) -> None:
    """Our turn's own save wrote over it: at the begin of the answer, and at its end."""
    world.call()
    store, spec = HomeCacheStore(world.home), world.spec("And now?")
    planned = world.keeper.plan_call(CallToBuild("c", "q", "u", spec), build_stack(spec.inputs), PROFILE, 1.0)
    owed = OwedRent(record_id="rent", at=START, cost_usd=0.5)
    store.save(META.id, replace(store.load(META.id), owed=(owed,), epoch=3))
    if begins:
        world.keeper.begun("c")
    sent = planned.plan.read_tokens + planned.plan.write_tokens + planned.plan.fresh_tokens
    world.keeper.ended("c", Usage(input_tokens=sent, cache_read_tokens=planned.plan.read_tokens))

    left = store.load(META.id)
    assert (left.turns, left.owed, left.epoch) == (2, (owed,), 3)
    assert left.state == world.keeper.known(META.id)


@pytest.mark.parametrize("begins", [False, True])
def test_a_lifetime_that_the_window_renewed_during_a_turn_of_a_command_is_taken_up(
    world: World, begins: bool
) -> None:
    """The turn's own save wrote the older end over it: the next program thought the prefix cold while it was warm."""
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    window = world.keeper
    for _ in range(6):
        world.call()
    world.now += timedelta(minutes=3, seconds=50)
    (ping,) = window.due_pings(world.settings)
    command = world.start()
    world.now -= timedelta(seconds=50)
    spec = world.spec("And by the command?")
    planned = command.plan_call(CallToBuild("c", "q", "u", spec), build_stack(spec.inputs), PROFILE, 1.0)
    if begins:
        command.begun("c")
    window.pinged(ping, Usage(input_tokens=ping.idle.tokens, cache_read_tokens=ping.idle.tokens))
    sent = planned.plan.read_tokens + planned.plan.write_tokens + planned.plan.fresh_tokens
    command.ended("c", Usage(input_tokens=sent, cache_read_tokens=planned.plan.read_tokens))

    (entries,) = HomeCacheStore(world.home).load(META.id).ledger.entries.values()
    assert entries[ping.idle.prefix_hash].expires_at == ping.started_at + timedelta(minutes=5)


def test_rent_that_another_program_booked_during_a_turn_of_ours_is_not_booked_again(world: World) -> None:
    world.call()
    store, spec = HomeCacheStore(world.home), world.spec("And now?")
    row = StoredRent(
        provider="gemini",
        model="m",
        name="contents/1",
        tokens=9_000,
        paid_until=START,
        expires_at=START + timedelta(hours=1),
    )
    store.save(META.id, replace(store.load(META.id), rents=(row,)))
    world.keeper = world.start()
    world.keeper.plan_call(CallToBuild("c", "q", "u", spec), build_stack(spec.inputs), PROFILE, 1.0)
    longer = replace(row, paid_until=START + timedelta(minutes=9), expires_at=START + timedelta(hours=2))
    store.save(META.id, replace(store.load(META.id), rents=(longer,)))
    world.keeper.begun("c")

    assert store.load(META.id).rents == (longer,)


def test_no_other_program_writes_from_the_look_until_the_file_is_marked_as_ours(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a write between saving and marking would pass for ours, and its turn be forgotten."""
    world.call()
    seen: list[tuple[str, bool]] = []

    def watched(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def look(*given: Any) -> Any:
            free = take_lock(paths.discussion_dir(world.home, META.id) / paths.LOCK_FILE)
            seen.append((name, free is None))
            if free is not None:
                free.release()
            return inner(*given)

        return look

    for name in ("mark", "save"):
        monkeypatch.setattr(HomeCacheStore, name, watched(name, getattr(HomeCacheStore, name)))
    world.keeper.forget(META.id)

    written = seen.index(("save", True))
    assert [is_held for _, is_held in seen[written - 1 :]] == [True, True, True]
    assert [name for name, _ in seen[written - 1 :]] == ["mark", "save", "mark"]


def test_tokens_are_counted_anew_when_the_models_factor_has_moved(world: World) -> None:
    def total(plan: CachePlan) -> int:
        return plan.read_tokens + plan.write_tokens + plan.fresh_tokens

    before = total(world.call())
    world.factor = 1.5
    after = total(world.call())

    assert after > 1.4 * before
    assert world.report is not None
    assert not world.report.miss_reason


def test_a_miss_names_the_provider_as_the_person_knows_it(world: World) -> None:
    world.call()
    world.call(read=0)

    assert world.report is not None
    assert world.report.miss_reason.startswith("Anthropic read 0 tokens")


def test_without_keepalive_nothing_is_pinged(world: World) -> None:
    for _ in range(6):
        world.call()
    world.now += timedelta(minutes=3, seconds=50)
    assert world.keeper.due_pings(world.settings) == ()


def test_what_was_prewarmed_is_expected_to_be_read(world: World) -> None:
    spec = world.spec("")
    request = world.keeper.prewarm_request(spec, build_stack(spec.inputs), PROFILE, 1.0)
    assert request is not None
    assert request.cache is not None
    assert request.cache.marks
    world.keeper.prewarmed(META.id)
    assert world.call().read_tokens > 0


def rewritten(world: World, digest: str, withdrawals: int = 0) -> Rewrite | None:
    """What another digest would have the next turn send anew."""
    stack = build_stack(StackInputs(digest=digest, withdrawals=withdrawals))
    return world.keeper.rewrite(world.spec("?"), stack, PROFILE, 1.0).due


DIGEST, OTHER = "Tides are M2. " * 300, "Tides are S2. " * 300


def test_another_digest_is_said_to_join_the_next_message(world: World) -> None:
    plan = world.call(digest=DIGEST)
    found = rewritten(world, OTHER)

    assert rewritten(world, DIGEST) is None
    assert found is not None
    assert (found.why, found.is_appended) == ("the digest changed", True)
    assert found.tokens < 0.5 * plan.write_tokens


def test_what_was_taken_out_is_said_to_rewrite_what_the_last_request_had_cached(world: World) -> None:
    plan = world.call(digest=DIGEST)
    found = rewritten(world, OTHER, withdrawals=1)

    assert rewritten(world, DIGEST, withdrawals=1) is None
    assert found is not None
    assert (found.why, found.is_appended) == ("a part of your knowledge was removed", False)
    assert found.tokens == pytest.approx(plan.write_tokens, rel=0.01)
    assert found.cost_usd is not None
    assert world.report is not None
    assert world.report.state is not None
    assert found.until == world.report.state.expires_at


def test_what_was_sent_is_still_known_after_a_restart(world: World) -> None:
    world.call(digest=DIGEST)
    before = rewritten(world, OTHER)
    world.start()
    assert before is not None
    assert rewritten(world, OTHER) == before


def test_a_cold_or_invalidated_discussion_has_nothing_to_rewrite(world: World) -> None:
    world.call(digest=DIGEST)
    world.now += timedelta(hours=3)
    assert rewritten(world, OTHER) is None
    world.call(digest=DIGEST)
    world.keeper.forget(META.id)
    assert rewritten(world, OTHER) is None


def test_sending_again_settles_it(world: World) -> None:
    world.call(digest=DIGEST)
    world.call(digest=OTHER)
    assert rewritten(world, OTHER) is None
    assert rewritten(world, DIGEST) is not None


def test_a_digest_that_changes_while_the_answer_comes_is_not_taken_for_sent(world: World) -> None:
    """The request went out with the old digest; it ends after the new one was made."""
    world.call(digest=DIGEST)
    spec = world.spec("And?", DIGEST)
    effect = CallToBuild("c9", "q9", "u9", spec)
    plan = world.keeper.plan_call(effect, build_stack(spec.inputs), PROFILE, 1.0).plan
    during = rewritten(world, OTHER)
    world.keeper.ended(
        "c9", Usage(input_tokens=9000, cache_read_tokens=plan.read_tokens, cache_write_tokens=1)
    )

    assert during is not None
    assert rewritten(world, OTHER) is not None


def test_a_call_that_failed_before_it_was_answered_sent_nothing(world: World) -> None:
    world.call(digest=DIGEST)
    spec = world.spec("And?", OTHER)
    effect = CallToBuild("c9", "q9", "u9", spec)
    world.keeper.plan_call(effect, build_stack(spec.inputs), PROFILE, 1.0)
    world.keeper.ended("c9", Usage())
    assert rewritten(world, DIGEST) is None
    assert rewritten(world, OTHER) is not None


def test_what_was_prewarmed_cold_is_what_was_sent(world: World) -> None:
    world.call(digest=DIGEST)
    world.now += timedelta(hours=3)
    spec = world.spec("", OTHER)
    world.keeper.prewarm_request(spec, build_stack(spec.inputs), PROFILE, 1.0)
    world.keeper.prewarmed(META.id)
    assert world.call(digest=OTHER).read_tokens > 0
    assert rewritten(world, OTHER) is None


def test_a_prewarming_reads_what_is_warm_and_leaves_the_change_to_the_message(world: World) -> None:
    world.call(digest=DIGEST)
    spec = world.spec("", OTHER)
    request = world.keeper.prewarm_request(spec, build_stack(spec.inputs), PROFILE, 1.0)
    assert request is not None
    world.keeper.prewarmed(META.id)

    assert request.cache is not None
    assert request.cache.read_tokens > 0
    found = rewritten(world, OTHER)
    assert found is not None
    assert found.is_appended


def test_a_prewarming_carries_nothing_that_was_taken_out(world: World) -> None:
    world.call(digest=DIGEST)
    spec = world.spec("", OTHER)
    stack = build_stack(replace(spec.inputs, withdrawals=1))
    assert "M2" not in str(world.keeper.prewarm_request(spec, stack, PROFILE, 1.0))


def test_recalling_a_cache_reads_no_log(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.call()
    world.start()
    monkeypatch.setattr(HomeCacheStore, "views", lambda _self, _id: pytest.fail("read the log"))
    assert world.keeper.known(META.id) is not None


def test_who_may_hold_what_was_taken_out_is_known_also_before_it_is_used_again(world: World) -> None:
    world.call(digest=DIGEST)
    assert world.keeper.withdrawn(0, (META.id,), is_on=True) == ()
    assert world.keeper.withdrawn(2, (), is_on=True) == (META.id,)
    world.start()
    assert world.keeper.withdrawn(2, (), is_on=True) == ()
    assert world.keeper.withdrawn(2, (META.id,), is_on=True) == (META.id,)
    assert world.keeper.withdrawn(0, (META.id,), is_on=False) == (META.id,)


def test_what_was_taken_out_is_pinged_no_more(world: World) -> None:
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    for _ in range(6):
        world.call(digest=DIGEST)
    world.now += timedelta(minutes=3, seconds=50)
    assert world.keeper.due_pings(world.settings)
    world.keeper.withdrawn(2, (), is_on=True)
    assert world.keeper.due_pings(world.settings) == ()


def test_plans_are_compared_by_the_same_counts_when_a_text_is_counted_in_between(world: World) -> None:
    """The canonical plan of the first turn knew sizes alone; what it remembers must not look cheap later."""
    counted: dict[str, int] = {}
    world.counted = lambda: counted
    world.start()
    spec = world.spec("When?", DIGEST)
    world.call(digest=DIGEST)
    counted.update({one.sha256: 2 * len(one.text) for one in build_stack(spec.inputs).segments})
    world.call(digest=DIGEST)
    plan = world.call(digest=OTHER)
    assert plan.read_tokens > 0
    assert plan.sentences[0].startswith("The cache is warm")
