"""Warm discussions that a change of knowledge will rewrite: looked at when it changes, told once, over when sent."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import DismissNotice, HomeOpened
from core.kernel.errors import FailureKind
from core.kernel.language import english
from core.kernel.values.agent import AgentTurn
from core.kernel.values.cache import DiscussionCacheState, Rewrite
from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.knowledge import DigestSwitch, KnowledgeState
from core.kernel.values.provider import Failure, KeySource, ProviderKind, ProviderStatus
from core.kernel.values.settings import Project
from core.kernel.values.state import Level, Notice
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Usage
from core.knowledge.knowledge_messages import KnowledgeRead
from core.talk.caching.caching_messages import (
    CacheReported,
    CheckRewrites,
    DropWithdrawn,
    ReadCaches,
    RewritesChecked,
)
from core.talk.caching.rewrites import rewrite_effects, withdrawal_text
from core.talk.discussion.discussion_messages import AppendRecords, ChangeDiscussion, SummariesLoaded
from core.talk.turn.turn_messages import CallFailed
from tests.core.app.playbook import START, Playbook, of, settings_loaded

KNOWN = KnowledgeState(digest="Tides are M2.", switch=DigestSwitch.ON)


@pytest.fixture
def book() -> Playbook:
    """A home with settings on disk and a warm discussion called Tides."""
    book = Playbook().ready()
    project = Project(root="/project", name="project", presets={"code": Preset("code")})
    book.play(replace(settings_loaded(project), settings_paths=("/home/person/.manual_slop/config.toml",)))
    book.chosen = book.discussion("Tides")  # type: ignore[attr-defined]
    return book


def chosen(book: Playbook) -> str:
    return book.chosen  # type: ignore[attr-defined,no-any-return]


def cache(discussion_id: str, **changes: object) -> DiscussionCacheState:
    warm = DiscussionCacheState(discussion_id, "anthropic", START, START + timedelta(minutes=5))
    return replace(warm, tokens_cached=12_000, **changes)  # type: ignore[arg-type]


def warm(book: Playbook, discussion_id: str = "", **changes: object) -> tuple[CheckRewrites, ...]:
    name = discussion_id or chosen(book)
    return of(book.play(CacheReported(name, cache(name, **changes))), CheckRewrites)


def due(book: Playbook, discussion_id: str = "", **changes: object) -> Rewrite:
    until = START + timedelta(minutes=5)
    found = Rewrite(discussion_id or chosen(book), "the digest changed", 12_300, 0.0414, until)
    return replace(found, **changes)  # type: ignore[arg-type]


def tell(book: Playbook, *found: Rewrite) -> None:
    ids = tuple(one.discussion_id for one in found) or (chosen(book),)
    book.play(RewritesChecked(ids, found))


def notice(book: Playbook) -> Notice | None:
    return next((n for n in book.state.program.notices if n.id == "rewrites"), None)


def test_a_change_of_knowledge_looks_at_every_warm_discussion(book: Playbook) -> None:
    warm(book)
    (look,) = of(book.play(KnowledgeRead(KNOWN)), CheckRewrites)
    assert [spec.discussion_id for spec in look.specs] == [chosen(book)]


def test_the_same_knowledge_again_looks_at_nothing(book: Playbook) -> None:
    warm(book)
    book.play(KnowledgeRead(KNOWN))
    assert not of(book.play(KnowledgeRead(replace(KNOWN))), CheckRewrites)
    assert not of(book.play(Tick()), CheckRewrites)


@pytest.mark.parametrize("changes", [{"expires_at": START}, {"tokens_cached": 0}])
def test_a_cold_discussion_is_not_looked_at(book: Playbook, changes: dict[str, object]) -> None:
    name = chosen(book)
    book.play(CacheReported(name, replace(cache(name), **changes)))  # type: ignore[arg-type]
    assert not of(book.play(KnowledgeRead(KNOWN)), CheckRewrites)


def test_a_call_that_ended_has_only_its_own_discussion_looked_at(book: Playbook) -> None:
    other = book.discussion("Currents")
    warm(book, other)
    (look,) = warm(book)
    assert [spec.discussion_id for spec in look.specs] == [chosen(book)]


def test_while_a_turn_is_at_work_nothing_is_looked_at_and_its_end_makes_up_for_it(book: Playbook) -> None:
    name = chosen(book)
    warm(book)
    at_rest = book.state
    working = replace(at_rest, agent=replace(at_rest.agent, turns={name: AgentTurn(name, "m1")}))
    learned = replace(working, knowledge=KNOWN)
    assert not rewrite_effects(working, learned)

    (look,) = rewrite_effects(learned, replace(learned, agent=at_rest.agent))
    assert [spec.discussion_id for spec in look.specs] == [name]


def test_another_preset_has_its_discussion_looked_at(book: Playbook) -> None:
    warm(book)
    (look,) = of(
        book.play(ChangeDiscussion(discussion_id=chosen(book), changes={"preset": "code"})), CheckRewrites
    )
    assert look.specs[0].preset.name == "code"


def test_it_is_said_by_name_tokens_cost_and_reason(book: Playbook) -> None:
    warm(book)
    tell(book, due(book))

    assert book.state.caching.rewrites == {chosen(book): due(book)}
    said = notice(book)
    assert said is not None
    assert said.level is Level.WARNING
    assert said.text == "The next turn rewrites the cache: «Tides», ~12,300 tokens, est. $0.04"
    assert said.detail == "The digest changed."


@pytest.mark.usefixtures("german")
def test_it_is_said_in_the_persons_language_and_known_in_english(book: Playbook) -> None:
    names = [chosen(book), book.discussion("Currents")]
    for name in names:
        warm(book, name)
    tell(book, *(due(book, name) for name in names))

    said = notice(book)
    assert said is not None
    assert "The next turn rewrites" not in said.text
    assert (
        english(said.text)
        == "The next turn rewrites the cache: «Tides», «Currents», ~24,600 tokens, est. $0.08"
    )
    assert english(said.detail) == "The digest changed. The Caching panel lists each discussion."


def test_a_price_that_rests_on_an_entry_nobody_read_is_said_with_the_most_it_may_be(book: Playbook) -> None:
    warm(book)
    tell(book, due(book, cost_usd=0.0008, most_usd=0.2134))
    said = notice(book)
    assert said is not None
    assert "under 1 cent, up to $0.21 if the provider kept less" in said.text


def test_many_are_one_notice_with_the_sum(book: Playbook) -> None:
    names = [chosen(book), *(book.discussion(name) for name in ("Currents", "Moon", "Sun"))]
    for name in names:
        warm(book, name)
    tell(book, *(due(book, name, tokens=1000 * (9 - n), cost_usd=0.1) for n, name in enumerate(names)))

    said = notice(book)
    assert said is not None
    assert said.text.startswith("The next turn rewrites the cache: «Tides», «Currents», «Moon» and 1 more, ")
    assert said.text.endswith("~30,000 tokens, est. $0.40")
    assert said.detail == "The digest changed. The Caching panel lists each discussion."


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ((None,), "cost unknown"),
        ((0.0, 0.04), "est. $0.04"),
        ((0.001,), "under 1 cent"),
        ((0.5, None), "est. $0.50, plus more at an unknown price"),
    ],
)
def test_an_unknown_price_is_never_nought(
    book: Playbook, costs: tuple[float | None, ...], words: str
) -> None:
    names = [chosen(book), book.discussion("Currents")][: len(costs)]
    for name in names:
        warm(book, name)
    tell(book, *(due(book, name, cost_usd=usd) for name, usd in zip(names, costs, strict=True)))
    said = notice(book)
    assert said is not None
    assert said.text.endswith(f"tokens, {words}")


@pytest.mark.parametrize("is_appended", [False, True])
def test_what_costs_nothing_is_no_warning_and_stays_out_of_one(book: Playbook, *, is_appended: bool) -> None:
    """A model on this machine rewrites for nothing: the notice warned of «free»."""
    free = due(book, cost_usd=0.0, is_appended=is_appended)
    warm(book)
    tell(book, free)
    assert book.state.caching.rewrites == {chosen(book): free}
    assert notice(book) is None
    book.play(RewritesChecked((chosen(book),), (), (free,)))
    assert withdrawal_text(book.state) == ""

    other = book.discussion("Moon")
    warm(book, other)
    tell(book, free, due(book, other))
    said = notice(book)
    assert said is not None
    assert said.text == "The next turn rewrites the cache: «Moon», ~12,300 tokens, est. $0.04"


def test_when_the_layer_is_what_it_was_nothing_is_said_any_more(book: Playbook) -> None:
    warm(book)
    tell(book, due(book))
    tell(book)
    assert not book.state.caching.rewrites
    assert notice(book) is None


def test_when_it_is_cold_nothing_is_lost_any_more(book: Playbook) -> None:
    warm(book)
    tell(book, due(book))
    book.later(301).play(Tick())
    assert not book.state.caching.rewrites
    assert notice(book) is None


def test_while_it_is_answered_and_after_it_is_not_due(book: Playbook) -> None:
    warm(book)
    tell(book, due(book))
    call = book.ask(chosen(book), "When?")
    book.play(Tick())
    assert not book.state.caching.rewrites
    book.answer(call, "Soon.")
    assert warm(book, hit_count=1)


def test_a_call_that_sent_nothing_has_its_discussion_looked_at_again(book: Playbook) -> None:
    """It failed before anything went out: what was due still is."""
    warm(book)
    tell(book, due(book))
    call = book.ask(chosen(book), "When?")
    book.play(Tick())
    failure = Failure(FailureKind.NO_NETWORK, "No network", "Press Retry.")
    (write,) = of(book.play(CallFailed(call.call_id, failure, (), Usage())), AppendRecords)
    assert of(book.append(write), CheckRewrites)


def test_what_is_in_the_trash_is_not_rewritten(book: Playbook) -> None:
    warm(book)
    tell(book, due(book))
    rows = {k: v for k, v in book.state.discussions.summaries.items() if k != chosen(book)}
    book.state = replace(book.state, discussions=replace(book.state.discussions, summaries=rows))
    book.play(Tick())
    assert notice(book) is None


def test_a_notice_that_was_read_comes_back_only_for_something_new(book: Playbook) -> None:
    other = book.discussion("Currents")
    for name in (chosen(book), other):
        warm(book, name)
    tell(book, due(book), due(book, other))
    book.play(DismissNotice("rewrites"))

    book.play(RewritesChecked((other,)))
    assert notice(book) is None
    tell(book, due(book, other, why="knowledge is off"))
    assert notice(book) is not None


def test_a_start_recalls_the_caches_of_what_may_still_be_warm(book: Playbook) -> None:
    row = book.state.discussions.summaries[chosen(book)]
    near = replace(row, meta=replace(row.meta, id="20261120-110000-aaaaaa"), turns=3)
    old = replace(near, meta=replace(row.meta, id="20261118-110000-bbbbbb"))
    rows: tuple[DiscussionSummary, ...] = (
        replace(near, updated_at=START - timedelta(hours=1)),
        replace(old, updated_at=START - timedelta(days=2)),
    )
    fresh = Playbook()
    fresh.play(HomeOpened("/home/person/.manual_slop"))
    read = of(fresh.play(SummariesLoaded(rows, True)), ReadCaches)
    assert [effect.discussion_ids for effect in read] == [("20261120-110000-aaaaaa",)]


def test_a_start_recalls_what_may_owe_rent_since_a_kill_however_long_ago(book: Playbook) -> None:
    """A kill left a stored prefix; the program came back the next day, and its rent was booked when somebody opened it."""
    row = replace(book.state.discussions.summaries[chosen(book)], turns=3)
    long_ago = START - timedelta(days=9)
    rows = tuple(
        replace(row, meta=replace(row.meta, id=f"20261101-110000-{name}", provider=name), updated_at=long_ago)
        for name in ("gemini", "anthropic")
    )
    fresh = Playbook()
    fresh.play(HomeOpened("/home/person/.manual_slop"))
    loaded = settings_loaded()
    gemini = ProviderStatus("gemini", ProviderKind.GEMINI, "Gemini", KeySource.ENVIRONMENT)
    fresh.play(replace(loaded, providers={**loaded.providers, "gemini": gemini}))

    read = of(fresh.play(SummariesLoaded(rows, True)), ReadCaches)

    assert [effect.discussion_ids for effect in read] == [("20261101-110000-gemini",)]


def test_a_change_that_joins_the_next_message_says_so_with_its_price(book: Playbook) -> None:
    warm(book)
    tell(book, due(book, tokens=135, cost_usd=0.0002, is_appended=True))
    found = notice(book)
    assert found is not None
    assert found.level is Level.INFO
    assert found.text == "The next message carries this change: «Tides», ~135 tokens, under 1 cent"


def test_rewrites_are_said_before_what_joins_a_message(book: Playbook) -> None:
    warm(book)
    other = book.discussion("Moon")
    warm(book, other)
    tell(book, due(book, tokens=135, is_appended=True), due(book, other, why="the digest is gone"))
    found = notice(book)
    assert found is not None
    assert found.level is Level.WARNING
    first, second = found.text.split(". The next message")
    assert first.startswith("The next turn rewrites the cache: «Moon»")
    assert "«Tides»" in second


def test_what_a_deletion_would_cost_is_known_and_ends_with_the_warmth(book: Playbook) -> None:
    warm(book)
    assert withdrawal_text(book.state) == ""
    book.play(RewritesChecked((chosen(book),), (), (due(book, why=""),)))
    assert (
        withdrawal_text(book.state)
        == "The removal counts at once: the next turn rewrites the cache of 1 warm discussion, ~12,300 tokens, est. $0.04."
    )
    assert notice(book) is None
    other = book.discussion("Sky")
    warm(book, other)
    book.play(RewritesChecked((other,), (), (due(book, other, tokens=0, cost_usd=0.0),)))
    assert "rewrites the cache of 1 warm discussion," in withdrawal_text(book.state), (
        "the other is rewritten anyway"
    )
    book.play(RewritesChecked((chosen(book),)))
    assert withdrawal_text(book.state) == ""


def test_what_is_stored_is_let_go_when_something_was_taken_out_or_knowledge_goes_off(book: Playbook) -> None:
    read = replace(KNOWN, watched=("facts.md",))
    assert of(book.play(KnowledgeRead(read)), DropWithdrawn) == ()
    (first,) = of(book.play(KnowledgeRead(replace(read, withdrawals=2))), DropWithdrawn)
    assert (first.withdrawals, first.is_on) == (2, True)
    assert of(book.play(KnowledgeRead(replace(read, withdrawals=2, digest="more"))), DropWithdrawn) == ()
    off = replace(read, withdrawals=2, digest="", switch=DigestSwitch.OFF_BY_DELETION)
    (second,) = of(book.play(KnowledgeRead(off)), DropWithdrawn)
    assert not second.is_on


def test_what_is_stored_is_let_go_once_when_something_that_was_sent_is_deleted(book: Playbook) -> None:
    book.play(KnowledgeRead(replace(KNOWN, watched=("facts.md",))))
    warm(book)
    changed = RewritesChecked((chosen(book),), (due(book),))
    assert of(book.play(changed), DropWithdrawn) == ()
    deleted = RewritesChecked((chosen(book),), (due(book, why="AGENTS.md is gone", is_deletion=True),))
    (effect,) = of(book.play(deleted), DropWithdrawn)
    assert effect.deleted == {chosen(book)}
    assert of(book.play(deleted), DropWithdrawn) == ()
    assert of(book.play(changed), DropWithdrawn) == ()


def test_an_identity_file_that_changed_looks_at_warm_discussions_too(book: Playbook) -> None:
    warm(book)
    project = replace(book.state.config.project, context=(NamedText("AGENTS.md", "Count twice."),))
    changed = replace(settings_loaded(project), settings_paths=book.state.config.settings_paths)
    assert of(book.play(changed), CheckRewrites)
